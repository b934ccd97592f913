"""Judging a call by how a web API answers it (BFCL's REST evaluation, as it was until April 2025).

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

- the answer is read leniently (``syntaxes.read_corrected``), must be exactly one call (``wrong_count``) of
  the offered function, and defaults that the docs write as text ("None", "True") mean what they say;
- it is compared with what the truth's call is answered in the same run, not with what it was years ago;
- any JSON can be compared, so lists of texts or numbers can be right;
- the shape is not enough, as almost any value of a parameter gives the same keys: a request that is not the
  truth's must be answered the same (``:wrong_value``), but for numbers within 20 % and points in time;
- a server that is overloaded, fails or cannot be reached is no fault of the answer, which is not scored.

A request whose answer nobody recorded could be right, so the entry is not scored (``live_only``), unless it
goes to another API than the truth's, which cannot be.
"""

from __future__ import annotations

import builtins
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeGuard

from pytest_fcbench.codecs.decoders.outcome import Prose, Undecodable, Unreadable
from pytest_fcbench.codecs.decoders.registry import Offer, read_corrected, read_official
from pytest_fcbench.codecs.execution_text import official_texts
from pytest_fcbench.domain.entry import Entry, ExpectedResponse
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import Call, Fault, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile, Verdict
from pytest_fcbench.execution.outcomes import Perform, Raised, Responded, Response, Unanswered, Unreached
from pytest_fcbench.matchers.ast.corrected import NO_CALL, UNREADABLE
from pytest_fcbench.matchers.ast.official import shortened
from pytest_fcbench.matchers.execution import LIVE_ONLY, text_of
from pytest_fcbench.matchers.known_bad import OVERFLOW, not_scored

_CHECKER = "executable_checker_rest"
_DECODER = "executable_decoder"
_GOOD = 200


def judge(entry: Entry, transcript: Transcript, perform: Perform) -> Judgement:
    """Both verdicts on the last answer. ``entry`` must expect a response."""
    truth = entry.expectation
    if not isinstance(truth, ExpectedResponse):
        raise TypeError(f"{entry.key} has no expected response")
    perform = cache(perform)  # both profiles judge the same answer of an API that may be live
    response = perform(truth.call)
    if unscored := _without_truth(truth, response):
        return Judgement.both(unscored)
    assert isinstance(response, Responded)
    corrected = not_scored(entry, transcript)
    if transcript.last.fault is Fault.OVERFLOW:
        return Judgement(OVERFLOW, corrected or OVERFLOW)
    recorded = response.body if truth.recorded is None else truth.recorded
    return Judgement(
        _official(transcript, _Truth(truth.call, response, json.loads(recorded)), perform),
        corrected
        or _corrected(entry, transcript, _Truth(truth.call, response, json.loads(response.body)), perform),
    )


@dataclass(frozen=True, slots=True)
class _Truth:
    call: str
    response: Responded
    value: object
    """The JSON value that is right."""


def _without_truth(truth: ExpectedResponse, response: Response) -> NotScored | None:
    """Why there is nothing to compare with today."""
    told = f"{truth.call:.200}: "
    match response:
        case Unanswered(function=host, reason=reason):
            return NotScored(LIVE_ONLY, f"{told}{host}: {reason}")
        case Raised(reason=reason):
            return NotScored("truth_failed", f"{told}{reason}")
        case Unreached(reason=reason):
            return NotScored("unreached", f"{told}{reason}")
        case Responded(status=status, body=body):
            if status != _GOOD or not _is_json(body):
                return NotScored("truth_failed", f"{told}HTTP {status}: {body:.200}")
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _official(transcript: Transcript, truth: _Truth, perform: Perform) -> Verdict:
    reading = read_official(transcript.last, transcript.prompting.syntax, Language.PYTHON)
    if isinstance(reading, Unreadable):
        return Failed(f"{_DECODER}:decoder_failed", reading.reason)
    try:
        calls = official_texts(reading.calls, transcript.prompting.syntax)
    except (Undecodable, RecursionError) as error:
        return Failed(f"{_DECODER}:decoder_failed", str(error))
    if len(calls) != 1:
        reason = f"{len(calls)} calls were made; REST takes exactly one"
        return Failed(f"{_DECODER}:rest_wrong_output_format", reason)
    (call,) = calls
    if hasattr(builtins, call.partition("(")[0]):
        return _failed("cannot_get_status_code", f"what {call:.80} returns is no response")
    return _compared(call, perform(call), truth, Profile.OFFICIAL)


def _corrected(entry: Entry, transcript: Transcript, truth: _Truth, perform: Perform) -> Verdict:
    offer = Offer(entry.functions, transcript.prompting.names)
    reading = read_corrected(transcript.last, transcript.prompting.syntax, Language.PYTHON, offer)
    match reading:
        case Unreadable(reason=reason):
            return Failed(UNREADABLE, f"the answer tries to call but cannot be read: {reason}")
        case Prose(text=text):
            return Failed(NO_CALL, f"the answer calls nothing: {shortened(text)}")
    if len(reading.calls) != 1:
        return Failed("wrong_count", f"{len(reading.calls)} calls were made; the truth makes 1")
    (call,) = reading.calls
    if call.name not in offer.by_name:
        return _failed("execution_error", f"the function {call.name:.80} is not offered")
    text = text_of(_meant(call), offer)
    return _compared(text, perform(text), truth, Profile.CORRECTED)


