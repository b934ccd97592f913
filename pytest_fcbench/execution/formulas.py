"""BFCL's pure functions: formulas of geometry, number theory, physics and money.

The names and parameters are those of its entries, the results those of its library, even where they are odd.
A model chooses the arguments, so anything can raise; the sandbox ends functions that take too long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType

from pytest_fcbench.codecs.call_evaluation import read_function
from pytest_fcbench.domain.arithmetic import add_in_order


def calculate_triangle_area(base: float, height: float) -> float:
    """Return half of base times height."""
    return base * height / 2


def geometry_area_circle(radius: float) -> float:
    """Return the area of a circle."""
    return math.pi * radius**2


def get_distance(pointA: Sequence[float], pointB: Sequence[float]) -> float:  # noqa: N803 - BFCL's name
    """Return the distance of two points of a plane; further coordinates are ignored."""
    across, up = pointA[0] - pointB[0], pointA[1] - pointB[1]
    distance: float = (across**2 + up**2) ** 0.5
    return distance


def polygon_area(vertices: Sequence[Sequence[float]]) -> float:
    """Return the area of a polygon by the shoelace formula, in any order of vertices."""
    if len(vertices) < 3:
        raise ValueError("a polygon has three vertices at least")
    pairs = zip(vertices, [*vertices[1:], vertices[0]], strict=True)
    return abs(add_in_order(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2


def maxPoints(points: Sequence[Sequence[float]]) -> int:  # noqa: N802 - BFCL's name
    """Return the largest number of points on one line."""
    most = min(len(points), 2)
    for index, (x, y) in enumerate(points):
        for other, (u, v) in enumerate(points[:index]):
            on = sum((p[0] - x) * (v - y) == (p[1] - y) * (u - x) for p in points[:other])
            most = max(most, on + 2)
    return most


def math_factorial(n: int) -> int:
    """Return the product of 1 to ``n``; 1 for a negative number."""
    return math.prod(range(1, n + 1))


def math_gcd(a: int, b: int) -> int:
    """Return the greatest common divisor by Euclid's rule, so that it can be negative."""
    while b != 0:
        a, b = b, a % b
    return a


def math_lcm(a: int, b: int) -> float:
    """Return the least common multiple; a float, as officially."""
    return a * b / math_gcd(a, b)


def get_prime_factors(number: float) -> list[int]:
    """Return the prime factors in rising order."""
    # The rest is divided as a float, as officially, so large numbers lose digits.
    factors, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number /= divisor
        divisor += 1
    return factors


def get_fibonacci_sequence(n: int) -> list[int]:
    """Return the first ``n`` Fibonacci numbers from 0 on, but never fewer than two."""
    sequence = [0, 1]
    for _ in range(2, n):
        sequence.append(sequence[-1] + sequence[-2])
    return sequence


def get_fibonacci_number(n: int) -> int:
    """Return the Fibonacci number at a place; the first is 0, the second 1."""
    if n <= 0:
        raise ValueError("places are counted from 1 on")
    return get_fibonacci_sequence(n)[n - 1]


def quadratic_roots(a: float, b: float, c: float) -> list[object]:
    """Return both roots, the one with the positive square root first; complex ones in two parts."""
    discriminant = b**2 - 4 * a * c
    if discriminant >= 0:
        root = discriminant**0.5
        return [(-b + root) / (2 * a), (-b - root) / (2 * a)]
    real, imaginary = -b / (2 * a), abs(discriminant) ** 0.5 / (2 * a)
    return [{"real": real, "imaginary": imaginary}, {"real": real, "imaginary": -imaginary}]


def estimate_derivative(function: str, x: float) -> float:
    """Return the slope of a function between ``x`` and ``x + 1e-10``; so close, only some digits are right.

    The function is Python text, officially evaluated; here it is read (``lambdas``).
    """
    value, step = read_function(function), 1e-10
    return (value(x + step) - value(x)) / step


def mat_mul(matA: Sequence[Sequence[float]], matB: Sequence[Sequence[float]]) -> list[list[float]]:  # noqa: N803
    """Return the product of two matrices; as many elements of a row count as the second has rows."""
    rows, columns, inner = range(len(matA)), range(len(matB[0])), range(len(matB))
    return [[add_in_order(matA[i][k] * matB[k][j] for k in inner) for j in columns] for i in rows]


def calculate_cosine_similarity(vectorA: Sequence[float], vectorB: Sequence[float]) -> float:  # noqa: N803
    """Return the cosine of two vectors; surplus elements of the longer one count for its length."""
    product = add_in_order(a * b for a, b in zip(vectorA, vectorB, strict=False))
    length_a: float = add_in_order(x**2 for x in vectorA) ** 0.5
    length_b: float = add_in_order(x**2 for x in vectorB) ** 0.5
    return product / (length_a * length_b)


def sort_array(array: Sequence[float], reverse: bool = False) -> list[float]:
    """Return the elements in rising or falling order; of a text its characters."""
    return sorted(array, reverse=reverse)


