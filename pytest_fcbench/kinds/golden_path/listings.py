"""Search results for recorded replies, generated from a seed instead of written out.

Chance comes from ``random.Random(seed).random()`` alone, whose numbers are the same on every platform and in
every version of Python.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import shake_256
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, cast

from pytest_fcbench.domain.text import read_json_text

T = TypeVar("T")

Item: TypeAlias = dict[str, object]
Prices: TypeAlias = tuple[float, float]
"""The lowest and the highest price that can be drawn."""


@dataclass(frozen=True, slots=True)
class _Draw:
    """A source of chance, and the range of prices."""

    random: Callable[[], float]
    prices: Prices
    drawn: Item = field(default_factory=dict)
    """What was drawn ahead of the members of an item, because several depend on it."""

    def member(self, how: object) -> object:
        """Draw what a row says: a method with its arguments, or else the row itself."""
        return getattr(self, how[0])(*how[1:]) if isinstance(how, list) else how

    def recall(self, name: str) -> object:
        return self.drawn[name]

    def half(self, name: str) -> float:
        return round(cast("float", self.drawn[name]) / 2, 2)

    def number(self, low: int, high: int, step: int = 1) -> int:
        return low + step * int(self.random() * ((high - low) // step + 1))

    def one(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def likely(self, share: float) -> bool:
        return self.random() < share

    def price(self) -> float:
        low, high = self.prices
        return round(low + self.random() * (high - low), 2)

    def tenths(self, low: int, high: int) -> float:
        return self.number(low, high) / 10

    def date(self) -> str:
        return f"2026-{self.number(1, 12):02}-{self.number(1, 28):02}"

    def identifier(self, prefix: str) -> str:
        return f"{prefix}_{self.number(0, 16**8 - 1):08x}"

    def token(self) -> str:
        """Draw an opaque text of 220 to 560 characters."""
        length = self.number(220, 560)
        random_bytes = shake_256(f"{self.number(0, 2**48 - 1)}".encode()).digest(length)
        return urlsafe_b64encode(random_bytes).decode()[:length]

    def word(self, group: str) -> str:
        return self.one(_WORDS[group])

    def phrase(self, template: str) -> str:
        """Draw a word for each group that the template names."""
        return re.sub(r"{(\w+)}", lambda match: self.word(match[1]), template)

    def name(self, group: str) -> str:
        kind = self.word(group)
        return f"{self.phrase('{colours} {things}')} {kind}"

    def outing(self) -> str:
        return f"{self.phrase('{colours} {things}')} {_TABLE['outings'][self.drawn['topic']]}"

    def time(self, low: int, high: int, step: int) -> str:
        return _format_time(self.number(low, high, step))

    def text(self, group: str, low: int, high: int | None = None) -> str:
        """Draw that many different sentences, a word put into each."""
        sentences, number = _WORDS[group], low if high is None else self.number(low, high)
        # Steps of three through the sentences, so that none comes twice.
        start = self.number(0, len(sentences) - 1)
        chosen_sentences = (sentences[(start + 3 * index) % len(sentences)] for index in range(number))
        return " ".join(sentence.format(self.word("details")) for sentence in chosen_sentences)


# Another order or number of words or members makes other items of the same seed.
_TABLE = read_json_text(Path(__file__).with_name("listings.json").read_text(encoding="utf-8"))
_WORDS: Mapping[str, Sequence[str]] = _TABLE["words"]
_KINDS: Mapping[str, Any] = _TABLE["kinds"]
"""The usual prices of each kind, and how each member is drawn: a value, or a method of ``_Draw``."""


def _format_time(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def _make_flight(draw: _Draw) -> Item:
    stops = draw.one((0, 0, 1, 1, 2))
    departs, lasts = draw.number(300, 1260, 5), draw.number(95, 240, 5) + 130 * stops
    airline = draw.word("airlines")
    return {
        "airline": airline,
        "flight_no": f"{airline[0]}{airline.split()[-1][0]} {draw.number(100, 989)}",
        "departs_at": _format_time(departs),
        "arrives_at": _format_time(departs + lasts),
        "duration_min": lasts,
        "stops": stops,
        "checked_bags": draw.number(0, 2),
        "price_total": draw.price(),
        "currency": "EUR",
        "offer_token": draw.token(),
    }


def _make_item(kind: str, draw: _Draw) -> Item:
    """Draw the members of an item from top to bottom."""
    if kind == "flights":
        return _make_flight(draw)
    for name, how in _KINDS[kind].get("first", {}).items():
        draw.drawn[name] = draw.member(how)
    return {name: draw.member(how) for name, how in _KINDS[kind]["members"].items()}


KINDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(_make_item(name, _Draw(Random(0).random, row["prices"])))  # noqa: S311 - the same every time
    for name, row in _KINDS.items()
}
"""The kinds of listings, and the members of an item of each."""


def make_listing(
    kind: str,
    seed: int,
    count: int,
    prices: Prices | None = None,
    each: Mapping[str, object] = MappingProxyType({}),
    changed: Mapping[int, Mapping[str, object]] = MappingProxyType({}),
) -> list[Item]:
    """Make items of a kind of ``KINDS``, each with the members of its kind first.

    ``prices`` are usual ones in euros unless given; ``each`` has members that are the same in every item, and
    ``changed``, by the place of an item, members that matter.
    """
    draw = _Draw(Random(seed).random, prices or _KINDS[kind]["prices"])  # noqa: S311 - as above
    return [{**_make_item(kind, draw), **each, **changed.get(place, {})} for place in range(count)]
