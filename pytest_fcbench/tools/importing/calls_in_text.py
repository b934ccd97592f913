"""Find the calls that stayed in the text of an answer, as a server without the right tool parser logs them.

Only what is certain is read: what a family's own parser would take as calls at these marks (tags that begin a
line, tokens, ``Action:``) and behind which nothing follows, or a text that is calls from end to end where no
one asked to see how calls are written. Behind marks stand JSON, Python literals, XML, a name before its
arguments, or Python calls. Any other text that looks like a call, such as an explanation with an example,
makes no entry: taken for words or for a call, it could turn the truth round.

Read messages, their parts and their calls in the form of whoever wrote them; keys tell the forms apart.

Known are the messages of OpenAI's interfaces (chat, responses), Anthropic's, Bedrock's, Gemini's and
Cohere's, of LangChain and OpenTelemetry, and of training data (ShareGPT, Hermes, ms-swift, LLaMA-Factory).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.codecs.decoders.syntax import Undecodable, WrongFormat, refuse_faults, strip_fence
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import Call, drop_reasoning
from pytest_fcbench.tools.importing.offered_tools import (
    LoggedCall,
    LoggedConversation,
    LoggedMessage,
    UnreadableLogError,
    find_parameters,
    load_json,
    load_list,
    name_tool,
    split_values,
)

_NOTATIONS: Sequence[tuple[str, str]] = (
    (r"```tool_(?:code|calls?)\b(.*?)```", r"<tool_call>\1</tool_call>"),
    (r"<<function>>", "<tool_call>"),
)
"""Notations of families in the words of one: a tag, and in it what is called."""

_OPENING = re.compile(
    r"<tool_calls?>|<\|tool_calls?(?:_start|_begin|_section_begin)?\|>|<\|tool_call>|<｜tool▁calls?▁begin｜>|\[TOOL_CALLS\]"
    r"|<TOOLCALL>|<(?:antml:)?function_?calls?>|<functions>|<\|python_tag\|>|<start_function_call>|<minimax:tool_call>"
)
_CLOSING = re.compile(
    r"</tool_calls?>|<\|/tool_call\|>|<tool_call\|>|<\|tool_calls?_(?:section_)?end\|>|<｜tool▁calls?▁end｜>|\[/TOOL_CALLS\]|</TOOLCALL>"
    r"|</(?:antml:)?function_?calls?>|</minimax:tool_call>|<end_function_call>|<\|endoftext\|>|<\|e[o]\w_id\|>|<\|im_end\|>|<\|call\|>"
    r"|<\|eot?m?\|>|</s>"
)
_PYTHON_TEXT = r"(?P<quote>\"{3}|'{3}|[\"'])(?:\\.|(?!(?P=quote))[^\\])*(?P=quote)"
_LOOKS = re.compile(
    r"<\W{0,2}(?:\w+:)?(?:tools?|functions?|invoke|call)(?:[_ ]?calls?)?\b"
    r"|[\"'](?:arguments|tool_calls?|function_call|tool_name|tool_input|action_input)[\"']\s*:"
    r"|[\"'](?:name|function|tool|action)[\"']\s*:\s*[\"'][^\"']*[\"']\s*,\s*[\"'](?:parameters|args|input)[\"']\s*:"
    r"|^\W{0,9}Action Input\b|\A\W{0,9}[\w.-]+\s*(?:\(.*\)|\{.*\})\W{0,9}\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""Looks of calls, whatever their function is; the last is a text from end to end."""
_BEGINNINGS = ("[", "{", "`", "print(", "default_api.", "functions.")
_SHOWING = re.compile(
    r"(?<![.@\w])(?:examples?|json|syntax|snippet|code|(?:function|tool|api)[ -]calls?)\b(?!\.\w)"
    r"|\b(?:how|what|show|write)\b.*\b(?:call|use|invoke)\b",
    re.IGNORECASE,
)
"""Words of a question that may want to see a call and not have it made."""


class _NoCalls(Exception):  # noqa: N818 - not a fault
    """A text that is no calls."""


def separate_calls(conversation: LoggedConversation) -> LoggedConversation:
    """Make calls of the calls in the texts of a conversation, and mark texts that only look like one."""
    reader = _TextReader(conversation.tools)
    messages: list[LoggedMessage] = []
    is_called = False
    question = ""
    for message in conversation.messages:
        if message.role == "assistant":
            if message.text and not message.calls:
                message = reader.read_message(message, question)
                is_called = bool(message.calls)
        elif message.role == "user" and is_called and message.text.startswith("Observation:"):
            message = replace(message, role="tool", text=message.text.removeprefix("Observation:").strip())
        elif message.role == "user":
            question = message.text
        messages.append(message)
    return replace(conversation, messages=tuple(messages))


