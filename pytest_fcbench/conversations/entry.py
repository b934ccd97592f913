"""Choose the kind of conversation that an entry needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from pytest_fcbench.conversations import chat, free_texts, memory, server_turns, turns, web_questions
from pytest_fcbench.conversations.setting import ConversationContext
from pytest_fcbench.domain.entry import Entry, ExpectedCalls, GoldenPath
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Conversation
from pytest_fcbench.suites.formats.web_questions import DOMAIN as WEB_DOMAIN

Converse: TypeAlias = Callable[[Entry, ConversationContext], Conversation]


def converse(entry: Entry, setting: ConversationContext) -> Conversation:
    """Return the conversation about an entry, in environments of its own.

    Raises ``NotScoredError`` where the manner of the run cannot put this entry to a model.
    """
    # A prompt format is a form of the system prompt, which function calling does not have.
    if entry.variation:
        if setting.manner.prompting.mode is not Mode.PROMPT:
            raise NotScoredError(
                "prompting_only", "prompt formats apply to prompt mode only; use --fcbench-mode=prompt"
            )
        setting = setting.use_format(entry.variation.format)
    if not entry.rule.on_leaderboard:
        # No family has a form for golden paths, for conversations that have begun or for tools of servers.
        setting = replace(setting, manner=setting.manner.leave_family())
    return choose_conversation(entry)(entry, setting)


def choose_conversation(entry: Entry) -> Converse:
    """Return the kind of conversation for an entry."""
    domains = entry.scene.domains if entry.scene else ()
    if isinstance(entry.expectation, GoldenPath):
        # Its matcher knows quantities of all kinds, which takes long to import.
        from pytest_fcbench.conversations import golden_path

        return golden_path.converse
    if entry.rule.starts_server:
        return server_turns.converse
    if WEB_DOMAIN in domains:
        return web_questions.converse
    if any(domain in memory.DOMAINS for domain in domains):
        return memory.converse
    if isinstance(entry.expectation, ExpectedCalls) and entry.expectation.has_free_text:
        return free_texts.converse
    return chat.converse if entry.category.rule.asks_judge else turns.converse
