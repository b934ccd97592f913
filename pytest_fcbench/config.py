"""Command line, fcbench.yaml and environment, read once into one frozen ``Settings``.

An option is ``--fcbench-api-base`` on the command line and ``api_base`` in fcbench.yaml; a named model
profile there (``models: {my-ft: {model: hosted_vllm/my-ft, ...}}``) may hold the options that describe a
model, and when it was ``released``. The command line wins over the profile, the profile over the file's top
level, that over defaults.
No other module reads options; the environment is read here and in ``redaction``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pytest_fcbench import entries
from pytest_fcbench.answers import Mode, Names
from pytest_fcbench.codecs.syntaxes import OF_RUNS
from pytest_fcbench.entries import CATEGORIES, SELECTIONS, Category
from pytest_fcbench.errors import SuiteError, UsageError, unknown
from pytest_fcbench.options import OPTIONS, Option
from pytest_fcbench.prices import Price
from pytest_fcbench.scorecard import rules
from pytest_fcbench.scorecard.gate import Rule
from pytest_fcbench.suites import SUITES, can_name_a_suite
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.verdicts import Profile

FILE = "fcbench.yaml"

E = TypeVar("E", bound=StrEnum)
V = TypeVar("V")


_BY_KEY = {option.key: option for option in OPTIONS}
_FILE_KEYS = (
    *(option.key for option in OPTIONS if option.key not in ("config", "plan")),
    "models",
    "prices",
    "suites",
)
_PROFILE_KEYS = (
    *(option.key for option in OPTIONS if option.of_model and option.key != "model"),
    "released",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a run. ``mode``, ``names`` and ``syntax`` are None where the model decides."""

    model: str
    label: str
    """The name of the model in reports: the profile's, or the id."""
    suites: tuple[str, ...]
    own: Mapping[str, Path]
    """Suites of a team's own, by name, where each is."""
    categories: tuple[Category, ...]
    mode: Mode | None
    names: Names | None
    syntax: str | None
    profile: Profile
    gate: tuple[Rule, ...]
    baseline: Path | None
    """What rules compare with: a scorecard or a baseline made of one."""
    judge: Settings | None
    """Those of who judges along golden paths what rules cannot; None for rules of ours."""
    similarity: str
    """What pairs calls with those of a golden path: a name of ours or an embedding model."""
    similarity_api_base: str | None
    similarity_api_key: str | None = field(repr=False)
    live: bool
    """Whether web APIs are asked: for replies to calls off a golden path, and for executable entries."""
    embedding: str
    """What makes vectors of texts in a memory that finds them by what they mean."""
    search: str
    """Who searches the web: ``core`` (nobody), ``duckduckgo``, ``serpapi``, or ``recorded:FILE``."""
    search_record: Path | None
    """Where what the web answers is recorded."""
    smoke: bool
    """Whether only every tenth entry of a category is run."""
    api_base: str | None
    api_key_env: str | None
    api_key: str | None = field(repr=False)
    parameters: Mapping[str, object]
    """What goes into every request beside messages and tools."""
    price: Price | None
    """The one of fcbench.yaml, or None."""
    trials: int
    concurrency: int
    """How many conversations may run at once, in all processes together."""
    rpm: float | None
    tpm: float | None
    retries: int
    timeout_s: float
    """The longest wait for one answer."""
    entry_timeout_s: float
    max_usd: float | None
    plan: bool
    """Print what the run would ask, and ask nothing."""
    preflight: bool
    tag: bool
    store: Path | None
    offline: bool
    refresh: bool
    annotate: bool
    """Whether the run is a step of GitHub Actions, which shows annotations."""
    step_summary: Path | None
    """The file whose end GitHub shows as the summary of the step."""
    scorecard: str | None
    failures: int
    cache: Path


def cache_folder() -> Path:
    """Where packs are kept: ``FCBENCH_CACHE``, else the user's cache folder."""
    if folder := os.environ.get("FCBENCH_CACHE"):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("fcbench", appauthor=False)


def config_file(root: Path, given: str | None) -> Path | None:
    """The configuration file of a run. Raises ``UsageError`` if one was named and is not there."""
    if given is not None:
        if not Path(given).is_file():
            raise UsageError(f"--fcbench-config={given}: there is no such file")
        return Path(given)
    return root / FILE if (root / FILE).is_file() else None


def load(
    command_line: Mapping[str, object],
    file: Path | None,
    root: Path = Path(),
    pointed: Mapping[str, Path] = MappingProxyType({}),
) -> Settings:
    """Settings from options given on the command line (by key, None where not given) and a file.

    The store lies in ``root`` unless another is named. ``pointed`` are suites that take the place of others.

    Raises ``UsageError``: the value, the rule, the valid names; for the file also its line.
    """
    top, profiles = _file_layers(file)
    layers = _Layers(command_line, _profile("model", command_line, top, profiles), top, pointed)
    meant = {key: value for key, value in command_line.items() if key in _SHARED_WITH_JUDGE}
    return _settings(layers, root, judge=load_judge(meant, file, root))


