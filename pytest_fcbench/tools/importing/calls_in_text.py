"""Find the calls that stayed in the text of an answer, as a server without the right tool parser logs them.

Read are the marks of all families that are known (tags, tokens, fences, ``Action:``), and behind them JSON,
Python literals, XML, a name before its arguments, or Python calls; without marks only what calls a function
that was offered, or can be nothing else. A text that looks like a call and is read by none of this makes no
entry: taken for words, it would turn the truth round.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat, refuse_faults
from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.codecs.decoders.wrapping import strip_fence
from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.reasoning import drop_reasoning
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.tools.importing.logged import (
    LoggedCall,
    LoggedConversation,
    LoggedMessage,
    UnreadableLogError,
    load_json,
    split_values,
)
from pytest_fcbench.tools.importing.message_forms import read_call
from pytest_fcbench.tools.importing.offered_tools import find_parameters, name_tool

_NOTATIONS: Sequence[tuple[str, str]] = (
    # gpt-oss: the channel of reasoning, and the name in the head of a message.
    (r"<\|channel\|>analysis<\|message\|>.*?<\|end\|>", ""),
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>\w+ to=functions\.([\w.-]+).*?<\|message\|>",
        "<tool_call>\\1\n",
    ),
    (r"(?m)^[ \t]*Action:[ \t]*`?([\w.-]+)`?[ \t]*\n\s*Action Input:", "<tool_call>\\1\n"),
    (r"```tool_(?:code|calls?)\b(.*?)```", r"<tool_call>\1</tool_call>"),
    (r"<function(?:=| name=)[\"']?([\w.-]+)[\"']?>", r"<tool_call><invoke name=\1>"),
    (r"<invoke name=[\"']?([\w.-]+)[\"']?>", r"<tool_call><invoke name=\1>"),
    (r"</function>|</invoke>", "</tool_call>"),
    (r"functools(?=\[)|<<function>>", "<tool_call>"),
    (r"<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "<tool_call>"),
    (r"<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|\[ARGS\]|\[CALL_ID\]\w+", "\n"),
)
"""Notations of families in the words of one: a tag, and in it what is called."""

_OPENING = re.compile(
    r"<tool_calls?>|<\|tool_calls?(?:_start|_begin|_section_begin)?\|>|<\|tool_call>|<｜tool▁calls?▁begin｜>|\[TOOL_CALLS\]"
    r"|<TOOLCALL>|<(?:antml:)?function_?calls?>|<functions>|<\|python_tag\|>|<start_function_call>|<minimax:tool_call>"
)
_CLOSING = re.compile(
    r"</tool_calls?>|<\|/tool_call\|>|<tool_call\|>|<\|tool_calls?_(?:section_)?end\|>|<｜tool▁calls?▁end｜>|\[/TOOL_CALLS\]|</TOOLCALL>"
    r"|</(?:antml:)?function_?calls?>|</minimax:tool_call>|<\|endoftext\|>|<\|e[o]\w_id\|>|<\|im_end\|>|<\|call\|>|<\|eot?m?\|>|</s>"
)
_ARGUMENT = re.compile(
    r"<(?:parameter)(?:=| name=)[\"']?([\w.-]+)[\"']?[^>]*>(.*?)</parameter>"
    r"|<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>",
    re.DOTALL,
)
_NAMED_CALL = re.compile(r"(?:<invoke name=)?(?:functions\.)?([\w.-]+)(?::\d+)?>?\s*(.*)", re.DOTALL)
_MOST_LINES = 50


class _NoCalls(Exception):  # noqa: N818 - not a fault
    """A text that is no calls."""


def separate_calls(logged: LoggedConversation) -> LoggedConversation:
    """Make calls of the calls in the texts of a conversation, and mark texts that only look like one."""
    reader = _TextReader(logged.tools)
    messages: list[LoggedMessage] = []
    is_called = False
    for message in logged.messages:
        if message.role == "assistant":
            if message.text and not message.calls:
                message = reader.read_message(message)
                is_called = bool(message.calls)
        elif message.role == "user" and is_called and message.text.startswith("Observation:"):
            message = replace(message, role="tool", text=message.text.removeprefix("Observation:").strip())
        messages.append(message)
    return replace(logged, messages=tuple(messages))


class _TextReader:
    """Reads calls in texts under the names of the functions that were offered."""

    def __init__(self, tools: Sequence[Mapping[str, object]]) -> None:
        self._schemas = {name_tool(tool): find_parameters(tool) for tool in tools if name_tool(tool)}
        self._shown = {_show_name(name): name for name in self._schemas}
        self._names = (
            "|".join(sorted({*map(re.escape, self._schemas), *map(re.escape, self._shown)})) or r"(?!)"
        )

    # Compiled where a text needs them: that takes longer than to read most conversations.
    @cached_property
    def _attempt(self) -> re.Pattern[str]:
        """What looks like a call of an offered function."""
        return re.compile(
            rf"(?<![\w.-])(?:{self._names})\(\s*(?:\)|[\"'\[{{\d]|\w+\s*[=:])"
            rf"|[\"'](?:name|function|tool_name|tool|action)[\"']\s*:\s*[\"'](?:functions\.)?(?:{self._names})[\"']"
            rf"|[\"'](?:{self._names})[\"']\s*:\s*\{{"
            rf"|(?m:^[ \t]*(?:Action:[ \t]*(?:{self._names})\b|(?:{self._names})[\s:]*\{{))"
        )

    @cached_property
    def start(self) -> re.Pattern[str]:
        """The beginnings of lines at which calls may begin."""
        return re.compile(rf"(?m)^(?=[\[{{`]|(?:{self._names})(?!\w))")

    @cached_property
    def other_name(self) -> re.Pattern[str]:
        """Names before a bracket that Python has not, with spaces or hyphens."""
        others = "|".join(
            re.escape(name) for name in self._schemas if not name.replace(".", "_").isidentifier()
        )
        return re.compile(rf"(?<![\w.-])({others or '(?!)'})(?=\()")

    def read_message(self, message: LoggedMessage) -> LoggedMessage:
        """Return an answer with the calls in its text, or marked where it seems to have some."""
        text = drop_reasoning(message.text).strip()
        marked = text
        for pattern, written in _NOTATIONS:
            marked = re.sub(pattern, written, marked, flags=re.DOTALL)
        is_named = any(name in text for name in (*self._schemas, *self._shown))
        if not is_named and not marked.startswith(("[", "{", "`")) and not _OPENING.search(marked):
            return message
        with suppress(_NoCalls):
            read = self.read_marked if _OPENING.search(marked) else self.read_unmarked
            words, calls = read(marked)
            return replace(message, text=words, calls=calls)
        if _OPENING.search(marked):
            with suppress(_NoCalls):
                return replace(message, text="", calls=self.read_by_families(text))
        has_call = bool(_OPENING.search(marked) or self._attempt.search(text))
        return replace(message, has_unread_call=has_call)

    def read_marked(self, text: str) -> tuple[str, tuple[LoggedCall, ...]]:
        """Read the pieces behind marks; only behind a closing one there may be words again."""
        words, *pieces = _OPENING.split(text)
        said = [_CLOSING.sub("", words).strip()]
        calls: list[LoggedCall] = []
        for piece in filter(str.strip, pieces):
            inside, *behind = _CLOSING.split(piece)
            if inside.strip():
                calls += self.read_piece(inside.strip().rstrip(";,"))
            said += filter(None, map(str.strip, behind))
        if not calls or any("Observation:" in each or self._attempt.search(each) for each in said):
            raise _NoCalls
        return "\n".join(filter(None, said)), tuple(calls)

    def read_unmarked(self, text: str) -> tuple[str, tuple[LoggedCall, ...]]:
        """Read a text that is calls, or ends in calls of offered functions."""
        text = _CLOSING.sub("", text).strip()
        for count, line in enumerate(self.start.finditer(text)):
            if count > _MOST_LINES:
                break
            start = line.start()
            with suppress(_NoCalls):
                calls = self.read_piece(text[start:])
                is_whole = (
                    not start
                    and strip_fence(text).startswith(("[", "{"))
                    and all(each.arguments for each in calls)
                )
                if is_whole or all(each.name in self._schemas for each in calls):
                    return text[:start].strip(), calls
        raise _NoCalls

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
        found: list[object] = []
        for value in split_values(text):
            value = as_mapping(value).get("tool_calls", value)
            found += value if isinstance(value, list) else [value]
        for each in map(as_mapping, found):
            call = as_mapping(each.get("function", each)) or each
            if call.keys().isdisjoint(("arguments", "parameters", "args", "input")):
                raise _NoCalls
        calls = map(read_call, found)
        return tuple(replace(call, name=self._find_name(call.name) or call.name) for call in calls)

    def read_name_first(self, text: str) -> tuple[LoggedCall, ...]:
        """Read names with the arguments of each behind it, as JSON or as XML."""
        calls = []
        while text:
            if not (found := _NAMED_CALL.fullmatch(text)) or not (name := self._find_name(found[1])):
                raise _NoCalls
            rest = re.sub(r"\A```\w*\s*|\s*```\Z", "", found[2])
            if arguments := [*_ARGUMENT.finditer(rest)]:
                schemas = self._schemas.get(name, {})
                texts = {(each[1] or each[3]).strip(): each[2] or each[4] or "" for each in arguments}
                values = {
                    key: _read_by_schema(value.strip("\n"), schemas.get(key)) for key, value in texts.items()
                }
                calls.append(LoggedCall(name, values))
                text = re.sub(r"</?parameters>", "", _ARGUMENT.sub("", rest)).strip()
            elif not rest and "invoke" in text:
                return (*calls, LoggedCall(name, {}))
            else:
                value, end = json.JSONDecoder().raw_decode(rest)
                if not isinstance(value, dict):
                    raise _NoCalls
                calls.append(LoggedCall(name, value))
                text = rest[end:].strip().lstrip(";,").strip()
        return tuple(calls)

    def read_python(self, text: str) -> tuple[LoggedCall, ...]:
        """Read calls as Python writes them."""
        if printed := re.fullmatch(r"print\((.*)\)", text, re.DOTALL):
            text = printed[1]
        with suppress(Undecodable, WrongFormat), refuse_faults():
            text = self.other_name.sub(lambda found: _show_name(found[1]), text)
            calls = python.parse_corrected(
                text.replace("default_api.", "").replace("\n", " " if "(" in text else "\n")
            )
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
        placed = dict(zip(schemas, call.positional, strict=False))
        arguments = {**placed, **call.arguments}
        written = json.dumps(arguments, default=str)
        # The value of an inner call is not known.
        if len(arguments) < len(call.positional) + len(call.arguments) or self._attempt.search(written):
            raise _NoCalls
        return LoggedCall(name, json.loads(written))


def _show_name(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _read_by_schema(text: str, schema: object) -> object:
    """Read the text of an argument, which is a text where its parameter is one."""
    if as_mapping(schema).get("type") in ("string", None):
        return text
    try:
        return load_json(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.strip().lower(), text)
