"""The dispatcher drives conversations: what a model gives is sent, what it raises is one answer missing."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from pytest_fcbench.dispatch.dispatcher import NOT_HELD, Dispatcher
from pytest_fcbench.dispatch.pipeline import Limits
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError, RunStoppedError
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Conversation, Step, Transcript
from pytest_fcbench.models.protocol import Model
from tests.cases import each_case
from tests.dispatch.clock import Attempt, wait_until
from tests.dispatch.pipelines import LimitedModel
from tests.factories import make_entry

ENTRY = make_entry()


@dataclass
class FakeModel:
    """Answers with what a function says of the request; remembers requests and loops."""

    answer: Callable[[Entry, AskModel], Completion]
    immediate: bool = False
    notes: tuple[str, ...] = ()
    asked: list[AskModel] = field(default_factory=list)
    loops: list[asyncio.AbstractEventLoop] = field(default_factory=list)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.asked.append(request)
        self.loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return self.answer(entry, request)


def _make_request(text: str) -> AskModel:
    return AskModel(({"role": "user", "content": text},))


def _make_transcript(*completions: Completion) -> Transcript:
    return Transcript(
        ENTRY.key, "fake", Prompting(Mode.FC, Names.DOTTED, "tool_calls"), (tuple(map(Step, completions)),)
    )


def _ask_questions(*texts: str) -> Callable[[Entry], Conversation]:
    """Return a function that starts a conversation of several questions."""

    def start_conversation(entry: Entry) -> Conversation:
        completions = []
        for text in texts:
            completions.append((yield _make_request(text)))
        return _make_transcript(*completions)

    return start_conversation


def _echo_question(entry: Entry, request: AskModel) -> Completion:
    return Completion(text=f"{entry.id}: {request.messages[0]['content']}")


def _raise_on_answer(error: BaseException) -> Callable[[Entry, AskModel], Completion]:
    def raise_error(entry: Entry, request: AskModel) -> Completion:
        raise error

    return raise_error


@contextmanager
def _open_dispatcher(model: FakeModel, *texts: str) -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(model, _ask_questions(*texts))
    try:
        yield dispatcher
    finally:
        Attempt(dispatcher.close).result()


def test_each_question_is_put_and_its_answer_sent_back() -> None:
    model = FakeModel(_echo_question)
    with _open_dispatcher(model, "one?", "two?") as dispatcher:
        transcript = dispatcher.transcript(ENTRY)
    assert model.asked == [_make_request("one?"), _make_request("two?")]
    assert transcript == _make_transcript(
        Completion(text="simple_python_0: one?"), Completion(text="simple_python_0: two?")
    )


def test_a_caller_that_waits_no_longer_can_ask_again() -> None:
    """The conversation goes on, and its question is put once."""
    release = threading.Event()

    def answer_late(entry: Entry, request: AskModel) -> Completion:
        release.wait(60)
        return _echo_question(entry, request)

    model = FakeModel(answer_late)
    with _open_dispatcher(model, "one?") as dispatcher:
        with pytest.raises(TimeoutError):
            dispatcher.transcript(ENTRY, within_s=0.01)
        release.set()
        transcript = dispatcher.transcript(ENTRY, within_s=60)
    assert transcript == _make_transcript(Completion(text="simple_python_0: one?"))
    assert len(model.asked) == 1


def test_all_conversations_run_on_one_loop() -> None:
    model = FakeModel(_echo_question)
    with _open_dispatcher(model, "one?") as dispatcher:
        for number in range(3):
            dispatcher.transcript(make_entry(entry_id=f"simple_python_{number}"))
    assert len(model.loops) == 3
    assert len(set(map(id, model.loops))) == 1
    assert model.loops[0].is_closed()


def test_not_scored_passes_as_it_is() -> None:
    error = NotScoredError("rate_limit", "429")
    with (
        _open_dispatcher(FakeModel(_raise_on_answer(error)), "?") as dispatcher,
        pytest.raises(NotScoredError) as caught,
    ):
        dispatcher.transcript(ENTRY)
    assert caught.value is error


@each_case(
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
    with (
        _open_dispatcher(FakeModel(_raise_on_answer(error)), "?") as dispatcher,
        pytest.raises(NotScoredError) as caught,
    ):
        dispatcher.transcript(ENTRY)
    assert (caught.value.cause, caught.value.reason) == ("model_error", reason)
    assert caught.value.__cause__ is error


def test_other_entries_go_on_after_one_that_broke() -> None:
    def break_one(entry: Entry, request: AskModel) -> Completion:
        if entry.id == "simple_python_1":
            raise ValueError
        return _echo_question(entry, request)

    with _open_dispatcher(FakeModel(break_one), "?") as dispatcher:
        with pytest.raises(NotScoredError, match=r"^ValueError: "):
            dispatcher.transcript(make_entry(entry_id="simple_python_1"))
        assert dispatcher.transcript(ENTRY).last == Completion(text="simple_python_0: ?")


def test_an_interrupt_is_not_swallowed() -> None:
    model = FakeModel(_raise_on_answer(KeyboardInterrupt()))
    with _open_dispatcher(model, "?") as dispatcher, pytest.raises(KeyboardInterrupt):
        dispatcher.transcript(ENTRY)


def test_a_fault_of_the_conversation_is_not_blamed_on_the_model() -> None:
    def start_broken_conversation(entry: Entry) -> Conversation:
        yield _make_request("?")
        raise LookupError("a bug of ours")

    dispatcher = Dispatcher(FakeModel(_echo_question), start_broken_conversation)
    with pytest.raises(LookupError, match="a bug of ours"):
        dispatcher.transcript(ENTRY)
    dispatcher.close()


def test_it_can_be_closed_unused_and_twice() -> None:
    dispatcher = Dispatcher(FakeModel(_echo_question), _ask_questions("?"))
    dispatcher.close()
    dispatcher.close()


@pytest.mark.filterwarnings("error")
def test_closing_leaves_no_loop_behind() -> None:
    model = FakeModel(_echo_question)
    with _open_dispatcher(model, "?") as dispatcher:
        dispatcher.transcript(ENTRY)
        assert not model.loops[0].is_closed()
    assert model.loops[0].is_closed()


# Many at once


class SlowModel(FakeModel):
    """Takes its time; counts how many conversations it is in at once, and who came in which order."""

    def __init__(self) -> None:
        super().__init__(_echo_question)
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


def _make_entries(count: int) -> list[Entry]:
    return [make_entry(entry_id=f"simple_python_{number}") for number in range(count)]


@contextmanager
def _open_slow_dispatcher(concurrency: int) -> Iterator[tuple[SlowModel, Dispatcher]]:
    model = SlowModel()
    dispatcher = Dispatcher(model, _ask_questions("?"), concurrency)
    try:
        yield model, dispatcher
    finally:
        model.go.set()
        Attempt(dispatcher.close).result()


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_the_cap_is_reached_and_never_exceeded(concurrency: int) -> None:
    entries = _make_entries(40)
    with _open_slow_dispatcher(concurrency) as (model, dispatcher):
        dispatcher.expect(entries[:30])
        for entry in entries[:3] + entries[30:] + entries[3:30]:  # some that nobody expected among them
            assert dispatcher.transcript(entry).last.text == f"{entry.id}: ?"
    assert model.most == concurrency
    assert sorted(model.started) == sorted(entry.id for entry in entries)


def test_conversations_start_in_the_order_of_the_items() -> None:
    entries = _make_entries(20)
    with _open_slow_dispatcher(4) as (model, dispatcher):
        dispatcher.expect(entries)
        for entry in entries:
            dispatcher.transcript(entry)
    assert model.started == [entry.id for entry in entries]


def test_one_that_is_waited_for_goes_first() -> None:
    entries = _make_entries(6)
    with _open_slow_dispatcher(1) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(entries)
        wait_until(lambda: model.in_flight == 1)
        waiting = Attempt(lambda: dispatcher.transcript(entries[5]))
        wait_until(lambda: entries[5].key in list_asked_for(dispatcher))
        model.go.set()
        waiting.result()
    assert model.started[:2] == ["simple_python_0", "simple_python_5"]


def test_it_does_not_run_far_ahead_of_the_bodies() -> None:
    """A run that stops early has asked for little that nobody wanted."""
    entries = _make_entries(200)
    with _open_slow_dispatcher(2) as (model, dispatcher):
        dispatcher.expect(entries)
        dispatcher.transcript(entries[0])
        dispatcher.transcript(entries[1])
    assert len(model.started) <= 2 + 2 * 8


def test_large_answers_that_nobody_has_asked_for_stop_the_look_ahead() -> None:
    """In memory, eight times the cap would be much."""
    entries = _make_entries(40)
    model = FakeModel(lambda entry, request: Completion(text="x" * 1_000_000))
    dispatcher = Dispatcher(model, _ask_questions("?"), concurrency=4)
    try:
        dispatcher.expect(entries)
        wait_until(lambda: dispatcher.finished()[0] >= 8 and dispatcher.in_flight == 0)
        assert len(model.asked) <= 8 + 3
        for entry in entries[:8]:
            dispatcher.transcript(entry)
        # What was asked for no longer counts, so that there is room for as many again.
        wait_until(lambda: len(model.asked) >= 16)
        for entry in entries:
            assert dispatcher.transcript(entry).last.text == "x" * 1_000_000
    finally:
        Attempt(dispatcher.close).result()
    assert len(model.asked) == 40


def test_closing_cancels_what_is_in_flight() -> None:
    with _open_slow_dispatcher(3) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(_make_entries(10))
        wait_until(lambda: model.in_flight == 3)
        dispatcher.close()
        assert (model.in_flight, len(model.started)) == (0, 3)


def test_closing_cancels_what_a_client_library_left_running() -> None:
    ended: list[str] = []

    async def run_in_background() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")

    def leave_running(entry: Entry, request: AskModel) -> Completion:
        left.append(asyncio.get_running_loop().create_task(run_in_background()))
        return _echo_question(entry, request)

    left: list[asyncio.Task[None]] = []
    with _open_dispatcher(FakeModel(leave_running), "first", "second") as dispatcher:
        dispatcher.transcript(ENTRY)
    assert "cancelled" in ended


def test_a_rerun_asks_again_only_where_there_was_no_answer() -> None:
    replies = iter(
        [
            _raise_on_answer(NotScoredError("timeout", "slow")),
            _echo_question,
            _raise_on_answer(ValueError("never asked")),
        ]
    )
    model = FakeModel(lambda entry, request: next(replies)(entry, request))
    with _open_dispatcher(model, "?") as dispatcher:
        with pytest.raises(NotScoredError, match=r"^slow$"):
            dispatcher.transcript(ENTRY)
        assert dispatcher.transcript(ENTRY) == dispatcher.transcript(ENTRY)


# Outcomes that nobody needs any more


class Text(str):
    """A text of which it can be told whether it is still held."""


def test_a_conversation_whose_test_has_ended_is_held_again_where_it_is_asked_for() -> None:
    texts: list[weakref.ref[Text]] = []

    def answer_with_text(entry: Entry, request: AskModel) -> Completion:
        text = Text("an answer")
        texts.append(weakref.ref(text))
        return Completion(text=text)

    with _open_dispatcher(FakeModel(answer_with_text), "?") as dispatcher:
        assert dispatcher.transcript(ENTRY).last.text == "an answer"
        dispatcher.drop_outcome(ENTRY.item_id)
        gc.collect()
        assert [text() for text in texts] == [None]
        assert dispatcher.finished() == (1, 0)
        assert dispatcher.transcript(ENTRY).last.text == "an answer"
        assert dispatcher.finished() == (1, 0)
    assert len(texts) == 2


def test_a_failure_whose_test_has_ended_still_counts() -> None:
    model = FakeModel(_raise_on_answer(NotScoredError("timeout", "slow")))
    with _open_dispatcher(model, "?") as dispatcher:
        with pytest.raises(NotScoredError, match=r"^slow$"):
            dispatcher.transcript(ENTRY)
        dispatcher.drop_outcome(ENTRY.item_id)
        assert dispatcher.finished() == (0, 1)


def test_a_conversation_stays_until_the_last_of_several_tests_of_its_entry_has_ended() -> None:
    model = FakeModel(_echo_question)
    with _open_dispatcher(model, "?") as dispatcher:
        dispatcher.expect([ENTRY, ENTRY])
        assert dispatcher.transcript(ENTRY).last.text == "simple_python_0: ?"
        dispatcher.drop_outcome(ENTRY.item_id)
        dispatcher.transcript(ENTRY)
        assert len(model.asked) == 1
        dispatcher.drop_outcome(ENTRY.item_id)
        dispatcher.transcript(ENTRY)
        assert len(model.asked) == 2


def test_a_conversation_whose_test_has_ended_is_not_held_again_because_it_is_announced() -> None:
    model = FakeModel(_echo_question)
    with _open_dispatcher(model, "?") as dispatcher:
        dispatcher.transcript(ENTRY)
        dispatcher.drop_outcome(ENTRY.item_id)
        dispatcher.expect([ENTRY, *_make_entries(2)[1:]])
        wait_until(lambda: dispatcher.finished() == (2, 0))
    assert len(model.asked) == 2


def test_a_conversation_that_goes_on_is_not_dropped() -> None:
    with _open_slow_dispatcher(1) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect([ENTRY])
        wait_until(lambda: model.in_flight == 1)
        dispatcher.drop_outcome(ENTRY.item_id)
        dispatcher.drop_outcome("core:unknown_1")
        model.go.set()
        assert dispatcher.transcript(ENTRY).last.text == "simple_python_0: ?"
    assert len(model.started) == 1


def test_a_failure_does_not_hold_the_reply_that_it_came_from() -> None:
    replies: list[weakref.ref[Text]] = []

    def refuse_reply(entry: Entry, request: AskModel) -> Completion:
        reply = Text("no JSON")
        replies.append(weakref.ref(reply))
        try:
            raise ValueError(reply)
        except ValueError:
            raise NotScoredError("garbled", "unreadable") from None

    with _open_dispatcher(FakeModel(refuse_reply), "?") as dispatcher:
        with pytest.raises(NotScoredError, match=r"^unreadable$"):
            dispatcher.transcript(ENTRY)
        gc.collect()
        assert [reply() for reply in replies] == [None]


def test_a_model_that_answers_at_once_needs_no_thread() -> None:
    class Immediate(FakeModel):
        async def complete(self, entry: Entry, request: AskModel) -> Completion:
            self.asked.append(request)
            return self.answer(entry, request)

    threads = threading.active_count()
    with _open_dispatcher(Immediate(_echo_question, immediate=True), "?") as dispatcher:
        dispatcher.expect([ENTRY])
        assert dispatcher.transcript(ENTRY).last.text == "simple_python_0: ?"
        assert threading.active_count() == threads


def test_a_model_that_only_says_so_is_found_out() -> None:
    class Waits(FakeModel):
        async def complete(self, entry: Entry, request: AskModel) -> Completion:
            await asyncio.sleep(0)
            return self.answer(entry, request)

    with (
        _open_dispatcher(Waits(_echo_question, immediate=True), "?") as dispatcher,
        pytest.raises(RuntimeError, match="a model that says it answers at once has waited"),
    ):
        dispatcher.transcript(ENTRY)


# The time of an entry


HANGS_S = 1.0
"""How long a test waits for what is known to hang."""


class HangingModel(SlowModel):
    """Never answers about the entries of these numbers."""

    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self.hanging = {f"simple_python_{number}" for number in numbers}

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        if entry.id in self.hanging:
            self.started.append(entry.id)
            await asyncio.Event().wait()
        return await super().complete(entry, request)


@contextmanager
def _open_timed_dispatcher(
    model: Model, entry_timeout_s: float | None, concurrency: int = 1, *texts: str
) -> Iterator[Dispatcher]:
    dispatcher = Dispatcher(model, _ask_questions(*texts or ("?",)), concurrency, entry_timeout_s)
    try:
        yield dispatcher
    finally:
        Attempt(dispatcher.close).result()


def _get_transcript(dispatcher: Dispatcher, entry: Entry = ENTRY, patience_s: float = 10.0) -> Transcript:
    """Return the transcript, or fail where none comes in time."""
    answer = Attempt(lambda: dispatcher.transcript(entry)).result(patience_s)
    assert isinstance(answer, Transcript)
    return answer


def _expect_not_scored(
    dispatcher: Dispatcher, entry: Entry = ENTRY, patience_s: float = 10.0
) -> NotScoredError:
    with pytest.raises(NotScoredError) as caught:
        _get_transcript(dispatcher, entry, patience_s)
    return caught.value


@pytest.mark.parametrize("concurrency", [1, 3])
def test_an_entry_whose_time_is_up_is_one_answer_missing(concurrency: int) -> None:
    entries = _make_entries(8)
    model = HangingModel(0, 4, 5)
    with _open_timed_dispatcher(model, 0.25, concurrency) as dispatcher:
        dispatcher.expect(entries)
        for number, entry in enumerate(entries):
            if number in (0, 4, 5):
                error = _expect_not_scored(dispatcher, entry)
                reason = "the conversation did not end within 0.25 s"
                assert (type(error), error.cause, error.reason) == (NotScoredError, "entry_timeout", reason)
            else:
                assert _get_transcript(dispatcher, entry).last.text == f"{entry.id}: ?"
        assert dispatcher.finished() == (5, 3)
    assert model.most <= concurrency


def test_the_time_is_that_of_the_whole_conversation() -> None:
    """Each answer comes soon, but there is no end of questions."""

    def ask_endlessly(entry: Entry) -> Conversation:
        while True:
            yield _make_request("and?")

    dispatcher = Dispatcher(SlowModel(), ask_endlessly, 1, 0.1)
    assert _expect_not_scored(dispatcher).cause == "entry_timeout"
    Attempt(dispatcher.close).result()


def test_time_spent_in_the_queue_does_not_count() -> None:
    """Many at one after the other take longer than one may; none of them does."""
    entries = _make_entries(15)

    class Leisurely(FakeModel):
        async def complete(self, entry: Entry, request: AskModel) -> Completion:
            await asyncio.sleep(0.05)
            return self.answer(entry, request)

    with _open_timed_dispatcher(Leisurely(_echo_question), 0.6) as dispatcher:
        dispatcher.expect(entries)
        for entry in entries:
            _get_transcript(dispatcher, entry)


def test_a_rerun_of_an_entry_whose_time_was_up_has_its_time_again() -> None:
    model = HangingModel(0)
    with _open_timed_dispatcher(model, 0.1) as dispatcher:
        assert _expect_not_scored(dispatcher).cause == "entry_timeout"
        model.hanging.clear()
        assert _get_transcript(dispatcher).last.text == "simple_python_0: ?"
        assert dispatcher.finished() == (1, 0)


def test_a_timeout_of_the_model_is_not_told_as_that_of_the_entry() -> None:
    with _open_timed_dispatcher(FakeModel(_raise_on_answer(TimeoutError("read"))), 5) as dispatcher:
        assert _expect_not_scored(dispatcher).cause == "model_error"


@pytest.mark.parametrize("entry_timeout_s", [None, 60])
def test_a_timeout_of_ours_is_not_told_as_that_of_the_entry(entry_timeout_s: float | None) -> None:
    """A file on a network drive, for example."""

    def raise_timeout(entry: Entry) -> Conversation:
        yield _make_request("?")
        raise TimeoutError(110, "Connection timed out")

    dispatcher = Dispatcher(FakeModel(_echo_question), raise_timeout, 1, entry_timeout_s)
    try:
        with pytest.raises(TimeoutError, match="Connection timed out"):
            _get_transcript(dispatcher, patience_s=HANGS_S)
    finally:
        Attempt(dispatcher.close).result()


# The end


def list_asked_for(dispatcher: Dispatcher) -> set[str]:
    """Return the item ids of the conversations whose transcript was asked for."""
    return {item_id for item_id, job in list(dispatcher._jobs.items()) if job.is_asked_for}


def _start_waiting(dispatcher: Dispatcher, entries: list[Entry]) -> list[Attempt]:
    """Start a body for each entry, in a thread of its own, and return when all of them wait."""
    dispatcher.expect([])  # who comes first makes the loop: a test of its own
    attempts = [Attempt(lambda entry=entry: dispatcher.transcript(entry)) for entry in entries]  # type: ignore[misc]
    keys = {entry.item_id for entry in entries}
    wait_until(lambda: keys <= list_asked_for(dispatcher))
    return attempts


def _expect_stop(attempt: Attempt, patience_s: float = 10.0) -> RunStoppedError:
    with pytest.raises(RunStoppedError) as caught:
        attempt.result(patience_s)
    return caught.value


@pytest.mark.parametrize("expected", [0, 6, 40])
def test_closing_answers_all_bodies_that_wait(expected: int) -> None:
    """Those in flight, those in the queue and those that nobody expected."""
    entries = _make_entries(10)
    with _open_slow_dispatcher(2) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(_make_entries(expected))
        attempts = _start_waiting(dispatcher, entries)
        wait_until(lambda: dispatcher.in_flight == 2)
        Attempt(dispatcher.close).result()
        for attempt in attempts:
            error = _expect_stop(attempt)
            assert (error.cause, error.reason) == ("cancelled", "the run ended before the answer arrived")
        assert dispatcher.in_flight == 0
        assert dispatcher.finished() == (0, max(10, expected))
    assert len(model.started) == 2


def test_what_was_answered_before_the_end_stays_answered() -> None:
    entries = _make_entries(4)
    with _open_slow_dispatcher(1) as (model, dispatcher):
        transcripts = [_get_transcript(dispatcher, entry) for entry in entries[:2]]
        model.go.clear()
        attempts = _start_waiting(dispatcher, entries[2:])
        Attempt(dispatcher.close).result()
        assert [_expect_stop(attempt).cause for attempt in attempts] == ["cancelled"] * 2
        assert dispatcher.finished() == (2, 2)
        assert [t.last.text for t in transcripts] == [f"{entry.id}: ?" for entry in entries[:2]]


@pytest.mark.parametrize("used", [True, False])
def test_after_the_end_nothing_is_answered(used: bool) -> None:
    model = FakeModel(_echo_question)
    with _open_dispatcher(model, "?") as dispatcher:
        if used:
            _get_transcript(dispatcher)
    for entry in _make_entries(2):
        error = _expect_not_scored(dispatcher, entry)
        assert (type(error), error.cause) == (RunStoppedError, "cancelled")
    assert len(model.asked) == used


@pytest.mark.parametrize("expected", [0, 5])
def test_closing_before_anybody_asked(expected: int) -> None:
    threads = threading.active_count()
    with _open_slow_dispatcher(2) as (model, dispatcher):
        model.go.clear()
        if expected:
            dispatcher.expect(_make_entries(expected))
        Attempt(dispatcher.close).result()
        assert dispatcher.finished() == (0, expected)
    assert threading.active_count() == threads


def test_closing_from_several_threads() -> None:
    with _open_slow_dispatcher(2) as (model, dispatcher):
        model.go.clear()
        attempts = _start_waiting(dispatcher, _make_entries(4))
        for closing in [Attempt(dispatcher.close) for _ in range(4)]:
            closing.result()
        assert [_expect_stop(attempt).cause for attempt in attempts] == ["cancelled"] * 4


@each_case("seed", range(10))
def test_closing_at_any_moment_leaves_nobody_waiting(seed: int) -> None:
    """Each body gets its transcript, or learns that the run has ended."""
    entries = _make_entries(30)
    with _open_slow_dispatcher(3) as (_, dispatcher):
        dispatcher.expect(entries)
        attempts = _start_waiting(dispatcher, entries)
        threading.Event().wait(Random(seed).uniform(0, 0.03))
        Attempt(dispatcher.close).result()
        answered = stopped = 0
        for attempt, entry in zip(attempts, entries, strict=True):
            try:
                transcript = attempt.result()
            except RunStoppedError:
                stopped += 1
            else:
                assert isinstance(transcript, Transcript)
                assert transcript.last.text == f"{entry.id}: ?"
                answered += 1
        assert dispatcher.finished() == (answered, stopped)


@pytest.mark.parametrize("used", [True, False])
def test_closing_while_a_body_is_about_to_ask(monkeypatch: pytest.MonkeyPatch, used: bool) -> None:
    dispatcher = Dispatcher(FakeModel(_echo_question), _ask_questions("?"))
    if used:
        _get_transcript(dispatcher, make_entry(entry_id="simple_python_1"))
        # Else the end of that one starts the next, without a wake.
        wait_until(lambda: dispatcher.in_flight == 0)
    wake = dispatcher._wake

    def close_first() -> None:
        monkeypatch.setattr(dispatcher, "_wake", wake)
        dispatcher.close()
        wake()

    monkeypatch.setattr(dispatcher, "_wake", close_first)
    try:
        assert _expect_stop(Attempt(lambda: dispatcher.transcript(ENTRY)), HANGS_S).cause == "cancelled"
    finally:
        if dispatcher._thread is not None and dispatcher._thread.is_alive():
            dispatcher._loop.call_soon_threadsafe(dispatcher._loop.stop)


def test_a_model_that_will_not_be_cancelled_keeps_nobody_waiting() -> None:
    """A client library that catches everything and tries again, say. Others learn at once that it is over."""

    class Stubborn(SlowModel):
        async def complete(self, entry: Entry, request: AskModel) -> Completion:
            self.started.append(entry.id)
            while not self.go.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    continue
            return self.answer(entry, request)

    model = Stubborn()
    model.go.clear()
    dispatcher = Dispatcher(model, _ask_questions("?"))
    attempts = _start_waiting(dispatcher, _make_entries(3))
    wait_until(lambda: bool(model.started))
    closing = Attempt(dispatcher.close)
    try:
        started = int(model.started[0].removeprefix("simple_python_"))
        del attempts[started]
        for attempt in attempts:
            _expect_stop(attempt, HANGS_S)
    finally:
        model.go.set()
        closing.result()


def test_a_cancellation_within_the_model_is_one_answer_missing() -> None:
    """A client library that waits for a task which something else has cancelled."""
    with _open_dispatcher(FakeModel(_raise_on_answer(asyncio.CancelledError("pool"))), "?") as dispatcher:
        assert not isinstance(_expect_not_scored(dispatcher), RunStoppedError)


# Several bodies


def test_two_bodies_that_ask_for_the_same_get_the_same() -> None:
    with _open_slow_dispatcher(3) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(_make_entries(1))
        attempts = [Attempt(lambda: dispatcher.transcript(ENTRY)) for _ in range(6)]
        wait_until(lambda: model.in_flight == 1)
        model.go.set()
        transcripts = [attempt.result() for attempt in attempts]
        assert all(transcript is transcripts[0] for transcript in transcripts)
    assert model.started == [ENTRY.id]


def test_two_bodies_that_ask_for_the_same_fail_together_and_may_ask_again() -> None:
    replies = iter([_raise_on_answer(NotScoredError("timeout", "slow")), _echo_question])
    model = SlowModel()
    model.answer = lambda entry, request: next(replies)(entry, request)
    with _open_timed_dispatcher(model, None, 3) as dispatcher:
        model.go.clear()
        dispatcher.expect([])
        attempts = [Attempt(lambda: dispatcher.transcript(ENTRY)) for _ in range(4)]
        wait_until(lambda: model.in_flight == 1)
        threading.Event().wait(0.05)  # so that all of them wait; one that is late would be a rerun
        model.go.set()
        for attempt in attempts:
            with pytest.raises(NotScoredError, match="slow"):
                attempt.result()
        model.go.clear()
        again = [Attempt(lambda: dispatcher.transcript(ENTRY)) for _ in range(4)]
        wait_until(lambda: model.in_flight == 1)
        threading.Event().wait(0.05)
        model.go.set()
        assert {str(attempt.result()) for attempt in again} == {str(_get_transcript(dispatcher))}
    assert len(model.started) == 2


def test_one_that_failed_before_anybody_asked_is_not_asked_again_for_the_first_body() -> None:
    replies = iter([_raise_on_answer(NotScoredError("timeout", "slow")), _echo_question])
    model = FakeModel(lambda entry, request: next(replies)(entry, request))
    with _open_dispatcher(model, "?") as dispatcher:
        dispatcher.expect([ENTRY])
        wait_until(lambda: dispatcher.finished() == (0, 1))
        assert _expect_not_scored(dispatcher).cause == "timeout"
        assert _get_transcript(dispatcher).last.text == "simple_python_0: ?"
        assert _get_transcript(dispatcher).last.text == "simple_python_0: ?"
    assert len(model.asked) == 2


def test_trials_are_conversations_of_their_own() -> None:
    entries = [
        Entry(ENTRY.suite, ENTRY.id, ENTRY.category, ENTRY.turns, ENTRY.functions, ENTRY.expectation, trial=n)
        for n in (1, 2, 3)
    ]
    with _open_slow_dispatcher(2) as (model, dispatcher):
        dispatcher.expect(entries)
        for entry in entries:
            _get_transcript(dispatcher, entry)
        assert dispatcher.finished() == (3, 0)
    assert model.started == [ENTRY.id] * 3


def test_two_bodies_that_come_first_share_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[asyncio.AbstractEventLoop] = []
    together = threading.Barrier(2)
    new_event_loop = asyncio.new_event_loop

    def make_loop_slowly() -> asyncio.AbstractEventLoop:
        made.append(new_event_loop())
        with suppress(threading.BrokenBarrierError):
            together.wait(0.3)  # the second one comes meanwhile, where nothing keeps it out
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", make_loop_slowly)
    dispatcher = Dispatcher(SlowModel(), _ask_questions("?"), 2)
    bodies = [Attempt(lambda entry=entry: dispatcher.transcript(entry)) for entry in _make_entries(2)]  # type: ignore[misc]
    try:
        for body in bodies:
            body.result()
        assert len(made) == 1
    finally:
        Attempt(dispatcher.close).result(HANGS_S)


class CountingModel(SlowModel):
    """Some entries fail the first times; takes a random time for each."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = Random(seed)
        self.failures = Counter(
            {f"simple_python_{number}": self.random.choice([0, 0, 1]) for number in range(60)}
        )
        self.answered: Counter[str] = Counter()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.random.choice([0, 0, 0.001, 0.004]))
        finally:
            self.in_flight -= 1
        if self.failures[entry.id]:
            self.failures[entry.id] -= 1
            raise NotScoredError("endpoint", "not now")
        self.answered[entry.id] += 1
        return self.answer(entry, request)


