"""What single options say: each is read from the layers, held to its rule, and made a value."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from pytest_fcbench.config.layers import Given, Layers
from pytest_fcbench.domain import entry
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category
from pytest_fcbench.domain.errors import SuiteError, UsageError, unknown
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.shard import Shard
from pytest_fcbench.scorecard.gate import rules
from pytest_fcbench.scorecard.gate.gate import Rule
from pytest_fcbench.suites import SUITES
from pytest_fcbench.suites.formats.fields import Field

E = TypeVar("E", bound=StrEnum)


def one_of(layers: Layers, key: str, kind: type[E]) -> E | None:
    """A word of an enumeration; None where nothing is said."""
    text = layers.choice(key, tuple(kind))
    return None if text is None else kind(text)


def secret(layers: Layers, option: str, told: str) -> str | None:
    """The key in the environment variable that an option names, which errors call ``told``."""
    name = layers.text(option)
    if name and name not in os.environ:
        raise UsageError(f"{told}: the environment variable {name!r} is not set")
    return os.environ.get(name) if name else None


_OF_OWN_SUITES = tuple(each for each in CATEGORIES.values() if each.rule is not entry.Rule.VARIATION)
"""What is run of a team's own suites where no category is named: all that they can have."""


def categories(layers: Layers, suites: Sequence[str]) -> tuple[Category, ...]:
    """Selected categories in the order of the tables, by default all that are scored. What a file says does
    not hold for suites that are pointed at."""
    chosen: set[str] = set()
    given = Layers(layers.command_line, {}, {}) if layers.pointed else layers
    for name in given.choices("category", (*CATEGORIES, *SELECTIONS)):
        chosen |= set(SELECTIONS.get(name, ())) or {name}
    if not chosen and not set(suites).intersection(SUITES):
        return _OF_OWN_SUITES
    return tuple(c for name, c in CATEGORIES.items() if (name in chosen if chosen else c.scored))


def gate(layers: Layers) -> tuple[Rule, ...]:
    """The rules of the gate; those that compare need a baseline."""
    gate = tuple(_rule(given, (*SUITES, *layers.own)) for given in layers.all("gate"))
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


def shard(layers: Layers) -> Shard | None:
    """The part that is run; None for all."""
    given = layers.one("shard")
    try:
        return Shard.parse(given.text) if given else None
    except ValueError as error:
        raise given.error(str(error)) if given else error from None


SEARCHES = ("core", "duckduckgo", "serpapi")


def search(layers: Layers) -> str:
    """Who searches, by name, or the file of a recording."""
    given = layers.one("search")
    if given is None:
        return SEARCHES[0]
    kind, _, path = given.text.partition(":")
    if not (kind == "recorded" and path) and given.text not in SEARCHES:
        raise given.error(unknown("search", given.text, (*SEARCHES, "recorded:FILE")))
    return given.text


def positive(layers: Layers, key: str) -> float | None:
    """A number above 0; None where nothing is said."""
    given, number = layers.one(key), layers.number(key)
    if given is not None and not number:
        raise given.error("must be more than 0")
    return number


def count(layers: Layers, key: str, default: int, least: int = 0) -> int:
    """A whole number from ``least`` on."""
    given, number = layers.one(key), layers.number(key)
    if given is None or number is None:
        return default
    if not number.is_integer():
        raise given.error("must be a whole number")
    if number < least:
        raise given.error(f"must be {least} or more")
    return int(number)


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


def parameters(layers: Layers) -> Mapping[str, object]:
    """What goes into every request: temperature, token limit, seed and free ones, a layer over the other."""
    parameters: dict[str, object] = {"temperature": 0.001}
    for layer in layers.each():
        if (temperature := layer.number("temperature")) is not None:
            parameters["temperature"] = temperature
        for key in ("max_tokens", "seed"):
            if layer.one(key):
                parameters[key] = count(layer, key, 0)
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
