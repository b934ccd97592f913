"""A whole run in which the first call along a golden path is made with a fault of its form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.suites import core
from tests.plugin.conftest import Project

ENTRY = core.open_suite(Path()).load(CATEGORIES["hotels"])[0]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("change", "fault", "row", "code"),
    [
        ({"check_in": None}, "'check_in' is missing", "check_in *(left out) *'2027-05-14'", "param_missing"),
        (
            {"check_in": None, "chek_in": "2027-05-14"},
            "'check_in' is missing and 'chek_in' is not one of its parameters",
            "chek_in *'2027-05-14' *",
            "param_missing",
        ),
        ({"adults": "2"}, "'adults' must be of type integer, not string", "adults *'2' *2", "value_error"),
    ],
    ids=["missing", "misspelt", "mistyped"],
)
def test_the_screen_names_the_call_and_its_fault(
    project: Project, change: Mapping[str, object], fault: str, row: str, code: str
) -> None:
    assert isinstance(ENTRY.expectation, GoldenPath)
    (place,), (search,), *_ = ENTRY.expectation.steps
    arguments = {name: value for name, value in {**search.arguments, **change}.items() if value is not None}
    attempt = [{search.name: arguments}]
    turns = [[[{place.name: place.arguments}], attempt, attempt, "Done."]]
    project.write("script.json", json.dumps({"answers": {ENTRY.key: {"turns": turns}}}))
    run = project.run(
        "benchmarks/test_complex.py",
        "--fcbench-model=scripted:script.json",
        "--fcbench-profile=corrected",
        f"-k={ENTRY.id}]",
    )
    sentence = f"{search.name} was called 2 times, but not as expected: {fault}"
    run.stdout.fnmatch_lines([f"*call 1 *{search.name} *{search.name}", f"> *{row}"])
    run.stdout.no_fnmatch_line("*(no call)*")
    screen = " ".join(run.stdout.str().replace(">", " ").split())
    assert f"why {sentence}" in screen
    assert f"[{code}]" in screen
    shown = " ".join(project.fcbench("run", "show", ENTRY.key).stdout.split())
    assert sentence in shown
