"""``fcbench store``: what it shows, what it deletes, and that answers survive the way to files and back."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.stored_answers import name_model
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.models.baselines.replay import read_turns
from pytest_fcbench.models.registry import describe_identity
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from tests.conftest import ROOT

Files: TypeAlias = Mapping[str, Sequence[Mapping[str, object]]]
"""Rows of result files by path."""

STORE = Path(".fcbench/answers.sqlite")
MODEL = "--model=openai/x"
DAY = 86_400
NOW = 1_700_000_000.0
ANSWERS = (
    ("core:multiple_0", "openai/x", NOW - 40 * DAY),
    ("core:multiple_1", "openai/x", NOW),
    ("bfcl:live_simple_0-0-0", "openai/x", NOW),
    ("bfcl:live_simple_0-0-0-t2", "openai/x", NOW),
    ("core:multiple_0", "openai/y", NOW - 40 * DAY),
)
ROWS: Files = {
    "non_live/BFCL_v4_simple_python_result.json": [
        {
            "id": "simple_python_0",
            "result": [{"calculate_triangle_area": '{"base": 10}'}],
            "input_token_count": 117,
            "output_token_count": 19,
            "latency": 0.5,
        },
        {"id": "simple_python_2", "result": "Süß.", "latency": 1.5, "reasoning_content": "hm"},
    ],
    "live/BFCL_v4_live_relevance_result.json": [
        {"id": "live_relevance_0-0-0", "result": [], "input_token_count": 5, "output_token_count": 2}
    ],
}
TALK = "multi_turn/BFCL_v4_multi_turn_base_result.json"
TALKS: Files = {
    TALK: [
        {
            "id": "multi_turn_base_3",
            "result": [[[{"ls": "{}"}, {"pwd": '{"a": 1}'}], "Done."], [[{"ls": "{"}]]],
            "input_token_count": [[100, 120], [130]],
            "latency": [[0.5, None], [1.5]],
        }
    ]
}
"""Two turns, of three steps together, the last of which cannot be read."""
CUT: Files = {TALK: [{"id": "multi_turn_base_3", "result": [[[{"ls": "{}"}], "Done."]]}]}
"""Lacks the second turn."""
PROMPTED: Files = {"non_live/BFCL_v4_multiple_result.json": [{"id": "multiple_0", "result": "[f(a=1)]"}]}
PROMPTED_TALKS: Files = {TALK: [{"id": "multi_turn_base_3", "result": [["[ls()]", "[ls(]"], ["So."]]}]}
TAGGED: Files = {
    "non_live/BFCL_v4_multiple_result.json": [
        {"id": "multiple_0", "result": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'}
    ]
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.time", lambda: NOW)
    return tmp_path


@pytest.fixture
def store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnswerStore]:
    """Write a store with answers of two models, some of them 40 days old."""
    store = AnswerStore(STORE)
    for number, (entry, model, written) in enumerate(ANSWERS):
        monkeypatch.setattr("time.time", lambda written=written: written)
        store.put(str(number), entry, model, Completion(text="x", input_tokens=1000, output_tokens=number))
    monkeypatch.setattr("time.time", lambda: NOW)
    yield store
    store.close()


@pytest.fixture
def pack(pack_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))


def run_store(*words: str) -> int:
    return main.main(["store", *words])


def run_refused_store(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run_store(*words)
    assert ended.value.code == 4


def list_left(store: AnswerStore) -> set[int]:
    """Return which of ``ANSWERS`` are left."""
    return {n for n in range(len(ANSWERS)) if store.get(str(n)) is not None}


def write_results(folder: Path, files: Files) -> Path:
    for name, rows in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder


def read_results(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): [json.loads(line) for line in path.read_text().splitlines()]
        for path in folder.rglob("*")
        if path.is_file()
    }


# Looking


def test_size_tells_bytes_and_answers_by_model(
    store: AnswerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_store("size") == 0
    assert capsys.readouterr().out == (
        f"{STORE}: {store.size:,} bytes, 5 answers\n        4  openai/x\n        1  openai/y\n"
    )


def test_list_tells_answers_and_tokens_by_category(
    store: AnswerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_store("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d", "T", " ".join(line.split())) for line in lines] == [
        "openai/x",
        "answers tokens in tokens out first written last written",
        "bfcl:live_simple 2 2,000 5 T T",
        "core:multiple 2 2,000 1 T T",
        "openai/y",
        "answers tokens in tokens out first written last written",
        "core:multiple 1 1,000 4 T T",
    ]
    assert max(map(len, lines)) <= 100
    assert lines[3].split()[-4:-2] < lines[3].split()[-2:]


def test_list_counts_by_category(store: AnswerStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether a hyphen or an underscore stands before the number."""
    for number in range(3):
        entry = f"complexfuncbench:Car-Rental-{number}" + ("-t2" if number else "")
        store.put(entry, entry, "openai/c", Completion("yes"))
    assert run_store("list", "--model=openai/c") == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [["complexfuncbench:Car-Rental", "3"]]


