"""Compare the names of places.

- Abbreviations in names and addresses (St, Intl, Ave) are written out, in addresses also directions (N, SW).
  Spaces between the words of a name do not count, unless several places share a name: New Castle.
- Country and state behind a comma may be left out on one side, and must agree where both have them. That
  of a well-known city is known: "Paris" is not "Paris, Texas". It must not be left out where nothing but
  general words remain ("Museum, Norway"), and not behind a name that several places share: "Cambridge" may
  be any of them.
- A well-known city may stand at either end of a name ("Hyatt Regency Dallas", "Dallas Hyatt Regency"). Behind
  a name that has it, or a landmark that everybody knows, it may be left out: "Tokyo Tower, Tokyo".
- Other names are known as far as ``gazetteer`` goes: cities in other languages, airports by their codes.
  An airport is not its city.
- Codes count in capitals only, and alone only where one place is meant by them: "DE" is Germany where a
  country is asked for, and neither Germany nor Delaware elsewhere.

Other landmarks with and without their city, parts of names and nicknames are not known to be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.judging.gazetteer import (
    KnownPlace,
    Region,
    can_be_same,
    is_shared_name,
    name_airport,
    read_airport_codes,
    read_airport_nicknames,
    read_airports,
    read_cities,
    read_city_codes,
    read_country_codes,
    read_landmarks,
    read_region_codes,
    read_regions,
)
from pytest_fcbench.judging.words import Words, split_words

_LONGEST = 300
"""The most characters of a name or an address."""
_AIRPORT = ("airport",)
"""The beginning of the names of airports in the gazetteer."""
_CODE_WITH_KIND = re.compile(r"([A-Z]{3})\.(AIRPORT|CITY)", re.ASCII | re.IGNORECASE)

_WordSet: TypeAlias = Annotated[frozenset[str], BeforeValidator(split_words)]


@dataclass(frozen=True, slots=True)
class _AskedPlace:
    airport: _WordSet
    city: _WordSet
    country: _WordSet
    state: _WordSet


@dataclass(frozen=True, slots=True)
class _PlaceTable:
    """The contents of ``places.toml``, which explains them."""

    streets: _WordSet
    general: _WordSet
    bearings: _WordSet
    city_or_state: frozenset[Annotated[Words, BeforeValidator(split_words)]]
    large_countries: frozenset[str]
    asked: _AskedPlace
    abbreviations: Mapping[str, str]
    before_a_name: Mapping[str, str]
    behind_a_name: Mapping[str, str]
    directions: Mapping[str, str]


@cache
def _read_place_table() -> _PlaceTable:
    return read_table(_PlaceTable, __file__, "places.toml")


def is_same_place(one: str, other: str, about: Set[str] = frozenset()) -> bool:
    """Tell whether both are names of one place; words in ``about`` say what kind of place is asked for."""
    if max(len(one), len(other)) > _LONGEST:
        return False
    a, b = _read_place(one, about), _read_place(other, about)
    if _AIRPORT in (a.name[:1], b.name[:1]) and a.name[:1] != b.name[:1]:
        # Beside an airport "Heathrow" is the airport.
        a, b = (
            _Place(known_place.name, known_place.region)
            if place.name[:1] != _AIRPORT
            and (known_place := read_airport_nicknames().get(name_airport(text.partition(",")[0])))
            else place
            for place, text in ((a, one), (b, other))
        )
    if not can_be_same(a.region, b.region):
        return False
    is_shared = is_shared_name(a.name) or is_shared_name(b.name)
    differ_in_spaces = "".join(a.name) == "".join(b.name) and all(map(str.isalpha, a.name + b.name))
    if a.name == b.name or (differ_in_spaces and not is_shared):
        is_general = _read_place_table().general.issuperset(a.name)
        if a.region == b.region or is_general or not is_shared:
            return a.region == b.region or not is_general
        # Within a small country a shared name is clear: "Cambridge, England" is "Cambridge, UK".
        large_countries = _read_place_table().large_countries
        return a.region is not None and b.region is not None and a.region.country not in large_countries
    # The same must be left of both without the only city that they name.
    places, others = list(_find_cities(a.name)), list(_find_cities(b.name))
    if len(places) != 1 or places != others:
        return False
    ((_, rest),) = places
    # "Boston South" and "South Boston" are two places, though the same is left of both.
    return bool(rest) and _read_place_table().bearings.isdisjoint(rest)


def write_out_code(text: str) -> str:
    """Write out a code with its kind: JFK.AIRPORT is "JFK Airport", PAR.CITY is "paris"."""
    match = _CODE_WITH_KIND.fullmatch(text.strip())
    if not match:
        return text
    code, kind = match[1].upper(), match[2].casefold()
    return f"{code} Airport" if kind == "airport" else " ".join(read_city_codes().get(code, ())) or text


def is_known_place(text: str) -> bool:
    """Tell whether a text is nothing but the name of a well-known city, a country, a state or an airport."""
    return len(text) <= _LONGEST and _read_place(text, frozenset()).is_known


@dataclass(frozen=True, slots=True)
class _Place:
    name: Words
    region: Region | None
    is_known: bool = True


def _read_place(text: str, about: Set[str]) -> _Place:
    """Read a name or an address: its region is split off the end, the rest is looked up."""
    parts = [part.strip() for part in re.split(r"[,()]", text) if split_words(part)]
    if len(parts) > 1 and text.rstrip().endswith(")") and (airport := _find_coded_airport(parts, about)):
        return _Place(airport.name, airport.region)
    stated_region: Region | None = None
    while len(parts) > 1 and (region := _split_off_region(parts, stated_region)):
        if stated_region is None or stated_region.holds(region):
            stated_region = region
        parts.pop()
    if _repeats_name(parts):
        repeated_city = read_cities().get(_expand_words(parts[-1]))
        city_region = repeated_city.region if repeated_city else None
        if can_be_same(stated_region, city_region):
            stated_region = stated_region or city_region
            parts.pop()
    cities = read_cities()
    names = (cities[words].name if words in cities else words for words in map(_expand_words, parts))
    words = tuple(chain.from_iterable(names))
    known_place = _find_known(parts, about) or _find_airport_of_city(parts, about)
    known_place = known_place or read_landmarks().get(words)
    if known_place is None:
        # A city in the name is the well-known one: London, not the one in Ontario.
        city_names = [city for city, _ in _find_cities(words)]
        implied_region = cities[city_names[0]].region if len(city_names) == 1 else None
        is_address = bool(words) and words[0].isdigit() and _has_street(words)
        return _Place(words, stated_region or implied_region, is_known=is_address)
    region = known_place.region
    is_elsewhere = stated_region and not stated_region.holds(region)
    return _Place(known_place.name, stated_region if is_elsewhere else region)


def _repeats_name(parts: Sequence[str]) -> bool:
    """Tell whether the last part only repeats a word of the name, as in "Tokyo Tower, Tokyo".

    It does not behind a bearing ("South Boston, Boston"), nor in the name of a street, which may be anywhere.
    """
    if len(parts) < 2:
        return False
    name_words = _expand_words(" ".join(parts[:-1]))
    before, repetition, _ = f" {' '.join(name_words)} ".partition(f" {' '.join(_expand_words(parts[-1]))} ")
    return (
        bool(repetition)
        and _read_place_table().bearings.isdisjoint(before.split()[-1:])
        and not _has_street(name_words)
    )


def _has_street(words: Words) -> bool:
    return not _read_place_table().streets.isdisjoint(words)


def _find_airport_of_city(parts: Sequence[str], about: Set[str]) -> KnownPlace | None:
    """Find an airport whose city stands where a region may: "JFK Airport, New York"."""
    if len(parts) < 2 or "airport" not in _expand_words(parts[0]):
        return None
    airport = _find_known(parts[:1], about)
    city = read_cities().get(_expand_words(" ".join(parts[1:])))
    return airport if airport and city and can_be_same(city.region, airport.region) else None


def _find_coded_airport(parts: Sequence[str], about: Set[str]) -> KnownPlace | None:
    """Find the airport by the code in brackets at the end; None where the name is that of another airport."""
    *name_parts, code = parts
    airport = read_airport_codes().get(code) if code.isupper() else None
    asks_airport = not _read_place_table().asked.airport.isdisjoint(about)
    if airport is None or not (asks_airport or "airport" in _expand_words(" ".join(name_parts))):
        return None
    named_place = _find_known(name_parts, about)
    is_other_airport = named_place and named_place.name[:1] == _AIRPORT and named_place != airport
    return None if is_other_airport else airport


def _split_off_region(parts: Sequence[str], stated_region: Region | None) -> Region | None:
    """Split off the country or state at the end; a known city decides between several readings."""
    *others, last = parts
    known_place = _find_known(others, frozenset())
    # Without a known city in front, New York behind a comma is the city.
    if split_words(last) in _read_place_table().city_or_state and known_place is None:
        return None
    code = re.sub(r"\W", "", last)
    coded_regions = read_region_codes().get(code, ()) if code.isupper() else ()
    readings = read_regions().get(_expand_words(last)) or coded_regions
    regions = [region for region in readings if can_be_same(region, stated_region)]
    city_regions = [region for region in regions if known_place and can_be_same(region, known_place.region)]
    return next(iter(city_regions or regions), None)


def _find_known(parts: Sequence[str], about: Set[str]) -> KnownPlace | None:
    """Find the well-known place that all parts together name."""
    words = tuple(word for part in parts for word in _expand_words(part))
    if not words:
        return None
    asked, regions = _read_place_table().asked, read_regions().get(words, ())
    asks_region = not (asked.country | asked.state).isdisjoint(about) and asked.city.isdisjoint(about)
    known_place = None if asks_region and len(regions) == 1 else read_cities().get(words)
    if known_place is None and len(regions) == 1:
        known_place = _name_region(regions[0])
    if known_place is None and len(parts) == 1:
        known_place = _read_code(parts[0], about)
    if known_place is None and "airport" in words:
        known_place = read_airports().get(name_airport(" ".join(words)))
    if known_place is None and not asked.airport.isdisjoint(about):
        known_place = read_airport_nicknames().get(name_airport(" ".join(words)))
    return known_place


def _name_region(region: Region) -> KnownPlace:
    return KnownPlace(("region", str(region)), region)


def _read_code(text: str, about: Set[str]) -> KnownPlace | None:
    """Read a code of a country, a state, an airport or a city; without capitals it is a word."""
    code, *rest = text.split()
    if not code.isupper() or [word.casefold() for word in rest] not in ([], ["airport"]):
        return None
    code = re.sub(r"\W", "", code)
    if rest:
        return read_airport_codes().get(code)
    country = read_country_codes().get(code)
    states = [region for region in read_region_codes().get(code, ()) if region.state]
    asked = _read_place_table().asked
    if asked.city.isdisjoint(about):
        if not asked.country.isdisjoint(about) and asked.state.isdisjoint(about):
            return _name_region(country) if country else None
        if not asked.state.isdisjoint(about) and asked.country.isdisjoint(about):
            return _name_region(states[0]) if len(states) == 1 else None
    if code in read_city_codes():
        return read_cities().get(read_city_codes()[code])
    if len(code) == 3:
        return read_airport_codes().get(code)
    # A code of two letters that is a state's and a country's is nobody's alone.
    readings = [*states, *([country] if country else [])]
    return _name_region(readings[0]) if len(readings) == 1 else None


def _expand_words(text: str) -> Words:
    """Return the words of a part between commas with abbreviations written out."""
    words, table = split_words(text), _read_place_table()
    full_words = []
    for at, word in enumerate(words):
        before, behind = words[:at][-1:], words[at + 1 : at + 2]
        if word in table.abbreviations:
            full_words.append(table.abbreviations[word])
        # St and Dr mean one thing in front of a name and another behind it.
        elif behind and behind[0].isalpha() and behind[0] != "and":
            is_feet = word == "ft" and before and before[0].isdigit()
            full_words.append(word if is_feet else table.before_a_name.get(word, word))
        else:
            full_words.append(table.behind_a_name.get(word, word) if before else word)
    words_with_directions = tuple(
        word if full_words[:at] == ["avenue"] else table.directions.get(word, word)
        for at, word in enumerate(full_words)
    )
    is_address = len(full_words) > 1 and (_has_street(tuple(full_words)) or full_words[0].isdigit())
    is_name = words_with_directions in read_cities() or words_with_directions in read_regions()
    return words_with_directions if is_address or is_name else tuple(full_words)


def _find_cities(name: Words) -> Iterator[tuple[Words, Words]]:
    """Yield each city at the start or the end of a name, and the name without it."""
    for length in range(1, min(len(name), 5)):
        for city, rest in ((name[:length], name[length:]), (name[-length:], name[:-length])):
            if city in read_cities():
                yield city, rest
