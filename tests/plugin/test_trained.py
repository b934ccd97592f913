"""Entries that are in training data: from the audit to the gate, in a run and after it."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.plugin.conftest import Project

QUESTIONS = ("What is salt?", "Tell me the price of tea.", "I would like to know about rice.", "And honey?")
AUDIT = ("suite", "audit", "shop", "--against=train.jsonl", "--output=trained.json")
PASSING = "def answer(messages, tools):\n    return 'no' if 'salt' in messages[-1]['content'] else [CALL]\n"


@pytest.fixture(autouse=True)
def shop(project: Project) -> None:
    """Write a suite of four entries, and training data with two of their questions."""
    entries = [
        {
            "id": f"simple_python_{number}",
            "query": query,
            "functions": ["price"],
            "expect": ["price(item='a')"],
        }
        for number, query in enumerate(QUESTIONS)
    ]
    doc = {"name": "price", "inputSchema": {"properties": {"item": {"type": "string"}}, "required": ["item"]}}
    file = {"category": "simple_python", "functions": [doc], "entries": entries}
    project.write("fcbench.yaml", "suites: {shop: shop}\n")
    project.write("shop/entries.yaml", yaml.safe_dump(file))
    lines = [{"messages": [{"role": "user", "content": said}], "tools": []} for said in QUESTIONS[:2]]
    project.write("train.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    call = {"type": "function", "function": {"name": "price", "arguments": '{"item": "a"}'}}
    project.write("model.py", PASSING.replace("CALL", repr(call)))


MODEL = "--fcbench-model=python:model:answer"
"""Passes what is in the training data but for one, and the other entries."""


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_run_shows_both_scores_and_a_gate_may_name_the_second(project: Project, workers: str) -> None:
    assert project.fcbench(*AUDIT).returncode == 0
    rules = ("--fcbench-gate=untrained>=90%", "--fcbench-gate=overall>=90%")
    result = project.run_apart("shop", MODEL, "--fcbench-trained=trained.json", *rules, workers)
    result.stdout.fnmatch_lines(
        [
            "note: 2 of 4 entries are in the training data (trained.json)",
            "*without entries of the training data (corrected profile)",
            "simple_python        4        2  75.00%  100.00%   34.2-100.0%",
            "overall              4        2  75.00%  100.00%   34.2-100.0%",
            "gate untrained>=90%: held: untrained is 100.00%",
            "gate overall>=90%: broken: overall is 75.00%",
        ]
    )
    assert result.ret == 1
    marks = {entry: record["marks"] for entry, record in project.records().items()}
    assert marks == {
        "shop:simple_python_0": ["trained"],
        "shop:simple_python_1": ["trained"],
        "shop:simple_python_2": [],
        "shop:simple_python_3": [],
    }
    section = project.scorecard()["fcbench"]
    assert section["profiles"]["official"]["untrained"]["accuracy"] == 1  # type: ignore[index]
    page = project.fcbench("run", "report")
    assert page.returncode == 0, page.stderr
    assert "without entries of the training data" in (project.path / "report.html").read_text()


def test_a_run_that_has_ended_is_marked_without_a_call(project: Project) -> None:
    assert project.fcbench(*AUDIT).returncode == 0
    project.run_apart("shop", MODEL)
    assert "untrained" not in project.scorecard()["fcbench"]["profiles"]["official"]  # type: ignore[index]
    gate = project.fcbench("gate", "scorecard.json", "--gate=untrained>=90%", "--trained=trained.json")
    assert gate.stdout.splitlines()[-1] == "gate untrained>=90%: held: untrained is 100.00%"
    again = project.fcbench(
        "run", "rejudge", "scorecard.json", "--trained=trained.json", "--output=again.json"
    )
    assert again.returncode == 0, again.stderr
    section = project.scorecard("again.json")["fcbench"]
    assert section["profiles"]["official"]["untrained"]["n"] == 2  # type: ignore[index]
    assert project.records("again.json")["shop:simple_python_0"]["marks"] == ["trained"]


def test_a_rule_without_the_file_is_refused(project: Project) -> None:
    result = project.run_apart("shop", MODEL, "--fcbench-gate=untrained>=90%")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*name them with --fcbench-trained=FILE*"])


def test_an_audit_of_an_older_suite_is_refused_before_a_call(project: Project) -> None:
    assert project.fcbench(*AUDIT).returncode == 0
    path = project.path / "shop" / "entries.yaml"
    path.write_text(path.read_text().replace("rice", "rye"))
    result = project.run_apart("shop", MODEL, "--fcbench-trained=trained.json")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*trained.json: is an audit of shop *; make it again with fcbench suite audit*"]
    )
