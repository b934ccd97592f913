"""The answers of a scorecard, or of the store of answers, as the lines of a chat log."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.cli.replay import load_entries, load_entries_of, open_replay
from pytest_fcbench.cli.run_options import REQUEST_OPTIONS, declare_run_options, load_settings
from pytest_fcbench.cli.scorecard_arguments import resolve_scorecard
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.tools.importing.answered_entries import find_obstacle, write_chat

STORE, SCORECARD = "store:", "scorecard:"
"""The beginnings of the names of such sources."""


def declare_source_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say which of the stored answers are meant."""
    parser.add_argument(
        "--suite",
        dest="answered",
        metavar="SUITE",
        help=f"with {STORE}FILE: name or path of the suite that was answered",
    )
    declare_run_options(parser, ("model", "profile", "config", *REQUEST_OPTIONS))


def read_stored_answers(
    arguments: argparse.Namespace, source: str, unused_counts: Counter[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the conversations whose entries passed, each as a line with its place.

    ``unused_counts`` counts the entries of which there is none, by the reason. Raises ``UsageError``.
    """
    opener = _open_scorecard if source.startswith(SCORECARD) else _open_store
    with opener(arguments, source.partition(":")[2], unused_counts) as (session, entries):
        profile = session.context.settings.profile
        for entry in entries:
            if obstacle := find_obstacle(entry):
                unused_counts[obstacle] += 1
                continue
            try:
                transcript = session.transcript(entry)
                verdict = session.judge(entry, transcript).select_profile(profile)
            except NotScoredError:
                # Also where an earlier run asked in another way than the options say.
                unused_counts["no stored answer"] += 1
                continue
            if isinstance(verdict, Passed):
                yield f"{source}: {entry.key}", f"{json.dumps(write_chat(entry, transcript))}\n".encode()
            else:
                unused_counts[f"not passed ({profile} profile)"] += 1


@contextmanager
def _open_scorecard(
    arguments: argparse.Namespace, name: str, unused_counts: Counter[str]
) -> Iterator[tuple[Session, Sequence[Entry]]]:
    """Open a replay of the first trials of a scorecard. Raises ``UsageError``."""
    card = scorecard_files.load_scorecard(resolve_scorecard(name))
    records = [record for record in card.records if record.trial in (None, 1)]
    answered_records = [record for record in records if record.turns]
    with open_replay(arguments, card, records) as session:
        entries_by_id = load_entries_of(session.context, records)
        entries = [
            replace(entries_by_id[record.entry], trial=record.trial)
            for record in answered_records
            if record.entry in entries_by_id
        ]
        unused_counts["no stored answer"] += len(records) - len(answered_records)
        unused_counts["no longer in the suite"] += len(answered_records) - len(entries)
        yield session, entries


@contextmanager
def _open_store(
    arguments: argparse.Namespace, path: str, unused_counts: Counter[str]
) -> Iterator[tuple[Session, Sequence[Entry]]]:
    """Open an offline run of a model over the entries that it has answered. Raises ``UsageError``."""
    for option, value in (("--suite", arguments.answered), ("--model", arguments.model)):
        if value is None:
            raise UsageError(f"{STORE}{path}: add {option} to say whose answers are meant, and to what")
    settings = replace(load_settings(arguments, arguments.answered), store=Path(path), offline=True)
    # Most stores have answers to a part of the entries; the others need no conversation to be missing.
    with closing(AnswerStore(Path(path), new=False)) as store:
        answered_ids = {answer.entry for answer in store.kept(settings.model)}
    with closing(Session(RunContext(settings))) as session:
        entries = list(load_entries(session.context.suites.values()).values())
        answered_entries = [entry for entry in entries if entry.item_id in answered_ids]
        if not answered_entries:
            raise UsageError(
                f"{path}: has no answer of {settings.label} to {arguments.answered}; "
                f"'fcbench store list --store={path}' shows what it has"
            )
        unused_counts["no stored answer"] += len(entries) - len(answered_entries)
        yield session, answered_entries
