"""Render a failed entry: the question, the answer beside what was expected, the rule and next steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from shlex import quote
from textwrap import wrap
from typing import NamedTuple

from pytest_fcbench.domain.explanation import CallPair, Explanation
from pytest_fcbench.domain.text import cut_counting, make_printable
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.present.failure_codes import find_failure_code
from pytest_fcbench.scorecard.record import Record

_LONGEST = 1_200
"""The most characters of a question or an answer that are shown."""
_MARK = "> "
"""The beginning of a line that shows what is wrong."""
_LABEL = 11
"""The width of the column of labels."""


class OutputLine(NamedTuple):
    """A line of output."""

    text: str
    wrong: bool = False
    """True where it shows what is wrong, which a terminal may colour."""
    good: bool = False
    """True where it says that all is well."""
    strong: bool = False
    """True where it is a heading, or says the result."""


def render_explanation(
    record: Record, profile: Profile, explanation: Explanation | None, *, rerun: str, width: int
) -> Iterator[OutputLine]:
    """Render a failure; ``rerun`` is the argument with which pytest runs the entry again.

    Without an explanation, which takes the entry's suite, only the verdict is rendered.
    """
    verdict = record.verdict(profile)
    assert isinstance(verdict, Failed)
    width = max(width, 40)
    turn = f", {explanation.turn}" if explanation and explanation.turn else ""
    # The names of a suite's entries may hold anything.
    name = make_printable(record.item_id)
    yield OutputLine(f"{name} ({make_printable(record.category)}{turn}): failed in the {profile} profile")
    if explanation:
        for role, text in explanation.question:
            label = "question" if role == "user" else role
            yield from _put_behind_label(label, cut_counting(text, _LONGEST), width)
        yield from render_comparison(explanation, width)
    yield from _put_behind_label("why", make_printable(verdict.reason), width, wrong=True)
    yield from render_rule(verdict, width)
    # Commands stay in one line each, so that they can be copied.
    yield OutputLine(f"  {'run again':<{_LABEL}}pytest {make_printable(rerun)}")
    yield OutputLine(f"  {'show':<{_LABEL}}fcbench run show {make_printable(quote(record.item_id))}")


def render_rule(verdict: Failed, width: int) -> Iterator[OutputLine]:
    """Render what a failure's code means, and where to look next."""
    code = find_failure_code(verdict.code)
    # A code stays whole, so that it can be copied.
    room = max(width - len(_MARK) - _LABEL, 20)
    text = f"{code.meaning} [{verdict.code}]"
    for number, line in enumerate(wrap(text, room, break_long_words=False, break_on_hyphens=False)):
        yield OutputLine(f"  {'rule' if number == 0 else '':<{_LABEL}}{line}")
    yield from _put_behind_label("look", f"{code.advice[0].upper()}{code.advice[1:]}.", width)


def render_comparison(explanation: Explanation, width: int) -> Iterator[OutputLine]:
    """Render the answer beside what was expected, with what is wrong marked."""
    if explanation.calls:
        heads = ComparisonRow("", "", "answered", "expected")
        yield from _lay_out_rows([heads, *list_pairs(explanation.calls)], width)
    else:
        for number, text in enumerate(explanation.found or ("no answer",)):
            yield from _put_behind_label("answered" if number == 0 else "", text, width, wrong=True)
        for number, text in enumerate(explanation.expected):
            yield from _put_behind_label("expected" if number == 0 else "", text, width)
    if explanation.differences:
        heads = ComparisonRow("state", "", "found", "expected")
        yield from _lay_out_rows([heads, *list_differences(explanation)], width)


class ComparisonRow(NamedTuple):
    """A row of a table that sets what was found beside what was expected."""

    label: str
    name: str
    found: str
    expected: str
    wrong: bool = False


def list_differences(explanation: Explanation) -> Iterator[ComparisonRow]:
    """List each place of the environments that is not as expected."""
    for each in explanation.differences:
        yield ComparisonRow("", each.at, each.found or "(nothing)", each.expected or "(nothing)", True)


def list_pairs(calls: Sequence[CallPair]) -> Iterator[ComparisonRow]:
    """List each call beside the expected one, its arguments below it."""
    for number, call in enumerate(calls, 1):
        label = "call" if len(calls) == 1 else f"call {number}"
        yield ComparisonRow(label, "", call.found or "(no call)", call.expected or "(no call)", call.wrong)
        for argument in call.arguments:
            found_text = argument.found or ("(left out)" if call.found else "")
            expected_text = argument.expected or ("(leave out)" if call.expected else "")
            yield ComparisonRow("", argument.name, found_text, expected_text, argument.wrong)


def _put_behind_label(label: str, text: str, width: int, *, wrong: bool = False) -> Iterator[OutputLine]:
    """Put a text behind its label, with its further lines indented as far."""
    lead = _MARK if wrong else "  "
    room = max(width - len(lead) - _LABEL, 20)
    for number, line in enumerate(_wrap_lines(text, room)):
        yield OutputLine(f"{lead}{label if number == 0 else '':<{_LABEL}}{line}".rstrip(), wrong)


def _lay_out_rows(rows: Sequence[ComparisonRow], width: int) -> Iterator[OutputLine]:
    """Lay out both sides beside each other, each wrapped in its column."""
    room = width - len(_MARK) - _LABEL
    longest = max(len(row.name) for row in rows)
    name_width = min(longest + 2, room // 3)
    side = (room - name_width - 2) // 2
    for row in rows:
        names = _wrap_lines(row.name, name_width - 1)
        sides = [_wrap_lines(text, side) for text in (row.found, row.expected)]
        columns = zip_longest(names, *sides, fillvalue="")
        lead = _MARK if row.wrong else "  "
        for number, (name, found_text, expected_text) in enumerate(columns):
            label = row.label if number == 0 else ""
            text = f"{lead}{label:<{_LABEL}}{name:<{name_width}}{found_text:<{side}}  {expected_text}"
            yield OutputLine(text.rstrip(), row.wrong)


def _wrap_lines(text: str, width: int) -> list[str]:
    """Wrap a text that may hold a model's words; keep its lines and its indentation."""
    lines = (
        wrap(make_printable(line), width, replace_whitespace=False, drop_whitespace=True) or [""]
        for line in text.splitlines() or [""]
    )
    return [part for parts in lines for part in parts]
