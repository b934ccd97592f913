"""Accuracy over release date, with the best so far as a line (Figure 8 of the BFCL paper, Patil et al. 2025).

The same values give the same SVG. Its ink is the colour of the text around it, so it is read in the dark too.
"""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from itertools import accumulate

from pytest_fcbench.scorecard.leaderboard import Board
from pytest_fcbench.scorecard.tables import cut
from pytest_fcbench.verdicts import printable

_INK = "#010101"
"""Stands for the colour of the text; nothing else is drawn in it."""
_MARK = "#2f7ed8"
_NAME = 40
"""Characters of a model's name."""


def release_chart(board: Board) -> str | None:
    """An SVG element; None where less than two models have a date."""
    dated = sorted(
        (row.released, score.accuracy, score.interval, row.name)
        for row in board.rows
        if row.released and (score := row.score) and score.accuracy is not None and score.interval
    )
    if len(dated) < 2:
        return None
    import matplotlib as mpl
    import numpy
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    days = numpy.array([day for day, *_ in dated], dtype="datetime64[D]")
    found = [accuracy for _, accuracy, *_ in dated]
    below = [accuracy - interval.low for _, accuracy, interval, _ in dated]
    above = [interval.high - accuracy for _, accuracy, interval, _ in dated]
    style = mpl.RcParams(
        {
            "date.converter": "concise",
            "svg.fonttype": "none",
            "svg.hashsalt": "fcbench",
            "text.parse_math": False,
            "text.color": _INK,
            "axes.labelcolor": _INK,
            "axes.edgecolor": _INK,
            "xtick.color": _INK,
            "ytick.color": _INK,
        }
    )
    with mpl.rc_context(style), warnings.catch_warnings(action="ignore"):  # fonts that lack a letter
        figure = Figure(figsize=(6, 3.8), layout="constrained")
        axes = figure.subplots()
        best = list(accumulate(found, max))
        axes.step(days, best, where="post", color=_INK, linewidth=1, label="best so far")
        axes.errorbar(days, found, [below, above], fmt="o", color=_MARK, capsize=2, label="95% interval")
        for n, (day, accuracy, _, name) in enumerate(dated):
            # Of several on one day the best has its name above it, the others below.
            up = n + 1 == len(dated) or dated[n + 1][0] != day
            told, place = cut(printable(name), _NAME), (days[n], accuracy)
            axes.annotate(told, place, xytext=(5, 4 if up else -11), textcoords="offset points", fontsize=9)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set(xlabel="release date", ylabel=board.metric)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = drawn.getvalue()
    title = f"<title>{escape(board.metric)} over release date</title>"
    svg = re.sub(r"(<svg [^>]*)>", rf'\1 role="img">{title}', svg[svg.index("<svg ") :], count=1)
    return svg.replace(_INK, "currentColor")
