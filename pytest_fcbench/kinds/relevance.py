"""The kinds of entries in which it only counts whether a function is called (BFCL's relevance detection).

Official rule (``_evaluate_single_relevance_entry``): an answer that decodes to at least one call "has a
call"; irrelevance passes without one, relevance with one. The calls themselves are never looked at, and
whatever cannot be decoded counts as no call.

Corrected: an unreadable attempt to call is not an abstention; relevance needs a call of an offered
function, with its required parameters, no unknown ones, and values of the declared types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.codecs.decoders.syntax import WRONG_FORMAT, Calls, Prose, Reading, Unreadable
from pytest_fcbench.codecs.function_docs.json_schema import describe_schema_violation
from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.explanation import CERTAIN, HINT, Flaw, ShownTruth
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language, Schema, conforms_to_schema
from pytest_fcbench.domain.transcript import AskModel, Call, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed, Verdict
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.calls.official import (
    fail_missing_required,
    fail_unexpected,
    fail_wrong_value,
    show_value,
)
from pytest_fcbench.kinds.kind import Kind, Resources, RightAnswer, find_early_verdict, read_last_answer


@dataclass(frozen=True)
class RelevanceKind(Kind):
    """A function is called, or none; arguments are not compared with a truth."""

    file_format: str = "question_entries:OfferedFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge whether the last answer rightly calls a function or none."""
        return judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a call where no function fits, or its lack where some does."""
        reading = answer.read_calls()
        official = judge_reading(reading, forbidden=isinstance(answer.entry.expectation, NoCall))
        if not isinstance(official, Failed):
            return None
        calls: object = None
        if isinstance(reading, Calls):
            calls = answer.format_calls(reading)
        elif reading.code == WRONG_FORMAT:
            calls = answer.show_misdecoded()
        return {
            "prompt": answer.prompt,
            "model_result": answer.result,
            "decoded_result": calls,
            "error": [official.reason],
            "error_type": official.code,
        }

    def answer_rightly(self, entry: Entry, request: AskModel) -> RightAnswer:
        """Call the first function where any will do, and none elsewhere."""
        return RightAnswer([make_call(entry.functions[0])] if entry.expectation.takes_any_call else ())

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Say whether a call is right."""
        return ShownTruth(rule="at least one call" if entry.expectation.takes_any_call else "no call")

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find entries without a function."""
        if entry.functions:
            return
        if entry.expectation.takes_any_call:
            yield Flaw(CERTAIN, "no function is offered, but a call is expected")
        else:
            yield Flaw(HINT, "no function is offered, so none can be called by mistake")


IRRELEVANCE = RelevanceKind()
"""No call at all."""
RELEVANCE = RelevanceKind()
"""At least one call."""
NEXT_REPLY = RelevanceKind("question_entries:NextReplyFile")
"""A conversation has begun, and words come next, no call."""


def make_call(doc: FunctionDoc) -> Call:
    """Return a call that fills the required parameters with values of the declared types."""
    return Call(doc.name, {name: _make_value(doc.properties[name]) for name in doc.required})


def _make_value(schema: Schema) -> object:
    options, kind = schema.get("enum"), TYPES[Language.PYTHON].get(str(schema.get("type")), str)
    # The enum of a list is meant for its elements, as in ``conforms_to_schema``.
    if isinstance(options, list) and options and kind is not list:
        return options[0]
    values: dict[type, object] = {int: 1, float: 1.0, bool: True, list: [], dict: {}}
    return values.get(kind, "text")


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge whether the last answer rightly calls a function or none."""
    forbidden = isinstance(entry.expectation, NoCall)
    # Official: decode_ast reads every answer as Python here, whatever the language of the docs.
    strict = read_official(transcript.last, transcript.prompting.syntax, Language.PYTHON)
    official = judge_reading(strict, forbidden=forbidden, doubt=entry.set_aside)
    if early_verdict := find_early_verdict(entry, transcript):
        return Judgement(official, early_verdict)
    lenient = read_last_answer(entry, transcript, Language.PYTHON)
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
        case Unreadable(reason=why):
            return Failed("relevance:unreadable_call", f"the answer tries to call but cannot be read: {why}")
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
        if conforms_to_schema(value, schema := doc.properties[name]):
            continue
        # A doc that was made of a JSON Schema leaves null out.
        if doc.given is None or describe_schema_violation(doc, name, value):
            declaration = schema.get("enum") or schema.get("type")
            return fail_wrong_value("type_error:simple", doc, name, value, declaration)
    return None


@dataclass(frozen=True, slots=True)
class NoCall(Expectation):
    """No function fits: the answer must not call any."""

    forbids_calls: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class AnyCall(Expectation):
    """Some function fits: the answer must call at least one."""

    takes_any_call: ClassVar[bool] = True
