"""The report: sections and islands in one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present import comparison_tables, two_models
from pytest_fcbench.present.charts.marks import Range
from pytest_fcbench.present.html import sections
from pytest_fcbench.present.html.island import Knowledge, build_islands
from pytest_fcbench.present.html.sections import ReportedModel
from pytest_fcbench.present.html.templates import TABLES, generate_page
from pytest_fcbench.present.run_verdict import describe_share
from pytest_fcbench.present.wording import describe_missing_parts
from pytest_fcbench.scorecard.aggregate.scores import (
    ALL,
    Score,
    choose_main_score,
    leave_out_checks,
    tally_records,
)
from pytest_fcbench.scorecard.aggregate.server_checks import is_check
from pytest_fcbench.scorecard.compare import comparison
from pytest_fcbench.scorecard.compare.comparison import Tested
from pytest_fcbench.scorecard.compare.paired import MetricDifference
from pytest_fcbench.scorecard.gate.gate import choose_exit_code
from pytest_fcbench.scorecard.run_facts import WORDS
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def generate_report(
    scorecards: Sequence[Scorecard], knowledge: Knowledge, profile: Profile, against: Scorecard | None = None
) -> Iterator[str]:
    """Render the report about one to ``MOST_SERIES`` scorecards; charts and verdicts follow the profile.

    Of several, each is compared with the first; one alone with ``against``. The report comes in pieces, so
    that a large one is not in memory as a whole.
    """
    models = sections.prepare_models(scorecards)
    rows, groups = sections.make_category_rows(models), sections.make_group_rows(models)
    main = choose_main_score(model.scores[profile] for model in models)
    # The score that stands for the runs can be that of a category.
    beside = {row.name: row for row in (*groups, sections.make_row(main, models))}
    islands = build_islands(scorecards, [model.label for model in models], knowledge, profile, against)
    score_bills = [(model.series, model.scores[profile].find_score(main), model.bill) for model in models]
    results = (two_models.describe_result(card.facts) for card in scorecards)
    values = {
        "models": models,
        "profile": profile,
        "alike": all(model.scores[profile].alike for model in models),
        "categories": rows,
        "groups": groups,
        "overall": beside[main],
        "formats": list(sections.compare_formats(models, list(beside.values()), profile)),
        "executed": sections.tabulate_executed(models, rows, profile),
        "tables": sections.tabulate_models(models, profile),
        "standings": judge_runs(models, profile, against),
        "causes_of": [next(iter(causes), None) for causes in islands.causes],
        "blocks": list(group_categories(models, profile)),
        "results": list(map(make_printable, filter(None, results))),
        "pressure": list(sections.draw_pressure(models, profile)),
        "costs": list(sections.draw_costs(score_bills, main, profile)),
        "codes": sections.count_codes(models, profile),
        "codes_by_category": list(sections.count_codes_by_category(models, profile)),
        "causes": sections.count_causes(models, profile),
        "complex_totals": sections.tabulate_complex_totals(models, profile),
        "usage_totals": sections.tabulate_totals(models),
        "notes": knowledge.notes,
        "islands": islands,
        "facts": sections.list_facts,
        "gist": sections.summarise_run,
        "Profile": Profile,
    }
    return generate_page("page.html", values, (TABLES, "page.js"))


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The change from an earlier run, or from the first model of the page."""

    before: str
    """The name of the run that this one is compared with."""
    better: int = 0
    worse: int = 0
    shown: int = 0
    """1 where the later run is shown to be better, -1 where it is shown to be worse, else 0."""
    entries: int = 0
    """The entries that were compared."""
    share: MetricDifference | None = None
    """The difference of the share of entries that passed, which heads the page."""
    sentence: str = ""
    """Entries that only one run has, or the reason why there are no numbers."""
    by_metric: Mapping[str, Tested] = field(default_factory=dict)
    """The difference of each category, each group and overall."""

    @property
    def verdict(self) -> str:
        """The change in one or two words."""
        if not self.entries:
            return "cannot be compared"
        unchanged = "no difference shown" if self.better or self.worse else "nothing changed"
        return {1: "better", -1: "worse"}.get(self.shown, unchanged)


