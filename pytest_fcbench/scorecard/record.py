"""One Record per entry: what every reader of a run works from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.prompting import Manner
from pytest_fcbench.domain.transcript import (
    Aside,
    Completion,
    Party,
    Transcript,
    completion_from_json,
    completion_to_json,
)
from pytest_fcbench.domain.verdict import (
    CallVerdict,
    Difference,
    Failed,
    Judgement,
    NotScored,
    Passed,
    PathScore,
    Profile,
    Rated,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Usage:
    """What one completion took: seconds, tokens, dollars; None where unknown."""

    latency_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None


Turns: TypeAlias = tuple[tuple[Mapping[str, object], ...], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one entry, or of one trial of it."""

    entry: str
    suite: str
    category: str
    group: str
    model: str
    mode: str
    names: str
    syntax: str
    verdicts: Judgement
    trial: int | None = None
    """Which trial, from 1 on; None in a run that puts each entry once."""
    steps: tuple[Usage, ...] = ()
    """One for each completion, in order."""
    turns: Turns = ()
    """The completions of each turn as JSON values; none where no answer came."""
    marks: tuple[str, ...] = ()
    """Marks of its test that do not follow from suite and category: the user's own."""
    cluster: str | None = None
    """What the entry has in common with others of its category."""
    asides: tuple[Aside, ...] = ()
    """What other parties than the model answered."""

    def path(self, profile: Profile) -> PathScore | None:
        """How far the model came along a golden path; None where the entry has none, or nothing is known."""
        return self.verdicts.path_under(profile)

    def verdict(self, profile: Profile) -> Verdict:
        """The verdict of one profile."""
        return self.verdicts.under(profile)

    @property
    def unit(self) -> str:
        """What was drawn by itself: its cluster, or else its entry. Verdicts within a unit may be alike."""
        return self.entry if self.cluster is None else f"{self.suite}:{self.category}:{self.cluster}"

    @property
    def item_id(self) -> str:
        """The parameter id of its test."""
        return self.entry if self.trial is None else f"{self.entry}-t{self.trial}"

    @property
    def usage(self) -> Usage:
        """Sums over the steps."""
        return Usage(
            _sum([step.latency_s for step in self.steps]),
            _whole(_sum([step.input_tokens for step in self.steps])),
            _whole(_sum([step.output_tokens for step in self.steps])),
            _sum([step.usd for step in self.steps]),
        )


Pricing: TypeAlias = Callable[[Completion], float | None]
"""What a completion costs in dollars, None where that is not known."""


def unpriced(completion: Completion) -> None:
    """Where no price is known."""


def record(
    entry: Entry,
    manner: Manner,
    judgement: Judgement,
    transcript: Transcript | None,
    usd: Pricing = unpriced,
) -> Record:
    """The Record of an entry; ``transcript`` is None where no answer came."""
    completions = transcript.completions if transcript else ()
    return Record(
        entry=entry.key,
        suite=entry.suite,
        category=entry.category.name,
        group=entry.category.group,
        model=manner.model,
        mode=manner.mode,
        names=manner.names,
        syntax=manner.syntax,
        verdicts=judgement,
        trial=entry.trial,
        steps=tuple(Usage(c.latency_s, c.input_tokens, c.output_tokens, usd(c)) for c in completions),
        turns=tuple(tuple(map(completion_to_json, turn)) for turn in transcript.answers)
        if transcript
        else (),
        cluster=entry.cluster,
        asides=transcript.asides if transcript else (),
    )


