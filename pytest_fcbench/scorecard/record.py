"""Records, one for each entry or trial: the basis of all scores and reports, and their JSON.

The fields of a ``Record`` are the keys of its JSON object (``metadata.fcbench`` in a report), in their order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias, TypedDict

from pydantic import Field, PlainSerializer, PlainValidator, Strict, TypeAdapter, WithJsonSchema

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Stratum, name_cluster
from pytest_fcbench.domain.json_values import (
    DESCRIBED,
    EXTENDED,
    JsonObject,
    Number,
    StrictSchema,
    Unwalked,
    one_of,
    read_json,
)
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names
from pytest_fcbench.domain.stream_comparison import ComparedStream, compare_streams
from pytest_fcbench.domain.transcript import (
    PAID,
    AuxiliaryCall,
    CallCounts,
    Completion,
    Ending,
    Fault,
    Party,
    Transcript,
    completion_from_json,
    completion_to_json,
    separate_reasoning,
)
from pytest_fcbench.domain.verdict import (
    OWN_ASSERTION,
    Failed,
    Judgement,
    JudgeRating,
    NotScored,
    PathScore,
    Profile,
    Verdict,
    Verdicts,
)


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds, tokens and dollars of one completion; null where unknown."""

    __pydantic_config__ = EXTENDED

    latency_s: Number | None = None
    """Seconds."""
    input_tokens: Annotated[int, Strict()] | None = None
    output_tokens: Annotated[int, Strict()] | None = None
    usd: Number | None = None
    """Dollars."""
    cached_tokens: Annotated[int, Strict()] | None = None
    """Input tokens that the server found in its cache."""
    cache_write_tokens: Annotated[int, Strict()] | None = None
    """Input tokens that the server wrote to its cache for a price of its own."""
    reasoning_tokens: Annotated[int, Strict()] | None = None
    """Output tokens that are reasoning."""


_USAGE = tuple(each.name for each in fields(Usage))
_SUMS = ("latency_s", "input_tokens", "output_tokens", "usd")
"""The members of usage whose sums stand in a Record."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A judge's rating of a reply in words."""

    score: Annotated[int, Strict(), Field(ge=0, le=2)] | None
    """Null where the judge gave no score."""
    code: str | None
    """The cause where the judge gave no score, else null."""
    reason: str


_COMPLETION: Mapping[str, object] = {
    "text": {"type": ["string", "null"]},
    "tool_calls": {
        "type": ["array", "null"],
        "items": {"type": ["object", "string"]},
        "description": "calls as {name: arguments} each, or a text part; null if the reply had none",
    },
    "reasoning": {"type": ["string", "null"]},
    "fault": {"enum": [None, *Fault]},
}
_ENDING: Mapping[str, object] = {
    "finish_reason": {"type": "string", "description": "the server's word for why the answer ended"},
    "ending": {"enum": list(Ending)},
    "refusal": {"type": "string"},
    "in_parts": {"type": "boolean"},
    "protocol": {
        "type": "array",
        "items": {"type": "string"},
        "description": "codes of what the server did against its interface; no verdict depends on them",
    },
}
"""The optional members of a completion, each left out where it would say nothing."""
_MARKS: Mapping[str, object] = {
    "reasoning_marks": {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 2,
        "maxItems": 2,
        "description": "the texts around the reasoning, where it came in the text: before it and behind it",
    }
}


