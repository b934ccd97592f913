"""An environment: a small world that calls act on, made for one conversation and thrown away."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.world import World, write_sentence


# A class of a team without a docstring inherits this one, so it is part of what models are shown.
class Environment:
    """One API domain, in the state that an entry's configuration describes.

    The public methods of a subclass are its functions; its public attributes are the state that is
    compared after each turn. An environment knows nothing outside itself: no file, no network, no clock,
    and chance only from the seed of its state.
    """

    _domain: ClassVar[str] = ""
    """The name of the domain, under which the world has its default state and its sentences."""

    def __init__(self, config: Mapping[str, object], world: World, *, long_context: bool = False) -> None:
        """Set up the state. ``config`` has the differences from the world's defaults; it is not changed."""
        self._world = world
        self._sentences = world.sentences.get(self._domain, {})
        state = copy.deepcopy({**(world.defaults.get(self._domain) or {}), **config})
        self._set_up_domain(state, long_context=long_context)

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        """Set up the attributes; ``state`` is a copy, with a value for each key of the world's defaults.

        Where ``long_context`` makes a difference, it is an attribute, and so officially compared.
        """

    def _write_text(self, ours: str, function: str, number: int, **values: object) -> str:
        """Write a sentence of a result (``write_sentence``)."""
        return write_sentence(self._sentences, ours, function, number, values)

    def _make_error(self, ours: str, function: str, number: int, **values: object) -> dict[str, object]:
        """Make the result of a call that is refused, with the sentence that ``_write_text`` writes."""
        return {"error": self._write_text(ours, function, number, **values)}

    def state(self) -> Mapping[str, object]:
        """Return the state that the official checker compares: every public attribute by name. Not a copy."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def get_hidden_state(self) -> Mapping[str, object]:
        """Return the state that calls can change and the official checker does not compare."""
        return {}

    def share_defaults(self, other: Environment) -> None:
        """Share with another environment the objects that all instances of the official class share."""

    def recall_memory(self) -> str | None:
        """Return the text that a model is shown ahead of a conversation, or None where this is no memory."""
        return None

    def get_full_state(self) -> Mapping[str, object]:
        """Return the whole state in values that a person can read."""
        return {**self.state(), **self.get_hidden_state()}


def list_functions(domain: type[Environment]) -> tuple[str, ...]:
    """Return the names of the functions of a domain, in the order in which they are written."""
    base = vars(Environment)
    return tuple(name for name in vars(domain) if not name.startswith("_") and name not in base)


@cache
def adapt_class(owner: type) -> type[Environment]:
    """Make an environment of a class: its public methods are the functions, its public attributes the state.

    An entry's configuration is given to it as keyword arguments. Raises ValueError where a method has a name
    that environments need for themselves, or slots hold attributes that ``state`` would not see.
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

    slots = (name for base in owner.__mro__ for name in vars(base).get("__slots__", ()))
    if not all(name.startswith("__") for name in slots):
        raise ValueError(f"{owner.__name__} keeps its state in slots, where it is not compared; drop them")

    def set_up(
        self: Environment, config: Mapping[str, object], world: World, *, long_context: bool = False
    ) -> None:
        own_init: Callable[..., None] = owner.__init__  # type: ignore[misc]  # of this very class
        own_init(self, **copy.deepcopy(dict(config)))

    # A private method of the class may have the name of one that environments have. Other private members are
    # inherited: a copy would keep the value that an attribute of the class has now.
    private_names = [name for name in vars(Environment) if name.startswith("_") and name[:2] != "__"]
    private = {name: vars(owner)[name] for name in private_names if name in vars(owner)}
    members = {"__doc__": owner.__doc__, "__init__": set_up, **private, **functions}
    return type(owner.__name__, (Environment, owner), members)


def document_domain(domain: type[Environment]) -> tuple[FunctionDoc, ...]:
    """Return the docs of all functions of a domain, each with the description of its class.

    Raises ``UsageError``.
    """
    about = " ".join((inspect.getdoc(domain) or "").split())
    return tuple(
        replace(doc, description=f"{about} {doc.description}".strip())
        for doc in python_code.document_methods(domain, left_out=vars(Environment))
    )
