"""Calls whose results are compared, and requests whose replies are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.entry import Entry, Expectation
from pytest_fcbench.domain.recorded_call import RecordedCall


class ResultRule(StrEnum):
    """A rule for comparing the result of a call with the expected one."""

    EXACT = "exact_match"
    """Both are equal."""
    REAL_TIME = "real_time_match"
    """Both are numbers, at most 20 % apart, because the value changes from day to day."""
    STRUCTURAL = "structural_match"
    """Both have the same type and, at the top, the same keys or as many elements."""


@dataclass(frozen=True, slots=True)
class ExpectedResults(Expectation):
    """The answer must consist of calls that return what these return (BFCL's executable evaluation)."""

    calls: tuple[str, ...]
    """As Python text (``math_gcd(a=12, b=18)``)."""
    kinds: tuple[ResultRule, ...]
    """The comparison for each call."""
    recorded: tuple[RecordedCall, ...] = ()
    """Recorded replies of web APIs."""
    own: tuple[str, ...] = ()
    """Functions of a team (``module.function``) that calls may name."""


@dataclass(frozen=True, slots=True)
class ExpectedResponse(Expectation):
    """The answer must be a call that a web API answers as it answers this one (BFCL's REST evaluation)."""

    call: str
    """As Python text (``requests.get(url='https://...', params={...})``)."""
    recorded: str | None = None
    """The JSON that was answered when it was recorded; None where a service of the suite's own answers."""


def asks_web_api(entry: Entry) -> bool:
    """Tell whether the answer to an entry is a request of a web API."""
    return isinstance(entry.expectation, ExpectedResponse)


def list_recorded_replies(entry: Entry) -> Sequence[tuple[str, str]]:
    """Return the call of an entry with the recorded reply of its web API; nothing where none was recorded."""
    truth = entry.expectation
    if not isinstance(truth, ExpectedResponse) or truth.recorded is None:
        return ()
    return ((truth.call, truth.recorded),)


def list_calls_to_carry_out(entry: Entry) -> Sequence[str]:
    """Return the calls of a right answer whose results are compared; nothing for entries of other kinds."""
    return entry.expectation.calls if isinstance(entry.expectation, ExpectedResults) else ()
