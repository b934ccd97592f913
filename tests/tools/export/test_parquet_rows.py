"""Parquet: pyarrow and pandas read what was written, with the types of the columns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from pytest_fcbench.tools.export import parquet_rows
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run


def test_columns_have_types(tmp_path: Path) -> None:
    path = tmp_path / "entries.parquet"
    assert parquet_rows.write_path(make_order(), path) == ["7 rows"]
    schema = pq.read_schema(path)
    types = {name: str(schema.field(name).type) for name in ("entry", "passed", "latency_s", "trial")}
    assert types == {"entry": "string", "passed": "int64", "latency_s": "double", "trial": "int64"}


def test_what_was_not_scored_is_null(tmp_path: Path) -> None:
    path = tmp_path / "entries.parquet"
    parquet_rows.write_path(make_order(), path)
    assert pq.read_table(path).column("passed").to_pylist() == [1, 0, None, 1, 1, 1, 0]


def test_pandas_reads_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    parquet_rows.write_path(make_order(per="score"), path)
    frame = pd.read_parquet(path).set_index(["profile", "score"])
    assert frame.loc[("official", "parallel"), "accuracy"] == 0.5


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "_AT_ONCE", 3)
    path = tmp_path / "entries.parquet"
    parquet_rows.write_path(make_order(), path)
    groups = pq.read_metadata(path)
    assert [groups.row_group(number).num_rows for number in range(groups.num_row_groups)] == [3, 3, 1]


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_every_text_comes_back(text: str, tmp_path: Path) -> None:
    path = tmp_path / "entries.parquet"
    parquet_rows.write_path(make_order(make_run(text=text)), path)
    (*_, last) = pq.read_table(path).column("marks").to_pylist()
    # UTF-8 has no lone surrogates, so they come back as their escapes.
    assert last == f"slow,{text}".encode("utf-8", "backslashreplace").decode()
