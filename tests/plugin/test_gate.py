"""The exit code tells one thing: with a gate it is the gate's answer."""

from __future__ import annotations

import pytest

from tests.loopback import make_message_reply, serve_answers
from tests.plugin.conftest import Project, size
from tests.plugin.test_project import ENTRIES

WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])


@pytest.mark.few(1)
@WORKERS
def test_a_gate_that_holds_makes_exit_code_0_though_entries_failed(
    project: Project, workers: tuple[str, ...]
) -> None:
    result = project.run(
        "--fcbench-model=lexical", "--fcbench-smoke", "--fcbench-gate=overall>=0.01", *workers
    )
    assert result.ret == 0
    assert result.parseoutcomes()["failed"] > 0
    result.stdout.fnmatch_lines(["gate overall>=0.01: held: overall is *"])
    assert project.scorecard()["exitcode"] == 0


@pytest.mark.few(1)
@WORKERS
def test_a_broken_gate_makes_exit_code_1(project: Project, workers: tuple[str, ...]) -> None:
    result = project.run(
        "--fcbench-model=lexical", "--fcbench-smoke", "--fcbench-gate=multiple>=90%", *workers
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["gate multiple>=90%: broken: multiple is *"])


@pytest.mark.nightly
def test_one_broken_rule_of_two_breaks_the_gate(project: Project) -> None:
    result = project.run(
        "--fcbench-model=lexical",
        "--fcbench-smoke",
        "--fcbench-gate=overall>=0.01",
        "--fcbench-gate=multiple>=0.9",
    )
    assert result.ret == 1


def test_a_gate_that_misses_too_many_verdicts_cannot_tell(project: Project) -> None:
    project.write("script.yaml", "answers:\n  core:irrelevance_0: none\n")
    result = project.run(
        "--fcbench-model=scripted:script.yaml",
        "--fcbench-category=irrelevance",
        "--fcbench-gate=irrelevance>=0.5",
    )
    assert result.ret == 2
    n = size("irrelevance")
    told = " ".join(map(str.strip, result.outlines))
    assert "gate irrelevance>=0.5: cannot tell: irrelevance is " in told
    assert f", but with {n - 1} of {n} entries not scored it can be " in told


def test_a_stopped_run_cannot_tell(project: Project) -> None:
    result = project.run("--fcbench-model=lexical", "--fcbench-gate=overall>=0.01", "-x")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["gate overall>=0.01: cannot tell: the run was interrupted; *"])


def test_a_rule_about_what_was_not_run_cannot_tell(project: Project) -> None:
    result = project.run("--fcbench-category=multiple", "--fcbench-gate=parallel>=0.5")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["gate parallel>=0.5: cannot tell: nothing of parallel was run"])


def test_the_gate_of_the_file_is_for_whole_runs(project: Project) -> None:
    project.write("fcbench.yaml", "model: oracle\ncategory: [multiple, parallel]\ngate: ['multiple>=0.2']\n")
    whole = project.run()
    assert whole.ret == 0
    whole.stdout.fnmatch_lines(["gate multiple>=0.2: held: *"])
    part = project.run("-k", "multiple")
    assert part.ret == 0
    part.stdout.fnmatch_lines(["the gate of fcbench.yaml was not applied: -k selects a part of the entries"])


@pytest.mark.few(1)
@pytest.mark.parametrize(("rule", "code"), [("all>=0.2", 1), ("mine>=0.2", 1), ("mine<=0.2", 0)])
def test_the_gate_of_the_file_is_about_its_suites_and_those_that_it_names(
    project: Project, rule: str, code: int
) -> None:
    project.write("data/mine.yaml", ENTRIES)
    project.write("script.yaml", "answers: {}\ndefault: none\n")
    project.write("fcbench.yaml", f"suite: [core]\nsuites: {{mine: data/mine.yaml}}\ngate: ['{rule}']\n")
    run = project.run("data/mine.yaml", "--fcbench-model=scripted:script.yaml")
    assert run.ret == code
    line = f"gate {rule}: *" if "mine" in rule else "the gate of *: it is about core, this run about mine"
    run.stdout.fnmatch_lines([line])


@pytest.mark.nightly
def test_the_gate_of_the_command_line_is_for_every_run(project: Project) -> None:
    assert project.run("-k", "parallel", "--fcbench-gate=parallel<0.2").ret == 1
    assert project.run("-k", "parallel", "--fcbench-gate=overall>=0.2").ret == 2


def test_the_gate_looks_at_the_selected_profile(project: Project) -> None:
    project.write("script.yaml", 'answers: {}\ndefault: "Calling [some_function(a=1"\n')
    options = (
        "--fcbench-model=scripted:script.yaml",
        "--fcbench-category=irrelevance",
        "--fcbench-mode=prompt",
    )
    assert project.run(*options, "--fcbench-gate=irrelevance>=1").ret == 0


def test_without_a_gate_the_exit_code_is_pytests(project: Project) -> None:
    assert project.run("--fcbench-smoke", "--fcbench-model=lexical").ret == 1
    assert project.run("--fcbench-smoke").ret == 0


