"""The section as JSON: what it says of usage, price and trials, and that its schema holds and can refuse."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import cast

import jsonschema
import pytest
from jsonschema.exceptions import best_match

from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import FORMATS
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.domain.verdict import OTHER_RULES, Failed, NotScored, Passed, Profile
from pytest_fcbench.present.document import json_schema, write_section
from pytest_fcbench.scorecard.aggregate.intervals import find_cluster_interval
from pytest_fcbench.scorecard.record import EarlierConversation, Record, Usage
from pytest_fcbench.scorecard.run_facts import RunFacts
from tests.cases import each_case
from tests.factories import (
    make_call_verdict,
    make_evidence,
    make_format_record,
    make_path_record,
    make_path_score,
    make_record,
)
from tests.scorecard.aggregate.test_secondary_scores import make_chat_records, make_executed_records

FACTS = RunFacts(
    fcbench="0.1.0",
    model="gpt-4o",
    mode="fc",
    names="underscored",
    syntax="tool_calls",
    profile=Profile.OFFICIAL,
    suites={"core": {"version": "1", "pack_hash": None}},
    notes=(),
    price=Price(input=2.5, output=10.0),
    concurrency=8,
)
FAILED, TIMEOUT = Failed("wrong_count", "2 calls"), NotScored("timeout", "600 s")
TRIALS = [
    make_record(verdict, FAILED, category=category, trial=trial, steps=[Usage(seconds, 10, 2, 0.5)])
    for category, trial, verdict, seconds in (
        ("multiple", 1, Passed(), 1.0),
        ("multiple", 2, FAILED, 3.0),
        ("parallel", 1, Passed(), 2.0),
        ("parallel", 2, TIMEOUT, 2.0),
    )
]


@cache
def _make_validator() -> jsonschema.Draft202012Validator:
    schema = {**json_schema(), "$ref": "#/$defs/section"}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def _read_section(records: Sequence[Record], facts: RunFacts = FACTS) -> dict[str, object]:
    """Return the section as it is read from a file."""
    found: dict[str, object] = json.loads(json.dumps(write_section(facts, make_evidence(records, facts), [])))
    return found


def _validate_section(found: object) -> None:
    if error := best_match(_make_validator().iter_errors(found)):
        raise error


def _find_value(found: object, *path: str) -> object:
    """Return the value at a path of keys."""
    for key in path:
        assert isinstance(found, dict)
        found = found[key]
    return found


def test_a_run_without_usage_and_trials_says_so() -> None:
    found = _read_section([make_record()], replace(FACTS, price=None, concurrency=None))
    _validate_section(found)
    assert (found["price"], found["concurrency"], found["trials"]) == (None, None, 1)
    nothing = {
        "steps": 0,
        "priced": 0,
        "input_tokens": None,
        "output_tokens": None,
        "usd": None,
        "usd_per_1000_calls": None,
        "latency_mean_s": None,
        "latency_std_s": None,
        "latency_p50_s": None,
        "latency_p95_s": None,
        "cached_tokens": None,
        "cache_write_tokens": None,
        "reasoning_tokens": None,
    }
    assert found["usage"] == {"run": nothing, "categories": {"simple_python": nothing}, "bill": nothing}
    for profile in Profile:
        assert "trials" not in cast("dict[str, object]", _find_value(found, "profiles", profile))


def test_a_run_of_nothing_fits_the_schema() -> None:
    found = _read_section([])
    _validate_section(found)
    assert _find_value(found, "usage", "categories") == {}


def test_right_turns_stand_in_each_profile_where_conversations_were_run() -> None:
    failed = Failed("multi_turn:empty_turn_model_response", "x", {"right_turns": 1, "turns": 4})
    found = _read_section([make_record(failed, category="multi_turn_base")])
    _validate_section(found)
    counted = {"conversations": 1, "turns": 4, "right": 1, "share": 0.25}
    for profile in Profile:
        turns = _find_value(found, "profiles", profile, "right_turns")
        assert turns == {"multi_turn_base": counted, "all": counted}


def test_usage_stands_for_the_run_and_each_category() -> None:
    found = _read_section(TRIALS)
    _validate_section(found)
    assert _find_value(found, "usage", "run", "input_tokens") == 40
    assert _find_value(found, "usage", "categories", "parallel", "latency_std_s") == 0
    assert _find_value(found, "usage", "categories", "multiple") == {
        "steps": 2,
        "priced": 2,
        "input_tokens": 20,
        "output_tokens": 4,
        "usd": 1.0,
        "usd_per_1000_calls": 500.0,
        "latency_mean_s": 2.0,
        "latency_std_s": pytest.approx(2**0.5),
        "latency_p50_s": 2.0,
        "latency_p95_s": pytest.approx(2.9),
        "cached_tokens": None,
        "cache_write_tokens": None,
        "reasoning_tokens": None,
    }
    assert _find_value(found, "usage", "bill") == _find_value(found, "usage", "run")


def test_the_bill_of_a_run_holds_its_earlier_conversations() -> None:
    earlier = (EarlierConversation("core:memory_kv_0_before_0", (Usage(1.0, 10, 2, 0.25),), ()),)
    found = _read_section([make_record(steps=[Usage(1.0, 10, 2, 0.5)])], replace(FACTS, earlier=earlier))
    _validate_section(found)
    assert _find_value(found, "usage", "run", "usd") == 0.5
    assert _find_value(found, "usage", "others", "earlier conversations", "usd") == 0.25
    assert _find_value(found, "usage", "bill", "usd") == 0.75


def test_usage_of_older_scorecards_fits_the_schema() -> None:
    found = _read_section(TRIALS)
    usage = found["usage"]
    assert isinstance(usage, dict)
    del usage["bill"]
    for name in ("cached_tokens", "cache_write_tokens", "reasoning_tokens"):
        for used in (usage["run"], *usage["categories"].values()):
            del used[name]
    _validate_section(found)


def test_format_sensitivity_stands_in_both_profiles() -> None:
    wrong = Failed("wrong_count", "r")
    records = [make_format_record(entry, n, wrong if n == 9 else None) for entry in (0, 1) for n in range(26)]
    found = _read_section(records)
    _validate_section(found)
    for profile in Profile:
        told = _find_value(found, "profiles", profile, "format_sensitivity")
        assert isinstance(told, dict)
        assert list(told["formats"]) == [chosen.name for chosen in FORMATS]
        assert (told["max_delta"], told["std"], told["variance"]) == (100.0, 19.61, 384.62)
        reason = "2 independent entries in all formats, of which a bootstrap needs 20"
        assert told["intervals"] == {"max_delta": None, "std": None, "reason": reason}
        assert told["costs"][0]["difference"] == pytest.approx(-1 / 6)
    one = _read_section(records[:1])
    _validate_section(one)
    assert _find_value(one, "profiles", "official", "format_sensitivity", "max_delta_by_chance") is None


def test_calls_along_golden_paths_stand_in_both_profiles() -> None:
    wrong = make_call_verdict(code="value_error", expected={"city": "Oslo"})
    path = make_path_score(make_call_verdict(), wrong, completeness=2, steps=2, taken=3)
    records = [
        make_path_record(Passed(), NotScored(OTHER_RULES, "r"), path=path),
        make_path_record(Failed("stop_early", "r"), category="cross", path=make_path_score(calls=2)),
    ]
    found = _read_section(records, replace(FACTS, driven=PathSettings(Profile.OFFICIAL)))
    _validate_section(found)
    assert found["driven"] == {
        "profile": "official",
        "judge": "builtin",
        "similarity": "structured",
        "live": False,
        "runner": None,
        "wording": None,
    }
    assert _find_value(found, "profiles", "official", "complex", "hotels") == {
        "scored": 1,
        "passed": 1,
        "success": 1.0,
        "calls": 2,
        "right": 1,
        "accuracy": 0.5,
        # One cluster, so the limits for half of one, with t of 1 = 12.706
        "interval": {
            "low": pytest.approx(0.0015, abs=1e-4),
            "high": pytest.approx(0.9985, abs=1e-4),
            "method": "wilson, cluster-robust, fewer than 6 clusters",
            "clusters": 1,
        },
        "completeness": {"mean": 2.0, "judged": 1},
        "correctness": {"mean": None, "judged": 0},
        "failures": {},
        "errors": {"value_error": 1},
        "parameters": {"location": {"wrong": 1, "of": 2, "rate": 0.5}},
        "beyond": {"1": 1},
        "beyond_mean": 1.0,
    }
    assert _find_value(found, "profiles", "official", "complex", "all", "accuracy") == 0.25
    assert _find_value(found, "profiles", "corrected", "complex", "hotels", "scored") == 0
    assert "complex" not in cast(
        "dict[str, object]", _find_value(_read_section(TRIALS), "profiles", "official")
    )


@each_case(
    ("path", "value", "reason"),
    [
        (("driven", "profile"), "fixed", "'fixed' is not one of ['official', 'corrected']"),
        (("driven", "seed"), 1, "Additional properties are not allowed ('seed' was unexpected)"),
        (("profiles", "official", "complex", "all", "accuracy"), -1, "-1 is less than the minimum of 0"),
        (("profiles", "official", "complex", "all", "success"), 1.5, "1.5 is greater than the maximum of 1"),
        (
            ("profiles", "official", "complex", "all", "errors", "value_error"),
            0,
            "0 is less than the minimum of 1",
        ),
        (
            ("profiles", "official", "complex", "all", "completeness", "mean"),
            2.5,
            "2.5 is greater than the maximum of 2",
        ),
        (
            ("profiles", "official", "complex", "all", "beyond", "4"),
            1,
            "'4' is not one of ['fewer', '0', '1', '2', '3+']",
        ),
        (
            ("profiles", "official", "complex", "all", "more"),
            1,
            "Additional properties are not allowed ('more' was unexpected)",
        ),
    ],
    ids=lambda value: "/".join(value) if isinstance(value, tuple) else repr(value),
)
def test_the_schema_can_refuse_what_is_told_of_calls(
    path: tuple[str, ...], value: object, reason: str
) -> None:
    facts = replace(FACTS, driven=PathSettings(Profile.OFFICIAL))
    found = _read_section([make_path_record(path=make_path_score())], facts)
    _validate_section(found)
    cast("dict[str, object]", _find_value(found, *path[:-1]))[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError, match=re.escape(reason)):
        _validate_section(found)


def _read_section_of_chats_and_written_calls() -> dict[str, object]:
    records = [
        *make_executed_records((Passed(), Passed()), (FAILED, Passed())),
        *make_chat_records(2, 1, TIMEOUT),
    ]
    return _read_section(records, replace(FACTS, rated_by="wise"))


def test_executable_entries_tell_both_verdicts() -> None:
    found = _read_section_of_chats_and_written_calls()
    _validate_section(found)
    counts = {"both": 1, "ast_only": 0, "execution_only": 1, "neither": 0}
    told = {**counts, "ast": 0.5, "execution": 1.0, "agreement": 0.5}
    assert _find_value(found, "profiles", "official", "executable") == {"exec_simple": told, "all": told}


def test_ratings_tell_their_judge_counts_and_mean() -> None:
    found = _read_section_of_chats_and_written_calls()
    assert found["rated_by"] == "wise"
    of = _find_value(found, "ratings", "chatable")
    assert isinstance(of, dict)
    assert {key: of[key] for key in ("rated", "not_rated", "counts", "mean")} == {
        "rated": 2,
        "not_rated": 1,
        "counts": [0, 1, 1],
        "mean": 1.5,
    }


def test_the_schema_asks_a_count_for_each_rating() -> None:
    found = _read_section_of_chats_and_written_calls()
    of = _find_value(found, "ratings", "chatable")
    assert isinstance(of, dict)
    of["counts"] = [0, 1]
    with pytest.raises(jsonschema.ValidationError, match=r"^\[0, 1\] is too short"):
        _validate_section(found)


def test_without_such_entries_nothing_is_told_of_them() -> None:
    found = _read_section([make_record()])
    assert (found["rated_by"], found["ratings"]) == (None, {})
    for profile in Profile:
        assert "executable" not in cast("dict[str, object]", _find_value(found, "profiles", profile))


def _find_interval(*clusters: tuple[int, int]) -> Mapping[str, object]:
    interval = find_cluster_interval(clusters)
    assert interval is not None
    return asdict(interval)


def test_trials_stand_in_both_profiles() -> None:
    found = _read_section(TRIALS)
    _validate_section(found)
    assert found["trials"] == 2
    flipped = {
        "k": 2,
        "entries": 1,
        "mean": 0.5,
        "pass_at": [0.5, 1],
        "pass_hat": [0.5, 0],
        "flip": 1,
        "pass_at_intervals": [_find_interval((1, 2)), _find_interval((1, 1))],
        "pass_hat_intervals": [_find_interval((1, 2)), _find_interval((0, 1))],
    }
    nothing: dict[str, object] = {
        "k": 2,
        "entries": 0,
        "mean": None,
        "pass_at": [],
        "pass_hat": [],
        "flip": None,
        "pass_at_intervals": [],
        "pass_hat_intervals": [],
    }
    assert _find_value(found, "profiles", "official", "trials") == {
        "categories": {"multiple": {**flipped, "left_out": 0}, "parallel": {**nothing, "left_out": 1}},
        "all": {**flipped, "left_out": 1},
    }
    none_passed = [_find_interval((0, 2), (0, 2)), _find_interval((0, 1), (0, 1))]
    wrong = {
        "k": 2,
        "entries": 2,
        "mean": 0,
        "pass_at": [0, 0],
        "pass_hat": [0, 0],
        "flip": 0,
        "left_out": 0,
        "pass_at_intervals": none_passed,
        "pass_hat_intervals": none_passed,
    }
    assert _find_value(found, "profiles", "corrected", "trials", "all") == wrong


UNKNOWN = dict.fromkeys(("input", "output", "hour", "cached", "cache_write", "reasoning"))


@each_case(
    ("price", "expected"),
    [
        (Price(input=2.5, output=10.0), {**UNKNOWN, "input": 2.5, "output": 10.0}),
        (Price(hour=98.32), {**UNKNOWN, "hour": 98.32}),
        (
            Price(1.0, 2.0, cached=0.1, cache_write=1.25, reasoning=4.0),
            {**UNKNOWN, "input": 1.0, "output": 2.0, "cached": 0.1, "cache_write": 1.25, "reasoning": 4.0},
        ),
        (None, None),
    ],
)
def test_the_price_that_was_used(price: Price | None, expected: object) -> None:
    found = _read_section(TRIALS, replace(FACTS, price=price))
    _validate_section(found)
    assert (found["price"], found["concurrency"]) == (expected, 8)


@each_case(
    ("path", "value", "reason"),
    [
        (("usage",), None, "None is not of type 'object'"),
        (("usage", "groups"), {}, "Additional properties are not allowed ('groups' was unexpected)"),
        (
            ("usage", "run", "latency_p99_s"),
            1.0,
            "Additional properties are not allowed ('latency_p99_s' was unexpected)",
        ),
        (("usage", "run", "input_tokens"), 1.5, "1.5 is not valid under any of the given schemas"),
        (("price", "batch"), 1.0, "Additional properties are not allowed ('batch' was unexpected)"),
        (("concurrency",), 0, "0 is less than the minimum of 1"),
        (("trials",), 0, "0 is less than the minimum of 1"),
        (
            ("profiles", "official", "trials", "groups"),
            {},
            "Additional properties are not allowed ('groups' was unexpected)",
        ),
        (("profiles", "official", "trials", "all", "flip"), 1.5, "1.5 is greater than the maximum of 1"),
        (("profiles", "official", "trials", "all", "pass_at"), 0.5, "0.5 is not of type 'array'"),
        (
            ("profiles", "official", "trials", "all", "pass_hat"),
            [0.5, -0.5],
            "-0.5 is less than the minimum of 0",
        ),
    ],
    ids=lambda value: "/".join(value) if isinstance(value, tuple) else repr(value),
)
def test_the_schema_can_refuse(path: tuple[str, ...], value: object, reason: str) -> None:
    found = _read_section(TRIALS)
    _validate_section(found)
    cast("dict[str, object]", _find_value(found, *path[:-1]))[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError, match=re.escape(reason)):
        _validate_section(found)


@each_case("key", ["price", "concurrency", "trials", "usage"])
def test_the_schema_misses_what_must_be_there(key: str) -> None:
    found = _read_section(TRIALS)
    del found[key]
    with pytest.raises(jsonschema.ValidationError, match=key):
        _validate_section(found)
