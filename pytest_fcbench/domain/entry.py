"""Entries, their categories and the right answers to them.

The vocabulary is the field's (BFCL, Patil et al. 2025):
an *entry* belongs to a *category*, offers *function docs* and carries an *expectation*.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.path_wording import PathWording
from pytest_fcbench.domain.prompt_format import PromptFormat
from pytest_fcbench.domain.server_program import ServerState
from pytest_fcbench.domain.strata import Stratum, find_stratum
from pytest_fcbench.domain.text import escape_surrogates


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


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of entry: its file format, its matcher, and the facts that follow from them.

    Other modules ask for the facts below, never which rule it is: a new rule is named nowhere else.
    """

    name: str
    matcher: str
    """The module of ``matchers`` whose ``judge`` judges its answers; empty where other rules judge them."""
    format: str
    """The model of its files, as ``module:Model`` of ``suites.formats``; empty where no such file is read."""
    file_category: str = ""
    """The category that its files name, where one file has entries for all categories of the rule."""
    expects_calls: bool = True
    """True where entries carry the calls of a right answer."""
    single_turn: bool = True
    """True where one question gets one answer."""
    offers_functions: bool = True
    """True where an entry must offer a function."""
    one_function: bool = False
    """True where only the right function is offered."""
    several_functions: bool = False
    """True where exactly one of several offered functions is to be called."""
    parallel: bool = False
    """True where several calls are expected, in any order."""
    writes_sql: bool = False
    """True where the arguments of a call are the parts of an SQL statement."""
    asks_web_api: bool = False
    """True where a call is a request to a web API."""
    asks_judge: bool = False
    """True where a judge, if one is named, rates the reply."""
    follows_path: bool = False
    """True where calls follow a golden path and get its recorded replies."""
    continues: bool = False
    """True where the question is a conversation that has begun, with calls and their results."""
    starts_server: bool = False
    """True where calls act on an MCP server that is started for the conversation."""
    varies_others: bool = False
    """True where entries repeat those of other categories in other prompt formats."""
    own_check: bool = False
    """True where nothing but a check of the team's own judges the answer."""
    of_own_suites: bool = False
    """True where only a team's own suites have such entries."""
    in_score_files: bool = True
    """True where official score files hold verdicts that can be computed from the result files."""

    @property
    def on_leaderboard(self) -> bool:
        """True where the leaderboard of BFCL has such entries, in one of its versions."""
        return not (self.follows_path or self.of_own_suites)

    def __str__(self) -> str:
        return self.name


