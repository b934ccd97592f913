"""Outlines of Records: all that scores, tables, gates and comparisons look at, without the answers.

A Record of one short answer takes some 5 KB, its outline a tenth. An outline is a Record whose answers say
only in which ways they are empty, whose verdicts lack their details, and whose calls along a golden path lack
their values. Whoever shows answers or judges them again needs the whole Record, which a run keeps in a
temporary file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Hashable, Iterator, Mapping, ValuesView
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import BinaryIO, TypeVar, cast

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import PAID, AuxiliaryCall, Completion
from pytest_fcbench.domain.verdict import (
    CallVerdict,
    Difference,
    Failed,
    NotScored,
    PathScore,
    Profile,
    Verdict,
    Verdicts,
)
from pytest_fcbench.scorecard.record import Record, Usage, from_json, write_record

_Shared = TypeVar("_Shared", bound=Hashable)

_SOMETHING = "…"
"""Stands for a text that is not empty, and for a call."""
_TOLD = ("right_turns", "turns")
"""The details of a failure that scores count."""
_NO_DETAILS: Mapping[str, object] = MappingProxyType({})
_NO_PATHS: Mapping[Profile, PathScore] = MappingProxyType({})


class Outliner:
    """Makes outlines of Records; what many of them have in common is one object for all."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Hashable] = {}
        self._turns: dict[object, tuple[tuple[Mapping[str, object], ...], ...]] = {}

    def outline_record(self, record: Record) -> Record:
        """Return the outline of a Record."""
        kinds = tuple(tuple(map(_describe_answer, turn)) for turn in record.turns)
        if kinds not in self._turns:
            self._turns[kinds] = tuple(tuple(map(dict, turn)) for turn in kinds)
        return replace(
            record,
            suite=self._share_value(str(record.suite)),
            category=self._share_value(str(record.category)),
            group=self._share_value(str(record.group)),
            model=self._share_value(str(record.model)),
            mode=self._share_value(str(record.mode)),
            names=self._share_value(str(record.names)),
            syntax=self._share_value(str(record.syntax)),
            verdicts=self._outline_verdicts(record.verdicts),
            turns=self._turns[kinds],
            steps=self._share_value(record.steps) if set(record.steps) == {Usage()} else record.steps,
            marks=self._share_value(record.marks),
            cluster=self._share_value(record.cluster),
            # Nothing of searches and pages of the web is counted.
            asides=tuple(_outline_aside(each) for each in record.asides if each.party in PAID),
            paths={
                profile: replace(path, verdicts=tuple(map(_outline_call, path.verdicts)))
                for profile, path in record.paths.items()
            }
            if record.paths
            else _NO_PATHS,
            as_written=record.as_written and self._outline_verdicts(record.as_written),
            stratum=self._share_value(record.stratum),
            rating=record.rating and replace(record.rating, reason=""),
        )

    def _outline_verdicts(self, verdicts: Verdicts) -> Verdicts:
        official = self._outline_verdict(verdicts.official)
        same = verdicts.corrected == verdicts.official
        verdict_outlines = Verdicts(official, official if same else self._outline_verdict(verdicts.corrected))
        is_passing = official.status == verdict_outlines.corrected.status == "passed"
        return self._share_value(verdict_outlines) if is_passing else verdict_outlines

    def _outline_verdict(self, verdict: Verdict) -> Verdict:
        match verdict:
            case Failed(code=code, reason=reason, details=details):
                kept_details = {name: details[name] for name in _TOLD if name in details}
                return Failed(self._share_value(str(code)), reason, kept_details or _NO_DETAILS)
            case NotScored(cause=cause, reason=reason):
                return NotScored(self._share_value(str(cause)), reason)
        return verdict

    def _share_value(self, value: _Shared) -> _Shared:
        return cast("_Shared", self._known.setdefault(value, value))


def _describe_answer(answer: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """Describe in which ways an answer is empty, in the form of its members."""
    calls, fault, ending = (answer.get(name) for name in ("tool_calls", "fault", "ending"))
    protocol = answer.get("protocol")
    return (
        ("text", _SOMETHING if str(answer.get("text") or "").strip() else ""),
        ("tool_calls", None if calls is None else (_SOMETHING,) if calls else ()),
        ("reasoning", None),
        ("fault", None if fault is None else str(fault)),
        *((("ending", str(ending)),) if ending else ()),
        *((("protocol", tuple(map(str, protocol))),) if isinstance(protocol, (list, tuple)) else ()),
    )


def _outline_aside(aside: AuxiliaryCall) -> AuxiliaryCall:
    original = aside.completion
    outline = Completion(
        latency_s=original.latency_s,
        input_tokens=original.input_tokens,
        output_tokens=original.output_tokens,
        cached_tokens=original.cached_tokens,
        cache_write_tokens=original.cache_write_tokens,
        reasoning_tokens=original.reasoning_tokens,
    )
    return AuxiliaryCall(aside.party, "", outline, aside.usd)


def _outline_call(verdict: CallVerdict) -> CallVerdict:
    """Keep the names of the functions and of the parameters of a call along a golden path."""
    expected_call = verdict.expected
    arguments = expected_call.get("arguments") if expected_call else None
    argument_names = dict.fromkeys(arguments) if isinstance(arguments, Mapping) else None
    return CallVerdict(
        verdict.step,
        {"name": verdict.made.get("name")},
        expected_call and {"name": expected_call.get("name"), "arguments": argument_names},
        verdict.stage,
        verdict.right,
        verdict.code,
        differences=tuple(Difference(one.parameter, one.kind, one.type) for one in verdict.differences),
    )


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
        """Give the file up."""
        if self._file is not None:
            self._file.close()
