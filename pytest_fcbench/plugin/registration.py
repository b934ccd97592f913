"""Registration of the hooks of a benchmark run, and the fixtures of the test bodies.

All fixtures but ``answer`` are made once for all tests, because one for each test costs more than most
bodies. What they return knows the test that runs. None takes ``request`` or ``pytestconfig``, which pytest
makes again for each test.
"""

from __future__ import annotations

from collections.abc import Mapping
from glob import iglob
from pathlib import Path
from types import ModuleType

import pytest

from pytest_fcbench.config.loading import add_environment, build_settings, find_config_file, find_own_suites
from pytest_fcbench.config.options import FILE, OPTIONS
from pytest_fcbench.config.values import Layers, read_file_layers
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.plugin.entry_arguments import add_places, find_marked_categories, find_suites_around
from pytest_fcbench.plugin.entry_files import EntryFileCollector, find_pointed_suites
from pytest_fcbench.plugin.items import BENCHMARK, ENTRY, Benchmark, parse_item_id, raise_usage_errors
from pytest_fcbench.plugin.project import list_failed_entries, normalize_path
from pytest_fcbench.plugin.reporting import RunReporting
from pytest_fcbench.plugin.stop_signals import StopSignals
from pytest_fcbench.plugin.trial_marks import TrialMarks
from pytest_fcbench.plugin.xdist_workers import Workers
from pytest_fcbench.run import Answer, Ask, Judge, Score, read_answer
from pytest_fcbench.suites.registry import OURS, remember_suites


def register_benchmark(config: pytest.Config, options: Mapping[str, object], project: Path) -> None:
    """Read the settings and register the plugins of a run; ``options`` are the options by key.

    ``project`` is the folder of the project.
    """
    marked_categories = find_marked_categories(config.option.markexpr or "")
    failed_ids = [parse_item_id(nodeid) for nodeid in list_failed_entries(config)]
    # What failed last may be of no category and no suite that a run has by itself.
    marked_categories += [
        name for each in failed_ids if (name := each.partition(":")[2].rpartition("_")[0]) in CATEGORIES
    ]
    with raise_usage_errors():
        add_places(config, project)
        full_options = add_environment(options)
        from_environment = [each for each in OPTIONS if options[each.key] is not full_options[each.key]]
        for option in from_environment:
            # Workers receive the options, and on another host not the environment. xdist sends plain text.
            value = full_options[option.key]
            plain = str(value) if isinstance(value, str) else value
            setattr(config.option, option.dest, [plain] if option.repeatable else plain)
        options = full_options
        file = find_config_file(project, config.option.fcbench_config)
        failed_suites = dict.fromkeys(each.partition(":")[0] for each in failed_ids)
        known_suites = {*OURS, *find_own_suites(file)}
        if not (options["suite"] or options["entry"]) and failed_suites.keys() <= known_suites:
            options = {**options, "suite": list(failed_suites) or None}
        suites, files = _find_suites(config, options, file, project)
        settings = build_settings(options, file, project, suites)
        if marked_categories and not options["category"]:
            # Beside those that run anyway: the expression may name some of these too.
            names = [*(category.name for category in settings.categories), *marked_categories]
            settings = build_settings({**options, "category": names}, file, project, suites)
    benchmark = config.stash[BENCHMARK] = Benchmark(config, settings)
    plugins = {
        "benchmark": benchmark,
        "fixtures": make_fixtures(benchmark),
        "body-arguments": BodyArguments(benchmark),
        "entry-files": EntryFileCollector(files, is_alone=getattr(config.option, "fcbench_alone", False)),
        "workers": Workers(benchmark),
        "trial-marks": TrialMarks(settings.trials, is_worker=benchmark.is_worker),
    }
    sources = [str(file) if file else f"no {FILE}", *(option.variable for option in from_environment)]
    # Workers print nothing; the controller has the Records of all.
    if not benchmark.is_worker:
        remember_suites(project, suites)
        top, _ = read_file_layers(file)
        gated_suites = [each.text for each in Layers({}, {}, top).find_all("suite")]
        plugins["reporting"] = RunReporting(benchmark, sources, gated_suites)
        plugins["stop-signals"] = StopSignals(config, benchmark.session)
    for name, plugin in plugins.items():
        config.pluginmanager.register(plugin, f"fcbench-{name}")


