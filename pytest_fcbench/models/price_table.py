"""Prices of models and names of providers, from litellm's tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.text import as_mapping, read_json_text


def known_price(model: str) -> Price | None:
    """Return litellm's price of a model id, or None where it has none.

    Its table leaves some providers' prefix out (``gpt-4o`` is ``openai/gpt-4o``). The same name behind
    another prefix is another's, such as a server of one's own.
    """
    models = litellm_models()
    # ``litellm:ID`` says how the model is asked, not what it is.
    model = model.removeprefix("litellm:")
    provider, _, name = model.partition("/")
    # ``openai/gpt-4o`` is in the table without its prefix, ``hosted_vllm/gpt-4o`` must not find it there.
    # Some providers have another word behind their name, such as ``bedrock_converse``.
    row = models.get(model, models.get(name, {}))
    if model not in models and not str(row.get("litellm_provider")).startswith(provider):
        return None
    match row.get("input_cost_per_token"), row.get("output_cost_per_token"):
        case (int() | float()) as per_input, (int() | float()) as per_output:
            # A write to a cache is not free: 0 says that it costs no more than other input.
            rates = {
                name: rate * 1e6
                for name, key in _OWN_RATES.items()
                if isinstance(rate := row.get(key), (int, float)) and (rate or name != "cache_write")
            }
            return Price(per_input * 1e6, per_output * 1e6, **rates)
    return None


_OWN_RATES = {
    "cached": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "reasoning": "output_cost_per_reasoning_token",
}
"""The members of a price beside input and output, with their keys in the table."""


@cache
def litellm_models() -> Mapping[str, Mapping[str, object]]:
    """Return litellm's facts about each model by id, read without importing litellm (two seconds)."""
    table = _read_table("model_prices_and_context_window_backup.json")
    return {name: row for name, row in table.items() if isinstance(row, Mapping)}


@cache
def litellm_providers() -> frozenset[str]:
    """Return the names of providers that litellm's ids begin with, read without importing litellm."""
    endpoints = as_mapping(_read_table("provider_endpoints_support_backup.json").get("providers"))
    # Neither of the two tables has all of them.
    return frozenset(
        [
            *endpoints,
            *(str(row.get("litellm_provider")) for row in litellm_models().values()),
            *(name.partition("/")[0] for name in litellm_models() if "/" in name),
        ]
    )


def _read_table(name: str) -> Mapping[str, object]:
    """Return the object in a JSON file of litellm's package; an empty one where there is none."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        return as_mapping(read_json_text(Path(spec.origin).with_name(name).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
