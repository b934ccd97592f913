"""Comparison of two scorecards: changes and their significance, cost and latency, flipped entries.

A difference is *shown* where its p value is at most 5 % and its interval of 95 % leaves out 0; the two come
from different methods, and with few entries one alone says too much. Several differences at once would show
some by chance, so the p values of all categories, and those of all groups and marks, are corrected for how
many there are (Holm 1979, "A simple sequentially rejective multiple test procedure"). ``overall`` is one
question of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.categories import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.formulas import GROUPS
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE
from pytest_fcbench.scorecard.aggregate.scores import ALL, aggregate_scores
from pytest_fcbench.scorecard.compare.families import correct_by_holm
from pytest_fcbench.scorecard.compare.names import name_scorecards, name_suites
from pytest_fcbench.scorecard.compare.paired import MetricDifference, Paired, pair_runs
from pytest_fcbench.scorecard.scorecard_files import Scorecard


@dataclass(frozen=True, slots=True)
class Tested:
    """A difference, and its p value corrected for the others of its kind."""

    difference: MetricDifference
    p: float

    @property
    def shown(self) -> int:
        """1 where the later run is shown to be better, -1 where it is shown to be worse, else 0."""
        return decide_direction(self.difference, self.p)


def decide_direction(difference: MetricDifference, p: float) -> int:
    """Return 1 for better, -1 for worse, 0 where ``p`` or the interval allow that there is no difference."""
    chance = difference.chance
    if p > 1 - CONFIDENCE or chance.low <= 0 <= chance.high:
        return 0
    return 1 if chance.low > 0 else -1


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two scorecards."""

    before: Scorecard
    after: Scorecard
    profile: Profile
    paired: Paired
    tested: tuple[Tested, ...]
    missing: Mapping[str, tuple[str, ...]]
    """The parts of each metric's formula of which nothing was compared."""
    weight: float
    """The share of overall's weight of which something was compared."""
    main: str
    """The metric that stands for what was compared."""

    @property
    def names(self) -> list[str]:
        """The names of the two scorecards."""
        return name_scorecards([self.before, self.after])


def check_metrics(metrics: Iterable[str], cards: Iterable[Scorecard]) -> list[str]:
    """Check that metrics are scores of the formulas or marks; return each once. Raises ``UsageError``."""
    suites = {record.suite for card in cards for record in card.records}
    known_names = dict.fromkeys(("overall", ALL, *GROUPS, *CATEGORIES, *SELECTIONS, *sorted(suites)))
    unique_metrics = list(dict.fromkeys(metrics))
    for metric in unique_metrics:
        if metric not in known_names:
            raise UsageError(describe_unknown_name("metric", metric, known_names))
    return unique_metrics


def compare_scorecards(
    before: Scorecard, after: Scorecard, profile: Profile, metrics: Sequence[str] = ()
) -> Comparison:
    """Compare the later run with the earlier one, in these metrics or else in all that both have.

    Raises ``UsageError`` for an unknown metric, and where there is nothing to compare.
    """
    requested_metrics = check_metrics(metrics, (before, after))
    pairing = pair_runs(before.records, after.records, profile)
    if not pairing.pairs:
        many = f"{len(pairing.unscored):,}" if pairing.unscored else "none"
        entries = f"{count_entries(before):,} and {count_entries(after):,} entries"
        raise UsageError(
            f"{before.path} and {after.path} have no scored entry in common: of {entries} {many} "
            f"have the same id ({name_suites(before)} and {name_suites(after)}); compare runs of "
            f"the same entries"
        )
    common_entries = {one.entry for one in pairing.pairs}
    # Only for the names of the metrics and of what is missing; the values come from the pairs.
    scores = aggregate_scores((r for r in after.records if r.entry in common_entries), profile, after.size_of)
    differences = []
    for metric in requested_metrics or scores.names:
        if difference := pairing.measure_difference(metric, after.size_of):
            differences.append(difference)
        elif requested_metrics:
            raise UsageError(
                f"metric {metric!r}: none of its entries was scored in both; name another metric"
            )
    missing = {one.metric: score.missing for one in differences if (score := scores.find_score(one.metric))}
    kinds: dict[str, dict[str, float]] = {}
    for one in differences:
        # Corrected within its kind only: the flips of a group are those of its categories.
        alone = one.metric in ("overall", ALL)
        kind = "category" if one.metric in CATEGORIES else "overall" if alone else "group"
        kinds.setdefault(kind, {})[one.metric] = one.chance.p
    adjusted_p_values = {
        metric: p
        for family in kinds.values()
        for metric, p in zip(family, correct_by_holm(list(family.values())), strict=True)
    }
    test_results = tuple(Tested(one, adjusted_p_values[one.metric]) for one in differences)
    return Comparison(before, after, profile, pairing, test_results, missing, scores.weight, scores.main)


def count_entries(card: Scorecard) -> int:
    """Count the entries of a run, each once whatever its trials."""
    return len({record.entry for record in card.records})


def choose_main_difference(comparison: Comparison) -> Tested:
    """Choose the difference that stands for the runs, else the first of those that were asked for."""
    by_metric = {one.difference.metric: one for one in comparison.tested}
    return by_metric.get(comparison.main) or comparison.tested[0]
