"""Read the value of each option from the layers, check it against its rule, and convert it to its type.

An option of a type that is known here needs no line in this file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import list_run_syntaxes
from pytest_fcbench.config.layers import BY_KEY, Given, Layers, raise_usage_errors
from pytest_fcbench.config.options import OPTIONS, Option
from pytest_fcbench.domain.categories import CATEGORIES, SELECTIONS, Category
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, Names, Reasoning
from pytest_fcbench.domain.shard import Shard
from pytest_fcbench.domain.text import escape_controls
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import UNTRAINED
from pytest_fcbench.scorecard.gate import rules
from pytest_fcbench.scorecard.gate.gate import GateRule
from pytest_fcbench.suites.registry import OURS, SUITES, describe_unknown_suite

Reader: TypeAlias = Callable[[Layers, Option], object]
"""A function that reads an option from the layers, and raises ``UsageError`` for what breaks its rule."""


def read_value(layers: Layers, option: Option) -> object:
    """Read an option by the rule of its key, else by that of its type. Raises ``UsageError``."""
    return (_BY_KEY.get(option.key) or _BY_TYPE[option.type])(layers, option)


def _read_text(layers: Layers, option: Option) -> str | None:
    if option.choices:
        layers.find_choices(option.key, option.choices)
    text = layers.find_text(option.key)
    if option.default is None:
        return text
    return None if option.optional and _is_none(text) else text or option.default


def _read_path(layers: Layers, option: Option) -> Path | None:
    option_value = layers.find_first(option.key)
    if option_value and option_value.text:
        return None if option.default is not None and _is_none(option_value.text) else _locate(option_value)
    return None if option.default is None else layers.root / option.default


def _locate(option_value: Given) -> Path:
    """Return the path that a value means: of the file, relative to its folder."""
    folder = option_value.field.path.parent if option_value.field else Path()
    # As it was written wherever that means the same, because messages show it.
    return Path(option_value.text) if folder.absolute() == Path.cwd() else folder / option_value.text


def _is_none(text: str | None) -> bool:
    """Tell whether an option that has a default is switched off."""
    return text is not None and text.lower() == "none"


def _read_number(layers: Layers, option: Option) -> float | None:
    """Read a number; a whole one where the type of the option is ``int``."""
    whole = option.type == "int"
    option_value = layers.find_first(option.key)
    if option_value is None:
        if option.default is None:
            return None
        return int(option.default) if whole else float(option.default)
    try:
        number = float(option_value.text)
    except ValueError:
        raise option_value.error("must be a number") from None
    # ``float`` reads "inf" and "nan" too.
    if not 0 <= number < float("inf"):
        raise option_value.error("must be a number, 0 or more")
    if whole and not number.is_integer():
        raise option_value.error("must be a whole number")
    if option.positive and not number:
        raise option_value.error("must be 1 or more" if whole else "must be more than 0")
    return int(number) if whole else number


def _make_word_reader(words: type[StrEnum]) -> Reader:
    """Return a reader of a word of an enumeration."""

    def read_word(layers: Layers, option: Option) -> StrEnum | None:
        text = _find_choice(layers, option, tuple(words)) or option.default
        return None if text is None else words(text)

    return read_word


def _read_profile(layers: Layers, option: Option) -> Profile:
    """Read the profile; where only a team's own suites run, the default is the corrected one."""
    if text := _find_choice(layers, option, tuple(Profile)):
        return Profile(text)
    is_own = not set(_read_suites(layers, BY_KEY["suite"])).intersection(OURS)
    return Profile.CORRECTED if is_own else Profile.OFFICIAL


def _find_choice(layers: Layers, option: Option, valid: Sequence[str]) -> str | None:
    return next(iter(layers.find_choices(option.key, valid)), None)


def _read_suites(layers: Layers, option: Option) -> tuple[str, ...]:
    """Read the names of the suites; suites given by path replace those that are named."""
    if layers.pointed:
        return tuple(layers.pointed)
    if entry_values := layers.find_all("entry"):
        # Each id begins with its suite.
        known_names, suite_names = (*SUITES, *layers.own_suites), []
        for each in entry_values:
            suite, colon, _ = each.text.partition(":")
            if not colon:
                raise each.error("must be a suite and an id such as core:parallel_3")
            if suite not in known_names:
                raise each.error(describe_unknown_suite(suite, known_names))
            suite_names.append(suite)
        return tuple(dict.fromkeys(suite_names))
    if not layers.find_first(option.key):
        # The names of all suites would take a search of the installed distributions.
        return tuple(layers.own_suites) or (str(option.default),)
    known_names = (*SUITES, *layers.own_suites)
    suite_values = layers.find_all(option.key)
    for each in suite_values:
        if each.text not in known_names:
            raise each.error(describe_unknown_suite(each.text, known_names))
    return tuple(each.text for each in suite_values)


