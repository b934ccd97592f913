"""The kind of entries whose calls an MCP server carries out."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Kind, Resources
from pytest_fcbench.kinds.server_turns import conversation, verdict


class ServerTurnsKind(Kind):
    """Calls are carried out by an MCP server, turn by turn; its state and the results are compared."""

    file_format = "server_turns.entries:ServerFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls go to an MCP server."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return verdict.judge(entry, transcript)


SERVER_TURNS = ServerTurnsKind()
