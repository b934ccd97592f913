"""Scenarios of memory: conversations of one user in order, and questions asked later.

The same questions are put to each kind of memory, which the category names. Written by hand:

category: memory
entries:
  - id: memory_allotment           # in an entry the category stands for "memory"
    persona: You look after an allotment together with the user.      # told ahead of every conversation
    conversations:                 # each a list of what the user says, one after the other
      - - The water is turned on in March.
        - No, in April, I have just looked it up.
      - - We meet on Sunday.
    questions:
      - query: When is the water turned on?
        answers: [April]           # any of them is right
        said: [No, in April]       # what the answer follows from, word by word
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pytest_fcbench.domain.entry import Category, Entry, Message, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments import DOMAINS
from pytest_fcbench.environments.function_docs import document_domain
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import EntryRow, Row, Some, StartsWith
from pytest_fcbench.kinds.answers.verdict import Answers, Facts


class MemoryQuestionRow(Row):
    """A question about earlier conversations."""

    query: str
    """The user's question."""
    answers: Some[str]
    """Any of them is right."""
    said: Some[str]
    """Quotes from which the answer follows, word by word."""


class ScenarioRow(EntryRow):
    """Conversations, and questions about them."""

    id: Annotated[str, StartsWith("memory_", "each kind of memory stands")]
    persona: str
    """The role of the model, stated ahead of every conversation."""
    conversations: Some[Some[str]]
    """The user's messages of each conversation, in order."""
    questions: list[MemoryQuestionRow]


class ScenarioFile(Row):
    """Scenarios of memory."""

    category: str
    entries: list[ScenarioRow]


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """A question after all conversations, and the conversation and turn that answer it."""

    id: str
    query: tuple[Message, ...]
    answers: tuple[str, ...]
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Conversations and questions; an entry has its category in place of ``memory`` in its id."""

    persona: str
    conversations: tuple[tuple[str, tuple[tuple[Message, ...], ...]], ...]
    """Id and turns of each, in order."""
    questions: tuple[MemoryQuestion, ...]

    def entries(self, suite: str, category: Category, functions: tuple[FunctionDoc, ...]) -> Iterator[Entry]:
        """Yield the questions, each after all conversations, with the memory named by the category."""
        scene = Scene((category.name,), {}, persona=self.persona)
        last: Entry | None = None
        for number, (name, turns) in enumerate(self.conversations):
            # What is to be remembered of each turn: the questions that it answers, with their answers.
            facts = tuple(
                tuple(
                    f"{question.query[-1].content} {question.answers[0]}"
                    for question in self.questions
                    if question.place == (number, turn)
                )
                for turn in range(len(turns))
            )
            entry_id = move_id_to_category(category, name)
            last = Entry(suite, entry_id, category, turns, functions, Facts(facts), scene, after=last)
        for question in self.questions:
            entry_id, right = move_id_to_category(category, question.id), Answers(question.answers)
            yield Entry(suite, entry_id, category, (question.query,), functions, right, scene, after=last)


def move_id_to_category(category: Category, name: str) -> str:
    """Return the id of an entry in a category for an id of a scenario."""
    return name.replace("memory", category.name, 1)


def locate_quotes(quotes: Sequence[str], conversations: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Return the last conversation and turn with one of the quotes; only letters and digits count."""
    quote_texts = [text for text in map(_normalise, quotes) if text]
    places = [
        (number, turn)
        for number, turns in enumerate(conversations)
        for turn, text in enumerate(turns)
        if any(quote in _normalise(text) for quote in quote_texts)
    ]
    return places[-1] if places else None


# Each question looks through the same conversations, of three categories.
@lru_cache(maxsize=2_000)
def _normalise(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def entries(rows: ScenarioFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file in a category with their places. Raises ``SuiteError``."""
    docs = document_domain(DOMAINS[category.name])
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        for entry in make_scenario(row, place).entries(suite, category, docs):
            yield place, entry


def make_scenario(row: ScenarioRow, at: Field) -> Scenario:
    """Read a scenario. Raises ``SuiteError`` with file, line and field."""
    questions: list[MemoryQuestion] = []
    for question, question_field in zip(row.questions, at.at("questions").elements(), strict=True):
        places = []
        for quote in question_field.at("said").elements():
            place = locate_quotes([quote.text()], row.conversations)
            if place is None:
                raise quote.error(f"no conversation says {quote.text()!r}")
            places.append(place)
        query, answers = (Message("user", question.query),), tuple(question.answers)
        # An answer that needs several facts can be known only after the last of them.
        questions.append(MemoryQuestion(f"{row.id}_{len(questions)}", query, answers, max(places)))
    conversations = [
        (f"{row.id}_before_{number}", tuple((Message("user", message_text),) for message_text in turns))
        for number, turns in enumerate(row.conversations)
    ]
    return Scenario(row.persona, tuple(conversations), tuple(questions))
