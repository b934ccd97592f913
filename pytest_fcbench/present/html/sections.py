"""The sections of the page as values for its tables and charts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import PurePath
from statistics import stdev

from pytest_fcbench.domain.entry import AS_WRITTEN, CATEGORIES
from pytest_fcbench.domain.pressure import PressureKind
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import OTHER_RULES, Failed, NotScored, Profile
from pytest_fcbench.present import score_tables
from pytest_fcbench.present.charts import marks, plots
from pytest_fcbench.present.failure_codes import find_failure_code
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.two_models import tabulate_two_models
from pytest_fcbench.present.wording import describe_path_settings, format_limits, format_number, format_time
from pytest_fcbench.scorecard.aggregate import golden_paths
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency, measure_bill
from pytest_fcbench.scorecard.aggregate.pressure import measure_pressure
from pytest_fcbench.scorecard.aggregate.scores import ALL, GROUPS, ProfileScores, Score
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.compare.comparison import name_scorecards, name_suite
from pytest_fcbench.scorecard.record import Record, group_by_category
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """A scorecard with its name and marker in the page, and its scores in both profiles."""

    series: int
    label: str
    scorecard: Scorecard
    scores: Mapping[Profile, ProfileScores]
    categories: Mapping[str, Sequence[Record]]
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
            measure_bill(scorecard.records, scorecard.facts.earlier),
            count_trials(scorecard.records),
        )
        for series, (label, scorecard) in enumerate(zip(name_models(scorecards), scorecards, strict=True))
    )


def name_models(scorecards: Sequence[Scorecard]) -> list[str]:
    """Name each scorecard; models made of stored answers by the end of the path that is their name."""
    short_cards = []
    for card in scorecards:
        kind, _, path = card.facts.model.partition(":")
        is_file = kind in ("replay", "scripted") and path
        model = f"{kind}:{PurePath(path).name}" if is_file else card.facts.model
        short_cards.append(replace(card, facts=replace(card.facts, model=model)))
    return [make_printable(name) for name in name_scorecards(short_cards)]


def summarise_run(model: ReportedModel) -> str:
    """Summarise a run on one line."""
    run_facts, card = model.scorecard.facts, model.scorecard
    asked = "tool calls" if run_facts.mode == "fc" else "prompted"
    asked += f", asked as {run_facts.asked_as}" if run_facts.asked_as else ""
    suites = (f"{name} {suite['version']}" for name, suite in run_facts.suites.items())
    # The day only: the facts of the run have the time.
    when = [] if card.created_s is None else [format_time(card.created_s).partition(" ")[0]]
    return make_printable(" · ".join((", ".join(suites), asked, *when)))


_SUITES = {
    "bfcl": "the Berkeley Function-Calling Leaderboard",
    "complexfuncbench": "ComplexFuncBench",
    "core": "the entries that come with pytest-fcbench",
    "frontier": "the hardest entries that come with pytest-fcbench",
}
"""Readers of a report may not know the names of official suites."""


def list_facts(model: ReportedModel) -> Iterator[tuple[str, str]]:
    """List the facts that are stated with every score."""
    card, facts = model.scorecard, model.scorecard.facts
    known_facts = {
        "model": facts.model,
        "calls requested by": f"{'tool calls' if facts.mode == 'fc' else 'a system prompt'} ({facts.mode})",
        "names and syntax": f"{facts.names}, {facts.syntax}",
        "asked as": facts.asked_as,
        **{f"suite {name}": _describe_suite(name, suite) for name, suite in facts.suites.items()},
        "entries": f"{len({record.entry for record in card.records}):,}",
        "shard": facts.shard and f"{facts.shard}: only a part of the entries",
        "trials": f"{model.trials} of each entry" if model.trials > 1 else None,
        "tests judged by": f"the {facts.profile} profile",
        "complex conversations": describe_path_settings(facts.driven) if facts.driven else None,
        "web": facts.search,
        "price": _describe_price(facts),
        "ended": None if card.created_s is None else format_time(card.created_s),
        "fcbench": facts.fcbench,
        "file": card.path.name,
    }
    yield from ((name, value) for name, value in known_facts.items() if value is not None)
    yield from (("note", note) for note in facts.notes)


def _describe_suite(name: str, suite: Mapping[str, str | None]) -> str:
    about = f", {_SUITES[name]}" if name in _SUITES else ""
    return f"{name_suite(name, suite).removeprefix(f'{name} ')}{about}"


def _describe_price(facts: RunFacts) -> str | None:
    price = facts.price
    if price and price.hour is not None:
        return f"${price.hour:g} an hour, {facts.concurrency} calls at once"
    if price is None or price.input is None or price.output is None:
        return None
    own = {"cached": price.cached, "written to a cache": price.cache_write, "reasoning": price.reasoning}
    rates = [f", ${rate:g} {tokens}" for tokens, rate in own.items() if rate is not None]
    return f"${price.input:g} in, ${price.output:g} out{''.join(rates)}, per million tokens"


# Scores


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A category, a group, overall or all with the score of each model, None where nothing of it was run."""

    name: str
    scores: tuple[Mapping[Profile, Score] | None, ...]
    """By profile."""


