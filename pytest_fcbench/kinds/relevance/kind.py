"""The kind of entries in which no function fits, or some."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.relevance import verdict


@dataclass(frozen=True)
class RelevanceKind(Kind):
    """A function is called, or none; arguments are not compared with a truth."""

    file_format: str = "calls.entries:OfferedFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge whether the last answer rightly calls a function or none."""
        return verdict.judge(entry, transcript)


IRRELEVANCE = RelevanceKind()
"""No call at all."""
RELEVANCE = RelevanceKind()
"""At least one call."""
NEXT_REPLY = RelevanceKind("calls.entries:NextReplyFile")
"""A conversation has begun, and words come next, no call."""
