"""``fcbench init``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pytest_fcbench.cli.init import WORKFLOWS
from pytest_fcbench.cli.main import main
from pytest_fcbench.config.loading import build_settings, find_config_file
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD
from tests.conftest import ROOT
from tests.factories import FACTS, make_path_record
from tests.forks.processes import forked_workers


def _run_init(*words: str) -> int:
    try:
        return main(["init", *words])
    except SystemExit as ended:
        return int(str(ended.code))


def test_a_project_has_all_that_a_run_needs(pytester: pytest.Pytester) -> None:
    assert _run_init() == 0
    settings = build_settings({}, find_config_file(Path(), None))
    assert (settings.model, settings.suites) == ("careless", ("core",))
    modules = {path.name: path.read_bytes() for path in Path("benchmarks").glob("*.py")}
    assert modules == {path.name: path.read_bytes() for path in (ROOT / "benchmarks").glob("*.py")}
    options = ("-p", "no:cacheprovider", "--fcbench-model=oracle", "--fcbench-category=live_relevance")
    pytester.runpytest_inprocess("benchmarks", *options).assert_outcomes(passed=6)


@pytest.mark.nightly
@pytest.mark.parametrize("testpaths", ["", "testpaths = tests"], ids=["anywhere", "testpaths"])
def test_only_what_names_benchmarks_runs_them_beside_other_tests(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    testpaths: str,
) -> None:
    pytester.path.joinpath("tests").mkdir()
    pytester.path.joinpath("tests/test_own.py").write_text("def test_own():\n    pass\n")
    pytester.makeini(f"[pytest]\naddopts = --fcbench-concurrency=2\nmarkers = chat: of ours\n{testpaths}\n")
    assert _run_init() == 0
    assert capsys.readouterr().out.endswith(
        "a bare pytest runs the other tests only; the command line names benchmarks by\n"
        "path, id, -m fcbench, an option such as --fcbench-model, or --lf after failures\n"
    )
    _keep_one_module()
    monkeypatch.setenv("FCBENCH_MODEL", "oracle")
    for arguments, passed in (
        ((), 1),
        (("-n2",), 1),
        (("-m", "not slow"), 1),
        (("-m", "chat"), 0),
        (("--fcbench-category=live_relevance",), 7),
        (("-m", "fcbench and live_relevance"), 6),
        (("-m", "live_relevance"), 6),
        (("-m", "live_relevance", "-n2"), 6),
        (("benchmarks", "-m", "live_relevance"), 6),
        (("core:live_relevance_0",), 1),
    ):
        with forked_workers():
            result = pytester.runpytest_inprocess(*arguments)
        result.assert_outcomes(passed=passed, deselected=result.parseoutcomes().get("deselected", 0))
        is_ours = passed > 1 or arguments[:1] == ("core:live_relevance_0",)
        assert ("fcbench: oracle" in result.stdout.str()) == is_ours
    monkeypatch.setenv("FCBENCH_MODEL", "lexical")
    pytester.runpytest_inprocess("benchmarks", "-m", "live_relevance")
    with forked_workers():
        pytester.runpytest_inprocess("--lf", "-n2").assert_outcomes(failed=5)
    pytester.runpytest_inprocess("--lf").assert_outcomes(failed=5)
    # Somebody without the plugin is not disturbed either.
    pytester.runpytest_inprocess("-p", "no:fcbench", "-o", "addopts=").assert_outcomes(passed=1)


def test_a_bare_run_leaves_out_marked_tests_elsewhere_and_lf_asks_nothing_new(
    pytester: pytest.Pytester,
) -> None:
    marked = "import pytest\n\n\n@pytest.mark.fcbench('live_relevance')\ndef test_marked(answer):\n    pass\n"
    pytester.makepyfile(test_own="def test_own():\n    pass\n", test_marked=marked)
    assert _run_init() == 0
    _keep_one_module()
    for arguments in ((), ("--lf",), ("-k", "own or marked")):
        pytester.runpytest_inprocess(*arguments).assert_outcomes(passed=1, deselected=1)


def test_lf_selects_the_categories_of_what_failed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_MODEL", "lexical")
    assert _run_init() == 0
    _keep_one_module("test_sql.py")
    pytester.runpytest_inprocess("-m", "sql", "--fcbench-limit=2")
    result = pytester.runpytest_inprocess("--lf")
    assert result.parseoutcomes()["failed"] == 2


def _keep_one_module(name: str = "test_relevance.py") -> None:
    for module in Path("benchmarks").glob("test_*.py"):
        if module.name != name:
            module.unlink()


def test_beside_no_other_tests_a_bare_run_is_one_of_benchmarks(pytester: pytest.Pytester) -> None:
    assert _run_init() == 0
    _keep_one_module()
    outcomes = pytester.runpytest_inprocess("-p", "no:cacheprovider").parseoutcomes()
    assert outcomes["passed"] > 100
    assert outcomes["failed"] > 10


@pytest.mark.few(1)
@pytest.mark.parametrize(("percent", "code"), [(6, 0), (20, 1)])
def test_more_mistakes_break_the_gate(pytester: pytest.Pytester, percent: int, code: int) -> None:
    assert _run_init() == 0
    _keep_one_module("test_complex.py")
    assert pytester.runpytest_inprocess("benchmarks", f"--fcbench-model=careless:{percent}").ret == code


@pytest.mark.parametrize("suite", ["core", "complexfuncbench"])
def test_the_gate_decides_on_every_suite(suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_init() == 0
    rule, _ = build_settings({}, find_config_file(Path(), None)).gate
    for verdict, code in ((Passed(), HELD), (Failed("wrong_count", "2 calls"), BROKEN)):
        records = [make_path_record(verdict, category="hotels", suite=suite)]
        evidence = Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites, None)
        assert rule.check(evidence).code == code


def test_nothing_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fcbench.yaml").write_text("model: mine\n")
    Path("benchmarks").mkdir()
    Path("benchmarks/test_ast.py").write_text("mine")
    assert _run_init("--ci", "gitlab") == 0
    told = capsys.readouterr().out
    assert "kept     fcbench.yaml\n" in told
    assert "kept     benchmarks/test_ast.py\n" in told
    assert "written  .gitlab/benchmarks.yml\n" in told
    assert Path("fcbench.yaml").read_text() == "model: mine\n"
    assert Path("benchmarks/test_ast.py").read_text() == "mine"
    before = sorted(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert _run_init("--ci", "gitlab") == 0
    assert "written" not in capsys.readouterr().out
    assert sorted(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()) == before


def test_another_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_init("new/my project", "--ci", "none") == 0
    assert capsys.readouterr().out.endswith("run it with: cd 'new/my project' && pytest benchmarks\n")
    assert sorted(path.name for path in Path("new/my project").iterdir()) == [
        ".gitignore",
        ".pre-commit-config.yaml",
        "benchmarks",
        "fcbench.yaml",
    ]


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_workflows_are_yaml_that_runs_the_benchmarks(kind: str) -> None:
    workflow = WORKFLOWS[kind]
    assert workflow is not None
    job = yaml.safe_load(workflow[1])
    steps = job["jobs"]["benchmarks"]["steps"] if kind == "github" else None
    commands = [step["run"] for step in steps if "run" in step] if steps else job["benchmarks"]["script"]
    assert commands[0] == "pip install pytest-fcbench"
    assert "pytest benchmarks -o addopts= --junitxml=junit.xml" in commands
    assert ".fcbench" in workflow[1], "answers are kept from one run to the next"


def test_what_a_run_writes_is_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_init() == 0
    assert "/.fcbench/" in Path(".gitignore").read_text().splitlines()
    capsys.readouterr()
    Path(".gitignore").write_text("*.pyc\n")
    assert _run_init() == 0
    assert "add /.fcbench/ to .gitignore" in capsys.readouterr().out
    assert Path(".gitignore").read_text() == "*.pyc\n"


@pytest.mark.nightly
def test_the_workflow_of_github_runs_step_by_step(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but installing; green on the main branch, red by the baseline with a model that is worse."""
    assert _run_init() == 0
    settings = Path("fcbench.yaml")
    text = settings.read_text().replace("model: careless", "model: oracle")
    settings.write_text(text.replace("  - all>=92%", "  - live_relevance>=0"))
    monkeypatch.setenv("GITHUB_ENV", str(pytester.path / "environment"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "shown.md"))
    workflow = WORKFLOWS["github"]
    assert workflow is not None
    find, run, compare, report, comment, keep = [
        step["run"] for step in yaml.safe_load(workflow[1])["jobs"]["benchmarks"]["steps"] if "run" in step
    ][1:]
    # Programs of this environment first; one small module in the place of all.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    _keep_one_module()

    def run_step(script: str) -> int:
        return subprocess.run(["bash", "-e", "-c", script], check=False).returncode

    assert run_step(find) == 0
    assert not Path("environment").exists(), "the first run has no baseline"
    assert run_step(run) == 0
    assert run_step(report) == 0
    assert all(Path(name).is_file() for name in ("scorecard.json", "junit.xml", "report.html", "summary.md"))
    assert run_step(keep) == 0

    assert run_step(find) == 0
    assert Path("environment").read_text() == "FCBENCH_BASELINE=main-baseline.json\n"
    monkeypatch.setenv("FCBENCH_BASELINE", "main-baseline.json")
    assert run_step(run) == 0
    assert run_step(compare) == 0
    monkeypatch.setenv("FCBENCH_MODEL", "lexical")
    assert run_step(run) == 0, "the gate of fcbench.yaml still holds"
    assert run_step(compare) == 1
    assert "gate not-worse(95%): broken" in Path("shown.md").read_text().replace("\\", "")
    assert run_step(report) == 0
    summary = Path("summary.md").read_text()
    assert "| change |" in summary
    assert "### Worse (" in summary
    assert comment.endswith("--body-file summary.md")


