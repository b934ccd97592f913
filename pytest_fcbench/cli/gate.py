"""``fcbench gate``: apply rules to a run that has ended, or repeat the outcomes of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pytest_fcbench.cli.options import load_settings
from pytest_fcbench.cli.output import print_json, print_lines
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.present import run_end, run_verdict
from pytest_fcbench.run.history import name_second_file
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.run.selection import read_trained_entries
from pytest_fcbench.scorecard.aggregate.scores import mark_trained
from pytest_fcbench.scorecard.compare.merging import Merged
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.run_facts import EARLY_END, UNDECIDED, RuleOutcome, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_outlines


@dataclass(frozen=True, slots=True)
class _GateResult:
    """The outcomes of the rules of a gate, and the exit code that follows."""

    outcomes: Sequence[RuleOutcome]
    recorded: Sequence[RuleOutcome]
    """The outcomes of the run, where ``outcomes`` are those of other rules, or of another baseline."""
    evidence: gate.Evidence
    code: int
    ungated_reason: str | None
    """Why no rule was applied; None where some were."""
    is_checked: bool
    """False where ``outcomes`` are those that the run recorded."""


def run_gate(arguments: argparse.Namespace) -> int:
    settings = load_settings(arguments)
    if arguments.to and arguments.to.suffix not in (".md", ""):
        raise UsageError(f"--output={arguments.to}: the summary is Markdown; name a file that ends in .md")
    card = load_outlines(arguments.scorecard)
    result = _apply_gate(arguments, settings, card)
    if arguments.to:
        facts = replace(card.facts, ungated=result.ungated_reason or card.facts.ungated)
        summary = run_end.write_step_summary(
            facts, result.evidence, result.outcomes, recorded=result.recorded
        )
        write_file(arguments.to, "".join(f"{line}\n" for line in summary))
    if arguments.json:
        _print_document(card, result)
        return result.code
    _print_outcomes(card, result)
    if arguments.to:
        print(f"written to {arguments.to}")
    if settings.annotate:
        sys.stdout.writelines(f"{line}\n" for line in run_end.write_annotations(result.outcomes))
    return result.code


def _apply_gate(arguments: argparse.Namespace, settings: Settings, card: Scorecard) -> _GateResult:
    """Check the rules of the options; else repeat what the run recorded. Raises ``UsageError``."""
    facts, recorded_outcomes, rules = card.facts, card.gate, settings.gate
    is_override = any(value is not None for value in (arguments.gate, arguments.baseline, arguments.trained))
    if recorded_outcomes and arguments.gate is None:
        rules = tuple(parse_rule(outcome.rule, tuple(facts.suites)) for outcome in recorded_outcomes)
    ungated_reason = None if is_override or recorded_outcomes else _explain_no_gate(facts, rules)
    if not (rules or arguments.to or ungated_reason):
        raise UsageError("there is no rule to apply; give one with --gate, or 'gate' in fcbench.yaml")
    if settings.trained:
        trained_entries = read_trained_entries(settings.trained, facts.suites)
        card = replace(card, records=tuple(mark_trained(card.records, trained_entries)))
    # The run may have ended because of what it saw of this baseline.
    second_file = name_second_file(arguments.scorecard).resolve()
    is_second = settings.baseline is not None and settings.baseline.resolve() == second_file
    share = facts.against.share if facts.against and is_second else None
    evidence = replace(gather_evidence(card, settings), share=share)
    is_checked = is_override or not (recorded_outcomes or ungated_reason)
    unfinished = "the run was interrupted" if facts.narrowed_by == EARLY_END else None
    outcomes = gate.check_rules(rules, evidence, unfinished=unfinished) if is_checked else recorded_outcomes
    code = gate.choose_exit_code(outcomes)
    if ungated_reason:
        # A run whose gate was not applied ended with pytest's code.
        code = UNDECIDED if card.exit_code is None else card.exit_code
    recorded = recorded_outcomes if is_checked else ()
    return _GateResult(outcomes, recorded, evidence, code, ungated_reason, is_checked)


def _print_document(card: Scorecard, result: _GateResult) -> None:
    document: dict[str, object] = {"scorecard": card.path, "exit_code": result.code}
    document["rules"] = [asdict(outcome) for outcome in result.outcomes]
    if result.ungated_reason:
        document["ungated"] = result.ungated_reason
    if result.recorded:
        document["recorded"] = [asdict(outcome) for outcome in result.recorded]
    print_json(document)


def _print_outcomes(card: Scorecard, result: _GateResult) -> None:
    facts = card.facts
    run = f"{card.path}: {facts.model} ({facts.mode})"
    print_lines([f"{run}, {len(card.records):,} tests, {facts.profile} profile"])
    lines = [facts.ungated] if result.is_checked and facts.ungated else []
    lines += [f"gate {run_verdict.describe_outcome(outcome)}" for outcome in result.recorded]
    print_lines(f"in the run, {line}" for line in lines)
    print_lines(f"gate {run_verdict.describe_outcome(outcome)}" for outcome in result.outcomes)
    if result.ungated_reason:
        origin = "which no baseline holds" if card.exit_code is None else "that of the run"
        print_lines([f"{result.ungated_reason}; exit code {result.code}, {origin}"])


def gather_evidence(run: Scorecard | Merged, settings: Settings) -> gate.Evidence:
    """Gather the evidence for the rules of a gate: a run, and the baseline of the settings."""
    facts = run.facts
    return gate.Evidence(
        run.records,
        facts.profile,
        run.size_of,
        facts.suites,
        baseline=load_outlines(settings.baseline) if settings.baseline else None,
        asked_as=facts.asked_as,
        earlier=facts.earlier,
    )


def _explain_no_gate(facts: RunFacts, rules: Sequence[gate.GateRule]) -> str | None:
    """Explain why the rules of the project were not applied to a run; None where they were or can be."""
    part = facts.narrowed_by or (facts.shard and f"shard {facts.shard}")
    if facts.ungated or not (part and rules):
        return facts.ungated
    return f"the gate of fcbench.yaml was not applied: {part} selects a part of the entries"
