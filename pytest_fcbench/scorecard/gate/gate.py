"""The gate of a run: rules that hold, are broken or stay undecided, and the exit code that follows."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdicts
from pytest_fcbench.scorecard.aggregate.scores import (
    UNTRAINED,
    ProfileScores,
    Score,
    SizeOf,
    aggregate_scores,
    leave_out_trained,
    score_metric,
)
from pytest_fcbench.scorecard.record import EarlierConversation, Record
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED, WORDS, RuleOutcome
from pytest_fcbench.scorecard.scorecard_files import Scorecard

FAILING, PASSING = Failed("assumed", "not scored"), Passed()
"""The two verdicts that an entry that was not scored could have had."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for rules: a run and, where there is one, the baseline to compare it with."""

    records: Sequence[Record]
    profile: Profile
    size_of: SizeOf
    suites: Mapping[str, Mapping[str, str | None]]
    """Version and pack hash of each suite of the run."""
    baseline: Scorecard | None = None
    asked_as: str | None = None
    """The official model as which the run's was asked; None for the form that every server takes."""
    earlier: Sequence[EarlierConversation] = ()
    """Conversations that entries continue, which are paid for in no Record."""
    family: tuple[str, ...] = ()
    """The metrics of all rules that ask for a loss; their p values are corrected for each other."""
    share: float | None = None
    """The share of the entries that were asked when a run that was looked at ended; None without looks."""
    bias: str | None = None
    """The reason why the entries are no fair sample for a comparison; None where they are."""

    @cached_property
    def scores(self) -> Mapping[Profile, ProfileScores]:
        """The scores of the run under each profile."""
        return {profile: aggregate_scores(self.records, profile, self.size_of) for profile in Profile}

    def add_missing_entries(self) -> Evidence:
        """Add the entries of the baseline that the run lacks, as entries that were not scored."""
        present = {record.entry for record in self.records}
        before = self.baseline.records if self.baseline else ()
        verdict = NotScored("not_run", "the run lacks the entry")
        missing = [replace(r, verdicts=Verdicts(verdict, verdict)) for r in before if r.entry not in present]
        return replace(self, records=[*self.records, *missing])

    def describe_missing_parts(self, metric: str, records: Sequence[Record] | None = None) -> str | None:
        """Describe what the run, or these Records, lack of a metric; None where nothing is missing."""
        whole = self if records is None else replace(self, records=records)
        if metric == UNTRAINED and not leave_out_trained(whole.records):
            return "all entries that were run are in the training data"
        # What was asked and not scored is there.
        score = whole.score(metric, PASSING)
        if score is None:
            return f"nothing of {metric} was run"
        # The score that stands for a run has all of its parts, so it lacks those without another entry.
        why = "all in the training data" if metric == UNTRAINED else "not run"
        return f"{why}, but needed for {metric}: {', '.join(score.missing)}" if score.missing else None

    def score(self, metric: str, assumed: Passed | Failed | None = None) -> Score | None:
        """Return a score of the run; ``assumed`` stands for verdicts that are missing."""
        return score_metric(metric, self.records, self.profile, self.size_of, assumed)

    @property
    def not_comparable(self) -> str | None:
        """The reason why the run cannot be compared with the baseline; None where it can."""
        if self.baseline is None:
            return "there is no baseline to compare with"
        if self.bias:
            return self.bias
        before_as = self.baseline.facts.asked_as
        # Two official models may well be compared, but not two forms of asking.
        if (before_as is None) != (self.asked_as is None):
            forms = [f"as {each}" if each else "as any server is" for each in (before_as, self.asked_as)]
            return (
                f"the baseline was asked {forms[0]}, this run {forms[1]}; ask in the same form with "
                "--fcbench-as, or make a new baseline with 'fcbench run baseline save'"
            )
        for name, suite in self.suites.items():
            before = self.baseline.facts.suites.get(name)
            # Entries may have changed under the same name. A suite that only one of them has adds no pairs.
            if before is not None and dict(before) != dict(suite):
                return (
                    f"the suite {name} changed since the baseline, from {_describe_version(before)} "
                    f"to {_describe_version(suite)}; make a new baseline with 'fcbench run baseline save'"
                )
        return None


