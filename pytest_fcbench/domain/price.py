"""Prices of calls: by tokens, or by the hour of a server."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcbench.domain.json_values import DESCRIBED, Number


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, or per hour of a server that takes ``concurrency`` calls at once.

    A call of a server costs its share of the time, as in the official cost column (bfcl-eval
    ``eval_runner_helper``): seconds / 3600 x dollars per hour / calls at once.
    """

    __pydantic_config__ = DESCRIBED

    input: Number | None = None
    output: Number | None = None
    hour: Number | None = None

    def compute_cost(
        self,
        input_tokens: int | None,
        output_tokens: int | None,
        latency_s: float | None,
        concurrency: int,
    ) -> float | None:
        """Return the dollars for one completion, or None where its tokens or its latency are unknown."""
        if self.hour is not None:
            return None if latency_s is None else latency_s / 3600 * self.hour / concurrency
        if input_tokens is None or output_tokens is None or self.input is None or self.output is None:
            return None
        return (input_tokens * self.input + output_tokens * self.output) / 1e6
