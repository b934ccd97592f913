"""Recordings of what the official harness sends for each model family, and what we send instead."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import FamilyMember, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext, Memories
from pytest_fcbench.kinds.table import converse
from pytest_fcbench.models.official_models import find_family, name_at_server
from pytest_fcbench.suites.suite import Suite

Body: TypeAlias = Mapping[str, Any]
"""The body of a request."""


@dataclass(frozen=True, slots=True)
class FamilyRecording:
    """The requests of the official harness about one entry, and what the server answered to each."""

    run: str
    handler: str
    model: str
    name: str
    entry: str
    answers: Sequence[Any]
    """In the wire form of the API; where the prompt is one text, the text of the answer."""
    paths: Sequence[str]
    headers: Mapping[str, str]
    bodies: Sequence[Body]
    error: str | None
    """The end of the traceback where the handler raised."""


def read_family_recordings(path: Path) -> Iterator[FamilyRecording]:
    """Read the recordings of a file; each body is written as what it changes of the one before."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield FamilyRecording(
                row["run"],
                row["handler"],
                row["model"],
                row["model_sent"],
                row["entry"],
                row["answers"],
                row["paths"],
                row["headers"],
                list(_read_bodies(row["requests"])),
                row["error"],
            )


def _read_bodies(requests: Sequence[Mapping[str, Any]]) -> Iterator[Body]:
    body: dict[str, Any] = {}
    for request in requests:
        body = json.loads(json.dumps(body))
        if (name := request.get("list")) is not None:
            kept = body.get(name, type(request["new"])())[: request["kept"]]
            body[name] = kept + request["new"]
        body |= request.get("set", {})
        for gone in request.get("unset", ()):
            del body[gone]
        yield body


ReadAnswer: TypeAlias = Callable[[FamilyRecording, Any], Completion]
"""Reads an answer of a recording as the transport reads a reply."""


def read_prompted(recording: FamilyRecording, answer: Any) -> Completion:
    """Read an answer to a prompt that is one text."""
    return Completion(text=answer)


def send_bodies(
    entry: Entry,
    recording: FamilyRecording,
    suite: Suite,
    memories: Memories,
    read_answer: ReadAnswer = read_prompted,
) -> list[Body]:
    """Return the bodies that we send about an entry when the server gives the recorded answers."""
    family = find_family(recording.model)
    member = FamilyMember(recording.model, recording.handler, name_at_server(recording.model))
    manner = ModelPresentation(
        "rec-model", Prompting(family.mode, family.names, family.syntax), member=member
    )
    conversation = converse(
        entry, ConversationContext(manner, suite, PathSettings(Profile.OFFICIAL), memories)
    )
    sent: list[Body] = []

    def answer(asked: AskModel) -> Completion:
        if asked.party is not Party.MODEL:
            return Completion(text="the web is not there", fault=Fault.INFERENCE_ERROR)
        assert asked.wire
        sent.append(json.loads(json.dumps(asked.wire.body)))
        if len(sent) > len(recording.answers):
            return Completion(text="END")
        return read_answer(recording, recording.answers[len(sent) - 1])

    with suppress(StopIteration):
        asked = next(conversation)
        # A conversation of another length differs; it need not be followed to its end.
        while len(sent) <= len(recording.bodies):
            asked = conversation.send(answer(asked))
    return sent


def find_body_difference(ours: Sequence[Body], official: Sequence[Body]) -> str | None:
    """Describe the first difference between bodies; None where there is none."""
    for number, (mine, theirs) in enumerate(zip(ours, official, strict=False), 1):
        for name in (*theirs, *mine):
            if mine.get(name, "(left out)") != theirs.get(name, "(left out)"):
                place = _show_difference(mine.get(name, "(left out)"), theirs.get(name, "(left out)"))
                return f"request {number}, {name}: {place}"
    if len(ours) != len(official):
        return f"{len(ours)} requests instead of {len(official)}"
    return None


def _show_difference(mine: object, theirs: object) -> str:
    one, other = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        for value in (mine, theirs)
    )
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    begun = max(0, same - 60)
    return f"at sign {same}, {one[begun : same + 80]!r} instead of {other[begun : same + 80]!r}"
