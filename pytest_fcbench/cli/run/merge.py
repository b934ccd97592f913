"""``fcbench run merge``: join the scorecards of several machines, and apply the gate to the whole run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from itertools import chain
from pathlib import Path

from pytest_fcbench.cli.options import declare_run_options, find_scorecard, load_settings
from pytest_fcbench.cli.output import declare_output, print_lines, require_other_file
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.present import run_end
from pytest_fcbench.present.document import write_section
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.compare.merging import merge_scorecards
from pytest_fcbench.scorecard.gate import gate


def declare_merge(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add("scorecards", type=find_scorecard, nargs="+", metavar="SCORECARD", help="scorecard of each part")
    file = Path("scorecard.json")
    declare_output(parser, "FILE", f"file to write (default: {file})", default=file)
    add("--partial", action="store_true", help="continue even if shards are missing")
    add("--replace", action="store_true", help="if several scorecards have an entry, let the last one count")
    declare_run_options(parser, ("gate", "baseline", "failures", "config"))


def run_merge(arguments: argparse.Namespace) -> int:
    # The whole must not replace one of its parts.
    require_other_file(arguments.to, arguments.scorecards)
    settings = load_settings(arguments)
    whole_run = merge_scorecards(arguments.scorecards, replacing=arguments.replace)
    if whole_run.missing and not arguments.partial:
        missing = ", ".join(map(str, whole_run.missing))
        raise UsageError(
            f"the scorecard of shard {missing} is missing; give it too, or continue without it with --partial"
        )
    baseline = scorecard_files.load_outlines(settings.baseline) if settings.baseline else None
    facts = whole_run.facts
    evidence = gate.Evidence(
        whole_run.records,
        facts.profile,
        whole_run.size_of,
        facts.suites,
        baseline,
        facts.asked_as,
        facts.earlier,
    )
    outcomes = gate.check_rules(settings.gate, evidence, unfinished=whole_run.unfinished)
    width, annotate = shutil.get_terminal_size().columns, settings.annotate
    lines = chain(
        run_end.write_tables(facts, evidence, width=width, most=settings.failures, annotate=annotate),
        [OutputLine("")],
        run_end.write_end(facts, evidence, outcomes, width=width, annotate=annotate),
    )
    print_lines(line.text for line in lines)
    if settings.step_summary:
        trouble = run_end.append_summary(settings.step_summary, facts, evidence, outcomes)
        if trouble:
            print(trouble, file=sys.stderr)
    code = gate.choose_exit_code(outcomes)
    # The gate does not know tests other than entries; their failures fail the job as in a run.
    code = max(code, 1) if whole_run.foreign_failures else code
    # The keys of pytest-json-report that would otherwise be those of one part.
    own = {
        "fcbench": write_section(facts, whole_run.records, whole_run.size_of, outcomes),
        "root": os.fspath(Path().absolute()),
        "exitcode": code,
    }
    write_file(arguments.to, whole_run.write_report(own))
    print(
        f"{len(arguments.scorecards)} scorecards, {len(whole_run.records):,} tests: written to {arguments.to}"
    )
    return code
