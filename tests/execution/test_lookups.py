"""What was recorded is answered, in whatever way it is asked."""

from __future__ import annotations

import re

import pytest

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.execution import lookups
from pytest_fcbench.execution.lookups import LOOKUPS, RecordedLookups, UnansweredError
from tests.cases import each_case

WEATHER = RecordedCall.with_reply("get_weather_data", {"coordinates": [90.0, 0.0]}, -0.4)
HISTORY = lookups.record_reply("get_stock_history('AAPL', interval='1mo', diffandsplits='true')", {"1": {}})
KNOWN = lookups.make_functions(RecordedLookups([WEATHER, HISTORY]).answer)


@each_case(
    ("call", "reply"),
    [
        ("get_weather_data(coordinates=[90.00, 0.00])", -0.4),
        ("get_weather_data(coordinates=(90, 0))", -0.4),
        ("get_weather_data([90, 0])", -0.4),
        ("get_stock_history(interval='1mo', stock_name='AAPL')", {"1": {}}),
    ],
)
def test_a_recorded_call_gets_its_reply(call: str, reply: object) -> None:
    assert carry_out_call(call, KNOWN) == reply


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("get_weather_data(coordinates=[90.0, 1.0])", "get_weather_data"),
        ("get_stock_history(stock_name='AAPL', interval='1wk')", "get_stock_history"),
        ("get_movie_rating(movie_name='Avatar')", "get_movie_rating"),
    ],
)
def test_a_call_that_nobody_recorded_is_unanswered(call: str, name: str) -> None:
    with pytest.raises(UnansweredError, match=f"^{name}$"):
        carry_out_call(call, KNOWN)
    assert lookups.find_unanswered(["math_gcd(a=1, b=2)", call], [WEATHER, HISTORY]) == call


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("get_weather_data()", "missing a required argument: 'coordinates'"),
        ("get_weather_data(city=1)", "missing a required argument: 'coordinates'"),
        ("get_movie_rating('a', 'b')", "too many positional arguments"),
    ],
)
def test_a_call_with_wrong_arguments_raises(call: str, reason: str) -> None:
    with pytest.raises(TypeError, match=re.escape(reason)):
        carry_out_call(call, KNOWN)


def test_nothing_is_unanswered_where_all_is_recorded() -> None:
    assert lookups.find_unanswered(["math_gcd(a=1, b=2)", "get_weather_data([90, 0])"], [WEATHER]) is None


def test_the_functions_of_the_table() -> None:
    assert len(LOOKUPS) == 19