@each_case("seed", range(6))
def test_many_bodies_that_ask_for_anything_never_pass_the_cap(seed: int) -> None:
    """As xdist's workers do: in any order, the same again, what was expected and what was not."""
    random = Random(seed)
    concurrency = random.choice([1, 2, 5])
    entries = _make_entries(60)
    model = CountingModel(seed)

    def ask_until_answered(entry: Entry) -> Transcript:
        while True:  # it fails once at the most
            with suppress(NotScoredError):
                return dispatcher.transcript(entry)

    def ask_in_order(order: Random) -> None:
        for entry in order.sample(entries, 40):
            assert ask_until_answered(entry).last.text == f"{entry.id}: ?"

    with _open_timed_dispatcher(model, None, concurrency) as dispatcher:
        dispatcher.expect(random.sample(entries, 25))
        bodies = [Attempt(lambda n=number: ask_in_order(Random(1000 * seed + n))) for number in range(6)]  # type: ignore[misc]
        dispatcher.expect(random.sample(entries, 40))
        for attempt in bodies:
            attempt.result(20)
        assert model.most == concurrency
        good, _ = dispatcher.finished()
        assert good == len(model.answered)
    assert set(model.answered.values()) == {1}
    assert model.in_flight == 0


# Until the first call has come back


def _run_ahead(dispatcher: Dispatcher, decided: threading.Event) -> Attempt:
    return Attempt(lambda: dispatcher.run_ahead_until(decided))


