"""The summary as lines: whole texts, cut to the width, with nothing in them that could move a cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.transcript import Completion, PathSettings
from pytest_fcbench.domain.verdict import OTHER_RULES, SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.kinds import relevance
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.present import terminal
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.failure_codes import read_failure_codes
from pytest_fcbench.scorecard.aggregate.scores import weigh_categories
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.run_facts import RunFacts
from tests.cases import each_case
from tests.factories import (
    make_call_verdict,
    make_entry,
    make_evidence,
    make_format_record,
    make_path_record,
    make_path_score,
    make_record,
    make_transcript,
    tool_calls,
)

FACTS = RunFacts(
    fcbench="0.1.0",
    model="gpt-4o",
    mode="fc",
    names="underscored",
    syntax="tool_calls",
    profile=Profile.OFFICIAL,
    suites={
        "core": {"version": "1", "pack_hash": "0123456789abcdef"},
        "mine": {"version": "2", "pack_hash": None},
    },
    notes=(),
    price=None,
    concurrency=None,
)
WRONG_TEXT = Failed("value_error:string", "city is 'Oslo'")
ASIDE = NotScored(SET_ASIDE, "the expected call has no city")
SIZES = {"live_simple": 2, "live_multiple": 3}


def _render_lines(
    records: Sequence[Record],
    *,
    facts: RunFacts = FACTS,
    width: int = 100,
    most: int = 60,
    is_full: bool = False,
) -> list[str]:
    evidence = Evidence(records, facts.profile, lambda name: SIZES.get(name, 0), facts.suites)
    summary = terminal.write_summary(facts, evidence, width=width, most=most, is_full=is_full)
    return [line.text for line in summary]


def _select_from(lines: list[str], start: str) -> list[str]:
    """Return the lines from the first that starts so."""
    return lines[next(index for index, line in enumerate(lines) if line.startswith(start)) :]


RUN = [
    make_record(),
    make_record(Failed("wrong_count", "2 calls, 1 expected"), Passed(), number=1),
    make_record(
        Failed(
            "value_error:string",
            "city is 'Oslo', and only 'Bergen' or 'the city of Bergen' are accepted for this entry",
        ),
        ASIDE,
        number=2,
    ),
    make_record(category="live_simple"),
    make_record(NotScored("timeout", "no answer in 600 s"), category="live_simple", number=1),
    make_record(category="live_relevance"),
]


def test_a_small_run_is_summed_up() -> None:
    facts = replace(FACTS, notes=("top_p was dropped: gpt-4o refused it",))
    text = "\n".join(_render_lines(RUN, facts=facts))
    assert (
        text
        == """\
60.0% passed: 3 of 5 (95% CI 23.1-88.2%)

model gpt-4o (fc, underscored names), profile official (the default beside core)
suite core version 1 (sha256 0123456789ab)
suite mine version 2
note: top_p was dropped: gpt-4o refused it

                         entries  passed  failed  not scored  official  corrected  95% interval
simple_python                  3       1       2           0    33.33%    100.00%     6.1-79.2%
live_simple                    2       1       0           1   100.00%    100.00%   20.7-100.0%
live_relevance                 1       1       0           0   100.00%    100.00%   20.7-100.0%
-----------------------------------------------------------------------------------------------
all                            6       3       2           1    60.00%    100.00%    23.1-88.2%
counts and intervals are of the official profile

what failed: 2 of 5, by cause
    1  50%  another number of calls came than expected
      core:simple_python_1  2 calls, 1 expected
    1  50%  a value differs: a text
      core:simple_python_2  city is 'Oslo', and only 'Bergen' or 'the city of Bergen' are accepted
                            for this entry

