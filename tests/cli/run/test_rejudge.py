"""``fcbench run rejudge``: a scorecard's answers judged again, and what that changes."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds import table as judgement
from pytest_fcbench.present.document import json_schema
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.suites import core
from tests.conftest import ROOT
from tests.factories import FACTS, make_answered_record, make_record, write_scorecard
from tests.plugin.conftest import size

Report: TypeAlias = dict[str, Any]


def _run_benchmarks(folder: Path, *options: str) -> Report:
    """Return the report of a real run over the embedded suite."""
    path = folder / "scorecard.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / "benchmarks")]
    subprocess.run(
        [*command, f"--fcbench-scorecard={path}", *options], cwd=folder, capture_output=True, check=False
    )
    report: Report = json.loads(path.read_text())
    return report


ONCE = (
    *("simple_java", "parallel", "irrelevance", "live_simple", "multi_turn_base"),
    *("memory_kv", "web_search_base", "hotels"),
)
"""Categories of each kind."""
TWICE = ("multi_turn_miss_func", "parallel")


@pytest.fixture(scope="module")
def lexical_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Let lexical answer a part of core: most entries fail, single-turn and multi-turn."""
    return _run_benchmarks(
        tmp_path_factory.mktemp("once"), "--fcbench-model=lexical", f"--fcbench-category={','.join(ONCE)}"
    )


@pytest.fixture(scope="module")
def oracle_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Run right conversations and answers, each twice, in prompting mode."""
    options = ("--fcbench-model=oracle", "--fcbench-mode=prompt", "--fcbench-trials=2")
    return _run_benchmarks(
        tmp_path_factory.mktemp("trials"), *options, *(f"--fcbench-category={name}" for name in TWICE)
    )


RunRejudge: TypeAlias = Callable[..., tuple[int, str]]


@pytest.fixture
def run_rejudge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunRejudge:
    """Run the command on a report in an empty folder; return its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)

    def run_command(report: Report, *words: str) -> tuple[int, str]:
        Path("card.json").write_text(json.dumps(report))
        code = main.main(["run", "rejudge", "card.json", *words])
        return code, capsys.readouterr().out

    return run_command


def find_record(report: Report, entry: str, trial: int | None = None) -> Report:
    """Return the Record of an entry in a report, to change it."""
    found = [test["metadata"]["fcbench"] for test in report["tests"]]
    (record,) = [item for item in found if (item["entry"], item["trial"]) == (entry, trial)]
    assert isinstance(record, dict)
    return record


def change_record(report: Report, entry: str, trial: int | None = None, /, **values: object) -> Report:
    """Return the report with other values in an entry's Record."""
    report = copy.deepcopy(report)
    find_record(report, entry, trial).update(values)
    return report


def make_verdicts(status: str, code: str | None = None) -> Mapping[str, object]:
    verdict: Mapping[str, object] = {
        "status": status,
        "code": code,
        "reason": None if code is None else "x",
        "details": {},
    }
    return {profile.value: verdict for profile in Profile}


# Nothing changed


def test_a_run_of_today_is_judged_as_it_was(run_rejudge: RunRejudge, lexical_report: Report) -> None:
    code, text = run_rejudge(lexical_report)
    assert code == 0
    assert text.splitlines() == [
        f"card.json: lexical (fc, underscored names), judged by {version('pytest-fcbench')}",
        f"{size(*ONCE)} judged again by {version('pytest-fcbench')}",
        "no verdict changed",
    ]


@pytest.mark.nightly
def test_conversations_and_trials_are_judged_as_they_were(
    run_rejudge: RunRejudge, oracle_report: Report
) -> None:
    code, text = run_rejudge(oracle_report)
    assert code == 0
    assert f"{2 * size(*TWICE)} judged again" in text


@pytest.mark.nightly
def test_a_configuration_of_the_project_has_no_say_in_how_it_was_asked(
    run_rejudge: RunRejudge, oracle_report: Report
) -> None:
    Path("fcbench.yaml").write_text("mode: fc\nnames: underscored\ntrials: 5\nsuite: bfcl\nmodel: gpt-4o\n")
    assert run_rejudge(oracle_report)[0] == 0


# What changed


def test_verdicts_that_are_others_now(run_rejudge: RunRejudge, lexical_report: Report) -> None:
    by_status: dict[str, list[Report]] = {"passed": [], "failed": []}
    for test in lexical_report["tests"]:
        by_status[test["outcome"]].append(test["metadata"]["fcbench"])
    right, (wrong, other, *_) = by_status["passed"][0], by_status["failed"]
    codes = [record["verdicts"]["corrected"]["code"] for record in (wrong, other)]
    report = change_record(lexical_report, right["entry"], verdicts=make_verdicts("failed", "x_error"))
    report = change_record(
        report, wrong["entry"], verdicts=wrong["verdicts"] | {"corrected": {"status": "passed"}}
    )
    both = other["verdicts"] | {"corrected": make_verdicts("failed", "x_error")["corrected"]}
    code, text = run_rejudge(change_record(report, other["entry"], verdicts=both))
    assert code == 1
    assert [" ".join(line.split()) for line in text.splitlines()[2:11]] == [
        "",
        "passed → failed (1)",
        f"{wrong['entry']} corrected passed → failed {codes[0]}",
        "",
        "failed → passed (1)",
        f"{right['entry']} both failed x_error → passed",
        "",
        "failed in another way (1)",
        f"{other['entry']} corrected failed x_error → failed {codes[1]}",
    ]
    assert "no verdict changed" not in text


