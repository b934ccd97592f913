"""The kind of entries whose calls act on environments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.flaw import CERTAIN, LIKELY, Flaw
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.answered_entry import AnsweredEntry, OfficialRow
from pytest_fcbench.kinds.call_texts import parse_calls
from pytest_fcbench.kinds.kind import Kind, Resources, RightCalls
from pytest_fcbench.kinds.state import verdict
from pytest_fcbench.kinds.state.failure import carry_out_calls, classify_conversation
from pytest_fcbench.kinds.state.official_row import describe_wrong_conversation
from pytest_fcbench.kinds.state.truth import list_expected_turns


class StateKind(Kind):
    """Calls are carried out, turn by turn; the changed state and the results are compared."""

    file_format = "state.entries:TrajectoryFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return verdict.judge(entry, transcript, resources.fresh)

    def describe_official_failure(self, answer: AnsweredEntry, resources: Resources) -> OfficialRow | None:
        """Describe a conversation whose calls had a wrong effect."""
        return describe_wrong_conversation(answer, resources.fresh)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find the call that the conversation failed for."""
        return classify_conversation(failure, partial(carry_out_calls, resources.fresh))

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of each turn, which are made at once."""
        return [[calls] for calls in parse_calls(entry, list_expected_turns(entry))]

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the calls of each turn."""
        return ShownTruth(tuple(map(tuple, list_expected_turns(entry))))

    def find_flaws(self, entry: Entry) -> Iterator[Flaw]:
        """Find turns without a truth, and a truth without calls."""
        turns = list_expected_turns(entry)
        if len(turns) != len(entry.turns):
            yield Flaw(CERTAIN, f"{len(entry.turns)} turns, but expected calls for {len(turns)}")
        elif not any(turns):
            yield Flaw(LIKELY, "no turn expects a call")


STATE = StateKind()
