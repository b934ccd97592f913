"""A calculator."""

from __future__ import annotations

import decimal
import math
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.environments.environment import Environment

# These limits are ours. The official functions compute without end, or until memory is gone.
MAX_DIGITS = 10_000
"""Most digits that a precision or a rounding may ask for."""
MAX_BITS = 1_000_000
"""Most bits of a whole number that a power may give."""

MAX_TEXT = 200
"""Most characters of a number given as text; a long exponent takes long."""

# All contexts share what mpmath remembers of ln 2 and pi, a number and its precision in two variables: a
# thread that reads one before and one after another's logarithm is off by hundreds of powers of ten.
_MPMATH = threading.RLock()

# Official: most errors name no values, and functions share them.
_NOT_TWO_NUMBERS = "this takes two numbers"
_NO_VALUE = "only a number can be converted"

_SI_UNITS = {"km": 1000, "m": 1, "cm": 0.01, "mm": 0.001, "um": 1e-6, "nm": 1e-9}
"""Metres in each unit."""

_IMPERIAL_SI: Mapping[tuple[str, str], Callable[[float], float]] = {
    ("cm", "in"): lambda value: value * 0.393701,
    ("in", "cm"): lambda value: value * 2.54,
    ("m", "ft"): lambda value: value * 3.28084,
    ("ft", "m"): lambda value: value * 0.3048,
    ("m", "yd"): lambda value: value * 1.09361,
    ("yd", "m"): lambda value: value * 0.9144,
    ("km", "miles"): lambda value: value * 0.621371,
    ("miles", "km"): lambda value: value * 1.60934,
    ("kg", "lb"): lambda value: value * 2.20462,
    ("lb", "kg"): lambda value: value * 0.453592,
    ("celsius", "fahrenheit"): lambda value: value * 1.8 + 32,
    ("fahrenheit", "celsius"): lambda value: (value - 32) * (5 / 9),
}


