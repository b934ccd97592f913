"""Entries of one question, written by hand in YAML, where it only counts whether a function is called.

They have nothing but what all questions have (``formats.questions``). In ``next_reply`` the messages are a
conversation that has begun.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.questions import NextReplyRow, OfferedRow, OfferingFile, read_questions
from pytest_fcbench.kinds.relevance.truth import AnyCall, NoCall


class OfferedFile(OfferingFile[OfferedRow]):
    """Questions with functions that may or must not be called."""


class NextReplyFile(OfferingFile[NextReplyRow]):
    """Conversations that go on with words."""


def entries(
    row: OfferingFile[OfferedRow | NextReplyRow], file: Field, suite: str, category: Category
) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    is_wanted = category.kind == "relevance"
    expectation = AnyCall() if is_wanted else NoCall()
    return read_questions(row, file, suite, category, lambda *_: expectation, needs_function=is_wanted)
