"""A run that is killed again and again, and goes on each time where it was.

    python -m tests.kills --kills 50

Kills ``pytest`` with SIGKILL at random moments, resumes it each time, and lets the last run end. Every
entry must have its answer, and the server must have been asked for each (entry, trial) exactly once, but for
the calls that were in flight at a kill; their number is printed. Exits with 1 if that is not so.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.suites import core
from tests.conftest import ROOT
from tests.served import served, stats

AT_ONCE = 16
CATEGORY = "single_turn"
"""Where an entry is one call."""


@dataclass(frozen=True)
class Outcome:
    """What the server and the store say when the last run has ended."""

    kills: int
    """Runs that were killed before their end."""
    wanted: int
    """Entries times trials."""
    asked: int
    """Different ones that the server was asked for."""
    stored: int
    again: int
    """Calls beyond one for each."""
    exit_code: int

    @property
    def holds(self) -> bool:
        """Nothing lost, nothing bought twice but what was in flight."""
        whole = self.asked == self.stored == self.wanted and self.exit_code == 0
        return whole and self.again <= self.kills * AT_ONCE

    def __str__(self) -> str:
        return (
            f"{self.kills} kills; of {self.wanted} answers {self.stored} are stored, "
            f"{self.asked} were asked for, {self.again} again because they were in flight at a kill"
        )


def killed_runs(
    project: Path, kills: int, trials: int, *, seed: int = 0, workers: int = 0, sample: int | None = None
) -> Outcome:
    """Run in an empty folder, each run but the last killed within eight seconds; return what came of it.

    ``sample`` is the number of entries, None for all.
    """
    moments = random.Random(seed)
    shutil.copytree(ROOT / "benchmarks", project / "benchmarks")
    with served("--model", "oracle", "--latency", "0.1-0.4") as api_base:
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(workers)),
            *("--fcbench-model=openai/oracle", f"--fcbench-api-base={api_base}", "--fcbench-tag"),
            *(
                f"--fcbench-trials={trials}",
                f"--fcbench-concurrency={AT_ONCE}",
                "--fcbench-profile=corrected",
                f"--fcbench-category={CATEGORY}",
            ),
            *(() if sample is None else (f"--fcbench-sample={sample}",)),
        ]
        killed = 0
        for _ in range(kills):
            process = _start_run(command, project)
            try:
                process.wait(moments.uniform(0, 8))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.wait()
        exit_code = _start_run(command, project).wait()
        answered = stats(api_base)["answered"]
    with closing(sqlite3.connect(project / ".fcbench" / "answers.sqlite")) as store, store:
        (stored,) = store.execute("SELECT count(DISTINCT entry) FROM answers").fetchone()
    suite = core.open_suite(Path())
    entries = sample or sum(len(suite.load(CATEGORIES[name])) for name in SELECTIONS[CATEGORY])
    wanted = trials * entries
    return Outcome(killed, wanted, len(answered), stored, sum(answered.values()) - len(answered), exit_code)


def _start_run(command: list[str], project: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"OPENAI_API_KEY": "unused"}
    return subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--trials", type=int, default=40, help="of each single-turn entry of core")
    parser.add_argument("--workers", type=int, default=0, help="-n of pytest-xdist")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    started = time.time()
    with tempfile.TemporaryDirectory() as folder:
        outcome = killed_runs(Path(folder), given.kills, given.trials, seed=given.seed, workers=given.workers)
    print(f"{outcome}; {time.time() - started:.0f} s")
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
