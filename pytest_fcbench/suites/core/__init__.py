"""The embedded suite: entries of our own for every category, so that a fresh machine can run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from pytest_fcbench.codecs.wording import Notes, Wording
from pytest_fcbench.entries import CATEGORIES, SELECTIONS, Category, Entry, Language, Rule
from pytest_fcbench.environments.world import World, world_from_json
from pytest_fcbench.suites import files, web_questions
from pytest_fcbench.suites.build.filler import filler
from pytest_fcbench.suites.build.multi_turn import missing_function, of_category
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.suites.trajectories import Withheld

NAME = "core"
VERSION = "5"

_FOLDER = Path(__file__).parent


def open_suite(cache: Path) -> Suite:
    """The suite; its hash is that of its files."""
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=_sha256(),
        categories=tuple(c for c in CATEGORIES.values() if c.name in _MADE_OF or _path(c).exists()),
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


def _path(category: Category) -> Path:
    name = "web_search" if category.name in SELECTIONS["web_search"] else category.name
    return _FOLDER / f"{name}.yaml"


def _load(category: Category) -> tuple[Entry, ...]:
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
    sentences = ("float_note", "more_functions", "answer_format")
    top = Field(yaml_value(path), path).members(
        ("system_prompt", *sentences, "memory", "empty_memory", *Language)
    )
    notes = {}
    for language in Language:
        fields = top[language].members(("hint",), ("any_type", "typed", "elements", "members"))
        notes[language] = Notes(**{name: field.text() for name, field in fields.items()})
    return Wording(
        system_prompt=top["system_prompt"].text(),
        notes=notes,
        **{name: top[name].text() for name in sentences},
        memory=_by_domain(top["memory"]),
        empty_memory=_by_domain(top["empty_memory"]),
    )


def _by_domain(field: Field) -> Mapping[str, str]:
    return {name: text.text() for name, text in field.members().items()}


@cache
def _world() -> World:
    path = _FOLDER / "world.yaml"
    fields = Field(yaml_value(path), path).members()
    return replace(world_from_json({name: field.value for name, field in fields.items()}), filler=filler())
