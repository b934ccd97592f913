"""The services of ``core`` answer all that is asked, and the same each time."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.execution.rest_services import SERVICES

PATHS = (
    *("/", "", "/v1/stops", "/v1/departures", "/v1/lines/7", "/tables/brandel/2026-01-02", "/ports"),
    *("/api/objects", "/api/objects/GF-0114", "/recipes", "/recipes/leek-pie"),
)
NAMES = ("stop", "line", "limit", "zone", "step_free", "unit", "q", "from_year", "max_minutes", "detail")


def ask_service(host: str, path: str, **params: str) -> tuple[int, object]:
    return SERVICES[host].answer(path, params)


@pytest.mark.parametrize("host", SERVICES)
@given(st.sampled_from(PATHS) | st.text(), st.dictionaries(st.sampled_from(NAMES) | st.text(), st.text()))
def test_anything_is_answered_and_always_the_same(host: str, path: str, params: dict[str, str]) -> None:
    status, reply = SERVICES[host].answer(path, params)
    assert status in (200, 400, 404)
    assert SERVICES[host].answer(path, params) == (status, reply)
    json.dumps(reply)


def test_the_tram_service_lists_departures() -> None:
    host = "trams.varnholm.example"
    status, reply = ask_service(host, "/v1/departures", stop="Rope Walk", line="4", limit="2")
    assert status == 200
    assert reply == {
        "stop": "Rope Walk",
        "departures": [
            {"line": "4", "towards": "Observatory", "minutes": 1},
            {"line": "4", "towards": "Observatory", "minutes": 13},
        ],
    }
    assert ask_service(host, "/v1/departures", stop="Nowhere")[0] == 404
    assert ask_service(host, "/v1/departures", stop="Harbour", limit="-1")[0] == 400
    assert ask_service(host, "/v1/departures", stop="Harbour", limit="many")[0] == 400
    assert ask_service(host, "/v1/lines/9")[0] == 404


def test_the_tide_service_has_tables_by_day_and_unit() -> None:
    host = "tides.saltmark.example"
    tides = [("high", "00:08", 4.7), ("low", "06:20", 0.6), ("high", "12:32", 4.7), ("low", "18:44", 0.6)]
    metres = {
        "port": "brandel",
        "date": "2026-01-02",
        "unit": "m",
        "tides": [{"tide": tide, "time": time, "height": height} for tide, time, height in tides],
    }
    assert ask_service(host, "/tables/brandel/2026-01-02") == (200, metres)
    assert ask_service(host, "/tables/brandel/2026-01-02", unit="m") == (200, metres)
    _, feet = ask_service(host, "/tables/brandel/2026-01-02", unit="ft")
    assert isinstance(feet, dict)
    assert [tide["height"] for tide in feet["tides"]] == [15.42, 1.97, 15.42, 1.97]
    _, next_day = ask_service(host, "/tables/brandel/2026-01-03")
    assert isinstance(next_day, dict)
    assert [tide["time"] for tide in next_day["tides"]] == ["00:58", "07:10", "13:22", "19:34"]


def test_a_tide_table_that_does_not_exist_is_an_error() -> None:
    host = "tides.saltmark.example"
    assert ask_service(host, "/tables/brandel/2026-02-30") == (
        400,
        {"error": "2026-02-30 is not a date"},
    )
    assert ask_service(host, "/tables/brandel/2026-01-02", unit="yd") == (400, {"error": "unit is m or ft"})
    assert ask_service(host, "/tables/elsewhere/2026-01-02") == (404, {"error": "not found"})


def test_museum_and_recipes_are_searched() -> None:
    assert ask_service("museum.greyfen.example", "/api/objects", material="oak", to_year="1770") == (
        200,
        {"total": 1, "objects": [{"number": "GF-0305", "title": "Painted sea chest"}]},
    )
    assert ask_service("museum.greyfen.example", "/api/objects/GF-1")[0] == 404
    assert ask_service("recipes.hearth.example", "/recipes/pan-bread") == (
        200,
        {"id": "pan-bread", "title": "Pan bread", "minutes": 25},
    )


@pytest.mark.parametrize("year", ["abc", "-3", "00012", "12.0", "१७"])
def test_a_number_that_is_none_is_refused_whatever_else_is_looked_for(year: str) -> None:
    refusal = (400, {"error": "from_year is a whole number from 0 to 9999"})
    assert ask_service("museum.greyfen.example", "/api/objects", q="nothing", from_year=year) == refusal
    assert ask_service("recipes.hearth.example", "/recipes", ingredient="kiwi", max_minutes=year)[0] == 400
