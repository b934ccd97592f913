"""Records for other evaluation tools, as their readers take them.

The readers of lm-evaluation-harness and Every Eval Ever are large and need other versions of Python and of
the client of the hub, so what they take was tried once: docs/project/results.md. The hub's own reader is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.scorecard.aggregate.intervals import Z
from pytest_fcbench.tools.export.evaluation_records import render_eee, render_hub_result, render_lm_eval
from pytest_fcbench.tools.export.formats import ExportRequest
from tests.cases import each_case
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run

every_text = each_case("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)


def read_lm_eval(order: ExportRequest) -> dict[str, Any]:
    report: dict[str, Any] = json.loads("".join(render_lm_eval(order)))
    return report


def read_hub_result(**chosen: object) -> EvalResultEntry:
    """Read the one result of a file for a leaderboard with the hub's own reader."""
    order = make_order(dataset="org/benchmark", task="calls", **chosen)
    (result,) = parse_eval_result_entries(yaml.safe_load("".join(render_hub_result(order))))
    return result


def read_eee(order: ExportRequest) -> dict[str, Any]:
    chosen = replace(order, organization="An evaluator", relationship="third_party")
    record: dict[str, Any] = json.loads("".join(render_eee(chosen)))
    return record


def test_each_score_is_a_task_of_lm_eval() -> None:
    report = read_lm_eval(make_order())
    assert list(report["results"]) == [
        *("core_simple_python", "core_multiple", "core_parallel", "core_all"),
    ]
    parallel = report["results"]["core_parallel"]
    assert (parallel["alias"], parallel["acc,none"], parallel["sample_len"]) == ("parallel", 0.5, 2)
    assert report["higher_is_better"]["core_parallel"] == {"acc": True}
    assert (report["model_name"], report["date"]) == ("test", 1_780_000_000.0)
    tables = ("configs", "versions", "n-shot", "n-samples", "higher_is_better")
    assert all(report[each].keys() == report["results"].keys() for each in tables)


def test_what_was_not_scored_is_no_effective_sample() -> None:
    report = read_lm_eval(make_order())
    # One of three passed officially, one failed, one was not scored.
    assert report["n-samples"]["core_simple_python"] == {"original": 3, "effective": 2}
    assert report["results"]["core_simple_python"]["acc,none"] == 0.5


def test_the_standard_error_gives_an_interval_as_wide_as_ours() -> None:
    run = make_run()
    limits = run.scores(run.facts.profile).categories["parallel"].interval
    error = read_lm_eval(make_order(run))["results"]["core_parallel"]["acc_stderr,none"]
    assert limits
    assert 2 * Z * error == pytest.approx(limits.high - limits.low)


def test_a_group_of_lm_eval_names_its_parts() -> None:
    run = make_run()
    whole = replace(run, records=tuple(each for each in run.records if each.category == "parallel"))
    java, javascript, python = (
        replace(whole.records[0], category=f"simple_{name}", group="non_live")
        for name in ("java", "javascript", "python")
    )
    report = read_lm_eval(make_order(replace(whole, records=(java, javascript, python))))
    assert report["group_subtasks"]["core_simple"] == [
        *("core_simple_python", "core_simple_java", "core_simple_javascript"),
    ]
    assert report["groups"]["core_simple"]["acc,none"] == 1.0


def test_the_reader_of_the_hub_finds_the_score() -> None:
    result = read_hub_result(metric="parallel")
    assert (result.dataset_id, result.task_id, result.value) == ("org/benchmark", "calls", 0.5)
    assert result.date == "2026-05-28T20:26:40+00:00"
    assert "core 1, fc mode; official profile; 2 entries scored, 0 not scored" in str(result.notes)
    assert result.verify_token is result.source_url is result.dataset_revision is None


def test_a_score_of_nothing_is_no_result_for_the_hub() -> None:
    run = make_run()
    unscored = replace(run, records=(run.records[2],))
    with pytest.raises(UsageError, match=r"nothing of simple_python was scored; choose another score"):
        list(render_hub_result(make_order(unscored, metric="simple_python")))


@pytest.mark.parametrize("render", [render_lm_eval, render_eee])
def test_a_run_without_scores_has_no_record(render: Callable[[ExportRequest], Iterator[str]]) -> None:
    run = make_run()
    with pytest.raises(UsageError, match="nothing was scored; give the scorecard of a run that was scored"):
        list(render(make_order(replace(run, records=(run.records[2],)))))


def test_each_record_says_what_sets_its_scores_apart() -> None:
    run = make_run()
    pressed = [
        replace(each, entry=f"{each.entry}+distractors=8", trial=trial)
        for each in run.records
        for trial in (1, 2)
    ]
    facts = replace(run.facts, narrowed_by="-k", shots={"core:parallel": ("core:parallel_9",)})
    order = make_order(replace(run, facts=facts, records=tuple(pressed)), dataset="a/b", task="c")
    conditions = [
        "only the entries that -k selects",
        "2 trials of each entry",
        "over all levels of the pressure distractors",
        "prompts with up to 1 answered entries",
    ]
    assert read_lm_eval(order)["configs"]["core_parallel"]["metadata"]["conditions"] == conditions
    asked = read_eee(order)["evaluation_results"][0]["generation_config"]["additional_details"]
    assert asked["conditions"] == "; ".join(conditions)
    assert f"official profile; {'; '.join(conditions)}; " in "".join(render_hub_result(order))


def test_a_record_of_every_eval_ever_has_both_profiles_with_intervals() -> None:
    record = read_eee(make_order(name="org/model"))
    results = {each["evaluation_result_id"]: each for each in record["evaluation_results"]}
    official, corrected = (results[f"{profile}/simple_python"] for profile in ("official", "corrected"))
    assert (official["score_details"]["score"], corrected["score_details"]["score"]) == (0.5, 1.0)
    details = official["score_details"]
    assert details["details"] == {"passed": "1", "scored": "2", "not_scored": "1"}
    limits = details["uncertainty"]["confidence_interval"]
    assert limits["lower"] < 0.5 < limits["upper"]
    assert record["evaluation_id"] == "core/org/model/1780000000"
    assert record["source_metadata"]["source_organization_name"] == "An evaluator"


def test_a_baseline_is_no_record_of_every_eval_ever_because_it_states_no_time() -> None:
    with pytest.raises(UsageError, match="states no time, like a baseline"):
        read_eee(make_order(replace(make_run(), created_s=None)))


@every_text
def test_every_text_comes_through(text: str) -> None:
    order = make_order(make_run(text=text))
    assert len(read_lm_eval(order)["results"]) == len(read_lm_eval(make_order())["results"])
    assert len(read_eee(order)["evaluation_results"]) == len(read_eee(make_order())["evaluation_results"])
    (result,) = parse_eval_result_entries(
        yaml.safe_load("".join(render_hub_result(replace(order, dataset="org/x", task="y"))))
    )
    assert str(result.notes).isprintable()
