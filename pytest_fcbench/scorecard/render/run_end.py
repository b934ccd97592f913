"""The output at the end of a run, on a terminal and for GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.render import github, terminal
from pytest_fcbench.scorecard.run_facts import Outcome, RunFacts


def write_run_end(
    facts: RunFacts,
    evidence: Evidence,
    outcomes: Sequence[Outcome],
    *,
    width: int,
    most: int,
    annotate: bool,
    remark: str | None = None,
) -> Iterator[str]:
    """Write tables, at most ``most`` failures and the gate; ``annotate`` adds GitHub's annotations."""
    told = terminal.write_summary(facts, evidence.records, evidence.size_of, width=width, most=most)
    # Failures quote what models wrote; the gate's lines quote the user's own rules only.
    yield from github.silence_commands(told) if annotate else told
    yield from terminal.write_gate_lines(outcomes)
    if remark:
        yield remark
    if annotate:
        yield from github.write_annotations(outcomes)


def append_summary(
    path: Path, facts: RunFacts, evidence: Evidence, outcomes: Sequence[Outcome]
) -> str | None:
    """Append to GitHub's summary of the step; return the error, if any, because the run is complete."""
    try:
        # Appended, because other commands of the step may have written to the same file.
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in github.write_step_summary(facts, evidence, outcomes))
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror}"
    return None
