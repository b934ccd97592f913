"""Tables of names and codes: of countries, states, well-known cities, airports, currencies and languages.

Tables of our own have what can be known without asking: country codes (ISO 3166), the states of four
countries, names of large cities in other languages, famous landmarks, what large airports are called. A name
that many places share stands among the cities and the landmarks only for the one that everybody means; where
nobody can say, it is a shared name. All other airports, and the cities that they are at, are those of the
package ``airportsdata``. A name or a sign that several currencies share names none: "dollar", "peso", "$",
"¥". A language of a country is another than the language alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import airportsdata

from pytest_fcbench.judging.words import Words, fold_text, split_words

_TABLES = Path(__file__).with_name("tables")


def read_rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Read the code and the names of each line of a table, such as ``CH Switzerland, Schweiz``."""
    for row in (_TABLES / f"{table}.txt").read_text(encoding="utf-8").splitlines():
        code, _, names = row.partition(" ")
        yield code, names.split(", ")


def read_currency(text: str) -> str | None:
    """Return the ISO 4217 code of the currency that a text names, or None."""
    # A code in brackets may repeat what a name says: Australian dollar (AUD).
    if match := _NAME_AND_CODE.fullmatch(text):
        name_code, bracket_code = map(read_currency, match.groups())
        return name_code if name_code == bracket_code else None
    return _read_names().get(_fold_name(text))


_NAME_AND_CODE = re.compile(r"\s*([^()]+)\(([^()]+)\)\s*")


def _fold_name(text: str) -> str:
    words = fold_text(text).replace(".", "").replace("-", " ").casefold().split()
    return " ".join(words).removeprefix("the ")


@cache
def _read_names() -> Mapping[str, str]:
    """Return the code of each currency by the code in small letters and by its names, in both numbers."""
    codes = {_fold_name(name): code for code, names in read_rows("currencies") for name in names}
    # Signs have no plural; irregular plurals stand in the table.
    plurals = {f"{name}s": code for name, code in codes.items() if name[-1:].isalpha()}
    return plurals | codes | {code.casefold(): code for code, _ in read_rows("currencies")}


def read_language(text: str) -> str | None:
    """Return the code of the language that a text names (pt-br, pt_BR, Brazilian Portuguese), or None."""
    return _read_languages().get(split_words(text))


@cache
def _read_languages() -> Mapping[Words, str]:
    return {split_words(name): code for code, names in read_rows("languages") for name in (code, *names)}


_SILENT_IN_AIRPORTS = frozenset(("airport", "international"))


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
class KnownPlace:
    """A place of the table; ``name`` is the one by which it is compared."""

    name: Words
    region: Region


def _parse_region(code: str) -> Region:
    country, _, state = code.partition("-")
    return Region(country, state or None)


@cache
def read_regions() -> Mapping[Words, tuple[Region, ...]]:
    """Return countries and states by name; two are named Georgia."""
    regions: dict[Words, tuple[Region, ...]] = {}
    for code, names in (*read_rows("states"), *read_rows("countries")):
        for name in names:
            regions[split_words(name)] = (*regions.get(split_words(name), ()), _parse_region(code))
    return regions


@cache
def read_region_codes() -> Mapping[str, tuple[Region, ...]]:
    """Return the meanings of each code: first a state of the USA, then a country, then another state."""
    states = [_parse_region(code) for code, _ in read_rows("states")]
    countries = [_parse_region(code) for code, _ in read_rows("countries")]
    regions = [region for region in states if region.country == "US"] + countries + states
    regions_by_code: dict[str, tuple[Region, ...]] = {"UK": (Region("GB"),)}
    for region in dict.fromkeys(regions):
        code = region.state or region.country
        regions_by_code[code] = (*regions_by_code.get(code, ()), region)
    return regions_by_code


@cache
def read_cities() -> Mapping[Words, KnownPlace]:
    """Return well-known cities by any of their names."""
    return {
        split_words(name): KnownPlace(split_words(names[0]), _parse_region(code))
        for code, names in read_rows("cities")
        for name in names
    }


@cache
def read_landmarks() -> Mapping[Words, KnownPlace]:
    """Return landmarks that everybody knows by their names, with and without their city at either end."""
    landmarks_by_name: dict[Words, KnownPlace] = {}
    for code, (city, *landmarks) in read_rows("landmarks"):
        main_name = split_words(city)
        cities = [name for name, place in read_cities().items() if place.name == main_name] or [main_name]
        for names in landmarks:
            spellings = [split_words(name) for name in names.split(" = ")]
            landmark = KnownPlace(spellings[0], _parse_region(code))
            for name in spellings:
                for city_name in cities:
                    landmarks_by_name |= dict.fromkeys((name, name + city_name, city_name + name), landmark)
    return landmarks_by_name