def describe_object(
    properties: Mapping[str, object], optional: Mapping[str, object] = MappingProxyType({})
) -> dict[str, Any]:
    """Describe an object with these keys, and at most the optional ones beside, as a JSON Schema."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": {**properties, **optional},
    }


def _read_aside(value: object) -> AuxiliaryCall:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    # Scorecards of older versions lack it.
    usage = read_json(_usage_adapter(), value.get("usage", {}))
    completion = restore_completion(value, usage)
    return AuxiliaryCall(Party(value["party"]), str(value["digest"]), completion, usage.usd)


def _write_aside(aside: AuxiliaryCall) -> dict[str, object]:
    members = {"party": aside.party, "digest": aside.digest, **completion_to_json(aside.completion)}
    if aside.party not in PAID:
        return members
    return {**members, "usage": asdict(measure_completion(aside.completion, aside.usd))}


def measure_completion(completion: Completion, usd: float | None) -> Usage:
    """Return the seconds, tokens and dollars of a completion."""
    return Usage(usd=usd, **read_figures(completion))


def read_figures(source: Completion | Usage) -> dict[str, Any]:
    """Return the seconds and tokens of a completion, as they stand in its usage too."""
    return {name: getattr(source, name) for name in _USAGE if name != "usd"}


def restore_completion(value: Mapping[str, object], usage: Usage) -> Completion:
    """Return a stored completion with its seconds and tokens. Raises KeyError or TypeError."""
    return replace(read_answer(value), **read_figures(usage))


_Completion: TypeAlias = Annotated[
    Mapping[str, object], Unwalked(Mapping, describe_object(_COMPLETION, {**_ENDING, **_MARKS}))
]
_DIGEST = {"type": "string", "description": "of the question"}
_NUMBER = {"type": ["number", "null"]}
_ASIDE = describe_object({"party": {"enum": list(Party)}, "digest": _DIGEST, **_COMPLETION}, _ENDING)
_ASIDE["properties"]["usage"] = describe_object(dict.fromkeys(_SUMS, _NUMBER), dict.fromkeys(_USAGE, _NUMBER))
_Aside: TypeAlias = Annotated[
    AuxiliaryCall,
    PlainValidator(_read_aside),
    PlainSerializer(_write_aside, return_type=JsonObject),
    WithJsonSchema(_ASIDE),
]


@dataclass(frozen=True, slots=True)
class Record:
    """The outcome of one entry, or of one trial of it."""

    __pydantic_config__ = DESCRIBED

    entry: Annotated[str, Field(json_schema_extra={"pattern": "^[^:]+:.+$"})]
    """suite:id"""
    suite: str
    category: str
    group: str
    model: str
    mode: Annotated[str, one_of(*Mode)]
    names: Annotated[str, one_of(*Names)]
    syntax: str
    verdicts: Verdicts
    trial: Annotated[int, Strict(), Field(ge=1)] | None = None
    """The number of the trial, from 1; null in a run without trials."""
    latency_s: Number | None = field(default=None, init=False, repr=False)
    """Seconds, summed over the steps."""
    input_tokens: int | None = field(default=None, init=False, repr=False)
    """Summed over the steps."""
    output_tokens: int | None = field(default=None, init=False, repr=False)
    """Summed over the steps."""
    usd: Number | None = field(default=None, init=False, repr=False)
    """Dollars, summed over the steps; null where no price is known."""
    steps: tuple[Usage, ...] = ()
    """One for each completion, in order."""
    turns: tuple[tuple[_Completion, ...], ...] = ()
    """The completions of each turn as JSON values; empty where no answer came."""
    marks: tuple[str, ...] = ()
    """Marks of its test that do not follow from suite and category: the user's own."""
    cluster: str | None = None
    """A name that the entry shares with those of its suite that pass and fail with it, in any category; null
    in scorecards of older versions, where it follows from the id."""
    asides: tuple[_Aside, ...] = ()
    """Answers of parties other than the model under test."""
    paths: Mapping[Profile, PathScore] = field(default_factory=dict)
    """Progress along the golden path by profile; empty without one."""
    as_written: Verdicts | None = None
    """Verdicts on the same calls as written, where calls are judged by what they return; else null."""
    rating: Rating | None = None
    """A judge's rating of a reply in words; null where no judge was asked."""
    stratum: Annotated[str | None, one_of(None, *Stratum)] = None
    """Stratum of difficulty; null where the suite does not say what makes the entry hard."""
    calls: CallCounts | None = None
    """Counts of the model's calls; null where no answer came."""
    served: tuple[str, ...] = ()
    """Who served the answers, as replies say: each ``model=``, ``system_fingerprint=`` or ``provider=``; of
    right calls that were put through the server the way, ``forced=``."""
    streams: tuple[ComparedStream, ...] = ()
    """Of each reply, where its stream differs; empty where no stream was compared."""

    def __post_init__(self) -> None:
        for name in _SUMS:
            object.__setattr__(self, name, self._sum_steps(name))

    def _sum_steps(self, name: str) -> Any:
        """Sum up what is known of a member of usage."""
        # A step without a figure does not hide those of the others.
        known_values = [value for step in self.steps if (value := getattr(step, name)) is not None]
        # A sum of one number would be another object of the same value.
        return sum(known_values) if len(known_values) > 1 else next(iter(known_values), None)

    def path(self, profile: Profile) -> PathScore | None:
        """Return the progress along the golden path; None where the entry has none, or nothing is known."""
        return self.paths.get(profile)

    def verdict(self, profile: Profile) -> Verdict:
        """Return the verdict of one profile."""
        return self.verdicts.select_profile(profile)

    @property
    def is_judged_by_test(self) -> bool:
        """True where an assertion of a test decided, which only that test can judge again."""
        verdicts = (self.verdicts.official, self.verdicts.corrected)
        failures = [each for each in verdicts if isinstance(each, Failed)]
        return any(each.code == OWN_ASSERTION and "place" in each.details for each in failures)

    def replace_judgement(self, judgement: Judgement) -> Record:
        """Return the Record with another judgement of the same answers."""
        return replace(self, **_list_judged_members(judgement))

    @property
    def unit(self) -> str:
        """The unit of sampling: the cluster, or else the entry. Verdicts within a unit may be alike."""
        # Scorecards of older versions and baselines lack clusters that follow from ids.
        entry_id = self.entry.removeprefix(f"{self.suite}:")
        return f"{self.suite}:{name_cluster(self.suite, entry_id, self.cluster)}"

    @property
    def answers(self) -> Iterator[Mapping[str, object]]:
        """The completions of all turns as JSON values, in order."""
        return chain.from_iterable(self.turns)

    @property
    def item_id(self) -> str:
        """The parameter id of its test."""
        return self.entry if self.trial is None else f"{self.entry}-t{self.trial}"

    @property
    def usage(self) -> Usage:
        """Sums over the steps."""
        return Usage(**{name: self._sum_steps(name) for name in _USAGE})


