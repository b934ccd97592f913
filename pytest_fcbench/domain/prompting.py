"""How functions are shown to a model and how its calls are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_fcbench.domain.prompt_format import PLAIN, PromptFormat


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

    def show_name(self, name: str) -> str:
        """Return a function name as the model sees it."""
        return name.replace(".", "_") if self is Names.UNDERSCORED else name


DEFAULT_SYNTAX: Mapping[Mode, str] = {Mode.FC: "tool_calls", Mode.PROMPT: "python"}
"""How calls are written where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Prompting:
    """How functions are shown to a model, and how its calls are written."""

    mode: Mode
    names: Names
    syntax: str
    """How calls are written in its answers, a name of ``codecs.decoders.registry.SYNTAXES``."""
    format: PromptFormat = PLAIN
    """How functions are shown and calls are asked for in a system prompt."""

    @classmethod
    def make_default(cls, mode: Mode, names: Names | None = None) -> Prompting:
        """Return the prompting of a mode where nothing else is asked for."""
        usual = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
        return cls(mode, names or usual, DEFAULT_SYNTAX[mode])

    def use_format(self, chosen: PromptFormat) -> Prompting:
        """Return the same prompting in a prompt format, which also decides how calls are written."""
        return replace(self, syntax=chosen.syntax, format=chosen)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is talked to, the same for all entries of a run."""

    model: str
    """Its label."""
    prompting: Prompting