def by_category(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records of each category that has any, in the order of every table."""
    found: dict[str, list[Record]] = {}
    for item in records:
        found.setdefault(item.category, []).append(item)
    return {name: found[name] for name in (*CATEGORIES, *sorted(found.keys() - CATEGORIES)) if name in found}


def in_order(records: Iterable[Record]) -> list[Record]:
    """By category and entry, whatever order they came in."""
    place = {name: index for index, name in enumerate(CATEGORIES)}
    return sorted(
        records, key=lambda r: (place.get(r.category, len(place)), r.suite, _natural(r.entry), r.trial or 0)
    )


def _natural(key: str) -> list[tuple[int, str]]:
    """A sort key that puts ``parallel_10`` after ``parallel_9``."""
    parts = key.replace("-", "_").replace(":", "_").split("_")
    return [
        (int(part), "") if part.isdecimal() and len(part) < _LONGEST_NUMBER else (-1, part) for part in parts
    ]


_LONGEST_NUMBER = 4000
"""Digits that Python makes a number of; it refuses a few more."""


def _sum(values: list[float | None] | list[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def to_json(record: Record) -> dict[str, object]:
    """A Record as the JSON object that reports carry (``metadata.fcbench``)."""
    return {
        "entry": record.entry,
        "suite": record.suite,
        "category": record.category,
        "group": record.group,
        "model": record.model,
        "mode": record.mode,
        "names": record.names,
        "syntax": record.syntax,
        "verdicts": _both_to_json(record.verdicts),
        "trial": record.trial,
        **asdict(record.usage),
        "steps": [asdict(step) for step in record.steps],
        "turns": [list(turn) for turn in record.turns],
        "marks": list(record.marks),
        "cluster": record.cluster,
        "asides": [
            {"party": aside.party, "digest": aside.digest, **completion_to_json(aside.completion)}
            for aside in record.asides
        ],
        "paths": {
            profile.value: asdict(path) for profile in Profile if (path := record.path(profile)) is not None
        },
        "as_written": _both_to_json(record.verdicts.as_written) if record.verdicts.as_written else None,
        "rating": _rating_to_json(record.verdicts.rating),
    }


def _both_to_json(judgement: Judgement) -> dict[str, object]:
    return {profile.value: _verdict_to_json(judgement.under(profile)) for profile in Profile}


def _rating_to_json(rating: Rated | NotScored | None) -> dict[str, object] | None:
    match rating:
        case None:
            return None
        case Rated(score=score, reason=reason):
            return {"score": score, "code": None, "reason": reason}
        case NotScored(cause=cause, reason=reason):
            return {"score": None, "code": str(cause), "reason": reason}


def _verdict_to_json(verdict: Verdict) -> dict[str, object]:
    match verdict:
        case Passed():
            return {"status": verdict.status, "code": None, "reason": None}
        case Failed(code=code, reason=reason, details=details):
            return {"status": verdict.status, "code": str(code), "reason": reason, "details": dict(details)}
        case NotScored(cause=cause, reason=reason):
            return {"status": verdict.status, "code": str(cause), "reason": reason}


def from_json(value: Mapping[str, object]) -> Record:
    """The Record of a JSON object that ``to_json`` made. Raises KeyError or TypeError on any other."""
    verdicts, paths = _both(value["verdicts"]), _table(value.get("paths", {}))
    as_written = value.get("as_written")
    steps, turns = _list(value["steps"]), _list(value["turns"])
    return Record(
        entry=str(value["entry"]),
        suite=str(value["suite"]),
        category=str(value["category"]),
        group=str(value["group"]),
        model=str(value["model"]),
        mode=str(value["mode"]),
        names=str(value["names"]),
        syntax=str(value["syntax"]),
        verdicts=replace(
            verdicts,
            official_path=_path(paths.get(Profile.OFFICIAL)),
            corrected_path=_path(paths.get(Profile.CORRECTED)),
            as_written=None if as_written is None else _both(as_written),
            rating=_rating(value.get("rating")),
        ),
        trial=_whole(_number(value["trial"])),
        steps=tuple(_usage(_table(step)) for step in steps),
        turns=tuple(tuple(map(_table, _list(turn))) for turn in turns),
        marks=tuple(map(str, _list(value["marks"]))),
        cluster=_text(value.get("cluster")),
        asides=tuple(_aside(_table(aside)) for aside in _list(value.get("asides", []))),
    )


def _aside(value: Mapping[str, object]) -> Aside:
    return Aside(Party(str(value["party"])), str(value["digest"]), completion_from_json(value))


def _both(value: object) -> Judgement:
    official, corrected = (_verdict(_table(_table(value)[profile.value])) for profile in Profile)
    return Judgement(official, corrected)


def _rating(value: object) -> Rated | NotScored | None:
    if value is None:
        return None
    told = _table(value)
    if told["score"] is None:
        return NotScored(str(told["code"]), str(told["reason"]))
    return Rated(_count(told["score"]), str(told["reason"]))


def _path(value: object) -> PathScore | None:
    if value is None:
        return None
    path = _table(value)
    calls, right, steps, right_steps, taken = (
        _count(path[name]) for name in ("calls", "right", "steps", "right_steps", "taken")
    )
    return PathScore(
        calls=calls,
        right=right,
        steps=steps,
        right_steps=right_steps,
        taken=taken,
        verdicts=tuple(_call_verdict(_table(verdict)) for verdict in _list(path["verdicts"])),
        completeness=_whole(_number(path["completeness"])),
        correctness=_whole(_number(path["correctness"])),
    )


def _call_verdict(value: Mapping[str, object]) -> CallVerdict:
    expected, differences = value["expected"], _list(value["differences"])
    return CallVerdict(
        step=_count(value["step"]),
        made=_table(value["made"]),
        expected=None if expected is None else _table(expected),
        stage=str(value["stage"]),
        right=bool(value["right"]),
        code=_text(value["code"]),
        reason=str(value["reason"]),
        differences=tuple(_difference(_table(difference)) for difference in differences),
    )


def _difference(value: Mapping[str, object]) -> Difference:
    parameter, kind = str(value["parameter"]), str(value["kind"])
    return Difference(parameter, kind, _text(value["type"]), value["expected"], value["found"])


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _usage(value: Mapping[str, object]) -> Usage:
    return Usage(
        _number(value["latency_s"]),
        _whole(_number(value["input_tokens"])),
        _whole(_number(value["output_tokens"])),
        _number(value["usd"]),
    )


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected an object, found {type(value).__name__}")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, found {type(value).__name__}")
    return value


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise TypeError(f"expected a number of them, found {value!r}")


def _number(value: object) -> float | None:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    raise TypeError(f"expected a number, found {type(value).__name__}")


def _verdict(value: Mapping[str, object]) -> Verdict:
    match value["status"]:
        case "passed":
            return Passed()
        case "failed":
            return Failed(str(value["code"]), str(value["reason"]), _table(value["details"]))
        case "not_scored":
            return NotScored(str(value["code"]), str(value["reason"]))
        case other:
            raise TypeError(f"unknown status {other!r}")