_LATER = {"cluster", "asides", "paths", "as_written", "rating", "stratum", "calls", "served", "streams"}
"""Keys that scorecards of older versions lack."""
_REQUIRED = tuple(each.name for each in fields(Record) if each.name not in {*_SUMS, *_LATER})


@dataclass(frozen=True, slots=True)
class EarlierConversation:
    """A conversation that was held once and continued by several entries, in no Record of its own."""

    entry: str
    """suite:id"""
    steps: tuple[Usage, ...]
    """One for each completion, in order."""
    turns: tuple[tuple[_Completion, ...], ...]
    """The completions of each turn as JSON values."""


Pricing: TypeAlias = Callable[[Completion, Party], float | None]
"""The price of a party's completion in dollars; None where it is not known."""


def price_nothing(completion: Completion, party: Party) -> None:
    """Return None, because no price is known."""


def build_record(
    entry: Entry,
    manner: ModelPresentation,
    judgement: Judgement,
    transcript: Transcript | None,
    usd: Pricing = price_nothing,
    marks: tuple[str, ...] = (),
    calls: CallCounts | None = None,
) -> Record:
    """Build the Record of an entry; ``transcript`` is None where no answer came, ``marks`` are the user's."""
    transcript = transcript or Transcript(entry.key, manner.model, manner.prompting, ())
    cluster = name_cluster(entry.suite, entry.id, entry.cluster)
    return Record(
        entry=entry.key,
        suite=entry.suite,
        category=entry.category.name,
        group=entry.category.group,
        model=manner.model,
        mode=manner.prompting.mode,
        names=manner.prompting.names,
        syntax=manner.prompting.syntax,
        trial=entry.trial,
        steps=_measure_steps(transcript, usd),
        turns=_write_turns(transcript),
        marks=marks,
        cluster=None if cluster == entry.id else cluster,
        asides=tuple(replace(aside, usd=usd(aside.completion, aside.party)) for aside in transcript.asides),
        stratum=entry.stratum and entry.stratum.value,
        calls=calls,
        streams=compare_streams(transcript),
        served=tuple(dict.fromkeys(each for one in transcript.completions for each in one.served)),
        **_list_judged_members(judgement),
    )


class _JudgedMembers(TypedDict):
    """The members of a Record that follow from the judgement."""

    verdicts: Verdicts
    paths: Mapping[Profile, PathScore]
    as_written: Verdicts | None
    rating: Rating | None


def _list_judged_members(judgement: Judgement) -> _JudgedMembers:
    as_written, rating = judgement.as_written, None
    match judgement.rating:
        case JudgeRating(score=score, reason=reason):
            rating = Rating(score, None, reason)
        case NotScored(cause=cause, reason=reason):
            rating = Rating(None, cause, reason)
    return {
        "verdicts": Verdicts(judgement.official, judgement.corrected),
        "paths": {profile: path for profile in Profile if (path := judgement.select_path_score(profile))},
        "as_written": as_written and Verdicts(as_written.official, as_written.corrected),
        "rating": rating,
    }


def build_earlier_conversation(
    entry: str, transcript: Transcript, usd: Pricing = price_nothing
) -> EarlierConversation:
    """Build what is kept of a conversation that other entries continue."""
    return EarlierConversation(entry, _measure_steps(transcript, usd), _write_turns(transcript))


