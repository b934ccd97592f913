"""Functions that a team brings, named ``module.function`` in calls and ``module:function`` in entries."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping


def loaded(names: Iterable[str]) -> Mapping[str, Callable[..., object]]:
    """The functions by name, also as it is written where no dot can be. Raises what their modules raise.

    Their folders are on ``sys.path`` since the suite was read that names them.
    """
    found = {}
    for name in names:
        module, _, function = name.rpartition(".")
        found[name] = found[name.replace(".", "_")] = getattr(importlib.import_module(module), function)
    return found
