"""Registration of the hooks of a benchmark run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcbench.config.loading import build_settings, find_config_file, find_own_suites
from pytest_fcbench.plugin import fixtures
from pytest_fcbench.plugin.entry_arguments import find_marked_categories
from pytest_fcbench.plugin.entry_files import EntryFileCollector, find_pointed_suites
from pytest_fcbench.plugin.former_benchmarks import FormerBenchmarks
from pytest_fcbench.plugin.items import BENCHMARK, Benchmark, raise_usage_errors
from pytest_fcbench.plugin.reporting import RunReporting
from pytest_fcbench.plugin.xdist_workers import Workers


def register_benchmark(config: pytest.Config, given: Mapping[str, object]) -> None:
    """Read the settings and register the plugins of a run; ``given`` are the options by key."""
    marked = find_marked_categories(config.option.markexpr or "")
    with raise_usage_errors():
        file = find_config_file(config.rootpath, config.option.fcbench_config)
        suites, files = find_pointed_suites(config.args, config.invocation_params.dir, find_own_suites(file))
        settings = build_settings(given, file, config.rootpath, suites)
        if marked and not given["category"]:
            # Beside those that run anyway: the expression may name some of these too.
            names = [*(category.name for category in settings.categories), *marked]
            settings = build_settings({**given, "category": names}, file, config.rootpath, suites)
    benchmark = config.stash[BENCHMARK] = Benchmark(config, settings, suites)
    plugins = {
        "benchmark": benchmark,
        "fixtures": fixtures,
        "entry-files": EntryFileCollector(files),
        "former-benchmarks": FormerBenchmarks(benchmark.session),
        "workers": Workers(benchmark),
    }
    # Workers print nothing; the controller has the Records of all.
    if not benchmark.is_worker:
        plugins["reporting"] = RunReporting(benchmark)
    for name, plugin in plugins.items():
        config.pluginmanager.register(plugin, f"fcbench-{name}")
