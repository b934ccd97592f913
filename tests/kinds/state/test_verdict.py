"""The verdict on a conversation: what its calls did and returned, turn by turn, in both profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, Fault, Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile, Verdict
from pytest_fcbench.environments.environment import Environment, document_domain
from pytest_fcbench.environments.execution import DOMAINS, Environments, open_environments
from pytest_fcbench.environments.world import World
from pytest_fcbench.kinds.state.verdict import Trajectory, is_error, judge, list_offered_docs, match_calls
from tests.cases import each_case
from tests.disturbance import disturb_parsing, repeat_in_threads
from tests.factories import make_doc, make_entry, make_transcript
from tests.kinds.outcomes import name_outcome, name_outcomes

Turns: TypeAlias = Sequence[Sequence[str]]
"""Calls by turn."""

EMPTY = "multi_turn:empty_turn_model_response"
STATE = "multi_turn:instance_state_mismatch"
RESPONSE = "multi_turn:execution_response_mismatch"
FORCED = "multi_turn:force_terminated"
INFERENCE = "multi_turn:inference_error"
HIDDEN = "multi_turn:hidden_state_mismatch"
CALLED = "multi_turn:irrelevance_error:decoder_success"
UNREADABLE = "multi_turn:irrelevance_error:unreadable_call"

DOORS = ("driver", "passenger", "rear_left", "rear_right")
WORLD = World(
    defaults={
        "vehicle": {
            "random_seed": 1,
            "fuelLevel": 20.0,
            "batteryVoltage": 12.0,
            "engine_state": "stopped",
            "doorStatus": dict.fromkeys(DOORS, "unlocked"),
            "acTemperature": 20.0,
            "fanSpeed": 10,
            "acMode": "auto",
            "humidityLevel": 40.0,
            "headLightStatus": "off",
            "parkingBrakeStatus": "released",
            "_parkingBrakeForce": 0.0,
            "_slopeAngle": 0.0,
            "brakePedalStatus": "released",
            "brakePedalForce": 0.0,
            "distanceToNextVehicle": 20.0,
            "cruiseStatus": "inactive",
            "destination": "None",
            "frontLeftTirePressure": 32.0,
            "frontRightTirePressure": 32.0,
            "rearLeftTirePressure": 32.0,
            "rearRightTirePressure": 32.0,
        },
        "tickets": {
            "ticket_queue": [
                {
                    "id": 1,
                    "title": "Leak",
                    "description": "",
                    "status": "Open",
                    "priority": 2,
                    "created_by": "ida",
                }
            ],
            "ticket_counter": 2,
            "current_user": "ida",
        },
    }
)
FILES: Mapping[str, object] = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {
                "notes.txt": {"type": "file", "content": "one\ntwo"},
                "drafts": {"type": "directory", "contents": {}},
            },
        }
    }
}
DOMAINS_USED = ("file_system", "vehicle", "math", "tickets")


def entry_of(
    truth: Turns,
    config: Mapping[str, Mapping[str, object]] | None = None,
    withheld: Mapping[int, Sequence[str]] | None = None,
    said: Sequence[str] = (),
) -> Entry:
    """Make an entry of this truth; the user says "Please." in each turn unless the messages are given."""
    docs = {doc.name: doc for name in DOMAINS_USED for doc in document_domain(DOMAINS[name])}
    late: dict[int, tuple[FunctionDoc, ...]] = {
        turn: tuple(docs.pop(name) for name in names) for turn, names in (withheld or {}).items()
    }
    return Entry(
        suite="test",
        id="multi_turn_base_0",
        category=CATEGORIES["multi_turn_base"],
        turns=tuple((Message("user", text),) for text in said or ["Please."] * len(truth)),
        functions=tuple(docs.values()),
        expectation=Trajectory(tuple(map(tuple, truth))),
        scene=Scene(DOMAINS_USED, {"file_system": FILES, **(config or {})}, late),
    )


def open_entry(entry: Entry) -> Environments:
    return open_environments(entry, WORLD)


def make_step(calls: Sequence[str] = (), said: str = "Done.") -> Step:
    """Make a step of these calls, or of words."""
    return Step(Completion(f"[{', '.join(calls)}]" if calls else said), tuple(calls))


def transcript_of(*turns: Sequence[Step], mode: Mode = Mode.PROMPT) -> Transcript:
    syntax = "python" if mode is Mode.PROMPT else "tool_calls"
    names = Names.DOTTED if mode is Mode.PROMPT else Names.UNDERSCORED
    return Transcript(
        "test:multi_turn_base_0", "test", Prompting(mode, names, syntax), tuple(map(tuple, turns))
    )


def make_conversation(made: Turns) -> Transcript:
    """Make a conversation with one step for all calls of a turn, and words at its end."""
    return transcript_of(*([*([make_step(calls)] if calls else []), make_step()] for calls in made))


def expect_failure(verdict: Verdict) -> Failed:
    assert isinstance(verdict, Failed)
    return verdict


LS, PWD, CAT = "ls()", "pwd()", "cat(file_name='notes.txt')"
MKDIR, TOUCH = "mkdir(dir_name='new')", "touch(file_name='new.txt')"
DOWN, UP = "cd(folder='drafts')", "cd(folder='..')"

# Truth and calls by turn, and the code of both profiles
SAME: Mapping[str, tuple[Turns, Turns, str | None]] = {
    "the truth": ([[MKDIR, LS], [CAT]], [[MKDIR, LS], [CAT]], None),
    "other words": ([[MKDIR]], [["mkdir('new',)"]], None),
    "another order": ([[MKDIR, TOUCH]], [[TOUCH, MKDIR]], None),
    "another function": ([["rm(file_name='drafts')"]], [["rmdir(dir_name='drafts')"]], None),
    "a detour": ([[TOUCH]], [[MKDIR, TOUCH, "rmdir(dir_name='new')"]], None),
    "more that only looks": ([[MKDIR]], [[LS, PWD, CAT, MKDIR, "find(path='.')", "du()"]], None),
    "more that fails": ([[MKDIR]], [["mkdir(dir_name='a/b')", "nonsense(1)", MKDIR, MKDIR]], None),
    "no call": ([[MKDIR]], [[]], EMPTY),
    "no call in the second turn": ([[LS], [PWD]], [[LS], []], EMPTY),
    "everything in the first turn": ([[MKDIR], [TOUCH]], [[MKDIR, TOUCH], []], STATE),
    "no call where none is needed": ([[MKDIR], [], [LS]], [[MKDIR], [], [LS]], None),
    "nothing is made": ([[MKDIR]], [[LS]], STATE),
    "another name": ([[MKDIR]], [["mkdir(dir_name='old')"]], STATE),
    "too much is made": ([[MKDIR]], [[MKDIR, TOUCH]], STATE),
    "another text": ([["echo('a', 'notes.txt')"]], [["echo('b', 'notes.txt')"]], STATE),
    "another domain": ([[MKDIR]], [[MKDIR, "setHeadlights(mode='on')"]], STATE),
    "a call that cannot be carried out": ([[MKDIR]], [["mkdir(dir_name=x)"]], STATE),
    "a state that lies in itself": (
        [["edit_ticket(ticket_id=1, updates={'title': 'Flood'})"]],
        [["edit_ticket(ticket_id=1, updates={'title': get_ticket(ticket_id=1)})"]],
        STATE,
    ),
    "right in the end, wrong after a turn": ([[MKDIR], [TOUCH]], [[TOUCH], [MKDIR]], STATE),
    "something else is looked at": ([[CAT]], [[LS]], RESPONSE),
    "one of two is looked at": ([[CAT, LS]], [[CAT]], RESPONSE),
    "another result": ([["add(a=1, b=2)"]], [["add(a=1, b=3)"]], RESPONSE),
    "the same result of another call": ([["add(a=1, b=2)"]], [["subtract(a=5, b=2)"]], None),
    "a result of the turn before": ([[LS], [PWD]], [[LS, PWD], [LS]], None),
    "a result comes a turn too late": ([[LS], [PWD]], [[PWD], [LS]], RESPONSE),
    "needed in two turns, got in one": ([[PWD], [PWD]], [[PWD], [LS]], None),
    "needed twice in a turn, got once": ([[PWD, PWD]], [[PWD]], RESPONSE),
    "needed twice in a turn, once before": ([[LS], [PWD, PWD]], [[LS, PWD], [PWD]], None),
    "a result that was true before": ([[LS, MKDIR, LS]], [[MKDIR, LS]], RESPONSE),
    "true is not 1": ([["echo(content=True)"]], [["echo(content=1)"]], RESPONSE),
    "a text is not a list": ([["echo(content='[1]')"]], [["echo(content=[1])"]], RESPONSE),
    "too few turns": ([[LS], [LS]], [[LS]], FORCED),
    "too many turns": ([[LS]], [[LS], [LS]], FORCED),
    "too few turns, of which one is wrong": ([[MKDIR], [LS]], [[LS]], FORCED),
}


@each_case(("truth", "made", "code"), SAME.values(), ids=SAME)
def test_both_profiles_give_the_same_code(truth: Turns, made: Turns, code: str | None) -> None:
    assert name_outcomes(judge(entry_of(truth), make_conversation(made), open_entry)) == (code, code)


ADD = "add(a={}, b={})".format
PRESS = "pressBrakePedal(pedalPosition={})".format
ENGAGED = {"parkingBrakeStatus": "released", "parkingBrakeForce": 300.0, "slopeAngle": 10.0}
RELEASE = "activateParkingBrake(mode='release')"

# Truth and calls by turn, the configuration of the vehicle, the official and the corrected code
APART: Mapping[str, tuple[Turns, Turns, Mapping[str, object], str | None, str | None]] = {
    "looking around in an empty turn": ([[], [LS]], [[PWD], [LS]], {}, None, None),
    "a change in an empty turn": ([[], [MKDIR, LS]], [[MKDIR], [LS]], {}, None, CALLED),
    "another folder after an empty turn": ([[], [DOWN]], [[DOWN], [LS]], {}, None, CALLED),
    "a change in an empty turn that is undone": ([[], [LS]], [[MKDIR, "rmdir('new')"], [LS]], {}, None, None),
    "looking around at the end": ([[LS], []], [[LS], [LS]], {}, None, None),
    "a change at the end": ([[LS], []], [[LS], [MKDIR]], {}, None, CALLED),
    "the task before it can be done": ([[], [CAT]], [[CAT], [CAT]], {}, None, CALLED),
    "the task by another function": (
        [[], [ADD(1, 2)]],
        [["subtract(a=5, b=2)"], [ADD(1, 2)]],
        {},
        None,
        None,
    ),
    "the task with an invented value that fails": (
        [[], [CAT]],
        [["cat('nowhere.txt')"], [CAT]],
        {},
        None,
        None,
    ),
    "the call in an empty turn, not after": ([[], [MKDIR]], [[MKDIR], []], {}, EMPTY, CALLED),
    "a failing call in an empty turn": ([[]], [["nonsense()"]], {}, None, None),
    "a folder that was left again": ([[DOWN], [LS]], [[DOWN, UP], [DOWN, LS]], {}, None, None),
    "a folder that is looked into at the end": ([[LS]], [[LS, DOWN]], {}, None, None),
    "another folder in an empty turn": ([[], [LS]], [[DOWN, UP], [LS]], {}, None, None),
    "the pedal": ([[PRESS(1)]], [[PRESS(1), PRESS(0.5)]], {}, None, HIDDEN),
    "the pedal as far in the end": ([[PRESS(1)]], [[PRESS(0.5), PRESS(1)]], {}, None, None),
    "the parking brake": (
        [["lockDoors(False, [])"]],
        [["lockDoors(False, [])", RELEASE]],
        ENGAGED,
        None,
        None,
    ),
    "the slope": ([["lockDoors(False, [])"]], [["lockDoors(False, [])", RELEASE]], {}, None, None),
    "3 and 3.0": ([["add(a=1, b=2)"]], [["add(a=1.0, b=2)"]], {}, RESPONSE, None),
    "3.0 and 3": ([["mean(numbers=[3])"]], [["add(a=1, b=2)"]], {}, RESPONSE, None),
    "3 and 3.0 in depth": (
        [["echo({'a': [{'b': 3}]})"]],
        [["echo({'a': [{'b': 3.0}]})"]],
        {},
        RESPONSE,
        None,
    ),
    "the order of a dict": ([["echo({'a': 1, 'b': 2})"]], [["echo({'b': 2, 'a': 1})"]], {}, RESPONSE, None),
    "the order of a list": ([["echo([1, 2])"]], [["echo([2, 1])"]], {}, RESPONSE, RESPONSE),
    "3 twice and 3.0 once": (
        [["add(a=1, b=2)", "add(a=1.0, b=2)"]],
        [["add(a=1, b=2)"]],
        {},
        RESPONSE,
        RESPONSE,
    ),
    "a written text in another form of Unicode": (
        [["echo(content='Köln', file_name='notes.txt')"]],
        [["echo(content='Ko\u0308ln', file_name='notes.txt')"]],
        {},
        STATE,
        None,
    ),
    "another written text beside one in another form of Unicode": (
        [["echo(content='Köln', file_name='notes.txt')", MKDIR]],
        [["echo(content='Ko\u0308ln', file_name='notes.txt')"]],
        {},
        STATE,
        STATE,
    ),
    "a shown text in another form of Unicode": (
        [["echo(content='Köln')"]],
        [["echo(content='Ko\u0308ln')"]],
        {},
        RESPONSE,
        None,
    ),
    "a name of a function in a written text": (
        [["echo(content='ls() lists', file_name='notes.txt')"]],
        [["echo(content='ls() lists', file_name='notes.txt')"]],
        {},
        STATE,
        None,
    ),
    "a name of a function in a shown text": (
        [["echo(content='try mkdir (now)')"]],
        [["echo(content='try mkdir (now)')"]],
        {},
        RESPONSE,
        None,
    ),
    "the text as the official executor rewrites it": (
        [["echo(content='instance.ls() lists', file_name='notes.txt')"]],
        [["echo(content='ls() lists', file_name='notes.txt')"]],
        {},
        None,
        STATE,
    ),
    "such a text behind a blank": (
        [["echo(content='instance.ls() lists', file_name='notes.txt')"]],
        [[" echo(content='ls() lists', file_name='notes.txt')"]],
        {},
        None,
        STATE,
    ),
    "a part of a name in a text": (
        [["echo(content='skills() and ls')"]],
        [["echo(content='skills() and ls')"]],
        {},
        None,
        None,
    ),
}


@each_case(("truth", "made", "vehicle", "official", "corrected"), APART.values(), ids=APART)
def test_the_profiles_give_different_codes(
    truth: Turns, made: Turns, vehicle: Mapping[str, object], official: str | None, corrected: str | None
) -> None:
    entry = entry_of(truth, {"vehicle": vehicle})
    assert name_outcomes(judge(entry, make_conversation(made), open_entry)) == (official, corrected)


POST, MENTION = "post_tweet('Hi')", "mention(0, ['@ida'])"


@each_case(
    ("truth", "made", "official", "corrected"),
    [
        ([[POST], ["add(1, 2)"]], [[POST], ["add(1, 2)", MENTION]], None, STATE),
        ([[POST], [MENTION]], [[POST], ["mention(0, ['ida'])"]], None, STATE),
        ([[POST], [MENTION]], [[POST], [MENTION]], None, None),
        # The truth posts after the model, and so with the mention.
        ([[POST]], [[POST, MENTION]], RESPONSE, STATE),
        ([["post_tweet('Hi', [], [])"]], [["post_tweet('Hi', [], [])", MENTION]], STATE, STATE),
        ([[POST], [MENTION]], [[POST], [POST]], STATE, STATE),
    ],
    ids=["one too many", "another user", "right", "in the same turn", "a list of its own", "another tweet"],
)
def test_tweets_without_mentions_share_theirs_officially(
    truth: Turns, made: Turns, official: str | None, corrected: str | None
) -> None:
    start: Mapping[str, object] = {
        "username": "ida",
        "password": "",
        "authenticated": True,
        "tweets": {},
        "comments": {},
        "retweets": {},
        "following_list": [],
        "tweet_counter": 0,
    }
    entry = replace(entry_of(truth), scene=Scene(("posting", "math"), {}))
    world = World(defaults={"posting": start})
    judged = judge(entry, make_conversation(made), lambda entry: open_environments(entry, world))
    assert name_outcomes(judged) == (official, corrected)


def test_steps_of_a_turn_count_together_and_their_order_matters() -> None:
    entry = entry_of([[MKDIR, "cd(folder='new')", TOUCH]])
    one_by_one = transcript_of(
        [make_step([MKDIR]), make_step(["cd(folder='new')"]), make_step([TOUCH]), make_step()]
    )
    assert name_outcomes(judge(entry, one_by_one, open_entry)) == (None, None)
    other_order = transcript_of(
        [make_step(["cd(folder='new')"]), make_step([MKDIR]), make_step([TOUCH]), make_step()]
    )
    assert name_outcomes(judge(entry, other_order, open_entry)) == (STATE, STATE)


def test_a_conversation_that_ends_with_calls_is_judged_all_the_same() -> None:
    assert name_outcomes(judge(entry_of([[LS]]), transcript_of([make_step([LS])]), open_entry)) == (
        None,
        None,
    )


def test_results_that_the_model_was_shown_do_not_matter() -> None:
    shown = Step(Completion(f"[{LS}]"), (LS,), ("whatever",))
    assert name_outcomes(judge(entry_of([[LS]]), transcript_of([shown, make_step()]), open_entry)) == (
        None,
        None,
    )


# Steps without calls

STEPS: Mapping[str, tuple[Sequence[Sequence[str]], str | None]] = {
    "no step": ([], EMPTY),
    "one without calls": ([[]], EMPTY),
    "several without calls": ([[], []], None),
    "one with a call": ([[CAT]], None),
    "one of two with a call": ([[], [CAT]], None),
}


@each_case("profile", Profile)
@each_case(("steps", "code"), STEPS.values(), ids=STEPS)
def test_one_step_without_calls_is_none_but_several_are_some(
    steps: Sequence[Sequence[str]], code: str | None, profile: Profile
) -> None:
    entry = entry_of([[LS, CAT], [CAT]])
    verdict = match_calls(entry, [[[LS, CAT]], steps], lambda: open_entry(entry), profile)
    assert name_outcome(verdict) == code


def test_several_steps_without_calls_have_no_results_of_their_own() -> None:
    entry = entry_of([[CAT]])
    verdict = match_calls(entry, [[[], []]], lambda: open_entry(entry), Profile.OFFICIAL)
    assert name_outcome(verdict) == RESPONSE


@pytest.mark.parametrize("words", ["Done.", "", "[]"])
def test_a_judged_conversation_has_no_steps_without_calls(words: str) -> None:
    said = transcript_of([make_step([CAT]), make_step()], [make_step(said=words), make_step(said=words)])
    assert name_outcomes(judge(entry_of([[CAT], [CAT]]), said, open_entry)) == (EMPTY, EMPTY)


# Calls that cannot be read

ATTEMPTS: Mapping[str, tuple[Completion, str | None]] = {
    "words": (Completion("Which name should the folder have?"), None),
    "nothing": (Completion(""), None),
    "empty list": (Completion("[]"), None),
    "words that name a function": (Completion("I would use mkdir, but for which name?"), None),
    "a call after words": (Completion("Sure: mkdir(dir_name='new')"), UNREADABLE),
    "a cut call": (Completion("[mkdir(dir_name='ne"), UNREADABLE),
    "JSON": (Completion('{"name": "mkdir", "arguments": {}}'), UNREADABLE),
    "a cut call of a function that is not there": (Completion("[fly(speed='hi"), None),
}
TOOL_ATTEMPTS: Mapping[str, tuple[Completion, str | None]] = {
    "words": (Completion("Which name?", ()), None),
    "words without the field": (Completion("Which name?"), None),
    "no JSON": (Completion(None, (ToolCall("mkdir", "{dir_name"),)), UNREADABLE),
    "no object": (Completion(None, (ToolCall("mkdir", "[1]"),)), UNREADABLE),
    "a call in the text": (Completion("mkdir(dir_name='new')", ()), None),
    "a text among the calls": (Completion(None, ("Which name?",)), None),
}


@each_case("turn", [0, 1, 2])
@each_case(
    ("completion", "code", "mode"),
    [
        *((*case, Mode.PROMPT) for case in ATTEMPTS.values()),
        *((*case, Mode.FC) for case in TOOL_ATTEMPTS.values()),
    ],
    ids=[*ATTEMPTS, *(f"tools: {name}" for name in TOOL_ATTEMPTS)],
)
def test_an_unreadable_call_in_an_empty_turn(
    completion: Completion, code: str | None, mode: Mode, turn: int
) -> None:
    truth = [[LS], [LS], [LS]]
    truth[turn] = []
    turns = [[make_step([LS]), make_step()] for _ in truth]
    turns[turn] = [Step(completion)]
    judgement = judge(entry_of(truth), transcript_of(*turns, mode=mode), open_entry)
    assert name_outcomes(judgement) == (None, code)
    if code:
        assert expect_failure(judgement.corrected).details == {"turn": turn + 1, "right_turns": 2, "turns": 3}


@pytest.mark.parametrize("completion", [ATTEMPTS["a cut call"][0], ATTEMPTS["JSON"][0]], ids=["cut", "JSON"])
def test_an_unreadable_call_where_calls_are_right_is_no_failure(completion: Completion) -> None:
    after = transcript_of([make_step([LS]), Step(completion)])
    assert name_outcomes(judge(entry_of([[LS]]), after, open_entry)) == (None, None)
    instead = transcript_of([Step(completion)])
    assert name_outcomes(judge(entry_of([[LS]]), instead, open_entry)) == (EMPTY, EMPTY)


def test_another_failure_goes_before_an_unreadable_call() -> None:
    said = transcript_of([Step(ATTEMPTS["a cut call"][0])], [make_step([PWD]), make_step()])
    assert name_outcomes(judge(entry_of([[], [MKDIR]]), said, open_entry)) == (STATE, STATE)


@pytest.mark.parametrize(("turn", "code"), [(0, None), (1, UNREADABLE), (2, UNREADABLE)])
def test_only_a_function_that_is_offered_by_then_can_be_attempted(turn: int, code: str | None) -> None:
    turns = [[make_step(said="Which one?")] for _ in range(3)]
    turns[turn] = [Step(ATTEMPTS["a cut call"][0])]
    entry = entry_of([[], [], []], withheld={1: ["mkdir"]})
    assert name_outcomes(judge(entry, transcript_of(*turns), open_entry)) == (None, code)


def test_an_entry_without_a_scene_offers_its_functions_in_each_turn() -> None:
    entry = make_entry("multiple", functions=[make_doc("f", {}), make_doc("g", {})])
    assert entry.scene is None
    assert [doc.name for doc in list_offered_docs(entry, 3)] == ["f", "g"]


# Faults, data that are known to be bad, and what is no entry of this matcher

FAULTS: Mapping[str, tuple[Fault, str | None, tuple[str, str]]] = {
    "error": (Fault.INFERENCE_ERROR, None, (INFERENCE, "not scored: inference_error")),
    "overflow": (Fault.OVERFLOW, None, (INFERENCE, "context_overflow")),
    "unreadable": (Fault.UNREADABLE_CALL, None, (INFERENCE, "unreadable_call")),
    "error, set aside": (Fault.INFERENCE_ERROR, "two truths", (INFERENCE, "not scored: set_aside")),
    "overflow, set aside": (Fault.OVERFLOW, "two truths", (INFERENCE, "not scored: set_aside")),
}


@each_case(("fault", "set_aside", "codes"), FAULTS.values(), ids=FAULTS)
@each_case("before", [[], [make_step([MKDIR])]], ids=["at once", "later"])
def test_a_fault_of_the_conversation_decides_the_verdict(
    fault: Fault, set_aside: str | None, codes: tuple[str, str], before: list[Step]
) -> None:
    entry = replace(entry_of([[MKDIR], [LS]]), set_aside=set_aside)
    said = transcript_of([*before, Step(Completion("Error 400: too long", fault=fault))])
    judgement = judge(entry, said, open_entry)
    assert name_outcomes(judgement) == codes
    assert expect_failure(judgement.official).reason == "the model's call failed: Error 400: too long"


@pytest.mark.parametrize(
    ("set_aside", "corrected"),
    [(None, FORCED), ("two truths", "not scored: set_aside")],
    ids=["scored", "set aside"],
)
def test_a_result_with_another_number_of_turns_was_ended_by_force(
    set_aside: str | None, corrected: str
) -> None:
    entry = replace(entry_of([[MKDIR], [LS]]), set_aside=set_aside)
    said = transcript_of([make_step([MKDIR]), Step(Completion("Done.", fault=Fault.OTHER_TURNS))])
    judgement = judge(entry, said, open_entry)
    assert name_outcomes(judgement) == (FORCED, corrected)
    reason = "the result has another number of turns than the entry, which has 2"
    assert expect_failure(judgement.official).reason == reason


@pytest.mark.parametrize(("made", "official"), [([[LS]], None), ([[MKDIR]], STATE), ([[]], EMPTY)])
def test_an_entry_that_is_set_aside_has_an_official_verdict_only(made: Turns, official: str | None) -> None:
    entry = replace(entry_of([[LS]]), set_aside="nobody can know the name")
    judgement = judge(entry, make_conversation(made), open_entry)
    assert name_outcome(judgement.official) == official
    assert judgement.corrected == NotScored("set_aside", "nobody can know the name")


def test_an_entry_without_a_trajectory_is_refused() -> None:
    with pytest.raises(TypeError, match="core:simple_python_0 has no trajectory"):
        judge(make_entry(), make_transcript("[]"), open_entry)


def test_the_environments_are_those_of_the_entry() -> None:
    entry, seen = entry_of([[LS]]), []

    def open_and_note(of: Entry) -> Environments:
        seen.append(of)
        return open_entry(of)

    judge(entry, make_conversation([[LS]]), open_and_note)
    assert seen == [entry] * 4


# What a person is told


def find_failure(truth: Turns, made: Turns, profile: Profile = Profile.CORRECTED) -> Failed:
    return expect_failure(judge(entry_of(truth), make_conversation(made), open_entry).select_profile(profile))


def test_a_difference_of_states_names_turn_place_and_values() -> None:
    found = find_failure([[LS], ["echo('uno', 'notes.txt')"]], [[LS], ["echo('eins', 'notes.txt')"]])
    place = "file_system.root.home.notes.txt"
    assert found.reason == f"turn 2: {place} is 'eins', expected 'uno'"
    assert found.details == {
        "turn": 2,
        "differences": [{"at": place, "expected": "'uno'", "found": "'eins'"}],
        "right_turns": 1,
        "turns": 2,
    }


def test_what_is_missing_and_what_should_not_be_there() -> None:
    found = find_failure([[MKDIR]], [[TOUCH]])
    place = "file_system.root.home"
    assert found.reason == (
        f"turn 1: {place}.new is missing, expected {{}}; {place}.new.txt is '', which should not be there"
    )
    assert found.details["differences"] == [
        {"at": f"{place}.new", "expected": "{}", "found": None},
        {"at": f"{place}.new.txt", "expected": None, "found": "''"},
    ]


@each_case(("number", "more"), [(1, ""), (3, ""), (4, " (and 1 more)"), (9, " (and 6 more)")])
def test_at_most_three_differences_are_shown(number: int, more: str) -> None:
    found = find_failure([[f"touch('f{index}')" for index in range(number)]], [[LS]])
    shown = found.reason.removeprefix("turn 1: ").removesuffix(more).split("; ")
    assert [text.split()[0].rpartition(".")[2] for text in shown] == [f"f{i}" for i in range(min(number, 3))]
    assert found.reason.endswith(f"expected ''{more}")
    assert found.details["differences"] == [
        {"at": f"file_system.root.home.f{index}", "expected": "''", "found": None}
        for index in range(min(number, 3))
    ]


def test_long_values_are_cut_where_they_differ() -> None:
    text = "word " * 1_000
    found = find_failure(
        [[f"echo({text + 'a' + text!r}, 'notes.txt')"]], [[f"echo({text + 'b' + text!r}, 'notes.txt')"]]
    )
    assert "word bword" in found.reason
    assert "word aword" in found.reason
    assert len(found.reason) < 250


def test_hidden_differences_are_named_like_others() -> None:
    found = find_failure([[PRESS(1)]], [[PRESS(1), PRESS(0.5)]])
    assert found.reason == "turn 1: vehicle.brakePedalForce is 500.0, expected 1000"
    assert found.code == HIDDEN


def test_a_missing_result_names_call_and_result() -> None:
    found = find_failure([[LS], [PWD, CAT, "add(a=1, b=1)"]], [[LS], [LS]], Profile.OFFICIAL)
    here = '{"current_working_directory": "/home"}'
    assert found.reason == f"turn 2: no call returned what pwd() returns: {here} (and 2 more)"
    assert found.details == {
        "turn": 2,
        "call": "pwd()",
        "expected": here,
        "right_turns": 1,
        "turns": 2,
    }


def test_the_first_result_that_is_missing_is_named() -> None:
    found = find_failure([[PWD, CAT]], [[PWD]])
    assert found.details["call"] == CAT
    assert found.reason == f"""turn 1: no call returned what {CAT} returns: {{"file_content": "one\\ntwo"}}"""


def test_one_more_missing_result_is_counted() -> None:
    found = find_failure([[LS, PWD, CAT]], [[LS]])
    here = '{"current_working_directory": "/home"}'
    assert found.reason == f"turn 1: no call returned what pwd() returns: {here} (and 1 more)"


class Bell(Environment):
    """A bell whose state no text shows."""

    rung = 0

    def ring(self) -> str:
        """Ring the bell."""
        self.rung += 1
        return "ding"

    def get_full_state(self) -> Mapping[str, object]:
        return {}


@pytest.mark.parametrize("profile", Profile)
def test_states_may_differ_in_what_no_text_shows(profile: Profile) -> None:
    made = [[["ring()", "ring()"]]]
    found = match_calls(
        entry_of([["ring()"]]), made, lambda: Environments({"bell": Bell({}, WORLD)}), profile
    )
    assert expect_failure(found).code == STATE
    assert expect_failure(found).reason == "turn 1: the states differ"


@pytest.mark.parametrize("profile", Profile)
def test_no_call_names_those_of_the_truth(profile: Profile) -> None:
    found = find_failure([[LS], [PWD, CAT]], [[LS], []], profile)
    assert found.reason == f"turn 2: no call was made; the truth makes pwd(), {CAT}"
    assert found.details == {"turn": 2, "right_turns": 1, "turns": 2}


def test_an_action_in_an_empty_turn_is_named() -> None:
    found = find_failure([[LS], []], [[LS], [PWD, MKDIR]])
    acted = f"turn 2: no call is expected yet, but the model called {PWD}, {MKDIR}"
    assert found.reason == f"{acted}, which changed the state though the user had given no value for it"
    assert found.details == {"turn": 2, "calls": [PWD, MKDIR], "right_turns": 1, "turns": 2}
    guessed = find_failure([[], [CAT]], [[CAT], [CAT]])
    assert guessed.reason.endswith(f"where {CAT} has a value that the user has not given")
    assert guessed.details["turn"] == 1


@pytest.mark.parametrize("profile", Profile)
def test_a_forced_end_names_the_turn(profile: Profile) -> None:
    found = find_failure([[LS], [LS], [LS]], [[LS], [LS]], profile)
    assert found.reason == "the conversation has 2 of 3 turns, so it was ended by force"
    assert found.details == {"turn": 2, "right_turns": 2, "turns": 3}


@each_case(
    ("truth", "made", "right"),
    [
        # What is missing in one turn does not make the next ones wrong.
        pytest.param([[CAT], [PWD], [LS]], [[], [PWD], [LS]], 2, id="no call in one turn"),
        pytest.param([[CAT], [PWD], [LS]], [[LS], [PWD], [LS]], 2, id="a result that is missing"),
        # A state that stays wrong does, until it is mended.
        pytest.param([[MKDIR], [PWD], [LS]], [[PWD], [PWD], [LS]], 0, id="a state that stays wrong"),
        pytest.param([[MKDIR], [PWD], [LS]], [[PWD], [PWD, MKDIR], [LS]], 2, id="a state that is mended"),
        pytest.param([[CAT], [PWD], [LS]], [[], [], []], 0, id="nothing is called"),
        # Two turns are there, and the second is wrong too.
        pytest.param([[CAT], [PWD], [LS]], [[CAT], [CAT]], 1, id="ended by force"),
    ],
)
@each_case("profile", Profile)
def test_a_failure_counts_the_turns_that_were_right(
    truth: Turns, made: Turns, right: int, profile: Profile
) -> None:
    details = find_failure(truth, made, profile).details
    assert (details["right_turns"], details["turns"]) == (right, len(truth))


@pytest.mark.parametrize("fault", [Fault.OVERFLOW, Fault.OTHER_TURNS, Fault.INFERENCE_ERROR])
def test_no_turn_is_right_where_the_call_failed(fault: Fault) -> None:
    said = transcript_of([make_step([MKDIR]), Step(Completion("Done.", fault=fault))])
    judgement = judge(entry_of([[MKDIR], [LS]]), said, open_entry)
    for verdict in (judgement.official, judgement.corrected):
        if isinstance(verdict, NotScored):
            assert fault is Fault.INFERENCE_ERROR
            continue
        details = expect_failure(verdict).details
        assert (details["right_turns"], details["turns"]) == (0, 2)


def test_an_early_turn_that_fails_is_one_wrong_turn() -> None:
    made = [[CAT], [CAT], [PWD]]
    assert find_failure([[], [CAT], [PWD]], made).details["right_turns"] == 2
    made = [[PWD, MKDIR], [CAT], [PWD]]
    assert find_failure([[], [CAT], [PWD]], made).details["right_turns"] == 0


def test_reasons_are_short_and_printable() -> None:
    wild = "\x1b[31m" + "x" * 5_000 + "\ud800"
    calls = [f"echo(content={wild!r})"] * 50
    for found in (
        find_failure([[]], [[MKDIR, *calls]]),
        find_failure([[CAT]], [calls]),
        find_failure([calls], [[LS]]),
        find_failure([calls], [[]]),
    ):
        assert len(found.reason) <= 601
        assert found.reason.isprintable()


# Laws

CHANGES = st.sampled_from(
    [
        *(
            f"{name}('{item}')"
            for name in ("mkdir", "touch", "rm")
            for item in ("a", "b", "drafts", "notes.txt")
        ),
        *("cd('a')", DOWN, UP, "mv('a', 'b')", "cp('notes.txt', 'b')", "echo('x', 'notes.txt')", CAT),
        *(PRESS(0.5), "releaseBrakePedal()", "add(a=1, b=2)", "create_ticket('t')", "resolve_ticket(1, 'r')"),
    ]
)
TRUTHS = st.lists(st.lists(CHANGES, max_size=4), min_size=1, max_size=4)


@given(TRUTHS)
@settings(max_examples=60)
def test_the_truth_passes(truth: list[list[str]]) -> None:
    assert judge(entry_of(truth), make_conversation(truth), open_entry) == Judgement.same_in_both(Passed())


LOOKS = st.sampled_from([PWD, LS, "du()", "displayCarStatus('fuel')", "nonsense(1)", "not a call"])


@st.composite
def draw_answers(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Draw a truth, an answer that may be wrong, and the answer with harmless calls added."""
    truth = draw(TRUTHS)
    made = [draw(st.sampled_from([turn, turn[1:], [*turn, "touch('c')"], turn[::-1]])) for turn in truth]
    more = [[part for call in turn for part in (*draw(st.lists(LOOKS, max_size=2)), call)] for turn in made]
    return truth, made, more


