"""Beside tests of a project's own: these are reported as without us, and our verdict stands last."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.plugin.conftest import Project, size

OWN = """\
def test_own():
    found = 1
    assert found == 2


def test_another():
    pass
"""
RUN = ("-m", "parallel or not core", "test_own.py", "benchmarks", "--fcbench-model=lexical")
FAILED = size("parallel") - 4


@pytest.fixture(autouse=True)
def _own_tests(project: Project) -> None:
    project.write("test_own.py", OWN)


def list_ids(lines: list[str]) -> list[str]:
    """List what pytest names as failed, each without its reason."""
    return [line.split()[1] for line in lines if line.startswith("FAILED ")]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "workers",
    [(), pytest.param(("-n", "0"), marks=pytest.mark.nightly), ("-n", "2")],
    ids=["plain", "n0", "n2"],
)
def test_pytest_tells_failures_of_own_tests_only_and_the_verdict_is_last(
    project: Project, workers: tuple[str, ...]
) -> None:
    lines = project.run(*RUN, *workers, "--fcbench-gate=parallel>=1%").stdout.lines
    assert list_ids(lines) == ["test_own.py::test_own"]
    assert lines.count(">       assert found == 2") == 1
    tables, failures, own, headline, gate, last = (
        # The result stands above the tables, too.
        max(place for place, line in enumerate(lines) if start in line)
        for start in (
            "= function-calling benchmark",
            "= FAILURES =",
            "FAILED test_own.py::test_own",
            "of parallel passed: 4 of",
            "gate parallel>=1%: held",
            f"{FAILED + 1} failed, 5 passed",
        )
    )
    assert tables < failures < own < headline < gate < last == len(lines) - 1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("options", "ids", "tracebacks"),
    [
        (["-rf"], 4, 1),
        (["-rA", "--fcbench-failures=0"], 1, 1),
        (["--tb=short"], 4, 4),
        (["--tb=no"], 1, 0),
        (["-rN"], 0, 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_ids_and_tracebacks_of_entries_are_told_where_asked_for(
    project: Project, options: list[str], ids: int, tracebacks: int
) -> None:
    lines = project.run(*RUN, "--fcbench-failures=3", *options).stdout.lines
    assert (len(list_ids(lines)), sum(line.startswith("____") for line in lines)) == (ids, tracebacks)


def test_the_error_of_a_fixture_that_ends_is_told_and_fails_the_run(project: Project) -> None:
    project.write(
        "conftest.py",
        "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef broken():\n    yield\n    1 / 0\n",
    )
    result = project.run("core:parallel_0", "--fcbench-model=oracle", "--fcbench-gate=all>=0.5")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["E   ZeroDivisionError: division by zero", "ERROR *parallel_0*"])


@pytest.mark.few(1)
@pytest.mark.parametrize("testpaths", ["", "testpaths = .", "testpaths = tests"])
def test_an_id_runs_that_entry_alone(project: Project, testpaths: str) -> None:
    project.write("pytest.ini", f"[pytest]\n{testpaths}\n")
    project.run("core:parallel_0", "--fcbench-model=oracle").assert_outcomes(passed=1)


@pytest.mark.nightly
def test_an_entry_is_listed_as_failed_after_the_live_line_too(project: Project) -> None:
    """In a process of its own, which shows progress."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *RUN, "-rf", "--fcbench-failures=2"],
        cwd=project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(list_ids(done.stdout.splitlines())) == 3
    # Beside tests of another kind the progress is pytest's.
    assert "\ntest_own.py F. " in done.stdout
    assert re.search(r"^benchmarks/test_ast.py [F.]{20,} +\[100%\]$", done.stdout, re.MULTILINE)


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_run_without_a_terminal_ends_by_its_outcomes(project: Project, workers: tuple[str, ...]) -> None:
    done = project.run_apart(*RUN, *workers, "-p", "no:terminal")
    assert (done.ret, done.stderr.str()) == (1, "")


