"""The pytest plugin: thin hooks around a ``Run``.

Installed but unused it does nothing: only with an ``fcbench.yaml`` in the root directory or an
``--fcbench-…`` option is ``Benchmark`` registered, and only a run that collects entries is changed by it.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from pytest_fcbench.options import OPTIONS

if TYPE_CHECKING:
    from execnet.xspec import XSpec
    from xdist.workermanage import WorkerController

    from pytest_fcbench.answers import Transcript
    from pytest_fcbench.config import Settings
    from pytest_fcbench.dispatch.link import LinkServer
    from pytest_fcbench.dispatch.progress import Screen, Ticker
    from pytest_fcbench.entries import Entry
    from pytest_fcbench.run import Ask, Run, Score
    from pytest_fcbench.scorecard.gate import Outcome
    from pytest_fcbench.scorecard.records import Record
    from pytest_fcbench.verdicts import Failed, Judgement, Passed

ENTRY = pytest.StashKey["Entry"]()
TRANSCRIPT = pytest.StashKey["Transcript"]()
RECORD = pytest.StashKey["Record"]()

_STOPPED = "fcbench-cannot-run"
"""Id of the stand-in by which a worker tells that a model, a suite or an entry is wrong."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare every option of ``options``."""
    group = parser.getgroup("fcbench", "function-calling benchmark (also as keys of fcbench.yaml)")
    for option in OPTIONS:
        if option.switch:
            group.addoption(
                option.flag, dest=option.dest, action="store_true", default=None, help=option.help
            )
            continue
        action = "append" if option.repeatable else "store"
        group.addoption(
            option.flag,
            dest=option.dest,
            action=action,
            metavar=option.metavar,
            default=None,
            help=option.help,
        )


