"""Texts that may be paths."""

from __future__ import annotations

from pathlib import Path

from pytest_fcbench.domain.paths import is_place


def test_a_text_that_no_file_can_have_as_its_name_is_no_place(tmp_path: Path) -> None:
    assert is_place(tmp_path)
    assert is_place(str(tmp_path))
    for text in ("a" * 300, "a\0b", str(tmp_path / "none")):
        assert not is_place(text)
