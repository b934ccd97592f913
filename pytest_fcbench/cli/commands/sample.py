"""``fcbench sample``: draft multi-turn entries by random walks through environments."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from random import Random

from pytest_fcbench import environments
from pytest_fcbench.cli.command import OUTPUT
from pytest_fcbench.cli.judge_options import JUDGE_OPTIONS, load_judge_settings
from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.question_wording import word_walks
from pytest_fcbench.cli.run_options import (
    declare_run_options,
    find_openers,
    parse_suite_name,
    require_at_least,
)
from pytest_fcbench.config.loading import find_cache_folder
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.output_files import write_new_files
from pytest_fcbench.tools.authoring.entry_writing import write_walks
from pytest_fcbench.tools.authoring.sampling import draw_walks

HELP = "draft multi-turn entries from random walks through environments"
PAGE = "own-suites"
EXAMPLES = ("fcbench sample core:multi_turn_base_0 --turns=2 -o drafts.yaml",)


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("start", metavar="SUITE:ID", help="multi-turn entry whose environments to walk through")
    add("--count", type=int, default=5, metavar="N", help="number of walks (default: 5)")
    add("--turns", type=int, default=3, metavar="N", help="number of turns per walk (default: 3)")
    add(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of the random choices; the same seed makes the same walks (default: 1)",
    )
    add("--first", type=int, default=0, metavar="N", help="number of the first entry (default: 0)")
    add(*OUTPUT, dest="to", type=Path, metavar="FILE", help="write the entries to this file")
    add("--force", action="store_true", help="replace FILE if it exists")
    add(
        "--writer",
        metavar="MODEL",
        help="model that writes the questions; --judge-api-base and the options below say how to call it",
    )
    declare_run_options(parser, ("config", *JUDGE_OPTIONS))


def run_command(arguments: argparse.Namespace) -> int:
    require_at_least(1, arguments, "count", "turns")
    writer = load_judge_settings(arguments, judge=arguments.writer) if arguments.writer else None
    suite = find_openers(arguments)[parse_suite_name(arguments)](find_cache_folder())
    found_entries = (
        entry
        for category in suite.categories
        if not category.single_turn
        for entry in suite.load(category)
        if entry.key == arguments.start and entry.scene is not None
    )
    entry = next(found_entries, None)
    if entry is None or entry.scene is None:
        name = arguments.start.partition(":")[2]
        raise UsageError(
            f"{suite.name} {suite.version} has no multi-turn entry {name!r}; "
            "give one of a multi-turn category, e.g. core:multi_turn_base_0"
        )
    start = environments.open_environments(entry, suite.world)
    draw = Random(arguments.seed)  # noqa: S311 - chance that can be repeated
    walks = list(draw_walks(start, entry.functions, draw, arguments.count, arguments.turns))
    questions, notes = word_walks(writer, walks) if writer else ({}, [])
    for number, walk in enumerate(walks):
        print(f"walk {number}")
        print_lines(f"  turn {turn}  {call.text}" for turn, calls in enumerate(walk.turns) for call in calls)
    if len(walks) < arguments.count:
        print(f"{len(walks)} of {arguments.count} walks were found; all others repeat these or lead nowhere")
    # How often a result of one call was used by another.
    edges = Counter(edge for walk in walks for edge in walk.edges)
    print_lines(f"  {source} -> {target}  {times}" for (source, target), times in sorted(edges.items()))
    print_lines(notes)
    if arguments.to:
        text = write_walks(entry.scene, walks, entry.key, arguments.first, questions)
        write_new_files({arguments.to: text}, force=arguments.force)
        missing_count = sum(len(walk.turns) for walk in walks) - len(questions)
        print(f"{arguments.to}: {len(walks)} entries, {missing_count} turns still without a question")
    return 0 if walks else 1
