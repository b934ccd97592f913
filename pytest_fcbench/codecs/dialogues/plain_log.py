"""What was said in a conversation, in the chat form, whatever form its requests have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.transcript import Completion, ToolCall


class PlainLog:
    """The messages of a conversation, for models that need no network and for estimates of tokens."""

    def __init__(self, messages: Sequence[Mapping[str, object]]) -> None:
        self.messages = list(messages)
        self.place = (0, 0)
        """Turn and step of the last request."""
        self._calls: Sequence[ToolCall] = ()

    def add_answer(self, completion: Completion, calls: Sequence[ToolCall]) -> None:
        """Add an answer with its calls."""
        self._calls = calls
        self.messages.append(presenting.build_assistant_message(completion, calls, *self.place))

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add the results of the last answer's calls."""
        tool_calls = self._calls if len(self._calls) == len(texts) else ()
        self.messages += presenting.build_result_messages(tool_calls, calls, texts, *self.place)
