"""Whole runs through litellm and real HTTP against ``fcbench serve``, clean and with faults."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.suites import packs
from pytest_fcbench.suites.complexfuncbench import NAME, SOURCE
from pytest_fcbench.suites.registry import open_suite
from tests.complexfuncbench import write_file
from tests.kills import killed_runs
from tests.plugin.conftest import SCORED, Project, size
from tests.served import served, stats

FAULTS = ("429:0.05", "500:0.06", "hang:0.005", "cut:0.065", "reset:0.06", "garbage:0.06")
"""Together 30 % of all requests. Few hang, because a call is given up after its third timeout, whatever the
retries: of 50 runs with four times as many, one would lose an entry."""


DRAWN = 300
"""Entries of all kinds, where their number makes no difference to what is shown."""


def options(api_base: str, *more: str, drawn: int | None = DRAWN) -> tuple[str, ...]:
    return (
        *(() if drawn is None else (f"--fcbench-sample={drawn}",)),
        "--fcbench-model=openai/served",
        f"--fcbench-api-base={api_base}",
        "--fcbench-param=api_key=unused",
        "--fcbench-concurrency=16",
        "--fcbench-profile=corrected",
        "--fcbench-tag",
        *more,
    )


def judged(project: Project) -> dict[str, dict[str, object]]:
    """Records without what differs from run to run: the model's name, times, the ids of tool calls."""
    varying = ("model", "latency_s", "input_tokens", "output_tokens", "steps")
    return {
        entry: {key: value for key, value in record.items() if key not in varying}
        for entry, record in project.records().items()
    }


# Each mode with all entries once a night, when the oracle is also served for all official ones.
@pytest.mark.few(1)
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("model", "mode", "drawn"),
    [
        pytest.param("oracle", "prompt", None, marks=pytest.mark.nightly),
        pytest.param("lexical", "fc", None, marks=pytest.mark.nightly),
        ("oracle", "fc", DRAWN),
        ("lexical", "prompt", DRAWN),
    ],
)
def test_a_model_that_is_served_scores_what_it_scores_in_process(
    project: Project, model: str, mode: str, drawn: int | None
) -> None:
    chosen = (f"--fcbench-mode={mode}", *(() if drawn is None else (f"--fcbench-sample={drawn}",)))
    project.run_apart(f"--fcbench-model={model}", "--fcbench-profile=corrected", *chosen)
    in_process = judged(project)
    with served("--model", model) as api_base:
        project.run_apart(*options(api_base, *chosen, drawn=None))
        assert _of_entries(stats(api_base)) == _answers(in_process)
    assert len(in_process) == (drawn or size(*SCORED))
    assert _verdicts(judged(project)) == _verdicts(in_process)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("mode", "category", "entries"),
    [("fc", "single_turn", 3641), ("prompt", "single_turn", 3641), ("fc", "multi_turn", 800)],
)
def test_the_served_oracle_on_the_official_entries(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    pack_cache: Path,
    mode: str,
    category: str,
    entries: int,
) -> None:
    """Also where entries share requests, of six two, and contradict each other in three of these.

    ``tests/models/baselines/test_oracle.py`` shows that the oracle passes them in process.
    """
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    selected = (
        "--fcbench-suite=bfcl",
        f"--fcbench-category={category}",
        f"--fcbench-mode={mode}",
        "--fcbench-profile=corrected",
    )
    with served("--model", "oracle", "--suite", "bfcl") as api_base:
        more = ("--fcbench-model=hosted_vllm/served", "--fcbench-concurrency=32")
        result = project.run_apart(*options(api_base, *selected, *more, drawn=None))
        assert sum(stats(api_base)["answered"].values()) == _answers(judged(project))
    suite = open_suite("bfcl", pack_cache)
    asked = [entry for name in SELECTIONS[category] for entry in suite.load(CATEGORIES[name])]
    assert len(asked) == entries
    aside = sum(entry.set_aside is not None for entry in asked)
    result.assert_outcomes(passed=entries - aside, skipped=aside)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "manner",
    [
        ("--fcbench-tag",),
        ("--fcbench-runner=claude",),
        ("--fcbench-runner=qwen",),
        ("--fcbench-profile=corrected",),
        ("--fcbench-runner=qwen", "--fcbench-mode=prompt"),
    ],
    ids=" ".join,
)
def test_the_served_oracle_on_golden_paths_as_each_runner_asks(
    project: Project, golden_paths: str, manner: tuple[str, ...]
) -> None:
    selected = (f"--fcbench-suite={NAME}", "--fcbench-category=complex", "--fcbench-store=none")
    model = ("--fcbench-model=hosted_vllm/served", f"--fcbench-api-base={golden_paths}")
    project.run_apart(*selected, *model, *manner).assert_outcomes(passed=100)


