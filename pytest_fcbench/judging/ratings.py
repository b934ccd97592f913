"""A judge's rating of an answer in words, from 0 to 2.

A reply where there is nothing to call (BFCL v1, category ``chatable``) is rated by how well it answers the
message. The official code had no evaluator for these, so no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import cut_counting
from pytest_fcbench.domain.verdict import JudgeRating
from pytest_fcbench.judging.prompts import read_prompt
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit, read_members

MOST = 2
LONGEST = 8_000
"""Characters of an answer, or of other material that is shown in full."""

_RELEVANCE = read_prompt("relevance")


def ask_relevance(entry: Entry, reply: str) -> JudgeQuestion[JudgeRating]:
    """Ask how well a reply answers the message of an entry."""
    material = {"message": cut_counting(join_requests(entry), LONGEST), "reply": cut_counting(reply, LONGEST)}
    return JudgeQuestion(entry, _RELEVANCE, material, read_rating)


def read_rating(reply: Mapping[str, object]) -> JudgeRating:
    """Read the score in a judge's reply. Raises ``Unfit``."""
    score, reason = read_members(reply, "score", "reason")
    if isinstance(score, bool) or not isinstance(score, int) or not 0 <= score <= MOST:
        raise Unfit(f"must have as score {', '.join(map(str, range(MOST)))} or {MOST}")
    return JudgeRating(score, read_reason(reason))


def read_reason(reason: object) -> str:
    """Read the reason in a judge's reply. Raises ``Unfit``."""
    if not isinstance(reason, str) or not reason.strip():
        raise Unfit("must have as reason a text")
    return reason.strip()


def join_requests(entry: Entry) -> str:
    """Return the user's messages of an entry as one text."""
    texts = (message.content for turn in entry.turns for message in turn if message.role == "user")
    return "\n\n".join(texts)
