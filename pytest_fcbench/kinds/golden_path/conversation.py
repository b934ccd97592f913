"""Put an entry with a golden path to a model: the walk of a profile with messages around it.

Official: one user message, no system prompt, the functions as tools; replies as JSON, other scripts as they
are. What the runners for the families of models do otherwise stands in ``runners``. Prompting mode is ours:
the function docs stand in the suite's system prompt, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.driving import relay_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import (
    AskModel,
    AuxiliaryCall,
    Completion,
    Conversation,
    Step,
    ToolCall,
    Transcript,
    to_wire_message,
)
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.golden_path.answers import Reader
from pytest_fcbench.kinds.golden_path.profiles import walk_path
from pytest_fcbench.kinds.golden_path.runners import PathRunner, Words, show_name
from pytest_fcbench.kinds.golden_path.script import find_runner_of
from pytest_fcbench.kinds.golden_path.walk import ShownTexts, get_golden_path


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Hold the conversation by the rules of the profile that walks the path.

    Another party is asked each question only once: judged again, its answer must lead to the same verdict.
    """
    manner, path_settings = context.manner, context.driven
    runner = find_runner_of(get_golden_path(entry), path_settings)
    opening = _open_conversation(entry, context.suite.wording, manner.prompting.mode, runner)
    syntax, messages = manner.prompting.syntax, list(opening.messages)
    reader = Reader(entry.functions, syntax, runner)
    steps: list[Step] = []
    asides: dict[str, AuxiliaryCall] = {}
    profile = path_settings.profile

    def respond(demand: ShownTexts | AskModel) -> Generator[AskModel, Completion, Completion]:
        if isinstance(demand, AskModel):
            if demand.digest not in asides:
                asides[demand.digest] = AuxiliaryCall(demand.party, demand.digest, (yield demand))
            return asides[demand.digest].completion
        if steps:
            steps[-1] = replace(steps[-1], results=demand.texts)
            calls = presenting.select_tool_calls(steps[-1].completion) if syntax == "tool_calls" else ()
            if calls or steps[-1].calls:
                results = presenting.build_result_messages(
                    calls, steps[-1].calls, demand.texts, 0, len(steps) - 1
                )
                messages.extend(_adapt_results(results, calls, runner))
            else:
                # There is no call that a result could belong to, so the reply comes from the user.
                messages.extend({"role": "user", "content": text} for text in demand.texts)
        # The whole walk is one turn: the user speaks only once.
        completion = yield replace(opening, messages=tuple(messages), step=len(steps))
        calls = presenting.select_tool_calls(completion) if syntax == "tool_calls" else ()
        message = presenting.build_assistant_message(completion, calls, 0, len(steps))
        messages.append(_adapt_words(message, runner) if calls else message)
        steps.append(Step(completion, reader.read(completion, profile).texts))
        return completion

    yield from relay_conversation(walk_path(entry, syntax, path_settings, profile), respond)
    return Transcript(
        entry.key, manner.model, manner.prompting, (tuple(steps),), tuple(asides.values()), path_settings
    )


def _adapt_words(message: Mapping[str, object], runner: PathRunner) -> Mapping[str, object]:
    """Change the words beside the calls of an assistant message as the runner does."""
    match runner.words:
        case Words.DROPPED:
            return {"role": message["role"], "content": None, "tool_calls": message["tool_calls"]}
        case Words.EMPTY:
            return {**message, "content": message["content"] or ""}
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
    docs: list[Mapping[str, object]] = [
        {
            "name": show_name(doc.name, mode, runner),
            "description": doc.description,
            "parameters": doc.shown_schema,
            **doc.extra,
        }
        for doc in entry.functions
    ]
    messages = [to_wire_message(message) for message in entry.turns[0]]
    parameters = dict(runner.parameters or {})
    if mode is Mode.FC:
        tools = tuple({"type": "function", "function": doc} for doc in docs)
        return AskModel(tuple(messages), tools, defaults=parameters)
    # Without tools there is nothing to choose.
    parameters.pop("tool_choice", None)
    prompt = wording.system_prompt.replace("{functions}", json.dumps(docs, indent=4))
    return AskModel(({"role": "system", "content": prompt}, *messages), defaults=parameters)
