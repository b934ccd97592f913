"""Read the value of each option from its layers, check it against its rule, and convert it to its type.

The layers, strongest first: command line with the environment, model profile, the top level of the file.

An option of a type that is known here needs no line in this file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import list_run_syntaxes
from pytest_fcbench.config.options import BY_KEY, OPTIONS, Option
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Group, Shard
from pytest_fcbench.domain.errors import SuiteError, UsageError, describe_unknown_name
from pytest_fcbench.domain.pressure import PressureLevel, parse_levels, split_level
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Mode, Names, Reasoning
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import escape_controls, read_json_text
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.scorecard.aggregate.scores import UNTRAINED
from pytest_fcbench.scorecard.gate import rules
from pytest_fcbench.scorecard.gate.gate import GateRule
from pytest_fcbench.suites import embedded
from pytest_fcbench.suites.registry import (
    OURS,
    SUITE_NAME_RULE,
    SUITES,
    can_name_a_suite,
    describe_unknown_suite,
)

_FILE_KEYS = (*(option.key for option in OPTIONS if option.in_file), "models", "prices", "suites")
_PROFILE_KEYS = (*(option.key for option in OPTIONS if option.of_model and option.key != "model"), "released")


@contextmanager
def raise_usage_errors() -> Iterator[None]:
    """Raise errors of the configuration file as ``UsageError``: a wrong value there is a wrong option."""
    try:
        yield
    except SuiteError as error:
        raise UsageError(str(error)) from None


class EnvironmentText(str):
    """The value of an option that an environment variable gives, so that errors name the variable."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A value of an option, and the place where it was given."""

    option: Option
    text: str
    field: Field | None

    def error(self, rule: str) -> UsageError:
        """Return the error that the value breaks a rule, with the place where it was given."""
        if self.field is not None:
            return UsageError(str(self.field.error(rule)))
        of_environment = isinstance(self.text, EnvironmentText)
        name = self.option.variable if of_environment else self.option.flag
        return UsageError(f"{name}={escape_controls(redact_secrets(self.text))}: {rule}")


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of values, strongest first."""

    command_line: Mapping[str, object]
    profile: Mapping[str, Field]
    top: Mapping[str, Field]
    pointed: Mapping[str, Path] = field(default_factory=dict)
    """Suites that replace those that are named."""
    root: Path = Path()
    """The folder of default paths."""

    @property
    def own_suites(self) -> Mapping[str, Path]:
        """A team's own suites by name."""
        return {**read_own_suites(self.top), **self.pointed}

    def find_all(self, key: str) -> list[Given]:
        """Return all values of an option from the strongest layer that has any."""
        option = BY_KEY[key]
        raw_value = self.command_line.get(key)
        if raw_value is not None:
            values = raw_value if isinstance(raw_value, (list, tuple)) else [raw_value]
            kind = EnvironmentText if isinstance(raw_value, EnvironmentText) else str
            texts = [text for value in values for text in _split_names(option, str(value))]
            return [Given(option, kind(text), None) for text in texts]
        # Only the command line and the top level name a profile; its own "model" is the model's id.
        member = (None if key == "model" else self.profile.get(key)) or self.top.get(key)
        if member is None:
            return []
        items = list(member.elements()) if option.repeatable and isinstance(member.value, list) else [member]
        if "on" in option.choices:
            # Without quotes these words are truth values in YAML.
            items = [
                replace(item, value="on" if item.value else "off") if isinstance(item.value, bool) else item
                for item in items
            ]
        for item in items:
            if isinstance(item.value, bool) or not isinstance(item.value, (str, int, float)):
                raise UsageError(str(item.error("must be text or a number")))
        return [Given(option, text, item) for item in items for text in _split_names(option, str(item.value))]

    def find_first(self, key: str) -> Given | None:
        """Return the first value of an option."""
        return next(iter(self.find_all(key)), None)

    def find_text(self, key: str) -> str | None:
        """Return the first value of an option as it was written."""
        option_value = self.find_first(key)
        return option_value.text if option_value else None

    def find_choices(self, key: str, valid: Sequence[str]) -> list[str]:
        """Return all values of an option, each of which must be valid. Raises ``UsageError``."""
        option_values = self.find_all(key)
        for option_value in option_values:
            if option_value.text not in valid:
                raise option_value.error(describe_unknown_name(key, option_value.text, valid))
        return [option_value.text for option_value in option_values]

    def is_on(self, key: str) -> bool:
        """Tell whether a switch is on. Raises ``UsageError``."""
        if self.command_line.get(key) is not None:
            return bool(self.command_line[key])
        file_field = self.top.get(key)
        if file_field is None:
            return False
        if not isinstance(file_field.value, bool):
            raise UsageError(str(file_field.error("must be true or false")))
        return file_field.value


