"""JavaScript: calls written as source text, and literals of its types.

The official readers follow BFCL's ``js_parser`` and ``js_type_converter``: the text
must be one plain call statement; literals are read by patterns that know no nesting (an array ends at
the first ``]``, an object at the first ``}``, elements are split at every comma).

The corrected readers follow the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_fcbench.codecs.decoders import syntax, syntax_trees
from pytest_fcbench.codecs.decoders.syntax import Undecodable, WrongFormat, refuse_faults
from pytest_fcbench.codecs.decoders.syntax_trees import (
    convert_number,
    get_field,
    get_text,
    list_parts,
    replace_escapes,
)
from pytest_fcbench.domain.transcript import Call

if TYPE_CHECKING:
    from tree_sitter import Node


@refuse_faults()
def parse_official(text: str) -> tuple[Call, ...]:
    """Read the call statement of a text as BFCL does. Raises ``Undecodable`` or ``WrongFormat``."""
    # Official: the statement itself must be a call; await, new and const x = make it none.
    source = syntax.add_brackets(text)[1:-1]
    for statement in syntax_trees.parse_source("javascript", source, is_official=True).children:
        for node in statement.children if statement.type == "expression_statement" else ():
            # Newer grammars take ``await (`` for the beginning of a call of that name.
            if node.type == "call_expression" and get_text(syntax_trees.find_first_token(node)) != "await":
                pairs = (
                    (get_text(each.children[0]), _unquote(get_text(each.children[2])))
                    if each.type == "assignment_expression"
                    # The official key of an argument without a name is None.
                    else ("**", get_text(each))
                    for each in node.children[1].children
                    if each.type in ("assignment_expression", "identifier", "true")
                )
                return (Call(get_text(node.children[0]), syntax_trees.collect_arguments(pairs)),)
    raise WrongFormat("no call statement in the text")


def _unquote(text: str) -> str:
    if (text.startswith('"') and text.endswith('"')) or (text.startswith("'") and text.endswith("'")):
        return text[1:-1]
    return text


_NUMBERS: Mapping[str, tuple[re.Pattern[str], Callable[[str], int | float]]] = {
    "integer": (re.compile(r"^-?\d+$"), int),
    "float": (re.compile(r"^-?\d+(\.\d+)?$"), float),
    "Bigint": (re.compile(r"^-?\d+n$"), int),
}
# The official pattern for rows is `\[.*?\]\s*(,\s*\[.*?\]\s*)*`, which takes exponential time on text that
# does not match in the end. The atomic group below accepts the same texts in linear time.
_ROWS = r"\s*\[[^\]\n]*+\](?>\s*,\s*\[[^\]\n]*+\]|[^\]\n]*+\])*?\s*"
_ARRAY_2D = re.compile(rf"\[{_ROWS}\]|\bnew\s+Array\({_ROWS}\)")
_ARRAY = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def parse_official_literal(text: str, kind: str, element: str | None = None) -> object:
    """Read a literal of type ``kind`` as BFCL does; return text that is no such literal unchanged."""
    if len(text) > syntax.LONGEST_LITERAL:
        return text
    match kind:
        case _ if kind in _NUMBERS:
            pattern, *types = _NUMBERS[kind]
            return convert_number(text.rstrip("\nn"), types, text) if pattern.match(text) else text
        case "String":
            return _unquote(text)
        case "Boolean" if text in ("true", "false"):
            return text == "true"
        case "array":
            return _read_official_array(text.strip(), element)
        case "dict":
            return _read_official_object(text.strip())
    return text


def _read_official_array(text: str, element: str | None) -> object:
    if literal := _ARRAY_2D.match(text):
        rows = [row.strip() for row in re.findall(r"\[(.*?)\]", literal[0])]
        rows[0] = rows[0].removeprefix("[")
        return [[_read_untyped(cell) for cell in row.split(",")] for row in rows]
    literal = _ARRAY.match(text)
    if not literal:
        return text
    inner = (literal[2] if literal[1] is None else literal[1]).strip()
    pieces = [piece.strip() for piece in inner.split(",")] if inner else []
    if element is None:
        return [_read_untyped(piece) for piece in pieces]
    if element not in ("String", "integer", "float", "Bigint", "Boolean", "dict", "array", "any"):
        return text
    return [
        parse_official_literal(piece, element, "String" if piece.startswith(("'", '"')) else None)
        for piece in pieces
    ]


def _read_official_object(text: str) -> object:
    if text == "{}":
        return {}
    literal = _OBJECT.match(text)
    if not literal:
        return text
    values: dict[str, object] = {}
    for key, raw in _PAIR.findall(literal[1]) if ":" in literal[1] else ():
        name, item = key.strip().strip("'\""), raw.strip()
        if item.startswith("[") and item.endswith("]"):
            values[name] = _read_official_array(item, None)
        elif item.startswith("{") and item.endswith("}"):
            values[name] = _read_official_object(item)
        else:
            values[name] = _read_untyped(item.strip("'\""))
    return values


def _read_untyped(text: str) -> object:
    """Read a literal whose type is not declared."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if (bare := _unquote(text)) != text:
        return bare
    return convert_number(text, (int, float), text)


