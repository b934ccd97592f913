"""Tests that assert something of their own on an answer, beside or in place of a matcher."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcbench.cli.main import main
from tests.plugin.conftest import Project

BODY = """\
import pytest

@pytest.mark.fcbench("multiple")
def test_multiple(entry, ask, judge, score):
    transcript = ask(entry)
    {assertion}
"""


def _find_verdicts(project: Project) -> list[Mapping[str, object]]:
    found = [record["verdicts"] for record in project.records().values()]
    return [verdicts["official"] for verdicts in found if isinstance(verdicts, dict)]


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("assertion", "reason"),
    [
        ("assert entry.id == 'another'", "another"),
        ("assert score(judge(entry, transcript)).passed; assert not 'right answers'", "right answers"),
        ("transcript.last.tool_calls[9]", "IndexError: "),
        ("import json; json.loads('so {')", "test_ast.py:6: JSONDecodeError: Expecting value"),
        (
            "raise type('Faults', (AssertionError,), {'__len__': lambda self: 0})('none is told')",
            "none is told",
        ),
    ],
    ids=[
        *("alone", "beside a matcher", "what the answer lacks", "what a library finds lacking"),
        "an exception that is false",
    ],
)
def test_a_failed_assertion_is_a_failure_like_any_other(
    project: Project, assertion: str, reason: str, workers: str
) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion=assertion))
    result = project.run("benchmarks/test_ast.py", "--fcbench-limit=2", "-n", workers)
    result.assert_outcomes(failed=2)
    for verdict in _find_verdicts(project):
        assert (verdict["status"], verdict["code"]) == ("failed", "own_assertion")
        assert reason in str(verdict["reason"])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "fault",
    ["from pytest_fcbench.domain.text import read_json_text; read_json_text('so {')", "1 / 0"],
    ids=["in our own code", "of another kind"],
)
def test_a_fault_that_is_none_of_the_answer_is_no_failure(project: Project, fault: str) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion=fault))
    project.run("benchmarks/test_ast.py", "--fcbench-limit=1").assert_outcomes(errors=1)
    assert [verdict["status"] for verdict in _find_verdicts(project)] == ["not_scored"]


def test_the_verdict_of_an_assertion_stays_when_answers_are_judged_again(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion="assert not transcript, 'too polite'"))
    project.run("benchmarks/test_ast.py", "--fcbench-limit=1").assert_outcomes(failed=1)
    capsys.readouterr()
    assert main(["run", "rejudge", str(project.path / "scorecard.json")]) == 0
    assert "; 1 failed by an assertion of a test; run the test to judge them again" in capsys.readouterr().out
    assert main(["run", "show", "multiple_0", "--scorecard", str(project.path / "scorecard.json")]) == 0
    assert "own_assertion" in capsys.readouterr().out


def test_an_assertion_that_holds_is_a_verdict_too(project: Project) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion="assert transcript"))
    project.run("benchmarks/test_ast.py", "--fcbench-limit=2").assert_outcomes(passed=2)
    assert [verdict["status"] for verdict in _find_verdicts(project)] == ["passed", "passed"]


def test_what_the_matcher_found_stays_its_finding(project: Project) -> None:
    body = "assert score(judge(entry, transcript)).passed"
    project.write("benchmarks/test_ast.py", BODY.format(assertion=body))
    project.run("benchmarks/test_ast.py", "--fcbench-model=lexical")
    codes = {verdict["code"] for verdict in _find_verdicts(project)}
    assert len(codes) > 1
    assert "own_assertion" not in codes


def test_a_fixture_of_the_same_name_about_something_else_breaks_no_entry(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest

@pytest.fixture
def score():
    return 7

@pytest.fixture
def ask(tmp_path):
    return tmp_path
""",
    )
    project.write("test_own.py", "def test_own(score, ask):\n    assert score == 7 and ask.is_dir()\n")
    project.run(
        "benchmarks", "test_own.py", "--fcbench-category=parallel", "--fcbench-limit=2"
    ).assert_outcomes(passed=3)


def test_a_key_in_an_assertion_is_masked(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", "sk-for-tests-only-1234567890")
    body = "assert transcript.prompting == 'sk-for-tests-only-1234567890'"
    project.write("benchmarks/test_ast.py", BODY.format(assertion=body))
    options = ("--fcbench-limit=1", "--fcbench-api-key-env=OWN_KEY")
    project.run("benchmarks/test_ast.py", *options).assert_outcomes(failed=1)
    (verdict,) = _find_verdicts(project)
    assert verdict["code"] == "own_assertion"
    assert "sk-for-tests-only" not in (project.path / "scorecard.json").read_text()
