"""``fcbench suite import`` on files, standard input and refused options."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.models.registry import describe_identity
from pytest_fcbench.run.context import RunContext
from tests.cli.conftest import Refusal
from tests.dispatch.stores import make_key
from tests.factories import make_answered_record, make_record, tool_calls, write_scorecard
from tests.tools.importing.made import TWO_ANSWERS


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "log.jsonl"
    path.write_text(f"{json.dumps(TWO_ANSWERS)}\n{{broken\n\n")
    return path


def test_a_file_becomes_a_suite_and_the_counts_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "import", "log.jsonl", "-o", "mine/chats.jsonl"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("log.jsonl:2: not valid JSON: ")
    assert out.splitlines() == [
        "read: 2 lines, 1 of them unreadable, 1 conversations, 2 answers of the assistant",
        "kept: 2 entries (multiple 1, next_reply 1)",
        "left out: 0 answers",
        "written to mine/chats.jsonl",
    ]
    lines = Path("mine/chats.jsonl").read_text().splitlines()
    assert [json.loads(line)["category"] for line in lines] == ["multiple", "next_reply"]


def test_standard_input_is_read(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.read_bytes())))
    assert main(["suite", "import", "-", "-o", "chats.jsonl", "--no-replies"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("standard input:2: ")
    assert "  1  an answer in words" in out


def test_the_rest_is_written_as_it_was(log: Path) -> None:
    line = log.read_text().splitlines()[0]
    others = [line.replace("Bergen?", f"city {number}?") for number in range(50)]
    log.write_text("\n".join(others))
    assert (
        main(["suite", "import", "log.jsonl", "-o", "held.jsonl", "--hold-out=40%", "--rest=rest.jsonl"]) == 0
    )
    rest = Path("rest.jsonl").read_text().splitlines()
    assert 0 < len(rest) < 50
    assert set(rest) <= set(others)


def test_a_log_without_entries_ends_with_an_error(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write_text("{}\n")
    assert main(["suite", "import", "log.jsonl", "-o", "chats.jsonl"]) == 1
    assert "no entries; the lines above say why" in capsys.readouterr().err
    assert not Path("chats.jsonl").exists()


def test_a_dry_run_shows_entries_and_masks_and_writes_nothing(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text(json.dumps([TWO_ANSWERS], indent=1).replace("Bergen?", "Bergen for ann@corp.io?"))
    before = sorted(Path().iterdir())
    assert main(["suite", "import", "log.jsonl", "--dry-run", "--rest=rest.jsonl"]) == 0
    out = capsys.readouterr().out
    assert '  user: "Weather in Bergen for person1@example.com?"' in out
    assert '  right: [{"weather": {"city": ["Bergen"], "days": [1, ""]}}]' in out
    assert "mask: ann@corp.io -> person1@example.com" in out
    assert "kept: 2 entries" in out
    assert out.endswith("nothing was written (--dry-run)\n")
    assert sorted(Path().iterdir()) == before


CASES = Path(os.environ.get("FCBENCH_ORACLE", "/")).parent / "cases"
ROWS_KEPT = {"llamafactory_v1": 0, "otel_no_parameters": 0, "otel_old": 0, "msswift": 2, "toucan": 2}
"""The entries of each case that has not exactly one."""


@pytest.mark.skipif(not list(CASES.glob("import_*")), reason="the cases lie outside the project")
@pytest.mark.parametrize("case", sorted(CASES.glob("import_*/*.json*")), ids=lambda path: path.stem)
def test_cases_from_the_world_give_the_right_call_or_a_reason(
    case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count = ROWS_KEPT.get(case.stem, 1)
    assert main(["suite", "import", str(case), "-o", "out.jsonl"]) == (0 if count else 1)
    out = capsys.readouterr().out
    assert f"kept: {count} entries" in out
    if count:
        assert "irrelevance" not in out
        first = json.loads(Path("out.jsonl").read_text().splitlines()[0])
        (call,) = first["expect"]
        values = [str(accepted[0]) for arguments in call.values() for accepted in arguments.values()]
        digits = "".join(filter(str.isalnum, first["messages"][0]["content"]))
        # What the call needs is in the question, whatever way either writes it.
        assert "".join(filter(str.isalnum, values[0])) in digits
    else:
        assert "left out: 1 answers:" in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "--output is missing; name a FILE.jsonl for the entries, or use --dry-run"),
        (("-o", "chats.yaml"), "a suite of JSON lines needs the ending .jsonl"),
        (("-o", "log.jsonl"), "log.jsonl already exists"),
        (("-o", "log.jsonl", "--force"), "log.jsonl is read; name another file"),
        (("-o", "./log.jsonl", "--force"), "log.jsonl is read; name another file"),
        (("-o", "a.jsonl", "--rest=./a.jsonl"), "the entries are written to this file; name another file"),
        (("-o", "a.jsonl", "--hold-out=0"), "'0' is not a percentage; give a number above 0"),
        (("-o", "a.jsonl", "--hold-out=some"), "'some' is not a percentage"),
        (("-o", "a.jsonl", "--most=0"), "argument --most: '0' must be a whole number, 1 or more"),
    ],
)
def test_wrong_options_are_refused(run_refused: Refusal, options: tuple[str, ...], told: str) -> None:
    assert told in run_refused("suite", "import", "log.jsonl", *options)


def test_a_missing_log_is_refused(run_refused: Refusal) -> None:
    assert "gone.jsonl: cannot be read: No such file" in run_refused(
        "suite", "import", "gone.jsonl", "-o", "a.jsonl"
    )


def test_a_log_without_entries_leaves_older_files_as_they_are(log: Path) -> None:
    log.write_text("{}\n")
    Path("rest.jsonl").write_text("older")
    assert main(["suite", "import", "log.jsonl", "-o", "a.jsonl", "--rest=rest.jsonl", "--force"]) == 1
    assert Path("rest.jsonl").read_text() == "older"


SUITE = """\
category: irrelevance
functions: [{name: rain, description: Rain., parameters: {type: dict, properties: {}, required: []}}]
entries:
  - {id: irrelevance_0, query: Hello?, functions: [rain]}
  - {id: irrelevance_1, query: Sing!, functions: [rain]}
  - {id: irrelevance_2, query: Who are you?, functions: [rain]}
