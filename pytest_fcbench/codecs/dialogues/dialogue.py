"""The contract of a dialogue: one conversation in the form of one model family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import FamilyMember, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall, to_wire_message

TEMPERATURE = 0.001
"""The official temperature of every family that sends one, but for a few whose rows say so."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a dialogue begins with."""

    entry: Entry
    manner: ModelPresentation
    wording: Wording
    preamble: str = ""
    """System text ahead of everything else."""

    @property
    def prompting(self) -> Prompting:
        """The presentation of functions and the notation of calls."""
        return self.manner.prompting

    @property
    def member(self) -> FamilyMember:
        """The official model as which the model is asked, where there is one."""
        assert self.manner.member
        return self.manner.member

    @property
    def texts(self) -> Sequence[str]:
        """The official sentences of the family, in the order of its source."""
        return self.wording.family_texts.get(self.member.handler, ())


class Dialogue(Protocol):
    """One conversation: it is told what happens, and builds the next request.

    Official: the methods of a handler class that ``base_handler`` calls in this order.
    """

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Add the messages of a turn after the first one."""

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Offer more functions in a later turn."""

    def build_request(self, turn: int, step: int) -> AskModel:
        """Build the request of a step."""

    def add_answer(self, completion: Completion) -> Completion:
        """Add an answer, and return it as far as it is judged and carried out."""

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add the results of the last answer's calls: the calls as Python text, and a text for each."""


class ChatDialogue:
    """A conversation of messages and tools, whose answers go back as they came."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        first = presenting.build_first_request(
            opening.entry, opening.wording, opening.prompting, opening.preamble
        )
        self._messages: list[Mapping[str, object]] = list(first.messages)
        self._tools: list[Mapping[str, object]] = list(first.tools)
        self._place = (0, 0)
        self._answer = Completion()

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Add the messages of a later turn."""
        self._messages += map(to_wire_message, said)

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Offer more functions: as tools, or in a message of the user."""
        request = presenting.build_late_functions_request(
            late, self._opening.wording, self._opening.prompting
        )
        self._messages += request.messages
        self._tools += request.tools

    def build_request(self, turn: int, step: int) -> AskModel:
        """Build the request of a step."""
        self._place = turn, step
        return AskModel(tuple(self._messages), tuple(self._tools), turn, step)

    def add_answer(self, completion: Completion) -> Completion:
        """Add an answer."""
        self._answer = completion
        self._messages.append(
            presenting.repeat_answer(
                completion, self._list_tool_calls(), *self._place, self._opening.manner.reasoning
            )
        )
        return completion

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add the results of calls."""
        tool_calls, message = self._list_tool_calls(), self._answer.message
        # Official: nothing answers tool calls that cannot be read; a server that refuses the next request
        # for that is asked again by its transport. Stored answers without their message go on as the
        # version that stored them did, so that their next request is the one that was paid for.
        if not calls and message is None:
            texts = (presenting.UNREADABLE_CALLS,) * len(tool_calls)
        if texts:
            self._messages += presenting.build_result_messages(
                tool_calls, calls, texts, *self._place, message
            )

    def _list_tool_calls(self) -> tuple[ToolCall, ...]:
        is_text = self._opening.prompting.syntax != "tool_calls"
        return () if is_text else presenting.select_tool_calls(self._answer)


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
