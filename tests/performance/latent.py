"""A pytest plugin: the oracle as an endpoint that takes its time and nothing else.

``pytest -p tests.performance.latent --latency 0.2 --calls FILE --fcbench-model=oracle`` runs as against an
endpoint, with everything of ours between the conversations and the call; FILE gets how many calls were made
and the seconds from the first call to the last answer.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.provider import Chosen
from pytest_fcbench.models.providers.litellm import import_litellm
from pytest_fcbench.plugin.items import Benchmark


@dataclass
class LatentModel:
    """Another model, each of its answers so many seconds later."""

    model: Model
    latency_s: float
    immediate: bool = False
    notes: tuple[str, ...] = ()
    calls: int = 0
    first_call: float = 0.0
    last_answer: float = 0.0

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Return the other model's answer, later."""
        self.calls += 1
        self.first_call = self.first_call or time.perf_counter()
        await asyncio.sleep(self.latency_s)
        completion = await self.model.complete(entry, request)
        self.last_answer = time.perf_counter()
        return completion


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    parser.addoption("--latency", type=float, default=0.2, help="seconds that a call takes")
    parser.addoption("--calls", type=Path, help="file that gets the number of calls and their time")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put it in the place of the model that was chosen."""
    benchmark = config.pluginmanager.get_plugin("fcbench-benchmark")
    assert isinstance(benchmark, Benchmark)
    chosen = benchmark.context.chosen
    if not (chosen.model.immediate or benchmark.is_worker):
        import_litellm()  # takes seconds once, which are no part of the first call
    model = LatentModel(chosen.model, config.getoption("--latency"))
    benchmark.context.__dict__["chosen"] = Chosen(model, chosen.manner)
    path: Path = config.getoption("--calls")

    def write_calls() -> None:
        path.write_text(json.dumps([model.calls, model.last_answer - model.first_call]))

    if not benchmark.is_worker:  # there the controller asks
        config.add_cleanup(write_calls)
