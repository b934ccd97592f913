"""``fcbench run compare``: what it prints and writes, and what wrong words get."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.verdict import NOTED, UNDECIDED, Failed, NotScored, Passed, Verdict
from pytest_fcbench.present.document import json_schema
from pytest_fcbench.scorecard.scorecard_files import load_scorecard, write_baseline
from tests.factories import FACTS, make_record, write_scorecard
from tests.scorecard.compare.test_merging import make_live_record, write_part

WRONG = Failed("wrong_count", "2 calls came, 1 expected")


def _write_run(path: Path, verdicts: Sequence[Verdict], model: str) -> Path:
    records = [make_record(verdict, category="parallel", number=n) for n, verdict in enumerate(verdicts)]
    return write_scorecard(path, records, replace(FACTS, model=model), size=len(records))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    before = _write_run(Path("before.json"), [WRONG] * 30 + [Passed()] * 10, "base")
    after = _write_run(Path("after.json"), [Passed()] * 39 + [WRONG], "tuned")
    return str(before), str(after)


def _run_compare(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main.main(["run", "compare", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def _run_refused_compare(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "compare", *arguments])
    assert ended.value.code == 4
    return capsys.readouterr().err


def test_several_runs_are_compared_with_one_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    wrong_counts = {"reference": 0, "good": 1, "bad": 12, "slightly": 2}
    paths = [
        _write_run(tmp_path / f"{name}.json", [WRONG] * wrong + [Passed()] * (40 - wrong), name)
        for name, wrong in wrong_counts.items()
    ]
    out = _run_compare(capsys, *map(str, paths))
    assert out.startswith("worse than reference: bad (-30.0 points, 95% CI ")
    (table,) = json.loads(_run_compare(capsys, *map(str, paths), "--json"))["tables"]
    assert [row[9] for row in table["rows"]] == ["", "worse", ""]
    good = _run_compare(capsys, *map(str, paths[:2]), str(paths[3]))
    assert good.startswith("none is shown to be worse than reference")


def test_the_conclusion_comes_first_and_tables_follow(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = _run_compare(capsys, *runs).splitlines()
    assert " ".join(lines[:2]) == (
        "tuned is better than base: +72.5 points in parallel (95% CI +52.2 to +85.9); of 40 entries 30 "
        "became better and 1 worse"
    )
    assert "Scores (official profile)" in lines
    (row,) = (line for line in lines if line.startswith("parallel "))
    assert " ".join(row.split()) == "parallel 40 25.0% 97.5% +72.5 +52.2 +85.9 30 1 < 0.001 better"
    assert "Better (30)" in lines
    assert "and 10 more; --flips=N shows N" in lines
    assert all(len(line) <= 100 for line in lines)


@pytest.fixture
def checked_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write the scorecards of two servers that were checked."""
    monkeypatch.chdir(tmp_path)
    broken = Failed("server:must", "2 calls")
    silent = NotScored(UNDECIDED, "the model called nothing")
    sides: dict[str, list[Verdict]] = {
        "right": [Passed(), Passed(), broken, Passed(), Passed()],
        "wrong": [Passed(), broken, Passed(), silent, NotScored(NOTED, "n=2 gives 1 choice")],
    }
    paths = []
    for name, verdicts in sides.items():
        records = [
            make_record(verdict, category="server_info" if n == 4 else "server_must", suite="wire", number=n)
            for n, verdict in enumerate(verdicts)
        ]
        facts = replace(FACTS, model=name)
        paths.append(str(write_scorecard(Path(f"{name}.json"), records, facts, size=len(records))))
    return paths


