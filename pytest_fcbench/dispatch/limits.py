"""A model behind limits: rates, retries, time, money, and one call before all others."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from pytest_fcbench.dispatch.budget import SAFE, Ledger, estimated_tokens
from pytest_fcbench.dispatch.pace import Pace, backoff
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.protocol_notes import FAILURES, merge_notes
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Model, prepare_model

_BETWEEN_KNOCKS_S = 1.0
"""Seconds between two tries to reach an endpoint that is starting."""

_PROBES = 3
"""First calls that may fail for a reason of their entries before the endpoint itself counts as wrong."""

_ABOUT_AN_ENTRY = frozenset({"bad_request", "garbled", "request_too_large", "too_large"})
"""Causes of failures that the next entry may escape."""

_WRONG_ADDRESS = frozenset({"connection", "web_page"})
"""Causes of failures that a wrong address has: as the first call, such a one is not repeated."""

_MOST_TIMEOUTS = 3
"""The most times that one call may run into its time limit: ten minutes are long, and the next try seldom
ends sooner."""

_INCURABLE = frozenset({"authentication", "quota"})
"""Causes of failures that no other request of the run will escape."""

_INCURABLE_IN_A_ROW = 3
"""Such failures without an answer in between after which nothing is asked any more. One may be about its
entry: some services answer 403 to a prompt that their moderation refuses."""

# Seconds between two starts, about what litellm takes to make a call. Calls that start together come back
# together and then wait for each other again: at 128 in flight a fifth of the speed.
_APART_S = 0.005

# The largest distance, as a part of the time between two starts when all places are always taken: fast calls
# are spread, but never slowed down by it.
_APART = 0.5

_MEMORY = 0.05
"""The weight of the newest call in the mean duration of calls."""


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


@dataclass(frozen=True, slots=True)
class Pause:
    """A failed call that waits to be repeated: why it failed, its tries so far, and when it goes on."""

    cause: str
    attempt: int
    until: float
    """Seconds of ``time.monotonic``, which another thread than the loop's can read."""


