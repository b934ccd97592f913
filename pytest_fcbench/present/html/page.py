"""The report: sections and islands in one page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.html import overview, sections
from pytest_fcbench.present.html.island import Knowledge, build_islands
from pytest_fcbench.present.html.templates import TABLES, generate_page
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def render_report(
    scorecards: Sequence[Scorecard], knowledge: Knowledge, profile: Profile, against: Scorecard | None = None
) -> str:
    """Render the report about one to ``MOST_SERIES`` scorecards; charts and verdicts follow the profile.

    Of several, each is compared with the first; one alone with ``against``.
    """
    return "".join(generate_report(scorecards, knowledge, profile, against))


def generate_report(
    scorecards: Sequence[Scorecard], knowledge: Knowledge, profile: Profile, against: Scorecard | None = None
) -> Iterator[str]:
    """Render the report in pieces, so that a large one is not in memory as a whole."""
    models = sections.prepare_models(scorecards)
    rows, groups = sections.make_category_rows(models), sections.make_group_rows(models)
    main = sections.choose_main_score(models, profile)
    # The score that stands for the runs can be that of a category.
    beside = {row.name: row for row in (*groups, sections.make_row(main, models))}
    score_bills = [(model.series, model.scores[profile].find_score(main), model.bill) for model in models]
    values = {
        "models": models,
        "profile": profile,
        "alike": all(model.scores[profile].alike for model in models),
        "categories": rows,
        "groups": groups,
        "overall": beside[main],
        "formats": list(sections.compare_formats(models, list(beside.values()), profile)),
        "executed": sections.pair_executed(rows),
        "beside_scores": list(sections.tabulate_beside_scores(models, profile)),
        "standings": overview.judge_runs(models, profile, against),
        "blocks": list(overview.group_categories(models, profile)),
        "costs": list(sections.draw_costs(score_bills, main, profile)),
        "errors": sections.count_errors(models, profile),
        "causes": sections.count_causes(models, profile),
        "complex_totals": sections.tabulate_complex_totals(models, profile),
        "complex_calls": list(sections.describe_complex_calls(models, profile)),
        "sensitivity": list(sections.tabulate_sensitivity(models, profile)),
        "usage": sections.list_usage(models),
        "usage_by_category": sections.list_usage_by_category(models),
        "notes": knowledge.notes,
        "islands": build_islands(scorecards, [model.label for model in models], knowledge, profile, against),
        "facts": sections.list_facts,
        "gist": sections.summarise_run,
        "trial_rows": sections.score_trial_rows,
        "Profile": Profile,
    }
    return generate_page("page.html", values, (TABLES, "page.js"))
