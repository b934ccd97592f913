"""The calls of failed conversations that an MCP server carried out, for the class of the failure.

They were carried out one after the other, with the state shown only after each turn. So a call is taken for a
change where its turn changed the state, it did not fail, and the same function did not leave the state as it
was in another turn.
"""

from __future__ import annotations

import json
from dataclasses import replace

from pytest_fcbench.domain.failure import FailedEntry
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.kinds.server_turns.verdict import open_sides
from pytest_fcbench.kinds.state.failure import CallMade, Sides, drop_defaults
from pytest_fcbench.kinds.state.truth import list_expected_turns
from pytest_fcbench.kinds.state.verdict import Made


def recall_calls(failure: FailedEntry) -> Sides:
    """Return the calls of model and truth in each turn, with what their servers answered."""
    entry, transcript = failure.entry, failure.transcript
    assert entry.scene
    assert entry.scene.server
    model_turns: Made = [[step.calls for step in steps] for steps in transcript.turns]
    right_turns: Made = [[calls] for calls in list_expected_turns(entry)]
    sides = []
    for side, turns in zip(
        open_sides(entry, entry.scene.server, transcript), (model_turns, right_turns), strict=True
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
                    read = drop_defaults(call, side.calls.offer) if isinstance(call, Call) else Call(text, {})
                    calls.append(CallMade(text, read, result, is_change=False))
            after = side.read_state()
            is_change = after != before
            calls_by_turn.append(
                [replace(each, is_change=is_change and not each.has_failed) for each in calls]
            )
            before = after
        sides.append(calls_by_turn)
    looks = {
        each.call.name
        for calls_by_turn in sides
        for calls in calls_by_turn
        if not any(other.is_change for other in calls)
        for each in calls
        if not each.has_failed
    }
    model, truth = (
        [
            tuple(replace(c, is_change=c.is_change and c.call.name not in looks) for c in calls)
            for calls in calls_by_turn
        ]
        for calls_by_turn in sides
    )
    return list(zip(model, truth, strict=False))
