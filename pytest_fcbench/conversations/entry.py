"""The conversation about an entry, whatever its shape."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcbench import environments
from pytest_fcbench.conversations import golden_path as along_a_path
from pytest_fcbench.conversations import web_questions as searching
from pytest_fcbench.conversations.turns import converse, performed
from pytest_fcbench.domain.entry import Entry, Facts, GoldenPath, Rule
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Manner, Mode
from pytest_fcbench.domain.transcript import BUILTIN, Asking, Driven, Party
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.matchers import chat
from pytest_fcbench.matchers.judging import questions
from pytest_fcbench.suites.formats import web_questions
from pytest_fcbench.suites.suite import Suite

Memories: TypeAlias = MutableMapping[str, Mapping[str, Mapping[str, object]]]
"""What conversations left behind: the state of every memory, by the key of the entry."""


def asking(
    entry: Entry, manner: Manner, suite: Suite, driven: Driven, memories: Memories | None = None
) -> Asking:
    """The conversation about an entry, in environments of its own.

    ``driven`` matters along golden paths; and its judge, if that is a model, rates replies in words. The
    conversation goes on from what the one before it left in ``memories``, and leaves there what others go on
    from: one that is judged leaves nothing. Raises ``NotScoredError`` where the manner has no place for what
    the entry is about.
    """
    if entry.variation and manner.prompting.mode is not Mode.PROMPT:
        raise NotScoredError("prompting_only", "prompt formats are for models that are asked by prompting")
    if isinstance(entry.expectation, GoldenPath):
        return along_a_path.converse(entry, manner, suite.wording, driven)
    if entry.scene and web_questions.DOMAIN in entry.scene.domains:
        talk = converse(entry, manner, suite.wording)
        return searching.searched(talk, entry, suite.world, Party.OWN_WEB if suite.web else Party.WEB)
    memories = {} if memories is None else memories
    opened = begun(entry, suite, memories)
    known = entry.after is None or entry.after.key in memories
    talk = converse(entry, manner, suite.wording, _told(entry, opened, suite))
    held = performed(talk, opened.perform if known else _not_known)
    if entry.category.rule is Rule.CHAT and driven.judge != BUILTIN:
        return _rated(held, entry, driven.judge)
    return _remembering(held, entry.key, opened, memories) if isinstance(entry.expectation, Facts) else held


def begun(entry: Entry, suite: Suite, memories: Memories) -> Environments:
    """The environments of an entry as its conversation begins."""
    left = memories.get(entry.after.key) if entry.after else None
    if left and entry.scene:
        entry = replace(entry, scene=replace(entry.scene, config={**entry.scene.config, **left}))
    return environments.opened(entry, suite.world)


def _not_known(calls: Sequence[str]) -> tuple[str, ...]:
    """Results where answers are there but the conversation before them is not."""
    return ("(not known: it depends on an earlier conversation)",) * len(calls)


def _told(entry: Entry, opened: Environments, suite: Suite) -> str:
    """Who the model is and what it remembers, where there is a memory."""
    for domain, environment in opened.by_domain.items():
        held = environment.remembered()
        if held is not None and entry.scene:
            text = suite.wording.memory[domain].replace("{persona}", entry.scene.persona)
            return text.replace("{memory}", held or suite.wording.empty_memory[domain])
    return ""


def _remembering(talk: Asking, key: str, opened: Environments, memories: Memories) -> Asking:
    transcript = yield from talk
    memories[key] = opened.snapshot()
    return transcript


def _rated(talk: Asking, entry: Entry, judge: str) -> Asking:
    """The same conversation; then the judge is asked about a reply that is one."""
    transcript = yield from talk
    if not isinstance(chat.judge(entry, transcript).corrected, Passed):
        return transcript
    asides = yield from questions.noted(chat.question(entry, transcript), judge)
    return replace(transcript, asides=asides)
