"""On the wire, requests are the official ones whichever transport sends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.models.providers.endpoint_model import EndpointModel
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from pytest_fcbench.suites.suite import Suite
from tests.factories import make_entry
from tests.loopback import Body, Reply, serve_answers
from tests.parity.asking.recordings import (
    END,
    Message,
    Recording,
    Request,
    find_difference,
    follow_recording,
    index_entries,
)
from tests.parity.asking.test_bfcl import read_run, settle_requests

OpenModel: TypeAlias = Callable[[str], EndpointModel]


def open_direct(api_base: str) -> EndpointModel:
    return OpenAICompatibleModel("rec-model", {}, api_base, name="rec-model")


def open_litellm(api_base: str) -> EndpointModel:
    return LitellmModel("openai/rec-model", {}, api_base=api_base, api_key="sk-for-tests-only")


@pytest.fixture(scope="module")
def entries(bfcl: Suite) -> Mapping[str, Entry]:
    return index_entries(bfcl)


def send_over_wire(recording: Recording, entry: Entry, suite: Suite, open_model: OpenModel) -> list[Request]:
    """Return the requests that a server receives which gives the recorded answers."""

    def answer(asked: Body) -> Reply:
        place = len(endpoint.requests) - 1
        said: Message = recording.answers[place] if place < len(recording.answers) else END
        if "status" in said:
            return Reply(said["error"], said["status"])
        message = {name: value for name, value in said.items() if name != "finish_reason"}
        reason = said.get("finish_reason", "tool_calls" if said.get("tool_calls") else "stop")
        whole = {"role": "assistant", "content": None, **message}
        return Reply(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "rec-model",
                "choices": [{"index": 0, "message": whole, "finish_reason": reason}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        )

    with serve_answers(answer) as endpoint:
        model = open_model(endpoint.api_base)

        def ask(request: AskModel) -> Completion:
            try:
                return loop.run_until_complete(model.complete(make_entry(), request))
            except CallError as error:
                return Completion(text=error.reason, fault=Fault.INFERENCE_ERROR)

        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            follow_recording(entry, recording, suite, {}, ask)
    return [read_body(body) for body in endpoint.requests]


def read_body(body: Body) -> Request:
    messages, tools = body["messages"], body.get("tools", [])
    assert isinstance(messages, list)
    assert isinstance(tools, list)
    return Request(messages, tools)


RUNS = {"mal_fc": 42, "mal_pr": 37, "mt_wrong_fc": 2, "mt_right_pr": 2, "single_fc": 6}
"""How many recordings of a run are sent."""


@pytest.mark.few(2)
@pytest.mark.parametrize("run", RUNS)
def test_the_direct_transport_sends_the_official_requests(
    run: str, bfcl: Suite, entries: Mapping[str, Entry]
) -> None:
    for recording in islice(read_run(run), RUNS[run]):
        sent = send_over_wire(recording, entries[recording.entry], bfcl, open_direct)
        official = settle_requests(recording.requests)
        assert find_difference(settle_requests(sent), official) is None, recording.entry


def leave_out_nulls(value: object) -> Any:
    if isinstance(value, Mapping):
        return {name: leave_out_nulls(member) for name, member in value.items() if member is not None}
    return [leave_out_nulls(member) for member in value] if isinstance(value, list) else value


def settle_for_litellm(requests: Sequence[Request]) -> list[Request]:
    """Leave out members that are null, which litellm never sends."""
    return [
        replace(request, messages=leave_out_nulls(list(request.messages)))
        for request in settle_requests(requests)
    ]


# The client that litellm uses warns of content in parts, which it does not expect in an answer.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@pytest.mark.nightly
@pytest.mark.parametrize("run", RUNS)
def test_litellm_sends_them_but_for_nulls(run: str, bfcl: Suite, entries: Mapping[str, Entry]) -> None:
    for recording in islice(read_run(run), RUNS[run]):
        sent = send_over_wire(recording, entries[recording.entry], bfcl, open_litellm)
        official = settle_for_litellm(recording.requests)
        assert find_difference(settle_for_litellm(sent), official) is None, recording.entry


def test_another_answer_would_be_noticed(bfcl: Suite, entries: Mapping[str, Entry]) -> None:
    recording = read_run("mt_wrong_fc")[0]
    sent = send_over_wire(recording, entries[recording.entry], bfcl, open_direct)
    *earlier, last = settle_requests(recording.requests)
    changed = json.loads(json.dumps(last.messages).replace("No such file", "No such File"))
    assert find_difference(settle_requests(sent), [*earlier, Request(changed, last.tools)]) is not None
