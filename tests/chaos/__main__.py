"""Play rounds of chaos until the time is over: ``python -m tests.chaos [--minutes 60] [--seed N]``.

Each round prints a line with its number, by which it can be played again: ``--seed N --minutes 0``. Exits
with 1 if anything went wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.rounds import draw_round, run_round


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="number of the first round")
    given = parser.parse_args()
    number = int(time.time()) if given.seed is None else given.seed
    until, rounds, wrong = time.monotonic() + 60 * given.minutes, 0, 0
    while not rounds or time.monotonic() < until:
        drawn, started = draw_round(number), time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="chaos-"))
        outcome = run_round(drawn, folder)
        took = f"{time.monotonic() - started:.0f} s, {outcome.memory >> 20} MiB"
        print(f"{drawn}: {took}, {len(outcome.faults)} faults", flush=True)
        for fault in outcome.faults:
            print(f"  {fault}", flush=True)
        # What went wrong stays to be looked at.
        if not outcome.faults:
            shutil.rmtree(folder)
        wrong, rounds, number = wrong + bool(outcome.faults), rounds + 1, number + 1
    print(f"{rounds} rounds, {wrong} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
