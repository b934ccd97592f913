"""What an endpoint says with a call that failed."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from pytest_fcbench.models.providers.failures import diagnose_status, parse_retry_after


@pytest.mark.parametrize(
    ("status", "message", "cause", "transient"),
    [
        (400, "No connected db. (400) (no_db_connection)", "authentication", False),
        (400, "/chat/completions: Invalid model name passed in model=smal", "not_found", False),
        (400, "unknown field", "bad_request", False),
        (500, "no_db_connection", "endpoint", True),
        (401, "", "authentication", False),
        (429, "", "rate_limit", True),
    ],
)
def test_the_cause_is_that_of_the_status_or_of_the_words(
    status: int, message: str, cause: str, transient: bool
) -> None:
    assert diagnose_status(status, message) == (cause, transient)


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), (" 0.5 ", 0.5), ("-3", 0.0), ("٣", 3.0)])
def test_a_number_is_seconds(value: str, seconds: float) -> None:
    assert parse_retry_after(value) == seconds


@pytest.mark.parametrize("years", [-30, -1, 0, 1, 30])
def test_a_date_is_by_the_clock_of_the_endpoint(years: int) -> None:
    """Ours may be years ahead or behind."""
    there = time.time() + years * 365 * 86_400
    assert parse_retry_after(formatdate(there + 90, usegmt=True), formatdate(there, usegmt=True)) == 90
    assert parse_retry_after(formatdate(there - 90, usegmt=True), formatdate(there, usegmt=True)) == 0


@pytest.mark.parametrize("sent", [None, "soon"])
def test_without_its_time_ours_is_taken(sent: str | None) -> None:
    found = parse_retry_after(formatdate(time.time() + 900, usegmt=True), sent)
    assert found is not None
    assert 800 < found <= 900


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "\ud800",
        "1e9",
        "9" * 30,
        "Mon, 01 Jan 99999999999 00:00:00 GMT",
        "Mon, 99 Jan 2024 00:00:00 GMT",
    ],
)
def test_what_says_no_time_is_none(value: str) -> None:
    assert parse_retry_after(value) is None
