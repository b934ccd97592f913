"""Read amounts, dates and times in all their usual forms.

Nothing is guessed: ``03/04/2024`` is no date, "$5" is of no country, and 007 is no number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.judging.gazetteer import read_currency
from pytest_fcbench.judging.words import NUMBERS, fold_text


class Quantity(NamedTuple):
    """A quantity; two are the same where kind and amount are equal."""

    kind: str
    amount: object


_LONGEST = 60
"""Characters of the longest text that is read."""


def read_quantities(value: object) -> frozenset[Quantity]:
    """Return every quantity that a JSON value may write: none, one, or two that nothing tells apart."""
    main = read_quantity(value)
    quantities = set() if main is None else {main}
    # A long number has no other reading, and its digits are not to be written.
    is_short = (
        len(value) <= _LONGEST if isinstance(value, str) else isinstance(value, int) and 0 <= value < 10**8
    )
    if not is_short:
        return frozenset(quantities)
    text = " ".join(str(value).casefold().split())
    if len(text) == 8 and text.isascii() and text.isdigit():
        day = _make_date(text[:4], int(text[4:6]), text[6:])
        quantities |= {Quantity("date", day)} if isinstance(day, date) else set()
    if (clock := _MILITARY.fullmatch(text)) and (at := _read_time(f"{clock[1]}:{clock[2]}")):
        quantities.add(Quantity("time", at))
    if main is None or not isinstance(main.amount, (Fraction, tuple)):
        return frozenset(quantities)
    if main.kind == "mass" and text.endswith(("pound", "pounds")) and isinstance(main.amount, Fraction):
        quantities.add(Quantity("money GBP", main.amount / _POUND))
    # One that can be reduced is hardly a number: 6/8 is a measure of music, or a day.
    if main.kind == "fraction" and isinstance(main.amount, tuple) and math.gcd(*main.amount[:2]) == 1:
        quantities.add(Quantity("number", Fraction(*main.amount[:2])))
    return frozenset(quantities)


_MILITARY = re.compile(r"(\d\d)(\d\d) ?(?:hours|hrs)", re.ASCII)
_POUND = Fraction("453.59237")


def read_quantity(value: object) -> Quantity | None:
    """Return the quantity that a JSON value writes, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Quantity("number", Fraction(value))
    if isinstance(value, float):
        # By repr, because 0.1 as a fraction of its bits is not the 0.1 of a text.
        return Quantity("number", Fraction(repr(value))) if math.isfinite(value) else None
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    # Superscripts are signs of their own in ``fold_text``.
    text = " ".join(fold_text(value).replace("²", "2_").replace("³", "3_").split())
    return _read_measure(text) or _read_moment(text)


# Amounts

