"""The plan of a run, made without asking a model: its calls, and notes on what will not be scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from operator import add
from statistics import fmean
from types import MappingProxyType

from pytest_fcbench.dispatch.limits import TYPICAL, estimated_tokens
from pytest_fcbench.domain.entry import SELECTIONS, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.pressure import PressureKind
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import (
    BUILTIN,
    PAID,
    AskModel,
    Completion,
    Fault,
    Party,
    drive_conversation,
)
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import Memories
from pytest_fcbench.kinds.server_turns.kind import skip_calls
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.official_models import list_dated_ids
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.run_models import RunModels
from pytest_fcbench.scorecard.record import Pricing

_OUTPUT_TOKENS = 75
"""Tokens of an answer: the mean of gpt-4o-mini on the official single-turn entries, function calling."""


@dataclass(frozen=True, slots=True)
class CategoryPlan:
    """The plan of a category: calls to make, answers in the store, estimated tokens."""

    name: str
    entries: int = 0
    """The number of entries, each once for every trial."""
    stored: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: CategoryPlan) -> CategoryPlan:
        """Sum two plans under the name of the first."""
        return CategoryPlan(self.name, *map(add, astuple(self)[1:], astuple(other)[1:]))

    def compute_usd(self, usd: Pricing, party: Party, seconds: float | None = None) -> float | None:
        """Return the dollars for the calls of so many seconds; None if the price or the time is not known."""
        if not self.calls:
            return 0.0
        latency_s = None if seconds is None else seconds * self.calls
        usage = Completion(
            input_tokens=self.input_tokens, output_tokens=self.output_tokens, latency_s=latency_s
        )
        return usd(usage, party)


def make_plans(
    entries: Iterable[Entry], find_calls: Callable[[Entry], Sequence[AskModel] | None]
) -> tuple[Sequence[CategoryPlan], Sequence[CategoryPlan]]:
    """Make a plan for each category, in the order of the entries, and one for each other party.

    ``find_calls`` returns the calls that an entry needs: none for one that is stored, None for one that is
    refused.
    """
    plans: dict[str, CategoryPlan] = {}
    others: dict[str, CategoryPlan] = {}
    for entry in entries:
        name, calls = entry.category.name, find_calls(entry)
        plan = CategoryPlan(name, 1) if calls is None else _plan_calls(name, Party.MODEL, calls)
        plans[name] = plans.get(name, CategoryPlan(name)) + plan
        for party in PAID:
            if party is not Party.MODEL and (plan := _plan_calls(party, party, calls or ())).calls:
                others[party] = others.get(party, CategoryPlan(party)) + plan
    return list(plans.values()), list(others.values())


def _plan_calls(name: str, party: Party, calls: Sequence[AskModel]) -> CategoryPlan:
    """Return the plan of an entry's calls to a party, under a name."""
    own_calls = [call for call in calls if call.party is party]
    tokens = sum(estimated_tokens(call, TYPICAL) for call in own_calls)
    # An embedding model writes nothing.
    output_tokens = 0 if party is Party.SIMILARITY else len(own_calls) * _OUTPUT_TOKENS
    return CategoryPlan(name, 1, int(not own_calls), len(own_calls), tokens, output_tokens)


def render_plans(
    plans: Sequence[CategoryPlan],
    usd: Pricing,
    others: Sequence[CategoryPlan] = (),
    seconds: Mapping[Party, float] = MappingProxyType({}),
) -> Iterator[str]:
    """Render plans as a table with their sum, and below it those of other parties than the model.

    ``seconds`` are those of a call, as far as they are known.
    """
    head = (
        f"{'':<24}{'entries':>8}{'stored':>8}{'calls':>8}{'tokens in':>12}{'tokens out':>12}{'dollars':>10}"
    )
    total = sum(plans, CategoryPlan("all"))
    yield head
    bill: float | None = 0.0
    for row in (*plans, total, *others):
        party = Party(row.name) if row in others else Party.MODEL
        dollars = row.compute_usd(usd, party, seconds.get(party))
        if row is total:
            yield "-" * len(head)
        if row is total or row in others:
            bill = None if bill is None or dollars is None else bill + dollars
        yield (
            f"{row.name:<24}{row.entries:>8}{row.stored:>8}{row.calls:>8}"
            f"{row.input_tokens:>12}{row.output_tokens:>12}{'-' if dollars is None else f'{dollars:.4f}':>10}"
        )
    if others:
        yield f"{'bill':<24}{'-' if bill is None else f'{bill:.4f}':>{len(head) - 24}}"
    estimate = f"input from the size of the requests, output as {_OUTPUT_TOKENS} per answer"
    yield f"tokens are estimated: {estimate}; no request was sent"


