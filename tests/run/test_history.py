"""The runs of a project: each is kept, listed and found by its names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.run.history import (
    find_run,
    find_run_before,
    find_run_with,
    keep_former_scorecard,
    keep_run,
    list_runs,
    read_git_commit,
    write_scorecard,
)
from pytest_fcbench.scorecard.run_facts import RunFacts
from tests.cases import each_case
from tests.factories import FACTS, make_record
from tests.factories import write_scorecard as write_file

DAY_S = 1_800_000_000.0
"""2027-01-15 08:00:00 UTC."""


def keep(folder: Path, *, at_s: float = DAY_S, facts: RunFacts = FACTS, number: int = 0) -> Path:
    """Keep a run with one entry that failed."""
    path = write_file(folder / "card.json", [make_record(Failed("a", "b"), number=number)], facts)
    text = write_scorecard(json.loads(path.read_text()))
    path.unlink()
    return keep_run(folder / "runs", text, facts.model, at_s)


def test_a_run_is_called_after_its_end_and_its_model(tmp_path: Path) -> None:
    path = keep(tmp_path, facts=replace(FACTS, model="hosted_vllm/Qwen/Qwen3:8B"))
    assert path.name == "20270115-080000-hosted_vllm-Qwen-Qwen3-8B.json"
    assert keep(tmp_path, facts=replace(FACTS, model="../..")).name == "20270115-080000-model.json"


def test_of_two_runs_in_a_second_both_are_kept_and_the_second_is_newer(tmp_path: Path) -> None:
    first, second = keep(tmp_path), keep(tmp_path)
    assert second.name == f"{first.stem}-2.json"
    assert [run.path for run in list_runs(tmp_path / "runs")] == [second, first]


@pytest.mark.parametrize("models", [("lexical", "oracle"), ("oracle", "lexical")])
def test_of_two_models_in_a_second_the_one_that_was_written_last_is_newer(
    tmp_path: Path, models: tuple[str, str]
) -> None:
    first, second = (keep(tmp_path, facts=replace(FACTS, model=model)) for model in models)
    written_s = second.stat().st_mtime
    os.utime(first, (written_s - 0.1, written_s - 0.1))
    assert [run.path for run in list_runs(tmp_path / "runs")] == [second, first]
    assert find_run("latest", tmp_path / "runs") == second


def test_the_list_has_what_a_person_looks_for(tmp_path: Path) -> None:
    keep(tmp_path, facts=replace(FACTS, labels={"branch": "main"}, commit="0" * 40, narrowed_by="-k"))
    (run,) = list_runs(tmp_path / "runs")
    assert (run.model, run.suites, run.labels, run.commit) == (
        "test",
        ("core",),
        {"branch": "main"},
        "0" * 40,
    )
    assert (run.passed, run.failed, run.not_scored, run.narrowed_by) == (0, 1, 0, "-k")
    assert (run.overall, run.low, run.high, run.gate) == (None, None, None, None)
    assert run.ended == "2027-01-15 08:00:00"


@pytest.mark.parametrize(
    ("words", "worst"),
    [(["held"], "held"), (["held", "cannot tell"], "cannot tell"), (["cannot tell", "broken"], "broken")],
)
def test_the_worst_outcome_of_the_gate_is_listed(tmp_path: Path, words: list[str], worst: str) -> None:
    path = keep(tmp_path)
    found = json.loads(path.read_text())
    found["fcbench"]["gate"] = [{"rule": "r", "outcome": word, "sentence": "s"} for word in words]
    path.write_text(json.dumps(found))
    (run,) = list_runs(tmp_path / "runs")
    assert run.gate == worst


def test_the_run_before_is_of_the_same_model_suites_and_entries(tmp_path: Path) -> None:
    first = keep(tmp_path)
    keep(tmp_path, at_s=DAY_S + 60, facts=replace(FACTS, model="other"))
    keep(tmp_path, at_s=DAY_S + 120, facts=replace(FACTS, narrowed_by="-k"))
    last = keep(tmp_path, at_s=DAY_S + 180, number=1)
    runs = tmp_path / "runs"
    assert find_run_before(last, runs) == first
    assert find_run_before(first, runs) is None
    copy = tmp_path / "scorecard.json"
    copy.write_bytes(last.read_bytes())
    assert find_run_before(copy, runs) == first, "a scorecard stands for its kept run"
    copy.write_text("{}")
    assert find_run_before(copy, runs) is None


def test_the_section_comes_first_so_that_the_tests_are_not_read(tmp_path: Path) -> None:
    path = keep(tmp_path)
    text = path.read_text()
    assert text.startswith('{"fcbench": {')
    path.write_text(text[: text.index('"tests"')] + '"tests": [\nnot JSON at all')
    assert [run.model for run in list_runs(tmp_path / "runs")] == ["test"]


@each_case("text", ["", "[]", "{}", '{"fcbench": 1}', '{"fcbench": {"profiles": {}}}', "\udc80"])
def test_other_files_are_left_out(tmp_path: Path, text: str) -> None:
    keep(tmp_path)
    (tmp_path / "runs" / "other.json").write_text(text, errors="surrogateescape")
    assert len(list_runs(tmp_path / "runs")) == 1


def test_a_run_is_found_by_each_of_its_names(tmp_path: Path) -> None:
    old = keep(tmp_path, facts=replace(FACTS, labels={"step": "1"}))
    new = keep(tmp_path, at_s=DAY_S + 3600, facts=replace(FACTS, model="b", labels={"step": "2"}))
    runs = tmp_path / "runs"
    found = {name: find_run(name, runs) for name in ("latest", "previous", "step=1", "2", new.stem[:13])}
    assert found == {"latest": new, "previous": old, "step=1": old, "2": new, new.stem[:13]: new}
    # All names begin with the year, and so does this label.
    labelled = keep(tmp_path, at_s=DAY_S - 3600, facts=replace(FACTS, labels={"year": "2027"}))
    assert find_run("2027", runs) == labelled
    assert find_run(str(old), runs) == old


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("latst", "unknown run 'latst'. Did you mean 'latest'"),
        ("previous", "previous: .* has 1 run; run pytest first"),
        ("none.json", "none.json: cannot be read"),
    ],
)
def test_a_name_that_no_run_has_is_told(tmp_path: Path, name: str, told: str) -> None:
    keep(tmp_path)
    with pytest.raises(UsageError, match=told):
        find_run(name, tmp_path / "runs")


def test_without_runs_the_way_out_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has 0 runs; run pytest first, or give the path of a scorecard"):
        find_run("latest", tmp_path)


def test_the_newest_run_with_an_entry_is_found(tmp_path: Path) -> None:
    one = keep(tmp_path, number=1)
    keep(tmp_path, at_s=DAY_S + 60, number=11)
    assert find_run_with("core:simple_python_1", tmp_path / "runs") == one
    assert find_run_with("core:simple_python_2", tmp_path / "runs") is None
    # Of an entry that has only trials in a run, none is the entry alone.
    trial = write_file(tmp_path / "card.json", [make_record(number=3, trial=2)])
    kept = keep_run(tmp_path / "runs", trial.read_text(), "test", DAY_S)
    assert find_run_with("core:simple_python_3-t2", tmp_path / "runs") == kept
    assert find_run_with("core:simple_python_3", tmp_path / "runs") is None


def test_a_scorecard_that_is_replaced_is_kept_once(tmp_path: Path) -> None:
    card = write_file(tmp_path / "scorecard.json", [make_record()])
    told = json.loads(card.read_text())
    card.write_text(json.dumps({**told, "created": DAY_S}))
    runs = tmp_path / "runs"
    keep_former_scorecard(runs, card)
    assert [run.name for run in list_runs(runs)] == ["20270115-080000-test"]
    card.write_bytes((runs / "20270115-080000-test.json").read_bytes())
    keep_former_scorecard(runs, card)
    assert len(list_runs(runs)) == 1


@each_case("text", ["", "[]", '{"fcbench": {}}', '{"tests": []}'])
def test_what_is_no_scorecard_is_not_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "scorecard.json").write_text(text)
    keep_former_scorecard(tmp_path / "runs", tmp_path / "scorecard.json")
    assert not (tmp_path / "runs").exists()


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    card = write_file(tmp_path / "written.json", [make_record()])
    pipe = tmp_path / "scorecard.json"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(card.read_bytes(),))
    writer.start()
    keep_former_scorecard(tmp_path / "runs", pipe)
    assert not (tmp_path / "runs").exists()
    assert pipe.read_bytes() == card.read_bytes()
    writer.join()


@each_case("indent", [None, 0, 2])
@each_case("tests", [0, 1, 2])
def test_a_report_is_written_in_pieces_as_at_once(indent: int | None, tests: int) -> None:
    """With each Record as the last member of its test's metadata, from its JSON."""
    report = {
        "created": 1.5,
        "fcbench": {"a": [1, {"b": "å\n"}]},
        "tests": [
            {"nodeid": "n0", "metadata": {"own": [1]}, "outcome": "passed"},
            {"nodeid": "n1", "outcome": "failed", "call": {"longrepr": "a\nb"}},
        ][:tests],
        "path": Path("x"),
    }
    records = {"n0": '{"turns": [["}}"]]}', "n1": "{}"}
    text = "".join(write_scorecard(report, indent, records.get))
    whole = [
        {"nodeid": "n0", "outcome": "passed", "metadata": {"own": [1], "fcbench": {"turns": [["}}"]]}}},
        {"nodeid": "n1", "outcome": "failed", "call": {"longrepr": "a\nb"}, "metadata": {"fcbench": {}}},
    ][:tests]
    expected = {"fcbench": report["fcbench"], **report, "tests": whole, "path": "x"}
    assert list(json.loads(text)) == ["fcbench", "created", "tests", "path"]
    assert json.loads(text) == expected
    lines = json.dumps(expected, indent=indent)
    if tests:
        assert (text if indent is not None else text.replace("\n", "").replace("},{", "}, {")) == lines


