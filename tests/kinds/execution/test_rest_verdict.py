"""Calls are judged by how a web API answers them, officially and corrected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored
from pytest_fcbench.execution.outcomes import Raised, Responded, Response, Unanswered, Unreached
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.kinds.execution import rest_verdict as rest
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_transcript
from tests.kinds.outcomes import name_outcomes

DOC = make_doc(
    "requests.get",
    {
        "url": {"type": "string"},
        "params": {"type": "dict"},
        "headers": {"type": "dict"},
        "auth": {"type": "tuple", "default": "None"},
        "verify": {"type": "string", "default": True},
    },
    ["url"],
)
TRUTH = "requests.get(url='https://trams.varnholm.example/v1/stops', params={'zone': 1})"
CODE = "executable_checker_rest:"
FORMAT = "executable_decoder:rest_wrong_output_format"
DECODER = "executable_decoder:decoder_failed"


def entry_of(call: str = TRUTH, recorded: str | None = None, set_aside: str | None = None) -> Entry:
    made = make_entry("irrelevance", functions=[DOC], set_aside=set_aside, entry_id="rest_0")
    return Entry(
        suite="core",
        id="rest_0",
        category=CATEGORIES["rest"],
        turns=made.turns,
        functions=made.functions,
        expectation=ExpectedResponse(call, recorded),
        set_aside=set_aside,
    )


@each_case(
    ("answer", "official", "corrected"),
    [
        (f"[{TRUTH}]", None, None),
        (f"[{TRUTH.replace('.get', '_get')}]", None, f"{CODE}execution_error"),
        ("[requests.get(url='https://trams.varnholm.example/v1/stops?zone=1')]", None, None),
        (f"```python\n[{TRUTH}]\n```", DECODER, None),
        (f"[{TRUTH.replace('url=', '')}]", f"{CODE}execution_error", None),
        (f"[{TRUTH}, {TRUTH}]", FORMAT, "wrong_count"),
        ("[]", FORMAT, "wrong_count"),
        ("In zone 1 there are three.", DECODER, "no_call"),
        ("[requests.get(url='https", DECODER, "unreadable"),
        (f"[{TRUTH.replace(': 1', ': 2')}]", "value_error:exec_result_rest_count", ...),
        (f"[{TRUTH.replace('.get', '.post')}]", f"{CODE}execution_error", ...),
        ("[print(x='a')]", f"{CODE}cannot_get_status_code", f"{CODE}execution_error"),
        ("[weather(city='Oslo')]", f"{CODE}execution_error", ...),
        (f"[{TRUTH.replace('stops', 'shops')}]", f"{CODE}wrong_status_code", ...),
        ("[requests.get(url='https://trams.varnholm.example/v1/lines/2')]", f"{CODE}wrong_type", ...),
        (
            "[requests.get(url='https://trams.varnholm.example/v1/stops')]",
            "value_error:exec_result_rest_count",
            ...,
        ),
        ("[requests.get(url='https://tides.saltmark.example/ports')]", f"{CODE}wrong_key", ...),
    ],
)
def test_an_answer_has_both_verdicts(
    performer: Performer, answer: str, official: str | None, corrected: object
) -> None:
    judgement = rest.judge(entry_of(), make_transcript(answer), performer)
    assert name_outcomes(judgement) == (official, official if corrected is ... else corrected)


AUTH = ", auth='None', verify='True'"


def test_defaults_that_the_docs_write_as_text(performer: Performer) -> None:
    """Officially ``auth='None'`` is called, and ``verify='True'`` names a file."""
    answer = f"[{TRUTH[:-1]}{AUTH})]"
    judgement = rest.judge(entry_of(), make_transcript(answer), performer)
    assert name_outcomes(judgement) == (f"{CODE}execution_error", None)


DEPARTURES = "requests.get(url='https://trams.varnholm.example/v1/departures', params={'stop': 'Harbour'})"


@each_case(
    ("answer", "corrected"),
    [
        (DEPARTURES.replace("Harbour", "Corn Market"), f"{CODE}wrong_value"),
        (DEPARTURES.replace("'}", "', 'limit': '3'}"), None),
        (DEPARTURES.replace("'}", "', 'limit': 4}"), f"{CODE}wrong_value"),
        (DEPARTURES.replace("'}", "', 'colour': 'red'}"), None),
        (DEPARTURES.replace(")", ", timeout=5, headers={'X': 'y'})"), None),
    ],
)
def test_almost_any_value_gives_the_same_keys(
    performer: Performer, answer: str, corrected: str | None
) -> None:
    """So officially all of these are right."""
    judgement = rest.judge(entry_of(DEPARTURES), make_transcript(f"[{answer}]"), performer)
    assert name_outcomes(judgement) == (None, corrected)


def test_a_tool_call_is_sent_like_a_written_one(performer: Performer) -> None:
    arguments = {"url": "https://trams.varnholm.example/v1/stops", "params": {"zone": 1}}
    judgement = rest.judge(
        entry_of(),
        make_transcript(Completion(tool_calls=(ToolCall("requests_get", json.dumps(arguments)),))),
        performer,
    )
    assert name_outcomes(judgement) == (None, None)


def list_sent_texts(arguments: Mapping[str, object]) -> list[str]:
    """Return the texts that are performed for a tool call: officially, then corrected."""
    sent: list[str] = []

    def note_call(call: str) -> Response:
        sent.append(call)
        return make_response({})

    completion = Completion(tool_calls=(ToolCall("requests_get", json.dumps(arguments)),))
    rest.judge(entry_of(), make_transcript(completion), note_call)
    return sent[1:]


def test_officially_a_tool_call_is_written_under_its_own_name_and_without_blanks() -> None:
    official, corrected = list_sent_texts({"url": "u", "params": {"zone": 1}})
    assert official == "requests_get(url='u',params={'zone': 1})"
    assert corrected == "requests.get(url='u', params={'zone': 1})"


@each_case(
    ("arguments", "text"),
    [
        ({"url": "", "params": "", "headers": "None", "cookies": None}, "requests.get(url='')"),
        ({"url": "u", "verify": "true"}, "requests.get(url='u', verify=True)"),
        ({"url": "u", "verify": "file.pem"}, "requests.get(url='u', verify='file.pem')"),
        ({"url": "u", "stream": "True"}, "requests.get(url='u', stream=True)"),
        ({"url": "u", "allow_redirects": "False"}, "requests.get(url='u', allow_redirects=False)"),
        ({"url": "u", "auth": ["me", "pw"]}, "requests.get(url='u', auth=('me', 'pw', ))"),
        ({"url": "u", "timeout": [1, 2]}, "requests.get(url='u', timeout=(1, 2, ))"),
        ({"url": "u", "params": ["a", "b"]}, "requests.get(url='u', params=['a', 'b'])"),
    ],
)
def test_corrected_values_are_sent_as_requests_wants_them(arguments: Mapping[str, object], text: str) -> None:
    assert list_sent_texts(arguments)[-1] == text


def test_officially_an_empty_object_cannot_be_read() -> None:
    """It would be a call without a name."""
    verdict = rest.judge(entry_of(), make_transcript("[requests.get(url={})]"), answer_nothing).official
    assert verdict == Failed(DECODER, "an empty dict reads as a call without a name")


def test_a_builtin_is_one_whatever_its_arguments() -> None:
    judgement = rest.judge(entry_of(), make_transcript("[print(x=(1, 2))]"), answer_nothing)
    assert judgement.official == Failed(
        f"{CODE}cannot_get_status_code", "what print(x=(1, 2)) returns is no response"
    )


def test_a_fault_of_the_answer_decides_the_verdict(performer: Performer) -> None:
    for fault, expected in (
        (Fault.OVERFLOW, (Fault.OVERFLOW, Fault.OVERFLOW)),
        (Fault.UNREADABLE_CALL, (Fault.UNREADABLE_CALL, Fault.UNREADABLE_CALL)),
        (Fault.INFERENCE_ERROR, (DECODER, f"not scored: {Fault.INFERENCE_ERROR}")),
    ):
        answer = make_transcript(Completion(text="Error", fault=fault))
        assert name_outcomes(rest.judge(entry_of(), answer, performer)) == expected
    judgement = rest.judge(entry_of(set_aside="bad"), make_transcript(f"[{TRUTH}]"), performer)
    assert name_outcomes(judgement) == (None, "not scored: set_aside")


def test_both_profiles_judge_the_same_answer_of_an_api() -> None:
    """It may be live, and answer each request only so often."""
    asked: list[str] = []

    def answer_counting(call: str) -> Response:
        asked.append(call)
        return Responded(call, "a.example", 200, json.dumps({"n": len(asked)}))

    rest.judge(entry_of(), make_transcript(f"[{TRUTH}]"), answer_counting)

    assert asked == [TRUTH]


def test_an_entry_without_an_expected_response_is_refused(performer: Performer) -> None:
    with pytest.raises(TypeError, match="no expected response"):
        rest.judge(make_entry(), make_transcript("[]"), performer)


# What came back


def make_response(body: object, asked: str = "one", host: str = "a.example", status: int = 200) -> Responded:
    return Responded(asked, host, status, json.dumps(body))


def answer_nothing(call: str) -> Response:
    return make_response({})


def make_text_response(text: str) -> Responded:
    return Responded("one", "a.example", 200, text)


CALL = "requests.get(url='https://a.example/')"
OTHER = "requests.get(url='https://a.example/other')"


def verdicts_on(
    response: Response, truth: Response | object = None, recorded: str | None = None
) -> tuple[str | None, str | None]:
    """Of an answer that is answered so; of a truth that is not a response, its value."""
    known = truth if isinstance(truth, (Responded, Raised, Unanswered, Unreached)) else make_response(truth)
    replies = {CALL: known, OTHER: response}
    judgement = rest.judge(entry_of(CALL, recorded), make_transcript(f"[{OTHER}]"), replies.__getitem__)
    return name_outcomes(judgement)


@each_case(
    ("truth", "found", "official", "corrected"),
    [
        ({"a": 1}, {"a": 1}, None, None),
        ({"a": 1}, {"a": 1.2}, None, None),
        ({"a": 1}, {"a": 1.21}, None, "wrong_value"),
        ({"a": -10}, {"a": -9}, None, None),
        ({"a": 0}, {"a": 0.0}, None, None),
        ({"a": True}, {"a": 1}, None, "wrong_value"),
        ({"a": "x"}, {"a": "y"}, None, "wrong_value"),
        ({"a": None}, {"a": None}, None, None),
        ({"a": None}, {"a": 0}, None, "wrong_value"),
        ({"at": "2026-01-02T03:04:05+00:00"}, {"at": "2026-05-06T07:08"}, None, None),
        ({"on": "2026-01-02"}, {"on": "2026-01-03"}, None, "wrong_value"),
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "x"}]}, None, None),
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"c": "x"}]}, None, "wrong_value"),
        ({"a": [1]}, {"a": [1, 1]}, None, "wrong_value"),
        ({"a": 1}, {"a": 1, "b": 2}, "wrong_key", ...),
        ({"a": 1}, {}, "wrong_key", ...),
        ({"a": 1}, [{"a": 1}], "wrong_type", ...),
        ([{"a": 1}], {"a": 1}, "wrong_type", ...),
        ({"a": 1}, None, "wrong_type", ...),
        ([{"a": 1}], [{"a": 1}], None, None),
        ([{"a": 1}], [{"b": 1}], "wrong_key", ...),
        ([{"a": 1}], [], "value_error:exec_result_rest_count", ...),
        ([], [], None, None),
        (["x", 1], ["x", 1.1], "response_format_error", None),
        (["x"], [1], "response_format_error", "wrong_type"),
        (["x"], ["y"], "response_format_error", "wrong_value"),
        ([{"a": 1}], ["a"], "response_format_error", "wrong_type"),
        ("text", "text", "wrong_type", None),
        ("text", "other", "wrong_type", "wrong_value"),
        (5, 5, "wrong_type", None),
        ({"a": 10**400}, {"a": 1.5}, None, "wrong_value"),
    ],
)
def test_shapes_count_officially_and_values_when_corrected(
    truth: object, found: object, official: str | None, corrected: object
) -> None:
    wanted = [official, official if corrected is ... else corrected]
    codes = [code if code is None or ":" in str(code) else f"{CODE}{code}" for code in wanted]
    assert list(verdicts_on(make_response(found, "two"), truth)) == codes


def test_the_same_request_needs_the_same_shape_only() -> None:
    """A reply to it may change from moment to moment."""
    assert verdicts_on(make_response({"a": 99}), {"a": 1}) == (None, None)


def test_what_was_recorded_years_ago_holds_officially_only() -> None:
    assert verdicts_on(make_response({"a": 1}), {"a": 1}, recorded='{"b": 1}') == (f"{CODE}wrong_key", None)
    assert verdicts_on(make_response({"b": 1}, "two"), {"a": 1}, recorded='{"b": 1}') == (
        None,
        f"{CODE}wrong_key",
    )


@each_case(
    ("response", "official", "corrected"),
    [
        (make_text_response("no JSON"), f"{CODE}response_format_error", ...),
        (make_text_response("[" * 100_000), f"{CODE}response_format_error", ...),
        (make_response({"a": 1}, status=404), f"{CODE}wrong_status_code", ...),
        (make_response({"a": 1}, status=204), f"{CODE}wrong_status_code", ...),
        (make_response({"a": 1}, status=301), f"{CODE}wrong_status_code", ...),
        (make_response({"a": 1}, status=429), f"{CODE}wrong_status_code", "not scored: unreached"),
        (make_response({"a": 1}, status=499), f"{CODE}wrong_status_code", ...),
        (make_response({"a": 1}, status=500), f"{CODE}wrong_status_code", "not scored: unreached"),
        (make_response({"a": 1}, status=503), f"{CODE}wrong_status_code", "not scored: unreached"),
        (Raised("refused"), f"{CODE}execution_error", ...),
        (Unreached("timeout"), f"{CODE}execution_error", "not scored: unreached"),
        (Unanswered("a.example"), "not scored: live_only", ...),
        (Unanswered("b.example"), f"{CODE}wrong_key", ...),
    ],
)
def test_what_can_become_of_a_call(response: Response, official: str, corrected: object) -> None:
    expected = (official, official if corrected is ... else corrected)
    assert verdicts_on(response, {"a": 1}) == expected


@each_case(
    ("truth", "cause", "reason"),
    [
        (Unanswered("a.example"), "live_only", "a.example: nobody recorded its answer"),
        (Raised("refused"), "truth_failed", "refused"),
        (Unreached("timeout"), "unreached", "timeout"),
        (make_text_response("no JSON"), "truth_failed", "HTTP 200: no JSON"),
        (make_text_response("[" * 100_000), "truth_failed", f"HTTP 200: {'[' * 200}"),
        (make_response({}, status=500), "truth_failed", "HTTP 500: {}"),
    ],
)
def test_without_a_truth_nothing_is_scored(truth: Response, cause: str, reason: str) -> None:
    judgement = rest.judge(entry_of(CALL), make_transcript(f"[{CALL}]"), {CALL: truth}.__getitem__)
    assert judgement == Judgement.same_in_both(NotScored(cause, f"{CALL}: {reason}"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(JSON, JSON)
def test_any_two_replies_get_a_verdict(one: object, other: object) -> None:
    for outcome in verdicts_on(make_response(other, "two"), one):
        assert outcome in (
            None,
            "executable_checker_rest:wrong_type",
            "executable_checker_rest:wrong_key",
            "executable_checker_rest:wrong_value",
            "executable_checker_rest:response_format_error",
            "value_error:exec_result_rest_count",
        )


@given(JSON)
def test_corrected_a_reply_is_right_for_itself(reply: object) -> None:
    same = json.loads(json.dumps(reply), parse_constant=str)  # NaN is not equal to itself
    assert verdicts_on(make_response(same, "two"), same)[1] is None


@given(st.text())
def test_any_answer_gets_verdicts(text: str) -> None:
    def answer_or_raise(call: str) -> Response:
        return make_response({}) if call == CALL else Raised("x")

    assert None not in name_outcomes(rest.judge(entry_of(CALL), make_transcript(text), answer_or_raise))


def test_a_verdict_says_what_differs() -> None:
    known = {CALL: make_response({"a": 1}), OTHER: make_response([{"b": 1}], "two")}
    verdict = rest.judge(entry_of(CALL), make_transcript(f"[{OTHER}]"), known.__getitem__).official
    assert isinstance(verdict, Failed)
    assert verdict.reason == "it is answered a list of 1, of an object of b, the truth an object of a"
    assert verdict.details == {
        "call": OTHER,
        "truth": CALL,
        "expected": "an object of a",
        "found": "a list of 1, of an object of b",
    }


def describe_difference(truth: object, found: object) -> str:
    known = {CALL: make_response(truth), OTHER: make_response(found, "two")}
    verdict = rest.judge(entry_of(CALL), make_transcript(f"[{OTHER}]"), known.__getitem__).official
    assert isinstance(verdict, Failed)
    return verdict.reason


def test_objects_are_described_by_their_keys_and_lists_by_their_first_element() -> None:
    assert describe_difference({"a": 1, "b": 2}, [[1, 2], 3]) == (
        "it is answered a list of 2, of [1, 2], the truth an object of a, b"
    )
    assert describe_difference(["x"], 5) == "it is answered 5, the truth a list of 1, of 'x'"


def test_a_call_that_fails_is_named() -> None:
    known: Mapping[str, Response] = {CALL: make_response({}), OTHER: Raised("refused")}
    verdict = rest.judge(entry_of(CALL), make_transcript(f"[{OTHER}]"), known.__getitem__).official
    assert verdict == Failed(f"{CODE}execution_error", f"{OTHER}: refused")


def test_details_have_500_characters_of_a_call() -> None:
    long, other = (f"requests.get(url='https://a.example/{letter * 600}')" for letter in "ab")
    known = {long: make_response({"a": 1}), other: make_response({"b": 1}, "two")}
    verdict = rest.judge(entry_of(long), make_transcript(f"[{other}]"), known.__getitem__).official
    assert isinstance(verdict, Failed)
    start = "requests.get(url='https://a.example/"
    assert verdict.details["call"] == start + "b" * (500 - len(start))
    assert verdict.details["truth"] == start + "a" * (500 - len(start))


def test_what_is_recorded_for_other_entries_is_played_too() -> None:
    """So officially any country is right that another entry asks for."""
    template = "requests.get(url='https://date.nager.at/api/v3/LongWeekend/2026/{}')"
    here, there, nowhere = (template.format(name) for name in ("NO", "OM", "PE"))
    truths = [(call, f'{{"country": "{call[-4:-2]}"}}') for call in (here, there)]
    entry = entry_of(here, truths[0][1])
    with closing(Performer(truths)) as perform:
        found = [
            name_outcomes(rest.judge(entry, make_transcript(f"[{call}]"), perform))
            for call in (here, there, nowhere)
        ]
    assert found == [(None, None), (None, f"{CODE}wrong_value"), ("not scored: live_only",) * 2]
