"""An environment: a small world that calls act on, made for one conversation and thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pytest_fcbench.environments.sentences import write_sentence
from pytest_fcbench.environments.world import World


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
        """Set up the state. ``config`` has the differences from the world's defaults; it is not changed.

        Where ``long_context`` makes a difference, it is an attribute, and so officially compared.
        """
        self._sentences = world.sentences.get(self._domain, {})

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
