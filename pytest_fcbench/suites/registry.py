"""Registry of suites by name: ours, those of other distributions, a team's own.

Another distribution adds a suite by an entry point in the group ``fcbench.suites``: a function that takes the
cache folder and returns the ``Suite``, which has the name of the entry point.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType

from pytest_fcbench.domain.entry import CATEGORIES, SCORE_NAMES, SELECTIONS
from pytest_fcbench.domain.errors import FcbenchError, UsageError, describe_unknown_name
from pytest_fcbench.domain.paths import is_place
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.suites import bfcl, complexfuncbench, core, embedded
from pytest_fcbench.suites.custom import is_entry_file, is_suite, open_own
from pytest_fcbench.suites.packs import Source
from pytest_fcbench.suites.suite import Suite

OURS: Mapping[str, Callable[[Path], Suite]] = {
    core.NAME: core.open_suite,
    bfcl.SOURCE.name: bfcl.open_suite,
    complexfuncbench.NAME: complexfuncbench.open_suite,
    embedded.WIRE: embedded.open_wire,
    embedded.FRONTIER: embedded.open_frontier,
}
"""Functions that open the suites of this package, given the cache folder, by name."""

_PLACES = Path(".fcbench", "suites.json")
"""The file of a project that says where suites lie that a run was given by path."""


class SuiteRegistry(Registry[Callable[[Path], Suite]]):
    """The installed suites, and those that the current folder makes known without a configuration."""

    def __getitem__(self, name: str) -> Callable[[Path], Suite]:
        """Return the function that opens a suite. Raises ``KeyError``."""
        if super().__contains__(name):
            return super().__getitem__(name)
        path = find_nearby_suites(Path())[name]
        return lambda cache: open_own(name, path)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in find_nearby_suites(Path())

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        yield from find_nearby_suites(Path())

    def find(self, name: str) -> Callable[[Path], Suite]:
        """Return the function that opens a suite. Raises ``UsageError``."""
        if name not in self:
            raise UsageError(describe_unknown_suite(name, self))
        return self[name]


SUITES: Registry[Callable[[Path], Suite]] = SuiteRegistry("suite", "fcbench.suites", OURS)
"""Functions that open suites, by name."""

PACKS: Mapping[str, Source] = {source.name: source for source in (bfcl.SOURCE, complexfuncbench.SOURCE)}
"""The packs that ``fcbench pull`` can get."""


def list_openers(own: Mapping[str, Path]) -> Mapping[str, Callable[[Path], Suite]]:
    """Return the functions that open all suites; nothing is imported before a suite is opened."""
    return {name: partial(open_suite, name, own=own) for name in (*SUITES, *own)}


def open_suite(name: str, cache: Path, own: Mapping[str, Path] = MappingProxyType({})) -> Suite:
    """Open a suite by name. Raises ``UsageError`` for an unknown name, ``PackMissing`` without its pack."""
    if name in own:
        return open_own(name, own[name])
    suite = SUITES.find(name)(cache)
    if name not in OURS and (suite.name != name or not _is_word(name)):
        raise UsageError(
            f"suite {name!r}: its entry point opens a suite named {suite.name!r}; give both the "
            f"same name, because it is also the name of a mark"
        )
    return suite


def suggest_name(path: Path) -> str:
    """Return a name for a suite, made from the name of its file or folder."""
    return re.sub(r"\W+", "_", path.absolute().stem)


def name_suite(path: Path) -> str:
    """Return the name of the suite at a path. Raises ``UsageError``."""
    if not can_name_a_suite(name := suggest_name(path)):
        rule = f"{name!r} cannot name a suite; use {SUITE_NAME_RULE}"
        raise UsageError(f"{path}: {rule}: rename it, or give it a name under suites in fcbench.yaml")
    return name


def find_nearby_suites(folder: Path) -> Mapping[str, Path]:
    """Find the suites that lie in a folder of a project, and those that its last runs were given by path."""
    nearby: dict[str, Path] = {}
    with suppress(OSError):
        # Folders first: of one name the file counts.
        for path in sorted(folder.iterdir(), key=lambda each: (each.is_file(), each)):
            # A file that cannot be read is no suite, and must not hide the others.
            with suppress(OSError, FcbenchError):
                if is_suite(path) if path.is_dir() else is_entry_file(path):
                    nearby[suggest_name(path)] = path
    for name, place in _read_places(folder).items():
        with suppress(OSError, FcbenchError):
            if (path := folder / place).exists() and is_suite(path):
                nearby[name] = path
    return {name: path for name, path in nearby.items() if can_name_a_suite(name)}


def describe_unknown_suite(name: str, known_names: Iterable[str], folder: Path = Path()) -> str:
    """Say that no suite has that name, or that it is no longer where a run in a folder found it."""
    if place := find_gone_suites(folder).get(name):
        return f"suite {name!r}: {place}, where a run found it, is gone; run 'pytest' once with its new path."
    if is_place(name) and can_name_a_suite(short := suggest_name(Path(name))):
        return f"{name!r} is a path: run 'pytest {name}' once, then name the suite {short!r}."
    unknown = describe_unknown_name("suite", name, known_names)
    return f"{unknown} A suite of your own needs a name under 'suites' in fcbench.yaml."


def find_gone_suites(folder: Path) -> Mapping[str, str]:
    """Find the suites that runs in a folder were given by path, and that are no longer there."""
    return {name: place for name, place in _read_places(folder).items() if not (folder / place).exists()}


def remember_suites(folder: Path, suites: Mapping[str, Path]) -> None:
    """Remember where suites lie, so that later commands in this folder find them by name."""
    nearby = find_nearby_suites(folder)
    places = {
        name: os.path.relpath(path, folder)
        for name, path in suites.items()
        if name not in nearby or not nearby[name].exists() or not path.samefile(nearby[name])
    }
    # A folder that cannot be written to keeps no runs either.
    with suppress(OSError):
        if places:
            (folder / _PLACES).parent.mkdir(exist_ok=True)
            text = json.dumps({**_read_places(folder), **places}, indent=1)
            (folder / _PLACES).write_text(text, encoding="utf-8")


def _read_places(folder: Path) -> Mapping[str, str]:
    try:
        read = read_json_text((folder / _PLACES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) and all(isinstance(place, str) for place in read.values()) else {}


SUITE_NAME_RULE = "one word that names no category, mark, score or other suite"


def can_name_a_suite(name: str) -> bool:
    """Tell whether a name is free and a word, because it becomes a mark and names a score."""
    # Of the registry those that are installed: what lies nearby is yet to be named.
    is_installed = Registry.__contains__(SUITES, name)
    return _is_word(name) and name not in (*CATEGORIES, *SELECTIONS, *SCORE_NAMES) and not is_installed


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", name) is not None
