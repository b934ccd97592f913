"""The kind of entries with a golden path: the walk of a profile with messages around it, judged twice.

Official: one user message, no system prompt, the functions as tools; replies as JSON, other scripts as they
are. What the runners for the families of models do otherwise stands in ``script``. Prompting mode is ours:
the function docs stand in the suite's system prompt, as everywhere.

Each profile walks the path again over the answers. The profiles show a model different texts: where one ends
the conversation, the other continues. So the verdict of the profile that did not lead the conversation holds
as long as the model saw the texts of that profile; beyond that nobody knows what it would have answered, and
the entry is not scored (``other_rules``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.explanation import CERTAIN, CallPair, FailedEntry, Flaw, ShownTruth
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.text import as_mapping, list_objects, write_value
from pytest_fcbench.domain.transcript import (
    NOT_ASKED,
    AskModel,
    AuxiliaryCall,
    Call,
    Completion,
    Conversation,
    Inquiry,
    PathSettings,
    Step,
    ToolCall,
    Transcript,
    drive_conversation,
    relay_conversation,
    to_wire_message,
)
from pytest_fcbench.domain.verdict import OTHER_RULES, Judgement, NotScored, PathScore, Profile
from pytest_fcbench.kinds.calls.kind import pair_arguments
from pytest_fcbench.kinds.calls.official import show_value
from pytest_fcbench.kinds.golden_path import corrected, official, questions, script
from pytest_fcbench.kinds.golden_path.script import PathRunner, Words, find_runner_of, show_name
from pytest_fcbench.kinds.golden_path.truth import list_steps
from pytest_fcbench.kinds.golden_path.walk import Reader, ShownTexts, Walk, WalkOutcome, get_golden_path
from pytest_fcbench.kinds.kind import (
    ConversationContext,
    Kind,
    Resources,
    RightCalls,
    ask_once,
    find_unscored_cause,
)


class GoldenPathKind(Kind):
    """Calls are compared, step by step, with those of a golden path, whose recorded replies answer them."""

    file_format = "golden_path.entries:PathFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Walk along the golden path with a model."""
        return converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation and its progress."""
        return judge(entry, transcript)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of each step of the only turn."""
        return [[[Call(call.name, call.arguments) for call in step] for step in list_steps(entry)]]

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the steps of the path."""
        steps = (
            (f"{call.name} {write_value(dict(call.arguments))}" for call in step)
            for step in list_steps(entry)
        )
        return ShownTruth(steps=tuple(map(tuple, steps)))

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair each wrong call along the path."""
        return tuple(pair_wrong_calls(failure, path)) if path else ()

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find a path without a step."""
        if not list_steps(entry):
            yield Flaw(CERTAIN, "the golden path has no step")


GOLDEN_PATH = GoldenPathKind()


class _ShownOtherwise(Exception):  # noqa: N818 - it ends a walk, and is no error
    """The profile would have shown the model something else than it was shown."""


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge a conversation and its progress by both profiles. ``entry`` must have a golden path."""
    path_settings = transcript.driven or PathSettings(Profile.OFFICIAL)
    official = _walk_again(entry, transcript, path_settings, Profile.OFFICIAL)
    corrected = _walk_again(entry, transcript, path_settings, Profile.CORRECTED)
    if unscored_cause := find_unscored_cause(entry, transcript):
        return Judgement(official.verdict, unscored_cause, official.score)
    return Judgement(official.verdict, corrected.verdict, official.score, corrected.score)


def _walk_again(
    entry: Entry, transcript: Transcript, path_settings: PathSettings, profile: Profile
) -> WalkOutcome:
    answers = {aside.digest: aside.completion for aside in transcript.asides}
    steps = transcript.turns[0]
    number, has_gap = 0, False

    def respond(demand: ShownTexts | AskModel) -> Completion:
        nonlocal number, has_gap
        if isinstance(demand, AskModel):
            completion = answers.get(demand.digest, NOT_ASKED)
            has_gap |= completion is NOT_ASKED
            return completion
        # Beyond this point nobody knows what the model would have answered.
        if number == len(steps) or (number and demand != steps[number - 1].results):
            raise _ShownOtherwise
        number += 1
        return steps[number - 1].completion

    try:
        walk = walk_path(entry, transcript.prompting.syntax, path_settings, profile)
        outcome = drive_conversation(walk, respond)
    except _ShownOtherwise:
        return WalkOutcome(_explain_divergence(path_settings, profile, number), None)
    except NotScoredError as error:
        return WalkOutcome(NotScored(error.cause, error.reason), None)
    if has_gap and isinstance(outcome.verdict, NotScored):
        return WalkOutcome(_explain_divergence(path_settings, profile, number), None)
    return outcome


def _explain_divergence(path_settings: PathSettings, profile: Profile, step: int) -> NotScored:
    return NotScored(
        OTHER_RULES,
        f"the conversation was held by the {path_settings.profile} rules; by the {profile} ones the model "
        f"would have been shown something else after answer {step}",
    )


