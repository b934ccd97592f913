"""Judge entries whose calls act on an MCP server by what they changed and returned.

The model's calls and those of the truth were carried out on two fresh servers, and both were probed after
each turn (``conversation``). In each turn the model

- must have made a call where the truth makes one (``multi_turn:empty_turn_model_response``),
- must have left its server in the state of the truth's: every probe is answered alike
  (``multi_turn:instance_state_mismatch``),
- where the truth's calls leave the state as it was, so that they were made for their results, must have got
  all of these in this turn or before (``multi_turn:execution_response_mismatch``).

A conversation that was ended by force has too few turns (``multi_turn:force_terminated``).

Results are compared by value where they are JSON, texts without regard to their form of Unicode. What an
entry calls volatile is left out before.
Both profiles have the same rules, because no official suite has such entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.server_program import ServerState
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed
from pytest_fcbench.judging.known_bad import find_unscored_cause, judge_fault
from pytest_fcbench.judging.text_normalization import unify_texts
from pytest_fcbench.kinds.state.state_difference import find_differences
from pytest_fcbench.kinds.state.truth import Trajectory
from pytest_fcbench.kinds.state.verdict import count_right_turns
from pytest_fcbench.mcp_servers.server_requests import ServerCalls, read_results

_SHOWN = 3
"""Differences that a verdict names; the number of the others follows."""


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge a conversation by what its calls changed and returned. ``entry`` must have a trajectory."""
    if not isinstance(entry.expectation, Trajectory) or not (entry.scene and entry.scene.server):
        raise TypeError(f"{entry.key} has no trajectory on a server")
    truth, turn_count = entry.expectation.turns, len(entry.expectation.turns)
    unscored_cause = find_unscored_cause(entry, transcript)
    if transcript.last.fault:
        reason = f"the model's call failed: {transcript.last.text}"
        error_verdict = judge_fault(transcript.last) or Failed("multi_turn:inference_error", reason)
        error_verdict = count_right_turns(error_verdict, 0, turn_count)
        return Judgement(error_verdict, unscored_cause or error_verdict)
    model, right = open_sides(entry, entry.scene.server, transcript)
    calls_by_turn = [[step.calls for step in turn if step.calls] for turn in transcript.turns]
    try:
        failures = list(_find_failures(calls_by_turn, truth, model, right))
    except KeyError:
        missing = NotScored("mcp_server", "the answers of the server were not kept; run the entry again")
        return Judgement(missing, missing)
    right_count = min(len(calls_by_turn), turn_count) - len({failure.details["turn"] for failure in failures})
    if len(calls_by_turn) != turn_count:
        reason = f"the conversation has {len(calls_by_turn)} turns of {turn_count}, so it was ended by force"
        failures = [Failed("multi_turn:force_terminated", reason, {"turn": len(calls_by_turn)})]
    verdict = count_right_turns(failures[0], right_count, turn_count) if failures else Passed()
    return Judgement(verdict, unscored_cause or verdict)


def open_sides(entry: Entry, state: ServerState, transcript: Transcript) -> tuple[Side, Side]:
    """Return the sides of the model and of the truth in a conversation, with the answers that were kept."""
    answers = {aside.digest: aside.completion for aside in transcript.asides}
    model = ServerCalls(state, OfferedFunctions(entry.functions, transcript.prompting.names))
    return Side(model, answers), Side(
        ServerCalls(state, OfferedFunctions(entry.functions, Names.DOTTED), of_truth=True), answers
    )


@dataclass
class Side:
    """The calls of the model, or of the truth, and the answers of its server.

    Its methods raise KeyError where an answer was not kept.
    """

    calls: ServerCalls
    answers: Mapping[str, Completion]
    results: list[object] = field(default_factory=list)
    """The results of its calls so far, in the form that is compared."""

    def perform_step(self, texts: Sequence[str]) -> list[object]:
        """Take over the results of calls, and return them."""
        calls = [call for call in self.calls.read_calls(texts) if isinstance(call, Call)]
        call_results = self._look_up(self.calls.request_calls(calls)) if calls else []
        self.results += call_results
        return call_results

    def read_state(self) -> Mapping[str, object]:
        """Return the results of the probes, by call."""
        return dict(zip(self.calls.state.probes, self._look_up(self.calls.request_probes()), strict=True))

    def _look_up(self, request: AskModel) -> list[object]:
        texts = read_results(self.answers[request.digest])
        return [simplify_result(text, self.calls.state) for text in texts]


def _find_failures(
    calls_by_turn: Sequence[Sequence[Sequence[str]]], truth: Sequence[Sequence[str]], model: Side, right: Side
) -> Iterator[Failed]:
    """Yield what is wrong, turn by turn."""
    before = right.read_state()
    for number, (steps, expected_calls) in enumerate(zip(calls_by_turn, truth, strict=False), 1):
        for step in steps:
            model.perform_step(step)
        expected_results = right.perform_step(expected_calls)
        after, model_state = right.read_state(), model.read_state()
        if expected_calls and not steps:
            reason = f"turn {number}: no call was made; the truth makes {', '.join(expected_calls):.200}"
            yield Failed("multi_turn:empty_turn_model_response", reason, {"turn": number})
        elif model_state != after:
            differences = list(find_differences(after, model_state))
            more = f" (and {len(differences) - _SHOWN} more)" if len(differences) > _SHOWN else ""
            summary = "; ".join(map(str, differences[:_SHOWN])) or "the states differ"
            details = {"turn": number, "differences": [*map(asdict, differences[:_SHOWN])]}
            yield Failed("multi_turn:instance_state_mismatch", f"turn {number}: {summary}{more}", details)
        elif after == before:
            pairs = zip(expected_calls, expected_results, strict=True)
            missing_calls = (call for call, result in pairs if result not in model.results)
            if (call := next(missing_calls, None)) is not None:
                reason = f"turn {number}: no call returned what {call:.120} returns"
                details = {"turn": number, "call": call}
                yield Failed("multi_turn:execution_response_mismatch", reason, details)
        before = after


def simplify_result(text: str, state: ServerState) -> object:
    """Return a result in the form that is compared: JSON by its value, without what is volatile."""
    for mask in state.masks:
        text = re.sub(mask, "…", text)
    try:
        return unify_texts(_drop_volatile(read_json_text(text), state.volatile))
    except (ValueError, RecursionError):
        return unify_texts(text)


def _drop_volatile(value: object, volatile: frozenset[str]) -> object:
    if isinstance(value, dict):
        return {key: _drop_volatile(member, volatile) for key, member in value.items() if key not in volatile}
    return [_drop_volatile(member, volatile) for member in value] if isinstance(value, list) else value
