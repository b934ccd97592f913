"""What is told of conversations along golden paths, computed again by plain loops over the JSON."""

from __future__ import annotations

import json
import random
from collections import Counter
from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import SELECTIONS
from pytest_fcbench.domain.verdict import (
    OTHER_RULES,
    SET_ASIDE,
    CallVerdict,
    Difference,
    Failed,
    NotScored,
    Passed,
    PathScore,
    Profile,
    Verdict,
)
from pytest_fcbench.scorecard.aggregate import golden_paths
from pytest_fcbench.scorecard.aggregate.golden_paths import Wrong, guess_role, read_roles, score_paths
from pytest_fcbench.scorecard.aggregate.intervals import find_cluster_interval, find_ratio_interval
from pytest_fcbench.scorecard.record import Record, to_json
from tests.cases import each_case
from tests.factories import make_call_verdict, make_path_record, make_path_score

OFFICIAL = Profile.OFFICIAL
ELSEWHERE = NotScored(OTHER_RULES, "the conversation went on after a wrong call")
TIMEOUT = NotScored("timeout", "600 s")

_CODES = ("func_error", "param_missing", "value_error", "param_hallucination", "format_error", "unpaired")
_NAMES = ("city", "arrival_date", "dest_id", "adults", "query", "odd")
_ARGUMENTS = st.dictionaries(st.sampled_from(_NAMES), st.integers(0, 2), max_size=4)


@st.composite
def _draw_calls(draw: st.DrawFn) -> CallVerdict:
    made, expected = draw(_ARGUMENTS), draw(_ARGUMENTS)
    code = draw(st.none() | st.sampled_from(_CODES))
    kinds = {
        name: "value_error" if name in made else "param_missing"
        for name in expected
        if made.get(name) != expected[name]
    } | {name: "param_hallucination" for name in made if name not in expected}
    return make_call_verdict(
        made=made,
        expected=expected,
        paired=code != "unpaired",
        code=code,
        differences=[
            Difference(n, kind, "string", expected.get(n), made.get(n)) for n, kind in kinds.items()
        ],
    )