def make_category_rows(models: Sequence[ReportedModel]) -> list[SectionRow]:
    """Make a row of every category of any model."""
    categories = group_by_category(r for model in models for r in model.scorecard.records)
    return [make_row(name, models) for name in categories]


def make_group_rows(models: Sequence[ReportedModel]) -> list[SectionRow]:
    """Make a row of every group that was run as a whole, and of overall or all entries."""
    score_names = [name for model in models for scores in model.scores.values() for name in scores.names]
    own = {name for name in score_names if name not in CATEGORIES and name not in GROUPS} - {"overall", ALL}
    return [make_row(name, models) for name in (*GROUPS, *sorted(own), "overall", ALL) if name in score_names]


def make_row(name: str, models: Sequence[ReportedModel]) -> SectionRow:
    """Make a row of a score."""
    both = [{each: of.find_score(name) for each, of in model.scores.items()} for model in models]
    found = [{each: score for each, score in scores.items() if score} for scores in both]
    return SectionRow(name, tuple(scores if len(scores) == len(Profile) else None for scores in found))


def tabulate_executed(
    models: Sequence[ReportedModel], rows: Sequence[SectionRow], profile: Profile
) -> Table | None:
    """Tabulate categories judged as written beside their executed counterparts, where both were run."""
    by_name = {row.name: row for row in rows}
    pairs = [(by_name[a], by_name[b]) for b, a in AS_WRITTEN.items() if a in by_name and b in by_name]

    def describe_score(both: Mapping[Profile, Score] | None) -> str:
        score = both[profile] if both else None
        accuracy = format_number(score.accuracy if score else None, ".2%")
        return f"{accuracy} ({format_limits(score.interval)})" if score and score.interval else accuracy

    cells = tuple((row.name, *map(describe_score, row.scores)) for pair in pairs for row in pair)
    title = f"the same kind of entries judged as written (AST) and carried out, {profile} profile"
    return Table(title, ("", *(model.label for model in models)), cells) if cells else None


def compare_formats(
    models: Sequence[ReportedModel], rows: Sequence[SectionRow], profile: Profile
) -> Iterator[Table]:
    """Tabulate the scores of each model that was asked in several manners, with their spread in points.

    The spread is that of BFCL's format sensitivity: largest difference and sample standard deviation.
    """
    manners: dict[str, dict[str, ReportedModel]] = {}
    for model in models:
        run_facts = model.scorecard.facts
        manner = f"{run_facts.manner}, {run_facts.syntax}"
        manners.setdefault(run_facts.model, {}).setdefault(manner, model)
    for name, by_manner in manners.items():
        entries = {frozenset(r.entry for r in model.scorecard.records) for model in by_manner.values()}
        columns: dict[str, list[float]] = {}
        for row in rows:
            found = [row.scores[model.series] for model in by_manner.values()]
            scores = [both[profile] for both in found if both]
            shares = [score.accuracy for score in scores if score.accuracy is not None]
            # With different missing parts, or other entries, these would make the difference.
            is_alike = len({each.missing for each in scores}) == 1 and (row.name != ALL or len(entries) == 1)
            if is_alike and len(shares) == len(by_manner):
                columns[row.name] = shares
        if len(by_manner) > 1 and columns:
            shown = [
                (manner, *(f"{shares[number]:.2%}" for shares in columns.values()))
                for number, manner in enumerate(by_manner)
            ]
            shown += [
                (
                    "largest difference",
                    *(f"{100 * (max(each) - min(each)):.2f}" for each in columns.values()),
                ),
                ("standard deviation", *(f"{100 * stdev(each):.2f}" for each in columns.values())),
            ]
            title = f"format sensitivity of {name}: asked in {len(by_manner)} manners, {profile} profile"
            yield Table(title, ("asked by", *columns), tuple(shown))


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
            says = f"{score_of} against {label}; the tables have the numbers."
            yield plots.draw_scatter(points, label, says)


