"""The progress of a run: a line, and on a terminal one for each group above it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of a run at one moment: entries (trials count), calls, seconds, dollars."""

    total: int
    answered: int
    not_scored: int
    in_flight: int
    reused: int
    """Answers that came from the store."""
    calls: int
    elapsed_s: float
    usd: float | None = None
    """Dollars that this run has spent, None where no price is known."""
    trouble: str | None = None
    """The reason why calls are not answered, in words; None where they are."""
    calls_of_others: Mapping[str, int] = field(default_factory=dict)
    """Calls of the judge and of other auxiliary models, by party."""
    passed: int = 0
    judged: int = 0
    """Entries that have a verdict: passed or failed."""
    groups: tuple[str, ...] = ()
    """A line for each group of categories."""

    def line(self) -> str:
        """Write the counts as a line for a terminal or a log."""
        done_count = self.answered + self.not_scored
        # Where everybody answers at once nothing is in flight.
        of = f"{self.answered} of {self.total}" if self.total else f"{self.answered}"
        parts = [f"{of} answered"]
        if self.calls or self.in_flight:
            parts.append(f"{self.in_flight} in flight")
        # Ahead of all else, because a narrow terminal shows the beginning of the line.
        if self.trouble:
            parts.append(self.trouble)
        if self.judged:
            parts.append(f"{self.passed / self.judged:.0%} of {self.judged} passed")
        if self.reused:
            parts.append(f"{self.reused} reused")
        if self.not_scored:
            parts.append(f"{self.not_scored} not scored")
        # A rate says nothing of less: one call in the first millisecond would be a thousand a second.
        if self.elapsed_s >= 1 and self.calls:
            parts.append(f"{self.calls / self.elapsed_s:.1f} calls/s")
        parts += [f"{party}: {n} call{'s' * (n != 1)}" for party, n in self.calls_of_others.items()]
        if self.usd is not None:
            parts.append(f"${self.usd:.4f}")
        if 0 < done_count < self.total:
            left_s = round((self.total - done_count) * self.elapsed_s / done_count)
            parts.append(f"{timedelta(seconds=left_s)} left")
        return ", ".join(parts)


class Screen:
    """A copy of standard output, so that lines come through while pytest captures the original.

    On a terminal the lines renew themselves, twice a second; elsewhere each is a line of its own, every half
    minute, without those of groups.
    """

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="replace")
        self._renews = self._out.isatty()
        self.every_s = 0.5 if self._renews else 30.0
        self._above = 0
        """The number of lines above the last one that was shown."""

    def show(self, line: str, groups: Sequence[str] = ()) -> None:
        """Write a line below those of groups, over the ones before on a terminal."""
        if not self._renews:
            self._out.write(f"{line}\n")
            self._out.flush()
            return
        # Of this copy, because pytest may have replaced standard output; a terminal may say 0.
        size = os.get_terminal_size(self._out.fileno())
        # One column less than it has, because a full line would move the cursor to the next one.
        width = (size.columns or 80) - 1
        # Lines that have left the screen could not be written over.
        above = groups if len(groups) < (size.lines or 24) - 2 else ()
        lines = "\n".join(f"{each[:width]:<{width}}" for each in (*above, line))
        self._out.write(f"{self._to_the_beginning}{lines}")
        self._out.flush()
        self._above = len(above)

    def clear(self) -> None:
        """Wipe the lines, so that the next output starts on an empty line."""
        if self._renews:
            # ECMA-48: erase from here to the end of the screen.
            self._out.write(f"{self._to_the_beginning}\x1b[J")
            self._out.flush()
            self._above = 0

    @property
    def _to_the_beginning(self) -> str:
        """The control sequence that moves the cursor to the first line shown (ECMA-48: cursor up)."""
        return f"\r\x1b[{self._above}A" if self._above else "\r"

    def close(self) -> None:
        """Close this copy of standard output."""
        self._out.close()


_LOOK_S = 0.5
"""Seconds between two looks at the progress of a run."""


class Ticker:
    """A thread that shows the progress of a run now and then, and at once when trouble begins or ends.

    ``progress`` may return None while there is nothing to show yet. Without a screen it is only asked, for
    those who follow the run from elsewhere.
    """

    def __init__(self, progress: Callable[[], Progress | None], screen: Screen | None) -> None:
        self._progress = progress
        self._screen = screen
        self._every_s = screen.every_s if screen else _LOOK_S
        self._has_shown = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="fcbench-progress", daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        shown_at, was_in_trouble = time.monotonic(), False
        while not self._stopped.wait(min(self._every_s, _LOOK_S)):
            progress = self._progress()
            if progress is None or self._screen is None:
                continue
            is_in_trouble = progress.trouble is not None
            is_due = time.monotonic() - shown_at >= self._every_s - _LOOK_S / 2
            if is_due or is_in_trouble != was_in_trouble:
                self._screen.show(progress.line(), progress.groups)
                self._has_shown = True
                shown_at, was_in_trouble = time.monotonic(), is_in_trouble

    def stop(self) -> None:
        """End the thread and remove the line."""
        self._stopped.set()
        self._thread.join()
        if self._screen and self._has_shown:
            self._screen.clear()


@contextmanager
def show_progress(progress: Callable[[], Progress]) -> Iterator[None]:
    """Show the progress on the terminal until the block ends."""
    with closing(Screen()) as screen:
        ticker = Ticker(progress, screen)
        try:
            yield
        finally:
            ticker.stop()
