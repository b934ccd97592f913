"""BFCL's questions about the web, which are the same with and without snippets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pytest_fcbench.domain.entry import Answers, Category, Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.suites.bfcl.memory import Row, Rows
from pytest_fcbench.suites.formats import web_questions

QUESTIONS = "BFCL_v4_web_search.json"
_ANSWERS = f"possible_answer/{QUESTIONS}"


def entries(
    rows: Rows,
    turns_of: Callable[[Row], tuple[tuple[Message, ...], ...]],
    category: Category,
    functions: tuple[FunctionDoc, ...],
    ledger: Mapping[str, str],
) -> Iterator[Entry]:
    """The questions in their order. Raises KeyError and ValueError for what is not of BFCL's form."""
    truths = {row["id"]: row["ground_truth"] for row in rows(_ANSWERS)}
    for row in rows(QUESTIONS):
        truth = truths[row["id"]]
        if not isinstance(truth, list):
            raise ValueError(f"{row['id']} has no answers")
        entry_id = _id(category, row)
        yield Entry(
            suite="bfcl",
            id=entry_id,
            category=category,
            turns=turns_of(row),
            functions=functions,
            expectation=Answers(tuple(map(str, truth))),
            scene=web_questions.scene(category),
            set_aside=ledger.get(entry_id),
        )


def official_rows(
    rows: Rows, category: Category, told: Mapping[str, object]
) -> Iterator[tuple[str, Row, object]]:
    """Id, question and answers of each entry as official score files hold them; ``told`` is said first."""
    truths = {row["id"]: row["ground_truth"] for row in rows(_ANSWERS)}
    for row in rows(QUESTIONS):
        question = row["question"]
        first, *others = question if isinstance(question, list) else []
        entry_id = _id(category, row)
        yield entry_id, {**row, "id": entry_id, "question": [[told, *first], *others]}, truths[row["id"]]


def _id(category: Category, row: Row) -> str:
    return str(row["id"]).replace("web_search", category.name, 1)
