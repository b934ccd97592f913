"""The cause of a failed call, read from its status and headers."""

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
"""Causes by HTTP status; that of every other one is ``endpoint``."""

_TRANSIENT = frozenset({408, 409, 425, 429})
"""Statuses that may pass although they blame the request."""


def diagnose_status(status: int) -> tuple[str, bool]:
    """Return the cause that an HTTP status stands for, and whether trying again may help."""
    return _CAUSES.get(status, "endpoint"), status >= 500 or status < 400 or status in _TRANSIENT


def parse_retry_after(value: str, sent: str | None = None) -> float | None:
    """Return the seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), given as a number or as a date.

    A date is by the endpoint's clock, whose time its ``Date`` header says (``sent``): ours may be wrong.
    """
    # Bounded: a longer number would be a wait of decades.
    if re.fullmatch(r"-?\d{1,9}(\.\d*)?", value.strip()):
        return max(0.0, float(value))
    until, now = _parse_date(value), None if sent is None else _parse_date(sent)
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _parse_date(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