@pytest.hookimpl(tryfirst=True)  # before pytest-json-report looks at its options
def pytest_configure(config: pytest.Config) -> None:
    """Register the benchmark where it is wanted."""
    config.addinivalue_line("markers", "fcbench(category): puts every entry of the category to the model")
    given = {option.key: getattr(config.option, option.dest) for option in OPTIONS}
    if any(value is not None for value in given.values()) or (config.rootpath / "fcbench.yaml").is_file():
        from pytest_fcbench.config import config_file, load
        from pytest_fcbench.errors import FcbenchError

        try:
            settings = load(given, config_file(config.rootpath, given["config"]), config.rootpath)
        except FcbenchError as error:
            raise pytest.UsageError(str(error)) from None
        config.pluginmanager.register(Benchmark(config, settings), "fcbench-benchmark")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Benchmarks without a project have nothing to run on: say what is missing."""
    if config.pluginmanager.has_plugin("fcbench-benchmark"):
        return
    if any(item.get_closest_marker("fcbench") for item in items):
        raise pytest.UsageError(
            f"benchmarks need an fcbench.yaml in {config.rootpath} "
            "or an option such as --fcbench-model=lexical"
        )


class Benchmark:
    """The hooks of a run that may collect entries."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.run = _run(config, settings)
        self.link_server: LinkServer | None = None
        self.workers_tell: bool = getattr(config, "workerinput", {}).get("fcbench_tell", False)
        self.started = False
        self.screen = None if self.is_worker or config.option.verbose else _screen()
        """Where progress is shown: not with -q, and not with -v, which has a line for every test."""
        self.ticker: Ticker | None = None
        self.planned: list[str] = []
        if settings.plan:
            config.option.dist, config.option.tx = "no", []  # workers have nothing to do
        self.outcomes: tuple[Outcome, ...] = ()
        self.item_ids: dict[str, str] = {}
        """Item id by node id, of the Records that came."""
        self.foreign_failures = 0
        self.error: Exception | None = None
        self._declare_marks()
        self.owns_report = self._switch_report_on(settings.scorecard)

    def _declare_marks(self) -> None:
        from pytest_fcbench.entries import CATEGORIES, SELECTIONS

        for mark in (*self.run.settings.suites, *CATEGORIES, *SELECTIONS):
            self.config.addinivalue_line("markers", f"{mark}: entries of {mark} (fcbench)")

    def _switch_report_on(self, file: str | None) -> bool:
        """Let pytest-json-report write the scorecard, unless the user already told it what to write."""
        option = self.config.option
        if not hasattr(option, "json_report") or option.json_report:
            return False
        option.json_report = True
        option.json_report_file = (
            file if option.json_report_file == ".report.json" else option.json_report_file
        )
        option.json_report_omit = option.json_report_omit or ["collectors", "keywords", "log", "streams"]
        return True

    # With xdist: the controller holds the conversations of all workers on this machine

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        """Offer a worker the link. One on another machine gets none, and has its share of the limits.

        The controller knows what all workers together will ask for, not which one will: where some ask
        for themselves, each says what is queued for it.
        """
        from pytest_fcbench.dispatch.link import LinkServer

        local = sum(map(_is_local, node.nodemanager.specs))
        self.run.share = local / len(node.nodemanager.specs)
        self.workers_tell = self.run.share < 1
        node.workerinput["fcbench_tell"] = self.workers_tell
        if _is_local(node.gateway.spec):
            self.link_server = self.link_server or LinkServer(self._transcript, self._expect)
            node.workerinput["fcbench_link"] = self.link_server.offer

    def _expect(self, entries: list[Entry]) -> None:
        self.run.dispatcher.expect(entries)

    def _transcript(self, entry: Entry) -> Transcript:
        return self.run.dispatcher.transcript(entry)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """The workers collect; what stops them is told by the controller, once, which then starts to ask."""
        if self.started:
            return
        item_ids = [_item_id(nodeid) for nodeid in ids]
        if _STOPPED in item_ids:
            self._prepare_or_stop()
        ours = [item_id for item_id in item_ids if item_id.partition(":")[0] in self.run.settings.suites]
        if ours and self.link_server:
            self._prepare_or_stop()
            entries = [entry for item_id in ours if (entry := self.run.find(item_id))]
            self._start([] if self.workers_tell else entries)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """On a worker that tells: what it will ask for next."""
        if self.workers_tell and self.is_worker:
            upcoming = [item, nextitem, *_queued(item.session)]
            self.run.transcripts.expect([i.stash[ENTRY] for i in upcoming if i and ENTRY in i.stash])

    def _start(self, entries: list[Entry]) -> None:
        from pytest_fcbench.errors import FcbenchError

        self.started = True
        try:
            self.run.start(entries)
        except FcbenchError as error:
            raise pytest.UsageError(str(error)) from None
        if not self.run.chosen.model.immediate:
            self._show_progress()

    def _show_progress(self) -> None:
        """A line that renews itself on a terminal, a line now and then elsewhere."""
        from pytest_fcbench.dispatch.progress import Ticker

        reporter: pytest.TerminalReporter | None = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self.screen is not None:
            reporter.showfspath = False
            self.ticker = Ticker(self.run.progress, self.screen)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for each entry where the progress is shown."""
        if self.ticker is None or report.when == "teardown" or not hasattr(report, "fcbench"):
            return None
        return ("error" if report.when == "setup" and report.failed else report.outcome), "", ""

    # Collection

    def _prepare_or_stop(self) -> None:
        from pytest_fcbench.errors import FcbenchError

        try:
            self.run.prepare()
        except FcbenchError as error:
            raise pytest.UsageError(str(error)) from None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One item for each entry of the category that the test function is marked with."""
        marker = metafunc.definition.get_closest_marker("fcbench")
        if marker is None:
            return
        from pytest_fcbench.errors import FcbenchError

        entries: list[Entry] = []
        try:
            self.run.prepare()
            entries.extend(self.run.entries(marker.args[0]))
        except FcbenchError as error:
            self.error = self.error or error
            metafunc.parametrize("entry", [pytest.param(None, id=_STOPPED)])
            return
        marks = {entry.suite: _marks(entry) for entry in entries}
        metafunc.parametrize(
            "entry", [pytest.param(entry, id=entry.item_id, marks=marks[entry.suite]) for entry in entries]
        )

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Stop on an error of a suite; drop categories that were not selected; keep tracebacks out."""
        if self.error is not None:
            if self.is_worker:
                return
            raise pytest.UsageError(str(self.error))
        items[:] = [item for item in items if not _is_empty(item)]
        ours = [item for item in items if ENTRY in item.stash]
        if ours and len(ours) == len(items) and self.config.option.tbstyle == "auto":
            self.config.option.tbstyle = "no"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Start conversations ahead of the bodies. With xdist a worker learns its items one by one."""
        entries = [item.stash[ENTRY] for item in session.items if ENTRY in item.stash]
        if not entries or self.is_worker or self.config.option.collectonly:
            return None
        if self.run.settings.plan:
            self.planned = list(self.run.plan(entries))
            return True
        self._start(entries)
        return None

    # What the bodies use; without the request fixture, which costs more than the body

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Remember whose body runs."""
        self.item = item

    def _forget(self, item: pytest.Item) -> None:
        """Reports carry the Record; a rerun starts from nothing."""
        if TRANSCRIPT in item.stash:
            del item.stash[TRANSCRIPT]
        if RECORD in item.stash:
            del item.stash[RECORD]

    @pytest.fixture
    def ask(self) -> Ask:
        """Puts an entry to the model and returns the transcript."""
        return self._ask

    def _ask(self, entry: Entry) -> Transcript:
        from pytest_fcbench.errors import RunStoppedError

        try:
            transcript = self.run.transcripts.transcript(entry)
        except RunStoppedError as error:
            self.item.session.shouldstop = error.reason
            raise
        self.item.stash[TRANSCRIPT] = transcript
        return transcript

    @pytest.fixture
    def score(self) -> Score:
        """Records a judgement and returns the verdict of the selected profile."""
        return self._score

    def _score(self, judgement: Judgement) -> Passed | Failed:
        from pytest_fcbench.errors import NotScoredError
        from pytest_fcbench.verdicts import SET_ASIDE, NotScored

        stash = self.item.stash
        stash[RECORD] = self.run.record(stash[ENTRY], judgement, stash.get(TRANSCRIPT, None))
        verdict = judgement.under(self.run.settings.profile)
        if isinstance(verdict, NotScored):
            if verdict.cause == SET_ASIDE:
                pytest.skip(f"set aside: {verdict.reason}")
            raise NotScoredError(verdict.cause, verdict.reason)
        return verdict

    # Reports

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the Record; make an entry that was not scored an error, not a failure."""
        entry = item.stash.get(ENTRY, None)
        if call.when == "teardown":
            self._forget(item)
        wrong = call.excinfo is not None and call.excinfo.errisinstance(AssertionError)
        if entry and call.excinfo and wrong and self.config.option.tbstyle == "no":
            call.excinfo.traceback = call.excinfo.traceback[-1:]  # pytest filters all of it to show nothing
        report = yield
        if entry is None or call.when == "teardown" or (call.when == "setup" and call.excinfo is None):
            return report
        if call.excinfo is not None and not self._judged_wrong(item, call.excinfo):
            self._note_not_scored(item, entry, call.excinfo.value)
            if report.failed:
                report.when = "setup"
        if RECORD in item.stash:
            report.__dict__["fcbench"] = self._carried(item.stash[RECORD])
        return report

    def _carried(self, record: Record) -> Record | str:
        """The Record as a report carries it: as ASCII text where it goes through xdist's channel."""
        from pytest_fcbench.scorecard.records import to_json

        return json.dumps(to_json(record), default=repr) if self.is_worker else record

    def _judged_wrong(self, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        return RECORD in item.stash and excinfo.errisinstance((AssertionError, pytest.skip.Exception))

    def _note_not_scored(self, item: pytest.Item, entry: Entry, error: BaseException) -> None:
        from pytest_fcbench.errors import NotScoredError

        if RECORD in item.stash or isinstance(error, pytest.skip.Exception):
            return
        cause = error.cause if isinstance(error, NotScoredError) else "internal_error"
        reason = error.reason if isinstance(error, NotScoredError) else f"{type(error).__name__}: {error}"
        transcript = item.stash.get(TRANSCRIPT, None)
        item.stash[RECORD] = self.run.not_scored(entry, cause, reason, transcript)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect Records, on the controller too."""
        from pytest_fcbench.scorecard.records import from_json

        if self.is_worker:
            reporter = self.config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None:
                reporter.stats.clear()  # a worker's reporter writes nowhere, and keeps every report for it
            return
        carried = getattr(report, "fcbench", None)
        if carried is not None:
            record = from_json(json.loads(carried)) if isinstance(carried, str) else carried
            self.run.records[record.item_id] = record
            self.item_ids[report.nodeid] = record.item_id
        elif report.failed and report.nodeid not in self.item_ids:
            entry = self._lost_entry(report)
            if entry is None:
                self.foreign_failures += 1
            else:
                self.item_ids[report.nodeid] = entry.item_id
                reason = report.longreprtext or "no report came"
                self.run.records[entry.item_id] = self.run.not_scored(entry, "worker_crashed", reason)

    def _lost_entry(self, report: pytest.TestReport) -> Entry | None:
        """The entry that an xdist worker died under: xdist then reports no phase."""
        if report.when in ("setup", "call", "teardown"):
            return None
        self._prepare_or_stop()
        return self.run.find(_item_id(report.nodeid))

    # The end

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # the exit code is set before the JSON report is written
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Ask nothing more; let the gate decide; write no file in a run without entries."""
        self.run.stop()
        if self.ticker:
            self.ticker.stop()
        if self.is_worker:
            return (yield)
        if not self.run.records:
            if self.owns_report:
                self.config.option.json_report_file = None
        elif self.run.settings.gate and not self.narrowed_by and session.exitstatus in (0, 1, 2):
            from pytest_fcbench.scorecard.gate import exit_code

            interrupted = session.exitstatus == 2 or bool(session.shouldfail or session.shouldstop)
            self.outcomes = self.run.outcomes(interrupted=interrupted)
            code = exit_code(self.outcomes)
            session.exitstatus = max(code, 1) if self.foreign_failures else code
        return (yield)

    @property
    def narrowed_by(self) -> str | None:
        """What makes this a part of a run, which the gate of a file says nothing about."""
        option = self.config.option
        if option.fcbench_gate is not None:
            return None
        narrowing = {
            "-k": option.keyword,
            "-m": option.markexpr,
            "--fcbench-category": option.fcbench_category,
            "--lf": getattr(option, "lf", False),
            "--deselect": option.deselect,
            "a node id": any("::" in argument for argument in self.config.args),
        }
        return next((name for name, used in narrowing.items() if used), None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, object]) -> None:
        """Each test carries its Record; one section holds the aggregate."""
        tests = json_report.get("tests")
        if not self.run.records or not isinstance(tests, list):
            return
        from pytest_fcbench.scorecard.records import to_json

        for test in tests:
            if test["nodeid"] in self.item_ids:
                record = self.run.records[self.item_ids[test["nodeid"]]]
                test.setdefault("metadata", {})["fcbench"] = to_json(record)
        tests.sort(key=lambda test: str(test["nodeid"]))
        json_report["fcbench"] = self.run.section(self.outcomes)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, object, object]:
        """Our tables in the place of pytest's list of failures."""
        if self.planned:
            terminalreporter.section("plan")
            for line in self.planned:
                terminalreporter.write_line(line)
        if self.run.records:
            if not self.foreign_failures and self.config.option.tbstyle in ("auto", "no"):
                self.config.option.tbstyle = "no"
                terminalreporter.reportchars = terminalreporter.reportchars.replace("f", "").replace("E", "")
            self._write_scorecard(terminalreporter)
        elif self.owns_report:
            _drop_report_line(self.config)
        return (yield)

    def _write_scorecard(self, terminalreporter: pytest.TerminalReporter) -> None:
        from pytest_fcbench.scorecard import terminal

        run = self.run
        width = terminalreporter._tw.fullwidth
        terminalreporter.section("function-calling benchmark")
        most = run.settings.failures
        for line in terminal.summary(run.facts, run.ordered, run.size_of, width=width, most=most):
            terminalreporter.write_line(line)
        for line in terminal.gate_lines(self.outcomes):
            terminalreporter.write_line(line)
        if run.settings.gate and self.narrowed_by:
            terminalreporter.write_line(
                f"the gate of fcbench.yaml was not applied: {self.narrowed_by} makes this a part of a run"
            )

    def pytest_unconfigure(self) -> None:
        """Stop what the run started."""
        self.run.close()
        if self.link_server:
            self.link_server.close()
        if self.screen:
            self.screen.close()