class _TextReader:
    """Reads calls in texts under the names of the functions that were offered."""

    def __init__(self, tools: Sequence[Mapping[str, object]]) -> None:
        self._schemas = {name_tool(tool): find_parameters(tool) for tool in tools if name_tool(tool)}
        self._native_schemas = {name: {"properties": schemas} for name, schemas in self._schemas.items()}
        self._shown = {_show_name(name): name for name in self._schemas}
        self._names = (
            "|".join(sorted({*map(re.escape, self._schemas), *map(re.escape, self._shown)})) or r"(?!)"
        )
        self._beginnings = (*_BEGINNINGS, *self._schemas, *self._shown)

    # Compiled where a text needs it: that takes longer than to read most conversations.
    @cached_property
    def _attempt(self) -> re.Pattern[str]:
        """What looks like a call of an offered function."""
        # Without its tokens, Kimi has a number behind a name, and DeepSeek a word before it.
        name = rf"(?<![\w-])(?:function)?(?:{self._names})(?::\d+)?"
        return re.compile(
            rf"{name}(?:\(|[ \t]*\(?\w+[ \t]*=)|<(?:{self._names})[\s/>]"
            rf"|[\"'](?:name|function|tool|action)[\"']\s*:\s*[\"'](?:\w+\.)?(?:{self._names})[\"']"
            rf"|{name}[^\w{{]*(?:(?:json|with|args|arguments|parameters|input)[^\w{{]*){{0,4}}\{{\s*[\"'}}]"
            rf"|^\W{{0,9}}(?:action|tool|function|call)(?:[ _-]?(?:call|name|use))?"
            rf"\W{{1,4}}(?:{self._names})\b",
            re.IGNORECASE | re.MULTILINE,
        )

    def looks_like_call(self, text: str) -> bool:
        """Tell whether a text has what looks like a call."""
        lowercase_text = text.lower()
        is_named = any(name.lower() in lowercase_text for name in (*self._schemas, *self._shown))
        return _LOOKS.search(text) is not None or (is_named and self._attempt.search(text) is not None)

    @cached_property
    def _python(self) -> re.Pattern[str]:
        """Texts in Python, and what stands before a bracket there that is no name of Python's."""
        others = [re.escape(name) for name in self._schemas if not name.replace(".", "_").isidentifier()]
        other = rf"(?<![\w.-])(?P<other>{'|'.join(others) or '(?!)'})(?=\()"
        return re.compile(rf"{_PYTHON_TEXT}|\bdefault_api\.|{other}", re.DOTALL)

    def read_message(self, message: LoggedMessage, question: str) -> LoggedMessage:
        """Return an answer with the calls in its text, or marked where it seems to have some."""
        text = marked_text = drop_reasoning(message.text).strip()
        for pattern, replacement in _NOTATIONS:
            marked_text = re.sub(pattern, replacement, marked_text, flags=re.DOTALL)
        with suppress(_NoCalls):
            if _OPENING.search(marked_text):
                with suppress(_NoCalls):
                    words, calls = self.read_marked(strip_fence(marked_text), text)
                    return replace(message, text=words, calls=calls)
            if read := self.read_native(text):
                words, calls = read
                return replace(message, text=words, calls=calls)
            if marked_text.startswith(self._beginnings) and not _SHOWING.search(question):
                return replace(message, text="", calls=self.read_unmarked(marked_text))
        return replace(
            message, has_unread_call=bool(_OPENING.search(marked_text)) or self.looks_like_call(text)
        )

    def read_native(self, text: str) -> tuple[str, tuple[LoggedCall, ...]] | None:
        """Read the words of a text and the calls behind them, in the native syntax that all of it has."""
        for syntax in NATIVE_SYNTAXES.values():
            if syntax.beginning and syntax.beginning.search(text):
                with suppress(Undecodable, WrongFormat, _NoCalls), refuse_faults():
                    words, calls, rest = syntax.split_text(text, self._native_schemas)
                    read = tuple(map(self._place_arguments, calls))
                    if (
                        read
                        and not _CLOSING.sub("", rest).strip()
                        and all(each.name in self._schemas for each in read)
                        and not self.is_shown(words, text[len(words) :])
                    ):
                        return words.strip(), read
        return None

    def read_marked(self, marked_text: str, text: str) -> tuple[str, tuple[LoggedCall, ...]]:
        """Read the words before marks, and the calls behind them, up to the end of a text."""
        words, *pieces = _OPENING.split(marked_text)
        split = [_CLOSING.split(piece) for piece in pieces]
        if self.is_shown(words, marked_text[len(words) :]) or any(
            "".join(rest).strip() for _, *rest in split
        ):
            raise _NoCalls
        calls: list[LoggedCall] = []
        try:
            for inside in filter(None, (first.strip().rstrip(";,") for first, *_ in split)):
                calls += self.read_piece(inside)
        except _NoCalls:
            calls = [*self.read_by_families(text)]
        if not calls:
            raise _NoCalls
        return _CLOSING.sub("", words).strip(), tuple(calls)

    def is_shown(self, words: str, calls_text: str) -> bool:
        """Tell whether calls behind these words may be an example, or the second attempt."""
        # An explanation shows tags in a line or a fence; a token is never shown.
        is_token = calls_text.startswith(("<|", "<｜", "[T"))
        is_example = not is_token and bool(words.rpartition("\n")[2].strip() or words.count("```") % 2)
        return is_example or self.looks_like_call(words)

    def read_unmarked(self, text: str) -> tuple[LoggedCall, ...]:
        """Read a text that is calls from end to end, of offered functions or like nothing else."""
        while ends := [each for each in _CLOSING.finditer(text) if each.end() == len(text)]:
            text = text[: ends[0].start()].rstrip()
        calls = self.read_piece(text)
        is_list = strip_fence(text).startswith(("[", "{")) and all(each.arguments for each in calls)
        if not is_list and any(each.name not in self._schemas for each in calls):
            raise _NoCalls
        return calls

    def read_piece(self, text: str) -> tuple[LoggedCall, ...]:
        """Read a text that is calls from end to end. Raises ``_NoCalls``."""
        text = strip_fence(text)
        for read in (self.read_json, self.read_name_first, self.read_python):
            with suppress(_NoCalls, ValueError, UnreadableLogError):
                if calls := read(text):
                    return calls
        raise _NoCalls

    def read_json(self, text: str) -> tuple[LoggedCall, ...]:
        """Read JSON values, or one Python literal, that are calls. Raises ``_NoCalls`` and others."""
        values: list[object] = []
        for value in split_values(text):
            value = as_mapping(value).get("tool_calls", value)
            values += value if isinstance(value, list) else [value]
        for each in map(as_mapping, values):
            call = as_mapping(each.get("function", each)) or each
            if call.keys().isdisjoint(("arguments", "parameters", "args", "input")):
                raise _NoCalls
        calls = map(read_call, values)
        return tuple(replace(call, name=self._find_name(call.name) or call.name) for call in calls)

    def read_name_first(self, text: str) -> tuple[LoggedCall, ...]:
        """Read a name before its arguments. Raises ``_NoCalls`` and others."""
        with suppress(Undecodable, WrongFormat):
            return tuple(map(self._place_arguments, NATIVE_SYNTAXES["glm4"].read_calls(text)))
        raise _NoCalls

    def read_python(self, text: str) -> tuple[LoggedCall, ...]:
        """Read calls as Python writes them, also line by line, and with line ends in texts."""

        def write_python(match: re.Match[str]) -> str:
            if not match["quote"]:
                return _show_name(match["other"] or "")
            return match[0] if len(match["quote"]) > 1 else re.sub(r"(?<!\\)\n", r"\\n", match[0])

        text = self._python.sub(write_python, text)
        for pieces in ([text], text.splitlines()):
            calls: list[Call] = []
            with suppress(Undecodable, WrongFormat), refuse_faults():
                for piece in filter(str.strip, pieces):
                    hit = re.fullmatch(r"\s*print\((.*)\)\s*", piece, re.DOTALL)
                    calls += python.parse_corrected((hit[1] if hit else piece).rstrip().rstrip(",;"))
                return tuple(map(self._place_arguments, calls))
        raise _NoCalls

    def read_by_families(self, text: str) -> tuple[LoggedCall, ...]:
        """Read a text as the first family does whose calls were all offered, and none of whose is left."""
        marks = len(_OPENING.findall(text))
        count = max(marks, *(len(re.findall(rf"\b{re.escape(name)}\b", text)) for name in self._shown), 1)
        for syntax in filter(None, SYNTAXES.values()):
            with suppress(Undecodable, WrongFormat, _NoCalls), refuse_faults():
                calls = tuple(map(self._place_arguments, syntax.corrected[Language.PYTHON](text)))
                if calls and len(calls) >= count and all(each.name in self._schemas for each in calls):
                    return calls
        raise _NoCalls

    def _find_name(self, name: str) -> str:
        """Return the name of the offered function that a name means, or an empty text."""
        name = name.removeprefix("functions.")
        return name if name in self._schemas else self._shown.get(_show_name(name), "")

    def _place_arguments(self, call: Call) -> LoggedCall:
        """Return a call whose values without a name are given to the parameters in their order."""
        name = self._find_name(call.name) or call.name
        schemas = self._schemas.get(name, {})
        positional_arguments = dict(zip(schemas, call.positional, strict=False))
        arguments = {**positional_arguments, **call.arguments}
        arguments_text = json.dumps(arguments, default=str)
        # The value of an inner call is not known.
        if len(arguments) < len(call.positional) + len(call.arguments) or self._attempt.search(
            arguments_text
        ):
            raise _NoCalls
        return LoggedCall(name, read_json_text(arguments_text))


