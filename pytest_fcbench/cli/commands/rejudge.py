"""``fcbench rejudge``: the answers of a scorecard judged by today's rules, and what that changes.

The exit code is that of ``diff``: 0 where nothing changed, 1 where a verdict (status or code, in either
profile) or the identity of a suite did, 2 where it could not be found out. So a CI job that keeps a
scorecard sees whether a new release, a new pack or a matcher of its own moves scores that were published.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_fcbench.cli.held_conversations import entries_of, replayed
from pytest_fcbench.cli.run_options import declare
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError
from pytest_fcbench.domain.redaction import redacted
from pytest_fcbench.domain.text import printable
from pytest_fcbench.domain.verdict import Judgement, NotScored, Profile
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.aggregate.scores import Score
from pytest_fcbench.scorecard.compare.changes import NO_ENTRY, Change, Kind, changes, moved
from pytest_fcbench.scorecard.record import Record, from_json, to_json
from pytest_fcbench.scorecard.render import tables
from pytest_fcbench.scorecard.render.document import section
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.scorecard.render.wording import number
from pytest_fcbench.scorecard.scorecard_files import Scorecard, word

HELP = "judge the answers of a scorecard again; say what changed"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("scorecard", type=Path, metavar="SCORECARD", help="scorecard.json of a run")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write the scorecard with the new verdicts")
    declare(parser, ("config",))


def run_command(chosen: argparse.Namespace) -> int:
    try:
        old = scorecard_files.load(chosen.scorecard)
        session = replayed(chosen, old, old.records)
        context = session.context
        new = {record.item_id: record for record in _judged(session, old.records)}
        found = list(changes(old.records, new))
        for line in _lines(old, new, context, found):
            print(printable(line))
        if chosen.to is not None:
            write(chosen.to, json.dumps(_rewritten(old, new, context)))
            print(f"written to {chosen.to}")
        session.close()
    except FcbenchError as error:
        raise UsageError(str(error)) from None  # 1 means that something changed
    return 1 if found or any(_renewed(old, context)) else 0


def _judged(session: Session, records: Sequence[Record]) -> Iterator[Record]:
    """The Records with today's verdicts; one without an answer stays as it is."""
    suites, entries = session.context.suites, entries_of(session.context, records)
    for record in records:
        entry = entries.get(record.entry)
        if entry is None:
            reason = f"{record.suite} {suites[record.suite].version} has no entry {record.entry}"
            yield record.judged(Judgement.both(NotScored(NO_ENTRY, reason)))
        elif record.turns:
            yield record.judged(_judgement(session, replace(entry, trial=record.trial)))
        else:
            yield record


def _judgement(session: Session, entry: Entry) -> Judgement:
    """As in a run, what goes wrong with one entry leaves it without a score."""
    try:
        return session.judge(entry, session.transcript(entry))
    except NotScoredError as error:
        return Judgement.both(NotScored(error.cause, error.reason))
    except Exception as error:  # noqa: BLE001 - the others are judged all the same
        return Judgement.both(NotScored("internal_error", redacted(f"{type(error).__name__}: {error}")))


def _renewed(card: Scorecard, context: RunContext) -> Iterator[str]:
    """What is another in the suites than the scorecard says."""
    for name, suite in context.suite_versions.items():
        told = card.facts.suites.get(name, {})
        for key, what in (("version", "version"), ("pack_hash", "content sha256")):
            old, new = (str(facts.get(key))[:12] for facts in (told, suite))
            if told.get(key) != suite[key]:
                yield f"suite {name}: {what} {old} → {new}"


# What is told


def _lines(
    card: Scorecard, new: Mapping[str, Record], context: RunContext, found: Sequence[Change]
) -> Iterator[str]:
    facts = card.facts
    kept = sum(record == new[record.item_id] and not record.turns for record in card.records)
    yield f"{card.path}: {facts.model} ({facts.mode}, {facts.names} names), judged by {facts.fcbench}"
    yield f"{len(card.records) - kept} judged again by {version('pytest-fcbench')}" + (
        f"; {kept} not scored and without an answer stay as they are" if kept else ""
    )
    yield from _renewed(card, context)
    for kind in Kind:
        yield from _group(kind, [change for change in found if change.kind is kind])
    yield from _scores(card, new)
    if not found:
        yield "no verdict changed"


def _group(kind: Kind, found: Sequence[Change]) -> Iterator[str]:
    """A line for each entry and way, with the profiles it is so in."""
    ways: dict[tuple[str, str], list[str]] = {}
    for change in found:
        way = f"{word(change.old)} → {word(change.new)}"
        ways.setdefault((change.item_id, way), []).append(change.profile)
    if found:
        yield ""
        yield f"{kind} ({len({change.item_id for change in found})})"
    for (item_id, way), profiles in ways.items():
        yield f"  {item_id:<32}  {'both' if len(profiles) == len(Profile) else profiles[0]:<9}  {way}"


def _scores(card: Scorecard, new: Mapping[str, Record]) -> Iterator[str]:
    again = replace(card, records=tuple(new.values()))
    rows = [
        (name, profile.value, _cell(before), _cell(after))
        for profile in Profile
        for name, before, after in moved(card.scores(profile), again.scores(profile))
    ]
    if rows:
        yield ""
        yield from tables.text(Table("", ("scores that changed", "profile", "old", "new"), tuple(rows)))


def _cell(score: Score) -> str:
    share = number(score.accuracy, ".2%")
    return f"{score.passed} of {score.scored}  {share:>7}"


# What is written


def _rewritten(card: Scorecard, new: Mapping[str, Record], context: RunContext) -> dict[str, Any]:
    """The report with the new verdicts and scores.

    What pytest says of the run (outcomes, durations, exit code) stays, as do answers, costs and latencies.
    The outcomes of a gate spoke of the old scores, so they are not taken over.
    """
    report: dict[str, Any] = json.loads(card.path.read_text(encoding="utf-8"))
    for test in report["tests"]:
        if told := test.get("metadata", {}).get("fcbench"):
            again = to_json(new[from_json(told).item_id])
            told |= {key: again[key] for key in ("verdicts", "paths", "as_written", "rating")}
    note = f"judged again by pytest-fcbench {version('pytest-fcbench')}"
    facts = replace(
        card.facts,
        fcbench=version("pytest-fcbench"),
        suites=context.suite_versions,
        notes=tuple(dict.fromkeys((*card.facts.notes, note))),
    )
    report["fcbench"] |= section(facts, list(new.values()), context.selection.size_of, [])
    return report
