"""The kind of entries that one statement of SQL answers."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.sql import verdict


class SqlKind(Kind):
    """Exactly one call, whose arguments are the parts of a statement of SQL."""

    file_format = "calls.entries:SqlFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the statement of the last answer."""
        return verdict.judge(entry, transcript)


SQL = SqlKind()
