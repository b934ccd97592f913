"""Calls of Arch-Agent: JSON objects between ``<tool_call>`` and ``</tool_call>`` lines.

Official: ``ArchHandler``. A text without one is no answer that can be read.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.families.parts import read_calls_only
from pytest_fcbench.codecs.decoders.families.tagged_json import find_tagged_texts
from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python_literal import evaluate_text
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def parse_arch(text: str) -> tuple[Call, ...]:
    """Read every tagged object, as JSON or else as a Python literal.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    texts = find_tagged_texts(text)
    if not texts:
        raise Undecodable("the model did not return a list of calls")
    values: list[object] = []
    for piece in texts:
        try:
            value = from_json(piece)
        except Undecodable:
            values.append(evaluate_text(piece))
        else:
            values.append(evaluate_text(value) if isinstance(value, str) else value)
    return read_named_calls(values)


ARCH = read_json_calls(parse_arch, parts=read_calls_only)
