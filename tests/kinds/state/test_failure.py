"""Every failed conversation has one class, and the class is the one that its calls show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import Divergence, FailedEntry, FailureClass
from pytest_fcbench.domain.transcript import Completion, Fault, Step, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.state.failure import carry_out_calls, classify_conversation
from pytest_fcbench.kinds.state.verdict import judge
from tests.cases import each_case
from tests.kinds.state.test_verdict import (
    APART,
    CAT,
    DOWN,
    LS,
    MKDIR,
    PWD,
    SAME,
    TOUCH,
    UP,
    Turns,
    entry_of,
    make_conversation,
    make_step,
    open_entry,
    transcript_of,
)

C = FailureClass


def classify(entry: Entry, transcript: Transcript, verdict: Failed) -> Divergence:
    failure = FailedEntry(entry, transcript, verdict, Profile.OFFICIAL)
    return classify_conversation(failure, partial(carry_out_calls, open_entry))


def find_divergence(
    truth: Turns,
    transcript: Transcript,
    profile: Profile = Profile.OFFICIAL,
    withheld: Mapping[int, Sequence[str]] | None = None,
) -> Divergence:
    entry = entry_of(truth, withheld=withheld)
    verdict = judge(entry, transcript, open_entry).select_profile(profile)
    assert isinstance(verdict, Failed)
    return classify(entry, transcript, verdict)


OLD, BAD = "mkdir(dir_name='old')", "mkdir(dir_name='a/b')"
INTO = "cd(folder='new')"

# Truth and calls by turn; class, turn, the truth's call, the model's, the parameter
CLASSES: Mapping[str, tuple[Turns, Turns, tuple[object, ...]]] = {
    "no call": ([[MKDIR]], [[]], (C.NO_CALL, 1, MKDIR, None, None)),
    "no call later": ([[LS], [PWD, MKDIR]], [[LS], []], (C.NO_CALL, 2, PWD, None, None)),
    "too early": ([[LS], [MKDIR]], [[LS, MKDIR], []], (C.WRONG_TURN, 1, None, MKDIR, None)),
    "too late": ([[MKDIR], [LS]], [[PWD], [MKDIR, LS]], (C.WRONG_TURN, 1, MKDIR, None, None)),
    "another value": ([[MKDIR]], [[OLD]], (C.WRONG_ARGUMENT, 1, MKDIR, OLD, "dir_name")),
    "another value, given by place": (
        [["echo('a', 'notes.txt')"]],
        [["echo('b', file_name='notes.txt')"]],
        (C.WRONG_ARGUMENT, 1, "echo('a', 'notes.txt')", "echo('b', file_name='notes.txt')", "content"),
    ),
    "a number of a type that fails": (
        [["tail(file_name='notes.txt', lines=1)"]],
        [["tail(file_name='notes.txt', lines=1.0)"]],
        (
            *(C.WRONG_ARGUMENT, 1, "tail(file_name='notes.txt', lines=1)"),
            *("tail(file_name='notes.txt', lines=1.0)", "lines"),
        ),
    ),
    "a value too much": (
        [[CAT]],
        [["cat(file_name='notes.txt', number=1)"]],
        (C.WRONG_ARGUMENT, 1, CAT, "cat(file_name='notes.txt', number=1)", "number"),
    ),
    "the nearest of several": (
        [["echo(content='a', file_name='x.txt')"]],
        [["echo(content='b', file_name='y.txt')", "echo(content='a', file_name='y.txt')"]],
        (
            C.WRONG_ARGUMENT,
            1,
            "echo(content='a', file_name='x.txt')",
            "echo(content='a', file_name='y.txt')",
            "file_name",
        ),
    ),
    "a number of another type": (
        [["add(a=1, b=2)"]],
        [["add(a=1.0, b=2)"]],
        (C.WRONG_ARGUMENT, 1, "add(a=1, b=2)", "add(a=1.0, b=2)", "a"),
    ),
    "again and again": (
        [[MKDIR]],
        [[BAD, "mkdir( dir_name = 'a/b' )"]],
        (C.REPEATED_ERROR, 1, MKDIR, BAD, None),
    ),
    "no such function": ([[MKDIR]], [["make(x=1)"]], (C.UNKNOWN_FUNCTION, 1, MKDIR, "make(x=1)", None)),
    "no call at all": ([[MKDIR]], [["1/0"]], (C.UNKNOWN_FUNCTION, 1, MKDIR, "1/0", None)),
    "stopped after an error": (
        [[MKDIR]],
        [[LS, "cat(file_name='none')"]],
        (C.UNRESOLVED_ERROR, 1, MKDIR, "cat(file_name='none')", None),
    ),
    "went on after an error": (
        [[MKDIR]],
        [["cat(file_name='none')", LS]],
        (C.MISSING_CALL, 1, MKDIR, None, None),
    ),
    "another function that changes": ([[MKDIR]], [[LS, TOUCH]], (C.WRONG_FUNCTION, 1, MKDIR, TOUCH, None)),
    "another function that looks": ([[CAT]], [[LS]], (C.WRONG_FUNCTION, 1, CAT, LS, None)),
    "only looked": ([[MKDIR]], [[LS]], (C.MISSING_CALL, 1, MKDIR, None, None)),
    "changed another thing, did not look": (
        [[TOUCH, LS]],
        [[TOUCH, MKDIR]],
        (C.EXTRA_CALL, 1, None, MKDIR, None),
    ),
    "a call of the truth twice is no other": ([[LS, CAT]], [[LS, LS]], (C.MISSING_CALL, 1, CAT, None, None)),
    "one too many": ([[MKDIR]], [[LS, MKDIR, TOUCH]], (C.EXTRA_CALL, 1, None, TOUCH, None)),
    "another order": (
        [[DOWN, TOUCH]],
        [[TOUCH, DOWN]],
        (C.WRONG_ORDER, 1, DOWN, DOWN, None),
    ),
    "a call of the truth that failed was not made": (
        [[MKDIR, INTO]],
        [[INTO, MKDIR]],
        (C.UNRESOLVED_ERROR, 1, INTO, INTO, None),
    ),
    "a call of the truth that failed and was made again": (
        [[MKDIR, INTO]],
        [[INTO, MKDIR, INTO, TOUCH]],
        (C.EXTRA_CALL, 1, None, TOUCH, None),
    ),
    "failed again for another reason": (
        [[TOUCH]],
        [["cat(file_name='new')", MKDIR, "cat(file_name='new')"]],
        (C.UNRESOLVED_ERROR, 1, TOUCH, "cat(file_name='new')", None),
    ),
    "a misspelt function made good": (
        [[MKDIR]],
        [["touch<|x|>(file_name='a.txt')", "touch(file_name='a.txt')"]],
        (C.WRONG_FUNCTION, 1, MKDIR, "touch(file_name='a.txt')", None),
    ),
    "an unknown function made good": (
        [[MKDIR]],
        [["make(file_name='a.txt')", "touch(file_name='a.txt')"]],
        (C.WRONG_FUNCTION, 1, MKDIR, "touch(file_name='a.txt')", None),
    ),
    "an unknown function, then something else": (
        [[MKDIR]],
        [["make(file_name='a.txt')", "touch(file_name='b.txt')"]],
        (C.UNKNOWN_FUNCTION, 1, MKDIR, "make(file_name='a.txt')", None),
    ),
    "wrong in its turn, right too late": (
        [[MKDIR], [LS]],
        [[OLD], [MKDIR, LS]],
        (C.WRONG_ARGUMENT, 1, MKDIR, OLD, "dir_name"),
    ),
    "a look too late explains no state": (
        [[CAT, MKDIR], [PWD]],
        [[OLD], [CAT, PWD]],
        (C.WRONG_ARGUMENT, 1, MKDIR, OLD, "dir_name"),
    ),
    "a look too late": ([[CAT, MKDIR], [PWD]], [[MKDIR], [CAT, PWD]], (C.WRONG_TURN, 1, CAT, None, None)),
    "before anything could be called": (
        [[], [LS]],
        [[TOUCH], [LS]],
        (C.ACTED_TOO_SOON, 1, None, TOUCH, None),
    ),
    "looked before, then failed": ([[], [MKDIR]], [[LS], []], (C.NO_CALL, 2, MKDIR, None, None)),
    "what is not compared, a turn before": (
        [[DOWN], [TOUCH]],
        [[DOWN, UP], [TOUCH]],
        (C.EXTRA_CALL, 1, None, UP, None),
    ),
}


@each_case(("truth", "made", "found"), CLASSES.values(), ids=CLASSES)
def test_the_class_and_the_place(truth: Turns, made: Turns, found: tuple[object, ...]) -> None:
    at = find_divergence(truth, make_conversation(made))
    assert (at.failure, at.turn, at.expected, at.found, at.parameter) == found


@each_case(
    ("same", "other"),
    [
        ("ls()", "ls(a=False)"),
        ("ls(a=False)", "ls(a=None)"),
        ("mkdir('new')", MKDIR),
        ("find(path='.', name='x')", "find(name='x')"),
        ("du(human_readable=True)", "du(True)"),
        (CAT, "cat(  'notes.txt' )"),
    ],
)
def test_calls_that_are_written_differently_are_the_same(same: str, other: str) -> None:
    at = find_divergence([[same, TOUCH]], make_conversation([[other]]))
    assert (at.failure, at.expected) == (C.MISSING_CALL, TOUCH)


def test_a_look_that_shows_the_same_is_the_same() -> None:
    """``find`` from here shows what ``find`` from the folder above would: nothing."""
    truth, other = "find(path='.', name='zzz')", "find(path='drafts', name='zzz')"
    at = find_divergence([[truth, TOUCH]], make_conversation([[other]]))
    assert (at.failure, at.expected) == (C.MISSING_CALL, TOUCH)


# What came late


def test_acting_without_the_function_that_is_to_come() -> None:
    late = {1: ["mkdir"]}
    at = find_divergence([[], [MKDIR]], make_conversation([[TOUCH], [MKDIR]]), withheld=late)
    assert (at.failure, at.turn, at.found) == (C.ACTED_WITHOUT_FUNCTION, 1, TOUCH)
    made = make_conversation([[LS, TOUCH], [MKDIR]])
    acted = find_divergence([[], [MKDIR]], made, Profile.CORRECTED, late)
    assert (acted.failure, acted.turn) == (C.ACTED_WITHOUT_FUNCTION, 1)


def test_the_function_that_came_is_not_used() -> None:
    at = find_divergence([[], [MKDIR]], make_conversation([[], [TOUCH]]), withheld={1: ["mkdir"]})
    assert (at.failure, at.turn, at.expected) == (C.NEW_FUNCTION_UNUSED, 2, MKDIR)


def test_a_function_that_has_not_come_yet_is_not_offered() -> None:
    truth = [[LS], [], [MKDIR]]
    at = find_divergence(
        truth, make_conversation([[MKDIR.replace("new", "x")], [], [MKDIR]]), withheld={2: ["mkdir"]}
    )
    assert at.failure is C.UNKNOWN_FUNCTION


# Answers and ends


@pytest.mark.parametrize("profile", Profile)
def test_a_call_that_cannot_be_read_has_a_class_of_its_own(profile: Profile) -> None:
    at = find_divergence(
        [[LS, MKDIR]], transcript_of([make_step([LS]), make_step(said="[mkdir(dir_name='n")]), profile
    )
    assert (at.failure, at.expected) == (C.UNREADABLE_CALL, MKDIR)


def test_an_unreadable_call_where_nothing_can_be_called() -> None:
    talk = transcript_of([make_step(said="[mkdir(dir_name='n")], [make_step([LS]), make_step()])
    assert find_divergence([[], [LS]], talk, Profile.CORRECTED).failure is C.ACTED_TOO_SOON


@pytest.mark.parametrize(
    ("said", "failure"), [("[ls(a=True", C.UNREADABLE_CALL), ("I have done that.", C.ACTED_TOO_SOON)]
)
def test_no_call_is_blamed_on_an_unreadable_answer_before_an_earlier_turn(
    said: str, failure: FailureClass
) -> None:
    talk = transcript_of([make_step([TOUCH]), make_step()], [make_step(said=said)])
    assert find_divergence([[], [LS]], talk).failure is failure


@pytest.mark.parametrize(
    ("last", "failure"), [(make_step([LS]), C.STEP_LIMIT), (make_step(said="Done."), C.EXTRA_CALL)]
)
def test_a_last_turn_that_ends_with_a_call_was_stopped(last: Step, failure: FailureClass) -> None:
    talk = transcript_of([make_step([MKDIR]), make_step([TOUCH]), last])
    assert find_divergence([[MKDIR]], talk).failure is failure


@pytest.mark.parametrize(("steps", "failure"), [(19, C.OTHER_TURNS), (20, C.STEP_LIMIT)])
def test_a_result_with_other_turns_was_stopped_or_is_of_another_version(
    steps: int, failure: FailureClass
) -> None:
    end = Step(Completion("", fault=Fault.OTHER_TURNS))
    talk = transcript_of([*[make_step([LS])] * (steps - 1), end])
    assert find_divergence([[LS], [LS]], talk) == Divergence(failure, 1)


def test_a_conversation_without_an_end_names_the_call_that_was_repeated() -> None:
    talk = transcript_of([*([make_step([LS])] * 3), make_step([PWD])])
    assert find_divergence([[LS], [LS]], talk) == Divergence(C.STEP_LIMIT, 1, found=LS)


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Fault.OVERFLOW, C.CONTEXT_OVERFLOW),
        (Fault.UNREADABLE_CALL, C.UNREADABLE_CALL),
        (Fault.INFERENCE_ERROR, C.INFERENCE_ERROR),
    ],
)
def test_a_fault_has_a_class_of_its_own(fault: Fault, failure: FailureClass) -> None:
    talk = transcript_of([make_step([LS]), make_step()], [Step(Completion("too long", fault=fault))])
    assert find_divergence([[LS], [LS], [LS]], talk) == Divergence(failure, 2)


def test_what_only_the_official_executor_makes_different_is_unexplained() -> None:
    text = "echo(content='ls() lists', file_name='notes.txt')"
    assert find_divergence([[text]], make_conversation([[text]])) == Divergence(C.UNEXPLAINED)


def test_a_verdict_that_names_no_turn_is_looked_for_from_the_start() -> None:
    entry, talk = entry_of([[LS], [MKDIR], [TOUCH]]), make_conversation([[LS], [], []])
    for details in ({}, {"turn": "2"}, {"turn": 7}):
        at = classify(entry, talk, Failed("code", "reason", details))
        assert (at.failure, at.turn) == (C.NO_CALL, 2)


# As a sentence


def test_the_sentence_says_where() -> None:
    assert str(Divergence(C.WRONG_ARGUMENT, 2, "f(a=1)", "f(a=2)", "a")) == (
        "turn 2 in a: expected f(a=1); found f(a=2)"
    )
    assert str(Divergence(C.NO_CALL, 1, "f()")) == "turn 1: expected f()"
    assert str(Divergence(C.CONTEXT_OVERFLOW, 3)) == "turn 3"
    assert str(Divergence(C.UNEXPLAINED)) == ""


def test_hostile_calls_are_shown_as_text_of_a_bearable_length() -> None:
    shown = str(Divergence(C.EXTRA_CALL, 1, found="\x1b[31mf(" + "x" * 100_000 + "\ud800"))
    assert "\x1b" not in shown
    assert len(shown) < 300
    shown.encode()


# Laws

RIGHT = st.sampled_from([LS, PWD, CAT, MKDIR, TOUCH, DOWN, UP, "add(a=1, b=2.0)", "ls(a=1, a=2)"])
CALLS = RIGHT | st.sampled_from(
    [
        OLD,
        BAD,
        "ls",
        "",
        "1/0",
        "f(x=1)",
        "edit_ticket(ticket_id=1, updates={'title': get_ticket(ticket_id=1)})",
        "echo(content='ls()', file_name='a.txt')",
        "mkdir(dir_name=mkdir(dir_name='x'))",
        "cd(**{'folder': 'drafts'})",
    ]
)


def draw_talks(calls: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(calls, max_size=4), min_size=1, max_size=3)


@settings(deadline=None)
@given(truth=draw_talks(RIGHT), made=draw_talks(CALLS))
def test_every_failure_has_one_class_and_always_the_same(truth: Turns, made: Turns) -> None:
    entry, talk = entry_of(truth), make_conversation(made[: len(truth)])
    for profile in Profile:
        verdict = judge(entry, talk, open_entry).select_profile(profile)
        if isinstance(verdict, Failed):
            found = classify(entry, talk, verdict)
            assert found == classify(entry, talk, verdict)
            assert str(found) or found.failure is C.UNEXPLAINED


@each_case(
    ("truth", "made"),
    [
        *((truth, made) for truth, made, code in SAME.values() if code),
        *((truth, made) for truth, made, *_ in APART.values()),
    ],
    ids=[*(name for name, row in SAME.items() if row[2]), *APART],
)
def test_what_the_matcher_fails_has_a_class_of_its_own(truth: Turns, made: Turns) -> None:
    """Only what the official executor rewrites in texts has no call that explains it."""
    entry, talk = entry_of(truth), make_conversation(made)
    judged = judge(entry, talk, open_entry)
    for verdict in (judged.official, judged.corrected):
        if isinstance(verdict, Failed) and len(made) <= len(truth):
            found = classify(entry, talk, verdict)
            assert (found.failure is C.UNEXPLAINED) is (truth == made and "(" in truth[0][0][6:-1])


def test_without_docs_a_call_that_shows_the_same_is_still_the_same() -> None:
    """No doc says that ``a=False`` is the default of ``ls``, but what the call shows does."""
    entry = replace(entry_of([[LS, TOUCH]]), functions=())
    talk = make_conversation([["ls(a=False)"]])
    verdict = judge(entry, talk, open_entry).official
    assert isinstance(verdict, Failed)
    assert classify(entry, talk, verdict) == Divergence(C.MISSING_CALL, 1, TOUCH)
