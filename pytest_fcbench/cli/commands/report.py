"""``fcbench report``: render one scorecard or several as an HTML page."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.output import print_lines, require_other_file
from pytest_fcbench.cli.replay import load_entries
from pytest_fcbench.cli.run_options import (
    declare_run_options,
    describe_unknown_suite,
    find_openers,
    load_settings,
)
from pytest_fcbench.cli.scorecard_arguments import SCORECARD_OR_LATEST, find_latest_scorecard, find_scorecard
from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.conversations.entry import converse
from pytest_fcbench.conversations.setting import Setting
from pytest_fcbench.domain import extras
from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import PackError, SuiteError, UsageError
from pytest_fcbench.domain.explanation import Explanation
from pytest_fcbench.domain.prompting import Manner, Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.explaining import explain_record
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record, read_answer
from pytest_fcbench.scorecard.render.charts.pages import MOST_SERIES
from pytest_fcbench.scorecard.render.html.island import Done, Told
from pytest_fcbench.scorecard.scorecard_files import Scorecard

HELP = "render one or several scorecards as an HTML page"
PAGE = "after-a-run"
EXAMPLES = (
    "fcbench report",
    "fcbench report previous latest -o compared.html",
)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "scorecard",
        nargs="*",
        type=find_scorecard,
        metavar="SCORECARD",
        help=f"{SCORECARD_OR_LATEST}; up to {MOST_SERIES}",
    )
    add(
        *OUTPUT,
        dest="to",
        type=Path,
        default=Path("report.html"),
        metavar="FILE",
        help="file to write (default: report.html)",
    )
    add(
        "--profile",
        choices=[*Profile],
        help="whose verdicts charts show (default: the profile of the first run)",
    )
    declare_run_options(parser, ("config",))


def run_command(chosen: argparse.Namespace) -> int:
    extras.require_extra("report", "fcbench report")
    paths: Sequence[Path] = chosen.scorecard or [find_latest_scorecard()]
    if len(paths) > MOST_SERIES:
        raise UsageError(
            f"{len(paths)} scorecards: a report shows at most {MOST_SERIES} side by side; give fewer"
        )
    require_other_file(chosen.to, paths)
    cards = [scorecard_files.load_scorecard(path) for path in paths]
    # Answers are read once before anything is rendered, so that an error names their file.
    for card in cards:
        for record in card.records:
            try:
                _read_completions(record)
            except (KeyError, TypeError, ValueError) as error:
                trouble = f"an answer of {record.item_id}: {error!r}"
                raise UsageError(
                    f"{card.path}: invalid scorecard: {trouble}; give the scorecard.json of a benchmark run"
                ) from None
    told = _gather_entries(cards, chosen)

    # Imported late because it draws charts by matplotlib, which only the extra brings.
    from pytest_fcbench.scorecard.render.html.page import render_report

    text = render_report(cards, told, Profile(chosen.profile or cards[0].facts.profile))
    write_file(chosen.to, text)
    print_lines(f"note: {note}" for note in told.notes)
    entries = len({record.entry for card in cards for record in card.records})
    of = f"{len(paths)} scorecard{'s' * (len(paths) != 1)}, {entries:,} entr{'y' if entries == 1 else 'ies'}"
    print(f"{chosen.to}: {of}, {len(text.encode()) / 1e6:.1f} MB")
    return 0


def _read_completions(record: Record) -> list[Completion]:
    return [read_answer(step) for turn in record.turns for step in turn]


def _gather_entries(cards: Sequence[Scorecard], chosen: argparse.Namespace) -> Told:
    """Gather the entries of these scorecards from their suites, and the results of their calls."""
    entries: dict[str, Entry] = {}
    done: dict[tuple[int, str], Done] = {}
    explanations: dict[tuple[int, str], tuple[Profile, Explanation]] = {}
    wanted = Profile(chosen.profile or cards[0].facts.profile)
    # Both profiles, that of the page first.
    profiles = sorted(Profile, key=lambda profile: profile is not wanted)
    notes: list[str] = []
    records = [record for card in cards for record in card.records]
    categories = {record.category for record in records}
    openers = find_openers(chosen)
    for name in dict.fromkeys(record.suite for record in records):
        if name not in openers:
            notes.append(f"the questions of {name} are not shown: {describe_unknown_suite(name, openers)}")
            continue
        context = RunContext(load_settings(chosen, name))
        try:
            suite = context.suites[name]
            known = load_entries([suite], categories)
        except (SuiteError, PackError) as error:
            notes.append(f"the questions of {name} are not shown: {error}")
            continue
        entries |= known
        for place, card in enumerate(cards):
            run = card.facts.suites.get(name)
            if run and run["pack_hash"] != suite.pack_sha256:
                notes.append(
                    f"{card.path.name}: its run had {name} {run['version']} with content sha256 "
                    f"{str(run['pack_hash'])[:12]}; what its entries ask and expect is shown from "
                    f"{suite.version}, {str(suite.pack_sha256)[:12]}, and may differ"
                )
            for record in card.records:
                entry = known.get(record.entry)
                if entry is None:
                    continue
                if returned := _repeat_calls(entry, record, context):
                    done[place, record.item_id] = returned
                for profile in profiles:
                    if explanation := explain_record(entry, record, profile):
                        explanations[place, record.item_id] = profile, explanation
                        break
    return Told(entries, done, tuple(notes), explanations)


class _AnotherWay(Exception):  # noqa: N818 - it ends a conversation, and is no error
    """A replayed conversation asks something that its Record does not answer."""


def _repeat_calls(entry: Entry, record: Record, context: RunContext) -> Done | None:
    """Execute the calls of a recorded conversation again and return them with their results.

    None if it has no calls to execute, if the conversation takes another course today, or if it depends on an
    earlier conversation, which a scorecard does not hold.
    """
    if entry.scene is None or entry.after or not record.turns or record.syntax not in SYNTAXES:
        return None
    manner = Manner(record.model, Prompting(Mode(record.mode), Names(record.names), record.syntax))
    talk = converse(entry, Setting(manner, context.suites[entry.suite], context.driven))
    asides = {aside.digest: aside.completion for aside in record.asides}
    completions = deque(_read_completions(record))

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
