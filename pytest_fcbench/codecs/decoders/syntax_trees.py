"""Parse and read Java and JavaScript with tree-sitter.

Grammars are loaded on first use; a plain pytest run never loads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.text import join_surrogate_pairs

if TYPE_CHECKING:
    from tree_sitter import Language, Node

LONGEST_SOURCE = 100_000
"""The limit of a source text in characters."""
_MOST_STEPS = 200
"""The limit of a parse in steps of a hundred operations, which three thousand tokens of correct source need
at most. Recovery from errors can take seconds for a text of two thousand characters (``<!--`` repeated); a
limit in seconds would make verdicts depend on the machine."""
_PART = 4096


def parse_source(language: str, source: str, *, is_official: bool = False) -> Node:
    """Return the root of a text's syntax tree. Raises ``Undecodable`` where the grammar found an error.

    Officially a missing token is no error.
    """
    import tree_sitter

    if len(source) > LONGEST_SOURCE:
        raise Undecodable(f"{len(source)} characters of {language} source are too many")
    # A parser of its own for each text: a parser has a state, which threads must not share.
    parser = tree_sitter.Parser(_load_grammar(language))
    steps = count(1)
    try:
        data = source.encode()
        root = parser.parse(
            lambda start, _: data[start : start + _PART],
            progress_callback=lambda start, has_error: next(steps) > _MOST_STEPS,
        ).root_node
    except UnicodeEncodeError:
        raise Undecodable("the text has a surrogate without its other half") from None
    except ValueError:
        raise Undecodable(f"reading the text as {language} takes too many steps") from None
    # Official: a node of the type ERROR fails the text; has_error also tells of tokens that are missing.
    if root.has_error and (not is_official or any(node.is_error for node in walk(root))):
        raise Undecodable(f"not valid {language} source")
    return root


@cache
def _load_grammar(language: str) -> Language:
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript

    grammar = {"java": tree_sitter_java, "javascript": tree_sitter_javascript}[language]
    return tree_sitter.Language(grammar.language())


def read_expression(
    text: str, language: str, source: str, place: tuple[str, str], read: Callable[[Node], object]
) -> object:
    """Read a text as the expression that a source has at a place; return any other text as it is.

    A place is the type of the node around the expression, and the field of the expression in it.
    """
    kind, field = place
    with suppress(Undecodable, ValueError, RecursionError):
        holder = find_first(parse_source(language, source), kind)
        expression = None if holder is None else get_field(holder, field)
        # Another text follows an expression that is not all of it.
        if expression is not None and get_text(expression) == text.strip():
            return read(expression)
    return text


def walk(node: Node) -> Iterator[Node]:
    """Yield all nodes below and including ``node``, in source order, without recursion."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def find_first(root: Node, kind: str) -> Node | None:
    """Return the first node of a type in the order of the source, or None."""
    return next((node for node in walk(root) if node.type == kind), None)


def find_first_token(node: Node) -> Node:
    """Return the token with which a node begins."""
    while node.children:
        node = node.children[0]
    return node


def get_text(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def get_field(node: Node, name: str) -> Node:
    """Return a field the grammar promises. Raises ``Undecodable`` where it is missing after all."""
    child = node.child_by_field_name(name)
    if child is None:
        raise Undecodable(f"{node.type} without {name}")
    return child


_ESCAPE = re.compile(r"\\(u\{[\da-fA-F]{1,6}\}|u+[\da-fA-F]{4}|x[\da-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}


def replace_escapes(text: str, own_escapes: Mapping[str, str]) -> str:
    """Replace the escapes in a string literal; ``own_escapes`` are those that only its language knows."""
    escapes = {**_ESCAPES, **own_escapes}

    def read_escape(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code.strip("ux{}"), 16)) if len(code) > 1 else escapes.get(code, code)

    return join_surrogate_pairs(_ESCAPE.sub(read_escape, text))


def list_parts(node: Node) -> list[Node]:
    """Return the named children of a node, without comments."""
    return [child for child in node.named_children if "comment" not in child.type]


def read_arguments(call: Node) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the named arguments of a call (assignments) and the others, each as source text."""
    named_arguments: dict[str, object] = {}
    positional = []
    for argument in list_parts(get_field(call, "arguments")):
        if argument.type == "assignment_expression":
            named_arguments[get_text(get_field(argument, "left"))] = get_text(get_field(argument, "right"))
        else:
            positional.append(get_text(argument))
    return named_arguments, tuple(positional)


def collect_arguments(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Collect the arguments of a call by name. Raises ``Undecodable`` where a name comes twice."""
    arguments: dict[str, object] = {}
    for name, value in pairs:
        if name in arguments:
            raise Undecodable(f"argument {name!r} is given twice")
        arguments[name] = value
    return arguments


def convert_number(text: str, types: Iterable[Callable[[str], int | float]], otherwise: str) -> object:
    """Convert a text to the first of the types that accepts it, or return ``otherwise``."""
    for convert in types:
        # int() also refuses more digits than Python converts (4,300).
        with suppress(ValueError):
            return convert(text)
    return otherwise