def test_it_looks_ahead_without_a_limit_until_something_is_decided() -> None:
    """No body asks yet; what is kept from an earlier run may come before the first call."""
    entries = _make_entries(100)
    decided = threading.Event()
    with _open_slow_dispatcher(2) as (model, dispatcher):

        def decide_and_echo(entry: Entry, request: AskModel) -> Completion:
            if entry.id == "simple_python_70":
                decided.set()
                # Else this thread might start more before the other one has seen it.
                wait_until(lambda: dispatcher._ahead_until is None)
            return _echo_question(entry, request)

        model.answer = decide_and_echo
        dispatcher.expect(entries)
        _run_ahead(dispatcher, decided).result()
        assert "simple_python_70" in model.started
        wait_until(lambda: dispatcher.in_flight == 0)
        started = len(model.started)
        assert started < 80
        dispatcher._wake()
        for entry in entries[:3]:
            _get_transcript(dispatcher, entry)
        assert len(model.started) == started


def test_it_returns_when_nothing_is_left() -> None:
    decided = threading.Event()
    with _open_slow_dispatcher(3) as (model, dispatcher):
        dispatcher.expect(_make_entries(50))
        _run_ahead(dispatcher, decided).result()
        assert decided.is_set()
        assert dispatcher.finished() == (50, 0)
    assert len(model.started) == 50


