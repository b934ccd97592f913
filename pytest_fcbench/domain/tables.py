"""Read the tables of the package: TOML files beside the modules that use them, checked by pydantic.

A table says where its rows come from and why they are there, in comments. It is read where it is first used.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BeforeValidator, TypeAdapter

T = TypeVar("T")


def _split_text(value: object) -> object:
    return value.split() if isinstance(value, str) else value


WordSet: TypeAlias = Annotated[frozenset[str], BeforeValidator(_split_text)]
"""Words, which a table has in one text with spaces between them."""


def read_table(shape: type[T], module: str, name: str) -> T:
    """Read the table ``name`` beside a module, which is given by its ``__file__``, as a type of Python."""
    text = Path(module).with_name(name).read_text(encoding="utf-8")
    return TypeAdapter(shape).validate_python(tomllib.loads(text))
