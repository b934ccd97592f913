"""The suite's entries as they were read, kept beside the bytecode of its modules.

To read and check all files takes half a second, to load what is kept a tenth of it. As with bytecode, it
is only used while no file of the package has changed. Whoever can write there can change the program itself,
so unpickling it adds no risk.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest_fcbench
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry

Entries: TypeAlias = tuple[Entry, ...]


def load_or_read(category: Category, folder: Path, read: Callable[[], Entries]) -> Entries:
    """Return the entries of a category that are kept below ``folder``, or else read and keep them."""
    file = folder / "__pycache__" / f"{category.name}.{sys.implementation.cache_tag}.entries"
    key = _describe_package()
    # Whatever is wrong with the file, the entries can be read again.
    with suppress(Exception):
        content = file.read_bytes()
        if content.startswith(key):
            entries: Entries = _Unpickler(io.BytesIO(content[len(key) :])).load()
            return entries
    entries = read()
    if not sys.dont_write_bytecode:
        draft = file.with_suffix(f".{os.getpid()}")
        # What cannot be written is read again next time.
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            with draft.open("wb") as draft_file:
                draft_file.write(key)
                _Pickler(draft_file, pickle.HIGHEST_PROTOCOL).dump(entries)
            # At once, because other processes may read it.
            draft.replace(file)
    return entries


@cache
def _describe_package() -> bytes:
    """Return a hash of the names, sizes and times of all files that entries may depend on."""
    digest = hashlib.sha256()
    for name, status in sorted(_list_files(Path(pytest_fcbench.__file__).parent)):
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return digest.digest()


def _list_files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as dir_entries:
        for each in dir_entries:
            if each.is_dir():
                if each.name != "__pycache__":
                    yield from _list_files(Path(each.path))
            elif each.name.endswith((".py", ".yaml", ".json")):
                # Not of what a link leads to: Emacs locks a file by a link that leads nowhere.
                yield each.path, each.stat(follow_symlinks=False)


class _Pickler(pickle.Pickler):
    """Writes the name of a category in place of it: there is one object for each."""

    def persistent_id(self, value: object) -> str | None:
        return value.name if isinstance(value, Category) else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: str) -> Category:
        return CATEGORIES[name]
