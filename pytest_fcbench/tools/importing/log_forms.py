"""Read a row of a log, or of training data, as conversations, in the form of whoever wrote it.

The tables below say where the forms have their messages, the answer that followed them, and the tools. The
messages are told apart by their own keys, and calls that stayed in a text are found there
(``calls_in_text``); the tools are told apart likewise (``offered_tools``).

Read the spans of generative AI in traces of OpenTelemetry, as exporters write them in JSON (OTLP).

Messages stand in attributes of several generations: JSON under one name, or a name for each member.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import as_list, as_mapping, list_objects, read_json_text
from pytest_fcbench.tools.importing.calls_in_text import read_messages, separate_calls
from pytest_fcbench.tools.importing.offered_tools import (
    LoggedConversation,
    LoggedMessage,
    NoConversationError,
    UnreadableLogError,
    find_tools,
    load_json,
    load_list,
    name_tool,
    read_tools,
    split_values,
)

Row = Mapping[str, object]

_MESSAGES = ("messages", "conversations", "conversation", "contents", "chat_history")
"""Keys of a list of messages."""
_HOLDERS = ("request", "body", "input", "inputs", "inputBodyJson", "kwargs", "prompt")
"""Keys of what was sent to a model: messages, or an object that has them."""
_ANSWERS = ("response", "output", "outputs", "completion", "chosen")
"""Keys of the answer to it, and of what is around that answer."""
_AROUND_ANSWERS = (
    *("choices", "candidates", "generations", "messages", "message", "output", "body", "outputBodyJson"),
)
_PART_TYPES = ("text", "tool_use", "thinking", "toolUse")
"""The types of the parts of one message, where an answer is no more than these."""
_TOOLS = ("tools", "functions", "tool_definitions")
_AROUND_TOOLS = (
    *("toolConfig", "config", "kwargs", "metadata", "modelParameters", "model_parameters", "optional_params"),
    *("extra", "invocation_params"),
)
_SYSTEMS = ("system", "systemInstruction", "system_instruction", "instructions", "preamble")
_COLLECTIONS = ("observations", "data", "rows", "runs", "traces")
"""Keys of a list of rows."""
_SPEAKER = re.compile(r"(?m)^\s*(USER|ASSISTANT|FUNCTION RESPONSE):")
"""The beginning of a message in Glaive's text of a whole chat."""


def read_conversations(line: bytes | str) -> Iterator[LoggedConversation]:
    """Read the conversations of a row. Raises ``UnreadableLogError``."""
    fault = "not valid JSON"
    try:
        value = read_json_text(line)
        fault = "tools or calls in it are text that is not valid JSON"
        yield from _read_rows({"messages": value} if isinstance(value, list) else as_mapping(value))
    except (ValueError, RecursionError) as error:
        raise UnreadableLogError(f"{fault}: {getattr(error, 'msg', error)}") from None


def _read_rows(row: Row) -> Iterator[LoggedConversation]:
    """Read a row, the rows in it, or the spans of a trace."""
    if (spans := find_spans(row)) is not None:
        rows = [each for each in map(read_span_row, spans) if each]
        if not rows:
            names = sorted({name for span in spans for name in span})
            raise NoConversationError(f"no span has the messages of a model; attributes: {_quote(names)}")
        yield from map(_read_row, rows)
        return
    inner = [each for key in _COLLECTIONS for each in list_objects(row.get(key))]
    conversations: list[LoggedConversation] = []
    for each in inner:
        # Most steps of a trace are no requests to a model.
        with suppress(UnreadableLogError, ValueError):
            conversations += _read_rows(as_mapping(each.get("row", each)))
    yield from conversations or [_read_row(row)]


