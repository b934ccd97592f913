"""The interface of a suite: its entries by category, its wording, its identity."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.entry import Category, Entry
from pytest_fcbench.environments.world import World


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite. ``version`` and ``pack_sha256`` are printed with every score."""

    name: str
    version: str
    pack_sha256: str | None
    categories: tuple[Category, ...]
    wording: Wording
    world: World
    """The tables that the environments of its entries share."""
    load: Callable[[Category], tuple[Entry, ...]]
    """All entries of a category, in the suite's order. Raises ``SuiteError``."""
    web: Path | None = None
    """Folder with the pages of its own small web, if its questions are not about the open web."""
    file_of: Callable[[Entry], Path] | None = None
    """Returns the file of an entry, in suites that people write."""


def hash_files(files: Iterable[Path], root: Path) -> str:
    """Return the sha256 of files and of their paths below ``root``, whatever their line ends."""
    digest = hashlib.sha256()
    for file in files:
        name = file.relative_to(root).as_posix().encode("utf-8", "surrogateescape")
        digest.update(name + b"\0" + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()
