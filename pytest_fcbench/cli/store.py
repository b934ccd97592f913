"""``fcbench store``: list and delete stored answers."""

from __future__ import annotations

import argparse
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime

from pytest_fcbench.cli.options import load_settings
from pytest_fcbench.cli.output import print_json
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.dispatch.answer_store import AnswerStore, Kept
from pytest_fcbench.dispatch.stored_answers import name_model
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.text import make_printable, name_few
from pytest_fcbench.models import registry


def parse_age(age: str) -> int:
    """Return the seconds of an age. Raises ``ArgumentTypeError``."""
    match = re.fullmatch(r"([0-9]{1,6})([hdw])", age)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{age!r} is not an age; use days, hours or weeks, e.g. 30d, 12h or 2w"
        )
    return int(match[1]) * {"h": 3600, "d": 86_400, "w": 604_800}[match[2]]


def run_store(arguments: argparse.Namespace) -> int:
    """Carry out an action on the store of answers."""
    actions = {"size": _print_size, "list": _list_answers, "prune": _prune}
    actions[arguments.action](arguments, load_settings(arguments, model=getattr(arguments, "model", None)))
    return 0


@contextmanager
def _open_store(settings: Settings) -> Iterator[AnswerStore]:
    """Open the store of answers; its errors become messages without a traceback."""
    if settings.store is None:
        raise UsageError("no answers are stored (store: none); name a file with --store")
    if not settings.store.exists():
        raise UsageError(
            f"{settings.store}: no such file; a run stores answers unless its model is built in, and --store "
            "names another file"
        )
    store = AnswerStore(settings.store, new=False)
    try:
        yield store
    except sqlite3.Error as error:
        raise FcbenchError(store.describe_error(error)) from None
    finally:
        store.close()


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
            groups.setdefault(answer.model, {}).setdefault(find_category(answer.entry), []).append(answer)
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
    _print_groups(groups)
    answers = (answer for categories in groups.values() for group in categories.values() for answer in group)
    if damaged_ids := [make_printable(answer.entry) for answer in answers if answer.is_damaged]:
        print(
            f"damaged answers, which cannot be read: {len(damaged_ids):,} ({name_few(damaged_ids)}); delete "
            "each with 'fcbench store prune --entry ID'"
        )


def find_category(item_id: str) -> str:
    """Return ``bfcl:live_simple`` for ``bfcl:live_simple_3-1-0-t2``; else the id without its numbers."""
    suite, _, entry_id = item_id.partition(":")
    names = [name for name in CATEGORIES if entry_id.startswith(f"{name}_")]
    # The longest, because one name can begin with another: live_parallel, live_parallel_multiple.
    return f"{suite}:{max(names, key=len)}" if names else re.sub(r"[_-]\d[\d-]*(t\d+)?$", "", item_id)


def _print_groups(groups: Mapping[str, Mapping[str, Sequence[Kept]]]) -> None:
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
