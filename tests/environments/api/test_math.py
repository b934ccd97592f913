"""The calculator: exact results, refusals, and nothing left behind in the process."""

from __future__ import annotations

import decimal
import re
import sys
import threading
from types import FrameType
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.math import MAX_BITS, MAX_DIGITS, MAX_TEXT, Math
from pytest_fcbench.environments.environment import list_functions
from pytest_fcbench.environments.world import World
from tests.cases import each_case

CALCULATOR = Math({"precision": 3}, World(), long_context=True)


def call_function(name: str, *arguments: object) -> object:
    return getattr(CALCULATOR, name)(*arguments)


def test_a_calculator_has_no_state() -> None:
    assert CALCULATOR.state() == {}


@each_case(
    ("name", "arguments", "text"),
    [
        ("add", (1, 2), "3"),
        ("add", (1, 2.0), "3.0"),
        ("add", ("a", "b"), "'ab'"),
        ("subtract", (5, 7), "-2"),
        ("multiply", (0.1, 0.2), "0.020000000000000004"),
        ("divide", (6, 2), "3.0"),
        ("power", (2, 10), "1024"),
        ("power", (2, -1), "0.5"),
        ("power", (-1, 10**9), "1"),
        ("square_root", (2, 5), "Decimal('1.4142')"),
        ("square_root", (16, 5), "Decimal('4')"),
        ("logarithm", (10, 2, 5), "mpf('3.3219299')"),
        ("logarithm", (8, 2, 0), "mpf('2.5')"),
        ("logarithm", (-1, 2, "5"), "mpc(real='0.0', imag='4.5323639')"),
        ("absolute_value", (-3,), "3"),
        ("round_number", (2.5,), "2.0"),
        ("round_number", (1234, -2), "1200"),
        ("percentage", (1, 8), "12.5"),
        ("mean", ([1, 2, 6],), "3.0"),
        ("standard_deviation", ([2, 4],), "1.0"),
        ("min_value", ([3, 1.5],), "1.5"),
        ("max_value", ("abc",), "'c'"),
        ("sum_values", ([1, 2],), "3"),
        # From the left; the built-in sum says 1.0 from Python 3.12 on.
        ("sum_values", ([0.1] * 10,), "0.9999999999999999"),
        ("si_unit_conversion", (3.7, "cm", "cm"), "3.7000000000000006"),
        ("si_unit_conversion", (2, "km", "m"), "2000.0"),
        ("imperial_si_conversion", (10, "celsius", "fahrenheit"), "50.0"),
        ("imperial_si_conversion", (10, "fahrenheit", "celsius"), "-12.222222222222223"),
        ("imperial_si_conversion", (3, "lb", "kg"), "1.360776"),
        ("imperial_si_conversion", (5, "furlong", "furlong"), "5"),
    ],
)
def test_a_calculation_has_this_result(name: str, arguments: tuple[object, ...], text: str) -> None:
    assert str(call_function(name, *arguments)) == f"{{'result': {text}}}"


@each_case(
    ("name", "arguments", "words"),
    [
        ("add", (1, "2"), "numbers"),
        ("subtract", ("a", "b"), "numbers"),
        ("multiply", ("a", 3), "numbers"),
        ("divide", (1, 0), "divided"),
        ("divide", (1, "0"), "numbers"),
        ("power", (None, 2), "numbers"),
        ("power", (9, 10**9), str(MAX_BITS)),
        ("square_root", (-4, 5), "below 0"),
        ("square_root", (4, "5"), "precision"),
        ("logarithm", (8, 1, 5), "zero"),
        ("logarithm", ("eight", 2, 5), "'eight'"),
        ("logarithm", (8, 2, 10**9), str(MAX_DIGITS)),
        ("logarithm", (8, "1e" + "9" * 4000, 5), str(MAX_TEXT)),
        ("absolute_value", ("3",), "number"),
        ("round_number", (1.5, "1"), "whole number"),
        ("round_number", (5, -(10**9)), str(MAX_DIGITS)),
        ("percentage", (1, 0), "0"),
        ("mean", ([],), "mean"),
        ("standard_deviation", ([1, "a"],), "numbers"),
        ("min_value", ([],), "minimum"),
        ("max_value", ([1, "a"],), "numbers"),
        ("sum_values", (None,), "sum"),
        ("si_unit_conversion", ("1", "m", "km"), "number"),
        ("si_unit_conversion", (1, "m", "ft"), "'ft'"),
        ("si_unit_conversion", (10**400, "m", "cm"), "too large"),
        ("imperial_si_conversion", (None, "m", "ft"), "number"),
        ("imperial_si_conversion", (1, "ft", "yd"), "'yd'"),
        ("imperial_si_conversion", (10**400, "m", "ft"), "too large"),
    ],
)
def test_a_calculation_that_has_no_result_is_refused(
    name: str, arguments: tuple[object, ...], words: str
) -> None:
    answer = call_function(name, *arguments)
    assert isinstance(answer, dict)
    assert list(answer) == ["error"]
    assert words in answer["error"]


