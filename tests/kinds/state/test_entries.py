"""Multi-turn entries of a file: what is read, and what each kind of broken record is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message, Scene
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.environments.world import World
from pytest_fcbench.kinds.entry_files import read_entries
from pytest_fcbench.kinds.state.verdict import Trajectory, Withheld
from tests.cases import each_case

GOOD = """\
category: multi_turn_base
entries:
  - id: multi_turn_base_0
    domains:
      file_system: {root: {attic: {type: directory, contents: {}}}}
      math:
    turns:
      - user: Make a box.
        calls: ["mkdir(dir_name='box')"]
      - user: Give it another name.
        calls: []
      - user: Chest. And what is 2 and 3?
        calls:
          - mv('box', destination='chest')
          - "add(a=2, b=3)"
    withhold: {turn: 2, functions: [mv, cp]}
  - id: multi_turn_base_1
    domains: {tickets: {current_user: ida, ticket_queue: []}}
    turns:
      - user: Which tickets are mine?
        calls: [get_user_tickets()]
"""


def _write_file(folder: Path, old: str = "", new: str = "") -> Path:
    """Write GOOD, in which ``old`` (there exactly once) is replaced."""
    assert not old or GOOD.count(old) == 1
    path = folder / "entries.yaml"
    path.write_text(GOOD.replace(old, new) if old else GOOD, encoding="utf-8")
    return path


def make_user_message(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


ATTIC = {"root": {"attic": {"type": "directory", "contents": {}}}}
FIRST = Entry(
    suite="mine",
    id="multi_turn_base_0",
    category=CATEGORIES["multi_turn_base"],
    turns=(
        make_user_message("Make a box."),
        make_user_message("Give it another name."),
        make_user_message("Chest. And what is 2 and 3?"),
    ),
    functions=(*document_domain(DOMAINS["file_system"]), *document_domain(DOMAINS["math"])),
    expectation=Trajectory(
        (("mkdir(dir_name='box')",), (), ("mv('box', destination='chest')", "add(a=2, b=3)")),
        Withheld(2, ("mv", "cp")),
    ),
    scene=Scene(("file_system", "math"), {"file_system": ATTIC, "math": {}}),
)
SECOND = Entry(
    suite="mine",
    id="multi_turn_base_1",
    category=CATEGORIES["multi_turn_base"],
    turns=(make_user_message("Which tickets are mine?"),),
    functions=document_domain(DOMAINS["tickets"]),
    expectation=Trajectory((("get_user_tickets()",),)),
    scene=Scene(("tickets",), {"tickets": {"current_user": "ida", "ticket_queue": []}}),
)


def test_entries_are_read_whole_and_in_order(tmp_path: Path) -> None:
    assert read_entries(_write_file(tmp_path), "mine") == (FIRST, SECOND)


@each_case(
    "category",
    ["multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context", "multi_turn_composite"],
)
def test_every_category_of_states_is_written_like_this(tmp_path: Path, category: str) -> None:
    entries = read_entries(
        _write_file(tmp_path, "category: multi_turn_base", f"category: {category}"), "mine"
    )
    assert [entry.category.name for entry in entries] == [category] * 2


def test_domains_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    (_, second) = read_entries(
        _write_file(tmp_path, "{tickets: {current", "{math: {}, tickets: {current"), "mine"
    )
    assert second.scene is not None
    assert second.scene.domains == ("math", "tickets")
    assert second.functions == (*document_domain(DOMAINS["math"]), *document_domain(DOMAINS["tickets"]))


BROKEN: Mapping[str, tuple[str, str, str]] = {
    # id: (what is replaced, by what, "line: field: rule", the rule as a pattern)
    "unknown category": (
        "category: multi_turn_base",
        "category: multi_turn_bse",
        r"1: category: unknown category 'multi_turn_bse'\. Did you mean 'multi_turn_base'",
    ),
    "probes of an MCP server": (
        "category: multi_turn_base",
        "category: multi_turn_base\nprobes: []",
        r"2: probes: unknown key 'probes'\. .*Valid: category, entries, functions\.",
    ),
    "no entries": ("entries:", "entry:", r"2: entry: unknown key 'entry'\. Did you mean 'entries'\?"),
    "no id": ("  - id: multi_turn_base_1\n    domains:", "  - domains:", r"17: entries\.1: has no 'id'"),
    "id is a number": (
        "id: multi_turn_base_1",
        "id: 1",
        r"17: entries\.1\.id: must be text, not int 1; .*quotes",
    ),
    "unknown key": (
        "withhold:",
        "withold:",
        r"16: entries\.0\.withold: unknown key 'withold'\. Did you mean 'withhold'",
    ),
    "id stands twice": (
        "id: multi_turn_base_1",
        "id: multi_turn_base_0",
        r"17: entries\.1: the id 'multi_turn_base_0' is already used by an entry above",
    ),
    "key stands twice": (
        "      math:\n",
        "      math:\n      math:\n",
        r"\d+: not valid YAML: the key 'math' is used twice",
    ),
    "no domains": (
        "    domains: {tickets: {current_user: ida, ticket_queue: []}}\n",
        "",
        r"17: entries\.1: has no 'domains'",
    ),
    "domains is a list": (
        "{tickets: {current_user: ida, ticket_queue: []}}",
        "[tickets]",
        r"18: entries\.1\.domains: must be a mapping, not list",
    ),
    "domains is empty": (
        "{tickets: {current_user: ida, ticket_queue: []}}",
        "{}",
        r"18: entries\.1\.domains: must have at least one name, not 0",
    ),
    "domains is nothing": (
        "domains: {tickets: {current_user: ida, ticket_queue: []}}",
        "domains:",
        r"18: entries\.1\.domains: must be a mapping, not empty",
    ),
    "two domains with a function of one name": (
        "      math:\n",
        "      math:\n      memory_kv:\n      memory_vector:\n",
        r"8: entries\.0\.domains\.memory_vector: a domain above has a function 'core_memory_add' too",
    ),
    "unknown domain": (
        "      math:\n",
        "      maths:\n",
        r"6: entries\.0\.domains\.maths: unknown domain 'maths'\. Did you mean 'math'\? Valid: file.*ch\.",
    ),
    "state is a text": (
        "      math:\n",
        "      math: empty\n",
        r"6: entries\.0\.domains\.math: must be a mapping, not str 'empty'",
    ),
    "turns is empty": (
        "\n      - user: Which tickets are mine?\n        calls: [get_user_tickets()]",
        " []",
        r"19: entries\.1\.turns: must have at least one element",
    ),
    "turns is a mapping": (
        "\n      - user: Which tickets are mine?\n        calls: [get_user_tickets()]",
        " {user: Hi, calls: []}",
        r"19: entries\.1\.turns: must be a list, not dict",
    ),
    "turn is a text": (
        "- user: Which tickets are mine?\n        calls: [get_user_tickets()]",
        "- Which tickets are mine?",
        r"20: entries\.1\.turns\.0: must be a mapping, not str",
    ),
    "no user": (
        "- user: Which tickets are mine?\n        calls: [get_user_tickets()]",
        "- calls: []",
        r"20: entries\.1\.turns\.0: has no 'user'",
    ),
    "user is empty": (
        "user: Make a box.",
        "user:",
        r"8: entries\.0\.turns\.0\.user: must be text, not empty",
    ),
    "unknown key of a turn": (
        "user: Make a box.",
        "usr: Make a box.",
        r"8: entries\.0\.turns\.0\.usr: unknown key 'usr'\. Did you mean 'user'\? Valid: user, calls\.",
    ),
    "no calls": ("        calls: []\n", "", r"10: entries\.0\.turns\.1: has no 'calls'"),
    "calls is a text": (
        "calls: [get_user_tickets()]",
        "calls: get_user_tickets()",
        r"21: entries\.1\.turns\.0\.calls: must be a list, not str",
    ),
    "call is a mapping": (
        '- "add(a=2, b=3)"',
        "- add: {a: 2, b: 3}",
        r"15: entries\.0\.turns\.2\.calls\.1: must be text, not dict",
    ),
    "call is a name": (
        '- "add(a=2, b=3)"',
        "- add",
        r"15: entries\.0\.turns\.2\.calls\.1: expected a call, found Name",
    ),
    "call is cut": (
        '- "add(a=2, b=3)"',
        '- "add(a=2, b="',
        r"15: entries\.0\.turns\.2\.calls\.1: not Python calls: ",
    ),
    "argument is no value": (
        '- "add(a=2, b=3)"',
        '- "add(a=2, b=x.y)"',
        r"15: entries\.0\.turns\.2\.calls\.1: Attribute is not a value",
    ),
    "two calls in one": (
        '- "add(a=2, b=3)"',
        '- "add(a=2, b=3), add(a=1, b=1)"',
        r"15: entries\.0\.turns\.2\.calls\.1: must be one call, not 2",
    ),
    "call is empty": (
        '- "add(a=2, b=3)"',
        '- ""',
        r"15: entries\.0\.turns\.2\.calls\.1: must be one call, not 0",
    ),
    "unknown function": (
        "mkdir(dir_name='box')",
        "mkdr(dir_name='box')",
        r"9: entries\.0\.turns\.0\.calls\.0: unknown function 'mkdr'\. Did you mean 'mkdir'",
    ),
    "function of another domain": (
        "calls: [get_user_tickets()]",
        "calls: [ls()]",
        r"21: entries\.1\.turns\.0\.calls\.0: unknown function 'ls'\. .*Valid: create_ticket, ",
    ),
    "method": (
        "mkdir(dir_name='box')",
        "disk.mkdir(dir_name='box')",
        r"9: entries\.0\.turns\.0\.calls\.0: unknown function 'disk\.mkdir'",
    ),
    "unknown parameter": (
        "mkdir(dir_name='box')",
        "mkdir(dirname='box')",
        r"9: entries\.0\.turns\.0\.calls\.0: unknown parameter 'dirname'\. Did you mean 'dir_name'\?",
    ),
    "parameters as a dict": (
        "mkdir(dir_name='box')",
        "mkdir(**{'dirname': 'box'})",
        r"9: entries\.0\.turns\.0\.calls\.0: unknown parameter 'dirname'",
    ),
    "withhold is a list": (
        "{turn: 2, functions: [mv, cp]}",
        "[mv]",
        r"16: entries\.0\.withhold: must be a mapping, not list",
    ),
    "withhold without a turn": (
        "{turn: 2, functions: [mv, cp]}",
        "{functions: [mv]}",
        r"16: entries\.0\.withhold: has no 'turn'",
    ),
    "withhold without functions": (
        "{turn: 2, functions: [mv, cp]}",
        "{turn: 2}",
        r"16: entries\.0\.withhold: has no 'functions'",
    ),
    "withhold no function": (
        "functions: [mv, cp]",
        "functions: []",
        r"16: entries\.0\.withhold\.functions: must have at least one element",
    ),
    "withhold in a turn too late": (
        "turn: 2",
        "turn: 3",
        r"16: entries\.0\.withhold\.turn: must be the index of a turn, from 0 to 2",
    ),
    "withhold in a turn before all": (
        "turn: 2",
        "turn: -1",
        r"16: entries\.0\.withhold\.turn: must be the index",
    ),
    "withhold in no turn": (
        "turn: 2",
        "turn: last",
        r"16: entries\.0\.withhold\.turn: must be the index of a turn",
    ),
    "withhold a text": (
        "functions: [mv, cp]",
        "functions: mv",
        r"16: entries\.0\.withhold\.functions: must be a list, not str",
    ),
    "withhold a number": (
        "functions: [mv, cp]",
        "functions: [5]",
        r"16: entries\.0\.withhold\.functions\.0: must be text, not int",
    ),
    "withhold an unknown function": (
        "functions: [mv, cp]",
        "functions: [mv, copy]",
        r"16: entries\.0\.withhold\.functions: unknown function 'copy'",
    ),
    "withhold a function of another domain": (
        "functions: [mv, cp]",
        "functions: [logout]",
        r"16: entries\.0\.withhold\.functions: unknown function 'logout'",
    ),
}


@each_case(("old", "new", "message"), BROKEN.values(), ids=BROKEN)
def test_errors_name_file_line_field_and_rule(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = _write_file(tmp_path, old, new)
    with pytest.raises(SuiteError, match=f"^{re.escape(str(path))}:{message}"):
        read_entries(path, "mine")


WORLD = World(defaults={"tickets": {"ticket_queue": [], "ticket_counter": 1, "current_user": None}})

MISTAKES: Mapping[str, tuple[str, str, str]] = {
    # what: (text of the good file, text in its place, place that the error names)
    "state is 0": ("      math:\n", "      math: 0\n", "6: entries.0.domains.math"),
    "state is a list": ("      math:\n", "      math: []\n", "6: entries.0.domains.math"),
    "turn is true": ("turn: 2", "turn: true", "16: entries.0.withhold.turn"),
    "withheld is not what the turn calls": (
        "turn: 2, functions: [mv, cp]",
        "turn: 0, functions: [mv, cp]",
        "16: entries.0.withhold",
    ),
    "a state that does not open": (
        "{root: {attic: {type: directory, contents: {}}}}",
        "{root: {}}",
        "4: entries.0.domains",
    ),
}


@each_case(("old", "new", "place"), MISTAKES.values(), ids=MISTAKES)
def test_what_could_not_be_used_is_told_when_it_is_read(
    tmp_path: Path, old: str, new: str, place: str
) -> None:
    read_entries(_write_file(tmp_path), "mine", WORLD)
    path = _write_file(tmp_path, old, new)
    with pytest.raises(SuiteError, match=f"^{re.escape(f'{path}:{place}')}: "):
        read_entries(path, "mine", WORLD)


ADD = {"properties": {"a": {"anyOf": [{"type": "number"}, {"const": "pi"}]}, "b": {"type": "number"}}}


def test_a_tool_of_the_file_is_shown_in_place_of_the_doc_of_the_code(tmp_path: Path) -> None:
    tools = f"functions: [{{name: add, inputSchema: {json.dumps(ADD)}}}]\nentries:"
    entry, other = read_entries(_write_file(tmp_path, "entries:", tools), "mine")
    assert [doc.shown_schema for doc in entry.functions if doc.name == "add"] == [ADD]
    (made,) = (doc for doc in document_domain(DOMAINS["math"]) if doc.name == "mean")
    assert entry.find_function("mean") == made
    assert other.find_function("add") is None


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("{name: ad, inputSchema: {}}", "functions.0: unknown function 'ad'. Did you mean 'add'"),
        (
            "{name: add, inputSchema: {properties: {aa: {}}}}",
            "functions.0: unknown parameter 'aa'. Did you mean 'a'",
        ),
    ],
)
def test_a_tool_of_the_file_must_fit_the_code(tmp_path: Path, tool: str, says: str) -> None:
    path = _write_file(tmp_path, "entries:", f"functions: [{tool}]\nentries:")
    with pytest.raises(SuiteError, match=re.escape(says)):
        read_entries(path, "mine")
