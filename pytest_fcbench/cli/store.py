"""``fcbench store``: list and delete stored answers; convert them to official result files and back."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from pytest_fcbench.cli.options import (
    PLACE_OPTIONS,
    REQUEST_OPTIONS,
    collect_run_options,
    declare_run_options,
    load_settings,
    spell_run_options,
)
from pytest_fcbench.cli.output import declare_json, print_json
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.dispatch.answer_store import AnswerStore, Kept
from pytest_fcbench.dispatch.dispatcher import NOT_HELD, Dispatcher
from pytest_fcbench.dispatch.pipeline import Pipeline
from pytest_fcbench.dispatch.stored_answers import StoredAnswers, name_model
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.transcript import Completion, Fault, Transcript
from pytest_fcbench.models import registry
from pytest_fcbench.models.baselines.replay import find_result_path, select_judged_text, write_row
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.suites import bfcl

_SUITE = bfcl.SOURCE.name
# Causes for which an entry has no stored answer; any other cause is an error.
_UNANSWERED = ("offline", "no_result", "no_search", "prompting_only", NOT_HELD)


def declare_store(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    size = actions.add_parser("size", help="print the size of the store")
    declare_json(size)
    declare_run_options(size, PLACE_OPTIONS)
    size.set_defaults(action=_print_size)

    listing = actions.add_parser("list", help="list the number of answers by model and category")
    declare_json(listing)
    declare_run_options(listing, PLACE_OPTIONS)
    _declare_model(listing)
    listing.set_defaults(action=_list_answers)

    prune = actions.add_parser("prune", help="delete the answers that meet all given conditions")
    declare_run_options(prune, PLACE_OPTIONS)
    _declare_model(prune)
    prune.add_argument(
        "--older-than",
        type=_parse_age,
        metavar="AGE",
        help="delete answers older than this, e.g. 30d, 12h or 2w",
    )
    prune.add_argument(
        "--entry", dest="pattern", metavar="GLOB", help="pattern of entry ids, e.g. 'bfcl:live_*'"
    )
    prune.add_argument("--all", action="store_true", help="delete every answer")
    prune.add_argument(
        "--dry-run", action="store_true", help="print how many answers it would delete, and delete none"
    )
    prune.add_argument("--yes", action="store_true", help="delete without asking")
    prune.set_defaults(action=_prune)

    exporting = actions.add_parser("export", help="write stored answers as official result files")
    exporting.set_defaults(action=_export)
    importing = actions.add_parser("import", help="store the answers of one model's official result files")
    importing.set_defaults(action=_import)
    for each, folder in (
        (exporting, "folder to write to, in a folder of the model"),
        (importing, "folder of one model's results"),
    ):
        each.add_argument("folder", type=Path, metavar="FOLDER", help=folder)
        declare_run_options(each, ("model",), required=each is importing)
        declare_run_options(each, (*PLACE_OPTIONS, *REQUEST_OPTIONS))
        each.add_argument(
            "--suite",
            choices=[_SUITE],
            default=_SUITE,
            help=f"suite of the answers; only {_SUITE} is possible",
        )
        each.add_argument("--force", action="store_true", help="replace existing files or answers")


_MOST_DAMAGED = 5
"""The most damaged answers that are named."""


def _declare_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="MODEL", help="only answers of this model (default: of all models)"
    )


def _parse_age(age: str) -> int:
    """Return the seconds of an age. Raises ``ArgumentTypeError``."""
    match = re.fullmatch(r"([0-9]{1,6})([hdw])", age)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{age!r} is not an age; use days, hours or weeks, e.g. 30d, 12h or 2w"
        )
    return int(match[1]) * {"h": 3600, "d": 86_400, "w": 604_800}[match[2]]


def run_store(arguments: argparse.Namespace) -> int:
    arguments.action(arguments, load_settings(arguments, _SUITE))
    return 0


@contextmanager
def _open_store(settings: Settings, *, new: bool = False) -> Iterator[AnswerStore]:
    """Open the store of answers; its errors become messages without a traceback."""
    if settings.store is None:
        raise UsageError("no answers are stored (store: none); name a file with --store")
    store = AnswerStore(settings.store, new=new)
    try:
        yield store
    except sqlite3.Error as error:
        raise FcbenchError(store.describe_error(error)) from None
    finally:
        store.close()


# Looking and deleting


def _print_size(arguments: argparse.Namespace, settings: Settings) -> None:
    with _open_store(settings) as store:
        models = Counter(answer.model for answer in store.kept())
        if arguments.json:
            print_json({"store": store.path, "bytes": store.size, "answers": dict(models)})
            return
        print(f"{store.path}: {store.size:,} bytes, {models.total():,} answers")
    for model, number in sorted(models.items()):
        print(f"{number:>9,}  {make_printable(model)}")


def _list_answers(arguments: argparse.Namespace, settings: Settings) -> None:
    groups: dict[str, dict[str, list[Kept]]] = {}
    with _open_store(settings) as store:
        for answer in store.kept(_find_model_id(arguments, settings)):
            # bfcl:live_simple for bfcl:live_simple_3-1-0-t2; else what stands before the number.
            suite, _, entry_id = answer.entry.partition(":")
            category_names = [name for name in CATEGORIES if entry_id.startswith(f"{name}_")]
            # The longest, because one name can begin with another: live_parallel, live_parallel_multiple.
            category = (
                f"{suite}:{max(category_names, key=len)}"
                if category_names
                else re.sub(r"[_-]\d[\d-]*(t\d+)?$", "", answer.entry)
            )
            groups.setdefault(answer.model, {}).setdefault(category, []).append(answer)
    if arguments.json:
        print_json(
            {
                model: {
                    category: [asdict(answer) for answer in group] for category, group in categories.items()
                }
                for model, categories in groups.items()
            }
        )
        return
    if not groups:
        print(f"{store.path}: no answers" + (f" of {settings.model}" if arguments.model is not None else ""))
    row = "  {:<27}{:>9}{:>12}{:>12}  {:<16}  {}".format
    for model, categories in sorted(groups.items()):
        print(make_printable(model))
        print(row("", "answers", "tokens in", "tokens out", "first written", "last written"))
        for category, group in sorted(categories.items()):
            tokens_in = sum(answer.input_tokens or 0 for answer in group)
            tokens_out = sum(answer.output_tokens or 0 for answer in group)
            times = sorted(answer.written for answer in group)
            span = (datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M") for time in (times[0], times[-1]))
            print(
                row(make_printable(category), f"{len(group):,}", f"{tokens_in:,}", f"{tokens_out:,}", *span)
            )
    answers = (answer for categories in groups.values() for group in categories.values() for answer in group)
    if damaged_ids := [make_printable(answer.entry) for answer in answers if answer.is_damaged]:
        id_list = ", ".join(damaged_ids[:_MOST_DAMAGED]) + (
            " ..." if len(damaged_ids) > _MOST_DAMAGED else ""
        )
        print(
            f"damaged answers, which cannot be read: {len(damaged_ids):,} ({id_list}); delete each with "
            f"'fcbench store prune --entry ID'"
        )


def _find_model_id(arguments: argparse.Namespace, settings: Settings) -> str | None:
    """Return the id of the model that was named, with the address of its profile; None without one."""
    return None if arguments.model is None else name_model(registry.describe_identity(settings))


def _prune(arguments: argparse.Namespace, settings: Settings) -> None:
    is_narrow = any(value is not None for value in (arguments.model, arguments.older_than, arguments.pattern))
    if is_narrow == arguments.all:
        raise UsageError("choose what to delete: --model, --older-than and --entry, or --all without these")
    before = None if arguments.older_than is None else time.time() - arguments.older_than
    conditions = (_find_model_id(arguments, settings), arguments.pattern, before)
    with _open_store(settings) as store:
        match_count = store.count(*conditions)
        question = f"{store.path}: {match_count:,} answers would be deleted"
        if arguments.dry_run:
            print(question)
            return
        if not arguments.yes and match_count:
            unanswered = UsageError(f"{question}; add --yes to delete them, or --dry-run to delete nothing")
            # There is no standard input where the caller has closed it.
            if not (sys.stdin and sys.stdin.isatty()):
                raise unanswered
            # With --quiet nobody would see what goes to stdout.
            print(f"{question}; delete them? [y/N] ", end="", file=sys.stderr, flush=True)
            try:
                answer = input()
            except EOFError:
                # Ctrl-D ends no line.
                print(file=sys.stderr)
                raise unanswered from None
            if answer.strip().lower() not in ("y", "yes"):
                print("nothing was deleted")
                return
        deleted_count = store.delete(*conditions)
        # Shrinking a large file takes long, so the result is printed before it.
        print(f"{deleted_count:,} answers deleted", flush=True)
        store.shrink()
        print(f"{store.path}: {store.size:,} bytes, {sum(1 for _ in store.kept()):,} answers")


# Official result files


def _export(arguments: argparse.Namespace, settings: Settings) -> None:
    context = _make_asking_context(settings)
    suite, manner = context.suites[_SUITE], context.manner
    folder = arguments.folder / settings.label.replace("/", "_")
    files: dict[Path, list[str]] = {}
    missing = 0
    with _open_store(settings) as store:
        # Offline, so that an answer that is not stored is missing here, not paid for.
        identity = registry.describe_identity(settings)
        stored_answers = StoredAnswers(store, identity, offline=True, immediate=True)
        model = Pipeline(context.model, [stored_answers], immediate=True)
        # Most stores have answers to a part of the entries: the others need no conversation to be missing.
        ids = {answer.entry for answer in store.kept(settings.model)}
        for category in suite.categories:
            entries = suite.load(category)
            conversations = _hold_conversations(model, context, [e for e in entries if e.item_id in ids])
            rows = [
                json.dumps(write_row(entry, select_judged_text(transcript)))
                for entry, transcript in conversations
            ]
            missing += len(entries) - len(rows)
            if rows:
                files[folder / find_result_path(category)] = rows
    if not files:
        raise UsageError(
            f"{store.path} has no answer that a run of {settings.label} with these settings would "
            f"find (mode {manner.prompting.mode}); 'fcbench store list' shows what it has"
        )
    write_new_files(
        {path: "".join(f"{row}\n" for row in rows) for path, rows in files.items()}, force=arguments.force
    )
    for path, rows in files.items():
        print(f"{len(rows):>6,}  {path}")
    print(f"{sum(map(len, files.values())):,} answers written; {missing:,} entries have none")


def _import(arguments: argparse.Namespace, settings: Settings) -> None:
    _make_asking_context(settings)
    if not arguments.folder.exists():
        raise UsageError(f"{arguments.folder} does not exist; give the result folder of one model")
    context = RunContext(replace(settings, model=f"replay:{arguments.folder}", suites=(_SUITE,)))
    replay_model, suite = context.model, context.suites[_SUITE]
    assert context.chosen.recorded
    results = context.chosen.recorded.answered
    matching_entries = [e for category in suite.categories for e in suite.load(category) if e.key in results]
    # The others continue earlier conversations, which result files need not hold.
    entries = [entry for entry in matching_entries if entry.after is None]
    if not matching_entries:
        raise UsageError(
            f"{arguments.folder}: none of its {len(results):,} ids is an entry of {_SUITE}; give the "
            f"result folder of one model"
        )
    # Replayed as in a run, so each answer is stored under the key by which a run looks for it.
    with _open_store(settings, new=True) as store:
        stored_answers = StoredAnswers(
            store, registry.describe_identity(settings), refresh=arguments.force, immediate=True
        )
        model = Pipeline(replay_model, [stored_answers], immediate=True)
        answers: list[Completion] = []
        reused_count = other_turns = 0
        for entry in entries:
            before = stored_answers.reuses
            for _, transcript in _hold_conversations(model, context, [entry]):
                if transcript.last.fault is Fault.OTHER_TURNS:
                    other_turns += 1
                    continue
                answers += transcript.completions
                reused_count += stored_answers.reuses - before
    faults = sum(answer.fault is not None for answer in answers)
    print(f"{len(answers) - faults - reused_count:,} answers imported, {reused_count:,} were already stored")
    if faults:
        print(f"{faults:,} results are errors of calls, which are not stored")
    if other_turns:
        print(f"{other_turns:,} conversations have another number of turns than their entry: left out")
    if later := len(matching_entries) - len(entries):
        print(f"{later:,} depend on earlier conversations; judge them with replay:{arguments.folder}")
    if unknown := len(results) - len(matching_entries):
        print(f"{unknown:,} ids are not entries of {_SUITE}")
    # A run finds the answers only if it asks in the same way.
    actual_prompting = context.manner.prompting
    plain = registry.choose_model(replace(settings, mode=actual_prompting.mode)).manner.prompting
    options = {**collect_run_options(arguments), "mode": actual_prompting.mode}
    if actual_prompting.names != plain.names:
        options["names"] = actual_prompting.names
    if actual_prompting.syntax != plain.syntax:
        options["syntax"] = actual_prompting.syntax
    command = shlex.join(["pytest", *spell_run_options(options), "--fcbench-offline"])
    print(f"judge them with: {redact_secrets(command)}")


# What a run would ask


def _make_asking_context(settings: Settings) -> RunContext:
    """Return the context of a run over the official entries. Raises ``UsageError`` if it stores nothing."""
    context = RunContext(replace(settings, suites=(_SUITE,)))
    if not context.waits:
        raise UsageError(
            f"answers of {settings.label!r} are not stored, because it needs no network; name "
            f"another model with --model"
        )
    return context


def _hold_conversations(
    model: Pipeline, context: RunContext, entries: Iterable[Entry]
) -> Iterator[tuple[Entry, Transcript]]:
    """Yield complete conversations, of several trials the first; entries that lack an answer are left out."""
    dispatcher = Dispatcher(model, partial(context.converse, memories={}))
    for entry in entries:
        try:
            yield entry, dispatcher.transcript(entry)
            dispatcher.drop_outcome(entry.item_id)
        except NotScoredError as error:
            if error.cause not in _UNANSWERED:
                raise
