"""Sentence and details of each failure, the same in both profiles where their rules are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pytest_fcbench.codecs.decoders.syntax import Calls
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Verdict
from pytest_fcbench.kinds.calls import official
from pytest_fcbench.kinds.calls import verdict as corrected
from tests.factories import make_doc, make_entry

SIMPLE = "simple_function_checker"
PROFILES = ("official", "corrected")
LONG = "x" * 300


def judge_calls(profile: str, entry: Entry, *calls: Call) -> Verdict:
    """Judge an answer of these calls by a profile."""
    if profile == "official":
        return official.match_calls(entry, Calls(calls), Names.DOTTED)
    return corrected.match_calls(entry, Calls(calls))


def make_booking(accepted: Mapping[str, Sequence[object]], *, required: Sequence[str] = ()) -> Entry:
    """Return an entry that expects one call of ``book`` with ``city`` and ``nights``."""
    doc = make_doc("book", {"city": {"type": "string"}, "nights": {"type": "integer"}}, required=required)
    return make_entry(functions=[doc], expect=[{"book": dict(accepted)}])


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wrong_value_is_named_with_what_is_accepted(profile: str) -> None:
    verdict = judge_calls(profile, make_booking({"nights": [2, 3]}), Call("book", {"nights": 4}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == "book: nights is 4, accepted: [2, 3]"
    assert verdict.details == {"function": "book", "parameter": "nights", "found": "4", "accepted": "[2, 3]"}


def test_texts_that_look_alike_show_in_what_they_differ() -> None:
    verdict = judge_calls("official", make_booking({"city": ["Köln"]}), Call("book", {"city": "Ko\u0308ln"}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == r"book: city is 'Ko\u0308ln', accepted: ['K\u00f6ln']"


@pytest.mark.parametrize("profile", PROFILES)
def test_the_details_hold_more_of_a_long_value_than_the_sentence(profile: str) -> None:
    verdict = judge_calls(profile, make_booking({"city": ["y" * 300]}), Call("book", {"city": LONG}))
    assert isinstance(verdict, Failed)
    assert LONG not in verdict.reason
    assert verdict.details["found"] == repr(LONG)
    assert verdict.details["accepted"] == repr(["y" * 300])


@pytest.mark.parametrize("profile", PROFILES)
def test_a_missing_optional_value_is_named_with_what_was_expected(profile: str) -> None:
    verdict = judge_calls(
        profile, make_booking({"city": ["Oslo"], "nights": [2]}), Call("book", {"city": "Oslo"})
    )
    assert verdict == Failed(
        f"{SIMPLE}:missing_optional",
        "book: nights is missing, expected [2]",
        {"function": "book", "parameter": "nights", "accepted": "[2]"},
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_a_missing_required_value_is_named(profile: str) -> None:
    entry = make_booking({"city": ["Oslo"], "nights": [2]}, required=["city", "nights"])
    verdict = judge_calls(profile, entry, Call("book", {"city": "Oslo"}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == "book: required parameter nights is missing"
    assert verdict.details == {"function": "book", "parameter": "nights"}


@pytest.mark.parametrize("profile", PROFILES)
def test_an_unknown_argument_is_named_with_its_value(profile: str) -> None:
    verdict = judge_calls(
        profile, make_booking({"city": ["Oslo"]}), Call("book", {"city": "Oslo", "pets": LONG})
    )
    assert isinstance(verdict, Failed)
    assert verdict.code == f"{SIMPLE}:unexpected_param"
    assert verdict.details == {"function": "book", "parameter": "pets", "found": repr(LONG)}


def test_a_positional_argument_too_many_is_shown() -> None:
    call = Call("book", {"city": "Oslo", "nights": 2}, positional=("late",))
    verdict = judge_calls("corrected", make_booking({"city": ["Oslo"], "nights": [2]}), call)
    assert isinstance(verdict, Failed)
    assert verdict.reason == "book: a further positional argument is not a parameter (came: 'late')"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_wrong_name_is_shown_with_the_expected_one(profile: str) -> None:
    verdict = judge_calls(profile, make_booking({"city": ["Oslo"]}), Call("hire", {"city": "Oslo"}))
    assert isinstance(verdict, Failed)
    assert verdict.reason == "hire was called, book expected"


@pytest.mark.parametrize("profile", PROFILES)
def test_at_most_twenty_calls_are_kept_of_too_many(profile: str) -> None:
    calls = [Call(f"call_{number}", {}) for number in range(30)]
    verdict = judge_calls(profile, make_booking({"city": ["Oslo"]}), *calls)
    assert isinstance(verdict, Failed)
    assert verdict.reason == "30 calls came, 1 expected"
    assert verdict.details["found"] == [f"call_{number}" for number in range(20)]
