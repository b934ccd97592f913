"""Counts and accuracies of categories, groups, overall and strata, by the official formulas.

The formulas are those of the BFCL v4 leaderboard. ``complex`` is ComplexFuncBench's own: the success rate
over all entries, whatever their domain. BFCL's overall score has no part for it, nor for ``executable``, of
which it had four until 2025, nor for ``v1``, the categories of its first version that no longer count. A part
that was not run counts as 0 in the official tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, TypeAlias

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Group, Stratum
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import OTHER_RULES, SKIPPED, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate import intervals
from pytest_fcbench.scorecard.aggregate.intervals import (
    CLUSTERED,
    CLUSTERED_FEW,
    FEWEST,
    Interval,
    Part,
    Share,
    within,
)
from pytest_fcbench.scorecard.aggregate.server_checks import SERVER_CHECKS
from pytest_fcbench.scorecard.record import Record, group_by_category


@dataclass(frozen=True, slots=True)
class Score:
    """Counts and accuracy of entries, where each trial counts: n = passed + failed + not_scored."""

    __pydantic_config__ = DESCRIBED

    n: Count
    passed: Count
    failed: Count
    not_scored: Count
    """Entries left out of the denominator."""
    set_aside: Count
    """Entries left out for no failure of the run: bad data, or what cannot be asked or decided."""
    unknown: Count = 0
    """Entries not scored because the conversation followed the rules of the other profile. The rest is no
    fair sample, so there is no accuracy then."""
    accuracy: Share | None = None
    """Null where nothing was scored, and in an official formula of which parts were not scored."""
    interval: Annotated[
        Interval | None,
        within({"minimum": 0, "maximum": 1}, "wilson", CLUSTERED, CLUSTERED_FEW, "mover of its parts"),
    ] = None
    """Interval of the accuracy; null where there is none."""
    missing: tuple[str, ...] = ()
    """Parts of the official formula of which nothing was scored."""

    @property
    def scored(self) -> int:
        """The denominator."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class ProfileScores:
    """The scores under one profile; categories that were not run are absent."""

    categories: Mapping[str, Score]
    groups: Mapping[str, Score]
    overall: Score
    all: Score
    """Every entry that was run, each alike."""
    weight: float = 0.0
    """The share of overall's weight of which something was scored."""
    sample: tuple[int, int] | None = None
    """How many tests of these parts were run, and how many they have; None where all were run."""
    alike: bool = False
    """True where only a team's own suites were run: entries count alike, and the suites are the groups."""

    def find_score(self, name: str) -> Score | None:
        """Return the score of a category, a group, ``overall`` or ``all``; None where nothing was run."""
        whole = {"overall": self.overall, ALL: self.all}.get(name)
        return whole or self.categories.get(name) or self.groups.get(name)

    @property
    def counted_categories(self) -> AbstractSet[str]:
        """The categories that count in other scores: not those of checks of a server, if there are others."""
        return self.categories.keys() - SERVER_CHECKS or self.categories.keys()

    @property
    def names(self) -> list[str]:
        """The names of the scores that say something of the run, each whole, the one of all entries last."""
        whole = [name for name, score in self.groups.items() if not score.missing]
        if len(self.counted_categories) == 1 and self.overall.accuracy is None:
            return [*self.categories, *whole]
        return [*self.categories, *whole, "overall" if self.overall.accuracy is not None else ALL]

    @property
    def main(self) -> str:
        """The score that stands for the run: ``overall`` where all of its parts were scored.

        Else it is the category or the group that was run, if it is one, else ``all``.
        """
        if self.overall.accuracy is not None:
            return "overall"
        whole = (name for name, score in self.groups.items() if score.accuracy is not None)
        parts = {name: weigh_categories(name, lambda part: 1.0) for name in (*self.categories, *whole)}
        return next((name for name, among in parts.items() if among.keys() >= self.counted_categories), ALL)


def choose_main_score(scores: Iterable[ProfileScores]) -> str:
    """Choose the score that stands for several runs: the one that stands for each, or ``all``."""
    names = {each.main for each in scores}
    return names.pop() if len(names) == 1 else ALL


