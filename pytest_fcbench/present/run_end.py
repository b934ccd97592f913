"""The output at the end of a run, on a terminal and for GitHub."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import chain
from pathlib import Path
from statistics import fmean

from pytest_fcbench.domain.text import make_printable, put_on_one_line
from pytest_fcbench.present import run_verdict, score_tables, terminal
from pytest_fcbench.present.board_tables import describe_ranks
from pytest_fcbench.present.comparison_tables import tabulate_flips
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.failure_codes import group_by_cause
from pytest_fcbench.present.tables import Table, escape_paragraph, render_markdown, unlink, wrap_text
from pytest_fcbench.present.terminal import Explain
from pytest_fcbench.present.two_models import describe_result, tabulate_two_models
from pytest_fcbench.present.wording import describe_missing_parts
from pytest_fcbench.scorecard.aggregate.server_checks import is_check
from pytest_fcbench.scorecard.compare.leaderboard import rank_boards
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, RuleOutcome, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def write_end(
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome],
    *,
    width: int,
    annotate: bool,
    explain: Explain | None = None,
    rivals: Sequence[Scorecard] = (),
    rerun: str = "",
    blame: str = "",
    is_full: bool = False,
) -> Iterator[OutputLine]:
    """Write what a reader must not miss, the result last; ``annotate`` adds GitHub's annotations.

    ``rivals`` are the runs among which this one is ranked; ``rerun`` and ``blame`` are the commands that run
    the failed entries again and say who lost them.
    """
    lines: list[OutputLine] = []
    if explain is None or len(evidence.records) > terminal.FEW_ENTRIES:
        if not is_full:
            lines += terminal.name_details(facts, evidence, width)
        lines += run_verdict.write_remarks(facts, evidence, width)
        lines += write_ranking(facts, evidence, rivals, width)
        if explain:
            lines.append(OutputLine(""))
            lines += run_verdict.write_next_commands(facts, evidence, width, rerun=rerun, blame=blame)
        lines.append(OutputLine(""))
        lines += run_verdict.write_verdict(facts, evidence, outcomes, width)
    else:
        lines += run_verdict.write_counts(facts, evidence, width)
        lines += run_verdict.write_comparison(facts, width)
        lines += run_verdict.write_gate(facts, outcomes, width)
    yield from silence_commands(lines) if annotate and lines else lines
    if annotate:
        yield from map(OutputLine, write_annotations(outcomes))


def list_properties(
    facts: RunFacts, evidence: Evidence, outcomes: Sequence[RuleOutcome]
) -> Iterator[tuple[str, str]]:
    """List the facts of a run and its first lines as names and values, for files of other tools."""
    yield "fcbench.model", facts.model
    yield "fcbench.mode", facts.mode
    yield "fcbench.profile", facts.profile
    scores = evidence.scores[facts.profile]
    yield "fcbench.headline", run_verdict.describe_share(evidence.records, facts.profile, scores)
    for outcome in outcomes:
        yield "fcbench.gate", run_verdict.describe_outcome(outcome)
    if facts.ungated:
        yield "fcbench.gate", facts.ungated
    if result := describe_result(facts):
        yield "fcbench.against", result


def append_summary(
    path: Path,
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome],
    explain: Explain | None = None,
) -> str | None:
    """Append to GitHub's summary of the step; return the error, if any, because the run is complete."""
    try:
        # Appended, because other commands of the step may have written to the same file.
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in write_step_summary(facts, evidence, outcomes, explain))
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror}"
    return None


