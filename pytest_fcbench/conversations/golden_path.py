"""Put an entry with a golden path to a model: the walk of a profile with messages around it.

Official (``runner/gpt_runner.py``): one user message, no system prompt, the functions as tools under names
without the characters that interfaces refuse; replies as JSON, other scripts as they are. Prompting mode is
ours: the function docs stand in the suite's system prompt, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import replace

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.conversations.setting import Setting
from pytest_fcbench.domain.driving import relay_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import (
    Aside,
    AskModel,
    Completion,
    Conversation,
    Step,
    Transcript,
    to_wire_message,
)
from pytest_fcbench.matchers.golden_path.answers import Reader
from pytest_fcbench.matchers.golden_path.profiles import walk_path
from pytest_fcbench.matchers.golden_path.walk import Shown


def converse(entry: Entry, setting: Setting) -> Conversation:
    """Hold the conversation by the rules of the profile that walks the path.

    Another party is asked each question only once: judged again, its answer must lead to the same verdict.
    """
    manner, driven = setting.manner, setting.driven
    opening = _open_conversation(entry, setting.suite.wording, manner.prompting.mode)
    syntax, messages = manner.prompting.syntax, list(opening.messages)
    reader = Reader(entry.functions, syntax)
    steps: list[Step] = []
    asides: dict[str, Aside] = {}
    profile = driven.profile

    def respond(demand: Shown | AskModel) -> Generator[AskModel, Completion, Completion]:
        if isinstance(demand, AskModel):
            if demand.digest not in asides:
                asides[demand.digest] = Aside(demand.party, demand.digest, (yield demand))
            return asides[demand.digest].completion
        if steps:
            steps[-1] = replace(steps[-1], results=demand.texts)
            calls = presenting.select_tool_calls(steps[-1].completion) if syntax == "tool_calls" else ()
            if calls or steps[-1].calls:
                messages.extend(
                    presenting.build_result_messages(calls, steps[-1].calls, demand.texts, 0, len(steps) - 1)
                )
            else:
                # There is no call that a result could belong to, so the reply comes from the user.
                messages.extend({"role": "user", "content": text} for text in demand.texts)
        # The whole walk is one turn: the user speaks only once.
        completion = yield AskModel(tuple(messages), opening.tools, 0, len(steps))
        calls = presenting.select_tool_calls(completion) if syntax == "tool_calls" else ()
        messages.append(presenting.build_assistant_message(completion, calls, 0, len(steps)))
        steps.append(Step(completion, reader.read(completion, profile).texts))
        return completion

    yield from relay_conversation(walk_path(entry, syntax, driven, profile), respond)
    return Transcript(
        entry.key, manner.model, manner.prompting, (tuple(steps),), tuple(asides.values()), driven
    )


def _open_conversation(entry: Entry, wording: Wording, mode: Mode) -> AskModel:
    docs: list[Mapping[str, object]] = [
        {
            "name": presenting.sanitise_name(doc.name, mode),
            "description": doc.description,
            "parameters": doc.parameters,
            **doc.extra,
        }
        for doc in entry.functions
    ]
    messages = [to_wire_message(message) for message in entry.turns[0]]
    if mode is Mode.FC:
        return AskModel(tuple(messages), tuple({"type": "function", "function": doc} for doc in docs))
    prompt = wording.system_prompt.replace("{functions}", json.dumps(docs, indent=4))
    return AskModel(({"role": "system", "content": prompt}, *messages))