SizeOf: TypeAlias = Callable[[str], int]
"""Returns the number of tests that a category has in the selected suites."""
Assumed: TypeAlias = Passed | Failed | None
"""The verdict that stands for those that are missing; None where they stay missing."""
_VerdictsByUnit: TypeAlias = Mapping[str, Mapping[str, Sequence[bool]]]
"""For each category, the verdicts of its scored entries, grouped by cluster; True if passed."""

ALL = "all"
"""The metric that is the share of all entries that were run."""
TRAINED = "trained"
"""The mark of entries that are in the training data of the model."""
UNTRAINED = "untrained"
"""The metric that is the score that stands for the run, without these entries."""


def aggregate_scores(
    records: Iterable[Record],
    profile: Profile,
    size_of: SizeOf,
    assumed_verdict: Assumed = None,
    *,
    partial: bool = False,
) -> ProfileScores:
    """Aggregate Records into the scores of a run.

    Every Record counts, so that ``n`` is entries x trials. ``size_of`` gives the number of tests of a
    category (also entries x trials) in the selected suites: a category of which nothing was scored counts
    with it in a group that is weighted by count. ``assumed_verdict`` stands in for the verdict of every
    entry that was not scored (set-aside ones excepted), to see how far those could move a score. With
    ``partial`` a part of a formula of which nothing was scored counts as 0, as in the official tables;
    without, the formula has no accuracy then. Checks of a server count in their categories only, unless
    nothing else was run.
    """
    every_record = list(records)
    by_category = group_by_category(every_record)
    tallies = {name: tally_verdicts(part, profile, assumed_verdict) for name, part in by_category.items()}
    categories = {name: _score_tally(tally) for name, tally in tallies.items()}
    records = leave_out_checks(every_record)
    counted = group_by_category(records) if len(records) < len(every_record) else by_category
    every = _score_tally(_join_tallies([tallies[name] for name in counted]))
    if _has_only_own_suites(records):
        suites = dict.fromkeys(record.suite for record in records)
        own = {name: tally_records(select_marked(records, name), profile, assumed_verdict) for name in suites}
        return ProfileScores(categories, own, every, every, alike=True)
    verdicts = {name: tallies[name].by_unit for name in counted}

    def finish_formula(name: str, score: Score) -> Score:
        if score.missing and not partial:
            return replace(score, accuracy=None, interval=None)
        # Answers that followed other rules leave a score without an interval.
        if score.interval is None:
            return score
        return replace(score, interval=_find_group_interval(name, score, categories, verdicts, size_of))

    groups: dict[str, Score] = {}
    # In the order of GROUPS: a group stands behind those that are parts of it.
    for name, formula in GROUPS.items():
        parts = {part: categories.get(part) or groups.get(part) for part in formula.parts}
        if any(parts.values()):
            weights = formula.weigh_parts(lambda part: _find_size(categories, part, size_of))
            groups[name] = finish_formula(name, _combine_scores(parts, weights))
    overall = _combine_scores({name: groups.get(name) for name in OVERALL}, OVERALL)
    overall = finish_formula("overall", overall)
    # The formula leaves out categories without a weight, but overall's counts are those of all entries.
    whole = replace(every, accuracy=overall.accuracy, missing=overall.missing, interval=overall.interval)
    shares = weigh_categories("overall", lambda name: _find_size(categories, name, size_of))
    counts = {name: score.n for name, score in categories.items() if score.scored and shares.get(name)}
    weight = add_in_order(shares[name] for name in counts)
    # Older scorecards do not know the size of every category.
    run, size = sum(counts.values()), sum(max(n, size_of(name)) for name, n in counts.items())
    return ProfileScores(categories, groups, whole, every, weight, (run, size) if run < size else None)


def _find_size(categories: Mapping[str, Score], name: str, size_of: SizeOf) -> int:
    """Return the number of tests with which a category counts, in a group that is weighted by count."""
    # Officially a category that was not run counts as 0 with the size of its data set.
    return score.scored if (score := categories.get(name)) and score.scored else size_of(name)


