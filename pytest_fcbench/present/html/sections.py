"""The sections of the page as values for its tables and charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import stdev

from pytest_fcbench.domain.entry import AS_WRITTEN, CATEGORIES
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import OTHER_RULES, Failed, NotScored, Profile
from pytest_fcbench.present import score_tables
from pytest_fcbench.present.charts import marks, plots
from pytest_fcbench.present.failure_codes import find_failure_code
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import describe_bill, describe_path_settings, format_time
from pytest_fcbench.scorecard.aggregate import golden_paths
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    CostLatency,
    measure_beside_records,
    measure_bill,
    measure_usage,
)
from pytest_fcbench.scorecard.aggregate.scores import ALL, GROUPS, ProfileScores, Score
from pytest_fcbench.scorecard.aggregate.secondary_scores import TrialScores, count_trials, score_trials
from pytest_fcbench.scorecard.compare.comparison import name_suite
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
        name_words = [
            (name, make_printable(more(n, card)))
            for n, (name, card) in enumerate(zip(names, scorecards, strict=True))
        ]
        # As a set: a word that all cards of a name share tells nothing apart.
        kinds = Counter(name for name, _ in set(name_words))
        names = [f"{name} ({word})" if kinds[name] > 1 else name for name, word in name_words]
    return tuple(names)


def summarise_run(model: ReportedModel) -> str:
    """Summarise a run on one line."""
    run_facts, card = model.scorecard.facts, model.scorecard
    suites = ", ".join(f"{name} {suite['version']}" for name, suite in run_facts.suites.items())
    # The day only: the facts of the run have the time.
    when = [] if card.created_s is None else [format_time(card.created_s).partition(" ")[0]]
    return make_printable(" · ".join((run_facts.manner, suites, f"fcbench {run_facts.fcbench}", *when)))


_SUITES = {
    "bfcl": "the Berkeley Function-Calling Leaderboard",
    "complexfuncbench": "ComplexFuncBench",
    "core": "the entries that come with pytest-fcbench",
}
"""Readers of a report may not know the names of official suites."""


def list_facts(model: ReportedModel) -> Iterator[tuple[str, str]]:
    """List the facts that are stated with every score."""
    run_facts, card = model.scorecard.facts, model.scorecard
    yield "model", run_facts.model
    yield (
        "calls requested by",
        f"{'tool calls' if run_facts.mode == 'fc' else 'a system prompt'} ({run_facts.mode})",
    )
    yield "names and syntax", f"{run_facts.names}, {run_facts.syntax}"
    if run_facts.asked_as:
        yield "asked as", run_facts.asked_as
    for name, suite in run_facts.suites.items():
        about = f", {_SUITES[name]}" if name in _SUITES else ""
        yield f"suite {name}", f"{name_suite(name, suite).removeprefix(f'{name} ')}{about}"
    yield "entries", f"{len({record.entry for record in card.records}):,}"
    if run_facts.shard:
        yield "shard", f"{run_facts.shard}: only a part of the entries"
    if model.trials > 1:
        yield "trials", f"{model.trials} of each entry"
    yield "tests judged by", f"the {run_facts.profile} profile"
    if run_facts.driven:
        yield "complex conversations", describe_path_settings(run_facts.driven)
    if run_facts.search:
        yield "web", run_facts.search
    if run_facts.price and run_facts.price.hour is not None:
        yield "price", f"${run_facts.price.hour:g} an hour, {run_facts.concurrency} calls at once"
    elif run_facts.price and run_facts.price.input is not None and run_facts.price.output is not None:
        own = {
            "cached": run_facts.price.cached,
            "written to a cache": run_facts.price.cache_write,
            "reasoning": run_facts.price.reasoning,
        }
        rates = [f", ${rate:g} {tokens}" for tokens, rate in own.items() if rate is not None]
        price = f"${run_facts.price.input:g} in, ${run_facts.price.output:g} out{''.join(rates)}"
        yield "price", f"{price}, per million tokens"
    if card.created_s is not None:
        yield "ended", format_time(card.created_s)
    yield "fcbench", run_facts.fcbench
    yield "file", card.path.name
    for note in run_facts.notes:
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


def make_category_rows(models: Sequence[ReportedModel]) -> list[SectionRow]:
    """Make a row of every category of any model."""
    return [
        make_row(name, models) for name in group_by_category(r for m in models for r in m.scorecard.records)
    ]


def make_group_rows(models: Sequence[ReportedModel]) -> list[SectionRow]:
    """Make a row of every group that was run as a whole, and of overall or all entries."""
    score_names = [name for model in models for scores in model.scores.values() for name in scores.names]
    own = {name for name in score_names if name not in CATEGORIES and name not in GROUPS} - {"overall", ALL}
    return [make_row(name, models) for name in (*GROUPS, *sorted(own), "overall", ALL) if name in score_names]


def choose_main_score(models: Sequence[ReportedModel], profile: Profile) -> str:
    """Choose the score that stands for these runs."""
    names = {model.scores[profile].main for model in models}
    return names.pop() if len(names) == 1 else ALL


def make_row(name: str, models: Sequence[ReportedModel]) -> SectionRow:
    """Make a row of a score."""
    score_pairs = [[model.scores[profile].find_score(name) for profile in Profile] for model in models]
    return SectionRow(name, tuple(Both(*both) if all(both) else None for both in score_pairs))  # type: ignore[arg-type]


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
    models: Sequence[ReportedModel], rows: Sequence[SectionRow], profile: Profile
) -> Iterator[Formats]:
    """Compare the manners of each model that was asked in several by the scores of ``rows``."""
    manners: dict[str, dict[str, ReportedModel]] = {}
    for model in models:
        run_facts = model.scorecard.facts
        manner = f"{run_facts.manner}, {run_facts.syntax}"
        manners.setdefault(run_facts.model, {}).setdefault(manner, model)
    for name, by_manner in manners.items():
        columns = {row.name: [row.scores[model.series] for model in by_manner.values()] for row in rows}
        entries = {frozenset(r.entry for r in model.scorecard.records) for model in by_manner.values()}
        scores = {
            metric: [both.under(profile) for both in column if both] for metric, column in columns.items()
        }
        per_metric = {
            metric: [score.accuracy for score in column if score.accuracy is not None]
            for metric, column in scores.items()
            # With different missing parts, or other entries, these would make the difference.
            if len({score.missing for score in column}) == 1 and (metric != ALL or len(entries) == 1)
        }
        metrics = tuple(metric for metric, column in per_metric.items() if len(column) == len(by_manner))
        if len(by_manner) > 1 and metrics:
            accuracies = [tuple(per_metric[metric][n] for metric in metrics) for n in range(len(by_manner))]
            yield Formats(name, metrics, tuple(zip(by_manner, accuracies, strict=True)))


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
            plots.Point(series, x, score.accuracy, score.interval.low, score.interval.high)
            for series, score, usage in runs
            if score and score.accuracy is not None and score.interval and (x := measure(usage)) is not None
        ]
        if len(points) > 1:
            score_of = f"{metric.capitalize()} accuracy ({profile} profile)"
            yield plots.draw_scatter(
                points, label, f"{score_of} against {label}; the tables have the numbers."
            )


def list_usage(models: Sequence[ReportedModel]) -> list[tuple[str, CostLatency]]:
    """List the bill and latency of each run; empty where nothing is known of any."""
    return [(model.label, model.bill) for model in models if any(model.bill.steps for model in models)]


def list_usage_by_category(
    models: Sequence[ReportedModel],
) -> Iterator[tuple[ReportedModel, list[tuple[str, CostLatency]], list[str]]]:
    """List cost and latency by category, with sentences about the bill, of each model that has them."""
    for model in models:
        if model.bill.steps:
            rows = [(name, measure_usage(part)) for name, part in model.categories.items()]
            others = measure_beside_records(model.scorecard.records, model.scorecard.facts.earlier)
            sentences = list(describe_bill(model.bill, others))
            yield model, [*rows, ("all", model.usage), *others.items()], sentences


# Errors


@dataclass(frozen=True, slots=True)
class Errors:
    """Codes of failures, most frequent first."""

    codes: Sequence[tuple[str, str, Sequence[int]]]
    """Each code with its meaning, and how often each model has it."""
    by_category: Sequence[tuple[ReportedModel, Mapping[str, Sequence[tuple[str, int]]]]]
    """The codes of each category with their counts, of each model that has any."""


def count_errors(models: Sequence[ReportedModel], profile: Profile) -> Errors:
    """Count the codes of all failures under one profile."""
    code_counts = [
        {
            name: Counter(v.code for record in part if isinstance(v := record.verdict(profile), Failed))
            for name, part in model.categories.items()
        }
        for model in models
    ]
    totals = [sum(counts.values(), Counter[str]()) for counts in code_counts]
    together = sum(totals, Counter[str]())
    return Errors(
        [
            (code, find_failure_code(code).meaning, [total[code] for total in totals])
            for code in sorted(together, key=lambda code: (-together[code], code))
        ],
        [
            (model, {name: counts.most_common() for name, counts in by_category.items() if counts})
            for model, by_category, total in zip(models, code_counts, totals, strict=True)
            if total
        ],
    )


def count_causes(models: Sequence[ReportedModel], profile: Profile) -> list[tuple[str, list[int]]]:
    """Count the causes of entries that were not scored, for each model."""
    tallies = [
        Counter(
            v.cause
            for r in m.scorecard.records
            # Entries that followed the other profile's rules are counted once, with the complex calls.
            if isinstance(v := r.verdict(profile), NotScored) and v.cause != OTHER_RULES
        )
        for m in models
    ]
    return [(cause, [counts[cause] for counts in tallies]) for cause in sorted(set().union(*tallies))]


def tabulate_beside_scores(
    models: Sequence[ReportedModel], profile: Profile
) -> Iterator[tuple[ReportedModel, Table]]:
    """Tabulate the figures beside the scores of each model."""
    for model in models:
        card = model.scorecard
        tables = score_tables.tabulate_beside_scores(card.facts, card.records, profile, card.size_of)
        yield from ((model, table) for table in tables)


# Complex calls


@dataclass(frozen=True, slots=True)
class Complex:
    """Tables of one model's conversations along golden paths."""

    model: ReportedModel
    tables: Sequence[Table]
    notes: Sequence[str]