def test_it_returns_where_all_fail() -> None:
    with _open_timed_dispatcher(FakeModel(_raise_on_answer(ValueError())), None, 3) as dispatcher:
        dispatcher.expect(_make_entries(30))
        _run_ahead(dispatcher, threading.Event()).result()
        assert dispatcher.finished() == (0, 30)


def test_it_returns_at_once_where_nothing_is_to_be_asked() -> None:
    with _open_slow_dispatcher(1) as (model, dispatcher):
        _run_ahead(dispatcher, threading.Event()).result()
        decided = threading.Event()
        decided.set()
        model.go.clear()
        dispatcher.expect(_make_entries(3))
        _run_ahead(dispatcher, decided).result()


def test_closing_ends_looking_ahead() -> None:
    decided = threading.Event()
    with _open_slow_dispatcher(2) as (model, dispatcher):
        model.go.clear()
        dispatcher.expect(_make_entries(50))
        running = _run_ahead(dispatcher, decided)
        wait_until(lambda: model.in_flight == 2)
        assert running.is_alive()
        Attempt(dispatcher.close).result()
        running.result()
    assert len(model.started) == 2


def test_it_may_return_while_the_loop_looks_whether_something_is_left() -> None:
    """The first call decides; the thread that waits goes on while the loop ends the only conversation."""
    faults: list[object] = []

    class Vanishing(threading.Event):
        def __bool__(self) -> bool:
            if self.is_set():
                dispatcher._ahead_until = None
            return True

    decided = Vanishing()
    with _open_slow_dispatcher(1) as (model, dispatcher):
        dispatcher._loop.set_exception_handler(lambda loop, context: faults.append(context.get("exception")))

        def decide_and_echo(entry: Entry, request: AskModel) -> Completion:
            decided.set()
            return _echo_question(entry, request)

        model.answer = decide_and_echo
        dispatcher.expect(_make_entries(1))
        dispatcher._ahead_until = decided
        assert _get_transcript(dispatcher).last.text == "simple_python_0: ?"
        wait_until(lambda: dispatcher.in_flight == 0)
    assert faults == []


