"""Names of what has a code, by tables written for this package: currencies and languages.

A name or a sign that several currencies share names none: "dollar", "peso", "$", "¥". A language of a country
is another than the language alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from pytest_fcbench.judging.equivalence.words import Words, fold_text, split_words

_TABLES = Path(__file__).with_name("tables")


def read_rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Read the code and the names of each line of a table, such as ``CH Switzerland, Schweiz``."""
    for row in (_TABLES / f"{table}.txt").read_text(encoding="utf-8").splitlines():
        code, _, names = row.partition(" ")
        yield code, names.split(", ")


def read_currency(text: str) -> str | None:
    """Return the ISO 4217 code of the currency that a text names, or None."""
    # A code in brackets may repeat what a name says: Australian dollar (AUD).
    if match := _NAME_AND_CODE.fullmatch(text):
        name_code, bracket_code = map(read_currency, match.groups())
        return name_code if name_code == bracket_code else None
    return _read_names().get(_fold_name(text))


_NAME_AND_CODE = re.compile(r"\s*([^()]+)\(([^()]+)\)\s*")


def _fold_name(text: str) -> str:
    return " ".join(fold_text(text).replace(".", "").replace("-", " ").casefold().split()).removeprefix(
        "the "
    )


@cache
def _read_names() -> Mapping[str, str]:
    """Return the code of each currency by the code in small letters and by its names, in both numbers."""
    codes = {_fold_name(name): code for code, names in read_rows("currencies") for name in names}
    # Signs have no plural; irregular plurals stand in the table.
    plurals = {f"{name}s": code for name, code in codes.items() if name[-1:].isalpha()}
    return plurals | codes | {code.casefold(): code for code, _ in read_rows("currencies")}


def read_language(text: str) -> str | None:
    """Return the code of the language that a text names (pt-br, pt_BR, Brazilian Portuguese), or None."""
    return _read_languages().get(split_words(text))


@cache
def _read_languages() -> Mapping[Words, str]:
    return {split_words(name): code for code, names in read_rows("languages") for name in (code, *names)}
