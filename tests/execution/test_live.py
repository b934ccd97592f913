"""Functions that look something up ask their API, and read what it answers.

The replies are written for these tests, in the form that each API documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing
from io import BufferedIOBase
from urllib.parse import parse_qsl, urlsplit

import pytest

from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.execution.live import HOSTS, Live, make_request
from pytest_fcbench.execution.lookups import LOOKUPS, FailedLookupError, UnansweredError
from pytest_fcbench.execution.outcomes import Raised, Returned, Unanswered
from pytest_fcbench.execution.sandbox.pool import Pool
from tests.execution.keeping import Kept
from tests.web.hosting import Seen, always_send, make_reply, serve_locally

KEYS = ("RAPID_API_KEY", "OMDB_API_KEY", "GEOCODE_API_KEY", "EXCHANGERATE_API_KEY")
HISTORY = {str(day): {"close": day} for day in range(12)}
RAPID = "p.rapidapi.com"

CASES: tuple[tuple[str, Mapping[str, object], str, object, object], ...] = (
    (
        "get_weather_data",
        {"coordinates": [60.4, 5.3]},
        "api.open-meteo.com/v1/forecast?latitude=60.4&longitude=5.3&current=temperature_2m"
        "&temperature_unit=fahrenheit",
        {"current": {"time": "2026-01-01T00:00", "temperature_2m": 41.5}},
        41.5,
    ),
    (
        "get_coordinates_from_city",
        {"city_name": "Vik"},
        "geocode.maps.co/search?q=Vik&api_key=sesame",
        [{"lat": "61.1", "lon": "6.6"}, {"lat": "1", "lon": "2"}],
        ["61.1", "6.6"],
    ),
    (
        "convert_currency",
        {"amount": 50, "from_currency": "EUR", "to_currency": "NOK"},
        "v6.exchangerate-api.com/v6/sesame/latest/EUR",
        {"result": "success", "conversion_rates": {"NOK": 11.5}},
        575.0,
    ),
    (
        "find_term_on_urban_dictionary",
        {"term": "fika"},
        f"mashape-community-urban-dictionary.{RAPID}/define?term=fika",
        {"list": [{"definition": "a break"}, {"definition": "coffee"}]},
        "a break",
    ),
    (
        "get_coordinate_by_ip_address",
        {"ip_address": "8.8.8.8"},
        "ip-api.com/json/8.8.8.8",
        {"status": "success", "lat": 1.5, "lon": 2.5},
        [1.5, 2.5],
    ),
    (
        "get_coordinate_by_ip_address",
        {"ip_address": "10.0.0.1"},
        "ip-api.com/json/10.0.0.1",
        {"status": "fail", "message": "private range"},
        "private range",
    ),
    (
        "get_zipcode_by_ip_address",
        {"ip_address": "8.8.8.8"},
        "ip-api.com/json/8.8.8.8",
        {"status": "success", "zip": "5003"},
        "5003",
    ),
    (
        "get_covid_death_by_country",
        {"country": "Norway"},
        f"covid-193.{RAPID}/statistics?country=Norway",
        {"response": [{"deaths": {"total": 12}, "cases": {"active": 3}}]},
        12,
    ),
    (
        "get_active_covid_case_by_country",
        {"country": "Norway"},
        f"covid-193.{RAPID}/statistics?country=Norway",
        {"response": [{"deaths": {"total": 12}, "cases": {"active": 3}}]},
        3,
    ),
    (
        "get_rating_by_amazon_ASIN",
        {"ASIN": "B0"},
        f"real-time-amazon-data.{RAPID}/product-details?asin=B0&country=US",
        {"data": {"product_star_rating": "4.1"}},
        "4.1",
    ),
    (
        "get_price_by_amazon_ASIN",
        {"ASIN": "B0"},
        f"real-time-amazon-data.{RAPID}/product-details?asin=B0&country=US",
        {"data": {"product_price": "$5"}},
        "$5",
    ),
    (
        "get_product_name_by_amazon_ASIN",
        {"ASIN": "B0"},
        f"real-time-amazon-data.{RAPID}/product-details?asin=B0&country=US",
        {"data": {"product_title": "Kettle"}},
        "Kettle",
    ),
    (
        "get_company_name_by_stock_name",
        {"stock_name": "EQNR"},
        f"yahoo-finance15.{RAPID}/api/v1/markets/search?search=EQNR",
        {"body": [{"symbol": "EQNR", "name": "Equinor"}]},
        "Equinor",
    ),
    (
        "get_stock_price_by_stock_name",
        {"stock_name": "EQNR"},
        f"yahoo-finance15.{RAPID}/api/v1/markets/stock/quotes?ticker=EQNR",
        {"body": [{"regularMarketPrice": 27.5}]},
        27.5,
    ),
    (
        "get_stock_history",
        {"stock_name": "EQNR", "interval": "1mo", "diffandsplits": "true"},
        f"yahoo-finance15.{RAPID}/api/v1/markets/stock/history?symbol=EQNR&interval=1mo&diffandsplits=true",
        {"body": HISTORY},
        dict(list(HISTORY.items())[2:]),
    ),
    (
        "retrieve_city_based_on_zipcode",
        {"zipcode": "90210"},
        "ziptasticapi.com/90210",
        {"country": "US", "city": "BEVERLY HILLS"},
        "BEVERLY HILLS",
    ),
    (
        "retrieve_holiday_by_year",
        {"country": "NO", "year": "2026"},
        "date.nager.at/api/v3/PublicHolidays/2026/NO",
        [{"date": "2026-05-17"}],
        [{"date": "2026-05-17"}],
    ),
    (
        "get_time_zone_by_coord",
        {"long": "5.3", "lat": "60.4"},
        f"timezone-by-location.{RAPID}/timezone?lat=60.4&lon=5.3&c=1&s=0",
        {"Zones": [{"TimezoneId": "Europe/Oslo"}]},
        "Europe/Oslo",
    ),
    (
        "get_movie_rating",
        {"movie_name": "Up"},
        "www.omdbapi.com/?t=Up&apikey=sesame",
        {"Title": "Up", "Rated": "PG"},
        "PG",
    ),
    (
        "get_movie_director",
        {"movie_name": "Up"},
        "www.omdbapi.com/?t=Up&apikey=sesame",
        {"Director": "Pete Docter"},
        "Pete Docter",
    ),
)


@pytest.fixture(autouse=True)
def set_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "sesame")


@pytest.mark.parametrize(("name", "arguments", "asked", "answered", "returned"), CASES)
def test_a_lookup_asks_its_api_and_reads_the_reply(
    name: str, arguments: Mapping[str, object], asked: str, answered: object, returned: object
) -> None:
    with serve_locally(always_send(make_reply(json.dumps(answered).encode()))) as hosted:
        found = Live(instead=dict.fromkeys(HOSTS, hosted.port)).answer(name, arguments)
    (seen,) = hosted.seen
    assert f"{seen.headers['host']}{seen.path}" == asked
    assert seen.headers.get("x-rapidapi-key") == ("sesame" if RAPID in asked else None)
    assert found == returned
    assert type(found) is type(returned)


def test_every_function_is_here() -> None:
    assert {case[0] for case in CASES} == LOOKUPS.keys()


@pytest.mark.few(20)
@pytest.mark.parametrize("name", LOOKUPS)
@pytest.mark.parametrize(
    "body", ["[]", "{}", "null", "5", '"text"', '{"list": []}', '{"body": 5}', "<html>", "[[[["]
)
def test_a_reply_of_another_shape(name: str, body: str) -> None:
    arguments = next(arguments for other, arguments, *_ in CASES if other == name)
    with serve_locally(always_send(make_reply(body.encode()))) as hosted:
        live = Live(instead=dict.fromkeys(HOSTS, hosted.port))
        if name == "retrieve_holiday_by_year" and body == "[]":
            assert live.answer(name, arguments) == []
        else:
            with pytest.raises(
                FailedLookupError, match=rf"^{name}: not in the reply: \w+Error: {re.escape(body)}"
            ):
                live.answer(name, arguments)


@pytest.mark.few(20)
@pytest.mark.parametrize("value", [None, [1], {"a": 1}, (), {1}, b"x"])
@pytest.mark.parametrize("name", LOOKUPS)
def test_arguments_that_no_api_takes(name: str, value: object) -> None:
    """Where an argument is not sent (an amount) it does not matter for what is asked."""
    arguments = dict.fromkeys(LOOKUPS[name].parameters, value)
    with pytest.raises(
        FailedLookupError,
        match=rf"^{name}: (coordinates are latitude and longitude|.* is no text and no number)$",
    ):
        make_request(name, arguments)


def test_arguments_lead_to_no_other_place() -> None:
    assert (
        make_request("retrieve_city_based_on_zipcode", {"zipcode": "../x?y#z@evil"}).path
        == "/..%2Fx%3Fy%23z%40evil"
    )
    assert (
        make_request("get_zipcode_by_ip_address", {"ip_address": "a\r\nHost: b"}).path
        == "/json/a%0D%0AHost%3A%20b"
    )


@pytest.mark.parametrize(
    ("status", "error"), [(404, FailedLookupError), (403, UnansweredError), (503, UnansweredError)]
)
def test_an_error_status_is_told(
    status: int, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with (
        serve_locally(always_send(make_reply(b"{}", status))) as hosted,
        pytest.raises(error, match=str(status)),
    ):
        Live(instead=dict.fromkeys(HOSTS, hosted.port)).answer(
            "retrieve_city_based_on_zipcode", {"zipcode": "1"}
        )


def test_without_its_key_an_api_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMDB_API_KEY")
    with (
        serve_locally(always_send(make_reply(b"{}"))) as hosted,
        pytest.raises(UnansweredError, match="OMDB_API_KEY"),
    ):
        Live(instead=dict.fromkeys(HOSTS, hosted.port)).answer("get_movie_rating", {"movie_name": "Up"})
    assert hosted.seen == []


# In the pool


def test_the_pool_asks_only_what_was_not_recorded() -> None:
    def answer_title(seen: Seen, out: BufferedIOBase) -> None:
        title = dict(parse_qsl(urlsplit(seen.path).query))["t"]
        out.write(
            make_reply(json.dumps({"Rated": title} if title == "Up" else {"Response": "False"}).encode())
        )

    recorded = [RecordedCall.with_reply("get_movie_rating", {"movie_name": "Avatar"}, "PG-13")]
    calls = [f"get_movie_rating(movie_name='{name}')" for name in ("Avatar", "Up", "Nothing")]
    with serve_locally(answer_title) as hosted:
        keep = Kept()
        with closing(Pool(1, live=Live(keep, dict.fromkeys(HOSTS, hosted.port)))) as pool:
            first, second, third = pool(calls, recorded)
            assert (first, second) == (Returned("PG-13"), Returned("Up"))
            assert isinstance(third, Raised)
            assert "not in the reply" in third.reason
            assert pool(calls, recorded)[1] == Returned("Up")
    assert len(hosted.seen) == 2
    assert "sesame" not in str(keep.texts)
    with closing(Pool(1)) as pool:
        assert pool(calls[1:2], recorded) == (Unanswered("get_movie_rating"),)
