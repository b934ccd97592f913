"""Badges, model cards and comments, as those who read them take them."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import pytest
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.scorecard.run_facts import BROKEN, WORDS, RuleOutcome
from pytest_fcbench.tools.export.formats import ExportRequest
from pytest_fcbench.tools.export.repository_texts import (
    LONGEST_COMMENT,
    MARK,
    render_badge,
    render_comment,
    render_model_index,
)
from tests.cases import each_case
from tests.factories import make_record
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.test_hostile_texts import describe_markdown
from tests.tools.export.runs import make_order, make_run

every_text = each_case("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
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
        one.metric_args["conditions"] == ["only the entries that -k selects"]
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
