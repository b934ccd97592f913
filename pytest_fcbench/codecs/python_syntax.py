"""Parse Python text into syntax trees, with the same outcome whatever other threads do meanwhile.

All text that models and suites write as Python is parsed here. ``ast.parse`` alone can fail on good text:

- CPython 3.11 counts the depth of the tree it builds in one place for all threads. Where the garbage
  collector runs Python code in between (a finalizer, a callback), another parse can begin, in another thread
  or in this one, and the first then ends in ``SystemError: AST constructor recursion depth mismatch``, or in
  a ``RecursionError`` although nothing is deep.
- A warning about the text (an unknown escape such as ``\\d``) becomes a ``SyntaxError`` where warnings are
  errors. ``warnings.catch_warnings`` is no help: it puts back the filters that it found, so that two threads
  can leave each other's filters behind.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from contextlib import ExitStack
from typing import Literal

from pytest_fcbench.domain.garbage_collection import pause_collector

_FILENAME = "<unknown>"
"""The default of ``ast.parse``: it is in the messages of errors, which models are shown."""

_GRAMMAR = (3, 11)
"""The version whose grammar is read, that of the official package, on whatever version this runs."""

# Reentrant, because the collector can run code that parses while this thread parses.
_LOCK = threading.RLock()

_ATTEMPTS = 5

# Messages of failures that may lie with other threads and not with the text, see above. Some are also those
# of real mistakes (``1abc`` is an invalid decimal literal), which stay the same when parsed again.
_PASSING = re.compile(
    r"recursion depth mismatch|during\s+ast construction|escape sequence|invalid \w+ literal", re.ASCII
)


# Python's own limit for brackets is 200. Other expressions (``1+1+...``, ``a.b.c...``) it takes far deeper,
# and readers of their trees would run out of stack sooner or later by how much of it their caller has used:
# a test in the main thread more than a conversation in another. To these depths there is always enough.
DEEPEST = 210
"""The largest depth of nested expressions that is read."""
DEEPEST_WRITTEN = 100
"""The largest depth that is written as text: ``ast.unparse`` takes up to six frames for each level."""

_NESTING = re.compile(r"[-+*/%<>=&|^~@.(\[{]|\b(?:and|await|for|if|in|is|lambda|not|or)\b", re.ASCII)
_FEW = DEEPEST // 4
"""Signs and words of nesting that cannot make a tree too deep: each adds four levels at most."""


# A node of a tree takes up to a thousand times the space of its sign in the text, and ten microseconds.
_SIGNS = re.compile(r"[-+*/%&|^<>=@:.,;(\[{\n]")
_MOST_SIGNS = 50_000


def check_tree_size(text: str) -> None:
    """Raise ``ValueError`` for a text whose syntax tree could take much memory and time."""
    if len(text) > _MOST_SIGNS and (signs := len(_SIGNS.findall(text))) > _MOST_SIGNS:
        raise ValueError(f"{signs:,} signs of nesting, lists and arithmetic are too many")


# Hashes of numbers and tuples can be chosen, so that each key is compared with all before it.
_MOST_KEYS = 1_000
"""Keys of a text that are no texts, and members of its sets."""
_MOST_REPETITIONS = 20
"""Texts and lists that a text repeats: each makes much of little."""


def explain_refusal(text: str, tree: ast.AST) -> str | None:
    """Say why the tree of a text is not evaluated: its value costs much, or depends on Python's version.

    From 3.12 on, what stands between the braces of an f-string is Python like any other. Before, an f-string
    was a string first: it ended at its own quotes, and its fields had to do without them.
    """
    keys = repetitions = 0
    # All that is looked for needs one of these signs.
    for node in ast.walk(tree) if "{" in text or "*" in text else ():
        match node:
            case ast.FormattedValue():
                return "JoinedStr in arithmetic would have to be evaluated"
            case ast.Dict(keys=members) | ast.Set(elts=members):
                keys += sum(not isinstance(getattr(member, "value", None), str) for member in members)
            case ast.BinOp(left=ast.Constant(value=str()) | ast.List(), op=ast.Mult()):
                repetitions += 1
    if keys > _MOST_KEYS:
        return f"{keys:,} keys that are no texts are too many"
    if repetitions > _MOST_REPETITIONS:
        return f"more than {_MOST_REPETITIONS} texts or lists are repeated"
    return None


def parse_expression(text: str) -> ast.expr:
    """Parse the text of one expression.

    Raises ``SyntaxError``, ``ValueError``, ``RecursionError`` and ``MemoryError`` for what Python cannot
    read and what is nested too deeply or too large, never ``SystemError`` for what it can.
    """
    check_tree_size(text)
    tree = _parse(text, "eval")
    assert isinstance(tree, ast.Expression)
    if len(_NESTING.findall(text)) > _FEW and _measure_depth(tree.body) > DEEPEST:
        raise RecursionError("the expression is nested too deeply")
    return tree.body


def write_expression(expression: ast.expr) -> str:
    """Write a tree as text. Raises ``RecursionError`` for one that is too deep."""
    if _measure_depth(expression) > DEEPEST_WRITTEN:
        raise RecursionError("the expression is nested too deeply")
    return ast.unparse(expression)


def _measure_depth(expression: ast.expr) -> int:
    """Count the levels of expressions, without recursion."""
    deepest = 0
    waiting: list[tuple[ast.AST, int]] = [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        for child in ast.iter_child_nodes(node):
            waiting.append((child, depth + isinstance(child, ast.expr)))
    return deepest


def parse_statements(text: str) -> ast.Module:
    """Parse statements of a model. Raises the errors of ``parse_expression``."""
    check_tree_size(text)
    return parse_module(text)


def parse_module(text: str) -> ast.Module:
    """Parse the source text of a module. Raises the errors of ``parse_expression``."""
    tree = _parse(text, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def read_literal(text: str) -> object:
    """Read a Python literal, such as a dict. Raises ``TypeError`` and the errors of ``parse_expression``."""
    tree = parse_expression(text.lstrip(" \t"))
    if refusal := explain_refusal(text, tree):
        raise ValueError(refusal)
    value: object = ast.literal_eval(tree)
    return value


def _parse(text: str, mode: Literal["eval", "exec"]) -> ast.AST:
    with _LOCK, ExitStack() as undo:
        for attempts_left in reversed(range(_ATTEMPTS)):
            # Added and left in place: a rule for text of no file harms nobody, and taking it back would race
            # with other threads that change the filters. Others may have put rules before it meanwhile.
            warnings.filterwarnings("ignore", module=rf"{re.escape(_FILENAME)}\Z")
            try:
                tree: ast.AST = ast.parse(text, _FILENAME, mode, feature_version=_GRAMMAR)
            except (SyntaxError, RecursionError, SystemError) as error:
                if not attempts_left or not _PASSING.search(str(error)):
                    raise
                # No collection, no Python code while the tree is built, so no other parse in between. Not
                # always done: it holds for the whole process.
                undo.enter_context(pause_collector())
            else:
                return tree
    raise AssertionError("the last attempt neither returned nor raised")  # pragma: no cover