def _describe_version(suite: Mapping[str, str | None]) -> str:
    version, pack = suite.get("version"), (suite.get("pack_hash") or "")[:12]
    # The version of a suite of one's own is that hash.
    return f"version {version}" + (f" ({pack})" if pack not in ("", version) else "")


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """The finding of a rule about a run; ``code`` is the exit code that it asks for."""

    code: int
    sentence: str


_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison operator and its limit, such as ``>= 0.8``."""

    operator: str
    limit: float

    def holds(self, value: float) -> bool:
        """Tell whether a value keeps the bound."""
        # A mean of fractions may miss a limit it equals by a rounding error.
        return _COMPARED[self.operator](round(value, 12), round(self.limit, 12))

    def decide(self, value: float, sentence: str) -> RuleFinding:
        """Decide by a value whether the rule holds; ``sentence`` states the value."""
        return RuleFinding(HELD if self.holds(value) else BROKEN, sentence)

    def decide_between(self, worst: float, best: float, sentence: str, unscored_entries: str) -> RuleFinding:
        """Decide on a share that could lie from ``worst`` to ``best``; undecided where that matters."""
        if self.holds(worst) == self.holds(best):
            return self.decide(worst, sentence)
        return RuleFinding(
            UNDECIDED,
            f"{sentence}, but with {unscored_entries} it can be anywhere from {worst:.2%} to {best:.2%}",
        )


@dataclass(frozen=True)
class GateRule(ABC):
    """A condition on a run."""

    text: str
    """The rule as it was written."""
    metric: str
    """The number that it is about."""
    needs_baseline: ClassVar[bool] = False
    """True where the rule compares with a baseline."""

    @abstractmethod
    def check(self, evidence: Evidence) -> RuleFinding:
        """Check whether the rule holds."""

    def find_tested_metric(self, evidence: Evidence) -> str | None:
        """Return the metric whose p value is corrected for other rules; None where no loss is asked for."""
        return None

    def find_needed_trials(self, trials: int) -> int | None:
        """Return how many trials of each entry the rule needs, where a run has so many others; else None."""
        return None

    def describe_power(self, evidence: Evidence, entries: Collection[str]) -> str | None:
        """Describe the loss that a run of these entries would probably show; None where none is asked for."""
        return None


def check_rules(
    rules: Sequence[GateRule], evidence: Evidence, *, unfinished: str | None = None
) -> tuple[RuleOutcome, ...]:
    """Check every rule; all are undecided for a run that is ``unfinished``, for the reason given."""
    together = _add_family(rules, evidence)
    findings = [(rule, rule.check(together)) for rule in rules]
    if unfinished:
        findings = [(rule, RuleFinding(UNDECIDED, f"{unfinished}; {one.sentence}")) for rule, one in findings]
    return tuple(RuleOutcome(rule.text, WORDS[one.code], one.sentence) for rule, one in findings)


def describe_powers(rules: Sequence[GateRule], evidence: Evidence, entries: Collection[str]) -> Iterator[str]:
    """Yield a line for each rule that asks for a loss: how large a loss a run of these entries would show."""
    together = _add_family(rules, evidence)
    yield from filter(None, (rule.describe_power(together, entries) for rule in rules))


def _add_family(rules: Sequence[GateRule], evidence: Evidence) -> Evidence:
    """Add the metrics of the rules whose p values are corrected for each other."""
    metrics = (rule.find_tested_metric(evidence) for rule in rules)
    return replace(evidence, family=tuple(dict.fromkeys(filter(None, metrics))))


def choose_exit_code(outcomes: Sequence[RuleOutcome]) -> int:
    """Return 0 if all rules held, 1 if one is broken, else 2; an interrupted run breaks no rule."""
    # A rule that is broken for certain decides, whatever the undecided ones would have said.
    codes = {outcome.code for outcome in outcomes}
    return BROKEN if BROKEN in codes else UNDECIDED if UNDECIDED in codes else HELD
