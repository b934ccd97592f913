"""Judge calls by their results (BFCL's executable evaluation, as it was until April 2025).

The calls of the truth are carried out in the same run as those of the answer, by the same functions.
Official rules (``executable_checker``):

- an answer that cannot be read fails (``executable_decoder:decoder_failed``), and so does one without a call
  (``executable_decoder:wrong_output_format``);
- ``exec_simple`` takes one call (``simple_exec_checker:wrong_count``) and names what is wrong with it;
- the others take as many calls as the truth has (``value_error:exec_result_count``), each the first that
  fits, in order and without a second thought (``executable_checker:cannot_find_match``);
- a result is compared as the truth says: equal (``executable_checker:wrong_result``), a number within 20 %
  (``:wrong_result_real_time``; the bounds of a negative one are the wrong way round, so nothing fits), or of
  the same structure (``:wrong_result_type``, also with ``:dict_key_not_found``, ``:dict_extra_key`` or
  ``:list_length`` behind it; ``:dict_length`` occurs only in BFCL's check of the APIs themselves);
- a call that raises an error fails (``executable_checker:execution_error``). Here a call that takes too much
  time or memory is one too; officially it would never end.

The corrected profile differs in this:

- the answer is read leniently (``read_corrected``), and only offered functions can be called;
- calls are matched as a bipartite graph, so their order cannot matter;
- the 20 % are right for negative numbers; whole and other numbers have the same structure; equal numbers may
  differ by rounding (1e-9 of their size), and a boolean is none;
- a text is the same in each form of Unicode (``text_normalization``);
- a lack of time or memory has its own code (``executable_checker:time_limit``, ``:memory_limit``).

The answer is also compared with the calls of the truth as they are written (``kinds/calls``), each value of
the truth the only accepted one; that verdict is reported and decides nothing.

A call that only a web API could answer is no failure: where it decides, the entry is not scored
(``live_only``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import TypeAlias, TypeGuard

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_call_texts, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Undecodable
from pytest_fcbench.domain.entry import AS_WRITTEN, CATEGORIES, Entry, Expectation
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call, RecordedCall, Transcript
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, Judgement, NotScored, Passed, Profile, Verdict
from pytest_fcbench.execution.outcomes import Execute, Outcome, Raised, Returned, Stopped, Unanswered
from pytest_fcbench.judging.text_normalization import mark_lookalikes, unify_texts
from pytest_fcbench.kinds.calls import verdict as calls_verdict
from pytest_fcbench.kinds.calls.official import show_value
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, list_alternatives
from pytest_fcbench.kinds.calls.verdict import fail_without_calls, find_unmatched_row
from pytest_fcbench.kinds.kind import find_unscored_cause, judge_fault

LIVE_ONLY = "live_only"
"""Cause where only a web API knows the result of a call."""

_CHECKER = "executable_checker"
_NOT_OFFERED = Raised("this function is not offered")
_BAND = 0.2
_ROUNDING = 1e-9


def judge(entry: Entry, transcript: Transcript, execute: Execute) -> Judgement:
    """Judge the last answer by what its calls return. ``entry`` must expect results."""
    if not isinstance(entry.expectation, ExpectedResults):
        raise TypeError(f"{entry.key} has no expected results")
    truth = entry.expectation
    unscored_cause = find_unscored_cause(entry, transcript)
    right_calls = []
    outcomes = execute(truth.calls, truth.recorded, truth.own)
    for call, kind, outcome in zip(truth.calls, truth.kinds, outcomes, strict=True):
        if isinstance(outcome, Returned):
            right_calls.append(_RightCall(call, kind, outcome.value))
            continue
        cause, reason = "truth_failed", f"a call of the truth cannot be carried out: {call:.200}: {outcome}"
        if isinstance(outcome, Unanswered):
            cause, reason = LIVE_ONLY, f"nobody recorded what {outcome.function} returned for {call:.200}"
            if entry.set_aside:
                cause, reason = SET_ASIDE, entry.set_aside
        return Judgement.same_in_both(NotScored(cause, reason))
    if failure := judge_fault(transcript.last):
        return Judgement(failure, unscored_cause or failure)
    trial = entry, right_calls, lambda calls: execute(calls, truth.recorded, truth.own)
    official = _judge_officially(transcript, *trial)
    corrected = unscored_cause or _judge_corrected(transcript, *trial)
    return Judgement(official, corrected, as_written=judge_as_written(entry, transcript))


def judge_as_written(entry: Entry, transcript: Transcript) -> Judgement | None:
    """Judge the last answer's calls as they are written; None in categories that have no such rule.

    ``entry`` must expect results.
    """
    assert isinstance(entry.expectation, ExpectedResults)
    if entry.category.name not in AS_WRITTEN:
        return None
    offer = OfferedFunctions(entry.functions, Names.DOTTED)
    expected_calls = []
    for call in chain.from_iterable(map(python.parse_corrected, entry.expectation.calls)):
        named_call = offer.normalise_call(call)
        accepted = {name: [list_alternatives(value)] for name, value in named_call.arguments.items()}
        expected_calls.append(ExpectedCall(named_call.name, accepted))
    category = CATEGORIES[AS_WRITTEN[entry.category.name]]
    written_entry = replace(entry, category=category, expectation=ExpectedCalls(tuple(expected_calls)))
    return calls_verdict.judge(written_entry, transcript)


@dataclass(frozen=True, slots=True)
class _RightCall:
    call: str
    kind: ResultRule
    value: object


_MadeCall: TypeAlias = tuple[str, Outcome]
"""A call of the model and its outcome."""
_CarryOut: TypeAlias = Callable[[Sequence[str]], Sequence[Outcome]]


def _judge_officially(
    transcript: Transcript, entry: Entry, right_calls: Sequence[_RightCall], carry_out: _CarryOut
) -> Verdict:
    try:
        calls = read_call_texts(transcript.last, transcript.prompting.syntax)
    except Undecodable as error:
        return Failed("executable_decoder:decoder_failed", str(error))
    if not calls:
        return Failed("executable_decoder:wrong_output_format", "the answer calls nothing")
    # Official: only exec_simple has a checker for one call; the others match several.
    simple = entry.category == CATEGORIES["exec_simple"]
    code = "simple_exec_checker:wrong_count" if simple else "value_error:exec_result_count"
    if failure := _check_count(right_calls, calls, code):
        return failure
    made_calls = list(zip(calls, carry_out(calls), strict=True))
    return _compare_calls(right_calls, made_calls, Profile.OFFICIAL, by_itself=simple)


def _judge_corrected(
    transcript: Transcript, entry: Entry, right_calls: Sequence[_RightCall], carry_out: _CarryOut
) -> Verdict:
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    reading = read_corrected(transcript.last, transcript.prompting.syntax, Language.PYTHON, offer)
    if not isinstance(reading, Calls):
        return fail_without_calls(reading)
    calls = [write_call(call, offer) for call in reading.calls]
    if failure := _check_count(right_calls, calls, "wrong_count"):
        return failure
    made_calls = [
        (text, carry_out([text])[0] if call.name in offer.by_name else _NOT_OFFERED)
        for text, call in zip(calls, reading.calls, strict=True)
    ]
    return _compare_calls(right_calls, made_calls, Profile.CORRECTED, by_itself=len(calls) == 1)


def write_call(call: Call, offer: OfferedFunctions) -> str:
    """Write a call as text; a dict of one function's name and a dict is a nested call."""
    parts = [_write_value(value, offer) for value in call.positional]
    for name, value in call.arguments.items():
        if name.isidentifier():
            parts.append(f"{name}={_write_value(value, offer)}")
        else:
            # A name in JSON can be any text, so in source it could pass for several arguments.
            parts.append(f"**{_write_value(value if name == '**' else {name: value}, offer)}")
    return f"{call.name}({', '.join(parts)})"


