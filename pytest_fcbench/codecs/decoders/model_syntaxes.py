"""Call syntaxes that families of open models write by themselves: Hermes and Qwen, xLAM, GLM-4.

The published verdicts of these models rest on these readings, so both profiles share them.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_call
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat, as_call
from pytest_fcbench.codecs.decoders.syntax import Syntax, read_every_language
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def parse_hermes(text: str) -> tuple[Call, ...]:
    """Read one JSON object a line between ``<tool_call>`` and ``</tool_call>``; other text is no call."""
    calls = []
    inside = False
    for line in text.split("\n"):
        if line in ("<tool_call>", "</tool_call>"):
            inside = line == "<tool_call>"
        elif inside:
            # Official: every single quote is turned into a double one before a line is parsed.
            calls.append(read_named_call(from_json(line.replace("'", '"'))))
    return tuple(calls)


def parse_hermes_as_texts(text: str) -> tuple[Call, ...]:
    """Read the calls of a text with every argument as text, as is official for Java and JavaScript."""
    return tuple(
        Call(call.name, {name: str(value) for name, value in call.arguments.items()})
        for call in parse_hermes(text)
    )


def parse_xlam(text: str) -> tuple[Call, ...]:
    """Read a JSON list of ``{"name": ..., "arguments": {...}}``, bare or under ``tool_calls``."""
    value = from_json(text)
    if isinstance(value, Mapping):
        value = value.get("tool_calls")
    if not isinstance(value, list):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return tuple(map(read_named_call, value))


def parse_glm(text: str) -> tuple[Call, ...]:
    """Read one call: the function name on the first line, its arguments as JSON on the second."""
    name, *rest = text.split("\n")
    if not rest:
        raise WrongFormat("a single line is a name without arguments")
    return (as_call(name, from_json(rest[0])),)


_HERMES_READERS = {**dict.fromkeys(Language, parse_hermes_as_texts), Language.PYTHON: parse_hermes}

HERMES = Syntax(
    Mode.FC,
    official=_HERMES_READERS,
    corrected=_HERMES_READERS,
    families=("hermes", "qwen"),
    looks_so=lambda text: text.startswith("<tool_call>"),
)
XLAM = read_every_language(
    Mode.FC, parse_xlam, parse_xlam, ("xlam",), lambda text: text.startswith(('{"tool_calls"', '[{"name"'))
)
GLM = read_every_language(
    Mode.FC,
    parse_glm,
    parse_glm,
    ("glm",),
    lambda text: "\n{" in text and text.split("\n{")[0].isidentifier(),
)
