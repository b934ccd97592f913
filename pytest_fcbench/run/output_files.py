"""Atomic writing of files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pytest_fcbench.domain.errors import FcbenchError, UsageError


def write_file(path: Path, text: str) -> None:
    """Write a file whole or keep the old one; a device or a pipe is written in place.

    Raises ``UsageError`` for a path without a name, else ``FcbenchError``.
    """
    # with_name() would refuse such a path with a ValueError.
    if not path.name:
        raise UsageError(f"{path} is a folder; name a file in it")
    special = path.exists() and not path.is_file() and not path.is_dir()
    part = path if special else path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and renamed, so a full disk or a kill leaves the old file whole.
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
        if not special:
            part.replace(path)
    except OSError as error:
        with suppress(OSError):
            if not special:
                part.unlink()
        raise FcbenchError(f"{path}: cannot be written: {error.strerror}") from None


def write_new_files(files: Mapping[Path, str], *, force: bool) -> None:
    """Write texts by path; replace existing files only with ``force``.

    Raises ``UsageError`` before anything is written, ``FcbenchError`` if a file cannot be written.
    """
    there = next((path for path in files if path.exists()), None)
    if there and not force:
        raise UsageError(f"{there} already exists; name another folder, or replace it with --force")
    for path, text in files.items():
        write_file(path, text)