_SHARED_WITH_JUDGE = (
    *("judge", "judge_api_base", "judge_api_key_env"),
    *("retries", "timeout", "store", "offline", "refresh"),
)
"""Options on the command line that hold for the judge of a run too."""


def load_judge(command_line: Mapping[str, object], file: Path | None, root: Path = Path()) -> Settings | None:
    """The settings under which the judge is asked, as the model of a run; None where none is named.

    ``judge``, ``judge_api_base`` and ``judge_api_key_env`` take the place of the model's; a profile may
    describe the judge, and ``builtin`` names nobody: those are rules of ours. What the file's top level says
    of the model does not hold for the judge, and on the command line (by key) only options that are meant
    for it may stand.

    Raises ``UsageError``.
    """
    top, profiles = _file_layers(file)
    if (_Layers(command_line, {}, top).text("judge") or "none").lower() in ("none", "builtin"):
        return None
    profile = _profile("judge", command_line, top, profiles)
    general = {key: value for key, value in top.items() if key not in _BY_KEY or not _BY_KEY[key].of_model}
    return _settings(_Layers(_of_judge(command_line), profile, _of_judge(general)), root, "judge_")


_OF_JUDGE = {"model": "judge", "api_base": "judge_api_base", "api_key_env": "judge_api_key_env"}


def _of_judge(layer: Mapping[str, V]) -> dict[str, V]:
    """A layer in which the judge stands where the model stood."""
    others = {key: value for key, value in layer.items() if key not in _OF_JUDGE}
    return others | {key: layer[own] for key, own in _OF_JUDGE.items() if own in layer}


def _key(layers: _Layers, option: str, told: str) -> str | None:
    """The key in the environment variable that an option names, which errors call ``told``."""
    name = layers.text(option)
    if name and name not in os.environ:
        raise UsageError(f"{told}: the environment variable {name!r} is not set")
    return os.environ.get(name) if name else None


def _settings(layers: _Layers, root: Path, prefix: str = "", judge: Settings | None = None) -> Settings:
    asked = layers.text("model") or "lexical"
    scorecard = layers.text("scorecard") or "scorecard.json"
    store = layers.text("store") or str(root / ".fcbench" / "answers.sqlite")
    if layers.on("offline") and (layers.on("refresh") or store.lower() == "none"):
        raise UsageError("offline judges stored answers: it goes neither with refresh nor without a store")
    suites = tuple(layers.pointed or layers.choices("suite", (*SUITES, *layers.own)) or ("core",))
    return Settings(
        model=layers.profile["model"].text() if layers.profile else asked,
        label=asked,
        suites=suites,
        own=layers.own,
        categories=_categories(layers, suites),
        mode=_as(Mode, layers.choice("mode", tuple(Mode))),
        names=_as(Names, layers.choice("names", tuple(Names))),
        syntax=layers.choice("syntax", OF_RUNS),
        profile=Profile(layers.choice("profile", tuple(Profile)) or Profile.OFFICIAL),
        gate=_gate(layers),
        baseline=Path(baseline) if (baseline := layers.text("baseline")) else None,
        judge=judge,
        similarity=layers.text("similarity") or "structured",
        similarity_api_base=layers.text("similarity_api_base"),
        similarity_api_key=_key(layers, "similarity_api_key_env", "similarity_api_key_env"),
        live=layers.choice("responses", ("recorded", "live")) == "live",
        embedding=layers.text("embedding") or "lexical",
        search=_search(layers),
        search_record=Path(record) if (record := layers.text("search_record")) else None,
        smoke=layers.on("smoke"),
        api_base=layers.text("api_base"),
        api_key_env=layers.text("api_key_env"),
        api_key=_key(layers, "api_key_env", f"{prefix}api_key_env"),
        parameters=_parameters(layers),
        price=_price(layers, asked),
        trials=_count(layers, "trials", 1, least=1),
        concurrency=_count(layers, "concurrency", 8, least=1),
        rpm=_positive(layers, "rpm"),
        tpm=_positive(layers, "tpm"),
        retries=_count(layers, "retries", 8),
        timeout_s=_positive(layers, "timeout") or 600.0,
        entry_timeout_s=_positive(layers, "entry_timeout") or 3600.0,
        max_usd=_positive(layers, "max_usd"),
        plan=layers.on("plan"),
        preflight=not layers.on("no_preflight"),
        tag=layers.on("tag"),
        store=None if store.lower() == "none" else Path(store),
        offline=layers.on("offline"),
        refresh=layers.on("refresh"),
        annotate=os.environ.get("GITHUB_ACTIONS") == "true",
        step_summary=Path(summary) if (summary := os.environ.get("GITHUB_STEP_SUMMARY")) else None,
        scorecard=None if scorecard.lower() == "none" else scorecard,
        failures=_count(layers, "failures", 60),
        cache=cache_folder(),
    )


