"""Entries and their categories: what is asked, what is offered, and what a right answer is.

The vocabulary is the field's (BFCL, Patil et al. 2025):
an *entry* belongs to a *category*, offers *function docs* and carries an *expectation*.
Entries that share what they are about, and so pass and fail together, are a *cluster*. It reaches over
categories and follows from the id of an entry where the id says what is shared:

* the scenario of multi-turn entries: officially ``multi_turn_base_7``, ``multi_turn_miss_func_7``
  and so on are one; elsewhere an entry and those that code makes of it
* the earlier conversations of memory questions, over all kinds of memory
* the question of a web search, with snippets and without
* the question that official live entries came from, the second number in ``live_multiple_862-181-3``
* the entry that another puts in a prompt format of its own, or under pressure

Elsewhere the entry names its cluster, or is one by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import ClassVar

from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.pressure import PressureLevel, split_level
from pytest_fcbench.domain.prompting import PromptFormat, parse_format_id


class Group(StrEnum):
    """The part of the benchmark a category is reported under."""

    NON_LIVE = "non_live"
    LIVE = "live"
    MULTI_TURN = "multi_turn"
    AGENTIC = "agentic"
    COMPLEX = "complex"
    EXECUTABLE = "executable"
    V1 = "v1"
    """Parts of BFCL's first version that its scores leave out today."""
    FORMAT = "format_sensitivity"
    """Entries of other categories in many prompt formats."""
    NEXT_STEP = "next_step"
    """The next answer in a conversation that has begun, and answers that a check of a team's own judges."""
    MCP = "mcp"
    """Calls that act on an MCP server of a team."""
    SERVER = "server"
    """Checks of the server behind a model, which are no part of the model's score."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category: the unit that is selected, marked, counted and reported."""

    name: str
    group: Group
    kind: str
    """The name of the kind of its entries, in ``kinds.table``."""
    language: Language = Language.PYTHON
    long_context: bool = False
    """True where its environments are filled with material that no task needs."""
    scored: bool = True
    """True where it belongs to the benchmark; other categories run only where they are named."""
    expects_calls: bool = True
    """True where its entries carry the calls of a right answer."""
    continues: bool = False
    """True where the question is a conversation that has begun."""
    official_files: tuple[str, ...] = ("result", "score")
    """The files of the leaderboard that hold such entries; a score file only where results suffice."""

    @property
    def single_turn(self) -> bool:
        """True where one question gets one answer."""
        return self.group not in {Group.MULTI_TURN, Group.AGENTIC, Group.COMPLEX, Group.MCP, Group.SERVER}

    @property
    def varies_others(self) -> bool:
        """True where entries repeat those of other categories in other prompt formats."""
        return self.group is Group.FORMAT

    @property
    def stands_in_files(self) -> bool:
        """True where files of entries may name it; entries of other categories are made by code alone."""
        return not self.varies_others and self.kind != "forced"

    @property
    def file_word(self) -> str:
        """The word for it in files of entries; the categories of a scene, and of checks, share theirs."""
        return self.kind if self.group in {Group.AGENTIC, Group.SERVER} else self.name

    @property
    def on_leaderboard(self) -> bool:
        """True where the leaderboard of BFCL has such entries, in one of its versions."""
        return self.group not in {Group.COMPLEX, Group.NEXT_STEP, Group.MCP, Group.SERVER}


