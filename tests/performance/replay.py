"""1,390 published answers judged: our whole process beside ``bfcl evaluate`` on the same files.

    python -m tests.performance.replay REPLAY_FOLDER/MODEL [--bfcl PATH_OF_THE_BFCL_COMMAND] [--runs 3]

Needs the pack (``fcbench pull bfcl``). Without ``--bfcl`` only ours is measured. The official command
gets a fresh result root each time, because it slows down as its score folder fills.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.performance.measure import WITH_FAILURES, Cost, format_ratios, measure_command, select_best

ROOT = Path(__file__).parents[2]


def measure_ours(results: Path) -> Cost:
    command = [sys.executable, "-m", "pytest", "benchmarks", "-q", "--fcbench-suite=bfcl"]
    command += ["--fcbench-category=non_live", f"--fcbench-model=replay:{results}"]
    with tempfile.TemporaryDirectory() as folder:
        command += [f"--fcbench-scorecard={folder}/scorecard.json"]
        return measure_command(command, ROOT, codes=WITH_FAILURES)


def measure_official(results: Path, bfcl: Path) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(results, Path(folder) / "result" / results.name)
        command = [str(bfcl), "evaluate", "--model", results.name, "--test-category", "non_live"]
        return measure_command(
            command, Path(folder), {"BFCL_PROJECT_ROOT": folder, "OPENAI_API_KEY": "unused"}
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--bfcl", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    results = chosen.results.resolve()
    mine, theirs = [], []
    for _ in range(chosen.runs):
        mine.append(measure_ours(results))
        if chosen.bfcl:
            theirs.append(measure_official(results, chosen.bfcl))
    print(f"pytest benchmarks (with its JSON report)  {select_best(mine)}")
    if theirs:
        print(f"bfcl evaluate                             {select_best(theirs)}")
        print(f"ours / official                           {format_ratios(*map(select_best, (mine, theirs)))}")


if __name__ == "__main__":
    main()
