"""Format sensitivity in tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import format_limits, format_number
from pytest_fcbench.scorecard.aggregate.format_sensitivity import Sensitivity, measure_sensitivity
from pytest_fcbench.scorecard.record import Record

_DIMENSIONS = {
    "returned": "return format",
    "tagged": "tool-call tag",
    "docs": "function docs",
    "layout": "prompt",
    "style": "wording",
}


def tabulate_formats(records: Sequence[Record], profile: Profile) -> Iterator[Table]:
    """Tabulate accuracies by format, their spread and the cost of each dimension, if entries were varied.

    Both profiles stand side by side; intervals are those of ``profile``.
    """
    measures = {each: value for each in Profile if (value := measure_sensitivity(records, each))}
    if profile not in measures:
        return
    rows = []
    for prompt_format, own in measures[profile].formats.items():
        # The other profile may have scored nothing in this format, or nothing at all.
        scores = [measures[each].formats.get(prompt_format) if each in measures else None for each in Profile]
        accuracies = (format_number(score.accuracy if score else None, ".2%") for score in scores)
        counts = (f"{own.scored:,}", f"{own.passed:,}")
        rows.append((prompt_format.short, *counts, *accuracies, format_limits(own.interval)))
    yield Table(
        f"format sensitivity: accuracy by prompt format (counts and intervals of the {profile} profile)",
        ("calls as", "scored", "passed", *Profile, "95% interval"),
        tuple(rows),
    )
    yield _tabulate_spread(measures, profile)
    if costs := measures[profile].costs:
        costly = tuple(
            (
                _DIMENSIONS[cost.dimension],
                cost.value,
                cost.usual,
                f"{cost.pairs:,}",
                f"{cost.gained:,}",
                f"{cost.lost:,}",
                f"{100 * cost.difference:+.2f}",
                f"{100 * cost.interval.low:+.2f} to {100 * cost.interval.high:+.2f}",
            )
            for cost in costs
        )
        yield Table(
            f"accuracy that a format costs on the same entries, largest loss first ({profile} profile)",
            ("dimension", "value", "instead of", "pairs", "gained", "lost", "points", "95% interval"),
            costly,
            left=frozenset(("value", "instead of")),
        )


def _tabulate_spread(sensitivities: dict[Profile, Sensitivity], profile: Profile) -> Table:
    own = sensitivities[profile]
    # The variance has no interval of its own: it is the square of the deviation.
    rows = [
        (
            kind,
            *(
                f"{getattr(sensitivities[each], name):.2f}" if each in sensitivities else "-"
                for each in Profile
            ),
            "{:.2f} to {:.2f}".format(*limits) if (limits := getattr(own.intervals, name, None)) else "-",
        )
        for kind, name in (
            ("maximum delta", "max_delta"),
            ("standard deviation", "std"),
            ("variance", "variance"),
        )
    ]
    chance = (
        "a model that the format does not influence stays below a maximum delta of "
        f"{format_number(own.max_delta_by_chance, '.2f')} points in 95 of 100 such runs"
    )
    return Table(
        f"differences between formats, in points (intervals of the {profile} profile)",
        ("measure", *Profile, "95% interval"),
        tuple(rows),
        (
            *([f"no intervals: {own.intervals.reason}"] if own.intervals.reason else []),
            *([chance] if own.max_delta_by_chance is not None else []),
        ),
    )
