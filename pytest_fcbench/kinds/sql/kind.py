"""The kind of entries that one statement of SQL answers."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement, PathScore, Profile
from pytest_fcbench.kinds.answer_failure import classify_answer
from pytest_fcbench.kinds.calls.kind import CallsKind
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.kinds.sql import verdict


class SqlKind(CallsKind):
    """Exactly one call, whose arguments are the parts of a statement of SQL."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the statement of the last answer."""
        return verdict.judge(entry, transcript)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find what is wrong with the call, or with the result of its statement."""
        # The parts of a statement that was carried out may be written in any way.
        if failure.verdict.code.startswith("sql:"):
            return classify_answer(failure)
        return super().classify_failure(failure, resources)

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls as written; corrected, statements are judged by their results, not by arguments."""
        return super().pair_calls(failure, path) if failure.profile is Profile.OFFICIAL else ()


SQL = SqlKind("sql.entries:SqlFile")
