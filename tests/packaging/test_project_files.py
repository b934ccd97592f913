"""The files around the code can be read, and agree with ``pyproject.toml`` and with each other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.conftest import ROOT
from tests.house import PACKAGE, ROOMS
from tests.packaging.test_files import PROJECT

WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PYTHONS = [
    match[1]
    for classifier in PROJECT["classifiers"]
    if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
]


def load_jobs(name: str) -> Any:
    """Return the jobs of a workflow by name."""
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))["jobs"]


def test_the_wheel_is_tested_on_the_oldest_and_the_newest_python_and_pytest() -> None:
    matrix = load_jobs("test")["whole"]["strategy"]["matrix"]
    (pytest_requirement,) = (
        requirement
        for requirement in map(Requirement, PROJECT["dependencies"])
        if requirement.name == "pytest"
    )
    (lowest,) = pytest_requirement.specifier
    assert matrix["python"] == [PYTHONS[0], PYTHONS[-1]]
    assert lowest.operator == ">="
    assert [Version(each.removeprefix("==")) for each in matrix["pytest"] if each] == [
        Version(lowest.version)
    ]
    assert "" in matrix["pytest"], "the newest that the index has"


def test_the_lowest_python_is_that_of_the_classifiers() -> None:
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert all(version in CONTRIBUTING for version in PYTHONS)


def test_a_release_is_tested_and_published_without_a_token() -> None:
    jobs = load_jobs("release")
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert [jobs[name]["needs"] for name in ("attest", "publish")] == ["test", "attest"]
    to_sign = {"contents": "read", "id-token": "write", "attestations": "write"}
    assert jobs["attest"]["permissions"] == to_sign
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in WORKFLOWS["release"].read_text()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_may_only_read_the_repository(name: str) -> None:
    assert yaml.safe_load(WORKFLOWS[name].read_text())["permissions"] == {"contents": "read"}


def test_actions_are_pinned_to_a_commit() -> None:
    """A tag can be moved to other code; ``# v1.2.3`` says which one it was."""
    for path in (ROOT / ".github").rglob("*.yml"):
        for used in re.findall(r"uses: (?!\./)(.+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), f"{path.name}: {used}"


@each_case("path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda p: p.stem)
def test_issue_forms_have_what_forms_need(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if "blank_issues_enabled" not in form:
        assert {"name", "description", "body"} <= form.keys()
        assert len({field["id"] for field in form["body"]}) == len(form["body"])


def test_the_citation_names_this_version_and_these_authors() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["cff-version"], citation["title"]) == ("1.2.0", PROJECT["name"])
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]


def test_hooks_before_a_commit_run_what_the_check_runs() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == ["ruff-format", "ruff-check", "mypy"]
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}


@pytest.mark.nightly
@pytest.mark.parametrize(("key", "code"), [("query:", 0), ("qeury:", 1)])
def test_the_hook_for_other_repositories_tells_a_wrong_entry(tmp_path: Path, key: str, code: int) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    entries = (ROOT / PACKAGE / "suites" / "core" / "simple_python.yaml").read_text(encoding="utf-8")
    (tmp_path / "shop.yaml").write_text(entries.replace("query:", key, 1), encoding="utf-8")
    command = [*shlex.split(hook["entry"]), "shop.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("Did you mean 'query'?" in done.stdout) == bool(code)


@each_case("step", ["check", "fast", "whole", "nightly"])
def test_the_page_for_contributors_names_the_command_of_each_step(step: str) -> None:
    (command,) = re.findall(
        rf"^run_{step}\(\) {{ (.+); }}$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE
    )
    assert f"| `.ci/run {step}` | `{command}` |" in CONTRIBUTING


def test_workflows_run_the_steps() -> None:
    commands = [step.get("run", "") for job in load_jobs("test").values() for step in job["steps"]]
    assert ".ci/run check" in commands
    assert ".ci/run fast" in commands
    assert any(
        'pytest tests -m "not nightly and not style" -n auto --dist worksteal' in command
        for command in commands
    )
    assert ".ci/run nightly" in commands


def test_the_fast_ring_names_tests_that_exist() -> None:
    lines = (ROOT / "tests" / "fast-ring.txt").read_text().splitlines()
    named = [line.removeprefix("--ignore=") for line in lines]
    paths = [name for name in named if not name.startswith("-")]
    assert len(paths) > 5
    assert all((ROOT / path).exists() for path in paths)


def test_coverage_is_gated_for_the_rooms_of_the_fast_ring() -> None:
    coverage = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]
    lines = (ROOT / "tests" / "fast-ring.txt").read_text().splitlines()
    rooms = {line.removeprefix("tests/") for line in lines} & ROOMS.keys()
    assert set(coverage["run"]["source_pkgs"]) == {f"{PACKAGE}.{room}" for room in rooms}
    assert coverage["run"]["branch"] is True
    assert coverage["report"]["fail_under"] == 99


def test_a_warning_is_an_error_in_these_tests() -> None:
    with pytest.raises(UserWarning, match=r"^a slip$"):
        warnings.warn("a slip", UserWarning, stacklevel=1)


@pytest.mark.nightly
def test_a_model_may_warn_in_a_benchmark_of_this_checkout(tmp_path: Path) -> None:
    (tmp_path / "warning_model.py").write_text(
        "import warnings\n\ndef answer(messages, tools):\n"
        "    warnings.warn('a library of the model warns')\n    return 'I cannot help with that.'\n"
    )
    entry = ROOT / "benchmarks" / "test_relevance.py::test_irrelevance[core:irrelevance_0]"
    options = (
        "--fcbench-model=python:warning_model:answer",
        "--fcbench-scorecard=none",
        "--fcbench-store=none",
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--rootdir={ROOT}",
            entry,
            *options,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout


def test_slips_in_marks_and_settings_are_errors() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert settings["addopts"] == ["--strict-markers", "--strict-config"]
    assert settings["xfail_strict"] is True


RANKED = sorted((ROOT / "benchmarks" / "ranking").glob("*.json"))


@pytest.mark.parametrize("path", RANKED, ids=lambda path: path.stem)
def test_the_runs_that_the_first_one_is_ranked_with_are_of_this_suite(path: Path) -> None:
    """When it fails: run each model again and ``fcbench run baseline save``, as CONTRIBUTING.md says."""
    card, suite = load_scorecard(path), core.open_suite(Path())
    assert card.facts.suites == {"core": {"version": suite.version, "pack_hash": suite.pack_sha256}}
    scored = {category.name for category in suite.categories if category.scored}
    assert {record.category for record in card.records} == scored
    assert not card.facts.narrowed_by
    if path.stem == "oracle":
        assert all(isinstance(record.verdict(Profile.OFFICIAL), Passed) for record in card.records)


def test_the_first_run_is_ranked_with_something() -> None:
    assert "oracle" in {path.stem for path in RANKED}
    assert "rank_with: [benchmarks/ranking]" in (ROOT / "fcbench.yaml").read_text()
