"""A suite of the size of ComplexFuncBench: what reading it takes, and a live run beside what latency allows.

    python -m tests.performance.complexfuncbench [--megabytes 80]
    python -m tests.performance.complexfuncbench --live [--latency 0.2] [--concurrency 64] [--max-ratio 1.15]

Writes a synthetic file of 1,000 entries and makes a pack of it. The first opens the suite in a process of
its own: time and memory of the first load of each category.

The second puts all entries to the oracle. Its limit is the critical path: the calls of an entry one after
the other, entries in their order, so many at once, each call as long as the latency. Measured is the time
from the first call to the last answer: with a call that takes the latency and nothing else, which is what
our part adds (exits with 1 above ``--max-ratio``), and over HTTP with ``fcbench serve``, each with and
without workers. Beside that stands what litellm alone needs for the same requests in one process when the
endpoint takes no time at all. Memory is the highest resident size of
pytest's process and of the largest xdist worker.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.script import name_runner
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.server.lookup import list_requests
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.complexfuncbench import NAME, SOURCE
from pytest_fcbench.suites.registry import open_suite
from tests.complexfuncbench import write_file
from tests.conftest import ROOT
from tests.performance.multi_turn import count_steps, time_litellm
from tests.served import served


def _read_memory_mb(process: psutil.Process | None = None) -> float:
    return float((process or psutil.Process()).memory_info().rss) / 2**20


def read_suite(cache: Path) -> None:
    """Print what each category costs; all entries are kept, as in a run."""
    before, kept = _read_memory_mb(), []
    begun = time.perf_counter()
    suite = open_suite(NAME, cache)
    print(f"{'open':<12} {time.perf_counter() - begun:6.2f} s")
    for category in suite.categories:
        started = time.perf_counter()
        entries = suite.load(category)
        kept.append(entries)
        print(
            f"{category.name:<12} {time.perf_counter() - started:6.2f} s  {len(entries):4} entries"
            f"  {_read_memory_mb() - before:6.0f} MB so far"
        )
    print(f"{'all':<12} {time.perf_counter() - begun:6.2f} s  {sum(map(len, kept)):4} entries")


@dataclass(frozen=True)
class Cost:
    """What a run took."""

    calls: int
    run_s: float
    """From the first call to the last answer."""
    wall_s: float
    """Of the process."""
    own_mb: float
    worker_mb: float
    scorecard_mb: float


def measure_live(cache: Path, latency_s: float, concurrency: int) -> float:
    """Print the runs beside the critical path and return the ratio of the first."""
    suite = open_suite(NAME, cache)
    entries = [entry for category in suite.categories for entry in suite.load(category)]
    # The oracle is asked as any model is that no runner is made for.
    driven = PathSettings(Profile.OFFICIAL, runner=name_runner("oracle"))
    setting = ConversationContext(ModelPresentation("oracle", Prompting.make_default(Mode.FC)), suite, driven)
    conversations = [list(list_requests(entry, setting, OracleModel)) for entry in entries]
    requests = [request for conversation in conversations for request in conversation]
    path_s = count_steps(list(map(len, conversations)), concurrency) * latency_s
    sent = sum(len(json.dumps([r.messages, r.tools], ensure_ascii=False)) for r in requests)
    print(f"{len(requests)} calls, {concurrency} at once, {latency_s:g} s each, {sent / 1e6:.0f} MB are sent")
    print(f"{'critical path':<34} {path_s:6.1f} s")

    def print_cost(name: str, cost: Cost) -> float:
        assert cost.calls == len(requests), f"{cost.calls} calls were made"
        worker = f"  worker {cost.worker_mb:4.0f} MB" if cost.worker_mb else ""
        print(
            f"{name:<34} {cost.run_s:6.1f} s {cost.run_s / path_s:5.2f}  process {cost.wall_s:5.1f} s"
            f" {cost.own_mb:4.0f} MB{worker}  scorecard {cost.scorecard_mb:.1f} MB",
            flush=True,
        )
        return cost.run_s / path_s

    ratios = [
        print_cost(
            f"run, -n {n}", _run_benchmark(cache, "oracle", concurrency, n, f"--latency={latency_s:g}")
        )
        for n in (0, 2)
    ]
    with _serve_indexed(cache, requests[0], latency_s) as api_base:
        asked = ("hosted_vllm/oracle", concurrency)
        options = (f"--fcbench-api-base={api_base}", "--fcbench-tag", "--latency=0")
        for n in (0, 2):
            print_cost(f"run over HTTP, -n {n}", _run_benchmark(cache, *asked, n, *options))
    with _serve_indexed(cache, requests[0], 0) as api_base:
        alone_s = asyncio.run(time_litellm(requests, api_base, concurrency))
    print(f"{'litellm alone, no latency':<34} {alone_s:6.1f} s {alone_s / path_s:5.2f}")
    return ratios[0]


@contextmanager
def _serve_indexed(cache: Path, request: AskModel, latency_s: float) -> Iterator[str]:
    """Serve with the index, which is made at the first request."""
    os.environ["FCBENCH_CACHE"] = str(cache)
    with served("--model", "oracle", "--suite", NAME, "--latency", f"{latency_s:g}") as api_base:
        asyncio.run(time_litellm([request], api_base, 1))
        yield api_base


def _run_benchmark(cache: Path, model: str, concurrency: int, workers: int, *options: str) -> Cost:
    """Run all entries; raise ``AssertionError`` if one fails."""
    with tempfile.TemporaryDirectory() as folder:
        calls, card, out = (Path(folder) / name for name in ("calls.json", "scorecard.json", "out.txt"))
        command = [sys.executable, "-m", "pytest", "benchmarks/test_complex.py", "-q", "-n", str(workers)]
        command += [f"--fcbench-suite={NAME}", "--fcbench-category=complex", "--fcbench-store=none"]
        command += [f"--fcbench-model={model}", f"--fcbench-concurrency={concurrency}"]
        command += [f"--fcbench-scorecard={card}", "-p", "no:cacheprovider"]
        command += ["-p", "tests.performance.latent", f"--calls={calls}", *options]
        environment = os.environ | {"FCBENCH_CACHE": str(cache)}
        started = time.perf_counter()
        with out.open("w") as file:
            process = psutil.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=file)
            own_mb, worker_mb = _watch_memory(process)
        wall_s = time.perf_counter() - started
        text = out.read_text()
        assert "1000 passed" in text, text[-3000:]
        made, run_s = json.loads(calls.read_text())
        return Cost(made, run_s, wall_s, own_mb, worker_mb, card.stat().st_size / 1e6)


def _watch_memory(process: psutil.Popen) -> tuple[float, float]:
    """Return the highest memory of a process and of any child, in MB, until it ends."""
    own, worker = 0.0, 0.0
    while True:
        try:
            process.wait(0.2)
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
            own = max(own, _read_memory_mb(process))
            for child in process.children():
                try:
                    worker = max(worker, _read_memory_mb(child))
                except psutil.NoSuchProcess:
                    continue
        else:
            return own, worker


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=80, help="of replies")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--max-ratio", type=float, default=1.15)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        file = write_file(cache / "file.jsonl", megabytes=chosen.megabytes)
        print(f"{'file':<12} {file.stat().st_size / 2**20:6.1f} MB")
        started = time.perf_counter()
        packs.pull(SOURCE, cache, file)
        print(f"{'pull --from':<12} {time.perf_counter() - started:6.2f} s")
        if chosen.live:
            return int(measure_live(cache, chosen.latency, chosen.concurrency) > chosen.max_ratio)
        reader = multiprocessing.get_context("spawn").Process(target=read_suite, args=(cache,))
        reader.start()
        reader.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
