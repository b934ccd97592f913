"""How far two judges, or a judge and a person, give the same answers to the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """Labels of two judges by what was judged; what only one of them labelled does not count."""

    one: Mapping[str, str]
    other: Mapping[str, str]

    @property
    def both(self) -> list[str]:
        """What both labelled, in the order of the first."""
        return [name for name in self.one if name in self.other]

    @property
    def table(self) -> Mapping[tuple[str, str], int]:
        """How often each pair of labels was given."""
        return Counter((self.one[name], self.other[name]) for name in self.both)

    @property
    def different(self) -> list[str]:
        """What they labelled differently."""
        return [name for name in self.both if self.one[name] != self.other[name]]

    @property
    def share(self) -> float | None:
        """The part on which they agree; None without anything that both labelled."""
        return 1 - len(self.different) / len(self.both) if self.both else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960): the agreement beyond chance, as a part of what there could be of it.

        Chance is that of two judges who give labels as often as these do, without looking. None where it
        alone makes them agree always: both gave one and the same label to everything.
        """
        if self.share is None:
            return None
        n = len(self.both)
        ones = Counter(self.one[name] for name in self.both)
        others = Counter(self.other[name] for name in self.both)
        by_chance = sum(times * others[label] for label, times in ones.items())
        # In whole numbers, so that an exact 1 is seen.
        return None if by_chance == n * n else (self.share - by_chance / n**2) / (1 - by_chance / n**2)
