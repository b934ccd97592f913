"""tree-sitter parsers; their grammars are loaded on first use (a plain pytest run never loads them)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pytest_fcbench.codecs.decoders.outcome import Undecodable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Language, Node, Parser


P = ParamSpec("P")
R = TypeVar("R")


@cache
def _load_grammar(language: str) -> Language:
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript

    grammar = {"java": tree_sitter_java, "javascript": tree_sitter_javascript}[language]
    return tree_sitter.Language(grammar.language())


def _make_parser(language: str) -> Parser:
    """Make a parser for one text: a parser has a state, which threads must not share."""
    import tree_sitter

    return tree_sitter.Parser(_load_grammar(language))


LONGEST_SOURCE = 100_000
"""Characters; recovering from errors in longer text could take minutes (no dataset comes near)."""


def parse(language: str, source: str) -> Node:
    """The root of the syntax tree. Raises ``Undecodable`` where the grammar found an error."""
    if len(source) > LONGEST_SOURCE:
        raise Undecodable(f"{len(source)} characters of {language} source are too many")
    root = _make_parser(language).parse(source.encode("utf-8", "surrogatepass")).root_node
    if root.has_error and any(node.is_error for node in walk(root)):
        raise Undecodable(f"not valid {language} source")
    return root


def walk(node: Node) -> Iterator[Node]:
    """All nodes below and including ``node``, in source order, without recursion."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def text_of(node: Node) -> str:
    """The source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def field(node: Node, name: str) -> Node:
    """A field the grammar promises. Raises ``Undecodable`` where it is missing after all."""
    child = node.child_by_field_name(name)
    if child is None:
        raise Undecodable(f"{node.type} without {name}")
    return child


def parts(node: Node) -> list[Node]:
    """The named children that mean something."""
    return [child for child in node.named_children if "comment" not in child.type]


def read_arguments(call: Node) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the named arguments of a call (assignments) and the others, each as source text."""
    named: dict[str, object] = {}
    positional = []
    for argument in parts(field(call, "arguments")):
        if argument.type == "assignment_expression":
            named[text_of(field(argument, "left"))] = text_of(field(argument, "right"))
        else:
            positional.append(text_of(argument))
    return named, tuple(positional)


def refuse_depth(read: Callable[P, R]) -> Callable[P, R]:
    """Let a reader say ``Undecodable`` where its text is nested deeper than it can follow."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return read(*args, **kwargs)
        except RecursionError:
            raise Undecodable("the text is nested too deeply") from None

    return reading
