"""``pytest PATH``: a file or a folder of entries is a suite."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Mapping

import pytest

from tests.plugin.conftest import Project

PRICES = """\
category: {category}
functions:
  - name: shop.price
    description: What an item of the shop costs.
    parameters: {{type: dict, properties: {{item: {{type: string, description: Name.}}}}, required: [item]}}
entries:
  - id: {category}_0
    query: What does salt cost?
    functions: [shop.price]
    expect: [{{shop.price: {{item: [salt]}}}}]
  - id: {category}_1
    query: What does tea cost?
    functions: [shop.price]
    expect: [{{shop.price: {{item: [tea]}}}}]
"""
TURNS = """\
category: multi_turn_base
entries:
  - id: multi_turn_base_0
    domains: {{"{module}:Shop": {{stock: {{tea: 4}}}}}}
    turns: [{{user: Sell three packs of tea., calls: ["sell(item='tea', count=3)"]}}]
"""
SHOP = '''
class Shop:
    """A small shop."""
    def __init__(self, stock):
        self.stock = stock
    def sell(self, item: str, count: int) -> dict:
        """Sell something.

        Args:
            item: Name of the item.
            count: How many.
        """
        self.stock[item] -= count
        return {"left": self.stock[item]}

def weight(boxes: int) -> float:
    """What boxes weigh.

    Args:
        boxes: How many.
    """
    return 2.5 * boxes
'''
CARRIED_OUT = """\
category: exec_simple
entries:
  - id: exec_simple_0
    query: What do two boxes weigh?
    functions: ["{module}:weight"]
    expect: ["{module}.weight(boxes=2)"]
