"""The progress of a run in a file, which another process can follow."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.dispatch.progress import Progress
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.run import progress_file
from pytest_fcbench.run.progress_file import GroupTally, ProgressFile, list_running
from tests.cases import each_case
from tests.factories import make_record

PROGRESS = Progress(
    total=10,
    answered=5,
    not_scored=1,
    in_flight=2,
    reused=0,
    calls=5,
    elapsed_s=3.0,
    passed=3,
    judged=4,
    groups=("live 4 of 10",),
)


def test_a_run_can_be_followed_until_it_ends(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path, "gpt", ["core"])
    file.write_progress(PROGRESS)
    (running,) = list_running(tmp_path)
    assert (running.model, running.suites, running.total) == ("gpt", ("core",), 10)
    assert (running.passed, running.failed, running.not_scored) == (3, 1, 1)
    assert (running.line, running.groups) == (PROGRESS.line(), ("live 4 of 10",))
    file.remove()
    assert list(list_running(tmp_path)) == []
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_it_is_written_about_once_a_second(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path, "gpt", ["core"])
    for passed in (1, 2):
        file.write_progress(replace(PROGRESS, passed=passed))
    assert [running.passed for running in list_running(tmp_path)] == [1]


def test_a_clock_that_goes_back_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_file, "_EVERY_S", 0.0)
    file = ProgressFile(tmp_path, "gpt", ["core"])
    for passed, hour in ((1, 1), (2, 0)):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: hour * 3600.0)  # noqa: B023 - called in this round
            file.write_progress(replace(PROGRESS, passed=passed))
            assert [running.passed for running in list_running(tmp_path)] == [passed]


def test_a_run_that_was_killed_is_listed_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ProgressFile(tmp_path, "gpt", ["core"]).write_progress(PROGRESS)
    monkeypatch.setattr(progress_file, "_DEAD_S", 0.0)
    assert list(list_running(tmp_path)) == []


@each_case("text", ["", "[]", "{}", '{"renewed_s": 9e99}', json.dumps({"renewed_s": "x"})])
def test_what_is_no_progress_is_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "running").mkdir()
    (tmp_path / "running" / "1.json").write_text(text)
    assert list(list_running(tmp_path)) == []


def test_a_folder_that_cannot_be_written_stops_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    file = ProgressFile(tmp_path / "file", "gpt", ["core"])
    file.write_progress(PROGRESS)
    file.remove()
    assert (tmp_path / "file").read_text() == ""


PASSED = make_record()
RECORDS = [
    PASSED,
    make_record(Failed("a", "b"), number=1),
    make_record(NotScored("timeout", "late"), number=2),
    make_record(category="live_simple"),
]


def test_shares_are_of_what_has_a_verdict() -> None:
    tally = GroupTally(Profile.OFFICIAL)
    tally.count_new(RECORDS)
    assert (tally.passed, tally.judged) == (2, 3)
    non_live, live, complex_calls = tally.describe_groups({"non_live": 9, "live": 1, "complex": 5})
    assert non_live == "  non_live         3 of 9      50.0% passed (95% CI 9.5-90.5%)"
    assert live.startswith("  live             1 of 1     100.0% passed")
    assert complex_calls == "  complex          0 of 5    "


def test_each_record_counts_once() -> None:
    tally = GroupTally(Profile.OFFICIAL)
    for number in (1, 2, 4, 4):
        tally.count_new(RECORDS[:number])
    assert (tally.passed, tally.judged) == (2, 3)


def test_the_profile_decides() -> None:
    tally = GroupTally(Profile.CORRECTED)
    tally.count_new([make_record(Failed("a", "b"), PASSED.verdicts.corrected)])
    assert (tally.passed, tally.judged) == (1, 1)
