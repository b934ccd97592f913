"""Entries: what is asked, what is offered, and what a right answer is.

The vocabulary is the field's (BFCL, Patil et al. 2025):
an *entry* belongs to a *category*, offers *function docs* and carries an *expectation*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompt_format import PromptFormat
from pytest_fcbench.domain.server_program import ServerState
from pytest_fcbench.domain.strata import Stratum, find_stratum


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that the assistant made before the answer that is asked for."""

    name: str
    arguments: Mapping[str, object]

    def __str__(self) -> str:
        """Write the call as Python does."""
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the question."""

    role: str
    content: str
    """Its words; for the role ``tool`` the result of a call."""
    calls: tuple[PastCall, ...] = ()
    """The calls of the assistant. As many messages of the role ``tool`` follow, in their order."""

    @property
    def shown_text(self) -> str:
        """The words and the calls, each call in a line of its own."""
        return "\n".join(filter(None, (self.content, *map(str, self.calls))))


class Expectation:
    """A right answer to an entry. Each kind of entry has a class of its own, in its folder."""

    __slots__ = ()

    forbids_calls: ClassVar[bool] = False
    """True where an answer must not call any function."""
    takes_any_call: ClassVar[bool] = False
    """True where a call of any function that fits is right."""
    rests_on_results: ClassVar[bool] = False
    """True where a right answer is words which calls have found."""
    is_known: ClassVar[bool] = True
    """False where only a team's own check knows what is right."""
    is_judged: ClassVar[bool] = True
    """False where the conversation only prepares later ones."""

    @property
    def has_free_text(self) -> bool:
        """True where a judge compares an argument, if one is named."""
        return False


@dataclass(frozen=True, slots=True)
class Scene:
    """The environments that the calls of an entry act on, and the functions that it withholds."""

    domains: tuple[str, ...]
    """Names of ``environments.DOMAINS`` and of ``classes``."""
    config: Mapping[str, Mapping[str, object]]
    """The differences from the default state, by domain."""
    withheld: Mapping[int, tuple[FunctionDoc, ...]] = field(default_factory=dict)
    """Functions that are offered only from a turn on, by its index."""
    persona: str = ""
    """The role that the model is given, in entries that show it its memory of earlier conversations."""
    classes: Mapping[str, type] = field(default_factory=dict)
    """The classes of those domains that a team wrote (``module:Class``)."""
    server: ServerState | None = None
    """The MCP server that calls act on, where they act on no domain."""


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table of a database."""

    name: str
    columns: Mapping[str, str]
    """Each with its type, in SQLite's words."""
    rows: tuple[tuple[object, ...], ...]
    """Values in the order of the columns: texts, numbers, None."""


@dataclass(frozen=True, slots=True)
class Variation:
    """The category and the prompt format of an entry that repeats another category's entry."""

    of: Category
    format: PromptFormat


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """A dataset entry, which becomes one test item."""

    suite: str
    id: str
    category: Category
    turns: tuple[tuple[Message, ...], ...]
    functions: tuple[FunctionDoc, ...]
    expectation: Expectation
    scene: Scene | None = None
    """The environments in which calls are carried out; None where calls are only read."""
    tables: tuple[DatabaseTable, ...] = ()
    """Tables that an SQL statement acts on; empty where they follow from the expectation."""
    set_aside: str | None = None
    """The reason why the corrected profile does not count this entry (known-bad data), or None."""
    trial: int | None = None
    """The number of the trial, from 1 on; None where the entry is put to the model once."""
    cluster: str | None = None
    """The cluster that this entry names, or None. Entries of one cluster tend to pass and fail together."""
    parents: tuple[str, ...] = ()
    """Keys of the entries that it was made from by code."""
    after: Entry | None = None
    """The earlier conversation whose memory this one begins with. It runs once, however many continue it."""
    variation: Variation | None = None
    """Set where the entry repeats one of another category."""
    features: tuple[str, ...] | None = None
    """Features that make the entry hard, as its suite states them; None if the suite states none."""
    check: Callable[..., object] | None = None
    """A function of a team's own that must accept the answer too."""
    forbidden: tuple[str, ...] = ()
    """Functions that must not be called."""
    other_kind: str = ""
    """Name of the kind that another distribution provides for it; empty for the kind of its category."""

    # Tools show the parameters of a test, and the truth in them would make every report unreadable.
    def __repr__(self) -> str:
        """Name the entry without its content."""
        return f"<Entry {self.item_id}>"

    @property
    def judged_category(self) -> Category:
        """The category by whose rules its answers are judged: where it repeats an entry, that one's."""
        return self.variation.of if self.variation else self.category

    @property
    def kind(self) -> str:
        """The name of its kind, which decides how it is asked and judged."""
        return self.other_kind or self.judged_category.kind

    @property
    def key(self) -> str:
        """``suite:id``, its name in every report."""
        return f"{self.suite}:{self.id}"

    @property
    def stratum(self) -> Stratum | None:
        """The stratum of difficulty; None where nothing is said about what makes it hard."""
        return None if self.features is None else find_stratum(self.features)

    @property
    def item_id(self) -> str:
        """The parameter id of its test: the key, with the trial where there are several (``-t2``)."""
        return self.key if self.trial is None else f"{self.key}-t{self.trial}"

    @property
    def earlier(self) -> tuple[Entry, ...]:
        """The earlier conversations, the first one first."""
        conversations: list[Entry] = []
        entry = self.after
        while entry:
            conversations.insert(0, entry)
            entry = entry.after
        return tuple(conversations)

    def find_function(self, name: str) -> FunctionDoc | None:
        """Return the offered function of that name, or None."""
        return next((doc for doc in self.functions if doc.name == name), None)
