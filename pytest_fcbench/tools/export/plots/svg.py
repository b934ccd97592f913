"""Drawings as SVG files, without style sheet, script or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.tools.export.plots.shapes import Area, Box, Drawing, Label, Line, Shape

_FONT = (
    "system-ui,'DejaVu Sans',Verdana,'Noto Sans','Noto Sans CJK SC','Noto Sans CJK JP','PingFang SC',"
    "'Microsoft YaHei','Noto Color Emoji','Apple Color Emoji','Segoe UI Emoji',sans-serif"
)
"""Programs that do not look for fonts by themselves take the first one that has a character."""


def render_svg(drawing: Drawing) -> str:
    """Render a drawing as the text of an SVG file."""
    says, size = _escape_text(drawing.says), f"{drawing.width:g} {drawing.height:g}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width:g}" height="{drawing.height:g}" '
        f'viewBox="0 0 {size}" role="img" font-family="{_FONT}">',
        f"<title>{says}</title>",
        *map(_render_shape, drawing.shapes),
        "</svg>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _render_shape(shape: Shape) -> str:
    match shape:
        case Line(points=points, colour=colour, width=width, dashes=dashes):
            dash = f' stroke-dasharray="{" ".join(f"{part:g}" for part in dashes)}"' if dashes else ""
            line = f'stroke="{colour}" stroke-width="{width:g}"{dash}'
            return f'<polyline points="{_list_points(points)}" fill="none" {line}/>'
        case Area(points=points, colour=colour, opacity=opacity):
            return f'<polygon points="{_list_points(points)}" fill="{colour}" fill-opacity="{opacity:g}"/>'
        case Box(x=x, y=y, width=width, height=height, colour=colour):
            place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
            return f'<rect {place} fill="{colour}"/>'
        case Label(x=x, y=y, text=text, anchor=anchor, size=size, colour=colour):
            place = f'x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" font-size="{size:g}"'
            return f'<text {place} fill="{colour}">{_escape_text(text)}</text>'


def _list_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _escape_text(text: str) -> str:
    # XML holds no control characters, and an escape cannot bring them in.
    return escape(put_on_one_line(text))
