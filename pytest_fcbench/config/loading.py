"""Command line, fcbench.yaml and environment, read once into one frozen ``Settings``.

An option is ``--fcbench-api-base`` on the command line and ``api_base`` in fcbench.yaml; a named model
profile there (``models: {my-ft: {model: hosted_vllm/my-ft, ...}}``) may hold the options that describe a
model, and when it was ``released``; the environment may give any as ``FCBENCH_API_BASE``. The command line
wins over the environment, that over the profile, the profile over the file's top level, that over defaults.
No other room reads options; the environment is read here and in ``redaction``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pytest_fcbench.config import values
from pytest_fcbench.config.options import BY_KEY, OPTIONS, ModelFlags
from pytest_fcbench.config.options import FILE as FILE
from pytest_fcbench.config.options import Settings as Settings
from pytest_fcbench.config.values import (
    EnvironmentText,
    Layers,
    find_profile,
    read_file_layers,
    read_own_suites,
    read_release_date,
)
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.paths import is_place
from pytest_fcbench.domain.pressure import PressureKind
from pytest_fcbench.domain.redaction import redact_address
from pytest_fcbench.domain.text import escape_controls
from pytest_fcbench.domain.transcript import BUILTIN
from pytest_fcbench.formats.fields import Field

V = TypeVar("V")


def find_cache_folder() -> Path:
    """Return where packs are kept: ``FCBENCH_CACHE``, else ``fcbench`` in the user's cache folder."""
    if folder := os.environ.get("FCBENCH_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "fcbench")


def add_environment(command_line: Mapping[str, object], *, of_judge: bool = False) -> Mapping[str, object]:
    """Return options by key, those that were not given (None) as environment variables give them.

    ``of_judge`` leaves out those that describe the model under test. Raises ``UsageError``.
    """
    options = dict(command_line)
    for option in OPTIONS:
        text = os.environ.get(option.variable)
        is_meant = option.of_judge or option.key in _JUDGE_OPTIONS.values() or not of_judge
        if text and is_meant and command_line.get(option.key) is None:
            if option.switch and text.lower() not in _SWITCH_WORDS:
                raise UsageError(f"{option.variable}={escape_controls(text)}: must be true or false")
            options[option.key] = _SWITCH_WORDS[text.lower()] if option.switch else EnvironmentText(text)
    return options


_SWITCH_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def find_config_file(root: Path, config_option: str | None) -> Path | None:
    """Return the configuration file of a run. Raises ``UsageError`` if one was named and is not there."""
    # A named file must exist; without the usual one there is simply no configuration.
    option = BY_KEY["config"]
    name = option.flag
    if config_option is None and (config_option := os.environ.get(option.variable) or None):
        name = option.variable
    path = root / FILE if config_option is None else Path(config_option)
    if config_option is not None and not (is_place(path) and path.is_file()):
        raise UsageError(
            f"{name}={config_option}: no such file; name a configuration file, or leave the option out"
        )
    return path if path.is_file() else None


def build_settings(
    command_line: Mapping[str, object],
    file: Path | None,
    root: Path = Path(),
    suite_paths: Mapping[str, Path] = MappingProxyType({}),
) -> Settings:
    """Read the settings from options of the command line (by key, None where not given) and a file.

    The store lies in ``root`` unless another is named. ``suite_paths`` are suites in place of the named ones.

    Raises ``UsageError``: the value, the rule, the valid names; for the file also its line.
    """
    top, profiles = read_file_layers(file)
    profile = find_profile("model", command_line, top, profiles)
    # The judge has settings of its own, so the model's options on the command line must not reach it.
    of_judge = {key: value for key, value in command_line.items() if BY_KEY[key].of_judge}
    judge = build_judge_settings(of_judge, file, root)
    layers = Layers(command_line, profile, top, suite_paths, root)
    against = build_second_settings(layers, profiles, judge)
    settings = _read_settings(layers, judge=judge, against=against)
    if against is None:
        return settings
    if layers.command_line.get("baseline") is not None:
        raise UsageError(
            "--fcbench-baseline and --fcbench-against both name what the run is compared with; leave one out"
        )
    if settings.forced:
        raise UsageError(
            "--fcbench-against compares models, and --fcbench-forced asks none; leave one of the two out"
        )
    # A baseline of the file is for runs of one model.
    return replace(settings, baseline=None)


def build_second_settings(
    layers: Layers, profiles: Mapping[str, Mapping[str, Field]], judge: Settings | None
) -> Settings | None:
    """Read the settings of ``--fcbench-against``; what it does not give is as for the model under test.

    A profile or an address brings its own key: that of the model under test goes to no other address.

    Raises ``UsageError``.
    """
    if (option_value := layers.find_first("against")) is None:
        return None
    name, given = values.read_second_model(option_value)
    is_same, is_profile = name == SAME, name in profiles
    of_run = (*_COMPARING, *(() if is_same else ("model",)))
    line = {key: value for key, value in layers.command_line.items() if key not in of_run}
    parameters = [each.text for each in Layers(line, {}, {}).find_all("param")]
    profile = layers.profile
    if is_profile:
        profile = profiles[name]
        if "api_base" in profile and profile is not layers.profile:
            line |= {"api_base": None, "api_key_env": None}
            parameters = [text for text in parameters if text.partition("=")[0] not in _SECRET_PARAMETERS]
        elif "api_key_env" in profile:
            line["api_key_env"] = None
    elif profile and not is_same:
        profile = {**profile, "model": replace(profile["model"], value=name)}
    has_own_address = "api_base" in given
    line |= {"api_key_env": ""} if has_own_address else {}
    line |= {**({} if is_same else {"model": name}), **given, "param": [*parameters, *given.get("param", ())]}
    top = {key: each for key, each in layers.top.items() if key not in _COMPARING}
    try:
        settings = _read_settings(Layers(line, profile, top, layers.pointed, layers.root), "against", judge)
    except UsageError as error:
        raise UsageError(f"--fcbench-against={name}: {error}") from None
    own_parameters = {text.partition("=")[0] for text in given.get("param", ())}
    lost = _SECRET_PARAMETERS - own_parameters if has_own_address else ()
    first_name = layers.find_text("model") or BY_KEY["model"].default
    is_named_alike = settings.label == first_name
    # Another name tells two servers apart; the values of parameters can be keys.
    left_out = {"api_key_env", *(() if is_named_alike else ("api_base",))}
    shown_settings = [
        f"{key}={text.partition('=')[0] if key == 'param' else redact_address(text)}"
        for key, texts in given.items()
        for text in texts
        if key not in left_out
    ]
    label = (
        ",".join([settings.label, *shown_settings])
        if shown_settings or not is_named_alike
        else f"{settings.label} again"
    )
    return replace(
        settings,
        label=label,
        api_base=settings.api_base or None,
        param={key: value for key, value in settings.param.items() if key not in lost},
    )


def build_judge_settings(
    command_line: Mapping[str, object], file: Path | None, root: Path = Path()
) -> Settings | None:
    """Read the settings under which the judge is asked, as the model of a run; None where none is named.

    ``judge``, ``judge_api_base`` and ``judge_api_key_env`` take the place of the model's; a profile may
    describe the judge, and ``builtin`` names nobody: those are rules of ours. What the file's top level says
    of the model does not hold for the judge, and on the command line (by key) only options that are meant
    for it may stand.

    Raises ``UsageError``.
    """
    top, profiles = read_file_layers(file)
    if (Layers(command_line, {}, top).find_text("judge") or "none").lower() in ("none", BUILTIN):
        return None
    profile = find_profile("judge", command_line, top, profiles)
    left_out = {*_COMPARING, *(option.key for option in OPTIONS if option.of_model)}
    general = {key: value for key, value in top.items() if key not in left_out}
    layers = Layers(_move_judge(command_line), profile, _move_judge(general), root=root)
    return _read_settings(layers, "judge")


_JUDGE_OPTIONS = {"model": "judge", "api_base": "judge_api_base", "api_key_env": "judge_api_key_env"}


SAME = "same"
"""The second model that is the model under test."""
_COMPARING = ("against", "against_whole", "noise", "gate", "baseline", "rank_with", "plan")
"""Options of a run that compares, which say nothing about its second model."""
_SECRET_PARAMETERS = frozenset(("api_key", "extra_headers"))
"""Parameters that may hold the key of one address."""


_FLAGS = {
    "against": ModelFlags(
        "--fcbench-against=MODEL",
        "--fcbench-against=MODEL,api_base=URL",
        "--fcbench-against=MODEL,api_key_env=NAME",
    ),
    "model": ModelFlags(*(BY_KEY[key].flag for key in _JUDGE_OPTIONS)),
    "judge": ModelFlags(*(BY_KEY[key].flag for key in _JUDGE_OPTIONS.values())),
}


def _move_judge(layer: Mapping[str, V]) -> dict[str, V]:
    """Return a layer with the judge's options in the place of the model's."""
    rest = {key: value for key, value in layer.items() if key not in _JUDGE_OPTIONS}
    return rest | {key: layer[own] for key, own in _JUDGE_OPTIONS.items() if own in layer}


def _read_settings(
    layers: Layers, role: str = "model", judge: Settings | None = None, against: Settings | None = None
) -> Settings:
    """Read the settings under which a model is asked in its role: as a model of a run or as its judge."""
    key_option = "judge_api_key_env" if role == "judge" else "api_key_env"
    name = str(values.read_value(layers, BY_KEY["model"]))
    derived_values: dict[str, Any] = {
        "model": layers.profile["model"].text() if layers.profile else name,
        "label": name,
        "flags": _FLAGS[role],
        "chosen_parameters": values.list_chosen_parameters(layers),
        "compares_streams": values.compares_streams(layers),
        "own": layers.own_suites,
        "project": layers.root,
        "judge": judge,
        "against": against,
        "api_key": values.read_secret(layers, "api_key_env", key_option),
        "similarity_api_key": values.read_secret(layers, "similarity_api_key_env", "similarity_api_key_env"),
        "price": values.read_price(layers, name, layers.profile["model"].text() if layers.profile else name),
        "similarity_price": values.read_price(layers, str(values.read_value(layers, BY_KEY["similarity"]))),
        "annotate": os.environ.get("GITHUB_ACTIONS") == "true",
        "step_summary": Path(summary) if (summary := os.environ.get("GITHUB_STEP_SUMMARY")) else None,
        "cache": find_cache_folder(),
    }
    read: dict[str, Any] = {
        each.name: values.read_value(layers, each) for each in OPTIONS if each.name not in derived_values
    }
    derived_values["forced_categories"] = values.read_forced_categories(layers)
    if read["forced"]:
        read["categories"] = (CATEGORIES["server_forced"],)
    settings = Settings(**derived_values, **read)
    # Checked here and not where each option is read: it is a rule about several of them.
    if settings.offline and (settings.refresh or settings.store is None):
        raise UsageError(
            "--fcbench-offline judges stored answers, so it needs a store and excludes --fcbench-refresh"
        )
    if settings.blame and (settings.offline or settings.forced):
        which = "--fcbench-offline" if settings.offline else f"--fcbench-forced={settings.forced}"
        raise UsageError(
            f"--fcbench-blame asks the model again, which {which} does not do; leave one of the two out"
        )
    if settings.limit and settings.sample:
        raise UsageError(
            f"--fcbench-limit={settings.limit} and --fcbench-sample={settings.sample} exclude each other; "
            "give one of them"
        )
    # A judge is asked as always, and has no context of the run's.
    kinds = {level.kind for level in settings.pressure} if role != "judge" else set()
    if kinds and settings.forced:
        raise UsageError(
            f"--fcbench-pressure and --fcbench-forced={settings.forced} exclude each other; give one of them"
        )
    if PressureKind.CONTEXT in kinds and settings.context_length is None:
        raise UsageError(
            "--fcbench-pressure=context: its levels are percent of a context; give its size with "
            "--fcbench-context-length=N, in tokens"
        )
    if settings.wait_s and settings.no_preflight:
        raise UsageError(
            f"--fcbench-wait={settings.wait_s:g}: the first call finds out whether the server runs; leave "
            "--fcbench-no-preflight out"
        )
    return settings


def read_release_dates(file: Path | None) -> Mapping[str, date]:
    """Return when models came out, by the name of their profile in a file; those of which it says so.

    Raises ``UsageError``.
    """
    _, profiles = read_file_layers(file)
    return {name: day for name, profile in profiles.items() if (day := read_release_date(profile))}


def find_own_suites(file: Path | None) -> Mapping[str, Path]:
    """Return the paths of a team's own suites that a file names. Raises ``UsageError``."""
    top, _ = read_file_layers(file)
    return read_own_suites(top)
