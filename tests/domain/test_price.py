"""What calls cost, by tokens or by the hour."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.price import Price


def test_tokens_cost_dollars_per_million() -> None:
    assert Price(input=2.0, output=10.0).compute_cost(500_000, 100_000, None, 8) == pytest.approx(2.0)


def test_an_hour_is_shared_by_the_calls_at_once() -> None:
    """The official column: seconds / 3600 x 23.92 dollars, 100 calls at once."""
    assert Price(hour=23.92).compute_cost(None, None, 7200.0, 100) == pytest.approx(2 * 23.92 / 100)


@pytest.mark.parametrize(
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
    assert price.compute_cost(*used, 1) is None
