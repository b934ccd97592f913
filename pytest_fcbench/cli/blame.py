"""``fcbench blame``: ask the entries that failed again in other ways, and say who lost each point."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.cli.options import (
    build_project_settings,
    collect_run_options,
    find_openers,
    find_runs_folder,
    resolve_scorecard,
)
from pytest_fcbench.cli.output import find_width, print_json, print_lines
from pytest_fcbench.cli.sessions import draw_sample, find_suites, require_entries
from pytest_fcbench.codecs.decoders.registry import find_writer
from pytest_fcbench.config.loading import Settings, add_environment
from pytest_fcbench.dispatch.answer_store import OldReads
from pytest_fcbench.domain.entry import Group
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.models.native_calls import READ_FROM_TEXT
from pytest_fcbench.run.blaming import announce_requests, blame_losses, list_losses
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.history import SECOND, list_runs
from pytest_fcbench.run.session import STREAMED
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_outlines, load_scorecard
from pytest_fcbench.tools.diagnosis.blame_text import build_document, render_losses


def run_blame(arguments: argparse.Namespace) -> int:
    card = load_scorecard(arguments.scorecard or _find_run())
    settings, syntax = _load_settings(arguments, card)
    losses = list_losses(card.records, card.facts.profile)
    if not losses:
        rule = f"no entry failed in the {card.facts.profile} profile; give one with failures"
        if card.records and not any(map(_asks_model, card.records)):
            rule = "checks of a server ask no model; give the scorecard of a run that does"
        elif any(record.is_judged_by_test for record in card.records):
            rule = "entries failed by assertions of tests only, which judge no other answer"
        raise UsageError(f"{card.path}: {rule}")
    if not card.nodeids:
        raise UsageError(f"{card.path}: a baseline has no answers; give the scorecard from which it was made")
    find_suites(card, losses, find_openers(arguments))
    asked = draw_sample(losses, arguments.limit, arguments.seed or 0)
    if not arguments.json:
        drawn = "" if len(asked) == len(losses) else f"; {len(asked):,} of them are asked again"
        lost = f"{card.path}: {card.facts.model} ({card.facts.mode}) lost {len(losses):,} points{drawn}"
        print_lines([lost, *announce_requests(settings, asked)], flush=True)
    entries = require_entries(RunContext(settings), asked, card.path)
    old_reads = OldReads()
    blamed = blame_losses(settings, asked, entries, card.facts.profile, syntax, old_reads)
    if arguments.json:
        print_json(build_document(card.facts.model, card.facts.profile, len(losses), blamed))
    else:
        print_lines(render_losses(blamed, len(losses), settings.failures, find_width()))
        print_lines(old_reads.describe("--refresh"))
    return 0


def _asks_model(record: Record) -> bool:
    return record.group != Group.SERVER


def _find_run() -> Path:
    """Find the newest run that asked a model, else the newest. Raises ``UsageError`` where there is none."""
    runs = list_runs(folder) if (folder := find_runs_folder()) else ()
    of_model = (run.path for run in runs if any(map(_asks_model, load_outlines(run.path).records)))
    return next(of_model, None) or resolve_scorecard()


def _load_settings(arguments: argparse.Namespace, card: Scorecard) -> tuple[Settings, str | None]:
    """Load the settings under which the model of a scorecard is asked again, and its native syntax if named.

    Raises ``UsageError``.
    """
    options = dict(add_environment(collect_run_options(arguments)))
    label = card.facts.model
    is_second = card.path.stem.endswith(SECOND)
    if not options.get("model") and is_second and ("," in label or label.endswith(" again")):
        fault = f"{label!r} is a model with settings of its own, which a scorecard does not keep"
        raise UsageError(f"{card.path}: {fault}; give them again, with the name: --model=NAME")
    options["model"] = options.get("model") or label
    options["suite"], options["gate"] = sorted(card.facts.suites), []
    if options.get("stream") is None and STREAMED in card.facts.notes:
        options["stream"] = "on"
    settings = build_project_settings(options, arguments.config)
    if RunContext(settings).model.immediate:
        raise UsageError(
            f"{settings.label} answers without a server that could lose its points; "
            "use 'fcbench run diagnose' to see what is wrong with its answers"
        )
    # A syntax that is named beside a run whose calls a server read tells how its model writes them.
    writer = find_writer(settings.syntax or "")
    own = next((note.rpartition(" ")[2] for note in card.facts.notes if READ_FROM_TEXT in note), None)
    return replace(settings, syntax=own), writer.name if writer else None
