"""Read the value of each option from the layers, hold it to its rule, and return it in its type.

An option of a type that is known here needs no line in this file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import list_run_syntaxes
from pytest_fcbench.config.layers import BY_KEY, Given, Layers
from pytest_fcbench.config.options import OPTIONS, Option
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category
from pytest_fcbench.domain.errors import SuiteError, UsageError, unknown
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.shard import Shard
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.gate import rules
from pytest_fcbench.scorecard.gate.gate import Rule
from pytest_fcbench.suites.formats.fields import Field
from pytest_fcbench.suites.registry import OURS, SUITES

Reader: TypeAlias = Callable[[Layers, Option], object]
"""Reads the value of an option from the layers. Raises ``UsageError`` for what breaks its rule."""


def read_value(layers: Layers, option: Option) -> object:
    """Read an option by the rule of its key, else by that of its type. Raises ``UsageError``."""
    return (_BY_KEY.get(option.key) or _BY_TYPE[option.type])(layers, option)


def _read_text(layers: Layers, option: Option) -> str | None:
    if option.choices:
        layers.choices(option.key, option.choices)
    text = layers.text(option.key)
    if option.default is None:
        return text
    return None if option.optional and _is_none(text) else text or option.default


def _read_path(layers: Layers, option: Option) -> Path | None:
    text = layers.text(option.key)
    if text:
        return None if option.default is not None and _is_none(text) else Path(text)
    return None if option.default is None else layers.root / option.default


def _is_none(text: str | None) -> bool:
    """Tell whether an option that has a default is switched off."""
    return text is not None and text.lower() == "none"


def _read_switch(layers: Layers, option: Option) -> bool:
    return layers.on(option.key)


def _read_number(layers: Layers, option: Option) -> float | None:
    given = layers.one_or_default(option)
    if given is None:
        return None
    try:
        number = float(given.text)
    except ValueError:
        raise given.error("must be a number") from None
    if not 0 <= number < float("inf"):
        raise given.error("must be a number from 0 on")
    if option.positive and not number and option.type == "float":
        raise given.error("must be more than 0")
    return number


def _read_whole_number(layers: Layers, option: Option) -> int | None:
    given, number = layers.one(option.key), _read_number(layers, option)
    if given is not None and number is not None:
        if not number.is_integer():
            raise given.error("must be a whole number")
        if option.positive and not number:
            raise given.error("must be 1 or more")
    return None if number is None else int(number)


def _read_word(words: type[StrEnum]) -> Reader:
    """Return what reads a word of an enumeration."""

    def read(layers: Layers, option: Option) -> StrEnum | None:
        text = layers.choice(option.key, tuple(words)) or option.default
        return None if text is None else words(text)

    return read


def _read_syntax(layers: Layers, option: Option) -> str | None:
    return layers.choice(option.key, list_run_syntaxes())


def read_suites(layers: Layers, option: Option) -> tuple[str, ...]:
    """Read the names of the suites, those that are pointed at in the place of those that are named."""
    chosen = layers.pointed or layers.choices(option.key, (*SUITES, *layers.own))
    return tuple(chosen or [str(option.default)])


def secret(layers: Layers, option: str, told: str) -> str | None:
    """The key in the environment variable that an option names, which errors call ``told``."""
    name = layers.text(option)
    if name and name not in os.environ:
        raise UsageError(f"{told}: the environment variable {name!r} is not set")
    return os.environ.get(name) if name else None


_OF_OWN_SUITES = tuple(each for each in CATEGORIES.values() if not each.rule.varies_others)
"""What is run of a team's own suites where no category is named: all that they can have."""


def _read_categories(layers: Layers, option: Option) -> tuple[Category, ...]:
    """Read the selected categories in the order of the tables, by default all that are scored.

    What a file says does not hold for suites that are pointed at.
    """
    chosen: set[str] = set()
    given = Layers(layers.command_line, {}, {}) if layers.pointed else layers
    for name in given.choices(option.key, (*CATEGORIES, *SELECTIONS)):
        chosen |= set(SELECTIONS.get(name, ())) or {name}
    if not chosen and not set(read_suites(layers, BY_KEY["suite"])).intersection(OURS):
        return _OF_OWN_SUITES
    return tuple(c for name, c in CATEGORIES.items() if (name in chosen if chosen else c.scored))


