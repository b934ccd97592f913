"""The output at the end of a run, on a terminal and for GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcbench.present import github, run_ranking, run_verdict, terminal
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.terminal import Explain
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.run_facts import RuleOutcome, RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def write_tables(
    facts: RunFacts,
    evidence: Evidence,
    *,
    width: int,
    most: int,
    annotate: bool,
    explain: Explain | None = None,
) -> Iterator[OutputLine]:
    """Write tables and at most ``most`` failures; ``annotate`` keeps GitHub from obeying what is quoted."""
    lines = terminal.write_summary(
        facts, evidence.records, evidence.size_of, width=width, most=most, explain=explain
    )
    yield from github.silence_commands(lines) if annotate else lines


def write_end(
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome],
    *,
    width: int,
    annotate: bool,
    explain: Explain | None = None,
    rivals: Sequence[Scorecard] = (),
) -> Iterator[OutputLine]:
    """Write what a reader must not miss, the gate last; ``annotate`` adds GitHub's annotations.

    ``rivals`` are the runs among which this one is ranked.
    """
    lines: list[OutputLine] = []
    if explain is None or len(evidence.records) > terminal.FEW_ENTRIES:
        lines += run_verdict.write_remarks(facts, evidence, width)
        lines += run_ranking.write_ranking(facts, evidence, rivals)
        if explain:
            lines += [
                OutputLine(""),
                *run_verdict.write_next_commands(facts, evidence.records, width),
                OutputLine(""),
            ]
        lines += run_verdict.write_headline(facts, evidence, width)
    else:
        lines += run_verdict.write_counts(facts, evidence, width)
    lines += run_verdict.write_gate(outcomes)
    lines += [OutputLine(facts.ungated)] if facts.ungated else []
    yield from github.silence_commands(lines) if annotate and lines else lines
    if annotate:
        yield from map(OutputLine, github.write_annotations(outcomes))


def list_properties(
    facts: RunFacts, evidence: Evidence, outcomes: Sequence[RuleOutcome]
) -> Iterator[tuple[str, str]]:
    """List the facts of a run and its first lines as names and values, for files of other tools."""
    yield "fcbench.model", facts.model
    yield "fcbench.mode", facts.mode
    yield "fcbench.profile", facts.profile
    scores = aggregate_scores(evidence.records, facts.profile, evidence.size_of)
    yield "fcbench.headline", run_verdict.describe_share(evidence.records, facts.profile, scores)
    for outcome in outcomes:
        yield "fcbench.gate", run_verdict.describe_outcome(outcome)
    if facts.ungated:
        yield "fcbench.gate", facts.ungated


def append_summary(
    path: Path,
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[RuleOutcome],
    explain: Explain | None = None,
) -> str | None:
    """Append to GitHub's summary of the step; return the error, if any, because the run is complete."""
    try:
        # Appended, because other commands of the step may have written to the same file.
        with path.open("a", encoding="utf-8") as file:
            file.writelines(
                f"{line}\n" for line in github.write_step_summary(facts, evidence, outcomes, explain)
            )
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror}"
    return None
