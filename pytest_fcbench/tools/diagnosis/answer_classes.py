"""Classes of failed single-turn answers, found from the verdict's code and the calls without a judge.

The first class in the order of ``AnswerClass`` that applies decides. Whether an answer calls at all, and
which calls it makes, is read by the rules of the profile; calls that only the lenient reading finds are
unreadable officially. Several calls are paired with the expected ones so that as much as possible fits, and
the first pair that does not fit decides. Of one call the first check that fails decides, as in its verdict
(``kinds/calls``): a missing required argument goes before a wrong value, and of two wrong values the one
given first counts. Where calls are judged by what they return, arguments are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Calls, Prose, Undecodable, Unreadable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call, Ending, Fault, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.execution.truth import ExpectedResponse, ExpectedResults
from pytest_fcbench.kinds.explanation import CallComparison
from pytest_fcbench.kinds.relevance.truth import NoCall


class AnswerClass(StrEnum):
    """The class of a failed single-turn answer, the first that applies."""

    CONTEXT_OVERFLOW = "context_overflow"
    """The request did not fit into the model's context."""
    INFERENCE_ERROR = "inference_error"
    """The result is the error of a call to the model (old result files have such results)."""
    UNFINISHED_ANSWER = "unfinished_answer"
    """The answer was cut at a limit or kept back by a filter."""
    UNWANTED_CALL = "unwanted_call"
    """A function was called where no function serves the request."""
    UNREADABLE_CALL = "unreadable_call"
    """The answer tries to call and cannot be read."""
    NO_CALL = "no_call"
    """The answer calls nothing where a call is expected."""
    UNKNOWN_FUNCTION = "unknown_function"
    """A call names no function that was offered."""
    MISSING_CALL = "missing_call"
    """Fewer calls were made than expected."""
    EXTRA_CALL = "extra_call"
    """More calls were made than expected."""
    WRONG_FUNCTION = "wrong_function"
    """Another function that was offered was called."""
    MISSING_ARGUMENT = "missing_argument"
    """An argument is missing that the function requires or the request states."""
    INVENTED_ARGUMENT = "invented_argument"
    """An argument was given that the function does not have, or that the right call leaves out."""
    WRONG_TYPE = "wrong_type"
    """An argument has another type than declared."""
    WRONG_ARGUMENT = "wrong_argument"
    """An argument has a value that is not accepted."""
    WRONG_RESULT = "wrong_result"
    """The right functions were called, but what they did or returned is not right, or is an error."""
    UNEXPLAINED = "unexplained"
    """The calls fit: the verdict has another reason, which its code names."""


_FAULTS: Mapping[Fault | None, AnswerClass] = {
    Fault.OVERFLOW: AnswerClass.CONTEXT_OVERFLOW,
    Fault.INFERENCE_ERROR: AnswerClass.INFERENCE_ERROR,
    Fault.TOO_LARGE: AnswerClass.UNFINISHED_ANSWER,
    Fault.UNREADABLE_CALL: AnswerClass.UNREADABLE_CALL,
}
_CODES = {
    "simple_function_checker:wrong_func_name": AnswerClass.WRONG_FUNCTION,
    "simple_function_checker:missing_required": AnswerClass.MISSING_ARGUMENT,
    "simple_function_checker:missing_optional": AnswerClass.MISSING_ARGUMENT,
    "simple_function_checker:unexpected_param": AnswerClass.INVENTED_ARGUMENT,
}
"""The class of a call by the code of its verdict."""
_BEGINNINGS = {
    "type_error:": AnswerClass.WRONG_TYPE,
    "value_error:": AnswerClass.WRONG_ARGUMENT,
    "dict_checker:": AnswerClass.WRONG_ARGUMENT,
    "list_dict_checker:": AnswerClass.WRONG_ARGUMENT,
    "sql:": AnswerClass.WRONG_RESULT,
}
"""The class of a call by the beginning of its code."""


