"""A suite has one name however it is given, and each command that a run prints works when it is pasted."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence

import pytest

from pytest_fcbench.cli.main import main
from tests.plugin.conftest import PLUGINS, Project
from tests.plugin.test_entry_files import PRICES

ENTRY = (
    "  - {{id: multiple_{}, query: What does tea cost?, functions: [shop.price],"
    " expect: ['shop.price(item=\"{}\")']}}\n"
)
WEATHER = PRICES.format(category="multiple").partition("entries:")[0] + "entries:\n"
WEATHER += "".join(ENTRY.format(number, item) for number, item in enumerate(["tea", *"abcdef"]))
IDS = {f"multiple_{number}" for number in range(7)}
NAMED = "suites: {weather: data/weather.yaml}\n"
SELECTED = f"suite: weather\n{NAMED}"
CACHED = [word for word in PLUGINS if word != "no:cacheprovider"]
CACHED.remove("-p")


def run_pytest(project: Project, *words: str) -> pytest.RunResult:
    """Run pytest with the cache that --lf reads."""
    return project.pytester.runpytest_inprocess(*CACHED, *words)


@pytest.fixture
def bare(project: Project) -> Project:
    """Return a project that has neither a configuration nor test modules."""
    (project.path / "fcbench.yaml").unlink()
    shutil.rmtree(project.path / "benchmarks")
    return project


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("file", "config", "arguments", "name"),
    [
        ("weather.yaml", None, ["weather.yaml"], "weather"),
        ("weather.yaml", None, ["."], "weather"),
        ("weather.yaml", "", [], "weather"),
        ("data/weather.yaml", None, ["data/weather.yaml"], "weather"),
        ("data/weather.yaml", None, ["data"], "data"),
        ("my data/weather.yaml", None, ["my data/weather.yaml"], "weather"),
        ("../beside/weather.yaml", None, ["../beside/weather.yaml"], "weather"),
        ("data/weather.yaml", NAMED, ["data"], "weather"),
        ("data/weather.yaml", NAMED, [], "weather"),
        ("data/weather.yaml", SELECTED, [], "weather"),
        pytest.param(
            "data/weather.yaml", None, ["data/weather.yaml", "-n2"], "weather", marks=pytest.mark.slow
        ),
    ],
)
def test_what_a_run_prints_can_be_pasted(
    bare: Project,
    capsys: pytest.CaptureFixture[str],
    file: str,
    config: str | None,
    arguments: Sequence[str],
    name: str,
) -> None:
    bare.write(file, WEATHER)
    if config is not None:
        bare.write("fcbench.yaml", config)
    first = run_pytest(bare, *arguments)
    assert {entry.partition(":")[2] for entry in bare.records()} == IDS
    assert {entry.partition(":")[0] for entry in bare.records()} == {name}
    # Of a few entries each is told with its commands.
    printed = first.stdout.str() + run_pytest(bare, *arguments, "-k", "multiple_3").stdout.str()
    capsys.readouterr()
    assert main(["run", "show"]) == 0
    printed += capsys.readouterr().out
    (by_lf,) = re.findall(r"^ +(pytest --lf .*?)(?= - |$)", first.stdout.str(), re.M)
    printed = printed.replace(by_lf, "")
    commands = {
        by_lf,
        *re.findall(r"(?:pytest|fcbench) (?:-|[a-z]+\b)[^`'\n]*?(?=  |$| - |`|')", printed, re.M),
    }
    entry = f"{name}:multiple_3"
    assert {f"pytest {entry}", f"fcbench run show {entry}", "fcbench run report"} <= commands
    for command in sorted(commands, key=lambda each: each != by_lf):
        program, *words = shlex.split(command)
        if program == "fcbench":
            assert main(words) == 0, command
            continue
        again = run_pytest(bare, *words)
        assert again.ret == pytest.ExitCode.TESTS_FAILED, command
        again.assert_outcomes(failed=7 if command == by_lf else 1)


def test_a_name_that_is_in_the_configuration_is_not_taken_from_an_older_run(bare: Project) -> None:
    bare.write("data/weather.yaml", WEATHER)
    run_pytest(bare, "data/weather.yaml")
    bare.write("other.yaml", WEATHER.replace("multiple_0", "multiple_9"))
    bare.write("fcbench.yaml", "model: oracle\nsuites: {weather: other.yaml}\n")
    run_pytest(bare, "weather:multiple_9").assert_outcomes(passed=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("place", [".", "weather.yaml", ""])
def test_a_test_function_takes_the_entries_of_its_category(bare: Project, place: str) -> None:
    bare.write("weather.yaml", WEATHER)
    bare.write("fcbench.yaml", "model: oracle\n")
    bare.write(
        "test_mine.py",
        "import pytest\n@pytest.mark.fcbench('multiple')\ndef test_mine(entry, ask, judge, score):\n"
        "    assert score(judge(entry, ask(entry))).passed and not entry.id.endswith('3')\n",
    )
    result = run_pytest(bare, *filter(None, ["test_mine.py" if place == "weather.yaml" else "", place]))
    result.assert_outcomes(passed=6, failed=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("arguments", [[], ["."]])
def test_what_an_export_wrote_is_no_suite(
    bare: Project, capsys: pytest.CaptureFixture[str], arguments: Sequence[str]
) -> None:
    bare.write("weather.yaml", WEATHER)
    bare.write("fcbench.yaml", "model: oracle\n")
    bare.write("settings.yaml", "category: multiple\nmodel: oracle\n")
    bare.write("goods.jsonl", '{"category": "tea", "id": "1"}\n')
    run_pytest(bare).assert_outcomes(passed=7)
    assert main(["run", "export", "jsonl", "-o", "entries.jsonl"]) == 0
    run_pytest(bare, *arguments).assert_outcomes(passed=7)
    named = run_pytest(bare, "entries.jsonl")
    named.stderr.fnmatch_lines(["*entries.jsonl:1: entries.0.run: unknown key 'run'*"])


def test_an_entry_of_a_suite_beside_the_given_path_is_refused_with_the_way_out(bare: Project) -> None:
    bare.write("weather.yaml", WEATHER)
    refused = run_pytest(bare, "weather.yaml", "core:multi_turn_base_1")
    refused.stderr.fnmatch_lines(
        ["*'core:multi_turn_base_1': a path on the command line selects weather; leave the path out*"]
    )
    unknown = run_pytest(bare, "weather.yaml", "weather:multiple_10")
    unknown.stderr.fnmatch_lines(["*unknown entry 'weather:multiple_10'. Did you mean 'weather:multiple_1'*"])


@pytest.mark.few(2)
@pytest.mark.parametrize("config", ["", NAMED, f"suite: core\n{NAMED}"])
@pytest.mark.parametrize("module", ["data/test_mine.py", "tests/test_mine.py"])
def test_an_id_runs_the_test_function_that_takes_the_entry_and_no_other_test(
    bare: Project, config: str, module: str
) -> None:
    bare.write("data/weather.yaml", WEATHER)
    bare.write("fcbench.yaml", f"model: oracle\n{config}")
    bare.write("tests/test_broken.py", "import nothing_like_this\n")
    bare.write(
        module,
        "import pytest\n@pytest.mark.fcbench('multiple')\ndef test_mine(answer):\n"
        "    assert not answer.calls\ndef test_other(): ...\n",
    )
    run_pytest(bare, module, "data/weather.yaml").assert_outcomes(failed=7, passed=1)
    run_pytest(bare, "weather:multiple_3").assert_outcomes(failed=1)
