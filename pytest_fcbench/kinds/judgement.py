"""Judge the transcript of an entry."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.endings import judge_ending
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.kinds.own_check.verdict import add_own_checks
from pytest_fcbench.kinds.table import find_kind


def judge(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
    """Judge a transcript in both profiles by the kind of its entry. Raises ``UsageError`` without one."""
    judgement = find_kind(entry).judge(entry, transcript, resources)
    return add_own_checks(entry, transcript, judge_ending(entry, transcript, judgement))
