"""What the web answered, kept in a file and read back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.web.recording import Recording, make_key, read_recording

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
VALUES = st.dictionaries(TEXT, TEXT | st.integers(), max_size=3)


@given(st.lists(st.tuples(TEXT, VALUES, VALUES), max_size=5))
def test_what_is_recorded_is_read_back(calls: list[tuple[str, dict[str, object], dict[str, object]]]) -> None:
    with TemporaryDirectory() as folder:
        file = Recording(Path(folder, "new", "web.jsonl"))
        for call in calls:
            file.add(*call)
        file.close()
        answers = read_recording(Path(folder, "new", "web.jsonl"))
    assert answers == {make_key(name, arguments): answer for name, arguments, answer in calls}


def test_the_same_is_written_once_and_the_last_answer_holds(tmp_path: Path) -> None:
    path = tmp_path / "web.jsonl"
    for _ in range(2):
        file = Recording(path)
        for answer in ({"a": 1}, {"a": 1}, {"a": 2}):
            file.add("f", {}, answer)
        file.close()
    assert len(path.read_text().splitlines()) == 4
    assert read_recording(path) == {make_key("f", {}): {"a": 2}}


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "5", '{"name": "f", "arguments": {}, "answer": 5}', "[" * 9_999]
)
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "web.jsonl"
    path.write_text(f'{{"name": "f", "arguments": {{}}, "answer": {{}}}}\n{line}\n')
    with pytest.raises(UsageError, match=r"web.jsonl:2: not a line of a recording"):
        read_recording(path)


def test_places_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"recorded:.*missing: cannot be read"):
        read_recording(tmp_path / "missing")
    with pytest.raises(UsageError, match="--fcbench-search-record="):
        Recording(tmp_path)