_NUMBER = re.compile(
    r"[-−]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?: \d{3})+|(?=\.))(?:\.\d+)?", re.ASCII
)
"""With commas or spaces between thousands. A text with a leading zero is a name: a house, an area code."""
_EXPONENT = re.compile(r"(-?\d(?:\.\d+)?)e\+?(\d{1,2})", re.ASCII | re.IGNORECASE)
_SHORT_THOUSANDS = re.compile(r"(\d+(?:\.\d+)?)(k|K|M|mn|bn)", re.ASCII)
_FRACTION = re.compile(r"([1-9]\d?)/([1-9]\d?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class _QuantityTable:
    """The contents of ``quantities.toml``, which explains them."""

    scales: Mapping[str, int]
    short_scales: Mapping[str, int]
    parts: Mapping[str, Fraction]
    shared_money: Mapping[str, str]
    temperatures: Mapping[str, str]
    units: Mapping[str, Mapping[str, str]]


@cache
def _read_words() -> _QuantityTable:
    return read_table(_QuantityTable, __file__, "quantities.toml")


def _read_number(text: str) -> Fraction | None:
    if _NUMBER.fullmatch(text):
        return Fraction(text.replace(",", "").replace(" ", "").replace("−", "-"))
    if match := _EXPONENT.fullmatch(text):
        return Fraction(match[1]) * Fraction(10 ** int(match[2]))
    if match := _SHORT_THOUSANDS.fullmatch(text):
        return Fraction(match[1]) * _read_words().short_scales[match[2]]
    words = text.casefold().replace("-", " ").split()
    sign = -1 if words[:1] in (["minus"], ["negative"]) else 1
    number = _read_number_words(words[1:] if sign < 0 else words)
    return None if number is None else sign * number


def _read_number_words(words: Sequence[str]) -> Fraction | None:
    """Read a number in words, or digits before a word such as "million"."""
    parts, scales = _read_words().parts, _read_words().scales
    text = " ".join(words)
    if text in parts:
        return parts[text]
    whole, separator, part = text.rpartition(" and ")
    if separator and part in parts and (number := _read_number_words(whole.split())) is not None:
        return number + parts[part]
    # The words before the last scale are counted up in ``below``, and in ``total`` what is larger.
    total, below, last = Fraction(0), Fraction(0), ""
    for at, word in enumerate(words):
        if word == "and" and last in scales and at + 1 < len(words):
            continue
        if word in ("a", "an") and at == 0 and words[1:2] and words[1] in scales:
            below, last = Fraction(1), "one"
        elif word in scales and last:
            scale = scales[word]
            is_out_of_order = below >= 100 if scale == 100 else total % (scale * 1000) > 0
            if is_out_of_order:
                return None
            if scale == 100:
                below *= 100
            else:
                total, below = total + below * scale, Fraction(0)
            last = word
        elif word in NUMBERS:
            # Behind a word of tens only ones may stand: "twenty-one", not "twenty-zero" or "one two".
            is_one_behind_tens = NUMBERS.get(last, 0) >= 20 and 0 < NUMBERS[word] < 10
            if last and last not in scales and not is_one_behind_tens:
                return None
            below, last = below + NUMBERS[word], word
        elif at == 0 and words[1:] and words[1] in scales and _NUMBER.fullmatch(word):
            below, last = Fraction(word.replace(",", "")), "one"
        else:
            return None
    return total + below if last else None


@cache
def _read_units() -> Mapping[str, tuple[str, Fraction]]:
    """Return the dimension of each unit and its size in base units."""
    return {
        name: (dimension, Fraction(size))
        for dimension, units in _read_words().units.items()
        for size, names in units.items()
        for each in names.split(", ")
        for name in ((each, f"{each}s") if len(each) > 3 and each[-1].isalpha() else (each,))
    }


@cache
def _read_folded_units() -> Mapping[str, tuple[str, Fraction]]:
    """Return units whose case does not count, because no other is written so: KM, but neither gb nor mw."""
    meanings: dict[str, set[tuple[str, Fraction]]] = {}
    for name, unit in _read_units().items():
        if len(name) > 1:
            meanings.setdefault(name.casefold(), set()).add(unit)
    return {name: next(iter(units)) for name, units in meanings.items() if len(units) == 1}


@cache
def _read_temperatures() -> Mapping[str, str]:
    scales = _read_words().temperatures
    return {name: scale for scale, names in scales.items() for name in names.split(", ")}


_DEGREES = {
    "celsius": (Fraction(1), Fraction(0)),
    "fahrenheit": (Fraction(5, 9), Fraction(32)),
    "kelvin": (Fraction(1), Fraction("273.15")),
}
"""The size of a degree in degrees Celsius, and where zero degrees Celsius are on the scale."""


def _find_unit(word: str) -> tuple[str, Fraction] | None:
    word = word.replace("_", "").removesuffix(".")
    return _read_units().get(word) or _read_folded_units().get(word.casefold())


def read_unit(text: str) -> object:
    """Return what is the same for all names of a unit (kg, kilograms), or None."""
    if len(text) > _LONGEST:
        return None
    word = fold_text(text).replace("²", "2").replace("³", "3").strip()
    return _read_temperatures().get(word.casefold()) or _find_unit(word)


def _read_measure(text: str) -> Quantity | None:
    if fraction := _FRACTION.fullmatch(text):
        return Quantity("fraction", (int(fraction[1]), int(fraction[2])))
    if (number := _read_number(text)) is not None:
        return Quantity("number", number)
    if (sign := _LEADING_MONEY.match(text)) and (number := _read_number(text[sign.end() :])) is not None:
        money = _name_money(sign[1])
        return Quantity(money, number) if money else None
    for cut in _CUT.finditer(text):
        number, unit = _read_number(before := text[: cut.start()].strip()), text[cut.start() :].strip()
        number = _ARTICLES.get(before.casefold(), number)
        if number is None or not unit:
            continue
        if known_unit := _find_unit(unit):
            kind, factor = known_unit
            return Quantity(kind, number * factor)
        if scale := _read_temperatures().get(unit.casefold()):
            size, zero = _DEGREES[scale]
            return Quantity("temperature", (number - zero) * size)
        if money := _name_money(unit):
            return Quantity(money, number)
    return _read_compound(text)


_ARTICLES = {"a": Fraction(1), "an": Fraction(1), "half a": Fraction(1, 2), "half an": Fraction(1, 2)}
_LEADING_MONEY = re.compile(r"([^\d.\s-]{1,4}) ?(?=[-−\d.])")
_CUT = re.compile(r"(?<=[\d.])(?=[^\d.,\s])|(?<=\S) (?=\S)")
"""Places where a number may end and its unit begin."""


def _name_money(word: str) -> str | None:
    currency = _read_words().shared_money.get(word.casefold()) or read_currency(word)
    return f"money {currency}" if currency else None


_PIECE = re.compile(r"(?:,? (?:and )?)?(\d+(?:\.\d+)?) ?([a-zA-Z]+|'|\")", re.ASCII)
_INCH, _FOOT = ("length", Fraction("0.0254")), ("length", Fraction("0.3048"))
_ONLY_IN_COMPOUNDS = {"in": _INCH, '"': _INCH, "'": _FOOT}


def _read_compound(text: str) -> Quantity | None:
    """Read a measure in several units, the larger first: 1 h 30 min, 5 ft 10 in."""
    pieces, end = [], 0
    while piece := _PIECE.match(text, end):
        unit = _find_unit(piece[2]) or _ONLY_IN_COMPOUNDS.get(piece[2])
        if unit is None:
            return None
        pieces.append((Fraction(piece[1]), *unit))
        end = piece.end()
    if end < len(text) or len(pieces) < 2 or len({kind for _, kind, _ in pieces}) > 1:
        return None
    factors = [factor for *_, factor in pieces]
    if any(later >= earlier for earlier, later in pairwise(factors)):
        return None
    return Quantity(pieces[0][1], sum((number * factor for number, _, factor in pieces), Fraction(0)))


# Dates and times

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH = {name[:length]: at for at, name in enumerate(_MONTHS, 1) for length in (3, None)} | {"sept": 9}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = {name[:length]: at for at, name in enumerate(_DAYS) for length in (3, None)}

_ISO = re.compile(r"(?P<year>\d{4})([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?)", re.ASCII)
_SHORT = re.compile(r"(?P<one>\d\d?)(?P<sign>[-/.])(?P<two>\d\d?)(?P=sign)(?P<year>\d{4})", re.ASCII)
_NAMED = re.compile(
    r"(?:(?P<weekday>[a-z]+) )?(?:(?P<first>\d\d?)[ -](?P<of>[a-z]+)|(?P<name>[a-z]+)[ -](?P<day>\d\d?))"
    r"(?:[ -](?P<year>\d{4}))?",
    re.ASCII,
)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_ABBREVIATED = re.compile(r"(?<=[a-z])\.|,|\bof\b|\bthe\b")

_TIME = re.compile(
    r"(?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.0+)?)?)?(?: ?(?P<half>[ap])\.?m\.?)?"
    r"(?P<zone>z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
_CLOCK_WORDS = {"noon": time(12), "midnight": time(0)}


def _read_moment(text: str) -> Quantity | None:
    """Read a date, a time of day, or both."""
    text = text.casefold()
    if (day := _read_date(text)) is not None:
        return Quantity("date", day)
    if month := _NUMBER_MONTH.fullmatch(text) or _NAMED_MONTH.fullmatch(text):
        parts = month.groupdict()
        year = int(parts["year"] or parts["after"])
        month_name = parts.get("name")
        number = _MONTH.get(month_name, 0) if month_name else int(parts["month"] or parts["before"])
        return Quantity("month", (year, number)) if 1 <= number <= 12 else None
    if (at := _CLOCK_WORDS.get(re.sub("^12(:00)? ", "", text)) or _read_time(text)) is not None:
        return Quantity("time", at)
    # A date and a time, with a T, a comma or a space between them.
    for cut in re.finditer(r"(?<=\d)t(?=\d)|,? at |,? ", text):
        day, at = _read_date(text[: cut.start()]), _read_time(text[cut.end() :])
        if isinstance(day, date) and at is not None:
            moment = datetime.combine(day, at)
            # Near the years 1 and 9999 the moment in UTC can be no datetime.
            with suppress(OverflowError):
                if moment.tzinfo is not None:
                    return Quantity("moment", moment.astimezone(UTC))
            # Without a zone it is what some clock shows, which is no moment in UTC.
            return Quantity("moment", moment.isoformat())
    return None


_Day: TypeAlias = "date | tuple[int, int] | tuple[str, int, int, int]"
"""A date; month and day of any year; or an ambiguous date, as it is written."""


def _read_date(text: str) -> _Day | None:
    if match := _ISO.fullmatch(text):
        return _make_date(match["year"], int(match["month"]), match["day"])
    if match := _SHORT.fullmatch(text):
        one, two = int(match["one"]), int(match["two"])
        # 03/04/2024 can be two days, so it equals only a date that is written the same way.
        readings = [_make_date(match["year"], month, day) for month, day in ((one, two), (two, one))]
        days = {reading for reading in readings if reading}
        return (match["sign"], one, two, int(match["year"])) if len(days) > 1 else next(iter(days), None)
    text = " ".join(_ABBREVIATED.sub(" ", _ORDINAL.sub("", text)).split())
    # The year may also stand in front.
    text = re.sub(r"^(\d{4}) ([a-z]+ \d\d?)$", r"\2 \1", text)
    if not (match := _NAMED.fullmatch(text)):
        return None
    month = _MONTH.get(match["of"] or match["name"])
    day = None if month is None else _make_date(match["year"], month, match["first"] or match["day"])
    if (weekday := match["weekday"]) is None or day is None:
        return day
    return day if isinstance(day, date) and day.weekday() == _DAY.get(weekday) else None


def _make_date(year: str | None, month: int, day: str | int) -> date | tuple[int, int] | None:
    try:
        # Any leap year will do where none is given, so that there is a 29 February.
        full_date = date(int(year or 2024), month, int(day))
    except ValueError:
        return None
    return full_date if year else (month, int(day))


_NUMBER_MONTH = re.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d\d?)|(?P<before>\d\d?)[-/](?P<after>\d{4})", re.ASCII
)
_NAMED_MONTH = re.compile(r"(?P<name>[a-z]+)\.?,?[ -](?:of )?(?P<year>\d{4})", re.ASCII)


