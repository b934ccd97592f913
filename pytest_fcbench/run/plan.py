"""The plan of a run: which calls it would make, estimated without asking anybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from pytest_fcbench.conversations.setting import Memories
from pytest_fcbench.dispatch.answer_store import StoredModel
from pytest_fcbench.dispatch.budget import TYPICAL, estimated_tokens
from pytest_fcbench.dispatch.limits import LimitedModel
from pytest_fcbench.domain.driving import drive
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.run.context import RunContext

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


def describe_plan(
    context: RunContext, stored: StoredModel | LimitedModel | None, entries: Sequence[Entry]
) -> Iterator[str]:
    """Yield the lines of text that tell what asking these entries would take.

    ``stored`` is the model under test with its stored answers, None if it needs no network.
    """
    if stored is None:
        yield f"{len(entries)} entries; {context.settings.label} needs no network: no call, no cost"
    else:
        memories: Memories = {}
        plans = plan(entries, lambda entry: _find_calls(context, stored, entry, memories))
        yield from lines(plans, context.price)
        if context.asks_web:
            yield "not counted: what the web answers, which stands in later requests"
    if context.parties:
        yield f"not counted: what is asked of the {' and the '.join(sorted(context.parties))}"


def _find_calls(
    context: RunContext, stored: StoredModel | LimitedModel, entry: Entry, memories: Memories
) -> Sequence[AskModel]:
    """Return the calls that an entry needs, with those of earlier conversations that are in no memory yet.

    The oracle's answers say how a conversation goes on. It does not write a model's own syntax, so there a
    conversation is planned in the usual one.
    """
    prompting = Prompting.usual(context.manner.prompting.mode, context.manner.prompting.names)
    plain = replace(context.manner, prompting=prompting)
    oracle = OracleModel(prompting)
    needed: list[AskModel] = []

    def answer(entry: Entry, request: AskModel) -> Completion:
        if request.party is not Party.MODEL:
            return Completion(text="not asked", fault=Fault.INFERENCE_ERROR)
        if kept := stored.kept(entry, request):
            return kept
        needed.append(request)
        return run_through(oracle.complete(entry, request))

    with suppress(CallError):
        for each in (*(before for before in entry.earlier if before.key not in memories), entry):
            drive(context.converse(each, memories, plain), partial(answer, each))
    return needed


def _dollars(usd: float | None) -> str:
    return "-" if usd is None else f"{usd:.4f}"