_SIMPLE = Rule("simple", "ast", "single_turn:ExpectingFile", one_function=True)
"""Exactly one call of the only function."""
_MULTIPLE = Rule("multiple", "ast", "single_turn:ExpectingFile", several_functions=True)
"""Exactly one call of the right function among several."""
_PARALLEL = Rule("parallel", "ast", "single_turn:ExpectingFile", parallel=True)
"""Several calls in any order."""
_IRRELEVANCE = Rule(
    "irrelevance", "relevance", "single_turn:OfferedFile", expects_calls=False, offers_functions=False
)
"""No call at all."""
_RELEVANCE = Rule("relevance", "relevance", "single_turn:OfferedFile", expects_calls=False)
"""At least one call; its arguments are not compared with a truth."""
_STATE = Rule("state", "state", "multi_turn:TrajectoryFile", single_turn=False)
"""Calls are carried out, turn by turn; the changed state and the results are compared."""
_MEMORY, _WEB_SEARCH = (
    Rule("answer", "answer", *read, expects_calls=False, single_turn=False)
    for read in (("memory:ScenarioFile", "memory"), ("web_questions:QuestionFile", "web_search"))
)
"""Calls are carried out until words come; these are compared with right answers."""
_PATH = Rule(
    *("path", "golden_path.verdict", "golden_paths:PathFile"),
    single_turn=False,
    follows_path=True,
    in_score_files=False,
)
"""Calls are compared, step by step, with those of a golden path, whose recorded replies answer them."""
_EXECUTION = Rule("execution", "execution", "executable:ExecutableFile")
"""Calls are carried out, each by itself; their results are compared with those of the truth."""
_REST = Rule("rest", "rest", "rest:RestFile", asks_web_api=True, in_score_files=False)
"""Exactly one call, which asks a web API; the answer is compared in shape."""
_SQL = Rule("sql", "sql", "single_turn:SqlFile", writes_sql=True)
"""Exactly one call, whose arguments are the parts of a statement of SQL."""
_CHAT = Rule(
    *("chat", "chat", "single_turn:ChatFile"),
    expects_calls=False,
    offers_functions=False,
    asks_judge=True,
    in_score_files=False,
)
"""No function is offered; words are the answer."""
_NEXT_CALL = Rule(
    "next_call", "ast", "single_turn:NextCallFile", parallel=True, continues=True, of_own_suites=True
)
"""A conversation has begun, and these calls come next, in any order."""
_NEXT_REPLY = Rule(
    *("next_reply", "relevance", "single_turn:NextReplyFile"),
    expects_calls=False,
    offers_functions=False,
    continues=True,
    of_own_suites=True,
)
"""A conversation has begun, and words come next, no call."""
_OWN_CHECK = Rule(
    *("own_check", "own_check", "single_turn:OwnCheckFile"),
    expects_calls=False,
    offers_functions=False,
    own_check=True,
    of_own_suites=True,
    in_score_files=False,
)
"""A function of the team's own says whether the answer is right."""
_SERVER = Rule(
    *("server", "server_state", "server_turns:ServerFile"),
    single_turn=False,
    starts_server=True,
    of_own_suites=True,
    in_score_files=False,
)
"""Calls are carried out by an MCP server, turn by turn; its state and the results are compared."""
_VARIATION = Rule("variation", "", "", varies_others=True)
"""As in the category that the entry is taken from."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category: the unit that is selected, marked, counted and reported."""

    name: str
    group: Group
    rule: Rule
    language: Language = Language.PYTHON
    long_context: bool = False
    """True where its environments are filled with material that no task needs."""
    scored: bool = True
    """True where it belongs to the benchmark; other categories run only where they are named."""

    @property
    def expects_calls(self) -> bool:
        """True where entries of this category carry the calls of a right answer."""
        return self.rule.expects_calls

    @property
    def single_turn(self) -> bool:
        """True where one question gets one answer."""
        return self.rule.single_turn