def test_a_run_that_selects_nothing_keeps_pytests_exit_code(project: Project) -> None:
    assert project.run("-k", "nothing_like_this").ret == pytest.ExitCode.NO_TESTS_COLLECTED


MARKS = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.name.endswith(("_0]", "_1]")):
            item.add_marker(pytest.mark.smoke)
"""


@pytest.mark.few(1)
@WORKERS
def test_a_rule_may_be_about_a_mark_of_ones_own(project: Project, workers: tuple[str, ...]) -> None:
    project.write("conftest.py", MARKS)
    project.write("pytest.ini", "[pytest]\nmarkers = smoke: a few\n")
    project.write(
        "script.yaml", "answers:\n  core:irrelevance_0: No.\n  core:irrelevance_1: No.\ndefault: '[f(a=1)]'\n"
    )
    result = project.run(
        "--fcbench-model=scripted:script.yaml",
        "--fcbench-mode=prompt",
        "--fcbench-category=irrelevance",
        "--fcbench-gate=mark:smoke>=100%",
        "--fcbench-gate=irrelevance<20%",
        *workers,
    )
    assert result.ret == 0, result.stdout.str()[-1500:]
    result.stdout.fnmatch_lines(["gate mark:smoke>=100%: held: mark:smoke is 100.00%"])
    assert [key for key, record in project.records().items() if record["marks"] == ["smoke"]] == [
        "core:irrelevance_0",
        "core:irrelevance_1",
    ]


def test_a_baseline_that_is_not_there_stops_the_run(project: Project) -> None:
    result = project.run("--fcbench-baseline=none.json", "--fcbench-gate=not-worse(95%)")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: none.json: cannot be read: No such file or directory; give *"])


def test_a_plan_tells_the_loss_that_the_gate_would_show(project: Project) -> None:
    project.run("--fcbench-category=parallel", "--json-report-file=before.json")
    result = project.run(
        "--fcbench-category=parallel",
        "--fcbench-plan",
        "--fcbench-baseline=before.json",
        "--fcbench-gate=not-worse(parallel, 95%)",
    )
    n = size("parallel")
    result.stdout.fnmatch_lines(
        [f"not-worse(parallel, 95%): shows a loss of * points with a probability of 80% ({n} entries in *"]
    )


@pytest.mark.few(1)
@WORKERS
def test_github_is_told(project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]) -> None:
    summary = project.write("summary.md", "earlier\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.write("script.yaml", "answers: {}\ndefault: '::error::pwned'\n")
    result = project.run(
        "--fcbench-model=scripted:script.yaml",
        "--fcbench-category=multiple",
        "--fcbench-gate=multiple>=90%",
        *workers,
    )
    lines = result.stdout.lines
    assert lines.count("::error title=gate multiple>=90%25%3A broken::multiple is 0.00%25") == 1
    stops = [line for line in lines if line.startswith("::stop-commands::")]
    token = stops[0].removeprefix("::stop-commands::")
    assert lines.index(stops[0]) < lines.index(f"::{token}::") < len(lines)
    told = summary.read_text().splitlines()
    assert told[0] == "earlier"
    assert told[1].startswith(f"0.0% of multiple passed: 0 of {size('multiple')} (95% CI 0.0-")
    assert told[3].startswith("❌ gate multiple\\>=90%: broken")
    assert "### scripted:script.yaml (fc)" in told


def test_a_summary_that_cannot_be_written_is_a_warning(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder/summary.md")
    result = project.run_apart("--fcbench-category=multiple", "--fcbench-gate=multiple>=90%")
    assert result.ret == 0
    told = result.stdout.str() + result.stderr.str()
    assert "summary.md: cannot be written: No such file or directory" in told


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)])
def test_trials_that_a_rule_needs_are_missed_before_anything_is_asked(
    project: Project, workers: tuple[str, ...]
) -> None:
    with serve_answers(lambda _: make_message_reply("none")) as endpoint:
        model = ("--fcbench-model=hosted_vllm/one", f"--fcbench-api-base={endpoint.api_base}")
        for rule, trials in (("each>=2of3", 2), ("each>=2of3", 4), ("pass^3>=50%", 2)):
            more = (f"--fcbench-gate={rule}", f"--fcbench-trials={trials}", "--fcbench-limit=2")
            result = project.run_apart("-m", "irrelevance", *model, *more, *workers)
            assert result.ret == pytest.ExitCode.USAGE_ERROR
            need = f"needs 3 trials of each entry, and the run has {trials}; use --fcbench-trials=3"
            result.stderr.fnmatch_lines([f"ERROR: gate rule '{rule}' {need}"])
        assert not endpoint.requests
        enough = ("--fcbench-gate=pass^3>=50%", "--fcbench-trials=4", "--fcbench-limit=2")
        assert project.run_apart("-m", "irrelevance", *model, *enough, *workers).ret == 0


def test_a_rule_of_the_project_about_trials_lets_a_part_run(project: Project) -> None:
    project.write("fcbench.yaml", "model: oracle\ngate: each>=2of3\n")
    assert project.run_apart("-m", "irrelevance").ret == 0
    assert project.run_apart("benchmarks/test_ast.py").ret == pytest.ExitCode.USAGE_ERROR
