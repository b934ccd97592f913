"""What an endpoint says with a call that failed: its status and its headers."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime

_CAUSES = {
    400: "bad_request",
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    422: "bad_request",
    429: "rate_limit",
}
"""Causes by HTTP status; every other one is ``endpoint``."""

_TRANSIENT = frozenset({408, 409, 425, 429})
"""What may pass although the status says that the request is to blame."""


def diagnosis(status: int) -> tuple[str, bool]:
    """The cause that an HTTP status tells, and whether trying again may help."""
    return _CAUSES.get(status, "endpoint"), status >= 500 or status < 400 or status in _TRANSIENT


def retry_after_s(value: str, sent: str | None = None) -> float | None:
    """Seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), given as a number or as a date.

    A date is by the endpoint's clock, whose time its ``Date`` header says (``sent``): ours may be wrong.
    """
    if re.fullmatch(r"-?\d{1,9}(\.\d*)?", value.strip()):
        return max(0.0, float(value))
    until, now = _timestamp(value), None if sent is None else _timestamp(sent)
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _timestamp(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
