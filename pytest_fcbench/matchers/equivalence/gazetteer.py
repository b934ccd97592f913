"""Places by their names: countries, states, well-known cities and airports.

A small table of our own, for what can be known without asking: country codes (ISO 3166), the states of four
countries, names of large cities in other languages, IATA codes of large airports. A name that many places
share stands here only for the one that everybody means, and not at all where nobody can say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_fcbench.matchers.equivalence.words import Words, split_words

_FOLDER = Path(__file__).with_name("known_places")
"""A file for each table; airports have the names that go before "Airport" or "International Airport"."""


@dataclass(frozen=True, slots=True)
class Region:
    """The region of a place: a country by its ISO 3166 code, and a state of it where that is known."""

    country: str
    state: str | None = None

    def holds(self, other: Region) -> bool:
        """Tell whether the other is the same or a part of this one."""
        return self.country == other.country and self.state in (None, other.state)


def can_be_same(one: Region | None, other: Region | None) -> bool:
    """Tell whether two places can be the same: their regions, where known, do not exclude each other."""
    return one is None or other is None or one.holds(other) or other.holds(one)


@dataclass(frozen=True, slots=True)
class Known:
    """A place of the table; ``name`` is the one by which it is compared."""

    name: Words
    region: Region


def _read_rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Read the code and the names of each line of a table, such as ``CH Switzerland, Schweiz``."""
    for row in (_FOLDER / f"{table}.txt").read_text(encoding="utf-8").splitlines():
        code, _, names = row.partition(" ")
        yield code, names.split(", ")


def _region(code: str) -> Region:
    country, _, state = code.partition("-")
    return Region(country, state or None)


@cache
def read_regions() -> Mapping[Words, tuple[Region, ...]]:
    """Return countries and states by name; two are named Georgia."""
    found: dict[Words, tuple[Region, ...]] = {}
    for code, names in (*_read_rows("states"), *_read_rows("countries")):
        for name in names:
            found[split_words(name)] = (*found.get(split_words(name), ()), _region(code))
    return found


@cache
def read_region_codes() -> Mapping[str, tuple[Region, ...]]:
    """Return the meanings of each code: first a state of the USA, then a country, then another state."""
    states = [_region(code) for code, _ in _read_rows("states")]
    countries = [_region(code) for code, _ in _read_rows("countries")]
    ordered = [region for region in states if region.country == "US"] + countries + states
    found: dict[str, tuple[Region, ...]] = {"UK": (Region("GB"),)}
    for region in dict.fromkeys(ordered):
        code = region.state or region.country
        found[code] = (*found.get(code, ()), region)
    return found


@cache
def read_cities() -> Mapping[Words, Known]:
    """Return well-known cities by any of their names."""
    return {
        split_words(name): Known(split_words(names[0]), _region(code))
        for code, names in _read_rows("cities")
        for name in names
    }


@cache
def read_airports() -> Mapping[frozenset[str], Known]:
    """Return airports by the words of any of their names, without "international" and "airport"."""
    return {frozenset(split_words(name)): known for known, names in _read_airports() for name in names}


@cache
def read_airport_codes() -> Mapping[str, Known]:
    """Return airports by their IATA code."""
    return {known.name[-1]: known for known, _ in _read_airports()}


def _read_airports() -> Iterator[tuple[Known, list[str]]]:
    for code, (first, *names) in _read_rows("airports"):
        region, _, name = first.partition(" ")
        yield Known(("airport", code), _region(region)), [name, *names]
