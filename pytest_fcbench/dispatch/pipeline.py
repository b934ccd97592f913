"""The way of a request to a model: a list of steps in the order in which the request passes them.

``build_pipeline`` is that list, and the steps stand below it in the same order. Each either answers a request
itself or asks what comes after it. In front of the list, ``models/protocol.py`` chooses the party.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Protocol, TypeVar

from pytest_fcbench.dispatch.limits import SAFE, Ledger, Pace, backoff, bound_answer, estimated_tokens
from pytest_fcbench.dispatch.stored_answers import StoredAnswers
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.protocol_notes import FAILURES, merge_notes
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Ask, Responder, prepare_model


class PipelineStep(Protocol):
    """A step on the way to a model."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for readers of the scorecard."""
        return ()

    @property
    def trouble(self) -> str | None:
        """The reason why calls are not answered now, in words, or None. Any thread may ask."""
        return None

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Answer a request, mostly by what ``ask`` returns: the steps behind this one, and the model.

        Raises ``NotScoredError`` where there is no answer to judge.
        """


_Step = TypeVar("_Step", bound=PipelineStep)


@dataclass(frozen=True)
class Pipeline:
    """A model, or another responder, behind a list of steps."""

    model: Responder
    steps: Sequence[PipelineStep]
    immediate: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the model, then those of the steps from the last to the first."""
        return (*self.model.notes, *(note for step in reversed(self.steps) for note in step.notes))

    @property
    def trouble(self) -> str | None:
        """The reason why calls are not answered now, in words, or None. Any thread may ask."""
        return next((trouble for step in self.steps if (trouble := step.trouble)), None)

    @property
    def first_call(self) -> FirstCall | None:
        """The step that makes the first call alone, if any."""
        return self._find_step(FirstCall)

    @property
    def stored_answers(self) -> StoredAnswers | None:
        """The step that stores answers, if any."""
        return self._find_step(StoredAnswers)

    @property
    def calls(self) -> int:
        """The number of calls made, including those that failed; 0 where none are counted."""
        return step.calls if (step := self._find_step(TimedCalls)) else 0

    def _find_step(self, kind: type[_Step]) -> _Step | None:
        return next((step for step in self.steps if isinstance(step, kind)), None)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Send a request through all steps to the model. Raises ``NotScoredError``."""
        ask: Ask = self.model.complete
        for step in reversed(self.steps):
            ask = partial(step.answer_request, ask)
        return await ask(entry, request)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run asks of an endpoint. Rates are per minute; None means no limit."""

    rpm: float | None = None
    tpm: float | None = None
    retries: int = 8
    """The number of times that a failed call is repeated."""
    timeout_s: float = 600.0
    """The longest wait for one answer."""
    max_pause_s: float = 60.0
    """The longest wait that an endpoint may ask for."""
    wait_s: float = 0.0
    """The longest wait for an endpoint that cannot be reached before the first answer."""
    concurrency: int | None = None
    """The number of calls meant to be in flight: their starts are spread so that they do not move in step."""


def build_pipeline(
    model: Responder,
    limits: Limits,
    ledger: Ledger | None = None,
    stored_answers: StoredAnswers | None = None,
    *,
    preflight: bool = False,
    longest_read: int | None = None,
    longest_stored: int | None = None,
) -> Pipeline:
    """List the steps to a model: the way from a request to its endpoint."""
    first_call = FirstCall(limits.wait_s, preflight)
    rate_limit, timed_calls = RateLimit(limits), TimedCalls(limits.timeout_s)
    steps: Sequence[PipelineStep | None] = [
        # In front of the store: what is in there can be judged with another limit later.
        LengthLimit(longest_read) if longest_read else None,
        stored_answers,
        # What is longer is not kept: many such answers at once would take gigabytes.
        LengthLimit(longest_stored) if longest_stored else None,
        first_call,
        RefusalLimit(),
        Retries(limits, first_call, rate_limit, timed_calls),
        Payment(ledger or Ledger()),
        # Not as a part of the call, or the time of imports would be part of the first answer's.
        Preparation(model),
        rate_limit,
        timed_calls,
    ]
    return Pipeline(model, [step for step in steps if step])