_RATING = st.none() | st.integers(0, 2)
_PATHS = st.builds(
    lambda verdicts, calls, right, steps, taken, complete, correct: make_path_score(
        *verdicts,
        calls=calls,
        right=right,
        steps=steps,
        taken=taken,
        completeness=complete,
        correctness=correct,
    ),
    st.lists(_draw_calls(), max_size=4),
    st.integers(1, 8),
    st.integers(0, 9),
    st.integers(1, 4),
    st.integers(0, 9),
    _RATING,
    _RATING,
)
_VERDICTS = st.sampled_from(
    [Passed(), Failed("stop_early", "r"), Failed("func_hallucination", "r"), Failed("odd", "r"), TIMEOUT]
)
_RECORDS = st.lists(
    st.builds(
        make_path_record,
        _VERDICTS,
        category=st.sampled_from(SELECTIONS["complex"]),
        number=st.integers(0, 20),
        path=st.none() | _PATHS,
        cluster=st.none() | st.sampled_from(["0", "1"]),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(_RECORDS)
def test_every_number_follows_from_the_json(records: list[Record]) -> None:
    found = score_paths(records, OFFICIAL)
    told: list[Any] = json.loads(json.dumps([to_json(record) for record in records]))
    scored = [one for one in told if one["verdicts"]["official"]["status"] != "not_scored"]
    roll = {"param_hallucination": "hallucination", "func_hallucination": "hallucination"}
    failures: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    beyond: list[int] = []
    passed = calls = right = 0
    complete, correct = [], []
    for one in scored:
        verdict = one["verdicts"]["official"]
        passed += verdict["status"] == "passed"
        if verdict["status"] == "failed":
            failures[roll.get(verdict["code"], verdict["code"])] += 1
        path = one["paths"].get("official")
        if path is None:
            continue
        calls += path["calls"]
        right += path["right"]
        if verdict["status"] == "passed":
            beyond.append(path["taken"] - path["steps"])
        if path["completeness"] is not None:
            complete.append(path["completeness"])
        if path["correctness"] is not None:
            correct.append(path["correctness"])
        for call in path["verdicts"]:
            if call["code"] is not None:
                errors[roll.get(call["code"], call["code"])] += 1
            if call["expected"] is None:
                continue
            for name, value in call["expected"]["arguments"].items():
                compared[guess_role(name)] += 1
                if call["code"] is not None and call["made"]["arguments"].get(name, "-") != value:
                    wrong[guess_role(name)] += 1
    assert (found.scored, found.passed) == (len(scored), passed)
    assert (found.calls, found.right) == (calls, right)
    assert found.accuracy == (right / calls if calls else None)
    assert found.success == (passed / len(scored) if scored else None)
    mean = pytest.approx(sum(complete) / len(complete)) if complete else None
    assert (found.completeness.mean, found.completeness.judged) == (mean, len(complete))
    mean = pytest.approx(sum(correct) / len(correct)) if correct else None
    assert (found.correctness.mean, found.correctness.judged) == (mean, len(correct))
    assert found.failures == failures
    assert found.errors == errors
    assert found.parameters == {name: Wrong(wrong[name], compared[name]) for name in compared}
    assert found.beyond_mean == (pytest.approx(sum(beyond) / len(beyond)) if beyond else None)
    kinds = ["fewer" if n < 0 else "3+" if n >= 3 else str(n) for n in beyond]
    assert found.beyond == Counter(kinds)


@settings(deadline=None)
@given(
    _RECORDS.flatmap(lambda records: st.tuples(st.just(records), st.permutations(records))),
)
def test_the_order_of_records_does_not_matter(orders: tuple[list[Record], list[Record]]) -> None:
    one, other = (golden_paths.score_paths_by_category(records, OFFICIAL) for records in orders)
    assert list(one) == list(other)
    for name, found in one.items():
        again = other[name]
        assert (found.right, found.calls, found.failures) == (again.right, again.calls, again.failures)
        assert (
            found.interval is None
            or again.interval is None
            or (found.interval.low == pytest.approx(again.interval.low))
        )


@settings(deadline=None)
@given(_RECORDS)
def test_categories_add_up_to_all(records: list[Record]) -> None:
    found = golden_paths.score_paths_by_category(records, OFFICIAL)
    if not records:
        assert found == {}
        return
    *categories, every = found.values()
    assert list(found)[-1] == "all"
    assert sum(part.calls for part in categories) == every.calls
    assert sum(part.right for part in categories) == every.right
    assert sum(part.passed for part in categories) == every.passed
    assert sum((Counter(part.errors) for part in categories), Counter()) == every.errors
    assert sum((Counter(part.beyond) for part in categories), Counter()) == every.beyond
    judged = sum(part.completeness.judged for part in categories)
    assert judged == every.completeness.judged


def _make_run(*shares: tuple[int, int], cluster: str | None = None, category: str = "hotels") -> list[Record]:
    """Make entries with so many right calls of so many."""
    return [
        make_path_record(
            Passed() if right >= calls else Failed("value_error", "r"),
            category=category,
            number=n,
            path=make_path_score(calls=calls, right=right),
            cluster=cluster and f"{cluster}{n // 2}",
        )
        for n, (right, calls) in enumerate(shares)
    ]


def test_call_accuracy_is_pooled_not_a_mean_of_shares() -> None:
    found = score_paths(_make_run((1, 1), (0, 9)), OFFICIAL)
    assert found.accuracy == 0.1


def test_each_profile_has_its_own_paths() -> None:
    record = make_path_record(
        path=make_path_score(calls=4, right=4), corrected_path=make_path_score(calls=4, right=1)
    )
    assert [score_paths([record], profile).right for profile in Profile] == [4, 1]


def test_each_profile_has_its_own_verdicts() -> None:
    record = make_path_record(Failed("stop_early", "r"), Passed(), path=make_path_score())
    assert [score_paths([record], profile).passed for profile in Profile] == [0, 1]


def test_what_was_not_scored_is_absent_though_it_has_a_path() -> None:
    """Officially an entry without a result counts nowhere in call accuracy."""
    records = [
        *_make_run((2, 4)),
        make_path_record(TIMEOUT, number=9, path=make_path_score(calls=99, right=99)),
    ]
    found = score_paths(records, OFFICIAL)
    assert (found.scored, found.calls, found.accuracy) == (1, 4, 0.5)


def test_a_failure_without_a_path_counts_for_success_only() -> None:
    found = score_paths(
        [*_make_run((4, 4)), make_path_record(Failed("decode_error", "r"), number=9)], OFFICIAL
    )
    assert (found.success, found.accuracy) == (0.5, 1.0)
    assert found.failures == {"decode_error": 1}


def test_entries_of_a_cluster_are_one_in_the_interval() -> None:
    found = score_paths(_make_run((4, 4), (3, 4), (0, 4), (1, 4), cluster="c"), OFFICIAL)
    apart = score_paths(_make_run((4, 4), (3, 4), (0, 4), (1, 4)), OFFICIAL)
    assert found.interval is not None
    assert (round(found.interval.low, 3), round(found.interval.high, 3)) == (0.003, 0.997)
    assert found.interval == find_cluster_interval([(7, 8), (1, 8)])
    assert apart.interval == find_cluster_interval([(4, 4), (3, 4), (0, 4), (1, 4)])


def test_repeated_lookups_can_make_more_than_all_calls_right() -> None:
    """The official profile counts them each time."""
    found = score_paths(_make_run((5, 2), (2, 2)), OFFICIAL)
    assert found.accuracy == 7 / 4
    assert found.interval is not None
    reach = 12.706204736174694 * sqrt(2 * ((5 - 3.5) ** 2 + (2 - 3.5) ** 2)) / 4
    assert (found.interval.low, found.interval.high) == pytest.approx((max(0, 1.75 - reach), 1.75 + reach))
    assert score_paths(_make_run((5, 2)), OFFICIAL).interval is None


def _measure_coverage(concentration: float, repeated: float, rounds: int = 300) -> float:
    """Return how often the interval holds the true ratio; clusters of ten entries differ in difficulty."""
    chance, covered = random.Random(5), 0
    for _ in range(rounds):
        clusters = []
        for _ in range(40):
            easy = chance.betavariate(0.7 * concentration, 0.3 * concentration)
            calls = [chance.randint(3, 8) for _ in range(10)]
            right = sum(chance.random() < easy for n in calls for _ in range(n))
            more = sum(chance.random() < repeated for _ in calls)
            clusters.append((right + more, sum(calls)))
        found = find_ratio_interval(clusters)
        truth = 0.7 + repeated / 5.5
        covered += found is not None and found.low <= truth <= found.high
    return covered / rounds


@pytest.mark.parametrize(("concentration", "repeated"), [(2.0, 0.0), (20.0, 0.0), (2.0, 0.5)])
def test_the_interval_holds_the_true_ratio_as_often_as_it_says(concentration: float, repeated: float) -> None:
    assert 0.91 <= _measure_coverage(concentration, repeated) <= 0.985


# Arguments


def _count_wrong_arguments(*calls: CallVerdict) -> dict[str, Wrong]:
    return dict(score_paths([make_path_record(path=make_path_score(*calls))], OFFICIAL).parameters)


def test_arguments_are_counted_by_what_they_are_for() -> None:
    call = make_call_verdict(
        made={"dest_id": "7", "arrival_date": "2031-05-02", "extra": 1},
        expected={"dest_id": "7", "arrival_date": "2031-05-03", "adults": 2},
        code="value_error",
        differences=[
            Difference("arrival_date", "value_error", "string", "2031-05-03", "2031-05-02"),
            Difference("adults", "param_missing", "number", 2),
            Difference("extra", "param_hallucination", None, found=1),
        ],
    )
    assert _count_wrong_arguments(call) == {
        "date": Wrong(1, 1),
        "identifier": Wrong(0, 1),
        "number": Wrong(1, 1),
    }


def test_what_a_judge_accepts_is_not_wrong() -> None:
    accepted = make_call_verdict(
        stage="judge",
        made={"query": "Bergen"},
        expected={"query": "Bergen, Norway"},
        differences=[Difference("query", "value_error", "string", "Bergen, Norway", "Bergen")],
    )
    assert _count_wrong_arguments(accepted) == {"text": Wrong(0, 1)}


def test_arguments_of_another_function_are_not_compared() -> None:
    call = make_call_verdict(code="func_error")
    other = CallVerdict(1, {"name": "else", "arguments": {}}, call.expected, "value", False, "func_error")
    unpaired = make_call_verdict(paired=False, code="unpaired")
    assert _count_wrong_arguments(other, unpaired) == {}


@each_case("odd", [None, [], {"name": "f"}, {"arguments": []}, {}])
def test_calls_of_another_shape_are_left_out(odd: Any) -> None:
    """A file can hold anything."""
    assert _count_wrong_arguments(CallVerdict(1, {}, odd, "value", False, None)) == {}


@each_case(
    ("name", "expected"),
    [
        ("categories_filter", "filter"),
        ("sort_option_id", "sort"),
        ("sortBy", "sort"),
        ("legs", "legs"),
        ("offerToken", "token"),
        ("search_key", "token"),
        ("slug", "slug"),
        ("departDate", "date"),
        ("min_date", "date"),
        ("pick_up_time", "time"),
        ("drop_off_latitude", "location"),
        ("pick_up_place_id", "identifier"),
        ("toId", "identifier"),
        ("vehicle_id", "identifier"),
        ("price_max", "money"),
        ("room_qty", "number"),
        ("children_age", "number"),
        ("cabinClass", "choice"),
        ("search_type", "choice"),
        ("query", "text"),
        ("xyz", "other"),
        ("", "other"),
        ("update", "other"),
    ],
)
def test_a_name_tells_what_a_parameter_is_for(name: str, expected: str) -> None:
    assert guess_role(name) == expected


def test_a_rate_is_the_share_of_wrong_arguments() -> None:
    assert Wrong(1, 4).rate == 0.25


def test_no_word_stands_for_two_roles() -> None:
    words = [word for known in read_roles().values() for word in known]
    assert len(words) == len(set(words))


# What is not scored


@each_case(
    ("verdict", "path", "limits"),
    [
        (TIMEOUT, None, (6 / 14, 10 / 14)),
        (ELSEWHERE, make_path_score(calls=10, right=0), (6 / 20, 16 / 20)),
        (ELSEWHERE, make_path_score(calls=1, right=0), (6 / 11, 7 / 11)),
        (NotScored(SET_ASIDE, "bad"), None, (0.6, 0.6)),
        (Failed("value_error", "r"), None, (0.6, 0.6)),
    ],
    ids=["as many as the longest", "as its path says", "as its short path says", "set aside", "scored"],
)
def test_what_could_have_come_of_it(
    verdict: Verdict, path: PathScore | None, limits: tuple[float, float]
) -> None:
    records = [*_make_run((4, 4), (2, 4), (0, 2)), make_path_record(verdict, number=9, path=path)]
    assert golden_paths.find_possible_accuracy(records, OFFICIAL) == pytest.approx(limits)


def test_nothing_scored_could_be_anything() -> None:
    assert golden_paths.find_possible_accuracy([make_path_record(TIMEOUT)], OFFICIAL) is None
    assert golden_paths.find_possible_accuracy([], OFFICIAL) is None


# Parts


def _make_whole_run(suite: str = "complexfuncbench") -> list[Record]:
    return [
        make_path_record(category=name, number=n, suite=suite, path=make_path_score())
        for name, size in golden_paths.OFFICIAL.items()
        for n in range(size)
    ]


def test_a_part_of_the_official_entries_is_told() -> None:
    """So that nobody takes its share for one of 150, 400 or 1,000."""
    whole = _make_whole_run()
    assert len(whole) == 1_000
    assert not golden_paths.is_scored_in_part(whole, OFFICIAL)
    assert golden_paths.is_scored_in_part(whole[1:], OFFICIAL)
    assert golden_paths.is_scored_in_part(whole[:150], OFFICIAL)
    assert not golden_paths.is_scored_in_part(_make_whole_run("core")[:3], OFFICIAL)
