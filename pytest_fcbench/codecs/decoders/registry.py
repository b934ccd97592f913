"""Read an answer as calls: one entry point for every syntax and both profiles.

The official reading knows only *decoded* or *failed*. The corrected reading distinguishes two cases of
*failed*: text that does not try to call anything (``Prose``, an abstention) and a call that cannot be read
(``Unreadable``, never an abstention).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from pytest_fcbench.codecs.decoders import json_calls, python, tagged, xml_calls
from pytest_fcbench.codecs.decoders.families.arch import ARCH
from pytest_fcbench.codecs.decoders.families.bitagent import BITAGENT
from pytest_fcbench.codecs.decoders.families.cohere import COHERE
from pytest_fcbench.codecs.decoders.families.falcon import FALCON
from pytest_fcbench.codecs.decoders.families.functiongemma import FUNCTIONGEMMA
from pytest_fcbench.codecs.decoders.families.gemini import GEMINI, GEMINI_PYTHON
from pytest_fcbench.codecs.decoders.families.glm import GLM
from pytest_fcbench.codecs.decoders.families.gorilla import GORILLA
from pytest_fcbench.codecs.decoders.families.granite import GRANITE_3, GRANITE_20B
from pytest_fcbench.codecs.decoders.families.hammer import HAMMER
from pytest_fcbench.codecs.decoders.families.hermes import HERMES
from pytest_fcbench.codecs.decoders.families.llama_3_1 import LLAMA_3_1
from pytest_fcbench.codecs.decoders.families.minicpm import MINICPM
from pytest_fcbench.codecs.decoders.families.mining import MINING
from pytest_fcbench.codecs.decoders.families.mistral import MISTRAL
from pytest_fcbench.codecs.decoders.families.nemotron import NEMOTRON
from pytest_fcbench.codecs.decoders.families.nova import NOVA
from pytest_fcbench.codecs.decoders.families.phi import PHI, PHI_PYTHON
from pytest_fcbench.codecs.decoders.families.tagged_json import GRANITE_4, QWEN
from pytest_fcbench.codecs.decoders.families.think_agent import THINK_AGENT
from pytest_fcbench.codecs.decoders.families.xlam import XLAM, XLAM_2
from pytest_fcbench.codecs.decoders.json_text import find_named_calls, from_json
from pytest_fcbench.codecs.decoders.odd_names import OddNames
from pytest_fcbench.codecs.decoders.outcome import (
    WRONG_FORMAT,
    Calls,
    Prose,
    Reading,
    Undecodable,
    Unreadable,
    WrongFormat,
    as_call,
    refuse_faults,
)
from pytest_fcbench.codecs.decoders.python_calls import PYTHON, PYTHON_BEHIND_REASONING
from pytest_fcbench.codecs.decoders.syntax import Syntax, TextReader, read_every_language
from pytest_fcbench.codecs.decoders.wrapping import OPENING, strip_fence
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import AnswerNotation, Mode, Names, PromptFormat
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

_INSIDE: Mapping[AnswerNotation, tuple[TextReader, TextReader]] = {
    AnswerNotation.PYTHON: (python.parse_official_between_tags, python.parse_corrected),
    AnswerNotation.JSON: (json_calls.parse_official_between_tags, json_calls.parse_corrected),
    AnswerNotation.VERBOSE_XML: (xml_calls.parse_official_verbose, xml_calls.parse_corrected_verbose),
    AnswerNotation.CONCISE_XML: (xml_calls.parse_official_concise, xml_calls.parse_corrected_concise),
}
"""The official and the corrected reader of each return format, for text between tags."""

_FORMATS: Mapping[str, Syntax] = {
    "json": read_every_language(Mode.PROMPT, json_calls.parse_official, json_calls.parse_corrected),
    "verbose_xml": read_every_language(Mode.PROMPT, *_INSIDE[AnswerNotation.VERBOSE_XML]),
    "concise_xml": read_every_language(Mode.PROMPT, *_INSIDE[AnswerNotation.CONCISE_XML]),
    **{
        PromptFormat(notation, tagged=True).syntax: read_every_language(
            Mode.PROMPT, tagged.make_official_reader(official), tagged.make_corrected_reader(corrected)
        )
        for notation, (official, corrected) in _INSIDE.items()
    },
}
"""The syntaxes of the prompt formats other than ``python``; their entries are all Python's."""