Failing = tuple[str, list[object]]
CONVERSIONS = ("si_unit_conversion", "imperial_si_conversion")
STATISTICS = ("mean", "standard_deviation", "min_value", "max_value", "sum_values")
ALIKE: list[list[Failing]] = [
    [
        *[(name, ["a", 1]) for name in ("add", "subtract", "multiply", "divide", "power", "percentage")],
        ("add", [None, [2]]),
    ],
    [("divide", [1, 0]), ("divide", ["a", 0.0])],
    [("percentage", [1, 0]), ("percentage", ["a", 0.0])],
    [("square_root", [-1, 5]), ("square_root", [-2.5, "5"])],
    [("square_root", ["a", 5]), ("square_root", [2, 1.5])],
    [("absolute_value", ["a"]), ("absolute_value", [None])],
    [("round_number", ["a"]), ("round_number", [1, 1.5])],
    [("mean", [[]]), ("mean", [None])],
    [("standard_deviation", [[]]), ("standard_deviation", [None])],
    [("min_value", [[]]), ("min_value", [None])],
    [("max_value", [[]]), ("max_value", [None])],
    [("sum_values", [[]]), ("sum_values", [None])],
    [(name, [[1, mixed]]) for name in STATISTICS for mixed in ("a", None)],
    [(name, [value, "m", "kg"]) for name in CONVERSIONS for value in ("1", None)],
    [(name, [value, "m", "None"]) for name in CONVERSIONS for value in (1, 2)],
    [("si_unit_conversion", [1, None, "m"]), ("imperial_si_conversion", [1, "None", "m"])],
    [("si_unit_conversion", [10**400, "m", "cm"]), ("imperial_si_conversion", [10**500, "m", "ft"])],
    [("logarithm", [8, 1, 5]), ("logarithm", [9, 1.0, 6])],
    [("logarithm", ["a", 2, 5]), ("logarithm", [2, "a", 6])],
    [("logarithm", ["b", 2, 5])],
    [("logarithm", [8, 2, "a"])],
]
"""Functions and their arguments: one list for each text."""


def error_of(name: str, arguments: list[object]) -> object:
    return getattr(CALCULATOR, name)(*arguments)["error"]


@each_case("calls", ALIKE, ids=str)
def test_errors_read_alike_exactly_where_they_officially_do(calls: list[Failing]) -> None:
    """Verdicts compare texts: what an error names, and which functions share it, is part of them."""
    [text] = {error_of(*call) for call in calls}
    assert text not in {error_of(*call) for others in ALIKE if others is not calls for call in others}


@each_case(
    ("name", "arguments", "error", "reason"),
    [
        ("power", (1e308, 10), OverflowError, "(34, 'Numerical result out of range')"),
        ("power", (0, -1), ZeroDivisionError, "to a negative power"),
        ("square_root", (2, 0), ValueError, "valid range for prec is [1, MAX_PREC]"),
        ("square_root", (2, 10**9), ValueError, "a precision of 1000000000 digits is more than 10000"),
        ("mean", ([10**400, 1],), OverflowError, "integer division result too large for a float"),
        ("si_unit_conversion", (1, ["m"], "km"), TypeError, "unhashable type: 'list'"),
    ],
)
def test_arguments_of_another_type_raise(
    name: str, arguments: tuple[object, ...], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=re.escape(reason)):
        call_function(name, *arguments)


def test_precision_stays_within_a_call() -> None:
    before = mpmath.mp.dps, decimal.getcontext().prec
    first, _ = CALCULATOR.logarithm(2, 10, 40), CALCULATOR.square_root(2, 40)
    CALCULATOR.logarithm(2, 10, 3)
    assert str(first).startswith("{'result': mpf('0.30102999566398119521373889472449302676")
    assert (mpmath.mp.dps, decimal.getcontext().prec) == before


def test_logarithms_in_two_threads() -> None:
    """mpmath keeps ln 2 and its precision apart: with a switch in between, 3.32 was 3.31e+1759."""
    assert call_function("logarithm", 10, 2, 5)  # ln 2 is remembered from now on
    reached, passed, found = threading.Event(), threading.Event(), []

    def wait_before_reading(frame: FrameType, event: str, _: object) -> Any:
        if "mpmath" not in frame.f_code.co_filename or frame.f_code.co_name != "g":
            return None

        def wait_once(frame: FrameType, event: str, _: object) -> Any:
            if event == "line" and frame.f_lineno == frame.f_code.co_firstlineno + 3:
                reached.set()
                passed.wait(0.5)  # the other one ends in between, unless it is kept from that
            return wait_once

        return wait_once

    def compute_slowly() -> None:
        sys.settrace(wait_before_reading)
        try:
            found.append(str(call_function("logarithm", 10, 2, 5)))
        finally:
            sys.settrace(None)

    slow = threading.Thread(target=compute_slowly)
    slow.start()
    assert reached.wait(10)
    call_function("logarithm", 10, 2, 5_000)
    passed.set()
    slow.join()
    assert found == ["{'result': mpf('3.3219299')}"]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4), max_leaves=6)


@given(st.sampled_from(list_functions(Math)), st.lists(values, max_size=3))
def test_any_call_answers_or_raises(name: str, arguments: list[object]) -> None:
    calculator = Math({}, World())
    try:
        answer = getattr(calculator, name)(*arguments)
    except Exception:  # noqa: BLE001
        return
    assert list(answer) in (["result"], ["error"])
    assert calculator.state() == {}
