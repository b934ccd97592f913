"""Lines of an official score file (``BFCL_v4_<category>_score.json``).

The first line holds ``{accuracy, correct_count, total_count}``, for format sensitivity also the spread of the
formats and the three numbers of each; a line for each wrong answer follows, by entry. Their fields, in order,
are those that bfcl-eval's ``eval_runner`` writes:

- of a single-turn entry ``id, model_name, test_category, valid, error, error_type, prompt, model_result_raw,
  model_result_decoded, possible_answer`` (nothing decoded where that failed; texts of both where it gave
  no calls), in irrelevance and relevance ``..., valid, prompt, model_result, decoded_result, error,
  error_type``;
- of an executable entry (officially until April 2025) the same, with calls as text where they are decoded; an
  entry that asks for SQL is like any single-turn one;
- of a multi-turn entry the same with an object as ``error``, which holds the type, and what the calls
  returned or how the states differ; and ``inference_log``, which is empty, as the result files have none;
- of an agentic entry the same, with ``last_non_fc_message`` in the place of what was decoded, and the texts
  as they were compared among the details.

All values are the official ones, except sentences: in ``error``, ``error_message`` and ``sub_error``, and the
texts of errors that calls in an environment return, wherever those are shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import WRONG_FORMAT, Calls
from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import Call, Completion, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.environments.api.file_system import Directory, File, FileSystem, build_tree
from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.outcomes import Execute
from pytest_fcbench.kinds.answers import verdict as answer
from pytest_fcbench.kinds.answers.truth import Answers, Facts
from pytest_fcbench.kinds.calls import official
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.execution import verdict as execution
from pytest_fcbench.kinds.execution.truth import ExpectedResults
from pytest_fcbench.kinds.relevance import verdict as relevance
from pytest_fcbench.kinds.relevance.truth import AnyCall, NoCall
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.truth import Trajectory
from pytest_fcbench.scorecard.aggregate.format_sensitivity import Spread, measure_spread


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a score file: the numbers of answers and of right answers in a category."""

    correct: int
    total: int
    formats: Mapping[str, Header] = field(default_factory=dict)
    """The headers of prompt formats by official name, in a category that has prompt formats."""

    @property
    def accuracy(self) -> float:
        """The share of right answers; there must be an answer."""
        return self.correct / self.total

    @property
    def spread(self) -> Spread | None:
        """The spread of the prompt formats; None without any."""
        return measure_spread([header.accuracy for header in self.formats.values()]) if self.formats else None

    @property
    def row(self) -> Mapping[str, object]:
        """The fields of the line."""
        row = {"accuracy": self.accuracy, "correct_count": self.correct, "total_count": self.total}
        if apart := self.spread:
            row |= {f"accuracy_{name}": getattr(apart, name) for name in ("max_delta", "variance", "std")}
        return row | {name: header.row for name, header in self.formats.items()}


@dataclass(frozen=True, slots=True)
class AnsweredEntry:
    """An entry with its transcript and its fields in the official files."""

    entry: Entry
    transcript: Transcript
    result: object
    """The result in its row of the result file."""
    prompt: Mapping[str, object]
    possible_answer: object


def build_score_row(
    answered: AnsweredEntry, model: str, fresh: Callable[[Entry], Environments], execute: Execute
) -> dict[str, object] | None:
    """Build the line on an answer that is officially wrong; None for a right one.

    The rule of its category must be ``in_score_files``. The content of the result file is judged, in which
    the error of a call is a text like any other.
    """
    category = answered.entry.category
    match answered.entry.expectation:
        case Trajectory():
            found = _describe_wrong_trajectory(answered, fresh)
        case Answers() | Facts():
            found = _describe_wrong_answer(answered)
        case NoCall() | AnyCall():
            found = _describe_wrong_relevance(answered)
        case ExpectedResults():
            found = _describe_wrong_execution(answered, execute)
        case _:
            found = _describe_wrong_calls(answered)
    head = {"id": answered.entry.id, "model_name": model, "test_category": category.name, "valid": False}
    return None if found is None else {**head, **found}


def write_line(row: Mapping[str, object]) -> str:
    """Write a line of the file in ASCII; values that JSON lacks are written as their text, as officially."""
    converted: dict[str, object] = {}
    # Field by field, so that one that is nested too deeply does not lose the others.
    for name, value in row.items():
        try:
            converted[name] = _convert_to_json(value)
        except RecursionError:
            converted[name] = "(nested too deeply)"
    return json.dumps(converted)


