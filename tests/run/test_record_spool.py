"""Records are read back from the temporary file whole, and nothing is lost where it cannot be written."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.run.record_spool import RecordSpool
from pytest_fcbench.scorecard.outlines import Outliner
from pytest_fcbench.scorecard.record import Record, write_record
from tests.factories import make_answered_record

RECORDS = [
    make_answered_record(Completion(f"answer {number} ☃ \ud800"), number=number, official=Failed("a", "b"))
    for number in range(3)
]
IDS = [record.item_id for record in RECORDS]


def check_all(spool: RecordSpool, records: list[Record]) -> None:
    """Check that the spool has these Records, their outlines and their JSON."""
    assert list(spool) == [record.item_id for record in records]
    assert list(spool.values()) == list(map(Outliner().outline_record, records))
    assert [spool.read_record(name) for name in spool] == records
    assert [spool.read_text(name) for name in spool] == list(map(write_record, records))


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary files be made in a folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_records_are_read_back_whole(temporary: Path) -> None:
    with closing(RecordSpool()) as spool:
        for record in RECORDS:
            spool.add_record(record)
        check_all(spool, RECORDS)
        assert list(temporary.iterdir()) == [], "a kill would leave a file with a name behind"


def test_a_rerun_replaces_the_record() -> None:
    again = make_answered_record(Completion("again"), number=1)
    with closing(RecordSpool()) as spool:
        for record in (*RECORDS, again):
            spool.add_record(record)
        check_all(spool, [RECORDS[0], again, RECORDS[2]])


def test_the_json_of_a_worker_is_kept_as_it_came() -> None:
    text = json.dumps({**json.loads(write_record(RECORDS[0])), "more": 1})
    with closing(RecordSpool()) as spool:
        spool.add_record(RECORDS[0], text)
        assert spool.read_text(IDS[0]) == text


def test_without_a_folder_for_temporary_files_all_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with closing(RecordSpool()) as spool:
        for record in RECORDS:
            spool.add_record(record)
        check_all(spool, RECORDS)


class _SmallDisk:
    """A file on a disk that is full after some bytes, and has room again at the end."""

    def __init__(self, file: Any, room: int) -> None:
        self._file = file
        self.room = room

    def write(self, data: bytes) -> int:
        taken = data[: max(0, self.room)]
        if not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(taken)
        return int(self._file.write(taken))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.mark.parametrize("room", [0, 1, 1_000])
def test_on_a_full_disk_nothing_is_lost(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    make = tempfile.TemporaryFile
    disks: list[_SmallDisk] = []

    def make_small(**options: Any) -> _SmallDisk:
        disks.append(_SmallDisk(make(**options), room))
        return disks[0]

    monkeypatch.setattr(tempfile, "TemporaryFile", make_small)
    with closing(RecordSpool()) as spool:
        for record in RECORDS[:2]:
            spool.add_record(record)
        disks[0].room = 10_000
        for record in (RECORDS[2], RECORDS[1]):
            spool.add_record(record)
        check_all(spool, RECORDS)
