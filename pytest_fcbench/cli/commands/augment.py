"""``fcbench augment``: grow a suite by entries made from its own."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pytest_fcbench.cli.judge_options import ENDPOINT, LIMITS, judge_of
from pytest_fcbench.cli.question_wording import merged
from pytest_fcbench.cli.run_options import declare, require_at_least, suite_of
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, UsageError, unknown
from pytest_fcbench.domain.text import printable
from pytest_fcbench.run import output_files
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.authoring.augmentation import KINDS, augmented
from pytest_fcbench.tools.authoring.entry_writing import written

HELP = "make entries from the entries of a suite, by a seed"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "suite",
        metavar="SUITE",
        help="by name or path: entries are used that ask one question, answered by calls, not made before",
    )
    parser.add_argument(
        "--to", type=Path, required=True, metavar="FOLDER", help="write a file by category there"
    )
    parser.add_argument(
        "--kind", action="append", metavar="KIND", help=f"repeatable: {', '.join(KINDS)} (default: all)"
    )
    parser.add_argument("--count", type=int, default=20, metavar="N", help="entries of each kind (20)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the same seed, the same entries (1)"
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.add_argument(
        "--writer",
        metavar="MODEL",
        help="a model that words questions put together from several; where and how to ask it: "
        "--judge-api-base and below",
    )
    declare(parser, ("config", *ENDPOINT, *LIMITS))


def _staying(suite: Suite, to: Path) -> Iterator[Entry]:
    """The entries of a suite without those made before that stand in a folder, which are made anew."""
    for category in suite.categories:
        for entry in suite.load(category) if category.single_turn else ():
            if not entry.parents or (suite.file_of and to not in suite.file_of(entry).resolve().parents):
                yield entry


def run_command(chosen: argparse.Namespace) -> int:
    require_at_least(1, chosen, "count")
    kinds = list(dict.fromkeys(chosen.kind or KINDS))
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(unknown("kind", kind, KINDS))
    writer = judge_of(chosen, judge=chosen.writer) if chosen.writer else None
    suite = suite_of(chosen, chosen.suite)
    entries = list(_staying(suite, chosen.to.resolve()))
    made: list[Entry] = []
    try:
        for kind, group in augmented(entries, kinds, chosen.count, chosen.seed, chosen.to.name):
            made += group
            less = "" if len(group) == chosen.count else f" of {chosen.count}: no more could be drawn"
            print(f"{kind:<18} {len(group)}{less}")
    except ValueError as error:
        raise FcbenchError(f"{chosen.suite}: {error}") from None
    if writer:
        several = [entry for entry in made if entry.category.rule.parallel]
        wordings, notes = merged(writer, several)
        by_id = {entry.id: entry for entry in wordings}
        made = [by_id.get(entry.id, entry) for entry in made]
        for note in notes:
            print(printable(note))
    texts = {chosen.to / f"{category}.yaml": text for category, text in written(made).items()}
    output_files.write_new(texts, force=chosen.force)
    sizes = Counter(entry.category.name for entry in made)
    for path, (category, size) in zip(texts, sizes.items(), strict=True):
        assert path.stem == category
        print(f"{path}: {size} {'entry' if size == 1 else 'entries'}")
    return 0
