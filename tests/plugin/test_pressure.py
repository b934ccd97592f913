"""Curves of pressure by a real pytest: over HTTP, over processes, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugin.conftest import Project
from tests.served import served

LEVELS = "distractors:0,8,32,128"
MULTIPLE = ("--fcbench-category=multiple", "--fcbench-sample=12", "--fcbench-profile=corrected")
REMOTE = ("--fcbench-model=openai/oracle", "--fcbench-param=api_key=unused", "--fcbench-store=none")


@pytest.fixture(scope="module")
def crowded_server() -> Iterator[str]:
    with served("--model", "oracle", "--fault", "crowded:20", "--pressure", LEVELS) as api_base:
        yield api_base


@pytest.mark.parametrize(
    "how", [(), *(pytest.param((workers,), marks=pytest.mark.nightly) for workers in ("-n0", "-n2"))]
)
def test_a_model_that_breaks_at_20_functions_shows_it(
    project: Project, crowded_server: str, how: tuple[str, ...]
) -> None:
    """Each entry is a test at each level; the breaking point stands in terminal, scorecard and page."""
    options = (*REMOTE, *MULTIPLE, f"--fcbench-api-base={crowded_server}", f"--fcbench-pressure={LEVELS}")
    result = project.run_apart(*options, *how)
    section: Any = project.scorecard()["fcbench"]
    curve = section["profiles"]["corrected"]["pressure"]["distractors"]
    passed = {level: of["passed"] for level, of in curve["levels"].items()}
    # Some entries offer more than 12 functions of their own, and one more than 20.
    assert passed["0"] == 11 > passed["8"] > passed["32"] == passed["128"] == 0
    assert all(of["n"] == 12 for of in curve["levels"].values())
    point = curve["breaking_point"]
    assert 0 < point["low"] < point["level"] < point["high"] < 32
    result.assert_outcomes(passed=sum(passed.values()), failed=48 - sum(passed.values()))
    result.stdout.fnmatch_lines(
        [
            "scores under pressure (corrected profile)*",
            "distractors breaks at *",
            "pressure, distractors: breaks at *",
        ]
    )
    record = next(each for key, each in project.records().items() if key.endswith("+distractors=32"))
    assert str(record["entry"]).removeprefix("core:").startswith(str(record["cluster"]))


@pytest.mark.nightly
def test_pages_and_comparisons_show_the_curve(project: Project) -> None:
    """The page has a chart and the pressed entries; a comparison has both runs level by level."""
    options = ("--fcbench-model=lexical", *MULTIPLE, f"--fcbench-pressure={LEVELS}")
    project.run_apart(*options, "--fcbench-scorecard=one.json")
    project.run_apart(*options, "--fcbench-mode=prompt", "--fcbench-scorecard=two.json")
    compared = project.fcbench("run", "compare", "one.json", "two.json").stdout
    assert "Scores under pressure" in compared
    assert "distractors 128" in compared
    assert project.fcbench("run", "report", "one.json", "two.json").returncode == 0
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert "Accuracy under pressure by level of distractors" in page
    key = next(key for key in project.records("one.json") if key.endswith("+distractors=8"))
    shown = project.fcbench("run", "show", key, "--scorecard=one.json", "--full").stdout
    assert key in shown
    plain = project.fcbench("run", "show", key.partition("+")[0], "--expected").stdout
    asked, own = (text.partition("\nfunctions ")[2].partition("\n")[0].split(",") for text in (shown, plain))
    assert len(asked) == len(own) + 8
    assert "corrected" in shown


def test_trials_samples_and_single_entries_keep_the_levels_of_an_entry_together(project: Project) -> None:
    """An id selects all levels of its entry, or one of them."""
    pressure = ("--fcbench-model=oracle", "--fcbench-pressure=errors:0,1", "--fcbench-trials=2")
    result = project.run_apart("--fcbench-entry=core:multi_turn_base_3", *pressure)
    result.assert_outcomes(passed=4)
    one = project.run_apart("--fcbench-entry=core:multi_turn_base_3+errors=1", *pressure)
    one.assert_outcomes(passed=2)
    alone = project.run_apart("core:multi_turn_base_3+errors=1", "--fcbench-model=oracle")
    alone.assert_outcomes(passed=1)
    drawn = project.run_apart("--fcbench-category=multi_turn_base", "--fcbench-sample=3", *pressure)
    drawn.assert_outcomes(passed=12, deselected=(32 - 3) * 4)


@pytest.mark.nightly
def test_entries_without_a_level_are_counted(project: Project) -> None:
    """What the curve leaves out is said before the first request."""
    options = ("--fcbench-model=oracle", "--fcbench-category=simple_java", "--fcbench-category=simple_python")
    result = project.run_apart(*options, "--fcbench-pressure=distractors:8,128")
    result.assert_outcomes(passed=62)
    result.stdout.fnmatch_lines(
        ["note: 24 entries have no right call, or too few functions*=distractors leaves them out"]
    )
    nothing = project.run_apart(*options, "--fcbench-pressure=errors:0,1")
    assert nothing.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    nothing.stdout.fnmatch_lines(["55 entries have no results of calls*=errors leaves them out"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("--fcbench-pressure=noise:1",),
            "--fcbench-pressure=noise:1: must begin with distractors, context*",
        ),
        (
            ("--fcbench-pressure=context:0,50",),
            "--fcbench-pressure=context: its levels are percent of a context*",
        ),
        (
            ("--fcbench-pressure=errors:1", "--fcbench-forced=auto"),
            "--fcbench-pressure and --fcbench-forced=auto exclude each other; give one of them",
        ),
    ],
)
def test_wrong_pressure_is_refused(project: Project, options: tuple[str, ...], says: str) -> None:
    """The error says the rule and the way out."""
    result = project.run_apart("--fcbench-model=oracle", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])
