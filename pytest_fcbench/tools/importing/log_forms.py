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
    found: list[LoggedConversation] = []
    for each in inner:
        # Most steps of a trace are no requests to a model.
        with suppress(UnreadableLogError):
            found += _read_rows(as_mapping(each.get("row", each)))
    yield from found or [_read_row(row)]


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
            {"role": "tool" if who.startswith("FUNCTION") else who, "content": said.strip()}
            for who, said in zip(pieces[::2], pieces[1::2], strict=True)
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
    asked = [
        *(
            ()
            if system is None
            else read_messages([{"role": "system", "content": as_mapping(system).get("parts", system)}])
        ),
        *(() if repeats else read_messages(messages)),
    ]
    kept: list[LoggedMessage] = []
    for message in asked if answers and not repeats else [*asked, *read_messages(answers)]:
        is_listed = message.role == "system" and re.search("function|tool", message.text, re.IGNORECASE)
        # Such a text tells a model how to call; a run tells it in the manner of the model under test.
        if is_listed and (listed := find_tools(message.text, only_tagged=any(map(name_tool, tools)))):
            tools += tuple(listed)
        else:
            kept.append(message)
    answered = read_messages(answers) if answers and not repeats else ()
    new_from = len(kept) if answered else 0
    return separate_calls(LoggedConversation((*kept, *answered), tools, new_from))


def _find_messages(row: Row, depth: int = 3) -> tuple[Sequence[object], list[Row]]:
    """Return the messages of a row, and the objects around them, outermost first; none without messages."""
    for key in (*_MESSAGES, *_HOLDERS):
        given = _load_structure(row.get(key))
        if isinstance(given, list):
            # LangSmith has a list of lists, one for each of several requests.
            given = given[0] if len(given) == 1 and isinstance(given[0], list) else given
            if key in _MESSAGES or _are_messages(given):
                # Cohere's interface has the last message by itself.
                last = row.get("message")
                return [*given, *([{"role": "user", "content": last}] if isinstance(last, str) else [])], [
                    row
                ]
        elif depth and key in _HOLDERS and isinstance(given, Mapping):
            messages, around = _find_messages(given, depth - 1)
            if around:
                return messages, [row, *around]
    if isinstance(row.get("input"), str) and isinstance(row.get("output"), list):
        return [{"role": "user", "content": row["input"]}], [row]
    return [], []


def _find_answer(value: object) -> Sequence[object]:
    """Return the messages of an answer, whatever is around them."""
    given = _load_structure(value)
    if isinstance(given, list):
        given = given[0] if given and isinstance(given[0], list) else given
        first = as_mapping(given[0]) if given else {}
        if first.get("type") in _PART_TYPES:
            return [{"role": "assistant", "content": given}]
        if "role" not in first and first.keys() & {"message", "content", "text"}:
            return _find_answer(first)
        return given if _are_messages(given) else []
    answer = as_mapping(given)
    for key in _AROUND_ANSWERS:
        if key in answer and (found := _find_answer(answer[key])):
            return found
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
        inner = [found for key in _AROUND_TOOLS if (found := as_mapping(_load_structure(holder.get(key))))]
        yield from _list_tools([each for each in inner if each not in around])


def _load_structure(value: object) -> object:
    """Return a value; a text that is a JSON list or object is read as such."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            return load_json(value)
    return value


def _quote(names: Iterator[str] | Sequence[str] | Mapping[str, object]) -> str:
    """Write names for a message, the first of very many."""
    listed = list(names)
    return ", ".join(repr(each) for each in listed[:12]) + (", ..." if len(listed) > 12 else "") or "none"
