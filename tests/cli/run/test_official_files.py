"""``fcbench run export official``: what it writes, what it leaves out and tells, what it refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import Completion, Fault, completion_to_json
from pytest_fcbench.domain.verdict import Failed, NotScored
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.suites.bfcl import SOURCE
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.export.official_tables import TABLES
from tests.factories import FACTS, make_record, tool_calls, write_scorecard

SUITES = {"bfcl": {"version": SOURCE.version, "pack_hash": SOURCE.content_sha256}}
OFFICIAL = replace(FACTS, model="openai/my-ft", suites=SUITES)
AREA = '{"base": 10, "height": 5, "unit": "units"}'
RIGHT = tool_calls(("calculate_triangle_area", AREA))
WRONG = Failed("simple_function_checker:wrong_count", "0 calls came, 1 expected")
SCORES = Path("out/score/openai_my-ft")
RESULTS = Path("out/result/openai_my-ft")

RunCommand: TypeAlias = Callable[..., str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack_cache: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    return tmp_path


@pytest.fixture
def run_export(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run the command and return what it prints."""

    def run_command(*words: str) -> str:
        assert main.main(["run", "export", "official", "--to=out", *words]) == 0
        return capsys.readouterr().out

    return run_command


@pytest.fixture
def run_refused_export(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run a command that is refused and return what it says."""

    def run_command(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main.main(["run", "export", *words])
        assert ended.value.code == 4
        return capsys.readouterr().err

    return run_command


def add_answer(record: Record, answer: Completion) -> Record:
    """Return a Record whose only turn is this answer."""
    return replace(record, turns=((completion_to_json(answer),),), steps=(Usage(0.5, 100, 10),))


def make_bfcl_record(
    number: int, answer: Completion, verdict: Failed | None = None, *, category: str = "simple_python"
) -> Record:
    return add_answer(make_record(verdict, category=category, number=number, suite="bfcl"), answer)


A = ["a.json"]
RECORDS = (make_bfcl_record(0, RIGHT), make_bfcl_record(1, Completion(tool_calls=()), WRONG))


def read_lines(path: Path) -> list[Mapping[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def read_overall_rows() -> Sequence[Mapping[str, str]]:
    with Path("out/score/data_overall.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_results_scores_and_tables(folder: Path, run_export: RunCommand) -> None:
    write_scorecard(folder / "a.json", RECORDS, OFFICIAL)
    assert run_export("a.json") == (
        "openai_my-ft: 2 answers, 1 right\n"
        f"out/score: {', '.join(TABLES)}\n"
        "N/A: Total Cost, because the scorecard has no price; give one with --price\n"
        "N/A: Model Link, Organization, License; give them with --link, --organization, --license\n"
    )
    counts = {"input_token_count": 100, "output_token_count": 10, "latency": 0.5}
    assert read_lines(RESULTS / "non_live/BFCL_v4_simple_python_result.json") == [
        {"id": "simple_python_0", "result": [{"calculate_triangle_area": AREA}], **counts},
        {"id": "simple_python_1", "result": [], **counts},
    ]
    header, row = read_lines(SCORES / "non_live/BFCL_v4_simple_python_score.json")
    assert header == {"accuracy": 0.5, "correct_count": 1, "total_count": 2}
    assert (row["id"], row["model_name"]) == ("simple_python_1", "openai_my-ft")
    assert (row["error_type"], row["model_result_decoded"]) == (WRONG.code, [])
    prompt, truth = row["prompt"], row["possible_answer"]
    assert isinstance(prompt, dict)
    assert list(prompt) == ["id", "question", "function"]
    assert isinstance(truth, list)
    assert list(truth[0]) == [prompt["function"][0]["name"]]
    assert (read_overall_rows()[0]["Model"], read_overall_rows()[0]["Model Link"]) == ("openai/my-ft", "N/A")


def test_a_conversation_has_its_missed_functions_apart(
    folder: Path, run_export: RunCommand, pack_cache: Path
) -> None:
    """The question has no functions, but the docs of one that comes late."""
    entry = open_suite("bfcl", pack_cache).load(CATEGORIES["multi_turn_miss_func"])[0]
    failed = Failed("multi_turn:empty_turn_model_response", "")
    record = make_record(failed, category=entry.category.name, suite="bfcl")
    no = completion_to_json(Completion(text="No."))
    silent = replace(record, turns=((no,),) * len(entry.turns), steps=(Usage(),) * len(entry.turns))
    write_scorecard(folder / "a.json", [silent], OFFICIAL)
    assert run_export("a.json").startswith("openai_my-ft: 1 answers, 0 right\n")
    (result,) = read_lines(RESULTS / "multi_turn/BFCL_v4_multi_turn_miss_func_result.json")
    assert result == {"id": entry.id, "result": [["No."]] * len(entry.turns)}
    _, row = read_lines(SCORES / "multi_turn/BFCL_v4_multi_turn_miss_func_score.json")
    prompt = row["prompt"]
    assert isinstance(prompt, dict)
    assert "function" not in prompt
    assert entry.scene is not None
    assert {turn: [doc["name"] for doc in docs] for turn, docs in prompt["missed_function"].items()} == {
        str(turn): [doc.name for doc in docs] for turn, docs in entry.scene.withheld.items()
    }
    assert isinstance(entry.expectation, Trajectory)
    assert row["possible_answer"] == list(map(list, entry.expectation.turns))


CHAT = make_bfcl_record(0, Completion(text="It is 25."), category="chatable")
FIVE_SIXES = "[calc_binomial_probability(n=20, k=5, p=0.6)]"


def test_categories_of_the_first_version(folder: Path, run_export: RunCommand) -> None:
    """Executable entries have a table of their own, as columns of today stay; nobody judged chats."""
    wrong_result = Failed("executable_checker:wrong_result", "it returns 1, the truth 2")
    unread = Failed("executable_decoder:decoder_failed", "no call")
    sql = Failed("simple_function_checker:wrong_count", "")
    made = [
        make_bfcl_record(0, Completion(text=FIVE_SIXES), category="exec_simple"),
        make_bfcl_record(1, Completion(text=FIVE_SIXES), wrong_result, category="exec_simple"),
        make_bfcl_record(2, Completion(text="I cannot."), unread, category="exec_simple"),
        make_bfcl_record(0, Completion(text="[f(), g()]"), sql, category="sql"),
        CHAT,
    ]
    made = [replace(record, syntax="python", mode="prompt", names="dotted") for record in made]
    write_scorecard(folder / "a.json", made, replace(OFFICIAL, syntax="python", mode="prompt"))
    # Other tests of this session may have processes of their own.
    before = psutil.Process().children()
    told = run_export("a.json").splitlines()
    # The processes that carry out calls have ended with the command.
    assert psutil.Process().children() == before
    assert told[0] == ("openai_my-ft: 5 answers, 1 right; results only, not officially judged: chatable")
    assert told[1] == f"out/score: {', '.join(TABLES)}, data_executable.csv"
    header, *rows = read_lines(SCORES / "executable/BFCL_v4_exec_simple_score.json")
    assert header == {"accuracy": 1 / 3, "correct_count": 1, "total_count": 3}
    assert [(row["id"], row["error_type"], row.get("model_result_decoded")) for row in rows] == [
        ("exec_simple_1", wrong_result.code, [FIVE_SIXES[1:-1]]),
        ("exec_simple_2", unread.code, None),
    ]
    assert rows[0]["model_result_raw"] == FIVE_SIXES
    assert rows[0]["possible_answer"] == ["calc_binomial_probability(n=30, k=15, p=0.5)"]
    _, row = read_lines(SCORES / "v1/BFCL_v4_sql_score.json")
    assert (row["id"], row["error_type"]) == ("sql_0", sql.code)
    assert list(row["possible_answer"][0]) == ["sql.execute"]  # type: ignore[index]
    assert read_lines(RESULTS / "v1/BFCL_v4_chatable_result.json")[0]["id"] == "chatable_0"
    assert not (SCORES / "v1/BFCL_v4_chatable_score.json").exists()
    with Path("out/score/data_executable.csv").open(encoding="utf-8") as file:
        (of,) = csv.DictReader(file)
    assert (of["Non-Live Exec Acc"], of["Exec Summary"], of["Python Simple Exec"]) == (
        "4.17%",
        "N/A",
        "33.33%",
    )
    assert read_overall_rows()[0]["Latency Mean (s)"] == "N/A"


def test_chats_alone_have_results_and_no_score(folder: Path, run_export: RunCommand) -> None:
    write_scorecard(folder / "a.json", [CHAT], OFFICIAL)
    assert run_export("a.json").startswith("openai_my-ft: 1 answers, 0 right; results only")
    assert read_overall_rows()[0]["Overall Acc"] == "0.00%"


def test_facts_about_the_model_stand_in_the_table(folder: Path, run_export: RunCommand) -> None:
    write_scorecard(folder / "a.json", RECORDS, OFFICIAL)
    words = [
        "--as=x/y",
        "--title=X Y",
        "--link=https://x",
        "--organization=O",
        "--license=L",
        "--price=100,1000",
    ]
    assert run_export("a.json", *words).startswith("x_y: 2 answers, 1 right\n")
    assert Path("out/score/x_y/non_live/BFCL_v4_simple_python_score.json").is_file()
    (row,) = read_overall_rows()
    assert [row[name] for name in ("Model", "Model Link", "Organization", "License")] == [
        "X Y",
        "https://x",
        "O",
        "L",
    ]
    assert [row[name] for name in ("Total Cost ($)", "Latency Mean (s)")] == ["0.04", "0.5"]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("known", "given", "cost"),
    [
        (None, [], "N/A"),
        (Price(100, 1000), [], "0.04"),
        (Price(100, 1000), ["--price=1000,0"], "0.2"),
        (Price(hour=3600), [], "0.25"),
        (None, ["--price=hosted"], "0.0"),
    ],
)
def test_the_price_is_given_or_that_of_the_scorecard(
    folder: Path, run_export: RunCommand, known: Price | None, given: list[str], cost: str
) -> None:
    facts = replace(OFFICIAL, price=known, concurrency=4)
    write_scorecard(folder / "a.json", RECORDS, facts)
    run_export("a.json", *given)
    assert read_overall_rows()[0]["Total Cost ($)"] == cost


@pytest.mark.nightly
def test_several_models_are_ranked_in_one_table(folder: Path, run_export: RunCommand) -> None:
    write_scorecard(folder / "a.json", RECORDS[1:], OFFICIAL)
    write_scorecard(folder / "b.json", RECORDS, replace(OFFICIAL, model="replay:some/where/other-FC"))
    run_export("a.json", "b.json", "--price=1,1", "--price=2,2")
    assert [(row["Rank"], row["Model"]) for row in read_overall_rows()] == [
        ("1", "other-FC"),
        ("2", "openai/my-ft"),
    ]
    assert Path("out/result/other-FC").is_dir()


def test_what_is_left_out_is_told(folder: Path, run_export: RunCommand) -> None:
    formless = (make_record(category=name, suite="bfcl") for name in ("multi_turn_composite", "rest"))
    records = [
        *RECORDS,
        replace(make_bfcl_record(2, RIGHT), verdicts=make_record(NotScored("timeout", "no answer")).verdicts),
        make_bfcl_record(4_000, RIGHT),
        make_record(suite="core"),
        *(add_answer(record, RIGHT) for record in formless),
    ]
    facts = replace(OFFICIAL, suites={**OFFICIAL.suites, **FACTS.suites})
    write_scorecard(folder / "a.json", records, facts)
    told = run_export("a.json").splitlines()[0]
    head, *parts = told.removeprefix("openai_my-ft: 2 answers, 1 right; left out: ").split(", ")
    assert sorted([head, *parts]) == [
        "1 not scored",
        "1 of multi_turn_composite (no official form)",
        "1 of rest (no official form)",
        "1 of the suite core",
        "1 that do not belong to the entries",
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("group", ["non_live", "live", "multi_turn", "memory", "web_search"])
def test_every_category_of_the_leaderboard_has_an_official_form(
    group: str, folder: Path, run_refused_export: RunCommand
) -> None:
    records = [
        add_answer(make_record(category=category, suite="bfcl", number=9_999), RIGHT)
        for category in SELECTIONS[group]
    ]
    write_scorecard(folder / "a.json", records, OFFICIAL)
    # Ids that do not exist: what has no form would be left out for that reason instead.
    told = run_refused_export("official", "--to=out", "a.json")
    assert f"left out: {len(records)} that do not belong to the entries" in told


def test_of_several_trials_the_first_counts(folder: Path, run_export: RunCommand) -> None:
    trials = [
        replace(make_bfcl_record(0, answer), trial=n)
        for n, answer in ((1, RIGHT), (2, Completion(tool_calls=())))
    ]
    write_scorecard(folder / "a.json", trials, OFFICIAL)
    assert run_export("a.json").startswith(
        "openai_my-ft: 1 answers, 1 right; left out: 1 of further trials\n"
    )


def test_a_verdict_that_the_official_files_cannot_hold_is_told(folder: Path, run_export: RunCommand) -> None:
    """Officially the error of a call that outgrew the context is a text without a call."""
    overflow = Completion(text="too long", fault=Fault.OVERFLOW)
    failed = Failed("context_overflow", "the request did not fit into the model's context")
    write_scorecard(
        folder / "a.json",
        [
            make_bfcl_record(0, overflow, failed),
            make_bfcl_record(0, overflow, failed, category="irrelevance"),
        ],
        OFFICIAL,
    )
    told = run_export("a.json").splitlines()[0]
    assert told == (
        "openai_my-ft: 2 answers, 1 right; verdicts that differ from the scorecard: 1, e.g. "
        "bfcl:irrelevance_0"
    )
    (result,) = read_lines(RESULTS / "non_live/BFCL_v4_irrelevance_result.json")
    assert result["result"] == "Error during inference: too long"


def test_nothing_is_overwritten_unasked(
    folder: Path, run_export: RunCommand, run_refused_export: RunCommand
) -> None:
    write_scorecard(folder / "a.json", RECORDS, OFFICIAL)
    run_export("a.json", "--as=old")
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    assert "data_non_live.csv already exists; name another folder" in run_refused_export(
        "official", "a.json", "--to=out", "--as=new"
    )
    assert {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()} == before
    told = run_export("a.json", "--as=new", "--force").splitlines()[-1]
    assert told == (
        "not in the tables: 1 older score files in the folder, e.g. "
        "out/score/old/non_live/BFCL_v4_simple_python_score.json"
    )
    assert [row["Model"] for row in read_overall_rows()] == ["new"]


@pytest.mark.parametrize(
    ("suites", "records", "words", "why"),
    [
        pytest.param(
            FACTS.suites,
            RECORDS,
            A,
            "a.json: this is a scorecard of core; give one of the suite bfcl, which has official formats",
            id="core",
        ),
        pytest.param(SUITES, [make_record(suite="bfcl")], A, "a.json: contains no answers", id="no answers"),
        pytest.param(
            {"bfcl": {"version": "2025.1", "pack_hash": "0"}},
            RECORDS,
            A,
            "a.json: its answers are to bfcl 2025.1, but version 2026.3.23 is installed",
            id="other version",
        ),
        pytest.param(SUITES, [make_bfcl_record(4_000, RIGHT)], A, "a.json: nothing to export", id="nothing"),
        pytest.param(SUITES, RECORDS, [*A, "--as=.."], "'..' cannot name a folder", id="parent folder"),
        pytest.param(SUITES, RECORDS, [*A, "--as=a\x1b\0"], "cannot name a folder", id="control characters"),
        pytest.param(SUITES, RECORDS, [*A, f"--as={'a' * 300}"], "cannot name a folder", id="long name"),
        pytest.param(
            SUITES,
            RECORDS,
            [*A, "--as=a", "--as=b"],
            "--as: given 2 times for 1 scorecards",
            id="too many names",
        ),
        pytest.param(
            SUITES,
            RECORDS,
            [*A, "--price=1"],
            "'1': must be two prices, e.g. 0.15,0.6, or 'hosted'",
            id="one price",
        ),
        pytest.param(SUITES, RECORDS, [*A, "--price=nan,1"], "'nan,1': must be two prices", id="no price"),
        pytest.param(
            SUITES, RECORDS, [*A, *A], "also belongs to 'openai_my-ft'; give each an id with --as", id="twice"
        ),
        pytest.param(SUITES, RECORDS, ["gone.json"], "gone.json: cannot be read", id="no file"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    folder: Path,
    run_refused_export: RunCommand,
    suites: Mapping[str, Mapping[str, str | None]],
    records: Sequence[Record],
    words: list[str],
    why: str,
) -> None:
    write_scorecard(folder / "a.json", records, replace(OFFICIAL, suites=suites))
    assert why in run_refused_export("official", *words, "--to=out")
    assert not Path("out").exists()


def test_a_baseline_is_refused(folder: Path, run_refused_export: RunCommand) -> None:
    write_scorecard(folder / "a.json", RECORDS, OFFICIAL)
    section = json.loads((folder / "a.json").read_text())["fcbench"]
    entries = {"simple_python": {"bfcl:simple_python_0": "passed"}}
    baseline = {"schema": scorecard_files.BASELINE, "fcbench": section, "entries": entries}
    (folder / "b.json").write_text(json.dumps(baseline))
    assert "b.json: contains no answers, like a baseline" in run_refused_export(
        "official", "b.json", "--to=out"
    )


def test_a_folder_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_scorecard(folder / "a.json", RECORDS, OFFICIAL)
    (folder / "out").write_text("a file")
    assert main.main(["run", "export", "official", "a.json", "--to=out"]) == 1
    assert "cannot be written" in capsys.readouterr().err
