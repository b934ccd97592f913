"""Wording of questions by a model: the messages of a user who needs certain calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.cli.judge_options import ask_judge
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.relevance.truth import NoCall
from pytest_fcbench.tools.authoring.sampling import Walk

T = TypeVar("T")


def word_walks(writer: Settings, walks: Sequence[Walk]) -> tuple[dict[tuple[int, int], str], Sequence[str]]:
    """Have a model word the turns of walks.

    Return the questions by number of walk and turn, without walks that the writer failed to word, and notes
    on the writer.
    """
    questions = [_make_walk_question(number, walk) for number, walk in enumerate(walks)]
    answers, asking_notes = ask_judge(writer, questions, "writer")
    wordings: dict[tuple[int, int], str] = {}
    notes = list(asking_notes)
    for number, answer in enumerate(answers):
        if isinstance(answer, NotScored):
            notes.append(f"walk {number} is not worded: {answer.cause}: {answer.reason}")
        else:
            wordings |= {(number, turn): text for turn, text in enumerate(answer)}
    return wordings, notes


def _make_walk_question(number: int, walk: Walk) -> JudgeQuestion[Sequence[str]]:
    """Ask for the messages of a walk; a reply must mention what the calls of each turn need."""
    turn_mentions = [walk.list_mentions(turn) for turn in range(len(walk.turns))]
    names = {call.name for calls in walk.turns for call in calls}
    turns = [
        {"calls": [{"call": call.text, "returns": call.result[:1000]} for call in calls], "mention": mentions}
        for calls, mentions in zip(walk.turns, turn_mentions, strict=True)
    ]

    def read(reply: Mapping[str, object]) -> Sequence[str]:
        messages = reply.get("messages")
        if not isinstance(messages, list) or not all(isinstance(text, str) and text for text in messages):
            raise Unfit('must have "messages", a list of texts')
        if len(messages) != len(turn_mentions):
            raise Unfit(f"must have {len(turn_mentions)} messages, one for each turn, it has {len(messages)}")
        for turn, (text, mentions) in enumerate(zip(messages, turn_mentions, strict=True)):
            for value in mentions:
                if phrase_value(value).casefold() not in text.casefold():
                    raise Unfit(f"does not mention {value!r} in message {turn}")
            if function_name := find_name(names, text):
                raise Unfit(f"names the function {function_name} in message {turn}")
        return messages

    return make_question(f"walk_{number}", "wording_in_turns.md", {"turns": turns}, read)


def merge_questions(writer: Settings, entries: Sequence[Entry]) -> tuple[list[Entry], Sequence[str]]:
    """Have a model word the question of each entry, which asks for several calls, in one piece.

    Return the entries, with their old question where the writer failed, and notes on the writer.
    """
    answers, asking_notes = ask_judge(writer, [_make_merge_question(entry) for entry in entries], "writer")
    notes, reworded_entries = list(asking_notes), []
    for entry, answer in zip(entries, answers, strict=True):
        text = entry.turns[0][0].content if isinstance(answer, NotScored) else answer
        if isinstance(answer, NotScored):
            notes.append(f"{entry.id} stays as it was put together: {answer.cause}: {answer.reason}")
        reworded_entries.append(replace(entry, turns=((Message("user", text),),)))
    return reworded_entries, notes


def _make_merge_question(entry: Entry) -> JudgeQuestion[str]:
    """Ask for one message for an entry; a reply must mention the expected values that its question has."""
    text, calls = entry.turns[0][0].content, list_expected_calls(entry)
    forms = (
        [form for form in map(phrase_value, options) if form and form.casefold() in text.casefold()]
        for call in calls
        for options in call.accepted.values()
        if isinstance(options, list)
    )
    required_forms = [each for each in forms if each]

    def read(reply: Mapping[str, object]) -> str:
        message = reply.get("message")
        if not isinstance(message, str) or not message.strip():
            raise Unfit('must have "message", a text')
        for values in required_forms:
            if not any(value.casefold() in message.casefold() for value in values):
                raise Unfit(f"does not mention {values[0]!r}")
        if function_name := find_name({call.name for call in calls}, message):
            raise Unfit(f"names the function {function_name}")
        return message

    material = {
        "message": text,
        "calls": [{call.name: dict(call.accepted)} for call in calls],
        "mention": [values[0] for values in required_forms],
    }
    return make_question(entry.id, "wording_merged.md", material, read)


def make_question(
    name: str, task_file: str, material: object, read: Callable[[Mapping[str, object]], T]
) -> JudgeQuestion[T]:
    """Make a question to the writer, with a made-up entry to carry it."""
    # A category without functions, so that the writer is offered none.
    about = Entry("draft", name, CATEGORIES["chatable"], ((Message("user", ""),),), (), NoCall())
    task = Path(__file__).with_name(task_file).read_text(encoding="utf-8").rstrip()
    return JudgeQuestion(about, task, read_json_text(json.dumps(material, default=str)), read)


def find_name(names: Iterable[str], text: str) -> str | None:
    """Return the first function name that a text holds; plain words, such as ``cancel``, are no names."""
    return next((name for name in names if re.search("[_.]", name) and name in text), None)


def phrase_value(value: object) -> str:
    """Write a value as a sentence would; empty if it can be said in many ways."""
    # People write 3 for 3.0, and a switch in words of its own, not as True.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
