"""The comparison of the two models of a run, and what chance changed in it, as a scorecard states them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import Annotated

from pytest_fcbench.domain.json_values import DESCRIBED, Count, Number, one_of
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency, measure_usage
from pytest_fcbench.scorecard.aggregate.server_checks import is_check
from pytest_fcbench.scorecard.compare.checks import compare_checks
from pytest_fcbench.scorecard.compare.looks import LookDecision, LookFinding, decide
from pytest_fcbench.scorecard.compare.noise import ChanceFlips, VerdictTable, tabulate_verdicts
from pytest_fcbench.scorecard.compare.paired import Paired, pair_runs
from pytest_fcbench.scorecard.record import Record


@dataclass(frozen=True, slots=True)
class CategoryFlips:
    """The entries of a category whose verdict the two models do not share."""

    __pydantic_config__ = DESCRIBED

    entries: Count
    """Entries that were scored for both."""
    better: Count
    """Entries that passed more often with the model under test."""
    worse: Count


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The model under test beside a second model that was asked the same entries at the same time."""

    __pydantic_config__ = DESCRIBED

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
        """True where the run ended before all tests, because that was decided."""
        return self.share is not None and self.asked < self.total


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What differs where the same model is asked the same a second time."""

    __pydantic_config__ = DESCRIBED

    flips: Mapping[str, ChanceFlips]
    """By category and for ``all``."""
    smallest_loss: Number | None
    """The smallest true loss that this run shows with a probability of 80 %; null where it can show none."""
    note: str | None
    """What differing answers at temperature 0 mean; null where there are none, or it is higher."""


def look_at_sides(
    second: Sequence[Record],
    first: Sequence[Record],
    profile: Profile,
    size_of: Callable[[str], int],
    *,
    metric: str,
    asked: int,
    total: int,
    confidence: float,
    looks: bool,
) -> tuple[Paired, LookFinding]:
    """Look at both models: the pairs of Records, and what they show of a metric."""
    # Each check of a server is a fact, and no sample of anything.
    paired = pair_runs(filterfalse(is_check, second), filterfalse(is_check, first), profile)
    return paired, decide(paired, asked, total, metric, size_of, confidence, looks=looks)


def compare_sides(
    name: str,
    scorecard: str,
    second: Sequence[Record],
    first: Sequence[Record],
    look: tuple[Paired, LookFinding],
    *,
    asked: int,
    total: int,
    looked: bool,
    calls_saved: int,
) -> SideBySide:
    """Compare the two models of a run, which ``looked`` at its results meanwhile or did not."""
    paired, finding = look
    difference = finding.difference
    sentence = finding.sentence
    if difference is None and (checks := compare_checks(second, first)).pairs:
        broken = f"{len(checks.newly_broken):,}, the second alone {len(checks.mended):,}"
        sentence = f"of {len(checks.pairs):,} checks the model under test alone breaks {broken}"
    flips: dict[str, list[int]] = {}
    for pair in paired.pairs:
        counts = flips.setdefault(pair.category, [0, 0, 0])
        for place, is_so in enumerate((True, pair.change > 0, pair.change < 0)):
            counts[place] += is_so
    return SideBySide(
        model=name,
        scorecard=scorecard,
        asked=asked,
        total=total,
        decision=finding.decision,
        share=finding.share if looked else None,
        metric=difference.metric if difference else None,
        change=difference.change if difference else None,
        low=finding.low,
        high=finding.high,
        sentence=sentence,
        verdicts=tabulate_verdicts(paired),
        flips={category: CategoryFlips(*counts) for category, counts in flips.items()},
        usage=measure_usage(second),
        calls_saved=calls_saved,
    )
