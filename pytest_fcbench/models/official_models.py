"""The models of the official registry, and how the official handler of each shows names and reads answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.codecs.dialogues.families import OWN_FAMILIES
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.tables import read_table


@dataclass(frozen=True, slots=True)
class OfficialFamily:
    """Models that one official handler reads in the same way, or a family of another distribution."""

    handler: str
    """The class in ``bfcl_eval.model_handler``, or the name of the distribution's family."""
    syntax: str
    """A name of ``codecs.decoders.registry.SYNTAXES``, which also decides the mode."""
    models: tuple[str, ...]
    names: Names = Names.DOTTED

    @property
    def mode(self) -> Mode:
        """The mode to which its syntax belongs."""
        reader = SYNTAXES[self.syntax]
        return reader.mode if reader else Mode.FC


@dataclass(frozen=True, slots=True)
class _Registry:
    """The contents of ``official_models.toml``, which explains them."""

    misread: frozenset[str]
    names_at_server: Mapping[str, str]
    families: Sequence[OfficialFamily]


@cache
def _read_registry() -> _Registry:
    return read_table(_Registry, __file__, "official_models.toml")


def list_official_families() -> Sequence[OfficialFamily]:
    """List the families of the official registry."""
    return _read_registry().families


@cache
def _map_models() -> Mapping[str, OfficialFamily]:
    return {model: family for family in list_official_families() for model in family.models}


def find_family(model: str, *, repaired: bool = False) -> OfficialFamily:
    """Return the family of an official model id, or one that another distribution adds under this name.

    Where it is to be ``repaired``, without known faults of reading. Raises ``UsageError`` with similar names.
    """
    families = _map_models()
    if repaired and model in _read_registry().misread:
        return OfficialFamily(families[model].handler, "tool_calls", (model,), Names.UNDERSCORED)
    if model in families:
        return families[model]
    if model in OWN_FAMILIES:
        own = OWN_FAMILIES.find(model)
        return OfficialFamily(model, own.syntax, (model,), own.names)
    raise UsageError(describe_unknown_name("official model", model, [*families, *OWN_FAMILIES]))


def name_at_server(model: str) -> str:
    """Return the name by which its server knows an official model."""
    return _read_registry().names_at_server.get(model) or model.removesuffix("-novita").removesuffix("-FC")


def find_official_id(model: str, mode: Mode | None) -> str | None:
    """Return the official id that a model's id is in a mode, without its provider; None where it is none."""
    _, _, behind_prefix = model.partition("/")
    for name in (model, behind_prefix):
        for official in (name, f"{name}-FC", name.removesuffix("-FC")):
            family = _map_models().get(official)
            # Without a mode the id itself counts, as it stands on the leaderboard.
            if family and (official == name if mode is None else family.mode is mode):
                return official
    return None


def list_dated_ids(model: str, mode: Mode) -> list[str]:
    """List the official ids of a mode that are this one with a date, newest last."""
    pattern = re.compile(rf"{re.escape(model.rpartition('/')[2])}-[\d-]+(-FC)?")
    models = _map_models().items()
    return sorted(each for each, family in models if family.mode is mode and pattern.fullmatch(each))


def find_folder_family(folder: str) -> tuple[str, OfficialFamily] | None:
    """Find the model whose results a folder holds by its official name, in which slashes are underscores."""
    return next((pair for pair in _map_models().items() if pair[0].replace("/", "_") == folder), None)
