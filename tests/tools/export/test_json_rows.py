"""JSON lines: each is an object, with texts as they were."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from pytest_fcbench.tools.export.json_rows import render_text
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run


def test_pandas_reads_the_lines() -> None:
    frame = pd.read_json(io.StringIO("".join(render_text(make_order()))), lines=True)
    assert frame.passed.sum() == 4
    assert frame.official.tolist().count("not_scored") == 1


def test_scores_are_fractions() -> None:
    rows = [json.loads(line) for line in render_text(make_order(per="score"))]
    accuracies = {row["score"]: row["accuracy"] for row in rows if row["profile"] == "official"}
    assert accuracies["multiple"] == 1.0
    assert accuracies["parallel"] == 0.5


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_every_text_comes_back_on_a_line_of_its_own(text: str) -> None:
    rows = [json.loads(line) for line in render_text(make_order(make_run(text=text)))]
    assert len(rows) == 7
    assert rows[6]["marks"] == f"slow,{text}"
