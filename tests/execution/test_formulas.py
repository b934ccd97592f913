"""BFCL's formulas give its results, odd ones included."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.execution import formulas
from pytest_fcbench.execution.formulas import FORMULAS
from tests.cases import each_case


@each_case(
    ("name", "arguments", "result"),
    [
        ("calculate_triangle_area", (6, 5), 15.0),
        ("geometry_area_circle", (2,), math.pi * 4),
        ("get_distance", ((1, 2), (4, 6)), 5.0),
        ("get_distance", ([1, 2, 9], [4, 6, 0]), 5.0),
        ("polygon_area", ([[0, 0], [4, 0], [4, 3], [0, 3]],), 12.0),
        ("polygon_area", ([[0, 3], [4, 3], [4, 0], [0, 0]],), 12.0),
        ("maxPoints", ([[1, 1], [2, 2], [3, 4], [5, 5]],), 3),
        ("maxPoints", ([[1, 1]],), 1),
        ("maxPoints", ([],), 0),
        ("maxPoints", ([[2, 0], [2, 5], [2, 9], [1, 1]],), 3),
        ("math_factorial", (5,), 120),
        ("math_factorial", (-3,), 1),
        ("math_gcd", (12, 18), 6),
        ("math_gcd", (4, -6), -2),
        ("math_lcm", (4, 6), 12.0),
        ("get_prime_factors", (60,), [2, 2, 3, 5]),
        ("get_prime_factors", (1,), []),
        ("get_fibonacci_sequence", (6,), [0, 1, 1, 2, 3, 5]),
        ("get_fibonacci_sequence", (1,), [0, 1]),
        ("get_fibonacci_number", (1,), 0),
        ("get_fibonacci_number", (2,), 1),
        ("get_fibonacci_number", (8,), 13),
        ("quadratic_roots", (1, -3, 2), [2.0, 1.0]),
        (
            "quadratic_roots",
            (1, 2, 5),
            [{"real": -1.0, "imaginary": 2.0}, {"real": -1.0, "imaginary": -2.0}],
        ),
        ("mat_mul", ([[1, 2], [3, 4]], [[5, 6], [7, 8]]), [[19, 22], [43, 50]]),
        ("calculate_cosine_similarity", ([1, 0], [1, 0]), 1.0),
        ("sort_array", ([3, 1, 2],), [1, 2, 3]),
        ("sort_array", ("ba", True), ["b", "a"]),
        ("add_binary_numbers", ("0011", "1100"), "1111"),
        ("calculate_mean", ([1, 2, 6],), 3.0),
        ("calculate_standard_deviation", ([2, 4, 4, 4, 5, 5, 7, 9],), 2.0),
        ("calc_binomial_probability", (4, 2, 0.5), 0.375),
        ("calculate_permutations", (5, 2), 20.0),
        ("linear_regression", ([1, 2, 3], [4, 5, 6], 10), 13.0),
        ("calculate_final_velocity", (3, 2, 5), 13),
        ("calculate_displacement", (3, 2, 5), 40.0),
        ("calculate_electrostatic_potential_energy", (2, 5), 10),
        ("calculate_density", (10, 4), 2.5),
        ("calculate_future_value", (1000, 0.1, 2), 1210.0),
        ("calculate_investment_value", (100, 0, 1, 0.5, [0.1]), 135.0),
        ("calculate_investment_value", (100, 0, 2, 0.5, [0.9, 0.1]), 202.5),
        ("calculate_investment_value", (100, 10, 2, 0.5, [], False), 250.0),
        ("order_food", (["tea", "cake"], [2, 1], [3, 4.5]), 10.5),
    ],
)
def test_a_formula_has_this_result(name: str, arguments: tuple[object, ...], result: object) -> None:
    found = FORMULAS[name](*arguments)
    assert found == pytest.approx(result) if isinstance(result, float) else found == result
    assert type(found) is type(result)


def test_a_mortgage_is_paid_back() -> None:
    payment, debt = formulas.mortgage_calculator(120_000, 0.06, 20), 120_000.0
    for _ in range(20 * 12):
        debt = debt * 1.005 - payment
    assert debt == pytest.approx(0, abs=1e-5)


def test_nutrition_by_harris_and_benedict() -> None:
    needs = formulas.calculate_nutritional_needs(80, 180, 30, "male", 1, "maintain")
    assert needs["calories"] == pytest.approx(1.2 * (88.362 + 13.397 * 80 + 4.799 * 180 - 5.677 * 30))
    lighter = formulas.calculate_nutritional_needs(80, 180, 30, "male", 1, "lose")
    assert needs["calories"] - lighter["calories"] == pytest.approx(500)
    kcal = 4 * needs["proteins_g"] + 9 * needs["fats_g"] + 4 * needs["carbohydrates_g"]
    assert kcal == pytest.approx(needs["calories"])


def test_a_discount_takes_a_tenth_off() -> None:
    booking = formulas.book_room("twin", 200, "2024-05-01", "2024-05-03", "7", "DISCOUNT10")
    assert (booking["total_price"], booking["room_type"]) == (180.0, "twin")
    assert formulas.book_room("twin", 200, "", "", "7", "DISCOUNT20")["total_price"] == 200


@each_case(
    ("name", "arguments", "error", "words"),
    [
        ("add_binary_numbers", (10011, 1100), TypeError, "non-string with explicit base"),
        ("order_food", (["a", "b", "c"], [1, 2], [3, 4]), IndexError, "out of range"),
        ("polygon_area", ([[1, 2], [3, 4]],), ValueError, "three vertices"),
        ("get_fibonacci_number", (0,), ValueError, "from 1 on"),
        ("estimate_derivative", ("3*x**2", 5), Undecodable, "not a lambda"),
        ("calculate_density", (1, 0), ZeroDivisionError, "by zero"),
        ("calculate_mean", ("list(range(22, 81, 2))",), TypeError, "'int' and 'str'"),
        (
            "calculate_nutritional_needs",
            (80, 180, 30, "male", "sedentary", "lose"),
            TypeError,
            "'str' and 'int'",
        ),
    ],
)
def test_arguments_without_a_result_raise(
    name: str, arguments: tuple[object, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        FORMULAS[name](*arguments)


def test_a_derivative_is_estimated() -> None:
    assert formulas.estimate_derivative("lambda t: 3*t**2 + 2*t + 1", 5) == pytest.approx(32, rel=1e-4)


@given(st.integers(2, 10**6))
def test_prime_factors_multiply_to_the_number(number: int) -> None:
    assert math.prod(formulas.get_prime_factors(number)) == number


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_divisor_of_positive_numbers(a: int, b: int) -> None:
    assert formulas.math_gcd(a, b) == math.gcd(a, b)


@each_case(
    ("name", "arguments", "result"),
    [
        ("calculate_mean", ([0.1] * 10,), "0.09999999999999999"),
        ("calculate_standard_deviation", ([0.7, 4.8, 8.4, 2.9, 7.8],), "2.9088829471121724"),
        ("polygon_area", ([[0.6, 0.1], [7.5, 2.3], [2.1, 9.0], [4.2, 7.5]],), "18.585"),
        ("mat_mul", ([[0.1] * 10], [[1.0]] * 10), "[[0.9999999999999999]]"),
        ("calculate_cosine_similarity", ([5.6, 2.7, 4.6, 3.5], [3.2, 5.3, 5.3, 8.1]), "0.8710258884363756"),
        ("linear_regression", ([0.6, 6.8, 5.3, 2.7], [0.3, 7.8, 4.3, 6.5], 0.9), "2.0213750550903473"),
        ("order_food", (["a"] * 10, [1] * 10, [0.1] * 10), "0.9999999999999999"),
    ],
)
def test_sums_have_the_digits_that_they_had_before_python_3_12(
    name: str, arguments: tuple[object, ...], result: str
) -> None:
    """An answer is compared with what a formula gives to the last digit: exec_simple_93 once turned right."""
    assert repr(FORMULAS[name](*arguments)) == result


def test_calls_can_name_these_functions_and_no_others() -> None:
    """The table is made of what its module defines, so a function that is added there can be called."""
    assert " ".join(sorted(FORMULAS)) == (
        "add_binary_numbers book_room calc_binomial_probability calculate_cosine_similarity "
        "calculate_density calculate_displacement calculate_electrostatic_potential_energy "
        "calculate_final_velocity calculate_future_value calculate_investment_value calculate_mean "
        "calculate_nutritional_needs calculate_permutations calculate_standard_deviation "
        "calculate_triangle_area estimate_derivative geometry_area_circle get_distance "
        "get_fibonacci_number get_fibonacci_sequence get_prime_factors linear_regression mat_mul "
        "math_factorial math_gcd math_lcm maxPoints mortgage_calculator order_food polygon_area "
        "quadratic_roots sort_array"
    )
