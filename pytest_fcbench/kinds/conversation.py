"""Put an entry to a model."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Conversation
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.table import find_kind


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Return the conversation about an entry, in environments of its own.

    Raises ``NotScoredError`` where the manner of the run cannot put this entry to a model.
    """
    # A prompt format is a form of the system prompt, which function calling does not have.
    if entry.variation:
        if context.manner.prompting.mode is not Mode.PROMPT:
            raise NotScoredError(
                "prompting_only", "prompt formats apply to prompt mode only; use --fcbench-mode=prompt"
            )
        context = context.use_format(entry.variation.format)
    if not entry.judged_category.on_leaderboard:
        # No family has a form for golden paths, for conversations that have begun or for tools of servers.
        context = replace(context, manner=context.manner.leave_family())
    return find_kind(entry).converse(entry, context)
