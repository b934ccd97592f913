"""The embedded suites beside ``core``: ``frontier`` for where it is exhausted, and ``wire`` for servers.

``frontier`` has long chains of calls over two API domains, deeply nested arguments, and requests that lack
something. It is a suite of its own, because scores of ``core`` would otherwise not be comparable with earlier
ones. ``wire`` checks any endpoint that speaks OpenAI's interface with tools.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.state.derived_entries import derive_multi_turn
from pytest_fcbench.suites import core
from pytest_fcbench.suites.custom import open_own
from pytest_fcbench.suites.suite import Suite, hash_files

FRONTIER, WIRE = "frontier", "wire"
_FRONTIER_VERSION = "1"

_FRONTIER_FOLDER = Path(__file__).with_name(FRONTIER)
_WITHHOLDING = CATEGORIES["multi_turn_miss_func"]
"""The only category whose entries code makes of others here."""


def open_wire(cache: Path) -> Suite:
    """Open ``wire``; its version is the beginning of the hash of its files."""
    return open_own(WIRE, Path(__file__).with_name(WIRE))


def open_frontier(cache: Path) -> Suite:
    """Open ``frontier``; its hash is that of its files."""
    files = sorted(_FRONTIER_FOLDER.glob("*.json"))
    names = {file.stem for file in files} | {_WITHHOLDING.name}
    return Suite(
        name=FRONTIER,
        version=_FRONTIER_VERSION,
        pack_sha256=hash_files(files, _FRONTIER_FOLDER),
        categories=tuple(category for name, category in CATEGORIES.items() if name in names),
        wording=core.read_wording(),
        world=core.make_world(),
        load=_load_frontier,
    )


@cache  # the files of the package do not change, and a process may hold several runs
def _load_frontier(category: Category) -> tuple[Entry, ...]:
    def read() -> tuple[Entry, ...]:
        if category == _WITHHOLDING:
            return tuple(derive_multi_turn(category.name, _load_frontier(CATEGORIES["multi_turn_base"])))
        path = _FRONTIER_FOLDER / f"{category.name}.json"
        return entry_files.make_entries(Field(read_yaml(path), path), FRONTIER, category, core.make_world())

    return core.load_or_read(category, _FRONTIER_FOLDER, read)
