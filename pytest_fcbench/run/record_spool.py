"""The Records of a run: an outline of each in memory, the whole in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, ValuesView
from contextlib import suppress
from typing import BinaryIO

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.scorecard.outlines import Outliner
from pytest_fcbench.scorecard.record import Record, from_json, write_record


class RecordSpool(Mapping[str, Record]):
    """The outline of each Record by item id; a rerun replaces the earlier Record.

    The file has no name in any folder, so nothing of it is left behind, not even after a kill. What cannot be
    written to it, for example on a full disk, stays in memory.
    """

    def __init__(self) -> None:
        self._outliner = Outliner()
        self._outlines: dict[str, Record] = {}
        self._places: dict[str, tuple[int, int]] = {}
        """Offset and length of each Record in the file, by item id."""
        self._texts: dict[str, bytes] = {}
        """Records that could not be written to the file."""
        self._end = 0
        self._file: BinaryIO | None = None
        with suppress(OSError):
            # Without a buffer, because a full disk must show where a Record is written, not later.
            self._file = tempfile.TemporaryFile(prefix="fcbench-", buffering=0)  # noqa: SIM115 - see close()

    def __getitem__(self, item_id: str) -> Record:
        return self._outlines[item_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outlines)

    def __len__(self) -> int:
        return len(self._outlines)

    def values(self) -> ValuesView[Record]:
        """Return the outlines; another thread may copy them while some are added."""
        return self._outlines.values()

    def add_record(self, record: Record, text: str | None = None) -> None:
        """Add a Record, whose JSON may be given as ``text``."""
        data = (text or write_record(record)).encode()
        item_id = record.item_id
        self._texts.pop(item_id, None)
        self._places.pop(item_id, None)
        if self._append_data(data):
            self._places[item_id] = self._end, len(data)
            self._end += len(data)
        else:
            self._texts[item_id] = data
        self._outlines[item_id] = self._outliner.outline_record(record)

    def _append_data(self, data: bytes) -> bool:
        """Write behind what is there already; return False where that is not possible."""
        if self._file is None:
            return False
        try:
            self._file.seek(self._end)
            while data:
                data = data[self._file.write(data) :]
        except OSError:
            return False
        return True

    def read_text(self, item_id: str) -> str:
        """Return the JSON of a whole Record."""
        if item_id in self._texts or self._file is None:
            return self._texts[item_id].decode()
        offset, length = self._places[item_id]
        self._file.seek(offset)
        return self._file.read(length).decode()

    def read_record(self, item_id: str) -> Record:
        """Return a whole Record."""
        return from_json(read_json_text(self.read_text(item_id)))

    def close(self) -> None:
        """Close the temporary file."""
        if self._file is not None:
            self._file.close()
