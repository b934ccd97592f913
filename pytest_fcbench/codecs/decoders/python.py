"""Calls written as Python text: ``[f(x=1), g.h(y='a')]``. Nothing is ever evaluated.

Two readings of the same text. The official one follows BFCL's ``ast_parse`` and ``resolve_ast_by_type``
step by step, oddities included:

- positional arguments are dropped, ``**d`` becomes an argument without a name;
- a unary operator always negates (``+5`` reads -5, ``not True`` reads -1);
- a bare name reads as its text (``true`` is "true"), a call without keywords as its source;
- f-strings, attributes, lambdas, comprehensions as values make the whole answer undecodable.

Where the official code evaluates arithmetic (``2*3``), what models were seen to write is folded here node by
node, and its size is known before it is computed: numbers and their operators, ``round`` and ``str`` of a
number, sums of texts and of lists, a text or a list that is repeated. Anything else is undecodable.

The corrected reading keeps positional arguments, applies operators with their meaning, reads JSON's ``true``,
``false`` and ``null``, and keeps the source text of any expression that is not a literal.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from pytest_fcbench.codecs import python_syntax
from pytest_fcbench.codecs.decoders import java, javascript, syntax
from pytest_fcbench.codecs.decoders.syntax import Syntax, TextReader, Undecodable, refuse_faults
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Call, drop_official_reasoning

Binary: TypeAlias = Callable[[object, object], object]
T = TypeVar("T", bound=ast.AST)

OPERATORS: Mapping[type[ast.operator], Binary] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_NUMBERS = (int, float, complex)
_FUNCTIONS: Mapping[type[ast.unaryop] | str, Callable[[Any], object]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    "round": round,
    "str": str,
}
"""Signs and functions of a number."""
# Python writes no integer of more than 4,300 digits.
_MAX_BITS = 14_000
_MAX_COMPUTED_BITS = 2_048
"""Twice those of the largest float: an answer can have thousands of results."""
_MAX_REPETITION = 5_000
"""Characters and elements of a text or a list that was repeated."""
_JSON_NAMES: Mapping[str, object] = {"true": True, "false": False, "null": None}


_CALLS = "Python calls"


def parse_official(text: str) -> tuple[Call, ...]:
    """Read a text as BFCL does (``default_decode_ast_prompting``). Raises ``Undecodable``."""
    return parse_official_between_tags(syntax.add_brackets(text))


def parse_official_between_tags(text: str) -> tuple[Call, ...]:
    """Read a text between tags as BFCL does, without adding brackets. Raises ``Undecodable``."""
    # Official: single quotes around the text go as well, double ones do not.
    body = parse_answer(text.strip().strip("'"), _CALLS, python_syntax.parse_expression)
    nodes = [body] if isinstance(body, ast.Call) else getattr(body, "elts", None)
    if nodes is None:
        raise Undecodable(f"expected a list of calls, found {type(body).__name__}")
    return _read_calls(nodes, _read_official_call)


def parse_official_statements(text: str) -> tuple[Call, ...]:
    """Read statements, each of which is a call or has one as its value. Raises ``Undecodable``."""
    statements = parse_answer(text, _CALLS, python_syntax.parse_statements).body
    return _read_calls([getattr(each, "value", None) for each in statements], _read_official_call)


def parse_corrected(text: str) -> tuple[Call, ...]:
    """Read a text leniently: any fence, any white space, positional arguments. Raises ``Undecodable``."""
    text = syntax.strip_fence(text)
    try:
        body = parse_answer(syntax.add_brackets(text), _CALLS, python_syntax.parse_expression)
    except Undecodable:
        body = parse_answer(f"[{text}]", _CALLS, python_syntax.parse_expression)
    if not isinstance(body, ast.List):
        raise Undecodable(f"expected a list of calls, found {type(body).__name__}")
    return _read_calls(body.elts, _read_corrected_call)


def parse_corrected_statements(text: str) -> tuple[Call, ...]:
    """Read statements leniently, each of which is a call. Raises ``Undecodable``."""
    statements = parse_answer(text, _CALLS, python_syntax.parse_statements).body
    return _read_calls([getattr(each, "value", None) for each in statements], _read_corrected_call)


_TOOL = re.compile(r"\s*([\w./-]+)\s*(\(.*)", re.DOTALL)


def parse_tool_call(text: str) -> Call:
    """Read one call of a tool, whose name may be none of Python's (``get-time``). Raises ``Undecodable``."""
    match = _TOOL.fullmatch(text)
    calls = parse_corrected(f"tool{match[2]}") if match else ()
    if not match or len(calls) != 1:
        raise Undecodable(f"must be one call, not {shorten_text(text, 80)!r}")
    return replace(calls[0], name=match[1])


