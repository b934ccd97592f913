"""Drawings as PNG files, by matplotlib."""

from __future__ import annotations

from pathlib import Path

from matplotlib.patches import Polygon, Rectangle

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.scorecard.render.charts.drawing import open_figure
from pytest_fcbench.tools.export.plots.shapes import Area, Box, Drawing, Label, Line

_DOTS = 200
"""Dots per inch, of which a unit is the 72nd part."""
_ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}


def write_png(drawing: Drawing, path: Path) -> None:
    """Write a drawing on white as a PNG file."""
    with open_figure(drawing.height, drawing.width) as figure:
        plot = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
        plot.axis("off")
        for order, shape in enumerate(drawing.shapes):
            match shape:
                case Line(points=points, colour=colour, width=width, dashes=dashes):
                    (line,) = plot.plot(*zip(*points, strict=True), color=colour, lw=width, zorder=order)
                    if dashes:
                        line.set_dashes(dashes)
                case Area(points=points, colour=colour, opacity=opacity):
                    plot.add_patch(Polygon(points, color=colour, alpha=opacity, lw=0, zorder=order))
                case Box(x=x, y=y, width=width, height=height, colour=colour):
                    plot.add_patch(Rectangle((x, y), width, height, color=colour, lw=0, zorder=order))
                case Label(x=x, y=y, text=text, anchor=anchor, size=size, colour=colour):
                    align = _ALIGNMENTS[anchor]
                    plot.text(
                        *(x, y, put_on_one_line(text)),
                        ha=align,
                        va="baseline",
                        fontsize=size,
                        color=colour,
                        zorder=order,
                    )
        figure.savefig(
            path,
            format="png",
            dpi=_DOTS,
            facecolor="white",
            metadata={"Title": drawing.says[:79], "Software": None},
        )
