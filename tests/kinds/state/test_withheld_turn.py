"""What a model may do in a turn whose function or value comes later: what can be done, but no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest

from pytest_fcbench.kinds.state.verdict import judge
from tests.kinds.outcomes import name_outcomes
from tests.kinds.state.test_verdict import (
    ADD,
    CALLED,
    CAT,
    LS,
    MKDIR,
    PRESS,
    PWD,
    STATE,
    UNREADABLE,
    entry_of,
    expect_failure,
    make_conversation,
    make_step,
    open_entry,
    transcript_of,
)

LIGHTS = "setHeadlights(mode='on')"
DOORS = "lockDoors(unlock=False, door=['driver', 'passenger', 'rear_left', 'rear_right'])"
GO = "set_navigation(destination={!r})".format
TAIL = "tail(file_name='notes.txt', lines=1)"
START = "startEngine(ignitionMode='START')"


class Withheld(NamedTuple):
    """A request that lacks something, the message that completes it, and the calls of both turns."""

    request: str
    completion: str
    task: Sequence[str]
    early: Sequence[str]
    after: Sequence[str] = ()
    """The calls of the second turn, those of the task unless they are given."""


VALUES: Mapping[str, tuple[Withheld, str | None]] = {
    "looking around": (Withheld("Make a folder.", "new", [MKDIR], [LS, PWD, "find(path='.')"]), None),
    "the part that lacks nothing": (
        Withheld("Lights on, and add 1 and a number.", "2", [LIGHTS, ADD(1, 2)], [LIGHTS], [ADD(1, 2)]),
        None,
    ),
    "the steps before it": (
        Withheld(
            "START the engine and show me a reading.",
            "The climate.",
            [DOORS, PRESS(1), START, "displayCarStatus(option='climate')"],
            [START, DOORS, PRESS(1), START],
            ["displayCarStatus(option='climate')"],
        ),
        None,
    ),
    "everything, if only the request is repeated": (
        Withheld("Make a folder called new.", "Its name is new.", [MKDIR], [MKDIR], [LS]),
        None,
    ),
    "everything, if nothing of the task comes later": (
        Withheld("Make a folder called new.", "I am Ida.", [MKDIR], [MKDIR], [LS]),
        None,
    ),
    "a value that is left out": (
        Withheld("Show the last lines of notes.txt.", "1 line.", [TAIL], ["tail(file_name='notes.txt')"]),
        None,
    ),
    "an invented value": (Withheld("Add 1 and a number.", "2", [ADD(1, 2)], [ADD(1, 9)]), CALLED),
    "a guess that is right": (Withheld("Add 1 and a number.", "2", [ADD(1, 2)], [ADD(1, 2)]), CALLED),
    "an invented value in a list": (
        Withheld("The mean of 4 and a number.", "6", ["mean(numbers=[4, 6])"], ["mean(numbers=[4, 5])"]),
        CALLED,
    ),
    "the value in words": (Withheld("Add 1 and a number.", "Two.", [ADD(1, 2)], [ADD(1, 2)]), CALLED),
    "the value with a mark of thousands": (
        Withheld("Add 1 and a number.", "2,000.", [ADD(1, 2000)], [ADD(1, 2000)]),
        CALLED,
    ),
    "the value as a decimal": (
        Withheld("Add 1 and a number.", "2.50.", [ADD(1, 2.5)], [ADD(1, 2.5)]),
        CALLED,
    ),
    "an invented value in a call that fails": (
        Withheld("Show me a file.", "notes.txt", [CAT], ["cat(file_name='nowhere.txt')"]),
        None,
    ),
    "several invented values": (
        Withheld("Add 1 and a number.", "2", [ADD(1, 2)], [ADD(1, 3), ADD(1, 7)]),
        None,
    ),
    "the same invented value twice": (
        Withheld("Add 1 and a number.", "2", [ADD(1, 2)], [ADD(1, 3), ADD(1, 3)]),
        CALLED,
    ),
    "a value that was looked up": (Withheld("Show me a file.", "notes.txt", [CAT], [LS, CAT]), None),
    "a value that is looked up afterwards": (
        Withheld("Show me a file.", "notes.txt", [CAT], [CAT, LS]),
        CALLED,
    ),
    "a change with an invented value": (
        Withheld("Drive to my hotel.", "The Tyrol hotel.", [GO("Tyrol hotel")], [GO("my hotel")]),
        CALLED,
    ),
    "a change with a guess that is right": (
        Withheld("Drive to a hotel.", "The Tyrol hotel.", [GO("Tyrol hotel")], [GO("Tyrol hotel")], [LS]),
        CALLED,
    ),
    "a change with a value that was looked up": (
        Withheld(
            "Copy a file to drafts.",
            "notes.txt",
            ["cp(source='notes.txt', destination='drafts')"],
            [LS, "cp(source='notes.txt', destination='drafts')"],
            [LS],
        ),
        CALLED,
    ),
    "a change that the next message describes": (
        Withheld(
            "Remove a folder.", "The only one.", ["rmdir(dir_name='drafts')"], ["rmdir('drafts')"], [LS]
        ),
        CALLED,
    ),
    "a change before the request": (Withheld("I am tired.", "Lights on.", [LIGHTS], [LIGHTS]), CALLED),
    "a change that is undone before the request": (
        Withheld("I am tired.", "Lights on.", [LIGHTS], [LIGHTS, "setHeadlights(mode='off')"]),
        None,
    ),
    "a change that nothing asks for": (
        Withheld("Lights on, and add 1 and a number.", "2", [LIGHTS, ADD(1, 2)], [MKDIR]),
        STATE,
    ),
}


@pytest.mark.parametrize(("case", "code"), VALUES.values(), ids=VALUES)
def test_a_call_in_a_turn_whose_value_comes_later(case: Withheld, code: str | None) -> None:
    entry = entry_of([[], case.task], said=[case.request, case.completion])
    judgement = judge(entry, make_conversation([case.early, case.after or case.task]), open_entry)
    assert name_outcomes(judgement) == (STATE if code == STATE else None, code)


FUNCTIONS: Mapping[str, tuple[Sequence[str], str | None]] = {
    "looking around": ([LS], None),
    "the part that is offered": ([LIGHTS], None),
    "the function itself": ([ADD(1, 2)], CALLED),
    "the function with an invented value": ([ADD(1, 9)], CALLED),
    "the function in a call that fails": (["add(1)"], None),
    "an unknown function": (["sum_up(1, 2)"], None),
    "another function that does it": (["subtract(a=1, b=-2)"], None),
}


@pytest.mark.parametrize(("early", "code"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_call_in_a_turn_whose_function_comes_later(early: Sequence[str], code: str | None) -> None:
    truth = [[], [LIGHTS, ADD(1, 2)]]
    entry = entry_of(truth, withheld={1: ["add"]}, said=["Lights on, and add 1 and 2.", ""])
    judgement = judge(entry, make_conversation([early, truth[1]]), open_entry)
    assert name_outcomes(judgement) == (None, code)


@pytest.mark.parametrize(("early", "code"), [([ADD(1, 2)], CALLED), ([ADD(1, 9)], CALLED), ([LS], None)])
def test_a_value_and_then_a_function_may_be_withheld(early: Sequence[str], code: str | None) -> None:
    truth = [[], [], [LIGHTS, ADD(1, 2)]]
    entry = entry_of(truth, withheld={2: ["add"]}, said=["Lights on, and add 1 and a number.", "2", ""])
    judgement = judge(entry, make_conversation([early, [LIGHTS], truth[2]]), open_entry)
    assert name_outcomes(judgement) == (None, code)


def test_a_value_from_an_earlier_turn_is_known() -> None:
    truth = [["echo(content='9')"], [], [ADD(1, 2)]]
    for first, code in (("Say 9.", None), ("Say nothing.", CALLED)):
        calls = truth[0] if code is None else [PWD]
        entry = entry_of([calls, *truth[1:]], said=[first, "Add 1 and a number.", "2"])
        judgement = judge(entry, make_conversation([calls, [ADD(1, 9)], truth[2]]), open_entry)
        assert name_outcomes(judgement) == (None, code)


def test_no_change_is_asked_for_after_the_last_task() -> None:
    entry = entry_of([[LS], []], said=["List the files.", "Thank you for the new list."])
    for early, code in ((LS, None), (MKDIR, CALLED)):
        assert name_outcomes(judge(entry, make_conversation([[LS], [early]]), open_entry)) == (None, code)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[mkdir(dir_name='n", UNREADABLE),
        ("[mkdir(dir_name='n']\n\nWhich name shall it have?", None),
        ("I shall try.\n\n[mkdir(dir_name='n", UNREADABLE),
    ],
)
def test_words_after_a_call_that_cannot_be_read_are_for_the_user(text: str, code: str | None) -> None:
    said = transcript_of([make_step(said=text)], [make_step([MKDIR]), make_step()])
    assert name_outcomes(judge(entry_of([[], [MKDIR]]), said, open_entry)) == (None, code)


def test_the_reason_names_the_call() -> None:
    entry = entry_of([[], [ADD(1, 2)]], withheld={1: ["add"]}, said=["Add 1 and 2.", ""])
    verdict = judge(entry, make_conversation([[LS, ADD(1, 2)], [ADD(1, 2)]]), open_entry).corrected
    found = expect_failure(verdict)
    assert found.reason.endswith("and the function of add(a=1, b=2) is not offered yet")
    assert found.details == {"turn": 1, "calls": [LS, ADD(1, 2)], "right_turns": 1, "turns": 2}