def add_binary_numbers(a: str, b: str) -> str:
    """Return the sum of two numbers written in binary, written in binary."""
    return f"{int(a, 2) + int(b, 2):b}"


def calculate_mean(numbers: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return add_in_order(numbers) / len(numbers)


def calculate_standard_deviation(numbers: Sequence[float]) -> float:
    """Return the standard deviation of a whole population."""
    mean = calculate_mean(numbers)
    deviation: float = (add_in_order((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5
    return deviation


def calc_binomial_probability(n: int, k: int, p: float) -> float:
    """Return the probability of exactly ``k`` successes in ``n`` trials."""
    ways = math_factorial(n) / (math_factorial(k) * math_factorial(n - k))
    return ways * (p**k * (1 - p) ** (n - k))


def calculate_permutations(n: int, k: int) -> float:
    """Return the ways to arrange ``k`` of ``n`` things; a float, as officially."""
    return math_factorial(n) / math_factorial(n - k)


def linear_regression(x: Sequence[float], y: Sequence[float], point: float) -> float:
    """Return the value at a point of the line that fits best."""
    mean_x, mean_y = calculate_mean(x), calculate_mean(y)
    spread = add_in_order((value - mean_x) ** 2 for value in x)
    slope = add_in_order((x[i] - mean_x) * (y[i] - mean_y) for i in range(len(x))) / spread
    return slope * point + (mean_y - slope * mean_x)


def calculate_final_velocity(initial_velocity: float, acceleration: float, time: float) -> float:
    """Return the velocity after steady acceleration."""
    return initial_velocity + acceleration * time


def calculate_displacement(initial_velocity: float, acceleration: float, time: float) -> float:
    """Return the distance covered under steady acceleration."""
    return initial_velocity * time + 0.5 * acceleration * time**2


def calculate_electrostatic_potential_energy(charge: float, voltage: float) -> float:
    """Return charge times voltage."""
    return charge * voltage


def calculate_density(mass: float, volume: float) -> float:
    """Return mass by volume."""
    return mass / volume


def mortgage_calculator(loan_amount: float, interest_rate: float, loan_period: int) -> float:
    """Return the monthly payment of a loan over years; the rate is that of a year, as a fraction."""
    monthly, payments = interest_rate / 12, loan_period * 12
    grown = (1 + monthly) ** payments
    return loan_amount * monthly * grown / (grown - 1)


def calculate_future_value(present_value: float, interest_rate: float, periods: int) -> float:
    """Return the value after periods of compound interest, the rate as a fraction."""
    return present_value * (1 + interest_rate) ** periods


def calculate_investment_value(
    initial_investment: float,
    annual_contribution: float,
    years: int,
    annual_return: float,
    inflation_rate: Sequence[float],
    adjust_for_inflation: bool = True,
) -> float:
    """Return the value of an investment after years of contributions.

    Only the inflation of the last year is taken off, as officially: that of each year before is forgotten.
    """
    value = real = initial_investment
    for year in range(years):
        value = value * (1 + annual_return) + annual_contribution
        if adjust_for_inflation:
            real = value * (1 - inflation_rate[year])
    return real if adjust_for_inflation else value


# Factor of the basal metabolic rate by activity level, from 1 on.
_ACTIVITY = (1.2, 1.375, 1.55, 1.725, 1.9)


def calculate_nutritional_needs(
    weight: float, height: float, age: float, gender: str, activity_level: int, goal: str
) -> dict[str, float]:
    """Return the daily energy by Harris and Benedict, with 500 kcal more to gain and less to lose weight.

    30 % are protein, 25 % fat, 45 % carbohydrates. Whoever is not "male" counts as female.
    """
    if gender == "male":
        basal = 88.362 + 13.397 * weight + 4.799 * height - 5.677 * age
    else:
        basal = 447.593 + 9.247 * weight + 3.098 * height - 4.33 * age
    calories = basal * _ACTIVITY[activity_level - 1] + {"lose": -500, "gain": 500}.get(goal, 0)
    return {
        "calories": calories,
        "proteins_g": calories * 0.3 / 4,
        "fats_g": calories * 0.25 / 9,
        "carbohydrates_g": calories * 0.45 / 4,
    }


def book_room(
    room_type: str,
    price: float,
    check_in_date: str,
    check_out_date: str,
    customer_id: str,
    discount_code: str | None = None,
) -> dict[str, object]:
    """Return a booking with unchecked dates. DISCOUNT10 takes a tenth off."""
    return {
        "customer_id": customer_id,
        "room_type": room_type,
        "check_in_date": check_in_date,
        "check_out_date": check_out_date,
        "total_price": price * 0.9 if discount_code == "DISCOUNT10" else price,
    }


def order_food(item: Sequence[str], quantity: Sequence[int], price: Sequence[float]) -> float:
    """Return the cost of an order: quantity times price, added item by item."""
    return add_in_order(quantity[index] * price[index] for index in range(len(item)))


FORMULAS: Mapping[str, Callable[..., object]] = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, FunctionType) and value.__module__ == __name__
}
"""The functions of this module by name. A call may name each of them, so there are no others here."""
