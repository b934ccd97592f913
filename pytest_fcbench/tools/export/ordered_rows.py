"""The rows of an order, one at a time: a scorecard of 100,000 entries is never in memory as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcbench.scorecard.rows import OutcomeRow, Row, ScoreRow, describe_entries, describe_scores
from pytest_fcbench.tools.export.order import ExportRequest

ROWS: Mapping[str, type[OutcomeRow] | type[ScoreRow]] = {"entry": OutcomeRow, "score": ScoreRow}
"""Kinds of rows by the value of ``--per``."""


def describe_rows(order: ExportRequest) -> Iterator[Row]:
    """Describe all scorecards as rows of the kind that was chosen."""
    for card in order.cards:
        yield from describe_entries(card) if order.per == "entry" else describe_scores(card)
