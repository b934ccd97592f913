"""Evaluate a Python literal of a model node by node, where official handlers call ``eval``."""

from __future__ import annotations

import ast

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python import OPERATORS, apply_operator, fold_constants
from pytest_fcbench.codecs.python_syntax import parse_expression


def evaluate_text(text: str) -> object:
    """Evaluate a literal; nothing of it is ever run. Raises ``Undecodable`` for what is none."""
    try:
        # eval skips these, and only these, at the beginning.
        return _evaluate(parse_expression(text.lstrip(" \t")))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecodable(f"not a Python literal: {str(error) or type(error).__name__}") from None


def _evaluate(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=constant) if constant is ...:
            return "..."
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_evaluate(key) for key in keys if key is not None]
            try:
                return dict(zip(names, map(_evaluate, values), strict=True))
            except TypeError as error:
                raise Undecodable(f"not a dict: {error}") from None
        case ast.List(elts=elements):
            return [_evaluate(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_evaluate(element) for element in elements)
        case ast.Set(elts=elements):
            try:
                return set(map(_evaluate, elements))
            except TypeError as error:
                raise Undecodable(f"not a set: {error}") from None
        # Models chain calls with these, ``{...} | {...}`` among them.
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return apply_operator(OPERATORS[type(op)], _evaluate(left), _evaluate(right))
        case ast.BoolOp(op=op, values=values):
            found = _evaluate(values[0])
            for value in values[1:]:
                if bool(found) is isinstance(op, ast.Or):
                    break
                found = _evaluate(value)
            return found
    return fold_constants(node)
