"""``fcbench suite schema``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from pytest_fcbench.cli.main import main


def read_schema(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["suite", "schema", *words]) == 0
    schema: dict[str, Any] = json.loads(capsys.readouterr().out)
    return schema


HELLO = {"id": "chatable_0", "query": "Hello!"}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("words", "fits", "unfit"),
    [
        ([], {"category": "chatable", "entries": [HELLO]}, {"category": "chatable", **HELLO}),
        (["--lines"], {"category": "chatable", **HELLO}, {"category": "chatable", "entries": [HELLO]}),
    ],
    ids=["a file", "a line"],
)
def test_the_schema_is_that_of_a_file_or_of_a_line(
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    fits: Mapping[str, object],
    unfit: Mapping[str, object],
) -> None:
    validator = jsonschema.Draft202012Validator(read_schema(capsys, *words))
    assert validator.is_valid(fits)
    assert not validator.is_valid(unfit)
