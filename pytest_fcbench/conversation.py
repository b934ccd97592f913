"""How an entry is put to a model: generators without I/O, one per shape of conversation.

A conversation yields ``AskModel``, is sent the ``Completion``, and returns the ``Transcript``. Any driver
can run it; a test steps it by hand. Function calling and prompting differ by the manner, not by the loop.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.answers import AskModel, Completion, Mode, Names, Step, Transcript
from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.entries import Entry

Conversation: TypeAlias = Generator[AskModel, Completion, Transcript]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is talked to, the same for all entries of a run."""

    model: str
    mode: Mode
    names: Names
    syntax: str
    """How calls are written in its answers, a name of ``codecs.syntaxes.SYNTAXES``."""


def single_turn(entry: Entry, manner: Manner, wording: Wording) -> Conversation:
    """One question, one answer."""
    completion = yield presenting.ask(entry, wording, manner.mode, manner.names)
    return Transcript(
        entry=entry.key,
        model=manner.model,
        mode=manner.mode,
        names=manner.names,
        syntax=manner.syntax,
        turns=((Step(completion),),),
    )
