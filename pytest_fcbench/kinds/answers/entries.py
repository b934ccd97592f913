"""Questions that calls answer from a memory or from the web, written by hand in YAML.

Scenarios of memory are conversations of one user in order, and questions asked later. The same questions are
put to each kind of memory, which the category names:

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

Answers to the others are on pages of the web, several hops apart. The same questions are put with and without
snippets, which the category says:

category: web_search
entries:
  - id: web_search_0               # in an entry the category stands for "web_search"
    query: In which year was the works founded that cast the lens of the light on the Ness of Tolm?
    answers: ["1838"]              # any of them is right
    trail:                         # how it can be found out; may be left out
      - search: Ness of Tolm lighthouse lens
      - read: http://lights.example/ness-of-tolm
        finds: Pellan Glassworks   # what has to be known for the next hop; of the last one, the answer
      - read: http://works.example/pellan-glassworks
        finds: "1838"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pydantic import Discriminator, Tag, model_validator

from pytest_fcbench.domain.entry import Category, Entry, Message, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import EntryRow, Given, PlacedEntries, Row, Some, StartsWith, make_rule_error
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

    def build_entries(
        self, suite: str, category: Category, functions: tuple[FunctionDoc, ...]
    ) -> Iterator[Entry]:
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


def read_scenarios(rows: ScenarioFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file in a category with their places. Raises ``SuiteError``."""
    docs = document_domain(DOMAINS[category.name])
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        for entry in make_scenario(row, place).build_entries(suite, category, docs):
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


DOMAIN = "web_search"


class SearchRow(Row):
    """A search."""

    search: str

    @property
    def call(self) -> str:
        """Call that makes the search, as Python text."""
        return f"search_engine_query(keywords={self.search!r})"


class ReadRow(Row):
    """A page that is read, and the fact that the next hop needs; on the last one, the answer."""

    read: str
    finds: str

    @property
    def call(self) -> str:
        """Call that reads the page, as Python text."""
        return f"fetch_url_content(url={self.read!r}, mode='truncate')"


class WebQuestionRow(EntryRow):
    """A question whose answer is on a page."""

    id: Annotated[str, StartsWith("web_search_", "both categories stand")]
    query: str
    """The user's question."""
    answers: Some[str]
    """Any of them is right."""
    trail: Given[
        Some[
            Annotated[
                Annotated[SearchRow, Tag(":search")] | Annotated[ReadRow, Tag(":read")],
                Discriminator(
                    lambda value: ":search" if isinstance(value, Mapping) and "search" in value else ":read"
                ),
            ]
        ]
    ] = None
    """The hops that lead to the answer."""

    @model_validator(mode="after")
    def _check_trail(self) -> WebQuestionRow:
        if self.trail and getattr(self.trail[-1], "finds", None) not in self.answers:
            raise make_rule_error("must end with a page on which an answer is found", "trail")
        return self


class QuestionFile(Row):
    """Questions about the web."""

    category: str
    entries: list[WebQuestionRow]


def read_web_questions(rows: QuestionFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the questions of a file in a category with their places. Raises ``SuiteError``."""
    docs = document_domain(WebSearch)
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        entry_id, turns = row.id.replace(DOMAIN, category.name, 1), ((Message("user", row.query),),)
        right = Answers(tuple(row.answers), tuple((hop.call,) for hop in row.trail or ()))
        yield place, Entry(suite, entry_id, category, turns, docs, right, make_scene(category))


def make_scene(category: Category) -> Scene:
    """Return the scene of a category: a web whose searches show snippets or not."""
    return Scene((DOMAIN,), {DOMAIN: {"show_snippet": category.name != "web_search_no_snippet"}})


def read_entries(
    rows: ScenarioFile | QuestionFile, file: Field, suite: str, category: Category
) -> PlacedEntries:
    """Yield the entries of a file in a category with their places. Raises ``SuiteError``."""
    if isinstance(rows, ScenarioFile):
        return read_scenarios(rows, file, suite, category)
    return read_web_questions(rows, file, suite, category)
