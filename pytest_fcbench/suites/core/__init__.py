"""The embedded suite: entries of our own for every category, so that a fresh machine can run."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pytest_fcbench.codecs.wording import Notes, Wording
from pytest_fcbench.entries import CATEGORIES, Category, Entry, Language
from pytest_fcbench.suites import files
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.suites.suite import Suite

NAME = "core"
VERSION = "1"

_FOLDER = Path(__file__).parent


def open_suite(cache: Path) -> Suite:
    """The suite; its hash is that of its files."""
    return Suite(
        name=NAME,
        version=VERSION,
        pack_sha256=_sha256(),
        categories=tuple(c for c in CATEGORIES.values() if _path(c).exists()),
        wording=_wording(),
        load=_load,
    )


def _path(category: Category) -> Path:
    return _FOLDER / f"{category.name}.yaml"


def _load(category: Category) -> tuple[Entry, ...]:
    return files.read(_path(category), NAME)


def _sha256() -> str:
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.glob("*.yaml")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def _wording() -> Wording:
    path = _FOLDER / "wording.yaml"
    top = Field(yaml_value(path), path).members(("system_prompt", "float_note", *Language))
    notes = {}
    for language in Language:
        fields = top[language].members(("hint",), ("any_type", "typed", "elements", "members"))
        notes[language] = Notes(**{name: field.text() for name, field in fields.items()})
    return Wording(top["system_prompt"].text(), notes, top["float_note"].text())
