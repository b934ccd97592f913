"""The contract of a dialogue: one conversation in the form of one model family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import FamilyMember, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion

TEMPERATURE = 0.001
"""The official temperature of every family that sends one, but for a few whose rows say so."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a dialogue begins with."""

    entry: Entry
    manner: ModelPresentation
    wording: Wording
    preamble: str = ""
    """System text ahead of everything else."""

    @property
    def prompting(self) -> Prompting:
        """The presentation of functions and the notation of calls."""
        return self.manner.prompting

    @property
    def member(self) -> FamilyMember:
        """The official model as which the model is asked, where there is one."""
        assert self.manner.member
        return self.manner.member

    @property
    def texts(self) -> Sequence[str]:
        """The official sentences of the family, in the order of its source."""
        return self.wording.family_texts.get(self.member.handler, ())


class Dialogue(Protocol):
    """One conversation: it is told what happens, and builds the next request.

    Official: the methods of a handler class that ``base_handler`` calls in this order.
    """

    def add_user_turn(self, said: Sequence[Message]) -> None:
        """Add the messages of a turn after the first one."""

    def add_functions(self, late: Sequence[FunctionDoc]) -> None:
        """Offer more functions in a later turn."""

    def build_request(self, turn: int, step: int) -> AskModel:
        """Build the request of a step."""

    def add_answer(self, completion: Completion) -> Completion:
        """Add an answer, and return it as far as it is judged and carried out."""

    def add_results(self, calls: Sequence[str], texts: Sequence[str]) -> None:
        """Add the results of the last answer's calls: the calls as Python text, and a text for each."""
