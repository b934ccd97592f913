"""Entries or scores as rows for programs, and scores as a table for people.

Rows are made one at a time: a scorecard of 100,000 entries is never in memory as rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.present.tables import Table, escape_cell, render_csv_row, render_latex, render_markdown
from pytest_fcbench.present.wording import describe_weight, format_number
from pytest_fcbench.scorecard.aggregate.scores import ALL, Score
from pytest_fcbench.scorecard.compare.comparison import name_scorecards, name_suites
from pytest_fcbench.scorecard.rows import (
    OutcomeRow,
    Row,
    ScoreRow,
    describe_entries,
    describe_scores,
    list_columns,
)
from pytest_fcbench.tools.export.formats import ExportRequest, describe_conditions

ROWS: Mapping[str, type[OutcomeRow] | type[ScoreRow]] = {"entry": OutcomeRow, "score": ScoreRow}
"""Kinds of rows by the value of ``--per``."""


def describe_rows(order: ExportRequest) -> Iterator[Row]:
    """Describe all scorecards as rows of the kind that was chosen."""
    for card in order.cards:
        yield from describe_entries(card) if order.per == "entry" else describe_scores(card)


def render_csv(order: ExportRequest) -> Iterator[str]:
    """Yield lines of CSV: numbers as numbers, texts as no spreadsheet calculates them."""
    columns = list_columns(ROWS[order.per])
    yield f"{render_csv_row(columns)}\n"
    for row in describe_rows(order):
        # In the order of the head, whatever the order of the row's fields.
        cells = (getattr(row, name) for name in columns)
        yield f"{render_csv_row(escape_cell(cell) if isinstance(cell, str) else cell for cell in cells)}\n"


def render_json_lines(order: ExportRequest) -> Iterator[str]:
    """Yield a JSON object per line, with texts unchanged."""
    for row in describe_rows(order):
        yield f"{json.dumps(asdict(row))}\n"


_AT_ONCE = 10_000
"""Rows that are in memory at once."""


def write_parquet(order: ExportRequest, path: Path) -> list[str]:
    """Write rows as Parquet with a type for each column, and return their number."""
    import pyarrow as pa
    from pyarrow import parquet

    # Given and not inferred: a column that is empty in one part would have another type there.
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    columns = {name: types[of] for name, of in list_columns(ROWS[order.per]).items()}
    schema, rows, number = pa.schema(columns), describe_rows(order), 0
    with parquet.ParquetWriter(path, schema) as writer:
        while part := list(islice(rows, _AT_ONCE)):
            raw_columns = {name: [getattr(row, name) for row in part] for name in columns}
            # Parquet keeps texts as UTF-8, which has no lone surrogates.
            values = {
                name: [escape_surrogates(value) if isinstance(value, str) else value for value in column]
                for name, column in raw_columns.items()
            }
            writer.write_table(pa.table(values, schema))
            number += len(part)
    return [f"{number:,} rows"]


def render_latex_table(order: ExportRequest) -> Iterator[str]:
    """Yield the table of scores for LaTeX; a document needs the package booktabs for it."""
    yield "% \\usepackage{booktabs}\n"
    yield from (f"{line}\n" for line in render_latex(tabulate_scores(order)))


def render_markdown_table(order: ExportRequest) -> Iterator[str]:
    """Yield the table of scores in Markdown."""
    yield from (f"{line}\n" for line in render_markdown(tabulate_scores(order)))


def tabulate_scores(order: ExportRequest) -> Table:
    """Tabulate accuracy and interval of every score in percent, and counts where there is one run."""
    all_scores = [card.scores(order.profile) for card in order.cards]
    names = dict.fromkeys(name for scores in all_scores for name in scores.names)
    # These are the last of each scorecard, whatever the others have.
    names |= {last: names.pop(last) for last in ("overall", ALL) if last in names}
    weights = dict.fromkeys(describe_weight(scores) for scores in all_scores if scores.overall.missing)
    notes = [f"{weight}." for weight in weights]
    labels = name_scorecards(order.cards)
    rows: list[tuple[str, ...]]
    if len(all_scores) == 1:
        title = f"{order.card.facts.model} ({order.card.facts.mode})"
        columns = ["scored", "not scored", "accuracy (%)", "95% interval"]
        rows = [
            (name, f"{score.scored}", f"{score.not_scored}", *_format_score(score))
            for name in names
            if (score := all_scores[0].find_score(name))
        ]
    else:
        # Counts beside each model would be too many columns for a page.
        title = "Accuracy (%)"
        columns = [column for label in labels for column in (label, "95% interval")]
        rows = [
            (name, *(cell for scores in all_scores for cell in _format_score(scores.find_score(name))))
            for name in names
        ]
        unscored_counts = [
            f"{label} {scores.overall.not_scored}"
            for label, scores in zip(labels, all_scores, strict=True)
            if scores.overall.not_scored
        ]
        if unscored_counts:
            notes.append(f"Entries not scored, which count for no model: {', '.join(unscored_counts)}.")
    # A paper's reader sees no more than the table.
    conditions = {label: describe_conditions(card) for label, card in zip(labels, order.cards, strict=True)}
    common = set.intersection(*map(set, conditions.values()))
    notes += dict.fromkeys(
        f"{each}." if each in common else f"{label}: {each}."
        for label, texts in conditions.items()
        for each in texts
    )
    suites = "; ".join(dict.fromkeys(map(name_suites, order.cards)))
    return Table(
        f"{title}, {suites}, {order.profile} profile", ("score", *columns), tuple(rows), tuple(notes)
    )


def _format_score(score: Score | None) -> tuple[str, str]:
    limits = score.interval if score else None
    return (
        format_number(100 * score.accuracy if score and score.accuracy is not None else None, ".2f"),
        f"{100 * limits.low:.1f} to {100 * limits.high:.1f}" if limits else "-",
    )
