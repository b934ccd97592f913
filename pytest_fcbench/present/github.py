"""Output for GitHub: annotations of the gate's rules and a summary of the step.

Workflow commands and the summary's file: GitHub's documentation of workflow commands for Actions.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import chain

from pytest_fcbench.domain.prompt_format import shorten_format_id
from pytest_fcbench.domain.text import make_printable, put_on_one_line
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.present import call_tables, format_tables, run_verdict, score_tables
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.score_tables import tabulate_untrained
from pytest_fcbench.present.tables import Table, escape_paragraph, render_markdown, unlink
from pytest_fcbench.present.terminal import Explain
from pytest_fcbench.present.wording import describe_missing_parts, format_limits
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, RuleOutcome, RunFacts

_ONE_LINE = 100_000
"""A width at which no line of the verdict is wrapped; Markdown wraps by itself."""
_EXPLAINED = 10
"""The most failures that a summary explains."""
_FLIPS = 20
"""The most flips of each direction that a summary lists."""


def write_annotations(outcomes: Sequence[RuleOutcome]) -> Iterator[str]:
    """Write an annotation for each rule that does not hold."""
    for outcome in outcomes:
        if outcome.code != HELD:
            level = "error" if outcome.code == BROKEN else "warning"
            title = _escape_data(f"gate {outcome.rule}: {outcome.outcome}")
            # A property ends at a comma and the head of a command at a colon.
            title = title.replace(":", "%3A").replace(",", "%2C")
            yield f"::{level} title={title}::{_escape_data(outcome.sentence)}"


def silence_commands(lines: Iterable[OutputLine]) -> Iterator[OutputLine]:
    """Wrap lines so that GitHub takes none of them for a workflow command, which a model's words could be."""
    # Not a fixed word: a model that knew it could write the line that lets commands in again.
    token = secrets.token_hex(16)
    yield OutputLine(f"::stop-commands::{token}")
    yield from lines
    yield OutputLine(f"::{token}::")


def _escape_data(text: str) -> str:
    # The percent sign first, or it would escape the escapes.
    return make_printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def write_step_summary(
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome],
    explain: Explain | None = None,
    recorded: Sequence[RuleOutcome] = (),
) -> Iterator[str]:
    """Write the summary of a run in Markdown: verdict, scores, gate, what changed, the first failures.

    ``recorded`` are the outcomes in the run, where the rules are others.
    """
    signs = {(True, False): "❌ ", (False, True): "✅ "}
    for line in chain(
        run_verdict.write_headline(facts, evidence, _ONE_LINE),
        run_verdict.write_gate(outcomes),
        run_verdict.write_remarks(facts, evidence, _ONE_LINE),
    ):
        yield from (f"{signs.get((line.wrong, line.good), '')}{escape_paragraph(line.text)}", "")
    if facts.ungated:
        yield from (escape_paragraph(facts.ungated), "")
    yield from render_markdown(_tabulate_scores(facts, evidence))
    for table in (
        tabulate_untrained(evidence.records, evidence.profile, evidence.size_of),
        call_tables.tabulate_calls(evidence.records, evidence.profile),
        score_tables.tabulate_strata(evidence.records, evidence.profile),
        score_tables.tabulate_right_turns(evidence.records, evidence.profile),
        score_tables.tabulate_sides(evidence.records, evidence.profile),
        score_tables.tabulate_ratings(evidence.records, facts.rated_by),
        *format_tables.tabulate_formats(evidence.records, evidence.profile),
    ):
        if table:
            yield ""
            yield from render_markdown(table)
    if recorded:
        yield ""
        rows = tuple((outcome.rule, outcome.outcome, outcome.sentence) for outcome in recorded)
        columns = ("rule", "outcome", "found")
        yield from render_markdown(Table("Gate of the run itself", columns, rows, (), frozenset(columns[1:])))
    yield from _tabulate_flips(evidence)
    failures = [r for r in evidence.records if isinstance(r.verdict(evidence.profile), Failed)]
    if explain and failures:
        yield from ("", f"### Failed ({len(failures)})")
        for record in failures[:_EXPLAINED]:
            # A blank line would end the element.
            title, *rest = (escape(put_on_one_line(line.text)) for line in explain(record))
            yield from ("", "<details>", f"<summary>{unlink(title)}</summary>", "")
            yield from ("<pre>", *rest, "</pre>", "</details>")
        if len(failures) > _EXPLAINED:
            yield from ("", f"and {len(failures) - _EXPLAINED} more in the report")


def _tabulate_flips(evidence: Evidence) -> Iterator[str]:
    """Write tables of the entries that changed since the baseline."""
    if not evidence.baseline or evidence.not_comparable:
        return
    pairing = pair_runs(evidence.baseline.records, evidence.records, evidence.profile)
    for title, flips in (("Worse than the baseline", pairing.worse), ("Better", pairing.better)):
        if flips:
            rows = tuple(
                (shorten_format_id(flip.entry), f"{flip.before:.0%}", f"{flip.after:.0%}", flip.reason)
                for flip in flips[:_FLIPS]
            )
            more = (f"and {len(flips) - _FLIPS} more",) if len(flips) > _FLIPS else ()
            title = f"{title} ({len(flips)})"
            yield ""
            yield from render_markdown(
                Table(title, ("entry", "before", "now", "why"), rows, more, frozenset(("why",)))
            )


def _tabulate_scores(facts: RunFacts, evidence: Evidence) -> Table:
    scores = {profile: aggregate_scores(evidence.records, profile, evidence.size_of) for profile in Profile}
    own = scores[facts.profile]
    changes = _find_changes(facts, evidence)
    rows = []
    for name in own.names:
        score = own.find_score(name)
        counts = (score.n, score.passed, score.failed, score.not_scored) if score else ("",) * 4
        both = [scores[each].find_score(name) for each in Profile]
        accuracies = [each.accuracy if each else None for each in both]
        limits = score.interval if score else None
        rows.append(
            (
                name,
                *map(str, counts),
                *("" if accuracy is None else f"{accuracy:.2%}" for accuracy in accuracies),
                format_limits(limits) if limits else "",
                *(() if changes is None else (changes(name),)),
            )
        )
    return Table(
        f"{facts.model} ({facts.mode})",
        (
            *("", "entries", "passed", "failed", "not scored", *Profile, "95% interval"),
            *(() if changes is None else ("change",)),
        ),
        tuple(rows),
        tuple(filter(None, (describe_missing_parts(own),))),
    )


def _find_changes(facts: RunFacts, evidence: Evidence) -> Callable[[str], str] | None:
    """Return the change of a score since the baseline in percentage points, on the entries of both runs."""
    if not evidence.baseline or evidence.not_comparable:
        return None
    runs = (evidence.baseline.records, evidence.records)
    common = set.intersection(*({record.item_id for record in records} for records in runs))
    then, now = (
        aggregate_scores([r for r in records if r.item_id in common], facts.profile, evidence.size_of)
        for records in runs
    )

    def describe_change(name: str) -> str:
        scores = (then.find_score(name), now.find_score(name))
        before, after = (score.accuracy if score else None for score in scores)
        return "" if before is None or after is None else f"{100 * (after - before):+.2f}"

    return describe_change
