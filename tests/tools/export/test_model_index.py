"""The index of a model card, as huggingface_hub reads it."""

from __future__ import annotations

import pytest
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.tools.export.model_index import render_text
from pytest_fcbench.tools.export.order import ExportRequest
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import make_order, make_run


def read_results(order: ExportRequest) -> tuple[str, list[EvalResult]]:
    """Read the name of the model and its results from a card."""
    card = ModelCard("".join(render_text(order)) + "# A model\n")
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


def test_the_name_can_be_given() -> None:
    assert read_results(make_order(name="org/model"))[0] == "org/model"


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_every_name_comes_back(text: str) -> None:
    name, results = read_results(make_order(make_run(model="m", text=text)))
    assert name == put_on_one_line(f"m{text}")
    assert len(results) == len(read_results(make_order())[1])