not scored (1 of 6, 16.7%)
  timeout: 1
    core:live_simple_1: no answer in 600 s"""
    )


def test_few_entries_are_explained_and_have_no_table() -> None:
    records = [
        make_record(),
        make_record(Failed("wrong_count", "2 calls"), Passed(), number=1),
        make_record(NotScored("timeout", "600 s"), ASIDE, number=2),
    ]
    summary = terminal.write_summary(
        replace(FACTS, shard="1/2", search="recorded:web.jsonl"),
        make_evidence(records),
        width=100,
        most=60,
        explain=lambda record: [OutputLine(f"why {record.entry} failed")],
    )
    lines = [line.text for line in summary]
    assert lines[3:5] == ["shard 1/2: only a part of the entries", "web: recorded:web.jsonl"]
    assert lines[5:] == [
        "",
        "core:simple_python_0 (simple_python): passed",
        "",
        "why core:simple_python_1 failed",
        "             corrected profile: passed",
        "",
        "core:simple_python_2 (simple_python): not scored: timeout: 600 s",
    ]


def test_a_full_summary_names_codes_and_the_parts_that_were_not_run() -> None:
    records = [*RUN, make_record(WRONG_TEXT, number=9)]
    short, full = (_render_lines(records, is_full=is_full) for is_full in (False, True))
    assert "    2  67%  a value differs: a text [value_error:string]" in full
    assert "    2  67%  a value differs: a text" in short
    parts = "no overall score without these parts: "
    assert [any(line.startswith(parts) for line in lines) for lines in (full, short)] == [True, False]


def test_many_categories_are_folded_into_their_groups_and_the_rest_is_named() -> None:
    names = weigh_categories("overall", lambda name: 1.0)
    records = [make_record(WRONG_TEXT if name == "parallel" else None, category=name) for name in names]

    def name_rows(*, is_full: bool) -> set[str]:
        return {line.split()[0] for line in _render_lines(records, is_full=is_full) if "%  " in line}

    assert name_rows(is_full=False) >= {"non_live", "overall"}
    assert {"parallel", "simple"} & name_rows(is_full=False) == set()
    assert name_rows(is_full=True) >= {"non_live", "overall", "parallel", "simple"}
    assert "weakest of 21 categories: parallel 0.0%" in "\n".join(_render_lines(records))
    named = terminal.name_details(FACTS, make_evidence([make_record(steps=[Usage(1.0)])]), 200)
    assert [line.text for line in named] == [
        "more: fcbench run show - every failure and category, cost and latency of calls; "
        "-v prints all at once"
    ]


def test_the_profile_of_the_run_says_what_failed() -> None:
    lines = _render_lines(RUN, facts=replace(FACTS, profile=Profile.CORRECTED))
    assert lines[0] == "100.0% passed: 4 of 4 (95% CI 51.0-100.0%), corrected profile"
    assert lines[2] == "model gpt-4o (fc, underscored names), profile corrected"
    assert not [line for line in lines if line.startswith("what failed")]
    assert _select_from(lines, "not scored") == [
        "not scored (2 of 6, 33.3%)",
        "  set_aside: 1",
        "    core:simple_python_2: the expected call has no city",
        "  timeout: 1",
        "    core:live_simple_1: no answer in 600 s",
    ]


def test_the_interval_is_that_of_the_profile_of_the_run() -> None:
    official, corrected = (
        next(
            line
            for line in _render_lines(RUN, facts=replace(FACTS, profile=profile))
            if "simple_python" in line
        )
        for profile in Profile
    )
    assert official.split()[-3:] == ["33.33%", "100.00%", "6.1-79.2%"]
    assert corrected.split()[-3:] == ["33.33%", "100.00%", "34.2-100.0%"]


def test_a_run_that_passed_says_nothing_of_failures() -> None:
    lines = _render_lines([make_record(category="live_relevance")])
    assert not [line for line in lines if line.startswith(("failed", "not scored"))]
    assert lines[-2:] == [
        "live_relevance                 1       1       0           0   100.00%    100.00%   20.7-100.0%",
        "counts and intervals are of the official profile",
    ]


def test_nothing_scored_has_no_percentage() -> None:
    lines = _render_lines([make_record(NotScored("timeout", "600 s"), category="multiple")])
    assert (
        "multiple                       1       0       0           1         -          -             -"
        in lines
    )


def _make_failures(count: int, reason: str = "2 calls") -> list[Record]:
    return [make_record(Failed("wrong_count", reason), number=number) for number in range(count)]


def test_only_so_many_failures_are_listed_by_turns_from_all_causes() -> None:
    one = make_record(Failed("no_call", "none"), number=9)
    assert _select_from(_render_lines([*_make_failures(5), one], most=3), "what failed") == [
        "what failed: 6 of 6, by cause",
        "    5  83%  another number of calls came than expected",
        "      core:simple_python_0  2 calls",
        "      core:simple_python_1  2 calls",
        "    1  17%  no call came, although one was expected",
        "      core:simple_python_9  none",
    ]


def test_many_failures_have_two_examples_of_each_cause_of_different_categories() -> None:
    records = [*_make_failures(12), make_record(Failed("wrong_count", "1 call"), category="parallel")]
    lines = _select_from(_render_lines(records, most=20), "what failed")
    assert lines[2:] == ["      core:simple_python_0  2 calls", "      core:parallel_0       1 call"]
    assert len(_select_from(_render_lines(records, most=60), "what failed")) == 2 + 13


def test_rare_causes_are_counted_together() -> None:
    records = [make_record(Failed(f"mine:{n % 9}", "why"), number=n) for n in range(27)]
    meaning = "A matcher of another package, or of another version, gave this code"
    assert _select_from(_render_lines(records), "what failed")[1] == f"   27 100%  {meaning}"
    codes = [each for each in read_failure_codes() if each.startswith("sql:")]
    records = [make_record(Failed(code, "why"), number=n) for n, code in enumerate([*codes, *codes])]
    lines = _select_from(_render_lines(records, most=20), "what failed")
    assert len(codes) == 7
    assert len(lines) == 1 + 7 * 3
    lines = _render_lines([*records, make_record(Failed("no_call", "why"), number=99)], most=20)
    assert lines[-1] == "    3  20%  2 other causes"


def test_an_entry_in_a_prompt_format_goes_by_its_number() -> None:
    records = [make_format_record(1, 3, Failed("wrong_count", "2 calls")), make_format_record(1, 4)]
    lines = _render_lines([*records, make_format_record(2, 0, NotScored("timeout", "600 s"))])
    assert "      core:format_sensitivity_29:…:parallel_1  2 calls" in lines
    assert "    core:format_sensitivity_52:…:parallel_2: 600 s" in lines
    assert any(line.startswith("python, XML docs  ") for line in lines)


def test_the_examples_can_be_switched_off() -> None:
    assert _select_from(_render_lines(_make_failures(5), most=0), "what failed") == [
        "what failed: 5 of 5, by cause",
        "    5 100%  another number of calls came than expected",
    ]


def test_few_failures_are_told_in_full_many_in_a_line_each() -> None:
    reason = "word " * 40 + "end"
    few = _select_from(_render_lines(_make_failures(10, reason)), "what failed")
    assert sum(line.endswith("end") for line in few) == 10
    many = _select_from(_render_lines(_make_failures(11, reason)), "what failed")
    assert len(many) == 2 + 11
    assert all(line.endswith("…") and len(line) == 100 for line in many[2:])


def test_the_most_frequent_cause_comes_first() -> None:
    records = [*_make_failures(1), *(make_record(Failed("no_call", "none"), number=n) for n in range(1, 4))]
    lines = _select_from(_render_lines(records), "what failed")
    assert lines[1] == "    3  75%  no call came, although one was expected"


def test_of_many_that_are_set_aside_twenty_are_listed() -> None:
    records = [make_record(ASIDE, number=number) for number in range(200)]
    lines = _render_lines(records)
    assert "  set_aside: 200" in lines
    assert "    and 180 more" in lines


def test_of_each_cause_three_are_listed_but_all_that_are_set_aside() -> None:
    causes = [NotScored("timeout", "600 s")] * 5 + [ASIDE] * 4
    records = [make_record(verdict, number=number) for number, verdict in enumerate(causes)]
    assert _select_from(_render_lines(records), "not scored") == [
        "not scored (9 of 9, 100.0%)",
        "  timeout: 5",
        "    core:simple_python_0: 600 s",
        "    core:simple_python_1: 600 s",
        "    core:simple_python_2: 600 s",
        "    and 2 more",
        "  set_aside: 4",
        *(f"    core:simple_python_{number}: the expected call has no city" for number in range(5, 9)),
    ]


def test_a_group_that_was_run_whole_has_a_row_and_overall_too() -> None:
    def render_rows(names: Iterable[str]) -> list[str]:
        lines = _render_lines([make_record(category=name) for name in names], is_full=True)
        lines = lines[: next(n for n, line in enumerate(lines) if line.startswith("counts and ")) + 2]
        rows = [line for line in lines if line.startswith(("irrelevance_all ", "overall ", "all ", "no "))]
        return [" ".join(row.split()) for row in rows]

    group = "irrelevance_all 2 2 0 0 100.00% 100.00% 43.9-100.0%"
    assert render_rows(["irrelevance", "live_irrelevance"]) == [
        group,
        "all 2 2 0 0 100.00% 100.00% 34.2-100.0%",
        "no overall score without these parts: non_live, live, multi_turn, agentic",
    ]
    assert render_rows(weigh_categories("overall", lambda name: 1.0)) == [
        group,
        "overall 21 21 0 0 100.00% 100.00% 79.7-100.0%",
        "overall 100.00% = 10% non_live 100.00% + 10% live 100.00% + 10% irrelevance_all 100.00% + 30%",
    ]


# Cost and latency, trials


def test_cost_and_latency_have_a_row_for_each_category() -> None:
    records = [
        make_record(steps=[Usage(1.0, 100, 10, 0.001)]),
        make_record(number=1, steps=[Usage(2.0, 300, 20, 0.003)]),
        make_record(category="live_simple", steps=[Usage(6.0, 200, 30, 2.5)]),
        make_record(NotScored("timeout", "600 s"), category="live_multiple"),
    ]
    lines = _select_from(_render_lines(records, is_full=True), "cost")
    assert "3 calls, $2.50, p50 2.00 s, p95 5.60 s" in _render_lines(records)
    assert (
        "\n".join(lines[: lines.index("")])
        == """\
