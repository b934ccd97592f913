"""Many conversations at once, ahead of the test bodies that wait for them."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from enum import Enum, auto

from pytest_fcbench.dispatch.limits import measure_answer
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Conversation,
    Transcript,
    drive_conversation_async,
)
from pytest_fcbench.models.protocol import Responder, run_through

_INTERRUPTIBLE_AFTER_S = 0.5
"""The longest wait without a look for signals."""
_AHEAD = 8
"""The number of conversations, as a multiple of the cap, that may be started before anybody asks for them:
enough to keep the cap busy behind a slow one, and the most that a run wastes when it stops early."""
_CHARACTERS_AHEAD = 8_000_000
"""Characters of answers that nobody has asked for, from which on no conversation is started ahead."""

_HALT_S = 0.3
"""The longest wait for the loop to cancel what is in flight."""

NOT_HELD = "earlier_conversation"
"""Cause of an entry whose earlier conversation failed."""


class _Stage(Enum):
    """How far a conversation has come."""

    EXPECTED = auto()
    """Announced: its turn comes in order."""
    URGENT = auto()
    """Somebody waits for it: it is started as soon as there is room."""
    WAITING = auto()
    """It continues a conversation that has not ended yet."""
    STARTED = auto()
    """It runs."""
    ENDED = auto()
    """It has an outcome."""
    DROPPED = auto()
    """Nobody needs its outcome any more."""


_OVER = frozenset({_Stage.ENDED, _Stage.DROPPED})

_NO_OUTCOME: Future[Transcript] = Future()
"""Stands for the outcomes of dropped conversations: answers may be large, and a run has many."""


@dataclass(slots=True, eq=False)
class _Job:
    """A conversation of the run."""

    entry: Entry
    stage: _Stage
    is_earlier: bool = False
    """True where others continue it and no test body asks for it."""
    is_announced: bool = False
    """True for the first conversation about an entry that was announced; those of reruns are not."""
    is_asked_for: bool = False
    is_ahead: bool = False
    """True where it was started and nobody has asked for it yet."""
    characters: int = 0
    """Characters of its answers, as long as nobody has asked for them."""
    repeats: int = 0
    """How often its outcome will be asked for again."""
    continued_by: list[_Job] = field(default_factory=list)
    """The conversations that wait until this one has ended."""
    outcome: Future[Transcript] = field(default_factory=Future)
    has_failed: bool = False
    """True where it has ended without a transcript."""


class Dispatcher:
    """Runs conversations on one event loop in a thread of its own, at most ``concurrency`` at once.

    ``converse`` makes an entry's conversation. Expected entries are started in the order of ``expect``;
    ``transcript`` waits for one, and an unexpected one goes to the front of the queue, under the same cap.
    One loop serves all, because HTTP clients keep connections that belong to a loop. A model that answers at
    once needs none of that: its conversations run in the thread that asks. A whole conversation may take
    ``entry_timeout_s`` seconds.

    A conversation that continues an earlier one waits until that has ended, and takes no place under the cap
    meanwhile; the earlier one runs once, however many continue it. Where ``follows`` is off, nothing waits.

    A dispatcher ``beside`` another one runs on its loop, and is closed before it; ``keep_step`` makes such
    two advance together.
    """

    def __init__(
        self,
        model: Responder,
        converse: Callable[[Entry], Conversation],
        concurrency: int = 1,
        entry_timeout_s: float | None = None,
        *,
        follows: bool = True,
        beside: Dispatcher | None = None,
    ) -> None:
        self._model = model
        self._beside = beside
        self._converse = converse
        self._concurrency = concurrency
        self._entry_timeout_s = entry_timeout_s
        self._follows = follows
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        """The conversations of the run, by item id."""
        self._urgent: deque[_Job] = deque()
        self._freed: deque[_Job] = deque()
        """Expected conversations whose earlier conversation has ended since."""
        self._expected: deque[_Job] = deque()
        """Conversations in the order in which they were announced; of some the stage has changed since."""
        self._ahead = self._characters_ahead = 0
        """Conversations that were started and not asked for yet, and the characters of their answers."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._ahead_until: threading.Event | None = None
        self.begun = 0
        """The number of announced conversations that were begun."""
        self._may_begin: Callable[[], bool] = lambda: True
        self._followers: Sequence[Dispatcher] = ()
        """The dispatchers that may begin something when this one has begun something."""
        self._starts_no_more = False
        self._closed = False
        self._halted = False
        self._thread: threading.Thread | None = None
        self._made: asyncio.AbstractEventLoop | None = None

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """The event loop, started when it is first needed; to be read with the lock held."""
        if self._made is None and self._beside:
            with self._beside._lock:
                self._made = self._beside._loop
        if self._made is None:
            self._made = asyncio.new_event_loop()
            run = self._made.run_forever
            self._thread = threading.Thread(target=run, name="fcbench-dispatch", daemon=True)
            self._thread.start()
        return self._made

    def expect(self, entries: Iterable[Entry]) -> None:
        """Announce the transcripts that will be asked for, in order."""
        if self._model.immediate:
            return
        with self._lock:
            for entry in entries:
                if job := self._jobs.get(entry.item_id):
                    job.repeats += job.stage is not _Stage.DROPPED
                else:
                    job = self._jobs[entry.item_id] = _Job(entry, _Stage.EXPECTED, is_announced=True)
                    self._expected.append(job)
        self._wake()

    def transcript(self, entry: Entry, within_s: float | None = None) -> Transcript:
        """Return the finished conversation about an entry.

        Raises ``NotScoredError``, and ``TimeoutError`` where it does not end within that time; it then goes
        on. A model that answers at once knows no limit.

        Asked again (a rerun) before ``drop_outcome``, it gives the same transcript, and puts the entry to the
        model again only where there was none.
        """
        if self._model.immediate:
            return self._converse_at_once(entry)
        answer = self.request(entry)
        ends_at = math.inf if within_s is None else time.monotonic() + within_s
        # A signal that arrives just before a thread blocks on a lock does not wake it (CPython), so Ctrl-C
        # could go unheard for minutes: the wait is cut into short ones.
        while not answer.done() and (left_s := ends_at - time.monotonic()) > 0:
            wait([answer], min(left_s, _INTERRUPTIBLE_AFTER_S))
        return answer.result(0)

    def request(self, entry: Entry) -> Future[Transcript]:
        """Return the future whose result ``transcript`` returns, of a model that does not answer at once.

        Raises ``RunStoppedError``.
        """
        with self._lock:
            if self._closed or self._halted:
                raise _make_cancelled_error()
            job = self._jobs.get(entry.item_id)
            if job is None or job.stage is _Stage.DROPPED or (job.is_asked_for and job.has_failed):
                # A rerun repeats the earlier conversations that failed.
                for before in entry.earlier:
                    if (earlier := self._jobs.get(before.item_id)) and earlier.has_failed:
                        del self._jobs[before.item_id]
                repeats = job.repeats if job else 0
                job = self._jobs[entry.item_id] = _Job(entry, _Stage.URGENT, repeats=repeats)
                self._urgent.append(job)
            elif job.stage is _Stage.EXPECTED:
                job.stage = _Stage.URGENT
                self._urgent.append(job)
            self._ahead -= job.is_ahead
            self._characters_ahead -= job.characters
            job.is_asked_for, job.is_ahead, job.characters = True, False, 0
            # Else the next conversation that ends makes room, and looks for what to start.
            has_room = len(self._tasks) < self._concurrency
        if has_room:
            self._wake()
        return job.outcome

    def drop_outcome(self, item_id: str) -> None:
        """Drop the outcome of a conversation whose test has ended, unless another test of its entry comes."""
        with self._lock:
            job = self._jobs.get(item_id)
            if job is None or job.stage is not _Stage.ENDED:
                return
            if job.repeats:
                job.repeats -= 1
                return
            job.stage, job.outcome = _Stage.DROPPED, _NO_OUTCOME

    def _converse_at_once(self, entry: Entry) -> Transcript:
        """Run a conversation with a model that never waits, and before it the earlier ones."""
        for before in entry.earlier if self._follows else ():
            job = self._jobs.setdefault(before.item_id, _Job(before, _Stage.STARTED, is_earlier=True))
            if job.stage is not _Stage.ENDED:
                try:
                    self._end(job, run_through(self._converse_with_model(before)))
                except Exception as error:  # noqa: BLE001 - it is raised where somebody goes on from this
                    self._end(job, error)
            if failure := job.outcome.exception():
                raise _make_not_held_error(before, failure)
        return run_through(self._converse_with_model(entry))

    def run_ahead_until(self, decision: threading.Event) -> None:
        """Start conversations without a limit until ``decision`` is set or nothing expected is left."""
        self._ahead_until = decision
        self._wake()
        while not decision.wait(_INTERRUPTIBLE_AFTER_S):
            pass
        self._ahead_until = None

    def keep_step(self, may_begin: Callable[[], bool], followers: Sequence[Dispatcher]) -> None:
        """Begin an expected conversation only while ``may_begin`` allows it; wake ``followers`` after each.

        What somebody waits for is begun in any case.
        """
        self._may_begin, self._followers = may_begin, followers

    def start_no_more(self) -> None:
        """Start nothing that nobody waits for; what is in flight goes on."""
        self._starts_no_more = True

    @property
    def in_flight(self) -> int:
        """The number of conversations in progress."""
        return len(self._tasks)

    def finished(self) -> tuple[int, int]:
        """Count the conversations that ended: with a transcript, and without one."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.stage in _OVER and not job.is_earlier]
            failures = sum(job.has_failed for job in jobs)
        return len(jobs) - failures, failures

    def find_earlier(self) -> Mapping[str, Transcript]:
        """Return the finished conversations that others continue and no test body asks for, by item id."""
        with self._lock:
            return {
                item_id: job.outcome.result()
                for item_id, job in self._jobs.items()
                if job.is_earlier and job.stage is _Stage.ENDED and not job.has_failed
            }

    def _wake(self) -> None:
        with self._lock:
            if not self._closed:
                self._loop.call_soon_threadsafe(self._start_more)

    def _start_more(self, last_task: asyncio.Task[None] | None = None) -> None:
        """Start conversations within the cap and the look-ahead, again when one ended. Runs on the loop."""
        with self._lock:
            if last_task:
                self._tasks.discard(last_task)
            begun = self.begun
            while (
                not (self._closed or self._halted)
                and len(self._tasks) < self._concurrency
                and (job := self._take_next())
            ):
                task = self._loop.create_task(self._run(job))
                self._tasks.add(task)
                task.add_done_callback(self._start_more)
            if (decision := self._ahead_until) and not self._tasks:
                decision.set()
        for follower in self._followers if self.begun > begun else ():
            follower._wake()

    def _take_next(self) -> _Job | None:
        """Take the conversation to start next: one that is waited for, else an expected one."""
        while job := self._take_first():
            startable = self._find_startable(job)
            self.begun += job.is_announced and (startable is job or job.stage is _Stage.ENDED)
            if startable:
                startable.stage = _Stage.STARTED
                startable.is_ahead = not (startable.is_earlier or startable.is_asked_for)
                self._ahead += startable.is_ahead
                return startable
        return None

    def _take_first(self) -> _Job | None:
        """Take the first conversation out of its queue; None where an expected one would be too far ahead."""
        if self._urgent:
            return self._urgent.popleft()
        is_too_far = self._ahead >= _AHEAD * self._concurrency or self._characters_ahead >= _CHARACTERS_AHEAD
        may_begin = self._may_begin() and not (is_too_far or self._starts_no_more)
        if not (may_begin or self._ahead_until):
            return None
        # Those whose earlier conversation has ended come first: they were expected before the rest.
        for queue in (self._freed, self._expected):
            while queue:
                if (job := queue.popleft()).stage is _Stage.EXPECTED:
                    return job
        return None

    def _find_startable(self, job: _Job) -> _Job | None:
        """Return the conversation, or its first earlier one not yet started; None where it waits or fails."""
        before = job.entry.after if self._follows else None
        if before is None:
            return job
        earlier = self._jobs.get(before.item_id)
        if earlier and earlier.stage is _Stage.ENDED:
            if error := earlier.outcome.exception():
                self._end(job, _make_not_held_error(before, error))
                return None
            return job
        job.stage = _Stage.WAITING
        if earlier:
            earlier.continued_by.append(job)
            return None
        earlier = _Job(before, _Stage.URGENT, is_earlier=True, continued_by=[job])
        self._jobs[before.item_id] = earlier
        return self._find_startable(earlier)

    async def _run(self, job: _Job) -> None:
        limit = asyncio.timeout(self._entry_timeout_s)
        outcome: Transcript | BaseException
        try:
            async with limit:
                outcome = await self._converse_with_model(job.entry)
        except asyncio.CancelledError:
            # Beside ``halt`` and ``close``, a client library may cancel its own call.
            outcome = NotScoredError("model_error", "the model's own code cancelled the call")
            if self._halted:
                outcome = _make_cancelled_error()
        except BaseException as raised:  # noqa: BLE001 - it is raised where the answer is waited for
            outcome = raised
            if isinstance(raised, TimeoutError) and limit.expired():
                reason = f"the conversation did not end within {self._entry_timeout_s:g} s"
                outcome = NotScoredError("entry_timeout", reason)
        if isinstance(outcome, NotScoredError) and outcome.__cause__ is None:
            # The reason says it all; the frames, and an error before this one, hold the body of the reply.
            outcome.__context__ = None
            outcome = outcome.with_traceback(None)
        with self._lock:
            if not self._closed:
                self._end(job, outcome)

    def _end(self, job: _Job, outcome: Transcript | BaseException) -> None:
        """Deliver the outcome of a conversation, and release the conversations that continue it."""
        job.stage = _Stage.ENDED
        if isinstance(outcome, BaseException):
            job.has_failed = True
            job.outcome.set_exception(outcome)
        else:
            if job.is_ahead:
                job.characters = sum(map(measure_answer, outcome.completions))
                self._characters_ahead += job.characters
            job.outcome.set_result(outcome)
        for waiting in job.continued_by:
            is_expected = not (waiting.is_asked_for or waiting.is_earlier)
            waiting.stage = _Stage.EXPECTED if is_expected else _Stage.URGENT
            (self._freed if is_expected else self._urgent).append(waiting)
        job.continued_by.clear()

    async def _converse_with_model(self, entry: Entry) -> Transcript:
        async def answer(request: AskModel) -> Completion:
            if self._halted:
                raise _make_cancelled_error()
            try:
                return await self._model.complete(entry, request)
            except NotScoredError:
                raise
            except Exception as error:
                reason = redact_secrets(f"{type(error).__name__}: {error}")
                raise NotScoredError("model_error", reason) from error

        return await drive_conversation_async(self._converse(entry), answer)

    def halt(self) -> None:
        """Start nothing more and cancel what is in flight, at once; what is asked for later is cancelled.

        For handlers of signals: waits a moment for the loop, but for no lock, which the interrupted code may
        hold.
        """
        self._halted = True
        if self._made is None or self._made.is_closed():
            return
        cancellation = threading.Event()

        def cancel_tasks() -> None:
            for task in self._tasks:
                task.cancel()
            cancellation.set()

        self._made.call_soon_threadsafe(cancel_tasks)
        # Not longer: the loop itself may wait for a lock that the interrupted code holds.
        cancellation.wait(_HALT_S)

    def close(self) -> None:
        """Start nothing more, cancel what is in flight and what is still expected, end the loop."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for job in self._jobs.values():
                if job.stage not in _OVER:
                    job.stage, job.has_failed = _Stage.ENDED, True
                    job.outcome.set_exception(_make_cancelled_error())
        if self._made is None:
            return
        # Outside the lock: a conversation that ends now takes it to deliver its outcome.
        asyncio.run_coroutine_threadsafe(self._cancel(), self._made).result()
        if self._thread is not None:
            self._made.call_soon_threadsafe(self._made.stop)
            self._thread.join()
            self._made.close()

    async def _cancel(self) -> None:
        ours = list(self._tasks)
        # Client libraries leave some behind; whoever made the loop ends them.
        for task in ours if self._beside else asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)
        if not self._beside:
            await self._loop.shutdown_asyncgens()


def _make_not_held_error(before: Entry, error: BaseException) -> NotScoredError:
    """Return the error of an entry whose earlier conversation failed; of several the first one is named."""
    if not isinstance(error, NotScoredError):
        error = NotScoredError(type(error).__name__, redact_secrets(str(error)))
    if isinstance(error, RunStoppedError) or error.cause == NOT_HELD:
        return error
    reason = f"{error.cause}: {error.reason} (in {before.key}, which has to be answered first)"
    return NotScoredError(NOT_HELD, reason)


def _make_cancelled_error() -> RunStoppedError:
    return RunStoppedError("cancelled", "the run ended before the answer arrived")
