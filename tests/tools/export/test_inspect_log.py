"""The log of Inspect, read by inspect_ai."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.export.formats import ExportRequest
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run

pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")

ReadLog = Callable[[ExportRequest], Any]


@pytest.fixture
def read_log(tmp_path: Path) -> ReadLog:
    from inspect_ai.log import read_eval_log

    from pytest_fcbench.tools.export.inspect_log import render_log

    def write_and_read(order: ExportRequest) -> Any:
        path = tmp_path / "log.json"
        path.write_text("".join(render_log(order)), encoding="utf-8")
        return read_eval_log(str(path))

    return write_and_read


def test_a_log_says_what_was_run(read_log: ReadLog) -> None:
    log = read_log(make_order())
    assert (log.status, log.eval.model, log.eval.task) == ("success", "fcbench/test", "fcbench core")
    assert (log.results.total_samples, len(log.samples)) == (7, 7)


def test_scores_are_those_of_both_profiles(read_log: ReadLog) -> None:
    official, corrected = read_log(make_order()).results.scores
    assert (official.name, corrected.name) == ("official", "corrected")
    assert official.metrics["simple_python"].value == 0.5
    assert corrected.metrics["simple_python"].value == 1.0
    assert (official.scored_samples, official.unscored_samples) == (6, 1)


def test_samples_have_verdicts_and_codes(read_log: ReadLog) -> None:
    right, wrong, unscored, *_ = read_log(make_order()).samples
    assert [sample.scores["official"].value for sample in (right, wrong)] == ["C", "I"]
    assert wrong.scores["official"].metadata == {"code": "wrong_count"}
    assert wrong.scores["corrected"].value == "C"
    assert math.isnan(unscored.scores["official"].value)
    assert unscored.scores["official"].reason == "timeout"


def test_answers_are_messages_with_calls(read_log: ReadLog) -> None:
    sample = read_log(make_order()).samples[0]
    entry, words, called = sample.messages
    assert (entry.text, words.text) == ("core:simple_python_0", "sunny")
    (call,) = called.tool_calls
    assert (call.function, call.arguments, call.parse_error) == ("forecast", {"city": "Bergen"}, None)
    assert sample.model_usage["test"].input_tokens == 220
    assert sample.scores["official"].answer == 'forecast({"city": "Bergen"})'


def test_a_log_has_the_times_of_the_run(read_log: ReadLog) -> None:
    stats = read_log(make_order(replace(make_run(), duration_s=90.0))).stats
    times = [datetime.fromisoformat(time) for time in (stats.started_at, stats.completed_at)]
    assert (times[1] - times[0], times[1].timestamp()) == (timedelta(seconds=90), 1_780_000_000)


def test_a_baseline_is_refused(read_log: ReadLog) -> None:
    with pytest.raises(UsageError, match="states no time, like a baseline; give the scorecard of the run"):
        read_log(make_order(replace(make_run(), created_s=None)))


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_every_text_comes_back(read_log: ReadLog, text: str) -> None:
    log = read_log(make_order(make_run(text=text)))
    assert len(log.samples) == 7
    said = log.samples[0].messages[1].text
    assert said.encode("utf-8", "backslashreplace") == text.encode("utf-8", "backslashreplace")
