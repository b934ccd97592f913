"""Verdict and error type equal the published ones on every answer about functions that ask nobody.

The verdicts are of 2024-08-11, so answers are read as they were then. Two handlers read otherwise than those
of today:

======= ===========================================================  =====================
handler what it did                                                  answers it changes
======= ===========================================================  =====================
DBRX    took the single quotes off every text, so that a quoted      19: 16 pass that would
        call is a call (and a text of digits a number); only where   be unreadable, 1 fails,
        that is no Python was a list read as it stands, and a bare   2 under another code
        call not at all
xLAM    took what is no JSON for no call                             1, under another code
======= ===========================================================  =====================

Everything else is read by the rules of today, and nothing is left that differs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.transcript import Completion, part_from_json
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.execution.formulas import FORMULAS
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds.execution import verdict as execution
from pytest_fcbench.kinds.execution.verdict import ExpectedResults
from pytest_fcbench.suites.suite import Suite
from tests.factories import make_transcript
from tests.parity.comparison import read_records
from tests.parity.conftest import find_oracle_files

FILES = find_oracle_files("exec_published.jsonl.gz")
pytestmark = pytest.mark.skipif(
    not FILES, reason="FCBENCH_ORACLE names no folder with exec_published.jsonl.gz"
)

OTHERWISE = {"databricks-dbrx-instruct": 19, "Salesforce_xLAM-7b-fc-r": 1}
"""Answers of a model about which today's reading would say something else."""

_SYNTAX = {
    "NousResearch_Hermes-2-Pro-Llama-3-8B": "hermes",
    "Salesforce_xLAM-7b-fc-r": "xlam",
    "THUDM_glm-4-9b-chat": "glm",
    "claude-3-opus-20240229-FC": "tool_calls",
    "gemini-1.5-pro-preview-0514": "tool_calls",
    "gpt-4o-2024-08-06-FC": "tool_calls",
    "mistral-small-2402-FC-Auto": "tool_calls",
}
"""By model; the others write Python calls."""


@dataclass(frozen=True)
class Answer:
    """A published answer and what was said of it."""

    entry: Entry
    model: str
    raw: object
    published: tuple[object, object]


def read_answers(path: Path, suite: Suite) -> Iterator[Answer]:
    """Yield the answers about entries whose truth calls nothing but formulas."""
    loaded = [entry for name in SELECTIONS["executable"] for entry in suite.load(CATEGORIES[name])]
    entries = {entry.id: entry for entry in loaded if asks_nobody(entry)}
    for record in read_records(path):
        category = str(record["category"]).replace("executable_", "exec_").removesuffix("_function")
        if entry := entries.get(f"{category}_{record['index']}"):
            published = record["valid"], record["error_type"]
            yield Answer(entry, str(record["model"]), record["raw"], published)


def asks_nobody(entry: Entry) -> bool:
    calls = entry.expectation.calls if isinstance(entry.expectation, ExpectedResults) else ()
    return bool(calls) and all(call.partition("(")[0].strip() in FORMULAS for call in calls)


def read_as_in_2024(model: str, text: str) -> str:
    """Return the text that today's reader takes as the handler of 2024 took the answer."""
    if model == "databricks-dbrx-instruct":
        bare = re.sub(r"'([^']*)'", r"\1", text).replace("\n    ", "")
        bare = bare.replace("['", "[") if bare.startswith("['") else bare
        try:
            python.parse_official(bare)
        except Undecodable:
            return text if text.startswith("[") else "not a list"
        return bare
    if model == "Salesforce_xLAM-7b-fc-r":
        try:
            json.loads(text)
        except ValueError:
            return "[]"
    return text


def find_syntax(model: str) -> str:
    return _SYNTAX.get(model, "python")


def judge_answer(answer: Answer, pool: Pool, *, then: bool = True) -> tuple[object, object]:
    raw, syntax = answer.raw, find_syntax(answer.model)
    if isinstance(raw, list):
        completion = Completion(tool_calls=tuple(map(part_from_json, raw)))
    else:
        completion = Completion(text=read_as_in_2024(answer.model, str(raw)) if then else str(raw))
    transcript = make_transcript(completion, entry=answer.entry.key, syntax=syntax)
    verdict = execution.judge(answer.entry, transcript, pool).official
    return (False, verdict.code) if isinstance(verdict, Failed) else (True, None)


@pytest.mark.nightly
def test_every_verdict_is_the_published_one(bfcl: Suite, pool: Pool) -> None:
    published = list(read_answers(FILES[0], bfcl))
    assert len(published) == 12 * 134
    different = [
        f"{answer.model} {answer.entry.id}: ours {ours}, published {answer.published}"
        for answer in published
        if (ours := judge_answer(answer, pool)) != answer.published
    ]
    assert different == []


@pytest.mark.nightly
def test_what_today_reads_otherwise_is_counted(bfcl: Suite, pool: Pool) -> None:
    found = Counter(
        answer.model
        for answer in read_answers(FILES[0], bfcl)
        if judge_answer(answer, pool, then=False) != answer.published
    )
    assert found == OTHERWISE


@pytest.mark.parametrize("raw", [None, "", "[math_gcd(a=1, b=1)]"])
def test_another_answer_is_another_verdict(bfcl: Suite, pool: Pool, raw: object) -> None:
    """The comparison can fail."""
    answer = next(
        a for a in read_answers(FILES[0], bfcl) if a.model.startswith("gpt-4o-mini") and a.published[0]
    )
    other = Answer(answer.entry, answer.model, raw, answer.published)
    assert judge_answer(other, pool) != answer.published


def test_the_function_calls_of_the_oracle_are_all_there(bfcl: Suite) -> None:
    codes: Mapping[object, int] = Counter(answer.published[1] for answer in read_answers(FILES[0], bfcl))
    assert codes[None] == 1330
    assert len(codes) == 8
