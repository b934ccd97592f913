"""The comparison of the two models of a run, and what chance changed in it, as a scorecard states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pytest_fcbench.domain.json_values import Count, Number, one_of
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency
from pytest_fcbench.scorecard.aggregate.intervals import Interval, Share


class LookDecision(StrEnum):
    """The answer of a look at a run that compares two models."""

    WORSE = "worse"
    BETTER = "better"
    ALIKE = "alike"
    """Neither worse nor better by more than the margin."""
    NOT_WORSE = "not worse"
    """Not worse by more than the margin."""
    HOPELESS = "hopeless"
    """Open, and what is left to ask would hardly change that."""
    OPEN = "open"

    @property
    def stops(self) -> bool:
        """Tell whether a run need not go on."""
        return self is not LookDecision.OPEN


@dataclass(frozen=True, slots=True)
class ChanceFlips:
    """Entries that one model was asked twice or more."""

    entries: Count
    """Entries with two scored trials."""
    share: Share
    """The share of pairs of trials of an entry with different verdicts."""
    interval: Interval | None
    """The interval of the share, over clusters of entries."""
    compared: Count
    """Entries with two answers to their first request."""
    differing: Count
    """Those of them whose answers are not the same, word for word."""


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """McNemar's table: entries by the runs in which they passed; an entry with trials counts in parts."""

    both: Number
    only_before: Number
    only_after: Number
    neither: Number


@dataclass(frozen=True, slots=True)
class CategoryFlips:
    """The entries of a category whose verdict the two models do not share."""

    entries: Count
    """Entries that were scored for both."""
    better: Count
    """Entries that passed more often with the model under test."""
    worse: Count


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The model under test beside a second model that was asked the same entries at the same time."""

    model: str
    """The name of the second model, with the settings in which it differs."""
    scorecard: str
    """The name of the file with the Records of the second model, beside this one."""
    asked: Count
    """Tests that both models were asked."""
    total: Count
    """Tests that were selected."""
    decision: Annotated[str, one_of(*LookDecision)]
    """What is said of the model under test; ``hopeless`` where more entries would hardly say more."""
    share: Number | None
    """The share of the tests that were asked, where the run looked at its results meanwhile; else null."""
    metric: str | None
    """The score that is compared; null where nothing was scored for both."""
    change: Number | None
    """The difference of the score, the second model's subtracted; 0.01 is a point."""
    low: Number
    """The limits of the difference at a confidence of 95 % over all looks together."""
    high: Number
    sentence: str
    """The result in words."""
    verdicts: VerdictTable
    """Entries by the models that passed them, of which the second is the one ``before``."""
    flips: Mapping[str, CategoryFlips]
    """By category."""
    usage: CostLatency
    """Cost and latency of the second model."""
    calls_saved: Count
    """Calls of both models that an early end saved, as far as calls per test so far tell."""

    @property
    def is_early(self) -> bool:
        """True where the run ended before all tests: it was decided, or somebody ended it."""
        return self.share is not None and self.asked < self.total


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What differs where the same model is asked the same a second time."""

    flips: Mapping[str, ChanceFlips]
    """By category and for ``all``."""
    smallest_loss: Number | None
    """The smallest true loss that this run shows with a probability of 80 %; null where it can show none."""
    note: str | None
    """What differing answers at temperature 0 mean; null where there are none, or it is higher."""
