"""Read the tables of the package: TOML files beside the modules that use them, checked by pydantic.

A table says where its rows come from and why they are there, in comments. It is read where it is first used.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


def read_table(shape: type[T], module: str, name: str) -> T:
    """Read the table ``name`` beside a module, which is given by its ``__file__``, as a type of Python."""
    return TypeAdapter(shape).validate_python(load_rows(module, name))


def load_rows(module: str, name: str) -> dict[str, object]:
    """Return a table beside a module as it stands in its file."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
