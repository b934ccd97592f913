"""Judge BFCL's irrelevance and relevance detection: was a call to be made at all?

Official rule (``_evaluate_single_relevance_entry``): an answer that decodes to at least one call "has a
call"; irrelevance passes without one, relevance with one. The calls themselves are never looked at, and
whatever cannot be decoded counts as no call.

Corrected: an unreadable attempt to call is not an abstention; relevance needs a call of an offered
function, with its required parameters, no unknown ones, and values of the declared types.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.outcome import Calls, Prose, Reading, Unreadable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.domain.conformance import conforms_to_schema
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import Call, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed, Verdict
from pytest_fcbench.judging.known_bad import find_unscored_cause, judge_fault
from pytest_fcbench.kinds.calls.official import (
    fail_missing_required,
    fail_unexpected,
    fail_wrong_value,
    show_value,
)
from pytest_fcbench.kinds.relevance.truth import NoCall


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge whether the last answer rightly calls a function or none."""
    unscored_cause = find_unscored_cause(entry, transcript)
    forbidden = isinstance(entry.expectation, NoCall)
    # Official: decode_ast reads every answer as Python here, whatever the language of the docs.
    strict = read_official(transcript.last, transcript.prompting.syntax, Language.PYTHON)
    official = judge_reading(strict, forbidden=forbidden, doubt=entry.set_aside)
    if unscored_cause:
        return Judgement(official, unscored_cause)
    if failure := judge_fault(transcript.last):
        return Judgement(official, failure)
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    lenient = read_corrected(transcript.last, transcript.prompting.syntax, Language.PYTHON, offer)
    return Judgement(official, _judge_leniently(entry, lenient, forbidden=forbidden))


def judge_reading(reading: Calls | Unreadable, *, forbidden: bool, doubt: str | None = None) -> Verdict:
    """Return the official verdict on a reading of the answer; ``doubt`` is why the entry is set aside."""
    # Whatever does not decode counts as no call, so unreadable calls and errors pass irrelevance.
    calls = reading.calls if isinstance(reading, Calls) else ()
    if forbidden and calls:
        return _fail_call("irrelevance_error:decoder_success", calls[0], doubt)
    if not forbidden and not calls:
        why = reading.reason if isinstance(reading, Unreadable) else "it is empty"
        return Failed("relevance_error:decoder_failed", f"the answer has no call: {why}")
    return Passed()


def _fail_call(code: str, call: Call, doubt: str | None = None) -> Failed:
    # Of an entry that is set aside a function may well fit.
    why = f"and the entry is doubtful: {doubt}" if doubt else "though no function fits"
    return Failed(code, f"{call.name} was called, {why}", {"found": call.name})


def _judge_leniently(entry: Entry, reading: Reading, *, forbidden: bool) -> Verdict:
    match reading:
        # Officially this passes, so a model that always writes broken calls scores all irrelevance.
        case Unreadable(reason=reason) if forbidden:
            return Failed("irrelevance:unreadable_call", f"the answer tries to call: {reason}")
        case Calls(calls=[first, *_]) if forbidden:
            return _fail_call("irrelevance:call", first)
        case Calls() | Prose() if forbidden:
            return Passed()
        case Unreadable(reason=reason):
            return Failed(
                "relevance:unreadable_call", f"the answer tries to call but cannot be read: {reason}"
            )
        case Prose(text=text):
            return Failed("relevance:no_call", f"the answer calls nothing: {show_value(text)}")
        case Calls(calls=()):
            return Failed("relevance:no_call", "the answer calls nothing")
    failures = [_find_misfit(entry, call) for call in reading.calls]
    return next((failure for failure in failures if failure), Passed())


def _find_misfit(entry: Entry, call: Call) -> Failed | None:
    """Return why a call does not fit the docs, or None."""
    doc = entry.find_function(call.name)
    if doc is None:
        offered_names = ", ".join(function.name for function in entry.functions)
        return Failed("relevance:unknown_function", f"{call.name} is not offered (offered: {offered_names})")
    if call.positional:
        return fail_unexpected(doc, "a further positional argument", call.positional[0])
    for name in doc.required:
        if name not in call.arguments:
            return fail_missing_required(doc, name)
    for name, value in call.arguments.items():
        if name not in doc.properties:
            return fail_unexpected(doc, name, value)
        if not conforms_to_schema(value, schema := doc.properties[name]):
            declaration = schema.get("enum") or schema.get("type")
            return fail_wrong_value("type_error:simple", doc, name, value, declaration)
    return None
