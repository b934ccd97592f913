"""Drawings as PNG files, by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.font_manager import findfont, findSystemFonts, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.patches import Polygon, Rectangle

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.present.charts.drawing import open_figure
from pytest_fcbench.tools.export.plots.shapes import Area, Box, Drawing, Label, Line

_DOTS = 200
"""Dots per inch, of which a unit is the 72nd part."""
_USUAL = "DejaVu Sans"
"""The font that comes with matplotlib."""
_ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}


def write_png(drawing: Drawing, path: Path) -> str:
    """Write a drawing on white as a PNG file; return the characters for which no font is installed."""
    labels = [put_on_one_line(shape.text) for shape in drawing.shapes if isinstance(shape, Label)]
    families, missing = choose_fonts({sign for label in labels for sign in label})
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
                        fontfamily=families,
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
    return missing


def choose_fonts(signs: Iterable[str], files: Sequence[Path] | None = None) -> tuple[list[str], str]:
    """Choose families of fonts that have these characters, the usual one first; also return what none has.

    ``files`` are the fonts to choose from, by default those of the system.
    """
    families = [_USUAL]
    missing = set(signs) - _list_signs(Path(findfont(_USUAL)))
    if not missing:
        return families, ""
    # The plain face of a family comes before its others; the order of folders changes nothing.
    for file in sorted(
        map(Path, findSystemFonts()) if files is None else files,
        key=lambda file: ("Sans" not in file.name, "Regular" not in file.name, str(file)),
    ):
        if missing and (new_signs := missing & _list_signs(file)):
            fontManager.addfont(file)
            families.append(fontManager.ttflist[-1].name)
            missing -= new_signs
    return families, "".join(sorted(missing))


def _list_signs(file: Path) -> set[str]:
    """List the characters of a font; none where matplotlib cannot draw them."""
    try:
        font = FT2Font(str(file))
    except (OSError, RuntimeError):
        return set()
    # Coloured emoji are pictures of one size.
    return set(map(chr, font.get_charmap())) if font.scalable else set()
