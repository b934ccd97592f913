"""A team's own suite: a file, or a folder of files, of YAML and of JSON lines.

YAML is as in ``core``: a file has entries of one category (``formats``), and a folder may have several files
of a category. In a file of JSON lines each line is an entry of any category, which it names, with the docs of
its functions in full and the keys that in YAML stand at the top of the file. Pages in a folder ``web`` are
the web that its questions are about.
From ``multi_turn_base`` follow ``multi_turn_long_context`` and, where entries say what can be withheld,
``multi_turn_miss_func``, unless the folder has them itself.

A suite may have a hundred thousand lines. Their values take five times the memory of the entries that are
made of them, so a line is parsed once to find its category, and again when its entry is made.
"""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Shard
from pytest_fcbench.domain.errors import SuiteError, UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.pressure import split_level
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.formats.fields import MOST_ERRORS, Field, join_errors
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.state.derived_entries import MADE_OF, derive_multi_turn, join_clusters
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite, hash_files

_YAML, _LINES = (".yaml", ".yml"), ".jsonl"
_KEYS = re.compile(rb"^(?:category|entries)[ \t]*:", re.MULTILINE)
_LINE = re.compile(rb'^\s*\{.*"category"\s*:', re.MULTILINE)
_BODY = re.compile(rb'^(?:(?:entries|functions)[ \t]*:|\s*\{.*"id"\s*:)', re.MULTILINE)
_CATEGORY = re.compile(rb'^(?:category[ \t]*:[ \t]*|\s*\{.*"category"\s*:\s*)["\']?(\w+)', re.MULTILINE)
_EXPORTED = re.compile(rb'\s*\{"run":')
"""The beginning of a file that ``fcbench run export jsonl`` wrote, whose rows have a category too."""
_OTHER_FOLDERS = frozenset(("__pycache__", "node_modules", "venv"))


def open_own(name: str, path: Path) -> Suite:
    """Open the suite of that name; its version is the beginning of its hash.

    Raises ``UsageError`` where there is none, ``SuiteError`` for a broken file.
    """
    files = find_entry_files(path) if path.is_dir() else [path]
    if not files:
        raise UsageError(
            f"the suite {name!r}: {path} has no YAML or JSON Lines file with a 'category'; add one"
        )
    if not path.exists():
        raise UsageError(f"the suite {name!r}: {path} does not exist; correct its path")
    if files[0].suffix not in (*_YAML, _LINES):
        raise UsageError(f"the suite {name!r}: {path} must be a folder or a YAML or JSON Lines file")
    sources = _find_sources(files)
    # Files that a team wrote for a category of MADE_OF take the place of entries made by code.
    derived_categories = {category for category, of in MADE_OF.items() if of in sources} - sources.keys()
    # Modules and pages count too: entries can depend on them.
    read = [file for file in _walk(path) if file.suffix in (*_YAML, _LINES, ".py") and file.is_file()]
    digest = hash_files(read, path if path.is_dir() else path.parent)
    reader = _EntryReader(name, sources)
    return Suite(
        name=name,
        version=digest[:12],
        pack_sha256=digest,
        categories=tuple(c for c in CATEGORIES.values() if c.name in sources or c.name in derived_categories),
        wording=core.read_wording(),
        world=core.make_world(),
        load=reader.load,
        web=web if (web := path / "web").is_dir() else None,
        file_of=reader.find_file,
        load_shard=reader.load_shard,
        count=reader.count,
        may_have_free_text=any(map(_mentions_judge, files)),
    )


def _mentions_judge(file: Path) -> bool:
    """Tell whether a file of entries may mark free text, without reading it as entries."""
    with file.open("rb") as lines:
        return any(b"judged" in line for line in lines)