def _measure_steps(transcript: Transcript, usd: Pricing) -> tuple[Usage, ...]:
    return tuple(measure_completion(each, usd(each, Party.MODEL)) for each in transcript.completions)


def _write_turns(transcript: Transcript) -> tuple[tuple[Mapping[str, object], ...], ...]:
    return tuple(tuple(map(write_answer, turn)) for turn in transcript.answers)


def write_answer(completion: Completion) -> Mapping[str, object]:
    """Write an answer with its reasoning apart from its text, and the marks that stood between them."""
    bare_completion, marks = separate_reasoning(completion)
    members = completion_to_json(bare_completion)
    return {**members, "reasoning_marks": list(marks)} if marks else members


def read_answer(value: Mapping[str, object]) -> Completion:
    """Read an answer of a Record as the model gave it. Raises KeyError, TypeError or ValueError."""
    completion = completion_from_json(value)
    match value.get("reasoning_marks"):
        case None:
            return completion
        case [str(opening), str(closing)]:
            text = f"{opening}{completion.reasoning}{closing}{completion.text}"
            return replace(completion, text=text, reasoning=None)
    raise ValueError("reasoning_marks: expected the two texts around the reasoning")


def group_by_category(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group Records by category, in the order of every table."""
    groups: dict[str, list[Record]] = {}
    for item in records:
        groups.setdefault(item.category, []).append(item)
    # Files may come from a newer version or a plugin, with categories that are not known here.
    names = (*CATEGORIES, *sorted(groups.keys() - CATEGORIES))
    return {name: groups[name] for name in names if name in groups}


def group_with_all(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group Records by category, and all of them under ``all``; empty without Records."""
    every = list(records)
    return {**group_by_category(every), "all": every} if every else {}


def sort_records(records: Iterable[Record]) -> list[Record]:
    """Sort Records by category and entry, whatever order they came in."""
    # xdist and shards finish in any order; equal runs give equal files.
    place = {name: index for index, name in enumerate(CATEGORIES)}

    def find_place(record: Record) -> tuple[int, str, list[tuple[int, str]], str, int]:
        # Numbers count by their value, so that ``parallel_10`` comes after ``parallel_9``; texts tell ``a_1``
        # from ``a-01``.
        entry = [
            (int(part), "") if part.isdecimal() and len(part) < _LONGEST_NUMBER else (-1, part)
            for part in re.split("[-:_=]", record.entry)
        ]
        return place.get(record.category, len(place)), record.suite, entry, record.entry, record.trial or 0

    return sorted(records, key=find_place)


# CPython's int() refuses texts of more than 4,300 digits (CVE-2020-10735), and ids come from files.
_LONGEST_NUMBER = 4000
"""Digits that ``int()`` accepts at most, rounded down."""


# Built on first use, not on import: pydantic compiles a validator for all nested classes.
@cache
def _adapter() -> TypeAdapter[Record]:
    return TypeAdapter(Record)


@cache
def _usage_adapter() -> TypeAdapter[Usage]:
    return TypeAdapter(Usage)


def to_json(record: Record) -> dict[str, object]:
    """Write a Record as the JSON object that reports carry (``metadata.fcbench``)."""
    json_object: dict[str, object] = _adapter().dump_python(record, by_alias=True, warnings=False)
    return json_object


def write_record(record: Record) -> str:
    """Write a Record as JSON on one line; values of models that JSON does not have become texts."""
    return json.dumps(to_json(record), default=str)


def from_json(value: Mapping[str, object]) -> Record:
    """Read a Record from a JSON object of ``to_json``. Raises KeyError or TypeError on any other."""
    # Some fields have defaults, so pydantic would accept their absence.
    if missing := [key for key in _REQUIRED if key not in value]:
        raise KeyError(missing[0])
    try:
        return read_json(_adapter(), value)
    except TypeError as error:
        # A scorecard holds thousands of records, so the message names the one.
        raise TypeError(f"the record of {value['entry']!r}: {error}") from None


def json_schema() -> dict[str, dict[str, Any]]:
    """Generate the JSON Schemas of a Record and of its parts, by name."""
    schema = _adapter().json_schema(schema_generator=StrictSchema, mode="serialization")
    parts: dict[str, dict[str, Any]] = schema.pop("$defs")
    schema["required"] = [key for key in schema["required"] if key not in _LATER]
    return {"record": schema, **parts}
