"""The kind of entries whose calls an MCP server carries out."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.codecs.decoders.python import parse_tool_call
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.failure import Divergence, FailedEntry
from pytest_fcbench.domain.transcript import Call, Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.kinds.call_texts import parse_calls
from pytest_fcbench.kinds.context import ConversationContext
from pytest_fcbench.kinds.kind import Resources, RightCalls
from pytest_fcbench.kinds.server_turns import conversation, verdict
from pytest_fcbench.kinds.server_turns.failure import recall_calls
from pytest_fcbench.kinds.state.failure import classify_conversation
from pytest_fcbench.kinds.state.kind import StateKind
from pytest_fcbench.kinds.state.truth import list_expected_turns


class ServerTurnsKind(StateKind):
    """Calls are carried out by an MCP server, turn by turn; its state and the results are compared."""

    file_format = "server_turns.entries:ServerFile"
    official_files = ()

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model whose calls go to an MCP server."""
        return conversation.converse(entry, context)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a conversation by what its calls changed and returned."""
        return verdict.judge(entry, transcript)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find the call that the conversation failed for."""
        return classify_conversation(failure, recall_calls)

    def list_right_calls(self, entry: Entry) -> RightCalls:
        """List the calls of each turn, which are made at once."""
        return [[calls] for calls in parse_calls(entry, list_expected_turns(entry), _parse_tool_call)]


def _parse_tool_call(text: str) -> Sequence[Call]:
    # The name of a tool may be none of Python's.
    return (parse_tool_call(text),)


SERVER_TURNS = ServerTurnsKind()
