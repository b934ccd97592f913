"""The rules of a gate.

They are written so::

    overall>=0.80               a score, as a fraction or in %: overall, a group, a category, a suite, a
    parallel>=75%               selection such as python, or mark:NAME for a pytest mark of your own
    all>=75%                    the share of all entries that were run, whatever they are
    untrained>=75%              the score that stands for the run, without the entries of --fcbench-trained
    parallel>=baseline-0.02     the same beside the baseline's score on the same entries
    not-worse(95%)              the score that stands for the baseline, as a rule overall, is not worse, as
    not-worse(live, 99%)        far as can be told with that confidence; or another score is not
    not-worse(live, 99%, alone) the same, not corrected for other rules of this kind in the gate
    latency.p95<=3s             mean, p50 or p95 of a call, in s or ms
    complex.calls>=0.6          right calls of all calls of golden paths, also of one category: hotels.calls
    schema>=98%                 calls whose arguments are valid by the schema that was shown, of all calls
    each>=2of3                  each entry passes in 2 of its 3 trials, also each>=2/3
    pass^3>=70%                 all of 3 trials of an entry pass; live.pass@3: of a score, one of 3 passes
    cost<=1.50usd               dollars of the run; cost.per_1000 of a thousand calls
    server_must.broken<=0       checks of the server that are broken, by severity: server_should.broken
    not_scored<=1%              entries without a verdict, those that are set aside left out
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import filterfalse
from typing import ClassVar

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.text import name_few
from pytest_fcbench.domain.verdict import SKIPPED, NotScored
from pytest_fcbench.scorecard.aggregate import golden_paths
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    measure_beside_records,
    measure_bill,
    measure_usage,
)
from pytest_fcbench.scorecard.aggregate.call_counts import sum_calls
from pytest_fcbench.scorecard.aggregate.scores import (
    ALL,
    GROUPS,
    UNTRAINED,
    aggregate_scores,
    is_apart,
    name_main_score,
    select_marked,
    select_records,
)
from pytest_fcbench.scorecard.aggregate.server_checks import SERVER_CHECKS, count_checks
from pytest_fcbench.scorecard.compare.looks import find_nominal_level
from pytest_fcbench.scorecard.compare.paired import (
    CHANGING,
    MANY,
    POWER,
    MetricDifference,
    Paired,
    correct_by_holm,
    format_p,
    measure_flips,
    pair_runs,
    plan_comparison,
)
from pytest_fcbench.scorecard.gate.gate import FAILING, PASSING, Bound, Evidence, GateRule, RuleFinding
from pytest_fcbench.scorecard.gate.trial_rules import TrialRule, TrialScoreRule
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED

METRICS = (
    "overall",
    ALL,
    UNTRAINED,
    *GROUPS,
    *CATEGORIES,
    *(name for name in SELECTIONS if name not in GROUPS),
)
"""The metrics of every run, whatever its suites and marks."""


@dataclass(frozen=True)
class _BoundRule(GateRule):
    """A bound on a metric."""

    bound: Bound


class ScoreRule(_BoundRule):
    """A bound on a score."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the value; undecided where unscored entries could change the outcome."""
        score = evidence.score(self.metric)
        if problem := evidence.describe_missing_parts(self.metric):
            return RuleFinding(UNDECIDED, problem)
        # An entry that was not scored could have become either, so both ends are tried.
        worst, best = (evidence.score(self.metric, verdict) for verdict in (FAILING, PASSING))
        if score is None or not score.scored or not worst or worst.accuracy is None:
            return RuleFinding(UNDECIDED, f"nothing of {self.metric} was scored")
        value_text = "not known" if score.accuracy is None else f"{score.accuracy:.2%}"
        unscored_entries = f"{score.not_scored - score.set_aside:,} of {score.n:,} entries not scored"
        assert best
        assert best.accuracy is not None
        sentence = f"{_name_metric(self.metric, evidence.records)} is {value_text}"
        return self.bound.decide_between(worst.accuracy, best.accuracy, sentence, unscored_entries)