def read_calendar_name(text: str) -> tuple[str, int] | None:
    """Return the day of the week or the month that a name or its abbreviation means, or None."""
    name = text.strip().casefold().removesuffix(".")
    name = {"tues": "tue", "thur": "thu", "thurs": "thu", "weds": "wed"}.get(name, name)
    if name in _DAY:
        return "day", _DAY[name]
    return ("month", _MONTH[name]) if name in _MONTH else None


_PART_OF_DAY = re.compile(r" (?:in the (?P<part>morning|afternoon|evening)|at (?P<night>night))$")
_CLOCK = re.compile(
    r"(?:(?P<how>half past|quarter past|quarter to) )?(?P<hour>\d\d?|[a-z]+)(?::(?P<minute>\d\d))?"
    r"(?: o'?clock)?"
)
_PAST = {"half past": 30, "quarter past": 15, "quarter to": -15}


def _write_time_in_digits(text: str) -> str:
    """Rewrite a time in words with its part of the day (half past nine in the evening) as 9:30 pm."""
    part_of_day = _PART_OF_DAY.search(text)
    clock = part_of_day and _CLOCK.fullmatch(text[: part_of_day.start()].removeprefix("a "))
    if not part_of_day or not clock:
        return text
    hour = NUMBERS.get(clock["hour"]) or (int(clock["hour"]) if clock["hour"].isdigit() else 0)
    minutes = hour * 60 + int(clock["minute"] or 0) + _PAST.get(clock["how"] or "", 0)
    half = "am" if part_of_day["part"] == "morning" else "pm"
    # Nobody knows which half twelve in the morning is, nor which day three at night.
    if not 1 <= hour <= 11 or (part_of_day["night"] and hour < 6) or minutes < 60:
        return text
    return f"{minutes // 60}:{minutes % 60:02} {half}"


def _read_time(text: str) -> time | None:
    text = _write_time_in_digits(text)
    text = re.sub(r"^(\d\d?)[.h](\d\d)(?= ?[ap]\.?m\b)", r"\1:\2", text)
    text = re.sub(r"^(\d\d?)h(\d\d)$", r"\1:\2", text)
    text = re.sub(r"(?<=[\dm.]) (?:utc|gmt)$", "z", text)
    # An hour alone is a number, not a time.
    match = _TIME.fullmatch(text)
    if not match or not (match["minute"] or match["half"]):
        return None
    hour = int(match["hour"])
    if half := match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    zone, offset = None, match["zone"]
    try:
        if offset == "z":
            zone = UTC
        elif offset:
            minutes = int(offset[1:3]) * 60 + int(offset[-2:])
            zone = timezone(timedelta(minutes=-minutes if offset[0] == "-" else minutes))
        return time(hour, int(match["minute"] or 0), int(match["second"] or 0), tzinfo=zone)
    except ValueError:
        return None
