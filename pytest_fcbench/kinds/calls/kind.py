"""The kind of entries whose calls are compared as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.codecs.decoders.outcome import WRONG_FORMAT, Calls
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, ShownTruth
from pytest_fcbench.domain.failure import AnswerClass, Divergence, FailedEntry
from pytest_fcbench.domain.flaw import Flaw
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import BUILTIN, AuxiliaryCall, Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, PathScore
from pytest_fcbench.judging import questions
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.answer_failure import classify_answer, classify_code
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.calls import official, pairing, truth, verdict
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls


@dataclass(frozen=True)
class CallsKind(Kind):
    """Calls are compared as they are written."""

    file_format: str = "calls.entries:ExpectingFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model; a judge, if one is named, compares free texts."""
        transcript = yield from turns.converse(entry, context)
        judge = context.driven.judge
        if judge == BUILTIN:
            return transcript
        asides: list[AuxiliaryCall] = []
        for question in verdict.find_open_questions(entry, transcript):
            asides += yield from questions.ask_aside(question, judge)
        return replace(transcript, asides=tuple(asides))

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the calls of the last answer."""
        return verdict.judge(entry, transcript)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe calls that are wrong as they are written."""
        reading = answer.read_calls()
        verdict = official.match_calls(answer.entry, reading, answer.transcript.prompting.names)
        if not isinstance(verdict, Failed):
            return None
        raw: dict[str, object] = {"model_result_raw": answer.result}
        if isinstance(reading, Calls):
            raw["model_result_decoded"] = answer.format_calls(reading)
        elif reading.code == WRONG_FORMAT:
            raw = {
                "model_result_raw": str(answer.result),
                "model_result_decoded": str(answer.show_misdecoded()),
            }
        errors: list[object] = [verdict.reason]
        misses, calls = verdict.details.get("misses"), raw.get("model_result_decoded")
        right = answer.possible_answer
        # Where no call matches an expected one, official code also lists the error of each remaining call.
        if isinstance(misses, list) and isinstance(calls, list) and isinstance(right, list):
            right_call = right[int(str(verdict.details["expected"]))]
            errors += [
                {
                    f"Model Result Index {miss['found']}": {
                        "sub_error": [miss["reason"]],
                        "sub_error_type": miss["code"],
                        "model_output_item": calls[miss["found"]],
                        "possible_answer_item": right_call,
                    }
                }
                for miss in misses
            ]
        return {
            "error": errors,
            "error_type": verdict.code,
            "prompt": answer.prompt,
            **raw,
            "possible_answer": answer.possible_answer,
        }

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find what is wrong with the first call that does not fit."""
        right_calls = truth.list_expected_calls(failure.entry)

        def blame_first_misfit(calls: Sequence[Call], names: Names) -> Divergence:
            comparison = pairing.CallComparison(failure.entry, names, failure.profile)
            partners = comparison.find_partners(right_calls, calls)
            for place, right_call in enumerate(right_calls):
                call = calls[partners[place]]
                verdict = comparison.match_call(right_call, call)
                if isinstance(verdict, Failed):
                    misfit = classify_code(verdict)
                    name = misfit.parameter or ""
                    # A parameter whose only accepted value is "" has to be left out.
                    if name in call.arguments and right_call.accepted.get(name) == [""]:
                        return replace(misfit, failure=AnswerClass.INVENTED_ARGUMENT)
                    return misfit
            return Divergence(AnswerClass.UNEXPLAINED)

        return classify_answer(failure, len(right_calls), blame_first_misfit)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the expected calls with their first values."""
        return truth.list_right_calls(entry)

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the expected calls with their accepted values."""
        return pairing.describe_truth(entry)

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls of the last answer."""
        return pairing.pair_last_calls(failure)

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find what differs from the shape of its category."""
        return truth.find_flaws(entry)


SIMPLE = CallsKind()
"""Exactly one call of the only function."""
MULTIPLE = CallsKind()
"""Exactly one call of the right function among several."""
PARALLEL = CallsKind()
"""Several calls in any order."""
NEXT_CALL = CallsKind("calls.entries:NextCallFile")
"""A conversation has begun, and these calls come next, in any order."""