def test_a_first_call_that_fails_stops_all_the_others() -> None:
    fake = FakeModel(_raise_on_answer(CallError("authentication", "no such key")))
    model = LimitedModel(fake, preflight=True)
    with _open_timed_dispatcher(model, None, 8) as dispatcher:
        dispatcher.expect(_make_entries(40))
        _run_ahead(dispatcher, model.decided).result()
        assert model.refusal is not None
        assert {_expect_not_scored(dispatcher, entry).cause for entry in _make_entries(40)} == {
            "authentication"
        }
    assert len(fake.asked) == 1


def test_a_first_call_that_succeeds_lets_in_all_the_others() -> None:
    fake = SlowModel()
    model = LimitedModel(fake, preflight=True)
    with _open_timed_dispatcher(model, 10, 8) as dispatcher:
        fake.go.clear()
        dispatcher.expect(_make_entries(40))
        running = _run_ahead(dispatcher, model.decided)
        wait_until(lambda: dispatcher.in_flight == 8 and fake.in_flight == 1)
        assert len(fake.started) == 1
        fake.go.set()
        running.result()
        for entry in _make_entries(40):
            _get_transcript(dispatcher, entry)
    assert model.refusal is None
    assert fake.most == 8


def test_a_first_call_that_never_comes_back_is_the_only_one() -> None:
    """With the usual limits nine tries of 600 s are longer than the 3600 s of an entry."""
    fake = HangingModel(*range(12))
    model = LimitedModel(fake, Limits(timeout_s=60), preflight=True)
    with _open_timed_dispatcher(model, 0.1, 2) as dispatcher:
        dispatcher.expect(_make_entries(12))
        _run_ahead(dispatcher, model.decided).result()
        assert model.refusal is not None
    assert len(fake.started) == 1


