"""``fcbench run show``: list the entries of a run that did not pass, or show one of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from pytest_fcbench.cli.options import (
    describe_no_entry,
    find_openers,
    find_runs_folder,
    load_settings,
    resolve_scorecard,
)
from pytest_fcbench.cli.output import find_width, print_json, print_long_lines
from pytest_fcbench.cli.sessions import load_entries, load_replay_settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, UsageError, describe_unknown_name
from pytest_fcbench.domain.pressure import split_level
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Transcript,
    completion_to_json,
    drive_conversation,
)
from pytest_fcbench.domain.verdict import Failed, Judgement
from pytest_fcbench.kinds.forced.entries import FORCED, force_truth
from pytest_fcbench.kinds.kind import Memories
from pytest_fcbench.kinds.sql.kind import asks_statement
from pytest_fcbench.models.protocol import describe_request
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.run_verdict import write_verdict
from pytest_fcbench.present.terminal import write_summary
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.entry_text import render_entry, render_outcome
from pytest_fcbench.run.explaining import restore_transcript
from pytest_fcbench.run.history import LATEST, PREVIOUS, find_run_with
from pytest_fcbench.run.session import Session, list_exchanges
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import EarlierConversation, Record, read_answer
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from pytest_fcbench.suites.pressure import PressureMaterial, restore_pressure

_MOST_ENTRIES = 20
_LONGEST = 240
"""The longest value that is shown without --full, in characters."""


def run_show(arguments: argparse.Namespace) -> int:
    names = ("scorecard", "expected", "wire") if arguments.wire else ("scorecard", "model", "expected")
    options = [name for name in names if getattr(arguments, name)]
    if len(options) > 1:
        raise UsageError(f"--{options[0]} and --{options[1]} exclude each other; give one of them")
    if not arguments.entries:
        if options and options != ["scorecard"]:
            raise UsageError(f"--{options[0]} needs an entry; name one as suite:id")
        path = arguments.scorecard or resolve_scorecard()
        card = load_scorecard(path)
        print_long_lines([f"{path}: {card.facts.model} ({card.facts.mode}), {len(card.records):,} tests"])
        facts, width, most = card.facts, find_width(), len(card.records)
        evidence = Evidence(card.records, facts.profile, card.size_of, facts.suites, earlier=facts.earlier)
        lines = chain(
            write_summary(facts, evidence, card.gate, width=width, most=most, is_full=True),
            [OutputLine("")],
            write_verdict(facts, evidence, card.gate, width),
        )
        print_long_lines(line.text for line in lines)
    for place, name in enumerate(
        name for text in arguments.entries for name in _resolve_name(arguments, text)
    ):
        if place:
            print("\n" + "-" * 20)
        if arguments.wire:
            _show_exchanges(arguments, name)
        else:
            _show_entry(arguments, name)
    return 0


def _resolve_name(arguments: argparse.Namespace, text: str) -> list[str]:
    """Return the ids that an argument means: itself, or all that begin with it."""
    # A node id ends with the id in brackets.
    name = text.rpartition("[")[2].rstrip("]")
    openers = find_openers(arguments)
    suite, colon, _ = name.partition(":")
    if name in openers or (colon and suite not in openers):
        raise UsageError(describe_no_entry(text, suite, openers))
    if text in (LATEST, PREVIOUS):
        raise UsageError(f"{text!r} is a run; name it with --scorecard={text}")
    names = [name] if colon else [f"{each}:{name}" for each in load_settings(arguments).suites]
    entries: dict[str, Entry] = {}
    for each in names:
        settings = load_settings(arguments, each.partition(":")[0], "oracle")
        entries |= load_entries(RunContext(settings).suites.values())
        if _find_entry(entries, each):
            return [each]
    keys = [key for key in entries if key.startswith(tuple(names))]
    if not keys:
        # Variations repeat the ids of other entries.
        known_ids = [key for key, entry in entries.items() if not entry.variation]
        raise UsageError(describe_unknown_name("entry", names[0], known_ids))
    if len(keys) > _MOST_ENTRIES:
        raise UsageError(
            f"{text!r}: {len(keys):,} entries begin so, and at most {_MOST_ENTRIES} are shown; add to the id"
        )
    return keys


def _find_entry(entries: Mapping[str, Entry], name: str) -> Entry | None:
    # An id may itself end like a trial, so it is looked up before the trial is cut off.
    key, _, trial = name.rpartition("-t")
    for each in (name, *([key] if trial.isdecimal() else ())):
        if entry := entries.get(each) or entries.get(split_level(each)[0]):
            return replace(restore_pressure(entry, each), trial=None if each == name else int(trial))
    earlier = (before for entry in entries.values() for before in entry.earlier)
    return next((before for before in earlier if before.key == name), None)


def _load_entry(context: RunContext, name: str) -> Entry:
    """Load a known entry as a run asks it, with all that its level of pressure adds."""
    entry = _find_entry(load_entries(context.suites.values()), name)
    assert entry is not None
    if entry.pressure is None:
        return entry
    material = PressureMaterial(context.suites.values(), context.settings.context_length or 0)
    plain = replace(entry, id=split_level(entry.id)[0], pressure=None)
    return material.press(plain, entry.pressure) or entry


def _show_exchanges(arguments: argparse.Namespace, name: str) -> None:
    """Print what is sent about an entry and what came back, as JSON lines under a heading for each step."""
    settings = load_settings(arguments, name.partition(":")[0])
    context = RunContext(settings)
    entry = _load_entry(context, name)
    for exchange in list_exchanges(settings, entry):
        request, answer = exchange.request, exchange.answer
        print(f"turn {request.turn + 1}, step {request.step + 1}: request")
        print_json(describe_request(context.model, entry, request))
        if answer is None:
            print(f"\n{settings.label} has no stored answer to this request; a run asks for it")
        else:
            print("\nanswer")
            print_json(answer.message or completion_to_json(answer))
            print()


def _show_entry(arguments: argparse.Namespace, name: str) -> None:
    scorecard: Path | None = arguments.scorecard
    suite = name.partition(":")[0]
    if not (scorecard or arguments.model or arguments.expected) and (folder := find_runs_folder()):
        scorecard = find_run_of_entry(arguments, name, folder)
        if scorecard:
            print(f"run {scorecard.stem}")
    card = load_scorecard(scorecard) if scorecard else None
    if card and card.nodeids and not (any(record.turns for record in card.records) or card.facts.earlier):
        # Nothing was answered, so there is nothing to replay; a baseline never has answers.
        verdicts = (record.verdict(card.facts.profile) for record in card.records if record.item_id == name)
        print_long_lines(f"not scored: {verdict}" for verdict in verdicts)
        scorecard = card = None
    settings = load_settings(arguments, suite, arguments.model or "oracle")
    settings = load_replay_settings(arguments, suite, scorecard) if scorecard else settings
    # Offline, because only answers that are already there are shown.
    context = RunContext(replace(settings, offline=True))
    longest = None if arguments.full else _LONGEST
    entry = _load_entry(context, name)
    memories: Memories = {}
    earlier = card.facts.earlier if card else ()
    transcripts = _replay_earlier(context, entry, earlier, memories)
    converse = partial(context.converse, memories=memories) if transcripts else None
    records = card.records if card else ()
    record = next((each for each in records if each.item_id == entry.item_id), None)
    with closing(Session(context, converse=converse)) as session:
        if record and record.category == FORCED.name:
            show_forced_truth(entry, record, session, longest)
            return
        try:
            if scorecard and not entry.expectation.is_judged:
                transcript = transcripts.get(entry.item_id)
            else:
                transcript = session.transcript(entry) if scorecard or arguments.model else None
        except NotScoredError as error:
            # In a run that was found by itself the entry may have no answer, which is worth saying.
            if arguments.scorecard or arguments.model:
                raise UsageError(f"{entry.item_id}: {error.cause}: {error.reason}") from None
            print(f"not scored: {error.cause}: {error.reason}")
            transcript = None
        print_long_lines(render_entry(entry, transcript, session.environments(entry), longest, transcripts))
        if asks_statement(entry):
            # Imported late because it brings sqlglot, which other entries do not need.
            from pytest_fcbench.run import sql_tables

            print_long_lines(sql_tables.render_tables(entry, transcript, full=arguments.full))
        # A conversation that others continue is held once and not judged.
        if transcript is None or not entry.expectation.is_judged:
            return
        if record and record.is_judged_by_test:
            judgement = Judgement(record.verdicts.official, record.verdicts.corrected)
        else:
            judgement = session.judge(entry, transcript)
            record = session.record(entry, judgement, transcript)
        print_long_lines(render_outcome(entry, record, judgement, longest, find_width()))
        if asks_statement(entry) and isinstance(judgement.corrected, Failed):
            print_long_lines(sql_tables.render_results(entry, transcript, full=arguments.full))


def find_run_of_entry(arguments: argparse.Namespace, name: str, folder: Path) -> Path | None:
    """Find the latest run of an entry, or of one that continues its conversation."""
    if run := find_run_with(name, folder):
        return run
    # A conversation that others continue has no test of its own.
    settings = load_settings(arguments, name.partition(":")[0], "oracle")
    entries = load_entries(RunContext(settings).suites.values())
    later = (each for each in entries.values() if name in (before.key for before in each.earlier))
    return next((run for each in later if (run := find_run_with(each.key, folder))), None)


def show_forced_truth(entry: Entry, record: Record, session: Session, longest: int | None) -> None:
    """Print what came back of the right calls of an entry, as it was kept.

    To judge it again, the way and the syntax of the run would have to be named.
    """
    forced_entry = force_truth(entry, "auto")
    assert forced_entry
    transcript = restore_transcript(forced_entry, record)
    judgement = Judgement(record.verdicts.official, record.verdicts.corrected)
    print_long_lines(render_entry(forced_entry, transcript, session.environments(forced_entry), longest))
    print_long_lines(render_outcome(forced_entry, record, judgement, longest, find_width()))


def _replay_earlier(
    context: RunContext, entry: Entry, conversations: Iterable[EarlierConversation], memories: Memories
) -> Mapping[str, Transcript]:
    """Replay the conversations that an entry continues, and itself where others continue it.

    ``memories`` receives what they leave. One that was not held is left out.
    """
    turns = {each.entry: each.turns for each in conversations}
    transcripts: dict[str, Transcript] = {}

    def answer(before: Entry, request: AskModel) -> Completion:
        return read_answer(turns[before.item_id][request.turn][request.step])

    for before in (*entry.earlier, entry):
        # One that failed has fewer answers than it has turns.
        if before.item_id in turns:
            with suppress(IndexError, NotScoredError):
                conversation = context.converse(before, memories)
                transcripts[before.item_id] = drive_conversation(conversation, partial(answer, before))
    return transcripts