def _split_names(option: Option, text: str) -> list[str]:
    return [name.strip() for name in text.split(",")] if option.of_names else [text]


def read_file_layers(file: Path | None) -> tuple[Mapping[str, Field], Mapping[str, Mapping[str, Field]]]:
    """Return the top level of the file and its model profiles by name; both are empty without a file."""
    if file is None:
        return {}, {}
    with raise_usage_errors():
        content = read_yaml(file)
        top = Field({} if content is None else content, file).members((), _FILE_KEYS)
        fields = top["models"].members() if "models" in top else {}
        profiles = {name: profile.members(("model",), _PROFILE_KEYS) for name, profile in fields.items()}
        # Read for its errors only: a wrong date is a wrong file, also in a run that needs no dates.
        for profile in profiles.values():
            read_release_date(profile)
    return top, profiles


def read_own_suites(top: Mapping[str, Field]) -> Mapping[str, Path]:
    """Return the folders of a team's own suites by name. Raises ``UsageError``."""
    if "suites" not in top:
        return {}
    with raise_usage_errors():
        if not isinstance(top["suites"].value, Mapping):
            raise top["suites"].error(
                "must map names to paths; list the names of suites to run under 'suite'"
            )
        members = top["suites"].members()
        for name, path in members.items():
            # The name of a suite is also a mark of pytest, next to those of categories.
            if not can_name_a_suite(name):
                raise path.error(f"{name!r} cannot name a suite; use {SUITE_NAME_RULE}")
        # Paths are relative to the configuration file, wherever the command is run.
        return {name: path.path.parent / _expand_home(path.text()) for name, path in members.items()}


def find_profile(
    key: str,
    command_line: Mapping[str, object],
    top: Mapping[str, Field],
    profiles: Mapping[str, Mapping[str, Field]],
) -> Mapping[str, Field]:
    """Return the model profile that an option names, an empty one where it names none."""
    with raise_usage_errors():
        # A name without a profile is the id of a model, so nothing is raised for it here.
        name = command_line.get(key) or (top[key].text() if key in top else None)
        profile = profiles.get(str(name), {})
        # Read for its error only, which names the line in the file.
        if profile:
            profile["model"].text()
    return profile


