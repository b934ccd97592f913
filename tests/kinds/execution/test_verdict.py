"""Calls are judged by what they return, officially and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call, Completion, Fault, RecordedCall, ToolCall
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile
from pytest_fcbench.execution.outcomes import Outcome, Returned
from pytest_fcbench.execution.sandbox.pool import CallLimits, Pool
from pytest_fcbench.kinds.execution import verdict as execution
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_transcript
from tests.kinds.outcomes import name_outcome, name_outcomes

NAMES = (
    *(
        "math_gcd",
        "math_lcm",
        "get_fibonacci_sequence",
        "calculate_mean",
        "calculate_density",
        "quadratic_roots",
    ),
    *("get_movie_rating", "get_weather_data", "sort_array", "calculate_final_velocity", "math_factorial"),
    *("letter_counts", "simplify_fraction", "calculate_nutritional_needs", "get_distance"),
)
DOCS = [
    *(make_doc(name, {}) for name in NAMES),
    make_doc("median", {"numbers": {"type": "array", "items": {"type": "float"}}}, ["numbers"]),
]
RECORDED = (RecordedCall.with_reply("get_movie_rating", {"movie_name": "Avatar"}, "PG-13"),)
EXACT, REAL_TIME, STRUCTURAL = ResultRule


def entry_of(
    *calls: str, category: str = "exec_parallel", kind: ResultRule = EXACT, set_aside: str | None = None
) -> Entry:
    made = make_entry("irrelevance", functions=DOCS, set_aside=set_aside, entry_id=f"{category}_0")
    expected = ExpectedResults(calls, (kind,) * len(calls), RECORDED)
    return Entry(
        suite="core",
        id=made.id,
        category=CATEGORIES[category],
        turns=made.turns,
        functions=made.functions,
        expectation=expected,
        set_aside=set_aside,
    )


CHECKER = "executable_checker:"
MATCH = f"{CHECKER}cannot_find_match"
FORMAT = "executable_decoder:wrong_output_format"
DECODER = "executable_decoder:decoder_failed"
SIX = "math_gcd(a=12, b=18)"


@pytest.mark.parametrize(
    ("answer", "official", "corrected"),
    [
        ("[math_gcd(a=18, b=12)]", None, None),
        ("[math_gcd(a=6, b=6)]", None, None),
        ("[math_lcm(a=2, b=3)]", None, None),
        ("[math_gcd(a=math_gcd(a=12, b=6), b=6)]", None, None),
        ("[math_gcd(12, 18)]", f"{CHECKER}execution_error", None),
        ("```python\n[math_gcd(a=12, b=18)]\n```", DECODER, None),
        ("[math_gcd(a=12, b=8)]", f"{CHECKER}wrong_result", f"{CHECKER}wrong_result"),
        ("[math_gcd(a=12)]", f"{CHECKER}execution_error", f"{CHECKER}execution_error"),
        ("[math_gcf(a=12, b=18)]", f"{CHECKER}execution_error", f"{CHECKER}execution_error"),
        ("[calculate_triangle_area(base=4, height=3)]", None, f"{CHECKER}execution_error"),
        ("[math_gcd(a=12, b=18), math_gcd(a=12, b=18)]", "simple_exec_checker:wrong_count", "wrong_count"),
        pytest.param(
            "[math_factorial(n=10**9)]",
            f"{CHECKER}execution_error",
            f"{CHECKER}time_limit",
            marks=pytest.mark.slow,
        ),
        ("[math_gcd(a=9**9**9, b=1)]", DECODER, f"{CHECKER}execution_error"),
        ("[]", FORMAT, "wrong_count"),
        ("The divisor is 6.", DECODER, "no_call"),
        ("[math_gcd(a=12, b=", DECODER, "unreadable"),
        ("[math_gcd(a={}, b=18)]", DECODER, f"{CHECKER}execution_error"),
    ],
)
def test_an_answer_to_one_call_has_both_verdicts(
    pool: Pool, answer: str, official: str | None, corrected: str | None
) -> None:
    judgement = execution.judge(entry_of(SIX, category="exec_simple"), make_transcript(answer), pool)
    assert name_outcomes(judgement) == (official, corrected)


def test_officially_an_answer_that_is_no_call_says_why(pool: Pool) -> None:
    entry = entry_of(SIX, category="exec_simple")
    nothing = execution.judge(entry, make_transcript("[]"), pool).official
    assert nothing == Failed(FORMAT, "the answer calls nothing")
    words = execution.judge(entry, make_transcript("The divisor is 6."), pool).official
    assert isinstance(words, Failed)
    assert words.reason.startswith("not Python calls: invalid syntax")


def test_a_call_that_needs_too_much_memory() -> None:
    answer = make_transcript("[get_fibonacci_sequence(n=10**9)]")
    with closing(Pool(1, CallLimits(cpu_s=60, wall_s=60, memory=2**28))) as small:
        judgement = execution.judge(entry_of(SIX, category="exec_simple"), answer, small)
    assert name_outcomes(judgement) == (f"{CHECKER}execution_error", f"{CHECKER}memory_limit")


@each_case(
    ("truth", "answer", "official", "corrected"),
    [
        ((SIX,), "[math_gcd(a=6, b=0)]", None, None),
        ((SIX,), "[math_gcd(a=1, b=0)]", MATCH, f"{CHECKER}wrong_result"),
        ((SIX,), "[math_gcd(a=6, b=0), math_gcd(a=6, b=0)]", "value_error:exec_result_count", "wrong_count"),
        ((SIX, "math_gcd(a=5, b=10)"), "[math_gcd(a=5, b=5), math_gcd(a=6, b=6)]", None, None),
        ((SIX, "math_gcd(a=5, b=10)"), "[math_gcd(a=6, b=6), math_gcd(a=6, b=6)]", MATCH, MATCH),
        ((SIX, SIX), "[math_gcd(a=6, b=6)]", "value_error:exec_result_count", "wrong_count"),
        ((SIX, SIX), "[math_gcd(a=6, b=6), nothing(a=1)]", MATCH, MATCH),
        ((SIX,), "not a call", DECODER, "no_call"),
    ],
)
def test_several_calls_have_both_verdicts(
    pool: Pool, truth: Sequence[str], answer: str, official: str | None, corrected: str | None
) -> None:
    assert name_outcomes(execution.judge(entry_of(*truth), make_transcript(answer), pool)) == (
        official,
        corrected,
    )


def test_greed_can_leave_a_call_without_a_partner(pool: Pool) -> None:
    """The first truth takes the only call that the second could have had."""
    entry = entry_of("calculate_mean([100])", "calculate_mean([90])", kind=REAL_TIME)
    answer = "[calculate_mean(numbers=[85]), calculate_mean(numbers=[115])]"
    assert name_outcomes(execution.judge(entry, make_transcript(answer), pool)) == (MATCH, None)


@each_case(
    ("kind", "truth", "answer", "official", "corrected"),
    [
        (REAL_TIME, "calculate_mean([100])", "calculate_mean(numbers=[120])", None, None),
        (REAL_TIME, "calculate_mean([100])", "calculate_mean(numbers=[80])", None, None),
        (REAL_TIME, "calculate_mean([100])", "calculate_mean(numbers=[121])", "wrong_result_real_time", ...),
        (
            REAL_TIME,
            "calculate_mean([-100])",
            "calculate_mean(numbers=[-100])",
            "wrong_result_real_time",
            None,
        ),
        (
            REAL_TIME,
            "calculate_mean([-100])",
            "calculate_mean(numbers=[-121])",
            "wrong_result_real_time",
            ...,
        ),
        (REAL_TIME, "calculate_mean([0])", "calculate_mean(numbers=[0])", None, None),
        (REAL_TIME, "math_gcd(a=1, b=1)", "sort_array(array=[1])", "wrong_result_real_time", ...),
        (REAL_TIME, "math_factorial(n=3000)", "math_factorial(n=3000)", "wrong_result", None),
        (EXACT, "math_factorial(n=3000)", "math_factorial(n=3001)", "wrong_result", ...),
        (
            EXACT,
            "calculate_density(mass=3, volume=10)",
            "calculate_mean(numbers=[0.1+0.2])",
            "wrong_result",
            None,
        ),
        (EXACT, "math_gcd(a=1, b=1)", "sort_array(array=[True])", "wrong_result", ...),
        (EXACT, "sort_array(array=[1])", "sort_array(array=[True])", None, "wrong_result"),
        (EXACT, "sort_array(array=[1, 2])", "sort_array(array=[1.0, 2])", None, None),
        (EXACT, "sort_array(array='ab')", "sort_array(array=['a', 'b'])", None, None),
        (EXACT, "simplify_fraction(6, 8)", "sort_array(array=[3, 4])", None, None),
        (EXACT, "letter_counts(text='ab')", "letter_counts(text='ba')", None, None),
        (STRUCTURAL, "math_gcd(a=1, b=1)", "math_gcd(a=9, b=3)", None, None),
        (STRUCTURAL, "math_gcd(a=1, b=1)", "calculate_mean(numbers=[1])", "wrong_result_type", None),
        (STRUCTURAL, "math_gcd(a=1, b=1)", "sort_array(array=[1])", "wrong_result_type", ...),
        (STRUCTURAL, "sort_array(array=[1])", "sort_array(array=[2])", None, None),
        (STRUCTURAL, "sort_array(array=[1])", "sort_array(array=[])", "wrong_result_type:list_length", ...),
        (STRUCTURAL, "letter_counts(text='ab')", "letter_counts(text='aba')", None, None),
        (
            STRUCTURAL,
            "letter_counts(text='ab')",
            "letter_counts(text='a')",
            "wrong_result_type:dict_key_not_found",
            ...,
        ),
        (
            STRUCTURAL,
            "letter_counts(text='a')",
            "letter_counts(text='ab')",
            "wrong_result_type:dict_extra_key",
            ...,
        ),
    ],
)
def test_how_results_are_compared(
    pool: Pool, kind: ResultRule, truth: str, answer: str, official: str | None, corrected: object
) -> None:
    """``...`` is the same as officially."""
    entry = entry_of(truth, category="exec_simple", kind=kind)
    expected = [official, official if corrected is ... else corrected]
    found = name_outcomes(execution.judge(entry, make_transcript(f"[{answer}]"), pool))
    assert found == tuple(code and f"{CHECKER}{code}" for code in expected)


@each_case(
    ("arguments", "official", "corrected"),
    [
        ('{"a": 12, "b": 18}', None, None),
        ('{"a": 12, "b": ', DECODER, "unreadable"),
        ('{"a": {"math_gcd": {"a": 12, "b": 6}}, "b": 6}', f"{CHECKER}execution_error", None),
        ('{"a=12, b": 18}', None, f"{CHECKER}execution_error"),
        ('{"a": true, "b": 1}', f"{CHECKER}wrong_result", f"{CHECKER}wrong_result"),
        ("[1]", DECODER, "unreadable"),
    ],
)
def test_a_tool_call_has_both_verdicts(
    pool: Pool, arguments: str, official: str | None, corrected: str | None
) -> None:
    completion = Completion(tool_calls=(ToolCall("math_gcd", arguments),))
    judgement = execution.judge(entry_of(SIX, category="exec_simple"), make_transcript(completion), pool)
    assert name_outcomes(judgement) == (official, corrected)


@each_case(
    ("truth", "answer", "cause"),
    [
        ("get_movie_rating('Avatar')", "[get_movie_rating(movie_name='Avatar')]", None),
        ("get_movie_rating('Avatar')", "[get_movie_rating(movie_name='avatar')]", "live_only"),
        ("get_movie_rating('Avatar')", "[get_weather_data(coordinates=[1, 2])]", "wrong_result"),
        ("get_movie_rating('Jaws')", "[get_movie_rating(movie_name='Jaws')]", "live_only"),
        ("math_gcd(a=1)", "[math_gcd(a=1, b=1)]", "truth_failed"),
    ],
)
def test_what_only_an_api_knows(pool: Pool, truth: str, answer: str, cause: str | None) -> None:
    judgement = execution.judge(entry_of(truth, category="exec_simple"), make_transcript(answer), pool)
    for verdict in (judgement.official, judgement.corrected):
        match verdict:
            case NotScored(cause=found):
                assert found == cause
            case Failed(code=code):
                assert code == f"{CHECKER}{cause}"
            case _:
                assert cause is None


def test_an_answer_that_is_not_needed_decides_nothing(pool: Pool) -> None:
    """One call fits nothing, so that it does not matter what an API would say to the other."""
    entry = entry_of("get_movie_rating('Avatar')", SIX)
    answer = "[get_movie_rating(movie_name='avatar'), math_gcd(a=1, b=1)]"
    assert name_outcomes(execution.judge(entry, make_transcript(answer), pool)) == (MATCH, MATCH)


def test_what_is_set_aside(pool: Pool) -> None:
    entry = entry_of("get_movie_rating('Jaws')", set_aside="live_only: nobody knows")
    judgement = execution.judge(entry, make_transcript("[]"), pool)
    assert judgement.official == judgement.corrected == NotScored("set_aside", "live_only: nobody knows")
    bad = execution.judge(entry_of(SIX, set_aside="it is wrong"), make_transcript(f"[{SIX}]"), pool)
    assert bad.official.status == "passed"
    assert bad.corrected == NotScored("set_aside", "it is wrong")


def test_a_fault_of_the_answer_decides_the_verdict(pool: Pool) -> None:
    overflow = execution.judge(entry_of(SIX), make_transcript(Completion(fault=Fault.OVERFLOW)), pool)
    assert name_outcomes(overflow) == ("context_overflow", "context_overflow")
    error = Completion(text="Error during inference: 500", fault=Fault.INFERENCE_ERROR)
    judgement = execution.judge(entry_of(SIX), make_transcript(error), pool)
    assert isinstance(judgement.official, Failed)
    assert judgement.official.code == DECODER
    assert isinstance(judgement.corrected, NotScored)


def test_another_expectation_is_a_bug(pool: Pool) -> None:
    with pytest.raises(TypeError, match="has no expected results"):
        execution.judge(make_entry(), make_transcript("[]"), pool)


def test_reasons_say_what_came_and_what_should(pool: Pool) -> None:
    entry = entry_of(SIX, "math_gcd(a=5, b=10)")
    answer = make_transcript("[math_gcd(a=7, b=14), math_gcd(a=5, b=5)]")
    verdict = execution.judge(entry, answer, pool).official
    assert isinstance(verdict, Failed)
    assert verdict.reason == (
        "no call returns what math_gcd(a=12, b=18) returns (6): math_gcd(a=7, b=14): it returns 7, the "
        "truth 6 (exact_match); math_gcd(a=5, b=5): it returns 5, the truth 6 (exact_match)"
    )
    assert verdict.details == {"expected": SIX}


def test_a_failing_call_has_both_results_in_its_details(pool: Pool) -> None:
    answer = make_transcript("[math_gcd(a=7, b=14)]")
    verdict = execution.judge(entry_of(SIX, category="exec_simple"), answer, pool).official
    assert isinstance(verdict, Failed)
    assert verdict.details == {"call": SIX, "expected": "6", "found": "7"}


def test_a_wrong_number_of_calls_has_both_numbers_in_its_details(pool: Pool) -> None:
    answer = make_transcript(f"[{SIX}, {SIX}, {SIX}]")
    verdict = execution.judge(entry_of(SIX, "math_gcd(a=5, b=10)"), answer, pool).official
    assert isinstance(verdict, Failed)
    assert verdict.reason == "3 calls were made; the truth makes 2"
    assert verdict.details == {"expected": 2, "found": 3}


@pytest.mark.parametrize(("category", "key"), [("exec_simple", "call"), ("exec_parallel", "expected")])
def test_details_have_500_characters_of_a_call(category: str, key: str) -> None:
    truth = f"median(x=1.{'0' * 600})"
    entry = entry_of(truth, category=category)
    verdict = execution.judge(entry, make_transcript("[median(x=2)]"), _echo_numbers).official
    assert isinstance(verdict, Failed)
    assert verdict.details[key] == f"median(x=1.{'0' * 489}"


def test_a_number_that_python_does_not_write_is_described(pool: Pool) -> None:
    entry = entry_of("math_factorial(n=3000)", category="exec_simple")
    verdict = execution.judge(entry, make_transcript("[math_factorial(n=3)]"), pool).official
    assert isinstance(verdict, Failed)
    assert verdict.reason.startswith("it returns 6, the truth a value of type int that cannot be written (")
    assert verdict.reason.endswith("(exact_match)")


def test_an_answer_that_nobody_recorded_is_not_that_of_another_function(pool: Pool) -> None:
    answer = make_transcript("[get_weather_data(coordinates=[1, 2])]")
    verdict = execution.judge(entry_of(SIX, category="exec_simple"), answer, pool).official
    assert verdict == Failed(f"{CHECKER}wrong_result", "it asks a web API whose answer nobody recorded")


def test_a_call_that_fails_for_sure_decides_before_an_unrecorded_answer(pool: Pool) -> None:
    """Officially 1 and 1.0 differ in structure, whatever the API would say."""
    entry = entry_of("get_movie_rating('Avatar')", "math_gcd(a=1, b=1)", kind=STRUCTURAL)
    answer = "[get_movie_rating(movie_name='avatar'), calculate_mean(numbers=[1])]"
    judgement = execution.judge(entry, make_transcript(answer), pool)
    assert name_outcomes(judgement) == (MATCH, "not scored: live_only")


@each_case(
    ("expected", "found", "code"),
    [
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 0.3}, {"a": 0.1 + 0.2}, None),
        ({"a": "Köln"}, {"a": "Ko\u0308ln"}, None),
        ({"a": "Köln"}, {"a": "Koln"}, "wrong_result"),
        ({"a": 1}, {"a": True}, "wrong_result"),
        ({"a": 1}, {"a": 2}, "wrong_result"),
        ({"a": 1}, {"b": 1}, "wrong_result"),
        ({"a": [1]}, {"a": [1, 1]}, "wrong_result"),
        ([{"a": 1}], [{"a": 2}], "wrong_result"),
    ],
)
def test_corrected_results_are_equal_in_depth(expected: object, found: object, code: str | None) -> None:
    values = {"median(x=1)": expected, "median(x=2)": found}

    def look_up(
        calls: Sequence[str], recorded: Sequence[RecordedCall], own: Sequence[str]
    ) -> Sequence[Outcome]:
        return [Returned(values[call]) for call in calls]

    entry = entry_of("median(x=1)", category="exec_simple")
    verdict = execution.judge(entry, make_transcript("[median(x=2)]"), look_up).corrected
    assert name_outcome(verdict) == (code and f"{CHECKER}{code}")


@each_case(
    ("call", "text"),
    [
        (Call("f", {"x": 1, "y": "a'b"}), """f(x=1, y="a'b")"""),
        (Call("f", {"**": {"a": 1}}), "f(**{'a': 1})"),
        (Call("f", {"a-b": 1}), "f(**{'a-b': 1})"),
        (Call("f", {"x": {"p": 1, "q": [1, (2, 3)]}}), "f(x={'p': 1, 'q': [1, (2, 3, )]})"),
        (Call("f", {}, ({"math_gcd": {"a": 1}}, 2)), "f(math_gcd(a=1), 2)"),
        (Call("f", {"x": [{"math_gcd": {"a": 1}}]}), "f(x=[math_gcd(a=1)])"),
        (Call("f", {"x": ({"math_gcd": {"a": 1}},)}), "f(x=(math_gcd(a=1), ))"),
        (Call("f", {"x": {"p": {"math_gcd": {"a": 1}}, "q": 2}}), "f(x={'p': math_gcd(a=1), 'q': 2})"),
        (Call("f", {"x": {"math_gcd": {"a": {"math_lcm": {}}}}}), "f(x=math_gcd(a=math_lcm()))"),
        (Call("f", {"x": {"not_offered": {"a": 1}}}), "f(x={'not_offered': {'a': 1}})"),
        (Call("f", {"x": {"math_gcd": 1}}), "f(x={'math_gcd': 1})"),
    ],
)
def test_a_call_is_written_with_the_calls_in_its_arguments(call: Call, text: str) -> None:
    assert execution.write_call(call, OfferedFunctions(tuple(DOCS), Names.DOTTED)) == text


def _echo_numbers(
    calls: Sequence[str], recorded: Sequence[RecordedCall], own: Sequence[str]
) -> Sequence[Outcome]:
    """Return the number in each call: no process is needed to see how results are matched."""
    return [Returned(float(call.partition("=")[2].rstrip(")]"))) for call in calls]


@given(st.permutations([-30.0, -24.0, 10.0, 11.0, 12.5, 15.0]))
def test_corrected_the_order_of_calls_cannot_matter(numbers: list[float]) -> None:
    entry = entry_of(*(f"f(x={n})" for n in (-30.0, -24.0, 10.0, 11.0, 12.5, 15.0)), kind=REAL_TIME)
    answer = f"[{', '.join(f'median(x={n})' for n in numbers)}]"
    assert execution.judge(entry, make_transcript(answer), _echo_numbers).corrected.passed  # type: ignore[union-attr]


# As they are written

MEDIAN = "median(numbers=[3, 1, 2])"


@pytest.mark.parametrize(
    ("answer", "written", "executed"),
    [
        ("median(numbers=[3, 1, 2])", True, True),
        ("median(numbers=[1, 2, 3])", False, True),
        ("median(numbers=[9, 9, 9])", False, False),
        ("median(numbers=[3, 1, 2], more=1)", False, False),
        ("median()", False, False),
        ("nothing of the kind", False, False),
    ],
)
def test_an_answer_as_it_is_written(pool: Pool, answer: str, *, written: bool, executed: bool) -> None:
    """Another call may return the same; the verdict hangs on that alone."""
    entry = replace(entry_of(MEDIAN, category="exec_simple"), functions=(DOCS[-1],))
    judgement = execution.judge(entry, make_transcript(f"[{answer}]"), pool)
    assert judgement.as_written
    for profile in Profile:
        assert isinstance(judgement.as_written.select_profile(profile), Passed) is written
        assert isinstance(judgement.select_profile(profile), Passed) is executed


def test_several_calls_as_they_are_written_come_in_any_order() -> None:
    entry = entry_of(MEDIAN, "median(numbers=[7])")
    found = execution.judge_as_written(entry, make_transcript(f"[median(numbers=[7]), {MEDIAN}]"))
    assert found == Judgement.same_in_both(Passed())
    less = execution.judge_as_written(entry, make_transcript(f"[{MEDIAN}]"))
    assert less
    assert isinstance(less.official, Failed)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("f([1, 2], (3, 4), {'a': 1, 'b': [1]})", "f(x=[1, 2], y=(3, 4), z={'a': 1, 'b': [1]})"),
        ("f(x=[1, 2], y=(3, 4), z={'a': 1, 'b': [1]})", "f(x=[1, 2], y=[3, 4], z={'b': [1], 'a': 1})"),
    ],
)
def test_values_of_the_truth_are_the_only_ones_accepted(truth: str, answer: str) -> None:
    number = {"type": "array", "items": {"type": "integer"}}
    point = {"type": "tuple", "items": {"type": "integer"}}
    doc = make_doc("f", {"x": number, "y": point, "z": {"type": "dict"}}, ["x", "y", "z"])
    entry = replace(entry_of(truth, category="exec_simple"), functions=(doc,))
    assert execution.judge_as_written(entry, make_transcript(f"[{answer}]")) == Judgement.same_in_both(
        Passed()
    )
    for other in ("'a': 2", "'a': 1, 'c': 1"):
        wrong = make_transcript(f"[{answer.replace(chr(39) + 'a' + chr(39) + ': 1', other)}]")
        found = execution.judge_as_written(entry, wrong)
        assert found
        assert isinstance(found.official, Failed)
        assert isinstance(found.corrected, Failed)
