"""``fcbench suite import``: make a suite of chat logs, of training data or of stored answers."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from pytest_fcbench.cli.options import load_settings, resolve_scorecard
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.sessions import load_entries, load_entries_of, open_replay
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import copy_file, write_file
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.tools.importing.importing_log import (
    MOST_TOLD,
    FreeTexts,
    LogSelection,
    describe_counts,
    describe_sample,
    find_obstacle,
    import_log,
    write_chat,
)
from pytest_fcbench.tools.importing.log_forms import read_rows


def run_import(arguments: argparse.Namespace) -> int:
    to: Path | None = arguments.to
    rest: Path | None = None if arguments.dry_run else arguments.rest
    _require_free_files(arguments, to, rest)
    choice = LogSelection(
        functions=tuple(arguments.functions),
        replies=arguments.replies,
        most=arguments.most,
        held_out=arguments.hold_out,
        free_texts=FreeTexts(arguments.free_texts),
        masked=arguments.masked,
    )
    unused_counts: Counter[str] = Counter()
    with ExitStack() as stack:
        spool = stack.enter_context(tempfile.TemporaryFile())
        others = stack.enter_context(tempfile.NamedTemporaryFile()) if rest else None
        keep_rest = others.write if others else None
        log_rows = chain.from_iterable(
            read_stored_answers(arguments, log, unused_counts)
            if log.startswith((STORE, SCORECARD))
            else read_rows([log])
            for log in arguments.logs
        )
        lines, counts = import_log(log_rows, choice, spool, _make_telling(), keep_rest)
        if not counts.kept:
            print_lines((*describe_counts(counts), *_describe_unused(unused_counts)), flush=True)
            raise FcbenchError(f"{', '.join(arguments.logs)}: no entries; the lines above say why")
        if arguments.dry_run:
            print_lines(describe_sample(lines, counts))
        elif to:
            write_file(to, lines)
        if rest and others:
            others.flush()
            copy_file(Path(others.name), rest)
    print_lines((*describe_counts(counts), *_describe_unused(unused_counts)))
    destination_text = f"written to {to}{f' and {rest}' if rest else ''}"
    print("nothing was written (--dry-run)" if arguments.dry_run else destination_text)
    return 0


def _require_free_files(arguments: argparse.Namespace, to: Path | None, rest: Path | None) -> None:
    """Raise ``UsageError`` if what is written would replace something, or itself."""
    if to is None and not arguments.dry_run:
        raise UsageError("--output is missing; name a FILE.jsonl for the entries, or use --dry-run")
    if to and to.suffix != ".jsonl":
        raise UsageError(f"--output={to}: a suite of JSON lines needs the ending .jsonl; name {to}.jsonl")
    for path in filter(None, () if arguments.dry_run else (to, rest)):
        if path.exists() and not arguments.force:
            raise UsageError(f"{path} already exists; name another file, or replace it with --force")
        read = (log.removeprefix(STORE).removeprefix(SCORECARD) for log in arguments.logs)
        if path.resolve() in {Path(each).resolve() for each in read}:
            raise UsageError(f"{path} is read; name another file for what is written")
    if to and rest and rest.resolve() == to.resolve():
        raise UsageError(f"--rest={rest}: the entries are written to this file; name another file")


def _make_telling() -> Callable[[str], None]:
    """Return what prints why a line cannot be read, for the first such lines."""
    told = count()

    def tell(text: str) -> None:
        if next(told) < MOST_TOLD:
            print(text[:500], file=sys.stderr)

    return tell


def read_percentage(text: str) -> float:
    """Read ``10%`` or ``10``. Raises ``ArgumentTypeError``."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage; give a number above 0, e.g. 10%")
    return share


def _describe_unused(unused_counts: Counter[str]) -> Iterator[str]:
    """Say how many entries gave no conversation, and why."""
    if unused_counts.total():
        reasons = ", ".join(f"{reason} {number}" for reason, number in unused_counts.most_common() if number)
        yield f"entries without a conversation: {unused_counts.total()} ({reasons})"


STORE, SCORECARD = "store:", "scorecard:"
"""The beginnings of the names of such sources."""


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