@dataclass(frozen=True)
class BaselineRule(GateRule):
    """A bound on a score by the baseline's score plus ``margin``, both on the entries that can have both."""

    operator: str
    margin: float
    needs_baseline: ClassVar[bool] = True

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the score; undecided where it cannot be compared or missing verdicts could matter."""
        if problem := evidence.not_comparable or _describe_lack(evidence, self.metric):
            return RuleFinding(UNDECIDED, problem)
        before = _mark_baseline(evidence)
        whole = evidence.add_missing_entries()
        # What the run set aside has no score in it, whatever it had in the baseline.
        verdicts = ((record.entry, record.verdict(evidence.profile)) for record in whole.records)
        asked_entries = {
            entry
            for entry, verdict in verdicts
            if not (isinstance(verdict, NotScored) and verdict.cause in SKIPPED)
        }
        shared_records = [
            record
            for record in before
            if record.entry in asked_entries and not isinstance(record.verdict(evidence.profile), NotScored)
        ]
        entries = {record.entry for record in shared_records}
        run = replace(whole, records=[r for r in whole.records if r.entry in entries])
        reference = replace(evidence, records=shared_records).score(self.metric)
        if reference is None or reference.accuracy is None:
            return RuleFinding(UNDECIDED, f"nothing of {self.metric} was scored in both runs")
        limit = Bound(self.operator, reference.accuracy + self.margin)
        finding = ScoreRule(self.text, self.metric, limit).check(run)
        beside = f"the baseline's {reference.accuracy:.2%} on the same {reference.n:,} tests"
        unpaired = _describe_unpaired(evidence, self.metric)
        return replace(finding, sentence=f"{finding.sentence}, {beside}{unpaired}")


@dataclass(frozen=True)
class NotWorse(GateRule):
    """A score that is not worse than the baseline's; ``confidence`` is that needed to call it worse."""

    confidence: float
    needs_baseline: ClassVar[bool] = True
    alone: bool = False
    """True where p is not corrected for other rules of this kind in the gate."""
    named: bool = True
    """False where the rule names no metric; it is about the score that stands for the baseline then."""

    def choose_metric(self, evidence: Evidence) -> str:
        """Choose the metric that is tested: the one that the rule names, else the one of the baseline."""
        if self.named or evidence.baseline is None:
            return self.metric
        return aggregate_scores(evidence.baseline.records, evidence.profile, evidence.size_of).main

    def find_tested_metric(self, evidence: Evidence) -> str | None:
        """Return the metric whose p value is corrected for other rules; None for a rule that stands alone."""
        return None if self.alone else self.choose_metric(evidence)

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check for a loss: broken where chance makes one so large less likely than ``1 - confidence``.

        Undecided where entries that were not scored, or that the run lacks, could change that, and where the
        others are too few to show any loss and show no gain.
        """
        metric = self.choose_metric(evidence)
        if problem := evidence.not_comparable:
            return RuleFinding(UNDECIDED, problem)
        if problem := _describe_lack(evidence, metric):
            hint = "" if self.named else "; for a part, name its score, as in not-worse(parallel, 95%)"
            return RuleFinding(UNDECIDED, f"{problem}{hint}")
        before = evidence.baseline.records if evidence.baseline else ()
        later = evidence.add_missing_entries().records
        pairings = [
            pair_runs(before, later, evidence.profile, assumed_verdict)
            for assumed_verdict in (None, FAILING, PASSING)
        ]
        # The largest loss that the entries with a verdict could have shown.
        all_lost = tuple(replace(pair, after=0.0) for pair in pairings[0].pairs)
        pairings.append(replace(pairings[0], pairs=all_lost))
        measurements = [self._measure_family(pairing, metric, evidence) for pairing in pairings]
        p_found, p_worst, p_best, p_largest = (p for _, p in measurements)
        if (delta := measurements[0][0]) is None:
            return RuleFinding(UNDECIDED, f"nothing of {metric} was scored in both runs")
        # Of so many losses asked about together the first spends that part of the error (Holm).
        limit, tests = 1 - self.confidence, 1 if self.alone else max(1, len(evidence.family))
        if evidence.share is not None:
            limit = tests * find_nominal_level(limit / tests, evidence.share)
        name = _name_metric(metric, before)
        of = "" if delta.metric == ALL else f" of {name}"
        sentence = f"none of {delta.entries:,} entries{of} changed"
        if delta.better + delta.worse:
            low, high = 100 * delta.chance.low, 100 * delta.chance.high
            sentence = (
                f"{name} changed by {100 * delta.change:+.2f} points "
                f"(95% CI {low:+.2f} to {high:+.2f}) on {delta.entries:,} entries, {delta.better:,} better, "
                f"{delta.worse:,} worse; test for a loss: p {format_p(delta.chance.p_worse)}"
            )
            if p_found > delta.chance.p_worse:
                rules = f"{len(evidence.family)} rules of this kind"
                sentence += f", with Holm's correction for {rules} p {format_p(p_found)}"
            if evidence.share is not None:
                sentence += f"; after {evidence.share:.0%} of the entries a loss needs p < {limit:.2g}"
        sentence += _describe_unpaired(evidence, metric)
        if (p_worst < limit) != (p_best < limit):
            sentence += "; the entries that were not scored could change the outcome"
            return RuleFinding(UNDECIDED, sentence)
        is_better = delta.change > 0 and delta.chance.p < limit
        if p_largest >= limit and not is_better:
            sentence += "; the baseline passed too few of these entries for any loss to show"
            return RuleFinding(UNDECIDED, sentence)
        return RuleFinding(BROKEN if p_found < limit else HELD, sentence)

    def describe_power(self, evidence: Evidence, entries: Collection[str]) -> str:
        """Describe the loss that a run of these entries would probably show."""
        before = evidence.baseline.records if evidence.baseline else ()
        planned_records = [record for record in before if record.entry in entries]
        pairing = pair_runs(planned_records, planned_records, evidence.profile)
        parts = pairing.weigh_pairs(self.choose_metric(evidence), evidence.size_of)
        if not parts and self.metric.startswith("mark:"):
            return (
                f"{self.text}: the baseline does not know the marks, so what it shows is known after the run"
            )
        number = sum(len(pairs) for _, pairs in parts)
        clusters = len({pair.unit for _, pairs in parts for pair in pairs})
        sample = f"{number:,} entries" + (f" in {clusters:,} clusters" if clusters < number else "")
        tests = 1 if self.alone else len(evidence.family)
        plan, flips = plan_comparison(parts, self.confidence, tests), measure_flips(parts)
        loss = plan.find_smallest_loss(CHANGING if flips is None else flips) if plan else None
        if plan is None or loss is None:
            return f"{self.text}: {sample} in common with the baseline are too few to show any loss"
        chance = f"{CHANGING:.0%} assumed to change by chance; if {MANY:.0%} do, the probability is "
        chance += f"{plan.find_power(loss, MANY):.0%}"
        if flips is not None:
            chance = f"{flips:.1%} change by chance, as between two trials of the baseline"
        return (
            f"{self.text}: shows a loss of {100 * loss:.1f} points with a probability of {POWER:.0%} "
            f"({sample} in common with the baseline; {chance})"
        )

    def _measure_family(
        self, pairing: Paired, metric: str, evidence: Evidence
    ) -> tuple[MetricDifference | None, float]:
        """Measure the change, and the p value of its loss corrected for the other rules."""
        own = pairing.measure_difference(metric, evidence.size_of)
        if own is None:
            return None, 1.0
        others = () if self.alone else (name for name in evidence.family if name != metric)
        beside = (pairing.measure_difference(name, evidence.size_of) for name in others)
        family = [own, *(each for each in beside if each)]
        return own, correct_by_holm([each.chance.p_worse for each in family])[0]


def _name_metric(metric: str, records: Iterable[Record]) -> str:
    """Name a metric; where it speaks of a part of ``overall`` or of another score, name that, too."""
    main = name_main_score(records) if metric == UNTRAINED else "overall"
    return metric if main == "overall" else f"{metric} ({main})"


def _describe_lack(evidence: Evidence, metric: str) -> str | None:
    """Describe what the run or its baseline lacks of a metric; None where it can be compared."""
    if problem := evidence.describe_missing_parts(metric):
        return problem
    # Without its name, the score that stands for the baseline is what is compared.
    main = name_main_score(evidence.baseline.records) if evidence.baseline else metric
    if metric == UNTRAINED and (problem := evidence.describe_missing_parts(main)):
        return problem
    problem = evidence.describe_missing_parts(metric, _mark_baseline(evidence))
    return problem and f"in the baseline {problem}"


def _mark_baseline(evidence: Evidence) -> list[Record]:
    """Give the Records of the baseline, which has no marks, the marks that the entries have in the run."""
    marks = {record.entry: record.marks for record in evidence.records}
    before = evidence.baseline.records if evidence.baseline else ()
    return [replace(record, marks=marks.get(record.entry, record.marks)) for record in before]


def _describe_unpaired(evidence: Evidence, metric: str) -> str:
    """Describe the entries of a metric that one side lacks or the baseline has not scored; empty without."""
    sides = (_mark_baseline(evidence), evidence.records)
    before, after = (dict.fromkeys(r.entry for r in select_records(metric, side)) for side in sides)
    text = ""
    for what, of, others in (("not run", before, after), ("only in this run", after, before)):
        if extras := [entry for entry in of if entry not in others]:
            text += f"; {what}: {len(extras):,} of {len(of):,} entries ({name_few(extras)})"
    scored, lost = set(), set()
    for record in select_records(metric, sides[0]):
        verdict = record.verdict(evidence.profile)
        if not isinstance(verdict, NotScored):
            scored.add(record.entry)
        elif verdict.cause not in SKIPPED:
            lost.add(record.entry)
    if count := len((lost - scored).intersection(after)):
        text += f"; not scored in the baseline: {count:,} of {len(before):,} entries"
    return text


_LATENCIES = {
    "latency.mean": "latency_mean_s",
    "latency.p50": "latency_p50_s",
    "latency.p95": "latency_p95_s",
}
_CALLS = {f"{name}.calls": name for name in ("complex", *SELECTIONS["complex"])}
_COSTS = {"cost": "usd", "cost.per_1000": "usd_per_1000_calls"}


class CallsRule(_BoundRule):
    """A bound on the call accuracy along golden paths."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the value; undecided where unscored entries could change the outcome."""
        records = select_marked(evidence.records, _CALLS[self.metric])
        score = golden_paths.score_paths(records, evidence.profile)
        limits = golden_paths.find_possible_accuracy(records, evidence.profile)
        if score.accuracy is None or limits is None:
            return RuleFinding(UNDECIDED, f"nothing of {self.metric} was scored")
        sentence = f"{self.metric} is {score.accuracy:.2%} ({score.right:,} of {score.calls:,})"
        return self.bound.decide_between(*limits, sentence, "entries not scored")


