"""Calls of Gorilla OpenFunctions: calls without brackets around them. Official: ``GorillaHandler``.

Officially nothing can be carried out: ``decode_execute`` hands its parser another argument as the language.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python_calls import read_unwrapped
from pytest_fcbench.domain.prompting import Mode


def add_brackets(text: str) -> str:
    """Put a text between brackets, whether it has some or not."""
    return f"[{text}]"


def refuse_text(text: str) -> tuple[str, ...]:
    """Refuse to carry out any text (``Undecodable``)."""
    raise Undecodable("the official reader of calls to carry out fails for every text")


GORILLA = replace(read_unwrapped(add_brackets, Mode.FC), carried_out=refuse_text)
