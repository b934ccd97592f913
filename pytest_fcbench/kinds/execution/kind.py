"""The kind of entries whose calls are carried out, each by itself."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.execution import rest_verdict, verdict
from pytest_fcbench.kinds.kind import Kind, Resources


class ExecutionKind(Kind):
    """The results of calls are compared with those of the truth."""

    file_format = "execution.entries:ExecutableFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer by what its calls return."""
        return verdict.judge(entry, transcript, resources.execute)


class RestKind(Kind):
    """Exactly one call, which asks a web API; the reply is compared in shape."""

    file_format = "execution.rest_entries:RestFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the last answer by the web API's reply."""
        return rest_verdict.judge(entry, transcript, resources.perform)


EXECUTION = ExecutionKind()
REST = RestKind()
