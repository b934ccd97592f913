"""The pytest plugin: thin hooks around a ``Session``.

Installed but unused it does nothing: only with an ``fcbench.yaml`` in the root directory or an
``--fcbench-…`` option are the hooks of ``benchmark``, ``workers`` and ``showing`` registered, and only a run
that collects entries is changed by them.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.config.options import FILE, GROUPS, OPTIONS, Option


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare every option of ``Settings``."""
    for group in GROUPS:
        shown = parser.getgroup(f"fcbench-{group.title}", f"fcbench: {group.title}")
        for option in group.options:
            _declare(shown, option)


def _declare(group: pytest.OptionGroup, option: Option) -> None:
    if option.switch:
        group.addoption(option.flag, dest=option.dest, action="store_true", default=None, help=option.help)
        return
    group.addoption(
        option.flag,
        dest=option.dest,
        action="append" if option.repeatable else "store",
        metavar=option.metavar,
        default=None,
        help=option.help,
    )


@pytest.hookimpl(tryfirst=True)  # before pytest-json-report looks at its options
def pytest_configure(config: pytest.Config) -> None:
    """Register the benchmark where it is wanted."""
    config.addinivalue_line("markers", "fcbench(category): puts every entry of the category to the model")
    given = {option.key: getattr(config.option, option.dest) for option in OPTIONS}
    if any(value is not None for value in given.values()) or (config.rootpath / FILE).is_file():
        from pytest_fcbench.plugin.registration import register_benchmark

        register_benchmark(config, given)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Benchmarks without a project have nothing to run on: say what is missing."""
    if config.pluginmanager.has_plugin("fcbench-benchmark"):
        return
    if any(item.get_closest_marker("fcbench") for item in items):
        raise pytest.UsageError(
            f"benchmarks need an fcbench.yaml in {config.rootpath} "
            "or an option such as --fcbench-model=lexical"
        )
