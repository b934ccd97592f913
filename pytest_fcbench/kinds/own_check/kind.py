"""The kind of entries that only a team's own check judges."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.own_check import verdict


class OwnCheckKind(Kind):
    """A function of the team's own says whether the answer is right."""

    file_format = "own_check.entries:OwnCheckFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge that an answer is there; the check judges the rest."""
        return verdict.judge(entry, transcript)


OWN_CHECK = OwnCheckKind()
