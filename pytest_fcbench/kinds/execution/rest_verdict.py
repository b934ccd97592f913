"""Judge REST calls by the API's answer (BFCL's REST evaluation, as it was until April 2025).

Official rules (``executable_checker_rest``):

- an answer that cannot be read fails (``executable_decoder:decoder_failed``), and so does one that is not
  exactly one call (``executable_decoder:rest_wrong_output_format``);
- the call is evaluated; where that raises an error it fails (``:execution_error``), where it returns
  something that is no response too (``:cannot_get_status_code``; here: where a function of Python itself is
  called);
- the status must be 200 (``:wrong_status_code``);
- an object must have the keys of the recorded one, a list as many elements as the recorded one
  (``value_error:exec_result_rest_count``) with the same keys each (``:wrong_key``); another type is
  ``:wrong_type``, and what is no JSON, or a list of anything but objects, ``:response_format_error``.

Officially the call is handed to ``eval`` and may reach any host, also one that never ends to answer. Here a
call that may not be sent, or is not answered in time, is an error like any other.

The corrected profile differs in this:

- the answer is read leniently (``read_corrected``), must be exactly one call (``wrong_count``) of
  the offered function, and defaults that the docs write as text ("None", "True") mean what they say;
- it is compared with what the truth's call is answered in the same run, not with what it was years ago;
- any JSON can be compared, so lists of texts or numbers can be right;
- the shape is not enough, as almost any value of a parameter gives the same keys: a request that is not the
  truth's must be answered the same (``:wrong_value``), but for numbers within 20 % and points in time;
- a server that is overloaded, fails or cannot be reached is no fault of the answer, which is not scored.

A request whose answer nobody recorded could be right, so the entry is not scored (``live_only``), unless it
goes to another API than the truth's, which cannot be right.
"""

from __future__ import annotations

import builtins
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_call_texts, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Undecodable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile, Verdict
from pytest_fcbench.execution.outcomes import Perform, Raised, Responded, Response, Unanswered, Unreached
from pytest_fcbench.judging.text_normalization import unify_texts
from pytest_fcbench.kinds.calls.verdict import fail_without_calls
from pytest_fcbench.kinds.execution.verdict import LIVE_ONLY, ExpectedResponse, is_number, write_call
from pytest_fcbench.kinds.kind import find_unscored_cause, judge_fault

_CHECKER = "executable_checker_rest"
_DECODER = "executable_decoder"
_GOOD = 200


def judge(entry: Entry, transcript: Transcript, perform: Perform) -> Judgement:
    """Judge the last answer by the web API's reply. ``entry`` must expect a response."""
    truth = entry.expectation
    if not isinstance(truth, ExpectedResponse):
        raise TypeError(f"{entry.key} has no expected response")
    # Both profiles must judge the same answer of an API that may be live.
    perform = cache(perform)
    response = perform(truth.call)
    if missing_truth := _explain_missing_truth(truth, response):
        return Judgement.same_in_both(missing_truth)
    assert isinstance(response, Responded)
    unscored_cause = find_unscored_cause(entry, transcript)
    if failure := judge_fault(transcript.last):
        return Judgement(failure, unscored_cause or failure)
    today = _Truth(truth.call, response, read_json_text(response.body))
    recorded = today if truth.recorded is None else replace(today, value=read_json_text(truth.recorded))
    official = _judge_officially(transcript, recorded, perform)
    return Judgement(official, unscored_cause or _judge_corrected(entry, transcript, today, perform))


@dataclass(frozen=True, slots=True)
class _Truth:
    call: str
    response: Responded
    value: object
    """The JSON value that is right."""


def _explain_missing_truth(truth: ExpectedResponse, response: Response) -> NotScored | None:
    """Explain why there is nothing to compare with today."""
    prefix = f"{truth.call:.200}: "
    match response:
        case Unanswered(function=host, reason=reason):
            return NotScored(LIVE_ONLY, f"{prefix}{host}: {reason}")
        case Raised(reason=reason):
            return NotScored("truth_failed", f"{prefix}{reason}")
        case Unreached(reason=reason):
            return NotScored("unreached", f"{prefix}{reason}")
        case Responded(status=status, body=body):
            with suppress(ValueError, RecursionError):
                read_json_text(body)
                if status == _GOOD:
                    return None
            return NotScored("truth_failed", f"{prefix}HTTP {status}: {body:.200}")


def _judge_officially(transcript: Transcript, truth: _Truth, perform: Perform) -> Verdict:
    try:
        calls = read_call_texts(transcript.last, transcript.prompting.syntax)
    except Undecodable as error:
        return Failed(f"{_DECODER}:decoder_failed", str(error))
    # Official: rest takes exactly one text.
    if len(calls) != 1:
        reason = f"{len(calls)} calls were made; REST takes exactly one"
        return Failed(f"{_DECODER}:rest_wrong_output_format", reason)
    (call,) = calls
    # The official code evaluates the text, so a builtin returns something without a status code.
    if hasattr(builtins, call.partition("(")[0]):
        return _fail("cannot_get_status_code", f"what {call:.80} returns is no response")
    return _compare_responses(call, perform(call), truth, Profile.OFFICIAL)


