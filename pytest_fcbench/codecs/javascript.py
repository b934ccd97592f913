"""JavaScript: calls written as source text, and literals of its types.

``official_call`` and ``official_value`` follow BFCL's ``js_parser`` and ``js_type_converter``: the text
must be one plain call statement; literals are read by patterns that know no nesting (an array ends at
the first ``]``, an object at the first ``}``, elements are split at every comma).

``calls`` and ``value`` read the same things by the grammar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_fcbench.codecs.decoders.outcome import LONGEST_LITERAL, Undecodable, WrongFormat
from pytest_fcbench.codecs.decoders.wrapping import bracketed, unbracketed
from pytest_fcbench.codecs.syntax_trees import (
    field,
    parse,
    parts,
    read_arguments,
    refuse_depth,
    text_of,
    walk,
)
from pytest_fcbench.domain.transcript import Call

if TYPE_CHECKING:
    from tree_sitter import Node


@refuse_depth
def official_call(text: str) -> tuple[Call, ...]:
    """The call statement of a text, as BFCL reads it. Raises ``Undecodable`` or ``WrongFormat``."""
    root = parse("javascript", bracketed(text)[1:-1])
    for statement in root.children:
        if statement.type != "expression_statement":
            continue
        for node in statement.children:
            if node.type == "call_expression":
                return (Call(text_of(node.children[0]), _official_arguments(node.children[1])),)
    raise WrongFormat("no call statement in the text")


def _official_arguments(node: Node) -> dict[str, object]:
    arguments: dict[str, object] = {}
    for child in node.children:
        if child.type == "assignment_expression":
            name, value = text_of(child.children[0]), _unquoted(text_of(child.children[2]))
        elif child.type in ("identifier", "true"):
            name, value = "**", text_of(child)
        else:
            continue
        if name in arguments:
            raise Undecodable(f"argument {name!r} is given twice")
        arguments[name] = value
    return arguments


def _unquoted(text: str) -> str:
    if (text.startswith('"') and text.endswith('"')) or (text.startswith("'") and text.endswith("'")):
        return text[1:-1]
    return text


_INTEGER = re.compile(r"^-?\d+$")
_FLOAT = re.compile(r"^-?\d+(\.\d+)?$")
_BIGINT = re.compile(r"^-?\d+n$")
# The official pattern for rows is `\[.*?\]\s*(,\s*\[.*?\]\s*)*`, which takes exponential time on text that
# does not match in the end. The atomic group below accepts the same texts in linear time.
_ROWS = r"\s*\[[^\]\n]*+\](?>\s*,\s*\[[^\]\n]*+\]|[^\]\n]*+\])*?\s*"
_ARRAY_2D = re.compile(rf"\[{_ROWS}\]|\bnew\s+Array\({_ROWS}\)")
_ARRAY = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_PAIR = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def official_value(text: str, kind: str, element: str | None = None) -> object:
    """The value of a literal of type ``kind``; text that is no such literal comes back unchanged."""
    if len(text) > LONGEST_LITERAL:
        return text
    try:
        if kind == "String":
            return _unquoted(text)
        if kind == "integer":
            return int(text) if _INTEGER.match(text) else text
        if kind == "float":
            return float(text) if _FLOAT.match(text) else text
        if kind == "Bigint":
            return int(text.rstrip("\n")[:-1]) if _BIGINT.match(text) else text
    except ValueError:  # more digits than Python converts
        return text
    if kind == "Boolean":
        return text == "true" if text in ("true", "false") else text
    if kind == "array":
        return _official_array(text.strip(), element)
    if kind == "dict":
        return _official_object(text.strip())
    return text


def _official_array(text: str, element: str | None) -> object:
    if found := _ARRAY_2D.match(text):
        rows = [row.strip() for row in re.findall(r"\[(.*?)\]", found.group(0))]
        rows[0] = rows[0].removeprefix("[")
        return [[_untyped(cell) for cell in row.split(",")] for row in rows]
    found = _ARRAY.match(text)
    if not found:
        return text
    inner = (found.group(1) if found.group(1) is not None else found.group(2)).strip()
    pieces = [piece.strip() for piece in inner.split(",")] if inner else []
    if element is None:
        return [_untyped(piece) for piece in pieces]
    if element not in ("String", "integer", "float", "Bigint", "Boolean", "dict", "array", "any"):
        return text
    return [
        official_value(piece, element, "String" if piece.startswith(("'", '"')) else None) for piece in pieces
    ]


def _official_object(text: str) -> object:
    if text == "{}":
        return {}
    found = _OBJECT.match(text)
    if not found:
        return text
    values: dict[str, object] = {}
    content = found.group(1)
    for key, raw in _PAIR.findall(content) if ":" in content else ():
        name, item = key.strip().strip("'\""), raw.strip()
        if item.startswith("[") and item.endswith("]"):
            values[name] = _official_array(item, None)
        elif item.startswith("{") and item.endswith("}"):
            values[name] = _official_object(item)
        else:
            values[name] = _untyped(item.strip("'\""))
    return values


def _untyped(text: str) -> object:
    """A literal whose type is not declared."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if (bare := _unquoted(text)) != text:
        return bare
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


