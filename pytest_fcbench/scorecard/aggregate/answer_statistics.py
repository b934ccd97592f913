"""The answers of a run: their cost and latency, how they ended, how the server broke its interface.

Where no answer of many can be used, not the model but the way it is served or asked is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import fsum
from statistics import fmean, quantiles, stdev

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.json_values import EXTENDED, Count, Number
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.protocol_notes import FAILURES, describe_note, merge_notes
from pytest_fcbench.domain.transcript import PAID, Ending, Fault
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.scorecard.record import EarlierConversation, Record, Usage, measure_completion


@dataclass(frozen=True, slots=True)
class CostLatency:
    """Tokens, dollars and seconds over all steps (completions); None where nothing is known.

    Sums are over the steps whose value is known. Latencies follow the official rule (bfcl-eval
    ``eval_runner_helper``): those of all steps in one list without zeros, sample standard deviation,
    percentiles with linear interpolation (numpy's default). One latency has no standard deviation: None
    here, an error there.
    """

    __pydantic_config__ = EXTENDED

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
    cached_tokens: int | None = None
    """Input tokens that servers found in their caches."""
    cache_write_tokens: int | None = None
    """Input tokens that servers wrote to their caches for a price of its own."""
    reasoning_tokens: int | None = None
    """Output tokens that are reasoning."""


def measure_usage(records: Iterable[Record]) -> CostLatency:
    """Sum up the tokens, dollars and seconds of all steps of these Records."""
    return measure_steps([step for record in records for step in record.steps])


def measure_beside_records(
    records: Iterable[Record], earlier: Sequence[EarlierConversation] = ()
) -> Mapping[str, CostLatency]:
    """Sum up the same of what is no step of a Record: earlier conversations, judge and embedding model."""
    beside = _list_beside_records(records, earlier)
    return {name: usage for name, steps in beside.items() if (usage := measure_steps(steps)).steps}


def measure_bill(records: Sequence[Record], earlier: Sequence[EarlierConversation] = ()) -> CostLatency:
    """Sum up all that a run cost: the steps of its Records, and what is no step of one.

    ``usd_per_1000_calls`` divides all these dollars among the calls of the model under test, so that the
    calls of a cheap party do not lower it. Latencies are those of the Records' steps.
    """
    own = [step for record in records for step in record.steps]
    beside = _list_beside_records(records, earlier)
    whole, latencies = measure_steps([*own, *chain.from_iterable(beside.values())]), measure_steps(own)
    calls = measure_steps([*own, *beside.get(_EARLIER, ())]).priced
    return replace(
        whole,
        usd_per_1000_calls=None if whole.usd is None or not calls else 1000 * whole.usd / calls,
        latency_mean_s=latencies.latency_mean_s,
        latency_std_s=latencies.latency_std_s,
        latency_p50_s=latencies.latency_p50_s,
        latency_p95_s=latencies.latency_p95_s,
    )


_EARLIER = "earlier conversations"


def _list_beside_records(
    records: Iterable[Record], earlier: Sequence[EarlierConversation]
) -> Mapping[str, Sequence[Usage]]:
    """List the steps of earlier conversations and the calls of each other party that is paid."""
    usages: dict[str, list[Usage]] = {_EARLIER: [step for each in earlier for step in each.steps]}
    asides = [aside for record in records for aside in record.asides if aside.party in PAID]
    for aside in sorted(asides, key=lambda aside: aside.party):
        usages.setdefault(aside.party, []).append(measure_completion(aside.completion, aside.usd))
    return usages


def measure_steps(steps: Sequence[Usage]) -> CostLatency:
    """Sum up the tokens, dollars and seconds of these steps."""
    usd = [step.usd for step in steps if step.usd is not None]
    # Zeros are dropped, as in bfcl-eval's eval_runner_helper.
    seconds = [step.latency_s for step in steps if step.latency_s]
    return CostLatency(
        steps=sum(
            bool(step.latency_s) or (step.input_tokens, step.output_tokens, step.usd) != (None, None, None)
            for step in steps
        ),
        priced=len(usd),
        input_tokens=_sum_known(step.input_tokens for step in steps),
        output_tokens=_sum_known(step.output_tokens for step in steps),
        usd=fsum(usd) if usd else None,
        usd_per_1000_calls=1000 * fmean(usd) if usd else None,
        latency_mean_s=fmean(seconds) if seconds else None,
        # stdev() raises for a single value; bfcl-eval ends with that error (eval_runner_helper.py:224).
        latency_std_s=stdev(seconds) if len(seconds) > 1 else None,
        latency_p50_s=_find_percentile(seconds, 50),
        latency_p95_s=_find_percentile(seconds, 95),
        cached_tokens=_sum_known(step.cached_tokens for step in steps),
        cache_write_tokens=_sum_known(step.cache_write_tokens for step in steps),
        reasoning_tokens=_sum_known(step.reasoning_tokens for step in steps),
    )


def _sum_known(counts: Iterable[int | None]) -> int | None:
    known_counts = [count for count in counts if count is not None]
    return sum(known_counts) if known_counts else None


def _find_percentile(values: Sequence[float], percent: int) -> float | None:
    # quantiles() refuses a single value before Python 3.13.
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[percent - 1]


_TOLD: Mapping[Ending, str] = {
    Ending.CUT: "cut at the limit of tokens; raise --fcbench-max-tokens if the model can say more",
    Ending.FILTERED: "stopped by the provider's content filter; fcbench run show names it for an entry",
    Ending.REFUSED: "in the field for refusals; fcbench run show has its words for an entry",
    Ending.FUNCTION_CALL: "in the legacy field function_call, which is not read; have tool_calls sent",
    Ending.MALFORMED: "with a call that the server could not read; look at its tool parser",
}


def describe_endings(records: Iterable[Record]) -> list[str]:
    """Describe how many answers ended in each way that was not the model's own."""
    counts = Counter(answer.get("ending") for record in records for answer in record.answers)
    return [
        f"{counts[ending]:,} answer{'s' * (counts[ending] > 1)} {phrase}"
        for ending, phrase in _TOLD.items()
        if counts[ending]
    ]


def describe_protocol_notes(records: Iterable[Record]) -> list[str]:
    """Describe for each code of a protocol note how many answers have it; no verdict depends on it."""
    counts = Counter(
        str(code)
        for record in records
        for answer in record.answers
        if isinstance(codes := answer.get("protocol"), (list, tuple))
        for code in codes
    )
    notes = []
    for code in merge_notes(counts):
        effect = "failed before it gave" if code in FAILURES else "broke the protocol in"
        answers = f"{counts[code]:,} answer{'s' * (counts[code] > 1)}"
        notes.append(f"the server {effect} {answers} ({code}): {describe_note(code)}")
    return notes


_ENOUGH = 20
"""Answers below which a model may have given none that can be used by chance."""
_UNREADABLE = ("decoder_failed", "unreadable_call")
"""Endings of the failure codes of answers that cannot be read as calls."""

TOOL_SWITCHES = (
    "vLLM: --enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja; llama-cpp-python: "
    "--chat_format chatml-function-calling and the parameter tool_choice=auto"
)
"""What makes servers read tool calls out of what a model writes."""
_CONTEXT_SWITCHES = "vLLM: --max-model-len; llama.cpp: -c; llama-cpp-python: --n_ctx"
_OFTEN = 0.1
"""The share of entries that outgrow the context from which on the context is more likely set too short."""


def describe_unusable_answers(records: Iterable[Record]) -> str | None:
    """Describe what keeps the answers from being of use, and what to do; None where nothing does.

    That is a context too short for a tenth of the entries, or that all entries which expect calls lack the
    same in their answers; of at least twenty entries.
    """
    records = list(records)
    overflows = sum(any(answer["fault"] == Fault.OVERFLOW for answer in record.answers) for record in records)
    if len(records) >= _ENOUGH and overflows >= _OFTEN * len(records):
        return (
            f"{overflows:,} of {len(records):,} entries outgrew the context and count as wrong; if the "
            f"model can read more, start the server with a longer context ({_CONTEXT_SWITCHES})"
        )
    call_records = [r for r in records if r.turns and CATEGORIES[r.category].expects_calls]
    if len(call_records) < _ENOUGH:
        return None
    answers = [answer for record in call_records for answer in record.answers]
    all_of_them = f"of {len(call_records):,} entries that expect calls"
    if not any(answer["tool_calls"] or str(answer["text"] or "").strip() for answer in answers):
        return (
            f"every answer {all_of_them} is empty; raise --fcbench-max-tokens if the model reasons first, "
            f"or look at what the server logs"
        )
    by_tools = all(record.mode == Mode.FC and record.syntax == "tool_calls" for record in call_records)
    if by_tools and not any(answer["tool_calls"] for answer in answers):
        return (
            f"no answer {all_of_them} contains a tool call; let the server read them ({TOOL_SWITCHES}), or "
            f"ask in words with --fcbench-mode=prompt"
        )
    verdicts = [record.verdicts.official for record in call_records]
    if all(isinstance(each, Failed) and each.code.endswith(_UNREADABLE) for each in verdicts):
        return (
            f"no answer {all_of_them} can be read as calls; choose the syntax in which the model writes them "
            f"with --fcbench-syntax, or another --fcbench-mode"
        )
    return None