@given(draw_answers())
@settings(max_examples=60)
def test_after_a_pass_of_the_corrected_profile_the_states_are_equal(
    case: tuple[list[list[str]], list[list[str]], list[list[str]]],
) -> None:
    truth, made, _ = case
    entry = entry_of(truth)
    if judge(entry, make_conversation(made), open_entry).corrected == Passed():
        left, right = open_entry(entry), open_entry(entry)
        for calls, expected in zip(made, truth, strict=True):
            left.perform_calls(calls)
            right.perform_calls(expected)
        for one, twin in zip(left.by_domain.values(), right.by_domain.values(), strict=True):
            assert (one.state(), one.get_hidden_state()) == (twin.state(), twin.get_hidden_state())


@pytest.mark.slow
@given(draw_answers())
@settings(max_examples=60)
def test_calls_that_change_nothing_do_not_change_a_verdict(
    case: tuple[list[list[str]], list[list[str]], list[list[str]]],
) -> None:
    truth, made, more = case
    plain, looked = (judge(entry_of(truth), make_conversation(calls), open_entry) for calls in (made, more))
    assert name_outcomes(looked) == name_outcomes(plain)
    assert looked.official == plain.official


# A name of a model's own making is part of the text that is carried out

CRASHES = {
    "a number that Python does not write": "ls(0x" + "f" * 4_000 + ", ls())",
    "a sum of many": "ls(" + "1+" * 900 + "1, ls())",
}


