"""A model within limits: when its calls start, which are made again, and the one before all others.

All on loops whose time is made up, so times are exact and no test waits.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.limits import SAFE, Budget, Ledger, estimated_tokens
from pytest_fcbench.dispatch.pipeline import Limits, Payment, Pipeline, build_pipeline
from pytest_fcbench.dispatch.stored_answers import StoredAnswers
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from tests.cases import each_case
from tests.dispatch import clock
from tests.dispatch.pipelines import LimitedModel
from tests.factories import make_entry

_T = TypeVar("_T")

REQUEST = AskModel(({"role": "user", "content": "hi"},))
ANSWER = Completion(text="fine", input_tokens=0, output_tokens=0)
NEVER = 1e9
"""Seconds that a call takes which hangs."""

Outcome = Completion | BaseException


@dataclass
class FakeModel:
    """Its first calls end as the script says, all others with an answer. Remembers when each began."""

    script: list[Outcome] = field(default_factory=list)
    takes: list[float] = field(default_factory=list)
    """Seconds that the first calls take; all others take ``pace_s``."""
    pace_s: float = 0.0
    immediate: bool = False
    notes: tuple[str, ...] = ("a note",)
    starts: list[float] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    requests: list[AskModel] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.starts.append(clock.read_clock())
        self.asked.append(entry.id)
        self.requests.append(request)
        outcome = self.script.pop(0) if self.script else ANSWER
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.takes.pop(0) if self.takes else self.pace_s)
        finally:
            self.in_flight -= 1
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store:
        yield store


def make_failure(
    cause: str = "endpoint", *, transient: bool = True, retry_after_s: float | None = None
) -> CallError:
    return CallError(cause, f"it said {cause}", transient=transient, retry_after_s=retry_after_s)


def make_429(retry_after_s: float | None) -> CallError:
    """Make a 429."""
    return make_failure("rate_limit", retry_after_s=retry_after_s)


def make_lasting_failure(cause: str) -> CallError:
    return make_failure(cause, transient=False)


def make_numbered_entry(number: int = 0) -> Entry:
    return make_entry(entry_id=f"simple_python_{number}")


async def ask_model(model: Pipeline, number: int = 0, request: AskModel = REQUEST) -> Completion:
    return await model.complete(make_numbered_entry(number), request)


async def ask_many(
    model: LimitedModel, count: int, requests: list[AskModel] | None = None
) -> list[Completion | BaseException]:
    """All at once."""
    asked = requests or [REQUEST] * count
    return await asyncio.gather(
        *(ask_model(model, number, request) for number, request in enumerate(asked)), return_exceptions=True
    )


async def ask_many_from(model: LimitedModel, number: int) -> list[Completion | BaseException]:
    """One entry, its failure as a value."""
    return list(await asyncio.gather(ask_model(model, number), return_exceptions=True))


async def expect_failure(awaitable: Awaitable[object]) -> NotScoredError:
    with pytest.raises(NotScoredError) as caught:
        await awaitable
    return caught.value


def list_causes(outcomes: list[Completion | BaseException]) -> list[str | None]:
    return [outcome.cause if isinstance(outcome, NotScoredError) else None for outcome in outcomes]


def running(main: Callable[[], Coroutine[object, object, _T]]) -> _T:
    return clock.run_coroutine(main())


def most_in_a_minute(starts: list[float]) -> int:
    return max(sum(first <= start < first + 60 - 1e-6 for start in starts) for first in starts)


# Retries


@pytest.mark.parametrize("times", [1, 3])
def test_what_may_pass_is_tried_again(times: int) -> None:
    fake = FakeModel([make_failure() for _ in range(times)])
    model = LimitedModel(fake, Limits(retries=3))
    assert clock.run_coroutine(ask_model(model)) == ANSWER
    assert (model.calls, model.retried) == (times + 1, times)
    assert model.notes == ("a note", f"{times} of {times + 1} calls were retries")


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_the_last_failure_is_raised_as_it_is(retries: int) -> None:
    errors = [make_failure(f"cause_{number}") for number in range(10)]
    model = LimitedModel(FakeModel(list(errors)), Limits(retries=retries))
    assert clock.run_coroutine(expect_failure(ask_model(model))) is errors[retries]
    assert (model.calls, model.retried) == (retries + 1, retries)


def test_what_the_server_did_wrong_in_a_failed_try_is_noted_on_the_answer() -> None:
    script: list[Outcome] = [
        make_failure("cut_stream"),
        make_failure("rate_limit"),
        make_failure("cut_stream"),
    ]
    model = LimitedModel(FakeModel([*script, Completion(protocol=("stream_index",))]), Limits())
    assert clock.run_coroutine(ask_model(model)).protocol == ("stream_index", "cut_stream")
    assert clock.run_coroutine(ask_model(LimitedModel(FakeModel([make_failure()]), Limits()))).protocol == ()


@each_case(
    "error",
    [
        make_lasting_failure("bad_request"),
        make_lasting_failure("authentication"),
        NotScoredError("offline", "no"),
        ValueError("no"),
    ],
    ids=["bad request", "authentication", "not a call", "a bug"],
)
def test_what_will_not_pass_is_not_tried_again(error: Exception) -> None:
    fake = FakeModel([error])
    model = LimitedModel(fake)
    (outcome,) = clock.run_coroutine(ask_many(model, 1))
    assert outcome is error
    assert (model.calls, model.retried, model.notes) == (1, 0, ("a note",))


def test_each_call_has_retries_of_its_own() -> None:
    fake = FakeModel([make_failure() for _ in range(20)])
    model = LimitedModel(fake, Limits(retries=1))
    assert list_causes(clock.run_coroutine(ask_many(model, 10))) == ["endpoint"] * 10
    assert (model.calls, model.retried) == (20, 10)
    assert model.refusal is None


def test_an_endpoint_that_is_down_is_not_tried_again_and_again() -> None:
    """One call with all its tries tells; the next are made once, until one works."""
    fake = FakeModel([make_failure() for _ in range(3 + 5)])
    model = LimitedModel(fake, Limits(retries=2))

    async def main() -> list[Completion | BaseException]:
        return [outcome for number in range(8) for outcome in await ask_many_from(model, number)]

    outcomes = clock.run_coroutine(main())
    assert list_causes(outcomes) == ["endpoint"] * 6 + [None] * 2
    assert fake.asked == [make_numbered_entry(0).id] * 3 + [
        make_numbered_entry(number).id for number in range(1, 8)
    ]
    fake.script = [make_failure()]
    assert clock.run_coroutine(ask_model(model)) == ANSWER, "it is up again, so a failure is tried again"


def test_calls_that_wait_to_be_repeated_are_told_of() -> None:
    model = LimitedModel(FakeModel([make_429(60), make_429(90), make_failure()]), Limits(retries=4))

    async def main() -> list[str | None]:
        told = [model.trouble]
        asking = asyncio.gather(*(ask_model(model, number) for number in range(3)))
        await asyncio.sleep(0.01)
        told.append(model.trouble)
        await asking
        return [*told, model.trouble]

    before, meanwhile, after = clock.run_coroutine(main())
    assert (before, after) == (None, None)
    assert meanwhile is not None
    assert re.fullmatch(
        r"3 calls wait to be repeated \(rate_limit, endpoint, 1 of 5 tries, next in [01] s\)", meanwhile
    )


def test_the_first_call_that_goes_on_tells_how_long_all_wait() -> None:
    model = LimitedModel(FakeModel([make_failure(retry_after_s=50), make_failure(retry_after_s=20)]))

    async def main() -> str | None:
        asking = asyncio.gather(*(ask_model(model, number) for number in range(2)))
        await asyncio.sleep(0.01)
        told = model.trouble
        await asking
        return told

    told = running(main)
    assert told is not None
    # A tenth is added at most.
    assert re.fullmatch(
        r"2 calls wait to be repeated \(endpoint, 1 of 9 tries, next in (19|2[0-2]) s\)", told
    )


def test_one_call_that_waits_is_told_of_with_the_tries_of_the_most_unlucky() -> None:
    fake = FakeModel([make_failure(), make_failure(), make_failure()])
    model = LimitedModel(fake, Limits(retries=4))

    async def main() -> tuple[str | None, str | None]:
        unlucky = asyncio.create_task(ask_model(model))
        # Its first wait is half a second at most, its second one half a second at least.
        await asyncio.sleep(0.501)
        alone = model.trouble
        other = asyncio.create_task(ask_model(model, 1))
        await asyncio.sleep(0.01)
        both = model.trouble
        await asyncio.gather(unlucky, other)
        return alone, both

    alone, both = clock.run_coroutine(main())
    assert alone is not None
    assert alone.startswith("1 call waits to be repeated (endpoint, 2 of 5 tries, next in ")
    assert both is not None
    assert both.startswith("2 calls wait to be repeated (endpoint, 2 of 5 tries, next in ")


def test_an_endpoint_that_is_down_is_told_of_until_it_works() -> None:
    model = LimitedModel(FakeModel([make_failure(), make_failure()]), Limits(retries=1))

    async def main() -> str | None:
        await expect_failure(ask_model(model))
        return model.trouble

    assert clock.run_coroutine(main()) == "the endpoint does not answer"
    clock.run_coroutine(ask_model(model))
    assert model.trouble is None


def test_one_that_fails_while_others_work_says_nothing_of_the_endpoint() -> None:
    fake = FakeModel([make_failure(), ANSWER, make_failure(), make_failure(), ANSWER])
    model = LimitedModel(fake, Limits(retries=1))

    async def main() -> Completion:
        first = asyncio.create_task(expect_failure(ask_model(model)))
        await asyncio.sleep(0.01)
        await ask_model(model, 1)
        await first
        return await ask_model(model, 2)

    assert clock.run_coroutine(main()) == ANSWER, "tried again after a failure"
    assert fake.asked == [make_numbered_entry(number).id for number in (0, 1, 0, 2, 2)]


def test_each_answer_is_a_sign_of_life() -> None:
    """Also where there have been others before a call fails for good."""
    fake = FakeModel([ANSWER, make_failure(), ANSWER, make_failure(), make_failure(), ANSWER])
    model = LimitedModel(fake, Limits(retries=1))

    async def main() -> Completion:
        await ask_model(model, 0)
        failing = asyncio.create_task(expect_failure(ask_model(model, 1)))
        await asyncio.sleep(0.01)
        await ask_model(model, 2)
        await failing
        return await ask_model(model, 3)

    assert running(main) == ANSWER, "tried again after a failure"
    assert fake.asked == [make_numbered_entry(number).id for number in (0, 1, 2, 1, 3, 3)]


def test_a_refusal_is_a_sign_of_life() -> None:
    fake = FakeModel([make_failure(), make_failure(), make_lasting_failure("bad_request"), make_failure()])
    model = LimitedModel(fake, Limits(retries=1))

    async def main() -> list[Completion | BaseException]:
        return [outcome for number in range(3) for outcome in await ask_many_from(model, number)]

    assert list_causes(clock.run_coroutine(main())) == ["endpoint", "bad_request", None]


def test_waits_between_tries_grow() -> None:
    fake = FakeModel([make_failure() for _ in range(6)])
    clock.run_coroutine(ask_model(LimitedModel(fake, Limits(retries=6))))
    waits = [later - earlier for earlier, later in pairwise(fake.starts)]
    for attempt, wait in enumerate(waits):
        assert 0.25 * 2**attempt - 1e-6 <= wait <= 0.5 * 2**attempt + 1e-6


def test_each_try_asks_the_same() -> None:
    fake = FakeModel([make_failure()])
    clock.run_coroutine(ask_model(LimitedModel(fake)))
    assert fake.requests == [REQUEST, REQUEST]


def test_nothing_was_tried_again_so_nothing_is_noted() -> None:
    model = LimitedModel(FakeModel())
    clock.run_coroutine(ask_model(model))
    assert (model.calls, model.retried, model.notes) == (1, 0, ("a note",))
    assert model.immediate is False


def test_only_calls_that_were_made_again_count_as_such() -> None:
    """The first fails; while it waits, the other spends the money, so that it is never asked again."""
    fake = FakeModel([make_failure()])

    async def main() -> LimitedModel:
        ledger = Ledger(Price(0, 250_000), budget=Budget(1), max_tokens=4)
        model = LimitedModel(fake, ledger=ledger)
        first = asyncio.create_task(expect_failure(ask_model(model, 0)))
        await clock.let_tasks_settle()
        fake.script = [Completion(input_tokens=0, output_tokens=4)]
        await ask_model(model, 1)
        assert (await first).cause == "budget"
        return model

    model = running(main)
    assert (model.calls, model.retried) == (2, 0)


# The longest wait for an answer


def test_a_call_that_hangs_is_tried_again() -> None:
    fake = FakeModel(takes=[NEVER])
    model = LimitedModel(fake, Limits(retries=2, timeout_s=5))
    assert clock.run_coroutine(ask_model(model)) == ANSWER
    assert (model.calls, model.retried, fake.in_flight) == (2, 1, 0)


def test_a_call_that_was_given_up_is_told_of_and_counts_for_the_budget() -> None:
    """An endpoint works on, and charges for an answer that nobody waits for."""
    budget = Budget(max_usd=10.0)
    ledger = Ledger(Price(input=0, output=1e6), budget=budget, max_tokens=2)
    model = LimitedModel(FakeModel([make_failure()], takes=[0, NEVER]), Limits(timeout_s=5), ledger)
    assert clock.run_coroutine(ask_model(model)) == ANSWER
    assert (model.calls, model.given_up) == (3, 1), "a failure is an answer that costs nothing"
    note = "1 of 3 calls were not answered in time; what the endpoint charges for them is in no cost"
    assert note in model.notes
    assert budget.spent == 2.0


def test_a_call_may_run_into_its_time_limit_three_times() -> None:
    """Eight more tries of ten minutes each would hold up a run for more than an hour."""
    fake = FakeModel([make_failure("rate_limit")], takes=[0, NEVER, NEVER, NEVER])
    model = LimitedModel(fake, Limits(retries=8, timeout_s=5))
    error = clock.run_coroutine(expect_failure(ask_model(model)))
    assert (error.cause, model.calls) == ("timeout", 4)


def test_a_call_that_always_hangs_is_a_timeout() -> None:
    model = LimitedModel(FakeModel(pace_s=NEVER), Limits(retries=1, timeout_s=2.5))
    error = clock.run_coroutine(expect_failure(ask_model(model)))
    assert isinstance(error, CallError)
    assert (error.cause, error.reason, error.transient) == ("timeout", "no answer within 2.5 s", True)
    assert model.calls == 2


def test_waiting_for_a_turn_is_no_part_of_the_time_for_an_answer() -> None:
    fake = FakeModel(pace_s=1)
    model = LimitedModel(fake, Limits(rpm=1, timeout_s=2, retries=0))
    assert clock.run_coroutine(ask_many(model, 3)) == [ANSWER] * 3
    assert fake.starts == pytest.approx([0, 60, 120])


def test_a_timeout_of_the_model_is_not_told_as_ours() -> None:
    model = LimitedModel(FakeModel([TimeoutError("read timed out")]), Limits(retries=0))
    (outcome,) = clock.run_coroutine(ask_many(model, 1))
    assert "600 s" not in str(outcome)


def test_a_limit_of_time_around_it_is_not_taken_for_its_own() -> None:
    """The time of an entry is up: that is nothing to try again."""

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await ask_model(model)

    model = LimitedModel(FakeModel(pace_s=NEVER), Limits(timeout_s=100))
    running(main)
    assert (model.calls, model.retried) == (1, 0)


# What the endpoint asks all calls to do


def test_after_retry_after_nobody_starts_before_it_is_over() -> None:
    fake = FakeModel([make_429(30)], pace_s=0.125)

    async def main() -> None:
        model = LimitedModel(fake)
        first = asyncio.create_task(ask_model(model))
        await asyncio.sleep(1)
        others = [asyncio.create_task(ask_model(model, number)) for number in range(1, 4)]
        await asyncio.sleep(20)
        others += [asyncio.create_task(ask_model(model, number)) for number in range(4, 8)]
        await asyncio.gather(first, *others)

    running(main)
    assert fake.starts[0] == 0
    assert len(fake.starts) == 9
    assert min(fake.starts[1:]) == 30.125


def test_those_who_wait_for_their_turn_are_held_too() -> None:
    fake = FakeModel([make_429(30)], pace_s=0.125)
    clock.run_coroutine(ask_many(LimitedModel(fake, Limits(rpm=60)), 5))
    assert min(fake.starts[1:]) == 30.125


def test_the_longest_of_several_requests_to_wait_counts() -> None:
    fake = FakeModel([make_429(50), make_429(1)], takes=[0.1, 0.2])

    async def main() -> None:
        model = LimitedModel(fake)
        first = [asyncio.create_task(ask_model(model, number)) for number in range(2)]
        await asyncio.sleep(1)
        await asyncio.gather(*first, ask_model(model, 2))

    running(main)
    assert fake.starts[:2] == [0, 0]
    assert min(fake.starts[2:]) >= 50.1 - 1e-6


def test_it_is_held_again_when_the_endpoint_says_so_again() -> None:
    """Those that were held wake up, and find that the first of them has brought another 429."""
    fake = FakeModel([make_429(10), make_429(50)])

    async def main() -> None:
        model = LimitedModel(fake)
        first = asyncio.create_task(ask_model(model))
        await asyncio.sleep(1)
        second = asyncio.create_task(ask_model(model, 1))
        await asyncio.sleep(10)
        await asyncio.gather(first, second, ask_model(model, 2))

    running(main)
    assert fake.starts[:2] == pytest.approx([0, 10])
    assert min(fake.starts[2:]) >= 60 - 1e-6


@pytest.mark.parametrize("error", [make_429(None), make_failure(retry_after_s=500)], ids=["no time", "503"])
def test_other_failures_hold_only_their_own_call(error: CallError) -> None:
    fake = FakeModel([error])

    async def main() -> None:
        model = LimitedModel(fake)
        first = asyncio.create_task(ask_model(model))
        await clock.let_tasks_settle()
        await ask_model(model, 1)
        assert clock.read_clock() == 0
        await first

    running(main)


@pytest.mark.parametrize("asked_s", [61, 999_999_999])
def test_a_longer_pause_than_allowed_holds_nobody_else(asked_s: float) -> None:
    fake = FakeModel([make_429(asked_s), *[ANSWER] * 3, make_429(asked_s)])

    async def main() -> None:
        model = LimitedModel(fake)
        first = asyncio.create_task(expect_failure(ask_model(model)))
        await clock.let_tasks_settle()
        for number in range(1, 4):
            await ask_model(model, number)
        assert clock.read_clock() == 0
        assert model.trouble is not None
        error = await first
        assert error.cause == "rate_limit"
        told = f"a pause of {asked_s:,} s was asked for, longer than --fcbench-max-pause=60 allows: "
        assert error.reason.startswith(told)

    running(main)
    assert len(fake.starts) == 5
    assert 60 <= fake.starts[-1] <= 66


def test_an_endpoint_that_asks_for_years_ends_the_run_soon() -> None:
    """As a whole it counts as down, so that no further entry waits for it."""
    fake = FakeModel([make_429(1e9) for _ in range(200)])
    model = LimitedModel(fake, Limits(max_pause_s=10))
    causes = list_causes(clock.run_coroutine(ask_many(model, 50)))
    assert set(causes) == {"rate_limit"}
    assert max(fake.starts) <= 11
    causes = list_causes(clock.run_coroutine(ask_many_from(model, 60)))
    assert causes == ["rate_limit"]


def test_the_longest_pause_that_is_allowed_holds_all_calls() -> None:
    fake = FakeModel([make_429(60)])

    async def main() -> None:
        model = LimitedModel(fake, Limits(max_pause_s=60))
        first = asyncio.create_task(ask_model(model))
        await asyncio.sleep(1)
        await asyncio.gather(first, ask_model(model, 1))

    running(main)
    assert fake.starts[0] == 0
    assert min(fake.starts[1:]) == 60


def test_a_pause_may_be_allowed_to_be_longer() -> None:
    fake = FakeModel([make_429(300)])
    clock.run_coroutine(ask_model(LimitedModel(fake, Limits(max_pause_s=300))))
    assert len(fake.starts) == 2
    assert fake.starts[1] >= 300


def test_a_wait_of_nothing_is_one_of_which_nothing_was_said() -> None:
    """Gateways that send it each time would use all tries up at once."""
    fake = FakeModel([make_429(0), make_429(0)])
    clock.run_coroutine(ask_model(LimitedModel(fake)))
    first, second, third = fake.starts
    assert second - first >= 0.25
    assert third - second >= 0.5


# Rates


@each_case("rpm", [1, 7, 60, 6000])
def test_calls_start_at_even_distances(rpm: float) -> None:
    fake = FakeModel()
    clock.run_coroutine(ask_many(LimitedModel(fake, Limits(rpm=rpm)), 30))
    assert fake.starts == pytest.approx([place * 60 / rpm for place in range(30)])


def test_without_a_rate_all_start_at_once() -> None:
    fake = FakeModel(pace_s=1)
    clock.run_coroutine(ask_many(LimitedModel(fake), 50))
    assert fake.starts == [0] * 50
    assert fake.most == 50


async def _keep_in_flight(model: LimitedModel, concurrency: int, rounds: int) -> None:
    """So many callers, each with one call after the other."""

    async def keep_asking(number: int) -> None:
        for _ in range(rounds):
            await ask_model(model, number)

    await asyncio.gather(*map(keep_asking, range(concurrency)))


def test_calls_that_come_back_together_start_apart() -> None:
    """The first 128 start 5 ms apart and all end after a second."""
    fake = FakeModel(takes=[1 - 0.005 * place for place in range(128)], pace_s=1.0)
    clock.run_coroutine(_keep_in_flight(LimitedModel(fake, Limits(concurrency=128)), 128, 2))
    first, second = fake.starts[:128], fake.starts[128:]
    assert first == pytest.approx([0.005 * place for place in range(128)])
    assert min(later - sooner for sooner, later in pairwise(second)) > 0.001


def test_starts_stay_apart_after_a_single_fast_call() -> None:
    """The mean over many calls counts, not the last one."""
    fake = FakeModel(takes=[1, 0], pace_s=1)

    async def main() -> None:
        model = LimitedModel(fake, Limits(concurrency=10))
        await ask_model(model)
        await ask_model(model, 1)
        await ask_many(model, 3)

    running(main)
    assert fake.starts[2:] == pytest.approx([fake.starts[2] + 0.005 * place for place in range(3)])


@pytest.mark.nightly
@each_case("takes_s", [0.001, 0.02, 0.2, 5.0])
def test_spreading_starts_holds_no_call_back_for_long(takes_s: float) -> None:
    """However fast an endpoint is: the 64 places are busy all the time."""
    fake = FakeModel(pace_s=takes_s)

    async def timed() -> float:
        await _keep_in_flight(LimitedModel(fake, Limits(concurrency=64)), 64, 100)
        return clock.read_clock()

    assert clock.run_coroutine(timed()) <= 64 * 0.005 + 1.02 * 100 * takes_s


def test_tries_after_a_failure_take_their_turn() -> None:
    fake = FakeModel([make_failure() for _ in range(20)])
    clock.run_coroutine(ask_many(LimitedModel(fake, Limits(rpm=60)), 30))
    assert len(fake.starts) == 50
    assert most_in_a_minute(fake.starts) <= 60


def test_no_minute_holds_more_calls_than_the_rate_after_all_were_held() -> None:
    fake = FakeModel([make_429(30)])
    clock.run_coroutine(ask_many(LimitedModel(fake, Limits(rpm=60)), 100))
    assert most_in_a_minute(fake.starts) <= 60


def make_sized_request(tokens: int) -> AskModel:
    """Make a request of so many tokens, as far as they can be counted before it is sent."""
    return AskModel(({"content": "x" * (4 * (tokens - INPUT))},))


INPUT = estimated_tokens(AskModel(({"content": ""},)), SAFE)


def test_no_minute_holds_more_calls_than_the_rate_after_a_large_one() -> None:
    """Turns come each second; the first request needs the tokens of a minute, the others hardly any."""
    fake = FakeModel()
    requests = [make_sized_request(60_000), *[make_sized_request(100)] * 100]
    clock.run_coroutine(ask_many(LimitedModel(fake, Limits(rpm=60, tpm=60_000)), 0, requests))
    assert most_in_a_minute(fake.starts) <= 60


@given(sizes=st.lists(st.integers(20, 3000), min_size=1, max_size=20))
def test_no_minute_holds_more_tokens_than_the_rate_and_one_request(sizes: list[int]) -> None:
    fake = FakeModel()
    clock.run_coroutine(
        ask_many(LimitedModel(fake, Limits(tpm=2000)), 0, [make_sized_request(size) for size in sizes])
    )
    spent = list(zip(fake.starts, sizes, strict=True))
    for first, _ in spent:
        within = [size for start, size in spent if first <= start < first + 60 - 1e-6]
        assert sum(within) <= 2000 + max(sizes)


@each_case(
    ("completion", "second"),
    [
        (Completion(), 60),
        (Completion(input_tokens=600), 60),
        (Completion(input_tokens=300), 30),
        (Completion(input_tokens=300, output_tokens=900), 120),
        (Completion(output_tokens=600), 120),
        (Completion(input_tokens=0), 60),
    ],
    ids=["unknown", "as told", "fewer", "many in the answer", "unknown before it", "none told"],
)
def test_tokens_that_were_used_count_instead_of_those_that_were_expected(
    completion: Completion, second: float
) -> None:
    fake = FakeModel([completion])

    async def main() -> None:
        model = LimitedModel(fake, Limits(tpm=600))
        await ask_model(model, 0, make_sized_request(600))
        await ask_model(model, 1, make_sized_request(600))

    running(main)
    assert fake.starts == pytest.approx([0, second])


def test_a_call_that_failed_has_used_its_tokens() -> None:
    fake = FakeModel([make_lasting_failure("bad_request")])

    async def main() -> None:
        model = LimitedModel(fake, Limits(tpm=600))
        await expect_failure(ask_model(model, 0, make_sized_request(600)))
        await ask_model(model, 1, make_sized_request(600))

    running(main)
    assert fake.starts == pytest.approx([0, 60])


# The first call


def test_until_the_first_call_is_back_no_second_is_made() -> None:
    fake = FakeModel(takes=[5], pace_s=1)
    model = LimitedModel(fake, preflight=True)
    assert not model.decided.is_set()
    assert clock.run_coroutine(ask_many(model, 10)) == [ANSWER] * 10
    assert fake.starts == [0] + [5] * 9
    assert fake.most == 9
    assert model.decided.is_set()
    assert model.refusal is None


def test_it_is_decided_when_the_first_call_is_back_and_not_before() -> None:
    async def main() -> None:
        model = LimitedModel(FakeModel([make_failure()], takes=[5, 5]), preflight=True)
        first = asyncio.create_task(ask_model(model))
        while not first.done():
            assert not model.decided.is_set()
            await asyncio.sleep(0.5)
        assert model.decided.is_set()

    running(main)


def test_its_tries_come_before_all_other_calls() -> None:
    fake = FakeModel([make_failure(), make_failure(), make_429(40)])
    model = LimitedModel(fake, preflight=True)
    assert clock.run_coroutine(ask_many(model, 5)) == [ANSWER] * 5
    assert fake.asked[:4] == [fake.asked[0]] * 4
    assert len(fake.asked) == 8
    assert min(fake.starts[3:]) >= 40


@each_case(
    "cause", ["authentication", "not_found", "connection", "web_page", "quota", "max_tokens", "budget"]
)
def test_a_first_call_that_fails_for_good_is_the_only_one(cause: str) -> None:
    error = make_lasting_failure(cause)
    fake = FakeModel([error])
    model = LimitedModel(fake, preflight=True)

    async def main() -> None:
        outcomes = await ask_many(model, 5)
        assert outcomes[0] is error
        assert list_causes(outcomes) == [cause] * 5
        later = await expect_failure(ask_model(model, 9))
        assert (later.cause, later.reason) == (error.cause, error.reason)

    running(main)
    assert len(fake.asked) == 1
    assert model.refusal is error
    assert model.decided.is_set()


def test_a_first_call_whose_tries_all_fail_is_the_only_one() -> None:
    fake = FakeModel(pace_s=NEVER)
    model = LimitedModel(fake, Limits(retries=2, timeout_s=1), preflight=True)
    assert list_causes(clock.run_coroutine(ask_many(model, 5))) == ["timeout"] * 5
    assert fake.asked == ["simple_python_0"] * 3


@pytest.mark.parametrize("cause", ["connection", "web_page"])
def test_a_wrong_address_is_not_tried_again_at_first(cause: str) -> None:
    """A server that was not started will not be there a second later, and somebody waits to be told."""
    fake = FakeModel([make_failure(cause) for _ in range(9)])
    model = LimitedModel(fake, preflight=True)
    assert list_causes(clock.run_coroutine(ask_many(model, 3))) == [cause] * 3
    assert (model.calls, model.retried) == (1, 0)


@pytest.mark.parametrize("preflight", [True, False])
def test_a_server_that_goes_away_later_may_come_back(preflight: bool) -> None:
    fake = FakeModel([ANSWER, make_failure("connection"), make_failure("connection")])

    async def main() -> None:
        model = LimitedModel(fake, preflight=preflight)
        for number in range(3):
            assert await ask_model(model, number) == ANSWER
        assert (model.calls, model.retried, model.refusal) == (5, 2, None)

    running(main)


@pytest.mark.parametrize("cause", ["bad_request", "request_too_large", "rate_limit"])
def test_an_entry_that_is_malformed_says_nothing_of_the_endpoint(cause: str) -> None:
    """A rate limit that does not pass is one that the entry alone exceeds."""
    fake = FakeModel([make_lasting_failure(cause), make_lasting_failure(cause)], pace_s=1)
    model = LimitedModel(fake, preflight=True)

    async def main() -> list[Completion | BaseException]:
        asked = asyncio.create_task(ask_many(model, 6))
        await asyncio.sleep(2.5)
        assert (len(fake.asked), model.decided.is_set()) == (3, False)
        await asyncio.sleep(1)
        assert model.decided.is_set()
        return await asked

    assert list_causes(running(main)) == [cause, cause, None, None, None, None]
    assert fake.starts == [0, 1, 2, 3, 3, 3]
    assert model.decided.is_set()
    assert model.refusal is None


def test_three_malformed_in_a_row_are_the_word_of_the_endpoint() -> None:
    fake = FakeModel([make_lasting_failure("bad_request") for _ in range(9)])
    model = LimitedModel(fake, preflight=True)
    assert list_causes(clock.run_coroutine(ask_many(model, 6))) == ["bad_request"] * 6
    assert len(fake.asked) == 3
    assert model.refusal is not None
    assert model.decided.is_set()


def test_a_malformed_one_and_then_another_failure() -> None:
    fake = FakeModel([make_lasting_failure("bad_request"), make_lasting_failure("authentication")])
    model = LimitedModel(fake, preflight=True)
    outcomes = list_causes(clock.run_coroutine(ask_many(model, 4)))
    assert outcomes == ["bad_request", "authentication", "authentication", "authentication"]
    assert len(fake.asked) == 2


def test_later_malformed_ones_refuse_nothing() -> None:
    fake = FakeModel(
        [
            ANSWER,
            *(make_lasting_failure("bad_request") for _ in range(5)),
            make_lasting_failure("authentication"),
        ]
    )
    model = LimitedModel(fake, preflight=True)
    outcomes = list_causes(clock.run_coroutine(ask_many(model, 9)))
    assert outcomes == [None, *["bad_request"] * 5, "authentication", None, None]
    assert model.refusal is None


def test_without_it_nothing_is_refused() -> None:
    fake = FakeModel([make_lasting_failure("authentication") for _ in range(5)])
    model = LimitedModel(fake)
    assert model.decided.is_set()
    assert list_causes(clock.run_coroutine(ask_many(model, 6))) == ["authentication"] * 5 + [None]


def test_it_is_no_longer_wanted_alone() -> None:
    """The dispatcher says so when nothing is left to ask."""
    fake = FakeModel(pace_s=1)
    model = LimitedModel(fake, preflight=True)
    model.decided.set()
    assert clock.run_coroutine(ask_many(model, 3)) == [ANSWER] * 3
    assert fake.most == 3


def test_who_gives_up_at_the_door_is_no_matter() -> None:
    async def main() -> None:
        calls = [asyncio.create_task(ask_model(model, number)) for number in range(5)]
        await asyncio.sleep(1)
        calls[1].cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert calls[1].cancelled()
        assert outcomes[:1] + outcomes[2:] == [ANSWER] * 4

    fake = FakeModel(takes=[5], pace_s=1)
    model = LimitedModel(fake, preflight=True)
    running(main)
    assert fake.starts == [0, 5, 5, 5]


def test_a_first_call_that_is_cancelled_leaves_nobody_at_the_door() -> None:
    """The others are tried, one before all others again, or are refused; both would do."""

    async def main() -> None:
        calls = [asyncio.create_task(ask_model(model, number)) for number in range(5)]
        await asyncio.sleep(1)
        calls[0].cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert calls[0].cancelled()
        refusals = [outcome for outcome in outcomes[1:] if isinstance(outcome, NotScoredError)]
        assert outcomes.count(ANSWER) + len(refusals) == 4
        for refusal in refusals:
            assert (refusal.cause, refusal.reason) == (
                "timeout",
                "the first call did not return before its time limit",
            )

    fake = FakeModel(takes=[NEVER, 5], pace_s=1)
    model = LimitedModel(fake, preflight=True)
    running(main)
    assert fake.starts in ([0], [0, 1, 6, 6, 6])
    assert model.decided.is_set()


def test_a_first_call_that_breaks_lets_in_the_next_and_only_that() -> None:
    fake = FakeModel([ValueError("a bug"), ValueError("a bug")], pace_s=1)
    model = LimitedModel(fake, preflight=True)
    outcomes = clock.run_coroutine(ask_many(model, 5))
    assert [isinstance(outcome, ValueError) for outcome in outcomes] == [True, True, False, False, False]
    assert fake.starts == [0, 1, 2, 3, 3]


# An endpoint that is starting


def make_waiting_model(unreachable: int, wait_s: float) -> tuple[FakeModel, LimitedModel]:
    """Make a model whose endpoint is reached after so many tries, each of which fails at once."""
    fake = FakeModel([make_failure("connection") for _ in range(unreachable)])
    return fake, LimitedModel(fake, Limits(wait_s=wait_s), preflight=True)


def test_an_endpoint_that_is_starting_is_tried_every_second() -> None:
    fake, model = make_waiting_model(3, wait_s=10)
    assert clock.run_coroutine(ask_many(model, 2)) == [ANSWER, ANSWER]
    assert fake.starts == [0, 1, 2, 3, 3]
    assert model.trouble is None


def test_the_wait_for_it_ends_with_its_last_failure() -> None:
    fake, model = make_waiting_model(9, wait_s=2.5)
    assert list_causes(clock.run_coroutine(ask_many(model, 2))) == ["connection"] * 2
    assert fake.starts == [0, 1, 2, 2.5]
    assert model.refusal is not None


def test_without_a_wait_it_is_tried_once() -> None:
    fake, model = make_waiting_model(1, wait_s=0)
    assert list_causes(clock.run_coroutine(ask_many(model, 2))) == ["connection"] * 2
    assert fake.starts == [0]


def test_a_wrong_certificate_is_not_waited_for() -> None:
    fake = FakeModel([make_lasting_failure("connection")])
    model = LimitedModel(fake, Limits(wait_s=10), preflight=True)
    assert list_causes(clock.run_coroutine(ask_many(model, 1))) == ["connection"]
    assert fake.starts == [0]


def test_the_progress_tells_the_wait() -> None:
    async def main() -> str | None:
        asking = asyncio.create_task(ask_model(model))
        await asyncio.sleep(0.5)
        told = model.trouble
        await asking
        return told

    _, model = make_waiting_model(1, wait_s=30)
    told = running(main)
    assert told is not None
    assert re.fullmatch(r"waiting for the endpoint to start, (29|30) s left", told)


# Failures that no request will escape


@pytest.mark.parametrize("cause", ["authentication", "quota"])
def test_after_three_incurable_failures_in_a_row_nothing_is_asked(cause: str) -> None:
    async def main() -> list[str | None]:
        return list_causes([outcome for number in range(8) for outcome in await ask_many_from(model, number)])

    fake = FakeModel([ANSWER, *(make_lasting_failure(cause) for _ in range(3))])
    model = LimitedModel(fake)
    assert running(main) == [None, *[cause] * 7]
    assert model.calls == 4
    told = f"stopped sending requests after 3 failures in a row ({cause}: it said {cause})"
    assert model.notes == ("a note", f"{told}; 4 requests were not sent")


def test_an_entry_that_is_not_asked_has_the_reason_of_the_last_that_was() -> None:
    fake = FakeModel([make_lasting_failure("quota") for _ in range(3)])
    model = LimitedModel(fake)

    async def main() -> NotScoredError:
        await ask_many(model, 3)
        return await expect_failure(ask_model(model, 3))

    error = running(main)
    assert (error.cause, error.reason, len(fake.asked)) == ("quota", "it said quota", 3)


def test_an_answer_in_between_shows_that_it_was_about_the_entry() -> None:
    """Some services answer 403 to a prompt that their moderation refuses."""

    async def main() -> list[str | None]:
        return list_causes([outcome for number in range(8) for outcome in await ask_many_from(model, number)])

    refused = [make_lasting_failure("authentication") for _ in range(6)]
    fake = FakeModel([*refused[:2], ANSWER, *refused[2:4], ANSWER, *refused[4:]])
    model = LimitedModel(fake)
    assert running(main).count(None) == 2
    assert model.calls == 8


def test_an_answer_that_was_in_flight_starts_nothing_again() -> None:
    async def main() -> list[str | None]:
        slow = asyncio.create_task(ask_model(model))
        await asyncio.sleep(1)
        refused = [each for number in range(1, 6) for each in await ask_many_from(model, number)]
        assert await slow == ANSWER
        return list_causes([*refused, *await ask_many_from(model, 6)])

    fake = FakeModel([ANSWER, *(make_lasting_failure("quota") for _ in range(3))], takes=[10, 0, 0, 0])
    model = LimitedModel(fake)
    assert running(main) == ["quota"] * 6
    assert model.calls == 4
    assert model.notes[-1].endswith("; 3 requests were not sent")


def test_other_lasting_failures_end_no_run() -> None:
    async def main() -> list[str | None]:
        return list_causes([outcome for number in range(5) for outcome in await ask_many_from(model, number)])

    fake = FakeModel([make_lasting_failure("bad_request") for _ in range(4)])
    model = LimitedModel(fake)
    assert running(main) == [*["bad_request"] * 4, None]


# Money


DEAR = Price(0, 250_000)
"""A call of four tokens costs a dollar."""


def test_calls_that_could_pass_the_limit_are_not_made() -> None:
    spends = Completion(input_tokens=0, output_tokens=4)
    fake = FakeModel([spends] * 10, pace_s=1)
    model = LimitedModel(fake, ledger=Ledger(DEAR, budget=Budget(3), max_tokens=4))
    assert list_causes(clock.run_coroutine(ask_many(model, 6))) == [None] * 3 + ["budget"] * 3
    assert (model.calls, model.ledger.budget.spent) == (3, 3)
    assert model.notes == (
        "a note",
        "stopped sending requests at $3.0000: another call could have exceeded the limit",
    )


def test_failures_cost_nothing() -> None:
    model = rich_for_one(
        FakeModel([make_failure(), make_lasting_failure("bad_request"), ValueError("a bug")])
    )

    async def main() -> None:
        for number in range(3):
            await ask_many(model, 1, [REQUEST])
            assert model.ledger.budget.spent == 0, number
        assert await ask_model(model) == ANSWER

    running(main)


def test_a_try_after_a_failure_waits_for_money_like_any_other() -> None:
    """Its promise is given back while it waits, so that others can go on meanwhile."""
    fake = FakeModel([make_failure(retry_after_s=100)])
    model = rich_for_one(fake)

    async def main() -> None:
        first = asyncio.create_task(ask_model(model))
        await clock.let_tasks_settle()
        assert await ask_model(model, 1) == ANSWER
        assert clock.read_clock() == 0
        assert await first == ANSWER

    running(main)


def cancel_second_call(moment: float, model: LimitedModel) -> None:
    """Cancel the second of two calls at a moment; all the money must be there for a third one."""

    async def main() -> None:
        await ask_model(model, 0)
        call = asyncio.create_task(ask_model(model, 1))
        await asyncio.sleep(moment)
        assert not call.done()
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert await ask_model(model, 2) == ANSWER

    running(main)


def rich_for_one(fake: FakeModel, limits: Limits | None = None) -> LimitedModel:
    """There is money for one call at a time; as no tokens are told, none is ever spent."""
    return LimitedModel(fake, limits or Limits(), Ledger(DEAR, budget=Budget(1), max_tokens=4))


def test_a_call_cancelled_in_flight_gives_its_money_back() -> None:
    cancel_second_call(1, rich_for_one(FakeModel(takes=[0, NEVER])))


def test_a_call_cancelled_before_it_is_tried_again_gives_its_money_back() -> None:
    cancel_second_call(1, rich_for_one(FakeModel([ANSWER, make_failure(retry_after_s=500)])))


@pytest.mark.parametrize("limits", [Limits(rpm=1), Limits(tpm=1)], ids=["rpm", "tpm"])
def test_cancelled_while_it_waits_for_its_turn(limits: Limits) -> None:
    fake = FakeModel()
    cancel_second_call(1, rich_for_one(fake, limits))
    assert fake.asked == ["simple_python_0", "simple_python_2"]


def test_a_call_cancelled_while_all_are_held_holds_nobody_up() -> None:
    fake = FakeModel([make_429(50)])
    model = rich_for_one(fake)

    async def main() -> None:
        first = asyncio.create_task(ask_model(model, 0))
        await clock.let_tasks_settle()
        second = asyncio.create_task(ask_model(model, 1))
        await clock.let_tasks_settle()
        second.cancel()
        third = asyncio.create_task(ask_model(model, 2))
        await asyncio.wait([first, second, third])
        assert second.cancelled()

    running(main)
    assert sorted(fake.asked) == ["simple_python_0", "simple_python_0", "simple_python_2"]
    assert min(fake.starts[1:]) == 50


def test_a_call_cancelled_while_it_waits_for_money_takes_none() -> None:
    fake = FakeModel(takes=[10])
    model = rich_for_one(fake)

    async def main() -> None:
        first = asyncio.create_task(ask_model(model, 0))
        await clock.let_tasks_settle()
        second = asyncio.create_task(ask_model(model, 1))
        await clock.let_tasks_settle()
        second.cancel()
        await asyncio.wait([second])
        assert await ask_model(model, 2) == await first == ANSWER

    running(main)
    assert fake.asked == ["simple_python_0", "simple_python_2"]


def test_a_call_cancelled_at_the_door_holds_nobody_up() -> None:
    fake = FakeModel(takes=[10])
    model = LimitedModel(fake, ledger=Ledger(DEAR, budget=Budget(1), max_tokens=4), preflight=True)

    async def main() -> None:
        first = asyncio.create_task(ask_model(model, 0))
        await clock.let_tasks_settle()
        second = asyncio.create_task(ask_model(model, 1))
        await clock.let_tasks_settle()
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert await ask_model(model, 2) == ANSWER

    running(main)


# Everything at once

outcomes = st.one_of(
    st.builds(Completion, input_tokens=st.just(0), output_tokens=st.integers(0, 4)),
    st.sampled_from(["endpoint", "rate_limit", "connection"]).map(make_failure),
    st.floats(0, 20).map(make_429),
    st.sampled_from(["bad_request", "context"]).map(make_lasting_failure),
    st.builds(ValueError),
)


@given(
    script=st.lists(outcomes, max_size=30),
    takes=st.lists(st.sampled_from([0.0, 0.1, 3.0, NEVER]), max_size=30),
    count=st.integers(1, 15),
    dollars=st.integers(1, 20),
    rpm=st.none() | st.integers(1, 600),
    tpm=st.none() | st.integers(1, 6000),
    preflight=st.booleans(),
    cancelled=st.sets(st.integers(0, 14)),
)
def test_every_call_comes_to_an_end_and_no_money_is_lost(
    script: list[Outcome],
    takes: list[float],
    count: int,
    dollars: int,
    rpm: int | None,
    tpm: int | None,
    preflight: bool,
    cancelled: set[int],
) -> None:
    fake = FakeModel(list(script), list(takes), pace_s=0.5)
    ledger = Ledger(DEAR, budget=Budget(dollars), max_tokens=4)
    model = LimitedModel(fake, Limits(rpm, tpm, retries=2, timeout_s=10), ledger, preflight=preflight)

    async def main() -> None:
        calls = [asyncio.create_task(ask_model(model, number)) for number in range(count)]
        await asyncio.sleep(1)
        for number in cancelled & set(range(count)):
            calls[number].cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    running(main)
    assert ledger.budget.spent <= dollars
    assert fake.in_flight == 0
    assert model.calls == len(fake.starts)
    if preflight and model.refusal is not None:
        assert fake.most == 1


# Preparation


@dataclass
class SlowToPrepare(FakeModel):
    """Takes long before its first call, as imports do."""

    prepared: int = 0

    async def prepare(self) -> None:
        self.prepared += 1
        await asyncio.sleep(100)


def test_the_preparation_of_a_model_is_no_part_of_the_time_for_an_answer() -> None:
    fake = SlowToPrepare(pace_s=1)
    model = LimitedModel(fake, Limits(timeout_s=2, retries=0, concurrency=1))
    assert clock.run_coroutine(ask_many(model, 3)) == [ANSWER] * 3
    assert model.mean_s == pytest.approx(1)


def test_a_model_is_prepared_before_its_first_call_only() -> None:
    fake = SlowToPrepare()
    model = LimitedModel(fake, preflight=True)

    async def ask_twice() -> None:
        await ask_model(model)
        await ask_model(model)

    clock.run_coroutine(ask_twice())
    assert (fake.prepared, fake.starts) == (1, [100, 100])


# The list of steps


def test_what_is_stored_is_read_with_another_limit_later(store: AnswerStore) -> None:
    fake = FakeModel([Completion(text="x" * 30)])

    def ask_within(longest_read: int) -> Completion:
        stored = StoredAnswers(store, {}, immediate=True)
        pipeline = build_pipeline(
            fake, Limits(), stored_answers=stored, longest_read=longest_read, longest_stored=100
        )
        return clock.run_coroutine(ask_model(pipeline))

    assert ask_within(10).fault is Fault.TOO_LARGE
    assert ask_within(30).text == "x" * 30
    assert len(fake.asked) == 1


def test_what_is_too_long_to_be_stored_is_a_fault_in_the_store(store: AnswerStore) -> None:
    fake = FakeModel([Completion(text="x" * 30)])
    pipeline = build_pipeline(
        fake,
        Limits(),
        stored_answers=(stored := StoredAnswers(store, {}, immediate=True)),
        longest_read=50,
        longest_stored=20,
    )
    clock.run_coroutine(ask_model(pipeline))
    kept = stored.find_stored(make_numbered_entry(), REQUEST)
    assert kept is not None
    assert kept.fault is Fault.TOO_LARGE


def test_what_is_stored_takes_no_turn_and_no_money(store: AnswerStore) -> None:
    fake = FakeModel([make_failure()])
    pipeline = build_pipeline(
        fake,
        Limits(rpm=1),
        Ledger(DEAR, budget=Budget(100), max_tokens=4),
        StoredAnswers(store, {}, immediate=True),
        preflight=True,
    )
    clock.run_coroutine(ask_model(pipeline))
    (payment,) = (step for step in pipeline.steps if isinstance(step, Payment))
    spent = payment.ledger.budget.spent
    assert clock.run_coroutine(ask_model(pipeline)) == ANSWER
    assert (pipeline.calls, payment.ledger.budget.spent) == (2, spent)
    assert pipeline.notes == (
        "a note",
        "1 of 2 calls were retries",
        "1 answer was reused from answers.sqlite",
    )
