"""A report is read test by test, and says the same as read at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.json_text import read_json_at
from pytest_fcbench.scorecard import report_stream
from pytest_fcbench.scorecard.report_stream import ByteRange, open_places, read_report

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def read(path: Path) -> tuple[dict[str, object], list[object], list[ByteRange]]:
    tests: list[object] = []
    places: list[ByteRange] = []

    def take_test(test: object, place: ByteRange) -> None:
        tests.append(test)
        places.append(place)

    return read_report(path, take_test), tests, places


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports") / "report.json"


@pytest.mark.parametrize("number", ["12", "-0.5", "1e5", "1.5E-7"])
def test_a_number_may_end_anywhere_in_a_piece(
    tmp_path: Path, number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.json").write_text(f'{{"a": {number}}}')
    for chunk in range(1, 14):
        monkeypatch.setattr(report_stream, "_CHUNK", chunk)
        assert read(tmp_path / "x.json")[0] == {"a": float(number)}


@given(
    members=st.dictionaries(st.text(max_size=4).filter(lambda key: key != "tests"), VALUES, max_size=3),
    tests=st.lists(VALUES, max_size=5),
    chunk=st.integers(1, 20),
    indent=st.sampled_from([None, 0, 3]),
    escaped=st.booleans(),
)
def test_it_is_read_as_json_reads_it(
    path: Path, members: dict[str, Any], tests: list[Any], chunk: int, indent: int | None, escaped: bool
) -> None:
    """Whatever the size of the pieces in which it is read, which may end within a number or a character."""
    text = json.dumps({**members, "tests": tests, "last": 1}, indent=indent, ensure_ascii=escaped)
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_stream, "_CHUNK", chunk)
        found, taken, places = read(path)

    assert found == {**members, "tests": [], "last": 1}
    assert taken == tests
    with open_places(path) as read_place:
        assert [json.loads(read_place(place)) for place in places] == tests


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "1", "{", '{"a"', '{"a": ', '{"a": 1', '{"a": 1}}', '{"a": 1} x', '{"a": 1,}', "{a: 1}"),
        *(
            '{"tests": [1',
            '{"tests": [1,]}',
            '{"tests": [1 2]}',
            '{"a": 1, "a": 2}',
            '{"a": "\x80"}',
            "{1: 2}",
        ),
        '{"tests": [], "tests": []}',
    ],
)
def test_what_is_no_plain_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"."):
        read(tmp_path / "x.json")


def test_tests_that_are_no_list_are_left_to_who_reads_them(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"tests": {"a": 1}, "b": 2}')
    assert read(tmp_path / "x.json") == ({"tests": {"a": 1}, "b": 2}, [], [])


def test_a_value_longer_than_a_piece_is_read_in_few_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of the same size would parse a long value again and again."""
    monkeypatch.setattr(report_stream, "_CHUNK", 16)
    (tmp_path / "x.json").write_text(json.dumps({"a": "x" * 100_000}))
    tries = 0

    def count_reading(text: str, at: int) -> tuple[Any, int]:
        nonlocal tries
        tries += 1
        return read_json_at(text, at)

    monkeypatch.setattr(report_stream, "read_json_at", count_reading)
    assert read(tmp_path / "x.json")[0] == {"a": "x" * 100_000}
    assert tries < 25