def test_answers_are_kept_for_one_commit_and_the_baseline_for_all() -> None:
    """Otherwise a model that became worse behind one name and address would not be asked."""
    workflow = WORKFLOWS["github"]
    assert workflow is not None
    action = yaml.safe_load((ROOT / ".github/actions/benchmarks/action.yml").read_text())
    for steps in (yaml.safe_load(workflow[1])["jobs"]["benchmarks"]["steps"], action["runs"]["steps"]):
        caches = [step["with"] for step in steps if "actions/cache" in step.get("uses", "")]
        assert {cache["path"] for cache in caches} == {".fcbench", "main-baseline.json"}
        for cache in caches:
            is_answers = cache["path"] == ".fcbench"
            assert ("${{ github.sha }}" in cache["key"]) == is_answers
            assert ("${{ github.sha }}" in cache.get("restore-keys", cache["key"])) == is_answers
    kept = yaml.safe_load((WORKFLOWS["gitlab"] or ("", ""))[1])["benchmarks"]["cache"]
    assert {each["key"]: each["paths"] for each in kept} == {
        "answers-$CI_COMMIT_SHA": [".fcbench"],
        "baseline": ["main-baseline.json"],
    }


def test_the_action_has_the_steps_of_the_workflow() -> None:
    action = yaml.safe_load((ROOT / ".github/actions/benchmarks/action.yml").read_text())
    steps = {step["name"]: step["run"] for step in action["runs"]["steps"] if "run" in step}
    workflow = WORKFLOWS["github"]
    assert workflow is not None
    written = yaml.safe_load(workflow[1])["jobs"]["benchmarks"]["steps"]
    same = {step["name"]: step["run"] for step in written if "name" in step}
    gate = "Fail if the model has become worse than on the main branch"
    assert same.pop(gate).replace("'not-worse(95%)'", '"$GATE"') == steps[gate]
    assert {name: steps[name] for name in same} == same
    # What a caller gives must not become a part of a script.
    assert not any("inputs." in script for script in steps.values())


def test_wrong_words_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("")
    assert _run_init("taken") == 4
    assert "taken is not a folder" in capsys.readouterr().err
    assert _run_init("--ci", "jenkins") == 4
