"""Show functions to a model: as tool schemas, or in a system prompt.

The transformations are BFCL's (``convert_to_tool`` for the OpenAI chat interface, the language hints of
``_func_doc_language_specific_pre_processing``); the sentences come from the suite's ``Wording``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry, Group, Message, PastCall
from pytest_fcbench.domain.function_doc import FunctionDoc, GivenSchema, Language, Schema
from pytest_fcbench.domain.prompting import (
    PLAIN,
    AnswerNotation,
    Docs,
    Layout,
    Mode,
    Names,
    PromptFormat,
    Prompting,
    Reasoning,
    Style,
)
from pytest_fcbench.domain.registry import IdentityCache
from pytest_fcbench.domain.text import as_list, as_mapping
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall, to_wire_message


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes that are added to descriptions for one language.

    ``hint`` goes to every function. Where ``any_type`` is set, every parameter is asked for as source
    text: its description gets ``any_type`` or ``typed`` (``{}`` is the declared type), then
    ``elements`` (``{}`` is the element type) or ``members`` (``{}`` is the JSON of its properties).
    """

    hint: str
    any_type: str | None = None
    typed: str = ""
    elements: str = ""
    members: str | None = None


@dataclass(frozen=True, slots=True)
class Sentences:
    """The parts of a system prompt in one style. ``{format}`` is replaced by the form of the docs."""

    persona: str
    task: str
    tool_call_no_tag: str
    """The syntax of calls: ``{output_format}`` is an example, ``{param_types}`` a note on types."""
    tool_call_with_tag: str
    multiturn_behavior: str
    available_tools: str
    """``{functions}`` is replaced by the docs."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The parts that system prompts of every format consist of; the names are BFCL's."""

    layouts: Mapping[Layout, str]
    """Templates with ``{persona}``, ``{task}``, ``{tool_call_format}`` and so on in place of the parts."""
    styles: Mapping[Style, Sentences]
    output_formats: Mapping[AnswerNotation, str]
    param_types: Mapping[AnswerNotation, str]
    docs: Mapping[Docs, str]
    """The names of the forms of the docs."""

    def build_system_prompt(self, chosen: PromptFormat) -> str:
        """Build the prompt of a format, with ``{functions}`` still in it."""
        style = self.styles[chosen.style]
        call_format = style.tool_call_with_tag if chosen.tagged else style.tool_call_no_tag
        call_format = call_format.replace("{param_types}", self.param_types[chosen.returned])
        parts = {
            "persona": style.persona,
            "task": style.task,
            "tool_call_format": call_format.replace("{output_format}", self.output_formats[chosen.returned]),
            "multiturn_behavior": style.multiturn_behavior,
            "available_tools": style.available_tools,
        }
        prompt = self.layouts[chosen.layout]
        for name, part in parts.items():
            prompt = prompt.replace(f"{{{name}}}", part)
        return prompt.replace("{format}", self.docs[chosen.docs])


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of a suite around function docs and memories."""

    prompts: Prompts
    notes: Mapping[Language, Notes]
    float_note: str
    """A note in the description of a float parameter in a tool schema, whose type can only be number."""
    more_functions: str = ""
    """The user message that comes with functions offered in a later turn."""
    answer_format: str = ""
    """Instructions for the format of a final answer, where it is compared with right ones."""
    memory: Mapping[str, str] = field(default_factory=dict)
    """By domain, the text about a memory ahead of a conversation. ``{memory}`` is replaced by its content,
    ``{persona}`` by the role of the model."""
    empty_memory: Mapping[str, str] = field(default_factory=dict)
    """By domain, the text in place of the content of an empty memory."""
    family_texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By official class, the sentences of its requests in the order of its source."""

    @property
    def system_prompt(self) -> str:
        """The prompt of the usual format; ``{functions}`` is replaced by the docs as JSON."""
        return self.prompts.build_system_prompt(PLAIN)


WireDoc: TypeAlias = dict[str, object]

