"""Which entries run: options, -k, -m, node ids, --lf, -x."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.prompting import FORMATS
from pytest_fcbench.suites import core
from tests.plugin.conftest import SCORED, Project, size


@pytest.mark.nightly
def test_everything_that_is_scored_runs_without_options(project: Project) -> None:
    result = project.run()
    result.assert_outcomes(passed=size(*SCORED))
    assert result.ret == 0


@pytest.mark.nightly
def test_what_is_not_scored_runs_where_it_is_named(project: Project) -> None:
    result = project.run("--fcbench-category=multi_turn_composite")
    result.assert_outcomes(passed=size("multi_turn_composite"))
    unscored = size(*CATEGORIES) - size(*SCORED)
    alone = ("multi_turn_composite", "format_sensitivity")
    apart = (*alone, *SELECTIONS["v1"], *SELECTIONS["executable"])
    assert size(*apart) == unscored > 0
    result.stdout.re_match_lines([r"multi_turn_composite +\d+ .*100\.00%"])
    both = project.run("--fcbench-category=multi_turn", "--fcbench-category=multi_turn_composite")
    both.assert_outcomes(passed=size("multi_turn_composite", *SELECTIONS["multi_turn"]))


def test_prompt_formats_run_where_they_are_named_and_need_a_prompt(project: Project) -> None:
    named = "--fcbench-category=format_sensitivity"
    refused = project.run(named)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*format_sensitivity varies the system prompt*add --fcbench-mode=prompt*"])
    entry = f"core:format_sensitivity_39:{FORMATS[13].name}:simple_python_4"
    one = project.run(
        f"benchmarks/test_ast.py::test_format_sensitivity[{entry}]", named, "--fcbench-mode=prompt"
    )
    one.assert_outcomes(passed=1)
    assert list(project.records()) == [entry]
    some = project.run("-k", "simple_python_4", named, "--fcbench-mode=prompt", "-n2")
    some.assert_outcomes(passed=26)
    some.stdout.re_match_lines([r"maximum delta +0\.00 +0\.00 .*"])
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    told = section["profiles"]["official"]["format_sensitivity"]
    assert list(told["formats"]) == [chosen.name for chosen in FORMATS]


def test_category_is_exact(project: Project) -> None:
    project.run("--fcbench-category=parallel").assert_outcomes(passed=size("parallel"))


@pytest.mark.nightly
def test_category_takes_groups_and_repeats(project: Project) -> None:
    result = project.run("--fcbench-category=live", "--fcbench-category=multiple")
    result.assert_outcomes(passed=size("multiple", *SELECTIONS["live"]))


@pytest.mark.nightly
def test_keyword_takes_all_names_with_the_word(project: Project) -> None:
    parallel = [name for name in SCORED if "parallel" in name]
    project.run("-k", "parallel").assert_outcomes(
        passed=size(*parallel), deselected=size(*SCORED) - size(*parallel)
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mark", ["parallel", "simple_java", "live", "non_python", "multi_turn", "multi_turn_miss_func", "core"]
)
def test_marks_are_exact(project: Project, mark: str) -> None:
    expected = size(*SELECTIONS.get(mark, SCORED if mark == "core" else (mark,)))
    project.run("-m", mark, "--strict-markers").assert_outcomes(
        passed=expected, deselected=size(*SCORED) - expected
    )


def test_a_node_id_runs_one_entry(project: Project) -> None:
    result = project.run("benchmarks/test_ast.py::test_parallel[core:parallel_3]")
    result.assert_outcomes(passed=1)
    assert list(project.records()) == ["core:parallel_3"]


def test_last_failed_runs_only_the_failures(project: Project) -> None:
    project.write("wrong.yaml", "answers:\n  core:multiple_1: none\n  core:multiple_2: none\n")
    options = ("--fcbench-model=scripted:wrong.yaml", "--fcbench-category=multiple")
    first = project.pytester.runpytest_inprocess(*options)
    first.assert_outcomes(failed=2, errors=size("multiple") - 2)
    again = project.pytester.runpytest_inprocess(*options, "--lf", "-k", "multiple_1 or multiple_2")
    assert again.parseoutcomes()["failed"] == 2


def test_the_printed_command_runs_again_what_failed_in_this_run_only(project: Project) -> None:
    """Not what failed before, with another model."""
    run = project.pytester.runpytest_inprocess
    run("--fcbench-model=lexical", "--fcbench-category=parallel,multi_turn_base")
    project.write("none.yaml", "answers: {}\ndefault: none\n")
    secret = '--fcbench-param=extra_headers={"X-Key": "abcd1234efgh5678"}'
    result = run("--fcbench-model=scripted:none.yaml", "-m", "parallel", "--fcbench-refresh", secret)
    (line,) = [line.strip() for line in result.outlines if line.strip().startswith("pytest --lf")]
    assert "--fcbench-refresh" not in line
    assert "extra_headers" not in line
    again = run(*shlex.split(line.partition(" - ")[0])[1:])
    assert again.parseoutcomes()["failed"] == result.parseoutcomes()["failed"] == size("parallel")


def test_stop_at_the_first_failure(project: Project) -> None:
    project.write("wrong.yaml", "answers: {}\ndefault: none\n")
    result = project.run("--fcbench-model=scripted:wrong.yaml", "--fcbench-category=multiple", "-x")
    result.assert_outcomes(failed=1)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--fcbench-suite=cores", "unknown suite 'cores'. Did you mean 'core'?"),
        ("--fcbench-category=paralel", "unknown category 'paralel'. Did you mean 'parallel'"),
        ("--fcbench-mode=prompting", "unknown mode 'prompting'. Did you mean 'prompt'"),
        ("--fcbench-profile=corect", "unknown profile 'corect'. Did you mean 'corrected'?"),
        ("--fcbench-model=lexcal", "unknown model 'lexcal'. Did you mean 'lexical'?"),
        ("--fcbench-model=replay:nowhere", "nowhere does not exist"),
        ("--fcbench-gate=overal>=0.5", "unknown metric 'overal'. Did you mean 'overall'?"),
        ("--fcbench-gate=overall", "expected METRIC OPERATOR VALUE"),
    ],
)
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "xdist"]
)
def test_a_wrong_name_stops_the_run_at_once(
    project: Project, option: str, text: str, workers: tuple[str, ...]
) -> None:
    result = project.run(option, *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert text in result.stderr.str() + result.stdout.str()
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_missing_pack_says_which_command_gets_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(project.path / "empty"))
    result = project.run("--fcbench-suite=bfcl", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "run 'fcbench pull bfcl'" in result.stderr.str() + result.stdout.str()


def test_a_wrong_key_of_the_file_is_named_with_its_line(project: Project) -> None:
    project.write("fcbench.yaml", "model: oracle\nsuit: [core]\n")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*fcbench.yaml:2: suit: unknown key 'suit'. Did you mean 'suite'*"])


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_run_without_entries_does_not_mind_a_missing_pack(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(project.path / "empty"))
    project.write("fcbench.yaml", "model: openai/x\nsuite: bfcl\n")
    project.write("test_mine.py", "def test_mine():\n    pass\n")
    result = project.run("test_mine.py", *workers)
    result.assert_outcomes(passed=1)
    assert not (project.path / ".fcbench").exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["plain", "xdist"])
def test_an_id_alone_runs_its_entry(project: Project, options: tuple[str, ...]) -> None:
    """As lists of failures print it, in a folder of any depth; pytest itself would take it for a path."""
    # A checkout whose tests need what the benchmarks do not.
    project.write("pytest.ini", "[pytest]\ntestpaths = benchmarks\n")
    project.write("tests/conftest.py", "import missing\n")
    result = project.run("core:parallel_3", *options)
    result.assert_outcomes(passed=1)
    assert list(project.records()) == ["core:parallel_3"]
    result.stdout.fnmatch_lines(["core:parallel_3 (parallel): passed"])


def test_ids_repeat_and_end_with_a_star(project: Project) -> None:
    project.run("core:parallel_3", "core:multiple_1*", "--fcbench-entry=core:irrelevance_0,core:sql_1")
    found = project.records()
    multiples = {
        entry.key
        for entry in core.open_suite(Path()).load(CATEGORIES["multiple"])
        if entry.id.startswith("multiple_1")
    }
    assert {"core:multiple_1", "core:multiple_19", "core:multiple_113"} <= multiples
    assert found.keys() == {"core:parallel_3", "core:irrelevance_0", "core:sql_1", *multiples}


def test_an_id_selects_one_trial_or_all(project: Project) -> None:
    project.run("core:parallel_3", "--fcbench-trials=3").assert_outcomes(passed=3)
    project.run("core:parallel_3-t2", "--fcbench-trials=3").assert_outcomes(passed=1)
    options = ("--fcbench-model=lexical", "--fcbench-trials=2", "--fcbench-profile=corrected")
    result = project.run("core:parallel_3", *options)
    command = "pytest core:parallel_3-t2 --fcbench-model=lexical --fcbench-trials=2"
    result.stdout.fnmatch_lines([f"  run again  {command} --fcbench-profile=corrected"])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("core:paralel_3", "*unknown entry 'core:paralel_3'. Did you mean 'core:parallel_3'*"),
        ("core:parallel_1000", "*unknown entry 'core:parallel_1000'. Did you mean 'core:parallel_10'*"),
        ("--fcbench-entry=cora:parallel_3", "*unknown suite 'cora'. Did you mean 'core'*"),
        ("--fcbench-entry=parallel_3", "*must be a suite and an id such as core:parallel_3*"),
    ],
)
def test_an_id_that_is_none_is_told_with_the_nearest(project: Project, wrong: str, told: str) -> None:
    result = project.run(wrong)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


def test_values_of_options_are_no_ids(project: Project) -> None:
    result = project.run("-k", "core:parallel_3", "-W", "error:core")
    result.assert_outcomes(passed=1, deselected=size(*SCORED) - 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "xdist"])
def test_a_mark_that_is_none_is_told_with_the_nearest(project: Project, workers: Sequence[str]) -> None:
    result = project.run("-m", "paralel and not live")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*-m 'paralel and not live': unknown mark 'paralel'. Did you mean 'parallel'*"]
    )


def test_a_mark_of_a_users_own_test_is_one(project: Project) -> None:
    project.write("test_own.py", "import pytest\n\n@pytest.mark.mine\ndef test_it():\n    pass\n")
    project.run("-m", "mine", "-W", "ignore").assert_outcomes(passed=1, deselected=size(*SCORED))


@pytest.mark.nightly
def test_a_mark_switches_on_categories_that_only_run_where_named(project: Project) -> None:
    project.run("-m", "exec_simple").assert_outcomes(passed=size("exec_simple"), deselected=size(*SCORED))
    project.run("-m", "parallel or sql").assert_outcomes(
        passed=size("parallel", "sql"), deselected=size(*SCORED) - size("parallel")
    )
    project.run("-m", "parallel and not sql").assert_outcomes(
        passed=size("parallel"), deselected=size(*SCORED) - size("parallel")
    )


def test_a_few_entries_are_explained_in_the_place_of_tables(project: Project) -> None:
    result = project.run("core:parallel_3", "--fcbench-model=lexical")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "core:parallel_3 (parallel): failed in the official profile",
            "  question   Shut the blinds*",
            "*answered*expected*",
            "> call 2 *(no call)*home_set_blind",
            "  call 3*home_set_blind*home_set_blind",
            ">            position *1*50",
            "  run again  pytest core:parallel_3 --fcbench-model=lexical",
            "  show       fcbench run show core:parallel_3",
        ]
    )
    result.stdout.no_fnmatch_line("*95% interval*")


def test_failures_are_listed_as_pytest_does_where_it_is_asked_to(project: Project) -> None:
    asked = project.run("core:parallel_3", "--fcbench-model=lexical", "-rf")
    asked.stdout.fnmatch_lines(
        ["FAILED benchmarks/test_ast.py::test_parallel[[]core:parallel_3[]] - parallel_func*"]
    )
    project.run("core:parallel_3", "--fcbench-model=lexical").stdout.no_fnmatch_line("FAILED *")


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["plain", "xdist"])
def test_junit_holds_the_explanation(project: Project, options: tuple[str, ...]) -> None:
    project.run("core:parallel_3", "--fcbench-model=lexical", "--junitxml=junit.xml", *options)
    text = (project.path / "junit.xml").read_text()
    assert "question   Shut the blinds completely" in text
    assert "fcbench run show core:parallel_3" in text


def test_a_limit_takes_the_first_entries(project: Project) -> None:
    project.run("--fcbench-category=parallel,multiple", "--fcbench-limit=5").assert_outcomes(passed=5)
    assert list(project.records()) == [f"core:multiple_{number}" for number in range(5)]


def test_a_sample_is_the_same_each_time_and_is_spread(project: Project) -> None:
    project.run("--fcbench-sample=40", "-n2")
    first = project.records()
    project.run("--fcbench-sample=40")
    assert project.records().keys() == first.keys()
    assert len(first) == 40
    assert len({record["category"] for record in first.values()}) > 8
    project.run("--fcbench-sample=10")
    assert project.records().keys() < first.keys()


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "xdist"])
def test_a_limit_counts_what_marks_and_names_leave(project: Project, workers: tuple[str, ...]) -> None:
    project.run("-m", "parallel", "--fcbench-limit=3", *workers).assert_outcomes(passed=3)
    assert list(project.records()) == [f"core:parallel_{number}" for number in range(3)]
    project.run("-k", "irrelevance", "--fcbench-sample=4", "--fcbench-trials=2", *workers).assert_outcomes(
        passed=8
    )
    records = project.records()
    assert len(records) == 4
    assert {record["category"] for record in records.values()} <= {"irrelevance", "live_irrelevance"}


def test_a_limit_and_a_sample_exclude_each_other(project: Project) -> None:
    result = project.run("--fcbench-limit=5", "--fcbench-sample=5")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--fcbench-limit=5 and --fcbench-sample=5 exclude each other; give one of them*"]
    )


def test_a_mark_behind_not_may_be_of_tests_elsewhere(project: Project) -> None:
    result = project.run("-m", "not slow and not (huge or tiny) and parallel")
    result.assert_outcomes(passed=size("parallel"), deselected=size(*SCORED) - size("parallel"))


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["plain", "xdist"])
def test_what_is_not_selected_is_not_counted(project: Project, options: tuple[str, ...]) -> None:
    result = project.run("--fcbench-category=parallel", "--collect-only", "-q", *options)
    result.stdout.fnmatch_lines([f"{size('parallel')} tests collected*"])
    result.stdout.no_fnmatch_line("*NOTSET*")


def test_a_test_whose_category_is_switched_off_says_how_to_switch_it_on(project: Project) -> None:
    result = project.run("benchmarks/test_ast.py::test_format_sensitivity")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*test_format_sensitivity: no entry of format_sensitivity is selected; add --fcbench-category=*"]
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("mark", ["", "()", "(category='parallel')"])
def test_a_mark_without_a_category_says_what_it_needs(project: Project, mark: str) -> None:
    test = f"import pytest\n\n@pytest.mark.fcbench{mark}\ndef test_it(entry):\n    pass\n"
    result = project.run(str(project.write("test_own.py", test)))
    result.stdout.fnmatch_lines(["test_it: its mark fcbench needs one category; write e.g. @pytest.mark.*"])


def test_what_else_a_module_holds_is_looked_at_by_pytest_alone(project: Project) -> None:
    """Some objects have any attribute, and a class may have one mark in place of a list."""
    lines = (
        *("import pytest", "from unittest.mock import MagicMock, call", "anything = MagicMock()"),
        *("class TestIt:", "    pytestmark = pytest.mark.slow", "    def test_it(self):", "        pass"),
    )
    module = project.write("test_own.py", "\n".join(lines))
    project.run(str(module), "-W", "ignore").assert_outcomes(passed=1)


def test_a_plugin_that_leaves_nothing_is_told(project: Project) -> None:
    hook = "def pytest_collection_modifyitems(config, items):\n"
    hook += "    config.hook.pytest_deselected(items=items[:])\n    items.clear()\n"
    project.write("conftest.py", hook)
    result = project.run("--fcbench-suite=frontier")
    result.stdout.fnmatch_lines(["a plugin leaves none of the * tests"])
