"""What calls cost: by tokens (fcbench.yaml's table, else litellm's), or by the hour of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_TABLE = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, or per hour of a server that takes ``concurrency`` calls at once.

    A call of a server costs its share of the time, as in the official cost column (bfcl-eval
    ``eval_runner_helper``): seconds / 3600 x dollars per hour / calls at once.
    """

    input: float | None = None
    output: float | None = None
    hour: float | None = None

    def of(
        self,
        input_tokens: int | None,
        output_tokens: int | None,
        latency_s: float | None,
        concurrency: int,
    ) -> float | None:
        """Dollars for one completion; None where what it is counted by is not known."""
        if self.hour is not None:
            return None if latency_s is None else latency_s / 3600 * self.hour / concurrency
        if input_tokens is None or output_tokens is None or self.input is None or self.output is None:
            return None
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


def known(model: str) -> Price | None:
    """litellm's price of a model id; None where it has none.

    Its table leaves some providers' prefix out (``gpt-4o`` is ``openai/gpt-4o``). The same name behind
    another prefix is another's, such as a server of one's own.
    """
    ids = table()
    provider, _, name = model.partition("/")
    found = ids.get(model, ids.get(name))
    if found is None or (model not in ids and found.get("litellm_provider") != provider):
        return None
    asked, answered = found.get("input_cost_per_token"), found.get("output_cost_per_token")
    if not isinstance(asked, (int, float)) or not isinstance(answered, (int, float)):
        return None
    return Price(asked * 1e6, answered * 1e6)


@cache
def table() -> Mapping[str, Mapping[str, object]]:
    """What litellm knows of models by their id, read from its files without importing it (two seconds)."""
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    try:
        known = json.loads(Path(found.origin).with_name(_TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: told for name, told in known.items() if isinstance(told, Mapping)}
