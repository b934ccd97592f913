"""Questions worded by a model: what a user would write who needs certain calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcbench.commands.judges import asked
from pytest_fcbench.config import Settings
from pytest_fcbench.entries import CATEGORIES, Entry, Message, NoCall
from pytest_fcbench.judges.questions import Question, Unfit
from pytest_fcbench.suites.build.sampling import Walk
from pytest_fcbench.verdicts import NotScored

_TASK = """\
You write the messages of a user who talks to an assistant that can call functions. You are given the calls \
that the assistant makes in each turn, with what they return, and the values that the user's message of that \
turn must hold, because nobody could know them otherwise.
Write one message for each turn, as a person would: what is wanted, not how; no name of a function or of a \
parameter; every value to mention exactly as given; nothing that another call would be needed for.
Reply with one JSON object {"messages": ["...", ...]}, as many messages as there are turns."""


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
            if named := next((name for name in names if "_" in name and name in text), None):
                raise Unfit(f"names the function {named} in message {turn}")
        return messages

    about = Entry(
        suite="draft",
        id=f"walk_{number}",
        category=CATEGORIES["chatable"],
        turns=((Message("user", ""),),),
        functions=(),
        expectation=NoCall(),
    )
    return Question(about, _TASK, {"turns": json.loads(json.dumps(turns, default=str))}, read)


def _said(value: object) -> str:
    """How a value stands in a sentence; nothing where it can be said in many ways."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