_ALL = (
    Category("simple_python", Group.NON_LIVE, "simple"),
    Category("simple_java", Group.NON_LIVE, "simple", Language.JAVA),
    Category("simple_javascript", Group.NON_LIVE, "simple", Language.JAVASCRIPT),
    Category("multiple", Group.NON_LIVE, "multiple"),
    Category("parallel", Group.NON_LIVE, "parallel"),
    Category("parallel_multiple", Group.NON_LIVE, "parallel"),
    Category("irrelevance", Group.NON_LIVE, "irrelevance", expects_calls=False),
    Category("live_simple", Group.LIVE, "simple"),
    Category("live_multiple", Group.LIVE, "multiple"),
    Category("live_parallel", Group.LIVE, "parallel"),
    Category("live_parallel_multiple", Group.LIVE, "parallel"),
    Category("live_irrelevance", Group.LIVE, "irrelevance", expects_calls=False),
    Category("live_relevance", Group.LIVE, "relevance", expects_calls=False),
    Category("multi_turn_base", Group.MULTI_TURN, "state"),
    Category("multi_turn_miss_func", Group.MULTI_TURN, "state"),
    Category("multi_turn_miss_param", Group.MULTI_TURN, "state"),
    Category("multi_turn_long_context", Group.MULTI_TURN, "state", long_context=True),
    # The official package ships the entries of this category, but no longer evaluates them.
    Category("multi_turn_composite", Group.MULTI_TURN, "state", long_context=True, scored=False),
    Category("memory_kv", Group.AGENTIC, "memory", expects_calls=False),
    Category("memory_vector", Group.AGENTIC, "memory", expects_calls=False),
    Category("memory_rec_sum", Group.AGENTIC, "memory", expects_calls=False),
    Category("web_search_base", Group.AGENTIC, "web_search", expects_calls=False),
    Category("web_search_no_snippet", Group.AGENTIC, "web_search", expects_calls=False),
    Category("hotels", Group.COMPLEX, "golden_path"),
    Category("flights", Group.COMPLEX, "golden_path"),
    Category("car_rental", Group.COMPLEX, "golden_path"),
    Category("attraction", Group.COMPLEX, "golden_path"),
    Category("cross", Group.COMPLEX, "golden_path"),
    # The official package keeps all of the following but the last in its folder ``unused_datasets``.
    Category("exec_simple", Group.EXECUTABLE, "execution", scored=False),
    Category("exec_multiple", Group.EXECUTABLE, "execution", scored=False),
    Category("exec_parallel", Group.EXECUTABLE, "execution", scored=False),
    Category("exec_parallel_multiple", Group.EXECUTABLE, "execution", scored=False),
    Category("rest", Group.EXECUTABLE, "rest", scored=False, official_files=()),
    Category("sql", Group.V1, "sql", scored=False),
    Category("chatable", Group.V1, "chat", scored=False, expects_calls=False, official_files=("result",)),
    Category("format_sensitivity", Group.FORMAT, "variation", scored=False),
    # Of a team's own suites only.
    Category("next_call", Group.NEXT_STEP, "next_call", scored=False, continues=True),
    Category("next_reply", Group.NEXT_STEP, "next_reply", scored=False, expects_calls=False, continues=True),
    Category("own_check", Group.NEXT_STEP, "own_check", scored=False, expects_calls=False),
    Category("mcp", Group.MCP, "server_turns", scored=False),
    # A category for each severity.
    Category("server_must", Group.SERVER, "server_check", scored=False, expects_calls=False),
    Category("server_should", Group.SERVER, "server_check", scored=False, expects_calls=False),
    Category("server_info", Group.SERVER, "server_check", scored=False, expects_calls=False),
    # Of entries with calls of any category.
    Category("server_forced", Group.SERVER, "forced", scored=False, expects_calls=False),
)

CATEGORIES: Mapping[str, Category] = {category.name: category for category in _ALL}

"""Every category by name, in the order of every table."""

AS_WRITTEN: Mapping[str, str] = {
    "exec_simple": "simple_python",
    "exec_multiple": "multiple",
    "exec_parallel": "parallel",
    "exec_parallel_multiple": "parallel_multiple",
}

"""The executable categories, each with the category that judges the same calls as written."""

SELECTIONS: Mapping[str, tuple[str, ...]] = {
    "non_live": tuple(c.name for c in _ALL if c.group is Group.NON_LIVE),
    "live": tuple(c.name for c in _ALL if c.group is Group.LIVE),
    "single_turn": tuple(c.name for c in _ALL if c.single_turn and c.scored),
    "multi_turn": tuple(c.name for c in _ALL if c.group is Group.MULTI_TURN and c.scored),
    "memory": tuple(c.name for c in _ALL if c.name.startswith("memory_")),
    "web_search": tuple(c.name for c in _ALL if c.name.startswith("web_search_")),
    "agentic": tuple(c.name for c in _ALL if c.group is Group.AGENTIC),
    "complex": tuple(c.name for c in _ALL if c.group is Group.COMPLEX),
    "executable": tuple(c.name for c in _ALL if c.group is Group.EXECUTABLE),
    "v1": tuple(c.name for c in _ALL if c.group is Group.V1),
    "next_step": tuple(c.name for c in _ALL if c.group is Group.NEXT_STEP),
    # The official groups ``python`` and ``non_python`` split the single-turn categories.
    "python": tuple(c.name for c in _ALL if c.single_turn and c.scored and c.language is Language.PYTHON),
    "non_python": tuple(c.name for c in _ALL if c.language is not Language.PYTHON),
}

"""Names that select several categories at once; each is also a mark on their entries."""

SCORE_NAMES = (
    *("overall", "all", "untrained", "simple", "irrelevance_all", "executable_simple"),
    *("schema", "not_scored"),
)
"""Names of scores, and of what else a gate measures, that are neither categories nor selections."""


