"""What one call costs through each client library, against ``fcbench serve`` without latency.

    python -m tests.performance.clients [--calls 3000] [--concurrency 64] [--max-ms 1.0]

Processor time of the client's process per call, calls a second, and memory, each library in a process of its
own; the raw client sends the same bodies and reads the replies as JSON, and is the limit. The first line is
this project's. Exits with 1 where that takes more than ``--max-ms``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel, build_body
from pytest_fcbench.suites import core
from tests.served import served

Ask: TypeAlias = Callable[[Entry, AskModel], Awaitable[object]]
_NAME, _KEY = "served", "unused"


def ask_directly(api_base: str) -> Ask:
    """Ask as a run does."""
    return OpenAICompatibleModel(_NAME, {"temperature": 0.001}, api_base, _KEY, name=_NAME).complete


def ask_through_litellm(prefix: str) -> Callable[[str], Ask]:
    """Ask as a run does with ``litellm:PREFIX/NAME``."""
    return lambda api_base: LitellmModel(f"{prefix}/{_NAME}", {"temperature": 0.001}, api_base, _KEY).complete


def ask_through_openai(api_base: str) -> Ask:
    """Ask through the openai package."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=api_base, api_key=_KEY, max_retries=0)

    async def ask(entry: Entry, request: AskModel) -> object:
        reply = await client.post(
            "/chat/completions",
            cast_to=object,
            body=json.loads(build_body(_NAME, request, {"temperature": 0.001})),
        )
        assert reply
        return reply

    return ask


def ask_raw(api_base: str) -> Ask:
    """Ask through aiohttp, with nothing around it."""
    import aiohttp

    session: list[aiohttp.ClientSession] = []

    async def ask(entry: Entry, request: AskModel) -> object:
        if not session:
            session.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        body = build_body(_NAME, request, {"temperature": 0.001})
        headers = {"Content-Type": "application/json"}
        async with session[0].post(f"{api_base}/chat/completions", data=body, headers=headers) as reply:
            return json.loads(await reply.read())["choices"]

    return ask


CLIENTS: dict[str, Callable[[str], Ask]] = {
    "ours": ask_directly,
    "raw aiohttp": ask_raw,
    "openai": ask_through_openai,
    "litellm hosted_vllm/": ask_through_litellm("hosted_vllm"),
    "litellm openai/": ask_through_litellm("openai"),
}


def measure_client(name: str, api_base: str, calls: int, concurrency: int) -> dict[str, float]:
    """Return milliseconds of processor time a call, calls a second, and megabytes of this process."""
    suite = core.open_suite(Path())
    prompting = Prompting.make_default(Mode.FC)
    asked = [
        (entry, presenting.build_first_request(entry, suite.wording, prompting))
        for category in suite.categories
        if category.single_turn and category.scored
        for entry in suite.load(category)
    ]
    ask = CLIENTS[name](api_base)

    async def ask_all() -> tuple[float, float]:
        places = asyncio.Semaphore(concurrency)

        async def ask_one(number: int) -> None:
            async with places:
                await ask(*asked[number % len(asked)])

        # Imports and the first connection are not part of a call.
        await ask_one(0)
        used, began = time.process_time(), time.perf_counter()
        await asyncio.gather(*map(ask_one, range(calls)))
        return time.process_time() - used, time.perf_counter() - began

    used_s, took_s = asyncio.run(ask_all())
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"ms": used_s / calls * 1000, "rate": calls / took_s, "mb": memory_mb}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--max-ms", type=float, default=1.0)
    parser.add_argument("--one", nargs=2, metavar=("CLIENT", "URL"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure_client(given.one[0], given.one[1], given.calls, given.concurrency)))
        return 0
    print(f"{'client':<22} {'ms of processor':>15} {'calls/s':>8} {'of raw':>7} {'memory':>8}")
    results: dict[str, dict[str, float]] = {}
    with served("--model", "oracle") as api_base:
        for name in CLIENTS:
            command = [sys.executable, "-W", "ignore", "-m", "tests.performance.clients"]
            limits = ["--calls", str(given.calls), "--concurrency", str(given.concurrency)]
            done = subprocess.run(
                [*command, *limits, "--one", name, api_base], capture_output=True, text=True, check=True
            )
            results[name] = json.loads(done.stdout.splitlines()[-1])
    raw = results["raw aiohttp"]["ms"]
    for name, found in results.items():
        print(
            f"{name:<22} {found['ms']:>15.2f} {found['rate']:>8.0f} {found['ms'] / raw:>6.1f}x"
            f" {found['mb']:>5.0f} MB"
        )
    return int(results["ours"]["ms"] > given.max_ms)


if __name__ == "__main__":
    sys.exit(main())