class SchemaRule(_BoundRule):
    """A bound on the share of calls that are valid by the schema that was shown, right or not."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the share; undecided where nothing was called."""
        counts = sum_calls(evidence.records)
        if not counts.calls:
            return RuleFinding(UNDECIDED, "the scorecard counts no call of the model")
        share = counts.valid / counts.calls
        sentence = f"{counts.valid:,} of {counts.calls:,} calls are valid by their schemas ({share:.2%})"
        return self.bound.decide(share, sentence)


class LatencyRule(_BoundRule):
    """A bound on the latency of calls, in seconds."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the latency; undecided where no call was timed."""
        seconds = getattr(measure_usage(evidence.records), _LATENCIES[self.metric])
        if seconds is None:
            return RuleFinding(UNDECIDED, "no call of this run has a latency")
        return self.bound.decide(seconds, f"{self.metric} is {seconds:.3g} s")


class CostRule(_BoundRule):
    """A bound on the dollars of the bill, judges included; stored answers count at their price."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the dollars; undecided where unknown prices could change the outcome."""
        bill = measure_bill(evidence.records, evidence.earlier)
        usd = getattr(bill, _COSTS[self.metric])
        if usd is None:
            return RuleFinding(UNDECIDED, "no price is known; give it under 'prices' in fcbench.yaml")
        sentence = f"{self.metric} is ${usd:.4f}"
        if others := measure_beside_records(evidence.records, evidence.earlier):
            sentence += f" with {', '.join(others)}"
        if bill.priced < bill.steps:
            sentence += f" for the {bill.priced:,} of {bill.steps:,} calls whose price is known"
            # Unknown prices can only add to a sum, so a sum above its limit is decided; a mean is not.
            only_grows = self.metric == "cost" and self.bound.operator in ("<", "<=")
            if not only_grows or self.bound.holds(usd):
                return RuleFinding(UNDECIDED, sentence)
        return self.bound.decide(usd, sentence)