class Stratum(StrEnum):
    """A stratum of difficulty."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


def find_stratum(features: Sequence[str]) -> Stratum:
    """Return the stratum of an entry with these features: easy with at most one, hard with three or more."""
    return Stratum.EASY if len(features) < 2 else Stratum.MEDIUM if len(features) == 2 else Stratum.HARD


@dataclass(frozen=True, slots=True)
class ServerProgram:
    """A program that serves tools by the Model Context Protocol over its standard input and output.

    It is started for one conversation, in a temporary folder of its own, and ended after it.
    """

    command: tuple[str, ...]
    """The program and its arguments. ``{suite}``, also in ``setup``, is the folder of the entry's file."""
    variables: tuple[str, ...] = ()
    """Names of environment variables that it is given, beside the few that every program needs."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by relative path, written into its folder before it starts."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Programs with their arguments that are run in its folder before it starts, in this order."""
    timeout_s: float = 60.0
    """The longest that its start, a setup program and a call may take each."""

    def enter_suite(self, folder: str) -> ServerProgram:
        """Return the program with the folder of the entry's file in place of ``{suite}``.

        Entries keep the word, so that stored answers do not depend on where a suite lies.
        """

        def fill_folder(command: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(part.replace("{suite}", folder) for part in command)

        return replace(self, command=fill_folder(self.command), setup=tuple(map(fill_folder, self.setup)))


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server that the calls of an entry act on, and how its state is read."""

    program: ServerProgram
    probes: tuple[str, ...] = ()
    """Calls as Python text whose results show the state; none of them may change it."""
    volatile: frozenset[str] = frozenset()
    """Members of JSON results that differ between equal states, such as times."""
    masks: tuple[str, ...] = ()
    """Regular expressions; what they match in a result differs between equal states."""


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
    pressure: PressureLevel | None = None
    """The level of pressure under which the entry is put, or None."""
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
    def late_functions(self) -> Mapping[int, tuple[FunctionDoc, ...]]:
        """The functions that are offered only from a later turn on, by the index of that turn."""
        return self.scene.withheld if self.scene else {}

    @property
    def all_functions(self) -> tuple[FunctionDoc, ...]:
        """All functions, including those that are offered only from a later turn on."""
        return (*self.functions, *(doc for docs in self.late_functions.values() for doc in docs))

    @property
    def user_texts(self) -> list[str]:
        """The texts of the user's messages, in order."""
        return [message.content for turn in self.turns for message in turn if message.role == "user"]

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


_OFFICIAL = "bfcl"

_MULTI_TURN = re.compile(r"multi_turn_(base|miss_func|miss_param|long_context|composite)_(\d+)")

_MEMORY = re.compile(r"memory_(?:kv|vector|rec_sum)_(?:\d+-)?(.+?)[-_]\d+")

_WEB_SEARCH = re.compile(r"web_search_(?:base|no_snippet)_(\d+)")

_LIVE = re.compile(r"(live_[a-z_]+)_\d+-(\d+)-\d+")


def name_cluster(suite: str, entry_id: str, entry_cluster: str | None = None) -> str:
    """Name the cluster of an entry within its suite; ``entry_cluster`` is the one that the entry names.

    An entry that shares nothing has its own id for a cluster.
    """
    # A cluster is often named after an entry, which may share a scenario itself.
    subject = split_level(entry_cluster or entry_id)[0]
    if parts := parse_format_id(subject):
        subject = parts[1]
    if match := _MULTI_TURN.fullmatch(subject):
        # Of our own entries only those made by code share a scenario; officially every number is one.
        is_derived = suite != _OFFICIAL and match[1] in ("miss_param", "composite")
        return f"multi_turn_{'miss_param' if is_derived else 'base'}_{match[2]}"
    if match := _MEMORY.fullmatch(subject):
        return f"memory_{match[1]}"
    if match := _WEB_SEARCH.fullmatch(subject):
        return f"web_search_{match[1]}"
    if match := _LIVE.fullmatch(subject):
        return f"{match[1]}_{match[2]}"
    return subject


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a run that has ``of`` parts of about the same size; ``number`` begins with 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard such as ``3/10``. Raises ``ValueError``."""
        match = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", text)
        if match is None or int(match[1]) > int(match[2]):
            raise ValueError("must be K/N with K from 1 to N, such as 3/10")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def holds(self, entry: Entry) -> bool:
        """Tell whether an entry belongs to this shard, by its id alone, so that added entries move no other.

        All trials of an entry and its levels of pressure stay together, and so do all questions about one
        memory, because the conversations that filled it are held once by whoever asks.
        """
        return self.holds_key(split_level((*entry.earlier, entry)[0].key)[0])

    def holds_key(self, key: str) -> bool:
        """Tell whether an entry that continues no other is in this shard, by its key."""
        # Python's own ``hash`` of a text differs from process to process.
        digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1
