"""Providers, which make the model of a name and say how it is to be asked.

``--fcbench-model=NAME:ARGUMENT`` calls the provider ``NAME``. Another distribution adds one by an entry point
of the group ``fcbench.models`` in its ``pyproject.toml``::

    [project.entry-points."fcbench.models"]
    mymodel = "fcbench_mymodel:PROVIDER"

and in its module ``fcbench_mymodel``::

    def open_model(argument: str, settings: Settings) -> Chosen:
        return Chosen(MyModel(argument, settings.api_key), choose_manner(settings))

    PROVIDER = Provider(open_model, argument="VERSION", about="my model behind its own interface")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fcbench.codecs.decoders.registry import SYNTAXES, find_native_syntax
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.paths import is_place
from pytest_fcbench.domain.prompting import (
    DEFAULT_SYNTAX,
    Mode,
    ModelPresentation,
    Names,
    Prompting,
    Reasoning,
)
from pytest_fcbench.domain.transcript import PathSettings
from pytest_fcbench.models.official_models import find_family
from pytest_fcbench.models.protocol import Model

CHAT = "chat"
"""The value of ``--fcbench-as`` with which a model is asked in the form that every server takes."""


@dataclass(frozen=True, slots=True)
class RecordedSettings:
    """The settings under which recorded answers were given; None where their file does not say."""

    answered: Set[str]
    """The item ids that have answers; the first of several trials goes by the plain key."""
    mode: Mode | None
    syntax: str | None
    names: Names | None = None
    """The form in which function names were shown."""
    driven: PathSettings | None = None
    """The settings of golden paths."""
    rated_by: str | None = None
    """The judge that rated replies in words or compared free texts."""
    shots: int | None = None
    """The number of answered examples in each prompt of a base model."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model and the manner of its run."""

    model: Model
    manner: ModelPresentation
    recorded: RecordedSettings | None = None
    """The settings of an earlier run if the model repeats its answers, of all parties."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A maker of the models of one name."""

    open: Callable[[str, Settings], Chosen]
    """Makes the model of an argument. Raises ``UsageError`` for an invalid argument or manner."""
    argument: str = ""
    """The word for the part after the colon, for help texts; empty where nothing follows the name."""
    about: str = ""
    """A line for users."""
    needs_network: bool = True
    argument_is_optional: bool = False
    answers_questions: bool = True
    """True where it can answer requests that are not about an entry, and so may be a judge."""
    identify: Callable[[str, Settings], Mapping[str, object]] = lambda argument, settings: {}
    """Returns the facts beside the model's name that can change an answer. Raises ``UsageError``."""

    def format_name(self, name: str) -> str:
        """Return the text that a user types for this provider, such as ``replay:PATH``."""
        if self.argument_is_optional:
            return f"{name}[:{self.argument}]"
        return f"{name}:{self.argument}" if self.argument else name


def refuse_model(settings: Settings, rule: str) -> UsageError:
    """Return an error about the model of these settings, which names the option that chose it."""
    return UsageError(f"{settings.flags.model}={settings.model}: {rule}")


def find_file(path: str, settings: Settings) -> Path:
    """Return the path behind the colon of a model's name. Raises ``UsageError`` where nothing is there."""
    if not path:
        raise refuse_model(settings, f"a path is missing; use {settings.model}PATH")
    if not is_place(path):
        raise refuse_model(settings, f"{path} does not exist; give an existing path")
    return Path(path)


def choose_manner(settings: Settings, recorded_settings: RecordedSettings | None = None) -> ModelPresentation:
    """Choose how a model is asked: by the settings, else as recorded, else by the defaults of the mode.

    An official model id stands for its mode, names and syntax, as far as nothing else is given. The mode
    follows from the syntax, else it is function calling; names and syntax follow from the mode.
    Raises ``UsageError`` where mode and syntax do not go together.
    """
    mode, syntax, names = settings.mode, settings.syntax, settings.names
    if settings.read_as and settings.read_as != CHAT:
        family = find_family(settings.read_as, repaired=settings.repair)
        if syntax is None and (mode is None or mode is family.mode):
            syntax, names = family.syntax, names or family.names
    if recorded_settings:
        names = names or recorded_settings.names
        if mode is None and syntax is None:
            mode, syntax = recorded_settings.mode, recorded_settings.syntax
    if find_native_syntax(syntax):
        syntax = DEFAULT_SYNTAX[Mode.FC]
    if mode is Mode.COMPLETION and syntax not in (None, DEFAULT_SYNTAX[mode]):
        raise UsageError(f"completion mode reads calls as Python, not as {syntax!r}; leave the syntax out")
    # ``tool_calls`` has no reader: the interface returns calls and not text.
    reader = SYNTAXES[syntax] if syntax else None
    own = reader.mode if reader else Mode.FC if syntax else None
    if mode and own and mode is not own and mode is not Mode.COMPLETION:
        raise UsageError(
            f"the syntax {syntax!r} belongs to mode {own.value!r}, not to {mode.value!r}; leave "
            f"one of them out"
        )
    prompting = Prompting.make_default(mode or own or Mode.FC, names)
    prompting = replace(prompting, syntax=syntax) if syntax else prompting
    return ModelPresentation(settings.label, prompting, settings.reasoning or Reasoning.KEEP)


def open_plain_model(make: Callable[[Prompting], Model], argument: str, settings: Settings) -> Chosen:
    """Open a model that is made of the prompting of its run, and writes no other model's syntax.

    Raises ``UsageError``.
    """
    manner = choose_manner(settings)
    if (syntax := manner.prompting.syntax) not in DEFAULT_SYNTAX.values():
        raise UsageError(
            f"{settings.model} writes tool_calls or python, not {syntax!r}; leave --fcbench-syntax and "
            "--fcbench-as out"
        )
    return Chosen(make(manner.prompting), manner)
