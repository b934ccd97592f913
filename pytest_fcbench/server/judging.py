"""Replies to questions that a run puts to its judge, which no entry asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcbench.judging.prompts import read_prompt
from pytest_fcbench.judging.questions import RULES
from pytest_fcbench.judging.ratings import MOST
from pytest_fcbench.kinds.golden_path.wording import PathWording
from pytest_fcbench.server.body import RefusedRequestError

_REASON = "This server agrees with everything."
_SAME, _EQUAL, _RATING = (
    json.dumps({**opinion, "reason": _REASON})
    for opinion in ({"same": True}, {"is_equal": True}, {"score": MOST})
)

_OPINIONS: Mapping[str, str] = {
    **dict.fromkeys(("equivalence", "free_text"), _SAME),
    **dict.fromkeys(("completeness", "correctness", "relevance"), _RATING),
}
"""The reply to each kind of question, by the name of its prompt."""


class Judge:
    """A judge who agrees with everything, or gives one reply to every question."""

    def __init__(self, wording: PathWording | None = None, reply: str | None = None) -> None:
        """Know our questions, and the official ones of the wording, where there is one."""
        self._reply = reply
        self._official: dict[object, str] = {}
        if wording:
            self._official = {
                wording.equivalence.system: _EQUAL,
                wording.completeness.system: _RATING,
                wording.correctness.system: _RATING,
            }

    def answer_question(self, messages: Sequence[object]) -> str | None:
        """Return the reply to a question to a judge, None for any other request.

        Raises ``RefusedRequestError`` for a question of a kind that is not known.
        """
        first = messages[0] if messages else None
        text = first.get("content") if isinstance(first, Mapping) else None
        if not isinstance(text, str):
            return None
        opinion = self._official.get(text)
        # Also the question that repeats a refused reply begins with the task.
        if opinion is None and not text.endswith(RULES):
            return None
        if self._reply is not None:
            return self._reply
        task = text.removesuffix(RULES).rstrip()
        opinion = opinion or next(
            (reply_text for name, reply_text in _OPINIONS.items() if task == read_prompt(name)), None
        )
        if opinion is None:
            raise RefusedRequestError(
                404,
                "unknown_request",
                "this question to a judge is of a kind unknown to this server; give a reply with "
                "--judge-reply",
            )
        return opinion
