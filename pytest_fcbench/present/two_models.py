"""A run of two models in words and tables, and what chance changed in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.present.score_tables import tabulate_usage
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import format_limits, format_number
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_usage
from pytest_fcbench.scorecard.aggregate.scores import ALL
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.two_models import NoiseFloor, SideBySide

_FEWEST = 5
"""Entries of a category, asked twice, from which on it has a line."""


def describe_result(facts: RunFacts) -> str | None:
    """Describe which of the two models of a run is better, in one line; None in a run of one model."""
    if (compared := facts.against) is None:
        return None
    line = f"{facts.model} against {compared.model}: {compared.sentence}"
    if not compared.is_early:
        return line
    calls = f", which saved some {compared.calls_saved:,} calls" if compared.calls_saved else ""
    end = f"ended after {compared.asked:,} of {compared.total:,} entries"
    return f"{line}; {end}, so {compared.total - compared.asked:,} were not asked{calls}"


def describe_early_end(facts: RunFacts) -> str | None:
    """Describe what the early end of a run of two models does to their difference; None without one."""
    if (compared := facts.against) is None or not compared.is_early:
        return None
    return (
        f"a run of two models ended early, after {compared.asked:,} of {compared.total:,} tests, which "
        "makes their difference look too large and too certain; --fcbench-against-whole asks all"
    )


def tabulate_two_models(facts: RunFacts, records: Sequence[Record]) -> Iterator[Table]:
    """Tabulate the two models of a run, and what differs where the same was asked twice."""
    if facts.against:
        yield from tabulate_both_models(facts.model, facts.against, records)
    if facts.noise:
        yield tabulate_noise(facts.noise)


def tabulate_both_models(model: str, compared: SideBySide, records: Sequence[Record]) -> Iterator[Table]:
    """Tabulate which entries passed with which model, the changes by category, and cost and latency."""
    counts, second = compared.verdicts, compared.model
    every = counts.both + counts.only_after + counts.only_before + counts.neither
    rows = {
        "both": counts.both,
        f"only {model}": counts.only_after,
        f"only {second}": counts.only_before,
        "neither": counts.neither,
    }
    if every:
        yield Table(
            f"{model} against {second}",
            ("passed with", "entries", "share"),
            tuple((name, f"{count:,g}", f"{count / every:.1%}") for name, count in rows.items()),
        )
    if flips := {name: of for name, of in compared.flips.items() if of.better or of.worse}:
        yield Table(
            f"entries that passed with one of the two, by category (better: with {model})",
            ("", "entries", "better", "worse"),
            tuple(
                (name, *map(format_number, (of.entries, of.better, of.worse))) for name, of in flips.items()
            ),
        )
    usage = {model: measure_usage(records), second: compared.usage}
    if any(each.steps for each in usage.values()):
        yield tabulate_usage("cost and latency of both models", usage)


def tabulate_noise(noise: NoiseFloor) -> Table:
    """Tabulate what differs where the same model was asked the same twice."""
    is_cut = any(of.entries < _FEWEST for name, of in noise.flips.items() if name != ALL)
    smallest = "so few entries can show no loss"
    if noise.smallest_loss is not None:
        smallest = f"a true loss of {100 * noise.smallest_loss:.1f} points shows with a probability of 80%"
    return Table(
        "what chance changes: the same model asked the same twice",
        ("", "entries", "other verdict", "95%", "other words"),
        tuple(
            (
                *(name, f"{of.entries:,}", f"{of.share:.1%}", format_limits(of.interval)),
                f"{of.differing:,} of {of.compared:,}",
            )
            for name in (*CATEGORIES, ALL)
            if (of := noise.flips.get(name)) and (of.entries >= _FEWEST or name == ALL)
        ),
        (
            *([f"categories with fewer than {_FEWEST} entries have no line of their own"] if is_cut else []),
            f"with so many changes by chance {smallest}",
            *([noise.note] if noise.note else []),
        ),
        optional=("other words",),
    )
