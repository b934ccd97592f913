"""Search results for recorded replies, generated from a seed instead of written out.

Chance comes from ``random.Random(seed).random()`` alone, whose numbers are the same on every platform and in
every version of Python.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import shake_256
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TypeAlias, TypeVar

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

    def number(self, low: int, high: int, step: int = 1) -> int:
        return low + step * int(self.random() * ((high - low) // step + 1))

    def one(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def likely(self, share: float) -> bool:
        return self.random() < share

    def price(self) -> float:
        low, high = self.prices
        return round(low + self.random() * (high - low), 2)

    def rating(self) -> float:
        return self.number(60, 96) / 10

    def identifier(self, prefix: str) -> str:
        return f"{prefix}_{self.number(0, 16**8 - 1):08x}"

    def token(self) -> str:
        """Draw an opaque text of 220 to 560 characters."""
        length = self.number(220, 560)
        random_bytes = shake_256(f"{self.number(0, 2**48 - 1)}".encode()).digest(length)
        return urlsafe_b64encode(random_bytes).decode()[:length]

    def text(self, sentences: Sequence[str], number: int) -> str:
        """Draw that many different sentences, a word put into each."""
        # Steps of three through the sentences, so that none comes twice.
        start = self.number(0, len(sentences) - 1)
        chosen_sentences = (sentences[(start + 3 * index) % len(sentences)] for index in range(number))
        return " ".join(sentence.format(self.one(_WORDS["details"])) for sentence in chosen_sentences)


# The words of items; another order or number makes other items of the same seed.
_WORDS: Mapping[str, Sequence[str]] = read_json_text(
    Path(__file__).with_name("listings.json").read_text(encoding="utf-8")
)
_OUTINGS = {
    "boat": "Boat Trip",
    "food": "Tasting",
    "garden": "Gardens",
    "museum": "Museum",
    "nature": "Nature Hike",
    "tower": "Lookout",
    "walk": "City Walk",
    "workshop": "Workshop",
}


def _format_time(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def _draw_name(draw: _Draw, kind: str) -> str:
    return f"{draw.one(_WORDS['colours'])} {draw.one(_WORDS['things'])} {kind}"


def _make_flight(draw: _Draw) -> Item:
    stops = draw.one((0, 0, 1, 1, 2))
    departs, lasts = draw.number(300, 1260, 5), draw.number(95, 240, 5) + 130 * stops
    airline = draw.one(_WORDS["airlines"])
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


def _make_sight(draw: _Draw) -> Item:
    topic = draw.one(_WORDS["topics"])
    return {
        "sight_id": draw.identifier("si"),
        "name": _draw_name(draw, _OUTINGS[topic]),
        "topic": topic,
        "rating": draw.rating(),
        "reviews": draw.number(5, 5200),
        "price_from": draw.price(),
        "currency": "EUR",
        "free_cancellation": draw.likely(0.5),
        "duration_min": draw.number(30, 300, 15),
        "summary": draw.text(_WORDS["summaries"], 2),
    }


def _make_slot(draw: _Draw) -> Item:
    adult = draw.price()
    return {
        "starts_at": _format_time(draw.number(510, 1080, 15)),
        "guide_language": draw.one(_WORDS["languages"]),
        "tickets_left": draw.number(0, 30),
        "price_adult": adult,
        "price_child": round(adult / 2, 2),
        "currency": "EUR",
        "slot_token": draw.token(),
    }


# Members are drawn from top to bottom; a function draws first what several members depend on.
_KINDS: Mapping[str, tuple[Callable[[_Draw], Item], Prices]] = {
    "stays": (
        lambda draw: {
            "stay_id": draw.identifier("st"),
            "name": _draw_name(draw, draw.one(_WORDS["houses"])),
            "stars": draw.number(1, 5),
            "rating": draw.rating(),
            "reviews": draw.number(12, 2400),
            "price_total": draw.price(),
            "currency": "EUR",
            "free_cancellation": draw.likely(0.5),
            "breakfast_included": draw.likely(0.4),
            "distance_km": draw.number(1, 60) / 10,
            "summary": draw.text(_WORDS["summaries"], 2),
        },
        (260, 1400),
    ),
    "rooms": (
        lambda draw: {
            "room": f"{draw.one(_WORDS['rooms'])}, {draw.one(_WORDS['views'])} side",
            "beds": draw.one(_WORDS["beds"]),
            "sleeps": draw.number(1, 4),
            "breakfast_included": draw.likely(0.5),
            "free_cancellation": draw.likely(0.5),
            "price_total": draw.price(),
            "currency": "EUR",
            "offer_token": draw.token(),
        },
        (260, 1400),
    ),
    "flights": (_make_flight, (90, 780)),
    "cars": (
        lambda draw: {
            "group": draw.one(_WORDS["groups"]),
            "supplier": draw.one(_WORDS["suppliers"]),
            "supplier_rating": draw.rating(),
            "gearbox": draw.one(("manual", "automatic")),
            "seats": draw.one((4, 5, 5, 7)),
            "unlimited_mileage": draw.likely(0.5),
            "free_cancellation": draw.likely(0.5),
            "price_total": draw.price(),
            "currency": "EUR",
            "car_token": draw.token(),
        },
        (120, 900),
    ),
    "sights": (_make_sight, (9, 140)),
    "slots": (_make_slot, (9, 140)),
    "reviews": (
        lambda draw: {
            "review_id": draw.identifier("rv"),
            "score": draw.number(2, 10),
            "written_on": f"2026-{draw.number(1, 12):02}-{draw.number(1, 28):02}",
            "traveller": draw.one(_WORDS["travellers"]),
            "language": "en",
            "text": draw.text(_WORDS["remarks"], draw.number(2, 4)),
        },
        (0, 0),
    ),
    "rides": (
        lambda draw: {
            "vehicle": draw.one(_WORDS["vehicles"]),
            "seats": draw.number(3, 8),
            "bags": draw.number(2, 8),
            "meets_inside": draw.likely(0.5),
            "price_total": draw.price(),
            "currency": "EUR",
            "ride_token": draw.token(),
        },
        (18, 160),
    ),
}

KINDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(make(_Draw(Random(0).random, prices)))  # noqa: S311 - it must be the same every time
    for name, (make, prices) in _KINDS.items()
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
    make, usual = _KINDS[kind]
    draw = _Draw(Random(seed).random, prices or usual)  # noqa: S311 - as above
    return [{**make(draw), **each, **changed.get(place, {})} for place in range(count)]
