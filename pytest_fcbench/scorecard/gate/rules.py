"""The rules of a gate.

They are written so::

    overall>=0.80               a score, as a fraction or in %: overall, a group, a category, a suite, a
    parallel>=75%               selection such as python, or mark:NAME for a pytest mark of your own
    untrained>=75%              overall without the entries of --fcbench-trained
    parallel>=baseline-0.02     the same beside the baseline's score on the entries that both have
    not-worse(95%)              overall is not worse than the baseline's, as far as can be told with that
    not-worse(live, 99%)        confidence; or another score is not
    not-worse(live, 99%, alone) the same, not corrected for other rules of this kind in the gate
    latency.p95<=3s             mean, p50 or p95 of a call, in s or ms
    complex.calls>=0.6          right calls of all calls of golden paths, also of one category: hotels.calls
    cost<=1.50usd               dollars of the run; cost.per_1000 of a thousand calls
    not_scored<=1%              entries without a verdict, those that are set aside left out
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.former_names import find_former_names
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, NotScored
from pytest_fcbench.scorecard.aggregate import golden_paths
from pytest_fcbench.scorecard.aggregate.formulas import GROUPS
from pytest_fcbench.scorecard.aggregate.scores import UNTRAINED, select_marked
from pytest_fcbench.scorecard.aggregate.usage import measure_usage
from pytest_fcbench.scorecard.compare.families import correct_by_holm
from pytest_fcbench.scorecard.compare.paired import Difference, Paired, pair_runs
from pytest_fcbench.scorecard.compare.power import CHANGING, POWER, find_smallest_loss
from pytest_fcbench.scorecard.gate.gate import (
    FAILING,
    PASSING,
    Evidence,
    Finding,
    Rule,
)
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED

METRICS = ("overall", UNTRAINED, *GROUPS, *CATEGORIES, *(name for name in SELECTIONS if name not in GROUPS))
"""The metrics of every run, whatever its suites and marks."""

_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison operator and its limit, such as ``>= 0.8``."""

    operator: str
    limit: float

    def holds(self, value: float) -> bool:
        """Tell whether a value keeps the bound."""
        # A mean of fractions may miss a limit it equals by a rounding error.
        return _COMPARED[self.operator](round(value, 12), round(self.limit, 12))

    def decide(self, value: float, sentence: str) -> Finding:
        """Decide by a value whether the rule holds; ``sentence`` states the value."""
        return Finding(HELD if self.holds(value) else BROKEN, sentence)

    def decide_between(
        self, worst: float, value: float, best: float, sentence: str, unscored: str
    ) -> Finding:
        """Decide on a share that could lie from ``worst`` to ``best``; undecided where that matters."""
        if self.holds(worst) == self.holds(best):
            return self.decide(value, sentence)
        return Finding(
            UNDECIDED,
            f"{sentence}, but with {unscored} it can be anywhere from {worst:.2%} to {best:.2%}",
        )


@dataclass(frozen=True, slots=True)
class _BoundRule:
    """A bound on a metric."""

    text: str
    metric: str
    bound: Bound
    needs_baseline: bool = False


class ScoreRule(_BoundRule):
    """A bound on a score."""

    def check(self, evidence: Evidence) -> Finding:
        """Check the value; undecided where unscored entries could change the outcome."""
        score = evidence.score(self.metric)
        if score is None or score.accuracy is None:
            return Finding(UNDECIDED, f"nothing of {self.metric} was scored")
        accuracy = score.accuracy
        # An entry that was not scored could have become either, so both ends are tried.
        assumed = [evidence.score(self.metric, verdict) for verdict in (FAILING, PASSING)]
        worst, best = (one.accuracy if one and one.accuracy is not None else accuracy for one in assumed)
        found = f"{self.metric} is {accuracy:.2%}"
        if score.missing:
            found += f" (not run, counted as 0: {', '.join(score.missing)})"
        unscored = f"{score.not_scored - score.set_aside} of {score.n} entries not scored"
        return self.bound.decide_between(worst, accuracy, best, found, unscored)


