"""The sections of the page as values for its tables and charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import stdev

from pytest_fcbench.domain.categories import AS_WRITTEN, CATEGORIES
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import OTHER_RULES, Failed, NotScored, Profile
from pytest_fcbench.present import call_tables, format_tables, score_tables
from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.failure_codes import find_failure_code
from pytest_fcbench.present.score_tables import tabulate_untrained
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import describe_bill, describe_path_settings, format_time
from pytest_fcbench.scorecard.aggregate import golden_paths
from pytest_fcbench.scorecard.aggregate.formulas import GROUPS
from pytest_fcbench.scorecard.aggregate.scores import ALL, ProfileScores, Score
from pytest_fcbench.scorecard.aggregate.trials import TrialScores, count_trials, score_trials
from pytest_fcbench.scorecard.aggregate.usage import (
    CostLatency,
    measure_beside_records,
    measure_bill,
    measure_usage,
)
from pytest_fcbench.scorecard.compare.names import name_suite
from pytest_fcbench.scorecard.record import Record, group_by_category
from pytest_fcbench.scorecard.scorecard_files import Scorecard


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """A scorecard with its name and marker in the page, and its scores in both profiles."""

    series: int
    label: str
    scorecard: Scorecard
    scores: Mapping[Profile, ProfileScores]
    categories: Mapping[str, Sequence[Record]]
    usage: CostLatency
    bill: CostLatency
    trials: int

    @property
    def counts(self) -> Profile:
        """The profile whose counts are shown: the one that conversations followed, or the official one."""
        means = self.scorecard.facts.driven
        return means.profile if means else Profile.OFFICIAL

    @property
    def swatch(self) -> str:
        """The marker of the model as SVG."""
        return marks.draw_swatch(self.series)


def prepare_models(scorecards: Sequence[Scorecard]) -> tuple[ReportedModel, ...]:
    """Prepare the scorecards for the page, in the order given."""
    return tuple(
        ReportedModel(
            series,
            label,
            scorecard,
            {profile: scorecard.scores(profile) for profile in Profile},
            group_by_category(scorecard.records),
            measure_usage(scorecard.records),
            measure_bill(scorecard.records, scorecard.facts.earlier),
            count_trials(scorecard.records),
        )
        for series, (label, scorecard) in enumerate(zip(name_models(scorecards), scorecards, strict=True))
    )


_MORE: tuple[Callable[[int, Scorecard], str], ...] = (
    lambda number, card: card.facts.mode,
    lambda number, card: card.path.stem,
    lambda number, card: f"#{number + 1}",
)
"""Distinctions between scorecards of the same model, in order of use."""


def name_models(scorecards: Sequence[Scorecard]) -> tuple[str, ...]:
    """Shorten the name of each: the model's, with the mode or the file where that is not enough."""
    names = []
    for card in scorecards:
        kind, _, path = card.facts.model.partition(":")
        # Models made of stored answers are named by a path, of which the page needs the end only.
        is_file = kind in ("replay", "scripted") and path
        names.append(make_printable(f"{kind}:{PurePath(path).name}" if is_file else card.facts.model))
    for more in _MORE:
        told = [
            (name, make_printable(more(n, card)))
            for n, (name, card) in enumerate(zip(names, scorecards, strict=True))
        ]
        # As a set: a word that all cards of a name share tells nothing apart.
        kinds = Counter(name for name, _ in set(told))
        names = [f"{name} ({word})" if kinds[name] > 1 else name for name, word in told]
    return tuple(names)


def summarise_run(model: ReportedModel) -> str:
    """Summarise a run on one line."""
    told, card = model.scorecard.facts, model.scorecard
    suites = ", ".join(f"{name} {suite['version']}" for name, suite in told.suites.items())
    # The day only: the facts of the run have the time.
    when = [] if card.created_s is None else [format_time(card.created_s).partition(" ")[0]]
    return make_printable(" · ".join((told.manner, suites, f"fcbench {told.fcbench}", *when)))


_SUITES = {
    "bfcl": "the Berkeley Function-Calling Leaderboard",
    "complexfuncbench": "ComplexFuncBench",
    "core": "the entries that come with pytest-fcbench",
}
"""Readers of a report may not know the names of official suites."""


