"""Comparison of the names of places.

- Abbreviations in names and addresses (St, Intl, Ave) are written out.
- Country and state behind a comma may be left out on one side, and must agree where both have them. That
  of a well-known city is known: "Paris" is not "Paris, Texas". It must not be left out where nothing but
  general words remain ("Museum, Norway").
- A well-known city may stand at either end of a name ("Hyatt Regency Dallas", "Dallas Hyatt Regency").
- Other names are known as far as ``gazetteer`` goes: cities in other languages, airports by their codes.
  An airport is not its city.

A landmark with and without its city, parts of names and nicknames are not known to be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_fcbench.matchers.equivalence.gazetteer import (
    Known,
    Region,
    can_be_same,
    read_airport_codes,
    read_airports,
    read_cities,
    read_region_codes,
    read_regions,
)
from pytest_fcbench.matchers.equivalence.words import Words, split_words

_LONGEST = 300
"""Characters of a text that can be the name or the address of a place."""

_ABBREVIATIONS = {
    "av": "avenue",
    "ave": "avenue",
    "blvd": "boulevard",
    "ctr": "center",
    "hwy": "highway",
    "intl": "international",
    "ln": "lane",
    "natl": "national",
    "pkwy": "parkway",
    "rd": "road",
    "sq": "square",
    "univ": "university",
}
_BEFORE_A_NAME = {"st": "saint", "dr": "doctor", "mt": "mount", "ft": "fort"}
_BEHIND_A_NAME = {"st": "street", "dr": "drive"}

_GENERAL = frozenset(
    split_words(
        "airport bar beach beer bus cafe castle cathedral center central chinatown church cinema circus "
        "city cruise dinner diving downtown fishing food garden gardens grand harbor hiking hospital "
        "hostel hotel house inn international lake library main mall market museum music national of "
        "old opera palace park plaza port railway resort restaurant royal shopping show skiing square "
        "station suites surfing temple theater tour tours tower town train university wine zoo best "
        "express four hilton holiday hyatt ibis intercontinental la madame marriott mercure novotel "
        "radisson regency seasons shangri sheraton tussauds western"
    )
)
"""Words that name nothing alone: kinds of places, activities, chains."""

_BEARINGS = frozenset(
    split_words(
        "north south east west northern southern eastern western northeast northwest southeast "
        "southwest central upper lower inner outer new old great greater little to from via and or"
    )
)
"""Words that belong to their neighbour: "South Boston Hotel" is not "Boston South Hotel"."""

_CITY_OR_STATE = frozenset(map(split_words, ("New York", "Washington", "Victoria", "Quebec")))
"""Names behind a comma that are more often a city's than a state's."""


def is_same_place(one: str, other: str) -> bool:
    """Tell whether both are names of one place."""
    if max(len(one), len(other)) > _LONGEST:
        return False
    a, b = _read_place(one), _read_place(other)
    if not can_be_same(a.region, b.region):
        return False
    if a.name == b.name:
        return a.region == b.region or not _GENERAL.issuperset(a.name)
    # The same must be left of both without the only city that they name.
    places, others = list(_find_cities(a.name)), list(_find_cities(b.name))
    if len(places) != 1 or places != others:
        return False
    ((_, rest),) = places
    # "Boston South" and "South Boston" are two places, though the same is left of both.
    return bool(rest) and _BEARINGS.isdisjoint(rest)


@dataclass(frozen=True, slots=True)
class _Place:
    name: Words
    region: Region | None


def _read_place(text: str) -> _Place:
    parts = [part.strip() for part in re.split(r"[,()]", text) if split_words(part)]
    stated: Region | None = None
    while len(parts) > 1 and (region := _split_off_region(parts, stated)):
        stated = region if stated is None or stated.holds(region) else stated
        parts.pop()
    known = _find_known(parts)
    if known is None:
        cities = read_cities()
        named = (cities[words].name if words in cities else words for words in map(_expand_words, parts))
        return _Place(tuple(chain.from_iterable(named)), stated)
    region = known.region
    return _Place(known.name, stated if stated and not stated.holds(region) else region)


def _split_off_region(parts: Sequence[str], stated: Region | None) -> Region | None:
    """Split off the country or state at the end; a known city decides between several readings."""
    *others, last = parts
    known = _find_known(others)
    # Without a known city in front, New York behind a comma is the city.
    if split_words(last) in _CITY_OR_STATE and known is None:
        return None
    code = re.sub(r"\W", "", last)
    readings = (
        read_regions().get(split_words(last))
        or (read_region_codes().get(code) if code.isupper() else None)
        or ()
    )
    possible = [region for region in readings if can_be_same(region, stated)]
    right = [region for region in possible if known and can_be_same(region, known.region)]
    return next(iter(right or possible), None)


def _find_known(parts: Sequence[str]) -> Known | None:
    """Find the well-known place that all parts together name."""
    found = [word for part in parts for word in _expand_words(part)]
    if (known := read_cities().get(tuple(found))) or not found:
        return known
    # Only capitals are a code; the same letters in lower case are a word.
    code, *more = parts[0].split()
    if len(parts) == 1 and code.isupper() and [word.casefold() for word in more] in ([], ["airport"]):
        known = read_airport_codes().get(code)
    if "airport" in found:
        known = known or read_airports().get(frozenset(found) - {"airport", "international"})
    if known is None and len(countries := read_regions().get(tuple(found), ())) == 1:
        known = Known(("region", str(countries[0])), countries[0])
    return known


def _expand_words(text: str) -> Words:
    """Return the words of a part between commas with abbreviations written out."""
    found = split_words(text)
    expanded = []
    for at, word in enumerate(found):
        before, behind = found[:at][-1:], found[at + 1 : at + 2]
        if word in _ABBREVIATIONS:
            expanded.append(_ABBREVIATIONS[word])
        # St and Dr mean one thing in front of a name and another behind it.
        elif behind and behind[0].isalpha() and behind[0] != "and":
            is_feet = word == "ft" and before and before[0].isdigit()
            expanded.append(word if is_feet else _BEFORE_A_NAME.get(word, word))
        else:
            expanded.append(_BEHIND_A_NAME.get(word, word) if before else word)
    return tuple(expanded)


def _find_cities(name: Words) -> Iterator[tuple[Words, Words]]:
    """Yield each city at the start or the end of a name, and the name without it."""
    for length in range(1, min(len(name), 5)):
        for city, rest in ((name[:length], name[length:]), (name[-length:], name[:-length])):
            if city in read_cities():
                yield city, rest
