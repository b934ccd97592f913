"""The presentation of functions to a model, and the notation of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_fcbench.domain.family import FamilyMember
from pytest_fcbench.domain.prompt_format import PLAIN, PromptFormat


class Mode(StrEnum):
    """The way functions are shown and calls are asked for."""

    FC = "fc"
    """Function calling: tool schemas in the request, tool calls in the reply."""
    PROMPT = "prompt"
    """Prompting: function docs in the system prompt, calls as text in the reply."""


class Names(StrEnum):
    """The form in which dotted function names are shown to a model.

    Most function-calling interfaces refuse dots, so ``math.factorial`` is shown as ``math_factorial``.
    """

    DOTTED = "dotted"
    UNDERSCORED = "underscored"

    def show_name(self, name: str) -> str:
        """Return a function name as the model sees it."""
        # Official handlers do so for OpenAI, Anthropic, Google and Mistral, not for Fireworks or Gorilla.
        return name.replace(".", "_") if self is Names.UNDERSCORED else name


class Reasoning(StrEnum):
    """The treatment of reasoning in answers that later requests repeat."""

    KEEP = "keep"
    """Send it back as it came, as the general official handler does."""
    STRIP = "strip"
    """Leave it out."""


DEFAULT_SYNTAX: Mapping[Mode, str] = {Mode.FC: "tool_calls", Mode.PROMPT: "python"}
"""The notation of calls in each mode where no other is asked for."""


@dataclass(frozen=True, slots=True)
class Prompting:
    """The presentation of functions to a model, and the notation of its calls."""

    mode: Mode
    names: Names
    syntax: str
    """The notation of calls in its answers, a name of ``codecs.decoders.registry.SYNTAXES``."""
    format: PromptFormat = PLAIN
    """The format of the system prompt in prompting mode."""

    @classmethod
    def make_default(cls, mode: Mode, names: Names | None = None) -> Prompting:
        """Return the prompting of a mode where nothing else is asked for."""
        usual_names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
        return cls(mode, names or usual_names, DEFAULT_SYNTAX[mode])

    def use_format(self, prompt_format: PromptFormat) -> Prompting:
        """Return the same prompting in a prompt format, which also decides how calls are written."""
        return replace(self, syntax=prompt_format.syntax, format=prompt_format)


@dataclass(frozen=True, slots=True)
class ModelPresentation:
    """The label of a model and its prompting, the same for all entries of a run."""

    model: str
    """Its label."""
    prompting: Prompting
    reasoning: Reasoning = Reasoning.KEEP
    member: FamilyMember | None = None
    """The official model as which it is asked; None where it is asked as any server is."""

    def leave_family(self) -> ModelPresentation:
        """Return the presentation that every server takes, in the same mode."""
        if self.member is None:
            return self
        prompting = Prompting.make_default(self.prompting.mode, self.prompting.names)
        return replace(self, prompting=prompting, member=None)