# What has come to an end


def test_what_came_to_an_end_is_counted() -> None:
    def fail_two(entry: Entry, request: AskModel) -> Completion:
        if entry.id in ("simple_python_1", "simple_python_3"):
            raise NotScoredError("endpoint", "no")
        return _echo_question(entry, request)

    with _open_timed_dispatcher(FakeModel(fail_two), None, 1) as dispatcher:
        assert dispatcher.finished() == (0, 0)
        for number, (entry, counted) in enumerate(
            zip(_make_entries(5), [(1, 0), (1, 1), (2, 1), (2, 2), (3, 2)], strict=True)
        ):
            if number in (1, 3):
                _expect_not_scored(dispatcher, entry)
            else:
                _get_transcript(dispatcher, entry)
            assert dispatcher.finished() == counted
        _expect_not_scored(dispatcher, _make_entries(2)[1])
        _get_transcript(dispatcher)
        assert dispatcher.finished() == (3, 2)


def test_what_is_going_on_is_counted() -> None:
    with _open_slow_dispatcher(3) as (model, dispatcher):
        assert dispatcher.in_flight == 0
        model.go.clear()
        dispatcher.expect(_make_entries(10))
        wait_until(lambda: model.in_flight == 3)
        assert (dispatcher.in_flight, dispatcher.finished()) == (3, (0, 0))
        model.go.set()
        for entry in _make_entries(10):
            _get_transcript(dispatcher, entry)
        wait_until(lambda: dispatcher.in_flight == 0)
        assert dispatcher.finished() == (10, 0)


