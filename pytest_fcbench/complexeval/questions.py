"""stub"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.entries import Entry
from pytest_fcbench.judges.questions import Question, members


@dataclass(frozen=True, slots=True)
class Equivalence:
    same: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Score:
    score: int
    reason: str


def equivalence(
    entry: Entry,
    made: Mapping[str, object],
    expected: Mapping[str, object],
    history: Sequence[Mapping[str, object]],
) -> Question[Equivalence]:
    def read(reply: Mapping[str, object]) -> Equivalence:
        same, reason = members(reply, "same", "reason")
        return Equivalence(bool(same), str(reason))

    return Question(entry, "stub", {"made": made, "expected": expected, "history": list(history)}, read)


def _score(reply: Mapping[str, object]) -> Score:
    score, reason = members(reply, "score", "reason")
    return Score(int(str(score)), str(reason))


def completeness(entry: Entry, response: str) -> Question[Score]:
    return Question(entry, "stub", {"response": response}, _score)


def correctness(entry: Entry, dialogue: Sequence[Mapping[str, object]], response: str) -> Question[Score]:
    return Question(entry, "stub", {"dialogue": list(dialogue), "response": response}, _score)