def _read_entries(layers: Layers, option: Option) -> tuple[str, ...]:
    """Read the ids of entries; whether there is such an entry is known when its suite is read."""
    return tuple(option_value.text for option_value in layers.find_all(option.key))


def read_secret(layers: Layers, option: str, shown_as: str) -> str | None:
    """Return the key in the environment variable that an option names; errors show the option by a name."""
    name = layers.find_text(option)
    if name and name not in os.environ:
        raise UsageError(f"{shown_as}: the environment variable {name!r} is not set; set it to the API key")
    return os.environ.get(name) if name else None


def _read_categories(layers: Layers, option: Option) -> tuple[Category, ...]:
    """Read the selected categories in the order of the tables, by default all that are scored.

    Suites given by path do not follow what the file says. Where only a team's own suites run, the default is
    every category that they can have.
    """
    plain_categories = tuple(c for c in CATEGORIES.values() if not c.varies_others)
    if ids := _read_entries(layers, BY_KEY["entry"]):
        names = [text.partition(":")[2] for text in ids]
        matches = [c for name, c in CATEGORIES.items() if any(each.startswith(f"{name}_") for each in names)]
        # An id that begins with no category can be of any.
        all_known = all(any(name.startswith(f"{c.name}_") for c in matches) for name in names)
        return tuple(matches) if all_known else plain_categories
    chosen_names: set[str] = set()
    option_layers = Layers(layers.command_line, {}, {}) if layers.pointed else layers
    for name in option_layers.find_choices(option.key, (*CATEGORIES, *SELECTIONS)):
        chosen_names |= set(SELECTIONS.get(name, ())) or {name}
    if not chosen_names and not set(_read_suites(layers, BY_KEY["suite"])).intersection(OURS):
        return plain_categories
    return tuple(c for name, c in CATEGORIES.items() if (name in chosen_names if chosen_names else c.scored))


def _read_labels(layers: Layers, option: Option) -> Mapping[str, str]:
    labels: dict[str, str] = {}
    for option_value in layers.find_all(option.key):
        key, equals, value = option_value.text.partition("=")
        if not (equals and key.strip() and value.strip()):
            raise option_value.error("must be KEY=VALUE, for example branch=main")
        labels[key.strip()] = value.strip()
    return labels


def _read_gate(layers: Layers, option: Option) -> tuple[GateRule, ...]:
    """Read the rules of the gate; those that compare need a baseline."""
    gate: list[GateRule] = []
    texts = layers.find_all(option.key)
    suites = (*SUITES, *layers.own_suites) if texts else ()
    for option_value in texts:
        try:
            gate.append(rules.parse_rule(option_value.text, suites))
        except UsageError as error:
            # The message names the rule already; for one of the file its line is still to be said.
            raise option_value.error(str(error)) if option_value.field else error from None
    comparing = next((rule for rule in gate if rule.needs_baseline), None)
    if comparing and not layers.find_first("baseline"):
        raise UsageError(
            f"gate rule {comparing.text!r} compares with a baseline; give one with --fcbench-baseline=FILE: "
            "a scorecard, or a file that 'fcbench baseline save' has written"
        )
    leaving_out = next((rule for rule in gate if rule.metric == UNTRAINED), None)
    if leaving_out and not layers.find_first("trained"):
        raise UsageError(
            f"gate rule {leaving_out.text!r} leaves out entries of the training data; name them with "
            "--fcbench-trained=FILE, which 'fcbench audit SUITE --against=train.jsonl -o FILE.json' writes"
        )
    return tuple(gate)


def _read_shard(layers: Layers, option: Option) -> Shard | None:
    if (option_value := layers.find_first(option.key)) is None:
        return None
    try:
        return Shard.parse(option_value.text)
    except ValueError as error:
        raise option_value.error(str(error)) from None


