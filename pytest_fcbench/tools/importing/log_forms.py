"""Read a row of a log, or of training data, as conversations, in the form of whoever wrote it.

The tables below say where the forms have their messages, the answer that followed them, and the tools. The
messages are told apart by their own keys (``message_forms``), the tools likewise (``offered_tools``), and
calls that stayed in a text are found there (``calls_in_text``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.tools.importing.calls_in_text import separate_calls
from pytest_fcbench.tools.importing.logged import (
    LoggedConversation,
    LoggedMessage,
    NoConversationError,
    UnreadableLogError,
    load_json,
    load_list,
)
from pytest_fcbench.tools.importing.message_forms import read_messages
from pytest_fcbench.tools.importing.offered_tools import find_tools, name_tool, read_tools
from pytest_fcbench.tools.importing.otel_spans import find_spans, read_span_row

Row = Mapping[str, object]

_MESSAGES = ("messages", "conversations", "conversation", "contents", "chat_history")
"""Keys of a list of messages."""
_HOLDERS = ("request", "body", "input", "inputs", "inputBodyJson", "kwargs", "prompt")
"""Keys of what was sent to a model: messages, or an object that has them."""
_ANSWERS = ("response", "output", "outputs", "completion", "chosen")
"""Keys of the answer to it, and of what is around that answer."""
_AROUND_ANSWERS = (
    "choices",
    "candidates",
    "generations",
    "messages",
    "message",
    "output",
    "body",
    "outputBodyJson",
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
    try:
        value = read_json_text(line)
        yield from _read_rows({"messages": value} if isinstance(value, list) else as_mapping(value))
    except (ValueError, RecursionError) as error:
        raise UnreadableLogError(f"not valid JSON: {getattr(error, 'msg', error)}") from None


def _read_rows(row: Row) -> Iterator[LoggedConversation]:
    """Read a row, the rows in it, or the spans of a trace."""
    if (spans := find_spans(row)) is not None:
        rows = [each for each in map(read_span_row, spans) if each]
        if not rows:
            names = sorted({name for span in spans for name in span})
            raise NoConversationError(f"no span has the messages of a model; attributes: {_quote(names)}")
        yield from map(_read_row, rows)
        return
    lists = [each for key in _COLLECTIONS if isinstance(each := row.get(key), list)]
    inner = [as_mapping(each) for members in lists for each in members]
    conversations: list[LoggedConversation] = []
    for each in inner:
        # Most steps of a trace are no requests to a model.
        with suppress(UnreadableLogError):
            conversations += _read_rows(as_mapping(each.get("row", each)))
    yield from conversations or [_read_row(row)]


def _read_row(row: Row) -> LoggedConversation:
    """Read a row that has one conversation."""
    messages: Sequence[object]
    answers: list[object] = []
    if isinstance(query := row.get("query"), str):
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
        messages, around = _find_messages(row)
        if not around:
            raise UnreadableLogError(
                f"has none of the keys {_quote([*_MESSAGES, 'query', 'chat', 'resourceSpans'])}; "
                f"its keys: {_quote(row)}"
            )
        answers = [each for holder in around for key in _ANSWERS for each in _find_answer(holder.get(key))]
    repeats = bool(answers) and list(answers[: len(messages)]) == list(messages)
    tools = tuple(tool for each in _list_tools(around) for tool in read_tools(each))
    system = next((each[key] for each in around for key in _SYSTEMS if each.get(key)), None)
    request = [
        *(
            ()
            if system is None
            else read_messages([{"role": "system", "content": as_mapping(system).get("parts", system)}])
        ),
        *(() if repeats else read_messages(messages)),
    ]
    kept_messages: list[LoggedMessage] = []
    for message in request if answers and not repeats else [*request, *read_messages(answers)]:
        is_listed = message.role == "system" and re.search("function|tool", message.text, re.IGNORECASE)
        # Such a text tells a model how to call; a run tells it in the manner of the model under test.
        if is_listed and (listed_tools := find_tools(message.text, only_tagged=any(map(name_tool, tools)))):
            tools += tuple(listed_tools)
        else:
            kept_messages.append(message)
    answer_messages = read_messages(answers) if answers and not repeats else ()
    new_from = len(kept_messages) if answer_messages else 0
    return separate_calls(LoggedConversation((*kept_messages, *answer_messages), tools, new_from))


def _find_messages(row: Row, depth: int = 3) -> tuple[Sequence[object], list[Row]]:
    """Return the messages of a row, and the objects around them, outermost first; none without messages."""
    for key in (*_MESSAGES, *_HOLDERS):
        structure = _load_structure(row.get(key))
        if isinstance(structure, list):
            # LangSmith has a list of lists, one for each of several requests.
            structure = structure[0] if len(structure) == 1 and isinstance(structure[0], list) else structure
            if key in _MESSAGES or _are_messages(structure):
                # Cohere's interface has the last message by itself.
                last = row.get("message")
                return [
                    *structure,
                    *([{"role": "user", "content": last}] if isinstance(last, str) else []),
                ], [row]
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
    name_list = list(names)
    return (
        ", ".join(repr(each) for each in name_list[:12]) + (", ..." if len(name_list) > 12 else "") or "none"
    )
