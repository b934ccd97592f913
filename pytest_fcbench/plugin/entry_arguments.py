"""Entries and categories that the command line of pytest names by id or by mark."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import find_config_file, find_own_suites
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Stratum
from pytest_fcbench.domain.errors import FcbenchError, describe_unknown_name
from pytest_fcbench.domain.paths import is_place
from pytest_fcbench.plugin.project import (
    find_highest_folder,
    find_place,
    find_project_folder,
    list_failed_entries,
)
from pytest_fcbench.suites.registry import OURS, find_gone_suites, find_nearby_suites

_ID = re.compile(r"(?P<suite>\w[\w.-]+):[^:/\\]\S*")
_NAME = re.compile(r"(?P<negated>\bnot\s+)?\b(?P<name>[A-Za-z_]\w*)\b(?!\s*[(=])")
_NEGATED_GROUP = re.compile(r"\bnot\s*\([^()]*\)")
_WORDS = frozenset(("and", "or", "not", "True", "False", "None"))


def move_entry_ids(config: pytest.Config, arguments: list[str]) -> None:
    """Replace arguments that are ids of entries by options, which workers of xdist receive too."""
    positional = set(getattr(config.known_args_namespace, "file_or_dir", ()))
    matches = [(text, match) for text in arguments if text in positional and (match := _ID.fullmatch(text))]
    if not matches:
        return
    project = find_project_folder(config, ())
    suite_names: Iterable[str] = OURS
    if any(match["suite"] not in OURS for _, match in matches):
        try:
            file = getattr(config.known_args_namespace, "fcbench_config", None)
            own = find_own_suites(find_config_file(project, file))
            suite_names = (*OURS, *own, *find_suites_around(config, project), *find_gone_suites(project))
        except FcbenchError:
            # The file is read again, and its error told, when the run is set up.
            return
    for text, match in matches:
        # A file may have a colon in its name.
        if match["suite"] in suite_names and not is_place(config.invocation_params.dir / text):
            arguments[arguments.index(text)] = f"--fcbench-entry={text}"
            # Pytest has read this once, and would take a path that does not exist for all test folders here.
            config.known_args_namespace.file_or_dir.remove(text)


def find_suites_around(config: pytest.Config, project: Path) -> Mapping[str, Path]:
    """Find the suites in the folder of the project, where pytest was started, and in the folders above."""
    here, top = config.invocation_params.dir, find_highest_folder(config)
    above = [folder for folder in here.parents if folder.is_relative_to(top)]
    # The nearest suite of a name counts, and that of the project before all.
    return ChainMap(*({**find_nearby_suites(folder)} for folder in (project, here, *above)))


def add_places(config: pytest.Config, project: Path) -> None:
    """Add the places of the benchmarks that the command line names otherwise than by path.

    Neither ``testpaths`` nor a start in another folder hides them. Ids alone run no test of another kind.
    Raises ``UsageError``.
    """
    benchmarks, by_path = project / "benchmarks", config.args_source is pytest.Config.ArgsSource.ARGS
    places: set[Path] = set()
    if ids := config.option.fcbench_entry:
        suite_names = {text.partition(":")[0] for text in ids}
        nearby = find_suites_around(config, project)
        own = find_own_suites(find_config_file(project, config.option.fcbench_config))
        # One that fcbench.yaml names is known to the tests at the given paths.
        places = {path for name, path in nearby.items() if name in suite_names and name not in own}
        places |= set() if by_path else {own[name] for name in suite_names & own.keys()}
        config.option.fcbench_alone = not by_path
        if not by_path and benchmarks.is_dir() and suite_names <= OURS.keys():
            config.args[:] = [str(benchmarks)]
    elif not by_path:
        places = {config.rootpath / nodeid.partition("::")[0] for nodeid in list_failed_entries(config)}
        if is_named(config) and benchmarks.is_dir():
            places.add(benchmarks)
    here = config.invocation_params.dir
    given_places = [find_place(here, argument) for argument in config.args]
    for place in sorted(find_place(here, str(each)) for each in places):
        # Who is inside of benchmarks/ means what is there.
        if not any(place.is_relative_to(each) or each.is_relative_to(place) for each in given_places):
            config.args.append(str(place))


def find_marked_categories(expression: str) -> list[str]:
    """Return the categories that ``-m`` asks for and that only run where they are named.

    A group is asked for as a whole only where nothing of it would run otherwise.
    """
    category_names: set[str] = set()
    for name in _list_wanted(expression):
        members = [each for each in SELECTIONS.get(name, (name,)) if each in CATEGORIES]
        if not any(CATEGORIES[each].scored for each in members):
            category_names.update(members)
    return sorted(category_names)


def is_named(config: pytest.Config) -> bool:
    """Tell whether an option of ours or a mark on the command line names benchmarks.

    Options that stand in ``addopts`` configure a run. A mark that the project declares is the project's own.
    """
    ours = {"fcbench", *({*CATEGORIES, *SELECTIONS, *Stratum, *OURS} - list_declared_marks(config))}
    has_flag = any(word.startswith("--fcbench-") for word in config.invocation_params.args)
    return bool(has_flag or config.option.fcbench_entry or _list_wanted(config.option.markexpr or "") & ours)


def _list_wanted(expression: str) -> set[str]:
    """List the names of an expression that are not negated."""
    names = _NAME.finditer(_NEGATED_GROUP.sub("", expression))
    return {match["name"] for match in names if not match["negated"]} - _WORDS


def list_declared_marks(config: pytest.Config) -> set[str]:
    """List the names of the marks that projects and plugins have declared."""
    return {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")}


def check_mark_names(expression: str, config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Raise ``pytest.UsageError`` for a name in ``-m`` that is no mark of any test.

    A name behind ``not`` may be a mark of tests that were not collected.
    """
    unknown = _list_wanted(expression) - list_declared_marks(config)
    if unknown:
        unknown -= {mark.name for item in items for mark in item.iter_markers()}
    for name in sorted(unknown):
        known_marks = sorted({*CATEGORIES, *SELECTIONS, *Stratum, *OURS})
        raise pytest.UsageError(f"-m {expression!r}: {describe_unknown_name('mark', name, known_marks)}")