@pytest.mark.parametrize("name", CRASHES.values(), ids=CRASHES)
def test_a_function_name_with_calls_in_it_does_not_crash_the_matcher(name: str) -> None:
    completion = Completion(None, (ToolCall(name, "{}"),))
    said = transcript_of([Step(completion, (f"{name}()",)), make_step()], mode=Mode.FC)
    assert name_outcomes(judge(entry_of([[LS]]), said, open_entry)) == (RESPONSE, RESPONSE)


def test_verdicts_hold_beside_other_threads_and_a_busy_collector() -> None:
    """On 3.11 the same call could fail on one side: parsing it was disturbed."""
    truth = (("mkdir(dir_name='a')", "touch(file_name='b')"), ("echo(content='\\d', file_name='b')", "ls()"))
    entry, transcript = entry_of(truth), make_conversation(truth)

    def judge_both() -> tuple[bool, bool]:
        judgement = judge(entry, transcript, open_entry)
        return isinstance(judgement.official, Passed), isinstance(judgement.corrected, Passed)

    with disturb_parsing(by_parsing=False):
        assert set(repeat_in_threads(judge_both)) == {(True, True)}
    with disturb_parsing(by_parsing=True):
        assert {judge_both() for _ in range(10)} == {(True, True)}


LIGHTS = "setHeadlights(mode='on')"
DOOR_NAMES = "lockDoors(unlock=False, door=['driver', 'passenger', 'rear_left', 'rear_right'])"
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
            [DOOR_NAMES, PRESS(1), START, "displayCarStatus(option='climate')"],
            [START, DOOR_NAMES, PRESS(1), START],
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