class NotScoredRule(_BoundRule):
    """A bound on the share of entries without a verdict."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the share; undecided in a run of entries that do not count."""
        verdicts = (record.verdict(evidence.profile) for record in evidence.records)
        eligible_verdicts = list(filterfalse(is_apart, verdicts))
        unscored_count = sum(isinstance(verdict, NotScored) for verdict in eligible_verdicts)
        if not eligible_verdicts:
            return RuleFinding(UNDECIDED, "the run has no entry that counts")
        share = unscored_count / len(eligible_verdicts)
        sentence = f"{unscored_count:,} of {len(eligible_verdicts):,} entries were not scored ({share:.2%})"
        return self.bound.decide(share, sentence)


class BrokenChecksRule(_BoundRule):
    """A bound on the number of broken checks of the server, of one severity."""

    def check(self, evidence: Evidence) -> RuleFinding:
        """Check the number; undecided where no check was decided, or one without a reply could matter."""
        severity = self.metric.partition(".")[0]
        records = [record for record in evidence.records if record.category == severity]
        counts = count_checks(records).get(severity)
        if counts is None or not counts.kept + counts.broken:
            return RuleFinding(UNDECIDED, f"no check of {severity} was decided")
        verdicts = (record.verdicts.corrected for record in records)
        unanswered = sum(isinstance(each, NotScored) and each.cause not in SKIPPED for each in verdicts)
        if unanswered and self.bound.holds(counts.broken) != self.bound.holds(counts.broken + unanswered):
            return RuleFinding(UNDECIDED, f"{counts}, but {unanswered:,} got no reply")
        return self.bound.decide(counts.broken, str(counts))