def _read_gate(layers: Layers, option: Option) -> tuple[Rule, ...]:
    """Read the rules of the gate; those that compare need a baseline."""
    gate = tuple(_rule(given, (*SUITES, *layers.own)) for given in layers.all(option.key))
    comparing = next((rule for rule in gate if rule.needs_baseline), None)
    if comparing and not layers.one("baseline"):
        raise UsageError(
            f"gate rule {comparing.text!r} compares with a baseline; name one with --fcbench-baseline=FILE: "
            "a scorecard, or what 'fcbench baseline save' makes of one"
        )
    return gate


def _rule(given: Given, suites: Sequence[str]) -> Rule:
    try:
        return rules.parse(given.text, suites)
    except UsageError as error:
        raise given.error(str(error)) if given.field else error from None


def _read_shard(layers: Layers, option: Option) -> Shard | None:
    given = layers.one(option.key)
    try:
        return Shard.parse(given.text) if given else None
    except ValueError as error:
        raise given.error(str(error)) if given else error from None


def _read_search(layers: Layers, option: Option) -> str:
    """Read who searches, by name, or the file of a recording."""
    given = layers.one(option.key)
    if given is None:
        return str(option.default)
    kind, _, path = given.text.partition(":")
    if not (kind == "recorded" and path) and given.text not in option.choices:
        raise given.error(unknown("search", given.text, (*option.choices, "recorded:FILE")))
    return given.text


def price(layers: Layers, model: str) -> Price | None:
    """The price that the file gives a model, by the name of its profile or by its id."""
    if "prices" not in layers.top:
        return None
    try:
        table = {
            name: _price_of(row.members((), ("input", "output", "hour")), row)
            for name, row in layers.top["prices"].members().items()
        }
        of_profile = layers.profile["model"].text() if layers.profile else model
    except SuiteError as error:
        raise UsageError(str(error)) from None
    return table.get(model) or table.get(of_profile)


def _price_of(members: Mapping[str, Field], row: Field) -> Price:
    if set(members) not in ({"input", "output"}, {"hour"}):
        raise row.error("must give input and output (dollars per million tokens), or hour (of a server)")
    given = {name: member.value for name, member in members.items()}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise members[name].error("must be a number of dollars from 0 on")
    return Price(**{name: float(str(value)) for name, value in given.items()})


def _read_parameters(layers: Layers, option: Option) -> Mapping[str, object]:
    """Read the free parameters, a layer over the other; what a stronger layer says by an option wins."""
    parameters: dict[str, object] = {}
    for layer in layers.each():
        for named in OPTIONS:
            if named.in_request and layer.one(named.key):
                parameters.pop(named.key, None)
        parameters |= _free_parameters(layer)
    return parameters


def _free_parameters(layer: Layers) -> Mapping[str, object]:
    parameters: dict[str, object] = {}
    field = layer.profile.get("param") or layer.top.get("param")
    if field is not None:
        try:
            parameters |= {name: member.value for name, member in field.members().items()}
        except SuiteError as error:
            raise UsageError(str(error)) from None
    given = layer.command_line.get("param")
    for text in given if isinstance(given, list) else []:
        name, equals, value = str(text).partition("=")
        if not equals or not name:
            raise UsageError(f"--fcbench-param={text}: must be NAME=JSON, for example top_p=0.9")
        try:
            parameters[name] = json.loads(value)
        except ValueError:
            parameters[name] = value
    return parameters


_BY_TYPE: Mapping[str, Reader] = {
    "bool": _read_switch,
    "float": _read_number,
    "int": _read_whole_number,
    "str": _read_text,
    "Path": _read_path,
    "Mode": _read_word(Mode),
    "Names": _read_word(Names),
    "Profile": _read_word(Profile),
    "Shard": _read_shard,
    "tuple[Rule, ...]": _read_gate,
    "tuple[Category, ...]": _read_categories,
    "Mapping[str, object]": _read_parameters,
}
"""How a value is read, by its type as ``Settings`` writes it."""

_BY_KEY: Mapping[str, Reader] = {"suite": read_suites, "syntax": _read_syntax, "search": _read_search}
"""How texts are read that have a rule of their own."""
