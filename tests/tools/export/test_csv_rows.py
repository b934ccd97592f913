"""CSV: numbers stay numbers, and no text is a formula."""

from __future__ import annotations

import csv
import io
import re

import pandas as pd
import pytest

from pytest_fcbench.tools.export.csv_rows import render_text
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run

every_text = pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)


def read_frame(**chosen: object) -> pd.DataFrame:
    return pd.read_csv(io.StringIO("".join(render_text(make_order(**chosen)))))


def test_pandas_reads_outcomes_as_numbers() -> None:
    frame = read_frame()
    assert frame.passed.dropna().tolist() == [1, 0, 1, 1, 1, 0]
    assert frame.groupby("category").passed.mean().to_dict() == {
        "simple_python": 0.5,
        "multiple": 1.0,
        "parallel": 0.5,
    }
    assert frame.latency_s.iloc[0] == 2.0
    assert frame.usd.iloc[0] == pytest.approx(0.003)


def test_what_was_not_scored_has_a_cause_and_no_number() -> None:
    row = read_frame().iloc[2]
    assert (row.official, row.official_code) == ("not_scored", "timeout")
    assert pd.isna(row.passed)


def test_the_corrected_profile_has_columns_of_its_own() -> None:
    row = read_frame().iloc[1]
    assert (row.official, row.official_code, row.corrected) == ("failed", "wrong_count", "passed")


def test_scores_have_their_intervals_as_columns() -> None:
    frame = read_frame(per="score").set_index(["profile", "score"])
    parallel = frame.loc[("official", "parallel")]
    assert (parallel.n, parallel.passed, parallel.accuracy) == (2, 1, 0.5)
    assert 0 <= parallel.low < 0.5 < parallel.high <= 1
    assert frame.loc[("official", "simple_python")].not_scored == 1
    assert frame.loc[("corrected", "simple_python")].accuracy == 1.0


def test_several_runs_stand_below_each_other() -> None:
    text = "".join(render_text(make_order(make_run("a", "one"), make_run("b", "two"))))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["run"] for row in rows] == ["a"] * 7 + ["b"] * 7
    assert {row["run"]: row["model"] for row in rows} == {"a": "test", "b": "test"}


@every_text
@pytest.mark.parametrize("per", ["entry", "score"])
def test_every_text_is_a_cell_and_no_formula(text: str, per: str) -> None:
    written = "".join(render_text(make_order(make_run(text=text), per=per)))
    rows = list(csv.reader(io.StringIO(written)))
    harmless = list(csv.reader(io.StringIO("".join(render_text(make_order(make_run(text="word"), per=per))))))
    assert list(map(len, rows)) == list(map(len, harmless))
    is_number = re.compile(r"[+-]?[\d.,]*%?")
    formulas = [cell for row in rows for cell in row if cell[:1] in set("=+-@\t\r")]
    assert [cell for cell in formulas if not is_number.fullmatch(cell)] == []
