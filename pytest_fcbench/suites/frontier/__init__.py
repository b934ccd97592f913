"""The embedded suite ``frontier``: what is left where ``core`` is exhausted.

Long chains of calls over two API domains, deeply nested arguments, and requests that lack something. A suite
of its own, because scores of ``core`` would otherwise not be comparable with earlier ones.
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
from pytest_fcbench.suites.suite import Suite, hash_files

NAME = "frontier"
VERSION = "1"

_FOLDER = Path(__file__).parent
_WITHHOLDING = CATEGORIES["multi_turn_miss_func"]
"""The only category whose entries code makes of others here."""


def open_suite(cache: Path) -> Suite:
    """Open the suite; its hash is that of its files."""
    files = sorted(_FOLDER.glob("*.json"))
    names = {file.stem for file in files} | {_WITHHOLDING.name}
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=hash_files(files, _FOLDER),
        categories=tuple(category for name, category in CATEGORIES.items() if name in names),
        wording=core.read_wording(),
        world=core.make_world(),
        load=_load,
    )


@cache  # the files of the package do not change, and a process may hold several runs
def _load(category: Category) -> tuple[Entry, ...]:
    def read() -> tuple[Entry, ...]:
        if category == _WITHHOLDING:
            return tuple(derive_multi_turn(category.name, _load(CATEGORIES["multi_turn_base"])))
        path = _FOLDER / f"{category.name}.json"
        return entry_files.make_entries(Field(read_yaml(path), path), NAME, category, core.make_world())

    return core.load_or_read(category, _FOLDER, read)
