"""Evaluate a Python literal of a model node by node, where official handlers call ``eval``."""

from __future__ import annotations

import ast

from pytest_fcbench.codecs.decoders.python import build_dict, fold_constants, parse_answer
from pytest_fcbench.codecs.python_syntax import parse_expression


def evaluate_text(text: str) -> object:
    """Evaluate a literal; nothing of it is ever run. Raises ``Undecodable`` for what is none."""
    # eval skips these, and only these, at the beginning.
    return _evaluate(parse_answer(text.lstrip(" \t"), "a Python literal", parse_expression))


def _evaluate(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=constant) if constant is ...:
            return "..."
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return build_dict([_evaluate(key) for key in keys if key is not None], [*map(_evaluate, values)])
        case ast.List(elts=elements):
            return [_evaluate(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_evaluate(element) for element in elements)
        case ast.Set(elts=elements):
            members = [_evaluate(element) for element in elements]
            return set(build_dict(members, members))
        # Models join calls so.
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            first, second = _evaluate(left), _evaluate(right)
            if isinstance(first, dict) and isinstance(second, dict):
                return first | second
    return fold_constants(node)
