"""A call syntax: a way to write calls as text, and its readers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call, ToolCall


class Undecodable(Exception):  # noqa: N818 - a parser's "no", not a fault of ours
    """The text is not calls in the expected syntax; the message says why."""


class WrongFormat(Exception):  # noqa: N818 - a parser's "no", not a fault of ours
    """The text was decoded, but to something that is not calls with named arguments."""


@contextmanager
def refuse_faults() -> Iterator[None]:
    """Turn every other error of a reader into ``Undecodable``, because a model can write any text.

    The reason names the error, so that a mistake of a reader is seen. What ends a program comes through.
    """
    try:
        yield
    except (Undecodable, WrongFormat):
        raise
    except Exception as error:
        raise Undecodable(f"the text cannot be read: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class Calls:
    """The answer is these calls, in order; an empty list is possible (``[]``)."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """The answer is text that does not try to call anything."""

    text: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The answer cannot be read as calls; ``code`` is the official decoder's error type."""

    reason: str
    code: str = "ast_decoder:decoder_failed"


Reading: TypeAlias = Calls | Prose | Unreadable

LONGEST_LITERAL = 5_000
"""The limit of a literal's length: the time of some official patterns grows with its square."""

WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"


def as_call(name: str, arguments: object) -> Call:
    """Make a call of a name and decoded arguments. Raises ``WrongFormat`` unless they are an object."""
    if not isinstance(arguments, Mapping):
        raise WrongFormat(f"the arguments of {name!r} are {type(arguments).__name__}, not an object")
    return Call(name, {str(key): value for key, value in arguments.items()})


def add_brackets(text: str) -> str:
    """Make a text a bracketed list as BFCL does: bare backticks, spaces and line ends go first."""
    # Tabs and carriage returns stay (official), so that such a text gets a bracket too many.
    text = text.strip("`\n ")
    if not text.startswith("["):
        text = "[" + text
    return text if text.endswith("]") else text + "]"


def strip_fence(text: str) -> str:
    """Strip white space and a code fence that wraps all of a text."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        text = text[3:-3]
        first, line_end, rest = text.partition("\n")
        if line_end and re.fullmatch(r"[\w+-]*", first.strip()):
            # The first line of a fence names the language.
            text = rest
        elif language := re.match(r"[\w+-]++[ \t]++(?=\[)", text):
            text = text[language.end() :]
    return text.strip().strip("`").strip()


def strip_brackets(text: str) -> str:
    """Return the inside of a list that may be fenced or lack a bracket, without a separator at its end."""
    return add_brackets(strip_fence(text).rstrip(";,"))[1:-1].strip().rstrip(";,")


OPENING, CLOSING = "<TOOLCALL>", "</TOOLCALL>"


def find_between(text: str, opening: str, closing: str, start: int = 0) -> tuple[int, int] | None:
    """Return the beginning and the end of the first text between two marks, without the marks."""
    begin = text.find(opening, start)
    if begin < 0:
        return None
    begin += len(opening)
    end = text.find(closing, begin)
    return None if end < 0 else (begin, end)


def find_all_between(text: str, opening: str, closing: str) -> list[str]:
    """Return all texts between two marks, in time that grows with the length of the text only."""
    texts, at = [], 0
    while place := find_between(text, opening, closing, at):
        texts.append(text[slice(*place)])
        at = place[1] + len(closing)
    return texts


DEEPEST = 200
"""The largest depth of JSON that is read in an answer, as of Python's brackets."""
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.DOTALL)
"""A text of JSON, which may have brackets in it, or a bracket."""
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def check_depth(text: str, start: int = 0) -> None:
    """Raise ``Undecodable`` where the JSON value that begins at a place is nested too deeply."""
    if text.count("[", start) + text.count("{", start) <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += _STEPS.get(bracket[0], 0)
        if depth > DEEPEST:
            raise Undecodable(f"not JSON: nested more than {DEEPEST} deep")
        if depth < 1:
            return


def from_json(text: str) -> object:
    """Decode JSON text of a model. Raises ``Undecodable`` with the parser's words."""
    check_depth(text)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
    return value


