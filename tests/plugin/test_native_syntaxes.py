"""Answers whose calls no server has read: raw text in the syntax of the model."""

from __future__ import annotations

import pytest
import yaml

from tests.plugin.conftest import Project

DOC = {
    "name": "shop.price",
    "inputSchema": {
        "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["item"],
    },
}
MODEL = """
OPEN = "<tool_call>shop_price<arg_key>item</arg_key><arg_value>"
def answer(messages, tools):
    said = messages[-1]["content"]
    if messages[-1]["role"] == "tool":
        [call] = messages[-2]["tool_calls"]
        assert call["id"] == messages[-1]["tool_call_id"]
        return "<think>Done?</think>It costs 2."
    if "broken" in said:
        return OPEN
    if "sold" in said:
        return "Nothing is."
    return f"<think>Let me see.</think>I look.{OPEN}7{'' if 'wrong' in said else 8}</arg_value></tool_call>"
"""


@pytest.fixture(autouse=True)
def shop(project: Project) -> None:
    """Write a suite whose first entry is answered right, and a model that writes raw text."""
    simple = [
        {
            "id": f"simple_python_{number}",
            "query": query,
            "functions": ["shop.price"],
            "expect": ["shop.price(item='78')"],
        }
        for number, query in enumerate(("What is 78?", "What is 78? Be wrong.", "A broken one."))
    ]
    irrelevant = [
        {"id": f"irrelevance_{number}", "query": query, "functions": ["shop.price"]}
        for number, query in enumerate(("What is sold?", "A broken one."))
    ]
    project.write("fcbench.yaml", "suites: {shop: shop}\n")
    for category, entries in (("simple_python", simple), ("irrelevance", irrelevant)):
        file = {"category": category, "functions": [DOC], "entries": entries}
        project.write(f"shop/{category}.yaml", yaml.safe_dump(file))
    project.write("model.py", MODEL)


def test_calls_in_raw_text_are_judged_like_tool_calls(project: Project) -> None:
    options = ("--fcbench-model=python:model:answer", "--fcbench-syntax=glm47")
    result = project.run_apart("shop", *options)
    result.stdout.fnmatch_lines(["note: calls are read from the text of answers, in the syntax glm47"])
    verdicts = {key: record["verdicts"] for key, record in project.records().items()}
    passed = {
        profile: sorted(key for key, each in verdicts.items() if each[profile]["status"] == "passed")  # type: ignore[index]
        for profile in ("official", "corrected")
    }
    # Officially, what cannot be read is an abstention.
    assert passed == {
        "official": ["shop:irrelevance_0", "shop:irrelevance_1", "shop:simple_python_0"],
        "corrected": ["shop:irrelevance_0", "shop:simple_python_0"],
    }
    unread = project.run_apart("shop", options[0], "--fcbench-store=none")
    unread.assert_outcomes(passed=1, failed=4)
