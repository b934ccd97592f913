"""The kind of entries whose calls act on environments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CERTAIN, LIKELY, Divergence, FailedEntry, Flaw, ShownTruth
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Profile
from pytest_fcbench.environments.api.file_system import Directory, File, FileSystem, build_tree
from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow, parse_calls
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.failure import carry_out_calls, classify_conversation
from pytest_fcbench.kinds.state.verdict import Trajectory, list_expected_turns


class StateKind(Kind):
    """Calls are carried out, turn by turn; the changed state and the results are compared."""

    file_format = "state.entries:TrajectoryFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return state.judge(entry, transcript, resources.fresh)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a conversation whose calls had a wrong effect; its entry must have a trajectory."""
        entry, transcript, fresh = answer.entry, answer.transcript, resources.fresh
        verdict = state.judge(entry, transcript, fresh).official
        if not isinstance(verdict, Failed):
            return None
        error: dict[str, object] = {"error_message": verdict.reason, "error_type": verdict.code}
        results: dict[str, object] = {"model_result": answer.result}
        if verdict.code in ("multi_turn:inference_error", "multi_turn:force_terminated"):
            error["error_message"] = [verdict.reason]
        else:
            made_calls = state.list_calls(transcript)
            results = {"model_result_raw": answer.result, "model_result_decoded": made_calls}
            error |= _describe_turn(verdict, entry, made_calls, fresh)
        return answer.describe_conversation(error, answer.prompt, results)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find the call that the conversation failed for."""
        return classify_conversation(failure, partial(carry_out_calls, resources.fresh))

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of each turn, which are made at once."""
        return [[calls] for calls in parse_calls(entry, list_expected_turns(entry))]

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the calls of each turn."""
        return ShownTruth(tuple(map(tuple, list_expected_turns(entry))))

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find turns without a truth, and a truth without calls."""
        turns = list_expected_turns(entry)
        if len(turns) != len(entry.turns):
            yield Flaw(CERTAIN, f"{len(entry.turns)} turns, but expected calls for {len(turns)}")
        elif not any(turns):
            yield Flaw(LIKELY, "no turn expects a call")


STATE = StateKind()


def _describe_turn(
    verdict: Failed, entry: Entry, made_calls: state.TurnCalls, fresh: state.Fresh
) -> dict[str, object]:
    """Describe the error in a turn, and the results of all calls up to it."""
    assert isinstance(entry.expectation, Trajectory)
    executed_turns: list[dict[str, object]] = []
    results_so_far: list[str] = []
    for turn in state.play_turns(entry.expectation, made_calls, lambda: fresh(entry), Profile.OFFICIAL):
        results = [list(step) for step in turn.results]
        executed_turns.append({"model": results, "ground_truth": list(turn.returned)})
        results_so_far += [text for step in turn.results for text in step]
        # The official checker stops at the first turn that fails.
        if turn.number == verdict.details["turn"]:
            break
    match verdict.code.removeprefix("multi_turn:"):
        case "instance_state_mismatch":
            # Only the first environment that differs is described.
            pairs = ((each, turn.right.by_domain[name]) for name, each in turn.model.by_domain.items())
            model, right = next((each, right) for each, right in pairs if each.state() != right.state())
            model_attributes, right_attributes = _list_attributes(model), _list_attributes(right)
            differences = {
                name: {"model": model_attributes[name], "ground_truth": right_attributes[name]}
                for name in right_attributes
                if model.state()[name] != right.state()[name]
            }
            return {
                "details": {
                    "differences": differences,
                    "model_instance_state": model_attributes,
                    "ground_truth_instance_state": right_attributes,
                },
                "execution_result": executed_turns,
            }
        case "execution_response_mismatch":
            # Results count as often as they occur, as in the official checker.
            remaining_results, missing = list(results_so_far), []
            for text in turn.returned:
                if text in remaining_results:
                    remaining_results.remove(text)
                else:
                    missing.append(text)
            return {
                "details": {
                    "missing_items": missing,
                    "model_response (including all previous turns)": results_so_far,
                    "ground_truth_response (only the current turn)": list(turn.returned),
                }
            }
    return {"details": {"execution_result": executed_turns}}


def _list_attributes(environment: Environment) -> dict[str, object]:
    """List attributes in the official order, a folder as text."""
    attributes = dict(environment.state())
    if isinstance(environment, FileSystem):
        return attributes | {"root": render_folder(environment.root)}
    last = {name: attributes.pop(name) for name in ("long_context",) if name in attributes}
    return attributes | last


def render_folder(root: Directory) -> str:
    """Show a folder as the official class does, or in our short form if it contains itself."""
    try:
        build_tree(root)
    except ValueError:
        return repr(root)
    return _render_item(root, None)


def _render_item(item: File | Directory, parent: str | None) -> str:
    if isinstance(item, File):
        return f"<<File: {item.name}, Content: {item.content}>>"
    inside = ", ".join(f"{name!r}: {_render_item(child, item.name)}" for name, child in item.contents.items())
    return f"<Directory: {item.name}, Parent: {parent}, Contents: {{{inside}}}>"
