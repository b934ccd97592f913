"""Decide while a run goes on whether one model is worse than another, at an error that holds under looking.

Whoever tests ten times at 5 % and stops at the first loss calls an equal model worse in one of six runs. So
each look has a level of its own, and what all looks spend adds up to the error of the whole run. They spend
as O'Brien & Fleming's boundaries do, by the function of Lan & DeMets (1983): next to nothing early, most of
it at the end, whose level is hardly below that of a single test. The levels follow by recursive numerical
integration (Armitage, McPherson & Rowe 1969): after each look the density of the sum so far, of those runs
that have not stopped, is carried on to the next.

A loss or a gain is tested with the p values of ``paired``, so that clusters, weights and trials count. That a
loss is at most a margin is read off the repeated confidence interval (Jennison & Turnbull 1989): the estimate
and so many of its standard errors as the level of the look says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import erfc, exp, inf, pi, sqrt
from statistics import NormalDist

from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, find_quantile, find_tail
from pytest_fcbench.scorecard.aggregate.scores import SizeOf
from pytest_fcbench.scorecard.compare.paired import POWER, MetricDifference, Paired, format_p
from pytest_fcbench.scorecard.two_models import LookDecision

LOOKS = 10
"""The number of looks at a run, after equal shares of its entries."""
_STEP = 1 / LOOKS
MARGIN = 0.02
"""The change that is too small to matter: 2 points."""
_EARLIEST = 0.5
"""The share of entries after which a run may end without a loss or a gain."""
_HOPELESS = 0.1
"""The probability of an answer below which going on is not worth its calls."""
_TINY = 1e-12
"""A level below this decides nothing: a tail so thin is no longer that of the normal distribution."""
_STEPS = 160
"""Intervals of the integration, an even number; with five times as many no level changes by 0.001 %."""
_FAR = 8.0
"""Standard deviations beyond which nothing is integrated."""


@lru_cache
def _find_levels(alpha: float) -> tuple[float, ...]:
    """Find the nominal one-sided level of each look, of which all together err with probability ``alpha``."""
    reach = -NormalDist().inv_cdf(alpha / 2)
    # The sums of runs that go on, each with its density times its weight in Simpson's rule.
    sums = [(0.0, 1.0)]
    levels, spent = [], 0.0
    for look in range(1, LOOKS + 1):
        share = look * _STEP
        spends = 2 * find_tail(reach / sqrt(share), inf)
        low, high = 0.0, _FAR * sqrt(share)
        for _ in range(50):
            limit = (low + high) / 2
            beyond = sum(w / 2 * erfc((limit - value) / sqrt(2 * _STEP)) for value, w in sums)
            low, high = (limit, high) if beyond > spends - spent else (low, limit)
        levels.append(find_tail(limit / sqrt(share), inf))
        spent = spends
        bottom = -_FAR * sqrt(share)
        width = (limit - bottom) / _STEPS
        ahead = [bottom + width * n for n in range(_STEPS + 1)]
        factors = [1 if n in (0, _STEPS) else 4 if n % 2 else 2 for n in range(_STEPS + 1)]
        density = width / 3 / sqrt(2 * pi * _STEP)
        sums = [
            (new, factor * density * sum(w * exp((new - old) ** 2 / -2 / _STEP) for old, w in sums))
            for new, factor in zip(ahead, factors, strict=True)
        ]
    return tuple(levels)


def find_nominal_level(alpha: float, share: float) -> float:
    """Return the one-sided level of a look at this share of the entries, of looks that err with ``alpha``.

    That of the last tenth that is complete; 0 before the first, and at the end a little below ``alpha``.
    """
    look = min(LOOKS, int(share * LOOKS + 1e-9))
    return _find_levels(alpha)[look - 1] if look > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LookFinding:
    """The result of a look at a run."""

    decision: LookDecision
    share: float
    """The share of entries that both models were asked."""
    level: float
    """The one-sided level of this look."""
    difference: MetricDifference | None
    """The change from the reference to the model under test; None where nothing was scored in both."""
    low: float
    high: float
    """Limits of the change, each of which holds with the confidence over all looks together."""
    sentence: str


def decide_comparison(
    paired: Paired,
    asked: int,
    total: int,
    metric: str,
    size_of: SizeOf = lambda name: 0,
    confidence: float = CONFIDENCE,
    *,
    looks: bool = True,
) -> LookFinding:
    """Decide after so many of all entries; ``paired`` has the reference before and the model after.

    To be called once after each complete tenth of the entries, which have to be a fair sample of all, about
    the same metric each time; or without ``looks`` once, when the run has ended.
    """
    share = asked / total if total else 1.0
    alpha = 1 - confidence
    level = find_nominal_level(alpha, share) if looks else alpha
    difference = paired.measure_difference(metric, size_of)
    if difference is None or level < _TINY:
        most = difference.chance.most if difference else 1.0
        why = "too little was asked yet" if difference else "no entry was scored with both models"
        sentence = f"open: {why} ({asked:,} of {total:,} entries asked)"
        return LookFinding(LookDecision.OPEN, share, level, difference, -most, most, sentence)
    chance = difference.chance
    interval = chance.estimate.find_interval(difference.change, chance.most, level)
    low, high = interval.low, interval.high
    # Signs given by lot are as often up as down, so half of both directions is the one that was seen.
    p_better = chance.p / 2 if difference.change > 0 else 1.0
    if chance.p_worse <= level:
        decision = LookDecision.WORSE
    elif p_better <= level:
        decision = LookDecision.BETTER
    # That nothing is lost speaks of the rest, too, where a server may have changed.
    elif share <= _EARLIEST:
        decision = LookDecision.OPEN
    elif low > -MARGIN:
        decision = LookDecision.ALIKE if high < MARGIN else LookDecision.NOT_WORSE
    elif looks and share < 1 and _find_hope(difference, share, alpha) < _HOPELESS:
        decision = LookDecision.HOPELESS
    else:
        decision = LookDecision.OPEN
    sentence = _describe_look(decision, difference, (low, high), confidence)
    return LookFinding(decision, share, level, difference, low, high, sentence)


def _find_hope(difference: MetricDifference, share: float, alpha: float) -> float:
    """Find the larger probability that the whole run shows a loss, or that it is at most the margin.

    For the one the rest of the run loses the margin, or what a whole run would show with probability
    ``POWER`` if that is more; for the other it loses nothing.
    """
    normal, estimate = NormalDist(), difference.chance.estimate
    error = sqrt(estimate.variance * share)
    needs = find_quantile(1 - find_nominal_level(alpha, 1.0), estimate.freedom) * error
    loss = max(MARGIN, needs + normal.inv_cdf(POWER) * error)
    now, spread = share * difference.change, error * sqrt(1 - share)
    shows_loss = normal.cdf((-needs - now + (1 - share) * loss) / spread)
    shows_none = normal.cdf((now + MARGIN - needs) / spread)
    return max(shows_loss, shows_none)


def _describe_look(
    decision: LookDecision, difference: MetricDifference, limits: tuple[float, float], confidence: float
) -> str:
    meanings = {
        LookDecision.WORSE: "worse",
        LookDecision.BETTER: "better",
        LookDecision.ALIKE: f"alike: not worse and not better by more than {100 * MARGIN:g} points",
        LookDecision.NOT_WORSE: f"not worse by more than {100 * MARGIN:g} points",
        LookDecision.HOPELESS: "open: the rest would hardly show a loss, or that nothing was lost",
        LookDecision.OPEN: "open",
    }
    low, high = (100 * limit for limit in limits)
    # At an early look, few clusters leave the limits wide where the test is sure; wide open they say nothing.
    is_sure = decision in (LookDecision.WORSE, LookDecision.BETTER) and low <= 0 <= high
    how = "wide, because of few clusters" if is_sure else f"each limit with {confidence:.0%}"
    most = 100 * difference.chance.most
    interval = f"({low:+.2f} to {high:+.2f}, {how}) " if low > -most or high < most else ""
    is_loss = decision is not LookDecision.BETTER
    p = difference.chance.p_worse if is_loss else difference.chance.p / 2
    return (
        f"{meanings[decision]}; {difference.metric} changed by {100 * difference.change:+.2f} points "
        f"{interval}on {difference.entries:,} entries, "
        f"{difference.better:,} better, {difference.worse:,} worse; "
        f"test for a {'loss' if is_loss else 'gain'}: p {format_p(p)}"
    )