def _find_suites(
    config: pytest.Config, options: Mapping[str, object], file: Path | None, project: Path
) -> tuple[Mapping[str, Path], Mapping[Path, str]]:
    """Find the suites that the run is given by path, and the suite of each file to collect."""
    here, own = config.invocation_params.dir, find_own_suites(file)
    # xdist hands the places of a bare run to its workers as arguments, so they are told by what they are.
    test_places = [
        Path(each)
        for name in config.getini("testpaths")
        for each in iglob(str(config.rootpath / name), recursive=True)  # noqa: PTH207 - cannot read "."
    ]
    open_places = {normalize_path(place) for place in (project, here, *test_places)}
    arguments = [str(here / argument) for argument in config.args]
    if any(normalize_path(Path(argument)) in open_places for argument in arguments):
        # The id of an entry tells the suite of its file.
        failed_nodes = [str(config.rootpath / nodeid) for nodeid in list_failed_entries(config)]
        files = {nodeid.partition("::")[0] for nodeid in failed_nodes}
        arguments = [argument for argument in arguments if argument not in files] + failed_nodes
    selected_suites: Mapping[str, Path] | None = None
    top, _ = read_file_layers(file)
    if options["suite"] or options["entry"] or "suite" in top:
        suite_paths = {**find_suites_around(config, project), **own}
        ids = Layers(options, {}, {}).find_all("entry")
        names = tuple(dict.fromkeys(each.text.partition(":")[0] for each in ids))
        # The settings know no suite of a folder above.
        if not names or {*names} - {*suite_paths, *OURS}:
            names = build_settings(options, file, project).suites
        selected_suites = {name: suite_paths[name] for name in names if name in suite_paths}
    return find_pointed_suites(arguments, open_places, own, selected_suites)


def make_fixtures(benchmark: Benchmark) -> ModuleType:
    """Make the fixtures of a run, in a module: pytest reads session fixtures of modules and classes only."""

    @pytest.fixture(scope="session")
    def ask() -> Ask:
        """Put an entry to the model and return the transcript."""
        return benchmark.ask_model

    @pytest.fixture(scope="session")
    def score() -> Score:
        """Record a judgement and return the verdict of the selected profile."""
        return benchmark.record_judgement

    @pytest.fixture(scope="session")
    def judge() -> Judge:
        """Judge a transcript in both profiles, as the kind of its entry does (``kinds/table.py``)."""
        return benchmark.session.judge

    @pytest.fixture
    def answer(entry: Entry, ask: Ask) -> Answer:
        """Put the entry to the model and return its answer: ``text`` and ``calls``."""
        return read_answer(entry, ask(entry))

    module = ModuleType(f"{__name__}.of_run")
    vars(module).update(ask=ask, score=score, judge=judge, answer=answer)
    return module


class BodyArguments:
    """Gives test bodies the values of the fixtures, which pytest takes longer to look up than to judge."""

    def __init__(self, benchmark: Benchmark) -> None:
        judge, score = benchmark.session.judge, benchmark.record_judgement
        self._values = {"ask": benchmark.ask_model, "judge": judge, "score": score}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Give a test its entry and the values of our fixtures.

        Fixtures that ask for ours by the same name replace them and are left to pytest; others of that name
        are about something else. ``--setup-show`` leaves all to pytest, which prints them.
        """
        if ENTRY not in item.stash or not isinstance(item, pytest.Function) or item.config.option.setupshow:
            return
        # pytest has no public way to ask who defines a fixture; without this one it looks all up itself.
        definitions_by_name = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", None)
        if definitions_by_name is None:
            return
        replaced_names = {
            name
            for name, definitions in definitions_by_name.items()
            if definitions and name in definitions[-1].argnames
        }
        ours = {name: value for name, value in self._values.items() if name not in replaced_names}
        item.funcargs.update(ours, entry=item.stash[ENTRY])
