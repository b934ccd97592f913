"""Files are written whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.run.output_files import copy_file, write_file


def break_off() -> Iterator[str]:
    yield "half"
    raise KeyboardInterrupt


def test_pieces_are_joined(tmp_path: Path) -> None:
    write_file(tmp_path / "new" / "x", iter(["a\n", "", "å\ud800"]))
    assert (tmp_path / "new" / "x").read_text(encoding="utf-8") == "a\nå\\ud800"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x"]


def test_what_is_not_finished_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "x", break_off())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "old"}


def test_a_copy_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "y").write_text("new")
    copy_file(tmp_path / "y", tmp_path / "x")
    (tmp_path / "y").write_text("newer")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"x": "new", "y": "newer"}


@pytest.mark.parametrize(
    "write", [lambda path: write_file(path, "x"), lambda path: copy_file(Path(__file__), path)]
)
def test_a_name_that_is_too_long_is_told(tmp_path: Path, write: Callable[[Path], None]) -> None:
    with pytest.raises(FcbenchError, match="cannot be written: File name too long"):
        write(tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    "write", [lambda path: write_file(path, "x"), lambda path: copy_file(Path(__file__), path)]
)
def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "x"
    with pytest.raises(FcbenchError, match=f"{re.escape(str(path))}: cannot be written: "):
        write(path)
