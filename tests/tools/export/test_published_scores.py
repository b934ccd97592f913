"""Records for other evaluation tools, as their readers take them.

The readers of lm-evaluation-harness and Every Eval Ever are large and need other versions of Python and of
the client of the hub, so what they take was tried once: docs/project/results.md. The hub's own reader is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
import yaml
from huggingface_hub import EvalResult, EvalResultEntry, ModelCard, ModelCardData, parse_eval_result_entries

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.scorecard.aggregate.intervals import Z
from pytest_fcbench.scorecard.run_facts import BROKEN, WORDS, RuleOutcome
from pytest_fcbench.tools.export.formats import ExportRequest
from pytest_fcbench.tools.export.published_scores import (
    LONGEST_COMMENT,
    MARK,
    render_badge,
    render_comment,
    render_eee,
    render_hub_result,
    render_lm_eval,
    render_model_index,
)
from tests.cases import each_case
from tests.factories import make_record
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.test_hostile_texts import describe_markdown
from tests.tools.export.runs import EARLY, ENDED_EARLY, make_order, make_run

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


@pytest.mark.parametrize("render", [render_lm_eval, render_eee, render_model_index])
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
    facts = replace(run.facts, narrowed_by="-k", shots={"core:parallel": ("core:parallel_9",)}, against=EARLY)
    order = make_order(replace(run, facts=facts, records=tuple(pressed)), dataset="a/b", task="c")
    conditions = [
        "only the entries selected by -k",
        "2 trials of each entry",
        "over all levels of the pressure distractors",
        "prompts with up to 1 answered entries",
        ENDED_EARLY,
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


SVG = "{http://www.w3.org/2000/svg}"


def test_the_image_shows_label_and_score() -> None:
    image = fromstring("".join(render_badge(make_order(metric="parallel", ending=".svg"))))
    assert [text.text for text in image.iter(f"{SVG}text")] == ["core parallel", "50.0%"]
    assert image.findtext(f"{SVG}title") == "core parallel: 50.0%"


def test_the_json_is_an_endpoint_of_shields() -> None:
    badge = json.loads("".join(render_badge(make_order(metric="multiple", name="BFCL", ending=".json"))))
    assert badge == {"schemaVersion": 1, "label": "BFCL", "message": "100.0%", "color": "#0b5fa5"}


def test_a_formula_of_which_parts_were_not_run_must_be_named() -> None:
    assert "<title>core all: 66.7%</title>" in "".join(render_badge(make_order()))
    # Non-live is (0.5 / 3 + 1 + 0.5 + 0) / 4, and a tenth of overall.
    badge = "".join(render_badge(make_order(metric="overall")))
    assert "<title>core overall, parts not run count as 0: 4.2%</title>" in badge


def test_an_unknown_score_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"--metric=paralel: unknown metric 'paralel'. Did you mean 'parallel'"
    ):
        list(render_badge(make_order(metric="paralel")))


@every_text
def test_every_label_is_a_text(text: str) -> None:
    image = fromstring(
        "".join(render_badge(make_order(make_run(text=text), metric="parallel", name=text or None)))
    )
    assert [element.tag.removeprefix(SVG) for element in image] == [
        "title",
        "polygon",
        "polygon",
        "text",
        "text",
    ]


def read_results(order: ExportRequest) -> tuple[str, list[EvalResult]]:
    """Read the name of the model and its results from a card."""
    card = ModelCard("".join(render_model_index(order)) + "# A model\n")
    assert isinstance(card.data, ModelCardData)
    return str(card.data.model_name), list(card.data.eval_results or [])


def test_a_card_is_about_one_model() -> None:
    runs = make_run(), make_run(model="other")
    with pytest.raises(UsageError, match="2 models: a card is about one"):
        read_results(make_order(*runs))
    assert read_results(make_order(*runs, name="both"))[0] == "both"


def test_the_card_reader_finds_the_accuracies_of_both_profiles() -> None:
    name, results = read_results(make_order())
    found = {(one.dataset_config, one.metric_name): one.metric_value for one in results}
    assert name == "test"
    assert found["simple_python (fc)", "accuracy, official profile"] == 0.5
    assert found["simple_python (fc)", "accuracy, corrected profile"] == 1.0
    assert {(one.task_name, one.dataset_type, one.dataset_name) for one in results} == {
        ("Function calling", "core", "core 1")
    }


def test_counts_and_interval_stand_beside_an_accuracy() -> None:
    _, results = read_results(make_order())
    (parallel,) = (
        one for one in results if one.dataset_config == "parallel (fc)" and "official" in str(one.metric_name)
    )
    counts = dict(parallel.metric_args or {})
    low, high = counts.pop("interval_95")
    assert counts == {"scored": 2, "not_scored": 0}
    assert 0 <= low < 0.5 < high <= 1


def test_a_card_says_what_sets_a_run_apart() -> None:
    run = make_run()
    _, results = read_results(make_order(replace(run, facts=replace(run.facts, narrowed_by="-k"))))
    assert all(
        one.metric_args["conditions"] == ["only the entries selected by -k"]
        for one in results
        if one.metric_args
    )


def test_the_name_can_be_given() -> None:
    assert read_results(make_order(name="org/model"))[0] == "org/model"


@every_text
def test_every_name_comes_back(text: str) -> None:
    name, results = read_results(make_order(make_run(model="m", text=text)))
    assert name == put_on_one_line(f"m{text}")
    assert len(results) == len(read_results(make_order())[1])


def test_a_comment_begins_with_its_mark() -> None:
    lines = list(render_comment(make_order()))
    assert lines[0] == f"{MARK}\n"
    assert any(line.startswith("| parallel | 2 | 1 | 1 | 0 | 50.00% |") for line in lines)


def test_a_comment_lists_what_became_worse() -> None:
    before = make_run("before")
    better = [replace(each, verdicts=make_record(Passed()).verdicts) for each in before.records]
    text = "".join(render_comment(make_order(baseline=replace(before, records=tuple(better)))))
    assert "### Worse (2)" in text
    assert "core:parallel\\_1" in text


def test_a_comment_is_cut_at_the_limit() -> None:
    outcomes = tuple(RuleOutcome(f"overall>=0.{n}", WORDS[BROKEN], "x" * 500) for n in range(200))
    text = "".join(render_comment(make_order(replace(make_run(), gate=outcomes))))
    assert len(text) <= LONGEST_COMMENT
    assert text.endswith("The rest is too long for a comment; the scorecard has it.\n")


@every_text
def test_a_comment_has_the_form_of_a_harmless_one(text: str) -> None:
    hostile, harmless = (
        describe_markdown("".join(render_comment(make_order(make_run(text=said)))).splitlines()[1:])
        for said in (text, "word")
    )
    assert hostile == harmless
