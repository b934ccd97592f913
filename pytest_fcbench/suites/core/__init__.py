"""The embedded suite: entries of our own for every category, so that a fresh machine can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fcbench.codecs.wording import Notes, Prompts, Sentences, Wording
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.environments.world import World, world_from_json
from pytest_fcbench.formats.fields import Field, read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.state.derived_entries import (
    MADE_OF,
    derive_multi_turn,
    join_clusters,
    vary_format,
)
from pytest_fcbench.suites.core.filler import filler
from pytest_fcbench.suites.core.kept_entries import load_or_read
from pytest_fcbench.suites.suite import Suite, hash_files

NAME = "core"
VERSION = "11"

_FOLDER = Path(__file__).parent

GROWN = _FOLDER / "grown"
"""Entries made from those beside it, a file for each category, by ``fcbench suite augment`` and
``fcbench suite sample``; read and mended by hand since."""

HARD = _FOLDER / "hard"
"""Entries written by hand, with many functions of one domain."""

WIDE = _FOLDER / "wide"
"""Entries written by hand, each domain with a set of functions that many questions share: JSON, which is
read faster, with an entry in a line."""


def open_suite(cache: Path) -> Suite:
    """Open the suite; its hash is that of its files."""
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=hash_files(sorted([*_FOLDER.rglob("*.yaml"), *_FOLDER.rglob("*.json")]), _FOLDER),
        categories=tuple(c for c in CATEGORIES.values() if _find_files(c)),
        wording=read_wording(),
        world=make_world(),
        load=_load,
        web=_FOLDER / "web",
    )


def _find_files(category: Category) -> Sequence[Path]:
    """Return the files of a category, those made by code last.

    A file about memories or the web serves all categories of its kind.
    """
    if category.name in MADE_OF:
        return _find_files(CATEGORIES[MADE_OF[category.name]])
    if category.name in SELECTIONS["memory"]:
        return sorted(_FOLDER.glob("memory_*.yaml"))
    # Both categories of the web ask the same questions; only the results of searches differ.
    name = "web_search" if category.name in SELECTIONS["web_search"] else category.name
    paths = [folder / f"{name}.yaml" for folder in (_FOLDER, GROWN, HARD)]
    return [path for path in (*paths, WIDE / f"{name}.json") if path.exists()]


@cache  # the files of the package do not change, and a process may hold several runs
def _load(category: Category) -> tuple[Entry, ...]:
    return load_or_read(category, _FOLDER, lambda: read_entries(category))


def read_entries(category: Category) -> tuple[Entry, ...]:
    """Read the entries of a category from the suite's files."""
    # Features are found by reading all entries, so they are stored and not computed at each start.
    features = read_features()
    return tuple(
        # Entries in other prompt formats have those of the entries that they repeat.
        replace(entry, features=features.get(entry.id, entry.features))
        for entry in _load_plain(category)
    )


@cache  # those that can be made harder are needed for two other categories
def _load_plain(category: Category) -> tuple[Entry, ...]:
    """Load the entries of a category without their features."""
    paths = tuple(_find_files(category))
    if category.varies_others:
        repeated_entries: list[Entry] = []
        for name, ids in _read_file(paths[0]).members().items():
            entries = {entry.id: entry for entry in _load(CATEGORIES[name])}
            repeated_entries += [entries[each.text()] for each in ids.elements()]
        return tuple(vary_format(repeated_entries, category))
    if category.name in MADE_OF:
        return tuple(derive_multi_turn(category.name, _load_plain(CATEGORIES[MADE_OF[category.name]])))
    files, world = map(_read_file, paths), make_world()
    return join_clusters(
        [entry for file in files for entry in entry_files.make_entries(file, NAME, category, world)]
    )


# A file about memories or the web is read once for all categories of its kind.
@cache
def _read_file(path: Path) -> Field:
    return Field(read_yaml(path), path)


@cache
def read_features() -> Mapping[str, tuple[str, ...]]:
    """Return what makes each entry hard, by id; ``python -m tests.core_features --write`` finds it."""
    return {
        name: tuple(each.text() for each in features.elements())
        for name, features in _read_file(_FOLDER / "features.json").members().items()
    }


@cache
def read_wording() -> Wording:
    """Return our sentences around function docs, also for suites without their own."""
    top: Any = read_yaml(_FOLDER / "wording.yaml")
    prompts = top["prompts"]
    styles = {name: Sentences(**texts) for name, texts in prompts["styles"].items()}
    return Wording(
        prompts=Prompts(**{**prompts, "styles": styles}),
        notes={language: Notes(**top[language]) for language in Language},
        **{name: text for name, text in top.items() if name not in ("prompts", *Language)},
    )


@cache
def make_world() -> World:
    """Return the world that the environments of all our entries share."""
    values: Any = read_yaml(_FOLDER / "world.yaml")
    return replace(world_from_json(values), filler=filler())
