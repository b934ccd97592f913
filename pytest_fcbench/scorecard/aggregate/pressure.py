"""Pressure: the score at each level, and the level at which it has fallen to half of its start.

The curve over u = log2(1 + level) is a logistic that begins with the score p0 at level 0 and falls to 0,
written by its breaking point b, at which it is p0 / 2, and its width w:

    p(u) = p0 (e^(b/w) - 1) / (e^(b/w) - 2 + e^(u/w)),    w <= b / ln 2

The maximum of the likelihood is looked for on a grid, which has no starting point and no failure to converge.
The interval holds each b at which the likelihood, with the best p0 and w, is within c t^2 / 2 of the maximum:
t is Student's for the number of clusters, and c the ratio of the cluster-robust variance of b to that of
independent verdicts (Kent 1982), at least 1. Where the score falls between two levels, all that lies between
them is in the interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from pytest_fcbench.domain.json_values import DESCRIBED
from pytest_fcbench.domain.pressure import PressureKind, split_level
from pytest_fcbench.domain.verdict import NotScored, Profile
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, find_quantile
from pytest_fcbench.scorecard.aggregate.scores import Score, tally_records
from pytest_fcbench.scorecard.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

FEWEST_LEVELS, FEWEST_CLUSTERS = 3, 10
"""With fewer levels or clusters no breaking point is estimated."""
_STEP = 0.05
"""The distance of breaking points on the grid, in powers of two."""
_LEAST = 1e-4
"""The least probability of a verdict, so that one that the curve excludes does not exclude the curve."""


@dataclass(frozen=True, slots=True)
class BreakingPoint:
    """The level at which a score has fallen to half of what it is at level 0, by a fitted curve."""

    __pydantic_config__ = DESCRIBED

    level: float | None = None
    """Null where it is above all levels that were run, or was not estimated."""
    low: float | None = None
    """Lower limit of the 95 % interval; above all levels that were run it is the highest of them."""
    high: float | None = None
    """Upper limit; null where it is above all levels that were run."""
    start: float | None = None
    """The fitted score at level 0."""
    reason: str | None = None
    """Why nothing was estimated; null where something was."""

    @property
    def limits(self) -> str:
        """The interval in words."""
        if self.low is None:
            return "-"
        return f"{self.low:.3g} or more" if self.high is None else f"{self.low:.3g} to {self.high:.3g}"

    @property
    def place(self) -> str:
        """The level in words: ``not certain`` where the interval has no upper limit."""
        if self.level is None:
            return "-" if self.reason else "not reached"
        return "not certain" if self.high is None else f"{self.level:.3g}"

    def __str__(self) -> str:
        if self.reason:
            return f"no breaking point, {self.reason}"
        of = "breaking point" if self.high is None else "breaks at"
        return f"{of} {self.place} (95% CI {self.limits})"


@dataclass(frozen=True, slots=True)
class PressureCurve:
    """The scores of the same entries at levels of one kind of pressure."""

    levels: Mapping[str, Score]
    """By level as text, the lowest first."""
    breaking_point: BreakingPoint


def group_by_pressure(records: Iterable[Record]) -> Mapping[PressureKind, Mapping[int, Sequence[Record]]]:
    """Group the Records of entries under pressure by kind and level, the lowest first."""
    groups: dict[PressureKind, dict[int, list[Record]]] = {}
    for record in records:
        if level := split_level(record.entry)[1]:
            groups.setdefault(level.kind, {}).setdefault(level.amount, []).append(record)
    return {kind: dict(sorted(groups[kind].items())) for kind in PressureKind if kind in groups}


def measure_pressure(records: Sequence[Record], profile: Profile) -> Mapping[PressureKind, PressureCurve]:
    """Measure the curve of each kind of pressure; empty where no entry was put under any."""
    curves: dict[PressureKind, PressureCurve] = {}
    for kind, groups in group_by_pressure(records).items():
        scores = {str(level): tally_records(part, profile) for level, part in groups.items()}
        scored_levels = [level for level in groups if scores[str(level)].scored]
        counts: dict[str, list[tuple[int, int]]] = {}
        for place, part in enumerate(groups[level] for level in scored_levels):
            for record in part:
                verdict = record.verdict(profile)
                if not isinstance(verdict, NotScored):
                    of_unit = counts.setdefault(record.unit, [(0, 0)] * len(scored_levels))
                    passed, scored = of_unit[place]
                    of_unit[place] = passed + verdict.passed, scored + 1
        curves[kind] = PressureCurve(scores, fit_breaking_point(scored_levels, list(counts.values())))
    return curves


def fit_breaking_point(levels: Sequence[int], clusters: Sequence[Sequence[tuple[int, int]]]) -> BreakingPoint:
    """Fit the level at which a score is half of its start.

    ``clusters`` have, for each level in the order of ``levels``, how many verdicts passed of how many.
    """
    if len(levels) < FEWEST_LEVELS:
        return BreakingPoint(reason=f"a curve needs {FEWEST_LEVELS} levels")
    if len(clusters) < FEWEST_CLUSTERS:
        return BreakingPoint(reason=f"a curve needs {FEWEST_CLUSTERS} independent entries")
    import numpy as np

    cluster_counts = np.array(clusters, dtype=float)
    passed, scored = cluster_counts.sum(0).T
    if not passed.sum():
        return BreakingPoint(reason="no entry passed at any level")
    places = np.log2(1 + np.array(levels, dtype=float))
    parameters, shares = _make_grid(tuple(levels))
    likelihood = np.log(shares) @ passed + np.log1p(-shares) @ (scored - passed)
    points = parameters[:, 0]
    # On a plateau, as between the two levels of a steep fall, the middle.
    best = likelihood.max()
    plateau = parameters[likelihood >= best - 1e-6]
    top = places[-1]
    point = float(plateau[:, 0].mean()) if plateau[:, 0].max() <= top else float(plateau[:, 0].max())
    start = float(plateau[:, 2].mean())
    chosen = plateau[np.abs(plateau[:, 0] - point).argmin()]
    factor = _compare_variances(chosen, places, cluster_counts)
    quantile = find_quantile((1 + CONFIDENCE) / 2, len(clusters) - 1)
    inside = points[likelihood >= best - factor * quantile**2 / 2]
    # The limits lie between points of the grid, of which these are inside.
    low, high = max(0.0, float(inside.min()) - _STEP), float(inside.max()) + _STEP

    def show_level(place: float) -> float:
        return round(float(2**place - 1), 4)

    return BreakingPoint(
        level=show_level(point) if point <= top else None,
        low=show_level(min(low, top)),
        high=show_level(high) if high <= top else None,
        start=round(start, 4),
    )


@lru_cache(16)
def _make_grid(levels: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return breaking points, widths and starts, each in a row, and the shares that pass at each level."""
    import numpy as np

    places = np.log2(1 + np.array(levels, dtype=float))
    # Far beyond the highest level the curve is flat, as that of a model which does not break.
    points = np.append(np.arange(0.1, places[-1] + 3, _STEP), 100.0)
    widths = np.array([0.02, 0.1, 0.2, 0.3, 0.45, 0.65, 0.9, 1.3, 1.8, 2.5, 3.5, 5.0])
    starts = np.concatenate([[0.005], np.arange(0.01, 0.995, 0.01), [0.995, 1.0]])
    grid = np.stack(np.meshgrid(points, widths, starts, indexing="ij"), -1).reshape(-1, 3)
    grid = grid[grid[:, 1] <= grid[:, 0] / np.log(2)]
    return grid, _compute_shares(grid, places)


