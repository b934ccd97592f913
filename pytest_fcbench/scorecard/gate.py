"""Gate rules: parsed objects that hold, are broken, or cannot be told."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.entries import CATEGORIES
from pytest_fcbench.errors import UsageError, unknown
from pytest_fcbench.scorecard.aggregate import ProfileScores, aggregate
from pytest_fcbench.scorecard.formulas import GROUPS
from pytest_fcbench.scorecard.records import Record
from pytest_fcbench.verdicts import Failed, Passed, Profile

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_RULE = re.compile(r"\s*([\w.-]+)\s*(>=|<=|>|<)\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*")

HELD, BROKEN, UNDECIDED = 0, 1, 2
"""Exit codes of a gated run."""


@dataclass(frozen=True, slots=True)
class Span:
    """Scores as found, and what they would be if all entries without a verdict had failed or passed."""

    found: ProfileScores
    worst: ProfileScores
    best: ProfileScores

    @classmethod
    def of(cls, records: Sequence[Record], profile: Profile, size_of: Callable[[str], int]) -> Span:
        """The span of a run."""
        return cls(
            aggregate(records, profile, size_of),
            aggregate(records, profile, size_of, Failed("assumed", "not scored")),
            aggregate(records, profile, size_of, Passed()),
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """``metric operator threshold``; the metric is ``overall``, a group or a category."""

    text: str
    metric: str
    operator: str
    threshold: float

    def check(self, span: Span) -> Outcome:
        """Whether the rule holds for these scores."""
        score, worst, best = (scores.named(self.metric) for scores in (span.found, span.worst, span.best))
        if score is None or score.accuracy is None:
            return Outcome(self, UNDECIDED, f"nothing of {self.metric} was scored")
        found = f"{self.metric} is {score.accuracy:.2%}"
        if score.missing:
            found += f" (not run, counted as 0: {', '.join(score.missing)})"
        low = worst.accuracy if worst and worst.accuracy is not None else score.accuracy
        high = best.accuracy if best and best.accuracy is not None else score.accuracy
        if self._holds(low) != self._holds(high):
            found += f", but with {score.not_scored - score.set_aside} of {score.n} entries not scored"
            return Outcome(self, UNDECIDED, f"{found} it lies anywhere from {low:.2%} to {high:.2%}")
        return Outcome(self, HELD if self._holds(score.accuracy) else BROKEN, found)

    def _holds(self, accuracy: float) -> bool:
        # A mean of fractions may miss a threshold it equals by a rounding error.
        return _OPERATORS[self.operator](round(accuracy, 12), self.threshold)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a rule; ``code`` is the exit code it asks for."""

    rule: Rule
    code: int
    sentence: str

    @property
    def word(self) -> str:
        """One word for a table."""
        return {HELD: "held", BROKEN: "broken", UNDECIDED: "cannot tell"}[self.code]


def parse(text: str) -> Rule:
    """A rule from its text. Raises ``UsageError``."""
    found = _RULE.fullmatch(text)
    if not found:
        raise UsageError(
            f"gate rule {text!r} is not 'metric >= number' (operators >=, <=, >, <; "
            "number as a fraction or in %), for example 'overall>=0.2' or 'parallel>=50%'"
        )
    metric, comparison, number, percent = found.groups()
    metrics = ("overall", *GROUPS, *CATEGORIES)
    if metric not in metrics:
        raise UsageError(f"gate rule {text!r}: {unknown('metric', metric, metrics)}")
    threshold = float(number) / (100 if percent else 1)
    if threshold > 1:
        raise UsageError(
            f"gate rule {text!r}: {threshold:g} is more than 1; write a fraction or a percentage"
        )
    return Rule(text, metric, comparison, threshold)


def check(rules: Sequence[Rule], span: Span, *, interrupted: bool) -> tuple[Outcome, ...]:
    """The outcome of every rule; an interrupted run cannot tell, whatever its numbers say."""
    outcomes = [rule.check(span) for rule in rules]
    if interrupted:
        return tuple(Outcome(o.rule, UNDECIDED, f"the run was interrupted; {o.sentence}") for o in outcomes)
    return tuple(outcomes)


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 if all rules held, 1 if one is broken, else 2. An interrupted run is never told to be broken."""
    codes = {outcome.code for outcome in outcomes}
    return BROKEN if BROKEN in codes else UNDECIDED if UNDECIDED in codes else HELD
