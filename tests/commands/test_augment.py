from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.suites import files


def _augment(*words: str) -> int:
    try:
        return main(["augment", *words])
    except SystemExit as ended:
        return int(str(ended.code))


def test_a_folder_of_entries_is_made_again_by_the_same_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one" / "grown", tmp_path / "other" / "grown"
    assert _augment("core", "--to", str(one), "--count", "4") == 0
    told = capsys.readouterr().out
    assert _augment("core", "--to", str(other), "--count", "4") == 0

    assert told.splitlines()[:5] == [
        "variants           4",
        "multiple           4",
        "parallel           4",
        "parallel_multiple  4",
        "irrelevance        4",
    ]
    texts = {path.name: path.read_bytes() for path in sorted(one.iterdir())}
    assert texts == {path.name: path.read_bytes() for path in sorted(other.iterdir())}
    entries = [entry for path in sorted(one.iterdir()) for entry in files.read(path, "grown")]
    assert len(entries) == 20
    assert all(entry.parents for entry in entries)
    assert f"{one / 'parallel.yaml'}: 4 entries" in told


def test_only_the_kinds_that_are_named_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "9999") == 0

    assert [path.name for path in tmp_path.iterdir()] == ["parallel.yaml"]
    assert "of 9999: no more could be drawn" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["core", "--count", "0"], "--count=0: must be 1 or more"),
        (["core", "--kind", "paralel"], "Did you mean 'parallel'"),
        (["cor"], "Did you mean 'core'"),
    ],
)
def test_wrong_words_are_told(
    words: list[str], rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _augment(*words, "--to", str(tmp_path / "x")) == 2
    assert rule in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_nothing_is_replaced_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "parallel.yaml").write_text("mine")

    assert _augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "2") == 2

    assert "parallel.yaml is already there" in capsys.readouterr().err
    assert (tmp_path / "parallel.yaml").read_text() == "mine"
    assert _augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "2", "--force") == 0