def _compute_shares(parameters: Floats, places: Floats) -> Floats:
    """Compute the share that passes at each place of the curves with these parameters."""
    import numpy as np

    point, width, start = parameters[:, :1], parameters[:, 1:2], parameters[:, 2:]
    # Divided by e^(b/w), which is too large for a narrow curve.
    scale = np.exp(-point / width)
    fallen = np.exp(np.minimum((places - point) / width, 50))
    shares: Floats = start * (1 - scale) / (1 - 2 * scale + fallen)
    return np.clip(shares, _LEAST, 1 - _LEAST)


def _compare_variances(parameters: Floats, places: Floats, cluster_counts: Floats) -> float:
    """Return the ratio of the cluster-robust variance of the breaking point to the naive one, 1 to 10."""
    import numpy as np

    passed, scored = cluster_counts[:, :, 0], cluster_counts[:, :, 1]

    steps = np.diag([0.02, 0.02 * parameters[1], 0.005])
    around = np.concatenate([parameters + steps, parameters - steps])
    around[:, 2] = np.clip(around[:, 2], _LEAST, 1 - _LEAST)
    values = _compute_shares(around, places)
    slopes = (values[:3] - values[3:]) / (2 * steps.sum(1))[:, None]
    shares = _compute_shares(parameters[None], places)[0]
    spread = shares * (1 - shares)
    gradients = ((passed - scored * shares) / spread) @ slopes.T
    inverse = np.linalg.pinv((slopes * scored.sum(0) / spread) @ slopes.T, rcond=1e-6)
    naive = inverse[0, 0]
    count = len(cluster_counts)
    robust = (inverse @ gradients.T @ gradients @ inverse)[0, 0] * count / (count - 1)
    return float(np.clip(robust / naive, 1, 10)) if naive > 0 else 1.0
