"""Live runs against ``fcbench serve``: how near they come to what the latency allows.

    python -m tests.performance.dispatch
    python -m tests.performance.dispatch --entries 6000 --concurrency 128 --workers 2 --max-ratio 1.15

Without options: all runs of the table in docs/performance.md, one after the other. The limit is the
time that the calls need when nothing but the endpoint takes any: entries / calls at once x latency.
Measured is the time from the first call to the last verdict; the wall time of the whole process, with
imports and the scorecard, stands beside it. Memory is the highest sum of resident sizes over all processes
of the run, shared pages counted in each. Exits with 1 if a ratio is above its maximum, or an entry did not
pass."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.suites import core
from tests.conftest import ROOT
from tests.served import served, stats

CONFTEST = """
import pathlib, time
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    del items[ENTRIES:]

class Clock:
    last = 0.0
    def pytest_runtest_logreport(self, report):
        self.last = time.time()
    def pytest_unconfigure(self):
        pathlib.Path("last.txt").write_text(str(self.last))

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Clock())
"""
"""Takes so many entries and keeps the time of the last report."""

BLOCKING = """
import itertools, json, os, pathlib
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
import litellm, pytest

REQUESTS = json.loads(pathlib.Path("requests.json").read_text())
litellm.suppress_debug_info = True

@pytest.mark.parametrize("request_", list(itertools.islice(itertools.cycle(REQUESTS), ENTRIES)), ids=str)
def test_call(request_):
    reply = litellm.completion(model="openai/oracle", api_base="API_BASE", api_key="unused", **request_)
    assert reply.choices
"""
"""What a benchmark without a dispatcher does: each worker makes one call at a time."""


@dataclass(frozen=True)
class Scenario:
    """One run. A blocking one has as many calls in flight as workers."""

    entries: int
    concurrency: int
    latency_s: float = 1.0
    workers: int = 0
    most: float | None = None
    blocking: bool = False
    model: str = "openai/oracle"
    """Asked directly; ``litellm:openai/oracle`` goes through litellm."""

    @property
    def limit_s(self) -> float:
        at_once = self.workers if self.blocking else self.concurrency
        return math.ceil(self.entries / at_once) * self.latency_s

    def __str__(self) -> str:
        kind = "blocking" if self.blocking else f"{self.concurrency} at once"
        return f"{self.entries:>6} {kind:<12} -n {self.workers}"


SCENARIOS = (
    Scenario(6000, 128, most=1.10),
    Scenario(6000, 128, workers=2, most=1.15),
    Scenario(400, 64),
    Scenario(400, 64, workers=2),
    Scenario(400, 8, workers=8, blocking=True),
)


@dataclass(frozen=True)
class Result:
    """Seconds and megabytes of a run."""

    run_s: float
    wall_s: float
    sum_mb: float
    worker_mb: float
    """Of the largest xdist worker."""


def run_scenario(scenario: Scenario) -> Result:
    """Run against a server of its own; raise ``AssertionError`` if an entry did not pass."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served("--model", "oracle", "--latency", f"{scenario.latency_s:g}") as api_base,
    ):
        project = Path(folder)
        (project / "conftest.py").write_text(CONFTEST.replace("ENTRIES", str(scenario.entries)))
        options = (
            _prepare_blocking(scenario, project, api_base)
            if scenario.blocking
            else _prepare_ours(scenario, project)
        )
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            *options,
            "-n",
            str(scenario.workers),
        ]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"OPENAI_API_KEY": "unused", "OPENAI_API_BASE": api_base, "TERM": "dumb"}
        started = time.time()
        with (project / "out.txt").open("w") as out:
            process = psutil.Popen(command, cwd=project, env=environment, stdout=out, stderr=out)
            sum_mb, worker_mb = _watch_memory(process)
        wall_s = time.time() - started
        text = (project / "out.txt").read_text()
        assert process.returncode == 0, text[-3000:]
        assert f"{scenario.entries} passed" in text, text[-3000:]
        last = float((project / "last.txt").read_text())
        return Result(last - stats(api_base)["first_request"], wall_s, sum_mb, worker_mb)


def _prepare_ours(scenario: Scenario, project: Path) -> list[str]:
    shutil.copytree(ROOT / "benchmarks", project / "benchmarks")
    trials = math.ceil(scenario.entries / len(_load_single_turn()))
    at_once = f"--fcbench-concurrency={scenario.concurrency}"
    return [
        f"--fcbench-model={scenario.model}",
        "--fcbench-category=single_turn",
        f"--fcbench-trials={trials}",
        at_once,
        "--fcbench-profile=corrected",
    ]


def _load_single_turn() -> list[Entry]:
    suite = core.open_suite(Path())
    return [entry for c in suite.categories if c.single_turn and c.scored for entry in suite.load(c)]


def _prepare_blocking(scenario: Scenario, project: Path, api_base: str) -> list[str]:
    wording = core.open_suite(Path()).wording
    asked = [
        presenting.build_first_request(entry, wording, Prompting.make_default(Mode.FC))
        for entry in _load_single_turn()
    ]
    requests = [{"messages": request.messages, "tools": request.tools or None} for request in asked]
    (project / "requests.json").write_text(json.dumps(requests, default=dict))
    text = BLOCKING.replace("ENTRIES", str(scenario.entries)).replace("API_BASE", api_base)
    (project / "test_blocking.py").write_text(text)
    return ["-p", "no:fcbench", "test_blocking.py"]


def _watch_memory(process: psutil.Popen) -> tuple[float, float]:
    """Return the highest sum of memory over all processes, and of any worker, in MB, until the run ends."""
    most, worker = 0, 0
    while True:
        try:
            process.wait(0.5)
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
            sizes = [size for child in process.children(recursive=True) if (size := _read_memory(child))]
            most = max(most, _read_memory(process) + sum(sizes))
            worker = max([worker, *sizes])
        else:
            return most / 2**20, worker / 2**20


def _read_memory(process: psutil.Process) -> int:
    try:
        size: int = process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0
    return size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--entries", type=int)
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds")
    parser.add_argument("--workers", type=int, default=0, help="-n of pytest-xdist")
    parser.add_argument("--max-ratio", type=float)
    parser.add_argument("--model", default="openai/oracle", help="litellm:openai/oracle goes through litellm")
    given = parser.parse_args()
    one = Scenario(given.entries or 0, given.concurrency, given.latency, given.workers, given.max_ratio)
    scenarios = [replace(each, model=given.model) for each in ([one] if given.entries else SCENARIOS)]
    print(f"{'':<28}    limit  calls to verdicts  ratio    max  whole process  memory   worker")
    failed = False
    for scenario in scenarios:
        result = run_scenario(scenario)
        ratio = result.run_s / scenario.limit_s
        failed |= scenario.most is not None and ratio > scenario.most
        most = "" if scenario.most is None else f"{scenario.most:.2f}"
        print(
            f"{scenario!s:<28} {scenario.limit_s:>6.1f} s {result.run_s:>16.1f} s {ratio:>6.2f} {most:>6}"
            f" {result.wall_s:>12.1f} s {result.sum_mb:>4.0f} MB  {result.worker_mb:>3.0f} MB",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
