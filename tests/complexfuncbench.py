"""A synthetic file in the official shape of ComplexFuncBench; all of its content is made up here.

As officially, 1,000 records stand for 100 templates of ten paraphrases, in five domains; the calls of each
domain, the steps, the width of first steps and the names of functions and parameters are the official ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]

COUNTS: Mapping[str, int] = {
    "Hotels": 150,
    "Flights": 150,
    "Car-Rental": 150,
    "Attraction": 150,
    "Cross": 400,
}
"""Records of a domain."""

_PARAMETERS = """
Booking_Summary: *search_key *vehicle_id
Get_Attraction_Details: *slug
Get_Availability: *slug date
Get_Availability_Calendar: *id
Get_Description_And_Info: *hotel_id
Get_Filter: *dest_id *search_type *arrival_date *departure_date adults room_qty children_age categories_filter
Get_Flight_Details: *token
Get_Hotel_Details: *hotel_id
Get_Hotel_Policies: *hotel_id
Get_Hotel_Review_Scores: *hotel_id
Get_Hotel_Reviews(Tips): *hotel_id sort_option_id
Get_Hotel_Reviews(Tips)_Sort_Option: *hotel_id
Get_Min_Price: *fromId *toId *departDate returnDate cabinClass
Get_Min_Price_Multi_Stops: *legs cabinClass
Get_Nearby_Cities: *latitude *longitude
Get_Packages: *vehicle_id *search_key
Get_Popular_Attraction_Near_By: *hotel_id
Get_Question_And_Answer: *hotel_id
Get_Room_Availability: *hotel_id *min_date *max_date adults room_qty
Get_Room_List_With_Availability: *hotel_id *arrival_date *departure_date adults room_qty children_age
Get_Seat_Map: *offerToken
Location_to_Lat_Long: *query
Payment_features_of_the_Hotel: *hotel_id
Property_Children_Policies: *hotel_id
Search_Attraction_Location: *query
Search_Attractions: *id sortBy
Search_Car_Location: *query
Search_Car_Rentals: *pick_up_latitude *pick_up_longitude *drop_off_latitude *drop_off_longitude \
*pick_up_date *drop_off_date *pick_up_time *drop_off_time
Search_Flight_Location: *query
Search_Flights: *fromId *toId *departDate returnDate adults children sort cabinClass
Search_Flights_Multi_Stops: *legs adults children sort cabinClass
Search_Hotel_Destination: *query
Search_Hotels: *dest_id *search_type *arrival_date *departure_date adults room_qty price_min price_max sort_by
Search_Hotels_By_Coordinates: *latitude *longitude *arrival_date *departure_date radius adults room_qty
Search_Taxi: *pick_up_place_id *drop_off_place_id *pick_up_date *pick_up_time
Taxi_Search_Location: *query
Vehicle_Details: *vehicle_id *search_key
Vehicle_Supplier_Details: *vehicle_id *search_key
Vehicle_Supplier_Ratings: *vehicle_id *search_key
Vehicle_Supplier_Review: *vehicle_id *search_key
"""

_NUMBERS = ("adults", "room_qty", "price_min", "price_max", "radius")


def _make_schema(name: str) -> Record:
    text = name.replace("_", " ")
    if name == "legs":
        leg = {
            key: {"type": "string", "description": f"The {key} of a leg."}
            for key in ("fromId", "toId", "date")
        }
        return {"type": "array", "description": "All legs.", "items": {"type": "object", "properties": leg}}
    if name in _NUMBERS or "_up_l" in name or "_off_l" in name:
        return {"type": "number", "description": f"The {text}, as a number."}
    if name == "cabinClass":
        return {"type": "string", "description": "The class.", "enum": ["ECONOMY", "BUSINESS", "FIRST"]}
    return {"type": "string", "description": f"The {text} that is wanted."}


def _make_function(line: str) -> Record:
    name, words = line.split(": ")
    parameters = [word.lstrip("*") for word in words.split()]
    return {
        "name": name,
        "description": f"Find out: {name.replace('_', ' ').lower()}.",
        "parameters": {
            "type": "object",
            "properties": {parameter: _make_schema(parameter) for parameter in parameters},
            "required": [word[1:] for word in words.split() if word.startswith("*")],
        },
    }


FUNCTIONS: Mapping[str, Record] = {
    function["name"]: function for function in map(_make_function, _PARAMETERS.strip().splitlines())
}
"""The 40 functions that occur officially, with schemas of our own."""

_FIRST: Mapping[str, Sequence[str]] = {
    "Hotels": ("Search_Hotel_Destination", "Location_to_Lat_Long"),
    "Flights": ("Search_Flight_Location",),
    "Car-Rental": ("Search_Car_Location",),
    "Attraction": ("Search_Attraction_Location",),
    "Cross": ("Search_Flight_Location", "Search_Hotel_Destination", "Taxi_Search_Location"),
}
_WORDS: Mapping[str, Sequence[str]] = {
    "Hotels": ("Hotel", "Room", "Propert", "Filter", "Near", "Quest"),
    "Flights": ("Flights", "Flight_D", "Min_Price", "Seat"),
    "Car-Rental": ("Vehicle", "Rentals", "Packages", "Booking"),
    "Attraction": ("Attractions", "Attraction_D", "Availability"),
    "Cross": ("",),
}
"""What the names of the functions have in them that a domain's later steps call."""

