"""Names and numbers, as tables about several scorecards write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.aggregate.scores import GROUPS, ProfileScores


def describe_path_settings(means: PathSettings | None) -> str:
    """Describe the settings of conversations along golden paths."""
    if means is None:
        return "-"
    replies = "live replies" if means.live else "recorded replies"
    text = f"by the {means.profile} rules, judge {means.judge}, similarity {means.similarity}, {replies}"
    if means.runner is None:
        return text
    texts = (
        f"texts of the official code ({means.wording})"
        if means.wording
        else "texts of pytest-fcbench, because 'fcbench pull complexfuncbench --code PATH' has read no others"
    )
    return f"{text}, as runner {means.runner}, {texts}"


def format_time(seconds: float) -> str:
    """Write a time in seconds since 1970 as date and time in UTC."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    # A file can state a year that the platform's clock does not have.
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g} s"


def format_limits(interval: Interval | None) -> str:
    """Write an interval of shares in percent, or a dash; with the number of clusters where they are few."""
    if interval is None:
        return "-"
    few = f" ({interval.clusters} cluster{'s'[: interval.clusters - 1]})" if interval.clusters else ""
    return f"{interval.low:.1%}-{interval.high:.1%}".replace("%-", "-") + few


def describe_weight(scores: ProfileScores) -> str:
    """Describe how much of BFCL's formula was run, and of a sample how many entries."""
    weight = f"categories with {100 * scores.weight:.3g}% of the weight of BFCL's overall score were run"
    return f"{weight}, {describe_sample(scores)} of them" if scores.sample else weight


def describe_sample(scores: ProfileScores) -> str:
    """Describe how many entries of the parts that were run are in a sample; empty without."""
    return "{:,} of {:,} entries".format(*scores.sample) if scores.sample else ""


def describe_missing_parts(scores: ProfileScores) -> str:
    """Describe which parts of BFCL's formula were not run; empty where none or all of them are missing."""
    missing = scores.overall.missing
    return f"no overall score without these parts: {', '.join(missing)}" if scores.weight and missing else ""


def select_outermost(parts: Iterable[str]) -> list[str]:
    """Select the parts of formulas that are not parts of another one given."""
    names = list(dict.fromkeys(parts))
    within = {part for name in names if name in GROUPS for part in GROUPS[name].parts}
    return [name for name in names if name not in within]


def format_number(value: float | None, form: str = ",d") -> str:
    """Write a number, or a dash for one that is not known."""
    return "-" if value is None else format(value, form)


def format_dollars(usd: float | None) -> str:
    """Write dollars with as many decimals as they need."""
    decimals = 2 if usd is None or usd >= 1 else 6 if 0 < usd < 0.0001 else 4
    return format_number(usd, f",.{decimals}f")


def describe_bill(bill: CostLatency, others: Iterable[str]) -> Iterator[str]:
    """Describe what a run cost with all its parties, and which tokens may have prices of their own."""
    if bill.usd is not None and (parties := ", ".join(others)):
        of_1000 = bill.usd_per_1000_calls
        per_1000 = "" if of_1000 is None else f", ${format_dollars(of_1000)} per 1,000 calls of the model"
        yield f"bill with {parties}: ${format_dollars(bill.usd)}{per_1000}"
    if 0 < bill.priced < bill.steps:
        yield f"dollars cover {bill.priced:,} of {bill.steps:,} steps; the cost of the others is not known"
    parts = (
        (bill.cached_tokens, "of the input were read from a cache"),
        (bill.cache_write_tokens, "of the input were written to a cache"),
        (bill.reasoning_tokens, "of the output were reasoning"),
    )
    if token_counts := [f"{count:,} {what}" for count, what in parts if count]:
        yield f"tokens: {', '.join(token_counts)}"
