"""``fcbench suite audit``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.suites import core
from pytest_fcbench.suites.registry import OURS
from tests.cli.conftest import Refusal
from tests.factories import make_entry, make_record, write_scorecard
from tests.tools.audit.made import make_suite

REVIEW = """\
suite: core
version: "1"
package: my-core
decisions:
  - finding: malformed
    entries: [simple_python_0]
    confirmed: Read.
    decision: set_aside
    reason: nothing is accepted
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where there is no fcbench.yaml."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def core_with_bad_entry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a suite with a bad entry, whose id and question attack a terminal, in the place of core."""
    bad = make_entry(expect=[{"weather.forecast": {"city": []}}])
    odd = make_entry("multiple", query="clear \x1b[2J me", entry_id="mul\x1btiple")
    monkeypatch.setitem(OURS, "core", lambda cache: make_suite(bad, odd))
    (folder / "taken.json").mkdir()
    return folder


def test_a_sound_category_has_no_certain_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["suite", "audit", "core", "--category", "simple_python", "--show", "1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Audit of core ")
    entries = core.open_suite(Path()).load(CATEGORIES["simple_python"])
    assert f": {len(entries)} entries, 23 checks\n" in out
    assert "Languages of questions" in out
    assert err == ""


def test_certain_findings_make_exit_code_1(
    core_with_bad_entry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["suite", "audit", "core", "-o", "found.json", "-o", "found.html"]) == 1
    out, _ = capsys.readouterr()
    assert "certain: malformed (1): accepted values are not listed as alternatives\n" in out
    assert "  simple_python_0           weather.forecast.city: no value is accepted" in out
    assert "\x1b" not in out
    found = json.loads((core_with_bad_entry / "found.json").read_text())
    assert {item["check"] for item in found["findings"]} >= {"malformed", "refused", "damaged_text", "shape"}
    assert "\x1b" not in (core_with_bad_entry / "found.html").read_text()


