"""Our environments and state matcher beside recorded official runs.

``multi_turn_gt_<category>`` holds what each call of the ground truth returned and every state after each
turn; ``multi_turn_mut_<category>`` holds changed trajectories with their verdicts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.environments.api.file_system import FileSystem
from pytest_fcbench.environments.execution import Environments, open_environments
from pytest_fcbench.judging.text_normalization import find_differences
from pytest_fcbench.kinds.state import verdict as state
from pytest_fcbench.kinds.state.kind import render_folder
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.parity.comparison import Comparison, read_records

_OFFICIAL = {
    "file_system": "GorillaFileSystem",
    "math": "MathAPI",
    "messages": "MessageAPI",
    "posting": "TwitterAPI",
    "tickets": "TicketAPI",
    "trading": "TradingBot",
    "travel": "TravelAPI",
    "vehicle": "VehicleControlAPI",
}


@dataclass(frozen=True)
class Replayed:
    """What became of the calls of one file."""

    calls: int
    states: int
    errors: int
    """Calls that failed on both sides; the errors are worded differently."""
    different: tuple[str, ...]


def load_entries(suite: Suite, path: Path) -> Mapping[str, Entry]:
    category = path.name.removesuffix(".jsonl.gz").split("_", 3)[3]
    return {entry.id: entry for entry in suite.load(CATEGORIES[f"multi_turn_{category}"])}


def replay_file(path: Path, suite: Suite) -> Replayed:
    """Carry out every recorded call in fresh environments of ours."""
    entries = load_entries(suite, path)
    calls = states = errors = 0
    different: list[str] = []
    for record in read_records(path):
        entry = entries[str(record["id"])]
        environments = open_environments(entry, suite.world)
        turns = record["turns"]
        assert isinstance(turns, list)
        for number, turn in enumerate(turns):
            for call, expected in zip(turn["calls"], turn["results"], strict=True):
                calls += 1
                (found,) = environments.perform_calls([call])
                if is_error(expected) and is_error(found):
                    errors += 1
                elif found != expected:
                    different.append(
                        f"{entry.id} turn {number}: {call:.100}: {found:.200} not {expected:.200}"
                    )
            states += 1
            for name, expected in turn["state"].items():
                different += [
                    f"{entry.id} turn {number}: {name}.{difference}"
                    for difference in find_differences(expected, serialize_state(environments, name))
                ]
    return Replayed(calls, states, errors, tuple(different))


def is_error(text: str) -> bool:
    """Whether a result tells that a call failed, in the official form or in ours."""
    return '"error":' in text or text.startswith(
        ("Error during execution:", "Error:", "['Error:", "[{'error':")
    )


def serialize_state(environments: Environments, official: str) -> dict[str, object]:
    """Return the state of a domain as the oracle's files hold it: as JSON, a file system as its repr."""
    domain = next(name for name, known in _OFFICIAL.items() if known == official)
    environment = environments.by_domain[domain]
    attributes = {name: value for name, value in vars(environment).items() if not name.startswith("_")}
    if isinstance(environment, FileSystem):
        attributes["root"] = render_folder(environment.root)
    state: dict[str, object] = json.loads(json.dumps(attributes, default=str))
    return state


def compare_mutated(path: Path, suite: Suite) -> Comparison:
    """Judge every changed trajectory; each difference is a sentence."""
    entries = load_entries(suite, path)
    total = 0
    different = []
    for record in read_records(path):
        total += 1
        entry = entries[str(record["id"])]
        turns = record["decoded_turns"]
        assert isinstance(turns, list)
        verdict = state.match_calls(
            entry, turns, partial(open_environments, entry, suite.world), Profile.OFFICIAL
        )
        expected = record["error_type"]
        found = verdict.code if isinstance(verdict, Failed) else None
        if found != expected or verdict.passed is not record["valid"]:
            different.append(f"{entry.id} {record['mutation']} {record['info']}: {verdict} not {expected}")
    return Comparison(path.name, total, 0, 0, tuple(different))


if __name__ == "__main__":
    bfcl = open_suite("bfcl", Path(sys.argv[1]))
    for file in map(Path, sys.argv[2:]):
        found = (replay_file if "_gt_" in file.name else compare_mutated)(file, bfcl).different
        print(f"{file.name}: {len(found)} different", *found[:3], sep="\n  ")
