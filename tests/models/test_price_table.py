"""Prices of litellm's table, by model id."""

from __future__ import annotations

from pytest_fcbench.models.price_table import known_price


def test_litellm_knows_prices_with_and_without_the_provider() -> None:
    price = known_price("gpt-4o")
    assert price is not None
    assert 0.1 < (price.input or 0) < (price.output or 0)
    assert known_price("openai/gpt-4o") == price
    assert known_price("litellm:gpt-4o") == price


def test_no_price_is_invented() -> None:
    assert known_price("hosted_vllm/my-ft") is None
    assert known_price("hosted_vllm/gpt-4o") is None, "a server of one's own is not OpenAI"
    assert known_price("") is None
