"""What a run would ask, without asking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_fcbench.dispatch.budget import TYPICAL, estimated_tokens
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import AskModel

_OUTPUT_TOKENS = 75
"""Of an answer: the mean of gpt-4o-mini on the official single-turn entries, function calling."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the entries of a category need: calls to make, answers that are there, estimated tokens."""

    name: str
    entries: int = 0
    """Entries, each once for every trial."""
    stored: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def usd(self, price: Price | None) -> float | None:
        """Dollars for the calls; None where the price is not known, or goes by time."""
        if not self.calls:
            return 0.0
        return price.of(self.input_tokens, self.output_tokens, None, 1) if price else None


def plan(
    entries: Iterable[Entry],
    to_ask: Callable[[Entry], Sequence[AskModel]],
) -> Sequence[Plan]:
    """One plan for each category in the order of the entries; ``to_ask`` gives the calls that an entry needs.

    An entry that needs none is stored.
    """
    plans: dict[str, Plan] = {}
    for entry in entries:
        before = plans.get(entry.category.name, Plan(entry.category.name))
        requests = to_ask(entry)
        plans[entry.category.name] = Plan(
            before.name,
            before.entries + 1,
            before.stored + (not requests),
            before.calls + len(requests),
            before.input_tokens + sum(estimated_tokens(request, TYPICAL) for request in requests),
            before.output_tokens + len(requests) * _OUTPUT_TOKENS,
        )
    return list(plans.values())


def lines(plans: Sequence[Plan], price: Price | None) -> Iterator[str]:
    """The plan as a table."""
    total = Plan(
        "all",
        entries=sum(plan.entries for plan in plans),
        stored=sum(plan.stored for plan in plans),
        calls=sum(plan.calls for plan in plans),
        input_tokens=sum(plan.input_tokens for plan in plans),
        output_tokens=sum(plan.output_tokens for plan in plans),
    )
    head = (
        f"{'':<24}{'entries':>8}{'stored':>8}{'calls':>8}{'tokens in':>12}{'tokens out':>12}{'dollars':>10}"
    )
    yield head
    for row in (*plans, total):
        if row is total:
            yield "-" * len(head)
        yield (
            f"{row.name:<24}{row.entries:>8}{row.stored:>8}{row.calls:>8}"
            f"{row.input_tokens:>12}{row.output_tokens:>12}{_dollars(row.usd(price)):>10}"
        )
    yield "tokens are estimated: in from the size of requests, out as 75 an answer; nothing was asked"


def _dollars(usd: float | None) -> str:
    return "-" if usd is None else f"{usd:.4f}"
