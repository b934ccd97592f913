"""Questions whose answers stand on pages of the web, several hops apart. Written by hand:

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

The same questions are put with and without snippets: the category says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import Discriminator, Tag

from pytest_fcbench.domain.entry import Answers, Category, Entry, Message, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.function_docs import documented
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.suites.formats.fields import Field
from pytest_fcbench.suites.formats.rows import EntryRow, Given, Row, Some, StartsWith

DOMAIN = "web_search"


class SearchRow(Row):
    """A search."""

    search: str


class ReadRow(Row):
    """A page that is read, and what has to be known for the next hop; of the last one, the answer."""

    read: str
    finds: str


class QuestionRow(EntryRow):
    """A question whose answer stands on a page."""

    id: Annotated[str, StartsWith("web_search_", "both categories stand")]
    query: str
    """What the user asks."""
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
    """How it can be found out."""


class QuestionFile(Row):
    """Questions about the web."""

    category: str
    entries: list[QuestionRow]


@dataclass(frozen=True, slots=True)
class Hop:
    """A search, or a page that is read and what it says that is needed."""

    search: str | None = None
    url: str | None = None
    finds: str = ""

    @property
    def call(self) -> str:
        """What does it, as Python text."""
        if self.search is not None:
            return f"search_engine_query(keywords={self.search!r})"
        return f"fetch_url_content(url={self.url!r}, mode='truncate')"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, what is right, and how it can be found out."""

    id: str
    query: str
    answers: tuple[str, ...]
    trail: tuple[Hop, ...]

    def entry(self, suite: str, category: Category, docs: tuple[FunctionDoc, ...]) -> Entry:
        """The question in a category, which says by its name whether snippets are shown."""
        return Entry(
            suite=suite,
            id=self.id.replace(DOMAIN, category.name, 1),
            category=category,
            turns=((Message("user", self.query),),),
            functions=docs,
            expectation=Answers(self.answers, tuple((hop.call,) for hop in self.trail)),
            scene=scene(category),
        )


def scene(category: Category) -> Scene:
    """Where calls are carried out, with or without snippets."""
    return Scene((DOMAIN,), {DOMAIN: {"show_snippet": category.name != "web_search_no_snippet"}})


def entries(rows: QuestionFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the questions of a file in a category and where each stands. Raises ``SuiteError``."""
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        yield place, make_question(row, place).entry(suite, category, _docs())


@cache
def _docs() -> tuple[FunctionDoc, ...]:
    return documented(WebSearch)


def make_question(row: QuestionRow, at: Field) -> Question:
    """Return a question as it is written. Raises ``SuiteError`` with file, line and field."""
    trail = tuple(
        Hop(search=hop.search) if isinstance(hop, SearchRow) else Hop(url=hop.read, finds=hop.finds)
        for hop in row.trail or ()
    )
    if trail and trail[-1].finds not in row.answers:
        raise at.at("trail").error("must end with a page on which an answer is found")
    return Question(row.id, row.query, tuple(row.answers), trail)
