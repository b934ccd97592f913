"""Conversations that begin with what earlier ones left in a memory.

A conversation that only stores facts is held once and not judged; later questions start from its memory.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench import environments
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.entry import SELECTIONS, Entry
from pytest_fcbench.domain.transcript import Conversation
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from pytest_fcbench.kinds.kind import ConversationContext, EntrySource, Memories, carry_out_calls, put_turns

DOMAINS = SELECTIONS["memory"]
"""The domains that are memories; each is named as its category is."""

_UNKNOWN_RESULT = "(not known: it depends on an earlier conversation)"


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Put an entry to a model in environments that contain a memory.

    Where answers are replayed without the conversation before them, the results of calls are a fixed text.
    """
    entry_environments = open_environments(entry, context.suite, context.memories)
    answer_format = context.suite.wording.answer_format if isinstance(entry.expectation, Answers) else ""
    memory = describe_memory(entry, entry_environments, context.suite.wording)
    preamble = "\n\n".join(filter(None, (memory, answer_format)))
    conversation = put_turns(entry, context.manner, context.suite.wording, preamble)
    is_known = entry.after is None or entry.after.key in context.memories
    transcript = yield from carry_out_calls(
        conversation,
        entry_environments.perform_calls if is_known else lambda calls: (_UNKNOWN_RESULT,) * len(calls),
    )
    # Questions may change the memory too, but the next question starts from the same one.
    if isinstance(entry.expectation, Facts):
        context.memories[entry.key] = entry_environments.copy_state()
    return transcript


def open_environments(entry: Entry, suite: EntrySource, memories: Memories) -> Environments:
    """Return the environments of an entry, with the memory that the conversation before it left."""
    memory = memories.get(entry.after.key) if entry.after else None
    if memory and entry.scene:
        entry = replace(entry, scene=replace(entry.scene, config={**entry.scene.config, **memory}))
    return environments.open_environments(entry, suite.world)


def describe_memory(entry: Entry, entry_environments: Environments, wording: Wording) -> str:
    """Return the system text with the model's role and the content of its memory."""
    assert entry.scene, "an entry with a memory has a scene"
    domain = next(name for name in entry.scene.domains if name in DOMAINS)
    content = entry_environments.by_domain[domain].recall_memory() or wording.empty_memory[domain]
    # The memory last: a model wrote it, and it may contain the other placeholder.
    return wording.memory[domain].replace("{persona}", entry.scene.persona).replace("{memory}", content)
