"""Dialogues at an API with messages, as each family holds them.

Official: the classes of ``api_inference``. A row of ``api_families.toml`` says what is sent and what goes
back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, InstanceOf, TypeAdapter

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.dialogues import tools
from pytest_fcbench.codecs.dialogues.dialogue import TEMPERATURE, Opening, PlainLog
from pytest_fcbench.codecs.dialogues.openai_forms import ChatForm, Form, Item, Situation, Spoken
from pytest_fcbench.codecs.dialogues.tools import WriteTool, write_nested_tool
from pytest_fcbench.codecs.dialogues.vendor_forms import FORMS
from pytest_fcbench.codecs.presenting import WireDoc
from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Api, FamilyMember, Mode, Names, WireRequest
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall, to_wire_message

Parameters: TypeAlias = Mapping[str, object]


Begin: TypeAlias = Callable[[Opening, Sequence[WireDoc], Sequence[Item]], Sequence[Item]]
"""Makes the first messages from the docs and the messages of the first turn, system text included."""


@dataclass(frozen=True, slots=True)
class _ParameterRow:
    values: Parameters
    model: str = ""
    name: str = ""
    mode: Mode | None = None

    def fits(self, member: FamilyMember, mode: Mode) -> bool:
        """Tell whether a model is sent these values."""
        is_named = re.search(self.model, member.model) and re.search(self.name, member.name)
        return is_named is not None and self.mode in (None, mode)


def _read_form(value: object) -> object:
    """Return the form of an API by its name, or the chat's with what a family changes in it."""
    if isinstance(value, Form):
        return value
    return FORMS[Api(value)] if isinstance(value, str) else TypeAdapter(ChatForm).validate_python(value)


def _read_parameters(value: object) -> object:
    """Return what chooses the parameters of the first row that fits a model and a mode."""
    if callable(value):
        return value
    rows = TypeAdapter(Sequence[_ParameterRow]).validate_python(value)
    return lambda member, mode: next(row.values for row in rows if row.fits(member, mode))


@dataclass(frozen=True, slots=True)
class ApiFamily:
    """How a family is asked at its API; rows of ``api_families.toml`` name what is code here."""

    form: Annotated[InstanceOf[Form], BeforeValidator(_read_form)] = field(default_factory=ChatForm)
    parameters: Annotated[Callable[[FamilyMember, Mode], Parameters], BeforeValidator(_read_parameters)] = (
        lambda *_: {"temperature": TEMPERATURE}
    )
    write_tool: Annotated[
        WriteTool, BeforeValidator(lambda tool: getattr(tools, tool) if isinstance(tool, str) else tool)
    ] = write_nested_tool
    joins_users_in: frozenset[Mode] = field(default_factory=frozenset)
    """The modes in which consecutive messages of the user are one."""
    sends_no_tools_as_list: bool = False
    """True where the member for tools is there without any."""
    sends_tools: bool = True
    begin: Annotated[
        Begin | None, BeforeValidator(lambda begin: _BEGINNINGS[begin] if isinstance(begin, str) else begin)
    ] = None
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
        messages = self._settle_messages(first.messages)
        if family.begin:
            messages = family.begin(opening, docs, messages)
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
        body = {**self._form.build_body(conversation), **family.parameters(member, self._prompting.mode)}
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


_NEMOTRON_TEXT = 0


def begin_for_nemotron(opening: Opening, docs: Sequence[WireDoc], messages: Sequence[Item]) -> Sequence[Item]:
    """Put the docs and the first message of the user into one system text (official, a fault)."""
    first = next((place for place, each in enumerate(messages) if each["role"] == "user"), None)
    user_text = "" if first is None else str(messages[first]["content"])
    text = opening.texts[_NEMOTRON_TEXT].replace("{functions}", repr(list(docs)))
    others = [each for place, each in enumerate(messages) if place != first or opening.member.repaired]
    user_prompt = "" if opening.member.repaired else user_text
    return [{"role": "system", "content": text.replace("{user_prompt}", user_prompt)}, *others]


def begin_for_dm_cito(opening: Opening, docs: Sequence[WireDoc], messages: Sequence[Item]) -> Sequence[Item]:
    """Put the docs between two texts ahead of everything else."""
    before, after = opening.texts
    system = f"{before.replace('{}', repr(list(docs)), 1)}{after}"
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{system}\n\n{messages[0]['content']}"}, *messages[1:]]
    return [{"role": "system", "content": system}, *messages]


_BEGINNINGS: Mapping[str, Begin] = {"nemotron": begin_for_nemotron, "dm_cito": begin_for_dm_cito}


@dataclass(frozen=True, slots=True)
class _FamilyRow(ApiFamily):
    handlers: Sequence[str] = ()


@cache
def read_api_families() -> Mapping[str, ApiFamily]:
    """Return how each official class with an API asks."""
    rows = read_table(dict[str, Sequence[_FamilyRow]], __file__, "api_families.toml")["families"]
    return {handler: row for row in rows for handler in row.handlers}