_STEPS = {"Hotels": 50, "Flights": 50, "Car-Rental": 43, "Attraction": 43, "Cross": 140}
_CALLS = {"Hotels": 64, "Flights": 80, "Car-Rental": 69, "Attraction": 54, "Cross": 240}
"""Of all templates of a domain together."""
_FIRST_WIDTHS = (1,) * 49 + (2,) * 29 + (3,) * 19 + (4,) * 3
"""Of all templates; the wider ones are given to Cross."""


@dataclass(frozen=True)
class Template:
    """What ten records share: the functions that each step calls."""

    domain: str
    number: int
    steps: tuple[tuple[str, ...], ...]


@cache
def make_templates(seed: int = 0) -> tuple[Template, ...]:
    """Make all hundred templates."""
    chance = random.Random(f"templates {seed}")
    widths = list(_FIRST_WIDTHS)
    found: list[Template] = []
    for domain in ("Cross", "Flights", "Car-Rental", "Hotels", "Attraction"):
        count = COUNTS[domain] // 10
        first, widths = widths[-count:], widths[:-count]
        lengths = _raise_to_total(_STEPS[domain], [2] * count, chance, most=5)
        later = [[1] * (length - 1) for length in lengths]
        flat = _raise_to_total(_CALLS[domain] - sum(first), [1] * sum(map(len, later)), chance, most=6)
        names = [name for name in FUNCTIONS if any(word in name for word in _WORDS[domain])]
        chance.shuffle(first)
        for number in range(count):
            steps = [(chance.choice(_FIRST[domain]),) * first[number]]
            for _ in later[number]:
                steps.append((chance.choice(names),) * flat.pop())
            found.append(Template(domain, number, tuple(steps)))
    return tuple(sorted(found, key=lambda template: list(COUNTS).index(template.domain)))


def _raise_to_total(total: int, least: list[int], chance: random.Random, most: int) -> list[int]:
    """Return the numbers, raised at random until they add up to ``total``."""
    while sum(least) < total:
        index = chance.randrange(len(least))
        least[index] += least[index] < most
    return least


_VALUES: Mapping[str, Callable[[random.Random], object]] = {
    "query": lambda r: (
        f"{r.choice(('North', 'South', 'Old', 'New'))} {r.choice(('Harbour', 'Bridge', 'Fields'))}"
    ),
    "search_type": lambda r: r.choice(("city", "district", "hotel")),
    "cabinClass": lambda r: "ECONOMY",
    "legs": lambda r: [
        {"fromId": "AAA.AIRPORT", "toId": "BBB.CITY", "date": _draw_date(r)} for _ in range(2)
    ],
    "token": lambda r: r.randbytes(90).hex(),
    "offerToken": lambda r: r.randbytes(90).hex(),
    "search_key": lambda r: r.randbytes(60).hex(),
}


