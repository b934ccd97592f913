"""Limits of a run: the money that it may cost, the pace of its calls, the length of an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, ToolCall

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
                output_tokens, latency_s = self._most_output, self._slowest_s
                most = Completion(input_tokens=tokens, output_tokens=output_tokens, latency_s=latency_s)
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
        limit = f"another call could exceed the limit of ${budget.max_usd:g}"
        raise NotScoredError("budget", f"${budget.spent:.4f} are spent, and {limit}")

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


_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class Pace:
    """A rate: spreads amounts (requests, tokens) evenly, so that no minute ever has more than the rate.

    Nothing is saved up in idle times: a burst after a pause is what endpoints refuse first. Times are
    seconds of any one clock.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._free_at = 0.0

    def reserve(self, now: float, amount: float = 1.0) -> float:
        """Take the next place in the line and return the seconds to wait for it."""
        start = max(now, self._free_at)
        self._free_at = start + amount * self._seconds_each
        return start - now

    def hold(self, until: float) -> None:
        """Let nothing start before a time."""
        self._free_at = max(self._free_at, until)

    def turn(self, now: float) -> float:
        """Return the seconds until the next place in the line is free."""
        return max(0.0, self._free_at - now)

    def correct(self, amount: float) -> None:
        """Add the amount that a reservation needed beyond what it reserved; a negative one gives back."""
        self._free_at += amount * self._seconds_each


def backoff(attempt: int, retry_after_s: float | None, random: Random) -> float:
    """Return the seconds to wait after the failed attempt number ``attempt``, from 1 on.

    That is the time that the endpoint asked for, and a little more so that not all calls come back at once;
    else, and where it asked for none, it doubles from half a second to thirty, and a random part of up to
    half of it is left out.
    """
    if retry_after_s:
        return retry_after_s * random.uniform(1.0, 1.1)
    # Beyond 16 doublings the limit holds anyway, and a power of a float raises OverflowError in the end.
    return min(_FIRST_WAIT_S * 2.0 ** min(attempt - 1, 16), _LONGEST_WAIT_S) * random.uniform(0.5, 1.0)


_KEPT = 200
"""Characters of an answer that is too long that are shown."""


def bound_answer(completion: Completion, longest: int) -> Completion:
    """Return an answer, or in place of one that is too long its length and its beginning, as a fault.

    Tokens, time and the reason why the answer ended stay.
    """
    length = measure_answer(completion)
    if length <= longest:
        return completion
    begins = (completion.text or "")[:_KEPT]
    summary = f"the answer has {length:,} characters, and at most {longest:,} are read"
    text = f"{summary}; it begins {begins!r}" if begins else summary
    bare = replace(completion, tool_calls=None, reasoning=None, refusal=None, message=None, in_parts=False)
    return replace(bare, text=text, fault=Fault.TOO_LARGE)


def measure_answer(completion: Completion) -> int:
    """Count the characters of an answer: its text, reasoning, and names and arguments of calls."""
    length = 0
    waiting: list[object] = [completion.text, completion.reasoning, completion.refusal, completion.tool_calls]
    # Without recursion: what servers nest has any depth.
    while waiting:
        match waiting.pop():
            case str(text):
                length += len(text)
            case ToolCall(name=name, arguments=arguments):
                waiting += [name, arguments]
            case list(members) | tuple(members):
                length += len(members)
                waiting += members
            case Mapping() as members:
                length += len(members)
                waiting += [*members.keys(), *members.values()]
            case None:
                pass
            case _:
                length += 1
    return length