def test_tests_of_another_kind_are_written_as_they_are() -> None:
    report = {"fcbench": {}, "tests": [{"nodeid": "a", "metadata": {"own": 1}}, {"nodeid": "b"}]}
    assert "".join(write_scorecard(report)) == (
        '{"fcbench": {}, "tests": [\n{"nodeid": "a", "metadata": {"own": 1}},\n{"nodeid": "b"}\n]}'
    )


def test_a_kept_run_does_not_follow_the_file_it_was_made_from(tmp_path: Path) -> None:
    card = write_file(tmp_path / "scorecard.json", [make_record()])
    kept = keep_run(tmp_path / "runs", card, "test", DAY_S)
    before = card.read_text()
    with card.open("w") as file:
        file.write("something else")
    assert kept.read_text() == before


def run_git(folder: Path, *words: str) -> str:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    settings = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True, env=own
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "inside").mkdir(parents=True)
    run_git(folder, "init", "-q")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_a_branch(repository: Path) -> None:
    expected = run_git(repository, "rev-parse", "HEAD")
    assert read_git_commit(repository) == read_git_commit(repository / "inside") == expected


def test_a_commit_without_a_branch(repository: Path) -> None:
    run_git(repository, "checkout", "-q", "--detach")
    run_git(repository, "commit", "-q", "--allow-empty", "-m", "two")
    assert read_git_commit(repository) == run_git(repository, "rev-parse", "HEAD")


def test_packed_references(repository: Path) -> None:
    run_git(repository, "pack-refs", "--all")
    assert read_git_commit(repository) == run_git(repository, "rev-parse", "HEAD")


def test_a_worktree(repository: Path) -> None:
    run_git(repository, "worktree", "add", "-q", "-b", "other", "../worktree")
    folder = repository.parent / "worktree"
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    found = read_git_commit(folder)
    assert found == run_git(folder, "rev-parse", "HEAD")
    assert found != read_git_commit(repository)


def test_no_repository_and_a_repository_without_a_commit(tmp_path: Path) -> None:
    assert read_git_commit(tmp_path) is None
    run_git(tmp_path, "init", "-q")
    assert read_git_commit(tmp_path) is None
    (tmp_path / ".git" / "HEAD").write_text("nonsense")
    assert read_git_commit(tmp_path) is None