def _show_name(name: str) -> str:
    return re.sub(r"\W", "_", name)


_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "ai", "chatbot", "bot"), "assistant"),
    **dict.fromkeys(("function_call", "tool_call", "tool_calls"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "tool_response", "tool_result"), "tool"),
    **dict.fromkeys(("function_response", "function_call_output", "tool_output"), "tool"),
}
"""The roles of the forms in the words of the chat form."""

_CALL_ROLES = frozenset({"function_call", "tool_call", "tool_calls"})
"""Roles, and types of parts, that are calls and nothing else."""
_CALL_KEYS = ("toolUse", "functionCall", "function_call")
_CALL_TYPES = _CALL_ROLES | {"tool_use"}
_RESULT_KEYS = ("toolResult", "functionResponse", "function_response")
_RESULT_TYPES = frozenset(
    {"tool_result", "tool_call_response", "function_call_output", "tool_response", "tool_output"}
)
_TEXT_TYPES = (None, "text", "input_text", "output_text", "refusal")
_SILENT = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoningContent", "cachePoint", "thought"}
)
"""Types and keys of parts that say nothing to the user."""

_TAGGED_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


def read_messages(values: Iterable[object]) -> tuple[LoggedMessage, ...]:
    """Read messages in order. Raises ``UnreadableLogError`` and ValueError."""
    read: list[LoggedMessage] = []
    for value in values:
        bare_message = unwrap_message(as_mapping(value))
        for message in _read_message(bare_message):
            # Some forms have a message for each call, beside one for the words of the same answer.
            if read and _name_role(bare_message) in _CALL_ROLES and read[-1].role == "assistant":
                read[-1] = replace(read[-1], calls=(*read[-1].calls, *message.calls))
            else:
                read.append(message)
    return tuple(read)