def parse_answer(text: str, what: str, parse: Callable[[str], T]) -> T:
    """Parse Python of a model. Raises ``Undecodable`` for what is not ``what``, caused by Python's error."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecodable(f"not {what}: {str(error) or type(error).__name__}") from error
    if refusal := python_syntax.explain_refusal(text, tree):
        raise Undecodable(refusal)
    return tree


def _read_calls(nodes: Sequence[ast.AST | None], read: Callable[[ast.Call], Call]) -> tuple[Call, ...]:
    calls = []
    with refuse_faults():
        for node in nodes:
            if not isinstance(node, ast.Call):
                raise Undecodable(f"expected a call, found {type(node).__name__}")
            calls.append(read(node))
    return tuple(calls)


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
    arguments: dict[str, object] = {}
    for keyword in node.keywords:
        value = _read_corrected_value(keyword.value)
        # How Python gives a parameter whose name is none of its own.
        if keyword.arg is None and isinstance(value, dict) and all(isinstance(name, str) for name in value):
            arguments |= value
        else:
            arguments[keyword.arg or "**"] = value
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
        # The key of ** in a dict is None.
        case ast.Dict(keys=keys) if None in keys:
            raise Undecodable("** inside a dict is not a value")
        case ast.List() | ast.Tuple() | ast.Dict():
            return read_container(node, _read_official_value)
        case ast.BinOp():
            return fold_constants(node)
        # Official: a bare name is its text, JSON's true, false and null among them.
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[]):
            return python_syntax.write_expression(node)
        case ast.Call():
            call = _read_official_call(node)
            return {call.name: dict(call.arguments)}
        case ast.Subscript(value=value, slice=index):
            return f"{python_syntax.write_expression(value)}[{python_syntax.write_expression(index)}]"
    raise Undecodable(f"{type(node).__name__} is not a value")


def _read_corrected_value(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            return _read_constant(value)
        case ast.List(elts=elements) | ast.Set(elts=elements):
            return [_read_corrected_value(element) for element in elements]
        case ast.Tuple():
            return read_container(node, _read_corrected_value)
        case ast.Dict(keys=keys) if None not in keys:
            return read_container(node, _read_corrected_value)
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
        return python_syntax.write_expression(node)


def read_container(
    node: ast.List | ast.Tuple | ast.Set | ast.Dict, read: Callable[[ast.expr], object]
) -> object:
    """Read a list, a tuple, a set or a dict, whose parts ``read`` reads. Raises ``Undecodable``."""
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise Undecodable("Dict in arithmetic would have to be evaluated")
        return build_dict([read(key) for key in node.keys if key is not None], [*map(read, node.values)])
    members = [*map(read, node.elts)]
    if isinstance(node, ast.Set):
        return set(build_dict(members, members))
    return tuple(members) if isinstance(node, ast.Tuple) else members


def build_dict(keys: list[object], values: list[object]) -> dict[object, object]:
    """Make a dict of keys and values. Raises ``Undecodable``, caused by Python's error."""
    try:
        return dict(zip(keys, values, strict=True))
    except TypeError as error:
        raise Undecodable(f"not a key: {error}") from error


def fold_constants(node: ast.expr) -> object:
    """Compute an expression of constants node by node, evaluating no text. Raises ``Undecodable``."""
    match node:
        # The dots are read as a text elsewhere, but Python computes nothing with them.
        case ast.Constant(value=value) if value is not ...:
            return _read_constant(value)
        case ast.List(elts=elements):
            return [fold_constants(element) for element in elements]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _FUNCTIONS:
            return _apply_function(_FUNCTIONS[type(op)], fold_constants(operand))
        # ``_repeat_value`` limits the size of the result.
        case ast.BinOp(left=ast.Constant(value=str()) | ast.List() as left, op=ast.Mult(), right=right):
            return _repeat_value(fold_constants(left), fold_constants(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return apply_operator(OPERATORS[type(op)], fold_constants(left), fold_constants(right))
        case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]) if name in _FUNCTIONS:
            return _apply_function(_FUNCTIONS[name], fold_constants(operand))
    raise Undecodable(f"{type(node).__name__} in arithmetic would have to be evaluated")


