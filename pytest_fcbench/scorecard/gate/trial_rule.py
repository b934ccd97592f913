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
        tried: dict[str, list[Verdict]] = {}
        for record in evidence.records:
            verdict = record.verdict(evidence.profile)
            if not (isinstance(verdict, NotScored) and verdict.cause in (SET_ASIDE, OTHER_RULES)):
                tried.setdefault(record.entry, []).append(verdict)
        wanted = f"{self.passes} of {self.trials} trials"
        for entry, verdicts in tried.items():
            if len(verdicts) != self.trials:
                told = f"{len(verdicts)} of {self.trials} trials; use --fcbench-trials={self.trials}"
                return RuleFinding(UNDECIDED, f"{entry} has {told}")
        failing = [each for each in tried if _count(tried[each], Passed, NotScored) < self.passes]
        passing = [each for each in tried if _count(tried[each], Passed) >= self.passes]
        if not tried:
            return RuleFinding(UNDECIDED, "nothing was scored")
        if failing:
            more = f" and {len(failing) - _NAMED:,} more" if len(failing) > _NAMED else ""
            told = f"{len(failing):,} of {len(tried):,} entries passed in fewer than {wanted}"
            return RuleFinding(BROKEN, f"{told}: {', '.join(failing[:_NAMED])}{more}")
        told = f"{len(passing):,} of {len(tried):,} entries passed in at least {wanted}"
        return RuleFinding(HELD if len(passing) == len(tried) else UNDECIDED, told)


def parse_trial_rule(text: str) -> TrialRule | None:
    """Parse a rule about trials; None where it is another one. Raises ``UsageError``."""
    found = _TRIALS.fullmatch(text)
    if found and int(found[1]) > int(found[2]):
        raise UsageError(
            f"invalid gate rule {text!r}: {found[1]} is more than {found[2]}; use e.g. each>=2of3"
        )
    return TrialRule(text, int(found[1]), int(found[2])) if found else None


def _count(verdicts: list[Verdict], *kinds: type[Passed | Failed | NotScored]) -> int:
    return sum(isinstance(verdict, kinds) for verdict in verdicts)