def unwrap_message(value: Mapping[str, object]) -> Mapping[str, object]:
    """Return a message without what LangChain and OpenInference put around it."""
    for key in ("kwargs", "data", "message"):
        if isinstance(inner := value.get(key), Mapping):
            path = value.get("id")
            kind = str(path[-1]) if isinstance(path, list) and path else str(value.get("type", ""))
            role = kind.removesuffix("Chunk").removesuffix("Message").lower()
            return {**({"role": role} if role in _ROLES else {}), **inner}
    return value


def _name_role(message: Mapping[str, object]) -> str:
    """Return who says a message, or what kind of thing it is, in the words of its form."""
    role = str(next((message[key] for key in ("role", "from", "type") if message.get(key)), None))
    return "assistant" if role == "message" else role


def _read_message(message: Mapping[str, object]) -> Iterator[LoggedMessage]:
    """Read a message, which may be several: results beside words."""
    role_name = _name_role(message)
    if role_name in _SILENT:
        return
    role = _ROLES.get(role_name.lower(), role_name)
    keys = ("content", "value", "parts", "message", "output")
    content = next((message[key] for key in keys if key in message), None)
    call_id = str(message.get("tool_call_id") or message.get("call_id") or "")
    is_example = message.get("weight") != 0
    if role_name in _CALL_ROLES:
        calls = map(read_call, load_list(content) if content else [message])
        yield LoggedMessage(role, "", tuple(calls), is_example=is_example)
        return
    parts = content if isinstance(content, list) else [] if content is None else [content]
    read = [_read_part(part) for part in parts]
    values = [as_mapping(part) for part, reading in zip(parts, read, strict=True) if isinstance(reading, str)]
    if role == "tool" and (None in read or any(len(value) > 1 and "type" not in value for value in values)):
        # A result may be any value.
        read = [json.dumps(content, ensure_ascii=False)]
    yield from (part for part in read if isinstance(part, LoggedMessage))
    all_calls = [part for part in read if isinstance(part, LoggedCall)] or _read_calls_beside(message)
    text = "\n".join(part for part in read if part and isinstance(part, str))
    results = _TAGGED_RESULT.findall(text) if role in ("tool", "user") else []
    if results and not _TAGGED_RESULT.sub("", text).strip():
        yield from (LoggedMessage("tool", each, call_id=call_id) for each in results)
    elif text or all_calls or None in read or not any(isinstance(part, LoggedMessage) for part in read):
        unknown = [as_mapping(part) for part, reading in zip(parts, read, strict=False) if reading is None]
        other = next((str(part.get("type") or next(iter(part), "?")) for part in unknown), "")
        yield LoggedMessage(role, text, tuple(all_calls), call_id, is_example, other)


