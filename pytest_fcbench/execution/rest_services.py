"""The web services of ``core``: small, deterministic, under names that nobody can own (``.example``).

Each answers a path and its parameters with a status and a JSON value: 404 for unknown things, 400 for invalid
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcbench.execution.rest_apis import NO_API, Key, KeyPlace, WebApi

Params: TypeAlias = Mapping[str, str]
Answer: TypeAlias = tuple[int, object]
_NOT_FOUND = 404, {"error": "not found"}


@dataclass(frozen=True, slots=True)
class Service:
    """A service and the facts about its requests."""

    route: Callable[[str, Params], Answer]
    """Answers a path and its parameters. Raises ValueError for invalid parameters."""
    api: WebApi = NO_API

    def answer(self, path: str, params: Params) -> Answer:
        """Return the status and the reply to a path and its parameters."""
        try:
            return self.route(path, params)
        except ValueError as error:
            return 400, {"error": str(error)[:200]}


def _read_whole(params: Params, name: str, default: int) -> int:
    """Return a parameter as a whole number from 0 to 9999. Raises ValueError."""
    number = int(params.get(name, str(default))[:10])
    if not 0 <= number <= 9999:
        raise ValueError(f"{name} is from 0 to 9999")
    return number


# The trams of Varnholm

# Zone, and whether one gets in without steps.
_STOPS = {
    "Harbour": (1, True),
    "Old Mint": (1, False),
    "Corn Market": (1, True),
    "Observatory": (2, True),
    "Rope Walk": (2, False),
    "Birch Hill": (3, True),
}
_LINES = {
    "2": ("Birch Hill", "Corn Market", "Harbour"),
    "4": ("Rope Walk", "Old Mint", "Corn Market", "Observatory"),
    "7": ("Harbour", "Rope Walk", "Birch Hill"),
}


def _answer_trams(path: str, params: Params) -> Answer:
    match path.split("/"):
        case ["", "v1", "stops"]:
            return 200, [
                {"name": name, "zone": zone, "step_free": step_free}
                for name, (zone, step_free) in _STOPS.items()
                if params.get("zone") in (None, str(zone))
                and (step_free or params.get("step_free") != "true")
            ]
        case ["", "v1", "departures"]:
            stop = params.get("stop", "")
            if stop not in _STOPS:
                return 404, {"error": f"there is no stop {stop[:80]!r}"}
            coming = [
                {
                    "line": line,
                    "towards": stops[-1],
                    "minutes": (3 * int(line) + 7 * stops.index(stop)) % 12 + again,
                }
                for line, stops in _LINES.items()
                for again in range(1, 61, 12)
                if stop in stops[:-1] and params.get("line") in (None, line)
            ]
            # Sorted, so that the reply is the same whatever the order of lines in the table.
            coming.sort(key=lambda departure: (departure["minutes"], departure["line"]))
            return 200, {"stop": stop, "departures": coming[: _read_whole(params, "limit", 3)]}
        case ["", "v1", "lines", line] if line in _LINES:
            return 200, {"line": line, "stops": list(_LINES[line]), "minutes": 6 * (len(_LINES[line]) - 1)}
    return _NOT_FOUND


# The tide tables of Saltmark

# Mean height of high water in metres, and its delay in minutes.
_PORTS = {"brandel": (4.1, 0), "osterwick": (3.4, 47), "pellhaven": (5.6, 112)}
_FEET = 3.2808


def _answer_tides(path: str, params: Params) -> Answer:
    match path.split("/"):
        case ["", "tables", port, day] if port in _PORTS:
            try:
                on, unit = date.fromisoformat(day), params.get("unit", "m")
            except ValueError:  # its words depend on the version of Python
                raise ValueError(f"{day} is not a date") from None
            if unit not in ("m", "ft"):
                raise ValueError("unit is m or ft")
            mean, delay = _PORTS[port]
            number = on.toordinal()
            swing = abs(number % 15 - 7) / 10
            tides: list[Mapping[str, object]] = []
            for tide, metres in (("high", mean + swing), ("low", 0.9 - swing / 2)) * 2:
                minute = (number * 50 + delay) % 372 + 372 * len(tides)
                time = f"{minute // 60 % 24:02}:{minute % 60:02}"
                height = round(metres * (_FEET if unit == "ft" else 1), 2)
                tides.append({"tide": tide, "time": time, "height": height})
            return 200, {"port": port, "date": on.isoformat(), "unit": unit, "tides": tides}
        case ["", "ports"]:
            return 200, [{"port": port, "mean_high_water": height} for port, (height, _) in _PORTS.items()]
    return _NOT_FOUND


# The museum of Greyfen, which wants a key in a header

_OBJECTS = (
    ("GF-0114", "Ferry bell", "bronze", 1788, "Hall 2"),
    ("GF-0190", "Peat cutter's ledger", "paper", 1841, "Hall 1"),
    ("GF-0233", "Eel spear", "iron", 1690, "Hall 2"),
    ("GF-0305", "Painted sea chest", "oak", 1766, "Hall 3"),
    ("GF-0412", "Salt cellar", "silver", 1723, "Hall 3"),
    ("GF-0555", "Lamplighter's pole", "ash", 1879, "Hall 1"),
)


def _answer_museum(path: str, params: Params) -> Answer:
    match path.split("/"):
        case ["", "api", "objects"]:
            objects = [
                {"number": number, "title": title}
                for number, title, material, year, room in _OBJECTS
                if params.get("q", "").lower() in title.lower()
                and params.get("material") in (None, material)
                and params.get("room") in (None, room)
                and _read_whole(params, "from_year", 0) <= year <= _read_whole(params, "to_year", 9999)
            ]
            return 200, {"total": len(objects), "objects": objects[: _read_whole(params, "limit", 10)]}
        case ["", "api", "objects", number]:
            for item in _OBJECTS:
                if item[0] == number:
                    names = ("number", "title", "material", "year", "room")
                    return 200, dict(zip(names, item, strict=True))
    return _NOT_FOUND


# The recipes of Hearth, which want a key among the parameters

_RECIPES = (
    ("leek-pie", "Leek pie", 55, 4, ("leek", "flour", "cream"), True),
    ("smoked-eel-broth", "Smoked eel broth", 40, 2, ("eel", "potato", "dill"), False),
    ("barley-pot", "Barley pot", 70, 6, ("barley", "carrot", "leek"), True),
    ("pan-bread", "Pan bread", 25, 4, ("flour", "yoghurt"), True),
    ("potato-dumplings", "Potato dumplings", 45, 4, ("potato", "flour", "egg"), True),
)


def _answer_recipes(path: str, params: Params) -> Answer:
    full = params.get("detail", "brief") == "full"
    match path.split("/"):
        case ["", "recipes"]:
            return 200, [
                _show_recipe(recipe, full=full)
                for recipe in _RECIPES
                if params.get("ingredient") in (None, *recipe[4])
                and recipe[2] <= _read_whole(params, "max_minutes", 9999)
                and (recipe[5] or params.get("vegetarian") != "true")
            ]
        case ["", "recipes", name]:
            for recipe in _RECIPES:
                if recipe[0] == name:
                    return 200, _show_recipe(recipe, full=full)
    return _NOT_FOUND


def _show_recipe(
    recipe: tuple[str, str, int, int, tuple[str, ...], bool], *, full: bool
) -> Mapping[str, object]:
    name, title, minutes, serves, ingredients, vegetarian = recipe
    brief: Mapping[str, object] = {"id": name, "title": title, "minutes": minutes}
    rest = {"serves": serves, "ingredients": list(ingredients), "vegetarian": vegetarian}
    return {**brief, **rest} if full else brief


SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "trams.varnholm.example": Service(_answer_trams, WebApi(defaults={"limit": "3"})),
        "tides.saltmark.example": Service(_answer_tides, WebApi(defaults={"unit": "m"})),
        "museum.greyfen.example": Service(
            _answer_museum, WebApi(Key("", KeyPlace.HEADER, "x-museum-key"), defaults={"limit": "10"})
        ),
        "recipes.hearth.example": Service(
            _answer_recipes, WebApi(Key("", KeyPlace.PARAM, "api_key"), defaults={"detail": "brief"})
        ),
    }
)
"""The services by host."""
