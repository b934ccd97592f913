"""The kinds of entries in which it only counts whether a function is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_fcbench.codecs.decoders.outcome import WRONG_FORMAT, Calls
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.flaw import CERTAIN, HINT, Flaw
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.transcript import AskModel, Call, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.kind import Kind, Resources, RightAnswer
from pytest_fcbench.kinds.relevance import verdict
from pytest_fcbench.kinds.relevance.truth import NoCall


@dataclass(frozen=True)
class RelevanceKind(Kind):
    """A function is called, or none; arguments are not compared with a truth."""

    file_format: str = "relevance.entries:OfferedFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge whether the last answer rightly calls a function or none."""
        return verdict.judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a call where no function fits, or its lack where some does."""
        reading = answer.read_calls()
        official = verdict.judge_reading(reading, forbidden=isinstance(answer.entry.expectation, NoCall))
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
NEXT_REPLY = RelevanceKind("relevance.entries:NextReplyFile")
"""A conversation has begun, and words come next, no call."""


def make_call(doc: FunctionDoc) -> Call:
    """Return a call that fills the required parameters with values of the declared types."""
    return Call(doc.name, {name: _make_value(doc.properties[name]) for name in doc.required})


def _make_value(schema: Schema) -> object:
    options = schema.get("enum")
    # The enum of a list is meant for its elements, as in ``conforms_to_schema``.
    if isinstance(options, list) and options and schema.get("type") not in ("array", "tuple"):
        return options[0]
    values: Mapping[str, object] = {
        "integer": 1,
        "float": 1.0,
        "number": 1,
        "boolean": True,
        "array": [],
        "tuple": [],
        "dict": {},
        "object": {},
    }
    return values.get(str(schema.get("type")), "text")
