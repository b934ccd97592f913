"""The native syntaxes of models: calls as a model writes them, before any server has read them.

Each is a row of ``native_syntaxes.toml``: what stands before, between and behind calls, and a template of
one. The same row writes calls and reads them, so that what was written reads back equal, or is refused.

White space between the fixed parts of a row may differ in an answer, and other text may stand around calls
that begin with a mark. Where a syntax writes arguments without their types, a text is what the function's
schema declares as one, and without a schema what is no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from pydantic import TypeAdapter

from pytest_fcbench.codecs.decoders.python import parse_corrected, parse_corrected_statements
from pytest_fcbench.codecs.decoders.syntax import (
    DEEPEST,
    Undecodable,
    WrongFormat,
    as_call,
    refuse_faults,
    strip_fence,
)
from pytest_fcbench.domain.function_doc import Schema
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.text import (
    as_list,
    as_mapping,
    escape_surrogates,
    read_json_at,
    read_strict_json,
    shorten_text,
)
from pytest_fcbench.domain.transcript import Call, Completion, Ending, ToolCall, find_reasoning


class Unwritable(ValueError):  # noqa: N818 - a syntax's "no", not a fault of ours
    """A syntax has no form for these calls; the message says why."""


_WHITE_SPACE = re.compile(r"\s*")
_LINE_END = r"(?:\r?\n)?"
_DIGITS = re.compile(r"\d+")
_OPENING_BRACE = re.compile(r"\{")
_NOT_IN_NAMES = re.compile(r"[\n\[\]{}\"'<>]")
"""Characters that a name outside of JSON never has: they belong to the text around it."""
_PLACE = re.compile(r"\{([a-z_]+)\}")
_MARK = re.compile(
    r"<(?!/?(?:｜DSML｜|function(?!_call>)|parameter|invoke|steptml))[^<>\s=\"{}]+>|\[[A-Z_]+\]|｜DSML｜"
)
"""Texts that are one token of such a model; other tags are spelt with ordinary tokens."""
_TEXT_TYPES = frozenset({"string", "str", "char", "text"})
_WORDS: Mapping[str, object] = {"True": True, "False": False, "None": None}
"""Python's words for JSON's, which models write as well."""


@dataclass(frozen=True)
class NativeSyntax:
    """A way in which models write calls, that is written and read by one row of the table."""

    name: str
    models: str
    """The families that write it."""
    call: str
    names: tuple[str, ...] = ()
    """The names of such models, in small letters and digits."""
    opening: str = ""
    pair: str = ""
    between: str = ""
    closing: str = ""
    keys: tuple[str, str] = ("name", "arguments")
    id_key: str = ""
    quotes: str = ""
    most: int | None = None

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The texts of this syntax that are special tokens of a model that writes it."""
        texts = chain(*(map(_MARK.findall, (self.opening, self.call, self.pair, self.closing))))
        return tuple(dict.fromkeys([*texts, *filter(None, [self.quotes])]))

    @cached_property
    def bare(self) -> NativeSyntax:
        """The syntax as servers pass it on that leave special tokens out of texts."""
        texts = (self.opening, self.call, self.pair, self.between, self.closing)
        opening, call, pair, between, closing = (_MARK.sub("", text) for text in texts)
        return replace(self, opening=opening, call=call, pair=pair, between=between, closing=closing)

    @property
    def is_python(self) -> bool:
        """Tell whether calls are written as Python, which is read as such."""
        return "{python}" in self.call

    @cached_property
    def beginning(self) -> re.Pattern[str] | None:
        """The mark with which calls begin; None where they have none and are all of the answer."""
        # Some models leave out what stands before all calls.
        firsts = [text for text in (self.opening, _PLACE.split(self.call)[0]) if re.search(r"\w", text)]
        return re.compile("|".join(_compile_literal(text).pattern for text in firsts)) if firsts else None

    def is_read_in(self, text: str) -> bool:
        """Tell whether a text has calls of this syntax behind their mark, whatever their functions are."""
        with suppress(Undecodable):
            return bool(self.beginning and self.beginning.search(text) and self.read_calls(text))
        return False

    def write_calls(self, calls: Sequence[Call], schemas: Mapping[str, Schema] | None = None) -> str:
        """Write calls as a model would; ``schemas`` are those of the arguments of each function.

        Raises ``Unwritable`` for what would not be read back as these calls.
        """
        if self.most is not None and len(calls) > self.most:
            raise Unwritable(f"{self.name} has a form for {self.most} call, not for {len(calls)}")
        try:
            written = self.between.join(self._write_call(call, index) for index, call in enumerate(calls))
            text = f"{self.opening}{written}{self.closing}"
            text.encode()
            read_back = self.read_calls(text, schemas)
        except (TypeError, ValueError, Undecodable) as error:
            raise Unwritable(f"{self.name} has no form for these calls: {error}") from error
        for call, read in zip(calls, read_back, strict=False):
            if call.name != read.name or _write_json(call.arguments) != _write_json(read.arguments):
                raise Unwritable(f"{self.name} reads {_describe_call(call)} as {_describe_call(read)}")
        if len(read_back) != len(calls):
            raise Unwritable(f"{self.name} reads {len(read_back)} calls of {len(calls)}")
        return text

    def _write_call(self, call: Call, index: int) -> str:
        writers: Mapping[str, Callable[[], str]] = {
            "name": lambda: call.name,
            "index": lambda: str(index),
            "arguments": lambda: _write_json(call.arguments),
            "object": lambda: _write_json(
                ({self.id_key: str(index)} if self.id_key else {})
                | {self.keys[0]: call.name, self.keys[1]: call.arguments}
            ),
            "member": lambda: _write_json({call.name: call.arguments}),
            "pairs": lambda: "".join(self._write_pair(*pair) for pair in call.arguments.items()),
            "python": lambda: ", ".join(f"{name}={value!r}" for name, value in call.arguments.items()),
            "notation": lambda: _write_notation(call.arguments, self.quotes),
        }
        return _PLACE.sub(lambda place: writers[place[1]](), self.call)

    def _write_pair(self, key: str, value: object) -> str:
        is_text = isinstance(value, str)
        texts = {
            "key": key,
            "value": str(value) if is_text else _write_json(value),
            "is_text": str(is_text).lower(),
        }
        return _PLACE.sub(lambda place: texts[place[1]], self.pair)

    def read_calls(self, text: str, schemas: Mapping[str, Schema] | None = None) -> tuple[Call, ...]:
        """Read the calls of a text; ``schemas`` are those of the arguments of each function.

        Raises ``Undecodable``.
        """
        return self.split_text(text, schemas)[1]

    def split_text(
        self, text: str, schemas: Mapping[str, Schema] | None = None
    ) -> tuple[str, tuple[Call, ...], str]:
        """Split a text into the words before its calls, the calls, and the words among and behind them.

        Raises ``Undecodable``.
        """
        try:
            with refuse_faults():
                if self.is_python:
                    words, calls, rest = self._split_python(text)
                    if not all(call.name for call in calls):
                        raise Undecodable("a call has no name")
                    return words, tuple(_name_arguments(call, schemas or {}) for call in calls), rest
                reader = _CallsReader(self, text, schemas or {})
                calls = tuple(reader.read_calls())
        except WrongFormat as error:
            raise Undecodable(str(error)) from None
        beginning = self.beginning.search(text) if self.beginning else None
        return text[: beginning.start() if beginning else 0], calls, reader.gaps + text[reader.at :]

    def _split_python(self, text: str) -> tuple[str, tuple[Call, ...], str]:
        if not self.beginning:
            # Words such as ``Hello (world)`` read as a call only by chance.
            if not strip_fence(text).startswith("["):
                raise Undecodable("calls of this syntax are a list")
            return "", parse_corrected(text), ""
        pieces: list[str] = []
        calls: list[Call] = []
        at = 0
        while opening := self.beginning.search(text, at):
            pieces.append(text[at : opening.start()])
            body = _inside_texts(self.closing).match(text, opening.end())
            inside, at = (body[0], body.end()) if body else ("", opening.end())
            by_line = "\n" in self.between
            calls += parse_corrected_statements(inside.strip()) if by_line else parse_corrected(f"[{inside}]")
            closing = _compile_literal(f" {self.closing} ").match(text, at)
            at = closing.end() if closing else at
        if not pieces:
            raise Undecodable(f"there is no {self.opening.strip()!r}")
        return pieces[0], tuple(calls), "".join(pieces[1:]) + text[at:]