def find_change(before: Scorecard, after: Scorecard, names: tuple[str, str], profile: Profile) -> ScoreChange:
    """Compare two runs on the entries that both have scored; without such entries the sentence says so."""
    try:
        run_comparison = comparison.compare_scorecards(before, after, profile)
    # The page is about the run, and is shown without a change too.
    except UsageError:
        return ScoreChange(names[0], sentence=f"no scored entry in common with {names[0]}")
    if run_comparison.has_only_checks:
        changes = run_comparison.checks
        sentence = make_printable(comparison_tables.describe_checks(run_comparison, *names))
        return ScoreChange(
            names[0],
            len(changes.mended),
            len(changes.newly_broken),
            bool(changes.mended) - bool(changes.newly_broken),
            len(changes.pairs),
            sentence=sentence,
        )
    pairing = run_comparison.paired
    share = pairing.measure_difference(ALL)
    assert share is not None, "a comparison without pairs is refused"
    remarks = [
        f"{len(entries):,} entries are only in {name}"
        for name, entries in zip(names, (pairing.only_before, pairing.only_after), strict=True)
        if entries
    ]
    shown = comparison.decide_direction(share, share.chance.p)
    if (share.better or share.worse) and not shown:
        enough = share.chance.can_be_shown
        remarks.append("chance alone can do that" if enough else "too few entries to show any difference")
    return ScoreChange(
        names[0],
        share.better,
        share.worse,
        shown,
        share.entries,
        share,
        make_printable("; ".join(remarks)),
        {one.difference.metric: one for one in run_comparison.tested},
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """A run in a few numbers: the share of its entries that passed, its gate, what changed."""

    model: ReportedModel
    counts: Score
    """The counts of all entries, which count alike; without checks of a server, where there are others."""
    main: Mapping[Profile, Score]
    """The score by the official formulas, in both profiles."""
    change: ScoreChange | None
    sentence: str
    """How many passed of which entries, and which parts of overall are missing."""

    @property
    def has_only_checks(self) -> bool:
        """True where all entries check a server, so that there is no score of a model."""
        records = self.model.scorecard.records
        return bool(records) and all(map(is_check, records))

    @property
    def verdict(self) -> tuple[str, str] | None:
        """The verdict in a few words, and the status of which it has the colour; None without a gate."""
        if gate := self.model.scorecard.gate:
            words = Counter(outcome.outcome for outcome in gate)
            word = WORDS[choose_exit_code(gate)]
            counts = ", ".join(f"{count} {each}" for each, count in words.items()) if len(words) > 1 else ""
            rules = counts or f"{len(gate)} rule{'s' * (len(gate) != 1)}"
            return f"gate {word}: {rules}", {"held": "passed", "broken": "failed"}.get(word, "not_scored")
        if not self.counts.scored:
            return "nothing was scored", "not_scored"
        return ("gate not applied", "not_scored") if self.model.scorecard.facts.ungated else None


def judge_runs(
    models: Sequence[ReportedModel], profile: Profile, against: Scorecard | None = None
) -> Sequence[Standing]:
    """Judge each run; one alone is compared with ``against``, of several each with the first."""
    standings = []
    name = choose_main_score(model.scores[profile] for model in models)
    for model in models:
        change = None
        # Several are compared with each other, whatever was before them.
        if model.series:
            names = (models[0].label, model.label)
            change = find_change(models[0].scorecard, model.scorecard, names, profile)
        elif against is not None and len(models) == 1:
            names = (make_printable(against.path.stem), model.label)
            change = find_change(against, model.scorecard, names, profile)
        main_scores = {each: model.scores[each].find_score(name) for each in Profile}
        share = describe_share(model.scorecard.records, profile, model.scores[profile])
        standings.append(
            Standing(
                model,
                tally_records(leave_out_checks(model.scorecard.records), profile),
                {each: score for each, score in main_scores.items() if score},
                change,
                "; ".join(filter(None, (share, describe_missing_parts(model.scores[profile])))),
            )
        )
    return standings


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A category or a group with the score of each model that has one."""

    name: str
    scores: Sequence[tuple[int, Score]]
    """The number of each model that has the score, and the score."""

    @property
    def ranges(self) -> list[Range]:
        """The marks and limits of the row."""
        return [
            Range(series, score.accuracy, *((i.low, i.high) if (i := score.interval) else (None, None)))
            for series, score in self.scores
            if score.accuracy is not None
        ]

    @property
    def failed(self) -> int:
        """Failures of all models."""
        return sum(score.failed for _, score in self.scores)


@dataclass(frozen=True, slots=True)
class Block:
    """The categories of a group, and the group itself."""

    group: ForestRow
    categories: Sequence[ForestRow]


def group_categories(models: Sequence[ReportedModel], profile: Profile) -> Iterator[Block]:
    """Group the categories as they are reported, each with its scores under the profile."""
    members: dict[str, dict[str, None]] = {}
    for model in models:
        alike = model.scores[profile].alike
        for name, records in model.categories.items():
            members.setdefault(records[0].suite if alike else records[0].group, {})[name] = None
    for group, names in members.items():
        rows = [_make_forest_row(name, models, profile) for name in names]
        yield Block(_make_forest_row(group, models, profile), rows)


def _make_forest_row(name: str, models: Sequence[ReportedModel], profile: Profile) -> ForestRow:
    series_scores = ((model.series, model.scores[profile].find_score(name)) for model in models)
    return ForestRow(name, [(series, score) for series, score in series_scores if score])
