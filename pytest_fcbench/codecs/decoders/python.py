"""Calls written as Python text: ``[f(x=1), g.h(y='a')]``. Nothing is ever evaluated.

Two readings of the same text. The official one follows BFCL's ``ast_parse`` and ``resolve_ast_by_type``
step by step, oddities included:

- positional arguments are dropped, ``**d`` becomes an argument without a name;
- a unary operator always negates (``+5`` reads -5, ``not True`` reads -1);
- a bare name reads as its text (``true`` is "true"), a call without keywords as its source;
- f-strings, attributes, lambdas, comprehensions as values make the whole answer undecodable.

Where the official code evaluates arithmetic (``2*3``), the constants are folded here node by node with
limits on size, and so are calls of a few pure functions of Python (``sum([1, 2]) / 2``); an expression that
would need a name, another call or a huge result is undecodable.

The corrected reading keeps positional arguments, applies operators with their meaning, reads JSON's ``true``,
``false`` and ``null``, and keeps the source text of any expression that is not a literal.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.wrapping import add_brackets, strip_fence
from pytest_fcbench.codecs.python_syntax import (
    check_tree_size,
    parse_expression,
    parse_module,
    write_expression,
)
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Call

Binary: TypeAlias = Callable[[object, object], object]

OPERATORS: Mapping[type[ast.operator], Binary] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
# Python writes no integer of more than 4,300 digits.
_MAX_BITS = 14_000
_MAX_SIZE = 100_000
_MOST_REPETITIONS = 20
"""Products and formats with a text or a list in one answer: each can have ``_MAX_SIZE`` characters or
elements."""
_LARGE_FORMAT = re.compile(r"%[^%a-zA-Z]*(\*|[0-9]{4})")
"""A format with a width or a precision of four digits or from the operands (``'%9999d' % x``)."""
_LONGEST_FORMATTED = 1500
"""The characters that an operand of any other format takes at most: a width, and the digits of a number."""
_MOST_PLACES = 400
"""The places that a number may be rounded to; to more the same number is returned, or none of it is left."""
PURE_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    function.__name__: function for function in (abs, bool, float, int, len, max, min, pow, round, str, sum)
}
"""Functions of Python that only return a value, which models put into arithmetic."""
_JSON_NAMES: Mapping[str, object] = {"true": True, "false": False, "null": None}


def parse_official(text: str) -> tuple[Call, ...]:
    """Read a text as BFCL does (``default_decode_ast_prompting``). Raises ``Undecodable``."""
    return parse_official_between_tags(add_brackets(text))


def parse_official_between_tags(text: str) -> tuple[Call, ...]:
    """Read a text between tags as BFCL does, without adding brackets. Raises ``Undecodable``."""
    # Official: single quotes around the text go as well, double ones do not.
    body = _parse_text(text.strip().strip("'"))
    nodes = [body] if isinstance(body, ast.Call) else getattr(body, "elts", None)
    if nodes is None:
        raise Undecodable(f"expected a list of calls, found {type(body).__name__}")
    return _read_calls(nodes, _read_official_call)


def parse_official_statements(text: str) -> tuple[Call, ...]:
    """Read statements, each of which is a call or has one as its value. Raises ``Undecodable``."""
    try:
        check_tree_size(text)
        statements = parse_module(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecodable(f"not Python calls: {str(error) or type(error).__name__}") from None
    return _read_calls([getattr(each, "value", None) for each in statements], _read_official_call)


def parse_corrected(text: str) -> tuple[Call, ...]:
    """Read a text leniently: any fence, any white space, positional arguments. Raises ``Undecodable``."""
    text = strip_fence(text)
    try:
        body = _parse_text(add_brackets(text))
    except Undecodable:
        body = _parse_text(f"[{text}]")
    if not isinstance(body, ast.List):
        raise Undecodable(f"expected a list of calls, found {type(body).__name__}")
    return _read_calls(body.elts, _read_corrected_call)


_TOOL = re.compile(r"\s*([\w./-]+)\s*(\(.*)", re.DOTALL)


def parse_tool_call(text: str) -> Call:
    """Read one call of a tool, whose name may be none of Python's (``get-time``). Raises ``Undecodable``."""
    found = _TOOL.fullmatch(text)
    calls = parse_corrected(f"tool{found[2]}") if found else ()
    if not found or len(calls) != 1:
        raise Undecodable(f"must be one call, not {shorten_text(text, 80)!r}")
    return replace(calls[0], name=found[1])


