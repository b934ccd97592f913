"""Names, docstrings and comments: what the figures count, and the limits that the package keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each_case
from tests.house import PACKAGE, ROOT
from tests.naming import (
    BINDINGS,
    COMMENTS,
    LIMITS,
    NAMED_ONCE,
    NOT_IMPERATIVE,
    ONE_WORD,
    PARTICIPLES,
    Function,
    draw_names,
    is_bare_participle,
    is_participle,
    list_by_room,
    measure_names,
)

SOURCE = '''"""Two rooms."""


# A reason.
class Box:
    def __init__(self) -> None:
        """Constructor of it."""

    @property
    def size(self) -> int:
        """Size of it."""
        return 1

    def written(self) -> str:
        """What is written."""
        written = written_lines = _join_words()
        return written + "# not a comment"  # nor is this a line of its own

    def open_lid(self) -> None:
        """Open the lid."""
        _press()
        _press()


def _join_words() -> str:
    return ""


def _press() -> None: ...
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "box.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_figures_count_what_their_definitions_say(folder: Path) -> None:
    names = measure_names(folder)
    assert names.figures == pytest.approx(
        {
            ONE_WORD: 100 * 2 / 4,  # written and _press, of all but __init__ and the property
            PARTICIPLES: 100 * 1 / 4,
            NAMED_ONCE: 100 * 1 / 6,  # _join_words
            BINDINGS: 100 * 1 / 6,  # written, not written_lines or self
            NOT_IMPERATIVE: 100 * 2 / 3,  # of __init__, written and open_lid
            COMMENTS: 100 * 1 / 14,
        }
    )
    assert [each.name for each in names.offenders[NOT_IMPERATIVE]] == ["__init__", "written"]


def test_offenders_are_listed_by_room(folder: Path) -> None:
    offenders = measure_names(folder).offenders[NAMED_ONCE]
    assert list(list_by_room(offenders, folder)) == ["room: 1", "  room/box.py:25 _join_words"]


def test_the_same_seed_draws_the_same_names(folder: Path) -> None:
    assert draw_names(folder, 3, seed=1) == draw_names(folder, 3, seed=1)
    assert {name.split()[1] for name in draw_names(folder, 9, seed=1)} == {
        *("written", "open_lid", "_join_words", "_press")
    }


@each_case(
    ("name", "expected"),
    [("_told", True), ("checked_rows", True), ("embed", False), ("need_key", False), ("split_text", False)],
)
def test_past_participles_are_told_from_verbs(name: str, expected: bool) -> None:
    function = Function(Path("a.py"), 1, name, is_property=False, has_docstring=False, uses_in_file=0)
    assert is_participle(function) is expected


@each_case(
    ("name", "expected"), [("_told", True), ("listed", True), ("seed", False), ("listed_names", False)]
)
def test_bare_participles_are_told_from_nouns(name: str, expected: bool) -> None:
    assert is_bare_participle(name) is expected


@pytest.mark.slow
def test_no_figure_of_the_package_leaves_its_limits() -> None:
    figures = measure_names(ROOT / PACKAGE).figures
    assert {
        name: figures[name] for name, (low, high) in LIMITS.items() if not low <= figures[name] <= high
    } == {}, "python -m tests.naming --list FIGURE shows where"