SYNTAXES: Registry[Syntax | None] = Registry(
    "syntax",
    "fcbench.decoders",
    {
        "tool_calls": None,
        "python": PYTHON,
        "python_behind_reasoning": PYTHON_BEHIND_REASONING,
        "arch": ARCH,
        "bitagent": BITAGENT,
        "cohere": COHERE,
        "falcon": FALCON,
        "functiongemma": FUNCTIONGEMMA,
        "gemini": GEMINI,
        "gemini_python": GEMINI_PYTHON,
        "glm": GLM,
        "gorilla": GORILLA,
        "granite_20b": GRANITE_20B,
        "granite_3": GRANITE_3,
        "granite_4": GRANITE_4,
        "hammer": HAMMER,
        "hermes": HERMES,
        "llama_3_1": LLAMA_3_1,
        "minicpm": MINICPM,
        "mining": MINING,
        "mistral": MISTRAL,
        "nemotron": NEMOTRON,
        "nova": NOVA,
        "phi": PHI,
        "phi_python": PHI_PYTHON,
        "qwen": QWEN,
        "think_agent": THINK_AGENT,
        "xlam": XLAM,
        "xlam_2": XLAM_2,
        **_FORMATS,
    },
)
"""The syntaxes in which calls can be written. ``tool_calls`` (None) is the interface's own field; ``python``
is the text the prompting mode asks for, written in the entry's language; prompt formats ask for others.
A distribution adds a ``Syntax`` by an entry point of the group ``fcbench.decoders``."""


def list_run_syntaxes() -> tuple[str, ...]:
    """Return the syntaxes in which a run can be answered; the others belong to single entries."""
    return tuple(name for name in SYNTAXES if name not in _FORMATS)


def guess_syntax(texts: Sequence[str]) -> str | None:
    """Return the syntax of most of these texts by their look, or None."""
    counts = {
        name: sum(map(syntax.looks_so, map(str.strip, texts)))
        for name, syntax in SYNTAXES.items()
        if syntax and syntax.looks_so
    }
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
    if call.arguments is None or (isinstance(call.arguments, str) and not call.arguments.strip()):
        # Some endpoints send no text at all for a call without arguments.
        return Call(call.name, {})
    return as_call(*_decode_arguments(call))


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

    def find_odd_names(self, language: Language) -> OddNames:
        """Find the names that a language has no form for."""
        if language not in self._odd_names:
            self._odd_names[language] = OddNames.find(self.functions, self.by_name, language)
        return self._odd_names[language]

    @cached_property
    def _odd_names(self) -> dict[Language, OddNames]:
        return {}

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

        A tool-call tag or the name in a JSON object; where calls are asked for as text, also a name
        followed by ``(`` and a named argument.
        """
        if "<tool_call" in text or "<function" in text:
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
            names = offer.find_odd_names(language)
            calls = names.read_calls(text, reader.corrected[language]) if text else ()
    except (Undecodable, WrongFormat) as error:
        is_attempt = bool(tool_calls) or offer.looks_like_call(text, calls_are_text=reader is not None)
        return Unreadable(str(error)) if is_attempt else abstention
    # Words such as ``Hello (world)`` read as calls only by chance: no bracket, no offered function.
    is_bare = not strip_fence(text).startswith(("[", "<tool_call>", "{", "<functions>", OPENING))
    if is_bare and not any(call.name in offer.by_name or call.arguments for call in calls):
        return abstention
    return Calls(tuple(offer.normalise_call(call) for call in calls))
