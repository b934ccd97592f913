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
    content = request.wire.body if request.wire else [request.messages, request.tools]
    text = json.dumps(content, ensure_ascii=False, default=dict)
    return len(text.encode("utf-8", "backslashreplace")) // bytes_per_token + 1


class Budget:
    """The dollars that all models of a run may cost together, the judge and others included."""

    def __init__(self, max_usd: float | None = None) -> None:
        self.max_usd = max_usd
        """The limit; None where there is none."""
        self.spent = 0.0
        """Dollars, as far as prices are known."""
        self.promised = 0.0
        """The highest likely cost of the calls in flight."""
        self.in_flight = 0
        self.settled = asyncio.Condition()
        """Held while the figures change; tells those that wait of each call that has ended."""
        self.stopped_at: float | None = None
        """What was spent when the limit was reached; None while it is not."""


class Ledger:
    """The dollars that the calls of one model cost, within the budget of the run.

    Before a call its highest likely cost is promised; afterwards its real cost is booked. A call that could
    pass the limit waits for those in flight, and is refused if that does not help.
    """

    def __init__(
        self,
        price: Price | None = None,
        concurrency: int = 1,
        budget: Budget | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._price = price
        self._concurrency = concurrency
        self._most_output = max_tokens or _OUTPUT_TOKENS
        self._slowest_s = _LATENCY_S

    def cost(self, completion: Completion) -> float | None:
        """Return the dollars for a completion, None where they are unknown."""
        return None if self._price is None else self._price.compute_cost(completion, self._concurrency)

    async def promise(self, request: AskModel) -> float:
        """Reserve the highest likely cost of a call. Raises ``NotScoredError`` if it could pass the limit."""
        budget = self.budget
        if budget.max_usd is None or self._price is None:
            return 0.0
        tokens = estimated_tokens(request, SAFE)
        async with budget.settled:
            while True:
                most = Completion(
                    input_tokens=tokens, output_tokens=self._most_output, latency_s=self._slowest_s
                )
                cost = self._price.take_dearest().compute_cost(most, self._concurrency) or 0.0
                if budget.stopped_at is None and budget.spent + budget.promised + cost <= budget.max_usd:
                    budget.promised += cost
                    budget.in_flight += 1
                    return cost
                # With nothing in flight no promise can become cheaper, so waiting would never end.
                if budget.stopped_at is not None or not budget.in_flight:
                    break
                await budget.settled.wait()
            if budget.stopped_at is None:
                budget.stopped_at = budget.spent
        raise NotScoredError(
            "budget",
            f"${budget.spent:.4f} are spent, and another call could exceed the limit of ${budget.max_usd:g}",
        )

    async def settle(self, promised: float, completion: Completion | None) -> None:
        """Book the cost of a call: nothing without an answer, the promise for an answer without usage."""
        budget = self.budget
        # A model without a price has promised nothing, and is none of those in flight.
        if self._price is None:
            return
        async with budget.settled:
            budget.in_flight = max(0, budget.in_flight - 1)
            # Sums of dollars have rounding errors; with nothing in flight nothing is promised.
            budget.promised = max(0.0, budget.promised - promised) if budget.in_flight else 0.0
            if completion is not None:
                cost = self.cost(completion)
                budget.spent += promised if cost is None else cost
                self._most_output = max(self._most_output, completion.output_tokens or 0)
                self._slowest_s = max(self._slowest_s, completion.latency_s or 0.0)
            budget.settled.notify_all()