@refuse_depth
def calls(text: str) -> tuple[Call, ...]:
    """All calls of a text, by the grammar; ``await`` and ``const x =`` before one do not matter.

    An argument's value is its source text, so that ``value`` can read it by its declared type.
    Raises ``Undecodable``.
    """
    inner = unbracketed(text)
    try:
        root = parse("javascript", f"x = [{inner}]")
        found = next((node for node in walk(root) if node.type == "array"), None)
        if found is None or text_of(found) != f"[{inner}]":
            raise Undecodable("expected calls")
        nodes = parts(found)
    except Undecodable:
        nodes = parts(parse("javascript", inner))
    return tuple(_call(node) for node in nodes)


def _call(node: Node) -> Call:
    while node.type in ("expression_statement", "await_expression", "parenthesized_expression"):
        node = parts(node)[0]
    if node.type == "lexical_declaration":
        return _call(field(parts(node)[0], "value"))
    if node.type != "call_expression":
        raise Undecodable(f"expected a call, found {node.type.replace('_', ' ')}")
    return Call(text_of(field(node, "function")), *read_arguments(node))


def value(text: str) -> object:
    """The value of a JavaScript literal; any other expression comes back as its text."""
    try:
        root = parse("javascript", f"x = {text}")
        assignment = next(node for node in walk(root) if node.type == "assignment_expression")
        right = field(assignment, "right")
        return _value(right) if text_of(right) == text.strip() else text
    except (Undecodable, StopIteration, ValueError, RecursionError):
        return text


def _value(node: Node) -> object:  # noqa: C901 - one flat case per node type
    text = text_of(node)
    match node.type:
        case "number":
            digits = text.replace("_", "")
            if re.fullmatch(r"\d+n?", digits):
                return int(digits.rstrip("n"))
            return int(digits, 0) if digits[:2].lower() in ("0x", "0o", "0b") else float(digits)
        case "true" | "false":
            return text == "true"
        case "null" | "undefined":
            return None
        case "string":
            return _unescaped(text[1:-1])
        case "template_string" if all(c.type != "template_substitution" for c in node.children):
            return _unescaped(text[1:-1])
        case "parenthesized_expression":
            return _value(parts(node)[0])
        case "unary_expression":
            operand = _value(field(node, "argument"))
            if isinstance(operand, (int, float)) and text[0] in "+-":
                return -operand if text[0] == "-" else operand
        case "array":
            return [_value(child) for child in parts(node)]
        case "object":
            return dict(_member(child) for child in parts(node))
        case "new_expression" if text_of(field(node, "constructor")) == "Array":
            return [_value(child) for child in parts(field(node, "arguments"))]
    return text


def _member(node: Node) -> tuple[str, object]:
    if node.type != "pair":
        return text_of(node), text_of(node)
    key = field(node, "key")
    return str(_value(key)) if key.type in ("string", "number") else text_of(key), _value(
        field(node, "value")
    )


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found.group(1)
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code[1:].strip("{}"), 16))
        return _ESCAPES.get(code, code)

    return re.sub(
        r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", character, text, flags=re.DOTALL
    )
