"""The hooks that turn entries into items, put them to the model and collect Records."""

from __future__ import annotations

import inspect
import shlex
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import cache
from itertools import compress, dropwhile
from operator import not_
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple, Protocol

import pytest

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.dispatch.worker_link import Link
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry, Stratum
from pytest_fcbench.domain.errors import LACKING, FcbenchError, NotScoredError, RunStoppedError, UsageError
from pytest_fcbench.domain.garbage_collection import CollectorSwitch
from pytest_fcbench.domain.redaction import mask_secrets
from pytest_fcbench.domain.text import escape_controls, put_on_one_line, read_json_text
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import OWN_ASSERTION, SKIPPED, Failed, Judgement, NotScored, Passed
from pytest_fcbench.plugin.entry_arguments import check_mark_names
from pytest_fcbench.plugin.project import list_failed_entries
from pytest_fcbench.present.explanations import OutputLine, render_explanation
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.selection import draw_keys
from pytest_fcbench.run.session import Session
from pytest_fcbench.run.two_models import DECIDED, ComparingSession, may_stop_early, order_by_lot
from pytest_fcbench.scorecard.record import Record, from_json, write_record
from pytest_fcbench.suites.registry import OURS

ENTRY = pytest.StashKey[Entry]()
TRANSCRIPT = pytest.StashKey[Transcript]()
RECORD = pytest.StashKey[Record]()
OWN = pytest.StashKey[bool]()
"""True for a test that judges the answer by assertions of its own."""
_RESULTS: tuple[pytest.StashKey[Any], ...] = (TRANSCRIPT, RECORD, OWN)
_OF_VERDICT = frozenset(("config", "forced", "judge", "mcp", "profile", "responses", "search", "trials"))
"""Options beside those of the model without which an entry is another one, or is judged otherwise."""
_WORST_FIRST = ("failed", "not_scored", "passed")


class _TimeLimit(NamedTuple):
    """The time that pytest-timeout gives a test."""

    seconds: float
    waits_until: float
    """When the test stops waiting for an answer: shortly before pytest-timeout ends it, or its process."""


class _TimeoutSettings(Protocol):
    """The settings of pytest-timeout for a test."""

    @property
    def timeout(self) -> float: ...


_TIME_LIMIT = pytest.StashKey[_TimeLimit]()


def mask_report(report: pytest.TestReport, secrets: Sequence[str]) -> None:
    """Mask secrets in the traceback of a report, which then has no colours, and in what was captured."""
    text = str(report.longrepr)
    if (masked_text := mask_secrets(text, secrets)) != text:
        report.longrepr = masked_text
    report.sections = [(title, mask_secrets(content, secrets)) for title, content in report.sections]


BENCHMARK = pytest.StashKey["Benchmark"]()

STOPPED = "fcbench-cannot-run"
"""Id of the item that stands in for all entries if a model, a suite or an entry is wrong."""


