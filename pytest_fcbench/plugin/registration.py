"""Registration of the hooks of a benchmark run."""

from __future__ import annotations

from collections.abc import Mapping
from glob import iglob
from pathlib import Path

import pytest

from pytest_fcbench.config.layers import Layers, read_file_layers
from pytest_fcbench.config.loading import add_environment, build_settings, find_config_file, find_own_suites
from pytest_fcbench.config.options import FILE, OPTIONS
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.plugin.entry_arguments import add_places, find_marked_categories, find_suites_around
from pytest_fcbench.plugin.entry_files import EntryFileCollector, find_pointed_suites, normalize_path
from pytest_fcbench.plugin.fixtures import BodyArguments, make_fixtures
from pytest_fcbench.plugin.items import BENCHMARK, Benchmark, parse_item_id, raise_usage_errors
from pytest_fcbench.plugin.project import list_failed_entries
from pytest_fcbench.plugin.reporting import RunReporting
from pytest_fcbench.plugin.stop_signals import StopSignals
from pytest_fcbench.plugin.xdist_workers import Workers
from pytest_fcbench.suites.registry import OURS, remember_suites


def register_benchmark(config: pytest.Config, given: Mapping[str, object], project: Path) -> None:
    """Read the settings and register the plugins of a run; ``given`` are the options by key.

    ``project`` is the folder of the project.
    """
    marked = find_marked_categories(config.option.markexpr or "")
    failed = [parse_item_id(nodeid) for nodeid in list_failed_entries(config)]
    # What failed last may be of no category and no suite that a run has by itself.
    marked += [name for each in failed if (name := each.partition(":")[2].rpartition("_")[0]) in CATEGORIES]
    with raise_usage_errors():
        add_places(config, project)
        added = add_environment(given)
        from_environment = [each for each in OPTIONS if given[each.key] is not added[each.key]]
        for option in from_environment:
            # Workers receive the options, and on another host not the environment. xdist sends plain text.
            value = added[option.key]
            plain = str(value) if isinstance(value, str) else value
            setattr(config.option, option.dest, [plain] if option.repeatable else plain)
        given = added
        file = find_config_file(project, config.option.fcbench_config)
        named = dict.fromkeys(each.partition(":")[0] for each in failed)
        if not (given["suite"] or given["entry"]) and named.keys() <= {*OURS, *find_own_suites(file)}:
            given = {**given, "suite": list(named) or None}
        suites, files = _find_suites(config, given, file, project)
        settings = build_settings(given, file, project, suites)
        if marked and not given["category"]:
            # Beside those that run anyway: the expression may name some of these too.
            names = [*(category.name for category in settings.categories), *marked]
            settings = build_settings({**given, "category": names}, file, project, suites)
    benchmark = config.stash[BENCHMARK] = Benchmark(config, settings)
    plugins = {
        "benchmark": benchmark,
        "fixtures": make_fixtures(benchmark),
        "body-arguments": BodyArguments(benchmark),
        "entry-files": EntryFileCollector(files, is_alone=getattr(config.option, "fcbench_alone", False)),
        "workers": Workers(benchmark),
    }
    sources = [str(file)] if file else [f"no {FILE}"]
    sources += [option.variable for option in from_environment]
    # Workers print nothing; the controller has the Records of all.
    if not benchmark.is_worker:
        remember_suites(project, suites)
        top, _ = read_file_layers(file)
        gated = [each.text for each in Layers({}, {}, top).find_all("suite")]
        plugins["reporting"] = RunReporting(benchmark, sources, gated)
        plugins["stop-signals"] = StopSignals(benchmark.session)
    for name, plugin in plugins.items():
        config.pluginmanager.register(plugin, f"fcbench-{name}")


def _find_suites(
    config: pytest.Config, given: Mapping[str, object], file: Path | None, project: Path
) -> tuple[Mapping[str, Path], Mapping[Path, str]]:
    """Find the suites that the run is given by path, and the suite of each file to collect."""
    here, own = config.invocation_params.dir, find_own_suites(file)
    # xdist hands the places of a bare run to its workers as arguments, so they are told by what they are.
    found = [
        Path(each)
        for name in config.getini("testpaths")
        for each in iglob(str(config.rootpath / name), recursive=True)  # noqa: PTH207 - cannot read "."
    ]
    open_places = {normalize_path(place) for place in (project, here, *found)}
    arguments = [str(here / argument) for argument in config.args]
    if any(normalize_path(Path(argument)) in open_places for argument in arguments):
        # The id of an entry tells the suite of its file.
        failed = [str(config.rootpath / nodeid) for nodeid in list_failed_entries(config)]
        files = {nodeid.partition("::")[0] for nodeid in failed}
        arguments = [argument for argument in arguments if argument not in files] + failed
    selected: Mapping[str, Path] | None = None
    top, _ = read_file_layers(file)
    if given["suite"] or given["entry"] or "suite" in top:
        known = {**find_suites_around(config, project), **own}
        ids = Layers(given, {}, {}).find_all("entry")
        names = tuple(dict.fromkeys(each.text.partition(":")[0] for each in ids))
        # The settings know no suite of a folder above.
        if not names or {*names} - {*known, *OURS}:
            names = build_settings(given, file, project).suites
        selected = {name: known[name] for name in names if name in known}
    return find_pointed_suites(arguments, open_places, own, selected)
