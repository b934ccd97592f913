"""Recordings of what the official harness asks, and what we ask on the same answers."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.providers.openai_compatible import build_body
from pytest_fcbench.suites.suite import Suite
from tests.models.providers.whole_replies import read_reply

Message: TypeAlias = Mapping[str, Any]
"""A message in the wire form."""

END: Message = {"content": "END"}
"""The answer of the recording server to each request past the end of its script."""


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request body that an entry decides."""

    messages: Sequence[Message]
    tools: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Recording:
    """The requests of the official harness about one entry, and what the server answered to each."""

    run: str
    entry: str
    answers: Sequence[Message]
    requests: Sequence[Request]

    @property
    def mode(self) -> Mode:
        """The mode of the official handler."""
        return Mode.PROMPT if self.run.endswith("_pr") else Mode.FC


def find_recordings(name: str) -> Path | None:
    """Return a file of the folder of recordings: ``FCBENCH_ASKING``, else ``asking`` beside the oracle."""
    oracle = os.environ.get("FCBENCH_ORACLE")
    folder = os.environ.get("FCBENCH_ASKING") or (str(Path(oracle).parent / "asking") if oracle else None)
    found = Path(folder) / name if folder else None
    return found if found and found.exists() else None


def read_recordings(path: Path) -> Iterator[Recording]:
    """Read the recordings of a run; each request is written as what it adds to the one before."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            messages: list[Message] = []
            tools: list[Message] = []
            requests = []
            for request in row["requests"]:
                messages = messages[: request["kept"]] + request["new"]
                tools = request.get("tools", tools) or []
                requests.append(Request(messages, tools))
            yield Recording(row["run"], row["entry"], row["answers"], requests)


def read_answer(answer: Message) -> Completion:
    """Read an answer of the recording server as the transport reads a reply."""
    if "status" in answer:
        return Completion(text=json.dumps(answer["error"]), fault=Fault.INFERENCE_ERROR)
    message = {name: value for name, value in answer.items() if name != "finish_reason"}
    reason = answer.get("finish_reason", "tool_calls" if answer.get("tool_calls") else "stop")
    # The recording server gave each message a content.
    whole = {"role": "assistant", "content": None, **message}
    reply = {"choices": [{"message": whole, "finish_reason": reason}]}
    try:
        return read_reply(json.dumps(reply).encode(), None, [])
    except CallError as error:
        return Completion(text=error.reason, fault=Fault.INFERENCE_ERROR)


Answer: TypeAlias = Callable[[AskModel], Completion]
"""Answers a question of a conversation."""


def ask_about(
    entry: Entry, recording: Recording, suite: Suite, memories: Memories, answer_for_web: Answer
) -> list[Request]:
    """Return the requests that we send about an entry when the server gives the recorded answers."""
    sent: list[Request] = []

    def answer(asked: AskModel) -> Completion:
        if asked.party is not Party.MODEL:
            return answer_for_web(asked)
        body = json.loads(build_body("rec-model", asked, {}))
        sent.append(Request(body["messages"], body.get("tools", [])))
        return read_answer(recording.answers[len(sent) - 1] if len(sent) <= len(recording.answers) else END)

    follow_recording(entry, recording, suite, memories, answer)
    return sent


def follow_recording(
    entry: Entry, recording: Recording, suite: Suite, memories: Memories, answer: Answer
) -> None:
    """Hold the conversation about an entry, or as many steps of it as were recorded and one more."""
    manner = ModelPresentation("rec-model", Prompting.make_default(recording.mode))
    conversation = converse(
        entry, ConversationContext(manner, suite, PathSettings(Profile.OFFICIAL), memories)
    )
    steps = 0
    with suppress(StopIteration):
        asked = next(conversation)
        # A conversation of another length differs; it need not be followed to its end.
        while steps <= len(recording.requests):
            steps += asked.party is Party.MODEL
            asked = conversation.send(answer(asked))


def index_entries(suite: Suite) -> Mapping[str, Entry]:
    """Return all entries of a suite by id, those that only fill a memory too."""
    found: dict[str, Entry] = {}
    for category in suite.categories:
        for entry in suite.load(CATEGORIES[category.name]):
            for each in (*entry.earlier, entry):
                found[each.id] = each
    return found


def find_difference(ours: Sequence[Request], official: Sequence[Request]) -> str | None:
    """Describe the first difference between requests; None where there is none."""
    for number, (mine, theirs) in enumerate(zip(ours, official, strict=False), 1):
        for one, other in zip(mine.messages, theirs.messages, strict=False):
            if one != other:
                return f"request {number}: {json.dumps(one)} instead of {json.dumps(other)}"
        if len(mine.messages) != len(theirs.messages):
            return f"request {number}: {len(mine.messages)} messages instead of {len(theirs.messages)}"
        if mine.tools != theirs.tools:
            return f"request {number}: other tools"
    if len(ours) != len(official):
        return f"{len(ours)} requests instead of {len(official)}"
    return None