def _find_group_interval(
    metric: str, whole: Score, categories: Mapping[str, Score], verdicts: _VerdictsByUnit, size_of: SizeOf
) -> Interval | None:
    """Return the interval of a group or of overall from its categories, which may have clusters in common.

    Where most of its variance is that of categories with few clusters, it has their number.
    """
    weights = weigh_categories(metric, lambda name: _find_size(categories, name, size_of))
    parts = {
        name: Part(weights[name], score.accuracy, score.interval)
        for name, score in categories.items()
        if weights.get(name) and score.accuracy is not None and score.interval
    }

    def find_interval(names: Collection[str], mean: float | None = None) -> Interval | None:
        correlations = intervals.correlate_parts([verdicts[name] for name in names])
        return intervals.find_mean_interval([parts[name] for name in names], correlations, mean)

    group_interval = find_interval(parts, whole.accuracy)
    few = [name for name, part in parts.items() if part.interval.clusters]
    number = len({unit for name in few for unit in verdicts[name]})
    if group_interval and (of_few := find_interval(few)) and number < FEWEST:
        is_most = 2 * (of_few.high - of_few.low) ** 2 > (group_interval.high - group_interval.low) ** 2
        return replace(group_interval, clusters=number if is_most else None)
    return group_interval


def list_sized_categories(categories: Iterable[str]) -> list[str]:
    """List the categories whose size counts where these were run.

    That of one tells a sample; in some groups the size of those that were not run counts, too.
    """
    run = dict.fromkeys(name for name in categories if name in CATEGORIES)
    parts = (
        part
        for formula in GROUPS.values()
        if formula.by_count and run.keys() & set(formula.parts)
        for part in formula.parts
    )
    return list(run | dict.fromkeys(parts))


def assume_verdict(verdict: Verdict, assumed_verdict: Assumed) -> Verdict:
    """Return a verdict, or what is assumed in its place where it is missing and was not set aside."""
    is_missing = isinstance(verdict, NotScored) and verdict.cause not in SKIPPED
    return assumed_verdict if assumed_verdict and is_missing else verdict


def is_apart(verdict: Verdict) -> bool:
    """Tell whether a verdict is missing for no failure of the run: bad data, or the other profile's rules."""
    return isinstance(verdict, NotScored) and verdict.cause in (*SKIPPED, OTHER_RULES)


def leave_out_checks(records: Iterable[Record]) -> list[Record]:
    """Select the Records that count in scores: without checks of a server, unless there is nothing else."""
    every_record = list(records)
    return [record for record in every_record if record.group != Group.SERVER] or every_record


def _has_only_own_suites(records: Sequence[Record]) -> bool:
    return bool(records) and not any(record.suite in SUITES for record in records)


def has_formula(metric: str, records: Sequence[Record]) -> bool:
    """Tell whether a metric follows an official formula; otherwise its entries count alike."""
    official = metric == "overall" or metric in GROUPS
    return metric in CATEGORIES or (official and not _has_only_own_suites(records))


def select_marked(records: Iterable[Record], mark: str) -> list[Record]:
    """Select the Records whose test carries a mark; all that count in scores for ``overall`` and ``all``.

    A mark is a suite, a selection, a category, or a user's own mark behind ``mark:``.
    """
    if mark in ("overall", ALL):
        return leave_out_checks(records)
    if (own := mark.removeprefix("mark:")) != mark:
        return [record for record in records if own in record.marks]
    members = SELECTIONS.get(mark, (mark,))
    return [record for record in records if record.suite == mark or record.category in members]


def select_records(metric: str, records: Sequence[Record]) -> list[Record]:
    """Select the Records that count in a metric."""
    if metric == UNTRAINED:
        metric, records = name_main_score(records), leave_out_trained(records)
    if not has_formula(metric, records):
        return select_marked(records, metric)
    parts = weigh_categories(metric, lambda name: 1.0)
    return [record for record in records if record.category in parts]


def name_main_score(records: Iterable[Record]) -> str:
    """Name the score that stands for a run of these entries, were all of them scored."""
    # It depends on the categories only, of which an entry that is set aside says nothing.
    ordered = sorted(records, key=lambda record: not is_apart(record.verdict(Profile.OFFICIAL)))
    one_of_each = {record.category: record for record in ordered}.values()
    return aggregate_scores(one_of_each, Profile.OFFICIAL, lambda name: 1, Passed()).main