cost and latency of calls
                         calls  tokens in  tokens out       $   $/1,000  mean s  std s  p50 s  p95 s
----------------------------------------------------------------------------------------------------
simple_python                2        400          30  0.0040      2.00    1.50   0.71   1.50   1.95
live_simple                  1        200          30    2.50  2,500.00    6.00      -   6.00   6.00
live_multiple                0          -           -       -         -       -      -      -      -
run                          3        600          60    2.50    834.67    3.00   2.65   2.00   5.60"""
    )


def test_nothing_known_of_cost_and_latency_says_nothing() -> None:
    assert _render_lines([make_record(steps=[Usage()])]) == _render_lines([make_record()])
    assert not [line for line in _render_lines(RUN) if line.startswith(("cost", "trials"))]


@pytest.mark.parametrize(
    ("dollars", "told"), [((0.25, None), True), ((0.25, 0.25), False), ((None, None), False)]
)
def test_dollars_of_some_steps_are_told_to_be_that(dollars: Sequence[float | None], told: bool) -> None:
    closing = "dollars cover 1 of 2 steps; the cost of the others is not known"
    lines = _render_lines([make_record(steps=[Usage(latency_s=1.0, usd=usd) for usd in dollars])])
    assert [line for line in lines if line.startswith("dollars")] == [closing] * told


@each_case(
    ("usd", "shown"),
    [(0.0, "0.0000"), (0.00012, "0.0001"), (0.9, "0.9000"), (1.0, "1.00"), (1234.5, "1,234.50")],
)
def test_small_sums_of_dollars_have_four_decimals(usd: float, shown: str) -> None:
    lines = _render_lines([make_record(steps=[Usage(usd=usd)])], is_full=True)
    assert lines[-2].split()[4] == shown


def test_the_table_of_a_long_run_fits_100_columns() -> None:
    step = Usage(999.25, 1_234_567_890, 123_456_789, 98.25)
    records = [make_record(category="live_parallel_multiple", steps=[step])]
    lines = _select_from(_render_lines(records, is_full=True), "cost")
    assert max(map(len, lines)) <= 100
    assert [len(line.split()) for line in lines[3:5]] == [9, 9]


def _make_trials(number: int, *verdicts: Verdict) -> list[Record]:
    return [make_record(verdict, number=number, trial=trial) for trial, verdict in enumerate(verdicts, 1)]


PASSED, FAILED, TIMEOUT = Passed(), Failed("wrong_count", "2 calls"), NotScored("timeout", "600 s")


def test_trials_have_a_table_of_their_own() -> None:
    records = [
        *_make_trials(0, PASSED, PASSED, PASSED),
        *_make_trials(1, PASSED, FAILED, PASSED),
        *_make_trials(2, PASSED, TIMEOUT),
        *(replace(record, category="parallel") for record in _make_trials(3, TIMEOUT, PASSED, PASSED)),
    ]
    assert (
        "\n".join(_select_from(_render_lines(records), "trials"))
        == """\
