"""The scorecard as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import TypeAlias

from pytest_fcbench.domain.prompting import shorten_format_id
from pytest_fcbench.domain.text import make_printable, shorten_text
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.present import run_verdict, score_tables
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.failure_codes import group_by_cause
from pytest_fcbench.present.tables import Table, leave_out_columns, render_text, wrap_text
from pytest_fcbench.present.two_models import tabulate_two_models
from pytest_fcbench.present.wording import describe_missing_parts, describe_path_settings, format_number
from pytest_fcbench.scorecard.aggregate.scores import OVERALL, SUITES, ProfileScores
from pytest_fcbench.scorecard.aggregate.server_checks import is_check
from pytest_fcbench.scorecard.compare.comparison import name_suite
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RuleOutcome, RunFacts

Explain: TypeAlias = Callable[[Record], Iterable[OutputLine]]
"""Explains a failed entry."""

FEW_ENTRIES = 3
"""Entries up to which each is shown by itself, without tables."""


def write_summary(
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome] = (),
    *,
    width: int,
    most: int,
    explain: Explain | None = None,
    is_full: bool = False,
) -> Iterator[OutputLine]:
    """Write the summary of a run, with at most ``most`` failures, in lines of printable characters.

    Names of entries can hold control characters. A run of few entries has no tables: each failed entry is
    explained instead. Where not ``is_full``, tables that one looks up are named only.
    """
    is_short = explain is not None and len(evidence.records) <= FEW_ENTRIES
    if not is_short:
        yield from run_verdict.write_verdict(facts, evidence, outcomes, width)
        yield OutputLine("")
    fact_lines = [f"model {facts.model} ({facts.manner}), profile {facts.profile}{_explain_profile(facts)}"]
    fact_lines += (f"suite {name_suite(name, suite)}" for name, suite in facts.suites.items())
    if facts.shard:
        fact_lines.append(f"shard {facts.shard}: only a part of the entries")
    # What nobody changed is looked up.
    if facts.driven and (is_full or facts.driven != PathSettings(facts.profile)):
        fact_lines.append(f"complex conversations: {describe_path_settings(facts.driven)}")
    if facts.search and (is_full or facts.search not in facts.suites):
        fact_lines.append(f"web: {facts.search}")
    fact_lines += (f"note: {note}" for note in facts.notes)
    for fact in fact_lines:
        yield from map(OutputLine, wrap_text(_make_line(fact).text, width, "  "))
    if explain and is_short:
        yield from _write_few_entries(facts, evidence.records, explain)
        return
    for line in _write_scores(facts, evidence, width, is_full=is_full):
        yield _make_line(line)
    yield from _write_failures(evidence.records, facts.profile, width=width, most=most, is_full=is_full)
    yield from map(
        _make_line,
        _write_not_scored(evidence.records, facts.profile, width=width, most=most if is_full else 3),
    )


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


def _write_scores(facts: RunFacts, evidence: Evidence, width: int, *, is_full: bool) -> Iterator[str]:
    records, scores = evidence.records, evidence.scores
    # Checks of the server have a table of their own.
    if not all(map(is_check, records)):
        yield ""
        # The facts above have the model.
        table = replace(score_tables.tabulate_scores(facts, scores, is_folded=not is_full), title="")
        yield from render_text(table if is_full else leave_out_columns(table, width), width)
        if weakest := run_verdict.describe_weakest(scores[facts.profile]):
            yield from wrap_text(weakest, width, "  ")
        yield from _explain_formulas(scores[facts.profile], width, is_full=is_full)
    if sentence := score_tables.describe_other_rules(records, facts.profile):
        yield from wrap_text(sentence, width, "  ")
    for table in _tabulate_all(facts, evidence):
        if is_full or not table.is_detail:
            yield ""
            yield from render_text(table, width)
    if usage := [] if is_full else [*score_tables.describe_usage(records, facts.earlier)]:
        yield ""
        for line in usage:
            yield from wrap_text(line, width, "  ")


def _tabulate_all(facts: RunFacts, evidence: Evidence) -> Iterator[Table]:
    """Tabulate all that a run has beside its scores."""
    records, profile = evidence.records, facts.profile
    calls = score_tables.tabulate_calls(records, profile)
    if calls:
        apart = (score_tables.describe_other_rules(records, each) for each in Profile)
        calls = replace(calls, notes=(*calls.notes, *filter(None, apart)))
    usage = score_tables.tabulate_run_usage(records, facts.earlier)
    trials = score_tables.tabulate_trials(records, profile)
    beside = score_tables.tabulate_beside_scores(facts, records, profile, evidence.size_of)
    formats = score_tables.tabulate_formats(records, profile)
    two_models = tabulate_two_models(facts, records)
    yield from filter(None, (calls, *beside, *formats, usage, trials, *two_models))


def name_details(facts: RunFacts, evidence: Evidence, width: int) -> Iterator[OutputLine]:
    """Name what a short summary leaves out, and the commands that print it."""
    titles = (each.title.partition(" (")[0] for each in _tabulate_all(facts, evidence) if each.is_detail)
    more = ", ".join(("every failure and category", *titles))
    line = f"more: fcbench run show - {more}; -v prints all at once"
    yield from map(OutputLine, wrap_text(line, width, "  "))


_FEW = 10
"""The most failures that are all shown, and in full; more get a line each."""
_MOST_EXAMPLES = 20
"""The most failures that are shown unless more were asked for."""
_EXAMPLES = 2
"""The most failures of each cause among these."""
_CAUSES = 6
"""The most causes that are shown unless more failures were asked for."""
_MOST_WEIGHT = 0.5
"""The weight of BFCL's formula from which on a run without a part of it says so."""


