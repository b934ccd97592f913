"""The plan of a run: an estimate of its calls, made without asking a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from pytest_fcbench.conversations.server_turns import skip_calls
from pytest_fcbench.conversations.setting import Memories
from pytest_fcbench.dispatch.budget import TYPICAL, estimated_tokens
from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import SELECTIONS, Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.model_stack import ModelStack

_OUTPUT_TOKENS = 75
"""Tokens of an answer: the mean of gpt-4o-mini on the official single-turn entries, function calling."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a category: calls to make, answers in the store, estimated tokens."""

    name: str
    entries: int = 0
    """The number of entries, each once for every trial."""
    stored: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Plan) -> Plan:
        """Sum two plans under the name of the first."""
        return Plan(
            self.name,
            self.entries + other.entries,
            self.stored + other.stored,
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def compute_usd(self, price: Price | None) -> float | None:
        """Return the dollars for the calls; None if the price is not known, or goes by time."""
        if not self.calls:
            return 0.0
        return price.compute_cost(self.input_tokens, self.output_tokens, None, 1) if price else None


def make_plans(
    entries: Iterable[Entry], find_calls: Callable[[Entry], Sequence[AskModel]]
) -> tuple[Sequence[Plan], Sequence[Plan]]:
    """Make a plan for each category, in the order of the entries, and one for each other party.

    ``find_calls`` returns the calls that an entry needs; one that needs none is stored.
    """
    plans: dict[str, Plan] = {}
    others: dict[str, Plan] = {}
    for entry in entries:
        calls = find_calls(entry)
        by_party = {party: [call for call in calls if call.party is party] for party in _PAID}
        name, asked = entry.category.name, by_party.pop(Party.MODEL)
        plans[name] = plans.get(name, Plan(name)) + _plan_calls(name, asked, _OUTPUT_TOKENS)
        for party, asked in by_party.items():
            if asked:
                # An embedding model writes nothing.
                written = 0 if party is Party.SIMILARITY else _OUTPUT_TOKENS
                own = _plan_calls(party, asked, written)
                others[party] = others.get(party, Plan(party)) + own
    return list(plans.values()), list(others.values())


_PAID = (Party.MODEL, Party.JUDGE, Party.SIMILARITY)
"""The parties that are paid by tokens."""


def _plan_calls(name: str, calls: Sequence[AskModel], written: int) -> Plan:
    """Return the plan of an entry's calls, each answered by so many tokens."""
    tokens = sum(estimated_tokens(call, TYPICAL) for call in calls)
    return Plan(name, 1, int(not calls), len(calls), tokens, len(calls) * written)


def render_plans(
    plans: Sequence[Plan], prices: Mapping[Party, Price], others: Sequence[Plan] = ()
) -> Iterator[str]:
    """Render plans as a table with their sum, and below it those of other parties than the model."""
    head = (
        f"{'':<24}{'entries':>8}{'stored':>8}{'calls':>8}{'tokens in':>12}{'tokens out':>12}{'dollars':>10}"
    )
    total = sum(plans, Plan("all"))
    yield head
    for row in (*plans, total, *others):
        usd = row.compute_usd(prices.get(Party(row.name) if row in others else Party.MODEL))
        if row is total:
            yield "-" * len(head)
        yield (
            f"{row.name:<24}{row.entries:>8}{row.stored:>8}{row.calls:>8}"
            f"{row.input_tokens:>12}{row.output_tokens:>12}{'-' if usd is None else f'{usd:.4f}':>10}"
        )
    estimate = f"input from the size of the requests, output as {_OUTPUT_TOKENS} per answer"
    yield f"tokens are estimated: {estimate}; no request was sent"


def describe_plan(context: RunContext, models: ModelStack, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of text that estimate the calls, tokens and dollars for these entries."""
    if models.limited is None and not context.parties:
        yield (
            f"{len(entries)} entries; {context.settings.label} needs no network, so the run makes "
            f"no calls and costs nothing"
        )
    else:
        # Shared, so that a conversation that several entries continue is planned once.
        memories: Memories = {}
        plans, others = make_plans(entries, lambda entry: _find_calls(context, models, entry, memories))
        yield from render_plans(plans, context.prices, others)
        if others:
            yield (
                f"{' and '.join(plan.name for plan in others)}: as for right answers; wrong ones are asked "
                f"about more often"
            )
        if any(entry.category.name in SELECTIONS["web_search"] for entry in entries):
            yield "not counted: results of web searches and pages, which later requests contain"
        if any(entry.category.rule.starts_server for entry in entries):
            yield "not counted: results of MCP servers, which later requests contain"
    if Party.PROVIDER in context.parties:
        yield "not counted: calls of the web API"


def _find_calls(
    context: RunContext, models: ModelStack, entry: Entry, memories: Memories
) -> Sequence[AskModel]:
    """Return the calls that an entry needs, with those of earlier conversations not yet in ``memories``.

    The oracle stands in for the model. It cannot write a model's own syntax, so the conversation is planned
    in the default one.
    """
    prompting = Prompting.make_default(context.manner.prompting.mode, context.manner.prompting.names)
    plain = replace(context.manner, prompting=prompting)
    oracle = OracleModel(prompting)
    needed: list[AskModel] = []

    def answer(entry: Entry, request: AskModel) -> Completion:
        if kept := models.find_stored(entry, request):
            return kept
        if request.party is Party.SERVER:
            return skip_calls(request)
        if request.party is not Party.MODEL:
            needed.append(request)
            # A plan asks nobody, so a fault stands in for a reply that only the party knows.
            return Completion(text="not asked", fault=Fault.INFERENCE_ERROR)
        # A model that needs no network makes no calls.
        if models.limited:
            needed.append(request)
        return run_through(oracle.complete(entry, request))

    with suppress(CallError):
        for each in (*(before for before in entry.earlier if before.key not in memories), entry):
            drive_conversation(context.converse(each, memories, plain), partial(answer, each))
    return needed
