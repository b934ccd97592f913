"""The rule of a gate that each entry passes in some of its trials: ``each>=2of3``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed, Verdict
from pytest_fcbench.scorecard.gate.gate import Evidence, RuleFinding
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED

_TRIALS = re.compile(r"\s*each\s*>=\s*([1-9]\d*)\s*of\s*([1-9]\d*)\s*")
_NAMED = 5


@dataclass(frozen=True, slots=True)
class TrialRule:
    """A number of trials in which each entry must pass, of how many."""

    text: str
    passes: int
    trials: int
    metric: str = "each"
    needs_baseline: bool = False

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check each entry; undecided where its trials are others, or unscored ones could matter."""
        by_entry: dict[str, list[Verdict]] = {}
        for record in evidence.records:
            verdict = record.verdict(evidence.profile)
            if not (isinstance(verdict, NotScored) and verdict.cause in (SET_ASIDE, OTHER_RULES)):
                by_entry.setdefault(record.entry, []).append(verdict)
        requirement = f"{self.passes} of {self.trials} trials"
        for entry, verdicts in by_entry.items():
            if len(verdicts) != self.trials:
                summary = f"{len(verdicts)} of {self.trials} trials; use --fcbench-trials={self.trials}"
                return RuleFinding(UNDECIDED, f"{entry} has {summary}")
        failing = [each for each in by_entry if _count(by_entry[each], Passed, NotScored) < self.passes]
        passing = [each for each in by_entry if _count(by_entry[each], Passed) >= self.passes]
        if not by_entry:
            return RuleFinding(UNDECIDED, "nothing was scored")
        if failing:
            more = f" and {len(failing) - _NAMED:,} more" if len(failing) > _NAMED else ""
            summary = f"{len(failing):,} of {len(by_entry):,} entries passed in fewer than {requirement}"
            return RuleFinding(BROKEN, f"{summary}: {', '.join(failing[:_NAMED])}{more}")
        summary = f"{len(passing):,} of {len(by_entry):,} entries passed in at least {requirement}"
        return RuleFinding(HELD if len(passing) == len(by_entry) else UNDECIDED, summary)


def parse_trial_rule(text: str) -> TrialRule | None:
    """Parse a rule about trials; None where it is another one. Raises ``UsageError``."""
    match = _TRIALS.fullmatch(text)
    if match and int(match[1]) > int(match[2]):
        raise UsageError(
            f"invalid gate rule {text!r}: {match[1]} is more than {match[2]}; use e.g. each>=2of3"
        )
    return TrialRule(text, int(match[1]), int(match[2])) if match else None


def _count(verdicts: list[Verdict], *kinds: type[Passed | Failed | NotScored]) -> int:
    return sum(isinstance(verdict, kinds) for verdict in verdicts)
