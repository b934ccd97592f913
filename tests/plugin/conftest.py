"""A benchmark project in a folder of its own, run by a real pytest."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fcbench.models.providers import litellm
from pytest_fcbench.suites import core
from tests.conftest import ROOT
from tests.forks.processes import forked_workers, run_command

# A run in this process forgets what it was the first to import, and numpy can be imported only once.
litellm.import_litellm()
for module in ("aiohttp", "lxml.html", "numpy", "sqlglot", "tree_sitter"):
    importlib.import_module(module)

SCORED = tuple(category.name for category in core.open_suite(Path()).categories if category.scored)
"""The categories that run without options."""

_UNUSED = ("cacheprovider", "hypothesispytest", "anyio", "allure_pytest", "rerunfailures", "timeout")
PLUGINS = tuple(argument for name in _UNUSED for argument in ("-p", f"no:{name}"))
"""Without those that have no part in a run, but take a quarter of the time in which a worker starts."""


def size(*categories: str) -> int:
    """Count the entries of the suite core in these categories."""
    suite = core.open_suite(Path())
    return sum(len(suite.load(category)) for category in suite.categories if category.name in categories)


@dataclass(frozen=True)
class Project:
    """The repository's benchmarks in an empty folder."""

    pytester: pytest.Pytester

    @property
    def path(self) -> Path:
        return self.pytester.path

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *options: str) -> pytest.RunResult:
        """Run pytest in this process; workers of xdist are processes of their own, forked."""
        with forked_workers():
            return self.pytester.runpytest_inprocess(*PLUGINS, *options)

    def run_apart(self, *options: str) -> pytest.RunResult:
        """Run pytest in a process of its own, which is forked and so has imported everything."""
        started = time.perf_counter()
        done = run_command("pytest", *PLUGINS, *options, folder=self.path)
        print(done.stdout, done.stderr, sep="\n")
        lines = done.stdout.splitlines(), done.stderr.splitlines()
        return pytest.RunResult(done.returncode, *lines, time.perf_counter() - started)

    def run_fresh(self, *options: str) -> pytest.RunResult:
        """Run pytest in a process of its own that imports everything itself."""
        return self.pytester.runpytest_subprocess(*PLUGINS, *options)

    def fcbench(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own."""
        return run_command("fcbench", *options, folder=self.path)

    def scorecard(self, name: str = "scorecard.json") -> Mapping[str, object]:
        report: Mapping[str, object] = json.loads((self.path / name).read_text())
        return report

    def records(self, scorecard: str = "scorecard.json") -> dict[str, dict[str, object]]:
        """Return the Records of a scorecard by entry."""
        tests = self.scorecard(scorecard)["tests"]
        assert isinstance(tests, list)
        found = [test["metadata"]["fcbench"] for test in tests if "fcbench" in test.get("metadata", {})]
        return {record["entry"]: record for record in found}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    shutil.copytree(
        ROOT / "benchmarks", pytester.path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__")
    )
    (pytester.path / "fcbench.yaml").write_text("model: oracle\n")
    return Project(pytester)