def mark_trained(records: Iterable[Record], trained_entries: Collection[str]) -> list[Record]:
    """Add the mark of trained entries to the Records of these entries."""
    return [
        replace(record, marks=tuple(sorted({*record.marks, TRAINED})))
        if record.entry in trained_entries
        else record
        for record in records
    ]


def leave_out_trained(records: Iterable[Record]) -> list[Record]:
    """Select the Records of entries that are not known to be in the training data."""
    return [record for record in records if TRAINED not in record.marks]


def score_metric(
    metric: str,
    records: Sequence[Record],
    profile: Profile,
    size_of: SizeOf,
    assumed_verdict: Assumed = None,
    *,
    partial: bool = False,
) -> Score | None:
    """Return the score of ``overall``, ``all``, a group, a category or a mark; None where nothing was run.

    ``partial`` is that of ``aggregate_scores``.
    """
    if metric == UNTRAINED:
        metric, records = name_main_score(records), leave_out_trained(records)
    if has_formula(metric, records):
        scores = aggregate_scores(records, profile, size_of, assumed_verdict, partial=partial)
        return scores.find_score(metric)
    part = select_marked(records, metric)
    return tally_records(part, profile, assumed_verdict) if part else None


def tally_records(records: Sequence[Record], profile: Profile, assumed_verdict: Assumed = None) -> Score:
    """Score entries that count alike; trials of an entry, or of those like it, are a cluster."""
    return _score_tally(tally_verdicts(records, profile, assumed_verdict))


class Tally(NamedTuple):
    """The verdicts on some entries."""

    by_unit: Mapping[str, Sequence[bool]]
    """Verdicts of scored entries by unit of sampling; True if passed."""
    missing: Sequence[NotScored]


def tally_verdicts(records: Iterable[Record], profile: Profile, assumed_verdict: Assumed = None) -> Tally:
    """Tally the verdicts of some Records."""
    by_unit: dict[str, list[bool]] = {}
    missing = []
    for record in records:
        verdict = assume_verdict(record.verdict(profile), assumed_verdict)
        if isinstance(verdict, NotScored):
            missing.append(verdict)
        else:
            by_unit.setdefault(record.unit, []).append(verdict.passed)
    return Tally(by_unit, missing)


def _join_tallies(tallies: Sequence[Tally]) -> Tally:
    """Join tallies, which may have units in common."""
    by_unit: dict[str, list[bool]] = {}
    for tally in tallies:
        for unit, verdicts in tally.by_unit.items():
            by_unit.setdefault(unit, []).extend(verdicts)
    return Tally(by_unit, [verdict for tally in tallies for verdict in tally.missing])


def _score_tally(tally: Tally) -> Score:
    by_unit, missing = tally
    passes, verdict_count = sum(map(sum, by_unit.values())), sum(map(len, by_unit.values()))
    counts = Score(
        n=verdict_count + len(missing),
        passed=passes,
        failed=verdict_count - passes,
        not_scored=len(missing),
        set_aside=sum(verdict.cause in SKIPPED for verdict in missing),
        unknown=sum(verdict.cause == OTHER_RULES for verdict in missing),
    )
    # Entries on which both profiles would have gone on alike are no fair sample of all.
    if counts.unknown or not verdict_count:
        return counts
    interval = intervals.find_unit_interval(by_unit)
    return replace(counts, accuracy=passes / verdict_count, interval=interval)


