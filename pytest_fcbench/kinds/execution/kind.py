"""The kinds of entries whose calls are carried out, each by itself, or sent to a web API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders.registry import read_call_texts
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import AnswerClass, Divergence, FailedEntry, ShownResult, ShownTruth
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call, Step, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow, classify_answer, parse_calls
from pytest_fcbench.kinds.execution import rest_verdict, verdict
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, list_calls_to_carry_out
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls


class CarriedOutKind(Kind):
    """Calls are carried out, and their results compared with those of the right calls."""

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find whether the right functions were called."""
        right_calls = self.list_right_calls(failure.entry)
        functions = [call.name for steps in right_calls for calls in steps for call in calls]

        def compare_functions(calls: Sequence[Call], names: Names) -> Divergence:
            is_right = sorted(map(names.show_name, functions)) == sorted(call.name for call in calls)
            return Divergence(AnswerClass.WRONG_RESULT if is_right else AnswerClass.WRONG_FUNCTION)

        return classify_answer(failure, len(functions), compare_functions)


class ExecutionKind(CarriedOutKind):
    """The results of calls are compared with those of the truth."""

    file_format = "execution.entries:ExecutableFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer by what its calls return."""
        return verdict.judge(entry, transcript, resources.execute)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe calls whose results are wrong."""
        # The error of a call is a text like any other in a result file.
        completion = replace(answer.transcript.last, fault=None)
        transcript = replace(answer.transcript, turns=((Step(completion),),))
        official = verdict.judge(answer.entry, transcript, resources.execute).official
        if not isinstance(official, Failed):
            return None
        calls = {}
        if not official.code.endswith(":decoder_failed"):
            calls["model_result_decoded"] = list(read_call_texts(completion, transcript.prompting.syntax))
        return {
            "error": [official.reason],
            "error_type": official.code,
            "prompt": answer.prompt,
            "model_result_raw": answer.result,
            **calls,
            "possible_answer": answer.possible_answer,
        }

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls whose results are expected."""
        return [parse_calls(entry, [list_calls_to_carry_out(entry)])]

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the calls with the rules by which their results are compared."""
        truth = entry.expectation
        pairs = zip(truth.calls, truth.kinds, strict=True) if isinstance(truth, ExpectedResults) else ()
        return ShownTruth(results=tuple(ShownResult(call, rule) for call, rule in pairs))


class RestKind(CarriedOutKind):
    """Exactly one call, which asks a web API; the reply is compared in shape."""

    file_format = "execution.entries:RestFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer by the web API's reply."""
        return rest_verdict.judge(entry, transcript, resources.perform)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the call whose reply is expected."""
        truth = entry.expectation
        return [parse_calls(entry, [[truth.call]])] if isinstance(truth, ExpectedResponse) else ()

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the call whose reply is compared."""
        truth = entry.expectation
        return ShownTruth(results=(ShownResult(truth.call),) if isinstance(truth, ExpectedResponse) else ())


EXECUTION = ExecutionKind()
REST = RestKind()
