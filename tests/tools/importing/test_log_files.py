"""A file is lines, one list, or values over several lines; each gives the same rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.tools.importing.log_files import read_rows

ROWS = [{"messages": []}, {"query": "ü"}]
MESSAGES = [{"role": "user", "content": "?"}]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, ROWS)),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=1),
        "\ufeff" + json.dumps(ROWS, indent=1),
        "\n".join(json.dumps(row, indent=1) for row in ROWS),
    ],
)
def test_every_way_to_write_rows_gives_the_same(tmp_path: Path, text: str) -> None:
    (path := tmp_path / "log.json").write_text(text)
    assert [json.loads(row) for _, row in read_rows([str(path)])] == ROWS


def test_a_list_of_messages_is_one_row(tmp_path: Path) -> None:
    (path := tmp_path / "log.json").write_text(f"{json.dumps(MESSAGES)}\n{json.dumps(MESSAGES)}\n")
    assert [json.loads(row) for _, row in read_rows([str(path)])] == [MESSAGES] * 2


def test_broken_lines_keep_their_numbers(tmp_path: Path) -> None:
    (path := tmp_path / "log.jsonl").write_text('{"a": \n\n{"b": 1}\n')
    assert list(read_rows([str(path)])) == [(f"{path}:1", b'{"a": \n'), (f"{path}:3", b'{"b": 1}\n')]
