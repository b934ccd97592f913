"""The hooks that report a run: progress, tables, the scorecard's file, the gate's exit code."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.progress import Progress, Screen, Ticker
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.plugin.items import ENTRY, Benchmark, parse_item_id, raise_usage_errors
from pytest_fcbench.present import run_end
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.terminal import Explain, write_summary
from pytest_fcbench.run.history import (
    keep_former_scorecard,
    keep_run,
    name_second_file,
    read_git_commit,
    write_scorecard,
)
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.plan import describe_pressure
from pytest_fcbench.run.progress_file import ProgressFile
from pytest_fcbench.run.two_models import ComparingSession, may_stop_early
from pytest_fcbench.scorecard.gate.gate import choose_exit_code
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import EARLY_END, RuleOutcome

_COMMAND = re.compile(r"fcbench (?:run|blame) ")
"""The beginning of a command that looks for its project."""
_SHARD = "--fcbench-shard"
_ONCE = frozenset(("--lf", "--last-failed", "--fcbench-refresh"))
"""Options that the command for another run of what failed has already, or does not need."""


class RunReporting:
    """Reports a run to people and CI jobs; not registered on workers."""

    def __init__(self, benchmark: Benchmark, sources: Sequence[str], gated: Sequence[str] = ()) -> None:
        self._benchmark = benchmark
        self._gated = gated
        """The suites that fcbench.yaml selects, which its gate is about; none where it selects none."""
        self._sources = sources
        """The configuration file and the environment variables from which the options were read."""
        self._config = benchmark.config
        self._session = benchmark.session
        self._settings = benchmark.context.settings
        # Opened now, because pytest captures standard output later.
        self._screen: Screen | None = None
        """The terminal that shows progress; None with -q, and with -v, which prints a line for every test."""
        # Standard output need not be a file, and -p no:terminal shows nothing.
        if not getattr(self._config.option, "verbose", True):
            with suppress(OSError, AttributeError):
                self._screen = Screen()
        self._ticker: Ticker | None = None
        self._is_mixed = False
        """True where pytest shows the progress: live lines would overwrite that of tests of another kind."""
        self._followed: ProgressFile | None = None
        self._outcomes: tuple[RuleOutcome, ...] = ()
        self._interrupted = False
        self._has_entries = False
        """True where entries are to be asked, in this process or in workers."""
        self._is_empty_shard = False
        """True where no selected entry falls into this shard; its scorecard then says so."""
        self._may_be_empty = False
        """True where a scorecard without entries is written: of an empty shard, or of a run cut short."""
        self._began_at = time.monotonic()
        self._saved: str | None = None
        """The path of the scorecard."""
        self._unsaved = ""
        """The reason why no scorecard could be written, else empty."""
        self._unkept = ""
        """The reason why the run could not be kept, else empty."""
        option = self._config.option
        self._unpassed: dict[str, list[pytest.TestReport]] = {}
        """The reports of tests that did not pass, by the outcome under which pytest counts them."""
        # pytest-json-report ends in errors without pytest's own terminal plugin.
        missing = "terminal" if not self._config.pluginmanager.has_plugin("terminal") else "pytest_jsonreport"
        can_report = missing != "terminal" and hasattr(option, "json_report")
        self._lacks_report = not can_report and self._settings.scorecard is not None
        """True where the plugin that writes the scorecard is switched off."""
        if self._lacks_report and (option.fcbench_scorecard or self._settings.shard):
            needs = "--fcbench-scorecard" if option.fcbench_scorecard else _SHARD
            rule = f"{needs} needs pytest-json-report, which writes the scorecard"
            raise pytest.UsageError(f"{rule}; remove -p no:{missing}")
        benchmark.find_refusal = self._find_refusal
        # pytest-json-report writes the scorecard, unless the user already told it what to write.
        self._owns_report = can_report and not option.json_report
        if self._owns_report:
            option.json_report = True
            # Its default: a name that the user chose stays.
            if option.json_report_file == ".report.json":
                option.json_report_file = self._settings.scorecard
            option.json_report_omit = option.json_report_omit or ["collectors", "keywords", "log", "streams"]

    def pytest_report_header(self) -> str:
        """Name the model and the places from which its options were read."""
        against = f" against {second.label}" if (second := self._settings.against) else ""
        return f"fcbench: {self._settings.label}{against} ({', '.join(self._sources)})"

    # Progress

    # A wrapper, so that it comes before the first call, which may have to be repeated for a minute.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Show progress while entries are asked: one updated line, or a line now and then."""
        self._is_mixed = any(ENTRY not in item.stash for item in session.items)
        self._has_entries = any(ENTRY in item.stash for item in session.items)
        if (runs := self._settings.runs) is not None:
            # On the process that starts workers nothing has looked at the model yet.
            with raise_usage_errors():
                model = self._benchmark.context.manner.model
            self._followed = ProgressFile(runs, model, self._settings.suites)
        if self._screen is not None or self._followed is not None:
            self._ticker = Ticker(self._find_progress, self._screen)
        return (yield)

    def _find_progress(self) -> Progress | None:
        """Return the progress, which others may follow by a file; None before the run has begun."""
        if self._ticker is None or not self._session.has_started:
            return None
        progress = self._session.progress()
        if self._followed is not None:
            self._followed.write_progress(progress)
        return None if self._is_mixed else progress

    @property
    def _is_live(self) -> bool:
        """True while lines that renew themselves take the place of pytest's progress."""
        return self._screen is not None and self._ticker is not None and not self._is_mixed

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Leave the progress to pytest if a worker has tests of another kind."""
        are_ours = [parse_item_id(nodeid).partition(":")[0] in self._settings.suites for nodeid in ids]
        self._is_mixed |= not all(are_ours)
        self._has_entries |= any(are_ours)

    # First, because pytest prints the path in the same hook.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Print no path of a file if progress is shown, or where the order is not that of files."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or not reporter.showfspath:
            return
        is_shown = self._is_live and self._session.has_started
        reporter.showfspath = not (is_shown or may_stop_early(self._settings))
        if self._screen and is_shown:
            # pytest begins a new line here, and what was shown before the first entry would stay above it.
            self._screen.clear()

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Print no letter for an entry if progress is shown."""
        # Its words are empty, so pytest prints none of hundreds of letters.
        if not self._is_live or report.when == "teardown" or not hasattr(report, "fcbench"):
            return None
        return ("error" if report.when == "setup" and report.failed else report.outcome), "", ""

    # End of the session

    # First, so that the exit code is set before the JSON report is written.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Apply the gate; write no file for a run without entries."""
        if self._ticker:
            self._ticker.stop()
            # From now on the words for outcomes are pytest's own.
            self._ticker = None
        if self._followed:
            self._followed.remove()
        has_ended = session.exitstatus in (0, 1, 5)
        self._is_empty_shard = bool(self._settings.shard) and not self._has_entries and has_ended
        # pytest ends with 5 where it collected nothing, which for one shard of several is no fault.
        if self._is_empty_shard and session.exitstatus == 5:
            session.exitstatus = 0
        self._interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED and self._session.has_started
        self._may_be_empty = self._is_empty_shard or self._interrupted
        if not (self._session.records or self._may_be_empty) and self._owns_report:
            self._config.option.json_report_file = None
        elif self._session.records and session.exitstatus in (0, 1, 2):
            self._interrupted = session.exitstatus == 2 or bool(session.shouldfail or session.shouldstop)
            whole_shard = self._narrowed_by == _SHARD and not self._interrupted
            ungated_reason = self._explain_no_gate()
            # The gate decides nothing about a run that was narrowed to a part.
            if self._settings.gate and (not ungated_reason or whole_shard):
                # fcbench run merge applies the gate to all shards together.
                if not ungated_reason:
                    self._outcomes = self._session.outcomes(interrupted=self._interrupted)
                code = choose_exit_code(self._outcomes)
                session.exitstatus = max(code, 1) if self._benchmark.foreign_failures else code
        if self._session.records:
            self._session.ungated = self._explain_no_gate()
            self._add_properties()
        result = yield
        if self._unsaved:
            session.exitstatus = session.exitstatus or 1
        return result

    def _add_properties(self) -> None:
        """Say in the file of --junitxml how the model was asked, and what the first lines of the run say."""
        writers = [p for p in self._config.pluginmanager.get_plugins() if hasattr(p, "add_global_property")]
        if writers:
            properties = run_end.list_properties(self._session.facts, self._session.evidence, self._outcomes)
            for (name, value), writer in product(properties, writers):
                writer.add_global_property(name, value)

    def _explain_no_gate(self) -> str | None:
        """Explain why the rules of the project are not applied; None where they are, or where it has none."""
        rules, suites = self._settings.gate, self._settings.suites
        if not rules or self._config.option.fcbench_gate is not None:
            return None
        if self._gated and not {*self._gated, *(rule.metric for rule in rules)}.intersection(suites):
            why = f"it is about {', '.join(self._gated)}, this run about {', '.join(suites)}"
        elif narrowed_by := self._narrowed_by:
            then = "; 'fcbench run merge' applies it to the whole run" if narrowed_by == _SHARD else ""
            why = f"{narrowed_by} selects a part of the entries{then}"
        else:
            return None
        return f"the gate of fcbench.yaml was not applied: {why}"

    def _find_refusal(self) -> str | None:
        """Return why the gate could not decide about this run, whatever is answered; else None."""
        trials = self._settings.trials
        for rule in () if self._explain_no_gate() else self._settings.gate:
            if needed := rule.find_needed_trials(trials):
                fault = f"needs {needed} trials of each entry, and the run has {trials}"
                return f"gate rule {rule.text!r} {fault}; use --fcbench-trials={needed}"
        return None

    @property
    def _narrowed_by(self) -> str | None:
        """The option that narrows the run to a part, to which the gate of fcbench.yaml does not apply."""
        return None if self._config.option.fcbench_gate is not None else self._selected_by

    @property
    def _selected_by(self) -> str | None:
        """The option that selects a part of the entries."""
        option = self._config.option
        narrowing = {
            "-k": option.keyword,
            "-m": option.markexpr,
            "an entry id": option.fcbench_entry,
            "--fcbench-category": option.fcbench_category,
            "--fcbench-smoke": option.fcbench_smoke,
            "--fcbench-limit": option.fcbench_limit,
            "--fcbench-sample": option.fcbench_sample,
            _SHARD: self._settings.shard,
            "--lf": getattr(option, "lf", False),
            "--deselect": option.deselect,
            "a node id": any("::" in argument for argument in self._config.args),
        }
        return next((name for name, value in narrowing.items() if value), None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_runtest_stage(self, report: pytest.TestReport) -> dict[str, object] | None:
        """Describe a stage that went well, which pytest-json-report would look at for longer."""
        if report.longrepr is not None or not {"log", "streams"} <= {*self._config.option.json_report_omit}:
            return None
        return {"duration": report.duration, "outcome": report.outcome}

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_json_modifyreport(self, json_report: dict[str, object]) -> None:
        """Add each test's Record and the section with the scores to the report; write our own scorecard."""
        tests = json_report.get("tests")
        if not isinstance(tests, list) or not (self._session.records or self._may_be_empty):
            return
        # xdist finishes tests in any order, but the same run must give the same file.
        tests.sort(key=lambda test: str(test["nodeid"]))
        # pytest-json-report goes by a clock that can be set back.
        json_report["duration"] = time.monotonic() - self._began_at
        # The section names the shard already, and the whole that is merged is no shard.
        narrowed_by = EARLY_END if self._interrupted else self._selected_by
        self._session.narrowed_by = None if narrowed_by == _SHARD else narrowed_by
        self._session.commit = read_git_commit(self._config.rootpath)
        json_report["fcbench"] = self._session.section(self._outcomes)
        if not self._owns_report:
            for test in tests:
                if record := self._find_record(test["nodeid"]):
                    test.setdefault("metadata", {})["fcbench"] = read_json_text(record)
            return
        # pytest-json-report would hold all of it in memory and write in place, leave half a file on a full
        # disk, and say so only without -q; without the name of a file it writes none.
        option = self._config.option
        name, option.json_report_file = option.json_report_file, None
        file = Path(name or "")

        def write_pieces() -> Iterator[str]:
            return write_scorecard(json_report, option.json_report_indent, self._find_record)

        if name:
            # It is about to be replaced.
            self._keep(lambda runs: keep_former_scorecard(runs, file))
            try:
                write_file(file, write_pieces())
                self._saved = str(file)
                self._saved += self._write_second_scorecard(json_report, file)
            except FcbenchError as error:
                self._unsaved = str(error)
        # What is no file, such as a pipe, cannot be read again.
        content = file if self._saved and file.is_file() else write_pieces()
        model = self._benchmark.context.manner.model
        self._keep(
            lambda runs: self._write_second_scorecard(
                json_report, keep_run(runs, content, model, time.time())
            )
        )

    def _write_second_scorecard(self, json_report: Mapping[str, object], file: Path) -> str:
        """Write the scorecard of the second model, if any, beside that of the run; say where.

        Raises ``FcbenchError``.
        """
        session = self._session
        if not isinstance(session, ComparingSession) or session.second is None:
            return ""
        path, second, item_ids = name_second_file(file), session.second.session, self._benchmark.item_ids
        nodeids = {item_id: nodeid for nodeid, item_id in item_ids.items()}
        report = {
            **{key: json_report[key] for key in ("created", "duration", "root") if key in json_report},
            "fcbench": second.section(()),
            "tests": [
                {"nodeid": nodeids[item_id], "outcome": record.verdict(self._settings.profile).status}
                for item_id, record in sorted(second.records.items(), key=lambda pair: nodeids[pair[0]])
            ],
        }
        indent = self._config.option.json_report_indent
        pieces = write_scorecard(report, indent, lambda nodeid: second.records.read_text(item_ids[nodeid]))
        write_file(path, pieces)
        return f", and of {session.second.label} to {path}"

    def _find_record(self, nodeid: str) -> str | None:
        """Return the JSON of the Record of a test; None for a test of another kind."""
        item_id, records = self._benchmark.item_ids.get(nodeid, ""), self._session.records
        # What arrived after a decision has no Record.
        return records.read_text(item_id) if item_id in records else None

    def _keep(self, keep: Callable[[Path], object]) -> None:
        """Keep something in the folder of runs, if there is one; the scorecard itself may lie elsewhere."""
        if self._settings.runs is not None:
            try:
                keep(self._settings.runs)
            except FcbenchError as error:
                self._unkept = str(error)

    # Around pytest's own, so that what it says of other tests stands below the tables, and the gate last.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> Generator[None, object, object]:
        """Print our tables, then what pytest says of all tests but entries, then the verdict of the run."""
        if self._benchmark.plan_lines:
            terminalreporter.section("plan")
            for line in self._benchmark.plan_lines:
                terminalreporter.write_line(line)
        if self._owns_report and (json_report := getattr(self._config, "_json_report", None)):
            # It says so above what pytest says of other tests.
            json_report._terminal_min_verbosity = 99
        if not self._session.records:
            for line in self._explain_no_records(terminalreporter.stats, exitstatus):
                terminalreporter.write_line(line)
            return (yield)
        self._write_tables(terminalreporter)
        if self._settings.blame and not self._interrupted:
            self._write_blame(terminalreporter)
        stats = terminalreporter.stats
        self._unpassed = {outcome: stats[outcome] for outcome in ("failed", "error") if outcome in stats}
        # Our table tells why entries failed; who asks for pytest's tracebacks gets them.
        stats.update(self._limit_reports(self._config.option.tbstyle not in ("auto", "no")))
        result = yield
        # pytest counts them in its last line.
        stats.update(self._unpassed)
        self._write_end(terminalreporter)
        return result

    # Last, so between the failures and the line of each test in pytest's summary. A hook begins with pytest_.
    @pytest.hookimpl(specname="pytest_terminal_summary", trylast=True)
    def pytest_terminal_summary_of_entries(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Let pytest list the ids of failed entries where the user asked for it."""
        # "fE" is pytest's default.
        if self._session.records and self._config.option.reportchars != "fE":
            terminalreporter.stats.update(self._limit_reports(True))

    def _limit_reports(self, with_entries: bool) -> dict[str, list[pytest.TestReport]]:
        """Return the reports of tests that did not pass, those of entries if asked for and up to a limit."""
        room = self._settings.failures if with_entries else 0
        kept_reports: dict[str, list[pytest.TestReport]] = {}
        for outcome, reports in self._unpassed.items():
            ours = [r for r in reports if r.nodeid in self._benchmark.item_ids and r.when != "teardown"]
            hidden_ids = set(map(id, ours[room:]))
            room -= len(ours[:room])
            kept_reports[outcome] = [report for report in reports if id(report) not in hidden_ids]
        return kept_reports

    def _explain_no_records(self, stats: Mapping[str, Sequence[object]], exitstatus: int) -> Iterator[str]:
        """Say why there are no tables; ``stats`` are what pytest counted, by outcome."""
        if self._interrupted:
            if self._saved:
                yield "no entry was judged yet; the scorecard is empty"
        elif self._is_empty_shard:
            yield f"shard {self._settings.shard} contains none of these entries; its scorecard is empty"
        elif exitstatus != pytest.ExitCode.NO_TESTS_COLLECTED:
            return
        elif others := stats.get("deselected"):
            forced = "; with --fcbench-forced name categories by --fcbench-category"
            hint = forced if self._settings.forced else ""
            yield f"{self._selected_by or 'a plugin'} leaves none of the {len(others):,} tests{hint}"
        elif notes := describe_pressure(self._benchmark.context):
            yield from notes
        elif lacking := self._benchmark.lacking:
            suites, named = ", ".join(self._settings.suites), self._config.option.fcbench_category
            hint = "" if named else ", or the category with --fcbench-category"
            yield (
                f"{suites} has no selected entry of {', '.join(named or sorted(lacking))}; "
                f"name another suite with --fcbench-suite or by path{hint}"
            )
        elif self._config.args_source is not pytest.Config.ArgsSource.ARGS and not stats.keys() - {
            "warnings"
        }:
            words = map(str, self._config.invocation_params.args)
            command = shlex.join(["pytest", "benchmarks", *words])
            yield f"no benchmark is here; write the test modules and run them: fcbench init && {command}"

    def _write_tables(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("function-calling benchmark")
        run = self._session.facts, self._session.evidence, self._outcomes
        most, is_full = self._settings.failures, self._config.option.verbose > 0
        lines = write_summary(*run, width=self._width, most=most, explain=self._explain, is_full=is_full)
        is_silenced = self._settings.annotate
        self._write_lines(terminalreporter, run_end.silence_commands(lines) if is_silenced else lines)

    def _write_blame(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Ask the entries that failed again, and write who lost their points."""
        # Imported late, because few runs ask again.
        from pytest_fcbench.run.blaming import blame_run

        try:
            for line in blame_run(self._session, self._width):
                terminalreporter.write_line(line)
        except FcbenchError as error:
            terminalreporter.write_line(f"who lost the points was not found: {error}", red=True)

    def _write_end(self, terminalreporter: pytest.TerminalReporter) -> None:
        settings, facts, evidence = self._settings, self._session.facts, self._session.evidence
        if settings.step_summary:
            path, explain = settings.step_summary, self._explain_failure
            if trouble := run_end.append_summary(path, facts, evidence, self._outcomes, explain):
                terminalreporter.write_line(trouble, red=True)
        terminalreporter.write_line("")
        if self._saved:
            terminalreporter.write_line(f"report saved to: {self._saved}")
        for trouble in self._list_troubles():
            terminalreporter.write_line(trouble, red=True)
        lines = run_end.write_end(
            facts,
            evidence,
            self._outcomes,
            width=self._width,
            annotate=settings.annotate,
            explain=self._explain,
            # A part of the entries says nothing about a rank.
            rivals=() if self._selected_by or self._interrupted else self._benchmark.context.rivals,
            rerun=self._spell_rerun(),
            blame=self._spell_blame(),
            is_full=self._config.option.verbose > 0,
        )
        self._write_lines(terminalreporter, lines)

    def _list_troubles(self) -> Iterator[str]:
        """List what could not be written, with the ways out."""
        if self._unsaved:
            yield (
                f"the scorecard was not saved: {self._unsaved}; free some space or name another file with "
                "--fcbench-scorecard, and run again: stored answers are reused"
            )
        if self._unkept:
            yield f"the run was not kept: {self._unkept}; name another folder with --fcbench-runs, or none"
        if self._lacks_report:
            yield (
                "no scorecard was written, because -p no:pytest_jsonreport switches off the plugin that "
                "writes it; run again without the option: stored answers are reused"
            )

    def _spell_rerun(self) -> str:
        """Spell the command that runs again what failed in this run; nothing where pytest keeps no failures.

        pytest knows a test as failed until it passes, whichever run and model that was; in the entries that
        the same words select, --lf finds what failed last.
        """
        if not self._config.pluginmanager.has_plugin("cacheprovider"):
            return ""
        words = map(str, self._config.invocation_params.args)
        words_again = (word for word in words if word not in _ONCE)
        return self._benchmark.spell_words(["pytest", "--lf", *words_again])

    def _spell_blame(self) -> str:
        """Spell the command that says who lost the points; nothing where only a model can have."""
        if self._settings.blame or self._benchmark.context.model.immediate:
            return ""
        address = self._config.option.fcbench_api_base
        words = ["fcbench", "blame", "--limit=6", *([f"--api-base={address}"] if address else [])]
        return self._benchmark.spell_words(words)

    def _write_lines(self, terminalreporter: pytest.TerminalReporter, lines: Iterator[OutputLine]) -> None:
        here, project = self._config.invocation_params.dir.resolve(), self._settings.project.resolve()
        # Commands look for their project from the working folder upwards, where this run may have none.
        outside = not here.is_relative_to(project)
        way = f"cd {shlex.quote(os.path.relpath(project, here))} && " if outside else ""
        for line in lines:
            text = _COMMAND.sub(lambda command: f"{way}{command[0]}", line.text)
            terminalreporter.write_line(text, red=line.wrong, green=line.good, bold=line.strong)

    @property
    def _explain(self) -> Explain | None:
        """What explains a failure; None in a run that was cut short."""
        return None if self._interrupted else self._explain_failure

    def _explain_failure(self, record: Record) -> Iterator[OutputLine]:
        whole = self._session.records.read_record(record.item_id)
        return self._benchmark.explain_failure(whole, width=self._width)

    @property
    def _width(self) -> int:
        """The columns of the terminal."""
        return int(self._config.get_terminal_writer().fullwidth)

    def pytest_unconfigure(self) -> None:
        """Release the terminal."""
        if self._screen:
            self._screen.close()
