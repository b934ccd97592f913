"""Entries and categories that the command line of pytest names by id or by mark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import find_config_file, find_own_suites
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import FcbenchError, describe_unknown_name
from pytest_fcbench.domain.strata import Stratum
from pytest_fcbench.plugin.project import find_project_folder
from pytest_fcbench.suites.registry import OURS, find_nearby_suites

_ID = re.compile(r"(?P<suite>\w[\w.-]+):[^:/\\]\S*")
_NAME = re.compile(r"(?P<negated>\bnot\s+)?\b(?P<name>[A-Za-z_]\w*)\b(?!\s*[(=])")
_WORDS = frozenset(("and", "or", "not", "True", "False", "None"))


def move_entry_ids(config: pytest.Config, arguments: list[str]) -> None:
    """Replace arguments that are ids of entries by options, which workers of xdist receive too.

    The place of the tests is named beside them: otherwise a project's other tests would run, or only these.
    """
    positional = set(getattr(config.known_args_namespace, "file_or_dir", ()))
    found = [(text, match) for text in arguments if text in positional and (match := _ID.fullmatch(text))]
    if not found:
        return
    project = find_project_folder(config, ())
    own: Mapping[str, Path] = {}
    nearby: Mapping[str, Path] = {}
    if any(match["suite"] not in OURS for _, match in found):
        nearby = find_nearby_suites(project)
        try:
            file = getattr(config.known_args_namespace, "fcbench_config", None)
            own = find_own_suites(find_config_file(project, file))
        except FcbenchError:
            # The file is read again, and its error told, when the run is set up.
            return
    places: set[Path] = set()
    for text, match in found:
        # A file may have a colon in its name.
        here, name, place = config.invocation_params.dir, match["suite"], arguments.index(text)
        if (here / text).exists():
            continue
        if name not in (*OURS, *own, *nearby):
            continue
        arguments[place] = f"--fcbench-entry={text}"
        if name not in (*OURS, *own):
            places.add(nearby[name])
        elif name in own and config.getini("testpaths"):
            places.add(own[name])
        elif name in OURS and len(positional) == len(found) and (project / "benchmarks").is_dir():
            places.add(project / "benchmarks")
    arguments += [os.path.relpath(place, config.invocation_params.dir) for place in sorted(places)]


def find_marked_categories(expression: str) -> list[str]:
    """Return the categories that ``-m`` asks for and that only run where they are named.

    A group is asked for as a whole only where nothing of it would run otherwise.
    """
    wanted: set[str] = set()
    for name in _list_wanted(expression):
        members = [each for each in SELECTIONS.get(name, (name,)) if each in CATEGORIES]
        if not any(CATEGORIES[each].scored for each in members):
            wanted.update(members)
    return sorted(wanted)


def names_benchmarks(expression: str) -> bool:
    """Tell whether ``-m`` asks for benchmarks, all of them or some."""
    return not _list_wanted(expression).isdisjoint({"fcbench", *CATEGORIES, *SELECTIONS, *Stratum, *OURS})


def _list_wanted(expression: str) -> set[str]:
    """List the names of an expression that are not negated."""
    return {match["name"] for match in _NAME.finditer(expression) if not match["negated"]} - _WORDS


def check_mark_names(expression: str, config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Raise ``pytest.UsageError`` for a name in ``-m`` that is no mark of any test.

    A name behind ``not`` may be a mark of tests that were not collected.
    """
    declared = {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")}
    unknown = _list_wanted(expression) - declared
    if unknown:
        unknown -= {mark.name for item in items for mark in item.iter_markers()}
    for name in sorted(unknown):
        known = sorted({*CATEGORIES, *SELECTIONS, *Stratum, *OURS})
        raise pytest.UsageError(f"-m {expression!r}: {describe_unknown_name('mark', name, known)}")
