"""Java: calls written as source text, and literals of its types.

``official_call`` and ``official_value`` follow BFCL's ``java_parser`` and ``java_type_converter``:

- the text is bracketed first (``bracketed``), then its first and last character are cut off;
- only the first method invocation counts; a named argument is an assignment, a bare identifier has no name;
- the text of a value is taken by byte offsets from a text of characters (garbled after non-ASCII),
  class bodies are dropped (``new HashMap<>() {{ put(..); }}`` becomes an empty map) and white space goes;
- a literal must look exactly as its type asks (``5L`` for long, ``2.5f`` for float), elements of
  collections are split at every comma, ``String`` elements of an array keep their quotes.

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
    from collections.abc import Callable

    from tree_sitter import Node

_AS_WRITTEN = ("identifier", "class_literal", "type_identifier", "method_invocation")


@refuse_depth
def official_call(text: str) -> tuple[Call, ...]:
    """The first call of a text, as BFCL reads it. Raises ``Undecodable`` or ``WrongFormat``."""
    source = bracketed(text)[1:-1]
    root = parse("java", source)
    invocation = next((node for node in walk(root) if node.type == "method_invocation"), None)
    if invocation is None:
        raise WrongFormat("no method invocation in the text")
    name = _sliced(source, field(invocation, "name"))
    target = invocation.child_by_field_name("object")
    if target is not None:
        name = f"{_sliced(source, target)}.{name}"
    arguments: dict[str, object] = {}
    for child in field(invocation, "arguments").children:
        if child.type == "assignment_expression":
            parameter = _sliced(source, child.children[0])
            value = _official_text(source, child.children[2], nested=False)
        elif child.type in ("identifier", "class_literal", "set"):
            parameter, value = "**", _official_text(source, child, nested=False)
        else:
            continue
        if parameter in arguments:
            raise Undecodable(f"argument {parameter!r} is given twice")
        arguments[parameter] = value
    return (Call(name, arguments),)


def _sliced(source: str, node: Node) -> str:
    return source[node.start_byte : node.end_byte]


def _official_text(source: str, node: Node, *, nested: bool) -> str:
    if node.type in ("string_literal", "character_literal"):
        text = _sliced(source, node)
        return text if nested else text[1:-1]
    if node.type in _AS_WRITTEN:
        return _sliced(source, node)
    if node.type == "array_creation_expression":
        element = _official_text(source, field(node, "type"), nested=True)
        return f"new {element}[]{_official_text(source, field(node, 'value'), nested=True)}"
    if node.type == "object_creation_expression":
        kind = _official_text(source, field(node, "type"), nested=True)
        arguments = [
            _official_text(source, child, nested=True)
            for child in field(node, "arguments").children
            if child.type not in (",", "(", ")")
        ]
        return f"new {kind}({', '.join(arguments)})"
    if node.child_count:
        return "".join(_official_text(source, child, nested=True) for child in node.children)
    return _sliced(source, node)


_INTEGER = re.compile(r"^-?\d+$")
_LONG = re.compile(r"^-?\d+[lL]$")
_FLOAT = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")
_DOUBLE = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDS = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_ADD = re.compile(r"add\((.+?)\)")
_PUT = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")


def official_value(text: str, kind: str, element: str | None = None) -> object:
    """The value of a literal of type ``kind``; text that is no such literal comes back unchanged."""
    if len(text) > LONGEST_LITERAL:
        return text
    if kind in ("byte", "short", "integer"):
        return _number(int, text, text) if _INTEGER.match(text) else text
    if kind == "long":
        return _number(int, text, text.rstrip("\n")[:-1]) if _LONG.match(text) else text
    if kind == "float":
        return _number(float, text, text.rstrip("\n")[:-1]) if _FLOAT.match(text) else text
    if kind == "double":
        return _number(float, text, text) if _DOUBLE.match(text) else text
    if kind == "boolean":
        return text == "true" if text in ("true", "false") else text
    if kind == "ArrayList":
        return _official_list(text, element)
    if kind == "Array":
        found = _ARRAY.search(text)
        if not found:
            return text
        return [_element(part.strip(), element) for part in found.group(1).split(",") if part.strip()]
    if kind == "HashMap":
        return _official_map(text)
    return text


def _number(kind: Callable[[str], int | float], text: str, digits: str) -> object:
    try:
        return kind(digits)
    except ValueError:  # more digits than Python converts
        return text


def _until_last(end: str, text: str) -> str:
    """The text up to the last ``end``: without one, a pattern that needs it would try every split."""
    return text[: text.rfind(end) + len(end)] if end in text else ""


def _official_list(text: str, element: str | None) -> object:
    unquote = element in ("char", "String")
    if found := _AS_LIST.search(text):
        pieces = found.group(1).split(",")
    elif found := _ADDS.search(_until_last("}}", text)):
        pieces = _ADD.findall(found.group(1))
    else:
        return [] if _EMPTY_LIST.search(text) else text
    pieces = [piece.strip() for piece in pieces]
    return [piece[1:-1] if unquote else _element(piece, element) for piece in pieces]


def _element(text: str, kind: str | None) -> object:
    return official_value(text, kind) if kind else _untyped(text)


def _official_map(text: str) -> object:
    found = _MAP.search(_until_last("}", text))
    if found:
        puts = _PUT.findall(_until_last(")", found.group(1)))
        return {key: _untyped(value.strip()) for key, value in puts}
    return {} if _EMPTY_MAP.search(text) else text


def _untyped(text: str) -> object:
    """A literal whose type is not declared."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    for kind in ("long", "float"):
        value = official_value(text, kind)
        if value is not text:
            return value
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