"""
HELLO = json.dumps({"category": "chatable", "id": "chatable_0", "query": "Hello!"})
MODULE = "shop_of_pointed_tests"


@pytest.fixture
def suite(project: Project) -> Project:
    """Write a folder of entries into a project."""
    project.write("mine/prices.yaml", PRICES.format(category="simple_python"))
    project.write("mine/deeper/turns.yaml", TURNS.format(module=MODULE))
    project.write(f"mine/deeper/{MODULE}.py", SHOP)
    project.write("mine/deeper/carried.yaml", CARRIED_OUT.format(module=MODULE))
    project.write("mine/more.jsonl", HELLO)
    return project


ALL = {
    "mine:simple_python_0",
    "mine:simple_python_1",
    "mine:multi_turn_base_0",
    "mine:multi_turn_long_context_0",
    "mine:chatable_0",
    "mine:exec_simple_0",
}


@pytest.mark.few(1)
@pytest.mark.parametrize("how", [(), ("-n0",), ("-n2",)])
def test_a_folder_is_run_without_a_test_module(suite: Project, how: tuple[str, ...]) -> None:
    result = suite.run_apart("mine", *how)
    # This process has imported the package before pytest, which warns of what it can no longer rewrite.
    result.assert_outcomes(passed=6, warnings=0)
    assert set(suite.records()) == ALL
    result.stdout.re_match_lines(
        [
            r"suite mine version [0-9a-f]{12}",
            r"mine +6 +0 +100\.00%.*",
            r"overall +6 +0 +100\.00%.*",
        ]
    )


def test_entries_hang_off_their_files(suite: Project) -> None:
    result = suite.run("mine", "--collect-only", "-q", "--fcbench-category=multi_turn")
    result.stdout.fnmatch_lines_random(
        [
            "mine/deeper/turns.yaml::entry[[]mine:multi_turn_base_0]",
            "mine/deeper/turns.yaml::entry[[]mine:multi_turn_long_context_0]",
        ]
    )
    assert "simple_python" not in result.stdout.str()


def test_a_copied_node_id_is_the_same_entry(suite: Project) -> None:
    one = suite.run("mine/deeper/turns.yaml::entry[mine:multi_turn_base_0]")
    one.assert_outcomes(passed=1)
    assert set(suite.records()) == {"mine:multi_turn_base_0"}


def test_a_file_is_a_suite_of_its_own(suite: Project) -> None:
    suite.run("mine/prices.yaml").assert_outcomes(passed=2)
    assert set(suite.records()) == {"prices:simple_python_0", "prices:simple_python_1"}


def test_a_path_may_lead_up_and_down(suite: Project) -> None:
    suite.write("fcbench.yaml", "model: oracle\nsuites: {shop: deeper/../mine}\n")
    suite.write("deeper/notes.txt", "")
    suite.run("deeper/../mine", "-k", "chatable").assert_outcomes(passed=1)
    assert set(suite.records()) == {"shop:chatable_0"}


def test_the_name_in_the_configuration_wins(suite: Project) -> None:
    suite.write("fcbench.yaml", "model: oracle\nsuites: {shop: mine}\n")
    suite.run("mine/prices.yaml").assert_outcomes(passed=2)
    assert set(suite.records()) == {"shop:simple_python_0", "shop:simple_python_1"}
    suite.run("benchmarks", "--fcbench-suite=shop").assert_outcomes(passed=6)
    assert set(suite.records()) == {entry.replace("mine:", "shop:") for entry in ALL}


def test_what_fails_can_be_run_again(suite: Project) -> None:
    wrong = suite.pytester.runpytest_inprocess(
        "mine", "--fcbench-model=lexical", "-k", "simple_python or chat"
    )
    wrong.assert_outcomes(failed=2, passed=1)
    again = suite.pytester.runpytest_inprocess("mine", "--fcbench-model=lexical", "--lf")
    again.assert_outcomes(failed=2)
    again.stdout.fnmatch_lines(["*mine:simple_python_0 *", "*2 failed*"])


def test_the_gate_knows_the_suite(suite: Project) -> None:
    held = suite.run("mine", "--fcbench-gate=mine>=0.9", "--fcbench-gate=overall>=0.9")
    assert held.ret == 0
    missed = suite.run("mine", "--fcbench-model=lexical", "--fcbench-gate=overall>=0.9")
    assert missed.ret == 1
    missed.stdout.fnmatch_lines(["*overall*"])


def test_trials_and_marks_work_as_for_ours(suite: Project) -> None:
    some = suite.run("mine", "--fcbench-trials=2", "-m", "simple_python and mine")
    some.assert_outcomes(passed=4, deselected=8)
    records = suite.records()
    assert [record["marks"] for record in records.values()] == [[], []], "the suite is no mark of the user"


def test_benchmarks_beside_it_do_not_run_it_twice(suite: Project) -> None:
    suite.run("mine", "benchmarks").assert_outcomes(passed=6)


def test_other_folders_are_as_ever(suite: Project) -> None:
    suite.write("tests/test_one.py", "def test_one(): pass\n")
    suite.write("tests/data.yaml", "category: vegetables\nentries: [leek]\n")
    result = suite.run("tests")
    result.assert_outcomes(passed=1)
    assert "function-calling benchmark" not in result.stdout.str()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "core.yaml",
            PRICES.format(category="multiple"),
            "*'core' cannot name a suite; use one word * or other suite: rename it, or give it a name*",
        ),
        (
            "x.yaml",
            PRICES.format(category="mutiple"),
            "*x.yaml:1: category: unknown category 'mutiple'. Did you mean 'multiple'*",
        ),
        (
            "x.yaml",
            PRICES.format(category="multiple").replace("[tea]", "[7]"),
            "*x.yaml:14: entries.1.expect*",
        ),
        ("x.jsonl", HELLO.replace("query", "quary"), "*x.jsonl:1: *unknown key 'quary'*"),
    ],
)
@pytest.mark.parametrize("how", ["-n0", pytest.param("-n2", marks=pytest.mark.nightly)])
def test_what_is_wrong_stops_the_run(project: Project, name: str, text: str, told: str, how: str) -> None:
    project.write(name, text)
    result = project.run(name, how)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "text", "lacks"),
    [
        ("mine.yaml", "entries: [{id: a}]\n", "no 'category'"),
        ("mine.yaml", "- {id: a, category: chatable}\n", "no 'category' and no 'entries'"),
        ("mine.jsonl", '{"id": "a", "query": "Hello"}\n', "no 'category'"),
    ],
)
def test_a_named_file_that_is_no_suite_is_told_what_it_lacks(
    project: Project, name: str, text: str, lacks: str
) -> None:
    (project.path / "fcbench.yaml").unlink()
    place = project.write(name, text)
    (line,) = (each for each in project.run(name).errlines if "is not a suite" in each)
    start, _, least = line.partition("at least ")
    assert start.startswith(f"ERROR: {place} has {lacks}, so it is not a suite; ")
    least_lines = re.findall(r"'(.+?)'", least) or [least.removesuffix(" (fcbench help own-suites)")]
    project.write(name, "\n".join(least_lines))
    project.run(name, "--fcbench-model=oracle").assert_outcomes(passed=1)


def test_a_wrong_answer_is_told_without_lines_of_ours(suite: Project) -> None:
    suite.write("wrong.yaml", "answers: {}\ndefault: I cannot say.\n")
    suite.run("mine/prices.yaml", "--fcbench-model=scripted:wrong.yaml", "--tb=short")
    tests = suite.scorecard()["tests"]
    assert isinstance(tests, list)
    reasons = {test["call"]["longrepr"].partition("\n")[0] for test in tests}
    (reason,) = reasons
    assert reason.endswith("no_call: the answer calls nothing: 'I cannot say.'")


NEXT = """\
category: next_{kind}
functions:
  - name: shop.price
    description: What an item of the shop costs.
    parameters: {{type: dict, properties: {{item: {{type: string, description: Name.}}}}, required: [item]}}
