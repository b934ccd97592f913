"""A call syntax: a way to write calls as text, and its readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call

TextReader: TypeAlias = Callable[[str], tuple[Call, ...]]
"""Read the calls of a text. Raises ``Undecodable`` and ``WrongFormat``."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """A notation of calls as text: the mode that it belongs to, and its readers by language."""

    mode: Mode
    official: Mapping[Language, TextReader]
    corrected: Mapping[Language, TextReader]
    families: tuple[str, ...] = ()
    """Words in the names of models that use this syntax in function-calling mode."""
    looks_so: Callable[[str], bool] | None = None
    """A test for the look of this syntax in a stripped text, or None."""


def read_every_language(
    mode: Mode,
    official: TextReader,
    corrected: TextReader,
    families: tuple[str, ...] = (),
    looks_so: Callable[[str], bool] | None = None,
) -> Syntax:
    """Return a syntax whose readers are the same for all languages."""
    readers = dict.fromkeys(Language, official), dict.fromkeys(Language, corrected)
    return Syntax(mode, *readers, families, looks_so)
