"""The dispatcher drives conversations: what a model gives is sent, what it raises is one answer missing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from pytest_fcbench.answers import AskModel, Completion, Mode, Names, Step, Transcript
from pytest_fcbench.conversation import Conversation
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.entries import Entry
from pytest_fcbench.errors import NotScoredError
from tests.factories import make_entry

ENTRY = make_entry()


@dataclass
class FakeModel:
    """Answers with what a function says of the request; remembers requests and loops."""

    answer: Callable[[Entry, AskModel], Completion]
    mode: Mode | None = None
    syntax: str | None = None
    immediate: bool = False
    notes: tuple[str, ...] = ()
    asked: list[AskModel] = field(default_factory=list)
    loops: list[asyncio.AbstractEventLoop] = field(default_factory=list)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.asked.append(request)
        self.loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return self.answer(entry, request)


def _request(text: str) -> AskModel:
    return AskModel(({"role": "user", "content": text},))


def _transcript(*completions: Completion) -> Transcript:
    return Transcript(
        ENTRY.key, "fake", Mode.FC, Names.DOTTED, "tool_calls", (tuple(map(Step, completions)),)
    )


def _questions(*texts: str) -> Callable[[Entry], Conversation]:
    """A conversation of several questions."""

    def converse(entry: Entry) -> Conversation:
        completions = []
        for text in texts:
            completions.append((yield _request(text)))
        return _transcript(*completions)

    return converse


def _echo(entry: Entry, request: AskModel) -> Completion:
    return Completion(text=f"{entry.id}: {request.messages[0]['content']}")


def _raising(error: BaseException) -> Callable[[Entry, AskModel], Completion]:
    def answer(entry: Entry, request: AskModel) -> Completion:
        raise error

    return answer


@contextmanager
def _dispatcher(model: FakeModel, *texts: str) -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(model, _questions(*texts))
    try:
        yield dispatcher
    finally:
        dispatcher.close()


def test_each_question_is_put_and_its_answer_sent_back() -> None:
    model = FakeModel(_echo)
    with _dispatcher(model, "one?", "two?") as dispatcher:
        transcript = dispatcher.transcript(ENTRY)
    assert model.asked == [_request("one?"), _request("two?")]
    assert transcript == _transcript(
        Completion(text="simple_python_0: one?"), Completion(text="simple_python_0: two?")
    )


def test_all_conversations_run_on_one_loop() -> None:
    model = FakeModel(_echo)
    with _dispatcher(model, "one?") as dispatcher:
        for number in range(3):
            dispatcher.transcript(make_entry(entry_id=f"simple_python_{number}"))
    assert len(model.loops) == 3
    assert len(set(map(id, model.loops))) == 1
    assert model.loops[0].is_closed()


def test_not_scored_passes_as_it_is() -> None:
    error = NotScoredError("rate_limit", "429")
    with _dispatcher(FakeModel(_raising(error)), "?") as dispatcher, pytest.raises(NotScoredError) as caught:
        dispatcher.transcript(ENTRY)
    assert caught.value is error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("no such thing"), "ValueError: no such thing"),
        (KeyError("choices"), "KeyError: 'choices'"),
        (TimeoutError(), "TimeoutError: "),
        (RecursionError("too deep"), "RecursionError: too deep"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_a_model_that_breaks_is_one_answer_missing(error: Exception, reason: str) -> None:
    with _dispatcher(FakeModel(_raising(error)), "?") as dispatcher, pytest.raises(NotScoredError) as caught:
        dispatcher.transcript(ENTRY)
    assert (caught.value.cause, caught.value.reason) == ("model_error", reason)
    assert caught.value.__cause__ is error


def test_other_entries_go_on_after_one_that_broke() -> None:
    def answer(entry: Entry, request: AskModel) -> Completion:
        if entry.id == "simple_python_1":
            raise ValueError
        return _echo(entry, request)

    with _dispatcher(FakeModel(answer), "?") as dispatcher:
        with pytest.raises(NotScoredError):
            dispatcher.transcript(make_entry(entry_id="simple_python_1"))
        assert dispatcher.transcript(ENTRY).last == Completion(text="simple_python_0: ?")


def test_an_interrupt_is_not_swallowed() -> None:
    model = FakeModel(_raising(KeyboardInterrupt()))
    with _dispatcher(model, "?") as dispatcher, pytest.raises(KeyboardInterrupt):
        dispatcher.transcript(ENTRY)


def test_a_fault_of_the_conversation_is_not_blamed_on_the_model() -> None:
    def converse(entry: Entry) -> Conversation:
        yield _request("?")
        raise LookupError("a bug of ours")

    dispatcher = Dispatcher(FakeModel(_echo), converse)
    with pytest.raises(LookupError, match="a bug of ours"):
        dispatcher.transcript(ENTRY)
    dispatcher.close()


def test_it_can_be_closed_unused_and_twice() -> None:
    dispatcher = Dispatcher(FakeModel(_echo), _questions("?"))
    dispatcher.close()
    dispatcher.close()


@pytest.mark.filterwarnings("error")
def test_closing_leaves_no_loop_behind() -> None:
    model = FakeModel(_echo)
    with _dispatcher(model, "?") as dispatcher:
        dispatcher.transcript(ENTRY)
        assert not model.loops[0].is_closed()
    assert model.loops[0].is_closed()


# Many at once


class SlowModel(FakeModel):
    """Takes its time; counts how many conversations it is in at once, and who came in which order."""

    def __init__(self) -> None:
        super().__init__(_echo)
        self.started: list[str] = []
        self.in_flight = 0
        self.most = 0
        self.go = threading.Event()
        self.go.set()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.started.append(entry.id)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            while not self.go.is_set():
                await asyncio.sleep(0.002)
            await asyncio.sleep(0.002)
        finally:
            self.in_flight -= 1
        return self.answer(entry, request)


def _entries(count: int) -> list[Entry]:
    return [make_entry(entry_id=f"simple_python_{number}") for number in range(count)]


@contextmanager
def _slow(concurrency: int) -> Iterator[tuple[SlowModel, Dispatcher]]:
    model = SlowModel()
    dispatcher = Dispatcher(model, _questions("?"), concurrency)
    try:
        yield model, dispatcher
    finally:
        model.go.set()
        dispatcher.close()


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_the_cap_is_reached_and_never_exceeded(concurrency: int) -> None:
    entries = _entries(40)
    with _slow(concurrency) as (model, dispatcher):
        dispatcher.expect(entries[:30])
        for entry in entries[:3] + entries[30:] + entries[3:30]:  # some that nobody expected among them
            assert dispatcher.transcript(entry).last.text == f"{entry.id}: ?"
    assert model.most == concurrency
    assert sorted(model.started) == sorted(entry.id for entry in entries)


def test_conversations_start_in_the_order_of_the_items() -> None:
    entries = _entries(20)
    with _slow(4) as (model, dispatcher):
        dispatcher.expect(entries)
        for entry in entries:
            dispatcher.transcript(entry)
    assert model.started == [entry.id for entry in entries]


def test_one_that_is_waited_for_goes_first() -> None:
    entries = _entries(6)
    with _slow(1) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(entries)
        waiting = threading.Thread(target=dispatcher.transcript, args=(entries[5],))
        waiting.start()
        while entries[5].key not in dispatcher.waited_for:
            pass
        model.go.set()
        waiting.join()
    assert model.started[:2] == ["simple_python_0", "simple_python_5"]


def test_it_does_not_run_far_ahead_of_the_bodies() -> None:
    """A run that stops early has asked for little that nobody wanted."""
    entries = _entries(200)
    with _slow(2) as (model, dispatcher):
        dispatcher.expect(entries)
        dispatcher.transcript(entries[0])
        dispatcher.transcript(entries[1])
    assert len(model.started) <= 2 + 2 * 8


def test_closing_cancels_what_is_in_flight() -> None:
    with _slow(3) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(_entries(10))
        while model.in_flight < 3:
            pass
        dispatcher.close()
        assert (model.in_flight, len(model.started)) == (0, 3)


def test_a_rerun_asks_again_only_where_there_was_no_answer() -> None:
    replies = iter([_raising(NotScoredError("timeout", "slow")), _echo, _raising(ValueError("never asked"))])
    model = FakeModel(lambda entry, request: next(replies)(entry, request))
    with _dispatcher(model, "?") as dispatcher:
        with pytest.raises(NotScoredError):
            dispatcher.transcript(ENTRY)
        assert dispatcher.transcript(ENTRY) == dispatcher.transcript(ENTRY)


def test_a_model_that_answers_at_once_needs_no_thread() -> None:
    class Immediate(FakeModel):
        async def complete(self, entry: Entry, request: AskModel) -> Completion:
            self.asked.append(request)
            return self.answer(entry, request)

    threads = threading.active_count()
    with _dispatcher(Immediate(_echo, immediate=True), "?") as dispatcher:
        dispatcher.expect([ENTRY])
        assert dispatcher.transcript(ENTRY).last.text == "simple_python_0: ?"
        assert threading.active_count() == threads


def test_a_model_that_only_says_so_is_found_out() -> None:
    class Waits(FakeModel):
        async def complete(self, entry: Entry, request: AskModel) -> Completion:
            await asyncio.sleep(0)
            return self.answer(entry, request)

    with _dispatcher(Waits(_echo, immediate=True), "?") as dispatcher, pytest.raises(RuntimeError):
        dispatcher.transcript(ENTRY)