def read_named_calls(value: object, arguments: str = "arguments") -> tuple[Call, ...]:
    """Read a decoded list of calls, or a single call; ``arguments`` is the key for these.

    Raises ``Undecodable`` and ``WrongFormat``.
    """
    # All are decoded before the form of any is looked at, as officially.
    pairs: list[tuple[str, object]] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, Mapping) or not {"name", arguments} <= item.keys():
            raise Undecodable(f'expected objects with "name" and "{arguments}"')
        if isinstance(item["name"], list | dict):
            raise Undecodable("a function's name is text")
        pairs.append((str(item["name"]), item[arguments]))
    return tuple(as_call(*pair) for pair in pairs)


def read_members(value: object) -> tuple[Call, ...]:
    """Read every member of a decoded value as a call. Raises ``Undecodable`` and ``WrongFormat``.

    Officially the members of anything are looked at, so that an empty text or object calls nothing.
    """
    if not isinstance(value, list | str | dict):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return read_named_calls(list(value))


_VALUE = re.compile(r"\[\s*[{\]]|\{\s*\"")
"""The beginning of a list of calls, of an empty list or of a call; other brackets belong to prose."""


def find_json_values(text: str) -> list[object]:
    """Decode the JSON lists and objects of a text; members of lists stand for themselves.

    Raises ``Undecodable`` where there is none, or one is broken.
    """
    decoder, at = json.JSONDecoder(), 0
    items: list[object] = []
    while match := _VALUE.search(text, at):
        check_depth(text, match.start())
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError) as error:
            # Nothing behind a broken value is read: it could be a part of it.
            raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
        items += value if isinstance(value, list) else [value]
    if not at:
        raise Undecodable("there is no JSON list of calls")
    return items


def find_named_calls(text: str) -> tuple[Call, ...]:
    """Read every JSON object of a text as a call with a name, and arguments or parameters.

    Raises ``Undecodable`` and ``WrongFormat``.
    """
    calls = []
    for item in find_json_values(text):
        tool_calls = item.get("tool_calls") if isinstance(item, Mapping) else None
        for value in tool_calls if isinstance(tool_calls, list) else [item]:
            if not isinstance(value, Mapping):
                raise Undecodable('expected objects with "name" and "arguments"')
            # Cohere's calls have "tool_name" and "parameters".
            if not isinstance(name := value.get("name", value.get("tool_name")), str):
                raise Undecodable('expected objects with "name" and "arguments"')
            arguments = value.get("arguments", value.get("parameters", {}))
            calls.append(as_call(name, from_json(arguments) if isinstance(arguments, str) else arguments))
    return tuple(calls)


CallWriter: TypeAlias = Callable[[Sequence[Call]], tuple[str, ...]]
"""Write each call as a text. Raises ``Undecodable``."""


def write_joined(calls: Sequence[Call]) -> tuple[str, ...]:
    """Write arguments one behind the other, as for tool calls (official: ``convert_to_function_call``)."""
    return tuple(_write_call(call.name, call.arguments, ",", repr) for call in calls)


def write_spaced(calls: Sequence[Call]) -> tuple[str, ...]:
    """Write arguments with a space behind each comma, as some handlers of JSON calls do."""
    return tuple(_write_call(call.name, call.arguments, ", ", repr) for call in calls)


def write_nested(calls: Sequence[Call]) -> tuple[str, ...]:
    """Write calls that were read from Python text, nested ones among them. Raises ``Undecodable``.

    In such a text, unlike in tool calls, a nested call was read as a dict of a dict. So every dict of dicts
    is written as a call: its first member is the function, the others are lost, and an empty dict makes the
    whole answer undecodable. The keys of any other dict become texts.
    """
    return tuple(_write_call(call.name, call.arguments, ", ", _write_value) for call in calls)


def _write_call(name: object, arguments: object, between: str, write: Callable[[object], str]) -> str:
    if not isinstance(arguments, dict):
        raise Undecodable(f"the arguments of {name} are {type(arguments).__name__}")
    return f"{name}({between.join(f'{key}={write(value)}' for key, value in arguments.items())})"