def _parse_text(text: str) -> ast.expr:
    try:
        return parse_expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecodable(f"not Python calls: {str(error) or type(error).__name__}") from None


def _read_calls(nodes: Sequence[ast.AST | None], read: Callable[[ast.Call], Call]) -> tuple[Call, ...]:
    if sum(_count_repetitions(node) for node in nodes if node) > _MOST_REPETITIONS:
        raise Undecodable(f"more than {_MOST_REPETITIONS} texts or lists are repeated or formatted")
    calls = []
    try:
        for node in nodes:
            if not isinstance(node, ast.Call):
                raise Undecodable(f"expected a call, found {type(node).__name__}")
            calls.append(read(node))
    except RecursionError:
        raise Undecodable("the arguments are nested too deeply") from None
    except ValueError as error:
        # From ast.unparse of an integer with too many digits.
        raise Undecodable(str(error)) from None
    return tuple(calls)


def _count_repetitions(tree: ast.AST) -> int:
    """Count products and formats of texts and lists (``'a' * 9``): each can make much of little."""
    count = 0
    sequences: set[ast.AST] = set()
    # Operands come before their operators.
    for node in reversed(list(ast.walk(tree))):
        match node:
            case ast.List() | ast.Tuple() | ast.Constant(value=str() | bytes()):
                sequences.add(node)
            case ast.BinOp(left=left, op=op, right=right) if left in sequences or right in sequences:
                sequences.add(node)
                count += isinstance(op, (ast.Mult, ast.Mod))
    return count


def _read_constant(value: object) -> object:
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise Undecodable("an integer is too large")
    return "..." if value is Ellipsis else value


