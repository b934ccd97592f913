"""The web services of ``core``: small, deterministic, under names that nobody can own (``.example``).

Each answers a path and its parameters with a status and a JSON value: 404 for unknown things, 400 for invalid
parameters.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from pytest_fcbench.execution.rest_apis import NO_API, Key, KeyPlace, WebApi

Params: TypeAlias = Mapping[str, str]
Answer: TypeAlias = tuple[int, object]
_NOT_FOUND = 404, {"error": "not found"}
_FACTS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("rest_services.toml").read_text(encoding="utf-8")
)
"""The facts that the services answer from, by kind and name."""


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


def _read_whole_number(params: Params, name: str, default: int) -> int:
    """Return a parameter as a whole number from 0 to 9999. Raises ValueError."""
    text = params.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise ValueError(f"{name} is a whole number from 0 to 9999")
    return int(text)


# The trams of Varnholm


def _answer_trams(path: str, params: Params) -> Answer:
    match path.split("/"):
        case ["", "v1", "stops"]:
            return 200, [
                {"name": name, **stop}
                for name, stop in _FACTS["stops"].items()
                if params.get("zone") in (None, str(stop["zone"]))
                and (stop["step_free"] or params.get("step_free") != "true")
            ]
        case ["", "v1", "departures"]:
            stop = params.get("stop", "")
            if stop not in _FACTS["stops"]:
                return 404, {"error": f"there is no stop {stop[:80]!r}"}
            coming = [
                {
                    "line": line,
                    "towards": stops[-1],
                    "minutes": (3 * int(line) + 7 * stops.index(stop)) % 12 + again,
                }
                for line, stops in _FACTS["lines"].items()
                for again in range(1, 61, 12)
                if stop in stops[:-1] and params.get("line") in (None, line)
            ]
            # Sorted, so that the reply is the same whatever the order of lines in the table.
            coming.sort(key=lambda departure: (departure["minutes"], departure["line"]))
            return 200, {"stop": stop, "departures": coming[: _read_whole_number(params, "limit", 3)]}
        case ["", "v1", "lines", line] if stops := _FACTS["lines"].get(line):
            return 200, {"line": line, "stops": stops, "minutes": 6 * (len(stops) - 1)}
    return _NOT_FOUND


# The tide tables of Saltmark

_FEET = 3.2808


def _answer_tides(path: str, params: Params) -> Answer:
    match path.split("/"):
        case ["", "tables", port, day] if facts := _FACTS["ports"].get(port):
            try:
                tide_date, unit = date.fromisoformat(day), params.get("unit", "m")
            except ValueError:  # its words depend on the version of Python
                raise ValueError(f"{day} is not a date") from None
            if unit not in ("m", "ft"):
                raise ValueError("unit is m or ft")
            number = tide_date.toordinal()
            swing = abs(number % 15 - 7) / 10
            tides: list[Mapping[str, object]] = []
            for tide, metres in (("high", facts["mean"] + swing), ("low", 0.9 - swing / 2)) * 2:
                minute = (number * 50 + facts["delay"]) % 372 + 372 * len(tides)
                time = f"{minute // 60 % 24:02}:{minute % 60:02}"
                height = round(metres * (_FEET if unit == "ft" else 1), 2)
                tides.append({"tide": tide, "time": time, "height": height})
            return 200, {"port": port, "date": tide_date.isoformat(), "unit": unit, "tides": tides}
        case ["", "ports"]:
            ports = _FACTS["ports"].items()
            return 200, [{"port": port, "mean_high_water": facts["mean"]} for port, facts in ports]
    return _NOT_FOUND


# The museum of Greyfen, which wants a key in a header


def _answer_museum(path: str, params: Params) -> Answer:
    match path.split("/"):
        case ["", "api", "objects"]:
            first_year = _read_whole_number(params, "from_year", 0)
            last_year = _read_whole_number(params, "to_year", 9999)
            objects = [
                {"number": number, "title": item["title"]}
                for number, item in _FACTS["objects"].items()
                if params.get("q", "").lower() in item["title"].lower()
                and params.get("material") in (None, item["material"])
                and params.get("room") in (None, item["room"])
                and first_year <= item["year"] <= last_year
            ]
            return 200, {"total": len(objects), "objects": objects[: _read_whole_number(params, "limit", 10)]}
        case ["", "api", "objects", number] if item := _FACTS["objects"].get(number):
            return 200, {"number": number, **item}
    return _NOT_FOUND


# The recipes of Hearth, which want a key among the parameters


def _answer_recipes(path: str, params: Params) -> Answer:
    full = params.get("detail", "brief") == "full"
    match path.split("/"):
        case ["", "recipes"]:
            most_minutes = _read_whole_number(params, "max_minutes", 9999)
            return 200, [
                _show_recipe(name, full=full)
                for name, recipe in _FACTS["recipes"].items()
                if params.get("ingredient") in (None, *recipe["ingredients"])
                and recipe["minutes"] <= most_minutes
                and (recipe["vegetarian"] or params.get("vegetarian") != "true")
            ]
        case ["", "recipes", name] if name in _FACTS["recipes"]:
            return 200, _show_recipe(name, full=full)
    return _NOT_FOUND


def _show_recipe(name: str, *, full: bool) -> Mapping[str, object]:
    recipe = {"id": name, **_FACTS["recipes"][name]}
    return recipe if full else {key: recipe[key] for key in ("id", "title", "minutes")}


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
