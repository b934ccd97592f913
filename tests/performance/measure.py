"""Wall time and peak memory of whole processes, best of several runs."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

WITH_FAILURES = (0, 1)
"""The exit codes of pytest where tests may fail."""


@dataclass(frozen=True)
class Cost:
    """What one process took. Memory is the peak resident size of the largest process, in MB."""

    wall_s: float
    peak_mb: float
    cpu_s: float
    """Seconds of processors, of the process and of those that it waited for: others on the machine slow a
    process down, but add little to these."""

    def __str__(self) -> str:
        return f"{self.wall_s:6.2f} s {self.cpu_s:6.2f} s CPU {self.peak_mb:6.0f} MB"


def measure_command(
    command: Sequence[str], cwd: Path, extra: Mapping[str, str] | None = None, codes: Sequence[int] = (0,)
) -> Cost:
    """Run a command once. Raises ``RuntimeError`` with its last words where it ends with another exit code.

    Byte code may be cached, as on a machine that runs it every day.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | dict(extra or {})
    with tempfile.TemporaryFile() as words:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=words, stderr=words)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        if (ended := os.waitstatus_to_exitcode(status)) not in codes:
            words.seek(0)
            last = words.read()[-1000:].decode(errors="replace")
            raise RuntimeError(f"exit code {ended}: {' '.join(command)}\n{last}")
    return Cost(wall_s, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def select_best(costs: Sequence[Cost]) -> Cost:
    """Return the run that was disturbed least."""
    return min(costs, key=lambda cost: cost.wall_s)


def format_ratios(cost: Cost, base: Cost) -> str:
    """Write what a process took as multiples of another."""
    wall, cpu = cost.wall_s / base.wall_s, cost.cpu_s / base.cpu_s
    return f"{wall:.2f} × time, {cpu:.2f} × CPU, {cost.peak_mb / base.peak_mb:.2f} × memory"