def draw_pressure(models: Sequence[ReportedModel], profile: Profile) -> Iterator[tuple[str, str]]:
    """Draw the scores of models at the levels of each kind of pressure; each chart comes with its kind."""
    curves = [(model.series, measure_pressure(model.scorecard.records, profile)) for model in models]
    for kind in PressureKind:
        own = [(series, curve[kind].levels.items()) for series, curve in curves if kind in curve]
        # The scale on which a breaking point is fitted.
        points = [
            plots.Point(series, log2(1 + int(level)), of.accuracy, of.interval.low, of.interval.high)
            for series, scores in own
            for level, of in scores
            if of.accuracy is not None and of.interval
        ]
        levels = {log2(1 + int(level)): f"{int(level):,}" for _, scores in own for level, _ in scores}
        if len(levels) > 1 and points:
            says = f"Accuracy by level of {kind} ({profile} profile); the tables have the numbers."
            yield kind, plots.draw_levels(points, levels, kind, says)


# Errors


def count_codes(models: Sequence[ReportedModel], profile: Profile) -> list[tuple[str, str, list[int]]]:
    """Count the codes of failures, most frequent first; each with its meaning and the count of each model."""
    totals = [_count_failures(model.scorecard.records, profile) for model in models]
    together = sum(totals, Counter[str]())
    return [
        (code, find_failure_code(code).meaning, [total[code] for total in totals])
        for code in sorted(together, key=lambda code: (-together[code], code))
    ]


def count_codes_by_category(
    models: Sequence[ReportedModel], profile: Profile
) -> Iterator[tuple[ReportedModel, Mapping[str, Sequence[tuple[str, int]]]]]:
    """Count the codes of each category, of each model that has any."""
    for model in models:
        counts = {name: _count_failures(part, profile) for name, part in model.categories.items()}
        if found := {name: each.most_common() for name, each in counts.items() if each}:
            yield model, found


def _count_failures(records: Sequence[Record], profile: Profile) -> Counter[str]:
    return Counter(v.code for record in records if isinstance(v := record.verdict(profile), Failed))


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


# Tables of each model


@dataclass(frozen=True, slots=True)
class ModelTables:
    """Tables about one model, and notes on all of them."""

    model: ReportedModel
    tables: Sequence[Table]
    notes: Sequence[str] = ()


def tabulate_models(models: Sequence[ReportedModel], profile: Profile) -> dict[str, list[ModelTables]]:
    """Tabulate what each model has, by the section in which it stands."""
    sections: dict[str, list[ModelTables]] = defaultdict(list)
    for model in models:
        card, records = model.scorecard, model.scorecard.records
        calls = score_tables.tabulate_calls(records, profile)
        apart = [*filter(None, (score_tables.describe_other_rules(records, each) for each in Profile))]
        found: dict[str, Iterable[Table | None]] = {
            "beside": (
                *tabulate_two_models(card.facts, records),
                *score_tables.tabulate_beside_scores(card.facts, records, profile, card.size_of),
            ),
            "complex": (calls, *score_tables.tabulate_call_details(records, profile)) if calls else (),
            "formats": score_tables.tabulate_formats(records, profile),
            "usage": [score_tables.tabulate_run_usage(records, card.facts.earlier)],
            "trials": [score_tables.tabulate_trials(records, profile)],
        }
        for section, tables in found.items():
            part = ModelTables(model, list(filter(None, tables)), apart if section == "complex" else ())
            if part.tables or part.notes:
                sections[section].append(part)
    return sections


def tabulate_complex_totals(models: Sequence[ReportedModel], profile: Profile) -> Table | None:
    """Tabulate models with conversations along golden paths side by side; None for fewer than two."""
    path_scores = {
        model.label: golden_paths.score_paths_by_category(model.scorecard.records, profile).get("all")
        for model in models
    }
    rows = [
        (label, *(cell(every) for cell in score_tables.PATHS.values()))
        for label, every in path_scores.items()
        if every and every.scored
    ]
    title, columns = f"complex calls of each model ({profile} profile)", ("model", *score_tables.PATHS)
    return Table(title, columns, tuple(rows)) if len(rows) > 1 else None


def tabulate_totals(models: Sequence[ReportedModel]) -> Table | None:
    """Tabulate cost and latency of models side by side; None for fewer than two, or without calls."""
    rows = {model.label: model.bill for model in models if model.bill.steps}
    return score_tables.tabulate_usage("all calls of each model", rows) if len(models) > 1 and rows else None