@dataclass(frozen=True, slots=True)
class LengthLimit(PipelineStep):
    """Replace an answer of more than ``longest`` characters by a fault."""

    longest: int

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Return the answer, or the fault in its place."""
        return bound_answer(await ask(entry, request), self.longest)


_BETWEEN_KNOCKS_S = 1.0
"""Seconds between two tries to reach an endpoint that is starting."""

_PROBES = 3
"""First calls that may fail for a reason of their entries before the endpoint itself counts as wrong."""

_ABOUT_AN_ENTRY = frozenset({"bad_request", "garbled", "request_too_large", "too_large"})
"""Causes of failures that the next entry may escape."""


class FirstCall(PipelineStep):
    """Make the first call alone (the preflight), an ordinary one whose answer is used.

    Until it has come back, no second one is made; where it fails for good, none is made at all.
    """

    def __init__(self, wait_s: float, preflight: bool) -> None:
        self.decided = threading.Event()
        """Set when the first call has come back, or was not wanted alone."""
        self.refusal: NotScoredError | None = None
        """The failure of the first call, after which no other is made."""
        if not preflight:
            self.decided.set()
        self._wait_s = wait_s
        self._waits_until: float | None = None
        """The end of the wait for an endpoint that is starting, in seconds of ``time.monotonic``."""
        self._door = asyncio.Lock()
        self._probes = 0

    @property
    def trouble(self) -> str | None:
        """Tell how long an endpoint that is starting is still waited for."""
        if (until := self._waits_until) is None:
            return None
        return f"waiting for the endpoint to start, {max(0.0, until - time.monotonic()):.0f} s left"

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Ask, alone at first. Raises ``NotScoredError``, once the first call has failed in any case."""
        if not self.decided.is_set():
            async with self._door:
                if not self.decided.is_set():
                    return await self._probe_endpoint(ask, entry, request)
        if self.refusal is not None:
            raise NotScoredError(self.refusal.cause, self.refusal.reason)
        return await ask(entry, request)

    async def _probe_endpoint(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Make the first call, again while the endpoint cannot be reached and a starting one is waited for.

        The call of one entry may fail for a reason of its own; several in a row decide.
        """
        until = _now() + self._wait_s
        try:
            while True:
                try:
                    completion = await ask(entry, request)
                    break
                except CallError as error:
                    if error.cause != "connection" or not error.transient or _now() >= until:
                        raise
                self._waits_until = time.monotonic() + until - _now()
                await asyncio.sleep(min(_BETWEEN_KNOCKS_S, until - _now()))
        except asyncio.CancelledError:
            self.refusal = NotScoredError("timeout", "the first call did not return before its time limit")
            self.decided.set()
            raise
        except NotScoredError as error:
            self._probes += 1
            # A request may be larger than all that a minute allows, and the next one smaller.
            is_large = error.cause == "rate_limit" and isinstance(error, CallError) and not error.transient
            if not (is_large or error.cause in _ABOUT_AN_ENTRY) or self._probes >= _PROBES:
                self.refusal = error
                self.decided.set()
            raise
        finally:
            self._waits_until = None
        self.decided.set()
        return completion


_INCURABLE = frozenset({"authentication", "quota"})
"""Causes of failures that no other request of the run will escape."""

_INCURABLE_IN_A_ROW = 3
"""Such failures without an answer in between after which nothing is asked any more. One may be about its
entry: some services answer 403 to a prompt that their moderation refuses."""


class RefusalLimit(PipelineStep):
    """Ask nothing more once the endpoint has refused the key or the account several times in a row."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._stopped_by: CallError | None = None
        """The failure after which nothing is asked any more, even if an answer in flight still comes."""
        self._spared = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Say where the permission ended, and how many requests were not sent."""
        if (last := self._stopped_by) is None:
            return ()
        why = f"after {_INCURABLE_IN_A_ROW} failures in a row ({last.cause}: {last.reason})"
        return (f"stopped sending requests {why}; {self._spared} requests were not sent",)

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Ask, or raise the last refusal."""
        if self._stopped_by is not None:
            self._spared += 1
            raise NotScoredError(self._stopped_by.cause, self._stopped_by.reason)
        try:
            completion = await ask(entry, request)
        except CallError as error:
            self._in_a_row += error.cause in _INCURABLE
            if self._in_a_row >= _INCURABLE_IN_A_ROW:
                self._stopped_by = error
            raise
        self._in_a_row = 0
        return completion


_WRONG_ADDRESS = frozenset({"connection", "web_page"})
"""Causes of failures that a wrong address has: as the first call, such a one is not repeated."""

_MOST_TIMEOUTS = 3
"""The most times that one call may run into its time limit: ten minutes are long, and the next try seldom
ends sooner."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A failed call that waits to be repeated: why it failed, its tries so far, and when it goes on."""

    cause: str
    attempt: int
    until: float
    """Seconds of ``time.monotonic``, which another thread than the loop's can read."""


class Retries(PipelineStep):
    """Repeat a call until a try works.

    When nothing at all has worked during all tries of a call, the endpoint counts as down, and calls are
    made only once until one works again. An endpoint that asks for a longer pause than allowed is asked
    again once, after the longest pause, and no other call waits for it.
    """

    def __init__(
        self, limits: Limits, first_call: FirstCall, rate_limit: RateLimit, timed_calls: TimedCalls
    ) -> None:
        self._limits, self._first_call = limits, first_call
        self._rate_limit, self._timed_calls = rate_limit, timed_calls
        self._pauses: dict[object, Pause] = {}
        self._signs_of_life = 0
        self._down = False
        self._random = Random()  # noqa: S311 - spreads retries, protects nothing

    @property
    def trouble(self) -> str | None:
        """Tell of the calls that wait to be repeated, or that the endpoint is down."""
        pauses = sorted(self._pauses.values(), key=lambda pause: pause.until)
        if not pauses:
            return "the endpoint does not answer" if self._down else None
        next_s = max(0.0, pauses[0].until - time.monotonic())
        causes = ", ".join(cause for cause, _ in Counter(pause.cause for pause in pauses).most_common())
        tries = max(pause.attempt for pause in pauses)
        many = "1 call waits" if len(pauses) == 1 else f"{len(pauses)} calls wait"
        of = f"{tries} of {self._limits.retries + 1} tries"
        return f"{many} to be repeated ({causes}, {of}, next in {next_s:.0f} s)"

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Ask, again after failures that may pass. Raises the last failure."""
        signs_of_life = self._signs_of_life
        has_paused_longest, timeouts = False, 0
        failures: set[str] = set()
        for attempt in range(1, self._limits.retries + 2):
            try:
                completion = await ask(entry, request)
            except CallError as error:
                self._timed_calls.retries += attempt > 1
                pause_s = error.retry_after_s
                is_too_long = pause_s is not None and pause_s > self._limits.max_pause_s
                if is_too_long:
                    limit = f"longer than --fcbench-max-pause={self._limits.max_pause_s:g} allows"
                    reason = f"a pause of {pause_s:,.0f} s was asked for, {limit}: {error.reason}"
                    error = error.with_reason(reason)
                timeouts += error.cause == "timeout"
                failures |= FAILURES & {error.cause}
                has_tried_enough = attempt > self._limits.retries or timeouts >= _MOST_TIMEOUTS
                last = has_tried_enough or (is_too_long and has_paused_longest)
                self._down |= error.transient and last and self._signs_of_life == signs_of_life
                # The preflight reports a wrong address early, so such a first call is not repeated.
                is_wrong_address = error.cause in _WRONG_ADDRESS and not self._first_call.decided.is_set()
                # An endpoint that refuses a request for good has at least read it.
                if not error.transient:
                    self._note_sign_of_life()
                if not error.transient or last or self._down or is_wrong_address:
                    raise error from None
                if is_too_long:
                    has_paused_longest, pause_s = True, self._limits.max_pause_s
                elif error.cause == "rate_limit" and pause_s is not None:
                    # The endpoint speaks to all calls, not to this one.
                    self._rate_limit.hold_calls(pause_s)
                wait_s = backoff(attempt, pause_s, self._random)
                self._pauses[(pause := object())] = Pause(error.cause, attempt, time.monotonic() + wait_s)
                try:
                    await asyncio.sleep(wait_s)
                finally:
                    del self._pauses[pause]
            else:
                self._timed_calls.retries += attempt > 1
                self._note_sign_of_life()
                if not failures:
                    return completion
                return replace(completion, protocol=merge_notes(completion.protocol, failures))
        raise AssertionError("the last attempt returns or raises")

    def _note_sign_of_life(self) -> None:
        self._signs_of_life += 1
        self._down = False


@dataclass
class Payment(PipelineStep):
    """Reserve the highest likely cost of a call in the budget, and book its real cost afterwards."""

    ledger: Ledger

    @property
    def notes(self) -> tuple[str, ...]:
        """Say where the money ended."""
        if (stopped_at := self.ledger.budget.stopped_at) is None:
            return ()
        return (f"stopped sending requests at ${stopped_at:.4f}: another call could have exceeded the limit",)

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Ask where the budget allows it. Raises ``NotScoredError``."""
        promise = await self.ledger.promise(request)
        paid_for = None
        try:
            paid_for = await ask(entry, request)
            return paid_for
        except CallError as error:
            # The endpoint may answer later, and charge for it: the budget counts the promise.
            if error.cause == "timeout":
                paid_for = Completion()
            raise
        finally:
            await self.ledger.settle(promise, paid_for)


@dataclass
class Preparation(PipelineStep):
    """Let the model import and open what its calls need, before the first one."""

    model: Responder
    _is_done: bool = field(default=False, init=False)

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Prepare the model, then ask."""
        if not self._is_done:
            await prepare_model(self.model)
            self._is_done = True
        return await ask(entry, request)


# Seconds between two starts, about what litellm takes to make a call. Calls that start together come back
# together and then wait for each other again: at 128 in flight a fifth of the speed.
_APART_S = 0.005

# The largest distance, as a part of the time between two starts when all places are always taken: fast calls
# are spread, but never slowed down by it.
_APART = 0.5

_MEMORY = 0.05
"""The weight of the newest call in the mean duration of calls."""


class RateLimit(PipelineStep):
    """Start calls one after the other, as fast as the rates of requests and tokens allow."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._line = asyncio.Lock()
        self._starts = Pace(60)
        self._mean_s: float | None = None
        self._requests = Pace(limits.rpm)
        self._tokens = Pace(limits.tpm)

    def hold_calls(self, pause_s: float) -> None:
        """Start no call for so many seconds."""
        self._requests.hold(_now() + pause_s)

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Wait for a turn, then ask."""
        tokens = estimated_tokens(request, SAFE) if self.limits.tpm else 0
        apart_s = 0.0
        if self.limits.concurrency is not None:
            mean_s = math.inf if self._mean_s is None else self._mean_s
            apart_s = min(_APART_S, _APART * mean_s / self.limits.concurrency)
        if (wait_s := self._starts.reserve(_now(), apart_s)) > 0:
            await asyncio.sleep(wait_s)
        # One waits for the next turn, the others for that one.
        async with self._line:
            # Measured again after each sleep: the endpoint may have asked another call to wait longer.
            while (wait_s := max(self._requests.turn(_now()), self._tokens.turn(_now()))) > 0:
                await asyncio.sleep(wait_s)
            self._requests.reserve(_now())
            self._tokens.reserve(_now(), tokens)
        start_s = _now()
        completion = await ask(entry, request)
        took_s = _now() - start_s
        self._mean_s = took_s if self._mean_s is None else self._mean_s + _MEMORY * (took_s - self._mean_s)
        if self.limits.tpm:
            token_count = (completion.input_tokens or tokens) + (completion.output_tokens or 0)
            self._tokens.correct(token_count - tokens)
        return completion


@dataclass
class TimedCalls(PipelineStep):
    """Make a call, give it up when it takes longer than ``timeout_s``, and count."""

    timeout_s: float
    calls: int = 0
    """Calls made, including those that failed."""
    retries: int = 0
    """Calls that repeated a failed one."""
    given_up: int = 0
    """Calls that were not answered in time, so that nobody knows what the endpoint charges for them."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many calls were tried again, and how many were not answered."""
        notes = [f"{self.retries} of {self.calls} calls were retries"] if self.retries else []
        if self.given_up:
            late_calls = f"{self.given_up} of {self.calls} calls were not answered in time"
            notes.append(f"{late_calls}; what the endpoint charges for them is in no cost")
        return tuple(notes)

    async def answer_request(self, ask: Ask, entry: Entry, request: AskModel) -> Completion:
        """Ask. Raises ``CallError``, also when the time is over."""
        self.calls += 1
        limit = asyncio.timeout(self.timeout_s)
        try:
            async with limit:
                return await ask(entry, request)
        except TimeoutError:
            # Not ours: the model raised a TimeoutError itself.
            if not limit.expired():
                raise
            self.given_up += 1
            raise CallError("timeout", f"no answer within {self.timeout_s:g} s", transient=True) from None
        except CallError as error:
            self.given_up += error.cause == "timeout"
            raise


def _now() -> float:
    return asyncio.get_running_loop().time()
