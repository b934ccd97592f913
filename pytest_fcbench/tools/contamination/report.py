"""The comparison of two sets as a table, a page and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.present import table_formats, tables
from pytest_fcbench.present.tables import Table
from pytest_fcbench.tools.contamination.comparison import LIMITS, MeasureComparison, describe_finding
from pytest_fcbench.tools.contamination.measures import TextMeasure

FORMATS = (".html", ".csv", ".json")


@dataclass(frozen=True, slots=True)
class Study:
    """A study of two sets: measures, texts without measures, and the comparison."""

    model: str
    endpoint: str
    what: str
    """The part of an entry that was measured, for a sentence."""
    sets: Mapping[str, Sequence[TextMeasure]]
    unmeasured: Mapping[str, NotScoredError]
    """The errors of texts without measures, by entry."""
    compared: tuple[MeasureComparison, ...]
    """The comparisons of both sets, one for each measure."""

    @property
    def title(self) -> str:
        """The title of tables and files."""
        return make_printable(f"How surprising {self.what} are to {self.model}")


def tabulate_study(study: Study) -> Table:
    """Tabulate the comparison, with notes on what it shows and what it does not."""
    a, b = study.sets
    rows: list[tuple[str, ...]] = []
    for comparison in study.compared:
        for name, summary in ((a, comparison.a), (b, comparison.b)):
            interval = _format_interval(summary.low, summary.high)
            numbers = (f"{summary.n}", f"{summary.mean:.3f}", interval, f"{summary.median:.3f}")
            rows.append((comparison.measure, name, *numbers))
        interval = _format_interval(comparison.low, comparison.high)
        rows.append((comparison.measure, "difference", "", f"{comparison.difference:.3f}", interval, ""))
    shares = ", ".join(f"{comparison.share:.1%} by {comparison.measure}" for comparison in study.compared)
    columns = ("measure", "set", "texts", "mean", "95% interval", "median")
    notes = (
        "A text that occurs in several entries of a set counts once.",
        f"Of all pairs of a text of {a} and a text of {b}, the model finds that of {a} less surprising in "
        f"{shares}.",
        describe_finding(study.compared, a, b),
        *LIMITS,
    )
    return Table(study.title, columns, tuple(rows), notes, frozenset({"set"}))


def _format_interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def tabulate_texts(study: Study) -> Table:
    """Tabulate the measures of each text."""
    columns = ("set", "entry", "category", "characters", "tokens", "perplexity", "nats per character")
    rows = tuple(
        (
            name,
            measure.entry,
            measure.category,
            str(measure.characters),
            str(measure.tokens),
            f"{measure.perplexity:.6g}",
            f"{measure.nats_per_character:.6g}",
        )
        for name, measures in study.sets.items()
        for measure in measures
    )
    return Table("", columns, rows)


def render_study(study: Study, path: Path) -> str:
    """Render the study in the format of ``FORMATS`` that the ending of the path names."""
    if path.suffix == ".csv":
        return "".join(f"{line}\n" for line in tables.render_csv(tabulate_texts(study)))
    if path.suffix == ".json":
        document = {
            "schema": "fcbench-contamination/1",
            "model": study.model,
            "endpoint": study.endpoint,
            "text": study.what,
            "sets": list(study.sets),
            "comparisons": [asdict(each) | {"lower": each.lower} for each in study.compared],
            "finding": describe_finding(study.compared, *study.sets),
            "limits": list(LIMITS),
            "texts": {
                name: [
                    asdict(each)
                    | {"perplexity": each.perplexity, "nats_per_character": each.nats_per_character}
                    for each in measures
                ]
                for name, measures in study.sets.items()
            },
            "unmeasured": {
                entry: {"cause": error.cause, "reason": error.reason}
                for entry, error in study.unmeasured.items()
            },
        }
        return json.dumps(document, indent=1)
    # Imported late, because only a page has a chart, which needs matplotlib.
    from pytest_fcbench.present.charts.plots import draw_perplexities

    places = {
        name: [(measure.nats_per_character, measure.perplexity) for measure in measures]
        for name, measures in study.sets.items()
    }
    caption = f"Perplexity against nats per character, {' and '.join(places)}; a mark for each text."
    chart = draw_perplexities(places, caption)
    page = table_formats.render_page(study.title, [replace(tabulate_study(study), title="")], [chart])
    return "".join(f"{line}\n" for line in page)