def _format_percent(accuracy: float | None) -> str:
    return format_number(accuracy, ".2%")


def _explain_formulas(scores: ProfileScores, width: int, *, is_full: bool) -> Iterator[str]:
    """Explain overall by its formula with weights, or why there is none; in short only what surprises."""
    # A run of few categories is none of which one expects an overall score.
    if not is_full and (scores.overall.accuracy is not None or scores.weight < _MOST_WEIGHT):
        return
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


def _write_failures(
    records: Sequence[Record], profile: Profile, *, width: int, most: int, is_full: bool
) -> Iterator[OutputLine]:
    """Write the failures by cause, with at most ``most`` examples in all; codes where ``is_full``."""
    causes = group_by_cause(records, profile)
    if not causes:
        return
    count = sum(map(len, causes.values()))
    scored = sum(not isinstance(record.verdict(profile), NotScored) for record in records)
    yield OutputLine("")
    yield OutputLine(f"what failed: {count:,} of {scored:,}, by cause", strong=True)
    each = None if is_full or most > _MOST_EXAMPLES or count <= _FEW else _EXAMPLES
    picked = [record.item_id for record in pick_examples(causes, most, each)]
    examples = {name: shorten_format_id(name) for name in picked}
    longest = min(max(map(len, examples.values()), default=0), 34)
    is_cut = not is_full and most <= _MOST_EXAMPLES and len(causes) > _CAUSES + 1
    for cause, group in islice(causes.items(), _CAUSES if is_cut else None):
        verdicts = {r.item_id: v for r in group if isinstance(v := r.verdict(profile), Failed)}
        codes = f" [{', '.join(dict.fromkeys(v.code for v in verdicts.values()))}]" if is_full else ""
        head = f"{len(group):>5,} {len(group) / count:>4.0%}  {cause}{codes}"
        for line in wrap_text(_make_line(head).text, width, " " * 12):
            yield OutputLine(line, strong=True)
        for name in filter(examples.__contains__, verdicts):
            line = _make_line(f"{'':6}{examples[name]:<{longest}}  {verdicts[name].reason}").text
            is_short = count <= _FEW
            lines = wrap_text(line, width, " " * (longest + 8)) if is_short else [shorten_text(line, width)]
            yield from map(OutputLine, lines)
    if is_cut:
        rest = [len(group) for group in islice(causes.values(), _CAUSES, None)]
        counts = f"{sum(rest):>5,} {sum(rest) / count:>4.0%}"
        yield OutputLine(f"{counts:<12}{len(rest)} other causes", strong=True)


def pick_examples(
    causes: Mapping[str, Sequence[Record]], most: int, each: int | None = None
) -> Iterator[Record]:
    """Pick at most so many failures from all causes by turns, and at most ``each`` of a cause."""
    rounds = islice(zip_longest(*causes.values()), each)
    return islice(filter(None, chain.from_iterable(rounds)), most)


def _write_not_scored(records: Sequence[Record], profile: Profile, *, width: int, most: int) -> Iterator[str]:
    by_cause: dict[str, list[tuple[Record, NotScored]]] = {}
    for record in records:
        verdict = record.verdict(profile)
        if isinstance(verdict, NotScored) and verdict.cause != OTHER_RULES:
            by_cause.setdefault(verdict.cause, []).append((record, verdict))
    if not by_cause:
        return
    yield ""
    count, total = sum(map(len, by_cause.values())), len(records)
    yield f"not scored ({count:,} of {total:,}, {count / total:.1%})"
    for cause, group in by_cause.items():
        # In completion mode it can be most entries.
        examples = group[: max(most, _MOST_EXAMPLES) if cause == SET_ASIDE else most]
        yield f"  {cause}: {len(group):,}"
        for record, verdict in examples:
            line = f"    {shorten_format_id(record.item_id)}: {verdict.reason}"
            yield shorten_text(" ".join(line.splitlines()), width)
        if len(group) > len(examples):
            yield f"    and {len(group) - len(examples):,} more"