def _read_calls_beside(message: Mapping[str, object]) -> list[LoggedCall]:
    """Read the calls that stand beside the content; LangChain kept those of an interface in a member."""
    for holder in (message, as_mapping(message.get("additional_kwargs"))):
        for key in ("tool_calls", "function_call", "toolCalls"):
            if calls := holder.get(key):
                return [*map(read_call, load_list(calls))]
    return []


def _read_part(part: object) -> str | LoggedCall | LoggedMessage | None:
    """Read a part of a message; None for one that is no text, no call and no result."""
    if isinstance(part, str):
        return part
    value = as_mapping(part)
    kind = value.get("type")
    if not isinstance(kind, str | None):
        return None
    if kind in _CALL_TYPES:
        return read_call(load_json(value["value"]) if isinstance(value.get("value"), str) else value)
    if kind in _RESULT_TYPES:
        return _read_result(value)
    for key, inner in value.items():
        if key in _CALL_KEYS and isinstance(inner, Mapping):
            return read_call(inner)
        if key in _RESULT_KEYS and isinstance(inner, Mapping):
            return _read_result(inner)
    if kind in _SILENT or any(value.get(key) for key in _SILENT):
        return ""
    text = next((value[key] for key in ("text", "value", "content", "refusal") if key in value), None)
    return text if kind in _TEXT_TYPES and isinstance(text, str) else None


def _read_result(value: Mapping[str, object]) -> LoggedMessage:
    """Read the result of a call: a text, parts that have one, or any JSON value."""
    keys = ("content", "response", "result", "output", "value")
    result = next((value[key] for key in keys if key in value), "")
    if isinstance(result, list) and all(
        isinstance(each, Mapping) and {"text", "json"} & each.keys() for each in result
    ):
        pieces = [each.get("text", each.get("json")) for each in map(as_mapping, result)]
        result = pieces[0] if len(pieces) == 1 else "\n".join(map(write_text, pieces))
    ids = ("tool_use_id", "toolUseId", "call_id", "tool_call_id", "id")
    call_id = next((str(value[key]) for key in ids if value.get(key)), "")
    return LoggedMessage("tool", write_text(result), call_id=call_id)


def write_text(value: object) -> str:
    """Return a text, or any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_call(value: object) -> LoggedCall:
    """Read a call, in a ``function`` or not. Raises ``UnreadableLogError``."""
    members = as_mapping(value)
    outer = as_mapping(members.get("tool_call", members))
    call = as_mapping(inner) if isinstance(inner := outer.get("function"), Mapping) else outer
    names = [call[key] for key in ("name", "tool_name", "function") if isinstance(call.get(key), str)]
    if not names:
        raise UnreadableLogError(f"has a call without a name: {json.dumps(value)[:80]}")
    keys = ("arguments", "parameters", "args", "input")
    arguments = next((call[key] for key in keys if call.get(key) is not None), {})
    ids = (outer[key] for key in ("call_id", "toolUseId", "id") if outer.get(key))
    if isinstance(arguments, str):
        # What is no JSON is what the assistant said; no entry is made of it.
        with suppress(ValueError):
            arguments = load_json(arguments) if arguments.strip() else {}
    return LoggedCall(str(names[0]), arguments, str(next(ids, "")))