def write_ranking(
    facts: RunFacts, evidence: Evidence, rivals: Sequence[Scorecard], width: int
) -> Iterator[OutputLine]:
    """Write the rank of a run among those that have entries of the same categories of the same suites."""
    # A folder of runs can hold checks of a server, which are not ranked.
    rivals = [card for card in rivals if not all(map(is_check, card.records))]
    if not rivals or all(map(is_check, evidence.records)):
        return
    scores = evidence.scores[facts.profile]
    main = scores.find_score(scores.main)
    if main is None or main.accuracy is None:
        yield OutputLine("no ranking: this run has no score")
        return
    sizes = {name: evidence.size_of(name) for name in scores.categories}
    this = Scorecard(rivals[0].path.with_name("this run"), facts, tuple(evidence.records), sizes)
    boards = rank_boards([this, *rivals], facts.profile)
    board = next(board for board in boards if any(row.card is this for row in board.rows))
    if len(board.rows) == 1:
        yield OutputLine(f"no ranking: none of {len(rivals)} scorecards has the same suites and categories")
        return
    ranks = [*describe_ranks(board)]
    rank = next(cells[0] for row, cells in zip(board.rows, ranks, strict=True) if row.card is this)
    best = ", ".join(f"{model} {score}" for _, model, _, score, *_ in ranks[:3])
    line = f"rank {rank} of {len(ranks)} by {board.metric}: {best}{', ...' * (len(ranks) > 3)}"
    yield from map(OutputLine, wrap_text(make_printable(line), width, "  "))


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
        run_verdict.write_verdict(facts, evidence, outcomes, _ONE_LINE),
        run_verdict.write_remarks(facts, evidence, _ONE_LINE),
    ):
        yield from (f"{signs.get((line.wrong, line.good), '')}{escape_paragraph(line.text)}", "")
    # A reviewer looks for what became worse first.
    yield from _tabulate_flips(evidence)
    table = score_tables.tabulate_scores(facts, evidence.scores, _find_changes(facts, evidence))
    scores = evidence.scores[facts.profile]
    notes = filter(None, (run_verdict.describe_weakest(scores), describe_missing_parts(scores)))
    if table:
        yield from render_markdown(replace(table, notes=(*table.notes, *notes)))
    causes = group_by_cause(evidence.records, evidence.profile)
    count = sum(map(len, causes.values()))
    gate_rows = tuple((outcome.rule, outcome.outcome, outcome.sentence) for outcome in recorded)
    columns = ("rule", "outcome", "found")
    tables = (
        score_tables.tabulate_causes(causes),
        score_tables.tabulate_calls(evidence.records, evidence.profile),
        *score_tables.tabulate_beside_scores(facts, evidence.records, evidence.profile, evidence.size_of),
        *score_tables.tabulate_formats(evidence.records, evidence.profile),
        *tabulate_two_models(facts, evidence.records),
        Table("Gate of the run itself", columns, gate_rows, (), frozenset(columns[1:])),
    )
    for table in filter(None, tables):
        yield ""
        yield from render_markdown(table)
    if explain:
        for record in terminal.pick_examples(causes, _EXPLAINED):
            # A blank line would end the element.
            title, *rest = (escape(put_on_one_line(line.text)) for line in explain(record))
            yield from ("", "<details>", f"<summary>{unlink(title)}</summary>", "")
            yield from ("<pre>", *rest, "</pre>", "</details>")
        if count > _EXPLAINED:
            yield from ("", f"and {count - _EXPLAINED:,} more in the report")


def _tabulate_flips(evidence: Evidence) -> Iterator[str]:
    """Write tables of the entries that changed since the baseline."""
    if not evidence.baseline or evidence.not_comparable:
        return
    runs = (evidence.baseline.records, evidence.records)
    pairing = pair_runs(*runs, evidence.profile)
    rest = "'fcbench run compare' lists all"
    for table in tabulate_flips(pairing, runs, evidence.profile, _FLIPS, rest):
        if table.rows:
            yield from render_markdown(table)
            yield ""


def _find_changes(facts: RunFacts, evidence: Evidence) -> Callable[[str], str] | None:
    """Return the change of a score since the baseline in points, on the entries that both have scored."""
    if not evidence.baseline or evidence.not_comparable:
        return None
    pairing = pair_runs(evidence.baseline.records, evidence.records, facts.profile)

    def describe_change(name: str) -> str:
        parts = pairing.weigh_pairs(name, evidence.size_of)
        change = sum(weight * fmean(pair.change for pair in part) for weight, part in parts)
        return f"{round(100 * change, 2) + 0.0:+.2f}" if parts else ""

    return describe_change
