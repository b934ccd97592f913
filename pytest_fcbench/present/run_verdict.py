"""The lines of a run that nobody should miss: how much passed, whether the gate held, what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pytest_fcbench.domain.text import make_printable, put_on_one_line
from pytest_fcbench.domain.verdict import OTHER_RULES, SKIPPED, Failed, NotScored, Passed, Profile
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.tables import wrap_text
from pytest_fcbench.present.two_models import describe_result
from pytest_fcbench.present.wording import describe_sample, describe_weight, format_limits
from pytest_fcbench.scorecard.aggregate.intervals import Interval, find_cluster_interval, find_share_interval
from pytest_fcbench.scorecard.aggregate.pressure import measure_pressure
from pytest_fcbench.scorecard.aggregate.scores import ALL, ProfileScores
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


def write_headline(facts: RunFacts, evidence: Evidence, width: int) -> Iterator[OutputLine]:
    """Write the share of the entries that passed."""
    scores = evidence.scores[facts.profile]
    yield from _wrap_line(describe_share(evidence.records, facts.profile, scores), width)


def write_counts(facts: RunFacts, evidence: Evidence, width: int) -> Iterator[OutputLine]:
    """Write how many of a few entries passed, too few for a share of its own."""
    passes, n, _ = measure_share(evidence.records, facts.profile)
    text = f"{passes:,} of {n:,} passed" if n else "no entry was scored"
    missing = f", {len(evidence.records) - n} not scored" if 0 < n < len(evidence.records) else ""
    yield OutputLine("")
    yield from _wrap_line(f"{text}{missing} ({facts.profile} profile)", width)


def write_gate(outcomes: Iterable[RuleOutcome], width: int) -> Iterator[OutputLine]:
    """Write each rule of a gate with its outcome, for which a CI job can look in the first line of each."""
    for outcome in outcomes:
        is_held = outcome.code == HELD
        yield from _wrap_line(f"gate {describe_outcome(outcome)}", width, wrong=not is_held, good=is_held)


def describe_outcome(outcome: RuleOutcome) -> str:
    """Describe a rule of a gate and its outcome in one line."""
    return put_on_one_line(f"{outcome.rule}: {outcome.outcome}: {outcome.sentence}")


def write_remarks(facts: RunFacts, evidence: Evidence, width: int) -> Iterator[OutputLine]:
    """Write what changed, what was weak and how much was not scored, each in a line of its own."""
    yield from write_comparison(facts, width)
    if evidence.baseline and not evidence.not_comparable and not facts.against:
        pairing = pair_runs(evidence.baseline.records, evidence.records, facts.profile)
        change = f"{len(pairing.better):,} better, {len(pairing.worse):,} worse"
        yield from _wrap_line(f"compared with {evidence.baseline.path}: {change}", width)
    scores = evidence.scores[facts.profile]
    accuracies = {
        name: score.accuracy for name, score in scores.categories.items() if name not in SERVER_CHECKS
    }
    shares = {name: share for name, share in accuracies.items() if share is not None}
    weakest = sorted(shares, key=lambda name: shares[name])[:_WORST]
    worst = [f"{name} {shares[name]:.1%}" for name in weakest if shares[name] < 1]
    # Of a few categories each would be among the weakest.
    if worst and len(shares) > _WORST:
        yield from _wrap_line(f"weakest: {', '.join(worst)}", width)
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


def measure_share(records: Iterable[Record], profile: Profile) -> tuple[int, int, Interval | None]:
    """Count all entries that passed and that were scored; return also the interval of their share."""
    units: dict[str, tuple[int, int]] = {}
    for record in records:
        if isinstance(verdict := record.verdict(profile), Passed | Failed):
            passes, n = units.get(record.unit, (0, 0))
            units[record.unit] = passes + isinstance(verdict, Passed), n + 1
    passes, n = (sum(counts) for counts in zip(*units.values(), strict=True)) if units else (0, 0)
    alone = n == len(units)
    return passes, n, find_share_interval(passes, n) if alone else find_cluster_interval(list(units.values()))


def describe_share(records: Sequence[Record], profile: Profile, scores: ProfileScores) -> str:
    """Describe the share of all entries that passed, of which categories they are, and BFCL's formula.

    The formula is left out where a part of it was not run. Checks of the server are counted apart.
    """
    checks = "; ".join(f"{name}: {counts}" for name, counts in count_checks(records).items())
    if checks:
        checks += f" ({ways})" if (ways := describe_ways(records)) else ""
        scored = [record for record in records if not is_check(record)]
        checks = f"checks of the server: {checks}"
        return f"{describe_share(scored, profile, scores)}; {checks}" if scored else checks
    passes, n, interval = measure_share(records, profile)
    if not n:
        return f"no entry was scored in the {profile} profile"
    of = "" if scores.main in ("overall", ALL) else f" of {scores.main}"
    limits = f"(95% CI {format_limits(interval)}), {profile} profile"
    share = f"{passes / n:.1%}{of} passed: {passes:,} of {n:,} {limits}"
    if scores.alike:
        return share
    if scores.overall.accuracy is not None:
        sample = f" on a sample, {describe_sample(scores)}" if scores.sample else ""
        return f"{share}; BFCL's overall{sample}: {scores.overall.accuracy:.2%}"
    return f"{share}; {describe_weight(scores)}" if scores.weight else share


def _wrap_line(text: str, width: int, *, wrong: bool = False, good: bool = False) -> Iterator[OutputLine]:
    for line in wrap_text(make_printable(text), width, "  "):
        yield OutputLine(line, wrong, good)


def write_next_commands(
    facts: RunFacts, records: Sequence[Record], width: int, rerun: str
) -> Iterator[OutputLine]:
    """Write the commands that go on from here, each in a line of its own, however long it is.

    ``rerun`` runs the failed entries again; empty where nothing can.
    """
    failed_record = next((r for r in records if isinstance(r.verdict(facts.profile), Failed)), None)
    commands = {"fcbench run report": "a page with every entry"}
    if failed_record:
        show = f"fcbench run show {make_printable(failed_record.item_id)}"
        purpose = "the failed entries again; stored answers are reused"
        # A server that was mended would be judged by what it answered before.
        if rerun and is_check(failed_record) and "--fcbench-refresh" not in rerun:
            rerun, purpose = f"{rerun} --fcbench-refresh", "the broken checks again, with new requests"
        again = {make_printable(rerun): purpose} if rerun else {}
        commands = {show: "question, answer and what was expected", **again, **commands}
    longest = max(map(len, commands))
    # All purposes beside their commands, or all below: a mixture is hard to read.
    is_beside = all(9 + longest + len(purpose) <= width for purpose in commands.values())
    for place, (command, purpose) in enumerate(commands.items()):
        lead = f"{'next:' if place == 0 else '':<5} {command}"
        if is_beside:
            yield OutputLine(f"{lead:<{6 + longest}} - {purpose}")
        else:
            yield OutputLine(lead)
            yield OutputLine(f"{'':<8}{purpose}")
