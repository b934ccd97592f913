"""The embedded suite: entries of our own for every category, so that a fresh machine can run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.codecs.wording import Notes, Prompts, Sentences, Wording
from pytest_fcbench.entries import CATEGORIES, SELECTIONS, Category, Entry, Language, Rule
from pytest_fcbench.environments import DOMAINS
from pytest_fcbench.environments.docs import documented
from pytest_fcbench.environments.world import World, world_from_json
from pytest_fcbench.prompt_formats import Docs, Layout, Returned, Style
from pytest_fcbench.suites import files, memories, web_questions
from pytest_fcbench.suites.build.filler import filler
from pytest_fcbench.suites.build.multi_turn import missing_function, of_category
from pytest_fcbench.suites.build.variations import in_every_format
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.suites.memories import Scenario
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.suites.trajectories import Withheld

NAME = "core"
VERSION = "8"

N = TypeVar("N", bound=str)

_FOLDER = Path(__file__).parent


def open_suite(cache: Path) -> Suite:
    """The suite; its hash is that of its files."""
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=_sha256(),
        categories=tuple(c for c in CATEGORIES.values() if c.name in _BY_CODE or _path(c).exists()),
        wording=wording(),
        world=_world(),
        load=_load,
        web=_FOLDER / "web",
    )


_MADE_OF = {
    "multi_turn_miss_func": "multi_turn_base",
    "multi_turn_long_context": "multi_turn_base",
    "multi_turn_composite": "multi_turn_miss_param",
}
"""From the entries of which category those of another are made by code."""

_SCENARIOS = ("allotment", "band", "bicycles", "flat", "trip")
"""Of memory, each in a file ``memory_NAME.yaml``."""

_BY_CODE = (*_MADE_OF, *SELECTIONS["memory"])


def _path(category: Category) -> Path:
    name = "web_search" if category.name in SELECTIONS["web_search"] else category.name
    return _FOLDER / f"{name}.yaml"


def _load(category: Category) -> tuple[Entry, ...]:
    if category.rule is Rule.VARIATION:
        return tuple(in_every_format(_varied(_path(category)), category))
    if category.name in SELECTIONS["memory"]:
        docs = documented(DOMAINS[category.name])
        return tuple(entry for scenario in _scenarios() for entry in scenario.entries(NAME, category, docs))
    if category.name in SELECTIONS["web_search"]:
        return web_questions.entries(_path(category), NAME, category)
    if category.name not in _MADE_OF:
        if category.rule is not Rule.STATE:
            return files.read(_path(category), NAME)
        return tuple(entry for entry, _ in _written(category.name))
    plain = _written(_MADE_OF[category.name])
    if category.name == "multi_turn_long_context":
        return tuple(of_category(entry, category.name) for entry, _ in plain)
    return tuple(
        of_category(missing_function(entry, missing.turn, missing.functions), category.name)
        for entry, missing in plain
        if missing
    )


def _varied(path: Path) -> Iterator[Entry]:
    """The entries of other categories that a file names."""
    for name, ids in Field(yaml_value(path), path).members().items():
        entries = {entry.id: entry for entry in _load(CATEGORIES[name])}
        yield from (entries[each.text()] for each in ids.elements())


@cache
def _scenarios() -> Sequence[Scenario]:
    return [memories.read(_FOLDER / f"memory_{name}.yaml") for name in _SCENARIOS]


@cache
def _written(category: str) -> Sequence[tuple[Entry, Withheld | None]]:
    """Multi-turn entries that are written by hand, with what can be withheld from each."""
    return files.read_trajectories(_path(CATEGORIES[category]), NAME, _world())


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
def _world() -> World:
    path = _FOLDER / "world.yaml"
    fields = Field(yaml_value(path), path).members()
    return replace(world_from_json({name: field.value for name, field in fields.items()}), filler=filler())
