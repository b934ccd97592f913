"""A comparison of two scorecards in words and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import name_few, shorten_text
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.present import score_tables
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.two_models import describe_early_end
from pytest_fcbench.present.wording import (
    describe_path_settings,
    format_dollars,
    format_number,
    format_time,
    select_outermost,
)
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency, measure_usage
from pytest_fcbench.scorecard.aggregate.call_counts import compare_triggering, sum_calls
from pytest_fcbench.scorecard.aggregate.scores import ALL
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.aggregate.server_checks import count_checks
from pytest_fcbench.scorecard.compare.comparison import (
    Comparison,
    choose_main_difference,
    correct_together,
    count_entries,
    name_scorecards,
    name_suite,
    name_suites,
)
from pytest_fcbench.scorecard.compare.paired import Paired, format_p
from pytest_fcbench.scorecard.record import Record

_REASON = 160
"""The longest reason in a table, in characters."""


def write_conclusion(comparison: Comparison) -> str:
    """Write in one sentence whether the later run is better, and of how many entries."""
    before, after = comparison.names
    if comparison.has_only_checks:
        return describe_checks(comparison, before, after)
    delta = choose_main_difference(comparison).difference
    if not delta.better + delta.worse:
        return f"no difference shown: none of {delta.entries:,} entries changed from {before} to {after}"
    counts = f"of {delta.entries:,} entries {delta.better:,} became better and {delta.worse:,} worse"
    return f"{describe_direction(comparison, before, after)}; {counts}"


def describe_checks(comparison: Comparison, before: str, after: str) -> str:
    """Describe how many checks one of the two servers breaks and the other does not."""
    changes = comparison.checks
    return (
        f"of {len(changes.pairs):,} checks {after} alone breaks {len(changes.newly_broken):,}, "
        f"{before} alone {len(changes.mended):,}"
    )


def describe_direction(comparison: Comparison, before: str, after: str) -> str:
    """Describe by how much the later run is better or worse; the names are those of the two runs."""
    one = choose_main_difference(comparison)
    delta, chance = one.difference, one.difference.chance
    verdict = {
        1: f"{after} is better than {before}",
        0: f"no difference shown between {before} and {after}",
        -1: f"{after} is worse than {before}",
    }
    where = {"overall": "overall", ALL: "of all entries compared"}.get(delta.metric, f"in {delta.metric}")
    if missing := comparison.missing.get(delta.metric):
        run = f", of which {100 * comparison.weight:.3g}% by weight was compared"
        where += run if delta.metric == "overall" else f" without {', '.join(missing)}"
    few = ""
    if not (one.shown or chance.can_be_shown):
        few = (
            f"; too few entries or clusters to show any difference (p {format_p(chance.smallest_p)} at best)"
        )
    return (
        f"{verdict[one.shown]}: {_format_points(delta.change)} points {where} "
        f"(95% CI {_format_points(chance.low)} to {_format_points(chance.high)}){few}"
    )


def tabulate_comparison(comparison: Comparison, most: int) -> list[Table]:
    """Tabulate a comparison for people: runs below the conclusion, scores, cost and latency, flips."""
    parts = [
        tabulate_runs(comparison),
        *(() if comparison.has_only_checks else (tabulate_scores(comparison),)),
        *tabulate_beside_scores(comparison),
        *tabulate_triggering(comparison),
        tabulate_usage(comparison),
        *(() if comparison.has_only_checks else tabulate_all_flips(comparison, most)),
        tabulate_check_counts(comparison),
        *tabulate_check_changes(comparison, most),
    ]
    return [part for part in parts if part.rows]


def tabulate_runs(comparison: Comparison) -> Table:
    """Tabulate the facts of both runs, with notes on what makes them less comparable."""
    runs: list[Mapping[str, str]] = []
    for card in (comparison.before, comparison.after):
        facts, score = card.facts, card.scores(comparison.profile).overall
        aside = f", and {score.set_aside:,} set aside" if score.set_aside else ""
        runs.append(
            {
                "file": str(card.path),
                "model": facts.model,
                "mode": f"{facts.mode}, {facts.names} names, {facts.syntax}",
                "suites": name_suites(card),
                "ended": "-" if card.created_s is None else format_time(card.created_s),
                "entries": f"{count_entries(card):,}",
                "trials": f"{count_trials(card.records)}",
                "not scored": f"{score.not_scored - score.set_aside:,}{aside}",
            }
        )
    before, after = runs
    # Checks are sent as they are, and have no score.
    left_out = ("mode", "not scored") if comparison.has_only_checks else ()
    return Table(
        write_conclusion(comparison),
        ("", "before", "after"),
        tuple((name, cell, after[name]) for name, cell in before.items() if name not in left_out),
        tuple(write_warnings(comparison)),
        left=frozenset({"before", "after"}),
        whole=True,
    )


def write_warnings(comparison: Comparison) -> Iterator[str]:
    """Write a sentence for each fact other than the model in which the runs differ."""
    before, after, pairing = comparison.before, comparison.after, comparison.paired
    old, new = before.facts, after.facts
    for name in dict.fromkeys((*old.suites, *new.suites)):
        if name not in old.suites or name not in new.suites:
            yield f"suite {name}: only {'before' if name in old.suites else 'after'}"
        elif old.suites[name] != new.suites[name]:
            suite_names = (name_suite(name, facts.suites[name]) for facts in (old, new))
            yield f"suite {' before, '.join(suite_names)} after; entries with the same id may differ"
    rest = [
        ("mode", old.mode, new.mode),
        ("names", old.names, new.names),
        ("syntax", old.syntax, new.syntax),
        ("asked as", old.asked_as or "any server", new.asked_as or "any server"),
        ("trials", count_trials(before.records), count_trials(after.records)),
        ("complex conversations", describe_path_settings(old.driven), describe_path_settings(new.driven)),
        ("judge of ratings", old.rated_by or "-", new.rated_by or "-"),
        ("fcbench version", old.fcbench, new.fcbench),
    ]
    for what, one, other in rest:
        if one != other:
            yield f"{what}: {one} before, {other} after"
    yield from filter(None, map(describe_early_end, (old, new)))
    aside = {
        record.entry
        for record in after.records
        if isinstance(verdict := record.verdict(comparison.profile), NotScored) and verdict.cause == SET_ASIDE
    }
    yield from _describe_left_out("only before", pairing.only_before)
    yield from _describe_left_out("only after", pairing.only_after)
    yield from _describe_left_out("set aside", [e for e in pairing.unscored if e in aside])
    yield from _describe_left_out(
        "not scored in one of the two runs", [e for e in pairing.unscored if e not in aside]
    )


def _describe_left_out(why: str, entries: Sequence[str]) -> Iterator[str]:
    if entries:
        yield f"left out, {why}: {name_few(entries)}"


def tabulate_scores(comparison: Comparison) -> Table:
    """Tabulate the change of each metric."""
    rows = []
    for one in comparison.tested:
        delta, chance = one.difference, one.difference.chance
        rows.append(
            (
                delta.metric + ("*" if comparison.missing.get(delta.metric) else ""),
                *(f"{delta.entries:,}", f"{delta.before:.1%}", f"{delta.after:.1%}"),
                *map(_format_points, (delta.change, chance.low, chance.high)),
                *(f"{delta.better:,}", f"{delta.worse:,}"),
                format_p(one.p).removeprefix("= "),
                {1: "better", 0: "", -1: "worse"}[one.shown],
            )
        )
    return Table(
        f"Scores ({comparison.profile} profile)",
        ("", "entries", "before", "after", "change", "low", "high", "better", "worse", "p", "shown"),
        tuple(rows),
        tuple(_explain_methods(comparison)),
        legend={
            "change": "difference in percentage points",
            **dict.fromkeys(("low", "high"), "limits of its 95% confidence interval"),
            **dict.fromkeys(("better", "worse"), "numbers of entries"),
            "p": "two-sided p-value"
            + ("; of categories, and of groups, with Holm's correction" if len(rows) > 1 else ""),
            "shown": "p <= 0.05 and the interval excludes 0",
        },
    )


def _explain_methods(comparison: Comparison) -> Iterator[str]:
    missing = select_outermost(part for parts in comparison.missing.values() for part in parts)
    if missing:
        left_out = ", ".join(missing)
        yield f"* asked for, although parts of the formula were not compared and count as 0: {left_out}"
    elif comparison.weight and comparison.main != "overall":
        yield f"no overall score: {100 * comparison.weight:.3g}% of its weight was compared"
    methods: dict[str, list[str]] = {}
    few = []
    for metric, chance in ((one.difference.metric, one.difference.chance) for one in comparison.tested):
        of = f" ({chance.clusters:,} clusters)" if chance.clusters else ""
        methods.setdefault(chance.method, []).append(metric + of)
        if not chance.can_be_shown:
            few.append(f"{metric} (p {format_p(chance.smallest_p)} at best)")
    is_plain = len(methods) == 1 and not comparison.tested[0].difference.chance.clusters
    method_texts = [f"{method}: {name_few(names)}" for method, names in methods.items()]
    yield f"p-values by {'; '.join(methods if is_plain else method_texts)}"
    if few:
        yield f"too few entries or clusters to show a change: {name_few(few)}"


_CHECK = ("check", "category", "before", "after", "why it is broken or undecided")
"""The columns of tables of checks."""


def tabulate_check_counts(comparison: Comparison) -> Table:
    """Tabulate how many checks of the server either run keeps and breaks."""
    changes = comparison.checks
    counts = [count_checks(card.records) for card in (comparison.before, comparison.after)]
    return Table(
        "Checks of the server (no part of a score)",
        ("", "run", "checks", "kept", "broken", "undecided"),
        tuple(
            (name, when, *map(format_number, (of.checks, of.kept, of.broken, of.undecided)))
            for name in dict.fromkeys((*counts[0], *counts[1]))
            for when, run in (("before", counts[0]), ("after", counts[1]))
            if (of := run.get(name))
        ),
        (
            *_describe_left_out("only before", changes.only_before),
            *_describe_left_out("only after", changes.only_after),
        ),
        left=frozenset({"run"}),
    )


def tabulate_check_changes(comparison: Comparison, most: int | None) -> Iterator[Table]:
    """Tabulate the checks of the server that changed, at most ``most`` of each kind of change."""
    changes = comparison.checks
    for title, checks in (
        ("Newly broken", changes.newly_broken),
        ("No longer broken", changes.mended),
        ("Decided in one run only", changes.other_changes),
    ):
        rows = [(each.entry, each.category, each.before, each.after, each.reason) for each in checks]
        yield _tabulate_first(title, _CHECK, rows, most)


def _tabulate_first(
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    most: int | None,
    rest: str = "--flips=N shows N",
) -> Table:
    """Tabulate at most so many of the changes, each with its reason last; ``rest`` says where more are."""
    first = tuple((*cells, shorten_text(reason, _REASON)) for *cells, reason in rows[:most])
    more = len(rows) - len(first)
    notes = (f"and {more:,} more; {rest}",) if more else ()
    return Table(f"{title} ({len(rows):,})", columns, first, notes, left=frozenset(columns[1:]))


def tabulate_beside_scores(comparison: Comparison) -> Iterator[Table]:
    """Tabulate calls along golden paths, executed calls, levels of pressure and ratings of both runs."""
    profile, compared = comparison.profile, list(_select_compared(comparison))
    both = (
        # A baseline keeps verdicts without the calls that led to them.
        [any(r.paths for r in each) and score_tables.tabulate_calls(each, profile) for each in compared],
        [score_tables.tabulate_call_schemas(*runs) for runs in (compared, compared[::-1])],
        [score_tables.tabulate_sides(each, profile) for each in compared],
        [score_tables.tabulate_pressure(each, profile) for each in compared],
        [score_tables.tabulate_ratings(each, comparison.after.facts.rated_by) for each in compared],
    )
    for before, after in both:
        if before and after:
            old, new = ({name: cells for name, *cells in table.rows} for table in (before, after))
            rows = [
                (name, when, *run[name])
                for name in new
                if name in old
                for when, run in (("before", old), ("after", new))
            ]
            # Counts of failures are of one run, so they are no note on both.
            notes = [note for note in after.notes if not note.startswith("failed entries")]
            columns = ("", "run", *after.columns[1:])
            title = after.title[:1].upper() + after.title[1:]
            yield Table(
                *(title, columns, tuple(rows), tuple(notes)),
                left=frozenset({"run"}),
                optional=("entries", "success"),
            )


def tabulate_providers(comparisons: Sequence[Comparison]) -> Table:
    """Tabulate several runs beside one reference, with those that are worse in the title.

    Raises ``UsageError`` where only some have scores to compare.
    """
    reference, *names = name_scorecards([comparisons[0].before, *(each.after for each in comparisons)])
    only_checks = [name for name, each in zip(names, comparisons, strict=True) if each.has_only_checks]
    if len(only_checks) == len(names):
        return _tabulate_servers(comparisons, reference, names)
    if only_checks:
        raise UsageError(f"{', '.join(only_checks)}: only checks are also in {reference}; compare them alone")
    tests = correct_together([choose_main_difference(each).difference for each in comparisons])
    rows, worse = [], []
    for name, comparison, one in zip(names, comparisons, tests, strict=True):
        delta, chance = one.difference, one.difference.chance
        points = [_format_points(each) for each in (delta.change, chance.low, chance.high)]
        if one.shown < 0:
            worse.append(f"{name} ({points[0]} points, 95% CI {points[1]} to {points[2]})")
        triggering = compare_triggering(comparison.before.records, comparison.after.records)
        calls = sum_calls(comparison.after.records)
        rows.append(
            (
                *(name, delta.metric, f"{delta.entries:,}", f"{delta.before:.1%}", f"{delta.after:.1%}"),
                *(*points, format_p(one.p).removeprefix("= ")),
                {1: "better", 0: "", -1: "worse"}[one.shown],
                format_number(triggering.f1 if triggering else None, ".1%"),
                format_number(calls.valid / calls.calls if calls.calls else None, ".1%"),
            )
        )
    columns = ("score", "entries", "reference", "run", "change", "low", "high", "p", "shown", "F1", "schema")
    return Table(
        f"worse than {reference}: {'; '.join(worse)}"
        if worse
        else f"none is shown to be worse than {reference}",
        ("", *columns),
        tuple(rows),
        legend={
            **dict.fromkeys(("low", "high"), "limits of the 95% interval of the change, in points"),
            "p": f"two-sided p-value with Holm's correction for {len(rows)} runs",
            "shown": "p <= 0.05 and the interval excludes 0",
            "F1": "of whether the first answer calls where the reference calls",
            "schema": "calls that are valid by the schemas that were shown",
        },
        optional=("entries", "reference", "run", "schema", "F1"),
    )


def _tabulate_servers(comparisons: Sequence[Comparison], reference: str, names: Sequence[str]) -> Table:
    """Tabulate several checked servers beside one, with those that break more in the title."""
    numbers = [(len(each.checks.newly_broken), len(each.checks.mended)) for each in comparisons]
    breaking = [f"{name} ({broken:,})" for name, (broken, _) in zip(names, numbers, strict=True) if broken]
    return Table(
        f"checks that {reference} does not break are broken by {', '.join(breaking) or 'none'}",
        ("", "checks", "newly broken", "no longer broken", "broken checks"),
        tuple(
            (
                *(name, f"{len(each.checks.pairs):,}", f"{broken:,}", f"{mended:,}"),
                name_few([check.entry for check in each.checks.newly_broken]),
            )
            for name, each, (broken, mended) in zip(names, comparisons, numbers, strict=True)
        ),
        left=frozenset({"broken checks"}),
    )


def tabulate_triggering(comparison: Comparison) -> Iterator[Table]:
    """Tabulate whether the later run calls where the earlier one does, if scorecards know it."""
    if found := compare_triggering(comparison.before.records, comparison.after.records):
        counts = (found.both, found.only_reference, found.only_run, found.neither)
        shares = (found.precision, found.recall, found.f1)
        yield Table(
            "Whether the first answer calls, with the run before as the reference",
            ("", "both call", "only before", "only after", "neither", "precision", "recall", "F1"),
            (("all", *map(format_number, counts), *(format_number(each, ".1%") for each in shares)),),
        )


def _select_compared(comparison: Comparison) -> Iterator[list[Record]]:
    """Select the Records of either run about entries that both have scored."""
    common_entries = {one.entry for one in comparison.paired.pairs}
    for card in (comparison.before, comparison.after):
        yield [record for record in card.records if record.entry in common_entries]


def _format_seconds(value: float | None) -> str:
    return format_number(value, ".2f")


_TOOK: Mapping[str, tuple[Callable[[CostLatency], float | None], Callable[[float | None], str]]] = {
    "calls": (lambda took: took.steps or None, format_number),
    "tokens in": (lambda took: took.input_tokens, format_number),
    "tokens out": (lambda took: took.output_tokens, format_number),
    "dollars": (lambda took: took.usd, format_dollars),
    "dollars per 1,000 calls": (lambda took: took.usd_per_1000_calls, format_dollars),
    "seconds per call, mean": (lambda took: took.latency_mean_s, _format_seconds),
    "seconds per call, p50": (lambda took: took.latency_p50_s, _format_seconds),
    "seconds per call, p95": (lambda took: took.latency_p95_s, _format_seconds),
}


def tabulate_usage(comparison: Comparison) -> Table:
    """Tabulate tokens, dollars and seconds of the compared entries, where one of the runs has them."""
    took = [measure_usage(records) for records in _select_compared(comparison)]
    rows = []
    for name, (value, form) in _TOOK.items():
        first, second = map(value, took)
        if (first, second) != (None, None):
            change = f"{second / first - 1:+.0%}" if first and second is not None else "-"
            rows.append((name, form(first), form(second), change))
    return Table(
        "Cost and latency of the entries compared",
        ("", "before", "after", "change"),
        tuple(rows),
        tuple(
            f"dollars {when} cover {one.priced:,} of {one.steps:,} calls"
            for when, one in zip(("before", "after"), took, strict=True)
            if 0 < one.priced < one.steps
        ),
    )


def _format_points(change: float | None) -> str:
    """Write a change in points of a hundred, with a sign."""
    # Adding 0.0 makes -0.0, which would be written with a minus, a plain 0.
    return format_number(None if change is None else round(100 * change, 1) + 0.0, "+.1f")


def tabulate_all_flips(comparison: Comparison, most: int | None) -> list[Table]:
    """Tabulate the entries that became better and those that became worse, at most ``most`` of each."""
    runs = (comparison.before.records, comparison.after.records)
    return [*tabulate_flips(comparison.paired, runs, comparison.profile, most)]


def tabulate_flips(
    pairing: Paired,
    runs: tuple[Sequence[Record], Sequence[Record]],
    profile: Profile,
    most: int | None,
    rest: str = "--flips=N shows N",
) -> Iterator[Table]:
    """Tabulate the flips of two runs in a table for each direction; ``rest`` says where more are."""
    for title, pairs in (("Worse", pairing.worse), ("Better", pairing.better)):
        flip_entries = {one.entry for one in pairs}
        before, after = (_sum_trials(records, flip_entries, profile) for records in runs)
        rows = []
        for one in pairs:
            (word, why), (new_word, new_why) = before[one.entry], after[one.entry]
            rows.append((one.entry, one.category, word, new_word, why if one.change > 0 else new_why))
        columns = ("entry", "category", "before", "after", "why it failed")
        yield _tabulate_first(title, columns, rows, most, rest)


def list_tables_for_programs(comparison: Comparison, most: int | None) -> Iterator[Table]:
    """List the tables of scores and flips, and those of checks of a server, each where there are any."""
    if not comparison.has_only_checks:
        yield tabulate_scores(comparison)
        yield _join_tables("Flips", tabulate_all_flips(comparison, most))
    if comparison.checks.pairs:
        yield tabulate_check_counts(comparison)
        yield _join_tables("Changed checks", tabulate_check_changes(comparison, most))


def _join_tables(title: str, tables: Iterable[Table]) -> Table:
    """Join tables with the same columns in one table."""
    first, *others = tables
    rows = (*first.rows, *(row for table in others for row in table.rows))
    return Table(title, first.columns, rows, left=first.left)


def _sum_trials(records: Sequence[Record], entries: set[str], profile: Profile) -> dict[str, tuple[str, str]]:
    """Sum up the trials of each entry: its outcome in a word, and the reason of a failure, else empty."""
    by_entry: dict[str, list[Passed | Failed]] = {}
    for record in records:
        verdict = record.verdict(profile)
        if record.entry in entries and not isinstance(verdict, NotScored):
            by_entry.setdefault(record.entry, []).append(verdict)
    outcomes = {}
    for entry, verdicts in by_entry.items():
        passes = sum(verdict.passed for verdict in verdicts)
        # A baseline keeps the code of a failure without its reason.
        reason = next((str(v) if v.reason else v.code for v in verdicts if isinstance(v, Failed)), "")
        word = verdicts[0].status if len(verdicts) == 1 else f"{passes} of {len(verdicts)}"
        outcomes[entry] = (word, reason)
    return outcomes