def _join_dotted_name(node: ast.expr) -> str:
    """Return ``a.b.c`` of an attribute chain; a base that is no name is left out, as officially."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _read_official_call(node: ast.Call) -> Call:
    # Official: positional arguments are dropped, so that the checker misses required ones.
    arguments = {keyword.arg or "**": _read_official_value(keyword.value) for keyword in node.keywords}
    return Call(_join_dotted_name(node.func), arguments)


def _read_corrected_call(node: ast.Call) -> Call:
    arguments = {keyword.arg or "**": _read_corrected_value(keyword.value) for keyword in node.keywords}
    return Call(
        _join_dotted_name(node.func), arguments, tuple(_read_corrected_value(arg) for arg in node.args)
    )


def _read_official_value(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            return _read_constant(value)
        # Official: whatever the operator is, the operand is negated.
        case ast.UnaryOp(operand=ast.Constant(value=int() | float() | complex() as value)):
            _read_constant(value)
            return -value
        case ast.List(elts=elements):
            return [_read_official_value(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_read_official_value(element) for element in elements)
        case ast.Dict(keys=keys, values=values):
            # The key of ** in a dict is None.
            if None in keys:
                raise Undecodable("** inside a dict is not a value")
            names = [_read_official_value(key) for key in keys if key is not None]
            return _build_dict(names, [_read_official_value(each) for each in values])
        case ast.BinOp():
            return fold_constants(node)
        # Official: a bare name is its text, JSON's true, false and null among them.
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[]):
            return write_expression(node)
        case ast.Call():
            call = _read_official_call(node)
            return {call.name: dict(call.arguments)}
        case ast.Subscript(value=value, slice=index):
            return f"{write_expression(value)}[{write_expression(index)}]"
    raise Undecodable(f"{type(node).__name__} is not a value")


def _read_corrected_value(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            return _read_constant(value)
        case ast.List(elts=elements) | ast.Set(elts=elements):
            return [_read_corrected_value(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_read_corrected_value(element) for element in elements)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_read_corrected_value(key) for key in keys if key is not None]
            return _build_dict(names, [_read_corrected_value(each) for each in values])
        case ast.Name(id=name):
            return _JSON_NAMES.get(name, name)
        case ast.Call(keywords=[_, *_], args=[]):
            call = _read_corrected_call(node)
            return {call.name: dict(call.arguments)}
        case ast.JoinedStr(values=[]):
            return ""
        case ast.JoinedStr(values=[ast.Constant(value=str(text))]):
            return text
    try:
        return fold_constants(node)
    except Undecodable:
        return write_expression(node)


def _build_dict(keys: list[object], values: list[object]) -> dict[object, object]:
    try:
        return dict(zip(keys, values, strict=True))
    except TypeError as error:
        raise Undecodable(f"not a dict: {error}") from None


def fold_constants(node: ast.expr) -> object:
    """Compute an expression of constants node by node, evaluating no text. Raises ``Undecodable``."""
    match node:
        # The dots are read as a text elsewhere, but Python computes nothing with them.
        case ast.Constant(value=value) if value is not ...:
            return _read_constant(value)
        case ast.List(elts=elements):
            return [fold_constants(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(fold_constants(element) for element in elements)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [fold_constants(key) for key in keys if key is not None]
            return _build_dict(names, [fold_constants(value) for value in values])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return apply_operator(operator.sub, 0, fold_constants(operand))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return apply_operator(operator.add, 0, fold_constants(operand))
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return apply_operator(operator.xor, -1, fold_constants(operand))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not fold_constants(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return apply_operator(OPERATORS[type(op)], fold_constants(left), fold_constants(right))
        case ast.Call(func=ast.Name(id=name), args=operands, keywords=[]) if name in PURE_FUNCTIONS:
            return call_pure_function(name, [fold_constants(operand) for operand in operands])
    raise Undecodable(f"{type(node).__name__} in arithmetic would have to be evaluated")


def apply_operator(compute: Binary, left: object, right: object) -> object:
    """Return the result of an operator. Raises ``Undecodable`` where it fails or would be too large."""
    if _is_too_large(compute, left, right):
        raise Undecodable("the result of the arithmetic is too large")
    try:
        return compute(left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Undecodable(f"arithmetic failed: {error}") from error


def call_pure_function(name: str, operands: Sequence[object]) -> object:
    """Return the value of a function of ``PURE_FUNCTIONS``. Raises ``Undecodable`` as ``apply_operator``."""
    match name, operands:
        case "pow", [base, exponent]:
            return apply_operator(operator.pow, base, exponent)
        case "round", [_, int(places)] if abs(places) > _MOST_PLACES:
            raise Undecodable(f"a number is rounded to {places} places")
        # Each sum of lists copies those before it, and in each text of a text its quotes are doubled.
        case (
            ("pow", [_, _, _]) | ("sum", [_, list() | tuple()]) | ("str", [list() | tuple() | dict() | set()])
        ):
            raise Undecodable(f"the {name} of such values would have to be evaluated")
    try:
        return _read_constant(PURE_FUNCTIONS[name](*operands))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Undecodable(f"{name} failed: {error}") from error


def _is_too_large(compute: Binary, left: object, right: object) -> bool:
    """Tell whether a result could take many kilobytes."""
    if isinstance(left, (str, bytes)) and compute is operator.mod:
        text = left if isinstance(left, str) else left.decode("latin-1")
        longest = text.count("%") * _LONGEST_FORMATTED + measure_size(right)
        return longest > _MAX_SIZE or _LARGE_FORMAT.search(text) is not None
    if isinstance(left, int) and isinstance(right, int):
        # A power has at most as many bits as its base, times the exponent.
        if compute is operator.pow:
            return left.bit_length() * abs(right) > _MAX_BITS
        if compute is operator.lshift:
            return left.bit_length() + right > _MAX_BITS
        return left.bit_length() + right.bit_length() > _MAX_BITS
    # "a" * 10**9 is a short text that takes a gigabyte.
    sequence, count = (left, right) if isinstance(right, int) else (right, left)
    if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(count, int):
        return measure_size(sequence) * count > _MAX_SIZE
    return False


def measure_size(value: object) -> int:
    """Count the characters and elements of a value at every depth; an integer is one for each 64 bits."""
    if isinstance(value, Mapping):
        return 1 + sum(measure_size(key) + measure_size(member) for key, member in value.items())
    if isinstance(value, (list, tuple, set)):
        return 1 + sum(map(measure_size, value))
    if isinstance(value, int):
        return 1 + value.bit_length() // 64
    return len(value) if isinstance(value, (str, bytes)) else 1
