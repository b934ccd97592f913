"""The lines of a run that nobody should miss: how much passed, whether the gate held, what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote

from pytest_fcbench.domain.text import make_printable, put_on_one_line
from pytest_fcbench.domain.verdict import OTHER_RULES, SKIPPED, NotScored, Profile
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.failure_codes import group_by_cause
from pytest_fcbench.present.tables import wrap_text
from pytest_fcbench.present.two_models import describe_result
from pytest_fcbench.present.wording import describe_sample, describe_weight, format_limits
from pytest_fcbench.scorecard.aggregate.pressure import measure_pressure
from pytest_fcbench.scorecard.aggregate.scores import ALL, ProfileScores, leave_out_checks, tally_records
from pytest_fcbench.scorecard.aggregate.server_checks import (
    SERVER_CHECKS,
    count_checks,
    describe_ways,
    is_check,
)
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import HELD, RuleOutcome, RunFacts
from pytest_fcbench.scorecard.two_models import LookDecision

_WORST = 3
"""The most categories that are named as the weakest."""
_FEW_RULES = 2
"""The most rules that held of which each has a line."""
_LOST = 5
"""Failures of a category in which nothing passed, from which on it is lost as a whole."""


def write_verdict(
    facts: RunFacts, evidence: Evidence, outcomes: Sequence[RuleOutcome], width: int
) -> Iterator[OutputLine]:
    """Write the result of a run, with which its summary begins and its output ends.

    It is the share of the entries that passed, the change since the baseline, which of two models is better,
    and each rule of the gate, for which a CI job can look in the first line of each.
    """
    share = describe_share(evidence.records, facts.profile, evidence.scores[facts.profile], is_short=True)
    yield from _wrap_line(share, width, strong=True)
    if evidence.baseline and not evidence.not_comparable and not facts.against:
        pairing = pair_runs(evidence.baseline.records, leave_out_checks(evidence.records), facts.profile)
        change = f"{len(pairing.better):,} better, {len(pairing.worse):,} worse"
        yield from _wrap_line(f"compared with {evidence.baseline.path}: {change}", width)
    yield from write_comparison(facts, width)
    yield from write_gate(facts, outcomes, width)


def write_counts(facts: RunFacts, evidence: Evidence, width: int) -> Iterator[OutputLine]:
    """Write how many of a few entries passed, too few for a share of its own."""
    score = tally_records(evidence.records, facts.profile)
    text = f"{score.passed:,} of {score.scored:,} passed" if score.scored else "no entry was scored"
    missing = f", {score.not_scored} not scored" if score.scored and score.not_scored else ""
    yield OutputLine("")
    yield from _wrap_line(f"{text}{missing} ({facts.profile} profile)", width)


def write_gate(facts: RunFacts, outcomes: Sequence[RuleOutcome], width: int) -> Iterator[OutputLine]:
    """Write the rules of a gate with their outcomes, and why the rules of the project were not applied.

    Each has a line, but many that held share one.
    """
    held = [outcome.rule for outcome in outcomes if outcome.code == HELD]
    if len(held) > _FEW_RULES:
        outcomes = [outcome for outcome in outcomes if outcome.code != HELD]
        yield from _wrap_line(f"gate held: {', '.join(held)}", width, good=True)
    for outcome in outcomes:
        is_held = outcome.code == HELD
        yield from _wrap_line(f"gate {describe_outcome(outcome)}", width, wrong=not is_held, good=is_held)
    yield from _wrap_line(facts.ungated or "", width)


def describe_outcome(outcome: RuleOutcome) -> str:
    """Describe a rule of a gate and its outcome in one line."""
    return put_on_one_line(f"{outcome.rule}: {outcome.outcome}: {outcome.sentence}")


def describe_weakest(scores: ProfileScores) -> str | None:
    """Describe the categories with the lowest scores; None where few were run, or all passed."""
    accuracies = {
        name: score.accuracy for name, score in scores.categories.items() if name not in SERVER_CHECKS
    }
    shares = {name: share for name, share in accuracies.items() if share is not None}
    weakest = sorted(shares, key=lambda name: shares[name])[:_WORST]
    worst = [f"{name} {shares[name]:.1%}" for name in weakest if shares[name] < 1]
    # Of a few categories each would be among the weakest.
    return (
        f"weakest of {len(shares)} categories: {', '.join(worst)}" if worst and len(shares) > _WORST else None
    )


def write_remarks(facts: RunFacts, evidence: Evidence, width: int) -> Iterator[OutputLine]:
    """Write at which pressure the scores break and how much was not scored, each in a line of its own."""
    for kind, curve in measure_pressure(evidence.records, facts.profile).items():
        yield from _wrap_line(f"pressure, {kind}: {curve.breaking_point}", width)
    verdicts = (record.verdict(facts.profile) for record in evidence.records)
    missing = (verdict.cause for verdict in verdicts if isinstance(verdict, NotScored))
    causes = Counter(cause for cause in missing if cause not in (*SKIPPED, OTHER_RULES))
    if causes:
        cause_counts = ", ".join(f"{cause} {count:,}" for cause, count in causes.most_common())
        of = f"{causes.total():,} of {len(evidence.records):,}"
        yield from _wrap_line(f"not scored: {of} ({cause_counts})", width, wrong=True)


def write_comparison(facts: RunFacts, width: int) -> Iterator[OutputLine]:
    """Write which of the two models of a run is better; nothing in a run of one model."""
    if (line := describe_result(facts)) and facts.against:
        decision = facts.against.decision
        is_worse, is_better = decision == LookDecision.WORSE, decision == LookDecision.BETTER
        yield from _wrap_line(line, width, wrong=is_worse, good=is_better)


def describe_share(
    records: Sequence[Record], profile: Profile, scores: ProfileScores, *, is_short: bool = False
) -> str:
    """Describe the share of all entries that passed, of which categories they are, and BFCL's formula.

    The formula is left out where a part of it was not run. Checks of the server are counted apart. In short
    the weight of what was run is left out, and the official profile is not named.
    """
    checks = "; ".join(f"{name}: {counts}" for name, counts in count_checks(records).items())
    if checks:
        checks += f" ({ways})" if (ways := describe_ways(records)) else ""
        scored = [record for record in records if not is_check(record)]
        checks = f"checks of the server: {checks}"
        share = describe_share(scored, profile, scores, is_short=is_short)
        return f"{share}; {checks}" if scored else checks
    score = tally_records(records, profile)
    if not score.scored:
        return f"no entry was scored in the {profile} profile"
    of = "" if scores.main in ("overall", ALL) else f" of {scores.main}"
    rules = "" if is_short and profile is Profile.OFFICIAL else f", {profile} profile"
    counts = f"{score.passed:,} of {score.scored:,} (95% CI {format_limits(score.interval)})"
    share = f"{score.passed / score.scored:.1%}{of} passed: {counts}{rules}"
    if scores.alike:
        return share
    if scores.overall.accuracy is not None:
        sample = f" on a sample, {describe_sample(scores)}" if scores.sample else ""
        return f"{share}; by BFCL's weights{sample}: {scores.overall.accuracy:.2%}"
    return f"{share}; {describe_weight(scores)}" if scores.weight and not is_short else share


def _wrap_line(text: str, width: int, **style: bool) -> Iterator[OutputLine]:
    for line in wrap_text(make_printable(text), width, "  "):
        yield OutputLine(line, **style)


def write_next_commands(
    facts: RunFacts, evidence: Evidence, width: int, *, rerun: str = "", blame: str = ""
) -> Iterator[OutputLine]:
    """Write the commands that go on from here, each in a line of its own, however long it is.

    What a command is for stands behind it where there is room, and that of the first below it otherwise.
    The first explains the cause that most entries failed for. ``rerun`` runs the failed entries again, and
    ``blame`` says whether model or server lost them; each is empty where nothing can.
    """
    commands = {}
    if causes := group_by_cause(evidence.records, facts.profile):
        first = next(iter(causes.values()))[0]
        scores = evidence.scores[facts.profile]
        # What a server breaks, it mostly breaks in every entry of some categories.
        is_lost = any(of.failed >= _LOST and not of.passed for of in scores.categories.values())
        if blame and is_lost and scores.all.passed:
            commands[blame] = "whole categories are lost: by model or server?"
        else:
            commands[f"fcbench run show {quote(first.item_id)}"] = "why this one failed"
        purpose = "the failed entries again"
        # A server that was mended would be judged by what it answered before.
        if rerun and is_check(first) and "--fcbench-refresh" not in rerun:
            rerun, purpose = f"{rerun} --fcbench-refresh", "the broken checks again, with new requests"
        if rerun:
            commands[rerun] = purpose
    commands["fcbench run report"] = "a page with every entry"
    for place, (command, purpose) in enumerate(commands.items()):
        line = f"{'' if place else 'next:':<5} {make_printable(command)}"
        described = f"{line} - {purpose}"
        has_room = len(described) <= width
        yield OutputLine(described if has_room else line)
        if not (has_room or place):
            yield OutputLine(f"{'':<8}{purpose}")
