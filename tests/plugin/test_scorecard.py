"""What a run leaves behind: JSON report, terminal, exit code; the same with and without xdist."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import jsonschema
import pytest
from jsonschema.protocols import Validator

from pytest_fcbench.present.document import json_schema
from pytest_fcbench.scorecard.record import Usage
from pytest_fcbench.suites import core
from tests.factories import make_record, write_scorecard
from tests.plugin.conftest import Project, size

IRRELEVANCE, MULTIPLE = size("irrelevance"), size("multiple")

SCRIPT = """
answers:
  core:irrelevance_0: I cannot do that.
  core:irrelevance_1: "[some_function(a=1)]"
  core:irrelevance_2: "\\e]0;title\\a [\\e[31mred\\e[0m"
"""


@cache
def make_validator(kind: str) -> Validator:
    schema = {**json_schema(), "$ref": f"#/$defs/{kind}"}
    found = jsonschema.validators.validator_for(schema)
    found.check_schema(schema)
    return found(schema)


def validate_value(value: Any, kind: str) -> None:
    make_validator(kind).validate(value)


def read_section(report: Mapping[str, object]) -> dict[str, object]:
    found = report["fcbench"]
    assert isinstance(found, dict)
    return found


def make_mixed(project: Project) -> tuple[str, ...]:
    """Options of a run that passes, fails and leaves entries without a score."""
    project.write("script.yaml", SCRIPT)
    return ("--fcbench-model=scripted:script.yaml", "--fcbench-category=irrelevance", "--fcbench-mode=prompt")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "workers",
    [(), pytest.param(("-n", "0"), marks=pytest.mark.nightly), ("-n", "2")],
    ids=["plain", "n0", "n2"],
)
def test_right_passes_wrong_fails_and_no_answer_is_an_error(
    project: Project, workers: tuple[str, ...]
) -> None:
    """Right passes, wrong fails, without an answer is an error; the record says the same."""
    result = project.run(*make_mixed(project), *workers)
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"], outcomes["errors"]) == (2, 1, IRRELEVANCE - 3)
    assert result.ret == 1
    statuses = {entry: record["verdicts"] for entry, record in project.records().items()}
    assert statuses["core:irrelevance_0"] == {
        "official": {"status": "passed", "code": None, "reason": None},
        "corrected": {"status": "passed", "code": None, "reason": None},
    }
    wrong = statuses["core:irrelevance_1"]
    assert isinstance(wrong, dict)
    assert wrong["official"]["code"] == "irrelevance_error:decoder_success"
    assert "some_function" in wrong["official"]["reason"]
    unscored = statuses["core:irrelevance_3"]
    assert isinstance(unscored, dict)
    assert (unscored["official"]["status"], unscored["official"]["code"]) == ("not_scored", "no_result")
    irrelevance = read_section(project.scorecard())["profiles"]["official"]["categories"]["irrelevance"]  # type: ignore[index]
    assert irrelevance == {
        "n": IRRELEVANCE,
        "passed": 2,
        "failed": 1,
        "not_scored": IRRELEVANCE - 3,
        "set_aside": 0,
        "unknown": 0,
        "accuracy": pytest.approx(2 / 3),
        # Wilson's limits for 2 of 3
        "interval": {
            "low": pytest.approx(0.2077, abs=1e-4),
            "high": pytest.approx(0.9385, abs=1e-4),
            "method": "wilson",
            "clusters": None,
        },
        "missing": [],
    }


def test_same_scorecard_with_and_without_workers(project: Project) -> None:
    reports = []
    for workers in ((), ("-n", "0"), ("-n", "2"), ("-n", "4", "--dist", "worksteal")):
        project.run("--fcbench-model=lexical", "--fcbench-sample=60", *workers)
        report = project.scorecard()
        tests = report["tests"]
        assert isinstance(tests, list)
        reports.append(
            json.dumps([report["fcbench"], [(t["nodeid"], t["outcome"], t["metadata"]) for t in tests]])
        )
    assert len(set(reports)) == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [(), ("--fcbench-mode=prompt",), ("--fcbench-model=lexical",)])
def test_the_section_fits_its_schema(project: Project, options: tuple[str, ...]) -> None:
    project.run("--fcbench-smoke", *options)
    validate_value(read_section(project.scorecard()), "section")
    for record in project.records().values():
        validate_value(record, "record")


def test_the_schema_can_refuse(project: Project) -> None:
    project.run("--fcbench-category=live_relevance")
    wrong = {**read_section(project.scorecard()), "profile": "best"}
    with pytest.raises(jsonschema.ValidationError, match=r"^'best' is not one of "):
        validate_value(wrong, "section")


def test_facts_of_the_run(project: Project) -> None:
    project.run("--fcbench-smoke")
    found = read_section(project.scorecard())
    assert (found["model"], found["mode"], found["names"], found["profile"]) == (
        "oracle",
        "fc",
        "underscored",
        "official",
    )
    suites = found["suites"]
    assert isinstance(suites, dict)
    assert suites["core"]["version"] == core.VERSION
    assert len(suites["core"]["pack_hash"]) == 64


def test_the_terminal_shows_both_profiles_and_why(project: Project) -> None:
    result = project.run(*make_mixed(project))
    unscored = IRRELEVANCE - 3
    result.stdout.fnmatch_lines(
        [
            "model scripted:script.yaml (prompt, dotted names), profile official",
            "*entries*not scored*official*corrected*95% interval",
            f"irrelevance *{IRRELEVANCE}*{unscored}*66.67%*66.67%*20.8-93.9%",
            "what failed: 1 of 3, by cause",
            "      core:irrelevance_1  some_function was called, though no function fits",
            f"not scored ({unscored} of {IRRELEVANCE}, {unscored / IRRELEVANCE:.1%})",
            f"  no_result: {unscored}",
        ]
    )
    assert "\x1b]0;" not in result.stdout.str()


@pytest.mark.nightly
def test_pytests_own_list_of_failures_is_left_out(project: Project) -> None:
    output = project.run("--fcbench-model=lexical", "--fcbench-smoke").stdout.str()
    assert "short test summary" not in output
    assert "Traceback" not in output


@pytest.mark.nightly
def test_tracebacks_come_when_asked_for(project: Project) -> None:
    output = project.run("--fcbench-model=lexical", "--fcbench-category=multiple", "--tb=short").stdout.str()
    assert "assert verdict.passed, str(verdict)" in output


@pytest.mark.nightly
def test_a_failing_test_of_the_user_is_shown_as_ever(project: Project) -> None:
    project.write("test_mine.py", "def test_mine():\n    assert 1 == 2\n")
    result = project.run("--fcbench-smoke", "--fcbench-gate=overall>=0")
    result.stdout.fnmatch_lines(["*assert 1 == 2*", "FAILED test_mine.py::test_mine*"])
    assert result.ret == 1


def test_no_file_where_no_entry_ran(project: Project) -> None:
    project.write("test_mine.py", "def test_mine():\n    pass\n")
    result = project.run("test_mine.py")
    assert not (project.path / "scorecard.json").exists()
    assert "JSON report" not in result.stdout.str()


def test_a_verbose_run_says_once_where_the_report_was_saved(project: Project) -> None:
    result = project.run("benchmarks", "--fcbench-category=parallel", "--fcbench-limit=1", "-n", "0", "-v")
    assert "report saved to: " in result.stdout.str()
    result.stdout.no_fnmatch_line("*report auto-save skipped*")


def test_the_file_goes_where_it_is_told(project: Project) -> None:
    project.run("--fcbench-category=multiple", "--fcbench-scorecard=out/card.json")
    assert (project.path / "out/card.json").exists()
    assert not (project.path / "scorecard.json").exists()


def test_no_file_when_told_none(project: Project) -> None:
    """The run is kept all the same."""
    project.run("core:multiple_0", "--fcbench-scorecard=none", "--fcbench-against=lexical")
    assert not list(project.path.glob("*.json"))
    kept = sorted(path.name[15:] for path in (project.path / ".fcbench/runs").iterdir())
    assert kept == ["-oracle.against.json", "-oracle.json"]


@pytest.mark.nightly
def test_a_set_aside_entry_is_skipped_in_the_corrected_profile(
    project: Project, pack_cache: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    node = "benchmarks/test_ast.py::test_live_simple[bfcl:live_simple_106-63-0]"
    result = project.run("--fcbench-suite=bfcl", "--fcbench-profile=corrected", node)
    result.assert_outcomes(skipped=1)
    verdicts = project.records()["bfcl:live_simple_106-63-0"]["verdicts"]
    assert isinstance(verdicts, dict)
    assert verdicts["corrected"]["code"] == "set_aside"
    assert verdicts["official"]["status"] == "failed"


def test_a_bug_in_a_matcher_is_not_the_models_fault(project: Project) -> None:
    project.write(
        "benchmarks/test_ast.py",
        "import pytest\n"
        "@pytest.mark.fcbench('multiple')\n"
        "def test_multiple(entry, ask, score):\n"
        "    ask(entry)\n"
        "    raise RuntimeError('broken matcher')\n",
    )
    result = project.run("benchmarks/test_ast.py")
    result.assert_outcomes(errors=MULTIPLE)
    verdicts = next(iter(project.records().values()))["verdicts"]
    assert isinstance(verdicts, dict)
    assert verdicts["official"]["code"] == "internal_error"
    assert "broken matcher" in verdicts["official"]["reason"]


def test_benchmarks_without_a_project_say_what_is_missing(project: Project) -> None:
    (project.path / "fcbench.yaml").unlink()
    result = project.run("benchmarks")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "fcbench.yaml" in result.stderr.str() + result.stdout.str()


def test_answers_that_no_channel_could_carry(project: Project) -> None:
    """Lone surrogates and control characters in an answer survive xdist and the file."""
    text = "\ud800\0 \x9b31m"
    answer = {"text": text, "tool_calls": [{text: text}], "reasoning": text, "fault": None}
    records = [
        replace(
            make_record(category="multiple", number=number, steps=[Usage(0.5, 3, None)]), turns=((answer,),)
        )
        for number in range(MULTIPLE)
    ]
    write_scorecard(project.path / "old.json", records)
    result = project.run("--fcbench-model=replay:old.json", "--fcbench-category=multiple", "-n", "2")
    result.assert_outcomes(failed=MULTIPLE)
    assert project.records()["core:multiple_3"]["turns"] == [[answer]]
    assert "\x9b" not in result.stdout.str()


TALK = """
answers:
  core:multi_turn_base_0:
    turns:
      - - - no_such_function: {a: 1}
        - Done.
      - - I cannot do that.
