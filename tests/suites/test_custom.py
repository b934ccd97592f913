"""A team's own suite: files and folders, YAML and JSON lines, its own classes."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Shard
from pytest_fcbench.domain.errors import SuiteError, UsageError
from pytest_fcbench.environments import execution as environments
from pytest_fcbench.execution.outcomes import Raised, Returned
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.execution.verdict import ExpectedResults
from pytest_fcbench.suites.custom import (
    EntryLines,
    LinePlace,
    find_entry_files,
    is_suite,
    iterate_lines,
    open_own,
)
from pytest_fcbench.suites.registry import open_suite

SIMPLE = """\
category: simple_python
functions:
  - name: shop.price
    description: Price.
    parameters: {type: dict, properties: {item: {type: string, description: Name.}}, required: [item]}
entries:
  - id: simple_python_0
    query: What does salt cost?
    functions: [shop.price]
    expect: [{shop.price: {item: [salt]}}]
"""
TURNS = """\
category: multi_turn_base
entries:
  - id: multi_turn_base_0
    domains:
      own_shop_of_a_test:Shop: {stock: {tea: 4}}
    turns:
      - {user: Sell three packs of tea., calls: ["sell(item='tea', count=3)"]}
    withhold: {turn: 0, functions: [sell]}
"""
SHOP = '''
class Shop:
    """A small shop."""
    def __init__(self, stock):
        self.stock = stock
    def sell(self, item: str, count: int = 1):
        """Sell something.

        Args:
            item: Name of the item.
        """
        self.stock[item] -= count
        return {"left": self.stock[item]}

NOT_A_CLASS = 3

class Odd:
    """Not to be compared."""
    def __init__(self):
        self.me = object()
    def sell(self, item: str, count: int = 1):
        """Sell."""

def weight(boxes: int) -> float:
    """What boxes weigh, in kilograms."""
    return 2.5 * boxes

def read(path: str) -> str:
    """What stands in a file."""
    with open(path) as opened:
        return opened.read()
'''
CARRIED_OUT = """\
category: exec_parallel
entries:
  - id: exec_parallel_0
    query: What do two and three boxes weigh?
    functions: ["own_shop_of_a_test:weight", "own_shop_of_a_test:read"]
    expect: [own_shop_of_a_test.weight(boxes=2), own_shop_of_a_test.weight(3)]
"""
ASKED = """\
category: web_search
entries:
  - id: web_search_0
    query: What is the tallest pole?
    answers: ["North"]
"""
SAID = """\
category: memory
entries:
  - id: memory_home
    persona: You are attentive.
    conversations: [[I live in Bergen.]]
    questions: [{query: Where do I live?, answers: [Bergen], said: [live in Bergen]}]