class Benchmark:
    """The run in this process: the only one, the controller of xdist or one of its workers."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        self.context = RunContext(settings)
        worker = getattr(config, "workerinput", {})
        link = Link.connect(worker["fcbench_link"]) if "fcbench_link" in worker else None
        self.session = (
            ComparingSession(self.context, link, is_biased=bool(list_failed_entries(config)))
            if settings.against or settings.noise
            else Session(self.context, link)
        )
        self.share = 1 / worker["workercount"] if worker and not link else 1.0
        """This process's part of the limits."""
        self.item_ids: dict[str, str] = {}
        """Item ids of the Records collected so far, by node id."""
        self._judging_tests: dict[str, str] = {}
        """The node id of the test whose Record stands for an entry, by item id."""
        self.foreign_failures = 0
        self.lacking: set[str] = set()
        """The categories of which a test asks for entries and none is selected."""
        self.plan_lines: list[str] = []
        """The plan of ``--fcbench-plan``, to be printed at the end."""
        self.find_refusal: Callable[[], str | None] = lambda: None
        """Returns why the run is not worth its answers, before any is asked for."""
        self._error: Exception | None = None
        # pytest's default, which is not declared with -p no:terminal.
        vars(config.option).setdefault("tbstyle", "auto")
        self.collector = CollectorSwitch()
        # Before pytest adds its own, which looks for garbage once more while all objects are still there.
        config.add_cleanup(self.collector.restore)
        if settings.plan:
            # Workers have nothing to do.
            config.option.dist, config.option.tx = "no", []
        for mark in (*settings.suites, *CATEGORIES, *SELECTIONS, *Stratum):
            config.addinivalue_line("markers", f"{mark}: entries of {mark} (fcbench)")

    # Collection

    # First, because pytest itself would make an item of the function.
    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, name: str, obj: object) -> list[pytest.Item] | None:
        """Make no item of a test of a category without entries: pytest would count a placeholder for it."""
        # Whatever a module holds comes here; some objects, such as unittest.mock.call, have any attribute.
        marks = getattr(obj, "pytestmark", ()) if inspect.isroutine(obj) or inspect.isclass(obj) else ()
        marks = marks if isinstance(marks, Iterable) else [marks]
        category = next((mark.args[0] for mark in marks if mark.name == "fcbench" and mark.args), None)
        if category is None or not self.prepare() or self.context.selection.entries(category):
            return None
        self.lacking.add(category)
        if any(argument.rpartition("::")[2] == name for argument in self.config.args):
            # pytest would say that there is no such test.
            text = f"{name}: no entry of {category} is selected; add --fcbench-category={category}"
            self._error = self._error or UsageError(text)
            return None
        return []

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make an item of each entry of the category that the test function is marked with."""
        marker = metafunc.definition.get_closest_marker("fcbench")
        if marker is None:
            return
        if len(marker.args) != 1:
            fault = f"{metafunc.definition.name}: its mark fcbench needs one category"
            raise pytest.Collector.CollectError(f"{fault}; write e.g. @pytest.mark.fcbench('parallel')")
        if not self.prepare():
            metafunc.parametrize("entry", [pytest.param(None, id=STOPPED)])
            return
        entries = self.context.selection.entries(marker.args[0])
        parameters = [pytest.param(each, id=each.item_id, marks=_find_marks(each)) for each in entries]
        metafunc.parametrize("entry", parameters)

    def prepare(self) -> bool:
        """Prepare the run; return False on an error, which is raised at the end of collection."""
        self.collector.calm()
        try:
            self._prepare_session()
        except FcbenchError as error:
            self._error = self._error or error
        return self._error is None

    # Around pytest's own, which deselects by -m and -k: marks are checked before, a limit counts the rest.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> Generator[None]:
        """Stop if the run is not possible; attach the entries and keep those within the limit."""
        if self._error is None or not self.is_worker:
            self._attach_entries(session, items)
        yield
        self._apply_limit(items)
        if may_stop_early(self.context.settings):
            # What was asked so far has to be a fair sample of all.
            lots = order_by_lot(item.stash[ENTRY] for item in items if ENTRY in item.stash)
            items.sort(key=lambda item: lots[item.stash[ENTRY].item_id] if ENTRY in item.stash else b"")

    def _apply_limit(self, items: list[pytest.Item]) -> None:
        """Deselect the entries beyond ``--fcbench-limit`` or ``--fcbench-sample``."""
        settings = self.context.settings
        if not (settings.limit or settings.sample):
            return
        drawn_keys = draw_keys((item.stash[ENTRY] for item in items if ENTRY in item.stash), settings)
        is_beyond = [ENTRY in item.stash and item.stash[ENTRY].key not in drawn_keys for item in items]
        self.config.hook.pytest_deselected(items=list(compress(items, is_beyond)))
        items[:] = compress(items, map(not_, is_beyond))

    def _attach_entries(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Attach the entries, without empty categories. Raises ``UsageError``."""
        if self._error is not None:
            raise pytest.UsageError(escape_controls(str(self._error)))
        # A module that could not be collected may hold the tests with the mark.
        if self.config.option.markexpr and not self.is_worker and not session.testsfailed:
            check_mark_names(self.config.option.markexpr, self.config, items)
        kept_items: list[pytest.Item] = []
        for item in items:
            if item.get_closest_marker("fcbench"):
                entry = getattr(item, "callspec").params.get("entry")  # noqa: B009 - only parametrized items
                # pytest's placeholder of an empty category.
                if not hasattr(entry, "key"):
                    continue
                item.stash[ENTRY] = entry
            kept_items.append(item)
        items[:] = kept_items

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Start conversations ahead of the bodies, or plan them; a worker of xdist does neither."""
        entries = [item.stash[ENTRY] for item in session.items if ENTRY in item.stash]
        if len(entries) < len(session.items):
            # Tests of another kind may leave garbage that is worth collecting.
            self.collector.restore()
        if not entries or self.is_worker or self.config.option.collectonly:
            return None
        if session.testsfailed and not self.config.option.continue_on_collection_errors:
            # pytest runs no test where a file could not be collected.
            return None
        if self.context.settings.plan:
            self.plan_lines = list(self.session.plan(entries))
            return True
        self.start_asking(entries)
        return None

    def prepare_or_stop(self) -> None:
        """Prepare the run, or end the session if it is not possible."""
        with raise_usage_errors():
            self._prepare_session()

    def _prepare_session(self) -> None:
        if not (self.is_worker or self.config.option.collectonly or self.context.settings.plan):
            self.session.require_key()
        self.session.prepare(self.share)

    def start_asking(self, entries: list[Entry]) -> None:
        """Start asking about these entries, or end the session if the first call fails."""
        if refusal := self.find_refusal():
            raise pytest.UsageError(refusal)
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        with raise_usage_errors():
            for note in self.session.list_early_notes(entries):
                if reporter is not None:
                    reporter.write_line(note)
            self.session.start(entries)

    # What the fixtures of the test bodies return

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Remember the item whose body runs."""
        self.item = item

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: _TimeoutSettings) -> None:
        """Remember the time limit of a test; pytest-timeout sets its timer all the same."""
        margin_s = min(1.0, settings.timeout / 10)
        item.stash[_TIME_LIMIT] = _TimeLimit(settings.timeout, time.monotonic() + settings.timeout - margin_s)

    def ask_model(self, entry: Entry) -> Transcript:
        """Put an entry to the model, for the item that runs. Raises ``NotScoredError``."""
        limit = self.item.stash.get(_TIME_LIMIT, None)
        within_s = max(0.0, limit.waits_until - time.monotonic()) if limit else None
        try:
            transcript = self.session.transcript(entry, within_s)
        except TimeoutError:
            if limit is None:
                raise
            reason = f"no answer within the {limit.seconds:g} s that pytest-timeout gives the test"
            raise NotScoredError("timeout", reason) from None
        except RunStoppedError as error:
            self.item.session.shouldstop = error.reason
            raise
        except NotScoredError as error:
            if error.cause == DECIDED:
                pytest.skip(error.reason)
            if error.cause in SKIPPED:
                # The entry is not for this run, so that no model is asked.
                unscored = NotScored(error.cause, error.reason)
                self.record_judgement(Judgement(unscored, unscored))
            if error.__cause__ is None:
                # The reason says it all; the frames of the call hold headers and keys, which a traceback with
                # the values of variables would show.
                raise error.with_traceback(None) from None
            raise
        self.item.stash[TRANSCRIPT] = transcript
        return transcript

    def record_judgement(self, judgement: Judgement) -> Passed | Failed:
        """Record a judgement of the item that runs. Raises ``NotScoredError``, or skips it."""
        stash = self.item.stash
        transcript = stash.get(TRANSCRIPT, None)
        stash[RECORD] = self.session.record(stash[ENTRY], judgement, transcript, _find_own_marks(self.item))
        verdict = judgement.select_profile(self.context.settings.profile)
        if isinstance(verdict, NotScored):
            if verdict.cause in SKIPPED:
                pytest.skip(f"{verdict.cause.replace('_', ' ')}: {verdict.reason}")
            raise NotScoredError(verdict.cause, verdict.reason)
        return verdict

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Hold a test that has assertions of its own to what its entry checks and forbids."""
        result = yield
        transcript = item.stash.get(TRANSCRIPT, None)
        if transcript is not None and RECORD not in item.stash:
            item.stash[OWN] = True
            verdict = self.record_judgement(self.session.check(item.stash[ENTRY], transcript))
            if not verdict.passed:
                raise AssertionError(str(verdict))
        return result

    # Reports

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the Record; make an entry that was not scored an error, not a failure."""
        option, error = self.config.option, call.excinfo.value if call.excinfo else None
        style = option.tbstyle
        if ENTRY in item.stash and style == "auto":
            # Our table says why, in fewer words.
            option.tbstyle = "no"
        is_ours = ENTRY in item.stash and isinstance(error, (AssertionError, NotScoredError))
        if call.excinfo and is_ours and option.tbstyle == "no":
            # pytest takes long to filter many frames, so one is kept where none is shown.
            call.excinfo.traceback = call.excinfo.traceback[-1:]
        # An exception can be false, where its class counts something.
        message = "" if error is None else self._shorten_message(item, error)
        try:
            report = yield
        finally:
            option.tbstyle = style
        # The message in JUnit's XML and in pytest's summary.
        if message and (crash := getattr(report.longrepr, "reprcrash", None)):
            crash.message = message
            self._add_explanation(item, report)
        if report.failed:
            mask_report(report, self.session.secrets)
        if call.when == "teardown":
            # Reports carry them, and a rerun starts from nothing.
            for key in _RESULTS:
                if key in item.stash:
                    del item.stash[key]
        elif ENTRY in item.stash and (call.when == "call" or error is not None):
            self._record_own_assertion(item, error)
            is_judged = error is not None and (
                isinstance(error, pytest.skip.Exception) or _is_refusal(item, error)
            )
            if error is not None and not (RECORD in item.stash and is_judged):
                self._record_not_scored(item, error)
                # pytest counts a failure in setup as an error, and this is no wrong answer.
                report.when = "setup" if report.failed else report.when
            if RECORD in item.stash:
                record = item.stash[RECORD]
                # Text passes through xdist's channel, which takes no object of ours.
                report.__dict__["fcbench"] = write_record(record) if self.is_worker else record
                report.__dict__["fcbench_own"] = item.stash.get(OWN, False)
        return report

    def explain_failure(self, record: Record, width: int = 100) -> Iterator[OutputLine]:
        """Explain why an entry failed."""
        explanation, rerun = self.session.explain_failure(record), self._spell_rerun(record.item_id)
        profile = self.context.settings.profile
        return render_explanation(record, profile, explanation, rerun=rerun, width=width)

    def _spell_rerun(self, item_id: str) -> str:
        """Spell the words with which pytest asks an entry again as now."""
        words = [item_id]
        for option in OPTIONS:
            value = getattr(self.config.option, option.dest)
            if value and (option.of_model or option.key in _OF_VERDICT):
                values = value if isinstance(value, list) else [value]
                words += [option.flag if option.switch else f"{option.flag}={each}" for each in values]
        return self.spell_words(words)

    def spell_words(self, words: Iterable[str]) -> str:
        """Spell words of a command, without those that hold secrets."""
        secrets = self.session.secrets
        return shlex.join(word for word in words if mask_secrets(word, secrets) == word)

    def _add_explanation(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """Add the explanation of a failure to what pytest and its plugins show of the test."""
        option = self.config.option
        # Thousands of tests may fail, and nobody sees it where neither a traceback nor a file is asked for.
        is_hidden = option.tbstyle in ("auto", "no") and not getattr(option, "xmlpath", None)
        if is_hidden or RECORD not in item.stash:
            return
        record = item.stash[RECORD]
        add_section = getattr(report.longrepr, "addsection", None)
        if add_section and isinstance(record.verdict(self.context.settings.profile), Failed):
            add_section("explanation", "\n".join(line.text for line in self.explain_failure(record)))

    def _shorten_message(self, item: pytest.Item, error: BaseException) -> str:
        """Make an error about an entry say why, and nothing else; return its text, or "" for other errors."""
        if isinstance(error, NotScoredError):
            message = str(NotScored(error.cause, error.reason))
        elif isinstance(error, AssertionError) and RECORD in item.stash:
            message = str(item.stash[RECORD].verdicts.select_profile(self.context.settings.profile))
            # What pytest adds to a failed assertion repeats the verdict; the user's own assertions stay.
            if str(error).partition("\nassert ")[0] != message:
                return ""
        else:
            return ""
        error.args = (message,)
        return message

    def _record_own_assertion(self, item: pytest.Item, error: BaseException | None) -> None:
        """Record the verdict of a test that asserts something of its own on the answer."""
        if TRANSCRIPT not in item.stash or not (error is None or _is_refusal(item, error)):
            return
        record = item.stash.get(RECORD, None)
        if error is None:
            verdict: Passed | Failed = Passed()
        else:
            # pytest adds where each value comes from, which takes more room than the assertion.
            message = str(error).partition("\n +  where ")[0]
            message = f"{type(error).__name__}: {message}" if isinstance(error, LACKING) else message
            frames = walk_tb(error.__traceback__)
            lines = [line for frame, line in frames if Path(frame.f_code.co_filename) == item.path]
            place = f"{item.location[0]}:{lines[-1]}" if lines else item.location[0]
            reason = put_on_one_line(mask_secrets(f"{place}: {message}", self.session.secrets))
            verdict = Failed(OWN_ASSERTION, reason, {"place": place})
        if record is None or (
            error is not None and record.verdict(self.context.settings.profile) == Passed()
        ):
            item.stash[OWN] = True
            self.record_judgement(Judgement.same_in_both(verdict))

    def _record_not_scored(self, item: pytest.Item, error: BaseException) -> None:
        if RECORD in item.stash or isinstance(error, pytest.skip.Exception):
            return
        if isinstance(error, NotScoredError):
            cause, reason = error.cause, error.reason
        elif (limit := item.stash.get(_TIME_LIMIT, None)) and time.monotonic() >= limit.waits_until:
            cause, reason = "timeout", str(error)
        else:
            message = mask_secrets(str(error), self.session.secrets)
            cause, reason = "internal_error", f"{type(error).__name__}: {message}"
        transcript, why = item.stash.get(TRANSCRIPT, None), NotScored(cause, reason)
        marks = _find_own_marks(item)
        item.stash[RECORD] = self.session.not_scored(item.stash[ENTRY], why, transcript, marks)

    # First, because pytest and its plugins count outcomes in the same hook.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the Records of this process and of workers; skip a test whose Record comes too late."""
        if self.is_worker:
            return
        attachment = getattr(report, "fcbench", None)
        if attachment is not None:
            text = attachment if isinstance(attachment, str) else None
            record = from_json(read_json_text(text)) if text else attachment
            is_own = getattr(report, "fcbench_own", False)
            if dropped := self._add_record(report.nodeid, record, text, is_own=is_own):
                report.outcome, report.longrepr = "skipped", (report.location[0], 0, f"Skipped: {dropped}")
            # pytest keeps all reports to the end.
            report.__dict__["fcbench"] = True
            self.item_ids[report.nodeid] = record.item_id
        elif report.failed and (report.nodeid not in self.item_ids or report.when == "teardown"):
            entry = None
            # xdist reports no phase for the entry during which a worker died.
            if report.when not in ("setup", "call", "teardown"):
                self.prepare_or_stop()
                entry = self.context.selection.find(parse_item_id(report.nodeid))
            if entry is None:
                self.foreign_failures += 1
            else:
                self.item_ids[report.nodeid] = entry.item_id
                reason = str(report.longrepr or "pytest reported no result of the test")
                record = self.session.not_scored(entry, NotScored("worker_crashed", reason))
                self._add_record(report.nodeid, record)

    def _add_record(
        self, nodeid: str, record: Record, text: str | None = None, *, is_own: bool = False
    ) -> str | None:
        """Add the Record of a test, unless another test of the same entry ended as badly or worse.

        Return the reason where it comes too late to count.
        """
        known, profile = self.session.records.get(record.item_id), self.context.settings.profile
        if known and self._judging_tests.get(record.item_id) != nodeid:
            before, after = (_WORST_FIRST.index(each.verdict(profile).status) for each in (known, record))
            if before <= after:
                return None
        self._judging_tests[record.item_id] = nodeid
        return self.session.add_record(record, text, is_own=is_own)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Drop the answers to an entry when its test has ended, reruns included."""
        self.session.drop_conversation(parse_item_id(nodeid))

    # End of the session

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Stop asking."""
        self.session.stop()

    def pytest_unconfigure(self) -> None:
        """Close everything that the run opened."""
        self.session.close()
        # pytest looks twice for garbage that complains, among all items and reports.
        self.collector.skip_objects()


def _is_refusal(item: pytest.Item, error: BaseException) -> bool:
    """Tell whether a test refused the answer, by an assertion or pytest.fail; pytest-timeout fails it too."""
    limit = item.stash.get(_TIME_LIMIT, None)
    is_late = limit is not None and time.monotonic() >= limit.waits_until
    if isinstance(error, LACKING):
        frames = [frame for frame, _ in walk_tb(error.__traceback__)]
        deeper = list(dropwhile(lambda frame: Path(frame.f_code.co_filename) != item.path, frames))
        packages = {str(frame.f_globals.get("__name__")).partition(".")[0] for frame in deeper}
        # What our own code raises below the test is a fault of ours.
        return bool(deeper) and "pytest_fcbench" not in packages
    return isinstance(error, AssertionError) or (isinstance(error, pytest.fail.Exception) and not is_late)


@contextmanager
def raise_usage_errors() -> Iterator[None]:
    """Turn our errors into pytest's own, which end the session without a traceback."""
    try:
        yield
    except FcbenchError as error:
        raise pytest.UsageError(escape_controls(str(error))) from None


def parse_item_id(nodeid: str) -> str:
    """Return ``suite:id`` of ``path::test[suite:id]``, without a group of xdist; empty for other tests."""
    _, bracket, rest = nodeid.rpartition("[")
    return rest.partition("]")[0] if bracket else ""


def attach_entry(item: pytest.Item, entry: Entry) -> None:
    """Attach an entry and its marks to an item that is not a test function."""
    item.stash[ENTRY] = entry
    for mark in _find_marks(entry):
        item.add_marker(mark)


def _find_marks(entry: Entry) -> Sequence[pytest.MarkDecorator]:
    """Return the marks for the suite, the category, the groups and the stratum of an entry."""
    category = entry.category.name
    groups = [name for name, members in SELECTIONS.items() if category in members]
    # As plain text, because xdist sends the names of marks, and can send no enum.
    strata = [entry.stratum.value] if entry.stratum else []
    return [_make_mark(name) for name in (entry.suite, category, *groups, *strata)]


@cache  # pytest makes a new one each time, and thousands of entries have the same
def _make_mark(name: str) -> pytest.MarkDecorator:
    mark: pytest.MarkDecorator = getattr(pytest.mark, name)
    return mark


_KNOWN_MARKS: Set[str] = {
    *("fcbench", "fcbench_trials", "parametrize", "usefixtures", "filterwarnings", "skip", "skipif"),
    *("xfail", "xdist_group", *OURS, *CATEGORIES, *SELECTIONS, *Stratum),
}


def _find_own_marks(item: pytest.Item) -> tuple[str, ...]:
    """Return the marks that are neither pytest's nor follow from the entry."""
    names = {mark.name for mark in item.iter_markers()} - _KNOWN_MARKS
    return tuple(sorted(names - {item.stash[ENTRY].suite}))
