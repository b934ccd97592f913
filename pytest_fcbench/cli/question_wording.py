"""Questions worded by a model: what a user would write who needs certain calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.cli.judge_options import asked
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import CATEGORIES, Entry, ExpectedCall, ExpectedCalls, Message, NoCall
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.matchers.judging.questions import Question, Unfit
from pytest_fcbench.tools.authoring.sampling import Walk

_IN_TURNS = Path(__file__).with_name("wording_in_turns.md").read_text(encoding="utf-8").rstrip()


_MERGED = Path(__file__).with_name("wording_merged.md").read_text(encoding="utf-8").rstrip()


def worded(writer: Settings, walks: Sequence[Walk]) -> tuple[dict[tuple[int, int], str], Sequence[str]]:
    """Questions by walk and turn, and what is to be known of the writer; a walk that it fails has none."""
    answers, notes = asked(writer, [_question(number, walk) for number, walk in enumerate(walks)], "writer")
    questions: dict[tuple[int, int], str] = {}
    told = list(notes)
    for number, answer in enumerate(answers):
        if isinstance(answer, NotScored):
            told.append(f"walk {number} is not worded: {answer.cause}: {answer.reason}")
        else:
            questions |= {(number, turn): text for turn, text in enumerate(answer)}
    return questions, told


def _question(number: int, walk: Walk) -> Question[Sequence[str]]:
    """One question for a walk, whose reply is held to what each turn must mention."""
    wanted = [walk.mention(turn) for turn in range(len(walk.turns))]
    names = {call.name for calls in walk.turns for call in calls}
    turns = [
        {
            "calls": [{"call": call.text, "returns": call.result[:1000]} for call in calls],
            "mention": mentions,
        }
        for calls, mentions in zip(walk.turns, wanted, strict=True)
    ]

    def read(reply: Mapping[str, object]) -> Sequence[str]:
        messages = reply.get("messages")
        if not isinstance(messages, list) or not all(isinstance(text, str) and text for text in messages):
            raise Unfit('must have "messages", a list of texts')
        if len(messages) != len(wanted):
            raise Unfit(f"must have {len(wanted)} messages, one for each turn, it has {len(messages)}")
        for turn, (text, mentions) in enumerate(zip(messages, wanted, strict=True)):
            for value in mentions:
                if _said(value) and _said(value).casefold() not in text.casefold():
                    raise Unfit(f"does not mention {value!r} in message {turn}")
            if named := next((name for name in names if re.search("[_.]", name) and name in text), None):
                raise Unfit(f"names the function {named} in message {turn}")
        return messages

    return Question(
        _about(f"walk_{number}"), _IN_TURNS, {"turns": json.loads(json.dumps(turns, default=str))}, read
    )


def merged(writer: Settings, entries: Sequence[Entry]) -> tuple[list[Entry], Sequence[str]]:
    """Entries that ask for several calls, each question in one piece, and what is to be known of the writer.

    What it fails stays as it was put together.
    """
    answers, notes = asked(writer, [_merged(entry) for entry in entries], "writer")
    told, made = list(notes), []
    for entry, answer in zip(entries, answers, strict=True):
        if isinstance(answer, NotScored):
            told.append(f"{entry.id} stays as it was put together: {answer.cause}: {answer.reason}")
        text = entry.turns[0][0].content if isinstance(answer, NotScored) else answer
        made.append(replace(entry, turns=((Message("user", text),),)))
    return made, told


def _merged(entry: Entry) -> Question[str]:
    """The question for an entry, whose reply is held to the values that stand in what it is made from."""
    text = entry.turns[0][0].content
    forms = [
        [said for said in map(_said, options) if said and said.casefold() in text.casefold()]
        for call in _expected(entry)
        for options in call.accepted.values()
        if isinstance(options, list)
    ]
    wanted = [each for each in forms if each]
    names = {call.name for call in _expected(entry)}

    def read(reply: Mapping[str, object]) -> str:
        message = reply.get("message")
        if not isinstance(message, str) or not message.strip():
            raise Unfit('must have "message", a text')
        for values in wanted:
            if not any(value.casefold() in message.casefold() for value in values):
                raise Unfit(f"does not mention {values[0]!r}")
        if named := next((name for name in names if re.search("[_.]", name) and name in message), None):
            raise Unfit(f"names the function {named}")
        return message

    material = {
        "message": text,
        "calls": [{call.name: dict(call.accepted)} for call in _expected(entry)],
        "mention": [values[0] for values in wanted],
    }
    return Question(_about(entry.id), _MERGED, json.loads(json.dumps(material, default=str)), read)


def _expected(entry: Entry) -> Sequence[ExpectedCall]:
    assert isinstance(entry.expectation, ExpectedCalls)
    return entry.expectation.calls


def _about(name: str) -> Entry:
    """What stands for the entry that a question to the writer is about."""
    said = ((Message("user", ""),),)
    return Entry("draft", name, CATEGORIES["chatable"], said, (), NoCall())


def _said(value: object) -> str:
    """How a value stands in a sentence; nothing where it can be said in many ways."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
