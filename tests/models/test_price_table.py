"""Prices of litellm's table, by model id."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_fcbench.models.price_table import known_price, litellm_models, litellm_providers


def test_litellm_knows_prices_with_and_without_the_provider() -> None:
    price = known_price("gpt-4o")
    assert price is not None
    assert 0.1 < (price.input or 0) < (price.output or 0)
    assert known_price("openai/gpt-4o") == price
    assert known_price("litellm:gpt-4o") == price
    for name in ("bedrock/us.amazon.nova-pro-v1:0", "vertex_ai/gemini-2.5-flash", "cohere/command-a-03-2025"):
        price = known_price(name)
        assert price
        assert price == known_price(name.partition("/")[2])


def test_cached_tokens_have_the_rates_of_the_table() -> None:
    price = known_price("anthropic/claude-sonnet-4-5")
    assert price is not None
    assert price.input is not None
    assert (price.cached or 0) < price.input < (price.cache_write or 0)
    reasoning = known_price("dashscope/qwen-turbo")
    assert reasoning is not None
    assert (reasoning.output or 0) < (reasoning.reasoning or 0)


def test_a_write_to_a_cache_is_never_free() -> None:
    rows = [row for row in litellm_models().values() if row.get("cache_creation_input_token_cost") == 0]
    assert rows
    prices = [known_price(name) for name in litellm_models()]
    assert all(price.cache_write != 0 for price in prices if price)


def test_no_price_is_invented() -> None:
    assert known_price("hosted_vllm/my-ft") is None
    assert known_price("hosted_vllm/gpt-4o") is None, "a server of one's own is not OpenAI"
    assert known_price("") is None


def test_providers_are_told_from_owners_of_models() -> None:
    known = litellm_providers()
    assert {"openai", "anthropic", "ollama", "ollama_chat", "litellm_proxy", "llamafile", "bedrock"} <= known
    assert not {"Qwen", "meta-llama", "mistralai", "google", "deepseek-ai", ""} & known


@pytest.mark.nightly
def test_nearly_all_providers_of_litellm_are_known() -> None:
    """In a process of its own, because litellm takes long to import and changes the event loop."""
    listed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import litellm; print(*(getattr(each, 'value', each) for each in litellm.provider_list))",
        ],
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout.split()
    assert len(listed) > 100
    # Those that are missing are rarely asked with an address of one's own, and litellm:ID asks them.
    assert len(set(listed) - litellm_providers()) < len(listed) / 5
