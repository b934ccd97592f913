"""``fcbench run list``, ``compare``, ``leaderboard``, ``baseline`` and ``merge``, which need no suite.

The exit code of ``compare`` says only whether a comparison was possible; in CI a gate decides what a
difference means. A baseline is small enough to be committed. ``merge`` applies the gate to the whole run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import asdict
from filecmp import cmp
from itertools import chain
from pathlib import Path

from pytest_fcbench.cli import output
from pytest_fcbench.cli.gate import gather_evidence
from pytest_fcbench.cli.options import find_config, find_runs_folder, load_settings, resolve_scorecard
from pytest_fcbench.config.loading import read_release_dates
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import SET_ASIDE, NotScored
from pytest_fcbench.present import board_tables, comparison_tables, run_end
from pytest_fcbench.present.document import write_section
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.tables import Table, render_text
from pytest_fcbench.present.terminal import write_summary
from pytest_fcbench.run.history import PREVIOUS, list_runs
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard.compare import comparison, leaderboard
from pytest_fcbench.scorecard.compare.merging import merge_scorecards
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.scorecard_files import load_outlines, write_baseline

_FLIPS = 20


def run_compare(arguments: argparse.Namespace) -> int:
    cards = before, after = list(map(load_outlines, _choose_runs(arguments.before, arguments.after)))
    profile, metrics = output.choose_profile(arguments, cards), output.split_names(arguments.metric)
    card_comparison = comparison.compare_scorecards(before, after, profile, metrics)
    form, title = output.choose_format(arguments), " → ".join(card_comparison.names)
    if arguments.others:
        cards += map(load_outlines, arguments.others)
        beside = [comparison.compare_scorecards(before, card, profile, metrics) for card in cards[2:]]
        parts = [comparison_tables.tabulate_providers([card_comparison, *beside])]
        title = "Runs beside one reference"
    # Programs read CSV, so flips stand in one table, and all of them unless --flips says otherwise.
    elif form == "csv":
        parts = list(comparison_tables.list_tables_for_programs(card_comparison, arguments.flips))
    else:
        most = _FLIPS if arguments.flips is None else arguments.flips
        parts = comparison_tables.tabulate_comparison(card_comparison, most)
    output.print_or_write(arguments, output.render_tables(arguments, form, title, parts), cards)
    return 0


def _choose_runs(before: Path | None, after: Path | None) -> tuple[Path, Path]:
    """Return the runs to compare; the newest, where it alone is named, goes with the one before it.

    Raises ``UsageError`` for a run that would be compared with itself.
    """
    newest = after or resolve_scorecard()
    are_files = before is not None and before.is_file() and newest.is_file()
    if before is None or (after is None and are_files and cmp(before, newest, shallow=False)):
        before = resolve_scorecard(PREVIOUS)
    if before.resolve() == newest.resolve():
        raise UsageError(f"{before}: this run would be compared with itself; name two runs")
    return before, newest


def run_leaderboard(arguments: argparse.Namespace) -> int:
    form = output.choose_format(arguments)
    # By resolved path, so that one file under two names is found.
    by_path = {}
    for path in arguments.scorecards:
        if path.resolve() in by_path:
            raise UsageError(f"{path} is given twice; give each scorecard once")
        by_path[path.resolve()] = load_outlines(path)
    cards = list(by_path.values())
    dates = read_release_dates(find_config(arguments.config))
    boards = leaderboard.rank_boards(cards, output.choose_profile(arguments, cards), arguments.sort, dates)
    metrics = output.split_names(arguments.metrics)
    if form == "html":
        # Imported late, because most commands write no page.
        from pytest_fcbench.present.html.board_page import render_boards

        folder = arguments.to.parent if arguments.to else Path()
        reports = {
            str(card.path): Path(os.path.relpath(report, folder)).as_posix()
            for card in cards
            if (report := card.path.with_suffix(".html")).is_file()
        }
        lines = render_boards(boards, metrics, reports)
    else:
        parts: list[Table] = []
        for board in boards:
            parts += board_tables.tabulate_board(board, metrics)
            parts += board_tables.tabulate_correlations(board)
        # A CSV file holds one table, so the boards are joined.
        parts = [board_tables.join_boards(boards, metrics)] if form == "csv" else parts
        lines = output.render_tables(arguments, form, "Leaderboard", parts)
    output.print_or_write(arguments, lines, cards)
    return 0


def run_baseline(arguments: argparse.Namespace) -> int:
    card = load_outlines(arguments.scorecard)
    if not card.records:
        raise UsageError(
            f"{arguments.scorecard}: contains no benchmark entries; give the scorecard of a benchmark run"
        )
    output.require_other_file(arguments.to, [card.path])
    place = "in place of what was there, " if arguments.to.exists() else ""
    write_file(arguments.to, write_baseline(card))
    facts = card.facts
    print(f"{arguments.to}: {place}{len(card.records)} tests, model {facts.model} ({facts.mode})")
    verdicts = [record.verdict(facts.profile) for record in card.records]
    not_scored = sum(isinstance(verdict, NotScored) and verdict.cause != SET_ASIDE for verdict in verdicts)
    if not_scored:
        print(f"{not_scored} of them were not scored, so gates ignore them")
    print(f"use it with: pytest --fcbench-baseline={arguments.to} --fcbench-gate='not-worse(95%)'")
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    folder = find_runs_folder()
    if folder is None:
        raise UsageError("runs: none: no runs are kept; name a folder with 'runs' in fcbench.yaml")
    runs = list_runs(folder)
    if arguments.json:
        output.print_json([asdict(run) for run in runs[: arguments.limit]])
        return 0
    if not runs:
        print(f"{folder} has no runs; run pytest first")
        return 0
    columns = ("run", "ended (UTC)", "passed", "failed", "not scored", "entries", "labels", "commit")
    rows = []
    for run in runs[: arguments.limit]:
        counts = (f"{number:,}" for number in (run.passed, run.failed, run.not_scored))
        part = "all" if run.narrowed_by is None else f"part ({run.narrowed_by})"
        rows.append((run.name, run.ended, *counts, part, run.label_text, (run.commit or "")[:8]))
    output.print_lines(render_text(Table("", columns, tuple(rows)), output.find_width()))
    if len(runs) > arguments.limit:
        print(f"and {len(runs) - arguments.limit} more: --limit={len(runs)}")
    return 0


def run_merge(arguments: argparse.Namespace) -> int:
    # The whole must not replace one of its parts.
    output.require_other_file(arguments.to, arguments.scorecards)
    settings = load_settings(arguments)
    whole_run = merge_scorecards(arguments.scorecards, replacing=arguments.replace)
    if whole_run.missing and not arguments.partial:
        missing = ", ".join(map(str, whole_run.missing))
        raise UsageError(
            f"the scorecard of shard {missing} is missing; give it too, or continue without it with --partial"
        )
    facts, evidence = whole_run.facts, gather_evidence(whole_run, settings)
    outcomes = gate.check_rules(settings.gate, evidence, unfinished=whole_run.unfinished)
    width, annotate = shutil.get_terminal_size().columns, settings.annotate
    summary = write_summary(facts, evidence, outcomes, width=width, most=settings.failures)
    lines = chain(
        run_end.silence_commands(summary) if annotate else summary,
        [OutputLine("")],
        run_end.write_end(facts, evidence, outcomes, width=width, annotate=annotate),
    )
    output.print_lines(line.text for line in lines)
    if settings.step_summary:
        trouble = run_end.append_summary(settings.step_summary, facts, evidence, outcomes)
        if trouble:
            print(trouble, file=sys.stderr)
    code = gate.choose_exit_code(outcomes)
    # The gate does not know tests other than entries; their failures fail the job as in a run.
    code = max(code, 1) if whole_run.foreign_failures else code
    # The keys of pytest-json-report that would otherwise be those of one part.
    own = {
        "fcbench": write_section(facts, evidence, outcomes),
        "root": os.fspath(Path().absolute()),
        "exitcode": code,
    }
    write_file(arguments.to, whole_run.write_report(own))
    print(
        f"{len(arguments.scorecards)} scorecards, {len(whole_run.records):,} tests: written to {arguments.to}"
    )
    return code
