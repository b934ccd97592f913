"""The functions of ``lookups``, answered by the web APIs themselves.

Each asks its API as BFCL's library does, and reads from the reply what that returns: see ``_QUESTIONS`` for
what is asked and ``_ANSWERS`` for where in the reply the answer stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from urllib.parse import quote

from pytest_fcbench.execution.functions.lookups import Arguments, FailedLookupError, UnansweredError
from pytest_fcbench.execution.outcomes import Responded, Unanswered
from pytest_fcbench.execution.rest.apis import APIS, Api, Asked
from pytest_fcbench.execution.rest.sender import Keep, Sender, servers_fault

_AMAZON = "real-time-amazon-data.p.rapidapi.com"
_COVID = "covid-193.p.rapidapi.com"
_STOCKS = "yahoo-finance15.p.rapidapi.com"
_TIME_ZONES = "timezone-by-location.p.rapidapi.com"
_URBAN = "mashape-community-urban-dictionary.p.rapidapi.com"
_ZIP_CODES = "ziptasticapi.com"

HOSTS: Mapping[str, Api] = {**APIS, _AMAZON: APIS[_COVID], _ZIP_CODES: Api(plain=True)}
"""By name, every host that is asked."""
_KEY = "key"
"""Stands where a key belongs until the request is sent."""


class Live:
    """Asks the APIs (a ``lookups.Provider``). ``instead`` is that of ``Sender``."""

    def __init__(self, keep: Keep | None = None, instead: Mapping[str, int] | None = None) -> None:
        self._sender = Sender(HOSTS, keep=keep, instead=instead)

    def answer(self, name: str, arguments: Arguments) -> object:
        """What the function returns.

        Raises ``FailedLookupError`` where the API's reply has no such thing, and ``UnansweredError`` where it
        cannot be asked now, by anybody or for want of a key.
        """
        wanted = question(name, arguments)
        response = self._sender.send(wanted, scheme_of(wanted.host))
        match response:
            case Responded(status=200, body=body):
                return read(name, arguments, body)
            case Responded(status=status, body=body) if status not in (401, 403) and not servers_fault(
                status
            ):
                raise FailedLookupError(f"{wanted.host}: HTTP {status}: {body:.200}")
            case Responded(status=status):
                raise UnansweredError(name, f"{wanted.host}: HTTP {status}")
            case Unanswered(reason=reason):
                raise UnansweredError(name, f"{wanted.host}: {reason}")
        raise UnansweredError(name, f"{wanted.host}: {response.reason}")


def scheme_of(host: str) -> str:
    """How a host is asked."""
    return "http" if HOSTS[host].plain else "https"


def question(name: str, arguments: Arguments) -> Asked:
    """The request that a function makes, with a stand-in for the key. Raises ``FailedLookupError``."""
    try:
        return _QUESTIONS[name](*arguments.values())
    except (TypeError, ValueError, LookupError) as error:
        raise FailedLookupError(f"{name}: {error}") from None


def read(name: str, arguments: Arguments, body: str) -> object:
    """What a function returns for a reply. Raises ``FailedLookupError``."""
    try:
        return _ANSWERS[name](json.loads(body), arguments)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise FailedLookupError(f"{name}: not in the reply: {type(error).__name__}: {body:.200}") from None


# What is asked


def _get(host: str, path: str, **params: object) -> Asked:
    """A GET; its key stands where the API wants it."""
    key = HOSTS[host].key
    headers = {key.name: _KEY} if key and key.name.startswith("x-") else {}
    return Asked(host, path, tuple((name, _text(value)) for name, value in params.items()), headers)


def _text(value: object) -> str:
    """A value as it stands in a URL. Raises TypeError for one that no API takes."""
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{value!r:.80} is no text and no number")


def _part(value: object) -> str:
    return quote(_text(value), safe="")


def _weather(coordinates: object) -> Asked:
    if not isinstance(coordinates, (list, tuple)) or len(coordinates) != 2:
        raise TypeError("coordinates are latitude and longitude")
    latitude, longitude = coordinates
    return _get(
        "api.open-meteo.com",
        "/v1/forecast",
        latitude=latitude,
        longitude=longitude,
        current="temperature_2m",
        temperature_unit="fahrenheit",
    )


def _place_of_ip(address: object) -> Asked:
    return _get("ip-api.com", f"/json/{_part(address)}")


def _covid(country: object) -> Asked:
    return _get(_COVID, "/statistics", country=country)


def _product(asin: object) -> Asked:
    return _get(_AMAZON, "/product-details", asin=asin, country="US")


def _movie(name: object) -> Asked:
    return _get("www.omdbapi.com", "/", t=name, apikey=_KEY)


_QUESTIONS: Mapping[str, Callable[..., Asked]] = {
    "get_weather_data": _weather,
    "get_coordinates_from_city": lambda city: _get("geocode.maps.co", "/search", q=city, api_key=_KEY),
    "convert_currency": lambda amount, given, wanted: _get(
        "v6.exchangerate-api.com", f"/v6/{_KEY}/latest/{_part(given)}"
    ),
    "find_term_on_urban_dictionary": lambda term: _get(_URBAN, "/define", term=term),
    "get_coordinate_by_ip_address": _place_of_ip,
    "get_zipcode_by_ip_address": _place_of_ip,
    "get_covid_death_by_country": _covid,
    "get_active_covid_case_by_country": _covid,
    "get_rating_by_amazon_ASIN": _product,
    "get_price_by_amazon_ASIN": _product,
    "get_product_name_by_amazon_ASIN": _product,
    "get_company_name_by_stock_name": lambda name: _get(_STOCKS, "/api/v1/markets/search", search=name),
    "get_stock_price_by_stock_name": lambda name: _get(_STOCKS, "/api/v1/markets/stock/quotes", ticker=name),
    "get_stock_history": lambda name, interval, splits: _get(
        _STOCKS, "/api/v1/markets/stock/history", symbol=name, interval=interval, diffandsplits=splits
    ),
    "retrieve_city_based_on_zipcode": lambda zipcode: _get(_ZIP_CODES, f"/{_part(zipcode)}"),
    "retrieve_holiday_by_year": lambda country, year: _get(
        "date.nager.at", f"/api/v3/PublicHolidays/{_part(year)}/{_part(country)}"
    ),
    "get_time_zone_by_coord": lambda long, lat: _get(_TIME_ZONES, "/timezone", lat=lat, lon=long, c=1, s=0),
    "get_movie_rating": _movie,
    "get_movie_director": _movie,
}
"""By function: of its arguments, in the order of their names, the request."""


# What is read


def _at(reply: object, *places: str | int) -> object:
    """What stands at a place of a reply. Raises TypeError and LookupError."""
    for place in places:
        reply = reply[place]  # type: ignore[index]  # or an error
    return reply


def _found(*places: str | int) -> Callable[[object, Arguments], object]:
    return lambda reply, arguments: _at(reply, *places)


def _of_ip(*names: str) -> Callable[[object, Arguments], object]:
    """The values, or why there are none, which the API says in words (``private range``)."""

    def read(reply: object, arguments: Arguments) -> object:
        if _at(reply, "status") != "success":
            return _at(reply, "message")
        values = [_at(reply, name) for name in names]
        return values if len(values) > 1 else values[0]

    return read


def _converted(reply: object, arguments: Arguments) -> object:
    rate, amount = _at(reply, "conversion_rates", _text(arguments["to_currency"])), arguments["amount"]
    if not isinstance(rate, (int, float)) or not isinstance(amount, (int, float)):
        raise TypeError("an amount and a rate are numbers")
    return amount * rate


def _last_ten(reply: object, arguments: Arguments) -> object:
    history = _at(reply, "body")
    if not isinstance(history, dict):
        raise TypeError("a history is an object")
    return dict(list(history.items())[-10:])


def _list(reply: object, arguments: Arguments) -> object:
    if not isinstance(reply, list):
        raise TypeError("holidays are a list")
    return reply


_ANSWERS: Mapping[str, Callable[[object, Arguments], object]] = {
    "get_weather_data": _found("current", "temperature_2m"),
    "get_coordinates_from_city": lambda reply, arguments: [_at(reply, 0, "lat"), _at(reply, 0, "lon")],
    "convert_currency": _converted,
    "find_term_on_urban_dictionary": _found("list", 0, "definition"),
    "get_coordinate_by_ip_address": _of_ip("lat", "lon"),
    "get_zipcode_by_ip_address": _of_ip("zip"),
    "get_covid_death_by_country": _found("response", 0, "deaths", "total"),
    "get_active_covid_case_by_country": _found("response", 0, "cases", "active"),
    "get_rating_by_amazon_ASIN": _found("data", "product_star_rating"),
    "get_price_by_amazon_ASIN": _found("data", "product_price"),
    "get_product_name_by_amazon_ASIN": _found("data", "product_title"),
    "get_company_name_by_stock_name": _found("body", 0, "name"),
    "get_stock_price_by_stock_name": _found("body", 0, "regularMarketPrice"),
    "get_stock_history": _last_ten,
    "retrieve_city_based_on_zipcode": _found("city"),
    "retrieve_holiday_by_year": _list,
    "get_time_zone_by_coord": _found("Zones", 0, "TimezoneId"),
    "get_movie_rating": _found("Rated"),
    "get_movie_director": _found("Director"),
}
"""By function: of the reply and the arguments, what it returns."""
