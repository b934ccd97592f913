"""Docs, schema and program agree: every option, command, category and gate rule that a page names exists."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from docs._ext.generated import (
    EXAMPLES,
    categories,
    commands,
    configuration,
    failure_classes,
    faults,
    options,
    schema,
)
from pytest_fcbench.cli.init import WORKFLOWS
from pytest_fcbench.cli.main import declare_commands
from pytest_fcbench.cli.tree import is_group
from pytest_fcbench.config.loading import FILE, build_settings
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.present.document import json_schema
from pytest_fcbench.scorecard.aggregate.scores import OVERALL
from tests.cases import each_case
from tests.conftest import ROOT
from tests.docs.pages import ENDPOINT, PAGES, page, prepare, run
from tests.served import served

FLAGS = {option.flag for option in OPTIONS}


def _collect_parsers() -> Mapping[str, argparse.ArgumentParser]:
    registered: argparse._SubParsersAction[argparse.ArgumentParser]
    registered = argparse.ArgumentParser().add_subparsers()
    return declare_commands(registered)


PARSERS = _collect_parsers()


def _list_flags(parser: argparse.ArgumentParser) -> set[str]:
    """All options of a command, those of its own commands too."""
    found = set(parser._option_string_actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                found |= _list_flags(inner)
    return found


def find_unknown_names(text: str) -> Iterator[str]:
    """Yield what a text names and the program does not have."""
    yield from sorted(set(re.findall(r"--fcbench-[a-z][a-z-]*[a-z]", text)) - FLAGS)
    # In code: a line of its own, or within backticks.
    lines = [line.removeprefix("$ ").strip() for line in text.replace("\\\n", " ").splitlines()]
    code = [line for line in lines if line.startswith("fcbench ")]
    code += re.findall(r"`(fcbench [^`]+)`", text)
    for found in code:
        name, _, rest = found.removeprefix("fcbench ").partition(" ")
        if is_group(name):
            last, _, rest = rest.partition(" ")
            name = f"{name} {last}"
        if not re.fullmatch(r"[a-z -]+", name) or name.startswith("-"):
            continue
        if name not in PARSERS:
            yield f"fcbench {name}"
            continue
        ours = re.split(r" [|#;&>] ?", rest)[0]
        given = re.findall(r"(?<=[ ])--[a-z][a-z-]*", f" {ours}")
        yield from (f"fcbench {name} {flag}" for flag in given if flag not in _list_flags(PARSERS[name]))


@each_case("path", PAGES, ids=lambda path: path.stem)
def test_every_option_and_command_that_is_named_exists(path: Path) -> None:
    assert list(find_unknown_names(path.read_text(encoding="utf-8"))) == []


@each_case(
    ("text", "found"),
    [
        ("use --fcbench-modle=x", "--fcbench-modle"),
        ("    fcbench reprot a.json", "fcbench reprot"),
        ("`fcbench run show x --scoercard y`", "fcbench run show --scoercard"),
        ("$ fcbench run compare a.json b.json \\\n    --flip=3", "fcbench run compare --flip"),
    ],
)
def test_what_does_not_exist_is_found(text: str, found: str) -> None:
    assert list(find_unknown_names(text)) == [found]


def test_the_docs_list_all_options_and_name_more_than_half_of_them_beside() -> None:
    """The page of options has all, made when the site is built; the other pages name what they are for."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert len([flag for flag in FLAGS if flag in text]) > len(FLAGS) / 2
    assert "```{fcbench-options}" in text
    assert "```{fcbench-commands}" in text


def _read_page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@each_case(
    ("table", "first", "last"),
    [
        (categories, "| `simple_python` | `non_live` | simple | yes |", "| `mcp` | `mcp` |"),
        (faults, "| `hang` | No answer until", "| `parser_drop_brace` |"),
        (failure_classes, "| `context_overflow` | A request did not fit", "| `wrong_result` | The right"),
    ],
)
def test_tables_of_the_pages_are_made_of_the_program(
    table: Callable[[], Iterator[str]], first: str, last: str
) -> None:
    text = "\n".join(table())
    assert first in text
    assert last in text
    assert "|  |" not in text, "a row says nothing: its member has no docstring"
    assert f"```{{fcbench-{table.__name__.replace('_', '-')}}}" in "".join(
        _read_page(name) for name in ("categories.md", "after-a-run.md", "own-models.md")
    )


def test_each_rule_has_its_section_and_each_selection_is_named() -> None:
    headings = " ".join(re.findall(r"^## (.*)$", _read_page("categories.md"), re.MULTILINE))
    assert {each.kind for each in CATEGORIES.values()} <= set(re.findall(r"\w+", headings))
    for name in SELECTIONS:
        assert f"`{name}`" in _read_page("categories.md")