# Parsing

_TRIALS = re.compile(r"\s*each\s*>=\s*(\d+)\s*(?:of|/)\s*(\d+)\s*")
_PASS = re.compile(r"\s*(?:([\w.:-]+)\.)?pass([\^@])([1-9]\d*)\s*(>=|<=|>|<)\s*(.*?)\s*")
_BROKEN = tuple(f"{name}.broken" for name in CATEGORIES if name in SERVER_CHECKS)

_SHARES: Mapping[str, Callable[[str, str, Bound], GateRule]] = {
    **dict.fromkeys(_CALLS, CallsRule),
    "schema": SchemaRule,
    "not_scored": NotScoredRule,
}
"""Rules about shares that are no scores, by metric."""
_NOT_WORSE = re.compile(
    r"\s*not-worse\s*\(\s*(?:([\w.:-]+)\s*,\s*)?(\d+(?:\.\d+)?)\s*%\s*(,\s*alone\s*)?\)\s*"
)
_PLAIN = re.compile(r"\s*([\w.:-]+?)\s*(>=|<=|>|<)\s*(.*?)\s*")
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_SHARE = re.compile(rf"{_NUMBER}\s*(%?)")
_BESIDE = re.compile(rf"baseline\s*(?:([+-])\s*{_NUMBER}\s*(%?))?")
_SECONDS = re.compile(rf"{_NUMBER}\s*(m?s)")
_DOLLARS = re.compile(rf"{_NUMBER}\s*usd", re.IGNORECASE)