@pytest.mark.nightly
def test_scores_are_told_as_they_were_and_are(run_rejudge: RunRejudge, oracle_report: Report) -> None:
    _, text = run_rejudge(
        change_record(oracle_report, "core:parallel_0", 2, verdicts=make_verdicts("failed", "x"))
    )
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "core:parallel_0-t2 both failed x → passed" in lines
    n = 2 * size("parallel")
    scores = f"{n - 1} of {n} {(n - 1) / n:.2%} {n} of {n} 100.00%"
    assert {f"parallel official {scores}", f"parallel corrected {scores}"} <= set(lines)
    assert not [line for line in lines if line.startswith("multi_turn")]


def test_what_was_not_scored_is_now(run_rejudge: RunRejudge, oracle_report: Report) -> None:
    """An answer that came, and that an older version could not judge."""
    report = change_record(
        oracle_report, "core:parallel_3", 1, verdicts=make_verdicts("not_scored", "internal_error")
    )
    code, text = run_rejudge(report)
    assert code == 1
    assert "not scored → scored (1)" in text
    assert "not_scored internal_error → passed" in text


def test_what_has_no_answer_stays_as_it_is(run_rejudge: RunRejudge, oracle_report: Report) -> None:
    lost = make_verdicts("not_scored", "timeout")
    code, text = run_rejudge(
        change_record(oracle_report, "core:parallel_3", 1, verdicts=lost, turns=[], steps=[])
    )
    assert code == 0
    assert f"{2 * size(*TWICE) - 1} judged again by" in text
    assert "; 1 without an answer stay not scored" in text


def test_an_entry_that_is_gone(run_rejudge: RunRejudge, lexical_report: Report) -> None:
    report = change_record(lexical_report, "core:irrelevance_0", entry="core:irrelevance_999")
    code, text = run_rejudge(report, "--to=new.json")
    assert code == 1
    assert "entry no longer in the suite (1)" in text
    assert "core:irrelevance_999" in text
    verdict = find_record(json.loads(Path("new.json").read_text()), "core:irrelevance_999")["verdicts"][
        "official"
    ]
    assert (verdict["status"], verdict["code"]) == ("not_scored", "no_entry")
    assert verdict["reason"] == f"core {core.VERSION} has no entry core:irrelevance_999"


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("version", f"suite core: version old → {core.VERSION}"),
        ("pack_hash", "suite core: content sha256 old → {:.12}"),
    ],
)
def test_another_suite_is_a_change(
    run_rejudge: RunRejudge, lexical_report: Report, key: str, line: str
) -> None:
    report = copy.deepcopy(lexical_report)
    line = line.format(report["fcbench"]["suites"]["core"]["pack_hash"])
    report["fcbench"]["suites"]["core"][key] = "old"
    code, text = run_rejudge(report)
    assert code == 1
    assert line in text.splitlines()
    assert "no verdict changed" in text


