"""``fcbench draft``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.suites.custom import open_own

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
        return main(["draft", MODULE, *words])
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
