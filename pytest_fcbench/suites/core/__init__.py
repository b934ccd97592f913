"""The embedded suite: entries of our own for every category, so that a fresh machine can run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.codecs.wording import Notes, Prompts, Sentences, Wording
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry, Rule
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompt_format import Docs, Layout, Returned, Style
from pytest_fcbench.environments.world import World, world_from_json
from pytest_fcbench.suites.clusters import clustered
from pytest_fcbench.suites.core.filler import filler
from pytest_fcbench.suites.derived_multi_turn import MADE_OF, made
from pytest_fcbench.suites.formats import entry_files
from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.suites.formats.multi_turn import Withheld, missable
from pytest_fcbench.suites.prompt_variations import in_every_format
from pytest_fcbench.suites.suite import Suite

NAME = "core"
VERSION = "9"

N = TypeVar("N", bound=str)

_FOLDER = Path(__file__).parent

GROWN = _FOLDER / "grown"
"""Entries made from those beside it, a file by category: what ``fcbench augment core --seed 1 --count 32``
makes, and walks of ``fcbench sample`` that were worded."""


def open_suite(cache: Path) -> Suite:
    """The suite; its hash is that of its files."""
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=_sha256(),
        categories=tuple(c for c in CATEGORIES.values() if _paths(c)),
        wording=wording(),
        world=world(),
        load=_load,
        web=_FOLDER / "web",
    )


def _paths(category: Category) -> Sequence[Path]:
    """The files of a category, what was made by code last; one about memories or the web is for all of their
    kind."""
    if category.name in MADE_OF:
        return _paths(CATEGORIES[MADE_OF[category.name]])
    if category.name in SELECTIONS["memory"]:
        return sorted(_FOLDER.glob("memory_*.yaml"))
    name = "web_search" if category.name in SELECTIONS["web_search"] else category.name
    return [path for folder in (_FOLDER, GROWN) if (path := folder / f"{name}.yaml").exists()]


def _load(category: Category) -> tuple[Entry, ...]:
    paths = _paths(category)
    if category.rule is Rule.VARIATION:
        return tuple(in_every_format(_varied(paths[0]), category))
    if category.name in MADE_OF:
        return tuple(made(category.name, map(missable, _written(tuple(paths)))))
    if category.rule is Rule.STATE:
        return tuple(entry for entry, _ in _written(tuple(paths)))
    return clustered([entry for path in paths for entry in entry_files.entries(_file(path), NAME, category)])


@cache
def _file(path: Path) -> Field:
    return Field(yaml_value(path), path)


def _varied(path: Path) -> Iterator[Entry]:
    """The entries of other categories that a file names."""
    for name, ids in Field(yaml_value(path), path).members().items():
        entries = {entry.id: entry for entry in _load(CATEGORIES[name])}
        yield from (entries[each.text()] for each in ids.elements())


@cache
def _written(paths: tuple[Path, ...]) -> Sequence[tuple[Entry, Withheld | None]]:
    """Multi-turn entries whose turns are worded by hand, with what can be withheld from each."""
    return [each for path in paths for each in entry_files.trajectories_of(_file(path), NAME, world())]


def _sha256() -> str:
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.rglob("*.yaml")):
        digest.update(
            path.relative_to(_FOLDER).as_posix().encode()
            + b"\0"
            + path.read_bytes().replace(b"\r\n", b"\n")
            + b"\0"
        )
    return digest.hexdigest()


def wording() -> Wording:
    """Our sentences around function docs, also for suites that have none of their own."""
    path = _FOLDER / "wording.yaml"
    named = ("float_note", "more_functions", "answer_format")
    top = Field(yaml_value(path), path).members(("prompts", *named, "memory", "empty_memory", *Language))
    notes = {}
    for language in Language:
        told = top[language].members(("hint",), ("any_type", "typed", "elements", "members"))
        notes[language] = Notes(**{name: field.text() for name, field in told.items()})
    return Wording(
        prompts=_prompts(top["prompts"]),
        notes=notes,
        **{name: top[name].text() for name in named},
        memory=_by_domain(top["memory"]),
        empty_memory=_by_domain(top["empty_memory"]),
    )


def _by_domain(field: Field) -> Mapping[str, str]:
    return {name: text.text() for name, text in field.members().items()}


def _prompts(field: Field) -> Prompts:
    parts = field.members([part.name for part in fields(Prompts)])
    styles = parts["styles"].members(tuple(Style))
    return Prompts(
        layouts=_texts(parts["layouts"], Layout),
        styles={style: Sentences(**_texts(styles[style], _SENTENCES)) for style in Style},
        output_formats=_texts(parts["output_formats"], Returned),
        param_types=_texts(parts["param_types"], Returned),
        docs=_texts(parts["docs"], Docs),
    )


_SENTENCES = tuple(part.name for part in fields(Sentences))


def _texts(field: Field, names: Iterable[N]) -> Mapping[N, str]:
    """The texts of a mapping that has exactly these names."""
    members = field.members(tuple(names))
    return {name: members[name].text() for name in names}


@cache
def world() -> World:
    path = _FOLDER / "world.yaml"
    fields = Field(yaml_value(path), path).members()
    return replace(world_from_json({name: field.value for name, field in fields.items()}), filler=filler())
