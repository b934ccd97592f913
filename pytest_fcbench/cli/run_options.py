"""Options of a run, for commands that look at what a run would do."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pytest_fcbench.config.loading import Settings, cache_folder, config_file, load, own_suites
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.suites.custom import is_suite
from pytest_fcbench.suites.registry import name_of, openers
from pytest_fcbench.suites.suite import Suite

PLACE = ("store", "config")
ASKED = ("mode", "names", "syntax", "api_base", "temperature", "max_tokens", "seed", "param")
"""Options of a run that decide what is asked, and so which answers it finds."""


def suites_known(chosen: argparse.Namespace) -> Mapping[str, Callable[[Path], Suite]]:
    """How to open each suite, those of fcbench.yaml included. Raises ``UsageError``."""
    return openers(own_suites(config_file(Path(), getattr(chosen, "config", None))))


def suite_of(chosen: argparse.Namespace, suite: str) -> Suite:
    """A suite by its name or its path. Raises ``FcbenchError``."""
    name, own = _pointed_at(chosen, suite)
    known = {**suites_known(chosen), **openers(own)}
    if name not in known:
        raise UsageError(unknown_suite(suite, known))
    return known[name](cache_folder())


def unknown_suite(name: str, known: Iterable[str]) -> str:
    """What is wrong with the name of a suite, and the way out for a team's own."""
    return f"{unknown('suite', name, known)} One of your own needs a name under suites in fcbench.yaml."


def _pointed_at(chosen: argparse.Namespace, suite: str) -> tuple[str, Mapping[str, Path]]:
    """The name of a suite, and where it is if that is a path and no name. Raises ``FcbenchError``."""
    path = Path(suite)
    if suite in suites_known(chosen) or not path.exists() or not is_suite(path):
        return suite, {}
    name = name_of(path)
    return name, {name: path}


def declare(parser: argparse.ArgumentParser, keys: Sequence[str], *, required: bool = False) -> None:
    """Options of a run, here without the prefix."""
    for option in OPTIONS:
        flag = option.flag.replace("--fcbench-", "--")
        if option.key in keys and option.switch:
            parser.add_argument(flag, action="store_true", default=None, help=option.help)
        elif option.key in keys:
            parser.add_argument(
                flag,
                action="append" if option.repeatable else "store",
                metavar=option.metavar,
                required=required,
                help=option.help,
            )


def given(chosen: argparse.Namespace) -> Mapping[str, object]:
    """Options of a run that were given here, None for the others."""
    return {option.key: getattr(chosen, option.key, None) for option in OPTIONS}


def settings_of(chosen: argparse.Namespace, suite: str, model: str | None = None) -> Settings:
    """The settings of a run over one suite, named or pointed at, that asks nobody. Raises ``UsageError``."""
    name, own = _pointed_at(chosen, suite)
    named = {} if model is None else {"model": model}
    return _asking_nobody(chosen, {**named, "suite": [name]}, own)


def settings_of_no_model(chosen: argparse.Namespace) -> Settings:
    """The settings of fcbench.yaml and of the options given here. Raises ``UsageError``."""
    return _asking_nobody(chosen, {}, {})


def _asking_nobody(
    chosen: argparse.Namespace, more: Mapping[str, object], pointed: Mapping[str, Path]
) -> Settings:
    options = {**given(chosen), **more, **ASKING_NOBODY}
    return load(options, config_file(Path(), chosen.config), pointed=pointed)


ASKING_NOBODY = {"api_key_env": "", "judge": "none", "similarity_api_key_env": ""}
"""Options that would ask for keys, which need not be there."""


def require_at_least(least: int, chosen: argparse.Namespace, *names: str) -> None:
    """Raise ``UsageError`` for an option of these names that is given and smaller."""
    for name in names:
        if (value := getattr(chosen, name)) is not None and value < least:
            raise UsageError(f"--{name}={value}: must be {least} or more")


def suite_of_entry(chosen: argparse.Namespace) -> str:
    """Return the suite that the argument ``entry`` names. Raises ``UsageError``."""
    suite, _, entry = chosen.entry.partition(":")
    known = suites_known(chosen)
    if not entry or suite not in known:
        raise UsageError(f"{chosen.entry!r}: {unknown_suite(suite, known)} An entry is named suite:id.")
    return str(suite)
