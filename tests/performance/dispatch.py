"""Live runs against ``fcbench serve``: how near they come to what the latency allows.

    python -m tests.performance.dispatch
    python -m tests.performance.dispatch --entries 6000 --concurrency 128 --workers 2 --max-ratio 1.15
    python -m tests.performance.dispatch --entries 6000 --latency 0.1 --workers 2 --peer bare

Without options: all runs of the table in docs/project/performance.md, one after the other. The limit is the
time that the calls need when nothing but the endpoint takes any: entries / calls at once x latency.
Measured is the time from the first call to the last verdict; the wall time of the whole process, with
imports and the scorecard, stands beside it. Memory is the highest sum of resident sizes over all processes
of the run, shared pages counted in each. A peer runs without this plugin: ``blocking`` makes one call in each
test through litellm, ``bare`` makes them beside empty tests with plain aiohttp and reads nothing of the
replies. Exits with 1 if a ratio is above its maximum, or an entry did not
pass."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
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

EMPTY = """
import pytest

@pytest.mark.parametrize("number", range(ENTRIES))
def test_nothing(number):
    pass
"""

CALLER = """
import asyncio, itertools, json, pathlib, threading, time
import aiohttp

REQUESTS = json.loads(pathlib.Path("requests.json").read_text())

async def make_calls():
    waiting = itertools.islice(itertools.cycle(REQUESTS), ENTRIES)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def make_calls_in_turn():
            for request in waiting:
                body = {"model": "oracle", **request}
                async with session.post("API_BASE/chat/completions", json=body) as reply:
                    assert (await reply.json())["choices"]
        await asyncio.gather(*(make_calls_in_turn() for _ in range(CONCURRENCY)))

class Caller:
    thread = None
    def pytest_runtest_logstart(self):
        if self.thread is None:
            # A thread that makes calls beside tests that never wait gets its first one off late.
            pathlib.Path("first.txt").write_text(str(time.time()))
            self.thread = threading.Thread(target=lambda: asyncio.run(make_calls()))
            self.thread.start()
    def pytest_sessionfinish(self):
        if self.thread is not None and self.thread.is_alive():
            self.thread.join()
            pathlib.Path("last_call.txt").write_text(str(time.time()))

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Caller())
"""
"""Makes the calls while the tests run, in the process that collects their reports."""

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


class Peer(StrEnum):
    """What runs instead of this plugin."""

    BLOCKING = "blocking"
    BARE = "bare"


PEERS: Mapping[Peer, Mapping[str, str]] = {
    Peer.BLOCKING: {"test_calls.py": BLOCKING},
    Peer.BARE: {"test_calls.py": EMPTY, "caller.py": CALLER},
}
"""The files of each peer."""


@dataclass(frozen=True)
class Scenario:
    """One run. A blocking one has as many calls in flight as workers."""

    entries: int
    concurrency: int
    latency_s: float = 1.0
    workers: int = 0
    most: float | None = None
    peer: Peer | None = None
    model: str = "openai/oracle"
    """Asked directly; ``litellm:openai/oracle`` goes through litellm."""

    @property
    def limit_s(self) -> float:
        at_once = self.workers if self.peer is Peer.BLOCKING else self.concurrency
        return math.ceil(self.entries / at_once) * self.latency_s

    def __str__(self) -> str:
        kind = self.peer or f"{self.concurrency} at once"
        return f"{self.entries:>6} {kind:<12} -n {self.workers}"


SCENARIOS = (
    Scenario(6000, 128, most=1.10),
    Scenario(6000, 128, workers=2, most=1.15),
    Scenario(400, 64),
    Scenario(400, 64, workers=2),
    Scenario(400, 8, workers=8, peer=Peer.BLOCKING),
)


@dataclass(frozen=True)
class Result:
    """Seconds and megabytes of a run."""

    first_s: float
    """From the start of the process to the first call."""
    run_s: float
    wall_s: float
    cpu_s: float
    """Seconds of processors, of pytest and its workers without the server."""
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
            _prepare_peer(scenario, scenario.peer, project, api_base)
            if scenario.peer
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
        started, cpu_before_s = time.time(), _read_children_cpu_s()
        with (project / "out.txt").open("w") as out:
            process = psutil.Popen(command, cwd=project, env=environment, stdout=out, stderr=out)
            sum_mb, worker_mb = _watch_memory(process)
        wall_s, cpu_s = time.time() - started, _read_children_cpu_s() - cpu_before_s
        text = (project / "out.txt").read_text()
        assert process.returncode == 0, text[-3000:]
        assert f"{scenario.entries} passed" in text, text[-3000:]
        first = min([stats(api_base)["first_request"], *_read_times(project, "first.txt")])
        last = max(_read_times(project, "last*.txt"))
        return Result(first - started, last - first, wall_s, cpu_s, sum_mb, worker_mb)


def _read_children_cpu_s() -> float:
    """Return the processor seconds of child processes that have ended and their own."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _read_times(project: Path, names: str) -> list[float]:
    return [float(file.read_text()) for file in project.glob(names)]


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


def _prepare_peer(scenario: Scenario, peer: Peer, project: Path, api_base: str) -> list[str]:
    wording = core.open_suite(Path()).wording
    asked = [
        presenting.build_first_request(entry, wording, Prompting.make_default(Mode.FC))
        for entry in _load_single_turn()
    ]
    requests = [
        {"messages": request.messages} | ({"tools": request.tools} if request.tools else {})
        for request in asked
    ]
    (project / "requests.json").write_text(json.dumps(requests, default=dict))
    values = {
        "ENTRIES": str(scenario.entries),
        "CONCURRENCY": str(scenario.concurrency),
        "API_BASE": api_base,
    }
    for name, text in PEERS[peer].items():
        written = re.sub("|".join(values), lambda found: values[found[0]], text)
        (project / name).write_text(written)
    reporting = ["--json-report", "--json-report-omit", "collectors", "keywords", "log", "streams"]
    options = [*reporting, "-p", "caller"] if peer is Peer.BARE else []
    return [*options, "-p", "no:fcbench", "test_calls.py"]


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
    parser.add_argument("--peer", type=Peer, choices=list(Peer), help="run this instead of the plugin")
    given = parser.parse_args()
    one = Scenario(
        given.entries or 0, given.concurrency, given.latency, given.workers, given.max_ratio, given.peer
    )
    scenarios = [replace(each, model=given.model) for each in ([one] if given.entries else SCENARIOS)]
    columns = "limit first call  calls to verdicts  ratio    max  whole process     CPU  memory   worker"
    print(f"{'':<28}    {columns}")
    failed = False
    for scenario in scenarios:
        result = run_scenario(scenario)
        ratio = result.run_s / scenario.limit_s
        failed |= scenario.most is not None and ratio > scenario.most
        most = "" if scenario.most is None else f"{scenario.most:.2f}"
        print(
            f"{scenario!s:<28} {scenario.limit_s:>6.1f} s {result.first_s:>8.2f} s {result.run_s:>16.1f} s"
            f" {ratio:>6.2f} {most:>6} {result.wall_s:>12.1f} s {result.cpu_s:>5.1f} s"
            f" {result.sum_mb:>4.0f} MB  {result.worker_mb:>3.0f} MB",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