def released(file: Path | None) -> Mapping[str, date]:
    """When models came out, by the name of their profile in a file; those of which it says so.

    Raises ``UsageError``.
    """
    _, profiles = _file_layers(file)
    return {name: day for name, profile in profiles.items() if (day := _released(profile))}


@dataclass(frozen=True, slots=True)
class _Given:
    """One value of an option, and where it was given."""

    option: Option
    text: str
    field: Field | None

    def error(self, rule: str) -> UsageError:
        if self.field is not None:
            return UsageError(str(self.field.error(rule)))
        return UsageError(f"{self.option.flag}={self.text}: {rule}")


@dataclass(frozen=True, slots=True)
class _Layers:
    """Where values come from, strongest first."""

    command_line: Mapping[str, object]
    profile: Mapping[str, Field]
    top: Mapping[str, Field]
    pointed: Mapping[str, Path] = field(default_factory=dict)

    @property
    def own(self) -> Mapping[str, Path]:
        """Suites of a team's own."""
        return {**_own(self.top), **self.pointed}

    def all(self, key: str) -> list[_Given]:
        """All values of an option from the strongest layer that has any."""
        option = _BY_KEY[key]
        given = self.command_line.get(key)
        if given is not None:
            values = given if isinstance(given, (list, tuple)) else [given]
            return [_Given(option, str(value), None) for value in values]
        found = (None if key == "model" else self.profile.get(key)) or self.top.get(key)
        if found is None:
            return []
        listed = option.repeatable and isinstance(found.value, list)
        return [_Given(option, _scalar(item), item) for item in (found.elements() if listed else [found])]

    def each(self) -> Iterator[_Layers]:
        """Each layer on its own, weakest first."""
        yield _Layers({}, {}, self.top)
        yield _Layers({}, self.profile, {})
        yield _Layers(self.command_line, {}, {})

    def one(self, key: str) -> _Given | None:
        return next(iter(self.all(key)), None)

    def text(self, key: str) -> str | None:
        given = self.one(key)
        return given.text if given else None

    def choices(self, key: str, valid: Sequence[str]) -> list[str]:
        for given in self.all(key):
            if given.text not in valid:
                raise given.error(unknown(key, given.text, valid))
        return [given.text for given in self.all(key)]

    def choice(self, key: str, valid: Sequence[str]) -> str | None:
        return next(iter(self.choices(key, valid)), None)

    def on(self, key: str) -> bool:
        if self.command_line.get(key) is not None:
            return bool(self.command_line[key])
        found = self.top.get(key)
        if found is None:
            return False
        if not isinstance(found.value, bool):
            raise UsageError(str(found.error("must be true or false")))
        return found.value

    def number(self, key: str) -> float | None:
        given = self.one(key)
        if given is None:
            return None
        try:
            value = float(given.text)
        except ValueError:
            raise given.error("must be a number") from None
        if not 0 <= value < float("inf"):
            raise given.error("must be a number from 0 on")
        return value


def _file_layers(file: Path | None) -> tuple[Mapping[str, Field], Mapping[str, Mapping[str, Field]]]:
    """The top level of the file, and its model profiles by name; empty without one."""
    if file is None:
        return {}, {}
    try:
        content = yaml_value(file)
        top = Field({} if content is None else content, file).members((), _FILE_KEYS)
        profiles = top["models"].members() if "models" in top else {}
        members = {name: profile.members(("model",), _PROFILE_KEYS) for name, profile in profiles.items()}
        for profile in members.values():
            _released(profile)
    except SuiteError as error:
        raise UsageError(str(error)) from None
    return top, members


def own_suites(file: Path | None) -> Mapping[str, Path]:
    """Suites of a team's own that a configuration file names, where each is. Raises ``UsageError``."""
    top, _ = _file_layers(file)
    return _own(top)


def _own(top: Mapping[str, Field]) -> Mapping[str, Path]:
    if "suites" not in top:
        return {}
    try:
        if not isinstance(top["suites"].value, Mapping):
            raise top["suites"].error(
                "must give paths by name; the names of those to run stand under 'suite'"
            )
        members = top["suites"].members()
        for name, path in members.items():
            if not can_name_a_suite(name):
                raise path.error(f"{name!r} cannot be the name of a suite: a word, and none that is taken")
        return {name: path.path.parent / path.text() for name, path in members.items()}
    except SuiteError as error:
        raise UsageError(str(error)) from None