def _write_value(value: object, offer: OfferedFunctions) -> str:
    match value:
        case dict():
            name, arguments = next(iter(value.items()), ("", None))
            if len(value) == 1 and name in offer.by_name and isinstance(arguments, dict):
                return write_call(offer.normalise_call(Call(name, arguments)), offer)
            members = (f"{key!r}: {_write_value(member, offer)}" for key, member in value.items())
            return f"{{{', '.join(members)}}}"
        case list():
            return f"[{', '.join(_write_value(element, offer) for element in value)}]"
        case tuple():
            return f"({''.join(f'{_write_value(element, offer)}, ' for element in value)})"
    return repr(value)


def _check_count(right_calls: Sequence[_RightCall], calls: Sequence[str], code: str) -> Failed | None:
    expected_count = len(right_calls)
    if len(calls) == expected_count:
        return None
    details = {"expected": expected_count, "found": len(calls)}
    return Failed(code, f"{len(calls)} calls were made; the truth makes {expected_count}", details)


def _compare_calls(
    right_calls: Sequence[_RightCall], made_calls: Sequence[_MadeCall], profile: Profile, *, by_itself: bool
) -> Verdict:
    """Compare calls; the entry is not scored where the verdict depends on a web API's answer."""
    # First as if unrecorded answers were wrong, then as if they were right: only a difference hangs on them.
    match_calls = partial(_match_calls, right_calls, made_calls, profile, by_itself)
    verdict = match_calls(supposed=False)
    unanswered_calls = [call for call, outcome in made_calls if isinstance(outcome, Unanswered)]
    if not verdict.passed and unanswered_calls and match_calls(supposed=True).passed:
        return NotScored(LIVE_ONLY, f"nobody recorded what {unanswered_calls[0]:.200} returns")
    return verdict


