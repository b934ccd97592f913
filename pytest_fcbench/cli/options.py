"""What commands share on the command line: the project, its suites, options of a run, scorecards by name.

The project is found as a run of pytest finds it.
"""

from __future__ import annotations

import argparse
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any

from pytest_fcbench.config import options as config_options
from pytest_fcbench.config.loading import (
    Settings,
    add_environment,
    build_settings,
    find_cache_folder,
    find_config_file,
    find_own_suites,
)
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.domain.entry import Category
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.paths import is_place
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.run.history import LATEST, find_run
from pytest_fcbench.suites import registry
from pytest_fcbench.suites.custom import is_suite
from pytest_fcbench.suites.registry import SUITES, find_nearby_suites, list_openers, name_suite
from pytest_fcbench.suites.suite import Suite

WITHOUT_RUN = {"api_key_env": "", "judge": "none", "similarity_api_key_env": "", "gate": []}
"""Values by which settings need neither keys nor a baseline, for commands that ask no model."""


def find_config(config_option: str | None = None) -> Path | None:
    """Return the configuration file of the project. Raises ``UsageError`` if one was named and is missing."""
    return find_config_file(find_project(), config_option)


def find_project_suites(config_option: str | None = None) -> tuple[Mapping[str, Path], Mapping[str, Path]]:
    """Return the suites that the configuration file names, and those that only lie in the project's folder.

    The registry knows the latter of the working folder. Raises ``UsageError``.
    """
    project = find_project()
    nearby = {} if project == Path() else find_nearby_suites(project)
    return find_own_suites(find_config(config_option)), nearby


def find_openers(arguments: argparse.Namespace) -> Mapping[str, Callable[[Path], Suite]]:
    """Return how to open each suite, those of the project included. Raises ``UsageError``."""
    named_suites, nearby = find_project_suites(getattr(arguments, "config", None))
    return list_openers({**nearby, **named_suites})


def open_suite_at(arguments: argparse.Namespace, place: str) -> Suite:
    """Open a suite by its name or its path. Raises ``FcbenchError``."""
    name, own = _resolve_suite(arguments, place)
    # Not the other way round: what lies nearby does not hide what fcbench.yaml names.
    openers = {**list_openers(own), **find_openers(arguments)}
    if name not in openers:
        raise UsageError(describe_unknown_suite(name, openers))
    return openers[name](find_cache_folder())


def list_own_categories(suite: Suite) -> list[Category]:
    """List the categories of a suite but for variations, which repeat entries of others in other formats."""
    return [each for each in suite.categories if not each.varies_others]


def describe_size(suite: Suite) -> str:
    """Say how many entries a suite has, and how many of them run where nothing is selected."""
    sizes = {each: len(suite.load(each)) for each in list_own_categories(suite)}
    usual = sum(size for category, size in sizes.items() if category.scored)
    text = f"{sum(sizes.values()):,} entries in {len(sizes)} categories"
    return text if usual in (0, sum(sizes.values())) else f"{text}, {usual:,} of them run by default"


def describe_unknown_suite(name: str, known_names: Iterable[str]) -> str:
    """Say that the project has no suite of that name, and how to use one of a team's own."""
    return registry.describe_unknown_suite(name, known_names, find_project())


def _resolve_suite(arguments: argparse.Namespace, place: str) -> tuple[str, Mapping[str, Path]]:
    """Return the name of a suite, and its path by name if it is none of the installed ones."""
    path = Path(place)
    # A name goes before a path, so that a folder called bfcl does not hide the suite.
    named_suites, nearby = find_project_suites(arguments.config)
    if place in SUITES or place in named_suites:
        return place, {}
    if place in nearby:
        return place, {place: nearby[place]}
    if not is_place(path) or not is_suite(path):
        return place, {}
    name = name_suite(path)
    return name, {name: path}


def read_count(text: str, least: int) -> int:
    """Read a whole number that is not below the least one. Raises ``ArgumentTypeError``."""
    if not text.removeprefix("+").isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, {least} or more")
    return int(text)


_TYPES = {
    "int": int,
    "float": float,
    "Path": Path,
    "from 0": partial(read_count, least=0),
    "from 1": partial(read_count, least=1),
}


@cache
def read_option_tables() -> Mapping[str, Mapping[str, Any]]:
    """Read ``options.toml``: arguments and options by command, and what commands share."""
    return tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))


