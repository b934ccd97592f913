"""The functions of ``lookups``, answered by the web APIs themselves.

Each sends the request of BFCL's library (``_QUESTIONS``), and reads from the reply the value that the
library returns (``_ANSWERS``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import quote

from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.execution.functions.lookups import Arguments, FailedLookupError, UnansweredError
from pytest_fcbench.execution.outcomes import Responded
from pytest_fcbench.execution.rest.apis import APIS, ApiRequest, WebApi
from pytest_fcbench.execution.rest.sender import Keep, Sender, is_server_fault

T = TypeVar("T")

_AMAZON = "real-time-amazon-data.p.rapidapi.com"
_COVID = "covid-193.p.rapidapi.com"
_STOCKS = "yahoo-finance15.p.rapidapi.com"
_TIME_ZONES = "timezone-by-location.p.rapidapi.com"
_URBAN = "mashape-community-urban-dictionary.p.rapidapi.com"
_ZIP_CODES = "ziptasticapi.com"

HOSTS: Mapping[str, WebApi] = {**APIS, _AMAZON: APIS[_COVID], _ZIP_CODES: WebApi(plain=True)}
"""Every host that is asked, by name."""
# A stand-in for the key, which is filled in when the request is sent.
_KEY = "key"


class Live:
    """A ``lookups.Provider`` that asks the APIs themselves. ``instead`` is passed to ``Sender``."""

    def __init__(self, keep: Keep | None = None, instead: Mapping[str, int] | None = None) -> None:
        self._sender = Sender(HOSTS, keep=keep, instead=instead)

    def answer(self, name: str, arguments: Arguments) -> object:
        """Return the result of the function.

        Raises ``FailedLookupError`` where the API's reply has no such value, and ``UnansweredError`` where
        the API cannot be asked now or needs a key.
        """
        request = make_request(name, arguments)
        host = request.host
        match self._sender.send(request, find_scheme(host)):
            case Responded(status=200, body=body):
                return read_result(name, arguments, body)
            case Responded(status=status, body=body):
                # A refused key or a busy server says nothing about the call.
                if status in (401, 403) or is_server_fault(status):
                    raise UnansweredError(name, f"{host}: HTTP {status}")
                raise FailedLookupError(f"{host}: HTTP {status}: {body:.200}")
            case other:
                raise UnansweredError(name, f"{host}: {other.reason}")


def find_scheme(host: str) -> str:
    """Return the scheme of a host's addresses."""
    return "http" if HOSTS[host].plain else "https"


def make_request(name: str, arguments: Arguments) -> ApiRequest:
    """Return the request that a function makes, with a stand-in for the key. Raises ``FailedLookupError``."""
    try:
        return _QUESTIONS[name](*arguments.values())
    except (TypeError, ValueError, LookupError) as error:
        raise FailedLookupError(f"{name}: {error}") from None


def read_result(name: str, arguments: Arguments, body: str) -> object:
    """Return the result of a function from a reply. Raises ``FailedLookupError``."""
    try:
        return _ANSWERS[name](read_json_text(body), arguments)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise FailedLookupError(f"{name}: not in the reply: {type(error).__name__}: {body:.200}") from None


# Requests


def _make_get(host: str, path: str, **params: object) -> ApiRequest:
    """Return a GET with a stand-in for the key where the API wants it."""
    key = HOSTS[host].key
    headers = {key.name: _KEY} if key and key.name.startswith("x-") else {}
    return ApiRequest(
        host, path, tuple((name, _format_value(value)) for name, value in params.items()), headers
    )


def _format_value(value: object) -> str:
    """Format a value for a URL. Raises TypeError for one that no API takes."""
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{value!r:.80} is no text and no number")


def _quote_part(value: object) -> str:
    return quote(_format_value(value), safe="")


def _ask_weather(coordinates: object) -> ApiRequest:
    if not isinstance(coordinates, (list, tuple)) or len(coordinates) != 2:
        raise TypeError("coordinates are latitude and longitude")
    latitude, longitude = coordinates
    return _make_get(
        "api.open-meteo.com",
        "/v1/forecast",
        latitude=latitude,
        longitude=longitude,
        current="temperature_2m",
        temperature_unit="fahrenheit",
    )


def _ask_ip(address: object) -> ApiRequest:
    return _make_get("ip-api.com", f"/json/{_quote_part(address)}")


def _ask_covid(country: object) -> ApiRequest:
    return _make_get(_COVID, "/statistics", country=country)


def _ask_product(asin: object) -> ApiRequest:
    return _make_get(_AMAZON, "/product-details", asin=asin, country="US")


def _ask_movie(name: object) -> ApiRequest:
    return _make_get("www.omdbapi.com", "/", t=name, apikey=_KEY)


