"""Replies to questions that a run puts to its judge, which no entry asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcbench.matchers.judging.prompts import read_prompt
from pytest_fcbench.matchers.judging.questions import RULES
from pytest_fcbench.matchers.judging.ratings import MOST
from pytest_fcbench.server.body import RefusedRequestError

_REASON = "This server agrees with everything."

_OPINIONS: Mapping[str, Mapping[str, object]] = {
    **{name: {"same": True, "reason": _REASON} for name in ("equivalence", "free_text")},
    **{name: {"score": MOST, "reason": _REASON} for name in ("completeness", "correctness", "relevance")},
}
"""The reply to each kind of question, by the name of its prompt."""


def find_task(messages: Sequence[object]) -> str | None:
    """Return the task of a question to a judge, None for any other request."""
    first = messages[0] if messages else None
    text = first.get("content") if isinstance(first, Mapping) else None
    # Also the question that repeats a refused reply begins with the task.
    return text.removesuffix(RULES).rstrip() if isinstance(text, str) and text.endswith(RULES) else None


def form_opinion(task: str) -> str:
    """Return the reply of a judge who agrees. Raises ``RefusedRequestError`` for a task that is not known."""
    for name, opinion in _OPINIONS.items():
        if task == read_prompt(name):
            return json.dumps(opinion)
    raise RefusedRequestError(
        404,
        "unknown_request",
        "this question to a judge is of a kind unknown to this server; give a reply with --judge-reply",
    )
