"""Tables for people and programs: the same rows as text, Markdown, CSV, LaTeX, HTML and JSON."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap

from pytest_fcbench.domain.text import put_on_one_line, shorten_text

WIDTH = 100
"""Characters of a line of text, where possible: sentences are wrapped, a last column of text is cut."""
_LEAST = 20
"""Characters that a last column of text keeps."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of text; the first column is left-aligned, the others (mostly numbers) are not."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    """Sentences below the table."""
    left: frozenset[str] = frozenset()
    """Other left-aligned columns."""
    optional: tuple[str, ...] = ()
    """Columns that a narrow terminal leaves out, the first of them first."""
    breaks: frozenset[int] | None = None
    """Rows by number before which a terminal shows a line; None for one line below the head."""
    least: int = 0
    """The least width of the first column, so that tables stand below each other."""
    whole: bool = False
    """True where no cell may be cut: long ones stand below each other."""
    legend: Mapping[str, str] = field(default_factory=dict)
    """What columns mean, said below the table where it has the column."""
    is_detail: bool = False
    """True where one looks it up, so that the end of a run only names it."""

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong:
            raise ValueError(f"{self.title}: {len(self.columns)} columns, a row with {len(wrong[0])}")

    def __bool__(self) -> bool:
        """Tell whether there is something to show."""
        return bool(self.rows)

    def is_left(self, index: int) -> bool:
        """Tell whether a column is left-aligned."""
        return not index or self.columns[index] in self.left

    def list_notes(self) -> Iterator[str]:
        """List the sentences below the table, and last what its columns mean."""
        yield from self.notes
        meanings: dict[str, list[str]] = {}
        for name in self.columns:
            if name in self.legend:
                meanings.setdefault(self.legend[name], []).append(name)
        if meanings:
            yield "; ".join(f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items())

    def measure_columns(self) -> list[int]:
        """Measure the width that each column needs."""
        cells = zip(self.columns, *self.rows, strict=True)
        widths = [max(len(put_on_one_line(cell)) for cell in column) for column in cells]
        return [max(widths[0], self.least), *widths[1:]]