entries:
  - id: next_{kind}_0
    messages:
      - {{role: user, content: What does salt cost?}}
      - {{role: assistant, calls: ["shop.price(item='salt')"]}}
      - {{role: tool, content: "2 euros"}}
      - {{role: assistant, content: Two euros.}}
      - {{role: user, content: "{said}"}}
    functions: [shop.price]
"""


def _did_pass(record: Mapping[str, object]) -> bool:
    verdicts = record["verdicts"]
    return isinstance(verdicts, dict) and verdicts["corrected"]["status"] == "passed"


@pytest.mark.few(2)
@pytest.mark.parametrize("mode", ["fc", "prompt"])
@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("[{shop.price: {item: tea}}]", ["mine:next_call_0"]),
        ("Thank you.", ["mine:next_reply_0"]),
        ("[{shop.price: {item: salt}}]", []),
    ],
)
def test_the_next_step_of_a_conversation_is_judged(
    project: Project, mode: str, answer: str, passed: list[str]
) -> None:
    call = NEXT.format(kind="call", said="And tea?") + "    expect: [\"shop.price(item='tea')\"]\n"
    project.write("mine/call.yaml", call)
    project.write("mine/reply.yaml", NEXT.format(kind="reply", said="Thanks!"))
    project.write("answers.yaml", f"default: {answer}\nanswers: {{}}\n")
    project.run("mine", "--fcbench-model=scripted:answers.yaml", f"--fcbench-mode={mode}", "-n", "0")
    records = project.records()
    assert set(records) == {"mine:next_call_0", "mine:next_reply_0"}
    assert [key for key, record in records.items() if _did_pass(record)] == passed


def test_entries_share_their_marks(project: Project) -> None:
    project.write("shop.yaml", PRICES.format(category="multiple"))
    items, _ = project.pytester.inline_genitems("shop.yaml")
    one, other = (item.own_markers for item in items)
    assert [mark.name for mark in one][:2] == ["shop", "multiple"]
    assert all(map(operator.is_, one, other))
