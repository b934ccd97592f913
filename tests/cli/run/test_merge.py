"""``fcbench run merge``: what it writes, what GitHub is told, and what wrong words get."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.present.document import json_schema
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from tests.factories import FACTS
from tests.scorecard.compare.test_merging import make_live_record, write_part


@pytest.fixture(autouse=True)
def _write_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    for number in (1, 2, 3):
        records = [make_live_record(number * 10 + n, passed=n > 0) for n in range(4)]
        write_part(Path(f"s{number}.json"), records, replace(FACTS, shard=f"{number}/3"))


def _run_refused_merge(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "merge", *arguments])
    assert ended.value.code == 4
    return capsys.readouterr().err


def test_the_scorecard_is_like_that_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["run", "merge", "s1.json", "s2.json", "s3.json", "--gate", "live_simple>=0.7"]) == 0
    out = capsys.readouterr().out
    assert "gate live_simple>=0.7: held: live_simple is 75.00%" in out
    card = load_scorecard(Path("scorecard.json"))
    assert len(card.records) == 12
    assert card.gate[0].outcome == "held"
    section = json.loads(Path("scorecard.json").read_text())["fcbench"]
    jsonschema.validate(section, {**json_schema(), "$ref": "#/$defs/section"})


def test_a_broken_gate_is_the_exit_code_and_stands_in_the_file() -> None:
    assert (
        main.main(
            ["run", "merge", "s1.json", "s2.json", "s3.json", "--gate", "live_simple>=0.8", "--to", "a.json"]
        )
        == 1
    )
    assert json.loads(Path("a.json").read_text())["exitcode"] == 1


def test_a_baseline_is_compared_with(capsys: pytest.CaptureFixture[str]) -> None:
    records = [make_live_record(number * 10 + n) for number in (1, 2, 3) for n in range(4)]
    write_part(Path("before.json"), records)
    arguments = ["run", "merge", "s1.json", "s2.json", "s3.json", "--baseline", "before.json"]
    assert main.main([*arguments, "--gate", "live_simple>=baseline"]) == 1
    assert "the baseline's 100.00% on the same 12 tests" in capsys.readouterr().out


def test_github_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main.main(["run", "merge", "s1.json", "s2.json", "s3.json", "--gate", "live_simple>=0.8"]) == 1
    assert "::error title=gate live_simple>=0.8%3A broken::" in capsys.readouterr().out.replace("%3E", ">")
    assert "live\\_simple\\>=0.8: broken: live" in Path("summary.md").read_text()


def test_a_summary_that_cannot_be_written_is_told_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder.md")
    assert main.main(["run", "merge", "s1.json", "s2.json", "s3.json"]) == 0
    assert "no/such/folder.md: cannot be written" in capsys.readouterr().err


def test_a_missing_shard_stops_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "the scorecard of shard 2/3 is missing; give it too, or continue without it with --partial"
        in _run_refused_merge(capsys, "s1.json", "s3.json")
    )
    assert not Path("scorecard.json").exists()


def test_a_missing_shard_that_is_meant_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["run", "merge", "s1.json", "s3.json", "--partial"]) == 0
    assert "note: without shard 2/3" in capsys.readouterr().out


def test_no_gate_holds_for_a_part_of_the_shards() -> None:
    assert main.main(["run", "merge", "s1.json", "s3.json", "--partial", "--gate", "live_simple>=0.1"]) == 2


def test_no_part_is_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    said = _run_refused_merge(capsys, "s1.json", "s2.json", "s3.json", "--to", "./s2.json")
    assert "--output=s2.json: this scorecard is also an input; name another file" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s1.json", "gone.json"], "gone.json: cannot be read"),
        (["s1.json", "s1.json"], "both have core:live_simple_10"),
        (["s1.json", "--gate", "live_simpel>=0.5"], "live_simpel"),
        (["s1.json", "--gate", "not-worse(95%)"], "give one with --baseline=FILE"),
    ],
)
def test_what_cannot_be_merged_is_told(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in _run_refused_merge(capsys, *arguments)


def test_words_of_a_model_are_no_commands_of_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = replace(
        make_live_record(1),
        verdicts=replace(make_live_record(1).verdicts, official=Failed("x", "\x1b[2Jgone")),
    )
    write_part(Path("h.json"), [hostile, replace(hostile, entry="core:live_simple_2")])
    assert main.main(["run", "merge", "h.json", "--to", "m.json"]) == 0
    assert "\x1b" not in capsys.readouterr().out