def list_facts(model: ReportedModel) -> Iterator[tuple[str, str]]:
    """List the facts that are stated with every score."""
    told, card = model.scorecard.facts, model.scorecard
    yield "model", told.model
    yield "calls requested by", f"{'tool calls' if told.mode == 'fc' else 'a system prompt'} ({told.mode})"
    yield "names and syntax", f"{told.names}, {told.syntax}"
    if told.asked_as:
        yield "asked as", told.asked_as
    for name, suite in told.suites.items():
        about = f", {_SUITES[name]}" if name in _SUITES else ""
        yield f"suite {name}", f"{name_suite(name, suite).removeprefix(f'{name} ')}{about}"
    yield "entries", f"{len({record.entry for record in card.records}):,}"
    if told.shard:
        yield "shard", f"{told.shard}: only a part of the entries"
    if model.trials > 1:
        yield "trials", f"{model.trials} of each entry"
    yield "tests judged by", f"the {told.profile} profile"
    if told.driven:
        yield "complex conversations", describe_path_settings(told.driven)
    if told.search:
        yield "web", told.search
    if told.price and told.price.hour is not None:
        yield "price", f"${told.price.hour:g} an hour, {told.concurrency} calls at once"
    elif told.price and told.price.input is not None and told.price.output is not None:
        own = {
            "cached": told.price.cached,
            "written to a cache": told.price.cache_write,
            "reasoning": told.price.reasoning,
        }
        rates = [f", ${rate:g} {tokens}" for tokens, rate in own.items() if rate is not None]
        price = f"${told.price.input:g} in, ${told.price.output:g} out{''.join(rates)}"
        yield "price", f"{price}, per million tokens"
    if card.created_s is not None:
        yield "ended", format_time(card.created_s)
    yield "fcbench", told.fcbench
    yield "file", card.path.name
    for note in told.notes:
        yield "note", note


# Scores


