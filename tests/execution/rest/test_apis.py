"""Which requests ask the same, and where keys stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.execution.rest.apis import (
    APIS,
    NO_API,
    ApiRequest,
    has_key,
    identify_request,
    make_api_request,
    replace_key,
)

METEO = "api.open-meteo.com"
OMDB = "www.omdbapi.com"
GEOCODE = "geocode.maps.co"
RATES = "v6.exchangerate-api.com"
COVID = "covid-193.p.rapidapi.com"


def is_same_request(one: ApiRequest, other: ApiRequest) -> bool:
    api = APIS.get(one.host, NO_API)
    return identify_request(one, api) == identify_request(other, api)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            make_api_request(METEO, "/v1/forecast?a=1&b=2"),
            make_api_request(METEO, "/v1/forecast", (("b", "2"), ("a", "1"))),
        ),
        (make_api_request(METEO, "/f?latitude=48.8584"), make_api_request(METEO, "/f?latitude=48.85840")),
        (make_api_request(METEO, "/f?latitude=+2.0"), make_api_request(METEO, "/f?latitude=2e0")),
        (make_api_request(METEO, "/f?latitude=0"), make_api_request(METEO, "/f?latitude=-0.0")),
        (make_api_request(METEO, "/f?latitude=1,2"), make_api_request(METEO, "/f?latitude=1.0&latitude=2")),
        (
            make_api_request(METEO, "/f?daily=a,b"),
            make_api_request(METEO, "/f", (("daily", "b"), ("daily", "a"))),
        ),
        (make_api_request(METEO, "/f?timezone=GMT&forecast_days=7"), make_api_request(METEO, "/f")),
        (make_api_request(OMDB, "/?t=x&r=json"), make_api_request(OMDB, "", (("t", "x"), ("apikey", "k")))),
        (make_api_request(OMDB, "/?t=x&apikey=one"), make_api_request(OMDB, "/?apikey=two&t=x")),
        (
            make_api_request(GEOCODE, "/search?q=a%20b&api_key=1"),
            make_api_request(GEOCODE, "/search/?q=a+b&api_key=2"),
        ),
        (make_api_request(RATES, "/v6/one/latest/EUR"), make_api_request(RATES, "/v6/two/latest/EUR")),
        (
            make_api_request(COVID, "/s?c=1", headers={"X-RapidAPI-Key": "a"}),
            make_api_request(COVID, "/s?c=1", headers={"x": "b"}),
        ),
        (make_api_request(COVID, "/st%61tistics"), make_api_request(COVID, "/statistics")),
    ],
)
def test_two_writings_of_one_request_are_the_same(one: ApiRequest, other: ApiRequest) -> None:
    assert is_same_request(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (make_api_request(METEO, "/f?latitude=1,2"), make_api_request(METEO, "/f?latitude=2,1")),
        (make_api_request(METEO, "/f?daily=a"), make_api_request(METEO, "/f?daily=a,b")),
        (make_api_request(METEO, "/f?hourly=a"), make_api_request(METEO, "/f?daily=a")),
        (make_api_request(METEO, "/f?temperature_unit=fahrenheit"), make_api_request(METEO, "/f")),
        (make_api_request(METEO, "/f?a="), make_api_request(METEO, "/f")),
        (make_api_request(GEOCODE, "/search?q=a,b"), make_api_request(GEOCODE, "/search?q=b,a")),
        (make_api_request(GEOCODE, "/search?q=a"), make_api_request(GEOCODE, "/reverse?q=a")),
        (make_api_request(RATES, "/v6/one/latest/EUR"), make_api_request(RATES, "/v6/one/latest/USD")),
        (make_api_request(RATES, "/v6/latest/EUR"), make_api_request(RATES, "/v6/one/latest/EUR")),
        (make_api_request(OMDB, "/?t=x"), make_api_request(GEOCODE, "/?t=x")),
        (make_api_request(OMDB, "/?t=X"), make_api_request(OMDB, "/?t=x")),
        (make_api_request(OMDB, "/?t=x&t=x"), make_api_request(OMDB, "/?t=x")),
    ],
)
def test_requests_for_different_things_differ(one: ApiRequest, other: ApiRequest) -> None:
    assert not is_same_request(one, other)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=5), st.randoms())
def test_order_does_not_matter_among_different_names(params: list[tuple[str, str]], chance: object) -> None:
    unique = list(dict(params).items())
    shuffled = unique[:]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert is_same_request(
        make_api_request(OMDB, "/", tuple(unique)), make_api_request(OMDB, "/", tuple(shuffled))
    )


@pytest.mark.parametrize(
    ("request_", "has", "filled"),
    [
        (make_api_request(COVID, "/s", headers={"X-RapidAPI-Key": "YOUR"}), True, {"x-rapidapi-key": "s/1"}),
        (make_api_request(COVID, "/s", headers={"X-RapidAPI-Key": ""}), False, {"x-rapidapi-key": ""}),
        (make_api_request(COVID, "/s"), False, {}),
    ],
)
def test_a_key_in_a_header(request_: ApiRequest, has: bool, filled: dict[str, str]) -> None:
    assert has_key(request_, APIS[COVID]) is has
    assert replace_key(request_, APIS[COVID], "s/1").headers == filled


def test_a_key_among_the_parameters() -> None:
    api, given_, missing = (
        APIS[OMDB],
        make_api_request(OMDB, "/?apikey=YOUR&t=x"),
        make_api_request(OMDB, "/?t=x"),
    )
    assert replace_key(given_, api, "s").params == (("apikey", "s"), ("t", "x"))
    assert has_key(given_, api)
    assert not has_key(missing, api)
    assert replace_key(missing, api, "s") == missing


def test_a_key_in_the_path() -> None:
    api = APIS[RATES]
    assert (
        replace_key(make_api_request(RATES, "/v6/YOUR/latest/EUR"), api, "s/1\\g<1>").path
        == "/v6/s%2F1%5Cg%3C1%3E/latest/EUR"
    )
    assert not has_key(make_api_request(RATES, "/v6/latest"), api)


def test_no_key_is_wanted() -> None:
    assert has_key(make_api_request("ip-api.com", "/json"), APIS["ip-api.com"])


def test_an_identity_holds_no_key() -> None:
    for request in (
        make_api_request(RATES, "/v6/sesame/latest/EUR"),
        make_api_request(OMDB, "/?apikey=sesame"),
        make_api_request(COVID, "/s", headers={"X-RapidAPI-Key": "sesame"}),
    ):
        assert "sesame" not in identify_request(request, APIS[request.host])
