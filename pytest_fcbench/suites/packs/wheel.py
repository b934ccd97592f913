"""Packs from the wheel of an official Python package (or a folder with the same content), pinned.

The data files are copied; the constants in its Python sources are read by static parsing and written beside
them as JSON. Nothing of the package is imported or run.
"""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_fcbench.domain.errors import PackError, UsageError
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.suites.packs import LARGEST, Manifest, write_pack_file

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
    list_changes: Callable[[Mapping[str, object]], Sequence[str]] = lambda constants: ()
    """Names what differs in the constants of another version."""

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
            raise PackError(
                f"{wheel.name} is refused: its sha256 is {wheel_hash}, but that of "
                f"{self.title} is {self.wheel_sha256}; give the wheel that the package index has"
            )
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
                path = PurePosixPath(member.filename.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts or any(sign in member.filename for sign in ":\0"):
                    raise PackError(
                        f"refused: unsafe path {member.filename!r} in the archive; download the wheel again"
                    )
                # A link could lead out of the folder that the archive is unpacked to.
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise PackError(f"refused: {member.filename!r} is a link; download the wheel again")
                # An archive of a few kilobytes can unpack to gigabytes.
                if member.file_size > _LARGEST_FILE:
                    raise PackError(
                        f"refused: {member.filename!r} would unpack to {member.file_size} bytes; "
                        "download the wheel again"
                    )
                if not member.is_dir() and _is_wanted(source, member.filename):
                    yield member.filename, archive.read(member)
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
        changes = "".join(f"\nchanged: {change}" for change in source.list_changes(constants))
        raise PackError(
            f"refused: the content is not that of {source.title} "
            f"(sha256 {content_sha256}, pinned {source.content_sha256}); pull without --from{changes}"
        )
    return {
        "package": source.package,
        "version": source.version,
        "content_sha256": content_sha256,
        "files": files,
    }