@refuse_faults()
def parse_corrected(text: str) -> tuple[Call, ...]:
    """Read all calls of a text by the grammar; ``await`` and ``const x =`` before one do not matter.

    An argument's value is its source text, which is read later, when its declared type is known.
    Raises ``Undecodable``.
    """
    inner = syntax.strip_brackets(text)
    # As the elements of an array: side by side they would be one comma expression.
    try:
        array = syntax_trees.find_first(syntax_trees.parse_source("javascript", f"x = [{inner}]"), "array")
        if array is None or get_text(array) != f"[{inner}]":
            raise Undecodable("expected calls")
        nodes = list_parts(array)
    except Undecodable:
        nodes = list_parts(syntax_trees.parse_source("javascript", inner))
    return tuple(map(_read_call, nodes))


def _read_call(node: Node) -> Call:
    while node.type in ("expression_statement", "await_expression", "parenthesized_expression"):
        node = list_parts(node)[0]
    if node.type in ("lexical_declaration", "variable_declaration"):
        return _read_call(get_field(list_parts(node)[0], "value"))
    if node.type != "call_expression":
        raise Undecodable(f"expected a call, found {node.type.replace('_', ' ')}")
    return Call(get_text(get_field(node, "function")), *syntax_trees.read_arguments(node))


def parse_literal(text: str) -> object:
    """Read a JavaScript literal; return any other expression as its text."""
    place = "assignment_expression", "right"
    return syntax_trees.read_expression(text, "javascript", f"x = {text}", place, _read_value)


def _read_value(node: Node) -> object:  # noqa: C901 - one flat case per node type
    text = get_text(node)
    match node.type:
        case "number":
            digits = text.replace("_", "").rstrip("n")
            if digits.isdecimal():
                return int(digits)
            return int(digits, 0) if digits[:2].lower() in ("0x", "0o", "0b") else float(digits)
        case "true" | "false":
            return text == "true"
        case "null" | "undefined":
            return None
        case "string":
            return replace_escapes(text[1:-1], _ESCAPES)
        case "template_string" if all(c.type != "template_substitution" for c in node.children):
            return replace_escapes(text[1:-1], _ESCAPES)
        case "parenthesized_expression":
            return _read_value(list_parts(node)[0])
        case "unary_expression":
            operand = _read_value(get_field(node, "argument"))
            if isinstance(operand, (int, float)) and text[0] in "+-":
                return -operand if text[0] == "-" else operand
        case "array":
            return [_read_value(child) for child in list_parts(node)]
        case "object":
            return dict(_read_member(child) for child in list_parts(node))
        case "new_expression" if get_text(get_field(node, "constructor")) == "Array":
            return [_read_value(child) for child in list_parts(get_field(node, "arguments"))]
    return text


def _read_member(node: Node) -> tuple[str, object]:
    if node.type != "pair":
        return get_text(node), get_text(node)
    key = get_field(node, "key")
    name = str(_read_value(key)) if key.type in ("string", "number") else get_text(key)
    return name, _read_value(get_field(node, "value"))


_ESCAPES = {"v": "\v", "\n": ""}
