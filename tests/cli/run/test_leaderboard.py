"""``fcbench run leaderboard``: what it prints and writes, and what wrong words get."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.verdict import Failed, Passed
from tests.factories import FACTS, make_record, write_scorecard

WRONG = Failed("wrong_count", "2 calls came, 1 expected")
DATES = (
    "models:\n  good: {model: x/good, released: 2025-02-01}\n  bad: {model: x/bad, released: 2024-07-18}\n"
)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for model, passed in {"bad": 2, "good": 28, "fine": 25}.items():
        records = [
            make_record(Passed() if n < passed else WRONG, category="parallel", number=n) for n in range(30)
        ]
        write_scorecard(tmp_path / f"{model}.json", records, replace(FACTS, model=model), size=30)
    return ["bad.json", "good.json", "fine.json"]


def _run_leaderboard(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main.main(["run", "leaderboard", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def _run_refused_leaderboard(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "leaderboard", *arguments])
    assert ended.value.code == 4
    return capsys.readouterr().err


def test_ties_share_a_rank(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    lines = _run_leaderboard(capsys, *runs, "--sort=parallel", "--metrics=overall").splitlines()
    assert lines[:6] == [
        "core version 1; parallel (official profile)",
        "rank    model  mode  parallel  95% interval  overall*",
        "-----------------------------------------------------",
        "1 to 2  good   fc      93.33%    78.7-98.2%     2.33%",
        "1 to 2  fine   fc      83.33%    66.4-92.7%     2.08%",
        "3       bad    fc       6.67%     1.8-21.3%     0.17%",
    ]
    assert all(len(line) <= 100 for line in lines)


def test_the_order_of_the_files_changes_nothing(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_leaderboard(capsys, *runs) == _run_leaderboard(capsys, *runs[::-1])


def test_release_dates_come_from_the_configuration(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_release_dates(*options: str) -> dict[str, str]:
        rows = csv.DictReader(io.StringIO(_run_leaderboard(capsys, *runs, "--format=csv", *options)))
        return {row["model"]: row["released"] for row in rows}

    (tmp_path / "dates.yaml").write_text(DATES, encoding="utf-8")
    assert read_release_dates() == {"good": "-", "fine": "-", "bad": "-"}
    assert read_release_dates("--config=dates.yaml") == {
        "good": "2025-02-01",
        "fine": "-",
        "bad": "2024-07-18",
    }
    (tmp_path / "dates.yaml").rename(tmp_path / "fcbench.yaml")
    assert read_release_dates()["good"] == "2025-02-01"


def test_the_page_has_a_chart_where_there_are_dates(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dates.yaml").write_text(DATES, encoding="utf-8")
    page = tmp_path / "board.html"
    _run_leaderboard(capsys, *runs, "--to=board.html")
    assert 'class="chart alone"' not in page.read_text(encoding="utf-8")
    _run_leaderboard(capsys, *runs, "--to=board.html", "--config=dates.yaml")
    assert page.read_text(encoding="utf-8").count('class="chart alone"') == 1


def test_a_model_links_to_the_report_beside_its_scorecard(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.html").touch()
    _run_leaderboard(capsys, *runs, "--to=pages/board.html")
    page = (tmp_path / "pages" / "board.html").read_text(encoding="utf-8")
    assert page.count('<a href="../good.html">') == page.count("<a href") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing: SCORECARD"),
        (["none.json"], "none.json: cannot be read"),
        (["good.json", "text.json"], "text.json: not JSON"),
        (["good.json", "--sort=overal"], "Did you mean 'overall'"),
        (["good.json", "--metrics=live,paralel"], "Did you mean 'parallel'"),
        (["good.json", "--sort=live"], "no scorecard has a scored entry of live"),
        (
            ["good.json", "--config=none.yaml"],
            "--config=none.yaml: no such file; name a configuration file, or leave the option out",
        ),
        (
            ["good.json", "--config=wrong.yaml"],
            "models.a.released: must be a date such as 2024-07-18",
        ),
        (["good.json", "bad.json", "--to=bad.json"], "--output=bad.json: this scorecard is also an input"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_wrong_words_are_told(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    Path("wrong.yaml").write_text("models: {a: {model: x/y, released: soon}}\n", encoding="utf-8")
    Path("text.json").write_text("hello", encoding="utf-8")
    assert message in _run_refused_leaderboard(capsys, *arguments)


def test_a_scorecard_by_two_paths_is_given_twice(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _run_refused_leaderboard(capsys, *runs, f"{tmp_path}/bad.json")
    assert f"{tmp_path}/bad.json is given twice" in told
