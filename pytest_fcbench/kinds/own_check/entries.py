"""Questions, written by hand in YAML, whose answers only a check of a team's own judges.

They have what all questions have (``formats.questions``), and need ``check`` or ``forbidden``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field as FieldOf

from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import AnyFunctionRow
from pytest_fcbench.formats.questions import OfferedRow, OfferingFile, read_questions
from pytest_fcbench.formats.rows import TextOr
from pytest_fcbench.kinds.own_check.truth import AnyAnswer


class OwnCheckRow(OfferedRow):
    """A question with functions; any answer is right that its check accepts."""

    functions: list[TextOr[AnyFunctionRow]] = FieldOf(default_factory=list)
    """The functions that are offered: names, or docs."""


class OwnCheckFile(OfferingFile[OwnCheckRow]):
    """Questions whose answers only your own checks judge."""


def entries(row: OwnCheckFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""

    def require_check(question: OwnCheckRow, place: Field, functions: Mapping[str, FunctionDoc]) -> AnyAnswer:
        if not (row.check or question.check or question.forbidden):
            raise place.at("check").error(
                "is missing; give 'check' or 'forbidden', which alone judge answers"
            )
        return AnyAnswer()

    return read_questions(row, file, suite, category, require_check, needs_function=False)
