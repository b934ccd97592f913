"""``fcbench run baseline save``: a file that a gate can compare with, or a clear refusal."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from tests.cli.conftest import Refusal
from tests.factories import make_record, write_scorecard

RECORDS = [
    make_record(Passed(), NotScored(SET_ASIDE, "bad data")),
    make_record(Failed("wrong_count", "2 calls"), number=1),
]

JUDGES = ("--judge=builtin", "--judge=openai/x")


@pytest.fixture
def scorecard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_scorecard(tmp_path / "scorecard.json", RECORDS)


def test_it_is_saved_small_and_said_how_to_use(scorecard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "baseline", "save", str(scorecard)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "fcbench-baseline.json: 2 tests, model test (fc)",
        "use it with: pytest --fcbench-baseline=fcbench-baseline.json --fcbench-gate='not-worse(95%)'",
    ]
    found = load_scorecard(Path("fcbench-baseline.json"))
    assert found.scores(Profile.OFFICIAL) == load_scorecard(scorecard).scores(Profile.OFFICIAL)
    assert b"2 calls" not in Path("fcbench-baseline.json").read_bytes()


def test_entries_without_verdict_are_told(scorecard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_scorecard(scorecard, [*RECORDS, make_record(NotScored("timeout", "600 s"), number=2)])
    main(["run", "baseline", "save", str(scorecard), "--to", "b.json"])
    assert "1 of them were not scored, so gates ignore them" in capsys.readouterr().out


def test_an_older_one_is_replaced_with_usual_rights(
    scorecard: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("fcbench-baseline.json").write_text("old")
    plain = Path("plain")
    plain.write_text("")
    assert main(["run", "baseline", "save", str(scorecard)]) == 0
    told = "fcbench-baseline.json: in place of what was there, 2 tests, model test (fc)"
    assert capsys.readouterr().out.startswith(f"{told}\n")
    assert json.loads(Path("fcbench-baseline.json").read_text())["schema"] == "fcbench-baseline/1"
    rights = [stat.S_IMODE(path.stat().st_mode) for path in (plain, Path("fcbench-baseline.json"))]
    assert rights[0] == rights[1]
    assert sorted(path.name for path in Path().iterdir()) == [
        "fcbench-baseline.json",
        "plain",
        "scorecard.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.json"], "none.json: cannot be read: No such file or directory"),
        (["empty.json"], "empty.json: contains no benchmark entries; give the scorecard of a benchmark run"),
    ],
)
def test_what_cannot_be_is_told(
    scorecard: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scorecard(scorecard.with_name("empty.json"), [])
    with pytest.raises(SystemExit) as ended:
        main(["run", "baseline", "save", *arguments])
    assert ended.value.code == 4
    assert told in capsys.readouterr().err


def test_a_place_that_cannot_be_written(scorecard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "baseline", "save", str(scorecard), "--to", "scorecard.json/b.json"]) == 1
    assert "scorecard.json/b.json: cannot be written: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["run", "baseline", "save"], ["run", "diagnose"], ["suite", "judge", *JUDGES]]
)
def test_a_scorecard_is_not_replaced_by_what_is_read_from_it(
    scorecard: Path, run_refused: Refusal, command: list[str]
) -> None:
    """Its answers would be lost."""
    content = scorecard.read_bytes()
    told = run_refused(*command, "scorecard.json", "-o", "./scorecard.json")
    assert told.endswith("--output=scorecard.json: this scorecard is also an input; name another file")
    assert scorecard.read_bytes() == content