# The request of each function, made from its arguments in the order of their names.
_QUESTIONS: Mapping[str, Callable[..., ApiRequest]] = {
    "get_weather_data": _ask_weather,
    "get_coordinates_from_city": lambda city: _make_get("geocode.maps.co", "/search", q=city, api_key=_KEY),
    "convert_currency": lambda amount, given, wanted: _make_get(
        "v6.exchangerate-api.com", f"/v6/{_KEY}/latest/{_quote_part(given)}"
    ),
    "find_term_on_urban_dictionary": lambda term: _make_get(_URBAN, "/define", term=term),
    "get_coordinate_by_ip_address": _ask_ip,
    "get_zipcode_by_ip_address": _ask_ip,
    "get_covid_death_by_country": _ask_covid,
    "get_active_covid_case_by_country": _ask_covid,
    "get_rating_by_amazon_ASIN": _ask_product,
    "get_price_by_amazon_ASIN": _ask_product,
    "get_product_name_by_amazon_ASIN": _ask_product,
    "get_company_name_by_stock_name": lambda name: _make_get(_STOCKS, "/api/v1/markets/search", search=name),
    "get_stock_price_by_stock_name": lambda name: _make_get(
        _STOCKS, "/api/v1/markets/stock/quotes", ticker=name
    ),
    "get_stock_history": lambda name, interval, splits: _make_get(
        _STOCKS, "/api/v1/markets/stock/history", symbol=name, interval=interval, diffandsplits=splits
    ),
    "retrieve_city_based_on_zipcode": lambda zipcode: _make_get(_ZIP_CODES, f"/{_quote_part(zipcode)}"),
    "retrieve_holiday_by_year": lambda country, year: _make_get(
        "date.nager.at", f"/api/v3/PublicHolidays/{_quote_part(year)}/{_quote_part(country)}"
    ),
    "get_time_zone_by_coord": lambda long, lat: _make_get(
        _TIME_ZONES, "/timezone", lat=lat, lon=long, c=1, s=0
    ),
    "get_movie_rating": _ask_movie,
    "get_movie_director": _ask_movie,
}


# Replies


def _at(reply: object, *places: str | int) -> object:
    """Return the value at a place of a reply. Raises TypeError and LookupError."""
    for place in places:
        reply = reply[place]  # type: ignore[index]  # or an error
    return reply


def _read_at(*places: str | int) -> Callable[[object, Arguments], object]:
    return lambda reply, arguments: _at(reply, *places)


def _read_ip(*names: str) -> Callable[[object, Arguments], object]:
    """Return a reader of values, or of the API's reason why there are none (``private range``)."""

    def read(reply: object, arguments: Arguments) -> object:
        if _at(reply, "status") != "success":
            return _at(reply, "message")
        values = [_at(reply, name) for name in names]
        return values if len(values) > 1 else values[0]

    return read


def _convert_currency(reply: object, arguments: Arguments) -> object:
    rate, amount = (
        _at(reply, "conversion_rates", _format_value(arguments["to_currency"])),
        arguments["amount"],
    )
    if not isinstance(rate, (int, float)) or not isinstance(amount, (int, float)):
        raise TypeError("an amount and a rate are numbers")
    return amount * rate


def _require(kind: type[T], value: object) -> T:
    """Return a value of a type. Raises TypeError for another."""
    if not isinstance(value, kind):
        raise TypeError(f"a {type(value).__name__} is no {kind.__name__}")
    return value


# The result of each function, made from the reply and the arguments.
_ANSWERS: Mapping[str, Callable[[object, Arguments], object]] = {
    "get_weather_data": _read_at("current", "temperature_2m"),
    "get_coordinates_from_city": lambda reply, arguments: [_at(reply, 0, "lat"), _at(reply, 0, "lon")],
    "convert_currency": _convert_currency,
    "find_term_on_urban_dictionary": _read_at("list", 0, "definition"),
    "get_coordinate_by_ip_address": _read_ip("lat", "lon"),
    "get_zipcode_by_ip_address": _read_ip("zip"),
    "get_covid_death_by_country": _read_at("response", 0, "deaths", "total"),
    "get_active_covid_case_by_country": _read_at("response", 0, "cases", "active"),
    "get_rating_by_amazon_ASIN": _read_at("data", "product_star_rating"),
    "get_price_by_amazon_ASIN": _read_at("data", "product_price"),
    "get_product_name_by_amazon_ASIN": _read_at("data", "product_title"),
    "get_company_name_by_stock_name": _read_at("body", 0, "name"),
    "get_stock_price_by_stock_name": _read_at("body", 0, "regularMarketPrice"),
    # BFCL's function keeps the last ten.
    "get_stock_history": lambda reply, arguments: dict(
        list(_require(dict, _at(reply, "body")).items())[-10:]
    ),
    "retrieve_city_based_on_zipcode": _read_at("city"),
    "retrieve_holiday_by_year": lambda reply, arguments: _require(list, reply),
    "get_time_zone_by_coord": _read_at("Zones", 0, "TimezoneId"),
    "get_movie_rating": _read_at("Rated"),
    "get_movie_director": _read_at("Director"),
}
