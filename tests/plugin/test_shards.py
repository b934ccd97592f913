"""Runs of shards, joined, are the run of the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.plugin.conftest import Project, size
from tests.plugin.test_served import options
from tests.served import served, stats

CATEGORIES = ("parallel", "irrelevance", "live_simple", "live_multiple", "multi_turn_base", "memory_kv")
CHOSEN = ("--fcbench-model=lexical", *(f"--fcbench-category={name}" for name in CATEGORIES))


def _told(project: Project, name: str) -> Mapping[str, object]:
    """The section of a scorecard, and the outcome of every test."""
    card = project.scorecard(name)
    tests, section = card["tests"], card["fcbench"]
    assert isinstance(tests, list)
    assert isinstance(section, dict)
    return {**section, "tests": [(test["nodeid"], test["outcome"]) for test in tests]}


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "workers",
    [(), pytest.param(("-n", "0"), marks=pytest.mark.nightly), ("-n", "2")],
    ids=["plain", "n0", "n2"],
)
def test_merged_shards_are_the_whole(project: Project, workers: tuple[str, ...]) -> None:
    project.write("fcbench.yaml", "gate: ['all>=1%']\n")
    narrowed = ["--fcbench-gate=all>=1%", *CHOSEN]
    project.run(*narrowed, "--fcbench-scorecard=whole.json", *workers)
    counts = []
    for shard in ("1/3", "2/3", "3/3"):
        file = f"--fcbench-scorecard=s{shard[0]}.json"
        result = project.run(*CHOSEN, f"--fcbench-shard={shard}", file, *workers)
        counts.append(sum(result.parseoutcomes().values()))
    done = project.fcbench("run", "merge", "s3.json", "s1.json", "s2.json")
    assert done.returncode == 0, done.stderr
    assert min(counts) > 0
    assert sum(counts) == size(*CATEGORIES)
    assert _told(project, "scorecard.json") == _told(project, "whole.json")
    assert done.stdout.splitlines()[-1] == f"3 scorecards, {sum(counts)} tests: written to scorecard.json"


def test_shards_of_own_lines_are_the_whole(project: Project) -> None:
    """A shard leaves out the lines of others by their ids; sizes of categories are those of the whole."""
    doc = {"name": "f", "description": "F.", "parameters": {"type": "dict", "properties": {}, "required": []}}
    lines: list[dict[str, object]] = [
        {
            "category": category,
            "id": f"{category}_{n}",
            "query": "?",
            "functions": [doc],
            "expect": [{"f": {}}],
        }
        for category in ("live_simple", "live_parallel")
        for n in range(20)
    ]
    project.write("own.jsonl", "\n".join(map(json.dumps, lines)))
    for name, more in (("whole", ()), ("s1", ("--fcbench-shard=1/2",)), ("s2", ("--fcbench-shard=2/2",))):
        project.run("own.jsonl", "--fcbench-trials=2", f"--fcbench-scorecard={name}.json", *more)
    assert len(project.records("s1.json")) + len(project.records("s2.json")) == 40
    assert project.fcbench("run", "merge", "s1.json", "s2.json").returncode == 0
    assert _told(project, "scorecard.json") == _told(project, "whole.json")
    assert _told(project, "s1.json")["sizes"] == {
        "live_simple": 40,
        "live_multiple": 0,
        "live_parallel": 40,
        "live_parallel_multiple": 0,
    }


@pytest.mark.few(1)
@pytest.mark.parametrize("rule", ["parallel>=0.01", "parallel>=0.99"])
def test_the_gate_of_the_file_speaks_of_the_whole_only(project: Project, rule: str) -> None:
    project.write("fcbench.yaml", f"model: lexical\ncategory: parallel\ngate: ['{rule}']\n")
    for shard in ("1/2", "2/2"):
        result = project.run(f"--fcbench-shard={shard}", f"--fcbench-scorecard=s{shard[0]}.json")
        assert result.ret == 0
        result.stdout.fnmatch_lines(
            [
                f"shard {shard}: only a part of the entries",
                "*--fcbench-shard selects a*",
            ]
        )
    done = project.fcbench("run", "merge", "s1.json", "s2.json")
    assert done.returncode == (rule != "parallel>=0.01")
    assert f"gate {rule}: {'broken' if done.returncode else 'held'}: parallel is" in done.stdout


def test_a_gate_that_is_given_speaks_of_the_shard(project: Project) -> None:
    result = project.run(
        "--fcbench-model=lexical", "--fcbench-shard=1/2", "--fcbench-gate=parallel>=0.99", "-k", "parallel"
    )
    assert result.ret == 1


def test_a_failing_test_of_another_kind_is_not_hidden(project: Project) -> None:
    project.write("fcbench.yaml", "model: lexical\ncategory: parallel\ngate: ['parallel>=0.01']\n")
    project.write("test_other.py", "def test_other():\n    raise AssertionError\n")
    for shard in ("1/2", "2/2"):
        arguments = ["benchmarks", "test_other.py"] if shard == "1/2" else ["benchmarks"]
        result = project.run(*arguments, f"--fcbench-shard={shard}", f"--fcbench-scorecard=s{shard[0]}.json")
        assert result.ret == (shard == "1/2")
    assert project.fcbench("run", "merge", "s1.json", "s2.json").returncode == 1


def test_a_shard_without_entries_says_so_in_a_scorecard(project: Project) -> None:
    """Of a thousand shards most are empty; none of their jobs may fail for that."""
    chosen = ("--fcbench-model=lexical", "--fcbench-category=parallel")
    result = project.run(*chosen, "--fcbench-shard=1/1000")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["shard 1/1000 contains none of these entries; its scorecard is empty"])
    assert _told(project, "scorecard.json")["shard"] == "1/1000"
    assert not project.records()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--fcbench-model=hosted_vllm/x", "--fcbench-api-base=http://127.0.0.1:1/v1"), 4),
        (("--fcbench-model=oracle", "--fcbench-plan"), 0),
    ],
    ids=["the first call fails", "nothing is asked"],
)
def test_a_shard_that_did_not_run_is_not_empty(project: Project, options: tuple[str, ...], code: int) -> None:
    result = project.run(
        *options, "--fcbench-retries=0", "--fcbench-category=parallel", "--fcbench-shard=1/2"
    )
    assert result.ret == code
    result.stdout.no_fnmatch_line("*its scorecard is empty*")
    assert not (project.path / "scorecard.json").exists()


def test_a_shard_that_was_cut_short_decides_nothing(project: Project) -> None:
    project.write("fcbench.yaml", "model: lexical\ncategory: parallel\ngate: ['parallel>=0.01']\n")
    assert project.run("--fcbench-shard=1/2", "--fcbench-scorecard=s1.json", "-x").ret != 0
    project.run("--fcbench-shard=2/2", "--fcbench-scorecard=s2.json")
    done = project.fcbench("run", "merge", "s1.json", "s2.json")
    assert done.returncode == 2
    assert "gate parallel>=0.01: cannot tell: only " in done.stdout


def test_each_entry_is_asked_once_by_all_shards_together(project: Project) -> None:
    """Earlier conversations of a memory too, though no machine knows of the other."""
    chosen = ("--fcbench-category=memory_rec_sum", "--fcbench-category=parallel", "--fcbench-mode=prompt")
    with served("--model", "oracle") as api_base:
        for shard in ("1/2", "2/2"):
            store = f"--fcbench-store=s{shard[0]}.sqlite"
            project.run(*options(api_base, *chosen, store), f"--fcbench-shard={shard}", "-n", "2")
        in_parts = stats(api_base)["answered"]
    with served("--model", "oracle") as api_base:
        project.run(*options(api_base, *chosen, "--fcbench-store=whole.sqlite"))
        assert in_parts == stats(api_base)["answered"]


def test_what_names_no_shard_ends_the_run(project: Project) -> None:
    result = project.run("--fcbench-shard=4/3")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--fcbench-shard=4/3: must be K/N with K from 1 to N, such as 3/10"])
