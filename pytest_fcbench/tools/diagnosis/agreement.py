"""Agreement of two judges, or of a judge and a person, on the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """Labels of two judges by the name of the question; only questions that both labelled count."""

    one: Mapping[str, str]
    other: Mapping[str, str]

    @property
    def both(self) -> list[str]:
        """Questions that both labelled, in the order of the first."""
        return [name for name in self.one if name in self.other]

    @property
    def table(self) -> Mapping[tuple[str, str], int]:
        """Counts of each pair of labels."""
        return Counter((self.one[name], self.other[name]) for name in self.both)

    @property
    def different(self) -> list[str]:
        """Questions that they labelled differently."""
        return [name for name in self.both if self.one[name] != self.other[name]]

    @property
    def share(self) -> float | None:
        """The share of questions on which they agree; None without a question that both labelled."""
        return 1 - len(self.different) / len(self.both) if self.both else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960): the agreement beyond chance, as a share of the greatest possible one.

        Chance is that of two judges who give labels as often as these do, but at random. None where they
        would then always agree, because both gave the same label to everything.
        """
        if self.share is None:
            return None
        n = len(self.both)
        ones = Counter(self.one[name] for name in self.both)
        others = Counter(self.other[name] for name in self.both)
        by_chance = sum(times * others[label] for label, times in ones.items())
        # Compared as whole numbers, so that agreement by chance of exactly 1 is recognised.
        return None if by_chance == n * n else (self.share - by_chance / n**2) / (1 - by_chance / n**2)