def describe_plan(context: RunContext, models: RunModels, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of text that estimate the calls, tokens and dollars for these entries."""
    if models.pipeline is None and not context.parties:
        no_calls = f"{context.settings.label} needs no network, so the run makes no calls and costs nothing"
        yield f"{len(entries)} entries; {no_calls}"
    else:
        # Shared, so that a conversation that several entries continue is planned once.
        memories: Memories = {}
        latencies: dict[Party, list[float]] = {}
        find_calls = partial(_find_calls, context, models, memories=memories, seconds=latencies)
        plans, others = make_plans(entries, find_calls)
        seconds = {party: fmean(samples) for party, samples in latencies.items()}
        yield from render_plans(plans, context.usd, others, seconds)
        model_party = [Party.MODEL] if any(plan.calls for plan in plans) else []
        for party in (*model_party, *(Party(plan.name) for plan in others)):
            price = context.prices.get(party)
            if price is None:
                yield f"dollars of the {party}: no price is known; give it under 'prices' in fcbench.yaml"
            elif price.hour is not None:
                samples = len(latencies.get(party, ()))
                per_call = (
                    f"{seconds[party]:.3g} s per call, the mean of {samples:,} stored answers"
                    if samples
                    else "but no stored answer tells how long a call takes; run a few entries first, e.g. "
                    "with --fcbench-smoke"
                )
                yield f"dollars of the {party}: ${price.hour:g} per hour, {per_call}"
        if others:
            names = " and ".join(plan.name for plan in others)
            yield f"{names}: as for right answers; wrong ones are asked about more often"
        if any(entry.category.name in SELECTIONS["web_search"] for entry in entries):
            yield "not counted: results of web searches and pages, which later requests contain"
        if any(entry.category.group is Group.MCP for entry in entries):
            yield "not counted: results of MCP servers, which later requests contain"
    if Party.PROVIDER in context.parties:
        yield "not counted: calls of the web API"


def _find_calls(
    context: RunContext,
    models: RunModels,
    entry: Entry,
    memories: Memories,
    seconds: dict[Party, list[float]],
) -> Sequence[AskModel] | None:
    """Return the calls that an entry needs, with those of earlier conversations not yet in ``memories``.

    None stands for an entry that is refused before it is asked.

    The oracle stands in for the model. It cannot write a model's own syntax, so the conversation is planned
    in the default one. The latencies of stored answers are added to ``seconds``.
    """
    prompting = Prompting.make_default(context.manner.prompting.mode, context.manner.prompting.names)
    plain = replace(context.manner, prompting=prompting)
    oracle = OracleModel(prompting)
    calls: list[AskModel] = []

    def answer(entry: Entry, request: AskModel) -> Completion:
        if stored_answer := models.find_stored(entry, request):
            if stored_answer.latency_s:
                seconds.setdefault(request.party, []).append(stored_answer.latency_s)
            return stored_answer
        if request.party is Party.SERVER:
            return skip_calls(request)
        if request.party is not Party.MODEL:
            calls.append(request)
            # A plan asks nobody, so a fault stands in for a reply that only the party knows.
            return Completion(text="not asked", fault=Fault.INFERENCE_ERROR)
        # A model that needs no network makes no calls.
        if models.pipeline:
            calls.append(request)
        return run_through(oracle.complete(entry, request))

    try:
        for each in (*(before for before in entry.earlier if before.key not in memories), entry):
            drive_conversation(context.converse(each, memories, plain), partial(answer, each))
    except NotScoredError:
        return calls or None
    return calls


def list_early_notes(context: RunContext, entries: Sequence[Entry]) -> list[str]:
    """List the notes on these entries."""
    without_search = Counter(entry.suite for entry in entries if context.lacks_search(entry))
    notes = [
        f"{count:,} {suite} {'entry' if count == 1 else 'entries'} will not be scored (no_search): each "
        "needs a web search; choose an engine with --fcbench-search=duckduckgo, serpapi or recorded:FILE"
        for suite, count in without_search.items()
    ]
    settings, manner = context.settings, context.manner
    has_official_form = any(entry.judged_category.on_leaderboard for entry in entries)
    if has_official_form and not (settings.read_as or manner.member or context.model.immediate):
        notes += [
            f"{settings.model} gets plain chat requests; the leaderboard gives {name} a request format of "
            f"its own, which --fcbench-as={name} selects (--fcbench-as=chat leaves this note out)"
            for name in list_dated_ids(settings.model, manner.prompting.mode)[-1:]
        ]
    notes += describe_free_texts(context, entries) + describe_forced_truth(context)
    notes += describe_pressure(context)
    searching = {entry.suite for entry in entries if entry.category.name == "memory_vector"}
    return notes + [note for note in describe_vectors(context, searching) if "; officially " in note]


def describe_forced_truth(context: RunContext) -> list[str]:
    """Say how many entries have no right calls to put through the server, where a run does that."""
    if not context.settings.forced:
        return []
    # Loads them where this process has not.
    for category in context.settings.categories:
        context.selection.size_of(category.name)
    count = context.selection.without_calls
    entries = "1 entry has" if count == 1 else f"{count:,} entries have"
    return [f"{entries} no right calls, and --fcbench-forced leaves them out"] if count else []


def describe_pressure(context: RunContext) -> list[str]:
    """Say how many entries cannot have all levels of a kind of pressure."""
    if not context.settings.pressure:
        return []
    for category in context.settings.categories:
        context.selection.size_of(category.name)
    return [
        f"{count:,} {'entry has' if count == 1 else 'entries have'} no {_LACKS[kind]}, so "
        f"--fcbench-pressure={kind} leaves {'it' if count == 1 else 'them'} out"
        for kind, count in context.selection.without_levels.items()
        if count
    ]


_LACKS = {
    PressureKind.DISTRACTORS: "right call, or too few functions beside their own",
    PressureKind.CONTEXT: "room for earlier turns",
    PressureKind.RESULTS: "results of calls",
    PressureKind.ERRORS: "results of calls, or a turn without calls",
}


def describe_free_texts(context: RunContext, entries: Iterable[Entry]) -> list[str]:
    """Say how many entries have free text, and in which profile a judge compares it."""
    count = sum(entry.expectation.has_free_text for entry in entries)
    is_judged = context.driven.judge != BUILTIN
    if not count or (is_judged and context.settings.profile is Profile.CORRECTED):
        return []
    of = f"{count:,} {'entry has' if count == 1 else 'entries have'} free text among the arguments"
    if is_judged:
        rule = "the judge counts in the corrected profile; in the official one only the same words pass"
        return [f"{of}: {rule}"]
    way_out = "--fcbench-judge=MODEL with --fcbench-profile=corrected lets others with the same meaning pass"
    return [f"{of}, of which only the same words pass; {way_out}"]


def describe_vectors(context: RunContext, names: Iterable[str]) -> list[str]:
    """Describe by what ``memory_vector`` of these suites finds texts."""
    names_by_description: dict[str, list[str]] = {}
    for name in sorted(names):
        names_by_description.setdefault(context.describe_vectors(context.suites[name]), []).append(name)
    if len(names_by_description) == 1:
        return [f"memory_vector finds texts by {by}" for by in names_by_description]
    return [
        f"memory_vector of {' and '.join(suites)} finds texts by {by}"
        for by, suites in names_by_description.items()
    ]
