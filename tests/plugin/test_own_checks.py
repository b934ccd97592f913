"""A suite names functions that check its answers, and tests check them by the fixture ``answer``."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project

CHECKS = """\
def is_polite(answer):
    assert "please" in answer.text.lower()


def has_one_call(entry, answer):
    return len(answer.calls) == len(entry.functions)


def take_by_place(answer, /):
    return True


def take_all(*answer):
    return True


def take_nothing():
    return True


async def wait(answer):
    return True
"""
SUITE = """\
category: own_check
check: {check}
functions:
  - {{name: price, description: What it costs., parameters: {{type: dict, properties: {{}}, required: []}}}}
  - {{name: delete, description: Delete it., parameters: {{type: dict, properties: {{}}, required: []}}}}
entries:
  - {{id: polite, query: Ask for my name.}}
  - {{id: rude, query: Ask for my age.}}
  - {{id: called, query: What does it cost?, functions: [price], check: checks:has_one_call}}
  - {{id: deleted, query: What does it cost?, functions: [price, delete], forbidden: [delete]}}
"""
SAID = """\
answers:
  manners:polite: Your name, please?
  manners:rude: How old?
  manners:called: "[price()]"
  manners:deleted: "[delete()]"
"""
OPTIONS = ("--fcbench-model=scripted:said.yaml", "--fcbench-mode=prompt")


@pytest.fixture
def manners(project: Project) -> Project:
    project.write("checks.py", CHECKS)
    project.write("leaves.py", "raise SystemExit(1)")
    project.write("manners.yaml", SUITE.format(check="checks:is_polite"))
    project.write("said.yaml", SAID)
    return project


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_function_that_the_suite_names_judges(manners: Project, workers: str) -> None:
    result = manners.run("manners.yaml", *OPTIONS, "-n", workers)
    result.assert_outcomes(passed=2, failed=2)
    told = {key.removeprefix("manners:"): record["verdicts"] for key, record in manners.records().items()}
    codes = {name: verdicts["official"]["code"] for name, verdicts in told.items()}  # type: ignore[index]
    assert codes == {
        "polite": None,
        "called": None,
        "rude": "own_assertion",
        "deleted": "forbidden_call",
    }
    result.stdout.fnmatch_lines(["*forbids to call delete: delete()*", "*checks:is_polite: assert *"])


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_fixture_answer_needs_two_lines(manners: Project, workers: str) -> None:
    test = "def test_polite(answer):\n    assert 'please' in answer.text.lower()\n"
    manners.write("test_polite.py", f"import pytest\n\n@pytest.mark.fcbench('own_check')\n{test}")
    manners.write("fcbench.yaml", "suites: {manners: manners.yaml}\n")
    result = manners.run("test_polite.py", "--fcbench-suite=manners", *OPTIONS, "-n", workers)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        ["    3 100%  *", "      manners:rude *test_polite.py:5: assert 'please' in *"]
    )


def test_what_a_test_expects_is_told_as_its_own(manners: Project) -> None:
    test = "def test_short(answer):\n    answer.calls or refuse()\n"
    refuse = "def refuse():\n    pytest.fail('too long')\n"
    manners.write("test_short.py", f"import pytest\n\n{refuse}\n@pytest.mark.fcbench('own_check')\n{test}")
    manners.write("fcbench.yaml", "suites: {manners: manners.yaml}\n")
    result = manners.run("test_short.py", "--fcbench-suite=manners", *OPTIONS, "-k", "rude or deleted")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            *("*expected *no call of delete", "> why *the entry forbids to call delete: delete()"),
            *(
                "*expected *an answer that the assertions of the test accept",
                "> why *test_short.py:4: too long",
            ),
        ]
    )


def test_what_an_entry_checks_and_forbids_holds_beside_the_assertions_of_a_test(manners: Project) -> None:
    test = "def test_short(answer):\n    assert len(answer.calls) < 2\n"
    manners.write("test_short.py", f"import pytest\n\n@pytest.mark.fcbench('own_check')\n{test}")
    manners.write("fcbench.yaml", "suites: {manners: manners.yaml}\n")
    result = manners.run("test_short.py", "--fcbench-suite=manners", *OPTIONS)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*forbids to call delete: delete()*", "*checks:is_polite: assert *"])


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("checks:is_polite_", "unknown function of checks 'is_polite_'. Did you mean 'is_polite'"),
        ("leaves:is_polite", "leaves cannot be imported: SystemExit: 1; name one that Python can import"),
        ("other:is_polite", "other cannot be imported: ModuleNotFoundError"),
        ("is_polite", "'is_polite' names no function; write module:function, e.g. checks:is_polite"),
        ("os:sep", "os:sep is not a function; name one that takes 'answer'"),
        ("os:fspath", "os:fspath cannot be called as os:fspath(answer=...); name its parameters 'answer'"),
        ("builtins:max", "builtins:max cannot be called as "),
        ("builtins:int", "builtins:int is not a function; name one that takes 'answer'"),
        ("checks:take_by_place", "checks:take_by_place cannot be called as "),
        ("checks:take_all", "checks:take_all cannot be called as "),
        ("checks:take_nothing", "checks:take_nothing cannot be called as "),
        ("checks:wait", "checks:wait is asynchronous; write it as a plain function"),
    ],
)
def test_a_check_that_cannot_be_one_is_an_error_of_the_suite(manners: Project, check: str, told: str) -> None:
    manners.write("manners.yaml", SUITE.format(check=check))
    result = manners.run("manners.yaml", *OPTIONS)
    result.stderr.fnmatch_lines([f"*manners.yaml:2: check: {told.replace('[', '[[]')}*"])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("before", "behind", "told"),
    [
        (
            "check: checks:is_polite\n",
            "",
            "entries.0.check: is missing; an entry of own_check is judged only by 'check' or 'forbidden'",
        ),
        ("[delete]", "[delte]", "forbidden.0: unknown function 'delte'. Did you mean 'delete'"),
    ],
)
def test_an_entry_needs_a_check_or_known_functions(
    manners: Project, before: str, behind: str, told: str
) -> None:
    manners.write("manners.yaml", SUITE.format(check="checks:is_polite").replace(before, behind))
    manners.run("manners.yaml", *OPTIONS).stderr.fnmatch_lines([f"*{told}*"])