def _name_arguments(call: Call, schemas: Mapping[str, Schema]) -> Call:
    """Give arguments without a name those of the parameters in their order. Raises ``Undecodable``."""
    names = [*as_mapping(schemas.get(call.name, {}).get("properties"))]
    named = dict(zip(names, call.positional, strict=False))
    if len(named) < len(call.positional) or not named.keys().isdisjoint(call.arguments):
        raise Undecodable(f"the call of {call.name} has an argument without a name")
    return replace(call, arguments=named | dict(call.arguments), positional=())


class _CallsReader:
    """Reads the calls of one answer from its beginning to its end."""

    def __init__(self, syntax: NativeSyntax, text: str, schemas: Mapping[str, Schema]) -> None:
        self.syntax, self.text, self.schemas = syntax, text, schemas
        self.at = 0
        self.gaps = ""
        """The words between calls."""
        self.parts = _split_template(syntax.call)
        self.pair_parts = _split_template(syntax.pair)
        self.opening = _compile_literal(f"{syntax.opening} ")

    def read_calls(self) -> Iterable[Call]:
        """Read groups of calls until no more begins. Raises ``Undecodable`` where there is none at all."""
        mark = self.syntax.beginning
        while beginning := mark.search(self.text, self.at) if mark else self.match_start():
            self.gaps += self.text[self.at : beginning.start()] if self.at else ""
            opening = self.opening.match(self.text, beginning.start())
            self.at = opening.end() if opening else beginning.start()
            yield from self.read_group()
            if mark is None and self.text[self.at :].strip():
                raise self.make_refusal("more text follows the calls")
        if self.at == 0:
            raise Undecodable(f"there are no calls of the syntax {self.syntax.name}")

    def match_start(self) -> re.Match[str] | None:
        """Find the beginning of calls that are all of the answer; only once."""
        return None if self.at else _WHITE_SPACE.match(self.text)

    def read_group(self) -> Iterable[Call]:
        """Read calls up to the end of their group. Raises ``Undecodable``."""
        syntax = self.syntax
        between, closing = (_compile_literal(f" {text} ") for text in (syntax.between, syntax.closing))
        if self.syntax.closing and (end := closing.match(self.text, self.at)):
            self.at = end.end()
            return
        while True:
            yield self.read_call()
            # A server may have taken the end away with which the model stopped.
            if self.syntax.closing and (end := closing.match(self.text, self.at)):
                self.at = end.end()
                return
            separator = between.match(self.text, self.at)
            self.at = separator.end() if separator else self.at
            is_last = _skip_space(self.text, self.at) == len(self.text)
            if is_last or (not syntax.opening and syntax.beginning):
                return
            if separator is None:
                raise self.make_refusal("neither another call nor the end of the calls follows")

    def read_call(self) -> Call:
        """Read one call by the template. Raises ``Undecodable`` and ``WrongFormat``."""
        name = ""
        arguments: object = {}
        for part, following in zip(self.parts, [*self.parts[1:], None], strict=True):
            match part:
                case re.Pattern():
                    if following or not self.is_cut_end():
                        self.skip_part(part)
                case "name":
                    name = self.read_until(self.find_end_of_name(following)).strip()
                case "index":
                    self.skip_part(_DIGITS)
                case "arguments":
                    arguments = self.read_json()
                case "object":
                    name, arguments = self.split_object(self.read_json())
                case "member":
                    name, arguments = self.split_member(self.read_json())
                case "pairs":
                    arguments = self.read_pairs(as_mapping(self.schemas.get(name, {}).get("properties")))
                case "notation":
                    arguments, self.at = _read_notation(self.text, self.at, self.syntax.quotes)
        if not name or (_NOT_IN_NAMES.search(name) and "name" in self.parts):
            raise self.make_refusal("a call has no name")
        return as_call(name, arguments)

    def is_cut_end(self) -> bool:
        """Pass the last tags of a text that lacks the very last ones of its call; tell whether it does."""
        end = "".join(_PLACE.split(self.syntax.call)[-1].split())
        # A longer rest is not looked at, so that time does not grow with its length for each call.
        is_long = len(self.text) - self.at > 2 * len(self.syntax.call)
        rest = "" if is_long else "".join(self.text[self.at :].split())
        is_cut = rest.endswith(">") and rest != end and end.startswith(rest)
        self.at = len(self.text) if is_cut else self.at
        return is_cut

    def find_end_of_name(self, following: re.Pattern[str] | str | None) -> re.Pattern[str]:
        """Return what ends a name before a part of the template."""
        if following in ("pairs", _WHITE_SPACE):
            ends = (part for part in (*self.pair_parts[:1], self.parts[-1]) if isinstance(part, re.Pattern))
            return re.compile("|".join((r"\s", *(part.pattern for part in ends))))
        if not isinstance(following, re.Pattern):
            return _OPENING_BRACE
        return re.compile(_seek_once(following.pattern))

    def split_object(self, value: object) -> tuple[str, object]:
        """Return name and arguments of an object with keys for them. Raises ``Undecodable``."""
        name_key, arguments_key = self.syntax.keys
        if not isinstance(value, dict) or not isinstance(value.get(name_key), str):
            raise self.make_refusal(f'expected an object with "{name_key}" and "{arguments_key}"')
        # Models mix up these two.
        for key in (arguments_key, "arguments", "parameters"):
            if key in value:
                return value[name_key], value[key]
        raise self.make_refusal(f'the call of {value[name_key]!r} has no "{arguments_key}"')

    def split_member(self, value: object) -> tuple[str, object]:
        """Return name and arguments of an object ``{name: arguments}``. Raises ``Undecodable``."""
        if not isinstance(value, dict) or len(value) != 1:
            raise self.make_refusal("expected an object with the name of one function")
        return next(iter(value.items()))

    def read_pairs(self, schemas: Mapping[str, object]) -> dict[str, object]:
        """Read arguments by the template of one. Raises ``Undecodable``."""
        first, *parts = self.pair_parts
        assert isinstance(first, re.Pattern)
        arguments: dict[str, object] = {}
        while opening := first.match(self.text, self.at):
            self.at = opening.end()
            texts: dict[str, str] = {}
            for part, following in zip(parts, [*parts[1:], None], strict=True):
                if isinstance(part, re.Pattern):
                    self.skip_part(part)
                else:
                    assert isinstance(following, re.Pattern)
                    texts[part] = self.read_until(following)
            key, text = texts["key"].strip(), texts["value"]
            if "is_text" in texts:
                arguments[key] = text if texts["is_text"] == "true" else self.read_typed(text)
            else:
                arguments[key] = read_untyped(text, as_mapping(schemas.get(key)))
        return arguments

    def read_typed(self, text: str) -> object:
        """Read an argument that is said to be no text. Raises ``Undecodable``."""
        try:
            return read_strict_json(text)
        except ValueError as error:
            raise self.make_refusal(f"an argument is no JSON: {error}") from None

    def read_json(self) -> object:
        """Read the JSON value that begins here. Raises ``Undecodable``."""
        self.skip_part(_WHITE_SPACE)
        try:
            value, self.at = read_json_at(self.text, self.at)
        except ValueError as error:
            raise self.make_refusal(f"not JSON: {error}") from None
        return value

    def read_until(self, end: re.Pattern[str]) -> str:
        """Return the text up to a fixed part. Raises ``Undecodable`` where there is none."""
        if not (match := end.search(self.text, self.at)):
            raise self.make_refusal("a call is not ended")
        text, self.at = self.text[self.at : match.start()], match.start()
        return text

    def skip_part(self, pattern: re.Pattern[str]) -> None:
        """Go behind a fixed part. Raises ``Undecodable`` where another text stands."""
        if not (match := pattern.match(self.text, self.at)):
            expected = pattern.pattern.replace(r"\s*", " ").replace("\\", "")
            raise self.make_refusal(f"expected {expected!r}")
        self.at = match.end()

    def make_refusal(self, reason: str) -> Undecodable:
        """Return the error for the place where reading ends."""
        return Undecodable(f"{reason}, at {shorten_text(self.text[self.at : self.at + 80], 40)!r}")


