"""Multi-turn entries: our environments beside the official ones, and a live run beside what latency allows.

    python -m tests.performance.multi_turn --official PATH_OF_A_PYTHON_WITH_BFCL_EVAL
    python -m tests.performance.multi_turn --live [--latency 0.2] [--concurrency 64] [--max-ratio 1.15]

Needs the pack (``fcbench pull bfcl``). The first carries out the ground truth of the 200 base entries, both
from the same call texts, each in a process of its own, best of five.

The second puts the official 800 entries to the oracle, from the first call to the last answer. Its limit is
the critical path: the calls of an entry one after the other, entries in their order, so many at once, each
call as long as the latency. Run twice: with a call that takes the latency and nothing else, which is what our
part adds (exits with 1 above ``--max-ratio``), and over HTTP against ``fcbench serve``, which has the same
processor. Beside that stands what litellm alone needs for the same requests in one process when the endpoint
takes no time at all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from heapq import heapreplace
from pathlib import Path

from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.server.lookup import list_requests
from pytest_fcbench.suites.registry import open_suite
from tests.conftest import ROOT
from tests.served import served, stats

_RUNS = 5

_OFFICIAL = """
import json, os, sys, time
os.environ["BFCL_PROJECT_ROOT"] = sys.argv[1]
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
rows = json.load(open(sys.argv[2]))
best = None
for run in range(int(sys.argv[3])):
    started = time.perf_counter()
    for row in rows:
        for calls in row["calls"]:
            multi_turn_utils.execute_multi_turn_func_call(
                calls, row["config"], row["classes"], f"run{run}", row["id"], False, True
            )
    took = time.perf_counter() - started
    best = took if best is None else min(best, took)
print(best)
"""


def time_ours() -> float:
    """Time the ground truth of the base entries in our environments, in seconds."""
    suite = open_suite("bfcl", find_cache_folder())
    entries = suite.load(CATEGORIES["multi_turn_base"])
    truths = [entry.expectation.turns for entry in entries if isinstance(entry.expectation, Trajectory)]

    def carry_out() -> None:
        for entry, turns in zip(entries, truths, strict=True):
            environments = open_environments(entry, suite.world)
            for calls in turns:
                environments.perform_calls(calls)

    return min(_time_work(carry_out) for _ in range(_RUNS))


def _time_work(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def time_official(python: str) -> float:
    """Time the same in the official executor, in seconds."""
    folder = find_cache_folder() / "packs" / "bfcl" / open_suite("bfcl", find_cache_folder()).version
    file = "BFCL_v4_multi_turn_base.json"
    questions = [json.loads(line) for line in (folder / file).read_text().splitlines()]
    answers = [json.loads(line) for line in (folder / "possible_answer" / file).read_text().splitlines()]
    rows = [
        {
            "id": question["id"],
            "classes": question["involved_classes"],
            "config": question["initial_config"],
            "calls": answer["ground_truth"],
        }
        for question, answer in zip(questions, answers, strict=True)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "rows.json"
        path.write_text(json.dumps(rows))
        command = [python, "-c", _OFFICIAL, scratch, str(path), str(_RUNS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def measure_live(latency_s: float, concurrency: int) -> float:
    """Print both runs beside the critical path and return the ratio of the first."""
    conversations = _list_conversations()
    path = count_steps([len(requests) for requests in conversations], concurrency) * latency_s
    with tempfile.TemporaryDirectory() as folder:
        calls = Path(folder) / "calls.json"
        latent = ["-p", "tests.performance.latent", f"--latency={latency_s:g}", f"--calls={calls}"]
        _run_benchmark("oracle", concurrency, *latent)
        made, ours_s = json.loads(calls.read_text())
    with served("--model", "oracle", "--suite", "bfcl", "--latency", f"{latency_s:g}") as api_base:
        _run_benchmark("hosted_vllm/oracle", concurrency, f"--fcbench-api-base={api_base}", "--fcbench-tag")
        done = stats(api_base)
    through = done["last_answer"] - done["first_request"]
    with served("--model", "oracle", "--suite", "bfcl") as api_base:
        alone = asyncio.run(
            time_litellm([r for requests in conversations for r in requests], api_base, concurrency)
        )
    print(f"{made} calls, {concurrency} at once, {latency_s:g} s each")
    print(f"critical path                      {path:6.1f} s")
    print(f"run                                {ours_s:6.1f} s {ours_s / path:6.2f}")
    print(f"run over HTTP                      {through:6.1f} s {through / path:6.2f}")
    print(f"litellm alone, no latency          {alone:6.1f} s {alone / path:6.2f}")
    return float(ours_s / path)


def count_steps(lengths: Sequence[int], at_once: int) -> int:
    """Count the steps until all are done when each free place takes the next."""
    ends = [0] * at_once
    for length in lengths:
        heapreplace(ends, ends[0] + length)
    return max(ends)


def _list_conversations() -> list[list[AskModel]]:
    suite = open_suite("bfcl", find_cache_folder())
    manner = ModelPresentation("oracle", Prompting.make_default(Mode.FC))
    setting = ConversationContext(manner, suite, PathSettings(Profile.OFFICIAL))
    return [
        list(list_requests(entry, setting, OracleModel))
        for name in SELECTIONS["multi_turn"]
        for entry in suite.load(CATEGORIES[name])
    ]


def _run_benchmark(model: str, concurrency: int, *options: str) -> None:
    """Run the 800; raise ``AssertionError`` if an entry fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "benchmarks/test_multi_turn.py", "-q", *options]
        command += ["--fcbench-suite=bfcl", "--fcbench-category=multi_turn", "--fcbench-store=none"]
        command += [f"--fcbench-model={model}", f"--fcbench-concurrency={concurrency}"]
        command += [f"--fcbench-scorecard={folder}/scorecard.json", "-p", "no:cacheprovider"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "800 passed" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]


async def time_litellm(requests: Sequence[AskModel], api_base: str, concurrency: int) -> float:
    """Time the requests with nothing around litellm, in seconds."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    from litellm import acompletion

    slots = asyncio.Semaphore(concurrency)

    async def ask(request: AskModel) -> None:
        async with slots:
            asked: Mapping[str, object] = {
                "model": "hosted_vllm/oracle",
                "api_base": api_base,
                "api_key": "x",
            }
            tools = [dict(tool) for tool in request.tools]
            messages = [dict(message) for message in request.messages]
            await acompletion(**asked, messages=messages, tools=tools, max_retries=0)

    await ask(requests[0])
    started = time.perf_counter()
    await asyncio.gather(*map(ask, requests))
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--official", metavar="PYTHON")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--max-ratio", type=float, default=1.15)
    chosen = parser.parse_args()
    if chosen.official:
        mine, theirs = time_ours(), time_official(chosen.official)
        print(
            f"ground truth of 200 base entries: {mine:.3f} s, officially {theirs:.3f} s, {mine / theirs:.2f}"
        )
    if chosen.live:
        return int(measure_live(chosen.latency, chosen.concurrency) > chosen.max_ratio)
    return 0


if __name__ == "__main__":
    sys.exit(main())
