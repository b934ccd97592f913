"""Every error a user can meet::

    FcbenchError
    ├── UsageError            a wrong option, key, name or gate rule: exit code 4
    ├── SuiteError            a suite cannot be read: file, line, field
    ├── PackError             official data cannot be fetched or is not what it should be
    │   └── PackMissing       ... is not there; says which command gets it
    └── NotScoredError        one answer could not be obtained or judged; other entries go on
        ├── CallError         ... because a call to the model failed; says whether trying again may help
        └── RunStoppedError   ... because the run has ended; the other entries do not go on

Each message names the value, the rule and the way out.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LACKING = (LookupError, ValueError)
"""Exceptions where an answer lacks what a check or a test takes out of it, such as an argument or JSON."""


class FcbenchError(Exception):
    """Base of all errors meant for the user."""


class UsageError(FcbenchError):
    """An option, a configuration key, a name or a rule is wrong."""


class SuiteError(FcbenchError):
    """A suite's file is missing or a record in it is broken; nothing runs on half a suite."""


class PackError(FcbenchError):
    """A pack of official data could not be fetched, or was refused."""


class PackMissing(PackError):  # noqa: N818 - reads as the state it names
    """A suite needs a pack that is not in the cache."""


class NotScoredError(FcbenchError):
    """An answer could not be obtained or judged: counts as not scored, never as wrong."""

    def __init__(self, cause: str, reason: str) -> None:
        super().__init__(reason)
        self.cause = cause
        self.reason = reason


class CallError(NotScoredError):
    """A call to a model failed. ``transient`` failures may pass when the same is asked again.

    ``retry_after_s`` is how long the endpoint asked to wait, None where it said nothing.
    """

    def __init__(
        self, cause: str, reason: str, *, transient: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(cause, reason)
        self.transient = transient
        self.retry_after_s = retry_after_s

    def with_reason(self, reason: str) -> CallError:
        """Return the same failure with another reason, for example one that names the model."""
        return CallError(self.cause, reason, transient=self.transient, retry_after_s=self.retry_after_s)


class RunStoppedError(NotScoredError):
    """The run was stopped, or the process that asks the model is gone, before the answer came."""


_MOST_NAMES = 30
"""More names than this, such as those of all entries of a suite, are counted."""
_LISTED_BY = {
    "category": "fcbench suite list --categories",
    "check": "fcbench suite audit --help",
    "code": "fcbench codes",
    "entry": "pytest --collect-only -q",
    "official model": "fcbench models --official",
    "page": "fcbench help",
}
"""The command that lists all names of a kind, where there may be many."""


def describe_unknown_name(kind: str, value: str, valid: Iterable[str]) -> str:
    """Describe an unknown name: the value, the nearest valid names, and all of them if they are few.

    Of many names, the three nearest are told and the command that lists all.
    """
    names = [str(name) for name in valid]
    is_long = len(names) > _MOST_NAMES
    nearest_names = get_close_matches(value, names, n=3 if is_long else 2, cutoff=0.6)
    guess = f" Did you mean {' or '.join(map(repr, nearest_names))}?" if nearest_names else ""
    listing = f"Valid: {', '.join(names)}."
    if not names:
        listing = f"There is no {kind} that could be named; leave it out."
    elif is_long and (nearest_names or kind in _LISTED_BY):
        command = f"; '{_LISTED_BY[kind]}' lists them" if kind in _LISTED_BY else ""
        listing = f"There are {len(names):,} valid names{command}."
    return f"unknown {kind} {value!r}.{guess} {listing}"
