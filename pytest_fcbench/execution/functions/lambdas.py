"""Functions of one number written as Python text (``lambda x: 3*x**2 + 1``), read without evaluating it.

A body is arithmetic of numbers and the parameter, with functions and constants of ``math``. Results are as
bounded as constants in a call are (``python_calls``); anything else is no function.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from pytest_fcbench.codecs.decoders.python import OPERATORS, apply_operator
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.python_syntax import parse_expression, write_expression

# Characters of a text; what models write has fifty.
_LONGEST = 2_000

_NAMES = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh degrees erf exp exp2 expm1 fabs floor fmod "
    "hypot log log10 log1p log2 pow radians sin sinh sqrt tan tanh trunc"
)
_MATH: Mapping[str, Callable[..., float]] = {name: getattr(math, name) for name in _NAMES.split()}
_BUILTIN: Mapping[str, Callable[..., float]] = {
    "abs": abs,
    "float": float,
    "max": max,
    "min": min,
    "round": round,
}
_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}


def read_function(text: object) -> Callable[[float], float]:
    """Read a function of one number from a text. Raises ``Undecodable``, also when called."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise Undecodable("the function must be a short text")
    try:
        function = parse_expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecodable(f"not a function: {error}") from None
    match function:
        case ast.Lambda(
            args=ast.arguments(
                posonlyargs=[], args=[ast.arg(arg=name)], vararg=None, kwonlyargs=[], kwarg=None, defaults=[]
            ),
            body=body,
        ):
            # The parsed tree is walked for each number; nothing is compiled.
            return lambda x: _compute_number(body, name, x)
    raise Undecodable("not a lambda of one parameter")


def _compute_number(node: ast.expr, name: str, x: float) -> float:
    number: object
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            # Adding 0 checks a literal against the limits of every result.
            number = apply_operator(operator.add, 0, value)
        case ast.Name(id=found) if found == name:
            number = x
        case ast.Attribute(value=ast.Name(id="math"), attr=attribute) if attribute in _CONSTANTS:
            number = _CONSTANTS[attribute]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = -_compute_number(operand, name, x)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            number = _compute_number(operand, name, x)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            operands = _compute_number(left, name, x), _compute_number(right, name, x)
            number = apply_operator(OPERATORS[type(op)], *operands)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="math"), attr=called), args=arguments, keywords=[]
        ) if called in _MATH:
            number = _MATH[called](*(_compute_number(argument, name, x) for argument in arguments))
        case ast.Call(func=ast.Name(id=called), args=arguments, keywords=[]) if called in _BUILTIN:
            number = _BUILTIN[called](*(_compute_number(argument, name, x) for argument in arguments))
        case _:
            raise Undecodable(f"{write_expression(node):.80} is not arithmetic")
    if not isinstance(number, (int, float)):
        raise Undecodable(f"{type(number).__name__} is not a number")
    return number
