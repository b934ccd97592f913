"""The report: sections and islands in one page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.html import overview, sections
from pytest_fcbench.present.html.island import Knowledge, build_islands
from pytest_fcbench.present.html.templates import TABLES, generate_page
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def render_report(
    scorecards: Sequence[Scorecard], told: Knowledge, profile: Profile, against: Scorecard | None = None
) -> str:
    """Render the report about one to ``MOST_SERIES`` scorecards; charts and verdicts follow the profile.

    Of several, each is compared with the first; one alone with ``against``.
    """
    return "".join(generate_report(scorecards, told, profile, against))


def generate_report(
    scorecards: Sequence[Scorecard], told: Knowledge, profile: Profile, against: Scorecard | None = None
) -> Iterator[str]:
    """Render the report in pieces, so that a large one is not in memory as a whole."""
    shown = sections.prepare_models(scorecards)
    rows, groups = sections.make_category_rows(shown), sections.make_group_rows(shown)
    main = sections.choose_main_score(shown, profile)
    # The score that stands for the runs can be that of a category.
    beside = {row.name: row for row in (*groups, sections.make_row(main, shown))}
    scored = [(model.series, model.scores[profile].find_score(main), model.bill) for model in shown]
    values = {
        "models": shown,
        "profile": profile,
        "alike": all(model.scores[profile].alike for model in shown),
        "categories": rows,
        "groups": groups,
        "overall": beside[main],
        "formats": list(sections.compare_formats(shown, list(beside.values()), profile)),
        "executed": sections.pair_executed(rows),
        "beside_scores": list(sections.tabulate_beside_scores(shown, profile)),
        "standings": overview.judge_runs(shown, profile, against),
        "blocks": list(overview.group_categories(shown, profile)),
        "costs": list(sections.draw_costs(scored, main, profile)),
        "errors": sections.count_errors(shown, profile),
        "causes": sections.count_causes(shown, profile),
        "complex_totals": sections.tabulate_complex_totals(shown, profile),
        "complex_calls": list(sections.describe_complex_calls(shown, profile)),
        "sensitivity": list(sections.tabulate_sensitivity(shown, profile)),
        "usage": sections.list_usage(shown),
        "usage_by_category": sections.list_usage_by_category(shown),
        "notes": told.notes,
        "islands": build_islands(scorecards, [model.label for model in shown], told, profile, against),
        "facts": sections.list_facts,
        "gist": sections.summarise_run,
        "trial_rows": sections.score_trial_rows,
        "Profile": Profile,
    }
    return generate_page("page.html", values, (TABLES, "page.js"))
