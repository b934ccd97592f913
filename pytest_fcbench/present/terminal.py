"""The scorecard as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from textwrap import wrap
from typing import TypeAlias

from pytest_fcbench.domain.prompt_format import shorten_format_id
from pytest_fcbench.domain.text import make_printable, shorten_text
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.present import call_tables, format_tables, score_tables
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.score_tables import tabulate_untrained
from pytest_fcbench.present.tables import render_text
from pytest_fcbench.present.wording import (
    describe_bill,
    describe_path_settings,
    format_dollars,
    format_limits,
    format_number,
)
from pytest_fcbench.scorecard.aggregate.formulas import OVERALL, SUITES
from pytest_fcbench.scorecard.aggregate.scores import ALL, ProfileScores, Score, aggregate_scores
from pytest_fcbench.scorecard.aggregate.trials import count_trials, score_trials
from pytest_fcbench.scorecard.aggregate.usage import measure_beside_records, measure_bill, measure_usage
from pytest_fcbench.scorecard.compare.names import name_suite
from pytest_fcbench.scorecard.record import EarlierConversation, Record, group_by_category
from pytest_fcbench.scorecard.run_facts import RunFacts

Explain: TypeAlias = Callable[[Record], Iterable[OutputLine]]
"""Explains a failed entry."""

FEW_ENTRIES = 3
"""Entries up to which each is shown by itself, without tables."""


def write_summary(
    facts: RunFacts,
    records: Sequence[Record],
    size_of: Callable[[str], int],
    *,
    width: int,
    most: int,
    explain: Explain | None = None,
) -> Iterator[OutputLine]:
    """Write the summary of a run, with at most ``most`` failures, in lines of printable characters.

    Names of entries can hold control characters. A run of few entries has no tables: each failed entry is
    explained instead.
    """
    fact_lines = [f"model {facts.model} ({facts.manner}), profile {facts.profile}{_explain_profile(facts)}"]
    fact_lines += (f"suite {name_suite(name, suite)}" for name, suite in facts.suites.items())
    if facts.shard:
        fact_lines.append(f"shard {facts.shard}: only a part of the entries")
    if facts.driven:
        fact_lines.append(f"complex conversations: {describe_path_settings(facts.driven)}")
    if facts.search:
        fact_lines.append(f"web: {facts.search}")
    fact_lines += (f"note: {note}" for note in facts.notes)
    for fact in fact_lines:
        for line in wrap(_make_line(fact).text, width, subsequent_indent="  ", break_on_hyphens=False):
            yield OutputLine(line)
    if explain and len(records) <= FEW_ENTRIES:
        yield from _write_few_entries(facts, records, explain)
        return
    for line in _write_summary(facts, records, size_of, width, most):
        yield _make_line(line)


def _explain_profile(facts: RunFacts) -> str:
    """Say of which suites the profile is the default; nothing where it was chosen, or only ours run."""
    bundled_suites = [name for name in facts.suites if name in SUITES]
    if not bundled_suites and facts.profile is Profile.CORRECTED:
        return " (the default of own suites)"
    if 0 < len(bundled_suites) < len(facts.suites) and facts.profile is Profile.OFFICIAL:
        return f" (the default beside {bundled_suites[0]})"
    return ""


def _make_line(text: str) -> OutputLine:
    return OutputLine(text if text.isprintable() else make_printable(" ".join(text.splitlines())))


def _write_few_entries(facts: RunFacts, records: Sequence[Record], explain: Explain) -> Iterator[OutputLine]:
    for record in records:
        yield OutputLine("")
        verdict = record.verdict(facts.profile)
        match verdict:
            case Failed():
                yield from explain(record)
            case NotScored():
                yield _make_line(f"{record.item_id} ({record.category}): not scored: {verdict}")
            case _:
                yield _make_line(f"{record.item_id} ({record.category}): passed")
        other = next(profile for profile in Profile if profile is not facts.profile)
        if (other_verdict := record.verdict(other)).status != verdict.status:
            why = "" if isinstance(other_verdict, Passed) else f", {other_verdict}"
            yield _make_line(f"  {'':<11}{other} profile: {other_verdict.status}{why}")


def _write_summary(
    facts: RunFacts, records: Sequence[Record], size_of: Callable[[str], int], width: int, most: int
) -> Iterator[str]:
    scores = {profile: aggregate_scores(records, profile, size_of) for profile in Profile}
    yield ""
    # Conversations follow one profile's rules; under the other, entries may have no verdict.
    counts = facts.driven.profile if facts.driven else facts.profile
    yield from _write_scores(scores, counts, facts.profile, width)
    if counts is facts.profile:
        yield f"counts and intervals are of the {counts} profile"
    else:
        yield f"counts are of the {counts} profile, intervals of the {facts.profile} profile"
    yield from _explain_formulas(scores[facts.profile], width)
    # The profile of the run first; of the other one only the notes that are its own.
    for each in sorted(Profile, key=lambda other: other is not facts.profile):
        if calls := call_tables.tabulate_calls(records, each):
            yield ""
            call_table = calls if each is facts.profile else replace(calls, notes=calls.notes[:1])
            yield from render_text(call_table, width)
        if sentence := call_tables.describe_other_rules(records, each):
            yield from _wrap_text(sentence, width, "")
    for table in (
        score_tables.tabulate_strata(records, facts.profile),
        tabulate_untrained(records, facts.profile, size_of),
        score_tables.tabulate_right_turns(records, facts.profile),
        score_tables.tabulate_sides(records, facts.profile),
        score_tables.tabulate_ratings(records, facts.rated_by),
        *format_tables.tabulate_formats(records, facts.profile),
    ):
        if table:
            yield ""
            yield from render_text(table, width)
    yield from _write_cost_latency(records, facts.earlier, width)
    yield from _write_trials(records, facts.profile, width)
    yield from _write_failures(records, facts.profile, width=width, most=most)
    yield from _write_not_scored(records, facts.profile, width=width)


_FEW = 10
"""The most failures that are shown in full; more get a line each."""

_NAME = 24
_SCORES = {
    "entries": 8,
    "passed": 8,
    "failed": 8,
    "not scored": 12,
    "official": 10,
    "corrected": 11,
    "95% interval": 14,
}
"""Columns of the scores and their widths."""
_LEAST_SCORES = ("passed", "failed", "corrected", "not scored")
"""Columns that a narrow terminal leaves out, the first of them first; shares and what was not scored stay."""
_LEAST_USAGE = ("$/1,000", "std", "p50", "input", "mean")


def _fit_columns(columns: Mapping[str, int], least: Iterable[str], width: int) -> list[str]:
    """Return the columns that fit beside a name."""
    fitting_columns = list(columns)
    for name in least:
        if _NAME + sum(columns[each] for each in fitting_columns) <= width:
            break
        fitting_columns.remove(name)
    return fitting_columns


def _write_scores(
    scores: Mapping[Profile, ProfileScores], counts: Profile, profile: Profile, width: int
) -> Iterator[str]:
    """Write accuracies of both profiles, counts of one, and intervals of one."""
    by_column = [scores[each] for each in (counts, *Profile, profile)]
    columns = _fit_columns(_SCORES, _LEAST_SCORES, width)
    line = "-" * (_NAME + sum(_SCORES[column] for column in columns))
    yield f"{'':<{_NAME}}" + "".join(f"{column:>{_SCORES[column]}}" for column in columns)
    last = [name for name in by_column[-1].names if name not in by_column[0].categories]
    for name in by_column[0].categories:
        yield _format_score(name, columns, *(each.categories[name] for each in by_column))
    for place, name in enumerate(last):
        if place == 0 or name in ("overall", ALL):
            yield line
        yield _format_score(name, columns, *(score for each in by_column if (score := each.find_score(name))))
    few = [
        f"{name} {score.interval.clusters}"
        for name in by_column[-1].names
        if (score := by_column[-1].find_score(name)) and score.interval and score.interval.clusters
    ]
    if few:
        yield from _wrap_text(f"wide intervals, because of few clusters: {', '.join(few)}", width, "")


def _format_score(
    name: str,
    columns: Iterable[str],
    counts: Score,
    official_score: Score,
    corrected_score: Score,
    own: Score,
) -> str:
    cells = {
        "entries": counts.n,
        "passed": counts.passed,
        "failed": counts.failed,
        "not scored": counts.not_scored,
        "official": _format_percent(official_score.accuracy),
        "corrected": _format_percent(corrected_score.accuracy),
        "95% interval": format_limits(own.interval and replace(own.interval, clusters=None)),
    }
    return f"{name:<{_NAME}}" + "".join(f"{cells[column]:>{_SCORES[column]}}" for column in columns)


def _format_percent(accuracy: float | None) -> str:
    return format_number(accuracy, ".2%")


def _explain_formulas(scores: ProfileScores, width: int) -> Iterator[str]:
    """Explain overall by its formula with weights, or why there is none."""
    if scores.alike:
        yield (
            "overall gives every entry the same weight; the official formulas apply to the "
            "suites of the benchmark"
        )
    elif scores.overall.accuracy is not None:
        terms = [
            f"{weight:.0%} {name} {_format_percent(scores.groups[name].accuracy)}"
            for name, weight in OVERALL.items()
        ]
        overall = f"overall {_format_percent(scores.overall.accuracy)}"
        yield from _wrap_text(f"{overall} = {' + '.join(terms)}", width, "")
        if "complex" in scores.groups:
            yield "overall follows BFCL's formula, which excludes complex categories"
    elif scores.weight:
        missing = ", ".join(scores.overall.missing)
        yield from _wrap_text(f"no overall, which also needs {missing}", width, "")


_USAGE = {"steps": 6, "input": 10, "output": 9, "$": 9, "$/1,000": 8, "mean": 6, "std": 6, "p50": 6, "p95": 6}
"""Columns of cost and latency and their widths; up to 1,000 seconds they fit 100 characters."""


def _write_cost_latency(
    records: Sequence[Record], earlier: Sequence[EarlierConversation], width: int
) -> Iterator[str]:
    bill, others = measure_bill(records, earlier), measure_beside_records(records, earlier)
    if not bill.steps:
        return
    yield ""
    yield "cost and latency (tokens, dollars, dollars per 1,000 calls, seconds)"
    # A space stands between columns.
    columns = _fit_columns({name: size + 1 for name, size in _USAGE.items()}, _LEAST_USAGE, width)
    yield _format_usage("", dict(zip(_USAGE, _USAGE, strict=True)), columns)
    rows = {name: measure_usage(part) for name, part in group_by_category(records).items()}
    for name, row in {**rows, "run": measure_usage(records), **others}.items():
        usd = (format_dollars(row.usd), format_dollars(row.usd_per_1000_calls))
        latencies = (row.latency_mean_s, row.latency_std_s, row.latency_p50_s, row.latency_p95_s)
        tokens = (format_number(row.steps), format_number(row.input_tokens), format_number(row.output_tokens))
        cells = (*tokens, *usd, *(format_number(latency, ".2f") for latency in latencies))
        yield _format_usage(name, dict(zip(_USAGE, cells, strict=True)), columns)
    for sentence in describe_bill(bill, others):
        yield from _wrap_text(sentence, width, "")


def _format_usage(name: str, cells: Mapping[str, str], columns: Iterable[str]) -> str:
    return f"{name:<{_NAME}}" + "".join(f" {cells[column]:>{_USAGE[column]}}" for column in columns)


def _write_trials(records: Sequence[Record], profile: Profile, width: int) -> Iterator[str]:
    k = count_trials(records)
    if k == 1:
        return
    yield ""
    yield f"trials ({k} of each entry, each counted above; {profile} profile)"
    yield f"{'':<24}{'entries':>8}{'mean':>10}{f'pass@{k}':>10}{f'pass^{k}':>10}{'flip':>10}"
    rows = {name: score_trials(part, profile, k) for name, part in group_by_category(records).items()}
    rows["all"] = score_trials(records, profile, k)
    for name, row in rows.items():
        shares = (row.mean, (row.pass_at or (None,))[-1], (row.pass_hat or (None,))[-1], row.flip)
        yield f"{name:<24}{row.entries:>8}" + "".join(f"{_format_percent(share):>10}" for share in shares)
    whole = rows["all"]
    if whole.pass_at_intervals and whole.pass_hat_intervals:
        at, hat = (format_limits(each[-1]) for each in (whole.pass_at_intervals, whole.pass_hat_intervals))
        yield from _wrap_text(f"95% intervals of all entries: pass@{k} {at}, pass^{k} {hat}", width, "")
    if left_out := whole.left_out:
        more = f" and {len(left_out) - _FEW} more" if len(left_out) > _FEW else ""
        yield from _wrap_text(
            f"left out, because a trial was not scored: {', '.join(left_out[:_FEW])}{more}", width
        )


def write_unpassed_entries(records: Sequence[Record], profile: Profile, width: int) -> Iterator[str]:
    """Write a line for each entry that failed or was not scored, without a blank line before the first."""
    lines = chain(
        _write_failures(records, profile, width=width, most=len(records)),
        _write_not_scored(records, profile, width=width, most=len(records)),
    )
    return islice(lines, 1, None)


def _write_failures(records: Sequence[Record], profile: Profile, *, width: int, most: int) -> Iterator[str]:
    failures = [
        (record, verdict) for record in records if isinstance(verdict := record.verdict(profile), Failed)
    ]
    if not failures:
        return
    yield ""
    yield f"failed ({len(failures)}, {profile} profile)"
    codes = Counter(verdict.code for _, verdict in failures)
    yield from _wrap_text(", ".join(f"{code} {count}" for code, count in codes.most_common()), width)
    if not most:
        return
    longest = min(max(len(shorten_format_id(record.item_id)) for record, _ in failures[:most]), 34)
    for record, verdict in failures[:most]:
        line = f"  {shorten_format_id(record.item_id):<{longest}}  {verdict.reason}"
        if len(failures) > _FEW:
            yield _cut_line(line, width)
        else:
            yield from wrap(line, width, subsequent_indent=" " * (longest + 4))
    if len(failures) > most:
        more = f"and {len(failures) - most} more; fcbench show lists all, --fcbench-failures=N shows N here"
        yield from wrap(more, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _write_not_scored(
    records: Sequence[Record], profile: Profile, *, width: int, most: int = 3
) -> Iterator[str]:
    unscored_records = [
        (record, v)
        for record in records
        if isinstance(v := record.verdict(profile), NotScored) and v.cause != OTHER_RULES
    ]
    if not unscored_records:
        return
    yield ""
    count, total = len(unscored_records), len(records)
    yield f"not scored ({count} of {total}, {count / total:.1%})"
    by_cause: dict[str, list[tuple[Record, NotScored]]] = {}
    for record, verdict in unscored_records:
        by_cause.setdefault(verdict.cause, []).append((record, verdict))
    for cause, group in by_cause.items():
        examples = group if cause == SET_ASIDE else group[:most]
        yield f"  {cause}: {len(group)}"
        for record, verdict in examples:
            yield _cut_line(f"    {shorten_format_id(record.item_id)}: {verdict.reason}", width)
        if len(group) > len(examples):
            yield f"    and {len(group) - len(examples)} more"


def _wrap_text(text: str, width: int, first: str = "  ") -> list[str]:
    return wrap(text, width, initial_indent=first, subsequent_indent="  ")


def _cut_line(line: str, width: int) -> str:
    return shorten_text(" ".join(line.splitlines()), width)
