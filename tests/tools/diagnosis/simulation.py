"""Seeded runs against a server whose fault is known: does ``fcbench blame`` name it?

    python -m tests.tools.diagnosis.simulation
    python -m tests.tools.diagnosis.simulation --runs 100 --first 500

Each run draws a fault, a share, whole replies or streams, and entries by its seed, asks the entries over HTTP
on loopback, and attributes what is lost. Prints the attributions by fault; exits with 1 if less than 95 % of
them are right, or a fault of the server is blamed on the model."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

from aiohttp import web

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.codecs.decoders.python import parse_corrected
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.native_prompt import find_prompted_syntax
from pytest_fcbench.config.loading import Settings, build_settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.run.asking_again import hold_conversations
from pytest_fcbench.run.blaming import blame_losses, list_losses
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.scorecard.record import Record, build_record
from pytest_fcbench.server.answers import KeyedReply, ReceivedRequest
from pytest_fcbench.server.app import ChatServer
from pytest_fcbench.server.body import Body
from pytest_fcbench.server.conforming import ConformingModel, WireFault
from pytest_fcbench.server.faults import Fault, FaultKind, Mistakes, ModelFault, draw_faults, read_latency
from pytest_fcbench.server.lookup import EntryIndex
from pytest_fcbench.server.parsing import ParserFault
from pytest_fcbench.server.replies import Judge
from pytest_fcbench.suites import core, embedded
from pytest_fcbench.tools.diagnosis.blame import Culprit

_ANSWERS = ("simple_python", "multiple", "parallel", "parallel_multiple")
_CONVERSATIONS = ("multi_turn_base",)
_LEAST_RIGHT = 0.95


@dataclass(frozen=True)
class SeededFault:
    """A fault of a server, and who loses points by it."""

    fault: Fault
    culprit: Culprit
    shares: tuple[float, ...] = (1.0,)
    streams: bool | None = None
    """True where only streams show it; None where both do."""
    categories: tuple[str, ...] = _ANSWERS
    wrong: float = 0.0
    """The share of entries that the model gets wrong beside."""
    is_closed: bool = False
    """True where the server has no path to its template and parser, and answers nothing but entries."""
    model: str = "my-ft"
    knows_one_syntax: bool = False
    """True where the model writes calls as hermes does, whatever the prompt asks for."""

    def __str__(self) -> str:
        more = f" + wrong {self.wrong:g}" if self.wrong else ""
        more += ", one syntax" if self.knows_one_syntax else ""
        more += ", known syntax" if self.model != "my-ft" and not self.knows_one_syntax else ""
        return f"{self.fault}{more}{', closed' if self.is_closed else ''}"


FAULTS = (
    SeededFault(ParserFault.DROP_BRACE, Culprit.PARSER),
    SeededFault(ParserFault.DROP_BRACE, Culprit.PARSER, wrong=0.3),
    SeededFault(ParserFault.OTHER_SYNTAX, Culprit.PARSER),
    SeededFault(FaultKind.ONE_CALL, Culprit.PARSER, categories=_ANSWERS[2:], is_closed=True),
    # Only calls that are asked for in the model's own syntax tell it from a model that is wrong each time.
    SeededFault(
        FaultKind.ONE_CALL,
        Culprit.PARSER,
        categories=_ANSWERS[2:],
        is_closed=True,
        model="qwen3-ft",
        knows_one_syntax=True,
    ),
    SeededFault(ParserFault.LOSE_BRACE, Culprit.STREAM, streams=True),
    SeededFault(ParserFault.MERGE_CALLS, Culprit.STREAM, streams=True, categories=_ANSWERS[2:]),
    SeededFault(WireFault.LOSE_TOOLS, Culprit.TEMPLATE),
    SeededFault(WireFault.LOSE_RESULTS, Culprit.TEMPLATE, categories=_CONVERSATIONS),
    SeededFault(ModelFault.WRONG, Culprit.MODEL, (0.1, 0.3), categories=(*_ANSWERS, "irrelevance")),
    SeededFault(ModelFault.WRONG, Culprit.MODEL, (0.1, 0.3), is_closed=True),
    SeededFault(ModelFault.FLIP, Culprit.CHANCE, (0.1, 0.3, 0.5), categories=(*_ANSWERS, "irrelevance")),
    SeededFault(ModelFault.FLIP, Culprit.CHANCE, (0.1, 0.3, 0.5), is_closed=True),
    SeededFault(FaultKind.SERVER_ERROR, Culprit.ENDPOINT, (0.1, 0.3)),
    SeededFault(FaultKind.RESET, Culprit.ENDPOINT, (0.1, 0.3)),
    # Calls that only the interface loses, while the parser by itself keeps them: the ways contradict.
    SeededFault(FaultKind.ONE_CALL, Culprit.UNCLEAR, categories=_ANSWERS[2:]),
    # A model that ends early, whose tokens are those of what came.
    SeededFault(ModelFault.STOP_EARLY, Culprit.UNCLEAR, categories=_ANSWERS[2:], is_closed=True),
    SeededFault(
        ModelFault.STOP_EARLY, Culprit.UNCLEAR, categories=_ANSWERS[2:], is_closed=True, model="qwen3-ft"
    ),
    # Arguments that end early may be the model's, and nobody can be asked.
    SeededFault(FaultKind.JSON, Culprit.UNCLEAR, categories=_ANSWERS, wrong=1.0, is_closed=True),
    # At times only, which looks like chance where right calls break at no entry of the run.
    SeededFault(ParserFault.DROP_BRACE, Culprit.PARSER, (0.3, 0.5, 0.7)),
    SeededFault(ParserFault.LOSE_BRACE, Culprit.STREAM, (0.3, 0.5, 0.7), streams=True),
)


class StubbornServer(ChatServer):
    """Serves a model that was trained to one syntax, and cannot write calls as Python."""

    def _make_reply(self, body: Body, received: ReceivedRequest) -> KeyedReply:
        made = super()._make_reply(body, received)
        if body.tools or not made.reply.text or find_prompted_syntax(body.messages):
            return made
        try:
            calls = parse_corrected(made.reply.text)
        except Undecodable:
            return made
        return replace(made, reply=replace(made.reply, text=NATIVE_SYNTAXES["hermes"].write_calls(calls)))


@dataclass(frozen=True)
class SimulatedRun:
    """The attributions of a run with a known fault."""

    seed: int
    fault: SeededFault
    share: float
    culprits: tuple[tuple[str, Culprit, str], ...]
    """Item id, who was blamed, and why."""


@cache
def _index_entries() -> EntryIndex:
    return EntryIndex([core.open_suite(Path())], OracleModel)


_open_wire = cache(embedded.open_wire)


@contextmanager
def serve_fault(fault: SeededFault, share: float, seed: int) -> Iterator[str]:
    """Serve right answers with a fault on loopback, in this process; yield the address."""
    is_wrong = fault.fault is ModelFault.WRONG
    draws = draw_faults({} if is_wrong else {fault.fault: share}, read_latency("0"), seed)
    mistakes = Mistakes(share if is_wrong else fault.wrong, seed)
    model = None if fault.is_closed else ConformingModel(fault.model, "hermes")
    kind = StubbornServer if fault.knows_one_syntax else ChatServer
    server = kind(fault.model, _index_entries(), draws, 0, Judge(), None, model, mistakes)
    loop, ports, ended = asyncio.new_event_loop(), list[int](), asyncio.Event()
    is_up = threading.Event()

    async def serve() -> None:
        runner = web.AppRunner(server.build_application(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ports.append(runner.addresses[0][1])
        is_up.set()
        await ended.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert is_up.wait(30), "the server did not start"
    try:
        yield f"http://127.0.0.1:{ports[0]}/v1"
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def simulate_run(seed: int, entry_count: int = 4) -> SimulatedRun:
    """Hold a run with the fault of a seed, and attribute the points that it loses."""
    draw = random.Random(seed)
    fault = FAULTS[seed % len(FAULTS)]
    share = draw.choice(fault.shares)
    streams = draw.random() < 0.5 if fault.streams is None else fault.streams
    suite = core.open_suite(Path())
    known = [
        each
        for category in suite.categories
        if category.name in fault.categories
        for each in suite.load(category)
    ]
    # About as many lost points in each run.
    count = 1 if fault.categories == _CONVERSATIONS else round(entry_count / share)
    entries = draw.sample(known, min(count, 30))
    # Long tokens, because each is a request where right calls are streamed through the server.
    with (
        patch("pytest_fcbench.server.parsing._PIECE", 40),
        patch("pytest_fcbench.suites.embedded.open_wire", _open_wire),
        tempfile.TemporaryDirectory() as folder,
        serve_fault(fault, share, seed) as api_base,
    ):
        # One at a time, so that the faults of requests fall in the same order each time.
        given: dict[str, object] = {
            "model": f"hosted_vllm/{fault.model}",
            "api_base": api_base,
            "store": "none",
            "retries": "0",
        }
        given |= {"no_preflight": True, "concurrency": "1", "stream": "on" if streams else "off"}
        settings = build_settings(given, None, Path(folder))
        losses = list_losses(_ask_first(settings, entries), Profile.CORRECTED)
        by_key = {entry.key: entry for entry in entries}
        blamed = blame_losses(settings, losses, by_key, Profile.CORRECTED) if losses else []
    found = tuple((each.item_id, each.attribution.culprit, each.attribution.reason) for each in blamed)
    return SimulatedRun(seed, fault, share, found)


def _ask_first(settings: Settings, entries: Sequence[Entry]) -> list[Record]:
    held = hold_conversations(settings, entries)
    manner = RunContext(settings).manner
    return [
        build_record(entry, manner, held[entry.item_id].judgement, held[entry.item_id].transcript)
        for entry in entries
    ]


def tabulate_runs(runs: Sequence[SimulatedRun]) -> Iterator[str]:
    """Yield the confusion matrix: points by fault and by who was blamed."""
    yield f"{'fault':<32}{'truth':<10}{'runs':>5}" + "".join(f"{each:>10}" for each in Culprit)
    for fault in FAULTS:
        own = [run for run in runs if run.fault is fault]
        counts = Counter(culprit for run in own for _, culprit, _ in run.culprits)
        numbers = "".join(f"{counts[each]:>10,}" for each in Culprit)
        yield f"{fault!s:<32}{fault.culprit:<10}{len(own):>5}{numbers}"


def count_right(runs: Sequence[SimulatedRun]) -> tuple[int, int, int]:
    """Count the attributions, those that are right, and faults of a server that are blamed on the model."""
    pairs = [(run.fault.culprit, culprit) for run in runs for _, culprit, _ in run.culprits]
    of_model = (Culprit.MODEL, Culprit.CHANCE)
    slandered = sum(found is Culprit.MODEL and truth not in of_model for truth, found in pairs)
    return len(pairs), sum(truth is found for truth, found in pairs), slandered


def run_simulation(arguments: Sequence[str] | None = None) -> int:
    """Simulate runs and print how they were attributed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--show", action="store_true", help="print each attribution that is not right")
    options = parser.parse_args(arguments)
    start, runs = time.monotonic(), list[SimulatedRun]()
    for seed in range(options.first, options.first + options.runs):
        runs.append(run := simulate_run(seed))
        for item_id, culprit, reason in run.culprits if options.show else ():
            if culprit is not run.fault.culprit:
                print(seed, run.fault, run.share, item_id, culprit, reason, flush=True)
    print("\n".join(tabulate_runs(runs)))
    total, right, slandered = count_right(runs)
    in_time = f"{time.monotonic() - start:.0f} s"
    print(f"{len(runs)} runs, {right:,} of {total:,} points right ({right / max(1, total):.1%}), {in_time}")
    print(f"blamed on the model for the server: {slandered}")
    return int(right < _LEAST_RIGHT * total or slandered > 0)


if __name__ == "__main__":
    sys.exit(run_simulation())
