"""A call syntax: a way to write calls as text, and its readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.codecs.call_texts import CallWriter, write_joined, write_nested
from pytest_fcbench.codecs.decoders.json_text import find_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call, ToolCall

TextReader: TypeAlias = Callable[[str], tuple[Call, ...]]
"""Read the calls of a text. Raises ``Undecodable`` and ``WrongFormat``."""
PartsReader: TypeAlias = Callable[[Sequence[ToolCall | str]], tuple[Call, ...]]
"""Read the calls of an answer that came as a list of parts. Raises ``Undecodable`` and ``WrongFormat``."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """A notation of calls as text: the mode that it belongs to, and its readers by language."""

    mode: Mode
    official: Mapping[Language, TextReader]
    corrected: Mapping[Language, TextReader]
    looks_so: Callable[[str], bool] | None = None
    """A test for the look of this syntax in a stripped text, or None."""
    parts: PartsReader | None = None
    """The official reader of an answer that is a list; None where it is read like any tool calls."""
    write: CallWriter = write_nested
    """The official way to write these calls as Python texts."""
    carried_out: Callable[[str], tuple[str, ...]] | None = None
    """The official reader of the texts to carry out, where it reads otherwise than ``official``. Raises
    ``Undecodable`` and ``WrongFormat``."""
    carried_out_parts: Callable[[Sequence[ToolCall | str]], tuple[str, ...]] | None = None
    """The same for an answer that is a list."""


def read_every_language(
    mode: Mode,
    official: TextReader,
    corrected: TextReader,
    looks_so: Callable[[str], bool] | None = None,
) -> Syntax:
    """Return a syntax whose readers are the same for all languages."""
    readers = dict.fromkeys(Language, official), dict.fromkeys(Language, corrected)
    return Syntax(mode, *readers, looks_so)


def read_json_calls(
    official: TextReader,
    looks_so: Callable[[str], bool] | None = None,
    *,
    parts: PartsReader | None = None,
    write: CallWriter = write_joined,
    carried_out: Callable[[str], tuple[str, ...]] | None = None,
    carried_out_parts: Callable[[Sequence[ToolCall | str]], tuple[str, ...]] | None = None,
) -> Syntax:
    """Return the syntax of a model family that writes calls as JSON.

    The corrected reading takes what the official one finds, else every JSON object with a name and arguments.
    """

    def read_leniently(text: str) -> tuple[Call, ...]:
        try:
            if calls := official(text):
                return calls
        except (Undecodable, WrongFormat):
            pass
        return find_named_calls(text)

    return Syntax(
        Mode.FC,
        dict.fromkeys(Language, official),
        dict.fromkeys(Language, read_leniently),
        looks_so=looks_so,
        parts=parts,
        write=write,
        carried_out=carried_out,
        carried_out_parts=carried_out_parts,
    )