@refuse_depth
def calls(text: str) -> tuple[Call, ...]:
    """All calls of a text, by the grammar: ``[A.f(x=1), B.g(y="z")]``. Raises ``Undecodable``.

    An argument's value is its source text, so that ``value`` can read it by its declared type.
    """
    inner = unbracketed(text)
    try:
        root = parse("java", f"class C {{ Object[] calls = {{ {inner} }}; }}")
        found = next((node for node in walk(root) if node.type == "array_initializer"), None)
        if found is None or text_of(found) != f"{{ {inner} }}":
            raise Undecodable("expected method invocations")
        nodes = parts(found)
    except Undecodable:
        # Not a list of expressions: perhaps statements, such as "int y = A.f(x=1);".
        nodes = [_invoked_by(statement) for statement in parts(parse("java", f"{inner};"))]
    return tuple(_call(node) for node in nodes)


def _invoked_by(statement: Node) -> Node:
    """The method invocation that a statement consists of or assigns."""
    node = statement
    if node.type == "local_variable_declaration":
        node = field(field(node, "declarator"), "value")
    elif node.type == "expression_statement":
        node = parts(node)[0]
    return node


def _call(node: Node) -> Call:
    if node.type != "method_invocation":
        raise Undecodable(f"expected a method invocation, found {node.type.replace('_', ' ')}")
    target = node.child_by_field_name("object")
    name = text_of(field(node, "name"))
    return Call(f"{text_of(target)}.{name}" if target else name, *read_arguments(node))


def value(text: str) -> object:
    """The value of a Java literal or collection; any other expression comes back as its text."""
    try:
        root = parse("java", f"class C {{ Object o = {text}; }}")
        declarator = next(node for node in walk(root) if node.type == "variable_declarator")
        if text_of(field(declarator, "value")) != text.strip():
            return text  # the text goes on after the expression
        return _value(field(declarator, "value"))
    except (Undecodable, StopIteration, ValueError, RecursionError):
        return text


def _value(node: Node) -> object:  # noqa: C901 - one flat case per node type
    text = text_of(node)
    match node.type:
        case "decimal_integer_literal" | "hex_integer_literal" | "octal_integer_literal":
            digits = text.rstrip("lL").replace("_", "")
            return int(digits, 8) if re.fullmatch(r"0[0-7]+", digits) else int(digits, 0)
        case "binary_integer_literal":
            return int(text.rstrip("lL").replace("_", ""), 0)
        case "decimal_floating_point_literal":
            return float(text.rstrip("fFdD").replace("_", ""))
        case "true" | "false":
            return text == "true"
        case "null_literal":
            return None
        case "string_literal":
            return _unescaped(text[3:-3].lstrip("\n") if text.startswith('"""') else text[1:-1])
        case "character_literal":
            return _unescaped(text[1:-1])
        case "parenthesized_expression":
            return _value(parts(node)[0])
        case "cast_expression":
            return _value(field(node, "value"))
        case "unary_expression":
            operand = _value(field(node, "operand"))
            if isinstance(operand, (int, float)) and text[0] in "+-":
                return -operand if text[0] == "-" else operand
        case "array_initializer":
            return [_value(child) for child in parts(node)]
        case "array_creation_expression" if initialiser := node.child_by_field_name("value"):
            return _value(initialiser)
        case "object_creation_expression":
            return _created(node)
        case "method_invocation":
            return _factory(node)
    return text


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " ", "0": "\0"}


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found.group(1)
        return chr(int(code[-4:], 16)) if code[0] == "u" else _ESCAPES.get(code, code)

    return re.sub(r"\\(u+[0-9a-fA-F]{4}|.)", character, text, flags=re.DOTALL)


def _created(node: Node) -> object:
    """``new ArrayList<>(...)`` and ``new HashMap<>() {{ ... }}`` with their relatives."""
    kind = text_of(field(node, "type")).split("<")[0].rsplit(".", 1)[-1]
    arguments = [_value(argument) for argument in parts(field(node, "arguments"))]
    body = next((child for child in node.children if child.type == "class_body"), None)
    if kind.endswith("Map"):
        if body is not None:
            return {str(row[0]): row[1] for row in _invoked(body, "put") if len(row) == 2}
        return arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    if kind.endswith(("List", "Set", "Queue", "Stack", "Vector", "Deque")):
        if body is not None:
            return [row[0] for row in _invoked(body, "add") if len(row) == 1]
        return arguments[0] if arguments and isinstance(arguments[0], list) else []
    return text_of(node)


def _invoked(body: Node, method: str) -> list[list[object]]:
    """Arguments of every call of ``method`` that stands in an initialiser block of the body itself."""
    statements = [statement for block in parts(body) if block.type == "block" for statement in parts(block)]
    invocations = [_invoked_by(statement) for statement in statements]
    return [
        [_value(argument) for argument in parts(field(node, "arguments"))]
        for node in invocations
        if node.type == "method_invocation" and text_of(field(node, "name")) == method
    ]


def _factory(node: Node) -> object:
    """``Arrays.asList(..)``, ``List.of(..)``, ``Map.of(..)`` and the like; other calls stay text."""
    target = node.child_by_field_name("object")
    name = f"{text_of(target) if target else ''}.{text_of(field(node, 'name'))}"
    arguments = [_value(argument) for argument in parts(field(node, "arguments"))]
    if name in ("Arrays.asList", "List.of", "Set.of", "Collections.emptyList", "Stream.of"):
        return arguments
    if name in ("Map.of", "Collections.emptyMap") and len(arguments) % 2 == 0:
        return {str(key): item for key, item in zip(arguments[::2], arguments[1::2], strict=True)}
    return text_of(node)