def _run(config: pytest.Config, settings: Settings) -> Run:
    """The run of this process: a worker's has the controller's link, or its share of the limits."""
    from pytest_fcbench.dispatch.link import Link
    from pytest_fcbench.run import Run

    worker = getattr(config, "workerinput", None)
    if worker is None:
        return Run(settings)
    link = Link.connect(worker["fcbench_link"]) if "fcbench_link" in worker else None
    return Run(settings, 1.0 if link else 1 / worker["workercount"], link)


def _screen() -> Screen | None:
    """Standard output, before pytest captures it; None where it is no file."""
    from pytest_fcbench.dispatch.progress import Screen

    try:
        return Screen()
    except (OSError, AttributeError):
        return None


def _is_local(spec: XSpec) -> bool:
    return bool(spec.popen) and not spec.via


def _queued(session: pytest.Session) -> list[pytest.Item]:
    """What xdist has sent to this worker beyond the next item. Its queue is made to be looked at, but not
    documented; without it a worker asks for one entry after the other."""
    for plugin in session.config.pluginmanager.get_plugins():
        if hasattr(plugin, "torun") and hasattr(plugin.torun, "lock"):
            with plugin.torun.lock() as indices:
                return [session.items[index] for index in indices if isinstance(index, int)]
    return []


def _item_id(nodeid: str) -> str:
    """``suite:id`` of ``path::function[suite:id]``, also where xdist added a group; empty for other tests."""
    _, bracket, rest = nodeid.rpartition("[")
    return rest.partition("]")[0] if bracket else ""


def _marks(entry: Entry) -> list[pytest.MarkDecorator]:
    """Marks for the suite, the category and the groups of an entry."""
    from pytest_fcbench.entries import SELECTIONS

    category = entry.category.name
    groups = [name for name, members in SELECTIONS.items() if category in members]
    return [getattr(pytest.mark, name) for name in (entry.suite, category, *groups)]


def _is_empty(item: pytest.Item) -> bool:
    """Note the item's entry. True for pytest's stand-in for a category without entries."""
    if item.get_closest_marker("fcbench") is None:
        return False
    entry = getattr(item, "callspec").params.get("entry")  # noqa: B009 - items have it only if parametrized
    if not hasattr(entry, "key"):
        return True
    item.stash[ENTRY] = entry
    return False


def _drop_report_line(config: pytest.Config) -> None:
    """A run without entries says nothing of a report that was switched on for nothing."""
    report = getattr(config, "_json_report", None)
    if report is not None:
        report._terminal_min_verbosity = 99