def apply_operator(compute: Binary, left: object, right: object) -> object:
    """Compute with two numbers, or add two texts or lists.

    Raises ``Undecodable`` where it fails or would be too large.
    """
    if isinstance(left, int) and isinstance(right, int):
        # A power has at most as many bits as its base, times the exponent.
        is_power = compute is operator.pow
        bits = left.bit_length() * abs(right) if is_power else left.bit_length() + right.bit_length()
        if bits > _MAX_COMPUTED_BITS:
            raise Undecodable("the result of the arithmetic is too large")
    elif not (isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS)):
        is_sum = compute is operator.add and type(left) is type(right) and isinstance(left, (str, list))
        if not is_sum:
            raise _refuse_kinds(left, right)
    try:
        return compute(left, right)
    except (ArithmeticError, TypeError) as error:
        raise Undecodable(f"arithmetic failed: {error}") from error


def _repeat_value(value: object, times: object) -> object:
    if not isinstance(value, (str, list)) or not isinstance(times, int):
        raise _refuse_kinds(value, times)
    if measure_size(value) * times > _MAX_REPETITION:
        raise Undecodable("the result of the arithmetic is too large")
    return value * times


def _apply_function(function: Callable[[Any], object], number: object) -> object:
    if not isinstance(number, _NUMBERS):
        raise _refuse_kinds(number)
    try:
        return function(number)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Undecodable(f"arithmetic failed: {error}") from error


def _refuse_kinds(*values: object) -> Undecodable:
    kinds = " and ".join(type(value).__name__ for value in values)
    return Undecodable(f"arithmetic of {kinds} would have to be evaluated")


def measure_size(value: object) -> int:
    """Count the characters and elements of a value at every depth; an integer is one for each 64 bits."""
    if isinstance(value, Mapping):
        return 1 + sum(measure_size(key) + measure_size(member) for key, member in value.items())
    if isinstance(value, (list, tuple, set)):
        return 1 + sum(map(measure_size, value))
    if isinstance(value, int):
        return 1 + value.bit_length() // 64
    return len(value) if isinstance(value, (str, bytes)) else 1


def evaluate_text(text: str) -> object:
    """Evaluate a literal; nothing of it is ever run. Raises ``Undecodable`` for what is none."""
    # eval skips these, and only these, at the beginning.
    return _evaluate(parse_answer(text.lstrip(" \t"), "a Python literal", python_syntax.parse_expression))


def _evaluate(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=constant) if constant is ...:
            return "..."
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return read_container(node, _evaluate)
        # Models join calls so.
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            first, second = _evaluate(left), _evaluate(right)
            if isinstance(first, dict) and isinstance(second, dict):
                return first | second
    return fold_constants(node)


_LANGUAGES = Language.PYTHON, Language.JAVA, Language.JAVASCRIPT
PYTHON = Syntax(
    Mode.PROMPT,
    dict(zip(_LANGUAGES, (parse_official, java.parse_official, javascript.parse_official), strict=True)),
    dict(zip(_LANGUAGES, (parse_corrected, java.parse_corrected, javascript.parse_corrected), strict=True)),
    is_read_in=lambda text: text.startswith("[") and not text.startswith('[{"'),
)


def read_unwrapped(
    unwrap: Callable[[str], str | None],
    mode: Mode = Mode.PROMPT,
    is_read_in: Callable[[str], bool] | None = None,
) -> Syntax:
    """Return the syntax of calls that ``unwrap`` finds in a text.

    Where it returns None, officially there is none; the corrected reading then reads the whole text.
    """
    return replace(
        PYTHON,
        mode=mode,
        official=_unwrap_first(PYTHON.official, unwrap),
        corrected=_unwrap_first(
            PYTHON.corrected, lambda text: text if (inside := unwrap(text)) is None else inside
        ),
        is_read_in=is_read_in,
    )


def _unwrap_first(
    readers: Mapping[Language, TextReader], unwrap: Callable[[str], str | None]
) -> dict[Language, TextReader]:
    def make_reader(read: TextReader) -> TextReader:
        def read_inside(text: str) -> tuple[Call, ...]:
            inside = unwrap(text)
            return () if inside is None else read(inside)

        return read_inside

    return {language: make_reader(read) for language, read in readers.items()}


PYTHON_BEHIND_REASONING = read_unwrapped(drop_official_reasoning)
"""Official: ``QwenHandler`` and ``DeepseekReasoningHandler``."""
