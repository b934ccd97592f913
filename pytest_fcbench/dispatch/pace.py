"""The pace of calls: rates per minute, waits after a failure."""

from __future__ import annotations

from random import Random

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class Pace:
    """A rate: spreads amounts (requests, tokens) evenly, so that no minute ever has more than the rate.

    Nothing is saved up in idle times: a burst after a pause is what endpoints refuse first. Times are
    seconds of any one clock.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._free_at = 0.0

    def reserve(self, now: float, amount: float = 1.0) -> float:
        """Take the next place in the line and return the seconds to wait for it."""
        start = max(now, self._free_at)
        self._free_at = start + amount * self._seconds_each
        return start - now

    def turn(self, now: float) -> float:
        """Return the seconds until the next place in the line is free."""
        return max(0.0, self._free_at - now)

    def correct(self, amount: float) -> None:
        """Add the amount that a reservation needed beyond what it reserved; a negative one gives back."""
        self._free_at += amount * self._seconds_each


def backoff(attempt: int, retry_after_s: float | None, random: Random) -> float:
    """Return the seconds to wait after the failed attempt number ``attempt``, from 1 on.

    That is the time that the endpoint asked for, and a little more so that not all calls come back at once;
    else it doubles from half a second to thirty, and a random part of up to half of it is left out.
    """
    if retry_after_s is not None:
        return retry_after_s * random.uniform(1.0, 1.1)
    # Beyond 16 doublings the limit holds anyway, and a power of a float raises OverflowError in the end.
    return min(_FIRST_WAIT_S * 2.0 ** min(attempt - 1, 16), _LONGEST_WAIT_S) * random.uniform(0.5, 1.0)
