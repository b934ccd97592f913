"""Compare the two models of a run, and measure what differs by chance where the same was asked twice.

A model that is asked twice does not pass the same entries twice: it samples, or the server computes the same
request differently in another batch. How often that happens says which loss a comparison could have shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse

from pytest_fcbench.domain.verdict import SKIPPED, NotScored, Profile
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_usage
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, find_cluster_interval
from pytest_fcbench.scorecard.aggregate.scores import ALL, SizeOf, leave_out_checks
from pytest_fcbench.scorecard.aggregate.server_checks import compare_checks, is_check
from pytest_fcbench.scorecard.compare.looks import LookFinding, decide_comparison, find_nominal_level
from pytest_fcbench.scorecard.compare.paired import Paired, pair_runs, plan_comparison
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.two_models import CategoryFlips, ChanceFlips, SideBySide, VerdictTable


def look_at_sides(
    second: Sequence[Record],
    first: Sequence[Record],
    profile: Profile,
    size_of: SizeOf,
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
    better, worse = (Counter(pair.category for pair in part) for part in (paired.better, paired.worse))
    entries = Counter(pair.category for pair in paired.pairs)
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
        flips={name: CategoryFlips(count, better[name], worse[name]) for name, count in entries.items()},
        usage=measure_usage(second),
        calls_saved=calls_saved,
    )


_GREEDY = 0.001
"""The official temperature of BFCL, at which hardly another token is drawn than at 0."""


def tabulate_verdicts(paired: Paired) -> VerdictTable:
    """Count the entries that passed in both runs, in one of them, and in neither."""
    pairs = [(pair.before, pair.after) for pair in paired.pairs]
    return VerdictTable(
        sum(before * after for before, after in pairs),
        sum(before * (1 - after) for before, after in pairs),
        sum((1 - before) * after for before, after in pairs),
        sum((1 - before) * (1 - after) for before, after in pairs),
    )


def measure_noise(records: Iterable[Record], profile: Profile) -> Mapping[str, ChanceFlips]:
    """Measure by category, and for ``all``, what trials of an entry differ in; empty without two of any.

    The Records of an A/A run are those of both sides.
    """
    by_entry: dict[str, list[Record]] = {}
    for record in leave_out_checks(records):
        by_entry.setdefault(record.entry, []).append(record)
    by_category: dict[str, list[Sequence[Record]]] = {}
    for trials in by_entry.values():
        if len(trials) > 1:
            by_category.setdefault(trials[0].category, []).append(trials)
    every = [trials for part in by_category.values() for trials in part]
    parts = {**by_category, ALL: every} if every else {}
    return {name: _count_flips(part, profile) for name, part in parts.items()}


def _count_flips(entries: Sequence[Sequence[Record]], profile: Profile) -> ChanceFlips:
    by_unit: dict[str, tuple[int, int]] = {}
    scored_entries = compared = differing = flips = pairs = independent = 0
    for trials in entries:
        verdicts = [record.verdict(profile) for record in trials]
        passes = [verdict.passed for verdict in verdicts if not isinstance(verdict, NotScored)]
        if (k := len(passes)) > 1:
            own = sum(passes) * (k - sum(passes)), k * (k - 1) // 2
            before = by_unit.get(trials[0].unit, (0, 0))
            by_unit[trials[0].unit] = before[0] + own[0], before[1] + own[1]
            scored_entries += 1
            independent += k // 2
            flips, pairs = flips + own[0], pairs + own[1]
        # Only the first request is the same in each trial; what follows depends on the answers.
        answers = [record.turns[0][0] for record in trials if record.turns and record.turns[0]]
        texts = {repr((answer["text"], answer["tool_calls"], answer["reasoning"])) for answer in answers}
        compared += len(answers) > 1
        differing += len(texts) > 1
    interval = find_cluster_interval(list(by_unit.values()), independent)
    return ChanceFlips(scored_entries, flips / pairs if pairs else 0.0, interval, compared, differing)


def find_smallest_loss(
    paired: Paired, metric: str, flips: float, size_of: SizeOf = lambda name: 0
) -> float | None:
    """Find the smallest true loss that a run of these entries with looks would show with ``POWER``.

    ``flips`` is the share of entries that change by chance; None where so few can show no loss.
    """
    parts = paired.weigh_pairs(metric, size_of)
    plan = plan_comparison(parts, 1 - find_nominal_level(1 - CONFIDENCE, 1.0)) if parts else None
    return plan.find_smallest_loss(flips) if plan else None


def describe_differing_answers(flips: ChanceFlips, temperature: float | None) -> str | None:
    """Describe that answers at temperature 0 differ; None where they do not, or it is higher."""
    if not flips.differing or temperature is None or temperature > _GREEDY:
        return None
    return (
        f"{flips.differing:,} of {flips.compared:,} entries got another answer to the same request at "
        f"temperature {temperature:g}: the server samples anyway, or what it computes depends on the "
        f"other requests of a batch"
    )
