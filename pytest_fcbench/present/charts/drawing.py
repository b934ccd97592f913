"""Drawings as inline SVG: matplotlib draws them, the page's style sheet gives them their colours.

Drawn colours stand for roles. ``render_inline`` turns them into classes (``fill-ink``, ``line-s3``) and all
other style into attributes, because the page's policy refuses ``style="..."`` and a dark page wants other
colours.
The same values give the same bytes. Texts may hold anything.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from xml.etree.ElementTree import fromstring, tostring

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text

from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.present.charts.pages import MOST_SERIES

INK, FAINT, PAPER = "#010101", "#010102", "#010103"
SERIES = tuple(f"#0102{number:02x}" for number in range(MOST_SERIES))
_ROLES = {INK: "ink", FAINT: "faint", PAPER: "paper"} | {colour: f"s{n}" for n, colour in enumerate(SERIES)}
_WIDTH = 460
"""Units across, so that a text of 12 units is still 9 pixels high on a phone."""
_STYLE: Mapping[Any, object] = {
    # Text stays text: it can be searched, and the reader's browser has the fonts.
    "svg.fonttype": "none",
    # A dollar sign in a model's name is no formula.
    "text.parse_math": False,
    "text.color": INK,
    "font.size": 12,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "date.converter": "concise",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
}


@contextmanager
def open_figure(height: float, width: float = _WIDTH) -> Iterator[Figure]:
    """Open a figure without pyplot's shared state, ``width`` by ``height`` units."""
    with mpl.rc_context(), warnings.catch_warnings():
        # The user's own matplotlibrc must not change the drawing.
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        # matplotlib warns of glyphs that its font lacks, but the text is set by the reader's browser.
        warnings.simplefilter("ignore")
        yield Figure(figsize=(width / 72, height / 72))


_NAMESPACE = re.compile(r"^\{[^}]*\}")
_REFERENCE = re.compile(r"#([\w-]+)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def render_inline(figure: Figure, says: str) -> str:
    """Render the drawing as an element of a page; ``says`` tells its ids from those of other drawings."""
    says = make_printable(says)
    # Ids are random without a salt, and drawings of one page must not share them.
    mpl.rcParams["svg.hashsalt"] = f"fcbench {says}"
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(make_printable(text.get_text()))
    buffer = io.BytesIO()
    # Without date and version, so that the same values give the same bytes.
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = fromstring(buffer.getvalue())  # noqa: S314 - written just now by matplotlib
    for parent in list(svg.iter()):
        for child in list(parent):
            if _NAMESPACE.sub("", child.tag) in ("metadata", "style") or not (len(child) or child.attrib):
                parent.remove(child)
    for element in svg.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
        attributes = {_NAMESPACE.sub("", key): value for key, value in element.attrib.items()}
        element.attrib = dict(_simplify_attributes(attributes))
    references = set(_REFERENCE.findall(tostring(svg, "unicode")))
    for element in svg.iter():
        if element.get("id", "") not in references:
            element.attrib.pop("id", None)
    svg.attrib = {"viewBox": svg.get("viewBox", ""), "role": "img", "aria-label": says}
    return tostring(svg, "unicode")


def _simplify_attributes(attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Replace style by attributes, colours by classes and long numbers by short ones."""
    style = dict(part.split(":", 1) for part in attributes.get("style", "").split(";") if ":" in part)
    classes = []
    for key, value in {**attributes, **style}.items():
        key, value = key.strip(), value.strip()
        role = _ROLES.get(value)
        if role and key in ("fill", "stroke"):
            classes.append(f"{'fill' if key == 'fill' else 'line'}-{role}")
        elif key == "font":
            yield "font-size", value.split("px")[0].split()[-1]
        elif key not in ("style", "font-family", "version"):
            yield key, _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value)
    if classes:
        yield "class", " ".join(classes)