def test_a_packaged_review_of_another_version_is_not_used(
    core_with_bad_entry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main.main(["suite", "audit", "core"])
    out, _ = capsys.readouterr()
    assert out.splitlines()[-1].startswith("review: none; the one of the package is of core ")


def test_only_the_checks_that_are_named_run(
    core_with_bad_entry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["suite", "audit", "core", "--check", "shape,duplicate"]) == 0
    out, _ = capsys.readouterr()
    assert "2 entries, 2 checks" in out
    assert "likely: shape (1)" in out


def test_weak_checks_are_asked_for(core_with_bad_entry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main.main(["suite", "audit", "core"])
    assert "unnamed_value" not in capsys.readouterr().out
    main.main(["suite", "audit", "core", "--weak"])
    assert "unnamed_value" in capsys.readouterr().out


@pytest.mark.parametrize("options", [(), ("--check", "duplicate"), ("--against", "core")])
def test_a_category_that_cannot_be_read_is_a_finding(
    options: tuple[str, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def raise_suite_error(category: object) -> tuple[()]:
        raise SuiteError("simple_python.yaml:3: entries.0: has no 'id'")

    suite = make_suite(make_entry())
    object.__setattr__(suite, "load", raise_suite_error)
    monkeypatch.setitem(OURS, "core", lambda cache: suite)
    monkeypatch.setitem(OURS, "bfcl", lambda cache: make_suite(make_entry()))
    audited, other = ("bfcl", "core") if "--against" in options else ("core", None)
    assert main.main(["suite", "audit", audited, *options]) == 1
    name = "mine:simple_python" if other else "simple_python"
    told = f"  {name:<24}  simple_python.yaml:3: entries.0: has no 'id'"
    assert told in capsys.readouterr().out


def test_an_entry_like_one_of_another_suite_is_found(
    core_with_bad_entry: Path, pack_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OURS, "bfcl", lambda cache: make_suite(make_entry("irrelevance", suite="bfcl")))
    assert (
        main.main(["suite", "audit", "core", "--against", "bfcl", "--check", "overlap", "-o", "o.json"]) == 0
    )
    (found,) = json.loads((core_with_bad_entry / "o.json").read_text())["findings"]
    assert found["evidence"].startswith("is like bfcl:irrelevance_0 (ROUGE-L 1.00)")


def test_an_entry_in_the_training_data_is_found(
    core_with_bad_entry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (query,) = (message.content for message in make_entry().turns[0])
    (core_with_bad_entry / "train.jsonl").write_text(json.dumps({"query": query}) + "\n{\n")
    assert (
        main.main(
            [
                "suite",
                "audit",
                "core",
                "--against",
                "train.jsonl",
                "--check",
                "trained_question",
                "-o",
                "o.json",
            ]
        )
        == 0
    )
    (found, *_) = json.loads((core_with_bad_entry / "o.json").read_text())["findings"]
    assert found["evidence"].startswith("is in the training data, line 1 (the same words)")
    assert "train.jsonl: 2 lines read, 1 compared, 1 left out; line 2: not valid" in capsys.readouterr().err


def test_a_ledger_comes_out_of_a_review(
    core_with_bad_entry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (core_with_bad_entry / "review.yaml").write_text(REVIEW.replace("core\nversion", "mine\nversion"))
    assert main.main(["suite", "audit", "core", "--review", "review.yaml", "--ledger", "ledger.yaml"]) == 1
    out, _ = capsys.readouterr()
    assert "review: 1 entries set aside; 1 certain findings without a decision\n" in out
    assert "  no decision: damaged_text mul\\x1btiple\n" in out
    assert (core_with_bad_entry / "ledger.yaml").read_text() == (
        "# Entries of my-core 1 that the corrected profile sets aside, and why.\n"
        "simple_python_0: nothing is accepted\n"
    )


def test_results_of_real_runs_show_what_nobody_passes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (entry, *_) = core.open_suite(Path()).load(CATEGORIES["parallel"])
    (folder / "runs.csv").write_text(f"entry,one,two\n{entry.id},0,0\n")
    failed = make_record(Failed("wrong_count", "x"), category="parallel", number=int(entry.id.split("_")[-1]))
    write_scorecard(folder / "card.json", [failed])
    paths = ["runs.csv", "card.json"]
    code = main.main(
        [
            "suite",
            "audit",
            "core",
            "--category",
            "parallel",
            "--check",
            "never_passed",
            "--results",
            *paths,
            "-o",
            "o.json",
        ]
    )
    assert code == 0, capsys.readouterr()
    (found,) = json.loads((folder / "o.json").read_text())["findings"]
    assert (found["entry"], found["evidence"]) == (entry.id, "0 of 3 runs pass")


def test_a_folder_of_published_results_is_judged_for_its_verdicts(
    pack_cache: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    (folder / "model").mkdir()
    (folder / "model" / "BFCL_v4_parallel_result.json").write_text('{"id": "parallel_0", "result": "None."}')
    (folder / "runs.csv").write_text("entry,one,two\nparallel_0,0,0\nparallel_1,0,0\n")
    options = ["--category", "parallel", "--check", "never_passed", "--results", "model", "runs.csv"]
    assert main.main(["suite", "audit", "bfcl", *options, "-o", "o.json"]) == 0
    (found,) = json.loads((folder / "o.json").read_text())["findings"]
    assert (found["entry"], found["evidence"]) == ("parallel_0", "0 of 3 runs pass")


def test_results_of_another_suite_are_refused(folder: Path, run_refused: Refusal) -> None:
    write_scorecard(folder / "card.json", [make_record(suite="mine")])
    said = run_refused("suite", "audit", "core", "--results", "card.json")
    assert said.startswith("--results card.json: has no verdict on an entry of core")


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nope"], "unknown suite 'nope'"),
        (["core", "--check", "shap"], "--check: unknown check 'shap'. Did you mean 'shape'?"),
        (["core", "--threshold", "1.5"], "--threshold 1.5: must be above 0 and at most 1"),
        (["core", "--show", "-1"], "argument --show: '-1' must be a whole number, 0 or more"),
        (
            ["core", "--check", "paraphrase"],
            "--check paraphrase: needs an embedding model; name it with --embedding",
        ),
        (["core", "--embedding", "lexical"], "--embedding lexical: compares words, which every audit does"),
        (
            ["core", "--embedding", "nowhere"],
            "--embedding=nowhere: must be auto, lexical, minilm",
        ),
        (
            ["core", "--check", "overlap"],
            "--check overlap: needs another suite to compare with; name it with --against",
        ),
        (
            ["core", "--check", "never_passed"],
            "--check never_passed: needs results of real runs; name them with --results",
        ),
        (["core", "--results", "nowhere"], "--results nowhere: there is no such file or folder"),
        (["core", "--against", "core"], "--against core: this is the audited suite itself"),
        (["core", "--against", "nope"], "unknown suite 'nope'"),
        (["core", "--category", "nope"], "unknown category 'nope'"),
        (["core", "--ledger", "x.yaml"], "--ledger: this suite has no review"),
        (
            ["bfcl", "--ledger", "x.yaml", "--check", "shape"],
            "--ledger: needs the findings of all checks and categories",
        ),
        (["core", "--review", "none.yaml"], "none.yaml: cannot be read"),
        (["core", "-o", "taken.json"], "taken.json: cannot be written: Is a directory"),
    ],
)
@pytest.mark.usefixtures("core_with_bad_entry")
def test_wrong_words_are_exit_code_4(run_refused: Refusal, arguments: list[str], says: str) -> None:
    assert says in run_refused("suite", "audit", *arguments)


def test_a_review_of_another_version_is_refused(core_with_bad_entry: Path, run_refused: Refusal) -> None:
    (core_with_bad_entry / "review.yaml").write_text(REVIEW)
    said = run_refused("suite", "audit", "core", "--review", "review.yaml")
    assert said.startswith("review.yaml is the review of core 1, not of mine 1")


def test_without_its_pack_a_suite_says_what_gets_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, run_refused: Refusal
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(folder))
    assert "run 'fcbench pull bfcl'" in run_refused("suite", "audit", "bfcl")