def parse_rule(text: str, suites: Collection[str] = ()) -> GateRule:
    """Parse a rule; ``suites`` are names that have scores, too. Raises ``UsageError``."""
    if match := _NOT_WORSE.fullmatch(text):
        metric, percent, alone = match[1] or "overall", float(match[2]), bool(match[3])
        if not 50 <= percent < 100:
            raise _make_error(
                text,
                f"the confidence must be at least 50% and below 100%, not {percent:g}%; use e.g. "
                f"not-worse(95%)",
            )
        metric = _require_metric(text, metric, suites)
        return NotWorse(text, metric, percent / 100, alone=alone, named=bool(match[1]))
    if trial_rule := _parse_trial_rule(text, suites):
        return trial_rule
    match = _PLAIN.fullmatch(text)
    if not match:
        raise _make_error(
            text,
            "expected METRIC OPERATOR VALUE (operators >=, <=, >, <) or not-worse(95%), "
            "e.g. 'overall>=0.2', 'parallel>=baseline-2%', 'latency.p95<=3s'",
        )
    metric, sign, value = match.groups()
    if rule := _parse_own_unit(text, metric, sign, value):
        return rule
    metric = _require_metric(text, metric, suites)
    if beside := _BESIDE.fullmatch(value):
        margin = _parse_share(text, f"{beside[2]}{beside[3]}") if beside[1] else 0.0
        return BaselineRule(text, metric, sign, -margin if beside[1] == "-" else margin)
    return ScoreRule(text, metric, Bound(sign, _parse_share(text, value)))


def _parse_trial_rule(text: str, suites: Collection[str]) -> GateRule | None:
    """Parse a rule about trials; None where it is another one. Raises ``UsageError``."""
    if match := _PASS.fullmatch(text):
        metric = _require_metric(text, match[1] or ALL, suites)
        bound = Bound(match[4], _parse_share(text, match[5]))
        return TrialScoreRule(text, metric, match[2], int(match[3]), bound)
    match = _TRIALS.fullmatch(text)
    if match and int(match[1]) < 1:
        raise _make_error(text, f"{match[1]} of {match[2]} asks for nothing; use e.g. each>=2of3")
    if match and int(match[1]) > int(match[2]):
        raise _make_error(text, f"{match[1]} is more than {match[2]}; use e.g. each>=2of3")
    return TrialRule(text, "each", int(match[1]), int(match[2])) if match else None


def _parse_own_unit(text: str, metric: str, sign: str, value: str) -> GateRule | None:
    """Parse a rule about a metric that is no score; None for a score. Raises ``UsageError``."""
    # A time needs its unit: 3 could be seconds or milliseconds.
    if metric in _LATENCIES:
        if not (seconds := _SECONDS.fullmatch(value)):
            raise _make_error(text, f"{value!r} is not a duration; use s or ms, e.g. '{metric}{sign}3s'")
        return LatencyRule(text, metric, Bound(sign, float(seconds[1]) / (1000 if seconds[2] == "ms" else 1)))
    if metric in _COSTS:
        if not (dollars := _DOLLARS.fullmatch(value)):
            raise _make_error(text, f"{value!r} is not a price; use usd, e.g. '{metric}{sign}1.50usd'")
        return CostRule(text, metric, Bound(sign, float(dollars[1])))
    if metric in _BROKEN:
        if not value.isdecimal():
            raise _make_error(text, f"{value!r} is not a number of checks; use e.g. '{metric}<=0'")
        return BrokenChecksRule(text, metric, Bound(sign, int(value)))
    if rule := _SHARES.get(metric):
        return rule(text, metric, Bound(sign, _parse_share(text, value)))
    return None


def _parse_share(text: str, value: str) -> float:
    """Parse a number from 0 to 1, also given in %."""
    match = _SHARE.fullmatch(value)
    if not match:
        raise _make_error(text, f"{value!r} is not a fraction or a percentage; use e.g. 0.8 or 80%")
    share = float(match[1]) / (100 if match[2] else 1)
    # "80" without % would hold for no run or for every one.
    if share > 1:
        raise _make_error(text, f"{value} is more than 1; use a fraction or a percentage, e.g. 0.8 or 80%")
    return share


def _require_metric(text: str, metric: str, suites: Collection[str]) -> str:
    """Check that a metric has a score, and return it."""
    valid = (*METRICS, *suites)
    if metric in valid or (metric.startswith("mark:") and metric != "mark:"):
        return metric
    others = ("mark:NAME", *_CALLS, *_LATENCIES, *_COSTS, *_BROKEN, "schema", "not_scored")
    raise _make_error(text, describe_unknown_name("metric", metric, (*valid, *others)))


def _make_error(text: str, rule: str) -> UsageError:
    return UsageError(f"invalid gate rule {text!r}: {rule}")