def read_release_date(profile: Mapping[str, Field]) -> date | None:
    """Return the release date of a profile's model. Raises ``SuiteError`` for a value that is not a date."""
    if (field := profile.get("released")) is None:
        return None
    try:
        if isinstance(field.value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", field.value, re.ASCII):
            return date.fromisoformat(field.value)
    except ValueError:
        pass
    raise field.error("must be a date such as 2024-07-18")


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
    path = _expand_home(option_value.text)
    # As it was written wherever that means the same, because messages show it.
    return path if folder.absolute() == Path.cwd() else folder / path


def _expand_home(text: str) -> Path:
    """Return a path whose ``~/`` is the user's home: no shell expands that behind ``=`` or in a file."""
    return Path(text).expanduser() if text.startswith("~/") else Path(text)


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
    # A seed can be of 64 bits, of which a float holds 53.
    return int(Decimal(option_value.text)) if whole else number


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
    # A file from which a variable is set often ends with a line break.
    return os.environ[name].strip() if name else None


def _read_categories(layers: Layers, option: Option) -> tuple[Category, ...]:
    """Read the selected categories in the order of the tables, by default all that are scored.

    Suites given by path do not follow what the file says. Where only a team's own suites or the checks of a
    server run, the default is every category that they can have.
    """
    plain_categories = tuple(c for c in CATEGORIES.values() if not c.varies_others)
    if ids := _read_entries(layers, BY_KEY["entry"]):
        names = [text.partition(":")[2] for text in ids]
        matches = [c for c in CATEGORIES.values() if any(_can_be_of(c, each) for each in names)]
        # An id that begins with no category can be of any.
        all_known = all(any(name.startswith(f"{c.name}_") for c in matches) for name in names)
        return tuple(matches) if all_known else plain_categories
    chosen_names: set[str] = set()
    option_layers = Layers(layers.command_line, {}, {}) if layers.pointed else layers
    for name in option_layers.find_choices(option.key, (*CATEGORIES, *SELECTIONS)):
        chosen_names |= set(SELECTIONS.get(name, ())) or {name}
    if chosen_names:
        return tuple(c for name, c in CATEGORIES.items() if name in chosen_names)
    suites = set(_read_suites(layers, BY_KEY["suite"]))
    if suites.isdisjoint(OURS.keys() - {embedded.WIRE}):
        return plain_categories
    checks_server = embedded.WIRE in suites
    return tuple(c for c in CATEGORIES.values() if c.scored or (checks_server and c.group is Group.SERVER))


def _can_be_of(category: Category, name: str) -> bool:
    """Tell whether an id, or one that begins as a pattern, can be of a category."""
    beginning = f"{category.name}_"
    return name.startswith(beginning) or (name.endswith("*") and beginning.startswith(name[:-1]))


def read_forced_categories(layers: Layers) -> tuple[Category, ...]:
    """Read the categories whose right calls are put through the server; none where a model answers.

    Checks of a server and other prompt formats have none of their own. Raises ``UsageError``.
    """
    if layers.find_first("forced") is None:
        return ()
    option = BY_KEY["category"]
    # A mark selects the category of what is made of the entries, too.
    others = {key: each for key, each in layers.command_line.items() if key != option.key}
    by_default = _read_categories(Layers(others, {}, {}, layers.pointed), option)
    for categories in (_read_categories(layers, option), by_default):
        if forced := [c for c in categories if c.group is not Group.SERVER and not c.varies_others]:
            return tuple(forced)
    return ()


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
    if comparing and not (layers.find_first("baseline") or layers.find_first("against")):
        raise UsageError(
            f"gate rule {comparing.text!r} compares with a baseline; give one with --fcbench-baseline=FILE: "
            "a scorecard, or a file that 'fcbench run baseline save' has written; or ask a second model with "
            "--fcbench-against=MODEL"
        )
    leaving_out = next((rule for rule in gate if rule.metric == UNTRAINED), None)
    if leaving_out and not layers.find_first("trained"):
        raise UsageError(
            f"gate rule {leaving_out.text!r} leaves out entries of the training data; name them with "
            "--fcbench-trained=FILE, which 'fcbench suite audit SUITE --against=train.jsonl -o FILE.json' "
            "writes"
        )
    return tuple(gate)


def _read_shard(layers: Layers, option: Option) -> Shard | None:
    if (option_value := layers.find_first(option.key)) is None:
        return None
    try:
        return Shard.parse(option_value.text)
    except ValueError as error:
        raise option_value.error(str(error)) from None


def _read_pressure(layers: Layers, option: Option) -> tuple[PressureLevel, ...]:
    levels: dict[str, PressureLevel] = {}
    given = [(each, each.text) for each in layers.find_all(option.key)]
    if not given:
        # The id of an entry under pressure says under which.
        ids = layers.find_all("entry")
        given = [(each, f"{of.kind}:{of.amount}") for each in ids if (of := split_level(each.text)[1])]
        if len(given) < len(ids):
            return ()
    for option_value, text in given:
        try:
            levels |= {level.suffix: level for level in parse_levels(text)}
        except ValueError as error:
            raise option_value.error(str(error)) from None
    return tuple(levels.values())


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


_SETTING = re.compile(r",(?=[a-z_-]+=)")
"""The comma in front of a setting; one in a value, such as that of a list, has no name behind it."""


def read_second_model(option_value: Given) -> tuple[str, Mapping[str, list[str]]]:
    """Read a second model: its name, and the settings behind it by key. Raises ``UsageError``."""
    name, *settings = _SETTING.split(option_value.text)
    model, comma, rest = name.partition(",")
    if not model or "=" in model:
        raise option_value.error("must begin with a model, for example same,stream=on")
    # Only the name of a file has a comma, as in replay:a,b.json.
    if comma and ":" not in model:
        raise option_value.error(f"{rest!r} is not a setting; write NAME=VALUE, for example same,stream=on")
    keys = [option.key for option in OPTIONS if option.of_model and option.key != "model"]
    values: dict[str, list[str]] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        key = key.replace("-", "_")
        if key not in keys:
            raise option_value.error(describe_unknown_name("setting", key, keys))
        values.setdefault(key, []).append(value)
    return name, values


def compares_streams(layers: Layers) -> bool:
    """Tell whether each reply is asked for whole and as a stream."""
    return _find_choice(layers, option := BY_KEY["stream"], option.choices) == "both"


def list_chosen_parameters(layers: Layers) -> frozenset[str]:
    """List the names of the parameters of requests that some layer gives."""
    option_keys = {option.key for option in OPTIONS if option.in_request and layers.find_first(option.key)}
    # Where both are wanted, each request says itself what it is.
    option_keys -= {"stream"} if compares_streams(layers) else set()
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
        for option_value in layer.find_all(option.key) if layer.command_line else ():
            name, equals, value = option_value.text.partition("=")
            if not equals or not name:
                raise option_value.error("must be NAME=JSON, for example top_p=0.9")
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
    "tuple[PressureLevel, ...]": _read_pressure,
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
