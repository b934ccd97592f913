"""Read entries from YAML whose questions have no expected calls.

An answer is right if it calls any function, if it calls none (``next_reply`` continues a conversation,
``chatable`` offers no function), or if the team's own check accepts it. ``formats.questions`` has the keys.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field as FieldOf

from pytest_fcbench.domain.entry import Category, Expectation
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import AnyFunctionRow
from pytest_fcbench.formats.questions import (
    AskedRow,
    CheckableFile,
    NextReplyRow,
    OfferedRow,
    OfferingFile,
    R,
    read_questions,
)
from pytest_fcbench.formats.rows import PlacedEntries, TextOr
from pytest_fcbench.kinds.own_check import AnyAnswer
from pytest_fcbench.kinds.relevance import AnyCall, NoCall


class ChatFile(CheckableFile[AskedRow]):
    """Questions that words answer."""


class OfferedFile(OfferingFile[OfferedRow]):
    """Questions with functions that may or must not be called."""


class NextReplyFile(OfferingFile[NextReplyRow]):
    """Conversations that go on with words."""


class OwnCheckRow(OfferedRow):
    """A question with functions; any answer is right that its check accepts."""

    functions: list[TextOr[AnyFunctionRow]] = FieldOf(default_factory=list)
    """The functions that are offered: names, or docs."""


class OwnCheckFile(OfferingFile[OwnCheckRow]):
    """Questions whose answers only your own checks judge."""


def read_entries(row: CheckableFile[R], file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""

    def expect(question: R, place: Field, functions: Mapping[str, FunctionDoc]) -> Expectation:
        if category.kind != "own_check":
            return AnyCall() if category.kind == "relevance" else NoCall()
        if not (row.check or question.check or question.forbidden):
            rule = "is missing; an entry of own_check is judged only by 'check' or 'forbidden'"
            raise place.at("check").error(rule)
        return AnyAnswer()

    return read_questions(row, file, suite, category, expect, needs_function=category.kind == "relevance")
