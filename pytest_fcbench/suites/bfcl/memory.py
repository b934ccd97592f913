"""BFCL's memory entries: conversations by scenario, and questions that each kind of memory is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcbench.domain.entry import Category, Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.suites.formats.memory import Question, Scenario, of_category, place_of

QUESTIONS = "BFCL_v4_memory.json"
ANSWERS = "possible_answer/BFCL_v4_memory.json"

Row: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Callable[[str], Iterator[Row]]
"""The records of a file of the pack."""


def entries(
    rows: Rows,
    turns_of: Callable[[Row], tuple[tuple[Message, ...], ...]],
    category: Category,
    functions: tuple[FunctionDoc, ...],
    personas: Mapping[str, str],
    ledger: Mapping[str, str],
) -> Iterator[Entry]:
    """The questions in their order. Raises KeyError and ValueError for what is not of BFCL's form."""
    asked = list(rows(QUESTIONS))
    truths = {str(row["id"]): row for row in rows(ANSWERS)}
    made: dict[str, Entry] = {}
    for name in dict.fromkeys(str(row["scenario"]) for row in asked):
        held = list(rows(f"memory_prereq_conversation/memory_{name}.json"))
        conversations = tuple((str(row["id"]), turns_of(row)) for row in held)
        questions = tuple(
            _question(row, turns_of(row)[0], truths[str(row["id"])], conversations)
            for row in asked
            if row["scenario"] == name
        )
        scenario = Scenario(personas[name], conversations, questions)
        for question, entry in zip(questions, scenario.entries("bfcl", category, functions), strict=True):
            made[question.id] = replace(entry, set_aside=ledger.get(entry.id))
    for row in asked:
        yield made[str(row["id"])]


def official_rows(
    rows: Rows, category: Category, told: Mapping[str, object]
) -> Iterator[tuple[str, Row, object]]:
    """Id, question and answers of each entry as official score files hold them; ``told`` is said first."""
    truths = {row["id"]: row["ground_truth"] for row in rows(ANSWERS)}
    kind = category.name.removeprefix("memory_")
    for row in rows(QUESTIONS):
        held = rows(f"memory_prereq_conversation/memory_{row['scenario']}.json")
        first, *others = _list(row["question"])
        new = {
            **row,
            "id": of_category(category, str(row["id"])),
            "question": [[told, *_list(first)], *others],
            "involved_classes": [f"MemoryAPI_{kind}"],
            "depends_on": [of_category(category, str(before["id"])) for before in held],
        }
        yield str(new["id"]), new, truths[row["id"]]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _question(
    row: Row,
    query: tuple[Message, ...],
    truth: Row,
    conversations: Sequence[tuple[str, tuple[tuple[Message, ...], ...]]],
) -> Question:
    answers = truth["ground_truth"]
    if not isinstance(answers, list) or not answers:
        raise ValueError(f"{truth['id']} has no answers")
    said = [[" ".join(m.content for m in turn) for turn in turns] for _, turns in conversations]
    # A source is put together from parts of what was said; that of a few questions is told in other words.
    quotes = re.split(r"\.\.\.|…", str(truth["source"]))
    place = place_of(quotes, said) or (len(said) - 1, len(said[-1]) - 1)
    return Question(str(row["id"]), query, tuple(map(str, answers)), place)
