"""Which requests ask the same, and where keys stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.execution.rest.apis import APIS, NO_API, Asked, asked, has_key, identity, with_key

METEO = "api.open-meteo.com"
OMDB = "www.omdbapi.com"
GEOCODE = "geocode.maps.co"
RATES = "v6.exchangerate-api.com"
COVID = "covid-193.p.rapidapi.com"


def same(one: Asked, other: Asked) -> bool:
    api = APIS.get(one.host, NO_API)
    return identity(one, api) == identity(other, api)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (asked(METEO, "/v1/forecast?a=1&b=2"), asked(METEO, "/v1/forecast", (("b", "2"), ("a", "1")))),
        (asked(METEO, "/f?latitude=48.8584"), asked(METEO, "/f?latitude=48.85840")),
        (asked(METEO, "/f?latitude=+2.0"), asked(METEO, "/f?latitude=2e0")),
        (asked(METEO, "/f?latitude=0"), asked(METEO, "/f?latitude=-0.0")),
        (asked(METEO, "/f?latitude=1,2"), asked(METEO, "/f?latitude=1.0&latitude=2")),
        (asked(METEO, "/f?daily=a,b"), asked(METEO, "/f", (("daily", "b"), ("daily", "a")))),
        (asked(METEO, "/f?timezone=GMT&forecast_days=7"), asked(METEO, "/f")),
        (asked(OMDB, "/?t=x&r=json"), asked(OMDB, "", (("t", "x"), ("apikey", "k")))),
        (asked(OMDB, "/?t=x&apikey=one"), asked(OMDB, "/?apikey=two&t=x")),
        (asked(GEOCODE, "/search?q=a%20b&api_key=1"), asked(GEOCODE, "/search/?q=a+b&api_key=2")),
        (asked(RATES, "/v6/one/latest/EUR"), asked(RATES, "/v6/two/latest/EUR")),
        (asked(COVID, "/s?c=1", headers={"X-RapidAPI-Key": "a"}), asked(COVID, "/s?c=1", headers={"x": "b"})),
        (asked(COVID, "/st%61tistics"), asked(COVID, "/statistics")),
    ],
)
def test_the_same(one: Asked, other: Asked) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (asked(METEO, "/f?latitude=1,2"), asked(METEO, "/f?latitude=2,1")),
        (asked(METEO, "/f?daily=a"), asked(METEO, "/f?daily=a,b")),
        (asked(METEO, "/f?hourly=a"), asked(METEO, "/f?daily=a")),
        (asked(METEO, "/f?temperature_unit=fahrenheit"), asked(METEO, "/f")),
        (asked(METEO, "/f?a="), asked(METEO, "/f")),
        (asked(GEOCODE, "/search?q=a,b"), asked(GEOCODE, "/search?q=b,a")),
        (asked(GEOCODE, "/search?q=a"), asked(GEOCODE, "/reverse?q=a")),
        (asked(RATES, "/v6/one/latest/EUR"), asked(RATES, "/v6/one/latest/USD")),
        (asked(RATES, "/v6/latest/EUR"), asked(RATES, "/v6/one/latest/EUR")),
        (asked(OMDB, "/?t=x"), asked(GEOCODE, "/?t=x")),
        (asked(OMDB, "/?t=X"), asked(OMDB, "/?t=x")),
        (asked(OMDB, "/?t=x&t=x"), asked(OMDB, "/?t=x")),
    ],
)
def test_not_the_same(one: Asked, other: Asked) -> None:
    assert not same(one, other)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=5), st.randoms())
def test_order_does_not_matter_among_different_names(params: list[tuple[str, str]], chance: object) -> None:
    unique = list(dict(params).items())
    shuffled = unique[:]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same(asked(OMDB, "/", tuple(unique)), asked(OMDB, "/", tuple(shuffled)))


@pytest.mark.parametrize(
    ("request_", "has", "filled"),
    [
        (asked(COVID, "/s", headers={"X-RapidAPI-Key": "YOUR"}), True, {"x-rapidapi-key": "s/1"}),
        (asked(COVID, "/s", headers={"X-RapidAPI-Key": ""}), False, {"x-rapidapi-key": ""}),
        (asked(COVID, "/s"), False, {}),
    ],
)
def test_a_key_in_a_header(request_: Asked, has: bool, filled: dict[str, str]) -> None:
    assert has_key(request_, APIS[COVID]) is has
    assert with_key(request_, APIS[COVID], "s/1").headers == filled


def test_a_key_among_the_parameters() -> None:
    api, given_, missing = APIS[OMDB], asked(OMDB, "/?apikey=YOUR&t=x"), asked(OMDB, "/?t=x")
    assert with_key(given_, api, "s").params == (("apikey", "s"), ("t", "x"))
    assert has_key(given_, api)
    assert not has_key(missing, api)
    assert with_key(missing, api, "s") == missing


def test_a_key_in_the_path() -> None:
    api = APIS[RATES]
    assert (
        with_key(asked(RATES, "/v6/YOUR/latest/EUR"), api, "s/1\\g<1>").path
        == "/v6/s%2F1%5Cg%3C1%3E/latest/EUR"
    )
    assert not has_key(asked(RATES, "/v6/latest"), api)


def test_no_key_is_wanted() -> None:
    assert has_key(asked("ip-api.com", "/json"), APIS["ip-api.com"])


def test_an_identity_holds_no_key() -> None:
    for request in (
        asked(RATES, "/v6/sesame/latest/EUR"),
        asked(OMDB, "/?apikey=sesame"),
        asked(COVID, "/s", headers={"X-RapidAPI-Key": "sesame"}),
    ):
        assert "sesame" not in identity(request, APIS[request.host])
