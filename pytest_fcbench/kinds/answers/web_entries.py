"""Questions whose answers are on pages of the web, several hops apart. Written by hand:

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
from typing import Annotated

from pydantic import Discriminator, Tag, model_validator

from pytest_fcbench.domain.entry import Category, Entry, Message, Scene
from pytest_fcbench.environments.function_docs import document_domain
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import EntryRow, Given, Row, Some, StartsWith, make_rule_error
from pytest_fcbench.kinds.answers.verdict import Answers

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


def entries(rows: QuestionFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the questions of a file in a category with their places. Raises ``SuiteError``."""
    docs = document_domain(WebSearch)
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        entry = Entry(
            suite=suite,
            id=row.id.replace(DOMAIN, category.name, 1),
            category=category,
            turns=((Message("user", row.query),),),
            functions=docs,
            expectation=Answers(tuple(row.answers), tuple((hop.call,) for hop in row.trail or ())),
            scene=make_scene(category),
        )
        yield place, entry


def make_scene(category: Category) -> Scene:
    """Return the scene of a category: a web whose searches show snippets or not."""
    return Scene((DOMAIN,), {DOMAIN: {"show_snippet": category.name != "web_search_no_snippet"}})
