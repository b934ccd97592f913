"""Drawings as PNG files, by matplotlib."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.patches import Polygon

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.present.charts.drawing import Area, Drawing, Label, Line, read_palette

_DOTS = 200
"""Dots per inch, of which a unit is the 72nd part."""
_ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}
_MISSING = re.compile(r"Glyph \d+ \(.*?([A-Z][A-Z-]+).*?\) missing from font")
"""What matplotlib warns of: a character by its name, of which the first word is its script."""


def _list_fonts() -> list[str]:
    """List the families whose characters are used: that of matplotlib, and of wide ones those installed."""
    installed = {font.name for font in fontManager.ttflist}
    return ["DejaVu Sans", *sorted(name for name in installed if name.startswith("Noto Sans"))]


def write_drawing(drawing: Drawing, path: Path) -> Iterator[str]:
    """Write a drawing as a PNG file; yield a note of the scripts for which no font is installed."""
    palette = read_palette()
    with mpl.rc_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # The user's own matplotlibrc must not change the drawing; a dollar sign in a name is no formula.
        mpl.rcdefaults()
        mpl.rcParams.update({"text.parse_math": False, "font.family": _list_fonts()})
        figure = Figure(figsize=(drawing.width / 72, drawing.height / 72))
        plot = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
        plot.axis("off")
        for order, shape in enumerate(drawing.shapes):
            colour = palette[shape.role]
            match shape:
                case Line(points=points, width=width, dashes=dashes):
                    (line,) = plot.plot(*zip(*points, strict=True), color=colour, lw=width, zorder=order)
                    if dashes:
                        line.set_dashes(dashes)
                case Area(points=points, opacity=opacity):
                    plot.add_patch(Polygon(points, color=colour, alpha=opacity, lw=0, zorder=order))
                case Label(x=x, y=y, text=text, anchor=anchor, size=size):
                    shown, align = put_on_one_line(text), _ALIGNMENTS[anchor]
                    plot.text(x, y, shown, ha=align, fontsize=size, color=colour, zorder=order)
        about = {"Title": drawing.says[:79], "Software": None}
        figure.savefig(path, format="png", dpi=_DOTS, metadata=about)
    found = (_MISSING.match(str(warning.message)) for warning in caught)
    if scripts := ", ".join(dict.fromkeys(match[1].lower() for match in found if match)):
        yield (
            f"note: no installed font has all characters ({scripts}), so the image shows empty boxes; "
            "install one of Noto Sans that has them, or write SVG, which its reader's fonts draw"
        )