@each_case(("case", "code"), VALUES.values(), ids=VALUES)
def test_a_call_in_a_turn_whose_value_comes_later(case: Withheld, code: str | None) -> None:
    entry = entry_of([[], case.task], said=[case.request, case.completion])
    judgement = judge(entry, make_conversation([case.early, case.after or case.task]), open_entry)
    assert name_outcomes(judgement) == (STATE if code == STATE else None, code)


@pytest.mark.parametrize(
    ("result", "is_one"),
    [
        ("Error: there is no function fly", True),
        ("Error during execution: name 'fly' is not defined", True),
        ("Error executing tool fly: no wings", True),
        ("['Error: log in first']", True),
        ("[{'error': 'log in first'}]", True),
        ('{"error": 404}', True),
        ('{"error": null, "left": 3}', False),
        ("Errors: 0", False),
        ("ding", False),
        ("[]", False),
    ],
)
def test_a_result_is_an_error_in_whatever_words(result: str, is_one: bool) -> None:
    assert is_error(result) is is_one


FUNCTIONS: Mapping[str, tuple[Sequence[str], str | None]] = {
    "looking around": ([LS], None),
    "the part that is offered": ([LIGHTS], None),
    "the function itself": ([ADD(1, 2)], CALLED),
    "the function with an invented value": ([ADD(1, 9)], CALLED),
    "the function in a call that fails": (["add(1)"], None),
    "an unknown function": (["sum_up(1, 2)"], None),
    "another function that does it": (["subtract(a=1, b=-2)"], None),
}


@each_case(("early", "code"), FUNCTIONS.values(), ids=FUNCTIONS)
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
