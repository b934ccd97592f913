"""Names of runs and of their suites, as short as tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from pytest_fcbench.scorecard.scorecard_files import Scorecard


def name_scorecards(
    cards: Sequence[Scorecard], beside: Callable[[Scorecard], str] = lambda card: ""
) -> list[str]:
    """Name each scorecard: by its model, with the mode or else the file where that is not enough.

    ``beside`` returns a text that stands beside the name and tells some scorecards apart already.
    """
    ways = [
        [card.facts.model for card in cards],
        [f"{card.facts.model} ({card.facts.mode})" for card in cards],
        [f"{card.facts.model} ({card.path.name})" for card in cards],
        [f"{card.facts.model} ({card.path})" for card in cards],
    ]
    # The shortest way that no other card shares; two cards of one file keep the longest.
    more = [beside(card) for card in cards]
    counts = [Counter(zip(way, more, strict=True)) for way in ways]
    return [
        next(
            (way[n] for way, count in zip(ways, counts, strict=True) if count[way[n], more[n]] == 1),
            ways[-1][n],
        )
        for n in range(len(cards))
    ]


def name_suites(card: Scorecard) -> str:
    """Name the suites that were put to the model, with their versions."""
    return "; ".join(name_suite(name, facts) for name, facts in card.facts.suites.items())


def name_suite(name: str, facts: Mapping[str, str | None]) -> str:
    """Name a suite with its version and the beginning of its content hash."""
    version, pack = str(facts.get("version")), str(facts.get("pack_hash") or "")[:12]
    # The version of a team's own suite is this hash.
    return f"{name} {version}" + (f", content sha256 {pack}" if pack not in ("", version) else "")
