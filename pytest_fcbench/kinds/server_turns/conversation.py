"""Conversations whose calls act on an MCP server.

The servers are a party like a judge, so their answers are stored, kept in the Record and replayed like any
other. The model's calls go to one server. After the conversation the calls of the truth go to a second one.
Both are probed before the first turn and after each, so that the verdict can compare their states.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.driving import relay_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import (
    AskModel,
    AuxiliaryCall,
    Call,
    CallFunctions,
    CallResults,
    Completion,
    Conversation,
)
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.state.truth import Trajectory
from pytest_fcbench.kinds.turns import put_turns
from pytest_fcbench.mcp_servers.server_requests import ServerCalls, read_request, read_results, write_results

_LONGEST = 100_000
"""Characters of a result that a model is shown."""


def skip_calls(request: AskModel) -> Completion:
    """Answer a request to a server without asking it."""
    return write_results(["not asked"] * len(read_request(request).calls))


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model and carry its calls and those of the truth out, each on a fresh server.

    Raises ``NotScoredError`` where a server does not answer.
    """
    assert isinstance(entry.expectation, Trajectory)
    assert entry.scene
    assert entry.scene.server
    state, asides = entry.scene.server, dict[str, AuxiliaryCall]()
    model = ServerCalls(state, OfferedFunctions(entry.functions, context.manner.prompting.names))
    turn = 0

    def ask_server(request: AskModel) -> Generator[AskModel, Completion, Completion]:
        if request.digest not in asides:
            completion = yield request
            if completion.fault:
                cause, _, reason = (completion.text or "").partition(": ")
                raise NotScoredError(cause, reason)
            asides[request.digest] = AuxiliaryCall(request.party, request.digest, completion)
        return asides[request.digest].completion

    def respond(
        demand: AskModel | CallFunctions,
    ) -> Generator[AskModel, Completion, Completion | CallResults]:
        nonlocal turn
        if isinstance(demand, CallFunctions):
            return CallResults((yield from perform_calls(demand.calls)))
        if demand.turn > turn or not (demand.turn or demand.step):
            turn = demand.turn
            yield from ask_server(model.request_probes())
        return (yield demand)

    def perform_calls(texts: Sequence[str]) -> Generator[AskModel, Completion, tuple[str, ...]]:
        readings = model.read_calls(texts)
        calls = [call for call in readings if isinstance(call, Call)]
        result_texts = read_results((yield from ask_server(model.request_calls(calls)))) if calls else ()
        results = (shorten_text(text, _LONGEST) for text in result_texts)
        return tuple(next(results) if isinstance(call, Call) else call for call in readings)

    transcript = yield from relay_conversation(
        put_turns(entry, context.manner, context.suite.wording), respond
    )
    if not transcript.last.fault:
        yield from ask_server(model.request_probes())
        truth = ServerCalls(state, OfferedFunctions(entry.functions, Names.DOTTED), of_truth=True)
        yield from ask_server(truth.request_probes())
        for texts in entry.expectation.turns:
            if calls := [call for call in truth.read_calls(texts) if isinstance(call, Call)]:
                yield from ask_server(truth.request_calls(calls))
                yield from ask_server(truth.request_probes())
    return replace(transcript, asides=tuple(asides.values()))