def classify_answer(
    entry: Entry, transcript: Transcript, verdict: Failed, profile: Profile
) -> tuple[AnswerClass, str | None]:
    """Find the class of a single-turn answer with this verdict, and the parameter that is wrong."""
    answer, expectation = transcript.last, entry.expectation
    if answer.fault in _FAULTS:
        return _FAULTS[answer.fault], None
    if answer.ending in (Ending.CUT, Ending.FILTERED):
        return AnswerClass.UNFINISHED_ANSWER, None
    reading = _read_answer(entry, transcript, profile)
    is_wanted = not isinstance(expectation, NoCall)
    if isinstance(reading, Unreadable):
        return AnswerClass.UNREADABLE_CALL, None
    if isinstance(reading, Prose) or not reading.calls:
        return AnswerClass.NO_CALL if is_wanted else AnswerClass.UNEXPLAINED, None
    if not is_wanted:
        return AnswerClass.UNWANTED_CALL, None
    # Corrected calls have the names of the docs.
    names = transcript.prompting.names if profile is Profile.OFFICIAL else Names.DOTTED
    made = [call.name for call in reading.calls]
    if not {*made} <= {names.show_name(doc.name) for doc in entry.functions}:
        return AnswerClass.UNKNOWN_FUNCTION, None
    match expectation:
        case ExpectedCalls(calls=expected):
            if failure := _compare_counts(len(made), len(expected)):
                return failure, None
            if not verdict.code.startswith("sql:"):
                return _blame_first_misfit(CallComparison(entry, names, profile), expectation, reading.calls)
        case ExpectedResults() | ExpectedResponse():
            wanted = _list_wanted_names(expectation)
            if failure := _compare_counts(len(made), len(wanted)):
                return failure, None
            right = sorted(map(names.show_name, wanted)) == sorted(made)
            return AnswerClass.WRONG_RESULT if right else AnswerClass.WRONG_FUNCTION, None
    return _classify_code(verdict)


def _read_answer(entry: Entry, transcript: Transcript, profile: Profile) -> Calls | Prose | Unreadable:
    """Read an answer by a profile; officially unreadable words are told from unreadable calls."""
    syntax, language = transcript.prompting.syntax, entry.category.language
    lenient = read_corrected(
        transcript.last, syntax, language, OfferedFunctions(entry.functions, transcript.prompting.names)
    )
    if profile is Profile.CORRECTED:
        return lenient
    strict = read_official(transcript.last, syntax, language)
    if isinstance(strict, Unreadable) and (isinstance(lenient, Prose) or lenient == Calls(())):
        return lenient
    return strict


def _compare_counts(made: int, expected: int) -> AnswerClass | None:
    if made == expected:
        return None
    return AnswerClass.MISSING_CALL if made < expected else AnswerClass.EXTRA_CALL


def _list_wanted_names(expectation: ExpectedResults | ExpectedResponse) -> list[str]:
    texts = expectation.calls if isinstance(expectation, ExpectedResults) else (expectation.call,)
    wanted = []
    for text in texts:
        try:
            (call,) = python.parse_corrected(text)
        except (Undecodable, ValueError):
            wanted.append(text.partition("(")[0])
        else:
            wanted.append(call.name)
    return wanted


def _blame_first_misfit(
    comparison: CallComparison, expectation: ExpectedCalls, calls: Sequence[Call]
) -> tuple[AnswerClass, str | None]:
    partner = comparison.find_partners(expectation.calls, calls)
    for place, wanted in enumerate(expectation.calls):
        verdict = comparison.match_call(wanted, calls[partner[place]])
        if isinstance(verdict, Failed):
            failure, parameter = _classify_code(verdict)
            # A parameter whose only accepted value is "" has to be left out.
            is_given = parameter is not None and parameter in calls[partner[place]].arguments
            if is_given and wanted.accepted.get(str(parameter)) == [""]:
                failure = AnswerClass.INVENTED_ARGUMENT
            return failure, parameter
    return AnswerClass.UNEXPLAINED, None


def _classify_code(verdict: Failed) -> tuple[AnswerClass, str | None]:
    """Find the class of a code; in SQL and in relevance the verdict has it, else that of a call."""
    beginnings = (each for begin, each in _BEGINNINGS.items() if verdict.code.startswith(begin))
    found = _CODES.get(verdict.code) or next(beginnings, AnswerClass.UNEXPLAINED)
    parameter = verdict.details.get("parameter")
    return found, parameter if isinstance(parameter, str) else None
