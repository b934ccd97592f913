"""What litellm's table says that calls of a model cost."""

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
    ids = litellm_models()
    provider, _, name = model.partition("/")
    found = ids.get(model, ids.get(name))
    if found is None or (model not in ids and found.get("litellm_provider") != provider):
        return None
    asked, answered = found.get("input_cost_per_token"), found.get("output_cost_per_token")
    if not isinstance(asked, (int, float)) or not isinstance(answered, (int, float)):
        return None
    return Price(asked * 1e6, answered * 1e6)


@cache
def litellm_models() -> Mapping[str, Mapping[str, object]]:
    """Read what litellm knows of each model by id, without importing litellm (two seconds)."""
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    try:
        known = json.loads(Path(found.origin).with_name(_TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: told for name, told in known.items() if isinstance(told, Mapping)}
