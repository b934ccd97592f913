"""Whole runs of entries that go on from earlier conversations."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.suites import core
from tests.dispatch.clock import wait_until
from tests.plugin.conftest import Project, size
from tests.plugin.test_served import judged, options
from tests.served import served, stats

CATEGORY = "memory_rec_sum"
AT_ONCE = 3

BEFORE = frozenset(
    before.key for entry in core.open_suite(Path()).load(CATEGORIES[CATEGORY]) for before in entry.earlier
)


def _read_verdicts(project: Project) -> dict[str, object]:
    return {entry: record["verdicts"] for entry, record in judged(project).items()}


def _select_earlier(answered: Mapping[str, int]) -> dict[str, int]:
    return {entry: count for entry, count in answered.items() if entry in BEFORE}


@pytest.mark.nightly
def test_earlier_conversations_are_held_once_in_one_process_and_in_many(project: Project) -> None:
    """The scorecard is that of a run without a network, in both modes of running."""
    chosen = (f"--fcbench-category={CATEGORY}", "--fcbench-mode=prompt", "--fcbench-profile=corrected")
    project.run("--fcbench-model=oracle", *chosen).assert_outcomes(passed=size(CATEGORY))
    in_process = _read_verdicts(project)
    asked = []
    for workers in ((), ("-n", "2", "--fcbench-trials=2")):
        with served("--model", "oracle", "--latency", "0.01") as api_base:
            result = project.run(*options(api_base, *chosen, "--fcbench-store=none"), *workers)
            result.assert_outcomes(passed=size(CATEGORY) * (2 if workers else 1))
            assert _read_verdicts(project) == in_process
            asked.append(_select_earlier(stats(api_base)["answered"]))
    assert asked[0] == asked[1]
    assert set(asked[0]) == BEFORE


@pytest.mark.nightly
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_that_is_killed_in_an_earlier_conversation_goes_on_there(
    project: Project, workers: str
) -> None:
    """Nothing is asked twice but what was in flight, and what follows from the answers is the same."""
    with served("--model", "oracle", "--latency", "0.05") as api_base:
        chosen = (f"--fcbench-category={CATEGORY}", f"--fcbench-concurrency={AT_ONCE}", "-n", workers)
        given = [option for option in options(api_base) if "concurrency" not in option]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given, *chosen]
        process = subprocess.Popen(
            command, cwd=project.path, env=os.environ, stdout=subprocess.DEVNULL, start_new_session=True
        )
        wait_until(lambda: sum(stats(api_base)["answered"].values()) >= 25, 60)
        os.killpg(process.pid, 9)
        process.wait()
        first = Counter(stats(api_base)["answered"])
        assert set(first) < BEFORE, "it was killed before any question"
        project.run(*given, *chosen).assert_outcomes(passed=size(CATEGORY))
        answered = Counter(stats(api_base)["answered"])
    with closing(sqlite3.connect(project.path / ".fcbench" / "answers.sqlite")) as store, store:
        (kept,) = store.execute("SELECT count(*) FROM answers").fetchone()
    assert 0 <= answered.total() - kept <= AT_ONCE
    assert set(answered) > BEFORE


def test_what_cannot_be_held_leaves_its_questions_without_a_score(project: Project) -> None:
    """The others of another scenario are scored."""
    project.write(
        "said.yaml",
        "answers:\n"
        + "".join(f"  {key}: Noted.\n" for key in sorted(BEFORE) if "band" in key)
        + "".join(f"  core:{CATEGORY}_band_{number}: I do not know\n" for number in range(11)),
    )
    result = project.run("--fcbench-model=scripted:said.yaml", f"--fcbench-category={CATEGORY}")
    result.assert_outcomes(failed=11, errors=size(CATEGORY) - 11)
    result.stdout.fnmatch_lines(
        [
            "  earlier_conversation: 45",
            "    core:memory_rec_sum_allotment_0: no_result: said.yaml has no answer for *",
        ]
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_earlier_conversations_are_in_the_scorecard_with_their_cost(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.write("fcbench.yaml", "prices: {openai/served: {input: 1, output: 0}}\n")
    with served("--model", "oracle") as api_base:
        result = project.run(*options(api_base, f"--fcbench-category={CATEGORY}"), "-v", *workers)
        asked = _select_earlier(stats(api_base)["answered"])
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert {each["entry"]: len(each["steps"]) for each in section["earlier"]} == asked
    assert all(sum(map(len, each["turns"])) == len(each["steps"]) for each in section["earlier"])
    cost = section["usage"]["others"]["earlier conversations"]
    assert (cost["steps"], cost["priced"]) == (sum(asked.values()), sum(asked.values()))
    assert cost["usd"] == pytest.approx(cost["input_tokens"] / 1e6)
    assert section["usage"]["run"]["steps"] == count_steps(project)
    result.stdout.fnmatch_lines(["run *", f"earlier conversations *{sum(asked.values())} *"])

    shown = project.fcbench("run", "show", f"core:{CATEGORY}_band_0", "--scorecard=scorecard.json").stdout
    assert "not known" not in shown
    before = sorted(name for name in asked if "band" in name)
    first = project.fcbench("run", "show", before[0], "--scorecard=scorecard.json").stdout
    assert first.startswith(f"{before[0]} · ")
    assert "    returns " in first
    assert [line for line in shown.splitlines() if line.startswith("earlier conversation")] == [
        f"earlier conversation {name.removeprefix('core:')}" for name in before
    ]
    judged_again = project.fcbench("run", "rejudge", "scorecard.json", "--to=again.json")
    assert judged_again.returncode == 0, judged_again.stderr
    again = project.scorecard("again.json")["fcbench"]
    assert isinstance(again, dict)
    assert again["earlier"] == section["earlier"]


@pytest.mark.nightly
def test_the_gate_counts_earlier_conversations(project: Project) -> None:
    """They are paid once for all entries that continue them, and stored answers count at their price."""
    project.write("fcbench.yaml", "prices: {openai/served: {input: 1000, output: 0}}\n")
    with served("--model", "oracle") as api_base:
        asked = options(api_base, f"--fcbench-category={CATEGORY}")
        project.run(*asked)
        section = project.scorecard()["fcbench"]
        assert isinstance(section, dict)
        usage = section["usage"]
        questions, earlier = usage["run"]["usd"], usage["others"]["earlier conversations"]["usd"]
        assert usage["bill"]["usd"] == pytest.approx(questions + earlier)
        between, above = questions + earlier / 2, questions + earlier * 1.1
        broken = project.run(*asked, f"--fcbench-gate=cost<={between:.6f}usd")
        held = project.run(*asked, f"--fcbench-gate=cost<={above:.6f}usd")
    assert (broken.ret, held.ret) == (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK)
    broken.stdout.fnmatch_lines([f"gate cost<=*: broken: cost is ${questions + earlier:.4f} with earlier*"])
    again = project.fcbench("gate", "scorecard.json", f"--gate=cost<={between:.6f}usd")
    assert (again.returncode, "broken: cost is" in again.stdout) == (1, True)
    shutil.copy(project.path / "scorecard.json", project.path / "copy.json")
    board = project.fcbench("run", "compare", "scorecard.json", "copy.json")
    assert board.returncode == 0, board.stderr


def count_steps(project: Project) -> int:
    """Count the completions of the questions themselves."""
    steps = [record["steps"] for record in project.records().values()]
    return sum(len(each) for each in steps if isinstance(each, list))


@pytest.mark.nightly
def test_a_plan_counts_earlier_conversations_once(project: Project) -> None:
    with served("--model", "oracle") as api_base:
        result = project.run(*options(api_base, f"--fcbench-category={CATEGORY}", "--fcbench-plan"))
        (row,) = [line.split() for line in result.outlines if line.startswith(CATEGORY)]
        project.run(*options(api_base, f"--fcbench-category={CATEGORY}"))
        assert row[1:4] == [str(size(CATEGORY)), "0", str(sum(stats(api_base)["answered"].values()))]
        result = project.run(*options(api_base, f"--fcbench-category={CATEGORY}", "--fcbench-plan"))
        (row,) = [line.split() for line in result.outlines if line.startswith(CATEGORY)]
        assert row[1:4] == [str(size(CATEGORY)), str(size(CATEGORY)), "0"]
