"""Questions, written by hand in YAML, that words answer: no function is offered (``formats.questions``)."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.questions import AskedRow, CheckableFile, read_questions
from pytest_fcbench.kinds.relevance.truth import NoCall


class ChatFile(CheckableFile[AskedRow]):
    """Questions that words answer."""


def entries(row: ChatFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    return read_questions(row, file, suite, category, lambda *_: NoCall(), needs_function=False)