class Math(Environment):
    """A calculator: arithmetic, statistics of lists of numbers, and conversions of units. It has no state."""

    _domain = "math"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        # Here, because the import takes as long as all other domains together, and not in the call, because
        # calls may not open files.
        from mpmath import MPContext

        self._open_context = MPContext

    def logarithm(self, value: float, base: float, precision: int) -> dict[str, object]:
        """Logarithm of a number to any base, with as many digits as wanted.

        Args:
            value: Number whose logarithm is wanted.
            base: Base of the logarithm.
            precision: Number of significant digits to compute with.

        Returns:
            result: the logarithm.
        """
        try:
            # A context of its own: the official one changes the precision of the whole process.
            with _MPMATH:
                context = self._open_context()
                context.dps = _check_precision(int(precision))
                # Official: two logarithms and a quotient, each rounded to the precision.
                return {"result": context.log(_check_length(value)) / context.log(_check_length(base))}
        except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
            if self._sentences:
                return {"error": str(error)}
            return {"error": f"no logarithm: {str(error) or 'the base has the logarithm zero'}"}

    def mean(self, numbers: list[float]) -> dict[str, object]:
        """Arithmetic mean of a list of numbers.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: their mean.
        """
        return self._compute_statistic("mean", "mean", _compute_mean, numbers)

    def standard_deviation(self, numbers: list[float]) -> dict[str, object]:
        """Standard deviation of a list of numbers, taken as the whole population.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: their standard deviation.
        """
        return self._compute_statistic(
            "standard_deviation", "standard deviation", _compute_deviation, numbers
        )

    def si_unit_conversion(self, value: float, unit_in: str, unit_out: str) -> dict[str, object]:
        """Convert a length from one metric unit to another.

        Args:
            value: The length in the unit it is given in.
            unit_in: Unit of the value: km, m, cm, mm, um or nm.
            unit_out: Unit of the result, one of the same.

        Returns:
            result: the length in the new unit.
        """
        if not _is_number(value):
            return self._make_error(_NO_VALUE, "si_unit_conversion", 0)
        if unit_in not in _SI_UNITS or unit_out not in _SI_UNITS:
            return self._make_unit_error("si_unit_conversion", unit_in, unit_out)
        # Times the inverse, as the official function does it: a quotient rounds differently.
        factor = 1 / _SI_UNITS[unit_out]
        return self._convert("si_unit_conversion", lambda: value * _SI_UNITS[unit_in] * factor)

    def imperial_si_conversion(self, value: float, unit_in: str, unit_out: str) -> dict[str, object]:
        """Convert a value from an imperial to a metric unit or back.

        The pairs are cm and in, m and ft, m and yd, km and miles, kg and lb, celsius and fahrenheit.

        Args:
            value: The value in the unit it is given in.
            unit_in: Unit of the value.
            unit_out: Unit of the result, the other one of the pair.

        Returns:
            result: the value in the new unit.
        """
        if not _is_number(value):
            return self._make_error(_NO_VALUE, "imperial_si_conversion", 0)
        # Official: equal units are never looked up, so any word will do.
        if unit_in == unit_out:
            return {"result": value}
        convert = _IMPERIAL_SI.get((str(unit_in), str(unit_out)))
        if convert is None:
            return self._make_unit_error("imperial_si_conversion", unit_in, unit_out)
        return self._convert("imperial_si_conversion", lambda: convert(value))

    def add(self, a: float, b: float) -> dict[str, object]:
        """Add two numbers.

        Args:
            a: First number.
            b: Second number.

        Returns:
            result: their sum.
        """
        # Official: texts and lists are joined.
        return _compute(self._write_text(_NOT_TWO_NUMBERS, "add", 0), operator.add, a, b)

    def subtract(self, a: float, b: float) -> dict[str, object]:
        """Subtract one number from another.

        Args:
            a: Number to subtract from.
            b: Number to subtract.

        Returns:
            result: the difference.
        """
        return _compute(self._write_text(_NOT_TWO_NUMBERS, "subtract", 0), operator.sub, a, b)

    def multiply(self, a: float, b: float) -> dict[str, object]:
        """Multiply two numbers.

        Args:
            a: First number.
            b: Second number.

        Returns:
            result: their product.
        """
        if not (_is_number(a) and _is_number(b)):
            return self._make_error(_NOT_TWO_NUMBERS, "multiply", 0)
        return _compute(self._write_text(_NOT_TWO_NUMBERS, "multiply", 1), operator.mul, a, b)

    def divide(self, a: float, b: float) -> dict[str, object]:
        """Divide one number by another.

        Args:
            a: Number to be divided.
            b: Number to divide by, not zero.

        Returns:
            result: the quotient.
        """
        if b == 0:
            return self._make_error("nothing can be divided by 0", "divide", 0)
        return _compute(self._write_text(_NOT_TWO_NUMBERS, "divide", 1), operator.truediv, a, b)

    def power(self, base: float, exponent: float) -> dict[str, object]:
        """Raise a number to a power.

        Args:
            base: Number to be raised.
            exponent: The power.

        Returns:
            result: the base to the power of the exponent.
        """
        whole = isinstance(base, int) and isinstance(exponent, int)
        if whole and abs(base) > 1 and int(base).bit_length() * exponent > MAX_BITS:
            return {"error": f"the power would have more than {MAX_BITS} bits"}
        return _compute(self._write_text(_NOT_TWO_NUMBERS, "power", 0), operator.pow, base, exponent)

    def square_root(self, number: float, precision: int) -> dict[str, object]:
        """Square root of a number, with as many digits as wanted.

        Args:
            number: The number, not negative.
            precision: Number of significant digits of the result, at least one.

        Returns:
            result: the square root.
        """
        try:
            if number < 0:
                return self._make_error("a number below 0 has no square root", "square_root", 0)
            # A context of its own: the official one changes the precision of the whole process.
            context = decimal.Context(prec=_check_precision(precision))
            return {"result": context.sqrt(decimal.Decimal(number))}
        except (TypeError, decimal.InvalidOperation):
            ours = "no square root: this takes a number, and a whole number as precision"
            return self._make_error(ours, "square_root", 1)

    def absolute_value(self, number: float) -> dict[str, object]:
        """Absolute value of a number.

        Args:
            number: The number.

        Returns:
            result: the number without its sign.
        """
        refusal = self._write_text("this takes one number", "absolute_value", 0)
        return _compute(refusal, operator.abs, number)

    def round_number(self, number: float, decimal_places: int = 0) -> dict[str, object]:
        """Round a number.

        Args:
            number: The number.
            decimal_places: How many decimal places remain.

        Returns:
            result: the rounded number.
        """
        if _is_number(decimal_places) and decimal_places < -MAX_DIGITS:
            return {"error": f"{decimal_places} decimal places are less than {-MAX_DIGITS}"}
        ours = "this takes a number to round and a whole number of places"
        return _compute(self._write_text(ours, "round_number", 0), round, number, decimal_places)

    def percentage(self, part: float, whole: float) -> dict[str, object]:
        """Tell how many percent of a whole a part is.

        Args:
            part: The part.
            whole: The whole, not zero.

        Returns:
            result: the percentage.
        """
        if whole == 0:
            return self._make_error("there is no percentage of 0", "percentage", 0)
        refusal = self._write_text(_NOT_TWO_NUMBERS, "percentage", 1)
        return _compute(refusal, lambda a, b: (a / b) * 100, part, whole)

    def min_value(self, numbers: list[float]) -> dict[str, object]:
        """Smallest number of a list.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: the smallest.
        """
        return self._compute_statistic("min_value", "minimum", min, numbers)

    def max_value(self, numbers: list[float]) -> dict[str, object]:
        """Largest number of a list.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: the largest.
        """
        return self._compute_statistic("max_value", "maximum", max, numbers)

    def sum_values(self, numbers: list[float]) -> dict[str, object]:
        """Sum of a list of numbers.

        Args:
            numbers: The numbers, at least one.

        Returns:
            result: their sum.
        """
        return self._compute_statistic("sum_values", "sum", add_in_order, numbers)

    def _compute_statistic(
        self, function: str, name: str, operation: Callable[[Any], object], numbers: Sequence[float]
    ) -> dict[str, object]:
        if not numbers:
            return self._make_error(f"without a number there is no {name}", function, 0)
        refusal = self._write_text("this takes a list with nothing but numbers", function, 1)
        return _compute(refusal, operation, numbers)

    def _convert(self, function: str, conversion: Callable[[], float]) -> dict[str, object]:
        try:
            return {"result": conversion()}
        except OverflowError:
            return self._make_error("the value is too large to be converted", function, 2)

    def _make_unit_error(self, function: str, unit_in: object, unit_out: object) -> dict[str, object]:
        ours = "no conversion from '{unit_in}' to '{unit_out}' is known"
        return self._make_error(ours, function, 1, unit_in=unit_in, unit_out=unit_out)


def _compute(refusal: str, operation: Callable[..., object], *operands: object) -> dict[str, object]:
    """Return the result, or the refusal for a wrong type. An overflow is raised, as officially."""
    try:
        return {"result": operation(*operands)}
    except TypeError:
        return {"error": refusal}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _check_length(value: object) -> object:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ValueError(f"a number of {len(value)} characters is longer than {MAX_TEXT}")
    return value


def _check_precision(precision: int) -> int:
    """Return a precision. Raises TypeError unless it is a whole number, ValueError for too large a one."""
    if operator.index(precision) > MAX_DIGITS:
        raise ValueError(f"a precision of {precision} digits is more than {MAX_DIGITS}")
    return precision


def _compute_mean(numbers: Sequence[float]) -> float:
    return add_in_order(numbers) / len(numbers)


def _compute_deviation(numbers: Sequence[float]) -> float:
    mean = _compute_mean(numbers)
    return math.sqrt(_compute_mean([(number - mean) ** 2 for number in numbers]))
