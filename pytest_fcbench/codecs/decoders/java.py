"""Java: calls written as source text, and literals of its types.

The official readers follow BFCL's ``java_parser`` and ``java_type_converter``:

- the text is bracketed first (``add_brackets``), then its first and last character are cut off;
- only the first method invocation counts; a named argument is an assignment, a bare identifier has no name;
- the text of a value is taken by byte offsets from a text of characters (garbled after non-ASCII),
  class bodies are dropped (``new HashMap<>() {{ put(..); }}`` becomes an empty map) and white space goes;
- a literal must look exactly as its type asks (``5L`` for long, ``2.5f`` for float), elements of
  collections are split at every comma, ``String`` elements of an array keep their quotes.

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

_AS_WRITTEN = (
    *("identifier", "class_literal", "type_identifier", "method_invocation"),
    *("string_literal", "character_literal"),
)


@refuse_faults()
def parse_official(text: str) -> tuple[Call, ...]:
    """Read the first call of a text as BFCL does. Raises ``Undecodable`` or ``WrongFormat``."""
    source = syntax.add_brackets(text)[1:-1]
    root = syntax_trees.parse_source("java", source, is_official=True)
    invocation = syntax_trees.find_first(root, "method_invocation")
    if invocation is None:
        raise WrongFormat("no method invocation in the text")
    name = _slice_by_bytes(source, get_field(invocation, "name"))
    if (target := invocation.child_by_field_name("object")) is not None:
        name = f"{_slice_by_bytes(source, target)}.{name}"
    pairs = (
        (_slice_by_bytes(source, each.children[0]), _write_official(source, each.children[2], nested=False))
        if each.type == "assignment_expression"
        # The official key of an argument without a name is None.
        else ("**", _write_official(source, each, nested=False))
        for each in get_field(invocation, "arguments").children
        if each.type in ("assignment_expression", "identifier", "class_literal", "set")
    )
    return (Call(name, syntax_trees.collect_arguments(pairs)),)


def _slice_by_bytes(source: str, node: Node) -> str:
    # Official (java_parser.py): offsets of bytes cut a text of characters, which shifts after non-ASCII.
    return source[node.start_byte : node.end_byte]


def _write_official(source: str, node: Node, *, nested: bool) -> str:
    """Write a value as the official parser does: without white space and class bodies."""

    def write(child: Node) -> str:
        return _write_official(source, child, nested=True)

    match node.type:
        case "string_literal" | "character_literal" if not nested:
            return _slice_by_bytes(source, node)[1:-1]
        case "array_creation_expression":
            return f"new {write(get_field(node, 'type'))}[]{write(get_field(node, 'value'))}"
        case "object_creation_expression":
            # Official: a class body is left out, {{ put(..); }} with it (simple_java_1, 67 and 68).
            class_name = write(get_field(node, "type"))
            children = get_field(node, "arguments").children
            arguments = [write(child) for child in children if child.type not in (",", "(", ")")]
            return f"new {class_name}({', '.join(arguments)})"
        case kind if node.child_count and kind not in _AS_WRITTEN:
            return "".join(map(write, node.children))
    return _slice_by_bytes(source, node)


# The patterns of the official ``java_type_converter``, which know no nesting.
_NUMBERS: Mapping[str, tuple[re.Pattern[str], Callable[[str], int | float]]] = {
    **dict.fromkeys(("byte", "short", "integer"), (re.compile(r"^-?\d+$"), int)),
    "long": (re.compile(r"^-?\d+[lL]$"), int),
    "float": (re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$"), float),
    "double": (re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$"), float),
}
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_ADDS = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_ADD = re.compile(r"add\((.+?)\)")
_PUT = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")


def parse_official_literal(text: str, kind: str, element: str | None = None) -> object:
    """Read a literal of type ``kind`` as BFCL does; return text that is no such literal unchanged."""
    if len(text) > syntax.LONGEST_LITERAL:
        return text
    match kind:
        case _ if kind in _NUMBERS:
            pattern, *types = _NUMBERS[kind]
            return convert_number(text.rstrip("\nlLfF"), types, text) if pattern.match(text) else text
        case "boolean" if text in ("true", "false"):
            return text == "true"
        case "ArrayList":
            if literal := _AS_LIST.search(text):
                pieces = literal[1].split(",")
            elif literal := _ADDS.search(_cut_after_last("}}", text)):
                pieces = _ADD.findall(literal[1])
            else:
                return [] if _EMPTY_LIST.search(text) else text
            if element in ("char", "String"):
                return [piece.strip()[1:-1] for piece in pieces]
            return [_read_official_element(piece.strip(), element) for piece in pieces]
        case "Array" if literal := _ARRAY.search(text):
            pieces = map(str.strip, literal[1].split(","))
            return [_read_official_element(piece, element) for piece in pieces if piece]
        case "HashMap":
            if literal := _MAP.search(_cut_after_last("}", text)):
                puts = _PUT.findall(_cut_after_last(")", literal[1]))
                return {key: _read_untyped(item.strip()) for key, item in puts}
            return {} if _EMPTY_MAP.search(text) else text
    return text


def _cut_after_last(end: str, text: str) -> str:
    """Return the text up to the last ``end``: without one, a pattern that needs it would try every split."""
    return text[: text.rfind(end) + len(end)] if end in text else ""


def _read_official_element(text: str, kind: str | None) -> object:
    return parse_official_literal(text, kind) if kind else _read_untyped(text)


def _read_untyped(text: str) -> object:
    """Read a literal whose type is not declared."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    for kind in ("long", "float"):
        number = parse_official_literal(text, kind)
        if number is not text:
            return number
    return convert_number(text, (int, float), text)


