"""Environments, executor and state matcher are the official ones in what they do, on every recorded run."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.kind import carry_out_calls, put_turns
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites.suite import Suite
from tests.parity.comparison import Comparison, read_records
from tests.parity.conftest import find_oracle_files
from tests.parity.trajectories import compare_mutated, replay_file

TRUTHS = find_oracle_files("multi_turn_gt_*.jsonl.gz")
MUTATED = find_oracle_files("multi_turn_mut_*.jsonl.gz")
NEEDS_ORACLE = pytest.mark.skipif(
    not TRUTHS or not MUTATED, reason="FCBENCH_ORACLE names no folder with multi_turn_*.jsonl.gz"
)


def _name_file(path: Path) -> str:
    return path.name.removesuffix(".jsonl.gz")


@NEEDS_ORACLE
@pytest.mark.parametrize("path", TRUTHS, ids=_name_file)
def test_every_result_and_every_state_is_the_official_one(path: Path, bfcl: Suite) -> None:
    """Errors, which occur in the composite file only, are errors here too; their wording is ours."""
    replayed = replay_file(path, bfcl)
    assert replayed.calls > 1100
    assert replayed.different == ()
    assert (replayed.errors > 0) is ("composite" in path.name)


@NEEDS_ORACLE
@pytest.mark.parametrize("path", MUTATED, ids=_name_file)
def test_every_verdict_is_the_official_one(path: Path, bfcl: Suite, comparisons: list[Comparison]) -> None:
    comparison = compare_mutated(path, bfcl)
    comparisons.append(comparison)
    assert comparison.records >= 600
    assert comparison.different == (), "\n".join(comparison.different[:20])


@NEEDS_ORACLE
@pytest.mark.parametrize("field", ["results", "state"])
def test_a_changed_result_is_found(bfcl: Suite, tmp_path: Path, field: str) -> None:
    source = next(path for path in TRUTHS if "base" in path.name)
    changed = [dict(record) for record in read_records(source)]
    turns = changed[3]["turns"]
    assert isinstance(turns, list)
    turns[0][field] = (
        [f"{text} " for text in turns[0]["results"]]
        if field == "results"
        else {name: {**state, "more": 1} for name, state in turns[0]["state"].items()}
    )
    path = _write_records(tmp_path / source.name, changed)
    different = replay_file(path, bfcl).different
    assert different
    assert all(text.startswith(f"{changed[3]['id']} turn 0: ") for text in different)


@NEEDS_ORACLE
def test_a_flipped_verdict_is_found(bfcl: Suite, tmp_path: Path) -> None:
    source = next(path for path in MUTATED if "base" in path.name)
    changed = [dict(record) for record in read_records(source)]
    victim = next(
        record for record in changed if record["error_type"] == "multi_turn:instance_state_mismatch"
    )
    victim["error_type"] = "multi_turn:execution_response_mismatch"
    (difference,) = compare_mutated(_write_records(tmp_path / source.name, changed), bfcl).different
    assert difference.startswith(f"{victim['id']} {victim['mutation']}")


def _write_records(path: Path, rows: list[dict[str, object]]) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@pytest.mark.nightly
@NEEDS_ORACLE
def test_nothing_depends_on_order_or_on_what_ran_before(bfcl: Suite, tmp_path: Path) -> None:
    """All records twice in one process, the second time shuffled."""
    for path in (*TRUTHS, *MUTATED):
        rows = [dict(record) for record in read_records(path)]
        random.Random(7).shuffle(rows)
        shuffled = _write_records(tmp_path / path.name, rows)
        for _ in range(2):
            if path in TRUTHS:
                assert replay_file(shuffled, bfcl).different == ()
            else:
                assert compare_mutated(shuffled, bfcl).different == ()


@pytest.mark.nightly
@NEEDS_ORACLE
@pytest.mark.parametrize(("zone", "seed"), [("Pacific/Kiritimati", "1"), ("America/Los_Angeles", "4242")])
def test_nothing_depends_on_time_zone_or_hash_seed(pack_cache: Path, zone: str, seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.parity.trajectories", str(pack_cache), *map(str, (*TRUTHS, *MUTATED))],
        env={**os.environ, "TZ": zone, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 different") == len(TRUTHS) + len(MUTATED)


OFFICIAL_REQUESTS_SHA256 = "cba3dcbdc9a7a848cea8a46b3e6453aa0b739c3d213f25d645f68b90ba612335"
"""Of all requests that bfcl-eval 2026.3.23 makes (``inference_multi_turn_FC`` and ``_prompting`` of its
OpenAI handler) when it is given the answers of our oracle: for each of the 800 entries in both modes the
digests of messages and tools of each request, sorted by mode and id."""


SOME_REQUESTS_SHA256 = "04c2abf925fa49cf80fb010576749314e67e5169872f146a3305c050d260641b"
"""Of the requests about every fifth entry of each category, of a run in which those of all were official."""


@pytest.mark.parametrize(
    ("step", "digest"),
    [(5, SOME_REQUESTS_SHA256), pytest.param(1, OFFICIAL_REQUESTS_SHA256, marks=pytest.mark.nightly)],
    ids=["some", "all"],
)
def test_whole_conversations_are_the_official_ones(bfcl: Suite, step: int, digest: str) -> None:
    """Messages and tools of every request, with results of calls and functions that come late."""
    found = []
    for mode, names in ((Mode.FC, Names.UNDERSCORED), (Mode.PROMPT, Names.DOTTED)):
        for category in SELECTIONS["multi_turn"]:
            for entry in bfcl.load(CATEGORIES[category])[::step]:
                found.append((f"{mode}:{entry.id}", _digest_requests(entry, bfcl, mode, names)))
    assert len(found) == 1600 / step
    assert hashlib.sha256(json.dumps(sorted(found)).encode()).hexdigest() == digest


def _digest_requests(entry: Entry, suite: Suite, mode: Mode, names: Names) -> list[str]:
    """Return a digest of each request of the conversation with the oracle."""
    talk = put_turns(entry, ModelPresentation("x", Prompting.make_default(mode, names)), suite.wording)
    asking = carry_out_calls(talk, open_environments(entry, suite.world).perform_calls)
    model = OracleModel(Prompting.make_default(mode, names))
    digests = []
    request = next(asking)
    while True:
        asked = [[_reduce_message(message) for message in request.messages], list(request.tools)]
        digests.append(hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16])
        try:
            request = asking.send(run_through(model.complete(entry, request)))
        except StopIteration:
            return digests


def _reduce_message(message: object) -> list[object]:
    assert isinstance(message, dict)
    calls = [
        [call["id"], call["function"]["name"], call["function"]["arguments"]]
        for call in message.get("tool_calls") or []
    ]
    return [message["role"], message.get("content"), calls, message.get("tool_call_id")]
