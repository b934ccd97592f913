"""Entries that were kept are those of the files, and are used only while no file has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pytest_fcbench
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry
from pytest_fcbench.suites import core
from pytest_fcbench.suites import core as kept_entries
from pytest_fcbench.suites.core import load_or_read
from tests.factories import make_entry

SIMPLE = CATEGORIES["simple_python"]
ENTRIES = (make_entry(entry_id="simple_python_1"), make_entry(entry_id="simple_python_2"))

Load = Callable[[], tuple[Entry, ...]]


def read_nothing() -> tuple[Entry, ...]:
    raise AssertionError("the entries are kept")


def load_simple(folder: Path, read: Load = read_nothing) -> tuple[Entry, ...]:
    return load_or_read(SIMPLE, folder, read)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which entries are kept, whatever the environment says about bytecode."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def find_file(folder: Path) -> Path:
    (file,) = (folder / "__pycache__").iterdir()
    return file


@pytest.mark.few(12)
@pytest.mark.parametrize("category", core.open_suite(Path()).categories, ids=lambda each: each.name)
def test_what_is_kept_is_what_was_read(folder: Path, category: Category) -> None:
    read = load_or_read(category, folder, lambda: core.read_entries(category))
    kept = load_or_read(category, folder, read_nothing)
    assert read == kept
    assert read[0] is not kept[0]
    assert all(entry.category is CATEGORIES[entry.category.name] for entry in kept)


def test_entries_are_read_again_when_the_package_has_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_simple(folder, lambda: ENTRIES)
    monkeypatch.setattr(kept_entries, "_describe_package", lambda: bytes(32))
    assert load_simple(folder, lambda: ENTRIES[:1]) == ENTRIES[:1]
    assert load_simple(folder) == ENTRIES[:1]


def set_time(file: Path) -> None:
    os.utime(file, ns=(0, 1))


@pytest.mark.parametrize(
    ("change", "name", "differs"),
    [
        (set_time, "a.py", True),
        (set_time, "inner/b.yaml", True),
        (lambda file: file.write_text("longer"), "inner/c.json", True),
        (Path.touch, "inner/d.py", True),
        (lambda file: file.symlink_to("nowhere"), "inner/.#e.py", True),
        pytest.param(
            Path.touch,
            os.fsdecode(b"inner/\xff.py"),
            True,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts there"),
        ),
        (Path.unlink, "a.py", True),
        (set_time, "notes.txt", False),
        (set_time, "__pycache__/a.py", False),
    ],
    ids=[
        "code",
        "entries",
        "data",
        "a new file",
        "a link to nothing",
        "no text",
        "a file less",
        "another file",
        "bytecode",
    ],
)
def test_what_counts_as_a_change(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], object],
    name: str,
    differs: bool,
) -> None:
    for each in ("a.py", "inner/b.yaml", "inner/c.json", "notes.txt", "__pycache__/a.py"):
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).touch()
    monkeypatch.setattr(pytest_fcbench, "__file__", str(tmp_path / "__init__.py"))
    describe = kept_entries._describe_package.__wrapped__
    before = describe()
    assert describe() == before
    change(tmp_path / name)
    assert (describe() != before) == differs


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:40],
        lambda data: data[:32] + b"c__main__\nno_such_name\n.",
        lambda data: data.replace(b"simple_python", b"simple_pythoX"),
    ],
    ids=["empty", "cut", "almost nothing", "of another program", "an unknown category"],
)
def test_a_spoilt_file_is_read_again_and_replaced(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    load_simple(folder, lambda: ENTRIES)
    file = find_file(folder)
    file.write_bytes(spoil(file.read_bytes()))
    assert load_simple(folder, lambda: ENTRIES) == ENTRIES
    assert load_simple(folder) == ENTRIES


def test_a_folder_that_cannot_be_written_costs_only_time(folder: Path) -> None:
    (folder / "__pycache__").write_text("no folder")
    for _ in range(2):
        assert load_simple(folder, lambda: ENTRIES) == ENTRIES


def test_nothing_is_written_where_no_bytecode_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert load_simple(folder, lambda: ENTRIES) == ENTRIES
    assert not list(folder.iterdir())


def test_an_error_of_a_file_is_raised_and_nothing_is_kept(folder: Path) -> None:
    with pytest.raises(AssertionError, match="the entries are kept"):
        load_simple(folder)
    assert not list(folder.iterdir())
