"""``fcbench augment``: extend a suite by entries made from its own."""

from __future__ import annotations

import argparse

from pytest_fcbench.cli.judge_options import JUDGE_OPTIONS, load_judge_settings
from pytest_fcbench.cli.new_entries import declare_folder_options, write_entries
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.question_wording import merge_questions
from pytest_fcbench.cli.run_options import declare_run_options, open_suite_at, require_at_least
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, UsageError, describe_unknown_name
from pytest_fcbench.kinds.calls.truth import find_shape
from pytest_fcbench.tools.authoring.augmentation import KINDS, augment_entries

HELP = "make new entries from the entries of a suite"
PAGE = "own-suites"
EXAMPLES = ("fcbench augment my_suite -o more --count=10",)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "suite",
        metavar="SUITE",
        help="name or path of a suite; used are its original entries with a single question that "
        "calls answer",
    )
    declare_folder_options(parser)
    add(
        "--kind",
        action="append",
        metavar="KIND",
        help=f"kind of entries to make: {', '.join(KINDS)} (repeatable; default: all)",
    )
    add("--count", type=int, default=20, metavar="N", help="number of entries of each kind (default: 20)")
    add(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the random choices; the same seed makes the same entries (default: 1)",
    )
    add(
        "--writer",
        metavar="MODEL",
        help="model that rewrites questions which were joined from several; --judge-api-base and "
        "the options below say how to call it",
    )
    declare_run_options(parser, ("config", *JUDGE_OPTIONS))


def run_command(arguments: argparse.Namespace) -> int:
    require_at_least(1, arguments, "count")
    kinds = list(dict.fromkeys(arguments.kind or KINDS))
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(describe_unknown_name("kind", kind, KINDS))
    writer = load_judge_settings(arguments, judge=arguments.writer) if arguments.writer else None
    suite, folder = open_suite_at(arguments, arguments.suite), arguments.to.resolve()
    sources = [
        entry
        for category in suite.categories
        if category.single_turn
        for entry in suite.load(category)
        # Without what an earlier run wrote to the folder: made entries are not material again.
        if not entry.parents or (suite.file_of and folder not in suite.file_of(entry).resolve().parents)
    ]
    entries: list[Entry] = []
    try:
        for kind, group in augment_entries(
            sources, kinds, arguments.count, arguments.seed, arguments.to.name
        ):
            entries += group
            less = "" if len(group) == arguments.count else f" of {arguments.count}: no more are possible"
            print(f"{kind:<18} {len(group)}{less}")
    except ValueError as error:
        raise FcbenchError(f"{arguments.suite}: {error}") from None
    # Only parallel entries have a question that was joined from several.
    if writer:
        parallel = [entry for entry in entries if find_shape(entry).parallel]
        reworded_entries, notes = merge_questions(writer, parallel)
        by_id = {entry.id: entry for entry in reworded_entries}
        entries = [by_id.get(entry.id, entry) for entry in entries]
        print_lines(notes)
    write_entries(arguments, entries)
    return 0
