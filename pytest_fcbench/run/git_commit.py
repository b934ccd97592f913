"""The commit that a folder is at, read from git's own files without starting a process."""

from __future__ import annotations

import re
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def read_git_commit(folder: Path) -> str | None:
    """Return the hash of the commit that is checked out; None outside of a repository.

    Formats: gitrepository-layout(5). A worktree's ``.git`` is a file that names its folder, whose
    ``commondir`` names that of all worktrees.
    """
    root = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if root is None:
        return None
    try:
        if root.is_file():
            root = root.parent / root.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        common = root
        if (root / "commondir").is_file():
            common = root / (root / "commondir").read_text(encoding="utf-8").strip()
        head = (root / "HEAD").read_text(encoding="utf-8").strip()
        commit = _read_reference(root, common, head.removeprefix("ref:").strip()) if "ref:" in head else head
    except (OSError, UnicodeDecodeError):
        return None
    return commit if commit and _HASH.fullmatch(commit) else None


def _read_reference(root: Path, common: Path, name: str) -> str | None:
    for place in (root, common):
        if (place / name).is_file():
            return (place / name).read_text(encoding="utf-8").strip()
    packed_refs = common / "packed-refs"
    for line in packed_refs.read_text(encoding="utf-8").splitlines() if packed_refs.is_file() else ():
        commit, _, reference = line.partition(" ")
        if reference == name:
            return commit
    return None