"""


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_a_conversation_is_replayed_from_its_scorecard(project: Project, mode: str) -> None:
    """Step by step, with the same verdicts; a conversation without an end is not scored."""
    project.write("talk.yaml", TALK)
    project.write("done.yaml", f"{TALK}default: Done.\n")
    options = (f"--fcbench-mode={mode}", "--fcbench-category=multi_turn_base")
    project.run("--fcbench-model=scripted:done.yaml", *options, "--fcbench-scorecard=first.json")
    first = project.records("first.json")
    replayed = ("--fcbench-model=replay:first.json", options[1], "--fcbench-scorecard=again.json")
    for workers in ((), ("-n", "2")):
        project.run(*replayed, *workers)
        again = project.records("again.json")
        assert {key: (r["turns"], r["verdicts"]) for key, r in again.items()} == {
            key: (r["turns"], r["verdicts"]) for key, r in first.items()
        }
    turns = first["core:multi_turn_base_0"]["turns"]
    assert isinstance(turns, list)
    assert [len(turn) for turn in turns] == [2, *[1] * (len(turns) - 1)]
    assert turns[1][0]["text"] == "I cannot do that."

    result = project.run("--fcbench-model=scripted:talk.yaml", *options, "-k", "multi_turn_base_0")
    result.assert_outcomes(errors=1)
    verdicts = project.records()["core:multi_turn_base_0"]["verdicts"]
    assert isinstance(verdicts, dict)
    assert "no answer for turn 3, step 1 of core:multi_turn_base_0" in verdicts["official"]["reason"]


def test_an_entry_whose_worker_died_is_not_scored(project: Project) -> None:
    project.write(
        "benchmarks/test_ast.py",
        "import os\n"
        "import pytest\n"
        "from pytest_fcbench.kinds.calls import verdict as ast\n"
        "@pytest.mark.fcbench('multiple')\n"
        "def test_multiple(entry, ask, score):\n"
        "    if entry.id == 'multiple_3':\n"
        "        os._exit(9)\n"
        "    assert score(ast.judge(entry, ask(entry))).passed\n",
    )
    result = project.run("benchmarks/test_ast.py", "-n", "2", "--fcbench-gate=multiple>=100%")
    assert result.ret == 2
    scores = read_section(project.scorecard())["profiles"]["official"]["categories"]["multiple"]  # type: ignore[index]
    assert (scores["n"], scores["passed"], scores["not_scored"]) == (MULTIPLE, MULTIPLE - 1, 1)
    verdicts = project.records()["core:multiple_3"]["verdicts"]
    assert isinstance(verdicts, dict)
    assert verdicts["official"]["code"] == "worker_crashed"
