"""Calls of Llama 3.1: objects with ``name`` and ``parameters``. Official: ``LlamaHandler_3_1``.

Between semicolons they are JSON; a text without one is officially evaluated as Python, so JSON's ``true`` and
``null`` make it unreadable. Here the same literals are read without running anything.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python_literal import evaluate_text
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def parse_llama(text: str) -> tuple[Call, ...]:
    """Read calls between semicolons, a list of them, or one. Raises ``Undecodable``, ``WrongFormat``."""
    text = text.replace("<|python_tag|>", "")
    if ";" in text:
        # Official: a semicolon within a text counts as well.
        return read_named_calls([from_json(part) for part in text.split(";")], "parameters")
    value = evaluate_text(text)
    if not isinstance(value, dict | list | tuple) and value != "":
        raise Undecodable(f"expected calls, found {type(value).__name__}")
    return read_named_calls(value if isinstance(value, dict) else list(value), "parameters")


LLAMA_3_1 = read_json_calls(
    parse_llama,
    lambda text: text.removeprefix("<|python_tag|>").startswith('{"name"') and '"parameters"' in text,
)
