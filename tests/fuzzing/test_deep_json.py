"""JSON that is nested far too deeply ends at the door, with one line that names its file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.domain.errors import NotScoredError, PackError, SuiteError, UsageError
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.models.providers.litellm import _find_original_reply
from pytest_fcbench.run import history
from pytest_fcbench.scorecard.scorecard_files import load_outlines, load_scorecard
from pytest_fcbench.suites.complexfuncbench import CODE
from pytest_fcbench.suites.custom import iterate_lines
from pytest_fcbench.suites.packs import open_pack
from pytest_fcbench.tools.importing.log_forms import read_conversations
from pytest_fcbench.tools.importing.offered_tools import UnreadableLogError
from tests.factories import make_entry, make_record, write_scorecard

pytestmark = pytest.mark.parametrize("depth", [500, 5_000, 100_000])
MARK = "@deep@"


def write_deep(value: object, depth: int) -> str:
    """Write a value as JSON, with a deep list in the place of the mark."""
    return json.dumps(value).replace(f'"{MARK}"', "[" * depth + "]" * depth)


def test_a_stored_answer_is_damaged(tmp_path: Path, depth: int) -> None:
    answer = write_deep({"text": None, "tool_calls": [{"name": "f", "arguments": MARK}]}, depth)
    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store:
        store.put("k", "own:a", "m", Completion(text="a"))
        with closing(sqlite3.connect(store.path)) as database, database:
            database.execute("UPDATE answers SET answer = ?", (answer,))
        with pytest.raises(NotScoredError, match=r"answers\.sqlite: the stored answer of own:a is damaged"):
            store.get("k")
        assert [kept.is_damaged for kept in store.kept()] == [True]


def test_a_scorecard_is_refused_and_no_run(tmp_path: Path, depth: int) -> None:
    path = write_scorecard(tmp_path / "card.json", [make_record()])
    card = json.loads(path.read_text())
    card["tests"][0]["metadata"]["fcbench"]["verdicts"]["official"]["details"] = {"call": MARK}
    path.write_text(write_deep(card, depth))
    for load in (load_scorecard, lambda path: load_outlines(path, lambda *_: None)):
        with pytest.raises(UsageError, match=rf"^{path}: not JSON: nested more than 300 deep$"):
            load(path)
    path.write_text(write_deep({"fcbench": MARK}, depth))
    assert history.list_runs(tmp_path) == []
    history.keep_former_scorecard(tmp_path / "runs", path)
    assert not (tmp_path / "runs").exists()


def test_a_pack_and_a_line_of_entries_are_refused(tmp_path: Path, depth: int) -> None:
    folder = tmp_path / "packs" / CODE.name / CODE.folder
    folder.mkdir(parents=True)
    (folder / "pack.json").write_text(write_deep({"files": MARK}, depth))
    with pytest.raises(PackError, match=r"is damaged \(nested more than 300 deep\)"):
        open_pack(CODE, tmp_path)
    path = tmp_path / "own.jsonl"
    path.write_text(write_deep({"id": "a", "expect": MARK}, depth))
    with pytest.raises(SuiteError, match=r"own\.jsonl:1: not valid JSON: nested more than 300 deep"):
        list(iterate_lines(path))


def test_a_log_and_a_reply_of_a_judge_are_refused(depth: int) -> None:
    with pytest.raises(UnreadableLogError, match="nested more than 300 deep"):
        list(read_conversations(write_deep({"messages": [{"role": "user", "content": MARK}]}, depth)))
    question = JudgeQuestion(make_entry(), "Judge.", {}, lambda reply: reply)
    with pytest.raises(Unfit, match="is not one JSON object: nested more than 300 deep"):
        question.answer(Completion(text=write_deep({"verdict": MARK}, depth)))


def test_a_reply_behind_litellm_loses_what_is_deep(depth: int) -> None:
    message = {"role": "assistant", "content": "a", "extra": MARK}
    found = _find_original_reply([write_deep({"choices": [{"message": message}]}, depth)])
    if found is None:
        # Python itself reads a thousand levels, or some more.
        assert depth > 500
    else:
        # Both are read again: neither is deeper than what any reader takes.
        assert read_json_text(json.dumps(found[0]))
