"""Golden paths and scripted answers made at random: right calls, and every way in which they can go wrong."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, Lookup

Answer: TypeAlias = "str | list[tuple[str, str]] | None"
"""Text, calls as name and JSON text, or no answer at all."""

LOOKUPS = (
    Lookup("Location_to_Lat_Long", forgiven=False),
    *map(
        Lookup,
        (
            "Search_Hotel_Destination",
            "Search_Attraction_Location",
            "Search_Car_Location",
            "Search_Flight_Location",
            "Taxi_Search_Location",
        ),
    ),
    Lookup("Search_Hotels", {"search_type": "hotel"}),
)
JUDGED = frozenset(("query", "adults", "price_max"))


def _make_doc(
    name: str, required: Mapping[str, str], optional: Mapping[str, str] | None = None
) -> FunctionDoc:
    properties = {key: {"type": kind} for key, kind in {**required, **(optional or {})}.items()}
    return FunctionDoc(name, "", {"type": "object", "properties": properties, "required": list(required)})


DOCS = (
    _make_doc("Search_Hotel_Destination", {"query": "string"}),
    _make_doc("Search_Flight_Location", {"query": "string"}),
    _make_doc("Location_to_Lat_Long", {"query": "string"}),
    _make_doc("Taxi_Search_Location", {"query": "string"}, {"languagecode": "string"}),
    _make_doc(
        "Search_Hotels",
        {"search_type": "string", "dest_id": "string", "arrival_date": "string"},
        {"adults": "number", "categories_filter": "string"},
    ),
    _make_doc("Get_Hotel_Details", {"hotel_id": "string", "arrival_date": "string"}),
    _make_doc("Get_Hotel_Reviews(Tips)", {"hotel_id": "string"}, {"sort_option_id": "string"}),
    _make_doc("Get_Currency", {}),
    _make_doc(
        "Search_Flights", {"fromId": "string", "toId": "string", "departDate": "string"}, {"adults": "number"}
    ),
)
_VALUES: Mapping[str, Sequence[object]] = {
    "query": ("Bergen", "Oslo", "Tromsø"),
    "languagecode": ("en", "no"),
    "search_type": ("hotel", "city"),
    "dest_id": ("11", "22"),
    "hotel_id": ("101", "102"),
    "arrival_date": ("2030-05-01", "2030-05-02"),
    "departDate": ("2030-05-01", "2030-05-03"),
    "fromId": ("AAA.AIRPORT", "BBB.AIRPORT"),
    "toId": ("CCC.AIRPORT", "AAA.AIRPORT"),
    "sort_option_id": ("NEW", "OLD"),
    "adults": (1, 2),
    "categories_filter": ("a::1,b::2", "b::2"),
}


@dataclass
class Case:
    """An entry, and what the model answers to it in order."""

    entry: Entry
    answers: list[Answer] = field(default_factory=list)
    live: bool = False


def make_case(seed: int) -> Case:
    """Make a case at random, the same for the same seed."""
    draw = Random(seed)
    docs = draw.choice((DOCS, DOCS, DOCS, DOCS[:4], DOCS[:5], DOCS[4:6]))
    widths, longest = draw.choice((((1, 1, 2, 3), 4), ((1, 2), 8), ((3, 4), 2)))
    made: list[RecordedCall] = []
    steps: list[list[RecordedCall]] = []
    for _ in range(draw.randint(1, longest)):
        steps.append([])
        for _ in range(draw.choice(widths)):
            again = made and draw.random() < 0.05
            made.append(draw.choice(made) if again else _draw_call(draw, docs))
            steps[-1].append(made[-1])
    entry = make_path_entry(steps)
    path = entry.expectation
    assert isinstance(path, GoldenPath)
    answers: list[Answer] = []
    for step in path.steps:
        answers += _draw_answers(draw, step, path)
    answers += draw.choice(([], [[_write_call(draw, path.calls[0])]], [None], [""]))
    return Case(entry, answers, live=draw.random() < 0.2)


def make_path_entry(
    steps: Sequence[Sequence[RecordedCall]],
    *,
    recorded: Sequence[RecordedCall] = (),
    functions: Sequence[FunctionDoc] = DOCS,
    category: str = "hotels",
    lookups: Sequence[Lookup] = LOOKUPS,
) -> Entry:
    """Make an entry with this golden path."""
    path = GoldenPath(tuple(map(tuple, steps)), tuple(lookups), JUDGED, recorded=tuple(recorded))
    return Entry(
        suite="core",
        id=f"{category}_0",
        category=CATEGORIES[category],
        turns=((Message("user", "Find me a bed."),),),
        functions=tuple(functions),
        expectation=path,
    )


def write_official_record(entry: Entry) -> dict[str, object]:
    """Return the entry in the form of the official file."""
    path = entry.expectation
    assert isinstance(path, GoldenPath)
    turns: list[dict[str, object]] = [{"role": "user", "content": entry.turns[0][0].content}]
    for step in path.steps:
        made = [{"name": call.name, "arguments": dict(call.arguments)} for call in step]
        turns += [
            {"role": "assistant", "function_call": made},
            {"role": "observation", "content": [call.reply_value for call in step]},
        ]
    functions = [
        {"name": d.name, "description": d.description, "parameters": d.parameters} for d in entry.functions
    ]
    return {
        "id": "Hotels-0",
        "conversations": [*turns, {"role": "assistant", "content": ""}],
        "functions": functions,
    }


def _draw_call(draw: Random, docs: Sequence[FunctionDoc]) -> RecordedCall:
    doc = draw.choice(docs)
    names = [name for name in doc.properties if name in doc.required or draw.random() < 0.5]
    draw.shuffle(names)
    arguments = {name: draw.choice(_VALUES[name]) for name in names}
    written = json.dumps([doc.name, arguments], sort_keys=True)
    return RecordedCall.with_reply(
        doc.name, arguments, {"status": True, "data": zlib.crc32(written.encode())}
    )


def _draw_answers(draw: Random, step: Sequence[RecordedCall], path: GoldenPath) -> list[Answer]:
    """Draw the answers of a model to a step: mostly right, at once or one call after the other."""
    calls = [_write_call(draw, call) for call in step]
    if draw.random() < 0.2:
        calls.append(_write_call(draw, draw.choice(path.calls)))
    if draw.random() < 0.1:
        calls.pop(draw.randrange(len(calls)))
    draw.shuffle(calls)
    if draw.random() < 0.05:
        return ["Which hotel?"]
    if not calls:
        return []
    return [calls] if draw.random() < 0.8 else [[call] for call in calls]


def _write_call(draw: Random, call: RecordedCall) -> tuple[str, str]:
    """Write a call as a model would, sometimes wrong."""
    name, arguments = call.name.replace("(", "-").replace(")", "-"), dict(call.arguments)
    some = draw.choice(list(arguments) or [""])
    ways = (60, 6, 6, 4, 4, 4, 3, 2, 1, 1, 1) if some else (60, 0, 0, 0, 4, 0, 3, 2, 1, 1, 1)
    match draw.choices(range(11), ways)[0]:
        case 1:  # the same in other letters
            arguments[some] = str(arguments[some]).swapcase() if isinstance(arguments[some], str) else 7
        case 2:
            arguments[some] = draw.choice(_VALUES[some])
        case 3:
            del arguments[some]
        case 4:
            extra = draw.choice(list(_VALUES))
            arguments[extra] = draw.choice(_VALUES[extra])
        case 5:
            arguments[some] = draw.choice((True, None, 3, ["x"], "fails"))
        case 6:
            name = draw.choice(DOCS).name.replace("(", "-").replace(")", "-")
        case 7:
            name = "no_such_function"
        case 8:
            return name, json.dumps(arguments)[:-1]
        case 9:
            return name, draw.choice(("[]", "null", "3", '""', "[1, 2]"))
        case 10:
            return name, "{}"
    return name, json.dumps(dict(draw.sample(sorted(arguments.items()), len(arguments))))
