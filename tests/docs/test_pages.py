"""Every command on every page prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.docs.pages import NOT_RUN, PAGES, Command, Page, matches, page, walk

LONG = ("core", "tutorial-gate")
"""Pages whose commands go through all of core, one of them three times; they are run nightly."""
WITH_COMMANDS = [
    pytest.param(path, id=path.stem, marks=pytest.mark.nightly if path.stem in LONG else ())
    for path in PAGES
    if path.stem != "own-suites"  # which test_own_suites.py runs, and goes on from
    and any(not command.official for command in page(path).commands)
]
WITH_OFFICIAL = [path for path in PAGES if any(command.official for command in page(path).commands)]


def check(page: Page, folder: Path, cache: Path, *, official: bool = False) -> None:
    for command, told in walk(page, folder, cache, official=official):
        assert matches(command.shown, told.rstrip().splitlines()), f"$ {command.text}\n{told}"
        assert "Traceback (most recent call last)" not in told, told


@pytest.mark.few(1)
@pytest.mark.parametrize("path", WITH_COMMANDS)
def test_commands_print_what_is_shown(path: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "work").mkdir()
    check(page(path), folder, tmp_path / "cache")


@pytest.mark.nightly
@pytest.mark.parametrize("path", WITH_OFFICIAL, ids=lambda path: path.stem)
def test_commands_about_official_entries(path: Path, tmp_path: Path, pack_cache: Path) -> None:
    check(page(path), tmp_path, pack_cache, official=True)


def test_only_what_installs_is_not_run() -> None:
    skipped = {c.text.splitlines()[0] for path in PAGES for c in page(path).commands if not c.runs}
    assert all(text.startswith(NOT_RUN) for text in skipped)
    assert len(skipped) < 10


# What would be noticed

TEXT = """\
`a.txt`:

```text
one
two
```

```console
$ cat a.txt
one
...
$ echo \\
    more
more
```

<!-- needs bfcl -->
```console
$ fcbench suite list
...
```
"""


def test_a_page_is_files_and_commands(tmp_path: Path) -> None:
    found = Page(TEXT)
    assert found.files == {"a.txt": "one\ntwo\n"}
    assert found.commands == (
        Command("cat a.txt", ("one", "..."), official=False),
        Command("echo \\\n    more", ("more",), official=False),
        Command("fcbench suite list", ("...",), official=True),
    )
    check(found, tmp_path, tmp_path)


@each_case(
    ("right", "wrong", "command"),
    [
        ("one\n...", "two\n...", "$ cat a.txt"),
        ("one\n...", "one", "$ cat a.txt"),
        ("more\n```", "mere\n```", "$ echo"),
        ("cat a.txt", "cat b.txt", "$ cat b.txt"),
    ],
)
def test_a_page_that_is_wrong_fails(right: str, wrong: str, command: str, tmp_path: Path) -> None:
    assert right in TEXT
    with pytest.raises(AssertionError, match="^" + re.escape(command)):
        check(Page(TEXT.replace(right, wrong, 1)), tmp_path, tmp_path)


def test_dots_stand_for_anything() -> None:
    assert matches(["a ...", "...", "z"], ["a b", "c", "d", "z"])
    assert matches(["a ... c [1]"], ["a b c [1]"])
    assert not matches(["a ...", "...", "z"], ["a b", "c", "d"])
    assert not matches(["a", "z"], ["a", "b", "z"])
    assert not matches(["a"], ["a", "b"])
    assert not matches(["a*"], ["ab"])