"""
PRICE: dict[str, Any] = {
    "name": "shop.price",
    "description": "Price.",
    "parameters": {
        "type": "dict",
        "properties": {"item": {"type": "string", "description": "Name."}},
        "required": ["item"],
    },
}
LINES: list[dict[str, object]] = [
    {
        "category": "simple_python",
        "id": "simple_python_1",
        "query": "And tea?",
        "functions": [PRICE],
        "expect": [{"shop.price": {"item": ["tea"]}}],
    },
    {"category": "chatable", "id": "chatable_0", "query": "Hello!"},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_shop_of_a_test", raising=False)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "simple.yaml").write_text(SIMPLE)
    (tmp_path / "turns.yml").write_text(TURNS)
    (tmp_path / "own_shop_of_a_test.py").write_text(SHOP)
    (tmp_path / "deeper" / "more.jsonl").write_text("\n".join(map(json.dumps, LINES)) + "\n\n")
    (tmp_path / "notes.yaml").write_text("author: none\n")
    return tmp_path


def test_a_folder_is_a_suite(folder: Path) -> None:
    suite = open_suite("mine", folder, {"mine": folder})

    assert suite.version == (suite.pack_sha256 or "")[:12]
    assert [category.name for category in suite.categories] == [
        *("simple_python", "multi_turn_base", "multi_turn_miss_func", "multi_turn_long_context", "chatable")
    ]
    assert [entry.key for category in suite.categories for entry in suite.load(category)] == [
        "mine:simple_python_1",
        "mine:simple_python_0",
        "mine:multi_turn_base_0",
        "mine:multi_turn_miss_func_0",
        "mine:multi_turn_long_context_0",
        "mine:chatable_0",
    ]


def test_a_class_of_the_team_is_an_environment(folder: Path) -> None:
    suite = open_own("mine", folder)
    (entry,) = suite.load(CATEGORIES["multi_turn_base"])

    (sell,) = entry.functions
    assert sell.description == "A small shop. Sell something."
    assert sell.properties["item"] == {"type": "string", "description": "Name of the item."}
    here = environments.open_environments(entry, suite.world)
    assert here.perform_calls(["sell(item='tea', count=3)"]) == ('{"left": 1}',)
    (missed,) = suite.load(CATEGORIES["multi_turn_miss_func"])
    assert environments.open_environments(missed, suite.world).copy_state() == {
        "own_shop_of_a_test:Shop": {"stock": {"tea": 4}}
    }


def _read_own(entry: Entry) -> tuple[str, ...]:
    assert isinstance(entry.expectation, ExpectedResults)
    return entry.expectation.own


def test_a_function_of_the_team_is_carried_out_where_it_can_open_nothing(folder: Path) -> None:
    (folder / "carried.yaml").write_text(CARRIED_OUT)
    (entry,) = open_own("mine", folder / "carried.yaml").load(CATEGORIES["exec_parallel"])
    assert [doc.name for doc in entry.functions] == ["own_shop_of_a_test.weight", "own_shop_of_a_test.read"]
    assert _read_own(entry) == ("own_shop_of_a_test.weight", "own_shop_of_a_test.read")
    assert entry.functions[0].properties["boxes"]["type"] == "integer"

    file = folder / "simple.yaml"
    with closing(Pool(1)) as execute:
        weighed, wrong, opened = execute(
            [
                "own_shop_of_a_test.weight(boxes=2)",
                "own_shop_of_a_test.weight(crates=2)",
                f"own_shop_of_a_test.read(path={str(file)!r})",
            ],
            own=_read_own(entry),
        )
    assert weighed == Returned(5.0)
    assert isinstance(wrong, Raised)
    assert isinstance(opened, Raised)
    assert "PermissionError" in str(opened), "it could be read here"


def test_functions_that_are_named_later_are_known_too(folder: Path) -> None:
    call = ["own_shop_of_a_test.weight(boxes=2)"]
    with closing(Pool(1)) as execute:
        assert isinstance(execute(call)[0], Raised)
        (folder / "carried.yaml").write_text(CARRIED_OUT)
        (entry,) = open_own("mine", folder / "carried.yaml").load(CATEGORIES["exec_parallel"])
        assert execute(call, own=_read_own(entry)) == (Returned(5.0),)
        assert execute(call) == (Returned(5.0),), "a child is replaced only to learn more"


def test_a_module_that_cannot_be_loaded_again_is_told(folder: Path) -> None:
    (folder / "carried.yaml").write_text(CARRIED_OUT)
    (entry,) = open_own("mine", folder / "carried.yaml").load(CATEGORIES["exec_parallel"])
    (folder / "own_shop_of_a_test.py").write_text("raise ValueError('not twice')")
    with closing(Pool(1)) as execute, pytest.raises(RuntimeError, match="ValueError: not twice"):
        execute(["own_shop_of_a_test.weight(boxes=2)"], own=_read_own(entry))


def test_two_modules_of_one_name_are_told(folder: Path) -> None:
    open_own("mine", folder / "turns.yml").load(CATEGORIES["multi_turn_base"])
    other = folder / "other"
    other.mkdir()
    (other / "own_shop_of_a_test.py").write_text(SHOP)
    (other / "carried.yaml").write_text(CARRIED_OUT)
    (other / "turns.yaml").write_text(TURNS)
    for category in ("exec_parallel", "multi_turn_base"):
        with pytest.raises(
            SuiteError, match=r"a module own_shop_of_a_test is already imported from .*; rename one"
        ):
            open_own("other", other).load(CATEGORIES[category])


def test_questions_about_memories_and_the_web_are_written_once(folder: Path) -> None:
    (folder / "said.yaml").write_text(SAID)
    (folder / "asked.yaml").write_text(ASKED)
    suite = open_own("mine", folder)
    for kind in ("memory_kv", "memory_vector", "memory_rec_sum"):
        (question,) = suite.load(CATEGORIES[kind])
        assert question.key == f"mine:{kind}_home_0"
        assert [earlier.id for earlier in question.earlier] == [f"{kind}_home_before_0"]
    (base,), (plain,) = (suite.load(CATEGORIES[f"web_search_{kind}"]) for kind in ("base", "no_snippet"))
    assert (base.key, plain.key) == ("mine:web_search_base_0", "mine:web_search_no_snippet_0")
    assert suite.web is None
    (folder / "web").mkdir()
    assert open_own("mine", folder).web == folder / "web"


def test_a_mark_of_the_order_of_bytes_is_passed_over(folder: Path) -> None:
    file = folder / "deeper" / "more.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert CATEGORIES["chatable"] in open_own("mine", folder).categories


def test_each_entry_knows_its_file(folder: Path) -> None:
    suite = open_own("mine", folder)
    assert suite.file_of is not None
    files = [suite.file_of(entry).name for category in suite.categories for entry in suite.load(category)]
    assert files == ["more.jsonl", "simple.yaml", "turns.yml", "turns.yml", "turns.yml", "more.jsonl"]


def test_one_file_is_a_suite_too(folder: Path) -> None:
    assert len(open_own("mine", folder / "simple.yaml").categories) == 1


def test_what_is_a_suite_at_a_glance(folder: Path) -> None:
    assert is_suite(folder)
    assert is_suite(folder / "deeper")
    assert not is_suite(folder / "notes.yaml")
    # As fcbench run export jsonl writes them.
    (folder / "rows.jsonl").write_text('{"run": "a", "entry": "mine:x", "category": "chatable"}\n')
    assert [path.name for path in find_entry_files(folder)] == ["more.jsonl", "simple.yaml", "turns.yml"]
    configured = folder / "configured"
    configured.mkdir()
    (configured / "fcbench.yaml").write_text("category: chatable\n")
    (configured / "other.yaml").write_text("category: vegetables\nentries: []\n")
    assert not is_suite(configured)
    (configured / "quoted.yaml").write_text("category: 'chatable'\nentries: []\n")
    assert is_suite(configured)
    assert is_suite(configured / "other.yaml"), "who names a file wants to hear what is wrong with it"


def test_its_hash_follows_what_is_written(folder: Path) -> None:
    before = open_own("mine", folder).pack_sha256
    assert open_own("mine", folder).pack_sha256 == before
    (folder / "simple.yaml").write_text(SIMPLE.replace("salt cost", "salt really cost"))
    entries = open_own("mine", folder).pack_sha256
    assert entries != before
    module = folder / "own_shop_of_a_test.py"
    module.write_text(module.read_text().replace("2.5", "2.6"))
    assert open_own("mine", folder).pack_sha256 != entries


@pytest.mark.parametrize("place", [".venv/lib", "venv", "node_modules/x", "__pycache__", "a/.git"])
def test_what_other_programs_keep_there_is_no_part_of_it(folder: Path, place: str) -> None:
    before = open_own("mine", folder).pack_sha256
    (folder / place).mkdir(parents=True)
    (folder / place / "entries.yaml").write_text(SIMPLE)
    assert open_own("mine", folder).pack_sha256 == before


def test_what_is_made_of_an_entry_has_an_id_of_its_own(folder: Path) -> None:
    """Also where the id does not name the category; a Record is found by the id alone."""
    (folder / "x.yaml").write_text(TURNS.replace("id: multi_turn_base_0", "id: sale"))
    suite = open_own("mine", folder)
    ids = [entry.id for category in suite.categories for entry in suite.load(category)]
    assert {"sale", "multi_turn_long_context_sale", "multi_turn_miss_func_sale"} <= {*ids}
    assert len({*ids}) == len(ids)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("x.jsonl", '{"category": "chatable", "id": 3}\n{', r"x\.jsonl:2: not valid JSON"),
        (
            "x.jsonl",
            '\n{"category": "chatable", "id": "c", "quer": "x"}\n',
            r"x\.jsonl:2: .*unknown key 'quer'",
        ),
        (
            "x.jsonl",
            '{"category": "chattable", "id": "c"}\n',
            r"x\.jsonl:1: category: unknown category 'chattable'",
        ),
        ("x.jsonl", '["category"]\n{"category": "chatable"}\n', r"x\.jsonl:1: must be an object"),
        ("x.yaml", SIMPLE, "the id 'simple_python_0' is already used by an entry in another file or line"),
        ("x.yaml", TURNS.replace(":Shop", ":Shpo"), "Did you mean 'Shop'"),
        ("x.yaml", TURNS.replace(":Shop", ":NOT_A_CLASS"), "own_shop_of_a_test:NOT_A_CLASS is not a class"),
        (
            "x.yaml",
            TURNS.replace("own_shop_of_a_test", "no_such_module"),
            "no_such_module cannot be imported",
        ),
        ("x.yaml", TURNS.replace("stock:", "stok:"), "cannot be opened: TypeError"),
        ("x.yaml", CARRIED_OUT.replace(":weight", ":wieght"), "Did you mean 'weight'"),
        ("x.yaml", CARRIED_OUT.replace(":weight", ":Shop"), "own_shop_of_a_test:Shop is not a function"),
        ("x.yaml", "entries: []\n", r"x\.yaml:1: file: has no 'category'"),
        ("x.yaml", "category: chatable\nentires: []\n", "unknown key 'entires'"),
        (
            "x.yaml",
            "category: memory_kv\nentries: []\n",
            "unknown category 'memory_kv'. Did you mean 'memory'",
        ),
        ("x.jsonl", '{"category": "chatable", "id": "", "query": "x"}', "the id '' must not be empty"),
        (
            "x.jsonl",
            '{"category": "chatable", "id": "a]", "query": "x"}',
            "must not be empty or contain brackets, line breaks or surrogates",
        ),
        (
            "x.jsonl",
            '{"category": "chatable", "id": "a+errors=1", "query": "x"}',
            r"the id 'a\+errors=1' ends as one under pressure; leave '\+errors=1' out",
        ),
        (
            "x.jsonl",
            r'{"category": "chatable", "id": "a\ud800", "query": "x"}',
            "contain brackets, line breaks or surrogates",
        ),
        (
            "x.jsonl",
            '{"category": "chatable", "id": "simple_python_0", "query": "x"}',
            "is already used by an entry of",
        ),
        (
            "x.jsonl",
            '{"category": "chatable", "id": ' + "[" * 100_000,
            r"x\.jsonl:1: not valid JSON: nested more than 300 deep",
        ),
        (
            "x.yaml",
            TURNS.replace(":Shop: {stock: {tea: 4}}", ":Odd: {}"),
            "Odd.me differs between conversations",
        ),
        ("x.yaml", TURNS.replace("sell(item", "buy(item"), "unknown function 'buy'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(folder: Path, name: str, text: str, rule: str) -> None:
    (folder / name).write_text(text)

    def load_all() -> None:
        suite = open_own("mine", folder)
        for category in suite.categories:
            suite.load(category)

    with pytest.raises(SuiteError, match=rule):
        load_all()


def _write_lines(folder: Path, *more: Mapping[str, object]) -> Path:
    lines = [
        {**LINES[0], "id": f"simple_python_{n}", **({"cluster": "simple_python_0"} if n == 5 else {})}
        for n in range(40)
    ]
    path = folder / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, [*lines, *more])))
    return path


def test_a_shard_makes_only_its_own_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But tells the same of them as a run of the whole: others may name a cluster after one."""
    category = CATEGORIES["simple_python"]
    suite = open_own("mine", _write_lines(tmp_path))
    whole = suite.load(category)
    made: list[str] = []

    make = entry_files.make_entries

    def make_and_note(part: Field, *more: Any) -> tuple[Entry, ...]:
        entries = make(part, *more)
        made.extend(entry.id for entry in entries)
        return entries

    monkeypatch.setattr(entry_files, "make_entries", make_and_note)
    for number in (1, 2, 3):
        shard = Shard(number, 3)
        fresh = open_own("mine", tmp_path / "lines.jsonl")
        assert fresh.load_shard
        assert fresh.load_shard(category, shard) == tuple(filter(shard.holds, whole))
        assert made == [entry.id for entry in whole if shard.holds(entry)]
        made.clear()
    assert [entry.cluster for entry in whole[:6]] == ["simple_python_0", *[None] * 4, "simple_python_0"]


