"""The kind of entries that words answer which calls have found."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.answers import memory_conversation, verdict, web_conversation
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources


class MemoryKind(Kind):
    """Calls find in a memory what earlier conversations left there; words are compared with right answers."""

    file_format = "answers.memory_entries:ScenarioFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model that is shown its memory."""
        return memory_conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the final answer."""
        return verdict.judge(entry, transcript)


class WebSearchKind(Kind):
    """Calls search the web; words are compared with right answers."""

    file_format = "answers.web_entries:QuestionFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls search the web."""
        return web_conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the final answer."""
        return verdict.judge(entry, transcript)


MEMORY = MemoryKind()
WEB_SEARCH = WebSearchKind()
