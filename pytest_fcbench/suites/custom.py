"""A team's own suite: a file, or a folder of files, of YAML and of JSON lines.

YAML is as in ``core``: a file has entries of one category (``formats``), and a folder may have several files
of a category. In a file of JSON lines each line is an entry of any category, which it names, with the docs of
its functions in full and the keys that in YAML stand at the top of the file. Pages in a folder ``web`` are
the web that its questions are about.
From ``multi_turn_base`` follow ``multi_turn_long_context`` and, where entries say what can be withheld,
``multi_turn_miss_func``, unless the folder has them itself.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry
from pytest_fcbench.domain.errors import SuiteError, UsageError
from pytest_fcbench.domain.former_names import find_former_names
from pytest_fcbench.suites import core
from pytest_fcbench.suites.derived_entries import MADE_OF, derive_multi_turn, join_clusters
from pytest_fcbench.suites.formats import entry_files
from pytest_fcbench.suites.formats.fields import Field, read_yaml
from pytest_fcbench.suites.suite import Suite, hash_files

_YAML, _LINES = (".yaml", ".yml"), ".jsonl"
_KEYS = re.compile(rb"^(?:category|entries)[ \t]*:", re.MULTILINE)
_LINE = re.compile(rb'^\s*\{.*"category"\s*:', re.MULTILINE)
_CATEGORY = re.compile(rb'^(?:category[ \t]*:[ \t]*|\s*\{.*"category"\s*:\s*)["\']?(\w+)', re.MULTILINE)
_OTHER_FOLDERS = frozenset(("__pycache__", "node_modules", "venv"))


def open_own(name: str, path: Path) -> Suite:
    """Open the suite of that name; its version is the beginning of its hash.

    Raises ``UsageError`` where there is none, ``SuiteError`` for a broken file.
    """
    found = find_entry_files(path) if path.is_dir() else [path]
    if not found:
        raise UsageError(
            f"the suite {name!r}: {path} has no YAML or JSON Lines file with a 'category'; add one"
        )
    if not path.exists() or found[0].suffix not in (*_YAML, _LINES):
        raise UsageError(f"the suite {name!r}: {path} must be a folder or a YAML or JSON Lines file")
    by_category: dict[str, list[Field]] = {}
    for part in (part for file in found for part in _split_by_category(file)):
        for category in entry_files.read_categories(part):
            by_category.setdefault(category.name, []).append(part)
    # Files that a team wrote for a category of MADE_OF take the place of entries made by code.
    derived = {category for category, of in MADE_OF.items() if of in by_category} - by_category.keys()
    # Modules and pages count too: entries can depend on them.
    read = [file for file in _walk(path) if file.suffix in (*_YAML, _LINES, ".py") and file.is_file()]
    digest = hash_files(read, path if path.is_dir() else path.parent)
    # Read category by category: a run of one need not read the others.
    load = cache(partial(_load, name, by_category, {}))
    return Suite(
        name=name,
        version=digest[:12],
        pack_sha256=digest,
        categories=tuple(c for c in CATEGORIES.values() if c.name in by_category or c.name in derived),
        wording=core.read_wording(),
        world=core.make_world(),
        load=lambda category: tuple(entry for entry, _ in load(category).values()),
        web=web if (web := path / "web").is_dir() else None,
        file_of=lambda entry: load(entry.category)[entry.id][1],
    )


def find_entry_files(path: Path) -> list[Path]:
    """Return the files of entries at a path, recognised by their beginnings. Raises ``SuiteError``."""
    return [
        file
        for file in _walk(path)
        if (_LINE if file.suffix == _LINES else _KEYS).search(_read_beginning(file))
    ]


def is_suite(path: Path) -> bool:
    """Tell by the beginnings of files whether a path is a file of entries or a folder with one.

    Folders inside are not searched. In a folder the category has to be known, because a folder may hold any
    YAML. Raises ``SuiteError``.
    """
    if not path.is_dir():
        return bool(find_entry_files(path))
    found = (_CATEGORY.search(_read_beginning(file)) for file in path.iterdir())
    return any(match and match[1].decode() in entry_files.file_categories() for match in found)


def _walk(path: Path) -> Sequence[Path]:
    """Return the files of a folder without those of other programs, or else the path itself."""
    if not path.is_dir():
        return [path]
    found = ((file, file.relative_to(path).parts) for file in path.rglob("*"))
    return sorted(
        file
        for file, parts in found
        if _OTHER_FOLDERS.isdisjoint(parts) and not any(part[0] == "." for part in parts)
    )


def _read_beginning(file: Path) -> bytes:
    """Return the beginning of a YAML or JSON lines file, else nothing. Raises ``SuiteError``."""
    # The configuration may name categories too.
    if file.suffix not in (*_YAML, _LINES) or file.name == "fcbench.yaml" or not file.is_file():
        return b""
    try:
        with file.open("rb") as opened:
            # A folder can contain large files that are no entries; Windows editors begin theirs with a BOM.
            return opened.read(100_000).removeprefix(BOM_UTF8)
    except OSError as error:
        raise SuiteError(f"{file}: cannot be read: {error.strerror}; give a readable file") from None


def _split_by_category(file: Path) -> Iterator[Field]:
    """Yield parts of a file with entries of one category each, in the form of a YAML file."""
    if file.suffix in _YAML:
        yield Field(read_yaml(file), file)
        return
    for number, text in enumerate(file.read_bytes().removeprefix(BOM_UTF8).splitlines(), 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SuiteError(
                f"{file}:{number}: not valid JSON: {error}; write one object in each line"
            ) from None
        if not isinstance(value, Mapping):
            raise SuiteError(f"{file}:{number}: must be an object")
        top = {key: value[key] for key in entry_files.keys_at_top() if key in value}
        entry = {key: member for key, member in value.items() if key not in top}
        yield Field({**top, "entries": [entry]}, file, (), number)


def _load(
    suite: str, parts: Mapping[str, Sequence[Field]], taken: dict[str, str], category: Category
) -> Mapping[str, tuple[Entry, Path]]:
    """Return the entries of a category by id, each with its file.

    ``taken`` collects the category of each id, because a Record is found by the id alone.
    """
    found: dict[str, tuple[Entry, Path]] = {}
    for part in parts.get(category.name, ()) or parts.get(MADE_OF.get(category.name, ""), ()):
        # A part of another category is one that this category can be made of.
        if category in entry_files.read_categories(part):
            made: Iterable[Entry] = entry_files.make_entries(part, suite, category, core.make_world())
        else:
            trajectories = entry_files.make_trajectories(part, suite, core.make_world())
            made = derive_multi_turn(category.name, trajectories)
        for entry in made:
            if entry.id in found:
                raise part.error(f"the id {entry.id!r} is already used by an entry in another file or line")
            if (other := taken.setdefault(entry.id, category.name)) != category.name:
                raise part.error(
                    f"the id {entry.id!r} of {category.name} is already used by an entry of {other}"
                )
            found[entry.id] = entry, part.path
    # An entry and those made from it share a cluster, whose members count as dependent.
    entries = join_clusters([entry for entry, _ in found.values()])
    return {entry.id: (entry, found[entry.id][1]) for entry in entries}


# A type checker would take any name for one of the module.
if not TYPE_CHECKING:
    __getattr__ = find_former_names(__name__, {"files_of": "find_entry_files"})
