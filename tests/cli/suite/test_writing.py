from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.suites import core
from pytest_fcbench.suites.custom import open_own
from tests.loopback import Body, Reply, make_message_reply, serve_answers


def _run_augment(*words: str) -> int:
    try:
        return main(["suite", "augment", *words])
    except SystemExit as ended:
        return int(str(ended.code))


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_only_the_kinds_that_are_named_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_augment("core", "--to", str(tmp_path), "--kind", "parallel", "--count", "9999") == 0

    assert [path.name for path in tmp_path.glob("*.yaml")] == ["parallel.yaml"]
    assert "of 9999: no more are possible" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["core", "--count", "0"], "argument --count: '0' must be a whole number, 1 or more"),
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


@pytest.mark.few(1)
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


MODULE = "shop_of_draft_tests"
SHOP = '''
def price(item: str, count: int = 1) -> float:
    """What something costs.

    Args:
        item: Name.
        count: How many.
    """
    return 1.5 * count

def stock(item: str) -> int:
    """How many there are.

    Args:
        item: Name.
    """
    return 3
'''
README = "What do 3 packs of salt cost?\n>>> price(item='salt', count=3)\n4.5\n"


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    Path(f"{MODULE}.py").write_text(SHOP)
    Path("README.md").write_text(README)


def _run_draft(*words: str) -> int:
    try:
        return main(["suite", "draft", MODULE, *words])
    except SystemExit as ended:
        return int(str(ended.code))


def test_examples_become_a_suite(capsys: pytest.CaptureFixture[str]) -> None:
    Path("more.txt").write_text("And what is 1 tea?\n>>> price('tea')")
    assert _run_draft("--examples", "README.md", "--examples", "more.txt", "--to", "mine") == 0
    told = capsys.readouterr().out
    assert told == "mine/simple_python.yaml: 2 entries\nnote: no example uses stock\n"
    suite = open_own("mine", Path("mine"))
    (category,) = suite.categories
    assert [entry.turns[0][0].content for entry in suite.load(category)] == [
        "What do 3 packs of salt cost?",
        "And what is 1 tea?",
    ]


def test_what_is_there_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_draft("--examples", "README.md", "--to", "mine") == 0
    assert _run_draft("--examples", "README.md", "--to", "mine") == 4
    assert "mine/simple_python.yaml already exists" in capsys.readouterr().err
    assert _run_draft("--examples", "README.md", "--to", "mine", "--force") == 0