def read_untyped(text: str, schema: Schema) -> object:
    """Read an argument that was written without its type: a text, or a JSON value, as its schema says."""
    kinds = _list_kinds(schema)
    # Where null may stand, a null is none of its texts.
    is_null = "null" in kinds and text.strip() in ("null", "None")
    if (kinds and kinds <= _TEXT_TYPES | {"null"} and not is_null) or text in as_list(schema.get("enum")):
        return text
    try:
        value = read_strict_json(text)
    except ValueError:
        return _WORDS.get(text.strip(), text)
    # A text in quotes is one that has quotes, unless nothing but JSON is declared.
    return text if isinstance(value, str) and (not kinds or kinds & _TEXT_TYPES) else value


def _list_kinds(schema: Schema) -> set[str]:
    """List the types of a schema, or of its alternatives, in small letters; none where one has no type."""
    kind = schema.get("type")
    kinds = {str(each).lower() for each in ([kind] if isinstance(kind, str) else as_list(kind))}
    alternatives = map(as_mapping, (*as_list(schema.get("anyOf")), *as_list(schema.get("oneOf"))))
    # One that refers to another schema may be of any type; one that lists values adds none.
    parts = [
        _list_kinds(each) for each in alternatives if "type" in each or not each.keys() & {"enum", "const"}
    ]
    return kinds if kinds or not all(parts) else kinds.union(*parts)


