"""Command line, fcbench.yaml and environment, read once into one frozen ``Settings``.

An option is ``--fcbench-api-base`` on the command line and ``api_base`` in fcbench.yaml; a named model
profile there (``models: {my-ft: {model: hosted_vllm/my-ft, ...}}``) may hold the options that describe a
model, and when it was ``released``. The command line wins over the profile, the profile over the file's top
level, that over defaults.
No other room reads options; the environment is read here and in ``redaction``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pytest_fcbench.config import values
from pytest_fcbench.config.layers import BY_KEY, Layers, file_layers, own_of, profile_of, released_of
from pytest_fcbench.config.options import FILE, OPTIONS, Settings
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import BUILTIN

__all__ = [
    "FILE",
    "Settings",
    "cache_folder",
    "config_file",
    "load",
    "load_judge",
    "own_suites",
    "profiles",
    "released",
]

V = TypeVar("V")


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
    top, profiles = file_layers(file)
    profile = profile_of("model", command_line, top, profiles)
    of_judge = {key: value for key, value in command_line.items() if BY_KEY[key].of_judge}
    judge = load_judge(of_judge, file, root)
    return _settings(Layers(command_line, profile, top, pointed, root), judge=judge)


def load_judge(command_line: Mapping[str, object], file: Path | None, root: Path = Path()) -> Settings | None:
    """The settings under which the judge is asked, as the model of a run; None where none is named.

    ``judge``, ``judge_api_base`` and ``judge_api_key_env`` take the place of the model's; a profile may
    describe the judge, and ``builtin`` names nobody: those are rules of ours. What the file's top level says
    of the model does not hold for the judge, and on the command line (by key) only options that are meant
    for it may stand.

    Raises ``UsageError``.
    """
    top, profiles = file_layers(file)
    if (Layers(command_line, {}, top).text("judge") or "none").lower() in ("none", BUILTIN):
        return None
    profile = profile_of("judge", command_line, top, profiles)
    general = {key: value for key, value in top.items() if key not in BY_KEY or not BY_KEY[key].of_model}
    layers = Layers(_of_judge(command_line), profile, _of_judge(general), root=root)
    return _settings(layers, "judge")


_OF_JUDGE = {"model": "judge", "api_base": "judge_api_base", "api_key_env": "judge_api_key_env"}


def _of_judge(layer: Mapping[str, V]) -> dict[str, V]:
    """A layer in which the judge stands where the model stood."""
    others = {key: value for key, value in layer.items() if key not in _OF_JUDGE}
    return others | {key: layer[own] for key, own in _OF_JUDGE.items() if own in layer}


def _settings(layers: Layers, role: str = "model", judge: Settings | None = None) -> Settings:
    """Read the settings under which a model is asked in its role: as the model of a run or as its judge."""
    key_option = "api_key_env" if role == "model" else f"{role}_api_key_env"
    asked = str(values.read_value(layers, BY_KEY["model"]))
    derived: dict[str, Any] = {
        "model": layers.profile["model"].text() if layers.profile else asked,
        "label": asked,
        "model_option": BY_KEY[role].flag,
        "own": layers.own,
        "judge": judge,
        "api_key": values.secret(layers, "api_key_env", key_option),
        "similarity_api_key": values.secret(layers, "similarity_api_key_env", "similarity_api_key_env"),
        "price": values.price(layers, asked),
        "annotate": os.environ.get("GITHUB_ACTIONS") == "true",
        "step_summary": Path(summary) if (summary := os.environ.get("GITHUB_STEP_SUMMARY")) else None,
        "cache": cache_folder(),
    }
    read: dict[str, Any] = {
        each.name: values.read_value(layers, each) for each in OPTIONS if each.name not in derived
    }
    settings = Settings(**derived, **read)
    if settings.offline and (settings.refresh or settings.store is None):
        raise UsageError("offline judges stored answers: it goes neither with refresh nor without a store")
    return settings


def released(file: Path | None) -> Mapping[str, date]:
    """When models came out, by the name of their profile in a file; those of which it says so.

    Raises ``UsageError``.
    """
    _, profiles = file_layers(file)
    return {name: day for name, profile in profiles.items() if (day := released_of(profile))}


def profiles(file: Path | None) -> Mapping[str, Mapping[str, str]]:
    """The model profiles of a file by name, with what each says as text. Raises ``UsageError``."""
    _, found = file_layers(file)
    return {name: {key: str(told.value) for key, told in profile.items()} for name, profile in found.items()}


def own_suites(file: Path | None) -> Mapping[str, Path]:
    """Suites of a team's own that a configuration file names, where each is. Raises ``UsageError``."""
    top, _ = file_layers(file)
    return own_of(top)
