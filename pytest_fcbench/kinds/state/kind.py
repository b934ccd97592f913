"""The kind of entries whose calls act on environments."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.state import verdict


class StateKind(Kind):
    """Calls are carried out, turn by turn; the changed state and the results are compared."""

    file_format = "state.entries:TrajectoryFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return verdict.judge(entry, transcript, resources.fresh)


STATE = StateKind()
