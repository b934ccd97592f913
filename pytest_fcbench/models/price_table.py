"""Prices of models from litellm's table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pytest_fcbench.domain.price import Price

_TABLE = "model_prices_and_context_window_backup.json"


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
    found = models.get(model, models.get(name))
    if found is None or (model not in models and found.get("litellm_provider") != provider):
        return None
    match found.get("input_cost_per_token"), found.get("output_cost_per_token"):
        case (int() | float()) as per_input, (int() | float()) as per_output:
            return Price(per_input * 1e6, per_output * 1e6)
    return None


@cache
def litellm_models() -> Mapping[str, Mapping[str, object]]:
    """Return litellm's facts about each model by id, read without importing litellm (two seconds)."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        table = json.loads(Path(spec.origin).with_name(_TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: row for name, row in table.items() if isinstance(row, Mapping)}
