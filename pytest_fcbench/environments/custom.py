"""Environments that a team brings: plain classes, named ``module:Class`` in entries."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.world import World


@cache
def adapt_class(owner: type) -> type[Environment]:
    """Make an environment of a class: its public methods are the functions, its public attributes the state.

    An entry's configuration is given to it as keyword arguments. Raises ValueError where a method has a name
    that environments need for themselves.
    """
    functions = {
        name: value
        for name, value in vars(owner).items()
        if not name.startswith("_") and callable(getattr(owner, name)) and not isinstance(value, type)
    }
    reserved_names = sorted(vars(Environment).keys() & functions)
    if reserved_names:
        raise ValueError(
            f"{owner.__name__}.{reserved_names[0]}: environments reserve this name; rename the method"
        )

    def set_up(
        self: Environment, config: Mapping[str, object], world: World, *, long_context: bool = False
    ) -> None:
        own_init: Callable[..., None] = owner.__init__  # type: ignore[misc]  # of this very class
        own_init(self, **copy.deepcopy(dict(config)))

    members = {"__doc__": owner.__doc__, "__init__": set_up, **functions}
    return type(owner.__name__, (Environment, owner), members)
