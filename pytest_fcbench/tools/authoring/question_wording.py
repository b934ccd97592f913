"""Have a model word the questions of a user who needs given calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.tools.authoring.sampling import Walk

T = TypeVar("T")


class AskWriter(Protocol):
    """A model that writes."""

    def __call__(self, questions: Sequence[JudgeQuestion[T]], /) -> tuple[list[T | NotScored], Sequence[str]]:
        """Put questions to the model; return its answers, and notes on calls and cost."""


def word_walks(ask: AskWriter, walks: Sequence[Walk]) -> tuple[dict[tuple[int, int], str], Sequence[str]]:
    """Have a model word the turns of walks.

    Return the texts by number of walk and turn, and notes. Walks that the model failed to word have none.
    """
    questions = [_make_walk_question(number, walk) for number, walk in enumerate(walks)]
    answers, asking_notes = ask(questions)
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
            check_message(text, ([value] for value in mentions), names, f" in message {turn}")
        return messages

    return make_question(f"walk_{number}", "wording_in_turns.md", {"turns": turns}, read)


def merge_questions(ask: AskWriter, entries: Sequence[Entry]) -> tuple[list[Entry], Sequence[str]]:
    """Have a model reword each entry's question, joined from several, as one.

    Return the entries, with their old question where the model failed, and notes.
    """
    answers, asking_notes = ask([_make_merge_question(entry) for entry in entries])
    notes, reworded_entries = list(asking_notes), []
    for entry, answer in zip(entries, answers, strict=True):
        text = entry.turns[0][0].content if isinstance(answer, NotScored) else answer
        if isinstance(answer, NotScored):
            notes.append(f"{entry.id} stays as it was put together: {answer.cause}: {answer.reason}")
        reworded_entries.append(replace(entry, turns=((Message("user", text),),)))
    return reworded_entries, notes


def _make_merge_question(entry: Entry) -> JudgeQuestion[str]:
    """Ask for one message for an entry; a reply must mention the expected values of the old question."""
    text, calls = entry.turns[0][0].content, list_expected_calls(entry)
    forms = (
        [form for form in map(phrase_value, options) if form and form.casefold() in text.casefold()]
        for call in calls
        for options in call.accepted.values()
        if isinstance(options, list)
    )
    required_values = [value_forms for value_forms in forms if value_forms]

    def read(reply: Mapping[str, object]) -> str:
        message = reply.get("message")
        if not isinstance(message, str) or not message.strip():
            raise Unfit('must have "message", a text')
        check_message(message, required_values, {call.name for call in calls})
        return message

    material = {
        "message": text,
        "calls": [{call.name: dict(call.accepted)} for call in calls],
        "mention": [value_forms[0] for value_forms in required_values],
    }
    return make_question(entry.id, "wording_merged.md", material, read)


def make_question(
    name: str, task_file: str, material: object, read: Callable[[Mapping[str, object]], T]
) -> JudgeQuestion[T]:
    """Make a question to the writer from the task in a file and its material.

    It is about a made-up entry, of a category that offers the writer no functions.
    """
    about = Entry("draft", name, CATEGORIES["chatable"], ((Message("user", ""),),), (), NoCall())
    task = Path(__file__).with_name(task_file).read_text(encoding="utf-8").rstrip()
    return JudgeQuestion(about, task, read_json_text(json.dumps(material, default=str)), read)


def check_message(
    text: str, values: Iterable[Sequence[object]], names: Iterable[str], where: str = ""
) -> None:
    """Raise ``Unfit`` where a text mentions a value in none of its forms, or names a function.

    A name that is a plain word, such as ``cancel``, may occur.
    """
    for forms in values:
        if not any(phrase_value(form).casefold() in text.casefold() for form in forms):
            raise Unfit(f"does not mention {forms[0]!r}{where}")
    if name := next((name for name in names if re.search("[_.]", name) and name in text), None):
        raise Unfit(f"names the function {name}{where}")


def phrase_value(value: object) -> str:
    """Write a value as a sentence would; empty if it can be said in many ways."""
    # People write 3 for 3.0, and a switch in words of its own, not as True.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
