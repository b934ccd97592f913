"""``fcbench run export FORMAT``: where the formats are written, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.tools.export.formats import FOLDER, FORMATS
from tests.cli.conftest import Refusal
from tests.factories import make_record, write_scorecard
from tests.tools.export.runs import WRONG, make_records


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_scorecard(tmp_path / "a.json", make_records())
    write_scorecard(tmp_path / "b.json", [make_record(category="parallel")])
    return tmp_path


def run_export(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main.main(["run", "export", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.texts and not form.extras])
def test_a_text_is_printed_or_written_alike(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    form = FORMATS[name]
    values = {
        "metric": "parallel",
        "dataset": "o/n",
        "task": "t",
        "organization": "o",
        "relationship": "other",
    }
    words = [f"--{option}={value}" for option, value in values.items() if option in form.options]
    printed = run_export(capsys, name, "a.json", *words)
    assert (
        run_export(capsys, name, "a.json", *words, "-o", f"x{form.texts[0]}")
        == f"written to x{form.texts[0]}\n"
    )
    assert Path(f"x{form.texts[0]}").read_text(encoding="utf-8") == printed
    assert printed.endswith("\n")


def test_plots_are_printed_as_svg_and_written_by_their_ending(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_export(capsys, "plot", "a.json").startswith("<svg ")
    run_export(capsys, "plot", "a.json", "-o", "x.png")
    assert Path("x.png").read_bytes().startswith(b"\x89PNG")


def test_rows_of_several_scorecards_are_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(run_export(capsys, "csv", "a.json", "b.json"))))
    assert [row["run"] for row in rows] == ["a"] * 7 + ["b"]


def test_parquet_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run_export(capsys, "parquet", "a.json", "--per=score", "-o", "x.parquet")
        == "written to x.parquet\n14 rows\n"
    )
    assert Path("x.parquet").read_bytes()[:4] == b"PAR1"


def test_a_profile_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    badges = [
        json.loads(Path("x.json").read_text())["message"]
        for profile in ("official", "corrected")
        if run_export(
            capsys, "badge", "a.json", "--metric=simple_python", f"--profile={profile}", "-o", "x.json"
        )
    ]
    assert badges == ["50.0%", "100.0%"]


def test_a_comment_compares_with_a_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    for name, verdict in (("before", Passed()), ("after", WRONG)):
        write_scorecard(Path(f"{name}.json"), [make_record(verdict, category="parallel")])
    told = run_export(capsys, "comment", "after.json", "--baseline=before.json")
    assert "### Worse (1)" in told


def test_the_newest_run_is_the_default(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    runs = folder / ".fcbench" / "runs"
    runs.mkdir(parents=True)
    write_scorecard(runs / "20260101-000000-x.json", [make_record(category="multiple")])
    rows = list(csv.DictReader(io.StringIO(run_export(capsys, "csv"))))
    assert [row["entry"] for row in rows] == ["core:multiple_0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["xlsx", "a.json"], "argument FORMAT: unknown format 'xlsx'. Valid: "),
        (["csv", "none.json"], "none.json: cannot be read"),
        (["csv", "a.json", "-o", "x.xlsx"], "unknown ending '.xlsx'; fcbench run export csv writes .csv"),
        (
            ["plot", "a.json", "-o", "x.pdf"],
            "unknown ending '.pdf'; fcbench run export plot writes .svg or .png",
        ),
        (["parquet", "a.json"], "missing: -o/--output/--to"),
        (["parquet", "a.json", "-o", "x"], "unknown ending ''; fcbench run export parquet writes .parquet"),
        (["badge", "a.json", "b.json"], "unrecognized arguments: b.json"),
        (["badge", "a.json", "--metric=paralel"], "Did you mean 'parallel'"),
        (
            ["inspect", "a.json", "-o", "a.eval"],
            "unknown ending '.eval'; fcbench run export inspect writes .json",
        ),
    ],
)
def test_wrong_words_are_told(words: list[str], message: str, run_refused: Refusal) -> None:
    assert message in run_refused("run", "export", *words)


@pytest.mark.parametrize("words", [("badge", "--metric=parallel"), ("jsonl",)])
def test_a_scorecard_is_never_overwritten(words: tuple[str, ...], run_refused: Refusal) -> None:
    name, *options = words
    Path("a.jsonl").write_text(Path("a.json").read_text())
    source = "a.json" if name == "badge" else "a.jsonl"
    told = run_refused("run", "export", name, source, *options, "-o", source)
    assert f"--output={source}: this scorecard is also an input; name another file" in told


@pytest.mark.parametrize(
    ("name", "ending", "extra"),
    [(form.name, ending, extra) for form in FORMATS.values() for ending, extra in form.extras.items()],
)
def test_a_missing_extra_is_named(
    name: str, ending: str, extra: str, run_refused: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_fcbench.domain.registry import EXTRAS

    for package in EXTRAS[extra]:
        monkeypatch.setitem(sys.modules, package, None)
    told = run_refused("run", "export", name, "a.json", "-o", f"x{ending}" if ending != FOLDER else "x")
    assert f"fcbench run export {name} needs the package" in told
    assert told.endswith(f"pip install 'pytest-fcbench[{extra}]'")
    assert not Path(f"x{ending}").exists()


def test_nothing_is_left_where_a_chart_is_refused(run_refused: Refusal) -> None:
    assert "a wheel needs 3" in run_refused("run", "export", "plot", "b.json", "--chart=wheel", "-o", "x.png")
    assert list(Path().glob("x*")) == []


def test_a_dataset_of_the_hub_has_an_owner(run_refused: Refusal) -> None:
    for text in ("bfcl", "a/b/c", "an owner/bfcl", "https://host/a/b"):
        told = run_refused("run", "export", "hub", "a.json", f"--dataset={text}", "--task=t")
        assert f"{text!r}: must be a dataset of the hub, e.g. gorilla-llm/bfcl" in told