trials (3 of each entry, each counted above; official profile)
                         entries    mean   pass@3  pass^3              pass^3 95%    flip
-----------------------------------------------------------------------------------------
simple_python                  2  83.33%  100.00%  50.00%  0.2-99.8% (2 clusters)  50.00%
parallel                       0       -        -       -                       -       -
all                            2  83.33%  100.00%  50.00%  0.2-99.8% (2 clusters)  50.00%
left out, because a trial was not scored or not run: core:simple_python_2, core:simple_python_3
pass@3: at least one of 3 trials passes; pass^3: all 3 trials pass; flip: trials with different
verdicts
left out to fit 100 characters: pass@3 95%; COLUMNS=114 shows them

what failed: 1 of 9, by cause
    1 100%  another number of calls came than expected
      core:simple_python_1-t2  2 calls

not scored (2 of 11, 18.2%)
  timeout: 2
    core:simple_python_2-t2: 600 s
    core:simple_python_3-t1: 600 s"""
    )


def test_trials_are_told_in_the_profile_of_the_run() -> None:
    records = [make_record(PASSED, FAILED if trial == 2 else PASSED, trial=trial) for trial in (1, 2)]
    for profile, flip in ((Profile.OFFICIAL, "0.00%"), (Profile.CORRECTED, "100.00%")):
        lines = _select_from(_render_lines(records, facts=replace(FACTS, profile=profile)), "trials")
        assert lines[0] == f"trials (2 of each entry, each counted above; {profile} profile)"
        assert lines[4].split()[-1] == flip


def test_only_so_many_entries_that_are_left_out_are_named() -> None:
    records = [record for number in range(12) for record in _make_trials(number, TIMEOUT, PASSED)]
    lines = _select_from(_render_lines(records, width=60), "left out")
    told = lines[: next(n for n, line in enumerate(lines) if line.startswith("pass@2"))]
    assert sum(line.count("core:") for line in told) == 10
    assert told[-1].endswith(" and 2 more")
    assert max(map(len, told)) <= 60


def test_reasons_of_trials_stand_in_a_column() -> None:
    lines = _render_lines(_make_trials(0, *[PASSED] * 8, FAILED, FAILED))
    assert lines[-2:] == [
        "      core:simple_python_0-t9   2 calls",
        "      core:simple_python_0-t10  2 calls",
    ]


# Calls along golden paths

ELSEWHERE = NotScored(OTHER_RULES, "the conversation went on after a wrong call")


def _make_complex_records() -> list[Record]:
    """Make a run of two categories that the corrected profile drove; the official one follows to half."""
    wrong = make_call_verdict(code="value_error", expected={"city": "Oslo"})
    right = make_path_score(make_call_verdict(), taken=3, completeness=2, correctness=1)
    return [
        make_path_record(path=right),
        make_path_record(
            ELSEWHERE,
            Failed("value_error", "city is 'Bergen', expected 'Oslo'"),
            number=1,
            path=make_path_score(make_call_verdict(), wrong),
        ),
        make_path_record(ELSEWHERE, Failed("stop_early", "2 calls were not made"), category="cross"),
        make_path_record(TIMEOUT, category="cross", number=1),
    ]


def test_complex_calls_alone_have_no_overall() -> None:
    """The profile that drove has the counts, the other one is no alarm."""
    facts = replace(FACTS, profile=Profile.CORRECTED, driven=PathSettings(Profile.CORRECTED))
    assert (
        "\n".join(_render_lines(_make_complex_records(), facts=facts, is_full=True))
        == """\
