"""``fcbench merge``: the scorecards of several machines as one, and the gate of the whole run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from pytest_fcbench.cli.run_options import declare, settings_of_no_model
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import printable
from pytest_fcbench.run.output_files import write
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.compare.merging import Merged, merge
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.render import run_end
from pytest_fcbench.scorecard.render.document import section
from pytest_fcbench.scorecard.run_facts import Outcome

HELP = "join the scorecards of shards; apply the gate to the whole"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("scorecards", type=Path, nargs="+", metavar="SCORECARD", help="one of each part")
    parser.add_argument(
        "--to", type=Path, metavar="FILE", default=Path("scorecard.json"), help="default: scorecard.json"
    )
    parser.add_argument("--partial", action="store_true", help="go on although shards are missing")
    parser.add_argument("--replace", action="store_true", help="of an entry in several the last one counts")
    declare(parser, ("gate", "baseline", "failures", "config"))


def run_command(chosen: argparse.Namespace) -> int:
    if chosen.to.resolve() in {path.resolve() for path in chosen.scorecards}:
        raise UsageError(f"{chosen.to} is one of the parts; name another file with --to")
    settings = settings_of_no_model(chosen)
    merged = merge(chosen.scorecards, replacing=chosen.replace)
    if merged.missing and not chosen.partial:
        missing = ", ".join(map(str, merged.missing))
        raise UsageError(f"no scorecard of shard {missing}; give it too, or go on without it by --partial")
    baseline = scorecard_files.load(settings.baseline) if settings.baseline else None
    facts = merged.facts
    evidence = gate.Evidence(merged.records, facts.profile, merged.size_of, facts.suites, baseline)
    outcomes = gate.check(settings.gate, evidence, unfinished=merged.unfinished)
    for line in run_end.lines(
        facts,
        evidence,
        outcomes,
        width=shutil.get_terminal_size().columns,
        most=settings.failures,
        annotate=settings.annotate,
    ):
        print(printable(line))
    if settings.step_summary:
        trouble = run_end.append_summary(settings.step_summary, facts, evidence, outcomes)
        if trouble:
            print(trouble, file=sys.stderr)
    code = gate.exit_code(outcomes)
    code = max(code, 1) if merged.foreign_failures else code
    _write(chosen.to, merged, outcomes, code)
    _tell(chosen, merged)
    return code


def _write(path: Path, merged: Merged, outcomes: tuple[Outcome, ...], code: int) -> None:
    found = section(merged.facts, merged.records, merged.size_of, outcomes)
    root = {"root": os.fspath(Path().absolute())}
    write(path, json.dumps({**merged.report, **root, "exitcode": code, "fcbench": found}))


def _tell(chosen: argparse.Namespace, merged: Merged) -> None:
    print(f"{len(chosen.scorecards)} scorecards, {len(merged.records):,} tests: written to {chosen.to}")