def test_list_can_be_of_one_model(store: AnswerStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_store("list", "--model=openai/y") == 0
    assert "openai/x" not in capsys.readouterr().out
    assert run_store("list", "--model=openai/z") == 0
    assert capsys.readouterr().out == f"{STORE}: no answers of openai/z\n"


def test_list_goes_on_behind_damaged_answers(store: AnswerStore, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(7):
        store.put(str(number), f"core:parallel_{number}", "openai/d", Completion("yes"))
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE answers SET answer = 'x' WHERE model = 'openai/d' AND key < '6'")
    assert run_store("list", "--model=openai/d") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:2] == ["core:parallel", "7"]
    named = ", ".join(f"core:parallel_{number}" for number in range(5))
    assert lines[3:] == [
        f"damaged answers, which cannot be read: 6 ({named} ...); delete each with "
        "'fcbench store prune --entry ID'"
    ]
    assert run_store("prune", "--entry=core:parallel_0", "--yes") == 0
    assert "1 answers deleted" in capsys.readouterr().out
    assert run_store("list", "--json", "--model=openai/d") == 0
    (group,) = json.loads(capsys.readouterr().out)["openai/d"].values()
    assert [kept["is_damaged"] for kept in group] == [True] * 5 + [False]


def test_a_profile_stands_for_its_model(
    store: AnswerStore, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the key of its endpoint is not set."""
    profile = "model: openai/y, api_key_env: FCBENCH_TEST_UNSET"
    (folder / "fcbench.yaml").write_text(f"models: {{mine: {{{profile}}}}}\n", encoding="utf-8")
    assert run_store("list", "--model=mine") == 0
    assert capsys.readouterr().out.startswith("openai/y\n")


def test_a_store_named_in_the_file_is_looked_at(
    store: AnswerStore, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.close()
    STORE.rename("kept.sqlite")
    (folder / "fcbench.yaml").write_text("store: kept.sqlite\n", encoding="utf-8")
    assert run_store("size") == 0
    assert capsys.readouterr().out.startswith("kept.sqlite: ")


# What is no store


@pytest.mark.parametrize(
    "words", [["size"], ["list"], ["prune", "--all"], ["export", "out", MODEL]], ids=lambda words: words[0]
)
@pytest.mark.usefixtures("pack")
class TestNoStore:
    def test_a_missing_file_is_refused(
        self, words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run_refused_store(*words)
        assert (
            f"{STORE}: no such file; name the file that stores answers with --store"
            in capsys.readouterr().err
        )
        assert list(folder.iterdir()) == []

    @pytest.mark.parametrize("content", [b"", b"my diary, do not touch " * 100], ids=["empty", "text"])
    def test_a_foreign_file_is_refused_and_kept(self, words: list[str], content: bytes, folder: Path) -> None:
        (folder / "diary").write_bytes(content)
        run_refused_store(*words, "--store=diary")
        assert (folder / "diary").read_bytes() == content
        assert [path.name for path in folder.iterdir()] == ["diary"]

    def test_somebody_elses_database_is_refused_and_kept(
        self, words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with closing(sqlite3.connect("diary")) as database, database:
            database.execute("CREATE TABLE answers (day TEXT)")
        content = (folder / "diary").read_bytes()
        run_refused_store(*words, "--store=diary")
        assert (
            "was not written as a store by this version of fcbench; move it away, or name "
            "another file with --store"
        ) in capsys.readouterr().err
        assert (folder / "diary").read_bytes() == content

    def test_a_corrupt_store_is_told_and_kept(
        self, words: list[str], store: AnswerStore, capsys: pytest.CaptureFixture[str]
    ) -> None:
        store.close()
        content = STORE.read_bytes()
        content = content[:4096] + b"\xff" * (len(content) - 4096)
        STORE.write_bytes(content)
        assert run_store(*words) == 1
        assert "database disk image is malformed" in capsys.readouterr().err
        assert STORE.read_bytes() == content

    def test_no_store_at_all_is_refused(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        run_refused_store(*words, "--store=none")
        assert "name a file with --store" in capsys.readouterr().err


# Deleting


@pytest.mark.parametrize(
    ("conditions", "stays"),
    [
        pytest.param([MODEL], {4}, id="model"),
        pytest.param(["--older-than=30d"], {1, 2, 3}, id="age"),
        pytest.param(["--older-than=6w"], {0, 1, 2, 3, 4}, id="nothing is that old"),
        pytest.param(["--entry=bfcl:*"], {0, 1, 4}, id="entry"),
        pytest.param(["--entry=*_0"], {1, 2, 3}, id="end of an entry"),
        pytest.param([MODEL, "--older-than=720h"], {1, 2, 3, 4}, id="model and age"),
        pytest.param([MODEL, "--entry=core:*", "--older-than=5w"], {1, 2, 3, 4}, id="all three"),
        pytest.param(["--model="], {0, 1, 2, 3, 4}, id="an empty name"),
        pytest.param(["--entry="], {0, 1, 2, 3, 4}, id="an empty pattern"),
        pytest.param(["--all"], set(), id="everything"),
    ],
)
def test_prune_deletes_what_meets_all_conditions(
    store: AnswerStore, conditions: list[str], stays: set[int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_store("prune", *conditions, "--yes") == 0
    assert list_left(store) == stays
    assert capsys.readouterr().out == (
        f"{5 - len(stays)} answers deleted\n{STORE}: {store.size:,} bytes, {len(stays)} answers\n"
    )


def test_a_dry_run_deletes_nothing(store: AnswerStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_store("prune", "--older-than=30d", "--dry-run") == 0
    assert len(list_left(store)) == 5
    assert capsys.readouterr().out == f"{STORE}: 2 answers would be deleted\n"


@pytest.mark.parametrize(
    ("typed", "is_terminal"),
    [("y\n", False), ("", True), (None, False)],
    ids=["no terminal", "end of input", "no input"],
)
def test_nothing_is_deleted_where_nobody_answers(
    store: AnswerStore,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str | None,
    is_terminal: bool,
) -> None:
    terminal = None if typed is None else io.StringIO(typed)
    if terminal is not None:
        monkeypatch.setattr(terminal, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stdin", terminal)
    run_refused_store("prune", "--all")
    assert len(list_left(store)) == 5
    assert "5 answers would be deleted; add --yes to delete them, or --dry-run" in capsys.readouterr().err


@pytest.mark.parametrize(("reply", "left"), [("y", 0), ("Yes", 0), ("n", 5), ("", 5)])
def test_a_person_is_asked_before_anything_is_deleted(
    store: AnswerStore, monkeypatch: pytest.MonkeyPatch, reply: str, left: int
) -> None:
    terminal = io.StringIO(f"{reply}\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert run_store("prune", "--all") == 0
    assert len(list_left(store)) == left


@pytest.mark.parametrize("conditions", [[], ["--all", MODEL]], ids=["none", "all and some"])
def test_prune_wants_to_know_what(
    store: AnswerStore, conditions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run_refused_store("prune", *conditions)
    assert (
        "choose what to delete: --model, --older-than and --entry, or --all without these"
        in capsys.readouterr().err
    )
    assert len(list_left(store)) == 5


@pytest.mark.parametrize("age", ["30", "3 weeks", "d", "-1d", "1.5d", "9999999d"])
def test_an_age_is_a_number_and_a_unit(
    store: AnswerStore, age: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_refused_store("prune", f"--older-than={age}")
    assert f"{age!r} is not an age; use days, hours or weeks, e.g. 30d, 12h or 2w" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "left"), [("near", "b, old"), ("far", "a, old"), ("openai/x", "")])
def test_a_profile_has_the_answers_from_its_address(
    name: str, left: str, capsys: pytest.CaptureFixture[str]
) -> None:
    near = "near: {model: openai/x, api_base: 'http://127.0.0.1:1/v1'}"
    far = "far: {model: openai/x, api_base: 'http://127.0.0.1:2/v1'}"
    Path("fcbench.yaml").write_text(f"models: {{{near}, {far}}}\n")
    asked = {
        entry: name_model(describe_identity(build_settings({"model": profile}, Path("fcbench.yaml"))))
        for entry, profile in (("a", "near"), ("b", "far"))
    }
    with closing(AnswerStore(STORE)) as store:
        # An earlier version stored no address.
        for entry, model in (*asked.items(), ("old", "openai/x")):
            store.put(entry, entry, model, Completion(text="a"))
    assert run_store("list") == 0
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if line.startswith("openai")] == [
        "openai/x",
        "openai/x at http://127.0.0.1:1/v1",
        "openai/x at http://127.0.0.1:2/v1",
    ]
    assert run_store("prune", f"--model={name}", "--yes") == 0
    with closing(AnswerStore(STORE)) as store:
        assert ", ".join(sorted(kept.entry for kept in store.kept())) == left


def test_a_run_goes_on_writing_after_a_prune(store: AnswerStore) -> None:
    """``store`` is the connection that a run holds."""
    assert run_store("prune", "--all", "--yes") == 0
    store.put("1", "core:multiple_1", "openai/x", Completion(text="new"))
    with closing(AnswerStore(STORE, new=False)) as again:
        assert list_left(again) == {1}


@pytest.fixture
def endless_writer(store: AnswerStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let another process write and not come to an end."""
    monkeypatch.setattr("pytest_fcbench.dispatch.answer_store._PATIENCE_S", 0.01)
    other = sqlite3.connect(STORE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.close()


@pytest.mark.usefixtures("endless_writer")
def test_a_file_that_stays_locked_is_told(store: AnswerStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_store("prune", "--all", "--yes") == 1
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        f"fcbench: {STORE}: another process holds its lock; end that process and run again\n",
    )
    assert len(list_left(store)) == 5


@pytest.mark.usefixtures("endless_writer")
@pytest.mark.parametrize("action", ["size", "list"])
def test_looking_does_not_wait_for_a_writer(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_store(action) == 0
    assert "openai/x\n" in capsys.readouterr().out


@pytest.mark.usefixtures("endless_writer", "pack")
def test_an_import_into_a_locked_file_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(folder / "given", PROMPTED)
    assert run_store("import", "given", MODEL) == 1
    assert f"{STORE}: another process holds its lock; end that process" in capsys.readouterr().err


# To official result files and back


@pytest.mark.usefixtures("pack")
def test_what_is_imported_is_exported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(folder / "given", ROWS)
    assert run_store("import", "given", MODEL) == 0
    assert capsys.readouterr().out == (
        "3 answers imported, 0 were already stored\n"
        "judge them with: pytest --fcbench-model=openai/x --fcbench-mode=fc --fcbench-suite=bfcl "
        "--fcbench-offline\n"
    )
    assert run_store("export", "out", MODEL) == 0
    assert capsys.readouterr().out == (
        "     2  out/openai_x/non_live/BFCL_v4_simple_python_result.json\n"
        "     1  out/openai_x/live/BFCL_v4_live_relevance_result.json\n"
        "3 answers written; 11,113 entries have none\n"
    )
    assert read_results(folder / "out") == {f"openai_x/{name}": rows for name, rows in ROWS.items()}


@pytest.mark.few(1)
@pytest.mark.usefixtures("pack")
@pytest.mark.parametrize(("files", "mode"), [(TALKS, "fc"), (PROMPTED_TALKS, "prompt")])
def test_whole_conversations_are_imported_and_exported(
    folder: Path, files: Files, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(folder / "given", files)
    assert run_store("import", "given", MODEL) == 0
    assert capsys.readouterr().out.startswith("3 answers imported, 0 were already stored\n")
    assert run_store("import", "given", MODEL) == 0
    assert capsys.readouterr().out.startswith("0 answers imported, 3 were already stored\n")
    assert run_store("export", "out", MODEL, f"--mode={mode}") == 0
    assert capsys.readouterr().out == (
        f"     1  out/openai_x/{TALK}\n1 answers written; 11,115 entries have none\n"
    )
    assert read_results(folder / "out") == {f"openai_x/{name}": rows for name, rows in files.items()}


@pytest.mark.nightly
@pytest.mark.usefixtures("pack")
def test_a_conversation_that_lacks_a_step_is_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of every count too, though its first steps are kept."""
    write_results(folder / "given", {**ROWS, **CUT})
    for counts in ("3 answers imported, 0 were already stored", "0 answers imported, 3 were already stored"):
        assert run_store("import", "given", MODEL) == 0
        first, second, *_ = capsys.readouterr().out.splitlines()
        assert first == counts
        assert second == "1 conversations have another number of turns than their entry: left out"
    assert run_store("export", "out", MODEL) == 0
    assert read_results(folder / "out") == {f"openai_x/{name}": rows for name, rows in ROWS.items()}


@pytest.mark.few(2)
@pytest.mark.usefixtures("pack")
@pytest.mark.parametrize(
    ("files", "syntax"),
    [
        ({**ROWS, **TALKS}, "tool_calls"),
        ({**PROMPTED, **PROMPTED_TALKS}, "python"),
        (TAGGED, "qwen"),
    ],
)
@pytest.mark.parametrize(
    "more",
    [
        pytest.param([], id="plain"),
        pytest.param(["--temperature=0", "--param=top_p=0.9", "--param=user=a b"], id="parameters"),
        pytest.param(["--api-base=http://127.0.0.1:1/v1", "--max-tokens=9", "--seed=1"], id="endpoint"),
        pytest.param(["--names=dotted", "--store=deep/other.sqlite"], id="names and store"),
    ],
)
def test_the_run_that_is_named_finds_what_was_imported(
    folder: Path,
    files: Files,
    syntax: str,
    more: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_results(folder / "given", files)
    assert run_store("import", "given", MODEL, *more) == 0
    command = shlex.split(capsys.readouterr().out.splitlines()[-1].partition("pytest ")[2])
    parser = argparse.ArgumentParser()
    for option in OPTIONS:
        action = "store_true" if option.switch else "append" if option.repeatable else "store"
        parser.add_argument(option.flag, dest=option.key, action=action, default=None)
    benchmark = Session(RunContext(build_settings(vars(parser.parse_args(command)), None)))
    for name, rows in files.items():
        entries = {
            e.id: e
            for e in benchmark.context.selection.entries(
                name.partition("v4_")[2].removesuffix("_result.json")
            )
        }
        for row in rows:
            assert benchmark.transcript(entries[str(row["id"])]).answers == read_turns(row)
    assert benchmark.context.settings.offline
    assert benchmark.context.manner.prompting.syntax == syntax
    benchmark.close()


@pytest.mark.usefixtures("pack")
def test_what_is_there_stays_unless_forced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = write_results(folder / "1", PROMPTED), folder / "2"
    write_results(second, {name: [{**rows[0], "result": "[g()]"}] for name, rows in PROMPTED.items()})
    assert run_store("import", str(first), MODEL) == 0
    assert run_store("export", "out", MODEL, "--mode=prompt") == 0
    capsys.readouterr()
    assert run_store("import", str(second), MODEL) == 0
    assert capsys.readouterr().out.startswith("0 answers imported, 1 were already stored\n")

    path = next((folder / "out").rglob("*.json"))
    run_refused_store("export", "out", MODEL, "--mode=prompt")
    assert f"{path.relative_to(folder)} already exists" in capsys.readouterr().err
    assert run_store("import", str(second), MODEL, "--force") == 0
    assert capsys.readouterr().out.startswith("1 answers imported, 0 were already stored\n")
    assert "f(a=1)" in path.read_text()
    assert run_store("export", "out", MODEL, "--mode=prompt", "--force") == 0
    assert "[g()]" in path.read_text()
    assert [p.suffix for p in path.parent.iterdir()] == [".json"]


@pytest.mark.usefixtures("pack")
def test_what_does_not_come_in_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": "multiple_0", "result": "[f()]"},
        {"id": "multiple_1", "result": "Error during inference: 503"},
        {"id": "multiple_999", "result": "[f()]"},
    ]
    write_results(folder / "given", {"BFCL_v4_multiple_result.json": rows})
    assert run_store("import", "given", MODEL) == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "1 answers imported, 0 were already stored",
        "1 results are errors of calls, which are not stored",
        "1 ids are not entries of bfcl",
    ]


@pytest.mark.nightly
@pytest.mark.usefixtures("pack")
def test_calls_beside_a_text_are_not_what_prompting_judges(folder: Path) -> None:
    """Nor is the text beside tool calls what function calling judges."""
    answer = Completion(text="[f()]", tool_calls=(ToolCall("g", "{}"),))
    for mode, result in (("fc", [{"g": "{}"}]), ("prompt", "[f()]")):
        write_results(folder / mode, {"BFCL_v4_multiple_result.json": [{"id": "multiple_0", "result": "x"}]})
        assert run_store("import", mode, MODEL, f"--mode={mode}", f"--store={mode}.sqlite") == 0
        with closing(AnswerStore(folder / f"{mode}.sqlite")) as store:
            with closing(sqlite3.connect(store.path)) as database:
                (key,) = database.execute("SELECT key FROM answers").fetchone()
            store.put(key, "bfcl:multiple_0", "openai/x", answer)
        assert run_store("export", f"{mode}-out", MODEL, f"--mode={mode}", f"--store={mode}.sqlite") == 0
        (rows,) = read_results(folder / f"{mode}-out").values()
        assert rows == [{"id": "multiple_0", "result": result}]


@pytest.mark.few(3)
@pytest.mark.usefixtures("pack")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(
            ["export", "out", "--model=lexical"], "answers of 'lexical' are not stored", id="needs no network"
        ),
        pytest.param(
            ["export", "out", MODEL],
            f"{STORE} has no answer that a run of openai/x with these settings would find (mode fc)",
            id="other settings",
        ),
        pytest.param(["export", "out", MODEL, "--mode=f"], "--mode=f: unknown mode 'f'", id="unknown mode"),
        pytest.param(["export", "out", MODEL, "--suite=core"], "choose from", id="another suite"),
        pytest.param(["import", "given"], "required: --model", id="no model"),
        pytest.param(["import", "nowhere", MODEL], "nowhere does not exist", id="no folder"),
        pytest.param(["import", ".", MODEL], "no *_result.json below it", id="no results"),
        pytest.param(["import", "odd", MODEL], "odd: none of its 1 ids is an entry of bfcl", id="no entry"),
    ],
)
def test_what_cannot_be_moved_is_refused(
    store: AnswerStore, folder: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "odd" in words:
        write_results(folder / "odd", {"BFCL_v4_odd_result.json": [{"id": "odd_0", "result": "x"}]})
    run_refused_store(*words)
    assert says in capsys.readouterr().err
    assert not (folder / "out").exists()
    assert len(list(store.kept())) == 5


@pytest.mark.usefixtures("pack")
def test_a_refused_import_makes_no_store(folder: Path) -> None:
    run_refused_store("import", "nowhere", MODEL)
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("pack")
def test_a_place_where_no_file_can_be_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(folder / "given", ROWS)
    (folder / "out").write_text("a file", encoding="utf-8")
    assert run_store("import", "given", MODEL) == 0
    assert run_store("export", "out", MODEL) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert (folder / "out").read_text(encoding="utf-8") == "a file"


@pytest.mark.usefixtures("pack")
def test_litellm_is_not_loaded(folder: Path) -> None:
    write_results(folder / "given", ROWS)
    code = (
        "import sys; from pytest_fcbench.cli.main import main; "
        f"codes = [main(['store', *w, {MODEL!r}]) for w in (['import', 'given'], ['export', 'out'])]; "
        "sys.exit(codes != [0, 0] or 'litellm' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 0