def find_entry_files(path: Path) -> list[Path]:
    """Return the files of entries at a path, recognised by their beginnings. Raises ``SuiteError``.

    In a folder those that an export wrote are left out.
    """
    beginnings = ((file, _read_beginning(file)) for file in _walk(path))
    return [
        file
        for file, beginning in beginnings
        if (_LINE if file.suffix == _LINES else _KEYS).search(beginning)
        and not (file != path and _EXPORTED.match(beginning))
    ]


def find_unnamed_files(folder: Path) -> list[Path]:
    """Return the files directly in a folder that are files of entries beyond doubt. Raises ``SuiteError``.

    Nobody has named them, so that one that only looks alike must be no error.
    """
    return list(filter(is_entry_file, sorted(folder.iterdir())))


def is_entry_file(file: Path) -> bool:
    """Tell whether a file is one of entries beyond doubt. Raises ``SuiteError``."""
    match = _CATEGORY.search(beginning := _read_beginning(file))
    is_known = match is not None and match[1].decode() in entry_files.file_categories()
    return is_known and _BODY.search(beginning) is not None


def is_suite(path: Path) -> bool:
    """Tell by the beginnings of files whether a path is a file of entries or a folder with one.

    Folders inside are not searched. In a folder the category has to be known, because a folder may hold any
    YAML. Raises ``SuiteError``.
    """
    return bool(find_unnamed_files(path) if path.is_dir() else find_entry_files(path))


def _walk(path: Path) -> Sequence[Path]:
    """Return the files of a folder without those of other programs, or else the path itself."""
    if not path.is_dir():
        return [path]
    candidates = ((file, file.relative_to(path).parts) for file in path.rglob("*"))
    return sorted(
        file
        for file, parts in candidates
        if _OTHER_FOLDERS.isdisjoint(parts) and not any(part[0] == "." for part in parts)
    )


def _read_beginning(file: Path) -> bytes:
    """Return the beginning of a YAML or JSON lines file, else nothing. Raises ``SuiteError``."""
    # The configuration may name categories too.
    if file.suffix not in (*_YAML, _LINES) or file.name == "fcbench.yaml" or not file.is_file():
        return b""
    try:
        with file.open("rb") as stream:
            # A folder can contain large files that are no entries; Windows editors begin theirs with a BOM.
            return stream.read(100_000).removeprefix(BOM_UTF8)
    except OSError as error:
        raise SuiteError(f"{file}: cannot be read: {error.strerror}; give a readable file") from None


_Source: TypeAlias = "Field | EntryLines"
"""A YAML file, or the lines of a file with entries of one category."""


def _find_sources(files: Iterable[Path]) -> Mapping[str, Sequence[_Source]]:
    """Find the sources of each category. Raises ``SuiteError``."""
    sources: dict[str, list[_Source]] = {}
    for file in files:
        if file.suffix in _YAML:
            whole = Field(read_yaml(file), file)
            for category in entry_files.read_categories(whole):
                sources.setdefault(category.name, []).append(whole)
            continue
        lines: dict[str, EntryLines] = {}
        for place, value in iterate_lines(file):
            top = Field({key: value[key] for key in ("category",) if key in value}, file, (), place.number)
            for category in entry_files.read_categories(top):
                lines.setdefault(category.name, EntryLines(file)).add_line(place, value)
        for name, each in lines.items():
            sources.setdefault(name, []).append(each)
    return sources


