"""``fcbench run report``: reads scorecards, asks the suites, writes one file."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.transcript import Completion, completion_to_json
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.suites import core
from tests.factories import FACTS, make_record, tool_calls, write_scorecard
from tests.present.html.parsed import Parsed


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))


def write_card(name: str = "card.json", records: Sequence[Record] | None = None) -> str:
    write_scorecard(Path(name), [make_record()] if records is None else records)
    return name


def run_refused_report(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "report", *words])
    assert ended.value.code == 4
    return capsys.readouterr().err


def read_entries(path: str = "report.html") -> list[Mapping[str, object]]:
    """Return what the page tells of entries."""
    scripts = Parsed(Path(path).read_text(encoding="utf-8")).find_all("script")
    (island,) = [script for script in scripts if script.attributes.get("id") == "entries-data"]
    told: list[Mapping[str, object]] = json.loads(island.text)
    return told


def test_a_report_is_written_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["run", "report", write_card()]) == 0
    out = capsys.readouterr().out
    assert out.startswith("note: card.json: its run had core 1 with content sha256 None; ")
    assert "\nreport.html: 1 scorecard, 1 entry, 0." in out
    (entry,) = read_entries()
    minutes, label = ["minutes", ["25"], False], ["label", ['"sourdough"'], False]
    assert entry["expected"] == [["set_timer", [minutes, label, ["sound", ['"bell"'], True]]]]


def test_several_scorecards_go_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["run", "report", write_card("a.json"), write_card("b.json"), "--to", "both.html"]) == 0
    assert "both.html: 2 scorecards, 1 entry" in capsys.readouterr().out
    assert "2 runs side by side" in Path("both.html").read_text(encoding="utf-8")


def test_a_run_is_compared_with_the_one_kept_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("fcbench.yaml").write_text("runs: kept\n")
    for number, name in enumerate(("first", "second", "third")):
        Path("kept").mkdir(exist_ok=True)
        records = [replace(make_record(), model="other" if name == "second" else "test")]
        write_scorecard(Path(f"kept/2026010{number}-000000-{name}.json"), records, FACTS)
    card = Path("kept/20260102-000000-third.json")
    assert main.main(["run", "report", str(card)]) == 0
    assert "Compared with <bdi>20260101-000000-second<" in Path("report.html").read_text(encoding="utf-8")
    assert main.main(["run", "report", str(card), "--against", "kept/20260100-000000-first.json"]) == 0
    assert "Compared with <bdi>20260100-000000-first<" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("given", "follows"), [((), "official"), (("--profile=corrected",), "corrected")])
def test_the_profile_is_that_of_the_run_or_the_one_given(given: Sequence[str], follows: str) -> None:
    assert main.main(["run", "report", write_card(), *given]) == 0
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"of simple_python passed: 1 of 1 (95% CI 20.7-100.0%), {follows} profile" in page


def test_what_calls_returned_is_shown() -> None:
    turns = [[tool_calls(("nonsense", "{}")), Completion("I see.")], *[[Completion("I see.")]] * 9]
    count = len(core.open_suite(Path()).load(CATEGORIES["multi_turn_base"])[0].turns)
    record = replace(
        make_record(category="multi_turn_base"),
        turns=tuple(tuple(map(completion_to_json, turn)) for turn in turns[:count]),
    )
    assert main.main(["run", "report", write_card(records=[record])]) == 0
    (entry,) = read_entries()
    assert '"done": [["nonsense()", "Error: there is no function nonsense"]]' in json.dumps(entry)


def test_a_conversation_that_would_go_another_way_is_shown_as_it_was() -> None:
    record = replace(
        make_record(category="multi_turn_base"),
        turns=((completion_to_json(tool_calls(("nonsense", "{}"))),),),
    )
    assert main.main(["run", "report", write_card(records=[record])]) == 0
    (entry,) = read_entries()
    assert '"calls": [["nonsense", "{}"]]' in json.dumps(entry)


def test_a_scorecard_from_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """It can be read only once, so its Records stay in memory."""
    record = replace(make_record(), turns=((completion_to_json(Completion("Hm.")),),))
    text = Path(write_card(records=[record])).read_text()
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(text))
    writer.start()
    assert main.main(["run", "report", "pipe"]) == 0
    writer.join()
    assert "report.html: 1 scorecard, 1 entry" in capsys.readouterr().out
    assert "Hm." in json.dumps(read_entries())


def test_entries_of_an_own_suite_are_shown_category_by_category() -> None:
    """With the other scorecard's entries of a category that was shown before."""
    parameters = {"type": "dict", "properties": {}, "required": []}
    function = {"name": "f", "description": "Do it.", "parameters": parameters}
    lines: list[dict[str, object]] = [
        {
            "id": f"{category}_{number}",
            "category": category,
            "query": f"{category} {number}?",
            "functions": [function],
            "expect": [{"f": {}}],
        }
        for category in ("simple_python", "multiple")
        for number in range(2)
    ]
    Path("own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("fcbench.yaml").write_text("suites: {own: own.jsonl}\n")
    cards = [
        write_card(
            f"{number}.json",
            [
                make_record(suite="own", category=category, number=number)
                for category in ("simple_python", "multiple")
            ],
        )
        for number in range(2)
    ]
    assert main.main(["run", "report", *cards]) == 0
    assert {str(entry["id"]): str(entry["turns"]) for entry in read_entries()} == {
        f"own:{line['id']}": str([{"said": [["user", line["query"]]]}]) for line in lines
    }


# What is not there


def test_without_the_pack_the_report_says_so_and_shows_the_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = replace(make_record(suite="bfcl"), turns=((completion_to_json(Completion("Hm.")),),))
    assert main.main(["run", "report", write_card(records=[record])]) == 0
    told = capsys.readouterr().out
    assert "note: the questions of bfcl are not shown: " in told
    assert "fcbench pull bfcl" in told
    (entry,) = read_entries()
    assert "expected" not in entry
    assert "Hm." in json.dumps(entry)
    assert "fcbench pull bfcl" in Path("report.html").read_text(encoding="utf-8")


def test_a_suite_and_an_entry_that_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    records = [make_record(suite="other"), make_record(number=99_999)]
    assert main.main(["run", "report", write_card(records=records)]) == 0
    assert "note: the questions of other are not shown: unknown suite 'other'." in capsys.readouterr().out
    assert [set(entry) for entry in read_entries()] == [{"id", "answers"}] * 2


def test_a_category_of_a_later_version() -> None:
    record = replace(make_record(), category="exec_simple", entry="core:exec_simple_0")
    assert main.main(["run", "report", write_card(records=[record])]) == 0
    assert [entry["id"] for entry in read_entries()] == ["core:exec_simple_0"]


# Refusals


def test_a_missing_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.json: cannot be read: No such file or directory" in run_refused_report(capsys, "none.json")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "x.json: not a scorecard: section 'fcbench' is missing"),
        ("{}", "x.json: not a scorecard: section 'fcbench' is missing"),
        ("not JSON", "x.json: not JSON"),
        ('{"fcbench": {"schema": "other/1"}, "tests": []}', "x.json: unknown schema 'other/1'"),
    ],
)
def test_a_file_that_is_no_scorecard_is_refused(
    capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    Path("x.json").write_text(text)
    assert says in run_refused_report(capsys, "x.json")
    assert not Path("report.html").exists()


@pytest.mark.parametrize(
    "answer", [{}, {"text": 1}, {"text": None, "tool_calls": None, "reasoning": None, "fault": "x"}]
)
def test_answers_that_are_none_are_refused(
    capsys: pytest.CaptureFixture[str], answer: Mapping[str, object]
) -> None:
    broken = write_card(records=[replace(make_record(), turns=((answer,),))])
    assert "card.json: invalid scorecard: an answer of core:simple_python_0: " in run_refused_report(
        capsys, broken
    )


def test_more_models_than_can_be_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    cards = [write_card(f"{n}.json") for n in range(9)]
    assert "9 scorecards: a report shows at most 8 side by side; give fewer" in run_refused_report(
        capsys, *cards
    )
    assert main.main(["run", "report", *cards[:8]]) == 0


def test_a_scorecard_is_never_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before = Path(write_card()).read_bytes()
    said = run_refused_report(capsys, "card.json", "--to", str(tmp_path / "card.json"))
    assert "this scorecard is also an input; name another file" in said
    assert Path("card.json").read_bytes() == before


@pytest.mark.parametrize("to", ["card.json/report.html", "folder"])
def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str], to: str) -> None:
    Path("folder").mkdir()
    assert main.main(["run", "report", write_card(), "--to", to]) == 1
    assert f"fcbench: {to}: cannot be written: " in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["card.json", "folder"]


def test_a_wrong_configuration_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "--config=none.yaml: no such file; name a configuration file, or leave the option out"
        in run_refused_report(capsys, write_card(), "--config=none.yaml")
    )


def test_a_scorecard_of_another_suite_version_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    suite = core.open_suite(Path())
    facts = replace(FACTS, suites={"core": {"version": suite.version, "pack_hash": suite.pack_sha256}})
    write_scorecard(Path("same.json"), [make_record()], facts)
    assert main.main(["run", "report", "same.json"]) == 0
    assert "note:" not in capsys.readouterr().out
