"""Rules about the trials of entries: how many of them each entry passes, and pass^k and pass@k of a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_fcbench.domain.text import name_few
from pytest_fcbench.domain.verdict import SKIPPED, Failed, NotScored, Passed, Verdict
from pytest_fcbench.scorecard.aggregate.intervals import (
    Interval,
    Part,
    correlate_parts,
    find_mean_interval,
    find_unit_interval,
)
from pytest_fcbench.scorecard.aggregate.scores import (
    UNTRAINED,
    has_formula,
    is_apart,
    leave_out_trained,
    name_main_score,
    select_records,
    tally_verdicts,
    weigh_categories,
)
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials, score_trials
from pytest_fcbench.scorecard.gate.gate import FAILING, PASSING, Bound, Evidence, GateRule, RuleFinding
from pytest_fcbench.scorecard.record import Record, group_by_category
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED

ALL_PASS, SOME_PASSES = "^", "@"
"""The signs of pass^k, where all of k trials pass, and pass@k, where one of them does."""


@dataclass(frozen=True)
class TrialRule(GateRule):
    """A number of trials in which each entry must pass, of how many."""

    passes: int
    trials: int

    def find_needed_trials(self, trials: int) -> int | None:
        return None if trials == self.trials else self.trials

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check each entry; undecided where its trials are others, or unscored ones could matter."""
        every_verdict: dict[str, list[Verdict]] = {}
        for record in evidence.records:
            every_verdict.setdefault(record.entry, []).append(record.verdict(evidence.profile))
        units = {record.entry: record.unit for record in evidence.records}
        # A check can be undecided in one trial, but what is set aside has no trial that counts.
        by_entry = {entry: each for entry, each in every_verdict.items() if not all(map(is_apart, each))}
        requirement = f"{self.passes} of {self.trials} trials"
        for entry, verdicts in by_entry.items():
            if len(verdicts) != self.trials:
                summary = f"{len(verdicts)} of {self.trials} trials; use --fcbench-trials={self.trials}"
                return RuleFinding(UNDECIDED, f"{entry} has {summary}")
        trials = by_entry.items()
        failing = [entry for entry, each in trials if _count_verdicts(each, Passed, NotScored) < self.passes]
        passing = [entry for entry, each in trials if _count_verdicts(each, Passed) >= self.passes]
        if not by_entry:
            return RuleFinding(UNDECIDED, "nothing was scored")
        what, entries = ("in fewer than", failing) if failing else ("in at least", passing)
        clusters: dict[str, list[bool]] = {}
        for entry in by_entry:
            clusters.setdefault(units[entry], []).append(entry in entries)
        summary = f"{len(entries):,} of {len(by_entry):,} entries passed {what} {requirement}"
        summary += _write_interval(find_unit_interval(clusters))
        if failing:
            return RuleFinding(BROKEN, f"{summary}: {name_few(failing)}")
        return RuleFinding(HELD if len(passing) == len(by_entry) else UNDECIDED, summary)


class _TrialShare(NamedTuple):
    """The share of entries of which all of some trials pass, or one of them."""

    value: float
    interval: Interval | None
    entries: int
    left_out: Sequence[str]


@dataclass(frozen=True)
class TrialScoreRule(GateRule):
    """A bound on pass^k or pass@k of a score: the probability that all of k trials pass, or one of them."""

    sign: str
    trials: int
    bound: Bound

    def find_needed_trials(self, trials: int) -> int | None:
        return None if trials >= self.trials else self.trials

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the share; undecided with fewer trials, or where those not scored could matter."""
        if problem := evidence.describe_missing_parts(self.metric):
            return RuleFinding(UNDECIDED, problem)
        metric, records = self.metric, evidence.records
        if metric == UNTRAINED:
            metric, records = name_main_score(records), leave_out_trained(records)
        verdicts = ((record, record.verdict(evidence.profile)) for record in select_records(metric, records))
        judged = [
            record for record, each in verdicts if not (isinstance(each, NotScored) and each.cause in SKIPPED)
        ]
        if (most := count_trials(judged)) < self.trials:
            summary = f"{most} of {self.trials} trials; use --fcbench-trials={self.trials}"
            return RuleFinding(UNDECIDED, f"each entry has {summary}")
        found, worst, best = (
            self._measure_share(metric, judged, most, evidence, assumed)
            for assumed in (None, FAILING, PASSING)
        )
        if worst and worst.left_out:
            return RuleFinding(UNDECIDED, f"{worst.left_out[0]} has fewer than {most} trials")
        if found is None or worst is None or best is None:
            return RuleFinding(
                UNDECIDED, f"no entry of {self.metric}, or of a part of it, has all trials scored"
            )
        name = f"{self.metric}.pass{self.sign}{self.trials}"
        sentence = (
            f"{name} is {found.value:.2%}{_write_interval(found.interval)} of {found.entries:,} entries"
        )
        unscored_entries = f"{len(found.left_out):,} entries of which a trial was not scored"
        # A trial that failed may be of an entry with another that was not scored, which is left out above.
        if self.bound.holds(worst.value) == self.bound.holds(best.value) != self.bound.holds(found.value):
            sentence += f", but {worst.value:.2%} to {best.value:.2%} with {unscored_entries}"
        return self.bound.decide_between(worst.value, best.value, sentence, unscored_entries)

    def _measure_share(
        self,
        metric: str,
        records: Sequence[Record],
        most: int,
        evidence: Evidence,
        assumed: Passed | Failed | None,
    ) -> _TrialShare | None:
        """Measure the share over entries with ``most`` trials; None where a part of the metric has none."""
        parts = group_by_category(records) if has_formula(metric, records) else {metric: records}
        scores = {name: score_trials(part, evidence.profile, most, assumed) for name, part in parts.items()}
        sizes = {name: each.entries for name, each in scores.items()}
        if not all(sizes.values()) or not sizes:
            return None
        # In a run of a team's own suites the names of official formulas mean all entries alike.
        weights = {metric: 1.0} if metric in parts else weigh_categories(metric, lambda n: sizes.get(n, 0))
        shares, left_out = [], [entry for each in scores.values() for entry in each.left_out]
        for name, each in scores.items():
            all_pass = self.sign == ALL_PASS
            intervals = each.pass_hat_intervals if all_pass else each.pass_at_intervals
            share = (each.pass_hat if all_pass else each.pass_at)[self.trials - 1]
            shares.append(Part(weights[name], share, intervals[self.trials - 1]))
        by_unit = [tally_verdicts(part, evidence.profile).by_unit for part in parts.values()]
        interval = find_mean_interval(shares, correlate_parts(by_unit)) if shares[1:] else shares[0].interval
        value = sum(part.weight * part.share for part in shares)
        return _TrialShare(value, interval, sum(sizes.values()), left_out)


def _write_interval(interval: Interval | None) -> str:
    return f" (95% CI {interval.low:.2%} to {interval.high:.2%})" if interval else ""


def _count_verdicts(verdicts: list[Verdict], *kinds: type[Passed | Failed | NotScored]) -> int:
    return sum(isinstance(verdict, kinds) for verdict in verdicts)
