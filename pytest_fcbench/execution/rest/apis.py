"""The web APIs that REST entries ask, and the equality of two requests to one of them.

Hosts and the places of their keys are those of BFCL's ``rest`` entries. Requests are equal whatever the order
of parameters and the notation of numbers, whether a parameter is left out or given as its documented default,
and whether a list is written with commas or as several parameters. Keys, other headers and the scheme do not
count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum, auto
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, unquote

Params: TypeAlias = tuple[tuple[str, str], ...]


class KeyPlace(Enum):
    """The place of a key in a request."""

    HEADER = auto()
    PARAM = auto()
    PATH = auto()


@dataclass(frozen=True, slots=True)
class Key:
    """The key by which an API identifies its users."""

    env: str
    """The environment variable of the key."""
    place: KeyPlace
    name: str
    """The name of the header or parameter; for a path a pattern with the parts around the key as groups."""


@dataclass(frozen=True, slots=True)
class WebApi:
    """The facts about a web API."""

    key: Key | None = None
    sets: frozenset[str] = frozenset()
    """Parameters with several values in any order."""
    rows: frozenset[str] = frozenset()
    """Parameters with several values whose order matters."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    """True where it is asked over plain HTTP, as officially, even with a key."""
    pause_s: float = 0.0
    """Seconds to wait between two requests."""


_RAPID = WebApi(Key("RAPID_API_KEY", KeyPlace.HEADER, "x-rapidapi-key"))

APIS: Mapping[str, WebApi] = MappingProxyType(
    {
        "timezone-by-location.p.rapidapi.com": _RAPID,
        "covid-193.p.rapidapi.com": _RAPID,
        "yahoo-finance15.p.rapidapi.com": _RAPID,
        "mashape-community-urban-dictionary.p.rapidapi.com": _RAPID,
        "v6.exchangerate-api.com": WebApi(Key("EXCHANGERATE_API_KEY", KeyPlace.PATH, r"(/v6/)[^/]+(/.+)")),
        "www.omdbapi.com": WebApi(
            Key("OMDB_API_KEY", KeyPlace.PARAM, "apikey"),
            defaults={"r": "json", "plot": "short", "v": "1"},
            plain=True,
        ),
        # Officially two seconds are slept before each of its calls.
        "geocode.maps.co": WebApi(
            Key("GEOCODE_API_KEY", KeyPlace.PARAM, "api_key"), defaults={"format": "json"}, pause_s=2.0
        ),
        "ip-api.com": WebApi(sets=frozenset({"fields"}), defaults={"lang": "en"}, plain=True),
        "date.nager.at": WebApi(),
        "api.open-meteo.com": WebApi(
            sets=frozenset({"daily", "hourly", "models"}),
            rows=frozenset({"latitude", "longitude", "elevation"}),
            defaults={
                "temperature_unit": "celsius",
                "wind_speed_unit": "kmh",
                "precipitation_unit": "mm",
                "timeformat": "iso8601",
                "timezone": "GMT",
                "past_days": "0",
                "forecast_days": "7",
            },
        ),
    }
)
"""The APIs by host."""

NO_API = WebApi()


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A GET as an API sees it."""

    host: str
    path: str
    """The path as it is sent, with its percent signs."""
    params: Params = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""


def make_api_request(
    host: str, rest: str, params: Params = (), headers: Mapping[str, str] | None = None
) -> ApiRequest:
    """Return the request to a path and query, with further parameters behind those of the query."""
    path, _, query = rest.partition("?")
    lowercase_headers = {name.lower(): text for name, text in (headers or {}).items()}
    return ApiRequest(host, path, (*parse_qsl(query, keep_blank_values=True), *params), lowercase_headers)


def has_key(request: ApiRequest, api: WebApi) -> bool:
    """Tell whether a key, right or wrong, is given where the API wants one; True where it wants none."""
    match api.key:
        case None:
            return True
        case Key(place=KeyPlace.HEADER, name=name):
            return bool(request.headers.get(name))
        case Key(place=KeyPlace.PARAM, name=name):
            return any(param == name and value for param, value in request.params)
        case Key(name=pattern):
            return re.fullmatch(pattern, request.path) is not None


def replace_key(request: ApiRequest, api: WebApi, key: str) -> ApiRequest:
    """Return the request with this key in place of the one given; without one it stays as it is."""
    if api.key is None or not has_key(request, api):
        return request
    name = api.key.name
    match api.key.place:
        case KeyPlace.HEADER:
            return replace(request, headers={**request.headers, name: key})
        case KeyPlace.PARAM:
            params = ((param, key if param == name else value) for param, value in request.params)
            return replace(request, params=tuple(params))
        case KeyPlace.PATH:
            # A key is data: a slash in it must not become a part of the path.
            safe = quote(key, safe="")
            path = re.sub(name, lambda found: f"{found[1]}{safe}{found[2]}", request.path)
            return replace(request, path=path)


def identify_request(request: ApiRequest, api: WebApi) -> str:
    """Return a text that equal requests have in common. It contains no key."""
    # The answer does not depend on the owner of the key, and a recording must not contain one.
    if api.key and api.key.place is KeyPlace.PARAM:
        keyless_params = tuple(pair for pair in request.params if pair[0] != api.key.name)
        request = replace(request, params=keyless_params)
    else:
        request = replace_key(request, api, "key")
    values: dict[str, list[str]] = {}
    for name, value in request.params:
        several = name in api.sets or name in api.rows
        values.setdefault(name, []).extend(map(_normalise_value, value.split(",") if several else [value]))
    params = [
        (name, sorted(texts) if name in api.sets else texts)
        for name, texts in values.items()
        if name not in api.defaults or texts != [_normalise_value(api.defaults[name])]
    ]
    path = unquote(request.path).rstrip("/") or "/"
    return json.dumps([request.host, path, sorted(params)], ensure_ascii=True)


_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?")


def _normalise_value(value: str) -> str:
    """Convert a number to one notation, and strip any other text."""
    text = value.strip()
    return f"{Decimal(text).normalize() + 0}" if _NUMBER.fullmatch(text) else text