# What goes on from earlier conversations


def _make_row(length: int, name: str = "before") -> Entry:
    """Make conversations in a row, from ``NAME_0`` on, and return the last one."""
    last: Entry | None = None
    for number in range(length):
        last = replace(make_entry(entry_id=f"{name}_{number}"), after=last)
    assert last is not None
    return last


def _make_followers(before: Entry, count: int, name: str = "after") -> list[Entry]:
    return [replace(make_entry(entry_id=f"{name}_{number}"), after=before) for number in range(count)]


@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize("expected", [True, False])
def test_earlier_conversations_are_held_first_in_order_and_once(concurrency: int, *, expected: bool) -> None:
    entries = _make_followers(_make_row(3), 4)
    entries = [replace(entry, trial=n) for entry in entries for n in (1, 2)]
    with _open_slow_dispatcher(concurrency) as (model, dispatcher):
        if expected:
            dispatcher.expect(entries)
        for entry in entries:
            assert _get_transcript(dispatcher, entry).last.text == f"{entry.id}: ?"
        assert dispatcher.finished() == (8, 0), "earlier ones are no entries"
    assert model.started[:3] == ["before_0", "before_1", "before_2"]
    assert Counter(model.started[3:]) == dict.fromkeys((entry.id for entry in entries), 2)
    assert model.most <= concurrency


def test_what_waits_takes_no_place_from_others() -> None:
    """Not under the cap, and not of those who may go ahead either."""
    waiting, others = _make_followers(_make_row(1), 100), _make_entries(5)
    model = HangingModel()
    model.hanging = {"before_0"}
    dispatcher = Dispatcher(model, _ask_questions("?"), 2)
    try:
        dispatcher.expect([*waiting, *others])
        for entry in others:
            assert _get_transcript(dispatcher, entry).last.text == f"{entry.id}: ?"
        assert Counter(model.started) == Counter(["before_0", *(entry.id for entry in others)])
        # A conversation is in flight for a moment after its transcript was delivered.
        wait_until(lambda: dispatcher.in_flight == 1)
        body = Attempt(lambda: dispatcher.transcript(waiting[0]))
    finally:
        Attempt(dispatcher.close).result()
    with pytest.raises(RunStoppedError, match="the run ended before the answer arrived"):
        body.result()


def test_what_was_waited_for_goes_first_and_the_rest_not_too_far_ahead() -> None:
    entries = _make_followers(_make_row(1), 60)
    with _open_slow_dispatcher(1) as (model, dispatcher):
        dispatcher.expect(entries)
        _get_transcript(dispatcher, entries[50])
        wait_until(lambda: len(model.started) == 1 + 1 + 8 and not dispatcher.in_flight)
        assert set(model.started[1:3]) >= {"after_50"}
        for entry in entries:
            _get_transcript(dispatcher, entry)
    assert sorted(model.started[1:]) == sorted(entry.id for entry in entries)


