"""``fcbench schema``."""

from __future__ import annotations

import json

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.suites.formats.entry_schema import generate_entry_schema


@pytest.mark.parametrize(("words", "lines"), [([], False), (["--lines"], True)])
def test_it_prints_the_schema(capsys: pytest.CaptureFixture[str], words: list[str], lines: bool) -> None:
    assert main(["schema", *words]) == 0
    assert json.loads(capsys.readouterr().out) == generate_entry_schema(lines=lines)
