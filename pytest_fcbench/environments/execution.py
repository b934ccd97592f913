"""Carrying out calls that are written as text, without evaluating it.

The official executor hands each text to ``eval``. Here it is parsed, the function is looked up among those
of the environments, and the arguments are built node by node: literals, arithmetic of constants, nested
calls of known functions and an index into what they return. Everything else is an error text and changes
nothing; the official executor would print, or worse.
"""

from __future__ import annotations

import ast
import copy
import json
import warnings
from collections.abc import Callable, Mapping, Sequence

from pytest_fcbench.codecs.python_calls import folded, size
from pytest_fcbench.codecs.reading import Undecodable
from pytest_fcbench.environments.environment import Environment, functions_of


class Environments:
    """The environments of one conversation. No function name occurs in two of them."""

    def __init__(self, by_domain: Mapping[str, Environment]) -> None:
        self.by_domain = by_domain
        self._functions: dict[str, Callable[..., object]] = {
            name: getattr(environment, name)
            for environment in by_domain.values()
            for name in functions_of(type(environment))
        }

    @property
    def functions(self) -> Sequence[str]:
        """Names of all functions."""
        return list(self._functions)

    def snapshot(self) -> Mapping[str, Mapping[str, object]]:
        """Everything that calls can change, by domain, as it is now and stays."""
        return {name: copy.deepcopy(environment.shown()) for name, environment in self.by_domain.items()}

    def perform(self, calls: Sequence[str]) -> tuple[str, ...]:
        """Carry out calls in order; what each returned, or why it could not be, as text."""
        return tuple(map(self._perform, calls))

    def _perform(self, text: str) -> str:
        try:
            return rendered(self._called(_parsed(text)))
        except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
            return f"Error: {str(error) or type(error).__name__}"

    def _called(self, node: ast.expr) -> object:
        if not isinstance(node, ast.Call):
            raise _NoCallError(f"not a function call: {ast.unparse(node):.200}")
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in self._functions:
            raise _NoCallError(f"there is no function {name:.200}")
        positional = [_bounded(self._value(argument)) for argument in node.args]
        named: dict[str, object] = {}
        for keyword in node.keywords:
            value = _bounded(self._value(keyword.value))
            members = {keyword.arg: value} if keyword.arg is not None else value
            if not isinstance(members, dict) or not members.keys().isdisjoint(named):
                raise _NoCallError(f"the arguments of {name} are not one value for each name")
            named |= members
        return self._functions[name](*positional, **named)

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Call():
                return self._called(node)
            case ast.List(elts=elements):
                return [self._value(element) for element in elements]
            case ast.Tuple(elts=elements):
                return tuple(self._value(element) for element in elements)
            case ast.Set(elts=elements):
                return {self._value(element) for element in elements}
            case ast.Dict(keys=keys, values=values) if None not in keys:
                names = [self._value(key) for key in keys if key is not None]
                return dict(zip(names, map(self._value, values), strict=True))
            case ast.Subscript(value=ast.Call() | ast.Subscript() as value, slice=index):
                return self._value(value)[self._value(index)]  # type: ignore[index]  # or an error text
            case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
                return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
        return folded(node)


class _NoCallError(Exception):
    """The text is not a call that can be carried out."""


_LARGEST = 1_000_000
"""Characters and elements of an argument: calls can double what others return, officially without end."""


def _bounded(value: object) -> object:
    if size(value) > _LARGEST:
        raise _NoCallError(f"an argument has more than {_LARGEST:,} characters")
    return value


def _parsed(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in a model's strings are not our warnings
            return ast.parse(text.lstrip(" \t"), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise Undecodable(f"not a function call: {error}") from None


def rendered(result: object) -> str:
    """What a function returned, as officially shown: a text as it is, a dict as JSON, else ``str``."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            pass
    return str(result)
