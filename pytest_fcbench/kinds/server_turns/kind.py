"""The kind of entries whose calls an MCP server carries out, judged by what they changed and returned.

The servers are a party like a judge, so their answers are stored, kept in the Record and replayed like any
other. The model's calls go to one server. After the conversation the calls of the truth go to a second one.
Both are probed before the first turn and after each. In each turn the model

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

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fcbench.codecs.decoders.python import parse_tool_call
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.entry import Entry, ServerState
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.explanation import Divergence, FailedEntry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.text import read_json_text, shorten_text
from pytest_fcbench.domain.transcript import (
    AskModel,
    AuxiliaryCall,
    Call,
    CallFunctions,
    CallResults,
    Completion,
    Conversation,
    Inquiry,
    Transcript,
    relay_conversation,
)
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored
from pytest_fcbench.judging.text_normalization import find_differences, unify_texts
from pytest_fcbench.kinds.answered_entry import parse_calls
from pytest_fcbench.kinds.kind import (
    ConversationContext,
    Resources,
    RightCalls,
    ask_once,
    find_unscored_cause,
    judge_fault,
    put_turns,
)
from pytest_fcbench.kinds.state import verdict as state_verdict
from pytest_fcbench.kinds.state.failure import CallMade, Sides, classify_conversation, drop_defaults
from pytest_fcbench.kinds.state.kind import StateKind
from pytest_fcbench.kinds.state.verdict import Trajectory, TurnCalls, list_expected_turns
from pytest_fcbench.mcp_servers.server_requests import ServerCalls, read_request, read_results, write_results


class ServerTurnsKind(StateKind):
    """Calls are carried out by an MCP server, turn by turn; its state and the results are compared."""

    file_format = "server_turns.entries:ServerFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls go to an MCP server."""
        return converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return judge(entry, transcript)

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
    sides, both_turns = [], (model_turns, right_turns)
    for side, turns in zip(open_sides(entry, entry.scene.server, transcript), both_turns, strict=True):
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
            differs = after != before
            calls_by_turn.append([replace(each, is_change=differs and not each.has_failed) for each in calls])
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


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge a conversation by what its calls changed and returned. ``entry`` must have a trajectory."""
    if not isinstance(entry.expectation, Trajectory) or not (entry.scene and entry.scene.server):
        raise TypeError(f"{entry.key} has no trajectory on a server")
    truth, turn_count = entry.expectation.turns, len(entry.expectation.turns)
    unscored_cause = find_unscored_cause(entry, transcript)
    if transcript.last.fault:
        reason = f"the model's call failed: {transcript.last.text}"
        error_verdict = judge_fault(transcript.last) or Failed("multi_turn:inference_error", reason)
        error_verdict = state_verdict.count_right_turns(error_verdict, 0, turn_count)
        return Judgement(error_verdict, unscored_cause or error_verdict)
    model, right = open_sides(entry, entry.scene.server, transcript)
    calls_by_turn = state_verdict.list_calls(transcript)
    try:
        failures = list(_find_failures(calls_by_turn, truth, model, right))
    except KeyError:
        missing = NotScored("mcp_server", "the answers of the server were not kept; run the entry again")
        return Judgement(missing, missing)
    verdict = state_verdict.choose_first_failure(failures, len(calls_by_turn), turn_count)
    return Judgement(verdict, unscored_cause or verdict)


def open_sides(entry: Entry, state: ServerState, transcript: Transcript) -> tuple[Side, Side]:
    """Return the sides of the model and of the truth in a conversation, with the answers that were kept."""
    answers = {aside.digest: aside.completion for aside in transcript.asides}
    model = ServerCalls(state, OfferedFunctions(entry.functions, transcript.prompting.names))
    truth = ServerCalls(state, OfferedFunctions(entry.functions, Names.DOTTED), of_truth=True)
    return Side(model, answers), Side(truth, answers)


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
            yield state_verdict.fail_differences("multi_turn:instance_state_mismatch", number, differences)
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

    def ask_server(request: AskModel) -> Inquiry[Completion]:
        completion = yield from ask_once(request, asides)
        if completion.fault:
            cause, _, reason = (completion.text or "").partition(": ")
            raise NotScoredError(cause, reason)
        return completion

    def respond(demand: AskModel | CallFunctions) -> Inquiry[Completion | CallResults]:
        nonlocal turn
        if isinstance(demand, CallFunctions):
            return CallResults((yield from perform_calls(demand.calls)))
        if demand.turn > turn or not (demand.turn or demand.step):
            turn = demand.turn
            yield from ask_server(model.request_probes())
        return (yield demand)

    def perform_calls(texts: Sequence[str]) -> Inquiry[tuple[str, ...]]:
        readings = model.read_calls(texts)
        calls = [call for call in readings if isinstance(call, Call)]
        result_texts = read_results((yield from ask_server(model.request_calls(calls)))) if calls else ()
        results = (shorten_text(text, _LONGEST) for text in result_texts)
        return tuple(next(results) if isinstance(call, Call) else call for call in readings)

    conversation = put_turns(entry, context.manner, context.suite.wording)
    transcript = yield from relay_conversation(conversation, respond)
    if not transcript.last.fault:
        yield from ask_server(model.request_probes())
        truth = ServerCalls(state, OfferedFunctions(entry.functions, Names.DOTTED), of_truth=True)
        yield from ask_server(truth.request_probes())
        for texts in entry.expectation.turns:
            if calls := [call for call in truth.read_calls(texts) if isinstance(call, Call)]:
                yield from ask_server(truth.request_calls(calls))
                yield from ask_server(truth.request_probes())
    return replace(transcript, asides=tuple(asides.values()))
