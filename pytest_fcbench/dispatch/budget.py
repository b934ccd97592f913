"""The money that a run has spent and may still spend."""

from __future__ import annotations

import asyncio
import json

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import AskModel, Completion

TYPICAL, SAFE = 6, 4
"""Bytes of messages and tools per input token. gpt-4o-mini counts 6.1 (with tools) and 7.0 (without) on the
official single-turn entries, and less than 4.7 on one in a hundred: 6 is for a forecast, 4 for a bound."""

_OUTPUT_TOKENS = 1024
"""Output tokens assumed for a call without a token limit, until a longer answer is seen."""

_LATENCY_S = 60.0
"""Seconds assumed for a call that is paid by time, until a slower one is seen."""


def estimated_tokens(request: AskModel, bytes_per_token: int) -> int:
    """Estimate the input tokens of a request from its size; no tokenizer knows all models."""
    text = json.dumps([request.messages, request.tools], ensure_ascii=False, default=dict)
    return len(text.encode("utf-8", "backslashreplace")) // bytes_per_token + 1


class Ledger:
    """The dollars that the calls of this run cost, under a limit.

    Before a call its highest likely cost is promised; afterwards its real cost is booked. A call that could
    pass the limit waits for those in flight, and is refused if that does not help.
    """

    def __init__(
        self,
        price: Price | None = None,
        concurrency: int = 1,
        max_usd: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self._price = price
        self._concurrency = concurrency
        self._max_usd = max_usd
        self._most_output = max_tokens or _OUTPUT_TOKENS
        self._slowest_s = _LATENCY_S
        self._promised = 0.0
        self._in_flight = 0
        self._settled = asyncio.Condition()
        self.spent = 0.0
        """Dollars, as far as prices are known."""
        self.stopped_at: float | None = None
        """What was spent when the limit was reached; None while it is not."""

    def cost(self, completion: Completion) -> float | None:
        """Return the dollars for a completion, None where they are unknown."""
        used = completion.input_tokens, completion.output_tokens, completion.latency_s
        return None if self._price is None else self._price.compute_cost(*used, self._concurrency)

    async def promise(self, request: AskModel) -> float:
        """Reserve the highest likely cost of a call. Raises ``NotScoredError`` if it could pass the limit."""
        if self._max_usd is None or self._price is None:
            return 0.0
        tokens = estimated_tokens(request, SAFE)
        async with self._settled:
            while True:
                cost = (
                    self._price.compute_cost(tokens, self._most_output, self._slowest_s, self._concurrency)
                    or 0.0
                )
                if self.stopped_at is None and self.spent + self._promised + cost <= self._max_usd:
                    self._promised += cost
                    self._in_flight += 1
                    return cost
                # With nothing in flight no promise can become cheaper, so waiting would never end.
                if self.stopped_at is not None or not self._in_flight:
                    break
                await self._settled.wait()
            if self.stopped_at is None:
                self.stopped_at = self.spent
        raise NotScoredError(
            "budget",
            f"${self.spent:.4f} are spent, and another call could exceed the limit of ${self._max_usd:g}",
        )

    async def settle(self, promised: float, completion: Completion | None) -> None:
        """Book the cost of a call: nothing without an answer, the promise for an answer without usage."""
        async with self._settled:
            self._in_flight = max(0, self._in_flight - 1)
            # Sums of dollars have rounding errors; with nothing in flight nothing is promised.
            self._promised = max(0.0, self._promised - promised) if self._in_flight else 0.0
            if completion is not None:
                cost = self.cost(completion)
                self.spent += promised if cost is None else cost
                self._most_output = max(self._most_output, completion.output_tokens or 0)
                self._slowest_s = max(self._slowest_s, completion.latency_s or 0.0)
            self._settled.notify_all()