@dataclass(frozen=True, slots=True)
class BaselineRule:
    """A bound on a score by the baseline's score plus ``margin``, both on the entries that both have."""

    text: str
    metric: str
    operator: str
    margin: float
    needs_baseline: bool = True

    def check(self, evidence: Evidence) -> Finding:
        """Check the score; undecided where it is not comparable or unscored entries could matter."""
        if problem := evidence.not_comparable:
            return Finding(UNDECIDED, problem)
        baseline = evidence.baseline.records if evidence.baseline else ()
        marks = {record.entry: record.marks for record in evidence.records}
        # A baseline has no marks, and the user may have set others since: those of the run count for both.
        shared = [
            replace(record, marks=marks[record.entry])
            for record in baseline
            if record.entry in marks and not isinstance(record.verdict(evidence.profile), NotScored)
        ]
        entries = {record.entry for record in shared}
        run = replace(evidence, records=[r for r in evidence.records if r.entry in entries])
        reference = replace(evidence, records=shared).score(self.metric)
        if reference is None or reference.accuracy is None:
            return Finding(
                UNDECIDED, f"the run and its baseline have no scored entry of {self.metric} in common"
            )
        limit = Bound(self.operator, reference.accuracy + self.margin)
        found = ScoreRule(self.text, self.metric, limit).check(run)
        beside = f"the baseline's {reference.accuracy:.2%} on the same {reference.n} tests"
        return replace(found, sentence=f"{found.sentence}, {beside}")


@dataclass(frozen=True, slots=True)
class NotWorse:
    """A score that is not worse than the baseline's; ``confidence`` is that needed to call it worse."""

    text: str
    metric: str
    confidence: float
    needs_baseline: bool = True
    alone: bool = False
    """True where p is not corrected for other rules of this kind in the gate."""

    @property
    def in_family(self) -> str | None:
        """The metric that is tested together with those of the other rules; None where it stands alone."""
        return None if self.alone else self.metric

    def check(self, evidence: Evidence) -> Finding:
        """Check for a loss: broken where chance makes one so large less likely than ``1 - confidence``.

        With few entries only a large loss can break it.
        """
        if problem := evidence.not_comparable:
            return Finding(UNDECIDED, problem)
        before = evidence.baseline.records if evidence.baseline else ()
        tested = [
            self._measure_family(pair_runs(before, evidence.records, evidence.profile, assumed), evidence)
            for assumed in (None, FAILING, PASSING)
        ]
        found, worst, best = (difference for difference, _ in tested)
        p_found, p_worst, p_best = (p for _, p in tested)
        if found is None or worst is None or best is None:
            return Finding(UNDECIDED, f"nothing of {self.metric} was scored in both runs")
        sentence = f"none of {found.entries} entries of {found.metric} changed"
        if found.better + found.worse:
            low, high = 100 * found.chance.low, 100 * found.chance.high
            sentence = (
                f"{found.metric} changed by {100 * found.change:+.2f} points "
                f"(95% {low:+.2f} to {high:+.2f}) on {found.entries} entries, {found.better} better, "
                f"{found.worse} worse; p of such a loss by chance {found.chance.p_worse:.3f}"
            )
            if p_found > found.chance.p_worse:
                sentence += f", {p_found:.3f} corrected for {len(evidence.family)} such rules (Holm)"
        limit = 1 - self.confidence
        if (p_worst < limit) != (p_best < limit):
            return Finding(
                UNDECIDED, f"{sentence}; the entries that were not scored could change the outcome"
            )
        return Finding(BROKEN if p_found < limit else HELD, sentence)

    def describe_power(self, evidence: Evidence, entries: Collection[str]) -> str:
        """Describe the loss that a run of these entries would probably show."""
        before = evidence.baseline.records if evidence.baseline else ()
        planned = [record for record in before if record.entry in entries]
        parts = pair_runs(planned, planned, evidence.profile).weigh_pairs(self.metric, evidence.size_of)
        number = sum(len(pairs) for _, pairs in parts)
        clusters = len({pair.unit for _, pairs in parts for pair in pairs})
        compared = f"{number:,} entries" + (f" in {clusters:,} clusters" if clusters < number else "")
        tests = 1 if self.alone else len(evidence.family)
        loss = find_smallest_loss(parts, self.confidence, tests)
        if loss is None:
            return f"{self.text}: {compared} in common with the baseline are too few to show any loss"
        return (
            f"{self.text}: shows a loss of {100 * loss:.1f} points with a probability of {POWER:.0%} "
            f"({compared} in common with the baseline; {CHANGING:.0%} assumed to change by chance)"
        )

    def _measure_family(self, paired: Paired, evidence: Evidence) -> tuple[Difference | None, float]:
        """Measure the change, and the p value of its loss corrected for the other rules."""
        own = paired.measure_difference(self.metric, evidence.size_of)
        if own is None:
            return None, 1.0
        others = () if self.alone else (name for name in evidence.family if name != self.metric)
        beside = (paired.measure_difference(name, evidence.size_of) for name in others)
        family = [own, *(each for each in beside if each)]
        return own, correct_by_holm([each.chance.p_worse for each in family])[0]