def test_a_shard_of_entries_that_follow_from_others_is_taken_from_the_whole(folder: Path) -> None:
    (folder / "said.yaml").write_text(SAID)
    suite = open_own("mine", folder)
    assert suite.load_shard
    for category in suite.categories:
        parts = [suite.load_shard(category, Shard(number, 2)) for number in (1, 2)]
        assert sorted(entry.id for part in parts for entry in part) == sorted(
            entry.id for entry in suite.load(category)
        )


def test_entries_are_counted_without_being_made(tmp_path: Path) -> None:
    suite = open_own("mine", _write_lines(tmp_path, {**LINES[0], "id": "x", "expect": "broken"}))
    assert suite.count
    assert suite.count(CATEGORIES["simple_python"]) == 41


def test_entries_that_are_made_of_others_are_counted(folder: Path) -> None:
    suite = open_own("mine", folder)
    assert suite.count
    assert {c.name: suite.count(c) for c in suite.categories} == {
        c.name: len(suite.load(c)) for c in suite.categories
    }


def test_function_docs_that_lines_repeat_are_kept_once(tmp_path: Path) -> None:
    other = {
        **PRICE,
        "parameters": {key: PRICE["parameters"][key] for key in ("type", "required", "properties")},
    }
    suite = open_own("mine", _write_lines(tmp_path, {**LINES[0], "id": "x", "functions": [other]}))
    docs = [entry.functions[0] for entry in suite.load(CATEGORIES["simple_python"])]
    assert len({id(doc) for doc in docs}) == 2
    assert list(docs[-1].parameters) == ["type", "required", "properties"], "models see the order of keys"


