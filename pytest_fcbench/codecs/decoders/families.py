"""The call syntaxes that families of models write by themselves, each with its official reader.

Here are those of families that write JSON or Python without tags around it, and the table of all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_fcbench.codecs.decoders import syntax, tagged_families
from pytest_fcbench.codecs.decoders.python import evaluate_text, read_unwrapped
from pytest_fcbench.codecs.decoders.syntax import Syntax, Undecodable, WrongFormat, from_json, read_json_calls
from pytest_fcbench.codecs.decoders.syntax_trees import convert_number
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call

_START, _END = "<start_function_call>", "<end_function_call>"
_PREFIX = "call:"
_PIECE = re.compile(r"<escape>(?P<text>.*?)<escape>|(?P<open><escape>.*)|(?P<mark>[{}\[\]:,])", re.DOTALL)
_WORDS = {"null": None, "true": True, "false": False}
_DEEPEST = 200
"""The official parser knows no limit; what is nested deeper could not be compared."""


def parse_functiongemma(text: str) -> tuple[Call, ...]:
    """Read every call of a text. Raises ``Undecodable`` for what is nested too deeply."""
    calls = []
    for piece in syntax.find_all_between(text, _START, _END):
        if (call_text := piece.strip()).startswith(_PREFIX):
            name, brace, rest = call_text.removeprefix(_PREFIX).partition("{")
            calls.append(Call(name.strip(), _ArgumentsReader().read(brace + rest) if brace else {}))
    return tuple(calls)


class _ArgumentsReader:
    """Reads the arguments of a call of FunctionGemma piece by piece, in the order of the official parser."""

    def __init__(self) -> None:
        self._root: list[object] = []
        self._open: list[list[object] | dict[str, object]] = [self._root]
        """The lists and objects that are not closed yet, the innermost last."""
        self._keys: list[str | None] = []
        """For each open object the key whose value is next."""
        self._pending_key: object = None
        """The last value without a key in its object, which becomes the key if a colon follows."""

    def read(self, text: str) -> dict[str, object]:
        """Return the object at the beginning of a text."""
        at = 0
        for piece in _PIECE.finditer(text):
            self._add_word(text[at : piece.start()])
            at = piece.end()
            if mark := piece["mark"]:
                self._follow_mark(mark)
            else:
                self._add_value(piece["text"] if piece["open"] is None else piece["open"])
        self._add_word(text[at:])
        return self._root[0] if self._root and isinstance(self._root[0], dict) else {}

    def _follow_mark(self, mark: str) -> None:
        match mark:
            case "{":
                members: dict[str, object] = {}
                self._enter(members)
                self._keys.append(None)
            case "[":
                self._enter([])
            case "}" | "]":
                # Official: the kinds of brackets are not compared.
                if len(self._open) > 1:
                    self._open.pop()
                    if mark == "}" and self._keys:
                        self._keys.pop()
                self._pending_key = None
            case ":":
                key, self._pending_key = self._pending_key, None
                if key is not None and self._keys and isinstance(self._open[-1], dict):
                    self._keys[-1] = str(key)
            case _:
                self._pending_key = None

    def _enter(self, value: list[object] | dict[str, object]) -> None:
        if len(self._open) > _DEEPEST:
            raise Undecodable("the arguments are nested too deeply")
        self._add_value(value)
        self._open.append(value)
        self._pending_key = None

    def _add_word(self, text: str) -> None:
        if word := text.strip():
            self._add_value(_WORDS[word] if word in _WORDS else convert_number(word, (int, float), word))

    def _add_value(self, value: object) -> None:
        innermost = self._open[-1]
        if isinstance(innermost, list):
            innermost.append(value)
        elif (key := self._keys[-1] if self._keys else None) is not None:
            innermost[key] = value
            self._keys[-1] = None
        else:
            self._pending_key = value


FUNCTIONGEMMA = replace(
    read_json_calls(parse_functiongemma, lambda text: _START in text), write=syntax.write_spaced
)
"""Calls of FunctionGemma: ``<start_function_call>call:name{key:value}<end_function_call>``.

Official: ``FunctionGemmaHandler``. Texts stand between ``<escape>`` marks; all else is a number, ``true``,
``false``, ``null`` or a bare text. What is out of place is dropped, so that no text is unreadable.
"""


BITAGENT = read_json_calls(lambda text: syntax.read_named_calls(from_json(text)))
"""Calls of BitAgent: a JSON list of objects with ``name`` and ``arguments``, or one.

Official: ``BitAgentHandler``.
"""


COHERE = replace(
    read_json_calls(lambda text: ()),
    parts=lambda parts: syntax.read_vendor_objects(parts, "tool_name", "parameters"),
)
"""Calls of Cohere's interface: ``{"tool_name": ..., "parameters": {...}}``. Official: ``CohereHandler``.

A text is officially an answer that calls nothing, not one that cannot be read.
"""


def refuse_text(text: str) -> tuple[Call, ...]:
    """Refuse every text (``WrongFormat``)."""
    raise WrongFormat("the reply is text, not a list of calls")


GEMINI = replace(read_json_calls(refuse_text), parts=syntax.read_as_they_are)
GEMINI_PYTHON = read_unwrapped(lambda text: text.replace("```tool_code\n", "").replace("\n```", ""))
"""Calls of Gemini: its interface's own list, or Python in a ``tool_code`` fence (``GEMINI_PYTHON``).

