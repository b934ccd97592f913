"""Calls of GLM-4: the function name on the first line, its arguments as JSON on the second.

Official: ``GLMHandler``.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.codecs.call_texts import write_joined
from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import WrongFormat, as_call
from pytest_fcbench.codecs.decoders.syntax import read_every_language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def parse_glm(text: str) -> tuple[Call, ...]:
    """Read one call: the function name on the first line, its arguments as JSON on the second."""
    name, *rest = text.split("\n")
    if not rest:
        raise WrongFormat("a single line is a name without arguments")
    return (as_call(name, from_json(rest[0])),)


GLM = replace(
    read_every_language(
        Mode.FC,
        parse_glm,
        parse_glm,
        lambda text: "\n{" in text and text.split("\n{")[0].replace(".", "_").isidentifier(),
    ),
    write=write_joined,
)
