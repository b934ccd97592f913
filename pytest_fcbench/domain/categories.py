"""Categories: the units that are selected, marked, counted and reported, each with its kind of entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.function_doc import Language


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
        return self.group not in {Group.MULTI_TURN, Group.AGENTIC, Group.COMPLEX, Group.MCP}

    @property
    def varies_others(self) -> bool:
        """True where entries repeat those of other categories in other prompt formats."""
        return self.group is Group.FORMAT

    @property
    def file_word(self) -> str:
        """The word for it in files of entries; the categories of a scene share theirs."""
        return self.kind if self.group is Group.AGENTIC else self.name

    @property
    def on_leaderboard(self) -> bool:
        """True where the leaderboard of BFCL has such entries, in one of its versions."""
        return self.group not in {Group.COMPLEX, Group.NEXT_STEP, Group.MCP}


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
