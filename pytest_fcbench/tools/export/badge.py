"""A badge with a score: an image of our own, or the JSON that shields.io makes one of.

The form of the JSON: https://shields.io/badges/endpoint-badge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_fcbench.domain.text import put_on_one_line, shorten_text
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.plots.shapes import Box, Drawing, Label, estimate_width
from pytest_fcbench.tools.export.plots.svg import render_svg

_LONGEST = 40
"""Characters of a label."""
_GREY, _BLUE, _UNKNOWN = "#3d3d3d", "#0b5fa5", "#6e6e6e"
_SIZE = 11
_BESIDE = 7
"""Units of room beside a text."""


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the badge as SVG or as JSON."""
    metric = order.find_metric()
    score = order.find_score(order.card, metric)
    suites = " + ".join(order.card.facts.suites)
    label = shorten_text(put_on_one_line(order.name or f"{suites} {order.label_metric()}"), _LONGEST)
    message = f"{score.accuracy:.1%}" if score and score.accuracy is not None else "not scored"
    colour = _BLUE if score else _UNKNOWN
    if order.ending == ".json":
        badge = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
        yield f"{json.dumps(badge)}\n"
        return
    left_width, right_width = (estimate_width(text, _SIZE) + 2 * _BESIDE for text in (label, message))
    shapes = (
        Box(0, 0, left_width, 20, _GREY),
        Box(left_width, 0, right_width, 20, colour),
        Label(left_width / 2, 14, label, "middle", _SIZE, "#ffffff"),
        Label(left_width + right_width / 2, 14, message, "middle", _SIZE, "#ffffff"),
    )
    yield render_svg(Drawing(left_width + right_width, 20, f"{label}: {message}", shapes))