def test_the_weights_of_the_overall_score_are_those_of_the_program() -> None:
    told = re.findall(r"(\d+) % `(\w+)`", _read_page("statistics.md"))
    assert {name: int(share) / 100 for share, name in told} == dict(OVERALL)


def test_the_schema_table_has_every_field() -> None:
    """Made when the site is built, by the same function."""
    table = "\n".join(schema())
    for name, definition in json_schema()["$defs"].items():
        assert f"### {name}\n" in table
        for field in definition.get("properties", {}):
            assert f"| `{field}` |" in table
    assert {flag for flag in FLAGS if flag in "\n".join(options())} == FLAGS
    assert set(re.findall(r"^#### fcbench (.*)$", "\n".join(commands()), re.MULTILINE)) == set(PARSERS)
    keys = set(re.findall(r"^\| `(\w+)` ", "\n".join(configuration()), re.MULTILINE))
    assert keys == {option.key for option in OPTIONS if option.in_file}


@pytest.mark.nightly
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_the_example_of_a_group_of_options_runs(example: str, tmp_path: Path) -> None:
    run("fcbench init --ci none", tmp_path, tmp_path)
    told = run(f"{example} --fcbench-plan; echo code $?", tmp_path, tmp_path)
    assert told.rstrip().endswith("code 0"), told


CONFIGURATIONS = [path for path in PAGES if FILE in page(path).files]


@each_case("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_configurations_can_be_read(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_FT_KEY", "a-key-of-the-docs")
    text = page(path).files[FILE]
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert build_settings({}, tmp_path / FILE).label == yaml.safe_load(text)["model"]


def _find_commands(value: object) -> Iterator[str]:
    """Yield what the steps of a workflow run, of GitHub or GitLab."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key in ("run", "script"):
                yield from member if isinstance(member, list) else member.splitlines()
            else:
                yield from _find_commands(member)
    elif isinstance(value, list):
        for member in value:
            yield from _find_commands(member)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [".github/workflows/benchmarks.yml", ".gitlab-ci.yml"])
def test_what_workflows_run_works(name: str, tmp_path: Path) -> None:
    gates = page(ROOT / "docs" / "gates.md")
    prepare(gates, tmp_path)
    lines = list(_find_commands(yaml.safe_load(gates.files[name])))
    ours = [line for line in lines if line.startswith(("pytest ", "fcbench "))]
    waits = ("pip install ", "vllm serve ", "timeout ")
    assert all(line.startswith(waits) for line in lines if line not in ours)
    assert ours
    if any("fcbench-baseline" in line for line in ours):
        before = (
            "pytest benchmarks -m parallel --fcbench-model=oracle && fcbench run baseline save scorecard.json"
        )
        run(before, tmp_path, tmp_path)
    with served("--model", "oracle") as api_base:
        there = api_base.removeprefix("http://").removesuffix("/v1")
        configuration = tmp_path / FILE
        configuration.write_text(configuration.read_text().replace(ENDPOINT, there))
        for line in ours:
            told = run(f"{line.replace('vllm:8000', there)}; echo code $?", tmp_path, tmp_path)
            assert told.rstrip().endswith("code 0"), told


@pytest.mark.nightly
def test_the_shards_of_a_matrix_are_merged(tmp_path: Path) -> None:
    scale = page(ROOT / "docs" / "scale.md")
    prepare(scale, tmp_path)
    text = scale.files[".github/workflows/shards.yml"]
    jobs = yaml.safe_load(text)["jobs"]
    shards = jobs["shard"]["strategy"]["matrix"]["shard"]
    (shard,) = (line for line in _find_commands(jobs["shard"]) if line.startswith("pytest "))
    (merge,) = (line for line in _find_commands(jobs["merge"]) if line.startswith("fcbench "))
    lines = [shard.replace("${{ matrix.shard }}", str(number)) for number in shards]
    (tmp_path / FILE).write_text("model: lexical\ncategory: parallel\ngate: ['parallel>=0.01']\n")
    for line in (*lines, merge):
        told = run(f"{line}; echo code $?", tmp_path, tmp_path)
        assert told.rstrip().endswith("code 0"), told
    assert "gate parallel>=0.01: held: parallel is" in told


def test_the_workflows_of_init_run_what_the_docs_show() -> None:
    for kind in ("github", "gitlab"):
        made = WORKFLOWS[kind]
        assert made is not None
        commands = list(_find_commands(yaml.safe_load(made[1])))
        assert "pytest benchmarks -o addopts= --junitxml=junit.xml" in commands
        assert "fcbench run report scorecard.json" in made[1]


def test_links_have_words_where_no_site_adds_them() -> None:
    empty = [path.name for path in PAGES if re.search(r"(?<!!)\[\]\(", path.read_text(encoding="utf-8"))]
    assert empty == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 900