def _read_row(row: Row) -> LoggedConversation:
    """Read a row that has one conversation."""
    answers: list[object] = []
    messages, around = _find_messages(row)
    if around:
        answers = [each for holder in around for key in _ANSWERS for each in _find_answer(holder.get(key))]
    elif isinstance(query := row.get("query"), str):
        # xLAM's form.
        calls = {"role": "assistant", "tool_calls": load_list(row.get("answers") or [])}
        messages, around = [{"role": "user", "content": query}, calls], [row]
    elif isinstance(chat := row.get("chat"), str):
        _, *pieces = _SPEAKER.split(chat)
        messages = [
            {"role": "tool" if who.startswith("FUNCTION") else who, "content": content.strip()}
            for who, content in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        around = [row]
    else:
        raise UnreadableLogError(
            f"has none of the keys {_quote([*_MESSAGES, 'query', 'chat', 'resourceSpans'])}; "
            f"its keys: {_quote(row)}"
        )
    repeats = bool(answers) and list(answers[: len(messages)]) == list(messages)
    tools = tuple(tool for each in _list_tools(around) for tool in read_tools(each))
    system_contents = [each[key] for each in around for key in _SYSTEMS if each.get(key)][:1]
    answer_messages = read_messages(answers)
    systems = [{"role": "system", "content": as_mapping(each).get("parts", each)} for each in system_contents]
    kept_messages: list[LoggedMessage] = []
    for message in (*read_messages(systems), *(answer_messages if repeats else read_messages(messages))):
        is_listed = message.role == "system" and re.search("function|tool", message.text, re.IGNORECASE)
        # Such a text tells a model how to call; a run tells it in the manner of the model under test.
        if is_listed and (listed_tools := find_tools(message.text, only_tagged=any(map(name_tool, tools)))):
            tools += tuple(listed_tools)
        else:
            kept_messages.append(message)
    new_messages = () if repeats else answer_messages
    new_from = len(kept_messages) if new_messages else 0
    return separate_calls(LoggedConversation((*kept_messages, *new_messages), tools, new_from))


def _find_messages(row: Row, depth: int = 3) -> tuple[Sequence[object], list[Row]]:
    """Return the messages of a row, and the objects around them, outermost first; none without messages."""
    for key in (*_MESSAGES, *_HOLDERS):
        structure = _load_structure(row.get(key))
        if isinstance(structure, list):
            # LangSmith has a list of lists, one for each of several requests.
            structure = structure[0] if len(structure) == 1 and isinstance(structure[0], list) else structure
            if key in _MESSAGES or _are_messages(structure):
                # Cohere's interface has the last message by itself.
                last = row.get("message") if key == "chat_history" else None
                last_messages = [{"role": "user", "content": last}] if isinstance(last, str) else []
                return [*structure, *last_messages], [row]
        elif depth and key in _HOLDERS and isinstance(structure, Mapping):
            messages, around = _find_messages(structure, depth - 1)
            if around:
                return messages, [row, *around]
    if isinstance(row.get("input"), str) and isinstance(row.get("output"), list):
        return [{"role": "user", "content": row["input"]}], [row]
    return [], []


def _find_answer(value: object) -> Sequence[object]:
    """Return the messages of an answer, whatever is around them."""
    structure = _load_structure(value)
    if isinstance(structure, list):
        structure = structure[0] if structure and isinstance(structure[0], list) else structure
        first = as_mapping(structure[0]) if structure else {}
        if first.get("type") in _PART_TYPES:
            return [{"role": "assistant", "content": structure}]
        if "role" not in first and first.keys() & {"message", "content", "text"}:
            return _find_answer(first)
        return structure if _are_messages(structure) else []
    answer = as_mapping(structure)
    for key in _AROUND_ANSWERS:
        if key in answer and (messages := _find_answer(answer[key])):
            return messages
    if isinstance(content := answer.get("content"), Mapping):
        return [{"role": "assistant", **content}]
    if answer.keys() & {"kwargs", "parts", "from"}:
        return [answer]
    if answer.keys() & {"content", "text", "tool_calls", "function_call"}:
        return [{"role": "assistant", **answer, "content": answer.get("content", answer.get("text"))}]
    return []


def _are_messages(values: Sequence[object]) -> bool:
    """Tell whether a list has messages: each says who speaks, or what kind of thing it is."""
    keys = {"role", "from", "type", "kwargs", "message"}
    return bool(values) and all(isinstance(each, Mapping) and keys & each.keys() for each in values)


def _list_tools(around: Sequence[Row]) -> Iterator[object]:
    """Yield the lists of tools in objects, and in what configures a request there."""
    for holder in around:
        for key in _TOOLS:
            if holder.get(key):
                yield holder[key]
        inner = [
            settings for key in _AROUND_TOOLS if (settings := as_mapping(_load_structure(holder.get(key))))
        ]
        yield from _list_tools([each for each in inner if each not in around])


def _load_structure(value: object) -> object:
    """Return a value; a text that is a JSON list or object is read as such."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            return load_json(value)
    return value


def _quote(names: Iterator[str] | Sequence[str] | Mapping[str, object]) -> str:
    """Write names for a message, the first of very many."""
    quoted_names = [repr(each) for each in names]
    return ", ".join([*quoted_names[:12], *["..."] * (len(quoted_names) > 12)]) or "none"


def read_rows(logs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each row with its place; ``-`` is standard input. Raises ``UsageError``."""
    for log in logs:
        name = "standard input" if log == "-" else log
        try:
            with ExitStack() as stack:
                file = sys.stdin.buffer if log == "-" else stack.enter_context(Path(log).open("rb"))
                yield from _read_file(name, file)
        except OSError as error:
            raise UsageError(f"{log}: cannot be read: {error.strerror}; give a readable file") from None


def _read_file(name: str, file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file where the first is a JSON object, else its values, else its lines."""
    numbered_lines = ((number, line) for number, line in enumerate(file, 1) if line.strip())
    first = next(numbered_lines, None)
    if first is None:
        return
    lines: Iterator[tuple[int, bytes]] = chain([first], numbered_lines)
    is_line = False
    with suppress(ValueError, RecursionError):
        is_line = isinstance(read_json_text(first[1]), dict)
    if not is_line and first[1].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        # Held in memory as a whole, since a value may end anywhere.
        all_lines = list(lines)
        if (rows := read_values(b"".join(line for _, line in all_lines))) is not None:
            for number, row in enumerate(rows, 1):
                yield (
                    f"{name}: row {number}",
                    f"{json.dumps(row, ensure_ascii=False)}\n".encode(errors="surrogatepass"),
                )
            return
        lines = iter(all_lines)
    for number, line in lines:
        yield f"{name}:{number}", line


def read_values(content: bytes) -> list[object] | None:
    """Return the members of the lists, and the objects, that a file has one after the other, or None."""
    rows: list[object] = []
    try:
        for value in split_values(content.decode("utf-8-sig").strip()):
            # A list of messages is one row.
            if isinstance(value, list) and not any(
                isinstance(each, dict) and each.keys() & {"role", "from"} for each in value
            ):
                rows += value
            else:
                rows.append(value)
    except (ValueError, RecursionError):
        return None
    return rows


Attributes = Mapping[str, object]

_GENERATIONS = (
    ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions"),
    ("gen_ai.prompt", "gen_ai.completion", "llm.request.functions"),
    ("llm.input_messages", "llm.output_messages", "llm.tools"),
)
"""Where a span has the question, the answer and the tools: today's conventions, older ones, OpenInference."""


def find_spans(row: Mapping[str, object]) -> Sequence[Attributes] | None:
    """Return the attributes of the spans of a trace, or None for a row that is none."""
    for key in ("resourceSpans", "resource_spans"):
        if isinstance(row.get(key), list):
            return [
                _read_attributes(span)
                for resource in list_objects(row.get(key))
                for scopes in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
                for scope in list_objects(resource.get(scopes))
                for span in list_objects(scope.get("spans"))
            ]
    return [_read_attributes(row)] if "attributes" in row and row.keys().isdisjoint(_MESSAGES) else None


def read_span_row(attributes: Attributes) -> Mapping[str, object]:
    """Return a span as a row with messages and an answer; empty for a span that is about none."""
    for request_name, answer_name, tools_name in _GENERATIONS:
        messages, answers = _gather(attributes, request_name), _gather(attributes, answer_name)
        if answers:
            return {
                "messages": messages,
                "output": [{"role": "assistant", **as_mapping(each)} for each in answers],
                "tools": _gather(attributes, tools_name) or _gather(attributes, "gen_ai.request.tools"),
                "system": _gather(attributes, "gen_ai.system_instructions"),
            }
    return {}


def _gather(attributes: Attributes, name: str) -> Sequence[object]:
    """Return the list under a name: JSON text, a value, or one attribute for each member."""
    value = _load_structure(attributes.get(name))
    if value is None:
        value = _nest_names(
            {key[len(name) + 1 :]: each for key, each in attributes.items() if key.startswith(f"{name}.")}
        )
    return as_list(value)


def _nest_names(members: Mapping[str, object]) -> object:
    """Make a value of members whose names have dots: ``0.role``, ``0.tool_calls.1.name``."""
    if "" in members:
        return members[""]
    heads = dict.fromkeys(key.partition(".")[0] for key in members)
    children = {
        head: _nest_names(
            {key.partition(".")[2]: each for key, each in members.items() if key.partition(".")[0] == head}
        )
        for head in heads
    }
    if heads and all(map(str.isdecimal, heads)):
        return [children[head] for head in sorted(children, key=int)]
    return children


def _read_attributes(span: Mapping[str, object]) -> Attributes:
    """Read the attributes of a span and of its events, which exporters write as a list or an object."""
    attributes: dict[str, object] = {}
    for holder in (*list_objects(span.get("events")), span):
        if isinstance(members := holder.get("attributes"), Mapping):
            attributes |= {str(key): value for key, value in members.items()}
        for each in list_objects(holder.get("attributes")):
            attributes[str(each.get("key"))] = _read_attribute(as_mapping(each.get("value")))
    return attributes


def _read_attribute(value: Mapping[str, object]) -> object:
    """Convert the value of an attribute (``AnyValue`` of OTLP) to a JSON value."""
    if "arrayValue" in value:
        return [_read_attribute(each) for each in list_objects(as_mapping(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        members = list_objects(as_mapping(value["kvlistValue"]).get("values"))
        return {str(each.get("key")): _read_attribute(as_mapping(each.get("value"))) for each in members}
    if "intValue" in value:
        # OTLP writes whole numbers of 64 bits as text.
        return int(str(value["intValue"]))
    return next((value[key] for key in ("stringValue", "boolValue", "doubleValue") if key in value), None)
