"""The parts of a run are made when they are read: a wrong one troubles nobody who does not need it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.errors import PackMissing, UsageError
from pytest_fcbench.run.context import RunContext
from tests.cases import each_case

ORACLE = build_settings({"model": "oracle"}, None)


def test_suites_need_no_model() -> None:
    context = RunContext(replace(ORACLE, model="oracel"))
    assert set(context.suites) == {"core"}
    with pytest.raises(UsageError, match="oracel"):
        context.check()


def test_a_wrong_model_is_found_before_a_missing_pack(tmp_path: Path) -> None:
    settings = replace(ORACLE, suites=("bfcl",), cache=tmp_path)
    with pytest.raises(
        PackMissing, match=r"suite 'bfcl' needs the pack bfcl-eval .*: run 'fcbench pull bfcl'"
    ):
        RunContext(settings).check()
    with pytest.raises(UsageError, match="oracel"):
        RunContext(replace(settings, model="oracel")).check()


@each_case(
    ("options", "waits"),
    [
        ({}, False),
        ({"model": "openai/x"}, True),
        ({"judge": "openai/x"}, False),
        ({"judge": "openai/x", "category": ["chatable"]}, True),
        ({"search": "duckduckgo"}, False),
        ({"search": "duckduckgo", "category": ["web_search"]}, True),
    ],
)
def test_who_has_to_be_waited_for(options: dict[str, object], waits: bool) -> None:
    plain = {"model": "oracle", "category": ["simple_python"]}
    assert RunContext(build_settings({**plain, **options}, None)).waits is waits
