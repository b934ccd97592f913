"""Functions of ``core``: small sums of everyday life. Their docs are what a model is shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from types import FunctionType
from typing import Literal

from pytest_fcbench.domain.arithmetic import add_in_order


def fuel_needed(distance_km: float, litres_per_100_km: float) -> float:
    """Litres of fuel that a trip takes.

    Args:
        distance_km: Length of the trip in kilometres.
        litres_per_100_km: What the vehicle uses on 100 kilometres, in litres.
    """
    return distance_km * litres_per_100_km / 100


def split_bill(total: float, people: int, tip_percent: float = 0) -> float:
    """What each guest pays when a bill is split evenly, to the cent.

    Args:
        total: Amount of the bill without the tip.
        people: How many guests share it.
        tip_percent: Tip in percent of the bill.
    """
    return round(total * (1 + tip_percent / 100) / people, 2)


def reading_minutes(words: int, words_per_minute: int = 200) -> int:
    """Minutes that it takes to read a text, rounded up.

    Args:
        words: Number of words of the text.
        words_per_minute: How fast one reads.
    """
    return math.ceil(words / words_per_minute)


_METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "mi": 1609.344}


def convert_length(
    value: float,
    from_unit: Literal["mm", "cm", "m", "km", "in", "ft", "mi"],
    to_unit: Literal["mm", "cm", "m", "km", "in", "ft", "mi"],
) -> float:
    """A length in another unit.

    Args:
        value: The length in the unit that it is given in.
        from_unit: Unit that it is given in.
        to_unit: Unit that it is wanted in.
    """
    return value * _METRES[from_unit] / _METRES[to_unit]


def days_between(start: str, end: str) -> int:
    """Days from one date to another; negative if the second is earlier.

    Args:
        start: First date as YYYY-MM-DD.
        end: Second date as YYYY-MM-DD.
    """
    return (date.fromisoformat(end) - date.fromisoformat(start)).days


def date_after(start: str, days: int) -> str:
    """The date a number of days after another, as YYYY-MM-DD.

    Args:
        start: Date to count from, as YYYY-MM-DD.
        days: Days to go on; a negative number goes back.
    """
    return (date.fromisoformat(start) + timedelta(days=days)).isoformat()


def weekday(day: str) -> str:
    """The day of the week of a date, in English.

    Args:
        day: Date as YYYY-MM-DD.
    """
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return names[date.fromisoformat(day).weekday()]


def letter_counts(text: str) -> dict[str, int]:
    """How often each letter occurs in a text, without regard to case.

    Args:
        text: Text whose letters are counted.
    """
    return dict(Counter(letter for letter in text.lower() if letter.isalpha()))


def roman_numeral(number: int) -> str:
    """A number from 1 to 3999 in Roman numerals.

    Args:
        number: The number.
    """
    if not 0 < number < 4000:
        raise ValueError("only 1 to 3999 can be written in Roman numerals")
    numeral = ""
    for value, letters in (
        *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
        *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
    ):
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def running_totals(amounts: list[float]) -> list[float]:
    """After each amount the sum of all up to it.

    Args:
        amounts: The amounts in order.
    """
    return [add_in_order(amounts[: end + 1]) for end in range(len(amounts))]


def median(numbers: list[float]) -> float:
    """The number in the middle of a list; between two, half their sum.

    Args:
        numbers: The numbers in any order.
    """
    sorted_numbers, half = sorted(numbers), len(numbers) // 2
    return (
        sorted_numbers[half]
        if len(sorted_numbers) % 2
        else (sorted_numbers[half - 1] + sorted_numbers[half]) / 2
    )


def savings_plan(monthly: float, months: int, yearly_percent: float) -> list[float]:
    """Balance at the end of each month, to the cent, when the same amount is saved every month.

    Args:
        monthly: Amount that is paid in at the start of each month.
        months: How many months are saved.
        yearly_percent: Interest a year in percent, a twelfth of which is credited each month.
    """
    balance, balances = 0.0, []
    for _ in range(months):
        balance = (balance + monthly) * (1 + yearly_percent / 1200)
        balances.append(round(balance, 2))
    return balances


def simplify_fraction(numerator: int, denominator: int) -> tuple[int, int]:
    """A fraction in lowest terms, as numerator and denominator.

    Args:
        numerator: Number above the line.
        denominator: Number below the line.
    """
    common = math.gcd(numerator, denominator)
    return numerator // common, denominator // common


def caesar_shift(text: str, shift: int) -> str:
    """A text with each letter of the Latin alphabet moved on by some places; others stay.

    Args:
        text: Text to encode.
        shift: Places to move each letter on; a negative number moves it back.
    """

    def move(letter: str) -> str:
        if not (letter.isascii() and letter.isalpha()):
            return letter
        first = ord("a" if letter.islower() else "A")
        return chr((ord(letter) - first + shift) % 26 + first)

    return "".join(map(move, text))


EVERYDAY: Mapping[str, Callable[..., object]] = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, FunctionType) and value.__module__ == __name__
}
"""The functions of this module by name. A call may name each of them, so there are no others here."""
