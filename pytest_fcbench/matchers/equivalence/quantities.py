"""Readers of amounts, dates and times in all their usual forms.

Nothing is guessed: ``03/04/2024`` is no date, "$5" is of no country, and 007 is no number.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from pytest_fcbench.matchers.equivalence.words import NUMBERS, fold_text


class Quantity(NamedTuple):
    """A quantity; two are the same where kind and amount are equal."""

    kind: str
    amount: object


_LONGEST = 60
"""Characters of the longest text that is read."""


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
    text = " ".join(fold_text(value).split())
    return _read_measure(text) or _read_moment(text)


# Amounts

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+|(?=\.))(?:\.\d+)?", re.ASCII)
"""With commas between thousands. A text with a leading zero is a name: a house, an area code, an agent."""


def _read_number(text: str) -> Fraction | None:
    if _NUMBER.fullmatch(text):
        return Fraction(text.replace(",", ""))
    tens, hyphen, ones = text.casefold().replace(" ", "-").partition("-")
    if tens not in NUMBERS:
        return None
    if not hyphen:
        return Fraction(NUMBERS[tens])
    both = NUMBERS[tens] >= 20 and 0 < NUMBERS.get(ones, 0) < 10
    return Fraction(NUMBERS[tens] + NUMBERS[ones]) if both else None


_UNITS = {
    name: (measured, Fraction(factor))
    for measured, factor, names in (
        ("length", "1/1000", "mm, millimeter, millimeters, millimetre, millimetres"),
        ("length", "1/100", "cm, centimeter, centimeters, centimetre, centimetres"),
        ("length", "1", "m, meter, meters, metre, metres"),
        ("length", "1000", "km, kms, kilometer, kilometers, kilometre, kilometres"),
        ("length", "0.0254", "inch, inches"),
        ("length", "0.3048", "ft, foot, feet"),
        ("length", "0.9144", "yd, yard, yards"),
        ("length", "1609.344", "mi, mile, miles"),
        ("mass", "1", "g, gram, grams"),
        ("mass", "1000", "kg, kgs, kilo, kilos, kilogram, kilograms"),
        ("mass", "453.59237", "lb, lbs"),
        ("duration", "1", "s, sec, secs, second, seconds"),
        ("duration", "60", "min, mins, minute, minutes"),
        ("duration", "3600", "h, hr, hrs, hour, hours"),
        ("duration", "86400", "day, days"),
        ("duration", "604800", "week, weeks"),
        ("months", "1", "month, months"),
        ("months", "12", "year, years"),
        ("percent", "1", "%, percent, per cent"),
    )
    for name in names.split(", ")
}
"""The dimension of each unit and its size in base units. Left out are names that mean several things:
pounds, ounces, "in", "C"."""

_CURRENCIES = (
    *("AED", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD", "HUF", "IDR"),
    *("ILS", "INR", "ISK", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK", "SGD"),
    *("THB", "TRY", "TWD", "USD", "VND", "ZAR"),
)
_MONEY = {code.casefold(): code for code in _CURRENCIES} | {
    sign: currency
    for currency, signs in (
        ("EUR", "€, euro, euros"),
        ("GBP", "£"),
        ("INR", "₹"),
        ("JPY", "yen"),
        ("KRW", "₩"),
        ("USD", "us$, us dollar, us dollars"),
        ("dollars", "$, dollar, dollars"),
        ("yen or yuan", "¥"),
    )
    for sign in signs.split(", ")
}
"""Currencies by the sign or word with the number; a sign that several share counts as its own currency."""

_AROUND = re.compile(
    r"(?P<before>[^\d.\s-]*?) ?(?P<number>-?[\d.][\d.,]*|[a-z-]+) ?(?P<after>\D*)", re.IGNORECASE
)


def _read_measure(text: str) -> Quantity | None:
    if (number := _read_number(text)) is not None:
        return Quantity("number", number)
    if not (found := _AROUND.fullmatch(text)) or bool(found["before"]) == bool(found["after"]):
        return None
    if (number := _read_number(found["number"])) is None:
        return None
    # Of one letter, a small one and a capital one are two units.
    word = found["before"] or found["after"]
    unit = word.casefold() if len(word) > 1 else word
    if unit in _MONEY:
        return Quantity(f"money {_MONEY[unit]}", number)
    # A unit follows its number; only currencies and degrees may also precede it.
    if not found["before"] and unit in _UNITS:
        measured, factor = _UNITS[unit]
        return Quantity(measured, number * factor)
    if unit in ("°c", "celsius", "degrees celsius"):
        return Quantity("temperature", number)
    if unit in ("°f", "fahrenheit", "degrees fahrenheit"):
        return Quantity("temperature", (number - 32) * 5 / 9)
    return None


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
_WORDS = {"noon": time(12), "midnight": time(0)}


def _read_moment(text: str) -> Quantity | None:
    """Read a date, a time of day, or both."""
    text = text.casefold()
    if (day := _read_date(text)) is not None:
        return Quantity("date", day)
    if (at := _WORDS.get(text) or _read_time(text)) is not None:
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
    if found := _ISO.fullmatch(text):
        return _make_date(found["year"], int(found["month"]), found["day"])
    if found := _SHORT.fullmatch(text):
        one, two = int(found["one"]), int(found["two"])
        # 03/04/2024 can be two days, so it equals only a date that is written the same way.
        readings = [_make_date(found["year"], month, day) for month, day in ((one, two), (two, one))]
        known = {reading for reading in readings if reading}
        return (found["sign"], one, two, int(found["year"])) if len(known) > 1 else next(iter(known), None)
    text = " ".join(_ABBREVIATED.sub(" ", _ORDINAL.sub("", text)).split())
    if not (found := _NAMED.fullmatch(text)):
        return None
    month = _MONTH.get(found["of"] or found["name"])
    day = None if month is None else _make_date(found["year"], month, found["first"] or found["day"])
    if (weekday := found["weekday"]) is None or day is None:
        return day
    return day if isinstance(day, date) and day.weekday() == _DAY.get(weekday) else None


def _make_date(year: str | None, month: int, day: str | int) -> date | tuple[int, int] | None:
    try:
        # Any leap year will do where none is given, so that there is a 29 February.
        whole = date(int(year or 2024), month, int(day))
    except ValueError:
        return None
    return whole if year else (month, int(day))


def _read_time(text: str) -> time | None:
    # An hour alone is a number, not a time.
    found = _TIME.fullmatch(text)
    if not found or not (found["minute"] or found["half"]):
        return None
    hour = int(found["hour"])
    if half := found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    zone, offset = None, found["zone"]
    try:
        if offset == "z":
            zone = UTC
        elif offset:
            minutes = int(offset[1:3]) * 60 + int(offset[-2:])
            zone = timezone(timedelta(minutes=-minutes if offset[0] == "-" else minutes))
        return time(hour, int(found["minute"] or 0), int(found["second"] or 0), tzinfo=zone)
    except ValueError:
        return None
