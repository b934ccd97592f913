"""A comment on a pull request: the summary that a run writes for GitHub, within the length of a comment."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.present.github import write_step_summary
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.tools.export.order import ExportRequest

MARK = "<!-- fcbench -->"
"""The first line, by which a workflow finds the comment to update."""
LONGEST = 65_536
"""Characters of a comment that GitHub takes at most."""
_CUT = "\nThe rest is too long for a comment; the scorecard has it.\n"


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the comment line by line."""
    facts = order.card.facts
    evidence = Evidence(
        *(order.card.records, facts.profile, order.card.size_of, facts.suites, order.baseline),
        *(facts.asked_as, facts.earlier),
    )
    yield f"{MARK}\n"
    # GitHub refuses a comment that is too long, in place of cutting it.
    room = LONGEST - len(MARK) - 1 - len(_CUT)
    for line in write_step_summary(facts, evidence, order.card.gate):
        room -= len(line) + 1
        if room < 0:
            yield _CUT
            return
        yield f"{line}\n"