def _judge_corrected(entry: Entry, transcript: Transcript, truth: _Truth, perform: Perform) -> Verdict:
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    reading = read_corrected(transcript.last, transcript.prompting.syntax, Language.PYTHON, offer)
    if not isinstance(reading, Calls):
        return fail_without_calls(reading)
    if len(reading.calls) != 1:
        return Failed("wrong_count", f"{len(reading.calls)} calls were made; the truth makes 1")
    (call,) = reading.calls
    if call.name not in offer.by_name:
        return _fail("execution_error", f"the function {call.name:.80} is not offered")
    # The docs write defaults as text ("None", "True"), and models repeat them.
    pairs = call.arguments.items()
    arguments = {name: value for name, value in pairs if name == "url" or value not in _NOTHING}
    for name in ("allow_redirects", "stream", "verify"):
        if isinstance(value := arguments.get(name), str) and value in _WORDS:
            arguments[name] = _WORDS[value]
    # requests takes pairs of user and password, or of two timeouts, only as tuples, which JSON does not have.
    for name in ("auth", "timeout"):
        if isinstance(value := arguments.get(name), list):
            arguments[name] = tuple(value)
    text = write_call(replace(call, arguments=arguments), offer)
    return _compare_responses(text, perform(text), truth, Profile.CORRECTED)


_NOTHING = (None, "", "None", "none", "null")
_WORDS = {"True": True, "true": True, "False": False, "false": False}


def _fail(code: str, reason: str) -> Failed:
    return Failed(code if ":" in code else f"{_CHECKER}:{code}", reason)


def _compare_responses(call: str, response: Response, truth: _Truth, profile: Profile) -> Verdict:
    call_prefix = f"{call:.200}: "
    is_corrected = profile is Profile.CORRECTED
    match response:
        case Unanswered(function=host, reason=reason):
            # No answer of another API can be that of the truth's API.
            if host != truth.response.host:
                return _fail("wrong_key", f"it asks {host}, the truth {truth.response.host}")
            return NotScored(LIVE_ONLY, f"{call_prefix}{reason}")
        case Raised(reason=reason):
            return _fail("execution_error", f"{call_prefix}{reason}")
        case Unreached(reason=reason):
            return NotScored("unreached", reason) if is_corrected else _fail("execution_error", reason)
        case Responded(status=status, body=body) if status != _GOOD:
            # These say something about the service, not about the call.
            if is_corrected and (status == 429 or status >= 500):
                return NotScored("unreached", f"{call_prefix}HTTP {status}: {body:.200}")
            return _fail("wrong_status_code", f"{call_prefix}HTTP {status}, not 200: {body:.200}")
    try:
        actual_value: object = read_json_text(response.body)
    except (ValueError, RecursionError):
        return _fail("response_format_error", f"{call_prefix}the answer is no JSON: {response.body:.80}")
    compare = _compare_shapes_corrected if is_corrected else compare_shapes
    code = compare(truth.value, actual_value)
    # The same request has the same answer but for time; another one must agree in its values.
    if code is None and is_corrected and response.asked != truth.response.asked:
        try:
            same = _say_same(*map(unify_texts, (truth.value, actual_value)))
            code = None if same else "wrong_value"
        except (OverflowError, RecursionError):
            # A whole number beyond all floats, or a value that is too deep.
            code = "wrong_value"
    if code is None:
        return Passed()
    expected_shape, actual_shape = _describe_shape(truth.value), _describe_shape(actual_value)
    reason = f"it is answered {actual_shape:.160}, the truth {expected_shape:.160}"
    details = {"call": call[:500], "truth": truth.call[:500], "expected": expected_shape}
    return replace(_fail(code, reason), details={**details, "found": actual_shape})


def _describe_shape(value: object) -> str:
    """Describe a value: an object by its keys, a list by its length and first element."""
    match value:
        case dict():
            return f"an object of {', '.join(map(str, value)):.400}"
        case [first, *_]:
            element = _describe_shape(first) if isinstance(first, dict) else repr(first)
            return f"a list of {len(value)}, of {element:.400}"
    return f"{value!r:.400}"


def compare_shapes(expected_value: object, actual_value: object) -> str | None:
    """Compare shapes by the official rules; return the end of the code, or None where they agree."""
    match expected_value, actual_value:
        case dict(), dict():
            return None if expected_value.keys() == actual_value.keys() else "wrong_key"
        case list(), list():
            if len(expected_value) != len(actual_value):
                return "value_error:exec_result_rest_count"
            for one, other in zip(expected_value, actual_value, strict=True):
                if not isinstance(one, dict) or not isinstance(other, dict):
                    return "response_format_error"
                if one.keys() != other.keys():
                    return "wrong_key"
            return None
    return "wrong_type"


def _compare_shapes_corrected(expected_value: object, actual_value: object) -> str | None:
    if isinstance(expected_value, list) and isinstance(actual_value, list):
        if len(expected_value) != len(actual_value):
            return "value_error:exec_result_rest_count"
        codes = map(_name_difference, expected_value, actual_value)
        return next((code for code in codes if code), None)
    return _name_difference(expected_value, actual_value)


def _name_difference(expected_value: object, actual_value: object) -> str | None:
    if isinstance(expected_value, dict) and isinstance(actual_value, dict):
        return None if expected_value.keys() == actual_value.keys() else "wrong_key"
    if is_number(expected_value) and is_number(actual_value):
        return None
    return None if type(expected_value) is type(actual_value) else "wrong_type"


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*")


def _say_same(expected_value: object, actual_value: object) -> bool:
    """Tell whether both are equal but for numbers within 20 % and points in time."""
    if is_number(expected_value) and is_number(actual_value):
        return abs(actual_value - expected_value) * 5 <= abs(expected_value)
    match expected_value, actual_value:
        case list(), list():
            same = len(expected_value) == len(actual_value)
            return same and all(map(_say_same, expected_value, actual_value))
        case dict(), dict():
            same = expected_value.keys() == actual_value.keys()
            return same and all(_say_same(expected_value[key], actual_value[key]) for key in expected_value)
        case str(), str() if _MOMENT.fullmatch(expected_value):
            return _MOMENT.fullmatch(actual_value) is not None
    return type(expected_value) is type(actual_value) and expected_value == actual_value