@dataclass
class LimitedModel:
    """A model that is asked within limits.

    Until the first call has come back, no second one is made; where it fails for good, none is made at
    all and ``refusal`` says why (the preflight). It is an ordinary call, and its answer is stored.
    """

    model: Model
    limits: Limits = field(default_factory=Limits)
    ledger: Ledger = field(default_factory=Ledger)
    preflight: bool = False
    immediate: bool = False
    calls: int = 0
    """Calls made, including those that failed."""
    retried: int = 0
    """Calls that repeated a failed one."""
    given_up: int = 0
    """Calls that were not answered in time, so that nobody knows what the endpoint charges for them."""
    reused: int = 0
    """Answers that came from a store, as in ``StoredModel``: none."""

    def __post_init__(self) -> None:
        self.decided = threading.Event()
        """Set when the first call has come back, or was not wanted alone."""
        self.refusal: NotScoredError | None = None
        if not self.preflight:
            self.decided.set()
        self._waits_until: float | None = None
        """The end of the wait for an endpoint that is starting, in seconds of ``time.monotonic``."""
        self._is_prepared = False
        self._door = asyncio.Lock()
        self._line = asyncio.Lock()
        self._probes = 0
        self._incurable = 0
        """The number of incurable failures since the last answer."""
        self._stopped_by: CallError | None = None
        """The failure after which nothing is asked any more, even if an answer in flight still comes."""
        self._spared = 0
        self._pauses: dict[object, Pause] = {}
        self._signs_of_life = 0
        self._down = False
        self._starts = Pace(60)
        self._mean_s: float | None = None
        self._requests = Pace(self.limits.rpm)
        self._tokens = Pace(self.limits.tpm)
        self._held_until = 0.0
        self._random = Random()  # noqa: S311 - spreads retries, protects nothing

    @property
    def notes(self) -> tuple[str, ...]:
        """The model's notes, how many calls were tried again, and where the money or the permission ended."""
        notes = list(self.model.notes)
        if self.retried:
            notes.append(f"{self.retried} of {self.calls} calls were retries")
        if self.given_up:
            notes.append(
                f"{self.given_up} of {self.calls} calls were not answered in time; "
                "what the endpoint charges for them is in no cost"
            )
        if (stopped_at := self.ledger.budget.stopped_at) is not None:
            notes.append(
                f"stopped sending requests at ${stopped_at:.4f}: another call could have exceeded the limit"
            )
        if (last := self._stopped_by) is not None:
            notes.append(
                f"stopped sending requests after {_INCURABLE_IN_A_ROW} failures in a row "
                f"({last.cause}: {last.reason}); {self._spared} entries were not asked"
            )
        return tuple(notes)

    @property
    def trouble(self) -> str | None:
        """What keeps calls from being answered, in words; None where nothing does. Any thread may ask."""
        if (until := self._waits_until) is not None:
            left_s = max(0.0, until - time.monotonic())
            return f"waiting for the endpoint to start, {left_s:.0f} s left"
        pauses = sorted(self._pauses.values(), key=lambda pause: pause.until)
        if not pauses:
            return "the endpoint does not answer" if self._down else None
        next_s = max(0.0, pauses[0].until - time.monotonic())
        causes = ", ".join(cause for cause, _ in Counter(pause.cause for pause in pauses).most_common())
        tries = max(pause.attempt for pause in pauses)
        many = "1 call waits" if len(pauses) == 1 else f"{len(pauses)} calls wait"
        of = f"{tries} of {self.limits.retries + 1} tries"
        return f"{many} to be repeated ({causes}, {of}, next in {next_s:.0f} s)"

    def kept(self, entry: Entry, request: AskModel) -> Completion | None:
        """Return the stored answer, as in ``StoredModel``: there is none."""
        return None

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask within the limits. Raises ``NotScoredError`` where there is no answer."""
        if not self.decided.is_set():
            async with self._door:
                if not self.decided.is_set():
                    return await self._probe(entry, request)
        if self.refusal is not None:
            raise NotScoredError(self.refusal.cause, self.refusal.reason)
        if self._stopped_by is not None:
            # A conversation ends with its first failure, so these are entries.
            self._spared += 1
            raise NotScoredError(self._stopped_by.cause, self._stopped_by.reason)
        try:
            completion = await self._call_with_retries(entry, request)
        except CallError as error:
            self._incurable += error.cause in _INCURABLE
            if self._incurable >= _INCURABLE_IN_A_ROW:
                self._stopped_by = error
            raise
        self._incurable = 0
        return completion

    async def _probe(self, entry: Entry, request: AskModel) -> Completion:
        """Make the first call, again while the endpoint cannot be reached and a starting one is waited for.

        The call of one entry may fail for a reason of its own; several in a row decide.
        """
        until = _now() + self.limits.wait_s
        try:
            while True:
                try:
                    completion = await self._call_with_retries(entry, request)
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

    async def _call_with_retries(self, entry: Entry, request: AskModel) -> Completion:
        """Call until a try works.

        When nothing at all has worked during all tries of a call, the endpoint counts as down, and calls are
        made only once until one works again. An endpoint that asks for a longer pause than allowed is asked
        again once, after the longest pause, and no other call waits for it.
        """
        signs_of_life = self._signs_of_life
        has_paused_longest, timeouts = False, 0
        failures: set[str] = set()
        for attempt in range(1, self.limits.retries + 2):
            try:
                promised = await self.ledger.promise(request)
                paid_for = None
                try:
                    completion = paid_for = await self._call_in_turn(entry, request, attempt)
                except CallError as error:
                    # The endpoint may answer later, and charge for it: the budget counts the promise.
                    if error.cause == "timeout":
                        self.given_up += 1
                        paid_for = Completion()
                    raise
                finally:
                    await self.ledger.settle(promised, paid_for)
            except CallError as error:
                pause_s = error.retry_after_s
                is_too_long = pause_s is not None and pause_s > self.limits.max_pause_s
                if is_too_long:
                    error = error.with_reason(self._describe_long_pause(error))
                timeouts += error.cause == "timeout"
                failures |= FAILURES & {error.cause}
                last = (
                    attempt > self.limits.retries
                    or (is_too_long and has_paused_longest)
                    or timeouts >= _MOST_TIMEOUTS
                )
                self._down |= error.transient and last and self._signs_of_life == signs_of_life
                # The preflight reports a wrong address early, so such a first call is not repeated.
                is_wrong_address = error.cause in _WRONG_ADDRESS and not self.decided.is_set()
                # An endpoint that refuses a request for good has at least read it.
                if not error.transient:
                    self._note_sign_of_life()
                if not error.transient or last or self._down or is_wrong_address:
                    raise error from None
                if is_too_long:
                    has_paused_longest, pause_s = True, self.limits.max_pause_s
                elif error.cause == "rate_limit" and pause_s is not None:
                    # The endpoint speaks to all calls, not to this one.
                    self._held_until = max(self._held_until, _now() + pause_s)
                wait_s = backoff(attempt, pause_s, self._random)
                self._pauses[(pause := object())] = Pause(error.cause, attempt, time.monotonic() + wait_s)
                try:
                    await asyncio.sleep(wait_s)
                finally:
                    del self._pauses[pause]
            else:
                self._note_sign_of_life()
                if not failures:
                    return completion
                return replace(completion, protocol=merge_notes(completion.protocol, failures))
        raise AssertionError("the last attempt returns or raises")

    def _describe_long_pause(self, error: CallError) -> str:
        assert error.retry_after_s is not None
        return (
            f"a pause of {error.retry_after_s:,.0f} s was asked for, longer than "
            f"--fcbench-max-pause={self.limits.max_pause_s:g} allows: {error.reason}"
        )

    def _note_sign_of_life(self) -> None:
        self._signs_of_life += 1
        self._down = False

    async def _call_in_turn(self, entry: Entry, request: AskModel, attempt: int) -> Completion:
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
            while (
                wait_s := max(
                    self._requests.turn(_now()), self._tokens.turn(_now()), self._held_until - _now()
                )
            ) > 0:
                await asyncio.sleep(wait_s)
            self._requests.reserve(_now())
            self._tokens.reserve(_now(), tokens)
        if not self._is_prepared:
            # Otherwise the time of imports would be part of the first answer's, and of its limit.
            await prepare_model(self.model)
            self._is_prepared = True
        self.calls += 1
        self.retried += attempt > 1
        limit = asyncio.timeout(self.limits.timeout_s)
        started = _now()
        try:
            async with limit:
                completion = await self.model.complete(entry, request)
        except TimeoutError:
            # Not ours: the model raised a TimeoutError itself.
            if not limit.expired():
                raise
            reason = f"no answer within {self.limits.timeout_s:g} s"
            raise CallError("timeout", reason, transient=True) from None
        took_s = _now() - started
        self._mean_s = took_s if self._mean_s is None else self._mean_s + _MEMORY * (took_s - self._mean_s)
        if self.limits.tpm:
            used = (completion.input_tokens or tokens) + (completion.output_tokens or 0)
            self._tokens.correct(used - tokens)
        return completion


def _now() -> float:
    return asyncio.get_running_loop().time()