def test_a_module_whose_entries_no_suite_has_says_so(project: Project) -> None:
    project.write(
        "test_own.py", "import pytest\n@pytest.mark.fcbench('own_check')\ndef test_it(answer): ...\n"
    )
    result = project.run("test_own.py")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["core has no selected entry of own_check; name another suite with *"])


def test_a_category_that_no_suite_has_is_named_alone(project: Project) -> None:
    result = project.run("benchmarks", "--fcbench-model=oracle", "--fcbench-category=next_step")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    line = "core has no selected entry of next_step; name another suite with --fcbench-suite or by path"
    assert line in result.outlines


@pytest.mark.parametrize(
    ("first", "second"), [("0", "1"), ("1", "0"), ("0", "pytest.skip()")], ids=["fails", "passes", "skips"]
)
def test_an_entry_of_two_tests_passes_where_both_pass(project: Project, first: str, second: str) -> None:
    project.write(
        "test_own.py",
        "import pytest\npytestmark = pytest.mark.fcbench('parallel')\n"
        f"def test_one(answer): assert {first}\ndef test_two(answer): assert {second}\n",
    )
    result = project.run("test_own.py", "--fcbench-model=oracle", "--fcbench-gate=parallel>=1%")
    assert result.ret == 1
    last_lines = result.stdout.lines[-3:-1]
    assert last_lines[0].startswith(f"0.0% of parallel passed: 0 of {size('parallel')} ")
    assert last_lines[1] == "gate parallel>=1%: broken: parallel is 0.00%"


@pytest.mark.parametrize("at_first", ["False", "1 / 0"], ids=["fails", "raises"])
def test_a_rerun_of_a_second_test_takes_no_failure_back(project: Project, at_first: str) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write(
        "test_own.py",
        "import pytest\npytestmark = pytest.mark.fcbench('parallel')\nseen = set()\n"
        "def test_one(answer): assert 0\n@pytest.mark.flaky(reruns=1)\ndef test_two(answer, request):\n"
        f"    if request.node.name not in seen: seen.add(request.node.name); assert {at_first}\n",
    )
    options = ("--fcbench-model=oracle", "--fcbench-limit=2", "-p", "pytest_rerunfailures")
    result = project.run("test_own.py", *options, "--fcbench-gate=parallel>=1%")
    result.assert_outcomes(failed=2, passed=2, deselected=2 * (size("parallel") - 2))
    assert result.parseoutcomes()["rerun"] == 2
    assert result.stdout.lines[-2] == "gate parallel>=1%: broken: parallel is 0.00%"


SHOP = """\
category: own_check
check: checks:is_polite
functions: []
entries:
  - {id: name, query: Ask me for my name.}
"""


def test_lf_selects_the_suite_of_what_failed(project: Project) -> None:
    """Else the entries of core would be asked in their place."""
    project.write("checks.py", "def is_polite(answer):\n    return 'please' in answer.text\n")
    project.write("shop.yaml", SHOP)
    project.write("answers.yaml", "answers:\n  shop:name: Tell me.\n")
    project.write("fcbench.yaml", "suite: [core]\nsuites: {shop: shop.yaml}\nmodel: scripted:answers.yaml\n")
    project.write(
        "test_own.py", "import pytest\n@pytest.mark.fcbench('own_check')\ndef test_it(answer): assert 0\n"
    )
    project.pytester.runpytest_inprocess("test_own.py", "--fcbench-suite=shop").assert_outcomes(failed=1)
    project.pytester.runpytest_inprocess("--lf").assert_outcomes(failed=1)


def test_own_suites_are_what_a_run_asks_where_no_suite_is_named(project: Project) -> None:
    project.write("checks.py", "def is_polite(answer): ...\n")
    project.write("shop.yaml", SHOP)
    project.write("fcbench.yaml", "suites: {shop: shop.yaml}\nmodel: oracle\n")
    project.write(
        "test_own.py", "import pytest\n@pytest.mark.fcbench('own_check')\ndef test_it(answer): ...\n"
    )
    project.run("test_own.py").assert_outcomes(passed=1)