33.3% passed: 1 of 3 (95% CI 6.1-79.2%), corrected profile

model gpt-4o (fc, underscored names), profile corrected
suite core version 1 (sha256 0123456789ab)
suite mine version 2
complex conversations: by the corrected rules, judge builtin, similarity structured, recorded
  replies

                         entries  passed  failed  not scored  official  corrected  95% interval
hotels                         2       1       1           0         -     50.00%     9.5-90.5%
cross                          2       0       1           1         -      0.00%     0.0-79.3%
-----------------------------------------------------------------------------------------------
all                            4       1       2           1         -     33.33%     6.1-79.2%
counts and intervals are of the corrected profile

complex calls (corrected profile)
        entries  success  right calls  call acc.  calls 95%  completeness  correctness  beyond
----------------------------------------------------------------------------------------------
hotels        2   50.00%       2 of 3     66.67%  0.8-99.8%      2.00 (1)     1.00 (1)   +1.00
cross         1    0.00%       0 of 0          -          -             -            -       -
all           3   33.33%       2 of 3     66.67%  0.8-99.8%      2.00 (1)     1.00 (1)   +1.00
failed entries: value_error 1, stop_early 1; wrong calls: value_error 1
no complex score in the official profile: 2 of 4 conversations were continued by the other profile's
rules; under its own the model would have seen other replies
completeness, correctness: mean rating from 0 to 2 (number of ratings); beyond: mean number of steps
more than the golden path has, in successful entries

