"""Changed trajectories are given the class of the change that was made to them."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from pytest_fcbench.domain.explanation import FailedEntry
from pytest_fcbench.domain.explanation import FailureClass as C
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import Completion, Step, Transcript
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.environments.execution import open_environments
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.failure import carry_out_calls, classify_conversation
from pytest_fcbench.suites.suite import Suite
from tests.parity.comparison import read_records
from tests.parity.conftest import find_oracle_files
from tests.parity.trajectories import load_entries

MUTATED = find_oracle_files("multi_turn_mut_*.jsonl.gz")
SOON = {C.ACTED_TOO_SOON, C.ACTED_WITHOUT_FUNCTION}
"""Where the change is made in a turn that must stay empty, or moves a call into one."""
EXPECTED = {
    "add_readonly": SOON,
    "add_write": {C.EXTRA_CALL, C.UNRESOLVED_ERROR} | SOON,
    "call_in_empty_turn": {C.EXTRA_CALL} | SOON,
    "change_arg": {C.WRONG_ARGUMENT},
    "drop_call": {C.MISSING_CALL, C.NEW_FUNCTION_UNUSED, C.NO_CALL, C.UNRESOLVED_ERROR},
    "dup_call": {C.EXTRA_CALL},
    "dup_turn": {C.EXTRA_CALL},
    "early_call": {C.WRONG_TURN, C.EXTRA_CALL},
    "empty_turn": {C.NO_CALL},
    "fail_then_retry": {C.EXTRA_CALL, C.UNRESOLVED_ERROR},
    "late_call": {C.WRONG_TURN, C.UNRESOLVED_ERROR},
    "respell": {C.UNKNOWN_FUNCTION},
    "retype_arg": {C.WRONG_ARGUMENT},
    "swap_in_turn": {C.WRONG_ORDER, C.WRONG_TURN, C.UNRESOLVED_ERROR},
    "swap_turns": {C.WRONG_TURN, C.NO_CALL} | SOON,
}
"""By the kind of change. ``early_call`` sometimes leaves the call where it was as well, ``swap_in_turn``
sometimes swaps turns, a change sometimes makes a later call of the truth fail (an unresolved error, or no
call where it stood), ``fail_then_retry`` fails where the call that should do nothing does something, and
``respell`` where a line break makes a text no call. ``combo`` is any two of them."""


def make_turns(turns: list[list[list[str]]]) -> Transcript:
    steps = tuple(
        (*(Step(Completion(), tuple(calls)) for calls in turn), Step(Completion("Done."))) for turn in turns
    )
    return Transcript("bfcl:x", "test", Prompting.make_default(Mode.FC), steps)


@pytest.mark.few(1)
@pytest.mark.skipif(not MUTATED, reason="FCBENCH_ORACLE names no folder with multi_turn_mut_*.jsonl.gz")
@pytest.mark.parametrize("profile", Profile)
# Each kind of change is in every fifth record too.
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_change_that_fails_has_the_class_of_its_kind(bfcl: Suite, profile: Profile, step: int) -> None:
    failures = Counter[str]()
    for path in MUTATED:
        for record, (mutation, found) in _classify_file(path, bfcl, profile, step):
            failures[mutation] += 1
            assert found in EXPECTED.get(mutation, set(C) - {C.UNEXPLAINED}), (record, mutation, found)
    assert failures.total() > 1000 / step
    assert EXPECTED.keys() - {"add_readonly"} <= failures.keys()


def _classify_file(
    path: Path, suite: Suite, profile: Profile, step: int
) -> list[tuple[str, tuple[str, StrEnum]]]:
    entries = load_entries(suite, path)
    fresh = partial(open_environments, world=suite.world)
    found = []
    for record in islice(read_records(path), 0, None, step):
        entry, turns = entries[str(record["id"])], record["decoded_turns"]
        assert isinstance(turns, list)
        verdict = state.match_calls(entry, turns, partial(fresh, entry), profile)
        if isinstance(verdict, Failed):
            failure = FailedEntry(entry, make_turns(turns), verdict, profile)
            at = classify_conversation(failure, partial(carry_out_calls, fresh))
            found.append((f"{entry.id} {record['info']}: {at}", (str(record["mutation"]), at.failure)))
    return found
