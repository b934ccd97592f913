"""``fcbench sample``: multi-turn entries from random walks through environments."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from random import Random

from pytest_fcbench import environments
from pytest_fcbench.cli.judge_options import ENDPOINT, LIMITS, judge_of
from pytest_fcbench.cli.question_wording import worded
from pytest_fcbench.cli.run_options import declare, require_at_least, suite_of_entry, suites_known
from pytest_fcbench.config.loading import cache_folder
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import printable
from pytest_fcbench.run import output_files
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.authoring.entry_writing import drafted
from pytest_fcbench.tools.authoring.sampling import Walk, walks

HELP = "draft multi-turn entries by random walks through environments"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("entry", metavar="SUITE:ID", help="a multi-turn entry, in whose environments to walk")
    parser.add_argument("--count", type=int, default=5, metavar="N", help="walks (5)")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="turns of a walk (3)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed, the same walks (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first entry (0)")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write entries there")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument(
        "--writer",
        metavar="MODEL",
        help="a model that words the questions; where and how to ask it: --judge-api-base and below",
    )
    declare(parser, ("config", *ENDPOINT, *LIMITS))


def run_command(chosen: argparse.Namespace) -> int:
    require_at_least(1, chosen, "count", "turns")
    writer = judge_of(chosen, judge=chosen.writer) if chosen.writer else None
    suite = suites_known(chosen)[suite_of_entry(chosen)](cache_folder())
    entry = _entry(suite, chosen.entry)
    assert entry.scene is not None
    start = environments.opened(entry, suite.world)
    draw = Random(chosen.seed)  # noqa: S311 - chance that can be repeated
    found = list(walks(start, entry.functions, draw, chosen.count, chosen.turns))
    questions, notes = worded(writer, found) if writer else ({}, [])
    for line in (*_told(found, chosen.count), *notes):
        print(printable(line))
    if chosen.to:
        text = drafted(entry.scene, found, entry.key, chosen.first, questions)
        output_files.write_new({chosen.to: text}, force=chosen.force)
        left = sum(len(walk.turns) for walk in found) - len(questions)
        print(f"{chosen.to}: {len(found)} entries, {left} turns to be worded")
    return 0 if found else 1


def _entry(suite: Suite, key: str) -> Entry:
    for category in suite.categories:
        if not category.single_turn:
            for entry in suite.load(category):
                if entry.key == key and entry.scene is not None:
                    return entry
    raise UsageError(f"{suite.name} {suite.version} has no multi-turn entry {key.partition(':')[2]!r}")


def _told(found: list[Walk], wanted: int) -> list[str]:
    lines: list[str] = []
    for number, walk in enumerate(found):
        lines.append(f"walk {number}")
        for turn, calls in enumerate(walk.turns):
            lines += [f"  turn {turn}  {call.text}" for call in calls]
    if len(found) < wanted:
        lines.append(f"{len(found)} of {wanted} walks were found; others would repeat these or lead nowhere")
    edges = Counter(edge for walk in found for edge in walk.edges)
    lines += [f"  {source} -> {target}  {times}" for (source, target), times in sorted(edges.items())]
    return lines
