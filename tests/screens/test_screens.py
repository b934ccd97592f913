"""Every screen is as it was read last; ``python -m tests.screens --write`` takes them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.screens.screens import FOLDER, RUNS, Screen, list_screens, take_screen

ALL = list(list_screens())


@pytest.mark.few(12)
@pytest.mark.parametrize(
    ("name", "screen", "width", "terminal", "colour"),
    ALL,
    ids=[name.removesuffix(".txt") for name, *_ in ALL],
)
def test_a_screen_is_as_it_was_read(
    tmp_path: Path, name: str, screen: Screen, width: int, terminal: bool, colour: bool
) -> None:
    shown = take_screen(screen, tmp_path, width=width, terminal=terminal, colour=colour)
    assert shown == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "width"),
    [(name, width) for name, screen, width, _, colour in ALL if screen in RUNS and not colour],
)
def test_no_line_of_a_run_is_wider_than_its_terminal(name: str, width: int) -> None:
    wide = [line for line in (FOLDER / name).read_text().splitlines() if len(line) > width]
    # A code or a command stays whole, so that it can be copied.
    assert [line for line in wide if not line.strip().startswith(("[", "pytest "))] == []


def test_there_is_no_screen_too_many() -> None:
    assert {path.name for path in FOLDER.glob("*.txt")} == {name for name, *_ in ALL}
