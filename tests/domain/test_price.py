"""What calls cost, by tokens or by the hour."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import Completion
from tests.cases import each_case


def test_tokens_cost_dollars_per_million() -> None:
    used = Completion(input_tokens=500_000, output_tokens=100_000)
    assert Price(input=2.0, output=10.0).compute_cost(used, 8) == pytest.approx(2.0)


PARTS = Completion(
    input_tokens=1_000_000,
    output_tokens=1_000_000,
    cached_tokens=500_000,
    cache_write_tokens=200_000,
    reasoning_tokens=400_000,
)


@each_case(
    ("rates", "dollars"),
    [
        ({}, 12.0),
        # Half of the input at a tenth of its price.
        ({"cached": 0.2}, 12.0 - 0.5 * 1.8),
        ({"cached": 0.0}, 11.0),
        ({"cache_write": 2.5}, 12.0 + 0.2 * 0.5),
        ({"reasoning": 30.0}, 12.0 + 0.4 * 20.0),
        ({"cached": 0.2, "cache_write": 2.5, "reasoning": 30.0}, 12.0 - 0.9 + 0.1 + 8.0),
    ],
)
def test_cached_and_reasoning_tokens_may_have_prices_of_their_own(
    rates: dict[str, float], dollars: float
) -> None:
    assert Price(input=2.0, output=10.0, **rates).compute_cost(PARTS, 1) == pytest.approx(dollars)


def test_a_bound_takes_the_dearest_rates() -> None:
    dearest = Price(2.0, 10.0, cached=0.2, cache_write=2.5, reasoning=30.0).take_dearest()
    assert (dearest.input, dearest.output) == (2.5, 30.0)
    cheap = Price(2.0, 10.0, cached=0.2, reasoning=3.0).take_dearest()
    assert (cheap.input, cheap.output) == (2.0, 10.0)
    assert Price(hour=2.0).take_dearest() == Price(hour=2.0)


def test_an_hour_is_shared_by_the_calls_at_once() -> None:
    """The official column: seconds / 3600 x 23.92 dollars, 100 calls at once."""
    used = Completion(latency_s=7200.0)
    assert Price(hour=23.92).compute_cost(used, 100) == pytest.approx(2 * 23.92 / 100)


@each_case(
    ("price", "used"),
    [
        (Price(input=2.0, output=1.0), (None, 5, 1.0)),
        (Price(input=2.0, output=1.0), (5, None, 1.0)),
        (Price(input=2.0), (5, 5, 1.0)),
        (Price(), (5, 5, 1.0)),
        (Price(hour=2.0), (5, 5, None)),
    ],
)
def test_what_is_unknown_is_none_not_free(
    price: Price, used: tuple[int | None, int | None, float | None]
) -> None:
    asked, answered, seconds = used
    completion = Completion(input_tokens=asked, output_tokens=answered, latency_s=seconds)
    assert price.compute_cost(completion, 1) is None