_LATENCIES = {
    "latency.mean": "latency_mean_s",
    "latency.p50": "latency_p50_s",
    "latency.p95": "latency_p95_s",
}
_CALLS = {f"{name}.calls": name for name in ("complex", *SELECTIONS["complex"])}
_COSTS = {"cost": "usd", "cost.per_1000": "usd_per_1000_calls"}


class CallsRule(_BoundRule):
    """A bound on the call accuracy along golden paths."""

    def check(self, evidence: Evidence) -> Finding:
        """Check the value; undecided where unscored entries could change the outcome."""
        records = select_marked(evidence.records, _CALLS[self.metric])
        score = golden_paths.score_paths(records, evidence.profile)
        limits = golden_paths.find_possible_accuracy(records, evidence.profile)
        if score.accuracy is None or limits is None:
            return Finding(UNDECIDED, f"nothing of {self.metric} was scored")
        found = f"{self.metric} is {score.accuracy:.2%} ({score.right} of {score.calls})"
        worst, best = limits
        return self.bound.decide_between(worst, score.accuracy, best, found, "entries not scored")


class LatencyRule(_BoundRule):
    """A bound on the latency of calls, in seconds."""

    def check(self, evidence: Evidence) -> Finding:
        """Check the latency; undecided where no call was timed."""
        seconds = getattr(measure_usage(evidence.records), _LATENCIES[self.metric])
        if seconds is None:
            return Finding(UNDECIDED, "no call of this run has a latency")
        return self.bound.decide(seconds, f"{self.metric} is {seconds:.3g} s")


class CostRule(_BoundRule):
    """A bound on the dollars for calls; stored answers count at their price."""

    def check(self, evidence: Evidence) -> Finding:
        """Check the dollars; undecided where unknown prices could change the outcome."""
        used = measure_usage(evidence.records)
        usd = getattr(used, _COSTS[self.metric])
        if usd is None:
            return Finding(UNDECIDED, "no price is known; give it under 'prices' in fcbench.yaml")
        found = f"{self.metric} is ${usd:.4f}"
        if used.priced < used.steps:
            found += f" for the {used.priced} of {used.steps} calls whose price is known"
            # Unknown prices can only add to a sum, so a sum above its limit is decided; a mean is not.
            only_grows = self.metric == "cost" and self.bound.operator in ("<", "<=")
            if not only_grows or self.bound.holds(usd):
                return Finding(UNDECIDED, found)
        return self.bound.decide(usd, found)


class NotScoredRule(_BoundRule):
    """A bound on the share of entries without a verdict."""

    def check(self, evidence: Evidence) -> Finding:
        """Check the share, which is known for every run."""
        verdicts = [record.verdict(evidence.profile) for record in evidence.records]
        # Neither is a failure of the run: bad data, and a conversation that the other profile drove.
        apart = (SET_ASIDE, OTHER_RULES)
        counted = [v for v in verdicts if not (isinstance(v, NotScored) and v.cause in apart)]
        unscored = sum(isinstance(verdict, NotScored) for verdict in counted)
        share = unscored / len(counted) if counted else 0.0
        found = f"{unscored} of {len(counted)} entries were not scored ({share:.2%})"
        return self.bound.decide(share, found)


# Parsing

