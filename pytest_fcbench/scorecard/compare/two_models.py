"""Compare the two models of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import filterfalse

from pytest_fcbench.domain.verdict import SKIPPED, NotScored, Profile
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_usage
from pytest_fcbench.scorecard.aggregate.server_checks import is_check
from pytest_fcbench.scorecard.compare.checks import compare_checks
from pytest_fcbench.scorecard.compare.looks import LookFinding, decide_comparison
from pytest_fcbench.scorecard.compare.noise import tabulate_verdicts
from pytest_fcbench.scorecard.compare.paired import Paired, pair_runs
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.two_models import CategoryFlips, SideBySide


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
    finding = decide_comparison(paired, asked, total, metric, size_of, confidence, looks=looks)
    missing = {
        record.entry
        for record in (*second, *first)
        if isinstance(verdict := record.verdict(profile), NotScored) and verdict.cause not in SKIPPED
    }
    if count := len(missing.intersection(paired.unscored)):
        finding = replace(finding, sentence=f"{finding.sentence}; not scored with both: {count:,}")
    return paired, finding


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
