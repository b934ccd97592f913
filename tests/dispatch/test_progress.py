"""The line that says how far a run is."""

from __future__ import annotations

import os
import pty
import termios
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.progress import Progress, Screen, Ticker, show_progress

HALF = Progress(
    total=100, answered=48, not_scored=2, in_flight=8, reused=3, calls=47, elapsed_s=10.0, usd=0.5
)


def test_everything_is_in_it() -> None:
    assert HALF.line() == (
        "48 of 100 answered, 8 in flight, 3 reused, 2 not scored, 4.7 calls/s, $0.5000, 0:00:10 left"
    )


def test_what_there_is_nothing_of_is_left_out() -> None:
    plain = replace(HALF, reused=0, not_scored=0, usd=None)
    assert plain.line() == "48 of 100 answered, 8 in flight, 4.7 calls/s, 0:00:11 left"


def test_trouble_stands_at_the_beginning() -> None:
    line = replace(HALF, trouble="2 calls wait to be repeated").line()
    assert line.startswith("48 of 100 answered, 8 in flight, 2 calls wait to be repeated, 3 reused")


@pytest.mark.parametrize("answered", [0, 98], ids=["start", "end"])
def test_no_time_is_guessed_from_nothing_or_for_nothing(answered: int) -> None:
    assert "left" not in replace(HALF, answered=answered, not_scored=2 if answered else 0).line()


def test_no_rate_is_told_of_the_first_second() -> None:
    assert "calls/s" not in replace(HALF, calls=2, elapsed_s=0.001).line()
    assert "2.0 calls/s" in replace(HALF, calls=2, elapsed_s=1.0).line()


def _open_screen(path: Path) -> Screen:
    """Open a screen whose standard output is a file."""
    kept = os.dup(1)
    with path.open("wb") as out:
        os.dup2(out.fileno(), 1)
        try:
            return Screen()
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def test_lines_come_through_though_output_is_captured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with capfd.disabled():
        screen = _open_screen(tmp_path / "out")
    screen.show("7 of 9")
    screen.show("8 of 9")
    screen.clear()
    screen.close()
    assert (tmp_path / "out").read_text() == "7 of 9\n8 of 9\n"
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("columns", "width"), [(30, 29), (0, 79)], ids=["narrow", "unknown"])
def test_a_terminal_shows_as_much_as_fits(
    columns: int, width: int, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (10, columns))
    kept = os.dup(1)
    with capfd.disabled():
        os.dup2(terminal, 1)
        try:
            screen = Screen()
        finally:
            os.dup2(kept, 1)
    screen.show("x" * 200)
    screen.close()
    assert os.read(ours, 1000).decode() == "\r" + "x" * width
    for file in (ours, terminal, kept):
        os.close(file)


class Shown(Screen):
    """A screen in memory."""

    def __init__(self) -> None:
        self.every_s = 0.01
        self.lines: list[str] = []
        self.twice = threading.Event()

    def show(self, line: str, groups: Sequence[str] = ()) -> None:
        self.lines.append(line)
        if len(self.lines) > 1:
            self.twice.set()

    def clear(self) -> None:
        self.lines.append("cleared")


def test_it_ticks_until_it_is_stopped_and_leaves_nothing_behind() -> None:
    shown = Shown()
    ticker = Ticker(lambda: HALF, shown)
    assert shown.twice.wait(30)
    ticker.stop()
    count = len(shown.lines)
    assert shown.lines[0] == HALF.line()
    assert shown.lines[-1] == "cleared"
    assert threading.Event().wait(0.05) is False
    assert len(shown.lines) == count


def test_progress_is_shown_until_the_block_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fcbench.dispatch.progress.Screen", lambda: _open_screen(tmp_path / "out"))
    before = threading.active_count()
    with show_progress(lambda: HALF):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_trouble_is_shown_when_it_begins_and_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a line comes every half minute, it would else come too late."""
    monkeypatch.setattr("pytest_fcbench.dispatch.progress._LOOK_S", 0.01)
    shown = Shown()
    shown.every_s = 3600
    bad = replace(HALF, trouble="the endpoint does not answer")
    states = iter([None, HALF, bad, bad, bad, HALF])
    ticker = Ticker(lambda: next(states, HALF), shown)
    assert shown.twice.wait(30)
    ticker.stop()
    assert shown.lines == [bad.line(), HALF.line(), "cleared"]


def test_where_nothing_was_shown_nothing_is_removed() -> None:
    shown = Shown()
    ticker = Ticker(lambda: None, shown)
    assert threading.Event().wait(0.1) is False
    ticker.stop()
    assert shown.lines == []


def test_the_line_tells_the_calls_of_the_judge() -> None:
    progress = replace(HALF, calls_of_others={"judge": 12, "web": 1})
    assert ", judge: 12 calls, web: 1 call, " in progress.line()
    assert "judge" not in HALF.line()


def _read_terminal(rows: int, show: Callable[[Screen], None], capfd: pytest.CaptureFixture[str]) -> str:
    """Return what a screen writes to a terminal of 30 columns."""
    ours, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (rows, 30))
    kept = os.dup(1)
    with capfd.disabled():
        os.dup2(terminal, 1)
        try:
            screen = Screen()
        finally:
            os.dup2(kept, 1)
    os.close(kept)
    show(screen)
    screen.close()
    os.close(terminal)
    # One read may return a part of what was written; the terminal ends with an error once nobody has it open.
    read = b""
    with suppress(OSError):
        while part := os.read(ours, 5000):
            read += part
    os.close(ours)
    return read.decode()


def test_a_terminal_shows_a_line_for_each_group_and_renews_them(capfd: pytest.CaptureFixture[str]) -> None:
    def show(screen: Screen) -> None:
        screen.show("1 of 2", ["live", "complex"])
        screen.show("2 of 2", ["live", "complex"])
        screen.clear()

    lines = [f"{text:<29}" for text in ("live", "complex")]
    first, second = ("\r\n".join([*lines, f"{text:<29}"]) for text in ("1 of 2", "2 of 2"))
    assert _read_terminal(10, show, capfd) == f"\r{first}\r\x1b[2A{second}\r\x1b[2A\x1b[J"


def test_a_low_terminal_shows_the_line_alone(capfd: pytest.CaptureFixture[str]) -> None:
    shown = _read_terminal(4, lambda screen: screen.show("1 of 2", ["live", "complex"]), capfd)
    assert shown == f"\r{'1 of 2':<29}"


def test_the_line_tells_the_share_that_passed() -> None:
    progress = replace(HALF, passed=3, judged=4)
    assert ", 75% of 4 passed" in progress.line()
    assert "passed" not in HALF.line()


def test_where_nothing_is_sent_no_rate_is_told() -> None:
    assert replace(HALF, calls=0, in_flight=0, total=0).line().startswith(f"{HALF.answered} answered, ")
    assert "calls/s" not in replace(HALF, calls=0).line()
