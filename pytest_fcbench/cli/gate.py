"""``fcbench gate``, ``codes`` and ``completion``: apply rules to a run, explain codes, complete words."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from textwrap import wrap

from pytest_fcbench.cli.options import load_settings
from pytest_fcbench.cli.output import print_json, print_lines
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.present import run_end, run_verdict
from pytest_fcbench.present.failure_codes import FailureCode, read_failure_codes
from pytest_fcbench.run.history import name_second_file
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.selection import read_trained_entries
from pytest_fcbench.scorecard.aggregate.scores import mark_trained
from pytest_fcbench.scorecard.compare.merging import Merged
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.run_facts import UNDECIDED, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_outlines


def run_gate(arguments: argparse.Namespace) -> int:
    settings = load_settings(arguments)
    if arguments.to and arguments.to.suffix not in (".md", ""):
        raise UsageError(f"--output={arguments.to}: the summary is Markdown; name a file that ends in .md")
    card = load_outlines(arguments.scorecard)
    facts = card.facts
    # The outcomes that the run recorded are repeated, unless other rules or another baseline are given.
    recorded_outcomes = card.gate
    is_override = any(value is not None for value in (arguments.gate, arguments.baseline, arguments.trained))
    rules = settings.gate
    if recorded_outcomes and arguments.gate is None:
        rules = tuple(parse_rule(outcome.rule, tuple(facts.suites)) for outcome in recorded_outcomes)
    ungated_reason = None if is_override or recorded_outcomes else _explain_no_gate(facts, rules)
    if not (rules or arguments.to or ungated_reason):
        raise UsageError("there is no rule to apply; give one with --gate, or 'gate' in fcbench.yaml")
    if settings.trained:
        trained_entries = read_trained_entries(settings.trained, facts.suites)
        card = replace(card, records=tuple(mark_trained(card.records, trained_entries)))
    # The run may have ended because of what it saw of this baseline.
    is_second = settings.baseline == name_second_file(arguments.scorecard)
    share = facts.against.share if facts.against and is_second else None
    evidence = replace(gather_evidence(card, settings), share=share)
    is_checked = is_override or not (recorded_outcomes or ungated_reason)
    outcomes = gate.check_rules(rules, evidence) if is_checked else recorded_outcomes
    beside = recorded_outcomes if is_checked else ()
    # A run whose gate was not applied ended with pytest's code.
    of_run = UNDECIDED if card.exit_code is None else card.exit_code
    code = of_run if ungated_reason else gate.choose_exit_code(outcomes)
    if arguments.to:
        told_facts = replace(facts, ungated=ungated_reason or facts.ungated)
        summary = run_end.write_step_summary(told_facts, evidence, outcomes, recorded=beside)
        write_file(arguments.to, "".join(f"{line}\n" for line in summary))
    if arguments.json:
        document: dict[str, object] = {"scorecard": card.path, "exit_code": code}
        document["rules"] = [asdict(outcome) for outcome in outcomes]
        if ungated_reason:
            document["ungated"] = ungated_reason
        if beside:
            document["recorded"] = [asdict(outcome) for outcome in beside]
        print_json(document)
        return code
    run = f"{card.path}: {facts.model} ({facts.mode})"
    print_lines([f"{run}, {len(card.records):,} tests, {facts.profile} profile"])
    lines = [facts.ungated] if is_checked and facts.ungated else []
    lines += [f"gate {run_verdict.describe_outcome(outcome)}" for outcome in beside]
    print_lines(f"in the run, {line}" for line in lines)
    print_lines(f"gate {run_verdict.describe_outcome(outcome)}" for outcome in outcomes)
    if ungated_reason:
        why = "which no baseline holds" if card.exit_code is None else "that of the run"
        print_lines([f"{ungated_reason}; exit code {code}, {why}"])
    if arguments.to:
        print(f"written to {arguments.to}")
    if settings.annotate:
        sys.stdout.writelines(f"{line}\n" for line in run_end.write_annotations(outcomes))
    return code


def gather_evidence(run: Scorecard | Merged, settings: Settings) -> gate.Evidence:
    """Gather the evidence for the rules of a gate: a run, and the baseline of the settings."""
    facts, baseline = run.facts, load_outlines(settings.baseline) if settings.baseline else None
    manner = (baseline, facts.asked_as, facts.earlier)
    return gate.Evidence(run.records, facts.profile, run.size_of, facts.suites, *manner)


def _explain_no_gate(facts: RunFacts, rules: Sequence[gate.GateRule]) -> str | None:
    """Explain why the rules of the project were not applied to a run; None where they were or can be."""
    part = facts.narrowed_by or (facts.shard and f"shard {facts.shard}")
    if facts.ungated or not (part and rules):
        return facts.ungated
    return f"the gate of fcbench.yaml was not applied: {part} selects a part of the entries"


CODES = {
    **read_failure_codes(),
    **{
        note.value: FailureCode(note.meaning, "tell who runs the server; no verdict depends on it")
        for note in ProtocolNote
    },
}
"""The codes of failures, and those of what servers do wrong."""


def run_codes(arguments: argparse.Namespace) -> int:
    for code in arguments.codes:
        if code not in CODES:
            raise UsageError(describe_unknown_name("code", code, CODES))
    if arguments.json:
        print_json({code: CODES[code]._asdict() for code in arguments.codes or CODES})
        return 0
    width = max(shutil.get_terminal_size().columns, 40)
    for code in arguments.codes or CODES:
        meaning, advice = CODES[code]
        print(code)
        for text in (meaning, f"{advice[0].upper()}{advice[1:]}."):
            for line in wrap(text, width, initial_indent="    ", subsequent_indent="    "):
                print(line)
    return 0


SHELLS = ("bash", "zsh", "fish", "powershell")


def run_completion(arguments: argparse.Namespace) -> int:
    require_extra("completion", "fcbench completion")
    import shtab

    print(shtab.complete(arguments.make_parser(), arguments.shell))
    return 0