what failed: 2 of 3, by cause
    1  50%  a value differs [value_error]
      core:hotels_1  city is 'Bergen', expected 'Oslo'
    1  50%  an expected call was not made [stop_early]
      core:cross_0   2 calls were not made

not scored (1 of 4, 25.0%)
  timeout: 1
    core:cross_1: 600 s"""
    )


def test_what_the_selected_profile_would_have_shown_otherwise_is_no_alarm() -> None:
    """A run that one profile drove, read in the other."""
    lines = _render_lines(
        _make_complex_records(), facts=replace(FACTS, driven=PathSettings(Profile.CORRECTED))
    )
    assert "counts are of the corrected profile, intervals of the official profile" in lines
    assert _select_from(lines, "not scored") == [
        "not scored (1 of 4, 25.0%)",
        "  timeout: 1",
        "    core:cross_1: 600 s",
    ]


def test_complex_calls_beside_others_leave_overall_as_it_is() -> None:
    whole = [make_record(category=name) for name in weigh_categories("overall", lambda name: 1.0)]
    runs = ([*_make_complex_records(), *whole], whole)
    lines, without = (_render_lines(records, is_full=True) for records in runs)
    assert {line.split()[5] for line in (*lines, *without) if line.startswith("overall  ")} == {"100.00%"}
    note = "overall follows BFCL's formula, which excludes complex categories"
    assert (note in lines, note in without) == (True, False)


def test_without_complex_calls_nothing_is_said_of_them() -> None:
    assert not [line for line in _render_lines(RUN) if "complex" in line]


# What cannot do harm


@each_case("width", [40, 60, 88, 200])
def test_lists_fit_the_width(width: int) -> None:
    records = [*_make_failures(12, "word " * 50), make_record(NotScored("timeout", "word " * 50), number=99)]
    lines = _select_from(_render_lines(records, width=width), "what failed")
    assert not [line for line in lines if len(line) > width]


HOSTILE = "\x1b[2J\x1b]0;title\x07\r\nfake: passed\x00\x9b31m\u202e\u2028\ud800"


@each_case(
    "completion",
    [
        pytest.param(Completion(text=HOSTILE), id="text"),
        pytest.param(Completion(text=f"[f({HOSTILE}=1)]"), id="call as text"),
        pytest.param(tool_calls((HOSTILE, "{}")), id="function"),
        pytest.param(tool_calls(("weather_forecast", {"city": "Bergen", HOSTILE: 1})), id="parameter"),
        pytest.param(tool_calls(("weather_forecast", {"city": HOSTILE})), id="value"),
        pytest.param(tool_calls(("weather_forecast", HOSTILE)), id="arguments"),
    ],
)
@each_case("category", ["simple_python", "live_relevance", "irrelevance"])
@each_case("copies", [1, 12], ids=["told in full", "a line each"])
def test_nothing_a_model_writes_controls_the_terminal(
    completion: Completion, category: str, copies: int
) -> None:
    entry = make_entry(category)
    judge = (ast if entry.category.expects_calls else relevance).judge
    judgement = judge(entry, make_transcript(completion))
    records = [
        replace(make_record(category=category, number=number), verdicts=judgement) for number in range(copies)
    ]
    for profile in Profile:
        for line in _render_lines(records, facts=replace(FACTS, profile=profile)):
            assert line.isprintable()
            assert not line.startswith("fake")


@given(st.text(st.characters()), st.integers(1, 12))
def test_no_reason_breaks_a_line(reason: str, copies: int) -> None:
    for verdict in (Failed("code", reason), NotScored("cause", reason)):
        records = [make_record(verdict, number=number) for number in range(copies)]
        assert all(line.isprintable() for line in _render_lines(records))


@pytest.mark.parametrize(
    "completion",
    [
        pytest.param(tool_calls(("f" * 100_000, "{}")), id="function"),
        pytest.param(tool_calls(("weather_forecast", {"city": "Bergen", "p" * 100_000: 1})), id="parameter"),
    ],
)
def test_a_huge_answer_takes_few_lines(completion: Completion) -> None:
    judgement = ast.judge(make_entry(), make_transcript(completion))
    assert len(_render_lines([replace(make_record(), verdicts=judgement)])) < 40


def test_no_name_reaches_a_terminal_as_it_is() -> None:
    """An id can hold an escape sequence's first byte, an override, or half a character."""
    verdicts: list[Verdict] = [Failed("a", "b"), NotScored("timeout", "late"), Passed()]
    records = [
        replace(
            make_record(verdict, number=number), entry=f"core:\x9b31m\u202e\ud800{number}", model="\x1b[2J"
        )
        for number, verdict in enumerate(verdicts)
    ]
    facts = replace(FACTS, model="\x1b[2J\n", notes=("\x9b0m",))
    summary = terminal.write_summary(facts, make_evidence(records, facts), width=80, most=5)
    lines = [line.text for line in summary]
    assert all(line.isprintable() for line in lines)
    "\n".join(lines).encode()


def test_a_narrow_terminal_leaves_columns_out_but_not_what_was_not_scored() -> None:
    heads = {width: _render_lines(RUN, width=width) for width in (60, 80, 88, 100)}
    columns = {
        width: next(line for line in lines if "entries" in line and "official" in line).split()
        for width, lines in heads.items()
    }
    assert columns[60] == ["entries", "official", "95%", "interval"]
    assert columns[80] == ["entries", "not", "scored", "official", "corrected", "95%", "interval"]
    assert "failed" in columns[88]
    assert "passed" in columns[100]
    assert "passed" not in columns[88]
    for width, lines in heads.items():
        assert max(map(len, lines)) <= width
