"""The folder of the benchmark project that a run of pytest belongs to.

pytest loads this module in every run of whoever has the plugin installed, so at first it imports nothing of
ours but where projects are found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pytest_fcbench.config.options import find_project, find_top

_ENTRIES = (".yaml", ".yml", ".jsonl")
_LEFT_OUT = b"fcbench-benchmark"
"""Stands in the conftest.py that leaves benchmarks out of a run that the plugin has no part in."""
_BEGINNING = 4_096
"""The bytes at the beginning of a file among which a file of entries names its category."""


def find_project_folder(config: pytest.Config, arguments: Iterable[str]) -> Path:
    """Return the nearest folder with an fcbench.yaml, else the one in which pytest was started.

    It is looked for from each argument, then from where pytest was started, up to the root directory: a
    repository may hold several projects. Without a file of its own pytest takes the folder of the arguments
    for the root; then it is looked for up to the top of the repository, or in the folder above.
    """
    here = config.invocation_params.dir
    places = (find_place(here, argument) for argument in (*arguments, ""))
    # Commands look for the runs and the store in the folder in which they are started.
    return find_project(places, find_highest_folder(config)) or here


def find_highest_folder(config: pytest.Config) -> Path:
    """Return the folder up to which a project, or a suite, is looked for."""
    return config.rootpath if config.inipath else find_top(config.rootpath)


def is_left_out(config: pytest.Config, project: Path) -> bool:
    """Tell whether a run is in a project whose benchmarks only run where something names them, by no path.

    ``fcbench init`` writes their conftest.py beside tests of another kind, which then run as without us.
    """
    benchmarks, here = project / "benchmarks", config.invocation_params.dir
    return _LEFT_OUT in _read_beginning(benchmarks / "conftest.py") and not (
        config.args_source is pytest.Config.ArgsSource.ARGS
        or list_failed_entries(config)
        or any(find_place(here, argument).is_relative_to(benchmarks) for argument in config.args)
    )


def list_failed_entries(config: pytest.Config) -> list[str]:
    """List the node ids of the entries among the tests that ``--lf`` runs again; none without the option."""
    if not getattr(config.option, "lf", False):
        return []
    # Imported late, because most runs have nothing to do with this package.
    from pytest_fcbench.domain.text import read_json_text

    file = config.rootpath / str(config.getini("cache_dir")) / "v/cache/lastfailed"
    try:
        last_failures = read_json_text(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    # Other tests may have parameters with a colon.
    return [
        nodeid
        for nodeid in map(str, last_failures if isinstance(last_failures, dict) else ())
        if ":" in nodeid.rpartition("[")[2]
        and ("::entry[" in nodeid or mentions_us(config.rootpath / nodeid.partition("::")[0]))
    ]


def mentions_us(module: Path) -> bool:
    """Tell whether a test module may hold benchmarks, without importing it."""
    try:
        return b"fcbench" in module.read_bytes()
    except OSError:
        return False


def points_at_entries(config: pytest.Config) -> bool:
    """Tell whether an argument is a file of entries or a folder with one, or an entry failed last."""
    if any("::entry[" in nodeid for nodeid in list_failed_entries(config)):
        return True
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return False
    here = config.invocation_params.dir
    places = [find_place(here, argument) for argument in config.args]
    # A quick look, because every run of pytest takes it.
    likely = [
        place for place in places if any(b"category" in _read_beginning(file) for file in _list_files(place))
    ]
    if not likely:
        return False
    from pytest_fcbench.domain.errors import FcbenchError
    from pytest_fcbench.suites.custom import is_suite

    try:
        return any(map(is_suite, likely))
    except FcbenchError:
        # A file that cannot be read is none of ours.
        return False


def explain_no_suites(config: pytest.Config) -> Iterator[str]:
    """Explain what YAML and JSON Lines files among the arguments lack, and what makes missing benchmarks."""
    for place in (find_place(config.invocation_params.dir, argument) for argument in config.args):
        if place.name == "benchmarks" and not place.exists():
            yield "'fcbench init' writes this folder, and a project that runs at once"
        if place.suffix not in _ENTRIES or not place.is_file():
            continue
        signs = {"category": b'"category"'}
        least = 'a line is at least {"category": "chatable", "id": "hello", "query": "Hello"}'
        if place.suffix != ".jsonl":
            signs = {"category": b"\ncategory:", "entries": b"\nentries:"}
            least = "its lines are at least 'category: chatable' and 'entries: [{id: hello, query: Hello}]'"
        beginning = b"\n" + _read_beginning(place)
        if missing := [f"no {key!r}" for key, sign in signs.items() if sign not in beginning]:
            names = " and ".join(missing)
            yield f"{place} has {names}, so it is not a suite; {least} (fcbench help own-suites)"


def find_place(here: Path, argument: str) -> Path:
    """Return the path of an argument, which may be a node id."""
    return normalize_path(here / argument.partition("::")[0])


def normalize_path(path: Path) -> Path:
    """Write a path as pytest does: from the root, without dots, links as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _list_files(place: Path) -> Iterator[Path]:
    try:
        files = sorted(place.iterdir()) if place.is_dir() else [place]
    except OSError:
        return
    # Reading a pipe would wait for its writer.
    yield from (file for file in files if file.suffix in _ENTRIES and file.is_file())


def _read_beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_BEGINNING)
    except OSError:
        return b""
