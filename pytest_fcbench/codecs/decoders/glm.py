"""The syntax of GLM-4: the function name on the first line, its arguments as JSON on the second.

The published verdicts of these models rest on this reading, so both profiles share it.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import WrongFormat, as_call
from pytest_fcbench.codecs.decoders.syntax import Syntax
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def read(text: str) -> tuple[Call, ...]:
    """Read one call on two lines."""
    name, *rest = text.split("\n")
    if not rest:
        raise WrongFormat("a single line is a name without arguments")
    return (as_call(name, from_json(rest[0])),)


_READERS = dict.fromkeys(Language, read)

SYNTAX = Syntax(
    *(Mode.FC, _READERS, _READERS, ("glm",)),
    looks_so=lambda text: "\n{" in text and text.split("\n{")[0].isidentifier(),
)
