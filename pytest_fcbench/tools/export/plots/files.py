"""Charts as files: SVG as text, PNG by matplotlib."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.present.charts.pages import MOST_SERIES
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.plots.charts import CHARTS
from pytest_fcbench.tools.export.plots.shapes import Box, Drawing, read_palette
from pytest_fcbench.tools.export.plots.svg import render_svg

_SHOWN = 20
"""The most characters that a note names."""


def _draw_chart(order: ExportRequest) -> Drawing:
    # Over time, many runs are one series.
    if len(order.cards) > MOST_SERIES and order.chart != "time":
        raise UsageError(f"{len(order.cards)} scorecards: a chart shows {MOST_SERIES} runs; give fewer")
    drawing = CHARTS[order.chart](order)
    # Ink by day would not be seen on a dark page.
    paper = Box(0, 0, drawing.width, drawing.height, read_palette()["paper"])
    return replace(drawing, shapes=(paper, *drawing.shapes))


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the chart as SVG."""
    yield render_svg(_draw_chart(order))


def write_path(order: ExportRequest, path: Path) -> list[str]:
    """Write the chart as PNG and return what it shows."""
    # Here, because SVG does without matplotlib.
    from pytest_fcbench.tools.export.plots.png import write_png

    drawing = _draw_chart(order)
    missing = write_png(drawing, path)
    return [drawing.says, *([describe_missing_signs(missing)] if missing else [])]


def describe_missing_signs(signs: str) -> str:
    """Describe the characters that an image shows as boxes, with their scripts."""
    names = (
        "symbols"
        if unicodedata.category(sign).startswith("S")
        # The first word of a character's name is that of its script: CJK UNIFIED IDEOGRAPH-6A21.
        else unicodedata.name(sign, "unnamed").split()[0].lower()
        for sign in signs
    )
    scripts = ", ".join(dict.fromkeys(names))
    sample = f"{signs[:_SHOWN]}{'…' if len(signs) > _SHOWN else ''}"
    return (
        f"note: no installed font has {sample} ({scripts}), so the image shows empty boxes; install a font "
        "that has them, e.g. one of Noto Sans, or write SVG, which is drawn with the fonts of its reader"
    )
