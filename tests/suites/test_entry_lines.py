"""Files of JSON lines: each line by its place, whatever its line end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.suites.entry_lines import EntryLines, LinePlace, iterate_lines


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
