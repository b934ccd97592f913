"""The official tables: columns, formulas, what stands for what was not run, and the order of rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.prompting import FORMATS
from pytest_fcbench.scorecard.aggregate.answer_statistics import CostLatency, measure_usage
from pytest_fcbench.tools.export.official_tables import TABLES, Header, ModelRow, write_line, write_table
from tests.cases import each_case
from tests.factories import make_entry
from tests.kinds.official_rows import write_and_read_row

NOTHING = measure_usage([])
USED = CostLatency(2, 2, 10, 20, 0.104, 52.0, 2.0, None, 1.9, 6.2449)
NON_LIVE = ("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple")
LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
MULTI_TURN = tuple(f"multi_turn_{name}" for name in ("base", "miss_func", "miss_param", "long_context"))
REST = ("irrelevance", "live_irrelevance", "live_relevance")


def make_model(
    scores: Mapping[str, tuple[int, int]], name: str = "m", usage: CostLatency = NOTHING
) -> ModelRow:
    """Make a model from right answers and answers by category."""
    return ModelRow(name, {category: Header(*counts) for category, counts in scores.items()}, usage)


def read_rows(name: str, *models: ModelRow, size: int = 100) -> list[dict[str, str]]:
    """Return the rows of a table."""
    text = write_table(TABLES[name], models, lambda category: size)
    assert not text.endswith("\n")
    return list(csv.DictReader(text.splitlines()))


def test_the_overall_score_is_weighed_from_its_parts() -> None:
    whole = {**dict.fromkeys(NON_LIVE, (9, 10)), **dict.fromkeys(LIVE, (8, 10))}
    whole |= {**dict.fromkeys(MULTI_TURN, (5, 10)), **dict.fromkeys(REST, (6, 10))}
    (row,) = read_rows("data_overall.csv", make_model(whole))
    assert row["Overall Acc"] == "38.00%"  # 0.1 x (0.9 + 0.8 + 0.6) + 0.3 x 0.5, and no agentic part
    assert [row[name] for name in ("Non-Live AST Acc", "Live Acc", "Multi Turn Acc")] == [
        "90.00%",
        "80.00%",
        "50.00%",
    ]
    assert row["Irrelevance Detection"] == row["Relevance Detection"] == "60.00%"
    assert row["Web Search Acc"] == row["Memory Acc"] == row["Format Sensitivity Max Delta"] == "N/A"
    memory = {"memory_kv": (1, 2), "memory_vector": (1, 4), "memory_rec_sum": (0, 9)}
    (row,) = read_rows("data_overall.csv", make_model({**whole, **memory, "web_search_base": (1, 2)}))
    assert row["Overall Acc"] == "48.00%"  # 38 % + 0.4 x (0.25 + 0.25) / 2
    assert [row[name] for name in ("Memory Acc", "Memory KV", "Web Search Acc", "Web Search Base")] == [
        "25.00%",
        "50.00%",
        "N/A",
        "50.00%",
    ]
    (row,) = read_rows("data_agentic.csv", make_model(memory))
    assert (row["Agentic Overall Acc"], row["Memory Summary"], row["Web Search Summary"]) == (
        "12.50%",
        "25.00%",
        "N/A",
    )


def test_what_was_not_run_is_0_or_not_available() -> None:
    """It counts as 0 in the leading column, with its size where counts weigh, and is N/A elsewhere."""
    part = make_model(
        {"multiple": (10, 10), "live_simple": (30, 50), "multi_turn_base": (1, 2), "irrelevance": (1, 1)}
    )
    (row,) = read_rows("data_non_live.csv", part)
    assert [row["Non-Live Overall Acc"], row["AST Summary"], row["Simple AST"]] == ["25.00%", "N/A", "N/A"]
    assert (row["Multiple AST"], row["Irrelevance Detection"]) == ("100.00%", "100.00%")
    (row,) = read_rows("data_live.csv", part)
    assert [row["Live Overall Acc"], row["AST Summary"]] == ["8.57%", "N/A"]  # 30 of 50 + 3 x 100
    (row,) = read_rows("data_multi_turn.csv", part)
    assert [row["Multi Turn Overall Acc"], row["Base"], row["Miss Func"]] == ["12.50%", "50.00%", "N/A"]
    (row,) = read_rows("data_agentic.csv", part)
    assert set(row.values()) == {"1", "m", "0.00%", "N/A"}
    (row,) = read_rows("data_overall.csv", part)
    assert row["Non-Live AST Acc"] == row["Irrelevance Detection"] == row["Relevance Detection"] == "N/A"
    assert [row["Live Acc"], row["Multi Turn Acc"]] == ["8.57%", "12.50%"]


def test_a_run_of_nothing_scores_0() -> None:
    (row,) = read_rows("data_overall.csv", make_model({}), size=0)
    assert row["Overall Acc"] == row["Live Acc"] == "0.00%"


def test_cost_and_latency_have_two_digits() -> None:
    first, second = read_rows("data_overall.csv", make_model({}, usage=USED), make_model({}))
    names = (
        "Total Cost ($)",
        "Latency Mean (s)",
        "Latency Standard Deviation (s)",
        "Latency 95th Percentile (s)",
    )
    assert [first[name] for name in names] == ["0.1", "2.0", "N/A", "6.24"]
    assert [second[name] for name in names] == ["N/A"] * 4


def test_the_best_model_comes_first_and_of_equal_ones_the_first() -> None:
    models = [
        make_model({"multiple": (right, 10)}, name) for name, right in zip("abcd", (3, 7, 3, 9), strict=True)
    ]
    for name in ("data_overall.csv", "data_non_live.csv"):
        assert [(row["Rank"], row["Model"]) for row in read_rows(name, *models)] == [
            ("1", "d"),
            ("2", "b"),
            ("3", "a"),
            ("4", "c"),
        ]


@pytest.mark.parametrize(
    ("right", "shown"), [((25, 24, 23, 25), "12.12%"), ((1, 0, 0, 0), "0.12%"), ((3, 0, 0, 0), "0.38%")]
)
def test_a_half_is_rounded_as_the_official_sum_rounds_it(right: tuple[int, ...], shown: str) -> None:
    scores = {name: (count, 200) for name, count in zip(MULTI_TURN, right, strict=True)}
    (row,) = read_rows("data_multi_turn.csv", make_model(scores))
    assert row["Multi Turn Overall Acc"] == shown


def test_names_are_kept_whole() -> None:
    named = replace(make_model({}, 'a, "b"'), link="https://x/?a,b", organization="O", license="L")
    (row,) = read_rows("data_overall.csv", named)
    assert [row[name] for name in ("Model", "Model Link", "Organization", "License")] == [
        'a, "b"',
        "https://x/?a,b",
        "O",
        "L",
    ]


def make_model_in_formats(*right: int, of: int = 8, name: str = "m") -> ModelRow:
    """Make a model with so many right answers in each of the first prompt formats."""
    told = {chosen.name: Header(count, of) for chosen, count in zip(FORMATS, right, strict=False)}
    return ModelRow(name, {"format_sensitivity": Header(sum(right), of * len(right), told)}, NOTHING)


def test_prompt_formats_have_a_table_of_their_own() -> None:
    """Those that are apart most come first; who was not asked in formats comes last."""
    first, second, third = read_rows(
        "data_format_sensitivity.csv",
        make_model({}, "c"),
        make_model_in_formats(4, 4, name="b"),
        make_model_in_formats(4, 5, 2, name="a"),
    )
    assert [row["Model"] for row in (first, second, third)] == ["a", "b", "c"]
    assert first["Format Sensitivity Max Delta"] == "37.5"
    assert first["Format Sensitivity Standard Deviation"] == "19.09"
    assert [first[f"Config {chosen.name}"] for chosen in FORMATS[:4]] == ["50.00%", "62.50%", "25.00%", "N/A"]
    assert second["Format Sensitivity Max Delta"] == "0.0"
    assert set(third.values()) == {"3", "c", "N/A"}
    assert len(first) == 4 + 26
    overall = read_rows("data_overall.csv", make_model_in_formats(4, 5, 2))[0]
    assert overall["Format Sensitivity Max Delta"] == "37.5"
    assert overall["Overall Acc"] == "0.00%"


def test_the_first_line_has_the_counts() -> None:
    assert write_line(Header(3, 4).row) == '{"accuracy": 0.75, "correct_count": 3, "total_count": 4}'


def test_the_first_line_of_prompt_formats_has_their_spread() -> None:
    header = Header(3, 8, {"a": Header(1, 4), "b": Header(2, 4)})
    of_a, of_b = ({"accuracy": n / 4, "correct_count": n, "total_count": 4} for n in (1, 2))
    assert list(header.row.items()) == [
        *(("accuracy", 0.375), ("correct_count", 3), ("total_count", 8)),
        *(("accuracy_max_delta", 25.0), ("accuracy_variance", 312.5), ("accuracy_std", 17.68)),
        *(("a", of_a), ("b", of_b)),
    ]


def test_a_right_answer_has_no_line() -> None:
    assert write_and_read_row(make_entry(), "[weather.forecast(city='Bergen')]") is None
    assert write_and_read_row(make_entry("irrelevance"), "I cannot.") is None
    assert write_and_read_row(make_entry("live_relevance"), "[f()]") is None


# Values of any kind


@each_case(
    ("value", "written"),
    [
        ((1, "a"), [1, "a"]),
        ((1, b"a"), "(1, b'a')"),
        ([1j, {"a": b"x"}], ["1j", {"a": "b'x'"}]),
        ({(1, 2): 3, None: 4, True: 5, 6: 7}, {"(1, 2)": 3, "null": 4, "true": 5, "6": 7}),
        ("\ud83d\x00\x1b[31m", "\ud83d\x00\x1b[31m"),
    ],
)
def test_any_value_is_written(value: object, written: object) -> None:
    text = write_line({"value": value})
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == {"value": written}


def test_a_value_that_is_nested_too_deeply() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    assert write_line({"id": "a", "deep": deep}) == '{"id": "a", "deep": "(nested too deeply)"}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_what_json_has_a_form_for_is_written_as_it_is(value: object) -> None:
    assert json.loads(write_line({"value": value})) == {"value": value}
