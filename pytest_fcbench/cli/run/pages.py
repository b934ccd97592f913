"""``fcbench run report``: render one scorecard or several as an HTML page.
``fcbench run view``: show the runs of a project in the browser, and follow one that is going on.
A report written to a file: scorecards read test by test, and what their suites know of their entries.
The pages of ``fcbench run view``: the list of runs, reports about one or several, runs that are going on."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from pytest_fcbench.cli.options import (
    SCORECARD_OR_LATEST,
    declare_run_options,
    describe_unknown_suite,
    find_latest_scorecard,
    find_openers,
    find_runs_folder,
    find_scorecard,
    load_settings,
)
from pytest_fcbench.cli.output import declare_output, print_lines, require_other_file
from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.domain.entry import Entry, Shard
from pytest_fcbench.domain.errors import (
    FcbenchError,
    PackError,
    SuiteError,
    UsageError,
    describe_unknown_name,
)
from pytest_fcbench.domain.explanation import Explanation
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, drive_conversation
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse, find_kind
from pytest_fcbench.present.charts.drawing import MOST_SERIES
from pytest_fcbench.present.html.board_page import KeptRun, render_runs
from pytest_fcbench.present.html.island import Done, Found, SuiteInfo
from pytest_fcbench.present.html.page import generate_report
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.explaining import explain_record
from pytest_fcbench.run.history import Run, find_run_before, list_runs
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.progress_file import list_running
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.record import Record, read_answer
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.server.pages import JSON, ServedPage

# from commands/report


def declare_report(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``report``."""
    add = parser.add_argument
    add(
        "scorecard",
        nargs="*",
        type=find_scorecard,
        metavar="SCORECARD",
        help=f"{SCORECARD_OR_LATEST}; up to {MOST_SERIES}",
    )
    declare_output(parser, "FILE", "file to write (default: report.html)", default=Path("report.html"))
    add(
        "--against",
        type=find_scorecard,
        metavar="SCORECARD",
        help="run or baseline that a single run is compared with (default: the run of the same model and "
        "suites that was kept before it)",
    )
    add(
        "--profile",
        choices=[*Profile],
        help="whose verdicts charts show (default: the profile of the first run)",
    )
    declare_run_options(parser, ("config",))


def run_report(arguments: argparse.Namespace) -> int:
    paths: Sequence[Path] = arguments.scorecard or [find_latest_scorecard()]
    if len(paths) > MOST_SERIES:
        raise UsageError(
            f"{len(paths)} scorecards: a report shows at most {MOST_SERIES} side by side; give fewer"
        )
    # Imported late: it brings the suites and what executes their calls.
    from pytest_fcbench.cli.run.pages import write_report

    against: Path | None = arguments.against
    if against is None and len(paths) == 1 and (folder := find_runs_folder()):
        against = find_run_before(paths[0], folder)
    require_other_file(arguments.to, [*paths, *([against] if against else [])])
    page = write_report(arguments.to, paths, arguments, against, arguments.profile)
    print_lines(f"note: {note}" for note in page.notes)
    entries = f"{page.entries:,} entr{'y' if page.entries == 1 else 'ies'}"
    cards = f"{len(paths)} scorecard{'s' * (len(paths) != 1)}"
    print(f"{arguments.to}: {cards}, {entries}, {page.size / 1e6:.1f} MB")
    return 0


# from commands/view


_PORT = 8070


