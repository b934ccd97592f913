"""Through ``fcbench serve``: its answers are the recorded ones, and what we ask it then is official."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest
import yaml

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel, build_body
from pytest_fcbench.suites.suite import Suite
from tests.parity.asking.recordings import (
    END,
    Message,
    Recording,
    Request,
    find_difference,
    follow_recording,
    index_entries,
    read_answer,
)
from tests.parity.asking.test_bfcl import read_run, settle_requests
from tests.served import served

RUNS = {"single_fc": 40, "single_pr": 40, "mt_right_fc": 8, "mt_wrong_fc": 8, "mt_wrong_pr": 8}
"""How many recordings of a run are served."""


@pytest.fixture(scope="module")
def entries(bfcl: Suite) -> Mapping[str, Entry]:
    return index_entries(bfcl)


def list_recordings(run: str) -> list[Recording]:
    """List recordings without answers that a script cannot hold: texts beside calls."""
    return [
        recording
        for recording in islice(read_run(run), RUNS[run])
        if not any(answer.get("content") and answer.get("tool_calls") for answer in recording.answers)
    ]


def write_script(
    path: Path, recordings: Sequence[Recording], suite: Suite, known: Mapping[str, Entry]
) -> None:
    """Write the recorded answers by turn and step, as ``scripted`` reads them."""
    script: dict[str, object] = {}
    for recording in recordings:
        turns: list[list[object]] = []

        def answer(
            asked: AskModel, turns: list[list[object]] = turns, of: Recording = recording
        ) -> Completion:
            place = sum(map(len, turns))
            said = of.answers[place] if place < len(of.answers) else END
            turns.extend([] for _ in range(asked.turn + 1 - len(turns)))
            turns[asked.turn].append(write_answer(said))
            return read_answer(said)

        entry = known[recording.entry]
        follow_recording(entry, recording, suite, {}, answer)
        script[entry.key] = turns[0][0] if entry.category.single_turn else {"turns": turns}
    path.write_text(yaml.safe_dump({"answers": script, "default": "END"}), encoding="utf-8")


def write_answer(said: Message) -> object:
    if calls := said.get("tool_calls"):
        return [{call["function"]["name"]: call["function"]["arguments"]} for call in calls]
    return said["content"]


def settle_served(requests: Sequence[Request]) -> list[Request]:
    """Number calls and results in their order, as the server makes ids of its own."""
    settled = []
    for request in settle_requests(requests):
        calls, results = count(), count()
        messages = []
        for message in request.messages:
            kept = dict(message)
            if made := message.get("tool_calls"):
                kept["tool_calls"] = [{**call, "id": next(calls)} for call in made]
            if "tool_call_id" in message:
                kept["tool_call_id"] = next(results)
            messages.append(kept)
        settled.append(replace(request, messages=messages))
    return settled


def send_to_server(api_base: str, entry: Entry, sent: list[Request]) -> Callable[[AskModel], Completion]:
    """Return what asks the server, and keeps the requests in ``sent``."""
    model = OpenAICompatibleModel("served", {}, api_base, name="served")

    def ask(asked: AskModel) -> Completion:
        body = json.loads(build_body("served", asked, {}))
        sent.append(Request(body["messages"], body.get("tools", [])))
        return asyncio.run(model.complete(entry, asked))

    return ask


@pytest.mark.nightly
@pytest.mark.parametrize("run", RUNS)
def test_conversations_with_the_server_are_the_official_ones(
    run: str,
    bfcl: Suite,
    entries: Mapping[str, Entry],
    pack_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    recordings = list_recordings(run)
    assert len(recordings) >= 5
    write_script(tmp_path / "answers.yaml", recordings, bfcl, entries)
    with served("--model", f"scripted:{tmp_path / 'answers.yaml'}", "--suite", "bfcl") as api_base:
        for recording in recordings:
            sent: list[Request] = []
            entry = entries[recording.entry]
            follow_recording(entry, recording, bfcl, {}, send_to_server(api_base, entry, sent))
            official = settle_served(recording.requests)
            assert find_difference(settle_served(sent), official) is None, recording.entry
