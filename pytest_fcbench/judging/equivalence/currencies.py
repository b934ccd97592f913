"""Currencies by their codes, names and signs.

A name or a sign that several currencies share names none: "dollar", "peso", "$", "¥".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from pytest_fcbench.judging.equivalence.tables import read_rows
from pytest_fcbench.judging.equivalence.words import fold_text


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
