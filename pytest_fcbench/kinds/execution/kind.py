"""The kind of entries whose calls are carried out, each by itself."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownResult, ShownTruth
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.call_texts import parse_calls
from pytest_fcbench.kinds.execution import rest_verdict, verdict
from pytest_fcbench.kinds.execution.failure import classify_results
from pytest_fcbench.kinds.execution.official_row import describe_wrong_results
from pytest_fcbench.kinds.execution.truth import (
    ExpectedResponse,
    ExpectedResults,
    list_calls_to_carry_out,
)
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls


class ExecutionKind(Kind):
    """The results of calls are compared with those of the truth."""

    file_format = "execution.entries:ExecutableFile"
    official_files = ("result", "score")

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer by what its calls return."""
        return verdict.judge(entry, transcript, resources.execute)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe calls that return what is wrong."""
        return describe_wrong_results(answer, resources.execute)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find whether the right functions were called."""
        return classify_results(failure, self.list_right_calls(failure.entry))

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls whose results are expected."""
        return [parse_calls(entry, [list_calls_to_carry_out(entry)])]

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the calls with the rules by which their results are compared."""
        truth = entry.expectation
        pairs = zip(truth.calls, truth.kinds, strict=True) if isinstance(truth, ExpectedResults) else ()
        return ShownTruth(results=tuple(ShownResult(call, rule) for call, rule in pairs))


class RestKind(Kind):
    """Exactly one call, which asks a web API; the reply is compared in shape."""

    file_format = "execution.rest_entries:RestFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer by the web API's reply."""
        return rest_verdict.judge(entry, transcript, resources.perform)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find whether the right function was called."""
        return classify_results(failure, self.list_right_calls(failure.entry))

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
