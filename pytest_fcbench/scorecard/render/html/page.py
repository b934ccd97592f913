"""The page: sections and islands in one HTML text that loads nothing and runs nothing but its own script.

Its Content-Security-Policy allows the one style sheet and the one script in it, by their hashes, and nothing
else. Whatever comes from a file is escaped by Jinja or stands in an island as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from pytest_fcbench.scorecard.render.charts import marks
from pytest_fcbench.scorecard.render.charts.pages import hash_block, read_colours, write_policy
from pytest_fcbench.scorecard.render.html import overview, sections
from pytest_fcbench.scorecard.render.html.island import Knowledge, build_islands
from pytest_fcbench.scorecard.render.wording import format_limits, select_outermost
from pytest_fcbench.scorecard.scorecard_files import Scorecard

_FOLDER = Path(__file__).parent


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
    found = build_islands(scorecards, [model.label for model in shown], told, profile, against)
    # The policy allows both blocks by their hashes, so they are text before the template sees them.
    style, script = f"{read_colours()}{read_package_file('page.css')}", read_package_file("page.js")
    return (
        make_environment()
        .get_template("page.html")
        .generate(
            models=shown,
            profile=profile,
            alike=all(model.scores[profile].alike for model in shown),
            categories=rows,
            groups=groups,
            overall=next(
                row for row in (*groups, *rows) if row.name == sections.choose_main_score(shown, profile)
            ),
            formats=list(sections.compare_formats(shown, groups, profile)),
            executed=sections.pair_executed(rows),
            beside_scores=list(sections.tabulate_beside_scores(shown, profile)),
            standings=overview.judge_runs(shown, profile, against),
            blocks=list(overview.group_categories(shown, profile)),
            costs=list(sections.draw_costs(shown, profile)),
            errors=sections.count_errors(shown, profile),
            causes=sections.count_causes(shown, profile),
            complex_totals=sections.tabulate_complex_totals(shown, profile),
            complex_calls=list(sections.describe_complex_calls(shown, profile)),
            sensitivity=list(sections.tabulate_sensitivity(shown, profile)),
            usage=sections.list_usage(shown),
            usage_by_category=sections.list_usage_by_category(shown),
            notes=told.notes,
            islands=found,
            style=Markup(style),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704 - a file of this package
            policy=write_policy(style, f"script-src {hash_block(script)}", "img-src data:"),
        )
    )


def read_package_file(name: str) -> str:
    """Read a template, style sheet or script of this folder."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def _format_range(interval: Interval | None) -> str:
    return format_limits(interval).replace("-", "–")


@cache  # it keeps compiled templates, and compiling one takes longer than rendering a small page
def make_environment() -> Environment:
    """Make the environment of templates, which escapes all that is put into them."""
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        # A misspelled name in the template is an error, not an empty cell.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": lambda share: "–" if share is None else f"{share:.2%}",
        "limits": lambda score: _format_range(score.interval),
        "range": _format_range,
        "number": lambda value, digits=0: "–" if value is None else f"{value:,.{digits}f}",
        "dollars": lambda usd: "–" if usd is None else f"${usd:,.4f}" if usd < 1 else f"${usd:,.2f}",
        "plain": make_printable,
        # Ids come from files and can hold lone surrogates, which UTF-8 does not have.
        "quoted": partial(quote, safe="", errors="replace"),
        # Lets a narrow column break a name behind its signs. Escaped first: the marks added here must
        # stay the only markup.
        "breakable": lambda name: Markup(  # noqa: S704 - escaped just now
            re.sub("[_:/]", r"\g<0><wbr>", str(escape(make_printable(name))))
        ),
        "points": lambda change: f"{100 * change + 0.0:+.1f}".replace("-", "−"),
        "drawn": Markup,
    }
    environment.globals |= {
        "facts": sections.list_facts,
        "gist": sections.summarise_run,
        "outermost": select_outermost,
        "trial_rows": sections.score_trial_rows,
        "ranges": marks.draw_ranges,
        "scale": marks.draw_scale,
        "bar": marks.draw_bar,
        "Profile": Profile,
    }
    return environment
