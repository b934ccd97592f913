"""The place of a run among other runs, for the end of its summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcbench.present.board_tables import describe_ranks
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.tables import Table, render_text
from pytest_fcbench.scorecard.compare.leaderboard import rank_boards
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def write_ranking(facts: RunFacts, evidence: Evidence, rivals: Sequence[Scorecard]) -> Iterator[OutputLine]:
    """Write the rank of a run among those that have entries of the same categories of the same suites."""
    if not rivals:
        return
    categories = {record.category for record in evidence.records}
    sizes = {name: evidence.size_of(name) for name in categories}
    this = Scorecard(rivals[0].path.with_name("this run"), facts, tuple(evidence.records), sizes)
    boards = rank_boards([this, *rivals], facts.profile)
    board = next(board for board in boards if any(row.card is this for row in board.rows))
    yield OutputLine("")
    if len(board.rows) == 1:
        yield OutputLine(f"no ranking: none of {len(rivals)} scorecards has the same suites and categories")
        return
    table = Table(
        f"ranking by {board.metric}",
        ("rank", "model", "mode", board.metric, "95% interval", ""),
        tuple(
            (*ranks, "this run" if row.card is this else "")
            for row, ranks in zip(board.rows, describe_ranks(board), strict=True)
        ),
        ("models share a rank unless one is shown to be better on the same entries",),
        left=frozenset(("rank", "model", "mode", "")),
    )
    yield from map(OutputLine, render_text(table))
