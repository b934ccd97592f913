"""``fcbench store``: what it shows, what it deletes, and that answers survive the way to files and back."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.cli.store import find_category
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.stored_answers import name_model
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.registry import describe_identity

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


def run_store(*words: str) -> int:
    return main.main(["store", *words])


def run_refused_store(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run_store(*words)
    assert ended.value.code == 4


def list_left(store: AnswerStore) -> set[int]:
    """Return which of ``ANSWERS`` are left."""
    return {n for n in range(len(ANSWERS)) if store.get(str(n)) is not None}


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


def test_the_category_of_an_id() -> None:
    categories = {
        "bfcl:live_simple_3-1-0-t2": "bfcl:live_simple",
        "core:live_parallel_multiple_4": "core:live_parallel_multiple",
        "complexfuncbench:Car-Rental-2": "complexfuncbench:Car-Rental",
        "complexfuncbench:Car-Rental-2-t2": "complexfuncbench:Car-Rental",
        "shop:tea": "shop:tea",
    }
    assert {item_id: find_category(item_id) for item_id in categories} == categories


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
        f"damaged answers, which cannot be read: 6 ({named} and 1 more); delete each with "
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


@pytest.mark.parametrize("words", [["size"], ["list"], ["prune", "--all"]], ids=lambda words: words[0])
class TestNoStore:
    def test_a_missing_file_is_refused(
        self, words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run_refused_store(*words)
        assert (
            f"{STORE}: no such file; a run stores answers unless its model is built in"
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
