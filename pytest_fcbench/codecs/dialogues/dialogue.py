"""The contract of a dialogue, and the dialogues of models that are no official family.

A chat, and for models that only continue a text (``/v1/completions``) answered examples and a question. That
prompt is ours, so a score says what a base model can do with it, and compares with no official one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import (
    Api,
    FamilyMember,
    Mode,
    ModelPresentation,
    Prompting,
    WireRequest,
)
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
        # Calls that a server has read come before those of a syntax, but in prompting none counts.
        is_fc = self._opening.prompting.mode is Mode.FC
        return presenting.select_tool_calls(self._answer) if is_fc else ()


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


_HEAD = (
    "Each task below lists functions as JSON and asks a question. The answer is a Python list of the "
    "function calls that do what is asked, and nothing else.\n\n"
)
_FUNCTIONS, _QUESTION, _CALLS = "### Functions\n", "\n### Question\n", "\n### Calls\n"
_STOP = ("\n###", "\n\n")
"""Texts that end an answer: a base model goes on with a next task."""
_MOST_TOKENS = 1024
"""The limit of an answer unless a parameter gives another; servers would end it after 16 tokens."""


def write_shot(entry: Entry, answer: str, wording: Wording, prompting: Prompting) -> str:
    """Write an entry with its right answer, as an example."""
    return f"{_write_task(entry, wording, prompting)}{answer}\n\n"


def _write_task(entry: Entry, wording: Wording, prompting: Prompting) -> str:
    docs = [
        presenting.build_wire_doc(doc, wording, entry.category.language, prompting.names)
        for doc in entry.functions
    ]
    messages = entry.turns[0]
    one = len(messages) == 1
    question = "\n".join(each.content if one else f"{each.role}: {each.content}" for each in messages)
    return f"{_FUNCTIONS}{json.dumps(docs, ensure_ascii=False)}{_QUESTION}{question}{_CALLS}"


def read_task(prompt: str) -> Sequence[Mapping[str, str]]:
    """Read the last task of a prompt as messages: the functions of the system, the question of the user."""
    functions, _, rest = prompt.rpartition(_FUNCTIONS)[2].partition(_QUESTION)
    return ({"role": "system", "content": functions}, {"role": "user", "content": rest.removesuffix(_CALLS)})


class FewShotDialogue:
    """The dialogue of a base model: one question and its answer, which ends it."""

    def __init__(self, opening: Opening) -> None:
        task = _write_task(opening.entry, opening.wording, opening.prompting)
        self._prompt = f"{_HEAD}{''.join(opening.manner.shots)}{task}"

    def build_request(self, turn: int, step: int) -> AskModel:
        """Write the prompt; the messages are for models that need no network."""
        body = {"prompt": self._prompt, "stop": list(_STOP), "max_tokens": _MOST_TOKENS}
        wire = WireRequest(Api.COMPLETIONS, body)
        return AskModel(tuple(read_task(self._prompt)), turn=turn, step=step, wire=wire)

    def add_answer(self, completion: Completion) -> Completion:
        """Return the answer as it came."""
        return completion

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add nothing: no call is carried out."""

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Refuse: entries of several turns are not asked in this mode."""
        raise TypeError("a base model is asked one question")

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Refuse: only later turns bring functions."""
        raise TypeError("a base model is asked one question")
