"""Carry out a call, or a function of one number, that is written as Python text, without evaluating it.

The official executors hand each text to ``eval`` or ``exec`` (``multi_turn_utils.py:83``). Here it is
parsed, the function is looked up by its name, and the arguments are built node by node: literals, arithmetic
of constants, nested calls of known functions and an index into what they return.

The body of a function (``lambda x: 3*x**2 + 1``) is arithmetic of numbers and the parameter, with functions
and constants of ``math``. Results are as bounded as constants in a call are; anything else is no function.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.python_syntax import parse_expression, write_expression

Functions: TypeAlias = Mapping[str, Callable[..., object]]
"""Functions by name."""


_LARGEST = 1_000_000
"""Characters and elements of an argument: nested calls can double a value, officially without end."""


class NoCallError(Exception):
    """The text is not a call that can be carried out."""

    def __init__(self, message: str, in_python: str = "") -> None:
        super().__init__(message)
        self.in_python = in_python
        """What Python says where it evaluates the text; empty where that is not known."""


def carry_out_call(text: str, functions: Functions) -> object:
    """Carry out a call. Raises ``Undecodable``, ``NoCallError``, and the errors of the function."""
    return _carry_out(_parse_call(text), functions)


def compute_expression(text: str, functions: Functions) -> object:
    """Carry out the calls of an expression, which may be a literal too; raises as ``carry_out_call`` does.

    ``or`` and ``and`` carry out what Python does.
    """
    node = _parse_call(text)
    if isinstance(node, ast.BoolOp):
        value: object = None
        for part in node.values:
            value = _evaluate_node(part, functions)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value
    return _evaluate_node(node, functions)


def _parse_call(text: str) -> ast.expr:
    return python.parse_answer(text.lstrip(" \t"), "a function call", parse_expression)


def _carry_out(node: ast.expr, functions: Functions) -> object:
    if not isinstance(node, ast.Call):
        raise NoCallError(f"not a function call: {write_expression(node):.200}")
    name = node.func.id if isinstance(node.func, ast.Name) else write_expression(node.func)
    if name not in functions:
        raise _refuse_name("function", name)
    keyword_names: set[str] = set()
    for keyword in node.keywords:
        if keyword.arg in keyword_names:
            in_python = f"keyword argument repeated: {keyword.arg} (<string>, line {keyword.lineno})"
            raise NoCallError(f"the arguments of {name} are not one value for each name", in_python)
        keyword_names |= {keyword.arg} if keyword.arg else set()
    positional = [_evaluate_argument(argument, functions) for argument in node.args]
    keyword_arguments: dict[str, object] = {}
    for keyword in node.keywords:
        value = _evaluate_argument(keyword.value, functions)
        members = {keyword.arg: value} if keyword.arg is not None else value
        if not isinstance(members, dict) or not members.keys().isdisjoint(keyword_arguments):
            raise NoCallError(f"the arguments of {name} are not one value for each name")
        keyword_arguments |= members
    return functions[name](*positional, **keyword_arguments)


def _refuse_name(kind: str, name: str) -> NoCallError:
    return NoCallError(f"there is no {kind} {name:.200}", f"name {name.partition('.')[0]!r} is not defined")


def _evaluate_argument(node: ast.expr, functions: Functions) -> object:
    value = _evaluate_node(node, functions)
    if python.measure_size(value) > _LARGEST:
        raise NoCallError(f"an argument has more than {_LARGEST:,} characters")
    return value


def _evaluate_node(node: ast.expr, functions: Functions) -> object:
    match node:
        case ast.Call():
            return _carry_out(node, functions)
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return python.read_container(node, partial(_evaluate_node, functions=functions))
        case ast.Subscript(value=ast.Call() | ast.Subscript() as value, slice=index):
            return _evaluate_node(value, functions)[_evaluate_node(index, functions)]  # type: ignore[index]  # or an error
        case ast.Name(id=name):
            raise _refuse_name("value", name)
        case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
            return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    return python.fold_constants(node)


# Characters of a text; what models write has fifty.
_LONGEST = 2_000

_NAMES = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh degrees erf exp exp2 expm1 fabs floor fmod "
    "hypot log log10 log1p log2 pow radians sin sinh sqrt tan tanh trunc"
)
_MATH: Mapping[str, Callable[..., float]] = {name: getattr(math, name) for name in _NAMES.split()}
_BUILTIN: Mapping[str, Callable[..., float]] = {each.__name__: each for each in (abs, float, max, min, round)}
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
            number = python.apply_operator(operator.add, 0, value)
        case ast.Name(id=found) if found == name:
            number = x
        case ast.Attribute(value=ast.Name(id="math"), attr=attribute) if attribute in _CONSTANTS:
            number = _CONSTANTS[attribute]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = -_compute_number(operand, name, x)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            number = _compute_number(operand, name, x)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in python.OPERATORS:
            operands = _compute_number(left, name, x), _compute_number(right, name, x)
            number = python.apply_operator(python.OPERATORS[type(op)], *operands)
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