def walk_path(entry: Entry, syntax: str, path_settings: PathSettings, profile: Profile) -> Walk:
    """Return the walk along a golden path by the rules of a profile."""
    walks = {Profile.OFFICIAL: official.walk_path, Profile.CORRECTED: corrected.walk_path}
    return walks[profile](entry, syntax, path_settings)


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Hold the conversation by the rules of the profile that walks the path."""
    manner, path_settings = context.manner, context.driven
    runner = find_runner_of(get_golden_path(entry), path_settings)
    opening = _open_conversation(entry, context.suite.wording, manner.prompting.mode, runner)
    syntax, messages = manner.prompting.syntax, list(opening.messages)
    reader = Reader(entry.functions, syntax, runner)
    steps: list[Step] = []
    asides: dict[str, AuxiliaryCall] = {}
    profile = path_settings.profile

    def respond(demand: ShownTexts | AskModel) -> Inquiry[Completion]:
        if isinstance(demand, AskModel):
            return (yield from ask_once(demand, asides))
        if steps:
            steps[-1] = replace(steps[-1], results=demand)
            last, number = steps[-1].completion, len(steps) - 1
            calls = presenting.select_tool_calls(last) if syntax == "tool_calls" else ()
            if calls or steps[-1].calls:
                own_calls = steps[-1].calls
                results = presenting.build_result_messages(calls, own_calls, demand, 0, number, last.message)
                messages.extend(_adapt_results(results, calls, runner))
            else:
                # There is no call that a result could belong to, so the reply comes from the user.
                messages.extend({"role": "user", "content": text} for text in demand)
        # The whole walk is one turn: the user speaks only once.
        completion = yield replace(opening, messages=tuple(messages), step=len(steps))
        calls = presenting.select_tool_calls(completion) if syntax == "tool_calls" else ()
        message = presenting.repeat_answer(completion, calls, 0, len(steps), manner.reasoning)
        messages.append(_adapt_words(message, runner) if calls else message)
        steps.append(Step(completion, reader.read(completion, profile).texts))
        return completion

    yield from relay_conversation(walk_path(entry, syntax, path_settings, profile), respond)
    turns, kept_asides = (tuple(steps),), tuple(asides.values())
    return Transcript(entry.key, manner.model, manner.prompting, turns, kept_asides, path_settings)


def _adapt_words(message: Mapping[str, object], runner: PathRunner) -> Mapping[str, object]:
    """Change the words beside the calls of an assistant message as the runner does."""
    match runner.words:
        case Words.DROPPED:
            return {**message, "content": None}
        case Words.EMPTY:
            return {**message, "content": message.get("content") or ""}
        case Words.KEPT:
            return message


def _adapt_results(
    results: Sequence[Mapping[str, object]], calls: Sequence[ToolCall], runner: PathRunner
) -> Iterator[Mapping[str, object]]:
    """Yield the messages with results with the members that the runner gives them."""
    for result, call in zip(results, calls, strict=True) if calls else ():
        bare_result = {key: value for key, value in result.items() if key != "tool_call_id"}
        message = result if runner.identifies_results else bare_result
        yield {**message, "name": call.name} if runner.names_results else message
    if not calls:
        yield from results


def _open_conversation(entry: Entry, wording: Wording, mode: Mode, runner: PathRunner) -> AskModel:
    docs = [questions.describe_function(doc, show_name(doc.name, mode, runner)) for doc in entry.functions]
    messages = [to_wire_message(message) for message in entry.turns[0]]
    parameters = dict(runner.parameters or {})
    if mode is Mode.FC:
        tools = tuple({"type": "function", "function": doc} for doc in docs)
        return AskModel(tuple(messages), tools, defaults=parameters)
    # Without tools there is nothing to choose.
    parameters.pop("tool_choice", None)
    prompt = wording.system_prompt.replace("{functions}", json.dumps(docs, indent=4))
    return AskModel(({"role": "system", "content": prompt}, *messages), defaults=parameters)


def pair_wrong_calls(failure: FailedEntry, path: PathScore) -> Iterator[CallPair]:
    """Pair each call along a golden path that is wrong with the expected one."""
    docs = {doc.name: doc for doc in failure.entry.functions}
    missing_calls = list_objects(failure.verdict.details.get("left"))
    for verdict in path.verdicts:
        if verdict.right:
            continue
        made_call, expected_call = verdict.made, verdict.expected
        fault = script.find_form_fault(made_call, docs, failure.profile)
        # A call whose form is wrong was compared with none, or with what was left by others.
        if expected_call is None or (fault and expected_call.get("name") != made_call.get("name")):
            same_name = (call for call in missing_calls if call.get("name") == made_call.get("name"))
            expected_call = next(same_name, expected_call)
        expected_texts = {name: show_value(value) for name, value in _read_arguments(expected_call).items()}
        wrong_names = {difference.parameter for difference in verdict.differences}
        if fault:
            wrong_names.update(fault.parameters)
        yield CallPair(
            str(made_call.get("name", "(unreadable)")),
            None if expected_call is None else str(expected_call.get("name")),
            expected_call is None or made_call.get("name") != expected_call.get("name"),
            pair_arguments(_read_arguments(made_call), expected_texts, wrong_names),
        )


def _read_arguments(call: Mapping[str, object] | None) -> Mapping[str, object]:
    return as_mapping(as_mapping(call).get("arguments"))
