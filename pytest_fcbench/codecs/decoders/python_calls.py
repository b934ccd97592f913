"""The syntax of prompting mode, calls in the language of the entry, and those of families that wrap it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_fcbench.codecs import java, javascript
from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.syntax import Syntax, TextReader
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call, drop_official_reasoning

PYTHON = Syntax(
    Mode.PROMPT,
    {
        Language.PYTHON: python.parse_official,
        Language.JAVA: java.parse_official,
        Language.JAVASCRIPT: javascript.parse_official,
    },
    {
        Language.PYTHON: python.parse_corrected,
        Language.JAVA: java.parse_corrected,
        Language.JAVASCRIPT: javascript.parse_corrected,
    },
    looks_so=lambda text: text.startswith("[") and not text.startswith('[{"'),
)


def read_unwrapped(
    unwrap: Callable[[str], str | None],
    mode: Mode = Mode.PROMPT,
    looks_so: Callable[[str], bool] | None = None,
) -> Syntax:
    """Return the syntax of calls that ``unwrap`` finds in a text; where it returns None, there is none."""
    return replace(
        PYTHON,
        mode=mode,
        official=_unwrap_first(PYTHON.official, unwrap),
        corrected=_unwrap_first(PYTHON.corrected, unwrap),
        looks_so=looks_so,
    )


def _unwrap_first(
    readers: Mapping[Language, TextReader], unwrap: Callable[[str], str | None]
) -> dict[Language, TextReader]:
    def make_reader(read: TextReader) -> TextReader:
        def read_inside(text: str) -> tuple[Call, ...]:
            inside = unwrap(text)
            return () if inside is None else read(inside)

        return read_inside

    return {language: make_reader(read) for language, read in readers.items()}


PYTHON_BEHIND_REASONING = read_unwrapped(drop_official_reasoning)
"""Official: ``QwenHandler`` and ``DeepseekReasoningHandler``."""