def declare_view(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``view``."""
    add = parser.add_argument
    add(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="folder of scorecards (default: the one in which the project keeps its runs)",
    )
    add(
        "--port",
        type=int,
        default=_PORT,
        help=f"port of 127.0.0.1; 0 picks a free one (default: {_PORT})",
    )
    declare_run_options(parser, ("config",))


def run_view(arguments: argparse.Namespace) -> int:
    folder = arguments.folder or find_runs_folder()
    if folder is None:
        raise UsageError("no runs are kept; name a folder with 'runs' in fcbench.yaml, or give one")
    if arguments.folder and not folder.is_dir():
        raise UsageError(f"{folder}: not a folder; give one that holds scorecards")

    # Imported late: they bring the suites and what executes their calls.
    from pytest_fcbench.cli.run.pages import RunPages
    from pytest_fcbench.server.pages import PageServer

    with tempfile.TemporaryDirectory(prefix="fcbench-") as report_folder:
        try:
            server = PageServer(arguments.port, RunPages(folder, Path(report_folder), arguments).find_page)
        except (OSError, OverflowError) as error:
            raise FcbenchError(
                f"--port={arguments.port}: {error}; give another port, or 0 for any free one"
            ) from None
        with server:
            print(f"runs of {folder} at {server.address}\nend it with Ctrl-C", flush=True)
            with suppress(KeyboardInterrupt):
                server.serve_forever()
    return 0


# from report_page


@dataclass(frozen=True, slots=True)
class Written:
    """A report that was written."""

    entries: int
    size: int
    """Size of the file in bytes."""
    notes: Sequence[str]
    """Notes on what the report lacks, with reasons."""


def write_report(
    to: Path, paths: Sequence[Path], arguments: argparse.Namespace, against: Path | None, profile: str | None
) -> Written:
    """Write the report about scorecards; a single one is compared with ``against``.

    Raises ``UsageError`` for a scorecard that cannot be read.
    """
    size = 0

    def count_bytes(pieces: Iterator[str]) -> Iterator[str]:
        nonlocal size
        for piece in pieces:
            size += len(piece.encode())
            yield piece

    with ExitStack() as stack:
        cards = [scorecard_files.open_scorecard(path, stack) for path in paths]
        page_profile = Profile(profile or cards[0].facts.profile)
        knowledge = _SuiteKnowledge(cards, arguments, page_profile)
        before = None if against is None else scorecard_files.load_outlines(against)
        write_file(to, count_bytes(generate_report(cards, knowledge, page_profile, before)))
    return Written(len({record.entry for card in cards for record in card.records}), size, knowledge.notes)


class _SuiteKnowledge:
    """The entries of scorecards in their suites, and the results of their calls.

    The entries of one category of one suite are held at a time, which is the order of the Records.
    """

    def __init__(self, cards: Sequence[Scorecard], chosen: argparse.Namespace, profile: Profile) -> None:
        # Both profiles, that of the page first.
        self._profiles = sorted(Profile, key=lambda each: each is not profile)
        self.notes: list[str] = []
        self._contexts: dict[str, RunContext] = {}
        self._part: tuple[str, str] | None = None
        """The suite and the category of ``_entries``."""
        self._entries: Mapping[str, Entry] = {}
        openers = find_openers(chosen)
        for name in dict.fromkeys(record.suite for card in cards for record in card.records):
            if name not in openers:
                self._add_missing(name, describe_unknown_suite(name, openers))
                continue
            context = RunContext(load_settings(chosen, name))
            try:
                suite = context.suites[name]
            except (SuiteError, PackError) as error:
                self._add_missing(name, error)
                continue
            self._contexts[name] = context
            for card in cards:
                run = card.facts.suites.get(name)
                if run and run["pack_hash"] != suite.pack_sha256:
                    self.notes.append(
                        f"{card.path.name}: its run had {name} {run['version']} with content sha256 "
                        f"{str(run['pack_hash'])[:12]}; what its entries ask and expect is shown from "
                        f"{suite.version}, {str(suite.pack_sha256)[:12]}, and may differ"
                    )

    def _add_missing(self, suite: str, reason: object) -> None:
        self.notes.append(f"the questions of {suite} are not shown: {reason}")

    def describe_entry(self, key: str, records: Found) -> SuiteInfo:
        """Return what is known about an entry and its whole Records."""
        record = records[0][1]
        if self._part != (record.suite, record.category):
            self._part = record.suite, record.category
            self._entries = self._load_part(*self._part)
        entry = self._entries.get(key)
        if entry is None:
            return SuiteInfo()
        executions: dict[tuple[int, str], Done] = {}
        explanations: dict[tuple[int, str], tuple[Profile, Explanation]] = {}
        for place, record in records:
            if execution := _repeat_calls(entry, record, self._contexts[record.suite]):
                executions[place, record.item_id] = execution
            for profile in self._profiles:
                if explanation := explain_record(entry, record, profile):
                    explanations[place, record.item_id] = profile, explanation
                    break
        truths = {key: find_kind(entry).describe_truth(entry)}
        return SuiteInfo({key: entry}, executions, explanations=explanations, truths=truths)

    def _load_part(self, name: str, category: str) -> Mapping[str, Entry]:
        """Load the entries of a category by key; none where that is not possible."""
        self._entries = {}
        if name not in self._contexts:
            return {}
        suite = self._contexts[name].suites[name]
        matching_categories = (each for each in suite.categories if each.name == category)
        try:
            # A shard is not kept by its suite, as all that is loaded otherwise.
            parts = (
                suite.load_shard(each, _WHOLE) if suite.load_shard else suite.load(each)
                for each in matching_categories
            )
            return {entry.key: entry for part in parts for entry in part}
        except (SuiteError, PackError) as error:
            self._add_missing(name, error)
            del self._contexts[name]
            return {}


_WHOLE = Shard(1, 1)


class _AnotherWay(Exception):  # noqa: N818 - it ends a conversation, and is no error
    """A replayed conversation asks something that its Record does not answer."""


def _repeat_calls(entry: Entry, record: Record, context: RunContext) -> Done | None:
    """Execute the calls of a recorded conversation again and return them with their results.

    None if it has no calls to execute, if the conversation takes another course today, or if it depends on an
    earlier conversation, which a scorecard does not hold.
    """
    if entry.scene is None or entry.after or not record.turns or record.syntax not in SYNTAXES:
        return None
    manner = ModelPresentation(record.model, Prompting(Mode(record.mode), Names(record.names), record.syntax))
    talk = converse(entry, ConversationContext(manner, context.suites[entry.suite], context.driven))
    asides = {aside.digest: aside.completion for aside in record.asides}
    completions = deque(read_answer(step) for turn in record.turns for step in turn)

    def answer(request: AskModel) -> Completion:
        if request.party is Party.MODEL and completions:
            return completions.popleft()
        if request.party is Party.MODEL or request.digest not in asides:
            raise _AnotherWay
        return asides[request.digest]

    try:
        transcript = drive_conversation(talk, answer)
    except _AnotherWay:
        return None
    # With other steps than recorded, results would stand beside the wrong calls.
    if list(map(len, transcript.turns)) != list(map(len, record.turns)):
        return None
    return [[list(zip(step.calls, step.results, strict=True)) for step in turn] for turn in transcript.turns]


# from run_pages


_RUN = "/run/"


class RunPages:
    """Finds the page of each address; a report is written into a folder when it is asked for first."""

    def __init__(self, folder: Path, rendered: Path, chosen: argparse.Namespace) -> None:
        self._folder = folder
        self._rendered = rendered
        self._chosen = chosen
        self._reports: dict[tuple[Path, ...], Path] = {}
        # Reports are written one after the other, because suites are read while they are.
        self._writing = Lock()

    def find_page(self, path: str, query: Mapping[str, Sequence[str]]) -> ServedPage | None:
        """Return the page of an address, None where there is none. Raises ``FcbenchError``."""
        if path == "/":
            return ServedPage(
                render_runs([_describe_run(run) for run in list_runs(self._folder)], str(self._folder))
            )
        # Asked for by the list again and again; the page itself is not loaded anew.
        if path == "/running.json":
            return ServedPage(json.dumps([asdict(running) for running in list_running(self._folder)]), JSON)
        if path == "/compare":
            return ServedPage(self._write_report(self._find_runs(query.get("run", ()))))
        if path.startswith(_RUN):
            return ServedPage(self._write_report(self._find_runs([path.removeprefix(_RUN)])))
        return None

    def _find_runs(self, names: Sequence[str]) -> Sequence[Path]:
        """Find runs by name, the oldest first. Raises ``UsageError``."""
        if not 1 <= len(names) <= MOST_SERIES:
            raise UsageError(f"{len(names)} runs: choose 1 to {MOST_SERIES}")
        # By the names that there are, so that no other file can be asked for.
        paths_by_name = {run.name: run.path for run in reversed(list_runs(self._folder))}
        if unknown := [name for name in names if name not in paths_by_name]:
            raise UsageError(describe_unknown_name("run", unknown[0], paths_by_name))
        return [path for name, path in paths_by_name.items() if name in names]

    def _write_report(self, paths: Sequence[Path]) -> Path:
        """Return the report about runs, which do not change once they are kept."""
        key = tuple(paths)
        with self._writing:
            if key not in self._reports:
                to = self._rendered / f"{len(self._reports)}.html"
                before = find_run_before(paths[0], self._folder) if len(paths) == 1 else None
                write_report(to, paths, self._chosen, before, None)
                self._reports[key] = to
            return self._reports[key]


def _describe_run(run: Run) -> KeptRun:
    limits = None if run.low is None or run.high is None else Interval(run.low, run.high, "")
    return KeptRun(
        name=run.name,
        ended=run.ended,
        model=run.model,
        suites=", ".join(run.suites),
        passed=run.passed,
        failed=run.failed,
        not_scored=run.not_scored,
        overall=run.overall,
        interval=limits,
        gate=run.gate,
        part=run.narrowed_by,
        labels=", ".join(f"{key}={value}" for key, value in run.labels.items()),
    )