_NOTHING = frozenset(("", "None", "none", "null"))
_WORDS = {"True": True, "true": True, "False": False, "false": False}


def _meant(call: Call) -> Call:
    """The call as the docs mean its arguments: they write defaults as text, and JSON has no tuple."""
    arguments = call.arguments.items()
    given = {name: value for name, value in arguments if name == "url" or not _is_nothing(value)}
    for name in ("allow_redirects", "stream", "verify"):
        if isinstance(value := given.get(name), str) and value in _WORDS:
            given[name] = _WORDS[value]
    for name in ("auth", "timeout"):
        if isinstance(value := given.get(name), list):
            given[name] = tuple(value)
    return replace(call, arguments=given)


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in _NOTHING)


def _failed(code: str, reason: str) -> Failed:
    return Failed(code if ":" in code else f"{_CHECKER}:{code}", reason)


def _compared(call: str, response: Response, truth: _Truth, profile: Profile) -> Verdict:
    asked = f"{call:.200}: "
    corrected = profile is Profile.CORRECTED
    match response:
        case Unanswered(function=host, reason=reason):
            if host != truth.response.host:
                return _failed("wrong_key", f"it asks {host}, the truth {truth.response.host}")
            return NotScored(LIVE_ONLY, f"{asked}{reason}")
        case Raised(reason=reason):
            return _failed("execution_error", f"{asked}{reason}")
        case Unreached(reason=reason):
            return NotScored("unreached", reason) if corrected else _failed("execution_error", reason)
        case Responded(status=status, body=body) if status != _GOOD:
            if corrected and (status == 429 or status >= 500):
                return NotScored("unreached", f"{asked}HTTP {status}: {body:.200}")
            return _failed("wrong_status_code", f"{asked}HTTP {status}, not 200: {body:.200}")
    try:
        found: object = json.loads(response.body)
    except (ValueError, RecursionError):
        return _failed("response_format_error", f"{asked}the answer is no JSON: {response.body:.80}")
    code = _shape_corrected(truth.value, found) if corrected else shape(truth.value, found)
    if code is None and corrected and response.asked != truth.response.asked:
        code = None if _equal(truth.value, found) else "wrong_value"
    if code is None:
        return Passed()
    wanted, got = _shown(truth.value), _shown(found)
    reason = f"it is answered {got:.160}, the truth {wanted:.160}"
    details = {"call": call[:500], "truth": truth.call[:500], "expected": wanted, "found": got}
    return replace(_failed(code, reason), details=details)


def _shown(value: object) -> str:
    """Its shape: of an object the keys, of a list how long it is and what the first element is."""
    match value:
        case dict():
            return f"an object of {', '.join(map(str, value)):.400}"
        case [first, *_]:
            return (
                f"a list of {len(value)}, of {_shown(first) if isinstance(first, dict) else repr(first):.400}"
            )
    return f"{value!r:.400}"


def shape(expected: object, found: object) -> str | None:
    """None where an answer has the expected shape by the official rules, else the end of the code."""
    match expected, found:
        case dict(), dict():
            return None if expected.keys() == found.keys() else "wrong_key"
        case list(), list():
            if len(expected) != len(found):
                return "value_error:exec_result_rest_count"
            for one, other in zip(expected, found, strict=True):
                if not isinstance(one, dict) or not isinstance(other, dict):
                    return "response_format_error"
                if one.keys() != other.keys():
                    return "wrong_key"
            return None
    return "wrong_type"


def _shape_corrected(expected: object, found: object) -> str | None:
    match expected, found:
        case list(), list():
            if len(expected) != len(found):
                return "value_error:exec_result_rest_count"
            codes = (_kind(one, other) for one, other in zip(expected, found, strict=True))
            return next((code for code in codes if code), None)
    return _kind(expected, found)


def _kind(expected: object, found: object) -> str | None:
    if isinstance(expected, dict) and isinstance(found, dict):
        return None if expected.keys() == found.keys() else "wrong_key"
    same = type(expected) is type(found) or (_is_number(expected) and _is_number(found))
    return None if same else "wrong_type"


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*")


def _equal(expected: object, found: object) -> bool:
    try:
        return _same(expected, found)
    except (OverflowError, RecursionError):  # a whole number beyond all floats; a nest too deep
        return False


def _same(expected: object, found: object) -> bool:
    """Whether both say the same: equal but for numbers within 20 % and points in time."""
    if _is_number(expected) and _is_number(found):
        return abs(found - expected) * 5 <= abs(expected)
    match expected, found:
        case list(), list():
            return len(expected) == len(found) and all(map(_same, expected, found))
        case dict(), dict():
            same = expected.keys() == found.keys()
            return same and all(_same(expected[key], found[key]) for key in expected)
        case str(), str() if _MOMENT.fullmatch(expected):
            return _MOMENT.fullmatch(found) is not None
    return type(expected) is type(found) and expected == found


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
