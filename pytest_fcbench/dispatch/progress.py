"""How far a run is, as one line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
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
    """What this run has spent, None where no price is known."""

    def line(self) -> str:
        """For a terminal or a log."""
        done = self.answered + self.not_scored
        parts = [f"{self.answered} of {self.total} answered", f"{self.in_flight} in flight"]
        if self.reused:
            parts.append(f"{self.reused} reused")
        if self.not_scored:
            parts.append(f"{self.not_scored} not scored")
        parts.append(f"{self.calls / max(self.elapsed_s, 0.001):.1f} calls/s")
        if self.usd is not None:
            parts.append(f"${self.usd:.4f}")
        if 0 < done < self.total:
            left_s = round((self.total - done) * self.elapsed_s / done)
            parts.append(f"{timedelta(seconds=left_s)} left")
        return ", ".join(parts)


class Ticker:
    """Writes the progress of a run every so many seconds, from a thread of its own."""

    def __init__(
        self, progress: Callable[[], Progress], write: Callable[[str], None], every_s: float
    ) -> None:
        self._progress = progress
        self._write = write
        self._every_s = every_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="fcbench-progress", daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        while not self._stopped.wait(self._every_s):
            self._write(self._progress().line())

    def stop(self) -> None:
        """Write no more; when this returns, no line is half written."""
        self._stopped.set()
        self._thread.join()
