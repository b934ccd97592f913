"""How often calls may start: rates per minute, waits after a failure."""

from __future__ import annotations

from random import Random

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0


class Pace:
    """Spreads amounts (requests, tokens) evenly over time, so that no minute ever holds more than the rate.

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
        """Add what a reservation turned out to need beyond its amount (less than 0 gives back)."""
        self._free_at += amount * self._seconds_each


def backoff(attempt: int, retry_after_s: float | None, random: Random) -> float:
    """Return the seconds to wait after the failed attempt number ``attempt``, from 1 on.

    That is what the endpoint asked for, and a little more so that not all come back at once; else it doubles
    from half a second to thirty, with up to half of it left to chance.
    """
    if retry_after_s is not None:
        return retry_after_s * random.uniform(1.0, 1.1)
    return min(_FIRST_WAIT_S * 2.0 ** min(attempt - 1, 16), _LONGEST_WAIT_S) * random.uniform(0.5, 1.0)
