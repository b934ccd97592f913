"""The world that all environments of a suite share: default states, tables, filler for long contexts."""

from __future__ import annotations

import math
import re
import struct
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

Sentences: TypeAlias = Mapping[str, Sequence[str]]

"""The sentences of a domain by official function, in source order: templates of ``str.format``."""


def write_sentence(
    sentences: Sentences, ours: str, function: str, number: int, values: Mapping[str, object]
) -> str:
    """Write the sentence with that number, counted from 0, of a function, or ``ours`` where there is none.

    Both are templates; their placeholders are names of ``values``.
    """
    official = sentences.get(function)
    return (official[number] if official else ours).format(**values)


Vector: TypeAlias = Sequence[float]

"""A vector of length 1, or all zeros, so that a dot product is a cosine."""

Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]

"""A function from texts to vectors of the same size."""

_PLACES = 1024

_LONG = 8

"""The number of letters from which on a word counts in full."""


def embed_by_hash(texts: Sequence[str]) -> Sequence[Vector]:
    """Make the vectors of texts."""
    return [_embed(text) for text in texts]


@lru_cache(512)
def _embed(text: str) -> Vector:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    # Parts of the text with their weights: whole words, and three letters for a third of a word.
    times: Counter[tuple[str, float]] = Counter()
    for word in re.findall(r"\w+", plain):
        size = min(len(word), _LONG) / _LONG
        times[word, size] += 1
        times.update((f" {word} "[at : at + 3], size / 3) for at in range(len(word)))
    vector = [0.0] * _PLACES
    for (part, size), number in times.items():
        # Not hash(), which Python seeds anew in each process; a lone surrogate has no UTF-8.
        place = zlib.crc32(part.encode("utf-8", "backslashreplace")) % _PLACES
        vector[place] += size * (1 + math.log(number))
    length = math.hypot(*vector) or 1.0
    return tuple(value / length for value in vector)


def measure_likeness(one: Vector, other: Vector) -> float:
    """Return the cosine in single precision, as the official index computes it."""
    # Adding 0.0 makes 0.0 of -0.0.
    (cosine,) = struct.unpack(
        "f", struct.pack("f", math.fsum(a * b for a, b in zip(one, other, strict=True)))
    )
    return float(cosine) + 0.0


Table = Mapping[str, Any]

"""JSON values by name."""


class WebError(Exception):
    """The web has no such answer; the message says why, for a model."""


class MissingAnswer(Exception):  # noqa: N818 - reads as the state it names
    """An answer of the web is still missing; the call is carried out again once it is there."""


class Web(Protocol):
    """A source of answers of a search engine and of the servers of pages."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        """Return results with ``title``, ``href`` and, where there is a snippet, ``body``.

        Raises ``WebError`` and ``MissingAnswer``.
        """

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        """Return the content of a page in a mode, perhaps as the official tool would show it.

        Raises ``WebError`` and ``MissingAnswer``.
        """


@dataclass(frozen=True, slots=True)
class NoWeb:
    """A world in which there is no web."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        """Raise ``WebError``."""
        raise WebError("there is no web here.")

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        """Raise ``WebError``."""
        raise WebError("there is no web here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    """Material that makes contexts long without changing any task."""

    file_text: str = ""
    """Appended to the content of files."""
    spared_files: Sequence[str] = ()
    """Names of files that are left as they are."""
    file_names: Sequence[str] = ()
    """Empty files put into every folder that has no folders."""
    watch_list: Sequence[object] = ()
    """Put at the end of a watch list that is asked for."""
    transactions: Sequence[Table] = ()
    ma_5: Sequence[float] = ()
    """Moving averages over 5 days."""
    ma_20: Sequence[float] = ()
    sectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Stock symbols by sector."""
    order_details: Mapping[str, str] = field(default_factory=dict)
    """Texts by topic with ``{symbol}`` in them."""
    car_status: str = ""
    weather: Mapping[str, Table] = field(default_factory=dict)
    parking_brake: str = ""
    cities: Sequence[str] = ()
    credit_cards: Mapping[str, Table] = field(default_factory=dict)
    """Accounts by card id."""
    bookings: Mapping[str, Table] = field(default_factory=dict)
    accompanying: Mapping[str, Table] = field(default_factory=dict)
    """By function: members put at the end of its result, where that is an object and no error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Never changed by an environment, which copies the parts that it keeps."""

    sentences: Mapping[str, Sentences] = field(default_factory=dict)
    """Sentences that calls return, by domain, where a suite has its own; those of what carries calls out are
    under ``executor``."""
    class_names: Mapping[str, str] = field(default_factory=dict)
    """The name of each domain's class in Python's own errors, where a suite has its own."""
    defaults: Mapping[str, Table] = field(default_factory=dict)
    """The state of each domain (by its name in ``DOMAINS``) unless an entry's configuration overrides it."""
    fares: Mapping[str, float] = field(default_factory=dict)
    """Base cost of a flight by ``from|to`` (airport codes)."""
    airports: Sequence[str] = ()
    """All airport codes."""
    nearest_airports: Mapping[str, str] = field(default_factory=dict)
    """Airport code by city."""
    exchange_rates: Mapping[str, float] = field(default_factory=dict)
    """Rate by ``from|to`` (currencies)."""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """Stock symbol by company."""
    sectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Stock symbols by sector."""
    distances: Sequence[Sequence[object]] = ()
    """``[zip code, zip code, distance]``, the same in both directions; the distance in km."""
    zip_codes: Mapping[str, str] = field(default_factory=dict)
    """Zip code by city."""
    tire_shop: str = ""
    """Address of the only tire shop."""
    support_reply: str = ""
    """The answer of customer support to everything."""
    foreign_passport: str = ""
    """The refusal of a traveler whose passport is not of the United States."""
    today: str = "2024-09-01"
    """The date that environments go by, ``YYYY-MM-DD``."""
    embed: Embed = embed_by_hash
    """Makes vectors of texts, for a memory that finds them by meaning."""
    web: Web = field(default_factory=NoWeb)
    """Answers searches and has pages."""
    filler: Filler = field(default_factory=Filler)


def world_from_json(value: Table) -> World:
    """Make a world from JSON values by the names of its fields. Raises TypeError for an unknown name.

    ``{"__ellipsis__": true}`` in the filler's watch list stands for Python's ``...``, which JSON cannot hold.
    """
    filler = dict(value.get("filler", {}))
    if "watch_list" in filler:
        filler["watch_list"] = [... if isinstance(item, Mapping) else item for item in filler["watch_list"]]
    return World(**{**value, "filler": Filler(**filler)})
