"""Outlines of Records: all that scores, tables, gates and comparisons look at, without the answers.

An outline is a Record whose answers hold a stand-in for each text and call, whose verdicts lack their
details, and whose calls along a golden path lack their values. A Record of one short answer takes some 5 KB,
its outline a tenth. To show answers or to judge them again takes the whole Record.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar, cast

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
from pytest_fcbench.scorecard.record import Record, Usage, read_figures

_Shared = TypeVar("_Shared", bound=Hashable)

_STAND_IN = "…"
"""The stand-in for a text that is not empty, and for calls."""
_COUNTED_DETAILS = ("right_turns", "turns")
"""The details of a failure that scores count."""
_SHARED_MEMBERS = (
    *("suite", "category", "group", "model", "mode", "names", "syntax", "marks", "cluster", "stratum"),
    *("calls", "served", "streams"),
)
"""Members that are often equal in many Records."""
_NO_DETAILS: Mapping[str, object] = MappingProxyType({})
_NO_PATHS: Mapping[Profile, PathScore] = MappingProxyType({})


class Outliner:
    """Makes outlines of Records, in which equal values are one object, so that they take little memory."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Hashable] = {}
        self._turns: dict[object, tuple[tuple[Mapping[str, object], ...], ...]] = {}
        """Outlined answers by their members as pairs, because mappings cannot be keys."""

    def outline_record(self, record: Record) -> Record:
        """Return the outline of a Record."""
        members = tuple(tuple(map(_outline_answer, turn)) for turn in record.turns)
        if members not in self._turns:
            self._turns[members] = tuple(tuple(map(dict, turn)) for turn in members)
        return replace(
            record,
            **{name: self._share_value(getattr(record, name)) for name in _SHARED_MEMBERS},
            verdicts=self._outline_verdicts(record.verdicts),
            turns=self._turns[members],
            steps=self._share_value(record.steps) if set(record.steps) == {Usage()} else record.steps,
            # Nothing of searches and pages of the web is counted.
            asides=tuple(
                AuxiliaryCall(call.party, "", Completion(**read_figures(call.completion)), call.usd)
                for call in record.asides
                if call.party in PAID
            ),
            paths={
                profile: replace(path, verdicts=tuple(map(_outline_call, path.verdicts)))
                for profile, path in record.paths.items()
            }
            if record.paths
            else _NO_PATHS,
            as_written=record.as_written and self._outline_verdicts(record.as_written),
            rating=record.rating and replace(record.rating, reason=""),
        )

    def _outline_verdicts(self, verdicts: Verdicts) -> Verdicts:
        official = self._outline_verdict(verdicts.official)
        is_same = verdicts.corrected == verdicts.official
        corrected = official if is_same else self._outline_verdict(verdicts.corrected)
        outlines = Verdicts(official, corrected)
        is_passing = official.status == corrected.status == "passed"
        return self._share_value(outlines) if is_passing else outlines

    def _outline_verdict(self, verdict: Verdict) -> Verdict:
        match verdict:
            case Failed(code=code, reason=reason, details=details):
                kept_details = {name: details[name] for name in _COUNTED_DETAILS if name in details}
                return Failed(self._share_value(str(code)), reason, kept_details or _NO_DETAILS)
            case NotScored(cause=cause, reason=reason):
                return NotScored(self._share_value(str(cause)), reason)
        return verdict

    def _share_value(self, value: _Shared) -> _Shared:
        """Return the first value that was equal to this one."""
        return cast("_Shared", self._values.setdefault(value, value))


def _outline_answer(answer: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """Return the members of an answer as pairs, with a stand-in for its text and for its calls."""
    calls, fault, ending = (answer.get(name) for name in ("tool_calls", "fault", "ending"))
    protocol = answer.get("protocol")
    return (
        ("text", _STAND_IN if str(answer.get("text") or "").strip() else ""),
        ("tool_calls", None if calls is None else (_STAND_IN,) if calls else ()),
        ("reasoning", None),
        ("fault", None if fault is None else str(fault)),
        *((("ending", str(ending)),) if ending else ()),
        *((("protocol", tuple(map(str, protocol))),) if isinstance(protocol, (list, tuple)) else ()),
    )


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