def is_shared_name(name: Words) -> bool:
    """Tell whether several places have a name, none of which is the one that everybody means."""
    if name in read_cities():
        return False
    # Asked last, because reading all airports takes a third of a second.
    return name in read_shared_names() or len(_read_airport_cities().get(name, ())) > 1


@cache
def read_shared_names() -> frozenset[Words]:
    """Return the names that several places share, as far as the table has them."""
    return frozenset(split_words(name) for _, names in read_rows("shared_names") for name in names)


@cache
def _load_airports() -> Mapping[str, airportsdata.Airport]:
    """Load all airports by IATA code; the package reads its file anew each time."""
    return airportsdata.load("IATA")


@cache
def _read_airport_cities() -> Mapping[Words, frozenset[Region]]:
    """Return the regions in which a city of a name has an airport."""
    regions_by_city: dict[Words, set[Region]] = {}
    for airport in _load_airports().values():
        region = _find_region(airport["subd"], airport["country"])
        regions_by_city.setdefault(split_words(airport["city"]), set()).add(region)
    return {name: frozenset(regions) for name, regions in regions_by_city.items()}


@cache
def _find_region(subdivision: str, country: str) -> Region:
    """Return the country of an airport, and its state where the table of states has it."""
    regions = read_regions().get(split_words(subdivision), ())
    return next((region for region in regions if region.country == country), Region(country))


@cache
def read_airports() -> Mapping[frozenset[str], KnownPlace]:
    """Return airports by the words of any of their names, without "international" and "airport".

    Left out are names of several airports, and those that are also the name of a well-known city elsewhere.
    """
    airports_by_name: dict[frozenset[str], KnownPlace | None] = {}
    by_city: dict[frozenset[str], list[KnownPlace]] = {}
    for code, airport in _load_airports().items():
        place = KnownPlace(("airport", code), _find_region(airport["subd"], airport["country"]))
        words = split_words(airport["name"])
        name = frozenset(words) - _SILENT_IN_AIRPORTS
        city = read_cities().get(tuple(word for word in words if word in name))
        if city is None or can_be_same(city.region, place.region):
            airports_by_name[name] = None if name in airports_by_name else place
        at = read_cities().get(split_words(airport["city"]))
        if at and can_be_same(at.region, place.region):
            by_city.setdefault(frozenset(at.name), []).append(place)
    # A well-known city with one airport gives it its name.
    city_airports = {name: airports[0] for name, airports in by_city.items() if len(airports) == 1}
    own_airports = {name_airport(name): place for place, names in _read_own_airports() for name in names}
    all_airports = {**city_airports, **airports_by_name, **own_airports}
    return {name: place for name, place in all_airports.items() if name and place}


def name_airport(text: str) -> frozenset[str]:
    """Return the words of an airport's name as they are looked up."""
    return frozenset(split_words(text)) - _SILENT_IN_AIRPORTS


@cache
def read_airport_nicknames() -> Mapping[frozenset[str], KnownPlace]:
    """Return airports by those names that are no city's, which do without the word "airport" (Heathrow)."""
    cities = _read_airport_cities()
    return {
        name_airport(name): place
        for place, names in _read_own_airports()
        for name in names
        if not ({split_words(name)} & (cities.keys() | read_cities().keys()))
    }


@cache
def read_airport_codes() -> Mapping[str, KnownPlace]:
    """Return airports by their IATA code."""
    airports = {
        code: KnownPlace(("airport", code), _find_region(airport["subd"], airport["country"]))
        for code, airport in _load_airports().items()
    }
    return airports | {place.name[-1]: place for place, _ in _read_own_airports()}


def _read_own_airports() -> Iterator[tuple[KnownPlace, list[str]]]:
    for code, (first, *names) in read_rows("airports"):
        region, _, name = first.partition(" ")
        yield KnownPlace(("airport", code), _parse_region(region)), [name, *names]


@cache
def read_country_codes() -> Mapping[str, Region]:
    """Return countries by their codes of two and of three letters."""
    codes = {code: Region(code) for code, _ in read_rows("countries")} | {"UK": Region("GB")}
    return codes | {long: Region(code) for code, (long,) in read_rows("country_codes")}


@cache
def read_city_codes() -> Mapping[str, Words]:
    """Return cities by the letters that stand for them, and by codes that their airports share."""
    return {code: tuple(city.split()) for code, (city,) in read_rows("city_codes")}