def _draw_date(chance: random.Random) -> str:
    return f"2024-{chance.randrange(11, 13)}-{chance.randrange(1, 29):02}"


def _draw_value(name: str, chance: random.Random) -> object:
    if name in _VALUES:
        return _VALUES[name](chance)
    if name in _NUMBERS:
        return chance.randrange(1, 9)
    if "date" in name.lower():
        return _draw_date(chance)
    if "tude" in name:
        degrees = round(chance.uniform(-80, 80), 13)
        return degrees if "_" in name else str(degrees)
    return "10:00" if "time" in name else str(chance.randrange(10**6))


def _draw_call(name: str, chance: random.Random) -> Record:
    parameters = FUNCTIONS[name]["parameters"]
    given = [
        key for key in parameters["properties"] if key in parameters["required"] or chance.random() < 0.4
    ]
    return {"name": name, "arguments": {key: _draw_value(key, chance) for key in given}}


@cache
def _make_items() -> Sequence[Record]:
    """Make parts of replies, about 400 bytes each as JSON."""
    chance = random.Random("items")
    return [
        {
            "id": chance.randrange(10**9),
            "name": f"Place {number}",
            "price": {"value": chance.uniform(10, 900), "currency": "EUR", "gross": {"rounded": True}},
            "rating": {
                "score": round(chance.uniform(5, 10), 1),
                "reviews": chance.randrange(5000),
                "text": None,
            },
            "badges": [{"text": "Free cancellation", "variation": "DEFAULT"}, {"text": "€ 5 günstiger"}],
            "photo": f"https://example.com/{chance.randbytes(40).hex()}.jpg",
            "where": {"latitude": chance.uniform(-80, 80), "longitude": chance.uniform(-80, 80)},
        }
        for number in range(500)
    ]


def _draw_reply(chance: random.Random, items: float) -> Record:
    """Draw a reply of about so many items on average; some are five times as long, many are short."""
    count = int(chance.expovariate(1 / items)) if items else 0
    found = chance.choices(_make_items(), k=count + 1)
    return {"status": True, "message": "Success", "data": {"count": len(found), "results": found}}


def make_record(template: Template, paraphrase: int, seed: int = 0, items: float = 2) -> Record:
    """Make one record; ``items`` says how long its replies are."""
    entry_id = f"{template.domain}-{template.number * 10 + paraphrase}"
    chance = random.Random(f"{entry_id} {seed}")
    conversations: list[Record] = [{"role": "user", "content": f"Plan journey {entry_id} for me, please."}]
    for step in template.steps:
        calls = [_draw_call(name, chance) for name in step]
        conversations.append({"role": "assistant", "function_call": calls})
        conversations.append({"role": "observation", "content": [_draw_reply(chance, items) for _ in calls]})
    conversations.append({"role": "assistant", "content": ""})
    called = {name for step in template.steps for name in step}
    offered = sorted(called | set(chance.sample(list(FUNCTIONS), 3)))
    return {
        "id": entry_id,
        "conversations": conversations,
        "functions": [FUNCTIONS[name] for name in offered],
    }


def make_records(
    seed: int = 0, items: float = 2, paraphrases: Collection[int] = range(10)
) -> Iterator[Record]:
    """Yield all records, or certain paraphrases of each template."""
    for template in make_templates(seed):
        for paraphrase in paraphrases:
            yield make_record(template, paraphrase, seed, items)


def write_file(
    path: Path, seed: int = 0, megabytes: float = 2, paraphrases: Collection[int] = range(10)
) -> Path:
    """Write a file of records with about so many megabytes of replies."""
    calls = 507 * len(paraphrases)
    items = max(0.0, megabytes * 2**20 / calls / 440 - 1)
    with path.open("w", encoding="utf-8") as file:
        for record in make_records(seed, items, paraphrases):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path
