"""Atomic writing of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from shutil import copyfile

from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.paths import is_place


def write_file(path: Path, text: str | Iterable[str]) -> None:
    """Write a file, given whole or in pieces, or keep the old one; a device or a pipe is written in place.

    Raises ``UsageError`` for a path without a name, else ``FcbenchError``.
    """

    def write_text(part: Path) -> None:
        with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines([text] if isinstance(text, str) else text)

    replace_file(path, write_text)


def copy_file(source: Path, path: Path) -> None:
    """Copy a file over another, or keep that one. Raises ``FcbenchError``."""
    replace_file(path, lambda part: copyfile(source, part))


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written beside another and put it in its place, or keep that one.

    Raises ``UsageError`` for a path without a name, else ``FcbenchError``.
    """
    # with_name() would refuse such a path with a ValueError.
    if not path.name:
        raise UsageError(f"{path} is a folder; name a file in it")
    try:
        special = path.exists() and not path.is_file() and not path.is_dir()
        path.parent.mkdir(parents=True, exist_ok=True)
        if special:
            write(path)
            return
        part = path.with_name(f"{path.name}.part")
        with ExitStack() as cleaning:
            cleaning.callback(part.unlink, missing_ok=True)
            # Written beside and renamed, so a full disk or a kill leaves the old file whole.
            write(part)
            part.replace(path)
    except OSError as error:
        raise FcbenchError(f"{path}: cannot be written: {error.strerror}") from None


def make_folder(path: Path) -> None:
    """Make a folder with those above it, unless it is there. Raises ``FcbenchError``."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FcbenchError(f"{path}: the folder cannot be made: {error.strerror}") from None


def write_new_files(files: Mapping[Path, str], *, force: bool) -> None:
    """Write texts by path; replace existing files only with ``force``.

    Raises ``UsageError`` before anything is written, ``FcbenchError`` if a file cannot be written.
    """
    there = next(filter(is_place, files), None)
    if there and not force:
        raise UsageError(f"{there} already exists; name another folder, or replace it with --force")
    for path, text in files.items():
        write_file(path, text)
