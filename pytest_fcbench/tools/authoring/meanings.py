"""Values that suit a parameter, by what it is called and by what its doc says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from pytest_fcbench.domain.function_doc import Schema

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ALIKE = {
    **dict.fromkeys(("username", "receiver", "sender", "contact", "author", "person", "customer"), "user"),
    **dict.fromkeys(("directory", "dir"), "folder"),
    **dict.fromkeys(("stock", "ticker"), "symbol"),
    **dict.fromkeys(("location", "town"), "city"),
    **dict.fromkeys(("traveler", "passenger", "cardholder", "owner"), "holder"),
    "filename": "file",
    "zip": "zipcode",
}
"""Words that name the same thing."""
_GENERAL = frozenset(
    {"id", "name", "value", "text", "content", "number", "type", "current", "of", "the", "new"}
)
"""Words that say nothing about what is meant."""

_TEXTS: Sequence[tuple[str, Sequence[str]]] = (
    ("password", ("lantern-4411", "bluefinch-88", "harbour-7719")),
    ("secret token", ("k7qz41mb", "t90xw3rd", "m55pc8ha")),
    ("email mail", ("mira@example.org", "jonas@example.org", "aiko@example.org")),
    ("phone", ("555-0142", "555-0117", "555-0183")),
    ("first", ("Mira", "Jonas", "Aiko")),
    ("last surname", ("Solberg", "Okafor", "Lindqvist")),
    ("title subject", ("Printer is jammed again", "Wrong address on an invoice", "Heating does not start")),
    ("resolution", ("Replaced the cable", "Corrected the address", "Restarted the service")),
    ("comment", ("Well said", "I saw this too", "Thanks for the pictures")),
    (
        "message content text description body note story tweet post",
        (
            "The meeting moves to ten o'clock",
            "The parcel is at the front desk",
            "Please bring the signed form",
        ),
    ),
    ("tag hashtag", ("#harbour", "#weekend", "#cycling")),
    ("user holder", ("Mira Solberg", "Jonas Okafor", "Aiko Lindqvist")),
    ("file", ("minutes.txt", "packing_list.txt", "expenses.csv")),
    ("folder", ("drafts", "invoices", "old_reports")),
    ("airport", ("OSL", "JFK", "LHR")),
    ("currency", ("EUR", "USD", "GBP")),
    ("zipcode", ("94105", "10115", "60601")),
    ("address street", ("12 Mill Lane, Springfield, IL", "8 Quay Street, Portland, OR")),
    ("city", ("Bergen", "Kyoto", "Porto")),
    ("country", ("Norway", "Japan", "Portugal")),
    ("url link", ("https://example.org/plans", "https://example.org/terms")),
    ("color", ("green", "dark blue", "red")),
    ("language", ("Norwegian", "Japanese", "Portuguese")),
)
"""Texts by the words of a parameter that they suit; the first line that has a word counts."""
_FORMS = {
    r"YYYY-MM-DDT": ("2024-05-17T09:30:00", "2024-11-02T16:00:00"),
    r"YYYY-MM-DD|\bdates?\b": ("2024-05-17", "2024-11-02", "2025-01-20"),
    r"MM/YYYY": ("09/2027", "04/2028"),
    r"\btime\b": ("09:30", "16:00"),
}
_NUMBERS = (2, 3, 5, 8, 12, 25, 40, 75, 120, 250)
_FEW = re.compile(r"\b(?:count|lines?|quantity|number|days?|people|guests?|passengers?|rating|priority)\b")
_RANGE = re.compile(r"\b(\d{1,4}) ?(?:to|-|–|and) ?(\d{1,4})\b")
_EXAMPLE = re.compile(r"[\"'`‘“](\w[^\"'`’”]{0,39})[\"'`’”]")
_CODES = re.compile(r"(?:such as|e\.g\.|one of|:) ((?:\w{1,5}(?:, | or | and ))+\w{1,5})\b")
_MADE_ANEW = re.compile(r"\bnew\b|\bnot taken\b", re.IGNORECASE)


@cache
def list_words(text: str) -> frozenset[str]:
    """List the words of a name or a description, those that mean the same as one."""
    words = (word.lower() for word in _WORD.findall(text))
    single = (word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word for word in words)
    return frozenset(_ALIKE.get(word, word) for word in single)


def rate_fit(name: str, schema: Schema, label: frozenset[str]) -> int:
    """Rate how well a value suits a parameter, by the words under which it is known; 0 if none is shared."""
    if wants_fresh_value(name, schema):
        return 0
    name_words, description_words = list_words(name), list_words(str(schema.get("description", "")))
    shared_words = (name_words & label) - _GENERAL
    return (
        3 * len(shared_words)
        + len((description_words & label) - _GENERAL)
        + bool(shared_words and name_words & label & _GENERAL)
    )


def wants_fresh_value(name: str, schema: Schema) -> bool:
    """Tell whether a parameter takes what a user makes up: a text to write, or the name of a new thing."""
    text_names = "title subject resolution comment message content description body note story"
    is_written = not list_words(name).isdisjoint(text_names.split()) and "id" not in list_words(name)
    return is_written or bool(_MADE_ANEW.search(str(schema.get("description", ""))))


def draw_fresh_value(name: str, schema: Schema, draw: Random) -> object:
    """Draw a value that suits a parameter by its name, its type and its description."""
    items, properties, options = schema.get("items"), schema.get("properties"), schema.get("enum")
    if isinstance(options, list) and options:
        return draw.choice(options)
    match schema.get("type"):
        case "array":
            return [draw_fresh_value(name, items, draw)] if isinstance(items, Mapping) else []
        case "dict":
            members = properties.items() if isinstance(properties, Mapping) else ()
            return {key: draw_fresh_value(key, member, draw) for key, member in members}
        case "boolean":
            return draw.random() < 0.5
        case "integer":
            return draw_number(name, schema, draw)
        case "float":
            return float(draw_number(name, schema, draw))
    return draw.choice(list_texts(name, str(schema.get("description", "")), draw))


def draw_number(name: str, schema: Schema, draw: Random) -> int:
    """Draw a number within the range that is declared or described, else a usual one."""
    description = f"{name.replace('_', ' ')} {schema.get('description', '')}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if range_match := _RANGE.search(description):
        low, high = int(range_match[1]), int(range_match[2])
    if isinstance(low, int) and isinstance(high, int) and low <= high:
        return draw.randint(low, high)
    return draw.choice(_NUMBERS[:3] if _FEW.search(description) else _NUMBERS)


def list_texts(name: str, description: str, draw: Random) -> Sequence[str]:
    """List texts that suit a parameter: examples of its description, else usual ones."""
    if examples := _EXAMPLE.findall(description):
        return list(examples)
    if codes := _CODES.search(description):
        return re.split(r", | or | and ", codes[1])
    name_words, description_words = list_words(name), list_words(description)
    for form, dates in _FORMS.items():
        if re.search(form, f"{description} {' '.join(name_words)}"):
            return dates
    for words in (name_words, description_words):
        for of, texts in _TEXTS:
            if not words.isdisjoint(of.split()):
                return texts
    # Nothing is known about it but its name.
    return [f"{' '.join(_WORD.findall(name)).lower() or 'text'} {draw.choice(_NUMBERS)}"]
