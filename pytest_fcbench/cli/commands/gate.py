"""``fcbench gate``: apply rules to a run that has ended."""

from __future__ import annotations

import argparse

from pytest_fcbench.cli.output import print_lines
from pytest_fcbench.cli.run_options import declare_run_options, load_settings
from pytest_fcbench.cli.scorecard_arguments import declare_scorecard
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.render import github, terminal
from pytest_fcbench.scorecard.scorecard_files import load_scorecard

HELP = "apply the gate to a run that has ended"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    declare_scorecard(parser)
    declare_run_options(parser, ("gate", "baseline", "config"))


def run_command(chosen: argparse.Namespace) -> int:
    settings = load_settings(chosen)
    if not settings.gate:
        raise UsageError("there is no rule to apply; give one with --gate, or 'gate' in fcbench.yaml")
    card = load_scorecard(chosen.scorecard)
    baseline = load_scorecard(settings.baseline) if settings.baseline else None
    facts = card.facts
    evidence = gate.Evidence(card.records, facts.profile, card.size_of, facts.suites, baseline)
    # Of a part of the entries the gate of a run would say nothing either.
    part = facts.narrowed_by or (facts.shard and f"shard {facts.shard}")
    unfinished = f"{part} selected a part of the entries" if part else None
    outcomes = gate.check_rules(
        settings.gate, evidence, unfinished=unfinished if chosen.gate is None else None
    )
    print(f"{card.path}: {facts.model} ({facts.mode}), {len(card.records):,} tests, {facts.profile} profile")
    print_lines(terminal.write_gate_lines(outcomes))
    if settings.annotate:
        print_lines(github.write_annotations(outcomes))
    return gate.choose_exit_code(outcomes)
