"""What calls may cost is set aside before they are made; no limit is passed, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import ceil
from random import Random
from types import MappingProxyType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_fcbench.dispatch.limits import (
    SAFE,
    TYPICAL,
    Budget,
    Ledger,
    Pace,
    backoff,
    bound_answer,
    estimated_tokens,
    measure_answer,
)
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Api, WireRequest
from pytest_fcbench.domain.transcript import AskModel, Completion, Ending, Fault, ToolCall
from tests.cases import each_case
from tests.dispatch import clock

REQUEST = AskModel(({"role": "user", "content": "hi"},))
INPUT = estimated_tokens(REQUEST, SAFE)


def make_request(text: str) -> AskModel:
    return AskModel(({"role": "user", "content": text},))


def price_output(dollars: float) -> Price:
    """Make a price of so many dollars for each output token."""
    return Price(input=0, output=dollars * 1e6)


def make_completion(output_tokens: int, input_tokens: int = 0) -> Completion:
    return Completion(input_tokens=input_tokens, output_tokens=output_tokens)


def expect_refusal(ledger: Ledger, request: AskModel = REQUEST) -> Coroutine[object, object, NotScoredError]:
    async def ask_for_promise() -> NotScoredError:
        with pytest.raises(NotScoredError) as caught:
            await ledger.promise(request)
        return caught.value

    return ask_for_promise()


# Never more than the limit


@dataclass(frozen=True)
class Asked:
    """One call: when it comes, how large it is, how long it takes, what it brings."""

    at: int
    size: int
    takes: int
    output: int
    fails: bool


calls = st.lists(
    st.builds(
        Asked,
        at=st.integers(0, 20),
        size=st.integers(0, 400),
        takes=st.integers(0, 10),
        output=st.sampled_from([0, 1, 20, 20, 20]),
        fails=st.booleans(),
    ),
    max_size=25,
)


async def spend_on_calls(ledger: Ledger, asked: list[Asked]) -> list[str]:
    """Return what became of the calls, in the order of their ends."""
    ends: list[str] = []

    async def make_call(call: Asked) -> None:
        await asyncio.sleep(call.at)
        request = make_request("x" * call.size)
        try:
            promised = await ledger.promise(request)
        except NotScoredError as error:
            ends.append(error.cause)
            return
        await asyncio.sleep(call.takes)
        completion = None if call.fails else make_completion(call.output, estimated_tokens(request, SAFE))
        await ledger.settle(promised, completion)
        ends.append("failed" if call.fails else "answered")

    await asyncio.gather(*map(make_call, asked))
    return ends


@given(asked=calls, limit=st.integers(0, 300))
def test_the_limit_is_never_passed(asked: list[Asked], limit: int) -> None:
    """Prices are multiples of 1/4, which binary numbers hold exactly; every call comes to an end."""
    ledger = Ledger(Price(250_000, 500_000), budget=Budget(float(limit)), max_tokens=20)
    ends = clock.run_coroutine(spend_on_calls(ledger, asked))
    assert len(ends) == len(asked)
    assert ledger.budget.spent <= limit
    assert ("budget" in ends) == (ledger.budget.stopped_at is not None)
    if "budget" in ends:
        assert "answered" not in ends[ends.index("budget") :]


@given(asked=calls, limit=st.integers(1, 100))
@example(asked=[Asked(at, 0, takes=2, output=1, fails=False) for at in (0, 0, 0, 3, 3)], limit=4)
def test_prices_that_binary_numbers_do_not_hold(asked: list[Asked], limit: int) -> None:
    ledger = Ledger(price_output(0.1), budget=Budget(limit / 10), max_tokens=1)
    asked = [Asked(call.at, call.size, call.takes, min(call.output, 1), call.fails) for call in asked]
    assert len(clock.run_coroutine(spend_on_calls(ledger, asked))) == len(asked)
    assert ledger.budget.spent <= limit / 10 + 1e-9


def test_a_call_that_does_not_fit_is_refused_when_three_others_have_ended() -> None:
    async def main() -> NotScoredError:
        ledger = Ledger(price_output(0.1), budget=Budget(0.35), max_tokens=1)
        for promised in [await ledger.promise(REQUEST) for _ in range(3)]:
            await ledger.settle(promised, make_completion(1))
        return await expect_refusal(ledger)

    assert clock.run_coroutine(main()).cause == "budget"


def test_calls_that_are_promised_to_fit_are_all_made() -> None:
    """A limit is not to be missed by a call either, where nothing is lost to rounding."""

    async def main() -> float:
        ledger = Ledger(price_output(0.25), budget=Budget(10), max_tokens=1)
        await asyncio.gather(*(make_call(ledger) for _ in range(40)))
        return ledger.budget.spent

    async def make_call(ledger: Ledger) -> None:
        promised = await ledger.promise(REQUEST)
        await asyncio.sleep(1)
        await ledger.settle(promised, make_completion(1))

    assert clock.run_coroutine(main()) == 10


# Waiting for those in flight


def test_a_call_goes_on_where_those_in_flight_turn_out_cheap() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1), max_tokens=4)
        first = await ledger.promise(REQUEST)
        second = asyncio.create_task(ledger.promise(REQUEST))
        await clock.let_tasks_settle()
        assert not second.done()
        await ledger.settle(first, make_completion(0))
        assert await second == first == 1
        assert ledger.budget.stopped_at is None

    clock.run_coroutine(main())


def test_a_call_is_refused_where_those_in_flight_were_as_dear_as_they_could_be() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1), max_tokens=2)
        first, second = await ledger.promise(REQUEST), await ledger.promise(REQUEST)
        third = asyncio.create_task(expect_refusal(ledger))
        await ledger.settle(first, make_completion(2))
        await clock.let_tasks_settle()
        assert not third.done()
        await ledger.settle(second, make_completion(2))
        assert (await third).cause == "budget"
        assert (ledger.budget.spent, ledger.budget.stopped_at) == (1, 1)

    clock.run_coroutine(main())


def test_all_that_wait_are_refused_together() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1), max_tokens=4)
        first = await ledger.promise(REQUEST)
        waiting = [asyncio.create_task(expect_refusal(ledger)) for _ in range(20)]
        await clock.let_tasks_settle()
        await ledger.settle(first, make_completion(1))
        assert {error.cause for error in await asyncio.gather(*waiting)} == {"budget"}

    clock.run_coroutine(main())


def test_one_that_waits_is_cancelled_and_promises_nothing() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1), max_tokens=4)
        first = await ledger.promise(REQUEST)
        waiting = asyncio.create_task(ledger.promise(REQUEST))
        await clock.let_tasks_settle()
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        await ledger.settle(first, None)
        assert await ledger.promise(REQUEST) == 1

    clock.run_coroutine(main())


@each_case("steps", range(6))
def test_a_call_that_is_cancelled_while_it_settles_gives_its_promise_back(steps: int) -> None:
    """Two calls end at the same moment, several wait for them, and the time of one entry is up."""

    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1), max_tokens=2)
        over = asyncio.Event()

        async def make_call(promised: float) -> None:
            try:
                await over.wait()
            finally:
                await ledger.settle(promised, make_completion(2))

        ending = [asyncio.create_task(make_call(await ledger.promise(REQUEST))) for _ in range(2)]
        waiting = [asyncio.create_task(expect_refusal(ledger)) for _ in range(4)]
        await clock.let_tasks_settle()
        over.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        ending[1].cancel()
        await asyncio.wait(ending)
        assert {error.cause for error in await asyncio.gather(*waiting)} == {"budget"}

    clock.run_coroutine(main())


# Refusals


def test_once_refused_all_later_ones_are() -> None:
    """What is left would do for a smaller one; but a run that goes on with the small ones is another run."""

    async def main() -> None:
        ledger = Ledger(Price(250_000, 0), budget=Budget(25))
        assert (await expect_refusal(ledger, make_request("x" * 1000))).cause == "budget"
        assert ledger.budget.stopped_at == 0
        error = await expect_refusal(ledger)
        assert (error.cause, error.reason) == (
            "budget",
            "$0.0000 are spent, and another call could exceed the limit of $25",
        )

    clock.run_coroutine(main())


def test_what_was_spent_when_the_limit_was_reached_is_kept() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1), max_tokens=3)
        await ledger.settle(await ledger.promise(REQUEST), make_completion(2))
        assert (await expect_refusal(ledger)).reason.startswith("$0.5000 are spent")
        assert ledger.budget.stopped_at == 0.5

    clock.run_coroutine(main())


@each_case(
    ("price", "limit"),
    [(None, 0.0), (price_output(1), None), (Price(), 0.0), (Price(1e6, 0), None), (Price(0, 0), 0.0)],
    ids=["no price", "no limit", "a price that is not told", "no limit for large ones", "free of charge"],
)
def test_without_a_price_or_a_limit_nothing_is_refused(price: Price | None, limit: float | None) -> None:
    async def main() -> None:
        ledger = Ledger(price, budget=Budget(limit))
        for _ in range(20):
            promised = await ledger.promise(make_request("x" * 10_000))
            assert promised == 0
            await ledger.settle(promised, make_completion(100, 100))
        assert ledger.budget.stopped_at is None

    clock.run_coroutine(main())


def test_no_money_is_no_call() -> None:
    async def main() -> None:
        assert (await expect_refusal(Ledger(price_output(0.1), budget=Budget(0.0)))).cause == "budget"

    clock.run_coroutine(main())


# What is booked


def test_a_failure_costs_nothing() -> None:
    """And the promise is given back: all of the limit is there for the next."""

    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(1.25), max_tokens=5)
        for _ in range(10):
            await ledger.settle(await ledger.promise(REQUEST), None)
        assert ledger.budget.spent == 0
        assert await ledger.promise(REQUEST) == 1.25

    clock.run_coroutine(main())


def test_only_the_promise_of_the_call_that_has_ended_is_given_back() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(10), max_tokens=1)
        promised = [await ledger.promise(REQUEST) for _ in range(3)]
        assert (ledger.budget.promised, ledger.budget.in_flight) == (0.75, 3)
        await ledger.settle(promised[0], None)
        assert (ledger.budget.promised, ledger.budget.in_flight) == (0.5, 2)

    clock.run_coroutine(main())


def test_with_nothing_in_flight_nothing_is_promised() -> None:
    """Three times a tenth less three times a tenth is no zero in binary numbers."""

    async def main() -> None:
        ledger = Ledger(price_output(0.1), budget=Budget(1), max_tokens=1)
        for promised in [await ledger.promise(REQUEST) for _ in range(3)]:
            await ledger.settle(promised, None)
        assert (ledger.budget.promised, ledger.budget.in_flight) == (0, 0)

    clock.run_coroutine(main())


def test_a_promise_takes_the_dearest_rate_of_a_token() -> None:
    """All of the input may be written to a cache, and all of the output be reasoning."""

    async def main() -> None:
        price = Price(1e6, 1e6, cached=0, cache_write=2e6, reasoning=3e6)
        ledger = Ledger(price, budget=Budget(1e6), max_tokens=5)
        assert await ledger.promise(REQUEST) == 2 * INPUT + 3 * 5
        plain = Ledger(Price(1e6, 1e6, cached=0), budget=Budget(1e6), max_tokens=5)
        assert await plain.promise(REQUEST) == INPUT + 5

    clock.run_coroutine(main())


def test_cached_tokens_are_booked_at_their_own_rate() -> None:
    ledger = Ledger(Price(1e6, 0, cached=0.25e6))
    assert ledger.cost(Completion(input_tokens=10, output_tokens=1, cached_tokens=8)) == 4.0


@pytest.mark.parametrize(
    "completion", [Completion(), Completion(input_tokens=5), Completion(output_tokens=5)]
)
def test_an_answer_that_does_not_say_what_it_took_costs_what_was_promised(completion: Completion) -> None:
    """Else an endpoint without usage could be asked for ever."""

    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(2.5), max_tokens=5)
        for _ in range(2):
            await ledger.settle(await ledger.promise(REQUEST), completion)
        assert ledger.budget.spent == 2.5
        assert (await expect_refusal(ledger)).cause == "budget"

    clock.run_coroutine(main())


def test_costs_are_booked_without_a_limit_too() -> None:
    async def main() -> None:
        ledger = Ledger(Price(250_000, 500_000))
        await ledger.settle(await ledger.promise(REQUEST), make_completion(3, 2))
        assert ledger.budget.spent == 2

    clock.run_coroutine(main())


def test_cost_of_a_completion() -> None:
    assert Ledger(Price(250_000, 500_000)).cost(make_completion(3, 2)) == 2
    assert Ledger().cost(make_completion(3, 2)) is None
    assert Ledger(Price(hour=3600)).cost(Completion(latency_s=8)) == 8
    assert Ledger(Price(hour=3600), 4).cost(Completion(latency_s=8)) == 2


def test_a_call_may_cost_what_the_longest_answer_did() -> None:
    """Where an answer was longer than the limit of tokens says, the next may be so too."""

    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(100), max_tokens=4)
        promised = await ledger.promise(REQUEST)
        await ledger.settle(promised, make_completion(40))
        assert (promised, await ledger.promise(REQUEST)) == (1, 10)

    clock.run_coroutine(main())


def test_one_that_waits_reckons_with_the_longest_answer() -> None:
    async def main() -> None:
        ledger = Ledger(price_output(0.25), budget=Budget(4), max_tokens=8)
        first, second = await ledger.promise(REQUEST), await ledger.promise(REQUEST)
        third = asyncio.create_task(expect_refusal(ledger))
        await ledger.settle(first, make_completion(9))
        await ledger.settle(second, make_completion(0))
        assert (await third).cause == "budget"
        assert ledger.budget.spent == 2.25

    clock.run_coroutine(main())


def test_a_server_is_paid_by_its_time() -> None:
    async def main() -> None:
        ledger = Ledger(Price(hour=3600), 4, budget=Budget(100))
        promised = await ledger.promise(REQUEST)
        await ledger.settle(promised, Completion(latency_s=80))
        assert (promised, ledger.budget.spent) == (15, 20)
        assert await ledger.promise(REQUEST) == 20

    clock.run_coroutine(main())


def test_an_answer_without_a_limit_of_tokens_has_some_length() -> None:
    async def main() -> None:
        assert await Ledger(price_output(0.25), budget=Budget(1000)).promise(REQUEST) == 256

    clock.run_coroutine(main())


# Tokens of a request

texts = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=50)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)


@given(messages=st.lists(objects, max_size=3), tools=st.lists(objects, max_size=3))
@settings(max_examples=50)
def test_every_request_has_tokens(messages: list[dict[str, object]], tools: list[dict[str, object]]) -> None:
    request = AskModel(tuple(messages), tuple(tools))
    bound, likely = estimated_tokens(request, SAFE), estimated_tokens(request, TYPICAL)
    assert 1 <= likely <= bound
    assert estimated_tokens(AskModel(request.messages), SAFE) <= bound
    assert estimated_tokens(AskModel((), request.tools), SAFE) <= bound


def test_nothing_at_all_has_tokens_too() -> None:
    assert estimated_tokens(AskModel(()), 10_000) == 1


def test_tools_count_as_tokens_of_the_request() -> None:
    tools = ({"type": "function", "function": {"description": "d" * 4000}},)
    assert estimated_tokens(AskModel(REQUEST.messages, tools), SAFE) >= INPUT + 1000


@each_case(("letter", "size"), [("a", 1), ("ä", 2), ("語", 3), ("🂡", 4)])
def test_letters_count_by_their_bytes(letter: str, size: int) -> None:
    """A tokenizer breaks rare letters into bytes; their number as ``\\u`` escapes would be another."""
    more = estimated_tokens(make_request(letter * 4000), SAFE) - estimated_tokens(make_request(""), SAFE)
    assert more == 1000 * size


def test_lone_surrogates_and_frozen_mappings_count() -> None:
    assert estimated_tokens(make_request("\ud800" * 4000), SAFE) >= 1000
    frozen = AskModel((MappingProxyType({"content": MappingProxyType({"text": "a" * 4000})}),))
    assert estimated_tokens(frozen, SAFE) >= 1000


def test_a_request_in_the_form_of_a_family_is_as_long_as_that_form() -> None:
    plain = AskModel(({"role": "user", "content": "hi"},))
    written = replace(plain, wire=WireRequest(Api.COMPLETIONS, {"prompt": "word " * 1000}))
    assert estimated_tokens(plain, SAFE) < 100
    assert estimated_tokens(written, SAFE) > 1000


ROUNDING = 1e-6

arrivals = st.lists(st.just(0.0) | st.floats(0, 0.5) | st.floats(0, 100), min_size=1, max_size=150).map(
    lambda gaps: list(accumulate(gaps))
)
"""Times at which somebody comes: bursts, a stream, long pauses."""


def starts_of(pace: Pace, times: list[float]) -> list[float]:
    return [time + pace.reserve(time) for time in times]


def in_order(starts: list[float]) -> bool:
    return all(earlier <= later + ROUNDING for earlier, later in pairwise(starts))


def most_in_a_minute(starts: list[float], amounts: list[float]) -> float:
    """Return the highest sum of the amounts that start within any 60 s, the last moment excluded."""
    return max(
        sum(a for s, a in zip(starts, amounts, strict=True) if first <= s < first + 60 - ROUNDING)
        for first in starts
    )


@given(times=arrivals, rate=st.integers(1, 200))
@example(times=[0.0] * 100, rate=7)
@example(times=[0.0] * 100 + [1e9] * 100, rate=60)
def test_no_minute_holds_more_starts_than_the_rate(times: list[float], rate: int) -> None:
    starts = starts_of(Pace(rate), times)
    assert in_order(starts)
    assert all(start >= time for start, time in zip(starts, times, strict=True))
    assert most_in_a_minute(starts, [1.0] * len(starts)) <= rate


@given(times=arrivals, rate=st.floats(0.05, 100))
def test_a_rate_that_is_no_whole_number(times: list[float], rate: float) -> None:
    starts = starts_of(Pace(rate), times)
    assert in_order(starts)
    assert most_in_a_minute(starts, [1.0] * len(starts)) <= ceil(rate)


@given(times=arrivals, rate=st.integers(1, 500), data=st.data())
def test_no_minute_holds_more_tokens_than_the_rate_and_one_call(
    times: list[float], rate: int, data: st.DataObject
) -> None:
    """A call that is larger than the rate has to start at some time."""
    sizes = st.lists(st.integers(0, 2000), min_size=len(times), max_size=len(times))
    amounts = [float(size) for size in data.draw(sizes)]
    pace = Pace(rate)
    starts = [time + pace.reserve(time, amount) for time, amount in zip(times, amounts, strict=True)]
    assert in_order(starts)
    assert most_in_a_minute(starts, amounts) <= rate + max(amounts) + ROUNDING


@pytest.mark.parametrize("time", [0.0, 5.0, 1e6])
def test_the_whole_rate_is_used_while_many_wait(time: float) -> None:
    """A limit that is far lower than it was set to be would be as wrong as one that is passed."""
    assert starts_of(Pace(60), [time] * 150) == pytest.approx([time + place for place in range(150)])


@given(times=arrivals, amount=st.floats(0, 1e9))
def test_no_rate_is_no_wait(times: list[float], amount: float) -> None:
    pace = Pace(None)
    for time in times:
        assert pace.reserve(time, amount) == 0
        pace.correct(amount)


def test_nothing_is_saved_up_in_a_pause() -> None:
    pace = Pace(60)
    pace.reserve(0.0)
    assert starts_of(pace, [500.0] * 3) == pytest.approx([500.0, 501.0, 502.0])


def test_what_was_not_needed_is_given_back() -> None:
    pace = Pace(60)
    assert pace.reserve(10.0, 30) == 0
    pace.correct(-20)
    assert pace.reserve(10.0) == pytest.approx(10)


def test_what_was_needed_beyond_is_taken() -> None:
    pace = Pace(60)
    pace.reserve(10.0, 30)
    pace.correct(20)
    assert pace.reserve(10.0) == pytest.approx(50)


def test_giving_back_more_than_was_taken_saves_nothing_up() -> None:
    pace = Pace(60)
    pace.reserve(10.0, 5)
    pace.correct(-1000)
    assert starts_of(pace, [10.0] * 3) == pytest.approx([10.0, 11.0, 12.0])


@given(rate=st.integers(1, 1000), amounts=st.lists(st.tuples(st.integers(0, 999), st.integers(-999, 999))))
def test_corrected_amounts_count_as_if_they_had_been_reserved(
    rate: int, amounts: list[tuple[int, int]]
) -> None:
    told, corrected = Pace(rate), Pace(rate)
    for amount, more in amounts:
        told.reserve(50.0, amount + max(-amount, more))
        corrected.reserve(50.0, amount)
        corrected.correct(max(-amount, more))
    assert corrected.reserve(50.0) == pytest.approx(told.reserve(50.0), abs=ROUNDING)


def test_a_turn_is_the_wait_for_the_next_place_and_takes_none() -> None:
    pace = Pace(60)
    assert pace.turn(10.0) == 0
    pace.reserve(10.0, 30)
    assert [pace.turn(10.0), pace.turn(25.0), pace.turn(40.0), pace.turn(500.0)] == pytest.approx(
        [30, 15, 0, 0]
    )
    assert pace.reserve(25.0) == pytest.approx(15)


# After a failure


@given(attempt=st.integers(1, 10_000), seed=st.integers())
def test_waits_double_up_to_thirty_seconds_with_a_half_left_to_chance(attempt: int, seed: int) -> None:
    full = min(0.5 * 2.0 ** min(attempt - 1, 100), 30.0)
    # Some gateways ask for a pause of no time, which says nothing: all tries would be over at once.
    for asked in (None, 0.0):
        assert full / 2 <= backoff(attempt, asked, Random(seed)) <= full


def test_waits_grow() -> None:
    """Each is longer than the shortest that came before it could have been, whatever chance says."""
    waits = [[backoff(attempt, None, Random(seed)) for seed in range(50)] for attempt in range(1, 12)]
    means = [sum(w) / len(w) for w in waits]
    assert means == sorted(means)
    assert all(max(earlier) <= min(waits[i + 2]) for i, earlier in enumerate(waits[:5]))


def test_not_all_come_back_at_once() -> None:
    random = Random(1)
    assert len({backoff(3, None, random) for _ in range(100)}) == 100
    assert len({backoff(3, 10.0, random) for _ in range(100)}) == 100


@given(attempt=st.integers(1, 100), asked=st.floats(0, 1e6, exclude_min=True), seed=st.integers())
def test_nobody_comes_earlier_than_was_asked_nor_much_later(attempt: int, asked: float, seed: int) -> None:
    """What the endpoint says counts, however often it was tried, also beyond thirty seconds."""
    assert asked <= backoff(attempt, asked, Random(seed)) <= asked * 1.1 + ROUNDING


def nest_lists(depth: int) -> list[object]:
    nested: list[object] = []
    for _ in range(depth):
        nested = [nested]
    return nested


LONG = {
    "text": Completion(text="x" * 11),
    "reasoning": Completion(text="x", reasoning="y" * 10),
    "refusal": Completion(refusal="x" * 11),
    "arguments": Completion(tool_calls=(ToolCall("f", "x" * 10),)),
    "name": Completion(tool_calls=(ToolCall("f" * 11, "{}"),)),
    "object": Completion(tool_calls=(ToolCall("f", {"a": ["x" * 5, 1, None], "bb": 1}),)),
    "many calls": Completion(tool_calls=(ToolCall("f", ""),) * 6),
    "depth": Completion(tool_calls=(ToolCall("f", nest_lists(100_000)),)),
}


@each_case("case", LONG)
def test_an_answer_beyond_the_limit_is_a_fault(case: str) -> None:
    bounded = bound_answer(LONG[case], 10)
    assert bounded.fault is Fault.TOO_LARGE
    assert (bounded.tool_calls, bounded.reasoning, bounded.refusal) == (None, None, None)
    assert "and at most 10 are read" in (bounded.text or "")


@each_case("case", [name for name in LONG if name != "depth"])
def test_an_answer_within_the_limit_stays(case: str) -> None:
    completion = LONG[case]
    assert bound_answer(completion, measure_answer(completion)) is completion


def test_what_is_known_about_a_long_answer_and_its_beginning_are_kept() -> None:
    completion = Completion(
        text="Hello" * 1000,
        input_tokens=3,
        output_tokens=4,
        latency_s=1.5,
        ending=Ending.CUT,
        message={"a": 1},
    )
    bounded = bound_answer(completion, 4_999)
    assert bounded.text is not None
    assert bounded.text.startswith(
        "the answer has 5,000 characters, and at most 4,999 are read; it begins 'Hello"
    )
    assert len(bounded.text) < 300
    assert (bounded.input_tokens, bounded.output_tokens, bounded.latency_s) == (3, 4, 1.5)
    assert (bounded.ending, bounded.message) == (Ending.CUT, None)


@each_case(
    ("value", "length"),
    [("", 0), ({}, 0), ([], 0), ([[]], 1), ({"ab": "c"}, 4), (None, 0), (7, 1), (True, 1)],
)
def test_arguments_are_measured_by_characters_and_members(value: object, length: int) -> None:
    assert measure_answer(Completion(tool_calls=(ToolCall("", value),))) == 1 + length
