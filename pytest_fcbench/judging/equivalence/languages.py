"""Languages by their codes and names; a language of a country is another than the language alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pytest_fcbench.judging.equivalence.tables import read_rows
from pytest_fcbench.judging.equivalence.words import Words, split_words


def read_language(text: str) -> str | None:
    """Return the code of the language that a text names (pt-br, pt_BR, Brazilian Portuguese), or None."""
    return _read_languages().get(split_words(text))


@cache
def _read_languages() -> Mapping[Words, str]:
    return {split_words(name): code for code, names in read_rows("languages") for name in (code, *names)}
