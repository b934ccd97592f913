"""Holding conversations along golden paths with scripted answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.kind import converse
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.suites import core
from tests.kinds.golden_path.cases import Answer

FC = ModelPresentation("test", Prompting.make_default(Mode.FC))
PROMPT = ModelPresentation("test", Prompting.make_default(Mode.PROMPT))
OFFICIAL, CORRECTED = PathSettings(Profile.OFFICIAL), PathSettings(Profile.CORRECTED)
CORE = core.open_suite(Path())


def hold_conversation(
    entry: Entry,
    answers: Iterable[Answer | Completion],
    driven: PathSettings = OFFICIAL,
    *,
    manner: ModelPresentation = FC,
    aside: Callable[[AskModel], Completion] | None = None,
    requests: list[AskModel] | None = None,
) -> Transcript:
    """Hold the conversation with these answers, and ``Done.`` where there are no more of them.

    ``aside`` answers for other parties; ``requests`` takes what the model was asked.
    """
    talk = converse(entry, ConversationContext(manner, CORE, driven))
    said = iter(answers)
    request = next(talk)
    while True:
        if request.party is not Party.MODEL:
            assert aside is not None, f"nobody was to be asked as {request.party}"
            completion = aside(request)
        else:
            if requests is not None:
                requests.append(request)
            completion = make_completion(next(said, "Done."))
        try:
            request = talk.send(completion)
        except StopIteration as done:
            transcript: Transcript = done.value
            return transcript


def make_completion(answer: Answer | Completion) -> Completion:
    """Make a completion of a scripted answer."""
    if isinstance(answer, Completion):
        return answer
    if answer is None or isinstance(answer, str):
        return Completion(text=answer)
    return Completion(tool_calls=tuple(ToolCall(name, arguments) for name, arguments in answer))


def write_call(name: str, **arguments: object) -> tuple[str, str]:
    """Write a call as it stands in an answer."""
    return name, json.dumps(arguments)


def classify_replies(transcript: Transcript) -> str:
    """What the calls of each answer got: ``r`` a recorded reply, ``g`` the generic one, ``f`` what is wrong
    with the form; answers are parted by ``|``. The last answer with calls may have got nothing."""
    return "|".join(
        "".join(map(_classify_reply, step.results)) for step in transcript.turns[0] if step.results
    )


def _classify_reply(text: str) -> str:
    try:
        reply: object = json.loads(text)
    except ValueError:
        return "u"
    if isinstance(reply, dict) and set(reply) == {"error"}:
        return "f"
    return "g" if isinstance(reply, dict) and "api_status" in reply else "r"