_ALL = (
    Category("simple_python", Group.NON_LIVE, _SIMPLE),
    Category("simple_java", Group.NON_LIVE, _SIMPLE, Language.JAVA),
    Category("simple_javascript", Group.NON_LIVE, _SIMPLE, Language.JAVASCRIPT),
    Category("multiple", Group.NON_LIVE, _MULTIPLE),
    Category("parallel", Group.NON_LIVE, _PARALLEL),
    Category("parallel_multiple", Group.NON_LIVE, _PARALLEL),
    Category("irrelevance", Group.NON_LIVE, _IRRELEVANCE),
    Category("live_simple", Group.LIVE, _SIMPLE),
    Category("live_multiple", Group.LIVE, _MULTIPLE),
    Category("live_parallel", Group.LIVE, _PARALLEL),
    Category("live_parallel_multiple", Group.LIVE, _PARALLEL),
    Category("live_irrelevance", Group.LIVE, _IRRELEVANCE),
    Category("live_relevance", Group.LIVE, _RELEVANCE),
    Category("multi_turn_base", Group.MULTI_TURN, _STATE),
    Category("multi_turn_miss_func", Group.MULTI_TURN, _STATE),
    Category("multi_turn_miss_param", Group.MULTI_TURN, _STATE),
    Category("multi_turn_long_context", Group.MULTI_TURN, _STATE, long_context=True),
    # The official package ships the entries of this category, but no longer evaluates them.
    Category("multi_turn_composite", Group.MULTI_TURN, _STATE, long_context=True, scored=False),
    Category("memory_kv", Group.AGENTIC, _MEMORY),
    Category("memory_vector", Group.AGENTIC, _MEMORY),
    Category("memory_rec_sum", Group.AGENTIC, _MEMORY),
    Category("web_search_base", Group.AGENTIC, _WEB_SEARCH),
    Category("web_search_no_snippet", Group.AGENTIC, _WEB_SEARCH),
    Category("hotels", Group.COMPLEX, _PATH),
    Category("flights", Group.COMPLEX, _PATH),
    Category("car_rental", Group.COMPLEX, _PATH),
    Category("attraction", Group.COMPLEX, _PATH),
    Category("cross", Group.COMPLEX, _PATH),
    # The official package keeps all of the following but the last in its folder ``unused_datasets``.
    Category("exec_simple", Group.EXECUTABLE, _EXECUTION, scored=False),
    Category("exec_multiple", Group.EXECUTABLE, _EXECUTION, scored=False),
    Category("exec_parallel", Group.EXECUTABLE, _EXECUTION, scored=False),
    Category("exec_parallel_multiple", Group.EXECUTABLE, _EXECUTION, scored=False),
    Category("rest", Group.EXECUTABLE, _REST, scored=False),
    Category("sql", Group.V1, _SQL, scored=False),
    Category("chatable", Group.V1, _CHAT, scored=False),
    Category("format_sensitivity", Group.FORMAT, _VARIATION, scored=False),
    # Of a team's own suites only.
    Category("next_call", Group.NEXT_STEP, _NEXT_CALL, scored=False),
    Category("next_reply", Group.NEXT_STEP, _NEXT_REPLY, scored=False),
    Category("own_check", Group.NEXT_STEP, _OWN_CHECK, scored=False),
    Category("mcp", Group.MCP, _SERVER, scored=False),
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


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call of a right answer (BFCL's *possible answer*).

    ``accepted`` maps a parameter to its acceptable values; ``""`` among them means it may be left out.
    A dict value is written ``{key: [acceptable, ...]}``, a list of dicts as a list of such.
    """

    name: str
    accepted: Mapping[str, object]
    judged: tuple[str, ...] = ()
    """Parameters with free text, which a judge compares; only entries of a team's own suites have some."""


def choose_plain_value(option: object) -> object:
    """Return an accepted value in plain form: the first of a dict's alternatives for each key.

    Keys that may be left out are left out. Values deeper inside a dict are plain already: officially they are
    compared as they are.
    """
    if isinstance(option, list):
        return [choose_plain_value(item) for item in option]
    if not isinstance(option, Mapping):
        return option
    return {
        key: alternatives[0]
        for key, alternatives in option.items()
        if isinstance(alternatives, list) and alternatives and "" not in alternatives
    }


def list_alternatives(value: object) -> object:
    """Convert a value to the form of ``ExpectedCall``: members of a dict become lists of accepted values."""
    if isinstance(value, (list, tuple)):
        return list(map(list_alternatives, value))
    if isinstance(value, Mapping):
        return {key: [list_alternatives(member)] for key, member in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """The answer must consist of these calls."""

    calls: tuple[ExpectedCall, ...]

    @property
    def has_free_text(self) -> bool:
        """True where a judge compares an argument, if one is named."""
        return any(call.judged for call in self.calls)


@dataclass(frozen=True, slots=True)
class NoCall:
    """No function fits: the answer must not call any."""


@dataclass(frozen=True, slots=True)
class AnyCall:
    """Some function fits: the answer must call at least one."""


@dataclass(frozen=True, slots=True)
class AnyAnswer:
    """Words or calls: only a check of the team's own judges them."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Calls that serve the requests, turn by turn, as Python text (``cd(folder='docs')``).

    In an empty turn nothing can be called yet: a function or a value is missing.
    """

    turns: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PathCall:
    """A call of a golden path, and the reply that was recorded for it."""

    name: str
    arguments: Mapping[str, object]
    reply: str
    """JSON text, as a model is shown it; parsed, the thousands of replies of a suite take more memory."""

    @classmethod
    def with_reply(cls, name: str, arguments: Mapping[str, object], reply: object) -> PathCall:
        """Make a path call from a JSON value. Raises RecursionError where it is nested too deeply."""
        return cls(name, arguments, write_reply(reply))

    @property
    def reply_value(self) -> object:
        """The reply as a JSON value, parsed each time."""
        value: object = read_json_text(self.reply)
        return value


def write_reply(reply: object) -> str:
    """Write a JSON value as the reply that a model is shown: lone surrogates escaped, other scripts not."""
    # ComplexFuncBench leaves other scripts as they are in its replies (``ensure_ascii=False``).
    return escape_surrogates(json.dumps(reply, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Lookup:
    """Calls that look up an identifier (official: *free functions*).

    They may be made at any time, also ahead of their step, and may be left out.
    """

    name: str
    where: Mapping[str, object] = field(default_factory=dict)
    """Arguments that such a call must have; with any, it may not come ahead of its step."""
    forgiven: bool = True
    """True where the official code forgives that it was left out."""


@dataclass(frozen=True, slots=True)
class GoldenPath:
    """The shortest way to serve a request: steps of calls, those of a step in any order."""

    steps: tuple[tuple[PathCall, ...], ...]
    lookups: tuple[Lookup, ...] = ()
    judged: frozenset[str] = frozenset()
    """Parameters whose values can be right in several forms (free text, counts, prices). A value of any other
    parameter is right only if it is equal."""
    overlooked: frozenset[str] = frozenset()
    """Parameters whose values must be equal too, which the official code overlooks."""
    recorded: tuple[PathCall, ...] = ()
    """Replies to calls that are not on the path."""
    by_runner: bool = False
    """True where the official code has a runner for each family of models."""
    wording: PathWording | None = None
    """The texts of the official code; None where nobody has read them from it."""

    @property
    def calls(self) -> tuple[PathCall, ...]:
        """The calls of all steps in order."""
        return tuple(call for step in self.steps for call in step)


class ResultRule(StrEnum):
    """A rule for comparing the result of a call with the expected one."""

    EXACT = "exact_match"
    """Both are equal."""
    REAL_TIME = "real_time_match"
    """Both are numbers, at most 20 % apart, because the value changes from day to day."""
    STRUCTURAL = "structural_match"
    """Both have the same type and, at the top, the same keys or as many elements."""


@dataclass(frozen=True, slots=True)
class ExpectedResults:
    """The answer must consist of calls that return what these return (BFCL's executable evaluation)."""

    calls: tuple[str, ...]
    """As Python text (``math_gcd(a=12, b=18)``)."""
    kinds: tuple[ResultRule, ...]
    """The comparison for each call."""
    recorded: tuple[PathCall, ...] = ()
    """Recorded replies of web APIs."""
    own: tuple[str, ...] = ()
    """Functions of a team (``module.function``) that calls may name."""


@dataclass(frozen=True, slots=True)
class ExpectedResponse:
    """The answer must be a call that a web API answers as it answers this one (BFCL's REST evaluation)."""

    call: str
    """As Python text (``requests.get(url='https://...', params={...})``)."""
    recorded: str | None = None
    """The JSON that was answered when it was recorded; None where a service of the suite's own answers."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The final answer must say one of these, each of which is right."""

    texts: tuple[str, ...]
    trail: tuple[tuple[str, ...], ...] = ()
    """Calls that lead to it, step by step, as Python text; none where only the answer is known."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that later conversations ask for, turn by turn. This conversation is not judged."""

    turns: tuple[tuple[str, ...], ...]


Expectation: TypeAlias = (
    ExpectedCalls
    | NoCall
    | AnyCall
    | AnyAnswer
    | Trajectory
    | GoldenPath
    | ExpectedResults
    | ExpectedResponse
    | Answers
    | Facts
)


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
    """Set where the category's rule varies others."""
    features: tuple[str, ...] | None = None
    """Features that make the entry hard, as its suite states them; None if the suite states none."""
    check: Callable[..., object] | None = None
    """A function of a team's own that must accept the answer too."""
    forbidden: tuple[str, ...] = ()
    """Functions that must not be called."""
    matcher: str = ""
    """Name of the matcher that another distribution provides for it; empty for the matcher of its rule."""

    # Tools show the parameters of a test, and the truth in them would make every report unreadable.
    def __repr__(self) -> str:
        """Name the entry without its content."""
        return f"<Entry {self.item_id}>"

    @property
    def rule(self) -> Rule:
        """The rule by which its answers are judged."""
        return self.variation.of.rule if self.variation else self.category.rule

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
        found: list[Entry] = []
        entry = self.after
        while entry:
            found.insert(0, entry)
            entry = entry.after
        return tuple(found)

    def find_function(self, name: str) -> FunctionDoc | None:
        """Return the offered function of that name, or None."""
        return next((doc for doc in self.functions if doc.name == name), None)
