"""Test the tests: ``python -m tests.mutation kinds/calls [--tests tests/kinds/calls] [--show]``.

mutmut changes the functions of a file or folder of the package one place at a time (``<`` becomes ``<=``) and
runs its tests: a change that no test notices has survived. It works on a copy of the checkout. Without
``--tests`` the tests at the same place below ``tests`` are run. Needs the extra ``mutation``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.house import PACKAGE, ROOT

COPIED = (
    PACKAGE,
    "tests",
    "benchmarks",
    "docs",
    "conftest.py",
    "fcbench.yaml",
    "pyproject.toml",
    "README.md",
)
SURVIVED = ("survived", "no tests", "timeout", "suspicious")


def find_tests(source: str, root: Path = ROOT) -> str:
    """Return the tests that mirror a file or folder of the package."""
    mirrored = root / "tests" / source.removesuffix(".py")
    test = mirrored if mirrored.is_dir() else mirrored.with_name(f"test_{mirrored.name}.py")
    if not test.exists():
        sys.exit(f"no tests at {test.relative_to(root)}: name them with --tests")
    return test.relative_to(root).as_posix()


def write_settings(folder: Path, source: str, tests: Sequence[str]) -> None:
    """Add the settings of mutmut to the pyproject.toml of a copy."""
    pattern = f"{PACKAGE}/{source}" if source.endswith(".py") else f"{PACKAGE}/{source}/**/*.py"
    values = {
        "source_paths": [PACKAGE],
        "only_mutate": [pattern, pattern.replace("**/", "")],
        "also_copy": [name for name in COPIED if name != PACKAGE],
        "pytest_add_cli_args": ["-n0", "-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": list(tests),
    }
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n" + "".join(f"{key} = {value!r}\n" for key, value in values.items()))


def run_mutmut(folder: Path, *words: str) -> str:
    """Run mutmut in a copy and return what it printed."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if str(ROOT) != path)}
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", *words], cwd=folder, env=environ, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"mutmut {' '.join(words)} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def main() -> None:
    """Print how many mutants were killed, and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", help="file or folder below pytest_fcbench, such as kinds/calls")
    parser.add_argument("--tests", nargs="+", help="tests to run (those at the same place)")
    parser.add_argument("--workers", default="2", help="mutants that are tried at once (2)")
    parser.add_argument("--show", action="store_true", help="print the change of each survivor")
    options = parser.parse_args()
    tests = options.tests or [find_tests(options.source)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, folder / name)
        write_settings(folder, options.source, tests)
        run_mutmut(folder, "run", "--max-children", options.workers)
        results = [
            line.strip().rpartition(": ")
            for line in run_mutmut(folder, "results", "--all", "true").splitlines()
            if ": " in line
        ]
        print(", ".join(f"{count} {state}" for state, count in Counter(r[2] for r in results).most_common()))
        for name, _, state in results:
            if state in SURVIVED:
                print(f"{state}: {name}")
                if options.show:
                    print(run_mutmut(folder, "show", name))


if __name__ == "__main__":
    main()
