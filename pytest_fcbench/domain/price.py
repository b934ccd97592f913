"""Prices of calls: by tokens, or by the hour of a server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from pytest_fcbench.domain.json_values import EXTENDED, Number


class Consumption(Protocol):
    """The seconds and tokens of a completion, as far as they are known.

    Cached and written tokens are a part of the input, tokens of reasoning a part of the output.
    """

    @property
    def latency_s(self) -> float | None:
        """Seconds."""

    @property
    def input_tokens(self) -> int | None:
        """All tokens of the request."""

    @property
    def output_tokens(self) -> int | None:
        """All tokens of the answer."""

    @property
    def cached_tokens(self) -> int | None:
        """Tokens of the request that the server found in its cache."""

    @property
    def cache_write_tokens(self) -> int | None:
        """Tokens of the request that the server wrote to its cache for a price of its own."""

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens of the answer that are reasoning."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, or per hour of a server that takes ``concurrency`` calls at once.

    A call of a server costs its share of the time, as in the official cost column (bfcl-eval
    ``eval_runner_helper``): seconds / 3600 x dollars per hour / calls at once.
    """

    __pydantic_config__ = EXTENDED

    input: Number | None = None
    output: Number | None = None
    hour: Number | None = None
    cached: Number | None = None
    """Price of input tokens that the server found in its cache; null where they cost as much as others."""
    cache_write: Number | None = None
    """Price of input tokens that the server wrote to its cache; null where they cost as much as others."""
    reasoning: Number | None = None
    """Price of output tokens that are reasoning; null where they cost as much as others."""

    def compute_cost(self, consumption: Consumption, concurrency: int) -> float | None:
        """Return the dollars for one completion, or None where its tokens or its latency are unknown."""
        if self.hour is not None:
            seconds = consumption.latency_s
            return None if seconds is None else seconds / 3600 * self.hour / concurrency
        if consumption.input_tokens is None or consumption.output_tokens is None:
            return None
        if self.input is None or self.output is None:
            return None
        cost = consumption.input_tokens * self.input + consumption.output_tokens * self.output
        parts = (
            (consumption.cached_tokens, self.cached, self.input),
            (consumption.cache_write_tokens, self.cache_write, self.input),
            (consumption.reasoning_tokens, self.reasoning, self.output),
        )
        return (cost + sum((own - usual) * (n or 0) for n, own, usual in parts if own is not None)) / 1e6

    def take_dearest(self) -> Price:
        """Return the price of a bound, at which each token costs the most that it can cost."""
        input_rates = [rate for rate in (self.input, self.cached, self.cache_write) if rate is not None]
        output_rates = [rate for rate in (self.output, self.reasoning) if rate is not None]
        return replace(self, input=max(input_rates, default=None), output=max(output_rates, default=None))
