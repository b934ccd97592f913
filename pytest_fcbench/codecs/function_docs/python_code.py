"""Read function docs from Python code: types from signatures and type hints, words from docstrings."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import TypeAlias, cast, get_type_hints

from docstring_parser import parse
from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from pytest_fcbench.codecs.function_docs import json_schema
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc

Function: TypeAlias = Callable[..., object]


def document_named(source: str, folder: Path) -> Iterator[FunctionDoc]:
    """Yield the docs of ``module:function``, the methods of ``module:Class``, or all functions of ``module``.

    Raises ``UsageError``.
    """
    name, _, inner = source.partition(":")
    if not inner:
        module = import_module(name, folder)
        names = [each for each in _list_own_names(module) if inspect.isroutine(getattr(module, each))]
        if not names:
            raise UsageError(f"{name} defines no functions; to use an imported one, write {name}:function")
        for each in names:
            yield document_function(getattr(module, each))
        return
    target = find_object(source, folder)
    if isinstance(target, type):
        yield from document_methods(target)
    elif callable(target):
        yield document_function(target, inner.rpartition(".")[2])
    else:
        raise UsageError(
            f"{source} is neither a function nor a class but {type(target).__name__}; name a "
            f"function, a class or a module"
        )


def find_object(source: str, folder: Path) -> object:
    """Return the object that ``module:name`` names. Raises ``UsageError``."""
    name, _, inner = source.partition(":")
    target = module = import_module(name, folder)
    for part in inner.split("."):
        if not hasattr(target, part):
            raise UsageError(describe_unknown_name(f"function of {name}", inner, _list_own_names(module)))
        target = getattr(target, part)
    return target


def document_methods(owner: type, left_out: Container[str] = ()) -> Iterator[FunctionDoc]:
    """Yield the docs of the public methods of a class, in the order of their definition."""
    for name, value in vars(owner).items():
        if name in left_out or name.startswith("_") or isinstance(value, type):
            continue
        if callable(getattr(owner, name)):
            is_bound = not isinstance(value, (staticmethod, classmethod))
            yield document_function(getattr(owner, name), name, bound=is_bound)


def document_function(function: Function, name: str | None = None, *, bound: bool = False) -> FunctionDoc:
    """Write the doc of one function; ``bound`` leaves its first parameter out. Raises ``UsageError``."""
    function_name = name or function.__name__
    docstring = parse(inspect.getdoc(function) or "")
    descriptions = {
        each.arg_name.lstrip("*"): " ".join((each.description or "").split()) for each in docstring.params
    }
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, TypeError) as error:
        raise UsageError(
            f"{function_name}: a type hint cannot be resolved: {error}; define or import what it names"
        ) from None
    properties: dict[str, object] = {}
    required_names: list[str] = []
    for parameter in list(inspect.signature(function).parameters.values())[bound:]:
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD, Parameter.POSITIONAL_ONLY):
            raise UsageError(
                f"{function_name}: parameter {parameter} cannot be passed by name; make it a plain parameter"
            )
        words = descriptions.get(parameter.name, "")
        schema = _build_schema(hints.get(parameter.name), words, f"{function_name}: {parameter.name}")
        if parameter.default is Parameter.empty:
            required_names.append(parameter.name)
        # The order of a set differs from run to run, and None says that there is no value.
        elif parameter.default is not None and not isinstance(parameter.default, (set, frozenset)):
            with suppress(PydanticSerializationError):
                schema["default"] = to_jsonable_python(parameter.default)
        properties[parameter.name] = schema
    words = " ".join(filter(None, (docstring.short_description, docstring.long_description)))
    parameters = {"type": "dict", "properties": properties, "required": required_names}
    return FunctionDoc(function_name, " ".join(words.split()), parameters)


def _build_schema(hint: object, words: str, where: str) -> dict[str, object]:
    if hint is None:
        return json_schema.convert_parameter({}, {}, words)
    try:
        schema = _convert_plain_hint(hint) if hint in (str, int, float, bool) else _convert_hint(hint)
    except PydanticUserError as error:
        reason = error.message.splitlines()[0]
        raise UsageError(
            f"{where}: {hint} cannot be represented in JSON; use another type hint: {reason}"
        ) from None
    return json_schema.convert_parameter(schema, schema, words)


def _convert_hint(hint: object) -> Mapping[str, object]:
    return TypeAdapter(cast("type[object]", hint)).json_schema()


# Half of all hints are among four, and pydantic takes a while for each.
_convert_plain_hint = cache(_convert_hint)


def import_module(name: str, folder: Path) -> object:
    """Import a module, looked for in a folder first. Raises ``UsageError``."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a module is a program of the user, which may end in any way
        raise UsageError(
            f"{name} cannot be imported: {type(error).__name__}: {error}; name one that Python can import"
        ) from None
    # Python imports a name once: where two files have it, the second would silently be the first.
    here = folder.joinpath(*name.split(".")).with_suffix(".py")
    if here.is_file() and (module_file := module.__file__) and not here.samefile(module_file):
        raise UsageError(
            f"{here}: a module {name} is already imported from {module_file}; rename one of them"
        )
    return module


def _list_own_names(module: object) -> list[str]:
    """Return the names of the functions and classes that a module defines itself."""
    module_name = getattr(module, "__name__", None)
    return [
        name
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == module_name
    ]