def tabulate_complex_totals(models: Sequence[ReportedModel], profile: Profile) -> Table | None:
    """Tabulate models with conversations along golden paths side by side; None for fewer than two."""
    path_scores = {
        model.label: golden_paths.score_paths_by_category(model.scorecard.records, profile).get("all")
        for model in models
    }
    rows = [
        (label, *score_tables.format_path_scores(every))
        for label, every in path_scores.items()
        if every and every.scored
    ]
    title, columns = f"complex calls of each model ({profile} profile)", ("model", *score_tables.COLUMNS)
    return Table(title, columns, tuple(rows)) if len(rows) > 1 else None


def describe_complex_calls(models: Sequence[ReportedModel], profile: Profile) -> Iterator[Complex]:
    """Describe the conversations along golden paths of each model that has any."""
    for model in models:
        records = model.scorecard.records
        table = score_tables.tabulate_calls(records, profile)
        apart = [
            sentence for each in Profile if (sentence := score_tables.describe_other_rules(records, each))
        ]
        if table is not None:
            tables = (table, *score_tables.tabulate_call_details(records, profile))
            yield Complex(model, tables, (*table.notes, *apart))
        elif apart:
            yield Complex(model, (), apart)


@dataclass(frozen=True, slots=True)
class SensitivityTables:
    """Tables of one model's entries in all prompt formats."""

    model: ReportedModel
    tables: Sequence[Table]


def tabulate_sensitivity(models: Sequence[ReportedModel], profile: Profile) -> Iterator[SensitivityTables]:
    """Tabulate the entries in all prompt formats of each model that has any."""
    for model in models:
        if tables := tuple(score_tables.tabulate_formats(model.scorecard.records, profile)):
            yield SensitivityTables(model, tables)


def score_trial_rows(model: ReportedModel, profile: Profile) -> list[tuple[str, TrialScores]]:
    """Score the trials of each entry, by category and of all."""
    parts = {**model.categories, "all": model.scorecard.records}
    return [(name, score_trials(part, profile, model.trials)) for name, part in parts.items()]
