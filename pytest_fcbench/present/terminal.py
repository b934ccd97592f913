"""The scorecard as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TypeAlias

from pytest_fcbench.domain.prompting import shorten_format_id
from pytest_fcbench.domain.text import make_printable, shorten_text
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.present import score_tables
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.tables import render_text, wrap_text
from pytest_fcbench.present.two_models import tabulate_two_models
from pytest_fcbench.present.wording import describe_missing_parts, describe_path_settings, format_number
from pytest_fcbench.scorecard.aggregate.scores import (
    OVERALL,
    SUITES,
    ProfileScores,
)
from pytest_fcbench.scorecard.aggregate.server_checks import is_check
from pytest_fcbench.scorecard.compare.comparison import name_suite
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RunFacts

Explain: TypeAlias = Callable[[Record], Iterable[OutputLine]]
"""Explains a failed entry."""

FEW_ENTRIES = 3
"""Entries up to which each is shown by itself, without tables."""


def write_summary(
    facts: RunFacts,
    evidence: Evidence,
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
        yield from map(OutputLine, wrap_text(_make_line(fact).text, width, "  "))
    if explain and len(evidence.records) <= FEW_ENTRIES:
        yield from _write_few_entries(facts, evidence.records, explain)
        return
    for line in _write_summary(facts, evidence, width, most):
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


def _write_summary(facts: RunFacts, evidence: Evidence, width: int, most: int) -> Iterator[str]:
    records, scores = evidence.records, evidence.scores
    # Checks of the server have a table of their own.
    if not all(map(is_check, records)):
        yield ""
        # The facts above have the model.
        yield from render_text(replace(score_tables.tabulate_scores(facts, scores), title=""), width)
        yield from _explain_formulas(scores[facts.profile], width)
    # The profile of the run first; of the other one only the notes that are its own.
    for each in sorted(Profile, key=lambda other: other is not facts.profile):
        if calls := score_tables.tabulate_calls(records, each):
            yield ""
            call_table = calls if each is facts.profile else replace(calls, notes=calls.notes[:1])
            yield from render_text(call_table, width)
        if sentence := score_tables.describe_other_rules(records, each):
            yield from wrap_text(sentence, width, "  ")
    for table in (
        *score_tables.tabulate_beside_scores(facts, records, facts.profile, evidence.size_of),
        *score_tables.tabulate_formats(records, facts.profile),
        score_tables.tabulate_run_usage(records, facts.earlier),
        score_tables.tabulate_trials(records, facts.profile),
        *tabulate_two_models(facts, records),
    ):
        if table:
            yield ""
            yield from render_text(table, width)
    yield from _write_failures(records, facts.profile, width=width, most=most)
    yield from _write_not_scored(records, facts.profile, width=width)


_FEW = 10
"""The most failures that are shown in full; more get a line each."""


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
        yield from wrap_text(f"{overall} = {' + '.join(terms)}", width, "  ")
        if "complex" in scores.groups:
            yield "overall follows BFCL's formula, which excludes complex categories"
    else:
        yield from wrap_text(describe_missing_parts(scores), width, "  ")


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
    yield f"failed ({len(failures):,}, {profile} profile)"
    codes = Counter(verdict.code for _, verdict in failures)
    yield from wrap_text(
        "  " + ", ".join(f"{code} {count:,}" for code, count in codes.most_common()), width, "  "
    )
    if not most:
        return
    longest = min(max(len(shorten_format_id(record.item_id)) for record, _ in failures[:most]), 34)
    for record, verdict in failures[:most]:
        line = f"  {shorten_format_id(record.item_id):<{longest}}  {verdict.reason}"
        if len(failures) > _FEW:
            yield _cut_line(line, width)
        else:
            yield from wrap_text(line, width, " " * (longest + 4))
    if len(failures) > most:
        more = f"  and {len(failures) - most:,} more; fcbench run show lists all"
        yield from wrap_text(f"{more}, --fcbench-failures=N shows N here", width, "    ")


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
    yield f"not scored ({count:,} of {total:,}, {count / total:.1%})"
    by_cause: dict[str, list[tuple[Record, NotScored]]] = {}
    for record, verdict in unscored_records:
        by_cause.setdefault(verdict.cause, []).append((record, verdict))
    for cause, group in by_cause.items():
        examples = group if cause == SET_ASIDE else group[:most]
        yield f"  {cause}: {len(group):,}"
        for record, verdict in examples:
            yield _cut_line(f"    {shorten_format_id(record.item_id)}: {verdict.reason}", width)
        if len(group) > len(examples):
            yield f"    and {len(group) - len(examples):,} more"


def _cut_line(line: str, width: int) -> str:
    return shorten_text(" ".join(line.splitlines()), width)