@pytest.mark.parametrize(
    ("text", "code", "rule"),
    [
        ("no example", 1, "README.md: no examples; write a question and, on the next line, '>>> '"),
        ("How?\n>>> prise('x')", 4, "README.md:2: unknown function 'prise'. Did you mean 'price'"),
        (None, 4, "README.md: cannot be read"),
    ],
)
def test_what_is_missing_is_told(
    text: str | None, code: int, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("README.md").unlink()
    if text is not None:
        Path("README.md").write_text(text)
    assert _run_draft("--examples", "README.md", "--to", "mine") == code
    assert rule in capsys.readouterr().err
    assert not Path("mine").exists()


# By a model, from the docs alone


def _make_call(name: str, count: int = 3) -> dict[str, object]:
    counted = {"count": count} if name.endswith("price") else {}
    return {"name": name, "arguments": {"item": "salt", **counted}}


def _write_well(asked: Body, solved_with: int = 3) -> Reply:
    """Write questions about three packs, and solve each with that count."""
    told = _read_material(asked)
    if "number" not in told:
        words = told["message"]
        named = [each["name"] for each in told["functions"] if each["name"].rpartition(".")[2] in words]
        calls = [_make_call(name, solved_with) for name in named]
        return make_message_reply(json.dumps({"calls": calls}))
    names = [each["name"] for each in told["functions"]]
    said = " and the ".join(name.rpartition(".")[2] for name in names)
    questions = [
        {"message": f"Number {number}: the {said} of 3 salt?", "calls": list(map(_make_call, names))}
        for number in range(told["number"])
    ]
    return make_message_reply(json.dumps({"questions": questions}))


def _solve_nothing(asked: Body) -> Reply:
    if "number" in _read_material(asked):
        return _write_well(asked)
    return make_message_reply(json.dumps({"calls": []}))


def _solve_otherwise(asked: Body) -> Reply:
    """Solve each question with another count, which only the price has."""
    return _write_well(asked, 4)


def _run_writer(answer: Callable[[Body], Reply], *words: str) -> int:
    with serve_answers(answer) as endpoint:
        writer = ["--writer=openai/writer", f"--judge-api-base={endpoint.api_base}"]
        return _run_draft("-o", "made", *writer, "--judge-api-key-env=WRITER_KEY", *words)


@pytest.fixture
def _writer_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRITER_KEY", "w-key")


@pytest.mark.usefixtures("_writer_key")
def test_a_writer_makes_questions_for_each_function_and_pair(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run_writer(_write_well, "--count=2", "--pairs=1") == 0
    out = capfd.readouterr().out
    assert "written 5, kept 5, left out 0" in out
    suite = open_own("made", Path("made"))
    entries = {entry.id: entry for category in suite.categories for entry in suite.load(category)}
    assert sorted(entries) == ["parallel_multiple_0", *(f"simple_python_{number}" for number in range(4))]
    assert entries["simple_python_0"].turns[0][0].content == "Number 0: the price of 3 salt?"
    assert entries["parallel_multiple_0"].expectation == ExpectedCalls(
        (
            ExpectedCall("price", {"item": ["salt"], "count": [3]}),
            ExpectedCall("stock", {"item": ["salt"]}),
        )
    )


@pytest.mark.usefixtures("_writer_key")
def test_a_question_that_is_solved_otherwise_is_left_out_and_counted(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _run_writer(_solve_otherwise, "--count=1", "--pairs=1") == 0
    out = capfd.readouterr().out
    assert "written 3, kept 1, left out 2" in out
    assert "left out, solved otherwise: 'Number 0: the price of 3 salt?'" in out
    assert "note: no entry uses price" in out


@pytest.mark.usefixtures("_writer_key")
def test_without_an_agreement_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run_writer(_solve_nothing) != 0
    shown = capfd.readouterr()
    assert "kept 0" in shown.out
    assert "no question was kept" in shown.err
    assert not Path("made").exists()


@pytest.mark.usefixtures("_writer_key")
@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], 'must have "questions", a list of 1'),
        ([{"message": "The price?", "calls": [_make_call("price")]}], "does not mention 'salt'"),
        ([{"message": "3 salt", "calls": [{"name": "price", "arguments": {}}]}], "needs item"),
        ([{"message": "3 salt", "calls": [_make_call("stock")]}], "must call each of"),
        ([{"message": "", "calls": []}], 'must have "message"'),
        ([{"message": "3 salt", "calls": ["price"]}], 'must have "name" and "arguments"'),
        ([{"message": "3 salt"}], 'must have "calls", a list'),
    ],
)
def test_a_reply_that_breaks_a_rule_is_sent_back_and_told(
    questions: object, told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps({"questions": questions})
    assert _run_writer(lambda _: make_message_reply(text), "--count=1", "--pairs=0") != 0
    out = capfd.readouterr().out
    assert "price: not written: " in out
    assert told in out


@pytest.mark.usefixtures("_writer_key")
def test_a_bad_question_leaves_the_good_ones_of_its_function(capfd: pytest.CaptureFixture[str]) -> None:
    def write_one_badly(asked: Body) -> Reply:
        told = _read_material(asked)
        if "number" not in told:
            return _write_well(asked)
        (name,) = (each["name"] for each in told["functions"])
        calls = [_make_call(name)]
        questions = [{"message": f"The {name} of 3 {item}?", "calls": calls} for item in ("pepper", "salt")]
        return make_message_reply(json.dumps({"questions": questions}))

    assert _run_writer(write_one_badly, "--count=2", "--pairs=0") == 0
    out = capfd.readouterr().out
    assert "written 4, kept 2, left out 2" in out
    assert "left out, a question that does not mention 'salt' in 'The price of 3 pepper?'" in out


def test_either_examples_or_a_writer_is_needed(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run_draft("-o", "made") != 0
    assert "give either --examples" in capfd.readouterr().err
