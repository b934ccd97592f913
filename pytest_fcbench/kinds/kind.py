"""The interface of a kind of entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Conversation, Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.kinds import turns
from pytest_fcbench.kinds.context import ConversationContext


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that some kinds need to judge, beside the entry and its transcript."""

    fresh: Callable[[Entry], Environments]
    """Makes the environments of an entry in their initial state."""
    execute: Execute
    """Carries calls out, each by itself."""
    perform: Perform
    """Sends the request of a call."""


class Kind(ABC):
    """How entries of a kind are read, asked, judged, explained, answered and shown."""

    file_format: str = ""
    """The model of its files as ``module:Model`` below ``kinds``; empty where no such file is read."""

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put an entry to a model. Usually its calls act on fresh environments, if it has any."""
        return turns.converse(entry, context)

    @abstractmethod
    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge a transcript in both profiles. Raises TypeError for an entry of another kind."""