def _write_json(value: object) -> str:
    # A text of UTF-8 has no surrogates, but JSON can name them.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return escape_surrogates(text)


def _describe_call(call: Call) -> str:
    return shorten_text(f"{call.name}({_write_json(call.arguments)})", 120)


def _compile_literal(literal: str) -> re.Pattern[str]:
    """Compile a fixed part of a template; any white space may stand where it has some."""
    return re.compile(r"\s*".join(map(re.escape, re.split(r"\s+", literal))))


def _seek_once(pattern: str) -> str:
    """Return a pattern that is sought from the first of several spaces only, which takes linear time."""
    return rf"(?<!\s){pattern}" if pattern.startswith(r"\s*") else pattern


def _split_template(template: str) -> list[re.Pattern[str] | str]:
    """Split a template into the patterns of its fixed parts and the names of its places."""
    pieces = _PLACE.split(template)
    parts: list[re.Pattern[str] | str] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            parts.append(piece)
        elif piece:
            parts.append(_compile_part(piece, pieces[index - 1 : index], pieces[index + 1 : index + 2]))
    return parts


def _compile_part(literal: str, before: list[str], after: list[str]) -> re.Pattern[str]:
    """Compile a fixed part; beside a value its line end is one at most, since more belong to the value."""
    start = end = ""
    if before == ["value"] and literal.startswith("\n"):
        start, literal = _LINE_END, literal[1:]
    if after == ["value"] and literal.endswith("\n"):
        end, literal = _LINE_END, literal[:-1]
    return re.compile(start + _compile_literal(literal).pattern + end)