@dataclass(frozen=True, slots=True)
class Both:
    """A score in both profiles."""

    official: Score
    corrected: Score

    def under(self, profile: Profile) -> Score:
        """Return the score of one profile."""
        return self.official if profile is Profile.OFFICIAL else self.corrected


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A category, a group, overall or all with the score of each model, None where nothing of it was run."""

    name: str
    scores: tuple[Both | None, ...]


def make_category_rows(shown: Sequence[ReportedModel]) -> list[SectionRow]:
    """Make a row of every category of any model."""
    return [
        make_row(name, shown) for name in group_by_category(r for m in shown for r in m.scorecard.records)
    ]


def make_group_rows(shown: Sequence[ReportedModel]) -> list[SectionRow]:
    """Make a row of every group that was run as a whole, and of overall or all entries."""
    found = [name for model in shown for scores in model.scores.values() for name in scores.names]
    own = {name for name in found if name not in CATEGORIES and name not in GROUPS} - {"overall", ALL}
    return [make_row(name, shown) for name in (*GROUPS, *sorted(own), "overall", ALL) if name in found]


def choose_main_score(shown: Sequence[ReportedModel], profile: Profile) -> str:
    """Choose the score that stands for these runs."""
    names = {model.scores[profile].main for model in shown}
    return names.pop() if len(names) == 1 else ALL


def make_row(name: str, shown: Sequence[ReportedModel]) -> SectionRow:
    """Make a row of a score."""
    found = [[model.scores[profile].find_score(name) for profile in Profile] for model in shown]
    return SectionRow(name, tuple(Both(*both) if all(both) else None for both in found))  # type: ignore[arg-type]


def pair_executed(rows: Sequence[SectionRow]) -> list[tuple[SectionRow, SectionRow]]:
    """Pair the categories judged as written with their executed counterparts, where both were run."""
    by_name = {row.name: row for row in rows}
    return [(by_name[a], by_name[b]) for b, a in AS_WRITTEN.items() if a in by_name and b in by_name]


@dataclass(frozen=True, slots=True)
class Formats:
    """A model asked in several manners: the effect of the format of questions on its score."""

    model: str
    metrics: tuple[str, ...]
    """Groups and overall, as far as all manners have a score of the same parts there."""
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    """Each manner with its accuracies."""

    @property
    def delta(self) -> tuple[float, ...]:
        """The largest difference of each metric, in points (BFCL: format sensitivity max delta)."""
        return tuple(100 * (max(column) - min(column)) for column in self._columns)

    @property
    def deviation(self) -> tuple[float, ...]:
        """The sample standard deviation of each metric, in points (BFCL: format sensitivity)."""
        return tuple(100 * stdev(column) for column in self._columns)

    @property
    def _columns(self) -> Iterator[tuple[float, ...]]:
        return zip(*(accuracies for _, accuracies in self.rows), strict=True)


def compare_formats(
    shown: Sequence[ReportedModel], rows: Sequence[SectionRow], profile: Profile
) -> Iterator[Formats]:
    """Compare the manners of each model that was asked in several by the scores of ``rows``."""
    manners: dict[str, dict[str, ReportedModel]] = {}
    for model in shown:
        told = model.scorecard.facts
        manner = f"{told.manner}, {told.syntax}"
        manners.setdefault(told.model, {}).setdefault(manner, model)
    for name, asked in manners.items():
        found = {row.name: [row.scores[model.series] for model in asked.values()] for row in rows}
        entries = {frozenset(r.entry for r in model.scorecard.records) for model in asked.values()}
        scores = {
            metric: [both.under(profile) for both in column if both] for metric, column in found.items()
        }
        known = {
            metric: [score.accuracy for score in column if score.accuracy is not None]
            for metric, column in scores.items()
            # With different missing parts, or other entries, these would make the difference.
            if len({score.missing for score in column}) == 1 and (metric != ALL or len(entries) == 1)
        }
        metrics = tuple(metric for metric, column in known.items() if len(column) == len(asked))
        if len(asked) > 1 and metrics:
            accuracies = [tuple(known[metric][n] for metric in metrics) for n in range(len(asked))]
            yield Formats(name, metrics, tuple(zip(asked, accuracies, strict=True)))


_COSTS: Mapping[str, Callable[[CostLatency], float | None]] = {
    "dollars per 1,000 calls": lambda usage: usage.usd_per_1000_calls,
    "seconds per call (mean)": lambda usage: usage.latency_mean_s,
}


def draw_costs(
    runs: Sequence[tuple[int, Score | None, CostLatency]], metric: str, profile: Profile
) -> Iterator[str]:
    """Draw the scores of runs, by series, against dollars and seconds, where two runs or more have them."""
    for label, measure in _COSTS.items():
        points = [
            marks.Point(series, x, score.accuracy, score.interval.low, score.interval.high)
            for series, score, usage in runs
            if score and score.accuracy is not None and score.interval and (x := measure(usage)) is not None
        ]
        if len(points) > 1:
            score_of = f"{metric.capitalize()} accuracy ({profile} profile)"
            yield marks.draw_scatter(
                points, label, f"{score_of} against {label}; the tables have the numbers."
            )


def list_usage(shown: Sequence[ReportedModel]) -> list[tuple[str, CostLatency]]:
    """List the bill and latency of each run; empty where nothing is known of any."""
    return [(model.label, model.bill) for model in shown if any(model.bill.steps for model in shown)]


def list_usage_by_category(
    shown: Sequence[ReportedModel],
) -> Iterator[tuple[ReportedModel, list[tuple[str, CostLatency]], list[str]]]:
    """List cost and latency by category, with sentences about the bill, of each model that has them."""
    for model in shown:
        if model.bill.steps:
            rows = [(name, measure_usage(part)) for name, part in model.categories.items()]
            others = measure_beside_records(model.scorecard.records, model.scorecard.facts.earlier)
            told = list(describe_bill(model.bill, others))
            yield model, [*rows, ("all", model.usage), *others.items()], told


# Errors


@dataclass(frozen=True, slots=True)
class Errors:
    """Codes of failures, most frequent first."""

    codes: Sequence[tuple[str, str, Sequence[int]]]
    """Each code with its meaning, and how often each model has it."""
    by_category: Sequence[tuple[ReportedModel, Mapping[str, Sequence[tuple[str, int]]]]]
    """The codes of each category with their counts, of each model that has any."""


def count_errors(shown: Sequence[ReportedModel], profile: Profile) -> Errors:
    """Count the codes of all failures under one profile."""
    found = [
        {
            name: Counter(v.code for record in part if isinstance(v := record.verdict(profile), Failed))
            for name, part in model.categories.items()
        }
        for model in shown
    ]
    totals = [sum(counts.values(), Counter[str]()) for counts in found]
    together = sum(totals, Counter[str]())
    return Errors(
        [
            (code, find_failure_code(code).meaning, [total[code] for total in totals])
            for code in sorted(together, key=lambda code: (-together[code], code))
        ],
        [
            (model, {name: counts.most_common() for name, counts in by_category.items() if counts})
            for model, by_category, total in zip(shown, found, totals, strict=True)
            if total
        ],
    )


def count_causes(shown: Sequence[ReportedModel], profile: Profile) -> list[tuple[str, list[int]]]:
    """Count the causes of entries that were not scored, for each model."""
    found = [
        Counter(
            v.cause
            for r in m.scorecard.records
            # Entries that followed the other profile's rules are counted once, with the complex calls.
            if isinstance(v := r.verdict(profile), NotScored) and v.cause != OTHER_RULES
        )
        for m in shown
    ]
    return [(cause, [counts[cause] for counts in found]) for cause in sorted(set().union(*found))]


def tabulate_beside_scores(
    shown: Sequence[ReportedModel], profile: Profile
) -> Iterator[tuple[ReportedModel, Table]]:
    """Tabulate each model's scores without trained entries, turns, executable entries and replies."""
    for model in shown:
        card = model.scorecard
        for table in (
            tabulate_untrained(card.records, profile, card.size_of),
            score_tables.tabulate_right_turns(card.records, profile),
            score_tables.tabulate_sides(card.records, profile),
            score_tables.tabulate_ratings(card.records, card.facts.rated_by),
        ):
            if table:
                yield model, table


