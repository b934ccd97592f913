"""Perplexity against nats per character, one mark for each text."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from pytest_fcbench.contamination.measures import Measure

_MARKS = (("o", "#0072B2"), ("^", "#D55E00"))
"""Shapes and colours (Okabe & Ito) that are told apart without seeing colours."""


_LABEL = "perplexity against nats per character, one mark for each text"


def scatter(sets: Mapping[str, Sequence[Measure]]) -> str:
    """The chart as an SVG element; the same measures give the same text."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for (label, found), (shape, colour) in zip(sets.items(), _MARKS, strict=True):
        axes.plot(
            [measure.nats_per_character for measure in found],
            [measure.perplexity for measure in found],
            linestyle="none",
            marker=shape,
            markersize=4,
            color=colour,
            alpha=0.4,
            markeredgewidth=0,
            label=f"{label} ({len(found)})",
        )
    axes.set_yscale("log")
    axes.set_xlabel("nats per character")
    axes.set_ylabel("perplexity (logarithmic)")
    axes.grid(alpha=0.25)
    axes.legend()
    drawn = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "fcbench"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    _, _, element = drawn.getvalue().partition("<svg")
    return f'<svg role="img" aria-label="{_LABEL}" style="max-width:100%;height:auto"{element}'
