"""Seconds from a signal to the end of all processes of a run, with 64 requests in flight.

    python -m tests.performance.signals [--times 5]

Each case is run several times: *early* before the first verdict, *later* after 80 requests. Twice means a
second signal 0.2 s after the first, both counted from the first. *CPU s* are the seconds of processors
after the signal, which other work on the machine does not change. A run that does not keep what
docs/project/attacks.md promises of signals is reported below the table, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.chaos.processes import find_group
from tests.chaos.signalled_runs import EARLY, LATER, PLAIN, TWO_WORKERS, RunningProject, start_run
from tests.conftest import ROOT
from tests.dispatch.clock import wait_until

_AT_ONCE = 64
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MOMENTS = {"early": (EARLY, 1), "later": (LATER, _AT_ONCE + 16)}
"""The entries of a run, and the number of requests after which it is ended."""
_PATIENCE_S = 120.0


def time_ending(
    folder: Path, number: signal.Signals, twice: bool, moment: str, workers: tuple[str, ...]
) -> tuple[float, float]:
    """End a run; return the seconds that it took, and those of processors.

    Raises ``AssertionError`` where a promise is broken.
    """
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks")
    categories, after = _MOMENTS[moment]
    others_s = _read_children_s()
    with start_run(folder, *categories, *workers, at_once=_AT_ONCE) as run:
        wait_until(lambda: len(run.server.arrivals) >= after, _PATIENCE_S)
        before_s = sum(sum(process.cpu_times()[:4]) for process in find_group(run.process.pid))
        # Ctrl-C and the end of a session reach all processes of a terminal, TERM only one.
        output = run.end(number, group=number != signal.SIGTERM, twice=twice)
        broken = list(find_broken_promises(run, number, output))
        assert not broken, "; ".join(broken)
        return run.ended_at - run.signalled_at, _read_children_s() - others_s - before_s


def _read_children_s() -> float:
    """Return the seconds of processors of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def find_broken_promises(run: RunningProject, number: signal.Signals, output: str) -> Iterator[str]:
    """Yield what a run did wrong at its end."""
    code = 2 if number == signal.SIGINT else 128 + number
    if run.process.returncode != code:
        yield f"exit code {run.process.returncode} instead of {code}: {output[-500:]}"
    if not (run.folder / "scorecard.json").exists():
        yield "no scorecard"
    if f"{run.stored} answer" not in output or "run again to continue from there" not in output:
        yield f"it does not say that {run.stored} answers are kept"
    if late := run.late_requests:
        yield f"{len(late)} requests after the signal"
    if left := run.left_behind:
        yield f"left behind: {', '.join(left)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    broken: list[str] = []
    print("| signal | moment | `-n` | median s | longest s | CPU s | load of the machine |")
    print("|:--|:--|--:|--:|--:|--:|--:|")
    cases = [
        (number, twice, moment, workers)
        for moment in _MOMENTS
        for workers in (PLAIN, TWO_WORKERS)
        for number in _SIGNALS
        for twice in (False, True)
    ]
    for number, twice, moment, workers in cases:
        name = f"{number.name}{' twice' if twice else ''}"
        taken = []
        for _ in range(times):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    taken.append(time_ending(Path(folder), number, twice, moment, workers))
                except AssertionError as error:
                    broken.append(f"{name}, {moment}, -n {workers[1]}: {error}")
        walls, processors = zip(*taken, strict=True) if taken else ((math.nan,), (math.nan,))
        spent = f"{statistics.median(walls):.2f} | {max(walls):.2f} | {statistics.median(processors):.2f}"
        print(f"| {name} | {moment} | {workers[1]} | {spent} | {os.getloadavg()[0]:.1f} |", flush=True)
    print("\n".join(broken))
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