def test_a_file_that_was_read_is_not_kept_unless_more_is_made_of_it(folder: Path) -> None:
    def count_rows() -> int:
        values = [row for row in gc.get_objects() if isinstance(row, dict) and "id" in row]
        return sum(isinstance(row.get("query") or row.get("withhold"), str | dict) for row in values)

    gc.collect()
    before = count_rows()
    suite = open_own("mine", folder)
    assert count_rows() - before == len(["simple_python_0", "multi_turn_base_0"])
    suite.load(CATEGORIES["simple_python"])
    suite.load(CATEGORIES["multi_turn_base"])
    assert count_rows() - before == len(["multi_turn_base_0"])


def test_a_place_without_entries_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the suite 'mine': .* has no YAML or JSON Lines file"):
        open_own("mine", tmp_path)
    with pytest.raises(UsageError, match="gone does not exist; correct its path"):
        open_own("mine", tmp_path / "gone")
    with pytest.raises(UsageError, match="must be a folder or a YAML"):
        open_own("mine", Path(__file__))


def test_a_line_is_found_by_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes('\ufeff{"a": "å"}\r\n\n  \n{"b": 1}\r{"c": 2}'.encode())

    assert list(iterate_lines(file)) == [
        (LinePlace(1, 3, 13), {"a": "å"}),
        (LinePlace(4, 20, 9), {"b": 1}),
        (LinePlace(5, 29, 8), {"c": 2}),
    ]


