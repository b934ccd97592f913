"""Strata of the embedded suite are those that reading an entry gives.

The samples were read and decided by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit.findings import join_user_messages
from pytest_fcbench.tools.audit.strata import list_features
from pytest_fcbench.tools.audit.truths import iterate_accepted_values
from tests.cases import each_case

_SUITE = core.open_suite(Path())
_ENTRIES: Mapping[str, Entry] = {
    entry.id: entry
    for category in _SUITE.categories
    if not category.varies_others
    for entry in _SUITE.load(category)
}

# Two pages lead to the answer: a fact of the first is looked up. Of three or more, each gives the next.
_WEB = {"medium": "0 2 4 6 8 10 12 13 14 16 19 21", "hard": "1 3 5 7 9 11 15 17 18 20"}

# Easy: the user says every value, in English, and each turn can be served at once with a call or two.
# Medium: one thing is different, so a value or two stand in results. Hard: several are, or many values do.
_CONVERSATIONS = {
    "multi_turn_base": {
        "easy": "0 12",
        "medium": "1 3 6 9 10 11 14 15 16 17 18 22 26 28 29 30 31",
        "hard": "2 4 5 7 8 13 19 20 24",
    },
    "multi_turn_miss_func": {"medium": "0 12", "hard": "1 2 6 11"},
    "multi_turn_miss_param": {"medium": "0 2 8 11 16", "hard": "1 4 5 7 12 15"},
    "multi_turn_long_context": {"medium": "0 12", "hard": "1 2 6"},
    "multi_turn_composite": {"hard": "0 5 13"},
}

_DECIDED = {
    f"{category}_{number}": stratum
    for category, by_stratum in (
        ("web_search_base", _WEB),
        ("web_search_no_snippet", _WEB),
        *_CONVERSATIONS.items(),
    )
    for stratum, numbers in by_stratum.items()
    for number in numbers.split()
}


@each_case("name", _DECIDED)
def test_the_stratum_is_that_which_reading_gives(name: str) -> None:
    assert _ENTRIES[name].stratum == _DECIDED[name], _ENTRIES[name].features


_ARITHMETIC = {
    # A unit is changed, a day counted from another, or one number computed from others.
    True: """
    simple_python_8 simple_python_30 simple_java_23 simple_javascript_17 multiple_65 multiple_71 multiple_73
    multiple_85 multiple_145 multiple_164 multiple_194 parallel_7 parallel_multiple_54 parallel_multiple_89
    live_simple_13 live_simple_20 live_multiple_34 live_multiple_86 live_multiple_101 live_multiple_188
    live_multiple_251 live_parallel_20 live_parallel_23 live_parallel_multiple_13 live_parallel_multiple_48
    """,
    # Each value stands in the question or in the line about today, at most in other words or in another form.
    False: """
    simple_python_21 simple_python_22 simple_python_25 simple_java_18 simple_javascript_19 multiple_66
    multiple_86 multiple_96 multiple_149 multiple_151 parallel_multiple_51 parallel_multiple_82
    parallel_multiple_105 parallel_multiple_119 live_simple_30 live_simple_33 live_simple_36 live_multiple_42
    live_multiple_60 live_multiple_88 live_multiple_108 live_multiple_241 live_multiple_244 live_parallel_7
    live_parallel_28 live_parallel_multiple_20 live_parallel_multiple_40 live_parallel_multiple_46
    """,
}


@each_case(
    ("name", "computed"),
    [(name, computed) for computed, names in _ARITHMETIC.items() for name in names.split()],
)
def test_arithmetic_is_stated_where_a_value_is_computed(name: str, computed: bool) -> None:
    assert ("arithmetic" in (_ENTRIES[name].features or ())) is computed


def _has_number_to_find(entry: Entry) -> bool:
    """Tell whether a value of the truth has a number that is not among those of the question."""
    given = {
        float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*", join_user_messages(entry))
    }
    return any(
        float(number) not in given
        for accepted in iterate_accepted_values(entry)
        if not accepted.is_optional
        for value in accepted.values
        for number in re.findall(r"\d+\.?\d*", str(value))
    )


def test_what_is_computed_does_not_stand_in_the_question() -> None:
    stated = [entry for entry in _ENTRIES.values() if "arithmetic" in (entry.features or ())]
    assert len(stated) > 200
    assert [entry.id for entry in stated if not _has_number_to_find(entry)] == []
    assert not _has_number_to_find(_ENTRIES["live_multiple_244"])


def test_stored_features_are_those_that_are_found() -> None:
    differing = [
        name for name, entry in _ENTRIES.items() if list(entry.features or ()) != list(list_features(entry))
    ]
    assert differing == []
