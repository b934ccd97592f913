"""Read an answer as calls: one entry point for every syntax and both profiles.

The official reading knows only *decoded* or *failed*. The corrected reading distinguishes two cases of
*failed*: text that does not try to call anything (``Prose``, an abstention) and a call that cannot be read
(``Unreadable``, never an abstention).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from keyword import iskeyword
from unicodedata import normalize

from pytest_fcbench.codecs.decoders.families import FAMILY_SYNTAXES
from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES, NativeSyntax
from pytest_fcbench.codecs.decoders.prompt_formats import PROMPT_FORMATS
from pytest_fcbench.codecs.decoders.python import PYTHON, PYTHON_BEHIND_REASONING
from pytest_fcbench.codecs.decoders.syntax import (
    WRONG_FORMAT,
    Calls,
    Prose,
    Reading,
    Syntax,
    TextReader,
    Undecodable,
    Unreadable,
    WrongFormat,
    as_call,
    find_named_calls,
    from_json,
    refuse_faults,
    strip_fence,
    write_joined,
)
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.transcript import (
    Call,
    Completion,
    Ending,
    ToolCall,
    describe_ending,
    drop_reasoning,
)

SYNTAXES: Registry[Syntax | None] = Registry(
    "syntax",
    "fcbench.decoders",
    {
        "tool_calls": None,
        "python": PYTHON,
        "python_behind_reasoning": PYTHON_BEHIND_REASONING,
        **FAMILY_SYNTAXES,
        **PROMPT_FORMATS,
    },
)
"""The syntaxes in which calls can be written. ``tool_calls`` (None) is the interface's own field; ``python``
is the text the prompting mode asks for, written in the entry's language; prompt formats ask for others.
A distribution adds a ``Syntax`` by an entry point of the group ``fcbench.decoders``."""


def list_run_syntaxes() -> tuple[str, ...]:
    """Return the syntaxes in which a run can be answered; the others belong to single entries."""
    of_models = (name for name in NATIVE_SYNTAXES if name not in SYNTAXES)
    return (*(name for name in SYNTAXES if name not in PROMPT_FORMATS), *of_models)


def find_native_syntax(name: str | None) -> NativeSyntax | None:
    """Return the syntax whose calls are read before any entry sees them; None for one that entries read."""
    return None if name in SYNTAXES else NATIVE_SYNTAXES.get(name or "")


_WRITTEN_AS = {
    **dict.fromkeys(("arch", "granite_4", "qwen"), "hermes"),
    **dict.fromkeys(("bitagent", "hammer", "xlam_2"), "xlam"),
    **dict.fromkeys(("gemini_python", "phi_python", "python"), "pythonic"),
    "falcon": "granite",
    "glm": "glm4",
    "granite_3": "granite_pipe",
    "llama_3_1": "llama3_json",
}
"""The native syntaxes that official readers of another name read."""


def find_writer(name: str) -> NativeSyntax | None:
    """Return the native syntax that writes what a syntax reads; None where calls are no text of the model."""
    return NATIVE_SYNTAXES.get(_WRITTEN_AS.get(name, name))


def guess_syntax(texts: Sequence[str]) -> str | None:
    """Return the syntax of most of these texts by their look, or None."""
    looks = {name: syntax.is_read_in for name, syntax in SYNTAXES.items() if syntax and syntax.is_read_in}
    looks |= {name: syntax.is_read_in for name, syntax in NATIVE_SYNTAXES.items() if name not in SYNTAXES}
    counts = {name: sum(map(is_read_in, map(str.strip, texts))) for name, is_read_in in looks.items()}
    # A tie goes to a syntax of a model's own: a list of Python calls may also occur in prose.
    most = max(counts, key=lambda name: (counts[name], name != "python"))
    return most if counts[most] else None


def read_official(
    completion: Completion, syntax: str, language: Language, *, is_executed: bool = False
) -> Calls | Unreadable:
    """Read an answer as the official handlers do (``decode_ast`` of the OpenAI and the OSS handlers).

    Calls that are executed (``decode_execute``) may have an object where a server should send JSON text.
    """
    try:
        with refuse_faults():
            return Calls(_read_official_calls(completion, syntax, language, is_executed=is_executed))
    except Undecodable as error:
        return Unreadable(str(error))
    except WrongFormat as error:
        return Unreadable(str(error), WRONG_FORMAT)


def _read_official_calls(
    completion: Completion, syntax: str, language: Language, *, is_executed: bool
) -> tuple[Call, ...]:
    reader = SYNTAXES[syntax]
    if reader is not None and not (reader.mode is Mode.FC and completion.tool_calls):
        if completion.text is None:
            raise Undecodable(_describe_answer_without_text(completion))
        if completion.in_parts:
            raise Undecodable("the content is a list of parts, not a text")
        return reader.official[language](completion.text)
    # Official: a text is taken for a list of calls, so that only an empty one can be read.
    if reader is None and completion.tool_calls is None and completion.text != "":
        if completion.text is None:
            raise Undecodable(_describe_answer_without_text(completion))
        raise Undecodable(f"the reply is text, not tool calls: {completion.text!r:.80}")
    if reader is not None and reader.parts:
        return reader.parts(completion.tool_calls or ())
    # All arguments are decoded before any is looked at, as the official decoder does.
    needs_text = not is_executed and ProtocolNote.ARGUMENTS_NOT_TEXT in completion.protocol
    pairs = [_decode_arguments(call, needs_text=needs_text) for call in completion.tool_calls or ()]
    return tuple(as_call(name, arguments) for name, arguments in pairs)


def _describe_answer_without_text(completion: Completion) -> str:
    """Describe why an answer holds no text, as far as its server has said."""
    return describe_ending(completion) or "the answer is empty"


def _decode_arguments(call: ToolCall | str, *, needs_text: bool = False) -> tuple[str, object]:
    if isinstance(call, str):
        raise Undecodable("there is text among the tool calls")
    if isinstance(call.arguments, str):
        return call.name, from_json(call.arguments)
    if needs_text:
        raise Undecodable(f"the arguments of {call.name} came as a JSON value instead of text")
    return call.name, call.arguments


def _read_tool_call(call: ToolCall) -> Call:
    if call.arguments is None or (isinstance(call.arguments, str) and call.arguments.strip() in ("", "null")):
        # Some endpoints send null, or no text at all, for a call without arguments.
        return Call(call.name, {})
    return as_call(*_decode_arguments(call))


# Names that a language has no form for, in calls that are written in it: ``read-file(from='a')``. Models
# write a function or a parameter as its doc names it, and many tools have names with a hyphen or a word such
# as ``from``. Official readers refuse such a text. Here such names of the functions that are offered are
# masked before the text is read, and written back into the calls.

# One without an end reaches to that of the text, so that none is looked through twice. A backtick that
# follows no space, bracket or operator encloses a whole call.
_STRING = r"(?P<quotes>\"\"\"|'''|[\"']|(?<=[\s=:,+(\[{])`(?!`))(?:\\.|(?!(?P=quotes)).)*+(?:(?P=quotes)|\Z)"
_COMMENT = r"(?:#|//)[^\n]*+|/\*.*?(?:\*/|\Z)"
_RESERVED = re.compile(
    "abstract|boolean|break|byte|case|catch|char|class|const|continue|debugger|default|delete|do|"
    "double|else|enum|export|extends|false|final|finally|float|for|function|goto|if|implements|import|"
    "in|instanceof|int|interface|let|long|native|new|null|package|private|protected|public|return|"
    "short|static|strictfp|super|switch|synchronized|this|throw|throws|transient|true|try|typeof|var|"
    "void|volatile|while|with"
)
"""Words that Java or JavaScript reserves."""


def _is_odd(name: str, language: Language) -> bool:
    # Python reads letters of other forms as the usual ones.
    is_plain = name.isidentifier() and normalize("NFKC", name) == name
    is_python = language is Language.PYTHON
    return not is_plain or bool(iskeyword(name) if is_python else _RESERVED.fullmatch(name))


@dataclass(frozen=True, slots=True)
class OddNames:
    """The names of functions and of their parameters that a language has no form for."""

    functions: frozenset[str]
    parameters: frozenset[str]

    @classmethod
    def find(
        cls, docs: Iterable[FunctionDoc], shown: Iterable[str], language: Language = Language.PYTHON
    ) -> OddNames:
        """Find the odd names of docs, whose functions have the names ``shown``."""
        parameters = frozenset(name for doc in docs for name in doc.properties if _is_odd(name, language))
        parts = {name: name.split(".") for name in shown}
        functions = (name for name in parts if any(_is_odd(part, language) for part in parts[name]))
        return cls(frozenset(functions), parameters)

    def read_calls(self, text: str, read: TextReader) -> tuple[Call, ...]:
        """Read the calls of a text that may have these names. Raises what ``read`` raises."""
        if not (self.functions or self.parameters):
            return read(text)
        # The longest first, because one name can begin like another.
        function, parameter = (
            "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or "(?!)"
            for names in (self.functions, self.parameters)
        )
        name = rf"(?<![\w.-])(?:(?:{function})(?=\s*\()|(?:{parameter})(?=\s*=(?!=)))"
        stem = "name"
        while stem in text:
            stem += "_"
        masks: dict[str, str] = {}

        def mask_name(match: re.Match[str]) -> str:
            odd_name = match["name"]
            return masks.setdefault(odd_name, f"{stem}{len(masks)}n") if odd_name else match[0]

        masked_text = re.sub(f"(?P<name>{name})|{_STRING}|{_COMMENT}", mask_name, text, flags=re.DOTALL)
        names = {mask: name for name, mask in masks.items()}

        def restore_names(value: object) -> object:
            if isinstance(value, str):
                return re.sub(rf"{stem}\d+n", lambda match: names.get(match[0], match[0]), value)
            if isinstance(value, dict):
                return {restore_names(key): restore_names(member) for key, member in value.items()}
            if isinstance(value, (list, tuple)):
                return type(value)(map(restore_names, value))
            return value

        return tuple(
            replace(
                call,
                name=str(restore_names(call.name)),
                arguments={
                    str(restore_names(name)): restore_names(value) for name, value in call.arguments.items()
                },
                positional=tuple(map(restore_names, call.positional)),
            )
            for call in read(masked_text)
        )


_FIRST_MARKS = sorted({re.escape(mark) for syntax in NATIVE_SYNTAXES.values() for mark in syntax.marks[:1]})
_CALL_MARK = re.compile("|".join(["<tool_call", "<function", *_FIRST_MARKS]))
"""The beginnings of calls that no prose has: tags, and tokens of models."""
_QUOTED_NAME = re.compile(r"[\"'](?:name|function)[\"']\s?:\s?[\"']([^\"']+)[\"']")
_NAME_OF_CALL = re.compile(r"(?<![^\s()\[\],'\"`=])([^\s()\[\],'\"`=]++)\s?\(\s{0,9}\w++\s?=")


@dataclass(frozen=True)
class OfferedFunctions:
    """Functions of an entry under the names that a model was shown."""

    functions: tuple[FunctionDoc, ...]
    names: Names

    @cached_property
    def by_name(self) -> Mapping[str, FunctionDoc]:
        """Docs by shown name and by own name (dots and all); the first doc wins."""
        # Reversed, because of equal keys the last one stays.
        shown_docs = {self.names.show_name(doc.name): doc for doc in reversed(self.functions)}
        return {doc.name: doc for doc in reversed(self.functions)} | shown_docs

    def normalise_call(self, call: Call) -> Call:
        """Return a call under the function's own name, its positional arguments named as in the doc.

        A call that gives a parameter twice keeps the surplus in ``positional``.
        """
        doc = self.by_name.get(call.name)
        if doc is None:
            return call
        values = dict(zip(doc.properties, call.positional, strict=False))
        twice = [value for name, value in values.items() if name in call.arguments]
        surplus = (*twice, *call.positional[len(values) :])
        return replace(call, name=doc.name, arguments=values | dict(call.arguments), positional=surplus)

    def looks_like_call(self, text: str, *, calls_are_text: bool) -> bool:
        """Tell whether a text looks like a broken call of an offered function, not like prose about it.

        The mark of any model's calls or the name in a JSON object; where calls are asked for as text, also
        a name followed by ``(`` and a named argument.
        """
        if _CALL_MARK.search(text):
            return True
        names = _QUOTED_NAME.findall(text)
        if calls_are_text:
            names += _NAME_OF_CALL.findall(text)
        return any(name in self.by_name for name in names)


def _read_vendor_calls(parts: Sequence[ToolCall | str], offer: OfferedFunctions) -> tuple[Call, ...]:
    """Read a vendor's own call objects, which stand among the parts as JSON, if they call what is offered."""
    with suppress(Undecodable, WrongFormat):
        calls = find_named_calls("\n".join(part for part in parts if isinstance(part, str)))
        normalised_calls = tuple(map(offer.normalise_call, calls))
        if any(call.name in offer.by_name for call in normalised_calls):
            return normalised_calls
    return ()


def read_corrected(
    completion: Completion, syntax: str, language: Language, offer: OfferedFunctions
) -> Reading:
    """Read an answer leniently, map names back, and distinguish an abstention from broken calls."""
    reader = SYNTAXES[syntax]
    parts = completion.tool_calls or ()
    tool_calls = [part for part in parts if isinstance(part, ToolCall)]
    text = "\n".join([completion.text or "", *(part for part in parts if isinstance(part, str))])
    text = drop_reasoning(text).strip()
    is_malformed = completion.ending is Ending.MALFORMED
    abstention = Unreadable(describe_ending(completion)) if is_malformed else Prose(text)
    try:
        with refuse_faults():
            if tool_calls:
                return Calls(tuple(offer.normalise_call(_read_tool_call(call)) for call in tool_calls))
            if vendor_calls := _read_vendor_calls(parts, offer):
                return Calls(vendor_calls)
            if reader is None:
                raise Undecodable("the reply is text, not tool calls")
            names = OddNames.find(offer.functions, offer.by_name, language)
            calls = names.read_calls(text, reader.corrected[language]) if text else ()
    except (Undecodable, WrongFormat) as error:
        is_attempt = bool(tool_calls) or offer.looks_like_call(text, calls_are_text=reader is not None)
        return Unreadable(str(error)) if is_attempt else abstention
    # Words such as ``Hello (world)`` read as calls only by chance: no bracket, no offered function.
    bare_text = strip_fence(text)
    is_bare = not bare_text.startswith(("[", "{")) and not _CALL_MARK.match(bare_text)
    if is_bare and not any(call.name in offer.by_name or call.arguments for call in calls):
        # As in ``print(f(x=1))``.
        is_inside = offer.looks_like_call(text, calls_are_text=True)
        return Unreadable("other text stands around the call") if is_inside else abstention
    return Calls(tuple(offer.normalise_call(call) for call in calls))


def list_calls_to_make(completion: Completion, syntax: str) -> tuple[str, ...]:
    """Return the calls of an answer as texts; none for an answer without readable calls."""
    try:
        return read_call_texts(completion, syntax)
    except Undecodable:
        return ()


def read_call_texts(completion: Completion, syntax: str) -> tuple[str, ...]:
    """Read the calls of an answer as texts, as the official handler does. Raises ``Undecodable``."""
    reader = SYNTAXES[syntax]
    try:
        with refuse_faults():
            if reader and reader.mode is Mode.FC and completion.tool_calls:
                if reader.execution_parts_reader:
                    return reader.execution_parts_reader(completion.tool_calls)
            elif (
                reader and reader.execution_reader and not completion.in_parts and completion.text is not None
            ):
                return reader.execution_reader(completion.text)
            reading = read_official(completion, syntax, Language.PYTHON, is_executed=True)
            if isinstance(reading, Unreadable):
                raise Undecodable(reading.reason)
            return (reader.write if reader else write_joined)(reading.calls)
    except WrongFormat as error:
        raise Undecodable(str(error)) from None