def test_lines_are_read_again_in_the_form_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    values = [{"category": "chatable", "id": f"chatable_{n}", "query": "Hello!"} for n in range(3)]
    file.write_text("\n".join(map(json.dumps, values)))
    lines = EntryLines(file)
    for place, value in list(iterate_lines(file))[1:]:
        lines.add_line(place, {**value, "cluster": "greetings"})

    assert len(lines) == 2
    assert lines.clusters == {"greetings"}
    assert [(part.line, part.value, entry_id) for part, entry_id in lines.read_lines()] == [
        (n + 1, {"category": "chatable", "entries": [{"id": name, "query": "Hello!"}]}, name)
        for n in (1, 2)
        for name in [f"chatable_{n}"]
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [('{"a": 1}\n{', "x.jsonl:2: not valid JSON"), ('{"a": 1}\n\n[]', "x.jsonl:3: must be an object")],
)
def test_a_broken_line_is_told_by_its_number(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(SuiteError, match=rule):
        list(iterate_lines(tmp_path / "x.jsonl"))


def test_all_errors_of_all_lines_are_told_in_reading_order(tmp_path: Path) -> None:
    doc = {"name": "f", "inputSchema": {"properties": {"a": {"type": "string"}}}}
    good = {"id": "s0", "query": "?", "functions": [doc], "expect": [{"f": {"a": "x"}}]}
    lines = [
        {"category": "simple_python", **good},
        {"category": "simple_python", **good, "id": "s1", "query": 3, "more": 1},
        {
            "category": "irrelevance",
            "id": "i1",
            "query": "?",
            "functions": [{"name": "g", "inputSchema": {"type": "x"}}],
        },
        {"category": "simple_python", **good},
        {"category": "simple_python", **good, "id": "s2", "expect": [{"f": {"b": 1}}]},
        {"category": "multiple", **good, "id": "m1", "expect": ["f(a="]},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    suite = open_own("mine", path)
    for category in suite.categories:
        with pytest.raises(SuiteError) as caught:
            suite.load(category)
        told = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
        assert [line.partition(":")[0] for line in told] == ["2", "2", "3", "4", "5", "6"]


def test_lines_that_cannot_be_read_are_told_with_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"category": "chatable", "id": "c", "query": 1}\n{\n{"category": "chatty"}\n{}\n')
    with pytest.raises(SuiteError) as caught:
        open_own("mine", path)
    told = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
    assert [line.partition(":")[0] for line in told] == ["1", "2", "3", "4"]