def _match_calls(
    right_calls: Sequence[_RightCall],
    made_calls: Sequence[_MadeCall],
    profile: Profile,
    by_itself: bool,
    *,
    supposed: bool,
) -> Passed | Failed:
    misfits = [
        [_find_misfit(right_call, outcome, profile, supposed=supposed) for _, outcome in made_calls]
        for right_call in right_calls
    ]
    fits = [[misfit is None for misfit in each] for each in misfits]
    row = _find_unmatched_greedily(fits) if profile is Profile.OFFICIAL else find_unmatched_row(fits)
    if row is None:
        return Passed()
    # A single call gets its own failure instead of the message that nothing matches.
    if by_itself and (misfit := misfits[row][0]):
        return misfit
    right_call = right_calls[row]
    pairs = zip(made_calls, misfits[row], strict=True)
    nearest = [f"{call:.80}: {misfit.reason:.120}" for (call, _), misfit in pairs if misfit]
    expected_text = f"{right_call.call:.120} returns ({show_value(right_call.value, 80)})"
    reason = f"no call returns what {expected_text}: {'; '.join(nearest)}"
    return Failed(f"{_CHECKER}:cannot_find_match", reason, {"expected": right_call.call[:500]})


def _find_unmatched_greedily(fits: Sequence[Sequence[bool]]) -> int | None:
    """Return the first row without a column when each takes the first that fits."""
    taken_columns: set[int] = set()
    for row, fit in enumerate(fits):
        column = next((at for at, good in enumerate(fit) if good and at not in taken_columns), None)
        if column is None:
            return row
        taken_columns.add(column)
    return None


def _find_misfit(
    right_call: _RightCall, outcome: Outcome, profile: Profile, *, supposed: bool
) -> Failed | None:
    """Return why a call is not the truth's; with ``supposed`` unrecorded answers count as right."""
    match outcome:
        case Returned(value=value):
            try:
                code = _compare_results(right_call.kind, right_call.value, value, profile)
            except (OverflowError, RecursionError):
                # A whole number beyond all floats, or a value that is too deep.
                code = "wrong_result"
            if code is None:
                return None
            actual_text, expected_text = mark_lookalikes(
                *(show_value(each, 500) for each in (value, right_call.value))
            )
            details = {"call": right_call.call[:500], "expected": expected_text, "found": actual_text}
            reason = f"it returns {actual_text:.200}, the truth {expected_text:.200} ({right_call.kind})"
            return Failed(f"{_CHECKER}:{code}", reason, details)
        case Unanswered(function=function):
            if supposed and function == right_call.call.partition("(")[0].strip():
                return None
            return Failed(f"{_CHECKER}:wrong_result", "it asks a web API whose answer nobody recorded")
        case Stopped(limit=limit, reason=reason) if profile is Profile.CORRECTED:
            return Failed(f"{_CHECKER}:{limit}_limit", reason)
        case Stopped(reason=reason) | Raised(reason=reason):
            return Failed(f"{_CHECKER}:execution_error", reason)


