"""The facts that checks look at: the entries of a suite, verdicts on the oracle's answers, another suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pytest_fcbench import environments
from pytest_fcbench.domain.driving import drive_conversation
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import Party, PathSettings, Transcript
from pytest_fcbench.domain.verdict import Judgement, NotScored, Profile
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.vectors import Embed
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.kinds.context import ConversationContext, Memories
from pytest_fcbench.kinds.conversation import converse
from pytest_fcbench.kinds.judgement import judge
from pytest_fcbench.kinds.kind import Resources
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import Responder, run_through
from pytest_fcbench.models.routing import RoutedModel
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.audit.run_verdicts import RunVerdicts

MANNERS = tuple(ModelPresentation("oracle", Prompting.make_default(mode)) for mode in (Mode.FC, Mode.PROMPT))
"""The two manners in which entries are put to models."""


@dataclass(frozen=True)
class SuiteFacts:
    """The facts about a suite that checks look at."""

    suite: Suite
    entries: Sequence[Entry]
    execute: Execute
    perform: Perform
    web: Responder | None = None
    """The tool that answers requests to the suite's own web."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """The reason why a category cannot be read, by its name."""
    against: Sequence[Entry] = ()
    """Entries of another suite."""
    training: Path | None = None
    """A file of training data."""
    threshold: float = 0.8
    """The least ROUGE-L, from 0 to 1, of similar questions."""
    embed: Embed | None = None
    """The embedding of texts as vectors of length 1, if a model for that was named."""
    results: Sequence[RunVerdicts] = ()
    """The verdicts of real runs on the entries."""
    servers: Responder | None = None
    """The tool that carries calls out on MCP servers; None where none may be started."""
    _memories: Mapping[ModelPresentation, Memories] = field(
        default_factory=lambda: {manner: {} for manner in MANNERS}, init=False, repr=False, compare=False
    )
    """The memories that earlier conversations filled, by manner."""

    @cached_property
    def oracle(self) -> Mapping[str, tuple[Judgement, ...]]:
        """The verdicts on the oracle's answers in each manner, by id of the entry."""
        return {
            entry.id: tuple(self.judge_oracle(entry, entry, manner) for manner in MANNERS)
            for entry in self.entries
        }

    def judge_oracle(self, entry: Entry, truth: Entry, manner: ModelPresentation) -> Judgement:
        """Judge an entry by the oracle's answers to another one, whose ground truth is narrower.

        The entry is not scored where it raises an error anywhere. Entries set aside are judged, too.
        """
        try:
            transcript = self._ask_oracle(truth, manner)
            resources = Resources(self.open_environments, self.execute, self.perform)
            return judge(replace(entry, set_aside=None), transcript, resources)
        except Exception as error:  # noqa: BLE001 - what somebody wrote into a suite can break anything
            reason = f"the conversation cannot be replayed: {type(error).__name__}: {error}"
            return Judgement.same_in_both(NotScored("broken", reason))

    def open_environments(self, entry: Entry) -> Environments:
        """Open the environments of an entry in their initial state."""
        return environments.open_environments(entry, self.suite.world)

    def _ask_oracle(self, entry: Entry, manner: ModelPresentation) -> Transcript:
        memories = self._memories[manner]
        # Questions about a memory need the earlier conversations that fill it.
        for earlier in entry.earlier:
            if earlier.key not in memories:
                self._ask_oracle(earlier, manner)
        parties = {Party.OWN_WEB: self.web, Party.SERVER: self.servers}
        others = {party: model for party, model in parties.items() if model}
        oracle = RoutedModel(OracleModel(manner.prompting), others)
        conversation = converse(
            entry, ConversationContext(manner, self.suite, PathSettings(Profile.OFFICIAL), memories)
        )
        return drive_conversation(conversation, lambda request: run_through(oracle.complete(entry, request)))


def standardize_turns(turns: Sequence[Sequence[Message]]) -> str:
    """Join all messages of turns into one text in the matcher's normal form."""
    return standardize(" ".join(message.shown_text for turn in turns for message in turn))


def join_user_messages(entry: Entry) -> str:
    """Join the user's messages in an entry, with line breaks between them."""
    return "\n".join(message.content for turn in entry.turns for message in turn if message.role == "user")
