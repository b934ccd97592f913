"""Dialogues at an API with messages, as each family holds them.

Official: the classes of ``api_inference``. A row of ``API_FAMILIES`` says what is sent and what goes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.dialogues.dialogue import TEMPERATURE, Opening
from pytest_fcbench.codecs.dialogues.forms.form import Form, Item, Situation, Spoken
from pytest_fcbench.codecs.dialogues.plain_log import PlainLog
from pytest_fcbench.codecs.dialogues.tools import WriteTool, write_nested_tool
from pytest_fcbench.codecs.presenting import WireDoc
from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import FamilyMember, Mode, Names, WireRequest
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall, to_wire_message

Parameters: TypeAlias = Mapping[str, object]


def send_temperature(member: FamilyMember, mode: Mode) -> Parameters:
    """Return the temperature alone."""
    return {"temperature": TEMPERATURE}


Begin: TypeAlias = Callable[[Opening, Sequence[WireDoc], Sequence[Item]], Sequence[Item]]
"""Makes the first messages from the docs and the messages of the first turn, system text included."""


def begin_as_usual(opening: Opening, docs: Sequence[WireDoc], messages: Sequence[Item]) -> Sequence[Item]:
    """Leave the first messages as they are."""
    return messages


@dataclass(frozen=True, slots=True)
class ApiFamily:
    """How a family is asked at its API."""

    form: Form
    parameters: Callable[[FamilyMember, Mode], Parameters] = send_temperature
    write_tool: WriteTool = write_nested_tool
    joins_users_in: frozenset[Mode] = field(default_factory=frozenset)
    """The modes in which consecutive messages of the user are one."""
    sends_no_tools_as_list: bool = False
    """True where the member for tools is there without any."""
    sends_tools: bool = True
    begin: Begin = begin_as_usual
    prompts: bool = True
    """True where prompting opens with BFCL's system text."""
    makes_system_user: bool = False
    """True where system messages are the user's."""
    is_silent_on_results: bool = False
    """True where results are never sent (a fault)."""
    mode: Mode | None = None
    """The official loop, where the family's notation of calls belongs to another one."""


class ApiDialogue:
    """A conversation in the form of an API."""

    def __init__(self, opening: Opening, family: ApiFamily) -> None:
        self._opening, self._family, self._form = opening, family, family.form
        entry, wording = opening.entry, opening.wording
        prompting = replace(opening.prompting, mode=family.mode or opening.prompting.mode)
        self._prompting, self._is_fc = prompting, prompting.mode is Mode.FC
        docs = [
            presenting.build_wire_doc(doc, wording, entry.category.language, Names.DOTTED)
            for doc in entry.functions
        ]
        first_prompting = prompting if family.prompts else replace(prompting, mode=Mode.FC)
        first = presenting.build_first_request(entry, wording, first_prompting, opening.preamble)
        self._tools = [family.write_tool(doc, wording) for doc in docs]
        messages = family.begin(opening, docs, self._settle_messages(first.messages))
        self._system: str | None = None
        if self._form.system_role is None:
            other_messages = [each for each in messages if each["role"] != "system"]
            self._system = next((str(each["content"]) for each in messages if each["role"] == "system"), None)
            messages = other_messages
        self._log = PlainLog(first.messages)
        self._items: list[Item] = []
        self._add_messages(messages)
        self._calls: tuple[ToolCall, ...] = ()
        texts = wording.family_texts.get(opening.member.handler, ())
        self._situation = Situation(self._is_fc, texts, opening.member.repaired)

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Add the messages of a later turn."""
        messages = [*map(to_wire_message, said)]
        self._log.messages += messages
        self._add_messages(self._settle_messages(messages))

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Offer more functions: as tools, or in a message of the user."""
        opening = self._opening
        docs = presenting.build_late_docs(late, Names.DOTTED)
        self._tools += [self._family.write_tool(doc, opening.wording) for doc in docs]
        request = presenting.build_late_functions_request(late, opening.wording, self._prompting)
        self._log.messages += request.messages
        self._add_messages(request.messages)

    def build_request(self, turn: int, step: int) -> AskModel:
        """Build the request of a step."""
        family, member = self._family, self._opening.member
        self._log.place = turn, step
        tools = self._tools if self._is_fc and family.sends_tools else None
        if not tools and not family.sends_no_tools_as_list:
            tools = None
        is_long = not self._opening.entry.category.single_turn
        conversation = Spoken(member.name, self._system, tuple(self._items), tools, is_long)
        body = {
            **self._form.build_body(conversation),
            **family.parameters(member, self._prompting.mode),
        }
        return AskModel(
            tuple(self._log.messages), tuple(tools or ()), turn, step, wire=WireRequest(self._form.api, body)
        )

    def add_answer(self, completion: Completion) -> Completion:
        """Add an answer, and return what is judged of it: its calls, or without any its text."""
        judged_answer = self._form.judge_answer(completion, self._situation)
        calls = presenting.select_tool_calls(completion)
        self._calls = calls
        self._log.add_answer(judged_answer, calls if self._is_fc else ())
        self._items += self._form.write_answer(judged_answer, self._situation)
        if self._prompting.syntax != "tool_calls" and calls and self._is_fc:
            return replace(judged_answer, text=None)
        return judged_answer

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add the results of calls."""
        self._log.add_results(calls, texts)
        if not texts or (self._family.is_silent_on_results and not self._situation.is_repaired):
            return
        if self._is_fc and self._calls:
            self._items += self._form.write_results(self._calls, texts)
        else:
            self._add_messages(presenting.build_result_messages((), calls, texts, 0, 0))

    def _add_messages(self, messages: Sequence[Item]) -> None:
        role = self._form.system_role or "system"
        self._items += [
            self._form.write_message(
                role if each["role"] == "system" else str(each["role"]), str(each["content"])
            )
            for each in messages
        ]

    def _settle_messages(self, messages: Sequence[Item]) -> Sequence[Item]:
        """Make system messages the user's, and join those of the user, where the family does."""
        if self._family.makes_system_user:
            messages = [{**each, "role": "user"} if each["role"] == "system" else each for each in messages]
        if self._prompting.mode not in self._family.joins_users_in:
            return messages
        return join_user_messages(messages)


def join_user_messages(messages: Sequence[Item]) -> list[Item]:
    """Join consecutive messages of the user with a blank line."""
    items: list[Item] = []
    for each in messages:
        if items and each["role"] == items[-1]["role"] == "user":
            items[-1] = {**items[-1], "content": f"{items[-1]['content']}\n\n{each['content']}"}
        else:
            items.append(each)
    return items
