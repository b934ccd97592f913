"""Calls of Hermes: one JSON object a line between ``<tool_call>`` and ``</tool_call>``.

Official: ``HermesHandler`` of versions 1 to 3. Today's handlers of Qwen and others read the same layout in
another way, see ``tagged_json``.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_call
from pytest_fcbench.codecs.decoders.syntax import Syntax
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


_READERS = {**dict.fromkeys(Language, parse_hermes_as_texts), Language.PYTHON: parse_hermes}

HERMES = Syntax(Mode.FC, official=_READERS, corrected=_READERS)