def _profile(
    key: str,
    command_line: Mapping[str, object],
    top: Mapping[str, Field],
    profiles: Mapping[str, Mapping[str, Field]],
) -> Mapping[str, Field]:
    """The model profile that an option names; empty where it is none."""
    try:
        name = command_line.get(key) or (top[key].text() if key in top else None)
        profile = profiles.get(str(name), {})
        if profile:
            profile["model"].text()
    except SuiteError as error:
        raise UsageError(str(error)) from None
    return profile


def _released(profile: Mapping[str, Field]) -> date | None:
    """When the model of a profile came out. Raises ``SuiteError`` of what is not a date."""
    if (field := profile.get("released")) is None:
        return None
    # YAML makes a date of what looks like one, and a time of what goes on.
    if isinstance(field.value, date) and not isinstance(field.value, datetime):
        return field.value
    try:
        if isinstance(field.value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", field.value, re.ASCII):
            return date.fromisoformat(field.value)
    except ValueError:
        pass
    raise field.error("must be a date such as 2024-07-18")


def _scalar(given: Field) -> str:
    if isinstance(given.value, str) or (
        isinstance(given.value, (int, float)) and not isinstance(given.value, bool)
    ):
        return str(given.value)
    raise UsageError(str(given.error("must be text or a number")))


def _as(kind: type[E], text: str | None) -> E | None:
    return None if text is None else kind(text)


_OF_OWN_SUITES = tuple(each for each in CATEGORIES.values() if each.rule is not entries.Rule.VARIATION)
"""What is run of a team's own suites where no category is named: all that they can have."""


def _categories(layers: _Layers, suites: Sequence[str]) -> tuple[Category, ...]:
    """Selected categories in the order of the tables, by default all that are scored. What a file says does
    not hold for suites that are pointed at."""
    chosen: set[str] = set()
    given = _Layers(layers.command_line, {}, {}) if layers.pointed else layers
    for name in given.choices("category", (*CATEGORIES, *SELECTIONS)):
        chosen |= set(SELECTIONS.get(name, ())) or {name}
    if not chosen and not set(suites).intersection(SUITES):
        return _OF_OWN_SUITES
    return tuple(c for name, c in CATEGORIES.items() if (name in chosen if chosen else c.scored))


def _gate(layers: _Layers) -> tuple[Rule, ...]:
    gate = tuple(_rule(given, (*SUITES, *layers.own)) for given in layers.all("gate"))
    comparing = next((rule for rule in gate if rule.needs_baseline), None)
    if comparing and not layers.one("baseline"):
        raise UsageError(
            f"gate rule {comparing.text!r} compares with a baseline; name one with --fcbench-baseline=FILE: "
            "a scorecard, or what 'fcbench baseline save' makes of one"
        )
    return gate


def _rule(given: _Given, suites: Sequence[str]) -> Rule:
    try:
        return rules.parse(given.text, suites)
    except UsageError as error:
        raise given.error(str(error)) if given.field else error from None


SEARCHES = ("core", "duckduckgo", "serpapi")


def _search(layers: _Layers) -> str:
    """Who searches, by name, or the file of a recording."""
    given = layers.one("search")
    if given is None:
        return SEARCHES[0]
    kind, _, path = given.text.partition(":")
    if not (kind == "recorded" and path) and given.text not in SEARCHES:
        raise given.error(unknown("search", given.text, (*SEARCHES, "recorded:FILE")))
    return given.text


def _positive(layers: _Layers, key: str) -> float | None:
    given, number = layers.one(key), layers.number(key)
    if given is not None and not number:
        raise given.error("must be more than 0")
    return number


def _count(layers: _Layers, key: str, default: int, least: int = 0) -> int:
    given, number = layers.one(key), layers.number(key)
    if given is None or number is None:
        return default
    if not number.is_integer():
        raise given.error("must be a whole number")
    if number < least:
        raise given.error(f"must be {least} or more")
    return int(number)


def _price(layers: _Layers, model: str) -> Price | None:
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


def _parameters(layers: _Layers) -> Mapping[str, object]:
    """What goes into every request: temperature, token limit, seed and free ones, a layer over the other."""
    parameters: dict[str, object] = {"temperature": 0.001}
    for layer in layers.each():
        if (temperature := layer.number("temperature")) is not None:
            parameters["temperature"] = temperature
        for key in ("max_tokens", "seed"):
            if layer.one(key):
                parameters[key] = _count(layer, key, 0)
        parameters |= _free_parameters(layer)
    return parameters


def _free_parameters(layer: _Layers) -> Mapping[str, object]:
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