def render_text(table: Table, width: int = WIDTH) -> Iterator[str]:
    """Render a table as lines of aligned columns.

    Its texts are wrapped, and a last column of text is cut. Columns of numbers for which there is no room
    follow below, again behind the names of the rows. A last line says what was left out.
    """
    all_columns, all_widths = table.columns, table.measure_columns()
    table = leave_out_columns(table, width)
    cells = [[put_on_one_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    # Only a last column of text is cut: a number that is cut would be another number.
    *widths, last = table.measure_columns()
    is_text, room = table.is_left(len(widths)), width - sum(widths) - 2 * len(widths)
    is_crowded = len(widths) > 1 and room < min(last, _LEAST) and max(widths) > width // 2
    # Texts that are too long to stand side by side get a line each, uncut.
    is_stacked = (is_crowded or (table.whole and room < last)) and all(
        map(table.is_left, range(len(cells[0])))
    )
    widths.append(last if is_stacked or not is_text else min(last, max(_LEAST, room)))
    groups = [range(len(widths))] if is_text else _group_columns(widths, width, _count_names(table, widths))
    yield from wrap_text(put_on_one_line(table.title), width)
    if is_stacked:
        (_, *names), *rows = cells
        longest = max(map(len, names))
        for row in rows:
            yield row[0]
            yield from (f"  {name:<{longest}}  {cell}" for name, cell in zip(names, row[1:], strict=True))
    for group in () if is_stacked else groups:
        line = "-" * (sum(widths[index] for index in group) + 2 * (len(group) - 1))
        for number, row in enumerate(cells):
            if number - 1 in (table.breaks or ()):
                yield line
            columns = [
                f"{shorten_text(row[index], widths[index]):<{widths[index]}}"
                if table.is_left(index)
                else f"{row[index]:>{widths[index]}}"
                for index in group
            ]
            yield "  ".join(columns).rstrip()
            if not number and table.breaks is None:
                yield line
    for note in table.list_notes():
        yield from wrap_text(put_on_one_line(note), width)
    left_out = [name for name in all_columns if name not in table.columns]
    if last > widths[-1]:
        left_out.append(f"the ends of {all_columns[-1]!r}" if all_columns[-1] else "the ends of texts")
    if left_out:
        needed = sum(all_widths) + 2 * len(all_widths) - 2
        sentence = f"left out to fit {width} characters: {', '.join(left_out)}; COLUMNS={needed} shows them"
        yield from wrap_text(sentence, width)


def leave_out_columns(table: Table, width: int) -> Table:
    """Leave out optional columns, the first of them first, until the others stand beside each other."""
    for name in table.optional:
        widths = table.measure_columns()
        if sum(widths) + 2 * (len(widths) - 1) <= width:
            break
        kept = [number for number, column in enumerate(table.columns) if column != name]
        columns, *rows = (tuple(row[number] for number in kept) for row in (table.columns, *table.rows))
        table = replace(table, columns=columns, rows=tuple(rows))
    return table


def _count_names(table: Table, widths: Sequence[int]) -> int:
    """Count the first columns of text that say what a row is about, if they leave room for others."""
    count = next((n for n in range(len(widths)) if not table.is_left(n)), 1)
    return count if sum(widths[:count]) <= WIDTH // 2 else 1


def _group_columns(widths: Sequence[int], width: int, names: int) -> Sequence[Sequence[int]]:
    """Group columns, by index, into as few as fit beside each other, about equally wide.

    The columns of ``names`` are in each group.
    """

    def fill_groups(width: int) -> Sequence[Sequence[int]]:
        groups = [[*range(names)]]
        for index in range(names, len(widths)):
            group_width = sum(widths[each] + 2 for each in groups[-1])
            if len(groups[-1]) > names and group_width + widths[index] > width:
                groups.append([*range(names)])
            groups[-1].append(index)
        return groups

    groups = fill_groups(width)
    while width and len(narrower_groups := fill_groups(width - 1)) == len(groups):
        width, groups = width - 1, narrower_groups
    return groups


def wrap_text(text: str, width: int, rest: str = "") -> list[str]:
    """Wrap a text for a terminal; ``rest`` stands before each line but the first."""
    # A path or an id on two lines could not be copied.
    return wrap(text, max(width, 40), subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def render_markdown(table: Table) -> Iterator[str]:
    """Write a table as GitHub reads it, with what could be markup taken literally."""
    if table.title:
        yield f"### {escape_markup(table.title)}"
        yield ""
    yield f"| {' | '.join(map(escape_markup, table.columns))} |"
    yield f"|{'|'.join(':--' if table.is_left(i) else '--:' for i in range(len(table.columns)))}|"
    for row in table.rows:
        yield f"| {' | '.join(map(escape_markup, row))} |"
    for note in table.list_notes():
        yield ""
        yield escape_paragraph(note)


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_BLOCK_SIGN = re.compile(r"^(?:[-+](?=\s|$)|[-=]+(?=\s*$)|\d+(?=[.)](?:\s|$)))")
"""The beginning of a list or an underline."""
_LINKED = re.compile(r"(?<=[a-z]:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=\w)|(?<=#)(?=\d)", re.IGNORECASE)
"""Places within what GitHub turns into a link although nothing marks it: addresses, people, issues."""


def escape_markup(text: str) -> str:
    """Escape a text so that GitHub shows it as it is within a line, with no markup and no link."""
    return unlink(_MARKUP.sub(r"\\\1", put_on_one_line(text).strip()))


def escape_paragraph(text: str) -> str:
    """Escape a text that is a paragraph, whose beginning could be that of a list."""
    # A number cannot be escaped, but the sign behind it can.
    return _BLOCK_SIGN.sub(
        lambda sign: f"{sign[0]}\\" if sign[0].isdigit() else f"\\{sign[0]}", escape_markup(text)
    )


def unlink(text: str) -> str:
    """Keep GitHub from linking what is in a text: a backslash does not, a comment in its middle does."""
    return _LINKED.sub("<!-- -->", text)


def render_csv(table: Table) -> Iterator[str]:
    """Render a table as CSV (RFC 4180)."""
    for row in (table.columns, *table.rows):
        yield render_csv_row(map(escape_cell, row))


def render_csv_row(cells: Iterable[object]) -> str:
    """Render a row of CSV; texts are escaped before by ``escape_cell``."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def escape_cell(text: str) -> str:
    """Put a text on one line, with an apostrophe before it if a spreadsheet would take it for a formula."""
    # Control characters are made visible first, so that none of them hides the sign of a formula.
    cell = put_on_one_line(text)
    # Excel and LibreOffice calculate a cell that begins so, also behind blanks and in full width; a plain
    # number may.
    begins = unicodedata.normalize("NFKC", cell.lstrip()[:1])
    is_formula = begins in ("=", "+", "-", "@") and not re.fullmatch(r"[+-]?[\d.,]*%?", cell)
    return f"'{cell}" if is_formula else cell


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Two hyphens would be a dash, two apostrophes or a question mark before one another sign.
    **{sign: f"{{{sign}}}" for sign in "-'`\"[]*"},
    **{sign: f"\\{sign}" for sign in "#$%&_{}"},
}


def escape_latex(text: str) -> str:
    """Escape a text so that LaTeX sets it as it is."""
    return "".join(_LATEX.get(sign, sign) for sign in put_on_one_line(text))


def render_latex(table: Table) -> Iterator[str]:
    """Render a table for LaTeX with the package booktabs."""
    yield r"\begin{table}"
    yield r"  \centering"
    if table.title:
        yield rf"  \caption{{{escape_latex(table.title)}}}"
    columns = "".join("l" if table.is_left(i) else "r" for i in range(len(table.columns)))
    yield rf"  \begin{{tabular}}{{{columns}}}"
    yield r"    \toprule"
    for number, row in enumerate((table.columns, *table.rows)):
        yield rf"    {' & '.join(map(escape_latex, row))} \\"
        if not number:
            yield r"    \midrule"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield from (rf"  \par\footnotesize {escape_latex(note)}" for note in table.list_notes())
    yield r"\end{table}"
