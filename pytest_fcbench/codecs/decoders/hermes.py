"""The syntax of Hermes and Qwen: one JSON object a line between ``<tool_call>`` and ``</tool_call>``.

The published verdicts of these models rest on this reading, so both profiles share it: every single quote is
turned into a double one before a line is parsed, and every value of a Java or JavaScript call into its text,
as the official handler did.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.json_text import from_json, named_call
from pytest_fcbench.codecs.decoders.syntax import Syntax
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def read(text: str) -> tuple[Call, ...]:
    """Read the calls between tool-call tags; text without tags is no call."""
    calls = []
    inside = False
    for line in text.split("\n"):
        if line in ("<tool_call>", "</tool_call>"):
            inside = line == "<tool_call>"
        elif inside:
            calls.append(named_call(from_json(line.replace("'", '"'))))
    return tuple(calls)


def read_as_texts(text: str) -> tuple[Call, ...]:
    """Read the calls with every argument as text, for Java and JavaScript."""
    return tuple(
        Call(call.name, {name: str(value) for name, value in call.arguments.items()}) for call in read(text)
    )


_READERS = {**dict.fromkeys(Language, read_as_texts), Language.PYTHON: read}

SYNTAX = Syntax(
    Mode.FC, _READERS, _READERS, ("hermes", "qwen"), looks_so=lambda text: text.startswith("<tool_call>")
)
