"""The first lines of a run's summary: how much passed, whether the gate held, what changed, what was weak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed
from pytest_fcbench.scorecard.aggregate.formulas import OVERALL
from pytest_fcbench.scorecard.aggregate.intervals import find_cluster_interval
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores, aggregate_scores
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.render.explanations import Line
from pytest_fcbench.scorecard.render.wording import format_limits
from pytest_fcbench.scorecard.run_facts import HELD, Outcome, RunFacts

_WORST = 3
"""The most categories that are named as the weakest."""


def write_verdict(
    facts: RunFacts, evidence: Evidence, outcomes: Sequence[Outcome], width: int
) -> Iterator[Line]:
    """Write what a reader wants to know first, each in a line of its own."""
    scores = aggregate_scores(evidence.records, facts.profile, evidence.size_of)
    yield from _wrap_line(_describe_share(evidence.records, facts, scores), width)
    for outcome in outcomes:
        if outcome.code != HELD:
            yield from _wrap_line(
                f"gate {outcome.outcome}: {outcome.rule}: {outcome.sentence}", width, wrong=True
            )
    if outcomes and all(outcome.code == HELD for outcome in outcomes):
        rules = f"{len(outcomes)} rule{'s' * (len(outcomes) != 1)}"
        yield Line(f"gate held: {rules}", good=True)
    if evidence.baseline and not evidence.not_comparable:
        paired = pair_runs(evidence.baseline.records, evidence.records, facts.profile)
        change = f"{len(paired.better)} better, {len(paired.worse)} worse"
        yield from _wrap_line(f"against {evidence.baseline.path}: {change}", width)
    if worst := _list_worst(scores):
        yield from _wrap_line(f"weakest: {', '.join(worst)}", width)
    if told := _describe_not_scored(evidence.records, facts):
        yield from _wrap_line(told, width, wrong=True)


def _describe_share(records: Sequence[Record], facts: RunFacts, scores: ProfileScores) -> str:
    """Describe the share of all entries that passed, and the official formula beside it."""
    units: dict[str, tuple[int, int]] = {}
    for record in records:
        if isinstance(verdict := record.verdict(facts.profile), Passed | Failed):
            passed, n = units.get(record.unit, (0, 0))
            units[record.unit] = passed + isinstance(verdict, Passed), n + 1
    passed, n = (sum(counts) for counts in zip(*units.values(), strict=True)) if units else (0, 0)
    if not n:
        return f"no entry was scored in the {facts.profile} profile"
    limits = format_limits(find_cluster_interval(list(units.values())))
    share = f"{passed / n:.1%} passed: {passed:,} of {n:,} (95% {limits}), {facts.profile} profile"
    overall = scores.overall
    if scores.alike or overall.accuracy is None:
        return share
    whole = [name for name, score in scores.groups.items() if name in OVERALL and not score.missing]
    # Of a single category the formula says nothing yet.
    if not whole:
        return share
    weight = add_in_order(OVERALL[name] for name in whole)
    of = "" if not overall.missing else f", of whose weight {weight:.0%} was run in full"
    return f"{share}; BFCL's overall: {overall.accuracy:.2%}{of}"


def _list_worst(scores: ProfileScores) -> list[str]:
    """List the categories with the smallest shares, where there are enough to choose from."""
    shares = {name: score.accuracy for name, score in scores.categories.items() if score.accuracy is not None}
    if len(shares) <= _WORST:
        return []
    ordered = sorted(shares, key=lambda name: shares[name])
    return [f"{name} {shares[name]:.1%}" for name in ordered[:_WORST] if shares[name] < 1]


def _describe_not_scored(records: Sequence[Record], facts: RunFacts) -> str | None:
    causes = Counter(
        verdict.cause
        for record in records
        if isinstance(verdict := record.verdict(facts.profile), NotScored)
        and verdict.cause not in (SET_ASIDE, OTHER_RULES)
    )
    if not causes:
        return None
    told = ", ".join(f"{cause} {count:,}" for cause, count in causes.most_common())
    return f"not scored: {causes.total():,} of {len(records):,} ({told})"


def _wrap_line(text: str, width: int, *, wrong: bool = False) -> Iterator[Line]:
    for line in wrap(make_printable(text), max(width, 40), subsequent_indent="  "):
        yield Line(line, wrong)


def write_next_commands(facts: RunFacts, records: Sequence[Record], width: int) -> Iterator[Line]:
    """Write the commands that go on from here, each in a line of its own, however long it is."""
    failed = next((r for r in records if isinstance(r.verdict(facts.profile), Failed)), None)
    commands = {"fcbench report": "a page with every entry"}
    if failed:
        commands = {
            f"fcbench show {make_printable(failed.item_id)}": "question, answer and what was expected",
            "pytest --lf": "the failed entries again; stored answers are reused",
            **commands,
        }
    longest = max(map(len, commands))
    for place, (command, purpose) in enumerate(commands.items()):
        lead = f"{'next:' if place == 0 else '':<5} {command:<{longest}}"
        if len(lead) + len(purpose) + 3 <= width:
            yield Line(f"{lead} - {purpose}")
        else:
            yield Line(lead.rstrip())
            yield Line(f"{'':<8}{purpose}")
