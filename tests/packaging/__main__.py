"""The wheel on other Pythons, with the lowest and with the newest versions of what it requires.

    python -m tests.packaging 3.11:lowest 3.13:newest --tests tests/plugin tests/models

Each Python is one that ``uv venv --python`` finds, a version or a path. In a fresh environment the wheel is
installed with all extras, its benchmarks run ``core`` in an empty folder, and tests are run, ``TESTS`` where
none are named. Needs ``uv`` and a package index. Exit code 1 where something failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.registry import EXTRAS
from tests.conftest import ROOT
from tests.packaging.installed import build_distribution
from tests.packaging.test_files import PROJECT

RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
TESTS = tuple(
    f"tests/{name}"
    for name in (
        *(
            "cli",
            "codecs/function_docs",
            "codecs/decoders/test_java.py",
            "codecs/decoders/test_javascript.py",
            "kinds/sql",
        ),
        *("models", "packaging", "plugin", "present", "server", "suites/packs", "web"),
        *("domain/test_price.py", "environments/api/test_math.py", "kinds/golden_path/test_assignment.py"),
        *("scorecard/aggregate/test_format_sensitivity.py", "scorecard/compare/test_paired.py"),
        *("test_architecture.py", "tools/test_contamination_study.py", "tools/test_prompt_probabilities.py"),
    )
)
"""What comes near to a package of somebody else, and whole runs."""
_OPTIONAL = PROJECT["optional-dependencies"]
REQUIRED = (*PROJECT["dependencies"], *(each for extra in EXTRAS for each in _OPTIONAL[extra]))
TOOLS = tuple(each for each in _OPTIONAL["dev"] if not each.startswith("pytest-fcbench"))
_TOLD = ("pytest", "litellm", "numpy")


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one Python."""

    python: str
    resolution: str
    versions: Sequence[str]
    core: Mapping[str, int]
    tests: Mapping[str, int]
    seconds: float

    @property
    def good(self) -> bool:
        """Whether all that was tried worked."""
        wrong = self.tests.get("failed") or {"error", "errors"} & {*self.core, *self.tests}
        return bool(self.core.get("passed") and self.tests.get("passed") and not wrong)

    def __str__(self) -> str:
        right, wrong = (self.core.get(word, 0) for word in ("passed", "failed"))
        told = (self.tests.get(word, 0) for word in ("passed", "failed", "skipped"))
        cells = (
            self.python,
            self.resolution,
            *self.versions,
            f"{right} of {right + wrong}",
            *told,
            f"{self.seconds:.0f} s",
        )
        return f"| {' | '.join(map(str, cells))} |"


HEAD = ("Python", "versions", *_TOLD, "core", "passed", "failed", "skipped", "time")


def main() -> int:
    """Try each Python, print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.packaging")
    parser.add_argument("python", nargs="+", type=_parse_python, help="PYTHON:lowest or PYTHON:newest")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="what of the tests is run")
    parser.add_argument("--workers", default="2", help="of the tests (2)")
    parser.add_argument("--keep", type=Path, help="a folder for the environments and what pytest wrote")
    chosen = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = (chosen.keep or Path(scratch)).resolve()
        wheel = build_distribution("wheel", folder / "wheel")
        for python, resolution in chosen.python:
            own = folder / f"{python.strip('/').replace('/', '_')}-{resolution}"
            row = try_python(python, resolution, wheel, own, [*chosen.tests, "-n", chosen.workers])
            print(row, flush=True)
            good = good and row.good
    return 0 if good else 1


def _parse_python(word: str) -> tuple[str, str]:
    python, _, resolution = word.rpartition(":")
    if not python or resolution not in RESOLUTIONS:
        raise argparse.ArgumentTypeError(f"{word}: must be PYTHON:lowest or PYTHON:newest")
    return python, resolution


def try_python(python: str, resolution: str, wheel: Path, folder: Path, tests: Sequence[str]) -> Row:
    """Try the wheel under one Python, in a folder of its own."""
    began = time.monotonic()
    own = folder / "environment" / "bin" / "python"
    _run_uv("venv", "--quiet", "--python", python, str(folder / "environment"))
    install = ("pip", "install", "--quiet", "--no-build", "--python", str(own))
    # Named one by one: what a wheel asks for is nobody's direct wish, and would come in its newest version.
    _run_uv(*install, "--resolution", RESOLUTIONS[resolution], *REQUIRED)
    (found := folder / "found.txt").write_text(_run_uv("pip", "freeze", "--python", str(own)))
    _run_uv(*install, "--constraints", str(found), *TOOLS)  # which must not bring newer ones
    _run_uv(*install, "--no-deps", str(wheel))
    _run_uv("pip", "check", "--quiet", "--python", str(own))
    (empty := folder / "empty").mkdir()
    core = _count_outcomes(own, empty, "--pyargs", "pytest_fcbench.benchmarks", "--fcbench-model=lexical")
    passed = _count_outcomes(own, ROOT, "-q", "-p", "no:cacheprovider", "--dist", "worksteal", *tests)
    told = _read_versions(own)
    return Row(told[0], resolution, told[1:], core, passed, time.monotonic() - began)


def _read_versions(python: Path) -> Sequence[str]:
    """Return the version of Python, and those of the packages that are told."""
    lines = ("import platform", "from importlib.metadata import version", "print(platform.python_version())")
    code = "\n".join((*lines, f"print(*map(version, {_TOLD}))"))
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def _run_uv(*words: str) -> str:
    done = subprocess.run(["uv", *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"failed: uv {' '.join(words)}")
    return done.stdout


def _count_outcomes(python: Path, folder: Path, *options: str) -> Mapping[str, int]:
    """Run pytest and count what passed, failed and so on; its output goes to a file."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    log = python.parents[2] / f"{folder.name}.txt"
    with log.open("w") as file:
        subprocess.run(
            [python, "-m", "pytest", *options], cwd=folder, env=environ, stdout=file, stderr=file, check=False
        )
    last = (log.read_text().splitlines() or [""])[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) ([a-z]+)", last)}


if __name__ == "__main__":
    sys.exit(main())