# Complex calls


@dataclass(frozen=True, slots=True)
class Complex:
    """Tables of one model's conversations along golden paths."""

    model: ReportedModel
    tables: Sequence[Table]
    notes: Sequence[str]


def tabulate_complex_totals(shown: Sequence[ReportedModel], profile: Profile) -> Table | None:
    """Tabulate models with conversations along golden paths side by side; None for fewer than two."""
    found = {
        model.label: golden_paths.score_paths_by_category(model.scorecard.records, profile).get("all")
        for model in shown
    }
    rows = [
        (label, *call_tables.format_path_scores(every))
        for label, every in found.items()
        if every and every.scored
    ]
    title, columns = f"complex calls of each model ({profile} profile)", ("model", *call_tables.COLUMNS)
    return Table(title, columns, tuple(rows)) if len(rows) > 1 else None


def describe_complex_calls(shown: Sequence[ReportedModel], profile: Profile) -> Iterator[Complex]:
    """Describe the conversations along golden paths of each model that has any."""
    for model in shown:
        records = model.scorecard.records
        table = call_tables.tabulate_calls(records, profile)
        apart = [
            sentence for each in Profile if (sentence := call_tables.describe_other_rules(records, each))
        ]
        if table is not None:
            tables = (table, *call_tables.tabulate_call_details(records, profile))
            yield Complex(model, tables, (*table.notes, *apart))
        elif apart:
            yield Complex(model, (), apart)


@dataclass(frozen=True, slots=True)
class SensitivityTables:
    """Tables of one model's entries in all prompt formats."""

    model: ReportedModel
    tables: Sequence[Table]


def tabulate_sensitivity(shown: Sequence[ReportedModel], profile: Profile) -> Iterator[SensitivityTables]:
    """Tabulate the entries in all prompt formats of each model that has any."""
    for model in shown:
        if tables := tuple(format_tables.tabulate_formats(model.scorecard.records, profile)):
            yield SensitivityTables(model, tables)


def score_trial_rows(model: ReportedModel, profile: Profile) -> list[tuple[str, TrialScores]]:
    """Score the trials of each entry, by category and of all."""
    parts = {**model.categories, "all": model.scorecard.records}
    return [(name, score_trials(part, profile, model.trials)) for name, part in parts.items()]