def _read_search(layers: Layers, option: Option) -> str:
    """Read who searches, by name, or the file of a recording."""
    value = layers.find_first(option.key)
    if value is None:
        return str(option.default)
    kind, _, path = value.text.partition(":")
    if not (kind == "recorded" and path) and value.text not in option.choices:
        raise value.error(describe_unknown_name("search", value.text, (*option.choices, "recorded:FILE")))
    return value.text


_OWN_RATES = ("cached", "cache_write", "reasoning")
"""Tokens that may have a price of their own beside ``input`` and ``output``."""


def read_price(layers: Layers, *names: str) -> Price | None:
    """Return the price that the file gives the first of these names: a profile or the id of a model."""
    if "prices" not in layers.top:
        return None
    with raise_usage_errors():
        table: dict[str, Price] = {}
        for name, row in layers.top["prices"].members().items():
            members = row.members((), ("input", "output", "hour", *_OWN_RATES))
            if set(members) != {"hour"} and set(members) - {*_OWN_RATES} != {"input", "output"}:
                raise row.error(
                    "must have either 'input' and 'output' (dollars per million tokens), and at will "
                    f"{', '.join(map(repr, _OWN_RATES))}, or 'hour' (dollars per hour)"
                )
            dollars = {}
            for key, member in members.items():
                value = member.value
                # To Python ``true`` is the number 1.
                if (
                    isinstance(value, bool)
                    or not isinstance(value, (int, float))
                    or not 0 <= value < math.inf
                ):
                    raise member.error("must be a number of dollars, 0 or more")
                dollars[key] = float(value)
            table[name] = Price(**dollars)
    return next((table[name] for name in names if name in table), None)


def list_chosen_parameters(layers: Layers) -> frozenset[str]:
    """List the names of the parameters of requests that some layer gives."""
    option_keys = {option.key for option in OPTIONS if option.in_request and layers.find_first(option.key)}
    return frozenset(option_keys | _read_parameters(layers, BY_KEY["param"]).keys())


def _read_parameters(layers: Layers, option: Option) -> Mapping[str, object]:
    """Read the free parameters, weakest layer first; an option of a stronger layer replaces its parameter."""
    parameters: dict[str, object] = {}
    for layer in (
        Layers({}, {}, layers.top),
        Layers({}, layers.profile, {}),
        Layers(layers.command_line, {}, {}),
    ):
        for request_option in OPTIONS:
            if request_option.in_request and layer.find_first(request_option.key):
                parameters.pop(request_option.key, None)
        if field := layer.profile.get("param") or layer.top.get("param"):
            with raise_usage_errors():
                parameters |= {name: member.value for name, member in field.members().items()}
        texts = layer.command_line.get("param")
        for text in texts if isinstance(texts, list) else ():
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise UsageError(
                    f"--fcbench-param={escape_controls(text)}: must be NAME=JSON, for example top_p=0.9"
                )
            try:
                parameters[name] = read_json_text(value)
            except ValueError:
                # Words need no quotes, which a shell would take away.
                parameters[name] = value
    return parameters


_BY_TYPE: Mapping[str, Reader] = {
    "bool": lambda layers, option: (
        layers.is_on(option.key)
        if option.switch
        else {"on": True, "off": False}.get(str(_find_choice(layers, option, option.choices)))
    ),
    "float": _read_number,
    "int": _read_number,
    "str": _read_text,
    "Path": _read_path,
    "Mode": _make_word_reader(Mode),
    "Names": _make_word_reader(Names),
    "Reasoning": _make_word_reader(Reasoning),
    "Shard": _read_shard,
    "tuple[Path, ...]": lambda layers, option: tuple(map(_locate, layers.find_all(option.key))),
    "tuple[GateRule, ...]": _read_gate,
    "tuple[Category, ...]": _read_categories,
    "Mapping[str, object]": _read_parameters,
    "Mapping[str, str]": _read_labels,
}
"""The reader of each type of value, by the type as ``Settings`` writes it."""

_BY_KEY: Mapping[str, Reader] = {
    "suite": _read_suites,
    "entry": _read_entries,
    "profile": _read_profile,
    # Its words are not in the declaration: other distributions add decoders, which pytest must not look for.
    "syntax": lambda layers, option: _find_choice(layers, option, list_run_syntaxes()),
    "search": _read_search,
}
"""Readers of options whose text has a rule of its own, by key."""