class _EntryReader:
    """Reads the entries of a suite category by category, because a run of one need not read the others."""

    def __init__(self, suite: str, sources: Mapping[str, Sequence[_Source]]) -> None:
        self._suite = suite
        self._sources = dict(sources)
        self._loaded: dict[str, tuple[Entry, ...]] = {}
        self._places: dict[str, tuple[str, Path]] = {}
        """Category and file of each id that was read, because a Record is found by the id alone."""
        self._docs: dict[bytes, FunctionDoc] = {}
        """Function docs of JSON lines by digest: each line repeats them, but one of each is kept."""

    def load(self, category: Category) -> tuple[Entry, ...]:
        """Return the entries of a category. Raises ``SuiteError``."""
        if category.name not in self._loaded:
            self._loaded[category.name] = self._read_entries(category, None)
            # What a file says takes as much room as its entries. Of some, code makes those of others.
            if category.name not in MADE_OF.values():
                self._sources.pop(category.name, None)
        return self._loaded[category.name]

    def find_file(self, entry: Entry) -> Path:
        """Return the file of an entry."""
        entry_id, _ = split_level(entry.id)
        if entry_id not in self._places:
            self.load(entry.category)
        return self._places[entry_id][1]

    def load_shard(self, category: Category, shard: Shard) -> tuple[Entry, ...]:
        """Return a shard's entries of a category. Raises ``SuiteError``.

        Where lines are entries, the others are left out by their ids alone, before an entry is made of them.
        """
        if self._count_lines(category) is None:
            return tuple(filter(shard.holds, self.load(category)))
        return self._read_entries(category, shard)

    def count(self, category: Category) -> int:
        """Count the entries of a category. Raises ``SuiteError``."""
        lines = self._count_lines(category)
        return len(self.load(category)) if lines is None else lines

    def _count_lines(self, category: Category) -> int | None:
        """Count the lines that are the entries of a category; None where it has others."""
        sources = self._sources.get(category.name, ())
        lines = [len(source) for source in sources if isinstance(source, EntryLines)]
        are_entries = len(lines) == len(sources) > 0 and entry_files.holds_one_entry(category)
        return sum(lines) if are_entries else None

    def _read_entries(self, category: Category, shard: Shard | None) -> tuple[Entry, ...]:
        entries_by_id: dict[str, Entry] = {}
        clusters: set[str] = set()
        sources = self._sources.get(category.name, ()) or self._sources.get(
            MADE_OF.get(category.name, ""), ()
        )
        for source in sources:
            clusters.update(source.clusters if isinstance(source, EntryLines) else ())
            for part in self._iterate_parts(source, shard):
                for entry in self._make_entries(part, category):
                    other, _ = self._places.get(entry.id, (category.name, None))
                    if entry.id in entries_by_id:
                        raise part.error(
                            f"the id {entry.id!r} is already used by an entry in another file or line"
                        )
                    if other != category.name:
                        raise part.error(
                            f"the id {entry.id!r} of {category.name} is already used by an entry of {other}"
                        )
                    entries_by_id[entry.id] = entry
                    self._places[entry.id] = category.name, part.path
        # An entry and those made from it share a cluster, whose members count as dependent.
        return join_clusters(list(entries_by_id.values()), clusters if shard else ())

    def _iterate_parts(self, source: _Source, shard: Shard | None) -> Iterator[Field]:
        """Yield parts of a source in the form of a YAML file, only those of a shard if one is given."""
        if isinstance(source, Field):
            yield source
            return
        for part, entry_id in source.read_lines():
            if shard is None or not isinstance(entry_id, str) or shard.holds_key(f"{self._suite}:{entry_id}"):
                yield part

    def _make_entries(self, part: Field, category: Category) -> Iterator[Entry]:
        # A part of another category is one that this category can be made of.
        own = entry_files.read_categories(part)
        if category not in own:
            plain = entry_files.make_entries(part, self._suite, own[0], core.make_world())
            yield from derive_multi_turn(category.name, plain)
            return
        for entry in entry_files.make_entries(part, self._suite, category, core.make_world()):
            if part.line is None:
                yield entry
                continue
            # Docs that an earlier line had already are the same objects.
            docs = (self._docs.setdefault(_digest_doc(doc), doc) for doc in entry.functions)
            yield replace(entry, functions=tuple(docs))