"""
"""Three entries to which words are the right answer."""
GREETING = Completion(text="Hello.")


@pytest.fixture
def own_suite() -> None:
    Path("fcbench.yaml").write_text("suites: {mine: mine.yaml}")
    Path("mine.yaml").write_text(SUITE)


def _read_written(path: str) -> list[tuple[str, object]]:
    lines = map(json.loads, Path(path).read_text().splitlines())
    return [(line["category"], line["messages"]) for line in lines]


@pytest.mark.usefixtures("own_suite")
def test_answers_of_a_scorecard_become_entries_where_they_passed(capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        make_answered_record(answer, category="irrelevance", number=number, suite="mine")
        for number, answer in enumerate((GREETING, tool_calls(("rain", "{}"))))
    ]
    # The second calls, which is wrong, though its Record says otherwise; the third has no answer.
    lost = make_record(Failed("x", "x"), category="irrelevance", number=2, suite="mine")
    write_scorecard(Path("card.json"), [*records, lost])
    assert main(["suite", "import", "scorecard:card.json", "-o", "new.jsonl"]) == 0
    assert _read_written("new.jsonl") == [("irrelevance", [{"role": "user", "content": "Hello?"}])]
    assert (
        "entries without a conversation: 2 (no stored answer 1, not passed (corrected profile) 1)\n"
        "written to new.jsonl\n"
    ) in capsys.readouterr().out


def _store_answer(path: Path, number: int, answer: Completion) -> None:
    """Store an answer of openai/x under the key by which a run looks for it."""
    settings = build_settings({"model": "openai/x", "suite": ["mine"]}, Path("fcbench.yaml"))
    context = RunContext(settings)
    entry = context.suites["mine"].load(context.suites["mine"].categories[0])[number]
    request = next(context.converse(entry, {}))
    assert isinstance(request, AskModel)
    store = AnswerStore(path)
    store.put(make_key(describe_identity(settings), entry, request), entry.item_id, "openai/x", answer)
    store.close()


@pytest.mark.usefixtures("own_suite")
def test_answers_of_the_store_become_entries_of_the_suite_they_were_given_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _store_answer(Path("answers.sqlite"), 1, Completion(text="I cannot sing."))
    options = ("--suite=mine", "--model=openai/x", "-o", "new.jsonl")
    assert main(["suite", "import", "store:answers.sqlite", *options]) == 0
    assert _read_written("new.jsonl") == [("irrelevance", [{"role": "user", "content": "Sing!"}])]
    assert "entries without a conversation: 2 (no stored answer 2)" in capsys.readouterr().out


@pytest.mark.usefixtures("own_suite")
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("store:answers.sqlite", "--model=openai/x"), "store:answers.sqlite: add --suite"),
        (("store:answers.sqlite", "--suite=mine"), "store:answers.sqlite: add --model"),
        (("store:gone.sqlite", "--suite=mine", "--model=openai/x"), "gone.sqlite: no such file"),
        (("store:answers.sqlite", "--suite=mine", "--model=openai/y"), "has no answer of openai/y to mine"),
        (("scorecard:gone.json",), "gone.json"),
        (("scorecard:card.json", "--rest=card.json", "--force"), "card.json is read; name another file"),
    ],
)
def test_sources_without_answers_are_refused(
    run_refused: Refusal, options: tuple[str, ...], told: str
) -> None:
    _store_answer(Path("answers.sqlite"), 1, GREETING)
    assert told in run_refused("suite", "import", *options, "-o", "new.jsonl")
