"""The pytest plugin: thin hooks around a ``Session``.

Installed but unused it does nothing: the hooks of the other modules are registered only with an
``fcbench.yaml`` in the root directory or below it, an ``--fcbench-…`` option or a path of entries among the
arguments, and only a run that collects entries is changed by them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_fcbench.config.options import FILE, GROUPS, OPTIONS
from pytest_fcbench.plugin.project import (
    explain_no_suites,
    find_project_folder,
    is_left_out,
    points_at_entries,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare every option of ``Settings``."""
    for group in GROUPS:
        option_group = parser.getgroup(f"fcbench-{group.title}", f"fcbench: {group.title}")
        for option in group.options:
            # argparse takes no metavar for a switch.
            keywords: dict[str, Any] = {"action": "store_true"}
            if not option.switch:
                keywords = {"action": "append" if option.repeatable else "store", "metavar": option.metavar}
                if "_ARGCOMPLETE" in os.environ:
                    from pytest_fcbench.plugin.completion import make_completing_action

                    keywords["action"] = make_completing_action(option)
            option_group.addoption(option.flag, dest=option.dest, default=None, help=option.help, **keywords)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Take ids of entries among the arguments (``pytest core:parallel_3``) as values of the option."""
    # Values of options hold colons too (-p no:name, -W error::…), so arguments alone are looked at.
    words: list[str] = getattr(early_config.known_args_namespace, "file_or_dir", [])
    if any(":" in word and "::" not in word for word in words):
        from pytest_fcbench.plugin.entry_arguments import move_entry_ids

        move_entry_ids(early_config, args)


# First, because pytest-json-report reads its options in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the benchmark if a configuration file or an option asks for it."""
    config.addinivalue_line("markers", "fcbench(category): run the test once for each entry of the category")
    text = "fcbench_trials(passes, of): an entry of the test passes if so many of its trials pass"
    config.addinivalue_line("markers", text)
    option_values = {option.key: getattr(config.option, option.dest) for option in OPTIONS}
    project = find_project_folder(config, config.args)
    if hasattr(config, "workerinput"):
        # xdist hands the folder of a bare run to its workers as an argument.
        is_used = "fcbench_tell" in config.workerinput
    else:
        has_option = any(value is not None for value in option_values.values())
        is_used = has_option or (project / FILE).is_file() or points_at_entries(config)
        if is_used and is_left_out(config, project):
            from pytest_fcbench.plugin.entry_arguments import is_named

            is_used = is_named(config)
    if is_used:
        with import_plainly(getattr(config.pluginmanager, "rewrite_hook", None)):
            from pytest_fcbench.plugin.registration import register_benchmark

        register_benchmark(config, option_values, project)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Say of a named YAML or JSON Lines file, in which nothing is found, what it lacks to be a suite."""
    try:
        return (yield)
    except pytest.UsageError as error:
        raise pytest.UsageError(*error.args, *explain_no_suites(session.config)) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave benchmarks out of a bare run; refuse them without a project, as they have nothing to run on."""
    if config.pluginmanager.has_plugin("fcbench-benchmark"):
        return
    if marked_items := [item for item in items if item.get_closest_marker("fcbench")]:
        if (find_project_folder(config, config.args) / FILE).is_file():
            items[:] = [item for item in items if item not in marked_items]
            config.hook.pytest_deselected(items=marked_items)
            return
        file = f"an fcbench.yaml in {config.rootpath} ('fcbench init' writes one)"
        raise pytest.UsageError(f"benchmarks need {file} or an option, e.g. --fcbench-model=lexical")


@contextmanager
def import_plainly(hook: object) -> Iterator[None]:
    """Import without garbage collection, and without ``hook``, with which pytest rewrites assertions.

    The modules of an installation are many; they leave no garbage, and are no tests.
    """
    from pytest_fcbench.domain.garbage_collection import pause_collector

    left_out = [(place, finder) for place, finder in enumerate(sys.meta_path) if finder is hook]
    for _, finder in left_out:
        sys.meta_path.remove(finder)
    try:
        with pause_collector():
            yield
    finally:
        for place, finder in left_out:
            sys.meta_path.insert(place, finder)