def _digest_doc(doc: FunctionDoc) -> bytes:
    # With the order of keys, in which a model is shown them.
    text = json.dumps([doc.name, doc.description, doc.shown_schema, doc.extra])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class LinePlace(NamedTuple):
    """The place of a line in its file."""

    number: int
    """From 1 on."""
    offset: int
    """Bytes before it."""
    length: int
    """Its bytes."""


class EntryLines:
    """The lines of a file with the entries of one category."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Arrays, because three numbers of Python take as much memory as an entry.
        self._places = array("Q")
        self.clusters: set[str] = set()
        """Names of clusters that any of these lines gives its entry."""

    def add_line(self, place: LinePlace, value: Mapping[str, object]) -> None:
        """Add a line."""
        self._places.extend(place)
        if isinstance(cluster := value.get("cluster"), str):
            self.clusters.add(cluster)

    def __len__(self) -> int:
        return len(self._places) // len(LinePlace._fields)

    def read_lines(self) -> Iterator[tuple[Field, object]]:
        """Yield each line in the form of a YAML file, and the id that it has. Raises ``SuiteError``."""
        with self._path.open("rb") as file:
            places = iter(self._places)
            for place in map(LinePlace, places, places, places):
                file.seek(place.offset)
                value = _parse_line(file.read(place.length), self._path, place.number)
                part = _make_part(value, self._path, place.number)
                yield replace(part, list_file_errors=partial(list_line_errors, self._path)), value.get("id")


def _make_part(value: Mapping[str, object], path: Path, number: int) -> Field:
    """Bring the value of a line into the form of a YAML file."""
    top = {key: value[key] for key in entry_files.keys_at_top() if key in value}
    entry = {key: member for key, member in value.items() if key not in top}
    return Field({**top, "entries": [entry]}, path, line=number)


def list_line_errors(path: Path) -> Sequence[SuiteError]:
    """List the errors of a file of lines, each as if it were the only one."""
    errors: list[SuiteError] = []
    ids: set[str] = set()
    for line in _read_lines(path):
        if len(errors) > MOST_ERRORS:
            break
        if isinstance(line, SuiteError):
            errors.append(line)
            continue
        place, value = line
        part, entry_id = _make_part(value, path, place.number), str(value.get("id"))
        if "id" in value and entry_id in ids:
            errors.append(part.error(f"the id {entry_id!r} is already used by an entry in another line"))
            continue
        ids.add(entry_id)
        try:
            # A scene of several categories has the same errors in each.
            category = entry_files.read_categories(part)[0]
        except SuiteError as error:
            errors.append(error)
        else:
            errors += entry_files.list_errors(part, path.stem, category, core.make_world())
    return errors


def iterate_lines(path: Path) -> Iterator[tuple[LinePlace, Mapping[str, object]]]:
    """Yield the value of each line that is not blank, with its place.

    Raises ``SuiteError`` with all errors of the file where a line cannot be read.
    """
    for line in _read_lines(path):
        if isinstance(line, SuiteError):
            raise join_errors(list_line_errors(path))
        yield line


def _read_lines(path: Path) -> Iterator[tuple[LinePlace, Mapping[str, object]] | SuiteError]:
    number = offset = 0
    with path.open("rb") as file:
        for chunk in file:
            # A file is read up to each line feed; a carriage return alone ends a line too.
            for line in chunk.splitlines(keepends=True):
                number += 1
                text = line.removeprefix(BOM_UTF8) if number == 1 else line
                if text.strip():
                    place = LinePlace(number, offset + len(line) - len(text), len(text))
                    try:
                        yield place, _parse_line(text, path, number)
                    except SuiteError as error:
                        yield error
                offset += len(line)


def _parse_line(text: bytes, path: Path, number: int) -> Mapping[str, object]:
    try:
        value = read_json_text(text)
    except (ValueError, RecursionError) as error:
        raise SuiteError(f"{path}:{number}: not valid JSON: {error}; write one object in each line") from None
    if not isinstance(value, Mapping):
        raise SuiteError(f"{path}:{number}: must be an object")
    return value
