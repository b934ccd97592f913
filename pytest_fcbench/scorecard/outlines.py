"""Outlines of Records: all that scores, tables, gates and comparisons look at, without the answers.

A Record of one short answer takes some 5 KB, its outline a tenth. An outline is a Record whose answers say
only in which ways they are empty, whose verdicts lack their details, and whose calls along a golden path lack
their values. Whoever shows answers or judges them again needs the whole Record.
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

_SOMETHING = "…"
"""Stands for a text that is not empty, and for a call."""
_TOLD = ("right_turns", "turns")
"""The details of a failure that scores count."""
_ALIKE = (
    *("suite", "category", "group", "model", "mode", "names", "syntax", "marks", "cluster", "stratum"),
    *("calls", "served", "streams"),
)
"""Members that many Records have in common."""
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
            **{name: self._share_value(getattr(record, name)) for name in _ALIKE},
            verdicts=self._outline_verdicts(record.verdicts),
            turns=self._turns[kinds],
            steps=self._share_value(record.steps) if set(record.steps) == {Usage()} else record.steps,
            # Nothing of searches and pages of the web is counted.
            asides=tuple(_outline_aside(each) for each in record.asides if each.party in PAID),
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
    return AuxiliaryCall(aside.party, "", Completion(**read_figures(aside.completion)), aside.usd)


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