def test_one_that_cannot_be_held_is_told_by_all_that_go_on_from_it() -> None:
    def fail_one(entry: Entry, request: AskModel) -> Completion:
        if entry.id == "before_1":
            raise NotScoredError("timeout", "slow")
        return _echo_question(entry, request)

    entries = _make_followers(_make_row(3), 3)
    with _open_timed_dispatcher(FakeModel(fail_one), None, 2) as dispatcher:
        dispatcher.expect([*entries, ENTRY])
        for entry in entries:
            refusal = _expect_not_scored(dispatcher, entry)
            assert refusal.cause == NOT_HELD
            assert refusal.reason == "timeout: slow (in core:before_1, which has to be answered first)"
        assert _get_transcript(dispatcher).last.text == "simple_python_0: ?"
        assert dispatcher.finished() == (1, 3)


def test_what_is_asked_again_holds_again_what_failed_and_only_that() -> None:
    model = SlowModel()
    broken = Counter({"before_1": 1})

    def fail_while_broken(entry: Entry, request: AskModel) -> Completion:
        if broken[entry.id]:
            broken[entry.id] -= 1
            raise NotScoredError("timeout", "slow")
        return _echo_question(entry, request)

    model.answer = fail_while_broken
    (entry,) = _make_followers(_make_row(3), 1)
    with _open_timed_dispatcher(model, None, 1) as dispatcher:
        assert _expect_not_scored(dispatcher, entry).cause == NOT_HELD
        assert _get_transcript(dispatcher, entry).last.text == "after_0: ?"
    assert model.started == ["before_0", "before_1", "before_1", "before_2", "after_0"]


def test_an_error_of_ours_in_an_earlier_conversation_is_told() -> None:
    def break_earlier(entry: Entry) -> Conversation:
        if entry.after is None:
            raise ZeroDivisionError("ours")
        return _ask_questions("?")(entry)

    (entry,) = _make_followers(_make_row(1), 1)
    dispatcher = Dispatcher(FakeModel(_echo_question), break_earlier)
    try:
        assert "ZeroDivisionError: ours" in _expect_not_scored(dispatcher, entry).reason
    finally:
        Attempt(dispatcher.close).result()


@dataclass
class AtOnce(FakeModel):
    """Never waits."""

    immediate: bool = True
    started: list[str] = field(default_factory=list)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        self.started.append(entry.id)
        return self.answer(entry, request)


def test_with_a_model_that_never_waits_they_are_held_where_they_are_needed() -> None:
    def fail_other(entry: Entry, request: AskModel) -> Completion:
        if entry.id == "other_0":
            raise NotScoredError("no_result", "none")
        return _echo_question(entry, request)

    model = AtOnce(fail_other)
    dispatcher = Dispatcher(model, _ask_questions("?"))
    for entry in _make_followers(_make_row(2), 2):
        assert dispatcher.transcript(entry).last.text == f"{entry.id}: ?"
    assert model.started == ["before_0", "before_1", "after_0", "after_1"]
    for entry in _make_followers(_make_row(2, "other"), 2):
        assert (
            _expect_not_scored(dispatcher, entry).reason
            == "no_result: none (in core:other_0, which has to be answered first)"
        )
    assert model.started[4:] == ["other_0"]


@pytest.mark.parametrize("model", [AtOnce(_echo_question), SlowModel()], ids=["at once", "slow"])
def test_nobody_waits_where_answers_are_there(model: AtOnce | SlowModel) -> None:
    dispatcher = Dispatcher(model, _ask_questions("?"), follows=False)
    try:
        for entry in _make_followers(_make_row(2), 2):
            assert _get_transcript(dispatcher, entry).last.text == f"{entry.id}: ?"
    finally:
        Attempt(dispatcher.close).result()
    assert model.started == ["after_0", "after_1"]


@each_case("seed", range(4))
def test_many_bodies_that_ask_for_what_goes_on_from_others(seed: int) -> None:
    """In any order, with failures that pass: everybody gets an answer, what went well is held once."""
    random = Random(seed)
    concurrency = random.choice([1, 2, 5])
    entries = [entry for name in "abc" for entry in _make_followers(_make_row(4, f"{name}_before"), 12, name)]
    model = CountingModel(seed)
    model.failures = Counter({f"{random.choice('abc')}_before_{random.randrange(4)}": 1, "a_3": 1})
    dispatcher = Dispatcher(model, _ask_questions("?"), concurrency)

    def ask_until_answered(entry: Entry) -> Transcript:
        while True:
            with suppress(NotScoredError):
                return dispatcher.transcript(entry)

    try:
        dispatcher.expect(entries)
        order = random.sample(entries, len(entries))
        bodies = [Attempt(lambda e=entry: ask_until_answered(e)) for entry in order]  # type: ignore[misc]
        for body in bodies:
            body.result()
    finally:
        Attempt(dispatcher.close).result()
    assert model.most <= concurrency
    assert set(model.answered.values()) == {1}
    assert len(model.answered) == 3 * (4 + 12)


def test_ctrl_c_ends_a_wait_that_the_signal_does_not_wake() -> None:
    """Where the kernel gives the signal to another thread, as it does just before a lock blocks this one."""
    release = threading.Event()
    released: list[bool] = []

    def answer_late(entry: Entry, request: AskModel) -> Completion:
        released.append(release.wait(10))
        return Completion(text="late")

    press = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _open_dispatcher(FakeModel(answer_late), "?") as dispatcher:
            try:
                with pytest.raises(KeyboardInterrupt, match=r"^$"):
                    dispatcher.transcript(ENTRY)
            finally:
                release.set()
    finally:
        press.join()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, before)
    assert released == [True], "the wait ended before the answer came"
