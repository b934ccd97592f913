"""Every failed single-turn answer has one class, the one that its calls show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import AnswerClass, Divergence, FailedEntry
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import Completion, Ending, Fault, Step, Transcript
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.kinds import relevance
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.kinds.own_check import AnyAnswer
from pytest_fcbench.kinds.table import find_kind
from tests.cases import each_case
from tests.factories import make_doc, make_entry

C = AnswerClass
BOOK = make_doc(
    "book",
    {"city": {"type": "string"}, "nights": {"type": "integer"}, "pets": {"type": "boolean"}},
    required=["city", "nights"],
)
CANCEL = make_doc("cancel", {"number": {"type": "integer"}})
OSLO = {"book": {"city": ["Oslo"], "nights": [2], "pets": [""]}}
ROME = {"book": {"city": ["Rome"], "nights": [3], "pets": [True]}}


def make_answer(text: str, fault: Fault | None = None, ending: Ending | None = None) -> Transcript:
    completion = Completion(text, fault=fault, ending=ending)
    return Transcript("test:x", "test", Prompting.make_default(Mode.PROMPT), ((Step(completion),),))


def _refuse(*_: object, **named: object) -> NoReturn:
    raise AssertionError("answers are classified without carrying anything out")


def classify(
    entry: Entry, transcript: Transcript, verdict: Failed, profile: Profile
) -> tuple[AnswerClass, str | None]:
    failure = FailedEntry(entry, transcript, verdict, profile)
    found = find_kind(entry).classify_failure(failure, Resources(_refuse, _refuse, _refuse))
    assert found == Divergence(found.failure, parameter=found.parameter)
    assert isinstance(found.failure, AnswerClass)
    return found.failure, found.parameter


def find_class(
    entry: Entry, transcript: Transcript, profile: Profile = Profile.OFFICIAL
) -> tuple[AnswerClass, str | None] | None:
    """Judge and classify an answer; None where it is right."""
    judge = ast.judge if entry.category.expects_calls else relevance.judge
    verdict = judge(entry, transcript).select_profile(profile)
    if isinstance(verdict, Passed):
        return None
    assert isinstance(verdict, Failed)
    return classify(entry, transcript, verdict, profile)


ONE = make_entry("multiple", functions=[BOOK, CANCEL], expect=[OSLO])
TWO = make_entry("parallel", functions=[BOOK, CANCEL], expect=[OSLO, ROME])
NONE = make_entry("irrelevance", functions=[BOOK])
SOME = make_entry("live_relevance", functions=[BOOK])
RIGHT, OTHER = "book(city='Oslo', nights=2)", "book(city='Rome', nights=3, pets=True)"

ANSWERS: Mapping[str, tuple[Entry, str, tuple[AnswerClass, str | None] | None]] = {
    "right": (ONE, f"[{RIGHT}]", None),
    "words": (ONE, "Which city do you mean?", (C.NO_CALL, None)),
    "an empty list": (ONE, "[]", (C.NO_CALL, None)),
    "cut off in the call": (ONE, "[book(city='Oslo', nig", (C.UNREADABLE_CALL, None)),
    "a function of its own": (ONE, "[reserve(city='Oslo', nights=2)]", (C.UNKNOWN_FUNCTION, None)),
    "a function of its own beside the right one": (
        ONE,
        f"[{RIGHT}, reserve(city='Oslo')]",
        (C.UNKNOWN_FUNCTION, None),
    ),
    "one call twice": (ONE, f"[{RIGHT}, {RIGHT}]", (C.EXTRA_CALL, None)),
    "the other function": (ONE, "[cancel(number=2)]", (C.WRONG_FUNCTION, None)),
    "a required argument left out": (ONE, "[book(city='Bergen')]", (C.MISSING_ARGUMENT, "nights")),
    "a parameter that is not there": (
        ONE,
        "[book(city='Oslo', nights=2, breakfast=True)]",
        (C.INVENTED_ARGUMENT, "breakfast"),
    ),
    "an argument that is to be left out": (
        ONE,
        "[book(city='Oslo', nights=2, pets=True)]",
        (C.INVENTED_ARGUMENT, "pets"),
    ),
    "a number as text": (ONE, "[book(city='Oslo', nights='2')]", (C.WRONG_TYPE, "nights")),
    "another city": (ONE, "[book(city='Bergen', nights=2)]", (C.WRONG_ARGUMENT, "city")),
    "the first of two wrong values": (ONE, "[book(nights=5, city='Bergen')]", (C.WRONG_ARGUMENT, "nights")),
    "both, in another order": (TWO, f"[{OTHER}, {RIGHT}]", None),
    "one of two": (TWO, f"[{RIGHT}]", (C.MISSING_CALL, None)),
    "two of one function, one right": (
        TWO,
        f"[book(city='Rome', nights=3, pets=False), {RIGHT}]",
        (C.WRONG_ARGUMENT, "pets"),
    ),
    "an optional value that is stated left out": (
        TWO,
        f"[{RIGHT}, book(city='Rome', nights=3)]",
        (C.MISSING_ARGUMENT, "pets"),
    ),
    "one of two by another function": (TWO, f"[{RIGHT}, cancel(number=3)]", (C.WRONG_FUNCTION, None)),
    "a call where none fits": (NONE, f"[{RIGHT}]", (C.UNWANTED_CALL, None)),
    "no call where none fits": (NONE, "I cannot do that.", None),
    "no call where one fits": (SOME, "I cannot do that.", (C.NO_CALL, None)),
}


@each_case(("entry", "said", "found"), ANSWERS.values(), ids=ANSWERS)
def test_the_class_and_the_parameter(
    entry: Entry, said: str, found: tuple[AnswerClass, str | None] | None
) -> None:
    for profile in Profile:
        assert find_class(entry, make_answer(said), profile) == found


def test_profiles_read_an_answer_each_in_its_way() -> None:
    """Calls in a code fence are officially no Python, and an attempt to call all the same."""
    answer = make_answer(f"```python\n[{RIGHT}, {OTHER}]\n```")
    assert find_class(TWO, answer) == (C.UNREADABLE_CALL, None)
    assert find_class(TWO, answer, Profile.CORRECTED) is None


def test_an_attempt_to_call_where_none_fits_fails_only_corrected() -> None:
    answer = make_answer("[book(city='Oslo', nig")
    assert find_class(NONE, answer) is None
    assert find_class(NONE, answer, Profile.CORRECTED) == (C.UNREADABLE_CALL, None)


def test_relevance_looks_at_the_call_only_corrected() -> None:
    answer = make_answer("[book(city='Oslo')]")
    assert find_class(SOME, answer) is None
    assert find_class(SOME, answer, Profile.CORRECTED) == (C.MISSING_ARGUMENT, "nights")


@each_case(
    ("fault", "ending", "failure"),
    [
        (Fault.OVERFLOW, None, C.CONTEXT_OVERFLOW),
        (Fault.UNREADABLE_CALL, None, C.UNREADABLE_CALL),
        (Fault.INFERENCE_ERROR, None, C.INFERENCE_ERROR),
        (Fault.TOO_LARGE, None, C.UNFINISHED_ANSWER),
        (None, Ending.CUT, C.UNFINISHED_ANSWER),
        (None, Ending.FILTERED, C.UNFINISHED_ANSWER),
        (None, Ending.REFUSED, C.NO_CALL),
        (None, None, C.NO_CALL),
    ],
)
def test_an_answer_that_did_not_come_whole(
    fault: Fault | None, ending: Ending | None, failure: AnswerClass
) -> None:
    assert find_class(ONE, make_answer("Error", fault, ending)) == (failure, None)


RESULTS = replace(
    make_entry("exec_simple", functions=[BOOK, CANCEL]),
    expectation=ExpectedResults(("book(city='Oslo', nights=2)",), (ResultRule.EXACT,)),
)


@each_case(
    ("said", "failure"),
    [
        ("[book(city='Bergen', nights=2)]", C.WRONG_RESULT),
        ("[cancel(number=2)]", C.WRONG_FUNCTION),
        ("[reserve(city='Oslo')]", C.UNKNOWN_FUNCTION),
        (f"[{RIGHT}, {RIGHT}]", C.EXTRA_CALL),
    ],
)
def test_where_results_are_compared_only_functions_and_their_number_have_classes(
    said: str, failure: AnswerClass
) -> None:
    verdict = Failed("executable_checker:wrong_result", "it returns something else")
    found = classify(RESULTS, make_answer(said), verdict, Profile.OFFICIAL)
    assert found == (failure, None)


def test_a_statement_that_is_carried_out_has_a_wrong_result() -> None:
    entry = make_entry("sql", functions=[BOOK, CANCEL], expect=[OSLO])
    answer = make_answer("[book(city='Bergen', nights=2)]")
    for code, found in ("sql:wrong_result", (C.WRONG_RESULT, None)), ("other", (C.WRONG_ARGUMENT, "city")):
        assert classify(entry, answer, Failed(code, "no"), Profile.CORRECTED) == found


def test_calls_that_fit_explain_nothing() -> None:
    found = classify(ONE, make_answer(f"[{RIGHT}]"), Failed("other", "no"), Profile.CORRECTED)
    assert found == (C.UNEXPLAINED, None)


def test_words_are_no_missing_call_where_none_is_expected() -> None:
    checked = replace(make_entry("own_check", functions=[BOOK]), expectation=AnyAnswer())
    answer, verdict = make_answer("It rains."), Failed("own_check:refused", "not polite")
    assert classify(checked, answer, verdict, Profile.OFFICIAL) == (C.UNEXPLAINED, None)
    assert classify(ONE, answer, verdict, Profile.OFFICIAL) == (C.NO_CALL, None)