def test_checks_of_servers_are_compared_as_facts(
    checked_servers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    told = _run_compare(capsys, *checked_servers)
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert lines[0] == "of 5 checks wrong alone breaks 2, right alone 1"
    assert {"server_must before 4 3 1 0", "server_must after 4 2 1 1", "server_info after 1 0 1 0"} < {*lines}
    changes = {line.partition(" (")[0]: line for line in lines if line.endswith(")")}
    assert changes["Newly broken"] == "Newly broken (2)"
    assert "wire:server_info_4 server_info kept broken n=2 gives 1 choice" in lines
    assert "wire:server_must_2 server_must broken kept 2 calls" in lines
    assert "wire:server_must_3 server_must kept undecided the model called nothing" in lines
    assert not [word for word in ("overall", "Scores", "points", "passed", "profile") if word in told]


def test_programs_get_checks_of_servers_without_scores(
    checked_servers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    counts, changes = _run_compare(capsys, *checked_servers, "--format=csv").split("\n\n")
    assert counts.splitlines()[:2] == [",run,checks,kept,broken,undecided", "server_must,before,4,3,1,0"]
    assert [row["check"] for row in csv.DictReader(io.StringIO(changes))] == [
        f"wire:{name}" for name in ("server_must_1", "server_info_4", "server_must_2", "server_must_3")
    ]


def test_checked_servers_beside_one_are_told_by_what_they_break(
    checked_servers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = checked_servers
    copy = Path("copy.json")
    copy.write_text(Path(right).read_text(encoding="utf-8"), encoding="utf-8")
    told = _run_compare(capsys, right, wrong, str(copy))
    assert told.startswith("checks that right (right.json) does not break are broken by wrong (2)\n")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["compare", "--metric=overall"], "have no score; compare them without --metric"),
        (["leaderboard"], "use 'fcbench run compare'"),
    ],
)
def test_checks_of_servers_have_no_score(
    checked_servers: list[str], capsys: pytest.CaptureFixture[str], command: list[str], words: str
) -> None:
    with pytest.raises(SystemExit, match="4"):
        main.main(["run", *command, *checked_servers])
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_run_that_is_worse_ends_with_0_too(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run_compare(capsys, *runs[::-1]).startswith("base is worse than tuned")


def test_csv_has_scores_and_every_flip(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    scores, flips = _run_compare(capsys, *runs, "--format=csv").split("\n\n")
    (row, *_) = csv.DictReader(io.StringIO(scores))
    assert (row["change"], row["low"], row["high"], row["shown"]) == ("+72.5", "+52.2", "+85.9", "better")
    rows = list(csv.DictReader(io.StringIO(flips)))
    assert len(rows) == 31
    assert rows[-1]["why it failed"] == "wrong_count: 2 calls came, 1 expected"


def test_the_name_of_a_file_says_its_format(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, start in {
        "a.md": "### tuned is",
        "a.HTML": "<!doctype",
        "a.csv": ",entries",
        "a.txt": "tuned",
    }.items():
        path = tmp_path / "new" / name
        assert _run_compare(capsys, *runs, f"--to={path}") == f"written to {path}\n"
        assert path.read_text(encoding="utf-8").startswith(start)
    path = tmp_path / "b.md"
    assert _run_compare(capsys, *runs, f"--to={path}", "--format=text") == f"written to {path}\n"
    assert (tmp_path / "b.md").read_text(encoding="utf-8").startswith("tuned")


def test_baselines_are_compared_by_their_verdicts(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(write_baseline(load_scorecard(Path(runs[0]))), encoding="utf-8")
    out = _run_compare(capsys, str(path), runs[1], "--flips=1")
    assert out.startswith("tuned is better than base: +72.5 points in parallel")
    assert "core:parallel_0  parallel  failed  passed  wrong_count\n" in out


def test_the_profile_is_that_of_the_runs_or_the_one_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [make_record(WRONG, Passed(), category="parallel")]
    facts = replace(FACTS, profile=FACTS.profile.__class__("corrected"))
    one, two = (str(write_scorecard(tmp_path / name, records, facts)) for name in ("a.json", "b.json"))
    assert "Scores (corrected profile)" in _run_compare(capsys, one, two)
    assert "Scores (official profile)" in _run_compare(capsys, one, two, "--profile=official")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["before.json"], "latest: .fcbench/runs has 0 runs; run pytest first"),
        (["before.json", "none.json"], "none.json: cannot be read: No such file"),
        (["before.json", "other.json"], "other.json: not a scorecard"),
        (["before.json", "strange.json"], "have no scored entry in common"),
        (["before.json", "after.json", "--metric=paralel"], "Did you mean 'parallel'"),
        (["before.json", "after.json", "--metric=overall,paralel"], "Did you mean 'parallel'"),
        (["before.json", "after.json", "--format=htm"], "unknown format 'htm'. Did you mean 'html'?"),
        (["before.json", "after.json", "--flips=-1"], "--flips: '-1' must be a whole number, 0 or more"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_wrong_words_are_told(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    Path("other.json").write_text("{}", encoding="utf-8")
    write_scorecard(Path("strange.json"), [make_record(category="multiple")])
    assert message in _run_refused_compare(capsys, *arguments)


def test_no_scorecard_is_overwritten(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = _run_refused_compare(capsys, *runs, f"--to={tmp_path}/../{tmp_path.name}/after.json")
    assert "this scorecard is also an input" in told


def test_a_target_that_cannot_be_written_is_told(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"{runs[0]}/page.html"
    assert main.main(["run", "compare", *runs, f"--to={target}"]) == 1
    assert capsys.readouterr().err.startswith(f"fcbench: {target}: cannot be written: ")


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
    assert "the baseline's\n  100.00% on the same 12 tests" in capsys.readouterr().out


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