def _inside_texts(closing: str) -> re.Pattern[str]:
    """Compile what stands before a closing mark that is in no text of Python."""
    # A text without an end reaches to that of its line, so that none is looked through twice.
    texts = r"'(?:[^'\\\n]|\\.?)*+(?:'|$)|\"(?:[^\"\\\n]|\\.?)*+(?:\"|$)"
    return re.compile(
        rf"(?:{texts}|(?!{_seek_once(_compile_literal(closing).pattern)}).)*+", re.DOTALL | re.MULTILINE
    )


def _write_notation(value: object, quotes: str) -> str:
    if isinstance(value, str):
        return f"{quotes}{value}{quotes}"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_write_notation(each, quotes)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_write_notation(each, quotes) for each in value) + "]"
    return _write_json(value)


_ATOM = re.compile(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_KEY = re.compile(r"\s*([^\s:,{}\[\]][^:,{}\[\]\n]*):\s*")


def _read_notation(text: str, at: int, quotes: str, depth: int = 0) -> tuple[object, int]:
    """Read a value of Gemma's notation; return it and the place behind it. Raises ``Undecodable``."""
    if depth > DEEPEST // 2:
        raise Undecodable(f"nested more than {DEEPEST // 2} deep")
    at = _skip_space(text, at)
    if text.startswith(quotes, at):
        end = text.find(quotes, at + len(quotes))
        if end < 0:
            raise Undecodable("a text is not ended")
        return text[at + len(quotes) : end], end + len(quotes)
    if text[at : at + 1] not in ("{", "["):
        if not (atom := _ATOM.match(text, at)):
            raise Undecodable(f"not a value: {shorten_text(text[at : at + 80], 40)!r}")
        return read_strict_json(atom[0]), atom.end()
    closing = "}" if text[at] == "{" else "]"
    members: dict[str, object] = {}
    elements: list[object] = []
    at = _skip_space(text, at + 1)
    while not text.startswith(closing, at):
        key = ""
        if closing == "}":
            if not (match := _KEY.match(text, at)):
                raise Undecodable(f"not a name and a value: {shorten_text(text[at : at + 80], 40)!r}")
            key, at = match[1], match.end()
        value, at = _read_notation(text, at, quotes, depth + 1)
        members[key] = value
        elements.append(value)
        at = _skip_space(text, at)
        if text.startswith(",", at):
            at = _skip_space(text, at + 1)
        elif not text.startswith(closing, at):
            raise Undecodable(f"not ended: {shorten_text(text[at : at + 80], 40)!r}")
    return (members if closing == "}" else elements), at + 1


def _skip_space(text: str, at: int) -> int:
    space = _WHITE_SPACE.match(text, at)
    return space.end() if space else at


def _read_rows() -> Mapping[str, NativeSyntax]:
    rows = read_table(dict[str, dict[str, object]], __file__, "native_syntaxes.toml")
    for name, row in rows.items():
        rows[name] = {**rows.get(str(row.pop("like", "")), {}), **row, "name": name}
    return TypeAdapter(dict[str, NativeSyntax]).validate_python(rows)


NATIVE_SYNTAXES: Mapping[str, NativeSyntax] = _read_rows()
"""The native syntaxes by their names."""


def find_syntax_of_model(model: str) -> NativeSyntax | None:
    """Find the native syntax of a model by its name; of several names in it the longest one decides."""
    letters = re.sub(r"[^a-z0-9]", "", model.rpartition("/")[2].lower())
    lengths = {
        name: max((len(each) for each in syntax.names if each in letters), default=0)
        for name, syntax in NATIVE_SYNTAXES.items()
    }
    longest = max(lengths, key=lengths.__getitem__)
    return NATIVE_SYNTAXES[longest] if lengths[longest] else None


def list_schemas(tools: Sequence[Mapping[str, object]]) -> Mapping[str, Schema]:
    """List the schemas of the arguments of each tool by its name."""
    functions = (as_mapping(tool.get("function")) for tool in tools)
    return {str(function.get("name")): as_mapping(function.get("parameters")) for function in functions}


_FIRST_NAME = re.compile(r"\s*\[?([\w.-]+)[(\n]")
"""A name with which calls without a mark may begin."""


def read_answer(
    completion: Completion, syntax: NativeSyntax, tools: Sequence[Mapping[str, object]]
) -> Completion:
    """Read the calls in the text of an answer to a request with these tools, as a server's parser would.

    An answer without the beginning of a call is returned as it is; one with calls that cannot be read keeps
    its text and is called malformed.
    """
    marked_text = find_reasoning(completion.text or "")
    text = marked_text.answer if marked_text else completion.text or ""
    mark = syntax.beginning
    if completion.tool_calls or (mark and not mark.search(text)):
        return completion
    schemas, first_name = list_schemas(tools), _FIRST_NAME.match(text)
    try:
        with refuse_faults():
            words, calls, _ = syntax.split_text(text, schemas)
            # Python has values that JSON has not.
            arguments = [_write_json(call.arguments) for call in calls]
    except Undecodable:
        is_attempt = mark or (first_name and first_name[1] in schemas)
        return replace(completion, ending=completion.ending or Ending.MALFORMED) if is_attempt else completion
    tool_calls = tuple(
        ToolCall(call.name, written, f"call_{index}")
        for index, (call, written) in enumerate(zip(calls, arguments, strict=True))
    )
    reasoning = completion.reasoning or (marked_text.reasoning if marked_text else None)
    # Later requests have the calls where the interface has a place for them.
    return replace(
        completion, text=words.strip() or None, reasoning=reasoning, tool_calls=tool_calls, message=None
    )
