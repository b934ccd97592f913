"""The models of the official registry: 175 ids, each with names and a syntax that exists."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_fcbench.codecs.decoders.registry import SYNTAXES, list_run_syntaxes
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.models.official_models import find_family, find_folder_family, list_official_families
from tests.cases import each_case


def test_every_official_model_is_in_one_family() -> None:
    models = Counter(model for family in list_official_families() for model in family.models)
    assert len(models) == 175
    assert max(models.values()) == 1
    assert {family.syntax for family in list_official_families()} == (
        SYNTAXES.keys() & list_run_syntaxes()
    ) - {
        "hermes",
        "xlam",
    }


@each_case(
    ("model", "mode", "names", "syntax"),
    [
        ("gpt-4o-2024-11-20-FC", Mode.FC, Names.UNDERSCORED, "tool_calls"),
        ("gpt-4o-2024-11-20", Mode.PROMPT, Names.DOTTED, "python"),
        ("firefunction-v2-FC", Mode.FC, Names.DOTTED, "tool_calls"),
        ("meta-llama/Llama-3.1-8B-Instruct-FC", Mode.FC, Names.DOTTED, "llama_3_1"),
        ("Qwen/Qwen3-8B", Mode.PROMPT, Names.DOTTED, "python_behind_reasoning"),
    ],
)
def test_a_model_is_shown_and_read_as_its_official_handler_does(
    model: str, mode: Mode, names: Names, syntax: str
) -> None:
    family = find_family(model)
    assert (family.mode, family.names, family.syntax) == (mode, names, syntax)


def test_an_unknown_model_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"unknown official model 'Qwen/Qwen3-8B-fc'\. Did you mean 'Qwen/Qwen3-8B"
    ):
        find_family("Qwen/Qwen3-8B-fc")


@pytest.mark.parametrize(
    ("model", "read_as", "repaired"),
    [
        ("xiaoming-14B", ("mining", Names.DOTTED), ("tool_calls", Names.UNDERSCORED)),
        (
            "qwen3-235b-a22b-instruct-2507-FC",
            ("tool_calls", Names.DOTTED),
            ("tool_calls", Names.UNDERSCORED),
        ),
        ("Qwen/Qwen3-8B-FC", ("qwen", Names.DOTTED), ("qwen", Names.DOTTED)),
    ],
)
def test_faults_of_reading_are_left_out_on_request(
    model: str, read_as: tuple[str, Names], repaired: tuple[str, Names]
) -> None:
    families = find_family(model), find_family(model, repaired=True)
    assert [(each.syntax, each.names) for each in families] == [read_as, repaired]
    assert {each.handler for each in families} == {families[0].handler}


def test_a_folder_of_results_is_named_after_its_model() -> None:
    found = find_folder_family("meta-llama_Llama-3.1-8B-Instruct-FC")
    assert found is not None
    assert found[0] == "meta-llama/Llama-3.1-8B-Instruct-FC"
    assert find_folder_family("results") is None
