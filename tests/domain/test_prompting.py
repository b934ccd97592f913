"""The 26 prompt formats and their names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.prompting import (
    BY_NAME,
    DIMENSIONS,
    FORMATS,
    PLAIN,
    parse_format_id,
    shorten_format_id,
)
from tests.cases import each_case


def test_there_are_26_with_names_of_their_own() -> None:
    assert len(FORMATS) == len(BY_NAME) == len({chosen.short for chosen in FORMATS}) == 26
    assert PLAIN in FORMATS


def test_names_are_the_official_ones_in_the_official_order() -> None:
    names = [chosen.name for chosen in FORMATS]
    plain = "&prompt_fmt=plaintext&style=classic"
    assert names[0] == f"ret_fmt=python&tool_call_tag=True&func_doc_fmt=python{plain}"
    assert names[5] == f"ret_fmt=python&tool_call_tag=False&func_doc_fmt=json{plain}" == PLAIN.name
    assert names[10] == f"ret_fmt=json&tool_call_tag=False&func_doc_fmt=xml{plain}"
    assert names[24:] == [
        "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=markdown&style=classic",
        "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=experimental",
    ]


def test_each_differs_from_another_in_one_dimension_only() -> None:
    """So that what each value costs can be told."""
    for chosen in FORMATS:
        usual = [replace(chosen, **{name: getattr(PLAIN, name)}) for name in DIMENSIONS]
        assert chosen == PLAIN or any(each != chosen and each in FORMATS for each in usual)


@pytest.mark.parametrize("prefix", ["", "bfcl:"])
def test_an_id_tells_format_and_original(prefix: str) -> None:
    assert parse_format_id(f"{prefix}format_sensitivity_12:{PLAIN.name}:live_simple_23-5-1") == (
        PLAIN,
        "live_simple_23-5-1",
    )


@each_case(
    "entry",
    [
        *(
            "",
            "bfcl:simple_python_1",
            "core:format_sensitivity_1",
            "format_sensitivity_1:json:simple_1",
        ),
        *(f"x{PLAIN.name}", f"format_sensitivity_x:{PLAIN.name}:simple_python_1"),
    ],
)
def test_other_ids_tell_neither(entry: str) -> None:
    assert parse_format_id(entry) is None


def test_an_id_can_be_shortened() -> None:
    assert shorten_format_id(f"bfcl:format_sensitivity_12:{PLAIN.name}:multiple_1") == (
        "bfcl:format_sensitivity_12:…:multiple_1"
    )
    assert shorten_format_id("bfcl:multiple_1") == "bfcl:multiple_1"