def _convert_to_json(value: object) -> object:
    if isinstance(value, dict):
        return {
            key if isinstance(key, str | int | float | None) else str(key): _convert_to_json(member)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [_convert_to_json(member) for member in value]
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return str(value)
    return value


# Single-turn


def _describe_wrong_calls(answered: AnsweredEntry) -> dict[str, object] | None:
    entry, transcript = answered.entry, answered.transcript
    assert isinstance(entry.expectation, ExpectedCalls)
    reading = read_official(transcript.last, transcript.prompting.syntax, entry.category.language)
    verdict = official.match_calls(entry, entry.expectation, reading, transcript.prompting.names)
    if not isinstance(verdict, Failed):
        return None
    raw: dict[str, object] = {"model_result_raw": answered.result}
    if isinstance(reading, Calls):
        raw["model_result_decoded"] = _format_calls(reading.calls, transcript.prompting.syntax)
    elif reading.code == WRONG_FORMAT:
        raw = {
            "model_result_raw": str(answered.result),
            "model_result_decoded": str(_show_misdecoded(transcript.last, entry.category.language)),
        }
    errors: list[object] = [verdict.reason]
    misses, decoded = verdict.details.get("misses"), raw.get("model_result_decoded")
    right = answered.possible_answer
    # Where no call matches an expected one, official code also lists the error of each remaining call.
    if isinstance(misses, list) and isinstance(decoded, list) and isinstance(right, list):
        expected = right[int(str(verdict.details["expected"]))]
        errors += [
            {
                f"Model Result Index {miss['found']}": {
                    "sub_error": [miss["reason"]],
                    "sub_error_type": miss["code"],
                    "model_output_item": decoded[miss["found"]],
                    "possible_answer_item": expected,
                }
            }
            for miss in misses
        ]
    return {
        "error": errors,
        "error_type": verdict.code,
        "prompt": answered.prompt,
        **raw,
        "possible_answer": answered.possible_answer,
    }


def _describe_wrong_relevance(answered: AnsweredEntry) -> dict[str, object] | None:
    transcript, language = answered.transcript, answered.entry.category.language
    reading = read_official(transcript.last, transcript.prompting.syntax, language)
    forbidden = isinstance(answered.entry.expectation, NoCall)
    verdict = relevance.judge_reading(reading, forbidden=forbidden)
    if not isinstance(verdict, Failed):
        return None
    decoded: object = None
    if isinstance(reading, Calls):
        decoded = _format_calls(reading.calls, transcript.prompting.syntax)
    elif reading.code == WRONG_FORMAT:
        decoded = _show_misdecoded(transcript.last, language)
    return {
        "prompt": answered.prompt,
        "model_result": answered.result,
        "decoded_result": decoded,
        "error": [verdict.reason],
        "error_type": verdict.code,
    }


def _describe_wrong_execution(answered: AnsweredEntry, execute: Execute) -> dict[str, object] | None:
    # The error of a call is a text like any other in a result file.
    read = replace(answered.transcript.last, fault=None)
    transcript = replace(answered.transcript, turns=((Step(read),),))
    verdict = execution.judge(answered.entry, transcript, execute).official
    if not isinstance(verdict, Failed):
        return None
    decoded = (
        {}
        if verdict.code.endswith(":decoder_failed")
        else {"model_result_decoded": list(execution.read_official_calls(transcript))}
    )
    return {
        "error": [verdict.reason],
        "error_type": verdict.code,
        "prompt": answered.prompt,
        "model_result_raw": answered.result,
        **decoded,
        "possible_answer": answered.possible_answer,
    }


def _format_calls(calls: Sequence[Call], syntax: str) -> list[object]:
    """Format calls as ``{name: {parameter: value}}``; in a text an argument without a name is ``null``."""
    renamed = {"**": "null"} if syntax.startswith(("python", "verbose_xml")) else {}
    return [
        {call.name: {renamed.get(name, name): value for name, value in call.arguments.items()}}
        for call in calls
    ]


def _show_misdecoded(completion: Completion, language: Language) -> object:
    """Show a result that does not decode to calls: arguments that are no object, or a text without a call."""
    made = [part for part in completion.tool_calls or () if isinstance(part, ToolCall)]
    if not made:
        return {} if language is Language.JAVA else None
    return [
        {part.name: from_json(part.arguments) if isinstance(part.arguments, str) else part.arguments}
        for part in made
    ]


# Final answers


def _describe_wrong_answer(answered: AnsweredEntry) -> dict[str, object] | None:
    verdict = answer.judge(answered.entry, answered.transcript).official
    if not isinstance(verdict, Failed):
        return None
    error: dict[str, object] = {"error_message": [verdict.reason], "error_type": verdict.code}
    prompt: object = answered.prompt
    results: dict[str, object] = {"model_result": answered.result}
    if verdict.code == answer.NO_LAST_MESSAGE:
        made = [list(step.calls) for step in answered.transcript.turns[0] if step.calls]
        results["model_result_decoded"] = made
    elif verdict.code == answer.NOT_FOUND:
        last, right = answer.last_message(answered.transcript), verdict.details["expected"]
        assert isinstance(right, list)
        error |= {"error_message": verdict.reason, "details": answer.describe_missing_answer(last, right)}
        # Only in this case the official record has just the question of the entry.
        prompt = answered.prompt["question"]
        results = {"model_result_raw": answered.result, "last_non_fc_message": last}
    return {
        "error": error,
        "prompt": prompt,
        **results,
        "possible_answer": answered.possible_answer,
        "inference_log": "",
    }


# Multi-turn


def _describe_wrong_trajectory(
    answered: AnsweredEntry, fresh: Callable[[Entry], Environments]
) -> dict[str, object] | None:
    entry, transcript = answered.entry, answered.transcript
    verdict = state.judge(entry, transcript, fresh).official
    if not isinstance(verdict, Failed):
        return None
    error: dict[str, object] = {"error_message": verdict.reason, "error_type": verdict.code}
    results: dict[str, object] = {"model_result": answered.result}
    if verdict.code in ("multi_turn:inference_error", "multi_turn:force_terminated"):
        error["error_message"] = [verdict.reason]
    else:
        made = state.list_calls(transcript)
        results = {"model_result_raw": answered.result, "model_result_decoded": made}
        error |= _describe_turn(verdict, entry, made, fresh)
    return {
        "error": error,
        "prompt": answered.prompt,
        **results,
        "possible_answer": answered.possible_answer,
        "inference_log": "",
    }


def _describe_turn(
    verdict: Failed, entry: Entry, made: state.Made, fresh: Callable[[Entry], Environments]
) -> dict[str, object]:
    """Describe the error in a turn, and the results of all calls up to it."""
    assert isinstance(entry.expectation, Trajectory)
    executed: list[dict[str, object]] = []
    so_far: list[str] = []
    for turn in state.play_turns(entry.expectation, made, lambda: fresh(entry), Profile.OFFICIAL):
        executed.append({"model": [list(step) for step in turn.results], "ground_truth": list(turn.returned)})
        so_far += [text for step in turn.results for text in step]
        # The official checker stops at the first turn that fails.
        if turn.number == verdict.details["turn"]:
            break
    match verdict.code.removeprefix("multi_turn:"):
        case "instance_state_mismatch":
            # Only the first environment that differs is described.
            pairs = ((found, turn.right.by_domain[name]) for name, found in turn.model.by_domain.items())
            model, right = next((found, right) for found, right in pairs if found.state() != right.state())
            found, expected = _list_attributes(model), _list_attributes(right)
            differences = {
                name: {"model": found[name], "ground_truth": expected[name]}
                for name in expected
                if model.state()[name] != right.state()[name]
            }
            return {
                "details": {
                    "differences": differences,
                    "model_instance_state": found,
                    "ground_truth_instance_state": expected,
                },
                "execution_result": executed,
            }
        case "execution_response_mismatch":
            # Results count as often as they occur, as in the official checker.
            left, missing = list(so_far), []
            for text in turn.returned:
                if text in left:
                    left.remove(text)
                else:
                    missing.append(text)
            return {
                "details": {
                    "missing_items": missing,
                    "model_response (including all previous turns)": so_far,
                    "ground_truth_response (only the current turn)": list(turn.returned),
                }
            }
    return {"details": {"execution_result": executed}}


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
