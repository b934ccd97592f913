"""Writing files that people may have already."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fcbench.commands.files import write
from pytest_fcbench.errors import UsageError


def write_new(files: Mapping[Path, str], *, force: bool) -> None:
    """Write texts by path; with ``force`` over those that are there.

    Raises ``UsageError`` before anything is written where one is there, ``FcbenchError`` where one cannot
    be written.
    """
    there = next((path for path in files if path.exists()), None)
    if there and not force:
        raise UsageError(f"{there} is already there; name another folder, or replace it with --force")
    for path, text in files.items():
        write(path, text)