JSON_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("string", "any", "Any", "String", "char"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
"""The types of JSON Schema that the official converter names for those of docs."""


_TOOLS = IdentityCache[FunctionDoc, Mapping[str, object]](1024)
"""Tools by their function docs: many entries offer the same."""


def build_first_request(entry: Entry, wording: Wording, prompting: Prompting, preamble: str = "") -> AskModel:
    """Build the first request of an entry; ``preamble`` is system text ahead of everything else."""
    language, names = entry.category.language, prompting.names
    messages = _write_messages(entry.turns[0], prompting)
    if preamble:
        _prepend_system_text(messages, preamble)
    if prompting.mode is Mode.FC:

        def make_tool(doc: FunctionDoc) -> Mapping[str, object]:
            return build_tool(build_wire_doc(doc, wording, language, names), wording)

        beside = wording.notes[language], wording.float_note, names
        tools = tuple(_TOOLS.find_or_make(doc, make_tool, beside) for doc in entry.functions)
        return AskModel(tuple(messages), tools)
    docs = [build_wire_doc(doc, wording, language, names) for doc in entry.functions]
    _prepend_system_text(messages, build_system_prompt(docs, wording, prompting.format))
    return AskModel(tuple(messages))


def _write_messages(source_messages: Sequence[Message], prompting: Prompting) -> list[Mapping[str, object]]:
    """Write messages; past calls and results are written like those of the model under test."""
    messages: list[Mapping[str, object]] = []
    remaining_messages = iter(source_messages)
    for step, message in enumerate(remaining_messages):
        if not message.calls:
            messages.append(to_wire_message(message))
            continue
        show_name = prompting.names.show_name
        past_calls = [PastCall(show_name(call.name), call.arguments) for call in message.calls]
        # The next messages are the results, one for each call.
        texts = [result.content for result in islice(remaining_messages, len(past_calls))]
        text = message.content
        tool_calls: tuple[ToolCall, ...] = ()
        if prompting.mode is Mode.FC:
            tool_calls = tuple(
                ToolCall(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in past_calls
            )
        else:
            text = "\n".join(filter(None, (text, f"[{', '.join(map(str, past_calls))}]")))
        messages.append(build_assistant_message(Completion(text=text or None), tool_calls, 0, step))
        messages += build_result_messages(tool_calls, [str(call) for call in past_calls], texts, 0, step)
    return messages


def _prepend_system_text(messages: list[Mapping[str, object]], text: str) -> None:
    # Official: a system message that is there already follows after a blank line.
    if messages and messages[0]["role"] == "system":
        text = f"{text}\n\n{messages.pop(0)['content']}"
    messages.insert(0, {"role": "system", "content": text})


def build_system_prompt(docs: Sequence[WireDoc], wording: Wording, prompt_format: PromptFormat) -> str:
    """Build the system prompt of a format with these docs in it."""
    return wording.prompts.build_system_prompt(prompt_format).replace(
        "{functions}", format_docs(docs, prompt_format.docs)
    )


def build_late_functions_request(
    late: Sequence[FunctionDoc], wording: Wording, prompting: Prompting
) -> AskModel:
    """Build the request that offers functions in a later turn. Their docs get no language hint (official)."""
    docs = build_late_docs(late, prompting.names)
    if prompting.mode is Mode.FC:
        message = {"role": "user", "content": wording.more_functions}
        return AskModel((message,), tuple(build_tool(doc, wording) for doc in docs))
    return AskModel(({"role": "user", "content": f"{docs}\n{wording.more_functions}"},))


def build_late_docs(late: Sequence[FunctionDoc], names: Names) -> list[WireDoc]:
    """Build the docs of functions that a later turn offers, without language hints (official)."""
    return [_build_doc(doc, names) for doc in late]


def select_tool_calls(completion: Completion) -> tuple[ToolCall, ...]:
    """Return the tool calls of a completion, without the text parts among them."""
    return tuple(part for part in completion.tool_calls or () if isinstance(part, ToolCall))


def find_shown_name(
    name: str, entry: Entry, prompting: Prompting, tools: Sequence[Mapping[str, object]] = ()
) -> str:
    """Return a function's name as a model sees it in a request about an entry, with the request's tools."""
    if entry.category.group is Group.COMPLEX:
        # Some runners show names as they are.
        is_shown = any(as_mapping(tool["function"])["name"] == name for tool in tools)
        return name if is_shown else sanitise_name(name, prompting.mode)
    return prompting.names.show_name(name)


UNREADABLE_CALLS = "Error: the calls of this message cannot be read, so none was carried out."
"""The answer to tool calls that cannot be read, for interfaces that want an answer to each."""

_REASONING = frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"})
"""Members of a message in which servers send reasoning beside the text."""

_THOUGHTS = re.compile(r"\s*+(?:<think>.*?|(?:(?!<think>).)*?)</think>\s*", re.DOTALL)
"""Reasoning at the beginning of a text, where a server does not split it off.

Its first mark is missing where a chat template ends with it.
"""


def repeat_answer(
    completion: Completion, calls: Sequence[ToolCall], turn: int, step: int, reasoning: Reasoning
) -> Mapping[str, object]:
    """Return the assistant message that represents a completion in later requests.

    Official (``OpenAICompletionsHandler``): the message of the server, member for member, in both modes. An
    answer that no server sent, or that was stored without its message, is written anew.
    """
    if completion.message is None:
        return build_assistant_message(completion, calls, turn, step)
    if reasoning is Reasoning.KEEP:
        return completion.message
    message = {name: value for name, value in completion.message.items() if name not in _REASONING}
    if isinstance(text := message.get("content"), str):
        message["content"] = text[thoughts.end() :] if (thoughts := _THOUGHTS.match(text)) else text
    elif isinstance(text, list):
        # So Mistral's interface splits it off.
        message["content"] = [part for part in text if as_mapping(part).get("type") != "thinking"]
    return message


def build_assistant_message(
    completion: Completion, calls: Sequence[ToolCall], turn: int, step: int
) -> Mapping[str, object]:
    """Build the assistant message of a completion from its text and calls, with ids of our own.

    Some interfaces take nothing but nine letters and digits as an id.
    """
    if not calls:
        return {"role": "assistant", "content": completion.text or ""}
    wire_calls = []
    for index, call in enumerate(calls):
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        function = {"name": call.name, "arguments": arguments}
        wire_calls.append({"id": _make_call_id(turn, step, index), "type": "function", "function": function})
    return {"role": "assistant", "content": completion.text, "tool_calls": wire_calls}


def build_result_messages(
    tool_calls: Sequence[ToolCall],
    calls: Sequence[str],
    texts: Sequence[str],
    turn: int,
    step: int,
    message: Mapping[str, object] | None = None,
) -> list[Mapping[str, object]]:
    """Build the messages that show results: one for each tool call, or one of the user for all.

    The ids are those of the server's message, or else those of ``build_assistant_message``.
    """
    if tool_calls:
        server_calls = message.get("tool_calls") if message else None
        # A server may repeat an id, or give none: officially each result has the id of its call.
        ids = (
            [call.get("id") for call in server_calls if isinstance(call, Mapping)]
            if isinstance(server_calls, list)
            else [_make_call_id(turn, step, index) for index in range(len(texts))]
        )
        return [
            {"role": "tool", "tool_call_id": call_id, "content": text}
            for call_id, text in zip(ids, texts, strict=True)
        ]
    # Official: all results in one message of the user, as Python writes them.
    pairs = zip(calls, texts, strict=True)
    results = [{"role": "tool", "name": call, "content": text} for call, text in pairs]
    return [{"role": "user", "content": repr(results)}] if results else []


def answer_unreadable_calls(request: AskModel) -> AskModel:
    """Return a request in which each tool call has an answer, for servers that refuse any other.

    Officially nothing answers a call that cannot be read.
    """
    messages: list[Mapping[str, object]] = []
    open_ids: list[object] = []
    for message in (*request.messages, None):
        if message is not None and message.get("role") == "tool":
            if (call_id := message.get("tool_call_id")) in open_ids:
                open_ids.remove(call_id)
        else:
            messages += (
                {"role": "tool", "tool_call_id": call_id, "content": UNREADABLE_CALLS} for call_id in open_ids
            )
            calls = as_list(message.get("tool_calls")) if message else []
            open_ids = [call.get("id") for call in calls if isinstance(call, Mapping)]
        if message is not None:
            messages.append(message)
    return request if len(messages) == len(request.messages) else replace(request, messages=tuple(messages))


def sanitise_name(name: str, mode: Mode) -> str:
    """Make a function name that every interface takes (``replace_invalid_chars`` of ComplexFuncBench).

    In prompting mode the name must be a Python identifier, which has no hyphen.
    """
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:64] if mode is Mode.FC else re.sub(r"\W", "_", name)


def _make_call_id(turn: int, step: int, index: int) -> str:
    return f"t{turn:02}s{step:02}c{index:02}"


def build_wire_doc(doc: FunctionDoc, wording: Wording, language: Language, names: Names) -> WireDoc:
    """Build a doc in the form that a model is shown: with its shown name and language hints."""
    notes = wording.notes[language]
    parameters = dict(doc.parameters)
    if notes.any_type is not None:
        # Official: Java and JavaScript values are asked for as source text, with their types in the notes.
        properties: dict[str, Schema] = {}
        for name, schema in doc.properties.items():
            wire_schema = dict(schema)
            kind, items = wire_schema.get("type"), wire_schema.get("items")
            note = notes.any_type if kind == "any" else notes.typed.format(kind)
            if kind in ("Array", "ArrayList", "array") and isinstance(items, Mapping):
                note += notes.elements.format(items.get("type"))
                del wire_schema["items"]
            if kind == "dict" and notes.members is not None and "properties" in wire_schema:
                note += notes.members.format(json.dumps(wire_schema.pop("properties")))
            text = f"{wire_schema.get('description', '')}{note}"
            properties[name] = {**wire_schema, "description": text, "type": "string"}
        parameters["properties"] = properties
    return _build_doc(replace(doc, description=doc.description + notes.hint, parameters=parameters), names)


def _build_doc(doc: FunctionDoc, names: Names) -> WireDoc:
    # Official: OpenAI's interface gets ``response`` as a key, others in the description.
    return {
        "name": names.show_name(doc.name),
        "description": doc.description,
        "parameters": doc.shown_schema,
        **doc.extra,
    }


def build_tool(doc: WireDoc, wording: Wording) -> Mapping[str, object]:
    """Build a tool of the OpenAI chat interface from a doc. A dotted name stays as it is."""
    parameters = as_mapping(doc["parameters"])
    if isinstance(parameters, GivenSchema):
        return {"type": "function", "function": doc}
    properties = _cast_properties(parameters.get("properties"), wording)
    schema = {**parameters, "type": "object", "properties": properties}
    return {"type": "function", "function": {**doc, "parameters": schema}}


def _cast_properties(properties: object, wording: Wording) -> dict[str, object]:
    """Name the types of properties in JSON Schema's words.

    As deep as the official converter goes: members of objects at any depth, elements of a list and elements
    of those; deeper types, and ``items`` beside ``properties``, stay as they are.
    """
    json_properties: dict[str, object] = {}
    for name, schema in as_mapping(properties).items():
        json_properties[name] = cast = dict(as_mapping(schema))
        # Official: JSON Schema has no float, so a number gets a note.
        if cast.get("type") == "float":
            cast["format"] = "float"
            cast["description"] = f"{cast.get('description', '')}{wording.float_note}"
        cast["type"] = _name_json_type(cast.get("type"))
        if cast["type"] not in ("array", "object"):
            continue
        if "properties" in cast:
            cast["properties"] = _cast_properties(cast["properties"], wording)
        elif "items" in cast:
            items = cast["items"] = dict(as_mapping(cast["items"]))
            items["type"] = _name_json_type(items.get("type"))
            if items["type"] == "array" and "items" in items:
                inner = as_mapping(items["items"])
                items["items"] = {**inner, "type": _name_json_type(inner.get("type"))}
            elif items["type"] == "object" and "properties" in items:
                items["properties"] = _cast_properties(items["properties"], wording)
    return json_properties


def _name_json_type(type_name: object) -> str:
    return JSON_TYPES.get(type_name, "string") if isinstance(type_name, str) else "string"


def format_docs(docs: Sequence[Mapping[str, object]], form: Docs) -> str:
    """Write docs (``name``, ``description``, ``parameters``, ...) in one form."""
    match form:
        case Docs.JSON:
            return json.dumps(docs, indent=4)
        case Docs.XML:
            return "\n".join(
                f'<function name="{doc["name"]}">\n  <desc>{doc.get("description", "")}</desc>\n  <params>\n'
                f"{''.join(_write_xml_parameters(as_mapping(doc.get('parameters')), ' ' * 4))}"
                "  </params>\n</function>\n"
                for doc in docs
            )
        case Docs.PYTHON:
            texts = []
            for doc in docs:
                properties = as_mapping(as_mapping(doc.get("parameters")).get("properties"))
                parameter_text = "".join(_write_python_parameters(properties, " " * 8))
                text = f'# Function: {doc["name"]}\n    """\n    {doc.get("description", "")}\n\n'
                text += f"    Args:\n{parameter_text}" if properties else ""
                # Official: line breaks are elements of the list that is joined.
                texts += [f'{text}    """\n', "\n"]
            return "\n\n".join(texts)


def _describe(schema: Mapping[str, object]) -> str:
    # Official: in every form the words are written as a Python list.
    words = f" Enum values: {schema['enum']}." if "enum" in schema else ""
    return f"{schema.get('description', '')}{words}"


def _write_xml_parameters(owner: Mapping[str, object], indent: str) -> Iterator[str]:
    required_names = owner.get("required")
    for name, parameter in as_mapping(owner.get("properties")).items():
        schema = as_mapping(parameter)
        # Where nothing says which are required, all are.
        is_required = required_names is None or (
            isinstance(required_names, Container) and name in required_names
        )
        items, others = as_mapping(schema.get("items")), schema.get("additionalProperties")
        kind = str(schema.get("type", "string"))
        if "type" in items:
            kind = f"{kind}[{items['type']}]"
        elif others is not None:
            kind = f"{kind}[{as_mapping(others).get('type', 'string')}]"
        tag = f'name="{name}" type="{kind}" required="{str(is_required).lower()}"'
        if "default" in schema:
            tag += f' default="{schema["default"]!r}"'
        # Official: commas are dropped from the whole tag, also those of a default.
        yield f"{indent}<param {tag.replace(',', '')}>\n{indent}  <desc>{_describe(schema)}</desc>\n"
        if "properties" in schema:
            yield f"{indent}  <params>\n"
            yield from _write_xml_parameters(schema, indent + " " * 4)
            yield f"{indent}  </params>\n"
        yield f"{indent}</param>\n"


def _write_python_parameters(properties: Mapping[str, object], indent: str) -> Iterator[str]:
    for name, parameter in properties.items():
        schema = as_mapping(parameter)
        default = f", default={schema['default']!r}" if "default" in schema else ""
        yield f"{indent}{name} ({_name_python_type(schema)}{default}): {_describe(schema)}\n"
        # Official: members of objects are shown, those of the elements of a list are not.
        yield from _write_python_parameters(as_mapping(schema.get("properties")), indent + " " * 4)


_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _name_python_type(schema: Mapping[str, object]) -> str:
    kind = str(schema.get("type", "string"))
    if kind in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_name_python_type(as_mapping(schema['items']))}]"
    if kind in ("object", "dict"):
        others = schema.get("additionalProperties")
        return "dict" if others is None else f"dict[str, {_name_python_type(as_mapping(others))}]"
    return _PYTHON_TYPES.get(kind, kind)
