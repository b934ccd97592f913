"""``fcbench report``: one scorecard or several as a page to read and to show around."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_fcbench.cli.run_options import declare, settings_of, suites_known, unknown_suite
from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.conversations.entry import converse
from pytest_fcbench.conversations.setting import Setting
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.driving import drive
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import PackError, SuiteError, UsageError
from pytest_fcbench.domain.prompting import Manner, Mode, Names, Prompting
from pytest_fcbench.domain.text import printable
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, completion_from_json
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.render.charts.pages import MOST_SERIES
from pytest_fcbench.scorecard.render.html.island import Done, Told
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites.suite import Suite

HELP = "one scorecard or several as an HTML page"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("scorecard", nargs="+", type=Path, metavar="SCORECARD", help=f"a scorecard.json; up to {MOST_SERIES}")
    add("--to", type=Path, default=Path("report.html"), metavar="FILE", help="default: report.html")
    add("--profile", choices=[*Profile], help="whose verdicts charts follow (default: as in the first run)")
    declare(parser, ("config",))


def run_command(chosen: argparse.Namespace) -> int:
    extras.need("report", "fcbench report")
    paths: Sequence[Path] = chosen.scorecard
    if len(paths) > MOST_SERIES:
        raise UsageError(
            f"{len(paths)} scorecards: a report shows at most {MOST_SERIES} side by side; give fewer"
        )
    if chosen.to.resolve() in [path.resolve() for path in paths]:
        raise UsageError(f"--to={chosen.to}: is one of the scorecards; name another file")
    scorecards = [_loaded(path) for path in paths]
    told = _told(scorecards, chosen)

    from pytest_fcbench.scorecard.render.html.page import page

    text = page(scorecards, told, Profile(chosen.profile or scorecards[0].facts.profile))
    write(chosen.to, text)
    for note in told.notes:
        print(f"note: {printable(note)}")
    entries = len({record.entry for scorecard in scorecards for record in scorecard.records})
    of = f"{len(paths)} scorecard{'s' * (len(paths) != 1)}, {entries:,} entr{'y' if entries == 1 else 'ies'}"
    print(f"{chosen.to}: {of}, {len(text.encode()) / 1e6:.1f} MB")
    return 0


def _loaded(path: Path) -> Scorecard:
    """A scorecard whose answers can be read. Raises ``UsageError``."""
    scorecard = scorecard_files.load(path)
    try:
        for record in scorecard.records:
            _completions(record)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: a broken scorecard: an answer of {record.item_id}: {error!r}") from None
    return scorecard


def _completions(record: Record) -> list[Completion]:
    return [completion_from_json(step) for turn in record.turns for step in turn]


def _told(scorecards: Sequence[Scorecard], chosen: argparse.Namespace) -> Told:
    """What the suites tell of the entries of these scorecards."""
    entries: dict[str, Entry] = {}
    done: dict[tuple[int, str], Done] = {}
    notes: list[str] = []
    records = [record for scorecard in scorecards for record in scorecard.records]
    categories = {record.category for record in records}
    names = suites_known(chosen)
    for suite in dict.fromkeys(record.suite for record in records):
        if suite not in names:
            notes.append(f"what entries of {suite} ask is not shown: {unknown_suite(suite, names)}")
            continue
        context = RunContext(settings_of(chosen, suite))
        try:
            known = _entries(context.suites[suite], categories)
        except (SuiteError, PackError) as error:
            notes.append(f"what entries of {suite} ask is not shown: {error}")
            continue
        entries |= known
        notes += _other_versions(context.suites[suite], scorecards)
        for place, scorecard in enumerate(scorecards):
            for record in scorecard.records:
                entry = known.get(record.entry)
                if entry and (returned := _done(entry, record, context)):
                    done[place, record.item_id] = returned
    return Told(entries, done, tuple(notes))


def _entries(suite: Suite, categories: Container[str]) -> Mapping[str, Entry]:
    """The entries of some categories by key."""
    chosen = [category for category in suite.categories if category.name in categories]
    return {entry.key: entry for category in chosen for entry in suite.load(category)}


def _other_versions(suite: Suite, scorecards: Sequence[Scorecard]) -> Iterator[str]:
    """A note on each scorecard that is about other data than the suite has now."""
    for scorecard in scorecards:
        run = scorecard.facts.suites.get(suite.name)
        if run and run["pack_hash"] != suite.pack_sha256:
            yield (
                f"{scorecard.path.name}: its run had {suite.name} {run['version']} with content sha256 "
                f"{str(run['pack_hash'])[:12]}; what its entries ask and expect is shown from "
                f"{suite.version}, {str(suite.pack_sha256)[:12]}, and may be something else"
            )


class _AnotherWay(Exception):  # noqa: N818 - it ends a conversation, and is no error
    """A conversation asks something that a Record does not answer."""


def _done(entry: Entry, record: Record, context: RunContext) -> Done | None:
    """What the calls of a conversation return when they are carried out once more.

    None where nothing is carried out, where the conversation would go another way today, and where what calls
    returned depends on an earlier conversation, which a scorecard does not hold.
    """
    if entry.scene is None or entry.after or not record.turns or record.syntax not in SYNTAXES:
        return None
    manner = Manner(record.model, Prompting(Mode(record.mode), Names(record.names), record.syntax))
    talk = converse(entry, Setting(manner, context.suites[entry.suite], context.driven))
    asides = {aside.digest: aside.completion for aside in record.asides}
    completions = deque(_completions(record))

    def answer(request: AskModel) -> Completion:
        if request.party is Party.MODEL and completions:
            return completions.popleft()
        if request.party is Party.MODEL or request.digest not in asides:
            raise _AnotherWay
        return asides[request.digest]

    try:
        transcript = drive(talk, answer)
    except _AnotherWay:
        return None
    if list(map(len, transcript.turns)) != list(map(len, record.turns)):
        return None
    return [[list(zip(step.calls, step.results, strict=True)) for step in turn] for turn in transcript.turns]