def _write_value(value: object) -> str:
    # Official: lists are not looked into, so a nested call in one stays a dict.
    if not isinstance(value, dict):
        return repr(value)
    if not all(isinstance(member, dict) for member in value.values()):
        members = (f"'{key}': {_write_value(member)}" for key, member in value.items())
        return f"{{{', '.join(members)}}}"
    if not value:
        raise Undecodable("an empty dict reads as a call without a name")
    name, arguments = next(iter(value.items()))
    return _write_call(name, arguments, ", ", _write_value)


def read_as_they_are(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read calls whose list is passed on unread; a text among them is no call (``WrongFormat``)."""
    if any(isinstance(part, str) for part in parts):
        raise WrongFormat("there is text among the calls")
    return tuple(
        as_call(part.name, decode_leniently(part.arguments, part.arguments))
        for part in parts
        if isinstance(part, ToolCall)
    )


def read_calls_only(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read calls of a list that must hold nothing else (``Undecodable``)."""
    if any(isinstance(part, str) for part in parts):
        raise Undecodable("the model did not return a list of calls only")
    return read_as_they_are(parts)


def read_vendor_objects(parts: Sequence[ToolCall | str], name: str, arguments: str) -> tuple[Call, ...]:
    """Read objects with these two keys, which are kept as JSON text; also ordinary tool calls."""
    calls: list[Call] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls += read_as_they_are([part])
            continue
        value = from_json(part)
        if not isinstance(value, dict) or not {name, arguments} <= value.keys():
            raise Undecodable(f'expected objects with "{name}" and "{arguments}"')
        calls.append(as_call(str(value[name]), value[arguments]))
    return tuple(calls)


def write_lenient_calls(value: object) -> tuple[str, ...]:
    """Write the objects of a list as calls; other members are left out, and what an object lacks is empty.

    Raises ``WrongFormat``.
    """
    objects = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return write_spaced([as_call(str(item.get("name", "")), item.get("arguments", {})) for item in objects])


def decode_leniently(text: object, otherwise: object) -> object:
    """Decode a text of JSON; return ``otherwise`` for what is none."""
    try:
        return from_json(text) if isinstance(text, str) else otherwise
    except Undecodable:
        return otherwise


TextReader: TypeAlias = Callable[[str], tuple[Call, ...]]
"""Read the calls of a text. Raises ``Undecodable`` and ``WrongFormat``."""
PartsReader: TypeAlias = Callable[[Sequence[ToolCall | str]], tuple[Call, ...]]
"""Read the calls of an answer that came as a list of parts. Raises ``Undecodable`` and ``WrongFormat``."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """A notation of calls as text: the mode that it belongs to, and its readers by language."""

    mode: Mode
    official: Mapping[Language, TextReader]
    corrected: Mapping[Language, TextReader]
    is_read_in: Callable[[str], bool] | None = None
    """A test for the look of this syntax in a stripped text, or None."""
    parts: PartsReader | None = None
    """The official reader of an answer that is a list; None where it is read like any tool calls."""
    write: CallWriter = write_nested
    """The official way to write these calls as Python texts."""
    execution_reader: Callable[[str], tuple[str, ...]] | None = None
    """The official reader of the texts to carry out, where it reads otherwise than ``official``. Raises
    ``Undecodable`` and ``WrongFormat``."""
    execution_parts_reader: Callable[[Sequence[ToolCall | str]], tuple[str, ...]] | None = None
    """The same for an answer that is a list."""


def read_every_language(
    mode: Mode,
    official: TextReader,
    corrected: TextReader,
    is_read_in: Callable[[str], bool] | None = None,
) -> Syntax:
    """Return a syntax whose readers are the same for all languages."""
    readers = dict.fromkeys(Language, official), dict.fromkeys(Language, corrected)
    return Syntax(mode, *readers, is_read_in)


def read_json_calls(official: TextReader, is_read_in: Callable[[str], bool] | None = None) -> Syntax:
    """Return the syntax of a model family that writes calls as JSON.

    The corrected reading takes what the official one finds, else every JSON object with a name and arguments.
    """

    def read_leniently(text: str) -> tuple[Call, ...]:
        with suppress(Undecodable, WrongFormat):
            if calls := official(text):
                return calls
        return find_named_calls(text)

    return replace(read_every_language(Mode.FC, official, read_leniently, is_read_in), write=write_joined)