def declare_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare the arguments and options of a command, or of an action of one, and its actions."""
    rows = read_option_tables().get(name, {})
    if actions := rows.get("actions"):
        parsers = parser.add_subparsers(required=True, metavar="ACTION", dest="action")
        for action, about in actions.items():
            declare_options(parsers.add_parser(action, help=about), f"{name} {action}")
    declare_rows(parser, {key: row for key, row in rows.items() if key != "actions"})


def declare_rows(parser: argparse._ActionsContainer, rows: Mapping[str, Any]) -> None:
    """Declare arguments and options as ``options.toml`` describes them."""
    tables = read_option_tables()
    exclusive_group = None
    for flags, row in rows.items():
        if flags in ("run", "run_required"):
            keys = [key for word in row for key in tables["keys"].get(word, [word])]
            declare_run_options(parser, keys, required=flags == "run_required")
            continue
        shared_row = tables["shared"].get(flags, {} if isinstance(row, dict) else {"action": "store_true"})
        own_row = row if isinstance(row, dict) else {"help": row} if isinstance(row, str) else {}
        keywords = {**shared_row, **own_row}
        if "choices" in keywords:
            keywords["choices"] = list(resolve_name(f"pytest_fcbench.{keywords['choices']}"))
        if kind := keywords.get("type"):
            keywords["type"] = _TYPES.get(kind) or resolve_name(f"pytest_fcbench.{kind}")
        if text := keywords.get("help"):
            keywords["help"] = re.sub(r"\{([\w.:]+)\}", _spell_value, text)
        if keywords.pop("exclusive", False):
            exclusive_group = exclusive_group or parser.add_mutually_exclusive_group()
            exclusive_group.add_argument(*flags.split(), **keywords)
        else:
            parser.add_argument(*flags.split(), **keywords)


def _spell_value(match: re.Match[str]) -> str:
    """Return the words, or the value of the package, that a placeholder of a help text names."""
    tables = read_option_tables()
    if match[1] in tables["words"]:
        return str(tables["words"][match[1]])
    value = resolve_name(f"pytest_fcbench.{match[1]}")
    return ", ".join(value) if isinstance(value, Iterable) else str(value)


def declare_run_options(
    parser: argparse._ActionsContainer, keys: Sequence[str], *, required: bool = False
) -> None:
    """Declare options of a run under their names without the prefix ``fcbench-``."""
    selected_options = [each for each in OPTIONS if each.key in keys or (each.of_model and "@model" in keys)]
    for option in selected_options:
        flag = drop_option_prefix(option.flag)
        if option.switch:
            # None, not False: a switch that is not given must not override fcbench.yaml.
            parser.add_argument(flag, action="store_true", default=None, help=option.help)
        else:
            action = "append" if option.repeatable else "store"
            parser.add_argument(
                flag, action=action, metavar=option.metavar, required=required, help=option.help
            )
    declared_keys = parser.get_default("run_options") or ()
    parser.set_defaults(run_options=[*declared_keys, *(each.key for each in selected_options)])


def collect_run_options(arguments: argparse.Namespace) -> Mapping[str, object]:
    """Return the value of each option of a run, None for those that were not given."""
    # A command may have another option of the same name, such as a limit of its own.
    declared_keys = getattr(arguments, "run_options", ())
    return {each.key: getattr(arguments, each.key) if each.key in declared_keys else None for each in OPTIONS}


def spell_run_options(options: Mapping[str, object]) -> list[str]:
    """Return options of a run as words of the command line of pytest, without what looks like a key."""
    words: list[str] = []
    for option in OPTIONS:
        value = options[option.key]
        values = value if isinstance(value, list) else [] if value is None else [value]
        words += [f"{option.flag}={redact_secrets(str(each))}" for each in values]
    return words


def load_settings(
    arguments: argparse.Namespace, suite: str | None = None, model: str | None = None
) -> Settings:
    """Load the settings of fcbench.yaml and the command line, for a command that asks no model.

    ``suite``, a name or a path, and ``model`` override options. Raises ``UsageError``.
    """
    options = dict(collect_run_options(arguments))
    own: Mapping[str, Path] = {}
    if suite is not None:
        name, own = _resolve_suite(arguments, suite)
        options["suite"] = [name]
    if model is not None:
        options["model"] = model
    run_options = add_environment(options)
    gate = {"gate": run_options["gate"]} if hasattr(arguments, "gate") else {}
    return build_project_settings({**run_options, **WITHOUT_RUN, **gate}, arguments.config, own)


def build_project_settings(
    options: Mapping[str, object], config: str | None, suite_paths: Mapping[str, Path] = MappingProxyType({})
) -> Settings:
    """Build the settings of the project from options by key; its store and runs lie in its folder.

    ``suite_paths`` are suites that replace the named ones. Raises ``UsageError``.
    """
    return build_settings(options, find_config(config), find_project(), suite_paths)


def describe_no_entry(text: str, suite: str, known_suites: Iterable[str]) -> str:
    """Say why a text names no entry: it names a suite as a whole, or one that the project does not have."""
    is_suite_name = suite in known_suites
    problem = "this is a suite." if is_suite_name else describe_unknown_suite(suite, known_suites)
    return f"{text!r}: {problem} Name an entry as suite:id; 'pytest --collect-only -q' lists all."


_PYTEST_FILES = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""The text by which each file makes its folder the root directory of pytest."""


def find_project() -> Path:
    """Return the nearest folder with an fcbench.yaml, from the working folder upwards, else that folder.

    The search ends at the root directory of pytest.
    """
    try:
        here = Path.cwd()
        top = next(filter(_is_pytest_root, (here, *here.parents)), None) or config_options.find_top(here)
        # Relative, because messages and printed commands show it.
        return Path(os.path.relpath(config_options.find_project([here], top) or here))
    except OSError:
        # The working folder was removed, or one above cannot be read.
        return Path()


def _is_pytest_root(folder: Path) -> bool:
    return any(
        (path := folder / name).is_file() and mark in path.read_text(encoding="utf-8", errors="replace")
        for name, mark in _PYTEST_FILES.items()
    )


def find_runs_folder() -> Path | None:
    """Return the folder that keeps the runs of this project, None if none does. Raises ``UsageError``."""
    return build_project_settings({**add_environment({}), **WITHOUT_RUN}, None).runs


def find_scorecard(text: str) -> Path:
    """Return the scorecard that an argument means, for argparse."""
    try:
        return resolve_scorecard(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def resolve_scorecard(text: str = LATEST) -> Path:
    """Return the path of a scorecard that is named by it, or by its run. Raises ``UsageError``."""
    # A path needs no configuration, which might be broken.
    if is_place(text) or (folder := find_runs_folder()) is None:
        return Path(text)
    return find_run(text, folder)


def drop_option_prefix(text: str) -> str:
    """Replace names of pytest's options by those of commands: ``--model`` for ``--fcbench-model``."""
    return text.replace("--fcbench-", "--")
