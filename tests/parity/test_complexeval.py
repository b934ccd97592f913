"""Conversations along golden paths go on and end as they do in the official evaluator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.judging import builtin
from pytest_fcbench.judging.questions import Equivalence
from pytest_fcbench.kinds.golden_path import kind as verdict
from tests.conftest import ROOT
from tests.kinds.golden_path.cases import Case, make_case, write_official_record
from tests.kinds.golden_path.stand_ins import compare_texts, is_equal_but_for_case, reply_as_api
from tests.kinds.golden_path.talking import hold_conversation

OFFICIAL = os.environ.get("FCBENCH_COMPLEXEVAL")
CASES = 4000


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [make_case(seed) for seed in range(CASES)]


@pytest.fixture(scope="module")
def outcomes(cases: list[Case]) -> list[dict[str, Any]]:
    if OFFICIAL is None:
        pytest.skip("FCBENCH_COMPLEXEVAL names no clone of the official evaluator")
    lines = [
        json.dumps({"record": write_official_record(case.entry), "answers": case.answers, "live": case.live})
        for case in cases
    ]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("complexeval_official.py")), OFFICIAL],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_verdict_counts_and_replies_are_the_official_ones(
    cases: list[Case], outcomes: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtin, "compare_arguments", _compare_as_stand_in)
    seen: Counter[str] = Counter()
    wrong = []
    for seed, (case, official) in enumerate(zip(cases, outcomes, strict=True)):
        ours, theirs = _summarize_ours(case), _summarize_official(official)
        seen[str(theirs["verdict"])] += 1
        if ours != theirs:
            wrong.append((seed, ours, theirs))
    assert not wrong, json.dumps(wrong[:3], indent=1)
    assert set(seen) >= {"passed", "stop_early", "func_error", "value_error", "param_missing", "decode_error"}


def _summarize_official(outcome: Mapping[str, Any]) -> dict[str, object]:
    if "crash" in outcome:
        return {"verdict": "crash"}
    message = outcome["message"]
    if message == "Success.":
        code = "passed"
    elif isinstance(message, list):
        code = " ".join(sorted(error["error_type"] for error in message))
    else:
        code = message["error_type"]
    if code == "unknown_error":
        return {"verdict": code}
    counts = {key: outcome[key] for key in ("right", "right_steps", "taken")}
    return {
        "verdict": code,
        "replies": [[_classify_reply(r) for r in turn] for turn in outcome["replies"]],
        **counts,
    }


def _classify_reply(reply: object) -> object:
    if isinstance(reply, dict) and set(reply) == {"error"}:
        return "refused"
    return "generic" if isinstance(reply, dict) and "api_status" in reply else reply


def _summarize_ours(case: Case) -> dict[str, object]:
    transcript = hold_conversation(
        case.entry,
        case.answers,
        PathSettings(Profile.OFFICIAL, similarity="test", live=case.live),
        aside=_answer_aside,
    )
    judgement = verdict.judge(case.entry, transcript)
    official, score = judgement.official, judgement.official_path
    assert isinstance(official, (Passed, Failed))
    code = _join_codes(official)
    if code in ("crash", "unknown_error"):
        assert score is None
        return {"verdict": code}
    assert score is not None
    replies = [
        [_classify_reply(json.loads(text)) for text in step.results]
        for step in transcript.turns[0]
        if step.results
    ]
    counts = {"right": score.right, "right_steps": score.right_steps, "taken": score.taken}
    return {"verdict": code, "replies": replies, **counts}


def _join_codes(verdict: Passed | Failed) -> str:
    """Return the code, or those of all mistakes of an answer: two calls alike can be paired either way."""
    if isinstance(verdict, Passed):
        return "passed"
    errors = verdict.details.get("errors")
    return " ".join(sorted(error["code"] for error in errors)) if isinstance(errors, list) else verdict.code


def _answer_aside(request: AskModel) -> Completion:
    texts = {role: [str(m["content"]) for m in request.messages if m["role"] == role] for role in _ROLES}
    if request.party is Party.SIMILARITY:
        return Completion(text=json.dumps(compare_texts(texts["made"], texts["expected"])))
    return Completion(text=json.dumps(reply_as_api(json.loads(texts["call"][0]))))


_ROLES = ("made", "expected", "call")


def _compare_as_stand_in(
    doc: FunctionDoc, made: Mapping[str, object], expected: Mapping[str, object]
) -> Equivalence:
    one, other = ({"name": doc.name, "arguments": arguments} for arguments in (made, expected))
    return Equivalence(is_equal_but_for_case(one, other), "")
