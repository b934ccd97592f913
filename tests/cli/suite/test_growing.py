from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.suites import core
from pytest_fcbench.suites.custom import open_own
from tests.loopback import Body, Reply, make_message_reply, serve_answers


def _run_augment(*words: str) -> int:
    try:
        return main(["suite", "augment", *words])
    except SystemExit as ended:
        return int(str(ended.code))


def test_a_folder_of_entries_is_made_again_by_the_same_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one" / "grown", tmp_path / "other" / "grown"
    assert _run_augment("core", "--to", str(one), "--count", "4") == 0
    told = capsys.readouterr().out
    assert _run_augment("core", "--to", str(other), "--count", "4") == 0

    assert told.splitlines()[:5] == [
        "variants           4",
        "multiple           4",
        "parallel           4",
        "parallel_multiple  4",
        "irrelevance        4",
    ]
    texts = {path.name: path.read_bytes() for path in sorted(one.iterdir())}
    assert texts == {path.name: path.read_bytes() for path in sorted(other.iterdir())}
    entries = [entry for path in sorted(one.iterdir()) for entry in entry_files.read_entries(path, "grown")]
    assert len(entries) == 20
    assert all(entry.parents for entry in entries)
    assert f"{one / 'parallel.yaml'}: 4 entries" in told


def test_only_the_kinds_that_are_named_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "9999") == 0

    assert [path.name for path in tmp_path.iterdir()] == ["parallel.yaml"]
    assert "of 9999: no more are possible" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["core", "--count", "0"], "--count=0: must be 1 or more"),
        (["core", "--kind", "paralel"], "Did you mean 'parallel'"),
        (["cor"], "Did you mean 'core'"),
    ],
)
def test_wrong_words_are_told(
    words: list[str], rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run_augment(*words, "--to", str(tmp_path / "x")) == 4
    assert rule in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_nothing_is_replaced_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "parallel.yaml").write_text("mine")

    assert _run_augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "2") == 4

    assert "parallel.yaml already exists" in capsys.readouterr().err
    assert (tmp_path / "parallel.yaml").read_text() == "mine"
    assert _run_augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "2", "--force") == 0


def _read_material(asked: Body) -> dict[str, Any]:
    """Return what the writer is shown between two marked lines."""
    content: str = asked["messages"][1]["content"]  # type: ignore[index]
    told: dict[str, Any] = json.loads("\n".join(content.split("\n")[1:-1]))
    return told


def _word_all(asked: Body) -> Reply:
    return make_message_reply(
        json.dumps({"message": f"All in one go, please: {_read_material(asked)['mention']}"})
    )


def _name_a_function(asked: Body) -> Reply:
    told = _read_material(asked)
    return make_message_reply(json.dumps({"message": f"{told['mention']} by {next(iter(told['calls'][0]))}"}))


@pytest.mark.parametrize(
    ("answer", "worded", "rule"),
    [
        (_word_all, True, "writer openai/writer: calls 3"),
        (lambda _: make_message_reply(json.dumps({"message": "Do it."})), False, "does not mention"),
        (lambda _: make_message_reply(json.dumps({"message": ""})), False, 'must have "message", a text'),
        (_name_a_function, False, "names the function "),
    ],
)
def test_a_writer_words_merged_questions_and_is_held_to_them(
    answer: Callable[[Body], Reply],
    worded: bool,
    rule: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WRITER_KEY", "w-key")
    words = ["core", "--kind", "parallel_multiple", "--kind", "multiple", "--count", "3"]
    assert _run_augment(*words, "--to", "plain") == 0
    with serve_answers(answer) as endpoint:
        words += ["--writer=openai/writer", f"--judge-api-base={endpoint.api_base}"]
        assert _run_augment(*words, "--to", "worded", "--judge-api-key-env=WRITER_KEY") == 0

    assert rule in capfd.readouterr().out
    plain, other = (
        entry_files.read_entries(Path(to) / "parallel_multiple.yaml", "x") for to in ("plain", "worded")
    )
    assert [entry.expectation for entry in plain] == [entry.expectation for entry in other]
    assert ([entry.turns for entry in plain] != [entry.turns for entry in other]) is worded
    assert all(entry.turns[0][0].content.startswith("All in one go") for entry in other) is worded
    assert (tmp_path / "plain/multiple.yaml").read_bytes() == (tmp_path / "worded/multiple.yaml").read_bytes()


def test_a_suite_may_be_named_by_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    source = Path(core.__file__).with_name("simple_python.yaml")
    (tmp_path / "mine" / "simple.yaml").write_bytes(source.read_bytes())
    assert _run_augment(str(tmp_path / "mine"), "--to", str(tmp_path / "mine" / "grown"), "--count", "2") == 0
    assert "multiple           2" in capsys.readouterr().out
    (made, *_) = entry_files.read_entries(tmp_path / "mine" / "grown" / "multiple.yaml", "grown")
    assert made.parents[0].startswith("mine:")


def test_a_name_in_the_configuration_comes_before_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/hello.yaml").write_text("category: chatable\nentries: [{id: chatable_0, query: Hello!}]\n")
    Path("other.yaml").write_bytes(Path(core.__file__).with_name("simple_python.yaml").read_bytes())
    Path("fcbench.yaml").write_text("suites: {mine: other.yaml}\n")
    assert _run_augment("mine", "--to", "grown", "--count", "2", "--kind", "multiple") == 0
    assert capsys.readouterr().out.startswith("multiple           2\n")


def test_a_suite_can_be_grown_again(tmp_path: Path) -> None:
    """Numbers go on after what stays, and the same seed gives the same in the same place."""
    suite = tmp_path / "mine"
    suite.mkdir()
    source = Path(core.__file__).with_name("simple_python.yaml")
    (suite / "simple.yaml").write_bytes(source.read_bytes())
    first = suite / "grown" / "multiple.yaml"
    assert _run_augment(str(suite), "--to", str(first.parent), "--count", "3", "--kind", "multiple") == 0
    before = first.read_bytes()
    again = ["--to", str(first.parent), "--count", "3", "--kind", "multiple", "--force"]
    assert _run_augment(str(suite), *again) == 0
    assert first.read_bytes() == before
    more = suite / "more" / "multiple.yaml"
    assert (
        _run_augment(str(suite), "--to", str(more.parent), "--count", "3", "--kind", "multiple", "--seed=2")
        == 0
    )
    ids = [entry.id for file in (first, more) for entry in entry_files.read_entries(file, "x")]
    assert ids == [f"multiple_{number}" for number in range(6)]
    assert len(open_own("mine", suite).load(CATEGORIES["multiple"])) == 6
