"""``fcbench suite draft``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.suites.custom import open_own
from tests.loopback import Body, Reply, make_message_reply, serve_answers

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


def _read_material(asked: Body) -> dict[str, Any]:
    """Return what the writer is shown between two marked lines."""
    content: str = asked["messages"][1]["content"]  # type: ignore[index]
    told: dict[str, Any] = json.loads("\n".join(content.split("\n")[1:-1]))
    return told


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
