"""Read quantities as arguments of calls write them, where the parameter says what is asked for.

- "$" and "dollars" alone are those of the USA, and a day's midnight is the day.
- A number can be a bound: ``8+`` is "at least 8".
- Behind a number the parameter's own word says nothing: ``5-star`` as a ``star_rating``, ``2 adults``.
- A latitude or a longitude has a minus, or the letter of its direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from fractions import Fraction

from pytest_fcbench.judging.equivalence.quantities import Quantity, read_quantities

_LONGEST = 60
"""Characters of the longest text that is read."""


def read_asked_quantities(words: Sequence[str], value: object) -> frozenset[Quantity]:
    """Return every quantity that a value may write for a parameter with these words in its name."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return read_quantities(value)
    text = " ".join(value.split())
    if (degrees := _read_position(words, text.casefold().replace("−", "-"))) is not None:
        return frozenset({degrees})
    own_words = {re.escape(word.removesuffix("s")) for word in words if len(word) > 2}
    own_words |= {pattern for word, pattern in _ALSO.items() if word in words}
    pattern = rf"(?<=[\w+])[ -]?(?:{'|'.join(sorted(own_words, key=len, reverse=True)) or '(?!)'})s?(?!\w)"
    bare_text = re.sub(pattern, "", text, flags=re.IGNORECASE)
    quantities = {*_read_amounts(text), *_read_amounts(bare_text)}
    for meaning in [meaning for meaning in quantities if meaning.kind == "moment"]:
        moment = datetime.fromisoformat(str(meaning.amount))
        # A midnight of another zone than UTC is none of the day that is written.
        if moment.time() == time() and not _OFFSET.search(text):
            quantities.add(Quantity("date", moment.date()))
    return frozenset(quantities)


_OFFSET = re.compile(r"[+-](?!00:?00)\d\d:?\d\d$")


def _read_amounts(text: str) -> Iterator[Quantity]:
    """Read a quantity or a bound of one."""
    bounds = ((kind, match) for kind, pattern in _BOUNDS.items() if (match := pattern.fullmatch(text)))
    kind, match = next(bounds, ("", None))
    amount = " ".join(part.strip() for part in match.groups() if part) if match else text
    # The sign and the code of a currency may stand at both sides: $5 USD.
    money = _SIGN_AND_CODE.fullmatch(amount)
    readings = [money[1] + money[2], money[2] + money[3]] if money else [amount]
    meanings = [
        frozenset(
            meaning._replace(kind=meaning.kind.replace("money dollars", "money USD"))
            for meaning in read_quantities(reading)
            if not kind or isinstance(meaning.amount, Fraction)
        )
        for reading in readings
    ]
    for meaning in frozenset.intersection(*meanings):
        yield meaning._replace(kind=f"{kind}{meaning.kind}")


_SIGN_AND_CODE = re.compile(r"([$€£¥₹] ?)(\d[\d,.]*)( ?[A-Za-z]{3})", re.ASCII)
_BOUNDS = {
    f"{kind} ": re.compile(
        rf"(?:{before})(?![a-z]) ?(\S.*)|([^ ]+?(?: [^ ]+?)?) ?(?:{behind})( ?[a-z].*)?", re.IGNORECASE
    )
    for kind, before, behind in (
        (
            "at least",
            r"at least|no less than|not less than|from|min\.?|minimum(?: of)?|>=|≥",
            r"\+|plus|(?:and|or|&) (?:up|upwards?|more|above|over|higher|better|greater)",
        ),
        (
            "at most",
            r"at most|no more than|not more than|up to|max\.?|maximum(?: of)?|<=|≤",
            r"(?:and|or|&) (?:less|fewer|below|under|lower|down)",
        ),
        ("more than", "more than|greater than|above|over|>", "(?!)"),
        ("less than", "less than|fewer than|below|under|<", "(?!)"),
    )
}
"""Signs and words before a number, or behind it, that make it a bound; ``(?!)`` is found nowhere."""


_STARS = r"stars? hotel|star|\*|★"
_ALSO = {
    **dict.fromkeys(("star", "stars", "class", "rating"), _STARS),
    **dict.fromkeys(("age", "ages"), "year"),
    "time": "h|hr|hour",
}
"""Words that may stand behind a number too, by a word in the parameter's name."""


def _read_position(words: Sequence[str], text: str) -> Quantity | None:
    """Read a latitude, a longitude, or both with a comma or a space between them."""
    for directions, names in _AXES.items():
        if not names.isdisjoint(words):
            degrees = _read_degrees(text, directions)
            return None if degrees is None else Quantity("number", degrees)
    parts = re.split(r" ?[,;] ?| (?=[-+\d])", text.strip("()[] "))
    if _POSITIONS.isdisjoint(words) or len(parts) != 2:
        return None
    position = tuple(map(_read_degrees, parts, _AXES))
    return None if None in position else Quantity("position", position)


_AXES = {
    "ns": frozenset(("lat", "latitude")),
    "ew": frozenset(("lon", "lng", "long", "longitude")),
}
_POSITIONS = frozenset(("coordinate", "coordinates", "position", "location", "geo", "latlng", "latlon"))
_DEGREES = re.compile(
    r"(?P<before>[nsew]|north|south|east|west)? ?(?P<number>[-+]?\d{1,3}(?:\.\d+)?) ?(?:°|deg|degrees)? ?"
    r"(?P<behind>[nsew]|north|south|east|west)?",
    re.ASCII,
)


def _read_degrees(text: str, directions: str) -> Fraction | None:
    """Read degrees along an axis between two directions; south and west are below zero."""
    match = _DEGREES.fullmatch(text)
    if not match:
        return None
    number, direction = Fraction(match["number"]), match["before"] or match["behind"]
    if not direction:
        return number
    # With a sign and a direction nobody knows which counts, and of two directions one is too many.
    is_certain = match["number"][0].isdigit() and not (match["before"] and match["behind"])
    if not is_certain or direction[0] not in directions:
        return None
    return -number if direction[0] in "sw" else number
