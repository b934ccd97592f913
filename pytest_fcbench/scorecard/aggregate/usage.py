"""Cost and latency of the completions of a run or a category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean, quantiles, stdev

from pytest_fcbench.domain.json_values import DESCRIBED, Count, Number
from pytest_fcbench.scorecard.record import EarlierConversation, Record, Usage, measure_completion


@dataclass(frozen=True, slots=True)
class CostLatency:
    """Tokens, dollars and seconds over all steps (completions); None where nothing is known.

    Sums are over the steps whose value is known. Latencies follow the official rule (bfcl-eval
    ``eval_runner_helper``): those of all steps in one list without zeros, sample standard deviation,
    percentiles with linear interpolation (numpy's default). One latency has no standard deviation: None
    here, an error there.
    """

    __pydantic_config__ = DESCRIBED

    steps: Count
    """Steps of which anything is known."""
    priced: Count
    """Steps whose dollars are known."""
    input_tokens: int | None
    output_tokens: int | None
    usd: Number | None
    """Dollars of all priced steps."""
    usd_per_1000_calls: Number | None
    """1,000 times the mean of a priced step, as in the cost column of the first BFCL leaderboard."""
    latency_mean_s: Number | None
    """Seconds, zeros left out, as officially."""
    latency_std_s: Number | None
    """Of a sample; null for one latency."""
    latency_p50_s: Number | None
    latency_p95_s: Number | None


def measure_usage(records: Iterable[Record]) -> CostLatency:
    """Sum up the tokens, dollars and seconds of all steps of these Records."""
    return measure_steps([step for record in records for step in record.steps])


def measure_beside_records(
    records: Iterable[Record], earlier: Sequence[EarlierConversation] = ()
) -> Mapping[str, CostLatency]:
    """Sum up the same of what is no step of a Record: earlier conversations, judge and embedding model."""
    by_party: dict[str, list[Usage]] = {}
    for record in records:
        for aside in record.asides:
            # Searches and pages of the web have no tokens.
            if aside.completion.input_tokens is not None:
                by_party.setdefault(aside.party, []).append(measure_completion(aside.completion, aside.usd))
    found = {party: measure_steps(by_party[party]) for party in sorted(by_party)}
    if not earlier:
        return found
    steps = [step for conversation in earlier for step in conversation.steps]
    return {"earlier conversations": measure_steps(steps), **found}


def measure_steps(steps: Sequence[Usage]) -> CostLatency:
    """Sum up the tokens, dollars and seconds of these steps."""
    asked = [step.input_tokens for step in steps if step.input_tokens is not None]
    answered = [step.output_tokens for step in steps if step.output_tokens is not None]
    usd = [step.usd for step in steps if step.usd is not None]
    # Zeros are dropped, as in bfcl-eval's eval_runner_helper.
    seconds = [step.latency_s for step in steps if step.latency_s]
    return CostLatency(
        steps=sum(
            bool(step.latency_s) or (step.input_tokens, step.output_tokens, step.usd) != (None, None, None)
            for step in steps
        ),
        priced=len(usd),
        input_tokens=sum(asked) if asked else None,
        output_tokens=sum(answered) if answered else None,
        usd=fsum(usd) if usd else None,
        usd_per_1000_calls=1000 * fmean(usd) if usd else None,
        latency_mean_s=fmean(seconds) if seconds else None,
        # stdev() raises for a single value; bfcl-eval ends with that error (eval_runner_helper.py:224).
        latency_std_s=stdev(seconds) if len(seconds) > 1 else None,
        latency_p50_s=_find_percentile(seconds, 50),
        latency_p95_s=_find_percentile(seconds, 95),
    )


def _find_percentile(values: Sequence[float], percent: int) -> float | None:
    # quantiles() refuses a single value before Python 3.13.
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[percent - 1]
