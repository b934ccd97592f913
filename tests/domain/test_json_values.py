"""An error of reading a JSON value says where the value is."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from pytest_fcbench.domain.json_values import read_json
from pytest_fcbench.domain.transcript import PathSettings
from tests.cases import each_case


@each_case(
    ("value", "told"),
    [([1], "^the whole: .*found \\[1\\]$"), ({"profile": "official", "live": "so"}, "^live: .*found 'so'$")],
)
def test_the_place_of_a_wrong_value_is_told(value: object, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        read_json(TypeAdapter(PathSettings), value)