@pytest.mark.nightly
def test_a_ledger_of_today(
    run_rejudge: RunRejudge, lexical_report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that was found to be bad since is set aside; what the matchers say else stays."""
    true_judge = judgement.judge

    def judge_as_set_aside(entry: Any, transcript: Any, *means: Any) -> Any:
        bad = entry.key == "core:irrelevance_0"
        return true_judge(
            replace(entry, set_aside="it contradicts itself") if bad else entry, transcript, *means
        )

    monkeypatch.setattr("pytest_fcbench.kinds.table.judge", judge_as_set_aside)
    code, text = run_rejudge(lexical_report, "--to=new.json")
    assert code == 1
    assert "newly set aside (1)" in text
    assert "corrected  passed → not_scored set_aside" in text
    monkeypatch.setattr("pytest_fcbench.kinds.table.judge", true_judge)
    code, text = run_rejudge(json.loads(Path("new.json").read_text()))
    assert code == 1
    assert "no longer set aside (1)" in text


def test_a_matcher_that_breaks_costs_one_entry(
    run_rejudge: RunRejudge, lexical_report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_judge = judgement.judge

    def judge_or_raise(entry: Any, transcript: Any, *means: Any) -> Any:
        if entry.key == "core:irrelevance_0":
            raise ValueError("sk-1234567890abcdef")
        return true_judge(entry, transcript, *means)

    monkeypatch.setattr("pytest_fcbench.kinds.table.judge", judge_or_raise)
    code, text = run_rejudge(lexical_report, "--to=new.json")
    assert code == 1
    assert "no longer scored (1)" in text
    verdict = find_record(json.loads(Path("new.json").read_text()), "core:irrelevance_0")["verdicts"][
        "official"
    ]
    assert (verdict["code"], verdict["reason"]) == ("internal_error", "ValueError: ***")


def test_an_answer_that_ends_too_early(run_rejudge: RunRejudge, oracle_report: Report) -> None:
    """A conversation that today's rules carry on needs an answer that nobody gave."""
    entry = "core:multi_turn_miss_func_0"
    record = find_record(oracle_report, entry, 1)
    cut = [record["turns"][0][:1]]
    code, text = run_rejudge(change_record(oracle_report, entry, 1, turns=cut, steps=record["steps"][:1]))
    assert code == 1
    assert "passed → not_scored no_result" in text


def test_hostile_words_of_a_file_do_not_reach_the_terminal(
    run_rejudge: RunRejudge, lexical_report: Report
) -> None:
    report = change_record(
        lexical_report, "core:irrelevance_0", verdicts=make_verdicts("failed", "\x1b[31m\ud800")
    )
    report["fcbench"]["model"] = "\x1b]0;title\x07"
    text = run_rejudge(report)[1]
    assert "\x1b" not in text
    assert "\\x1b[31m" in text


# What is written


def test_the_new_file_has_the_new_verdicts_and_all_else(
    run_rejudge: RunRejudge, oracle_report: Report
) -> None:
    old = change_record(oracle_report, "core:parallel_0", 2, verdicts=make_verdicts("failed", "x"))
    old["fcbench"]["gate"] = [{"rule": "overall>=0.9", "outcome": "broken", "sentence": "x"}]
    old["fcbench"]["profiles"]["official"]["overall"]["accuracy"] = 0.1
    old["environment"] = {"a key of another plugin": [1, 2.5, None]}
    assert run_rejudge(old, "--to=new.json")[0] == 1
    new = json.loads(Path("new.json").read_text())
    assert json.loads(Path("card.json").read_text()) == old
    assert {key: new[key] for key in new if key not in ("tests", "fcbench")} == {
        key: old[key] for key in old if key not in ("tests", "fcbench")
    }
    assert new["tests"] == oracle_report["tests"]
    expected = oracle_report["fcbench"] | {
        "gate": [],
        "notes": [f"judged again by pytest-fcbench {version('pytest-fcbench')}"],
    }
    assert new["fcbench"] == expected
    jsonschema.validate(new["fcbench"], {**json_schema(), "$ref": "#/$defs/section"})


def test_judging_again_what_was_judged_again_changes_nothing(
    run_rejudge: RunRejudge, lexical_report: Report
) -> None:
    run_rejudge(
        change_record(lexical_report, "core:irrelevance_0", verdicts=make_verdicts("failed", "x")),
        "--to=new.json",
    )
    new = json.loads(Path("new.json").read_text())
    code, _ = run_rejudge(new, "--to=card.json")
    assert code == 0
    assert json.loads(Path("card.json").read_text()) == new
    assert sorted(path.name for path in Path().iterdir()) == ["card.json", "new.json"]


def test_a_file_that_cannot_be_written(
    run_rejudge: RunRejudge, lexical_report: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    with pytest.raises(SystemExit) as ended:
        run_rejudge(lexical_report, "--to=folder")
    assert ended.value.code == 4
    assert "folder: cannot be written: Is a directory" in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["card.json", "folder"]


# Official entries


@pytest.mark.nightly
def test_official_entries_are_judged_again_where_their_pack_is(
    pack_cache: Path, tmp_path: Path, run_rejudge: RunRejudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    options = ("--fcbench-suite=bfcl", "--fcbench-suite=core", "--fcbench-model=oracle")
    categories = ("parallel", "live_relevance", "multi_turn_base")
    report = _run_benchmarks(tmp_path, *options, *(f"--fcbench-category={name}" for name in categories))
    assert run_rejudge(report)[0] == 0
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "nothing"))
    with pytest.raises(SystemExit) as ended:
        run_rejudge(report)
    assert ended.value.code == 4


# Wrong words


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.json", "none.json: cannot be read: No such file"),
        ("text.json", "text.json: not JSON"),
        ("other.json", "other.json: not a scorecard"),
        ("empty.json", "empty.json: contains no answers\n"),
        (
            "slim.json",
            "contains no answers; a baseline contains only verdicts, so give the scorecard from "
            "which it was made",
        ),
        ("strange.json", "strange.json: unknown suite 'cor'. Did you mean 'core'?"),
        (
            "forced.json",
            "forced.json: right calls that were put through a server cannot be judged again; run",
        ),
    ],
)
def test_what_cannot_be_judged_again_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.json").write_text("no JSON")
    Path("other.json").write_text("{}")
    empty = write_scorecard(Path("empty.json"), [make_record()])
    Path("slim.json").write_text(scorecard_files.write_baseline(scorecard_files.load_scorecard(empty)))
    write_scorecard(Path("forced.json"), [make_answered_record(Completion("kept"), category="server_forced")])
    strange = replace(make_record(), suite="cor", entry="cor:x", turns=(({},),))
    write_scorecard(Path("strange.json"), [strange], replace(FACTS, suites={"cor": {}}))
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "rejudge", name])
    assert ended.value.code == 4
    assert message in capsys.readouterr().err