@pytest.fixture(scope="module")
def golden_paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a pack of 100 conversations along golden paths to the oracle."""
    folder = tmp_path_factory.mktemp("golden_paths")
    packs.pull(SOURCE, folder, write_file(folder / "file.jsonl", megabytes=0, paraphrases=(4,)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FCBENCH_CACHE", str(folder))
        with served("--model", "oracle", "--suite", NAME) as api_base:
            yield api_base


def _verdicts(records: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {entry: record["verdicts"] for entry, record in records.items()}


def _of_entries(found: Mapping[str, Any]) -> int:
    """How many answers were given about entries, without those in earlier conversations."""
    return sum(count for entry, count in found["answered"].items() if "_before_" not in entry)


def _answers(records: Mapping[str, Mapping[str, object]]) -> int:
    """How many answers they hold: each was one call."""
    turns = [record["turns"] for record in records.values()]
    return sum(len(steps) for found in turns if isinstance(found, list) for steps in found)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "xdist"]
)
def test_faults_change_no_verdict(project: Project, workers: tuple[str, ...]) -> None:
    """With 30 % of the requests faulty the scorecard is the clean run's."""
    with served("--model", "lexical") as api_base:
        project.run_apart(*options(api_base, "--fcbench-store=none"), *workers)
        clean = judged(project)
    with served("--model", "lexical", "--fault", *FAULTS, "--retry-after", "0.1", "--seed", "1") as api_base:
        # Most of the time is spent in waits before a call is repeated, so many wait at once.
        at_once = "--fcbench-concurrency=64"
        impatient = ("--fcbench-timeout=6", "--fcbench-retries=20", "--fcbench-store=none", at_once)
        project.run_apart(*options(api_base, *impatient), *workers)
        found = stats(api_base)
    assert len(clean) == DRAWN
    assert judged(project) == clean
    earlier = sum(found["answered"].values()) - _of_entries(found)
    # Every fault is asked again. On a busy machine a good answer may also come after the client has given it
    # up, which the server counts only if the connection is closed by then, so there may be more repeats.
    repeated = found["requests"] - found["abandoned"] - _answers(clean) - earlier
    assert repeated >= sum(found["faults"].values()) > 20
    assert set(found["faults"]) == {fault.partition(":")[0] for fault in FAULTS}


def test_broken_arguments_are_the_models_own_fault(project: Project) -> None:
    """They are judged, not asked for again."""
    with served("--model", "oracle", "--fault", "json:1") as api_base:
        result = project.run_apart(*options(api_base, "--fcbench-category=parallel"))
        assert stats(api_base)["requests"] == size("parallel")
    result.assert_outcomes(failed=size("parallel"))
    result.stdout.fnmatch_lines([f"*{size('parallel')} 100%  a call came that cannot be read"])


def test_answers_in_a_conversation_are_not_broken(project: Project) -> None:
    """What would be asked after a broken one is not known to the server."""
    with served("--model", "oracle", "--fault", "json:1") as api_base:
        result = project.run_apart(*options(api_base, "--fcbench-category=multi_turn_base"))
    result.assert_outcomes(passed=size("multi_turn_base"))


def test_an_endpoint_that_is_down_fails_no_entry(project: Project) -> None:
    with served("--model", "oracle") as api_base:
        pass
    result = project.run_apart(*options(api_base, "--fcbench-no-preflight", "--fcbench-retries=0"))
    entries = DRAWN
    result.assert_outcomes(errors=entries)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    after_others = sum(record["category"] in SELECTIONS["memory"] for record in project.records().values())
    assert after_others > 0
    lines = [f"  connection: {entries - after_others}", f"  earlier_conversation: {after_others}"]
    result.stdout.fnmatch_lines([f"not scored ({entries} of {entries}, 100.0%)"])
    result.stdout.fnmatch_lines(lines)
    gated = project.run_apart(
        *options(api_base, "--fcbench-no-preflight", "--fcbench-retries=0", "--fcbench-gate=overall>=0")
    )
    assert gated.ret == 2, "nothing can be told"


@pytest.mark.nightly
@pytest.mark.parametrize("count", [2, 4])
def test_runs_at_once_share_a_store(project: Project, count: int) -> None:
    """All end well, and together they ask as often as one run alone."""
    with served("--model", "oracle", "--latency", "0.05") as api_base:
        asked = ("benchmarks/test_ast.py", *options(api_base))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked]
        runs = [
            subprocess.Popen([*command, f"--fcbench-scorecard={n}.json"], cwd=project.path)
            for n in range(count)
        ]
        assert [run.wait(600) for run in runs] == [0] * count
        before = stats(api_base)["requests"]
        project.run_apart(*asked).assert_outcomes(passed=DRAWN)
        assert stats(api_base)["requests"] == before
        project.run_apart(*asked, "--fcbench-store=other.sqlite")
        assert stats(api_base)["requests"] == 2 * before


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_that_is_killed_again_and_again(tmp_path: Path, workers: int) -> None:
    """``python -m tests.kills`` does this fifty times, with all entries."""
    outcome = killed_runs(tmp_path, kills=4, trials=2, seed=3, workers=workers, sample=400)
    assert outcome.kills > 1
    assert outcome.holds, str(outcome)
