"""The folder of the benchmark project that a run of pytest belongs to.

pytest loads this module in every run of whoever has the plugin installed, so at first it imports nothing of
ours but the name of the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pytest_fcbench.config.options import FILE

_ENTRIES = (".yaml", ".yml", ".jsonl")
_BEGINNING = 4_096
"""The bytes at the beginning of a file among which a file of entries names its category."""


def find_project_folder(config: pytest.Config, arguments: Iterable[str]) -> Path:
    """Return the nearest folder with an fcbench.yaml, else the root directory.

    It is looked for from each argument, then from where pytest was started, up to the root directory: a
    repository may hold several projects. Without a file of its own pytest takes the folder of the arguments
    for the root; then it is looked for up to the top of the repository, or in the folder above.
    """
    root, here = config.rootpath, config.invocation_params.dir
    top = root
    if config.inipath is None:
        top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root.parent)
    for argument in (*arguments, ""):
        place = _find_place(here, argument)
        for folder in (place, *place.parents):
            if folder.is_relative_to(top) and (folder / FILE).is_file():
                return folder
    return root


def points_at_entries(config: pytest.Config) -> bool:
    """Tell whether an argument is a file of entries or a folder with one."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return False
    here = config.invocation_params.dir
    places = [_find_place(here, argument) for argument in config.args]
    # A quick look, because every run of pytest takes it.
    likely = [
        place for place in places if any(b"category" in _read_beginning(file) for file in _list_files(place))
    ]
    if not likely:
        return False
    # Imported late, because most runs have nothing to do with this package.
    from pytest_fcbench.domain.errors import FcbenchError
    from pytest_fcbench.suites.custom import is_suite

    try:
        return any(map(is_suite, likely))
    except FcbenchError:
        # A file that cannot be read is none of ours.
        return False


def _find_place(here: Path, argument: str) -> Path:
    # resolve() would follow links, which pytest keeps.
    return Path(os.path.abspath(here / argument.partition("::")[0]))  # noqa: PTH100


def _list_files(place: Path) -> Iterator[Path]:
    try:
        files = sorted(place.iterdir()) if place.is_dir() else [place]
    except OSError:
        return
    # Reading a pipe would wait for its writer.
    yield from (file for file in files if file.suffix in _ENTRIES and file.is_file())


def _read_beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(_BEGINNING)
    except OSError:
        return b""