Official: ``GeminiHandler``. In function calling a text is passed on as it is, so it is of a wrong format and
not unreadable.
"""


def parse_glm(text: str) -> tuple[Call, ...]:
    """Read one call: the function name on the first line, its arguments as JSON on the second."""
    name, *rest = text.split("\n")
    if not rest:
        raise WrongFormat("a single line is a name without arguments")
    return (syntax.as_call(name, from_json(rest[0])),)


GLM = replace(
    syntax.read_every_language(
        Mode.FC,
        parse_glm,
        parse_glm,
        lambda text: "\n{" in text and text.split("\n{")[0].replace(".", "_").isidentifier(),
    ),
    write=syntax.write_joined,
)
"""Calls of GLM-4: the function name on the first line, its arguments as JSON on the second.

Official: ``GLMHandler``.
"""


def refuse_to_carry_out(text: str) -> tuple[str, ...]:
    """Refuse to carry out any text (``Undecodable``)."""
    raise Undecodable("the official reader of calls to carry out fails for every text")


GORILLA = replace(read_unwrapped(lambda text: f"[{text}]", Mode.FC), execution_reader=refuse_to_carry_out)
"""Calls of Gorilla OpenFunctions: calls without brackets around them. Official: ``GorillaHandler``.

Officially nothing can be carried out: ``decode_execute`` hands its parser another argument as the language.
"""


def parse_hammer(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls; a text that is no JSON calls nothing.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    return syntax.read_members(syntax.decode_leniently(text.replace("```", ""), []))


def read_hammer_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out: of a list, or under ``tool_calls``; other members are left out.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    value = syntax.decode_leniently(text.replace("```", ""), [])
    if isinstance(value, dict):
        value = value.get("tool_calls", [])
        value = value if isinstance(value, list) else [value]
    return syntax.write_lenient_calls(value)


HAMMER = replace(
    read_json_calls(
        parse_hammer,
        lambda text: text.replace("```", "").strip().startswith('[{"name"') and text.startswith("```"),
    ),
    write=syntax.write_spaced,
    execution_reader=read_hammer_texts,
)
"""Calls of Hammer 2.1: a JSON list of objects with ``name`` and ``arguments``, fenced.

Official: ``HammerHandler``.
"""


def parse_llama(text: str) -> tuple[Call, ...]:
    """Read calls between semicolons, a list of them, or one. Raises ``Undecodable``, ``WrongFormat``."""
    text = text.replace("<|python_tag|>", "")
    if ";" in text:
        # Official: a semicolon within a text counts as well.
        return syntax.read_named_calls([from_json(part) for part in text.split(";")], "parameters")
    value = evaluate_text(text)
    if not isinstance(value, dict | list | tuple) and value != "":
        raise Undecodable(f"expected calls, found {type(value).__name__}")
    return syntax.read_named_calls(value if isinstance(value, dict) else list(value), "parameters")


LLAMA_3_1 = read_json_calls(
    parse_llama,
    lambda text: text.removeprefix("<|python_tag|>").startswith('{"name"') and '"parameters"' in text,
)
"""Calls of Llama 3.1: objects with ``name`` and ``parameters``. Official: ``LlamaHandler_3_1``.

Between semicolons they are JSON; a text without one is officially evaluated as Python, so JSON's ``true`` and
``null`` make it unreadable. Here the same literals are read without running anything.
"""


MISTRAL = replace(
    read_json_calls(lambda text: syntax.read_members(from_json(text))), parts=syntax.read_as_they_are
)
"""Calls of Ministral: a JSON list of objects with ``name`` and ``arguments``.

Official: ``MistralFCHandler``.
"""


NOVA = GEMINI
"""Calls of Amazon Nova: its interface's own list. Official: ``NovaHandler``.

A reply in words is a list too, of texts, so it is of a wrong format and not unreadable.
"""


def parse_think_agent(text: str) -> tuple[Call, ...]:
    """Read the list behind the reasoning; without reasoning there is none.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    _, mark, rest = text.strip().replace("'", '"').partition("</think>")
    return syntax.read_members(from_json(rest.strip()) if mark else [])


def read_think_agent_texts(text: str) -> tuple[str, ...]:
    """Refuse every call (``Undecodable``)."""
    if parse_think_agent(text):
        raise Undecodable("the official reader of calls to carry out fails for every call")
    return ()


THINK_AGENT = replace(read_json_calls(parse_think_agent), execution_reader=read_think_agent_texts)
"""Calls of ThinkAgent: a JSON list behind ``</think>``, single quotes read as double ones.

Official: ``ThinkAgentHandler``. Its reader of calls to carry out fails for every call.
"""


def parse_xlam(text: str) -> tuple[Call, ...]:
    """Read a JSON list of ``{"name": ..., "arguments": {...}}``, bare or under ``tool_calls``."""
    value = from_json(text)
    if isinstance(value, Mapping):
        value = value.get("tool_calls")
    if not isinstance(value, list):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return syntax.read_named_calls(value)


def parse_xlam_2(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls, one call, or calls between semicolons."""
    try:
        value = from_json(text)
    except Undecodable:
        value = [from_json(part.strip()) for part in text.split(";")]
    return syntax.read_named_calls(value)


XLAM = syntax.read_every_language(
    Mode.FC, parse_xlam, parse_xlam, lambda text: text.startswith(('{"tool_calls"', '[{"name"'))
)
XLAM_2 = read_json_calls(parse_xlam_2)
"""Calls of xLAM: a JSON list of objects with ``name`` and ``arguments``.

Official: ``xLAMHandler`` of versions 1 to 3 (``XLAM``); ``SalesforceLlamaHandler`` and
``SalesforceQwenHandler`` of today (``XLAM_2``), which also take one object, and objects between semicolons.
"""

FAMILY_SYNTAXES: Mapping[str, Syntax] = {
    name.lower(): value
    for name, value in sorted((vars(tagged_families) | globals()).items())
    if isinstance(value, Syntax)
}
"""The syntaxes of families: the constants of these modules by their names in small letters."""
