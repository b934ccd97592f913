"""Reading a suite of the size of ComplexFuncBench: time and memory of the first load of each category.

    python -m tests.performance.complexfuncbench [--megabytes 80]

Writes a synthetic file, makes a pack of it, and opens the suite in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path

import psutil

from pytest_fcbench.suites import open_suite, packs
from pytest_fcbench.suites.complexfuncbench import SOURCE
from tests.complexfuncbench import write


def _memory_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def read_suite(cache: Path) -> None:
    """Print what each category costs; all entries are kept, as in a run."""
    before, kept = _memory_mb(), []
    begun = time.perf_counter()
    suite = open_suite("complexfuncbench", cache)
    print(f"{'open':<12} {time.perf_counter() - begun:6.2f} s")
    for category in suite.categories:
        started = time.perf_counter()
        entries = suite.load(category)
        kept.append(entries)
        print(
            f"{category.name:<12} {time.perf_counter() - started:6.2f} s  {len(entries):4} entries"
            f"  {_memory_mb() - before:6.0f} MB so far"
        )
    print(f"{'all':<12} {time.perf_counter() - begun:6.2f} s  {sum(map(len, kept)):4} entries")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=80, help="of replies")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder) / "file.jsonl", megabytes=chosen.megabytes)
        print(f"file         {file.stat().st_size / 2**20:6.1f} MB")
        started = time.perf_counter()
        packs.pull(SOURCE, Path(folder), file)
        print(f"pull --from  {time.perf_counter() - started:6.2f} s")
        reader = multiprocessing.get_context("spawn").Process(target=read_suite, args=(Path(folder),))
        reader.start()
        reader.join()


if __name__ == "__main__":
    main()