def _combine_scores(parts: Mapping[str, Score | None], weights: Mapping[str, float]) -> Score:
    known_parts = [
        Part(weights[name], score.accuracy, score.interval)
        for name, score in parts.items()
        if score and score.accuracy is not None and score.interval
    ]
    present = [score for score in parts.values() if score]
    missing = [name for name, score in parts.items() if not score or not (score.scored or score.unknown)]
    # The whole lacks what a part lacks.
    nested_names = [name for score in present for name in score.missing]
    unknown = sum(score.unknown for score in present)
    return Score(
        n=sum(score.n for score in present),
        passed=sum(score.passed for score in present),
        failed=sum(score.failed for score in present),
        not_scored=sum(score.not_scored for score in present),
        set_aside=sum(score.set_aside for score in present),
        accuracy=add_in_order(part.weight * part.share for part in known_parts)
        if known_parts and not unknown
        else None,
        missing=tuple(dict.fromkeys(missing + nested_names)),
        interval=None if unknown else intervals.find_mean_interval(known_parts),
        unknown=unknown,
    )


@dataclass(frozen=True, slots=True)
class Formula:
    """A group's score from its parts (categories or other groups)."""

    parts: tuple[str, ...]
    by_count: bool = False
    """True where parts are weighted by the number of their entries; else each counts alike."""

    def weigh_parts(self, size_of: Callable[[str], float]) -> Mapping[str, float]:
        """Compute the weights of the parts."""
        sizes = {part: size_of(part) if self.by_count else 1.0 for part in self.parts}
        return {part: size / (add_in_order(sizes.values()) or 1.0) for part, size in sizes.items()}


GROUPS: Mapping[str, Formula] = {
    "simple": Formula(("simple_python", "simple_java", "simple_javascript")),
    "non_live": Formula(("simple", "multiple", "parallel", "parallel_multiple")),
    "live": Formula(
        ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"), by_count=True
    ),
    # The mean of two, not by count, although live has far more; it is no part of live or non_live since v4.
    "irrelevance_all": Formula(("irrelevance", "live_irrelevance")),
    "multi_turn": Formula(
        ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
    ),
    "web_search": Formula(SELECTIONS["web_search"]),
    "memory": Formula(SELECTIONS["memory"]),
    "agentic": Formula(("web_search", "memory")),
    "complex": Formula(SELECTIONS["complex"], by_count=True),
    "executable_simple": Formula(("exec_simple", "rest")),
    "executable": Formula(("executable_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple")),
    "v1": Formula(SELECTIONS["v1"], by_count=True),
    "next_step": Formula(SELECTIONS["next_step"], by_count=True),
}
"""Groups in the order they can be computed. ``live_relevance`` is reported and has no weight."""

SUITES = ("core", "bfcl", "complexfuncbench")
"""Suites that the formulas are for; in runs of other suites only, all entries count alike."""

OVERALL: Mapping[str, float] = {
    "non_live": 0.1,
    "live": 0.1,
    "irrelevance_all": 0.1,
    "multi_turn": 0.3,
    "agentic": 0.4,
}
"""Weights of the overall score."""


def weigh_categories(metric: str, size_of: Callable[[str], float]) -> Mapping[str, float]:
    """Compute the weights of categories within ``overall``, a group or a single category.

    ``size_of`` gives the number of entries by which the categories of some groups count.
    """
    # Groups hold groups, so this calls itself; categories end it.
    if metric == "overall":
        shares = OVERALL
    elif metric in GROUPS:
        shares = GROUPS[metric].weigh_parts(size_of)
    else:
        return {metric: 1.0}
    weights: dict[str, float] = {}
    for part, share in shares.items():
        for name, weight in weigh_categories(part, size_of).items():
            weights[name] = weights.get(name, 0.0) + share * weight
    return weights


def score_strata(records: Sequence[Record], profile: Profile) -> dict[Stratum, Score]:
    """Score the entries of each stratum, each counting the same; strata without entries are absent."""
    # Entries in other prompt formats repeat those of other categories.
    stratum_records = [record for record in records if record.stratum and record.group != Group.FORMAT]
    parts = {stratum: [r for r in stratum_records if r.stratum == stratum] for stratum in Stratum}
    return {stratum: tally_records(part, profile) for stratum, part in parts.items() if part}


def score_untrained(records: Sequence[Record], profile: Profile, size_of: SizeOf) -> ProfileScores | None:
    """Return the scores of the other entries; None where no entry is known to be in the training data."""
    # Without a trained entry a second score would repeat the first.
    rest = leave_out_trained(records)
    return aggregate_scores(rest, profile, size_of) if len(rest) < len(records) else None
