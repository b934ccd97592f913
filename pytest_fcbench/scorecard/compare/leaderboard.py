"""Leaderboards: scorecards in the order of their scores, with ranks that claim no more than the runs show.

A model's rank is 1 + the number of models that are *shown* to be better: in the paired comparison on the
entries that both have scored (as in ``compare``, p corrected for the number of pairs), directly or through
models between them. So models of which neither is shown to be better can share a rank, and none ranks below
one that is shown to be worse. The lowest rank it may have is the number of models less those shown to be
worse. Chatbot
Arena counts in the same way the models whose interval lies above that of a model (Chiang et al. 2024,
arXiv:2403.04132); pairs of answers to the same entry show more than two intervals do.

Runs over other suites, other versions of them or other categories stand in tables of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import Score, choose_main_score, score_metric
from pytest_fcbench.scorecard.aggregate.server_checks import SERVER_CHECKS, is_check
from pytest_fcbench.scorecard.compare.comparison import (
    check_metrics,
    decide_direction,
    name_scorecards,
    name_suites,
)
from pytest_fcbench.scorecard.compare.paired import MetricDifference, correct_by_holm, pair_runs
from pytest_fcbench.scorecard.scorecard_files import Scorecard

_FEW = 3
"""The most categories that a title names."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A run on the leaderboard."""

    name: str
    """The name of the run where it stands alone."""
    model: str
    """The name of the run where its mode stands beside it."""
    card: Scorecard
    score: Score | None
    """The score that decides the rank."""
    rank: int | None
    """From 1; None where nothing was scored."""
    lowest: int
    """The rank if every comparison that shows no difference went against the run."""
    released: date | None
    alike: tuple[str, ...]
    """The names of the runs that are shown to be neither better nor worse."""


@dataclass(frozen=True, slots=True)
class Board:
    """Runs that can be compared, the best first."""

    title: str
    """The suites and categories of all runs."""
    rows: tuple[BoardRow, ...]
    profile: Profile
    metric: str
    apart: tuple[tuple[str, str], ...]
    """Pairs of names that have no scored entry in common."""


def rank_boards(
    cards: Sequence[Scorecard],
    profile: Profile,
    metric: str | None = None,
    released: Mapping[str, date] | None = None,
) -> list[Board]:
    """Rank the runs of each kind by a metric; ``released`` has dates by model label.

    The default metric is the score that stands for these runs. Raises ``UsageError`` for an unknown metric,
    and where no run has it.
    """
    check_metrics([metric] if metric else [], cards)
    for card in cards:
        if card.records and all(map(is_check, card.records)):
            raise UsageError(
                f"{card.path}: checks of a server cannot be ranked; "
                "use 'fcbench run compare' for two or more of such runs"
            )
    kinds: dict[object, list[Scorecard]] = {}
    # In the order of the files' names, so that the order in which they are given changes nothing.
    for card in sorted(cards, key=lambda card: str(card.path)):
        data = repr(sorted((name, sorted(suite.items())) for name, suite in card.facts.suites.items()))
        kinds.setdefault((data, tuple(list_scored(card, profile))), []).append(card)
    boards = [_rank_board(kind, profile, metric, released or {}) for kind in kinds.values()]
    if all(row.rank is None for board in boards for row in board.rows):
        raise UsageError(
            f"no scorecard has a scored entry of {metric or 'overall'}; name another metric with --sort"
        )
    return sorted(boards, key=lambda board: (-len(board.rows), board.title))


def list_scored(card: Scorecard, profile: Profile) -> list[str]:
    """List the categories with a scored entry, without those of checks of a server."""
    categories = card.scores(profile).categories
    return [name for name, score in categories.items() if score.scored and name not in SERVER_CHECKS]


def _rank_board(
    cards: Sequence[Scorecard], profile: Profile, metric: str | None, release_dates: Mapping[str, date]
) -> Board:
    metric = metric or choose_main_score(card.scores(profile) for card in cards)
    card_names, models = name_scorecards(cards), name_scorecards(cards, lambda card: card.facts.mode)
    better, apart = _find_better(cards, profile, metric)
    # A metric that stands for the runs is whole; one that the user asked for need not be.
    scores = [score_metric(metric, card.records, profile, card.size_of, partial=True) for card in cards]
    is_ranked = [score is not None and score.accuracy is not None for score in scores]
    rows = []
    for n, (card, score) in enumerate(zip(cards, scores, strict=True)):
        rank = 1 + len(better[n]) if is_ranked[n] else None
        # The other end of the tie: whoever is not shown to be worse may be better.
        worse = sum(n in others for others in better.values())
        lowest = max(rank or 0, sum(is_ranked) - worse)
        day = release_dates.get(card.facts.model)
        alike = tuple(
            name
            for other, name in enumerate(card_names)
            if rank and is_ranked[other] and other != n and other not in better[n] and n not in better[other]
        )
        rows.append(BoardRow(card_names[n], models[n], card, score, rank, lowest, day, alike))

    def find_place(row: BoardRow) -> tuple[bool, int, float, str]:
        return row.rank is None, row.rank or 0, -((row.score and row.score.accuracy) or 0.0), row.name

    categories = list_scored(cards[0], profile)
    of = ", ".join(categories) if len(categories) <= _FEW else f"{len(categories)} categories"
    return Board(
        title=f"{name_suites(cards[0])}; {of}",
        rows=tuple(sorted(rows, key=find_place)),
        profile=profile,
        metric=metric,
        apart=tuple((card_names[one], card_names[other]) for one, other in apart),
    )


def _find_better(
    cards: Sequence[Scorecard], profile: Profile, metric: str
) -> tuple[Mapping[int, set[int]], list[tuple[int, int]]]:
    """Find the rows shown to be better than each row, and the pairs that cannot be compared."""
    better: dict[int, set[int]] = {n: set() for n in range(len(cards))}
    apart = []
    comparisons: list[tuple[int, int, MetricDifference]] = []
    for one, other in combinations(range(len(cards)), 2):
        pairing = pair_runs(cards[one].records, cards[other].records, profile)
        difference = pairing.measure_difference(metric, cards[one].size_of)
        if difference is None:
            apart.append((one, other))
        else:
            comparisons.append((one, other, difference))
    # Of many pairs some would differ by chance.
    adjusted_p_values = correct_by_holm([difference.chance.p for _, _, difference in comparisons])
    for (one, other, difference), p in zip(comparisons, adjusted_p_values, strict=True):
        if verdict := decide_direction(difference, p):
            better[one if verdict > 0 else other].add(other if verdict > 0 else one)
    # Transitive closure (Warshall): the middle one must be the outer loop, or chains of three are missed.
    for between in better:
        for above in better.values():
            if between in above:
                above |= better[between]
    # Pairs are tested on different entries, so three models can form a circle.
    return {n: above - {n} for n, above in better.items()}, apart
