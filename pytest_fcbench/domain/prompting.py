"""How functions are shown to a model and how its calls are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_fcbench.domain.entry import Entry


class Mode(StrEnum):
    """How functions are shown and calls are asked for."""

    FC = "fc"
    """Function calling: tool schemas in the request, tool calls in the reply."""
    PROMPT = "prompt"
    """Prompting: function docs in the system prompt, calls as text in the reply."""


class Names(StrEnum):
    """How dotted function names are shown to a model.

    Most function-calling interfaces refuse dots, so ``math.factorial`` is shown as ``math_factorial``.
    """

    DOTTED = "dotted"
    UNDERSCORED = "underscored"

    def shown(self, name: str) -> str:
        """The name as the model sees it."""
        return name.replace(".", "_") if self is Names.UNDERSCORED else name


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is talked to, the same for all entries of a run."""

    model: str
    mode: Mode
    names: Names
    syntax: str
    """How calls are written in its answers, a name of ``codecs.syntaxes.SYNTAXES``."""

    def of(self, entry: Entry) -> Manner:
        """The manner for an entry, which may ask for calls in a syntax of its own."""
        return replace(self, syntax=entry.variation.format.syntax) if entry.variation else self
