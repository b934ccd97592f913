"""The interface of a suite: its entries by category, its wording, its identity."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.codecs.presenting import Wording
from pytest_fcbench.domain.entry import Category, Entry, Shard
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
    load_shard: Callable[[Category, Shard], tuple[Entry, ...]] | None = None
    """Loads a shard's entries of a category, in suites that can do so without making the others."""
    count: Callable[[Category], int] | None = None
    """Counts the entries of a category, in suites that can do so without making them."""
    may_have_free_text: bool = False
    """False where certainly no entry has free text that a judge could compare."""

    def find_folder(self, entry: Entry) -> Path:
        """Return the folder of the file of an entry; the current one where no person wrote a file."""
        return self.file_of(entry).parent.absolute() if self.file_of else Path.cwd()


def hash_files(files: Iterable[Path], root: Path) -> str:
    """Return the sha256 of files and of their paths below ``root``, whatever their line ends."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode("utf-8", "surrogateescape") + b"\0")
        with file.open("rb") as stream:
            # By lines, because a file can be large, and a line end never lies between two of them.
            for line in stream:
                digest.update(line[:-2] + b"\n" if line.endswith(b"\r\n") else line)
        digest.update(b"\0")
    return digest.hexdigest()
