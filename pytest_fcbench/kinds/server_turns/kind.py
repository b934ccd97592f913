"""The kind of entries whose calls an MCP server carries out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders.python import parse_tool_call
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.transcript import Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.call_texts import parse_calls
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Resources, RightCalls
from pytest_fcbench.kinds.server_turns import conversation, verdict
from pytest_fcbench.kinds.state.failure import CallMade, Sides, classify_conversation, drop_defaults
from pytest_fcbench.kinds.state.kind import StateKind
from pytest_fcbench.kinds.state.truth import list_expected_turns
from pytest_fcbench.kinds.state.verdict import TurnCalls


class ServerTurnsKind(StateKind):
    """Calls are carried out by an MCP server, turn by turn; its state and the results are compared."""

    file_format = "server_turns.entries:ServerFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls go to an MCP server."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return verdict.judge(entry, transcript)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find the call that the conversation failed for."""
        return classify_conversation(failure, recall_calls)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of each turn, which are made at once."""
        return [[calls] for calls in parse_calls(entry, list_expected_turns(entry), _parse_tool_call)]


def _parse_tool_call(text: str) -> Sequence[Call]:
    # The name of a tool may be none of Python's.
    return (parse_tool_call(text),)


SERVER_TURNS = ServerTurnsKind()


def recall_calls(failure: FailedEntry) -> Sides:
    """Return the calls of model and truth in each turn, with what their servers answered."""
    entry, transcript = failure.entry, failure.transcript
    assert entry.scene
    assert entry.scene.server
    model_turns: TurnCalls = [[step.calls for step in steps] for steps in transcript.turns]
    right_turns: TurnCalls = [[calls] for calls in list_expected_turns(entry)]
    sides = []
    for side, turns in zip(
        verdict.open_sides(entry, entry.scene.server, transcript), (model_turns, right_turns), strict=True
    ):
        calls_by_turn: list[list[CallMade]] = []
        # Requests name all calls before them, so that the answers are found in this order only.
        before = side.read_state()
        for steps, _ in zip(turns, right_turns, strict=False):
            calls: list[CallMade] = []
            for texts in steps:
                results = iter(side.perform_step(texts))
                for text, call in zip(texts, side.calls.read_calls(texts), strict=True):
                    value = next(results) if isinstance(call, Call) else call
                    result = value if isinstance(value, str) else json.dumps(value)
                    call = drop_defaults(call, side.calls.offer) if isinstance(call, Call) else Call(text, {})
                    calls.append(CallMade(text, call, result, is_change=False))
            after = side.read_state()
            is_change = after != before
            calls_by_turn.append(
                [replace(each, is_change=is_change and not each.has_failed) for each in calls]
            )
            before = after
        sides.append(calls_by_turn)
    looking_names = {
        each.call.name
        for calls_by_turn in sides
        for calls in calls_by_turn
        if not any(other.is_change for other in calls)
        for each in calls
        if not each.has_failed
    }
    model, truth = (
        [
            tuple(replace(c, is_change=c.is_change and c.call.name not in looking_names) for c in calls)
            for calls in calls_by_turn
        ]
        for calls_by_turn in sides
    )
    return list(zip(model, truth, strict=False))