_NOT_WORSE = re.compile(
    r"\s*not-worse\s*\(\s*(?:([\w.:-]+)\s*,\s*)?(\d+(?:\.\d+)?)\s*%\s*(,\s*alone\s*)?\)\s*"
)
_PLAIN = re.compile(r"\s*([\w.:-]+?)\s*(>=|<=|>|<)\s*(.*?)\s*")
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_SHARE = re.compile(rf"{_NUMBER}\s*(%?)")
_BESIDE = re.compile(rf"baseline\s*(?:([+-])\s*{_NUMBER}\s*(%?))?")
_SECONDS = re.compile(rf"{_NUMBER}\s*(m?s)")
_DOLLARS = re.compile(rf"{_NUMBER}\s*usd", re.IGNORECASE)


def parse_rule(text: str, suites: Collection[str] = ()) -> Rule:
    """Parse a rule; ``suites`` are names that have scores, too. Raises ``UsageError``."""
    if found := _NOT_WORSE.fullmatch(text):
        metric, percent = found[1] or "overall", float(found[2])
        if not 50 <= percent < 100:
            raise _make_error(
                text,
                f"the confidence must be at least 50% and below 100%, not {percent:g}%; use e.g. "
                f"not-worse(95%)",
            )
        return NotWorse(text, _require_metric(text, metric, suites), percent / 100, alone=bool(found[3]))
    found = _PLAIN.fullmatch(text)
    if not found:
        raise _make_error(
            text,
            "expected METRIC OPERATOR VALUE (operators >=, <=, >, <) or not-worse(95%), "
            "e.g. 'overall>=0.2', 'parallel>=baseline-2%', 'latency.p95<=3s'",
        )
    metric, sign, value = found.groups()
    # A time needs its unit: 3 could be seconds or milliseconds.
    if metric in _LATENCIES:
        if not (seconds := _SECONDS.fullmatch(value)):
            raise _make_error(text, f"{value!r} is not a duration; use s or ms, e.g. '{metric}{sign}3s'")
        return LatencyRule(text, metric, Bound(sign, float(seconds[1]) / (1000 if seconds[2] == "ms" else 1)))
    if metric in _COSTS:
        if not (dollars := _DOLLARS.fullmatch(value)):
            raise _make_error(text, f"{value!r} is not a price; use usd, e.g. '{metric}{sign}1.50usd'")
        return CostRule(text, metric, Bound(sign, float(dollars[1])))
    if metric in _CALLS:
        return CallsRule(text, metric, Bound(sign, _parse_share(text, value)))
    if metric == "not_scored":
        return NotScoredRule(text, metric, Bound(sign, _parse_share(text, value)))
    metric = _require_metric(text, metric, suites)
    if beside := _BESIDE.fullmatch(value):
        margin = _parse_share(text, f"{beside[2]}{beside[3]}") if beside[1] else 0.0
        return BaselineRule(text, metric, sign, -margin if beside[1] == "-" else margin)
    return ScoreRule(text, metric, Bound(sign, _parse_share(text, value)))


def _parse_share(text: str, value: str) -> float:
    """Parse a number from 0 to 1, also given in %."""
    found = _SHARE.fullmatch(value)
    if not found:
        raise _make_error(text, f"{value!r} is not a fraction or a percentage; use e.g. 0.8 or 80%")
    share = float(found[1]) / (100 if found[2] else 1)
    # "80" without % would hold for no run or for every one.
    if share > 1:
        raise _make_error(text, f"{value} is more than 1; use a fraction or a percentage, e.g. 0.8 or 80%")
    return share


def _require_metric(text: str, metric: str, suites: Collection[str]) -> str:
    """Check that a metric has a score, and return it."""
    valid = (*METRICS, *suites)
    if metric in valid or (metric.startswith("mark:") and metric != "mark:"):
        return metric
    others = ("mark:NAME", *_CALLS, *_LATENCIES, *_COSTS, "not_scored")
    raise _make_error(text, describe_unknown_name("metric", metric, (*valid, *others)))


def _make_error(text: str, rule: str) -> UsageError:
    return UsageError(f"invalid gate rule {text!r}: {rule}")


if not TYPE_CHECKING:  # a type checker would take any name for one of the module
    __getattr__ = find_former_names(__name__, {"parse": "parse_rule"})
