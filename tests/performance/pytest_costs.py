"""What the plugin costs a run that does not use it, and what failures cost a run that has many.

python -m tests.performance.pytest_costs [--runs 5]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.performance.measure import WITH_FAILURES, Cost, measure_command, select_best

ROOT = Path(__file__).parents[2]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def measure_unused(runs: int) -> tuple[Cost, Cost]:
    """Measure a run of one unrelated test with the plugin installed, and with it switched off."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_plain.py").write_text("def test_plain():\n    pass\n")
        pairs = [
            (
                measure_command(PYTEST, Path(folder)),
                measure_command([*PYTEST, "-p", "no:fcbench"], Path(folder)),
            )
            for _ in range(runs)
        ]
    return select_best([pair[0] for pair in pairs]), select_best([pair[1] for pair in pairs])


def measure_failing(runs: int) -> tuple[Cost, Cost]:
    """Measure all entries of bfcl answered with a call of no offered function, and answered right."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "wrong.yaml"
        script.write_text("answers: {}\ndefault:\n  - no_such_function: {x: 1}\n")
        common = [
            *PYTEST,
            "benchmarks",
            "--fcbench-suite=bfcl",
            f"--fcbench-scorecard={folder}/scorecard.json",
        ]
        pairs = [
            (
                measure_command([*common, f"--fcbench-model=scripted:{script}"], ROOT, codes=WITH_FAILURES),
                measure_command([*common, "--fcbench-model=oracle"], ROOT, codes=WITH_FAILURES),
            )
            for _ in range(runs)
        ]
    return select_best([pair[0] for pair in pairs]), select_best([pair[1] for pair in pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    installed, absent = measure_unused(runs)
    print(f"unrelated run, plugin installed  {installed}")
    print(f"unrelated run, plugin off        {absent}")
    print(f"cost of being installed          {1000 * (installed.wall_s - absent.wall_s):6.0f} ms (limit 30)")
    wrong, right = measure_failing(max(1, runs // 2))
    print(f"bfcl, all answered with a wrong call  {wrong}")
    print(f"bfcl, all answered right              {right}")
    print(f"failing / passing                    {wrong.wall_s / right.wall_s:6.2f} (limit 2)")


if __name__ == "__main__":
    main()