@refuse_faults()
def parse_corrected(text: str) -> tuple[Call, ...]:
    """Read all calls of a text by the grammar: ``[A.f(x=1), B.g(y="z")]``. Raises ``Undecodable``.

    An argument's value is its source text, which is read later, when its declared type is known.
    """
    inner = syntax.strip_brackets(text)
    # Java has no bare expressions, so the calls are parsed as the initialiser of an array. That must be the
    # whole text, which a brace in it could end early.
    try:
        root = syntax_trees.parse_source("java", f"class C {{ Object[] calls = {{ {inner}\n }}; }}")
        initialiser = syntax_trees.find_first(root, "array_initializer")
        if initialiser is None or get_text(initialiser) != f"{{ {inner}\n }}":
            raise Undecodable("expected method invocations")
        nodes = list_parts(initialiser)
    except Undecodable:
        # Not a list of expressions: perhaps statements, such as "int y = A.f(x=1);".
        nodes = [*map(_unwrap_statement, list_parts(syntax_trees.parse_source("java", f"{inner}\n;")))]
    calls = []
    for node in nodes:
        if node.type != "method_invocation":
            raise Undecodable(f"expected a method invocation, found {node.type.replace('_', ' ')}")
        target, name = node.child_by_field_name("object"), get_text(get_field(node, "name"))
        full_name = f"{get_text(target)}.{name}" if target else name
        calls.append(Call(full_name, *syntax_trees.read_arguments(node)))
    return tuple(calls)


def _unwrap_statement(node: Node) -> Node:
    """Return the expression that a statement consists of or assigns."""
    if node.type == "local_variable_declaration":
        return get_field(get_field(node, "declarator"), "value")
    return list_parts(node)[0] if node.type == "expression_statement" else node


def parse_literal(text: str) -> object:
    """Read a Java literal or collection; return any other expression as its text."""
    source, place = f"class C {{ Object o = {text}; }}", ("variable_declarator", "value")
    return syntax_trees.read_expression(text, "java", source, place, _read_value)


def _read_value(node: Node) -> object:  # noqa: C901 - one flat case per node type
    text = get_text(node)
    match node.type:
        case "decimal_integer_literal" | "hex_integer_literal" | "octal_integer_literal":
            digits = text.rstrip("lL").replace("_", "")
            # Java's octal numbers begin with 0, which Python's int(..., 0) refuses.
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
            inside = text[3:-3].lstrip("\n") if text.startswith('"""') else text[1:-1]
            return replace_escapes(inside, {"s": " "})
        case "character_literal":
            return replace_escapes(text[1:-1], {"s": " "})
        case "parenthesized_expression":
            return _read_value(list_parts(node)[0])
        case "cast_expression":
            return _read_value(get_field(node, "value"))
        case "unary_expression":
            operand = _read_value(get_field(node, "operand"))
            if isinstance(operand, (int, float)) and text[0] in "+-":
                return -operand if text[0] == "-" else operand
        case "array_initializer":
            return [_read_value(child) for child in list_parts(node)]
        case "array_creation_expression" if initialiser := node.child_by_field_name("value"):
            return _read_value(initialiser)
        case "object_creation_expression":
            return _read_collection(node)
        case "method_invocation":
            return _read_factory_call(node)
    return text


def _read_argument_values(invocation: Node) -> list[object]:
    return [_read_value(argument) for argument in list_parts(get_field(invocation, "arguments"))]


def _read_collection(node: Node) -> object:
    """Read ``new ArrayList<>(...)`` and ``new HashMap<>() {{ ... }}`` with their relatives."""
    kind = get_text(get_field(node, "type")).split("<")[0].rsplit(".", 1)[-1]
    arguments = _read_argument_values(node)
    first = arguments[0] if arguments else None
    if isinstance(first, str):
        # What a variable holds is not known.
        return get_text(node)
    body = next((child for child in node.children if child.type == "class_body"), None)
    if kind.endswith("Map"):
        if body is not None:
            return {_write_key(row[0]): row[1] for row in _read_invocations(body, "put") if len(row) == 2}
        return first if isinstance(first, dict) else {}
    if kind.endswith(("List", "Set", "Queue", "Stack", "Vector", "Deque")):
        if body is not None:
            return [row[0] for row in _read_invocations(body, "add") if len(row) == 1]
        return first if isinstance(first, list) else []
    return get_text(node)


def _write_key(key: object) -> str:
    """Write the key of a map. Raises ``Undecodable`` for a collection: each level of quotes doubles them."""
    if isinstance(key, (list, dict)):
        raise Undecodable("the key of a map is a collection")
    return str(key)


def _read_invocations(body: Node, method: str) -> list[list[object]]:
    """Read the arguments of every call of ``method`` in an initialiser block of the body itself."""
    blocks = [block for block in list_parts(body) if block.type == "block"]
    invocations = [_unwrap_statement(statement) for block in blocks for statement in list_parts(block)]
    return [
        _read_argument_values(node)
        for node in invocations
        if node.type == "method_invocation" and get_text(get_field(node, "name")) == method
    ]


def _read_factory_call(node: Node) -> object:
    """Read ``Arrays.asList(..)``, ``List.of(..)``, ``Map.of(..)`` and the like; other calls stay text."""
    target = node.child_by_field_name("object")
    class_name = get_text(target).rpartition(".")[2] if target else ""
    name = f"{class_name}.{get_text(get_field(node, 'name'))}"
    arguments = _read_argument_values(node)
    if name in ("Arrays.asList", "List.of", "Set.of", "Collections.emptyList", "Stream.of"):
        return arguments
    if name in ("Map.of", "Collections.emptyMap") and len(arguments) % 2 == 0:
        return {_write_key(key): item for key, item in zip(arguments[::2], arguments[1::2], strict=True)}
    return get_text(node)
