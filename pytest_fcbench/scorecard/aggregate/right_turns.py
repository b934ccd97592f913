"""Turns of conversations that were right, beside the verdicts on whole conversations.

Officially one wrong turn fails a conversation. The share of right turns tells a model that fails in the
last of five turns from one that fails in the first (asked for in BFCL's issue 920). It changes no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_fcbench.domain.categories import Group
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.scorecard.aggregate.intervals import Share
from pytest_fcbench.scorecard.record import Record, group_by_category


@dataclass(frozen=True, slots=True)
class RightTurns:
    """The turns of scored conversations, and how many of them were right."""

    __pydantic_config__ = DESCRIBED

    conversations: Count
    turns: Count
    right: Count
    share: Share | None = field(default=None, init=False)
    """Share of right turns, each turn counting the same; null without turns."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", self.right / self.turns if self.turns else None)


def find_right_turns(record: Record, profile: Profile) -> tuple[int, int] | None:
    """Find how many turns of a conversation were right, of how many; None where nobody counted them."""
    verdict = record.verdict(profile)
    if record.group != Group.MULTI_TURN or isinstance(verdict, NotScored):
        return None
    if not isinstance(verdict, Failed):
        return len(record.turns), len(record.turns)
    # Scorecards of earlier versions lack them.
    match verdict.details:
        case {"right_turns": int(right), "turns": int(turns)}:
            return right, turns
    return None


def count_right_turns(records: Iterable[Record], profile: Profile) -> RightTurns:
    """Count the turns of these Records."""
    counts = [turn_counts for record in records if (turn_counts := find_right_turns(record, profile))]
    return RightTurns(len(counts), sum(turns for _, turns in counts), sum(right for right, _ in counts))


def count_right_turns_by_category(records: Iterable[Record], profile: Profile) -> dict[str, RightTurns]:
    """Count the turns of each category of conversations, and of ``all``."""
    conversations = [record for record in records if find_right_turns(record, profile)]
    parts = {
        name: count_right_turns(part, profile) for name, part in group_by_category(conversations).items()
    }
    return {**parts, "all": count_right_turns(conversations, profile)} if parts else {}
