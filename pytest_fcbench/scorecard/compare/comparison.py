"""Comparison of two scorecards: changes and their significance, flipped entries, verdicts judged again.

A difference is *shown* where its p value is at most 5 % and its interval of 95 % leaves out 0; the two come
from different methods, and with few entries one alone says too much. Several differences at once would show
some by chance, so the p values of all categories, and those of all groups and marks, are corrected for how
many there are (Holm 1979, "A simple sequentially rejective multiple test procedure"). ``overall`` is one
question of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import filterfalse

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE
from pytest_fcbench.scorecard.aggregate.scores import ALL, GROUPS, ProfileScores, Score, aggregate_scores
from pytest_fcbench.scorecard.aggregate.server_checks import CheckComparison, compare_checks, is_check
from pytest_fcbench.scorecard.compare.paired import MetricDifference, Paired, correct_by_holm, pair_runs
from pytest_fcbench.scorecard.record import Record
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
    """The entries with a score."""
    checks: CheckComparison
    """The checks of the server, which have none."""
    tested: tuple[Tested, ...]
    missing: Mapping[str, tuple[str, ...]]
    """The parts of each metric's formula of which nothing was compared."""
    weight: float
    """The share of overall's weight of which something was compared."""
    main: str
    """The metric that stands for what was compared."""

    @property
    def has_only_checks(self) -> bool:
        """True where both runs only check a server, so that there is no score of a model."""
        return not self.tested

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
    checks = compare_checks(before.records, after.records)
    pairing = pair_runs(filterfalse(is_check, before.records), filterfalse(is_check, after.records), profile)
    if requested_metrics and checks.pairs and not pairing.pairs:
        raise UsageError("checks of a server have no score; compare them without --metric")
    if not pairing.pairs and not checks.pairs:
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
    for metric in requested_metrics or (scores.names if common_entries else ()):
        if difference := pairing.measure_difference(metric, after.size_of):
            differences.append(difference)
        elif requested_metrics:
            raise UsageError(
                f"metric {metric!r}: none of its entries was scored in both; name another metric"
            )
    missing = {one.metric: score.missing for one in differences if (score := scores.find_score(one.metric))}
    kinds: dict[str, list[MetricDifference]] = {}
    for one in differences:
        # Corrected within its kind only: the flips of a group are those of its categories.
        alone = one.metric in ("overall", ALL)
        kind = "category" if one.metric in CATEGORIES else "overall" if alone else "group"
        kinds.setdefault(kind, []).append(one)
    by_metric = {one.difference.metric: one for kind in kinds.values() for one in correct_together(kind)}
    tested = tuple(by_metric[one.metric] for one in differences)
    return Comparison(before, after, profile, pairing, checks, tested, missing, scores.weight, scores.main)


def correct_together(differences: Sequence[MetricDifference]) -> tuple[Tested, ...]:
    """Correct the p values of differences that are asked about together for their number (Holm)."""
    adjusted_p_values = correct_by_holm([one.chance.p for one in differences])
    return tuple(map(Tested, differences, adjusted_p_values))


def count_entries(card: Scorecard) -> int:
    """Count the entries of a run, each once whatever its trials."""
    return len({record.entry for record in card.records})


def choose_main_difference(comparison: Comparison) -> Tested:
    """Choose the difference that stands for the runs, else the first of those that were asked for."""
    by_metric = {one.difference.metric: one for one in comparison.tested}
    return by_metric.get(comparison.main) or comparison.tested[0]


def name_scorecards(
    cards: Sequence[Scorecard], beside: Callable[[Scorecard], str] = lambda card: ""
) -> list[str]:
    """Name each scorecard: by its model, with the mode or else the file where that is not enough.

    ``beside`` returns a text that stands beside the name and tells some scorecards apart already.
    """
    ways = [
        [card.facts.model for card in cards],
        [f"{card.facts.model} ({card.facts.mode})" for card in cards],
        [f"{card.facts.model} ({card.path.name})" for card in cards],
        [f"{card.facts.model} ({card.path})" for card in cards],
    ]
    # The shortest way that no other card shares; two cards of one file keep the longest.
    more = [beside(card) for card in cards]
    counts = [Counter(zip(way, more, strict=True)) for way in ways]
    return [
        next(
            (way[n] for way, count in zip(ways, counts, strict=True) if count[way[n], more[n]] == 1),
            ways[-1][n],
        )
        for n in range(len(cards))
    ]


def name_suites(card: Scorecard) -> str:
    """Name the suites that were put to the model, with their versions."""
    return "; ".join(name_suite(name, facts) for name, facts in card.facts.suites.items())


def name_suite(name: str, facts: Mapping[str, str | None]) -> str:
    """Name a suite with its version and the beginning of its content hash."""
    version, pack = str(facts.get("version")), str(facts.get("pack_hash") or "")[:12]
    # The version of a team's own suite is this hash.
    return f"{name} version {version}" + (f" (sha256 {pack})" if pack not in ("", version) else "")


NO_ENTRY = "no_entry"
"""Cause of Records whose entry is no longer in the suite."""


class ChangeKind(StrEnum):
    """A kind of change of a verdict, in the order of a report."""

    WORSE = "passed → failed"
    BETTER = "failed → passed"
    CODE = "failed in another way"
    SET_ASIDE = "newly set aside"
    COUNTED = "no longer set aside"
    LOST = "no longer scored"
    SCORED = "not scored → scored"
    CAUSE = "not scored for another reason"
    GONE = "entry no longer in the suite"


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A changed verdict; another reason or other details alone are no change."""

    item_id: str
    profile: Profile
    kind: ChangeKind
    old: Verdict
    new: Verdict


def list_changes(old: Iterable[Record], new: Mapping[str, Record]) -> Iterator[VerdictChange]:
    """List the verdicts that changed; ``new`` has each Record by item id."""
    for record in old:
        again = new[record.item_id]
        for profile in Profile:
            before, after = record.verdict(profile), again.verdict(profile)
            if kind := classify_change(before, after):
                yield VerdictChange(record.item_id, profile, kind, before, after)


def classify_change(old: Verdict, new: Verdict) -> ChangeKind | None:
    """Classify the change from one verdict to another; None where status and code are the same."""
    if _name_outcome(old) == _name_outcome(new):
        return None
    if isinstance(new, NotScored):
        # These two causes have kinds of their own, whatever the verdict was before.
        special = {NO_ENTRY: ChangeKind.GONE, SET_ASIDE: ChangeKind.SET_ASIDE}.get(new.cause)
        return special or (ChangeKind.CAUSE if isinstance(old, NotScored) else ChangeKind.LOST)
    if isinstance(old, NotScored):
        return ChangeKind.COUNTED if old.cause == SET_ASIDE else ChangeKind.SCORED
    if old.passed:
        return ChangeKind.WORSE
    return ChangeKind.BETTER if new.passed else ChangeKind.CODE


def _name_outcome(verdict: Verdict) -> tuple[str, str | None]:
    match verdict:
        case Failed(code=code) | NotScored(cause=code):
            return verdict.status, str(code)
    return verdict.status, None


def list_changed_scores(old: ProfileScores, new: ProfileScores) -> Iterator[tuple[str, Score, Score]]:
    """List the categories, groups and overall whose score changed, with both scores."""
    names = (*old.categories, *old.groups, "overall")
    for name in names:
        before, after = old.find_score(name), new.find_score(name)
        # An interval follows from the counts, so it is no change of its own.
        if before and after and _list_counts(before) != _list_counts(after):
            yield name, before, after


def _list_counts(score: Score) -> tuple[int, int, float | None]:
    return score.passed, score.scored, score.accuracy
