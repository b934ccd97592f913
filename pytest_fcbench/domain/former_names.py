"""Find renamed functions, classes and methods by their former names, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def find_former_names(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Make the ``__getattr__`` of a module; ``names`` maps each former name to the present one."""

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_of_former_name(f"{module}.{name}", names[name])
        found: object = getattr(import_module(module), names[name])
        return found

    return find


def keep_former_name(former: str, method: Callable[P, R]) -> Callable[P, R]:
    """Make a method that warns of its former name and calls the present one."""

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        warn_of_former_name(former, method.__name__)
        return method(*args, **kwargs)

    return call


def warn_of_former_name(former: str, present: str) -> None:
    """Warn the caller's caller of a former name."""
    # 3 is past this function and its caller, so that the warning names the line that uses the former name.
    warnings.warn(f"{former} is now {present}", DeprecationWarning, stacklevel=3)