# How results are compared: the end of the code where they differ, or None


def _compare_results(
    kind: ResultRule, expected_value: object, actual_value: object, profile: Profile
) -> str | None:
    is_corrected = profile is Profile.CORRECTED
    if kind is ResultRule.EXACT:
        if is_corrected:
            same = _are_same(unify_texts(expected_value), unify_texts(actual_value))
        else:
            same = actual_value == expected_value
        return None if same else "wrong_result"
    if kind is ResultRule.STRUCTURAL:
        # JSON has one kind of number, so corrected, whole and other numbers have the same structure.
        if is_corrected and is_number(expected_value) and is_number(actual_value):
            return None
        # Official: the types themselves, so 1 and 1.0 differ in structure.
        if type(actual_value) is not type(expected_value):
            return "wrong_result_type"
        match expected_value, actual_value:
            case dict(), dict() if expected_value.keys() - actual_value.keys():
                return "wrong_result_type:dict_key_not_found"
            case dict(), dict() if actual_value.keys() - expected_value.keys():
                return "wrong_result_type:dict_extra_key"
            case list(), list() if len(expected_value) != len(actual_value):
                return "wrong_result_type:list_length"
        return None
    if not (is_number(expected_value) and is_number(actual_value)):
        return "wrong_result_real_time"
    if is_corrected:
        is_near = abs(actual_value - expected_value) * 5 <= abs(expected_value)
    else:
        # The bounds of a negative number are the wrong way round, so nothing is within (official).
        is_near = expected_value * (1 - _BAND) <= actual_value <= expected_value * (1 + _BAND)
    return None if is_near else "wrong_result_real_time"


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number; a boolean is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _are_same(one: object, other: object) -> bool:
    if is_number(one) and is_number(other):
        return one == other or math.isclose(one, other, rel_tol=_ROUNDING)
    match one, other:
        case list(), list():
            return len(one) == len(other) and all(map(_are_same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(_are_same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


class ResultRule(StrEnum):
    """A rule for comparing the result of a call with the expected one."""

    EXACT = "exact_match"
    """Both are equal."""
    REAL_TIME = "real_time_match"
    """Both are numbers, at most 20 % apart, because the value changes from day to day."""
    STRUCTURAL = "structural_match"
    """Both have the same type and, at the top, the same keys or as many elements."""


@dataclass(frozen=True, slots=True)
class ExpectedResults(Expectation):
    """The answer must consist of calls that return what these return (BFCL's executable evaluation)."""

    calls: tuple[str, ...]
    """As Python text (``math_gcd(a=12, b=18)``)."""
    kinds: tuple[ResultRule, ...]
    """The comparison for each call."""
    recorded: tuple[RecordedCall, ...] = ()
    """Recorded replies of web APIs."""
    own: tuple[str, ...] = ()
    """Functions of a team (``module.function``) that calls may name."""


@dataclass(frozen=True, slots=True)
class ExpectedResponse(Expectation):
    """The answer must be a call that a web API answers as it answers this one (BFCL's REST evaluation)."""

    call: str
    """As Python text (``requests.get(url='https://...', params={...})``)."""
    recorded: str | None = None
    """The JSON that was answered when it was recorded; None where a service of the suite's own answers."""


def asks_web_api(entry: Entry) -> bool:
    """Tell whether the answer to an entry is a request of a web API."""
    return isinstance(entry.expectation, ExpectedResponse)


def list_recorded_replies(entry: Entry) -> Sequence[tuple[str, str]]:
    """Return the call of an entry with the recorded reply of its web API; nothing where none was recorded."""
    truth = entry.expectation
    if not isinstance(truth, ExpectedResponse) or truth.recorded is None:
        return ()
    return ((truth.call, truth.recorded),)


def list_calls_to_carry_out(entry: Entry) -> Sequence[str]:
    """Return the calls of a right answer whose results are compared; nothing for entries of other kinds."""
    return entry.expectation.calls if isinstance(entry.expectation, ExpectedResults) else ()
