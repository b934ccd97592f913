"""What checks look at: the entries of a suite, what the oracle's answers to them are worth, another suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_fcbench import environments
from pytest_fcbench.conversations.entry import converse
from pytest_fcbench.conversations.setting import Memories, Setting
from pytest_fcbench.domain.driving import drive
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Manner, Mode, Prompting
from pytest_fcbench.domain.transcript import Driven, Party, Transcript
from pytest_fcbench.domain.verdict import Judgement, NotScored, Profile
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.memory.vectors import Embed
from pytest_fcbench.execution.outcomes import Execute, Perform
from pytest_fcbench.matchers.registry import Resources, judge
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import Model, run_through
from pytest_fcbench.models.routing import Parties
from pytest_fcbench.suites.suite import Suite

MANNERS = tuple(Manner("oracle", Prompting.usual(mode)) for mode in (Mode.FC, Mode.PROMPT))
"""The two ways in which entries are put to models."""


@dataclass(frozen=True)
class Facts:
    """A suite as checks see it."""

    suite: Suite
    entries: Sequence[Entry]
    execute: Execute
    perform: Perform
    web: Model | None = None
    """Answers what entries ask of the suite's own web."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """By category, why it cannot be read."""
    against: Sequence[Entry] = ()
    """Entries of another suite."""
    threshold: float = 0.8
    """How alike two questions must be to be told: ROUGE-L, 0 to 1."""
    embed: Embed | None = None
    """Makes vectors of length 1 of what texts mean, where a model for that was named."""

    @cached_property
    def oracle(self) -> Mapping[str, tuple[Judgement, ...]]:
        """By id of an entry, the verdicts on the oracle's answers in each manner."""
        return {entry.id: tuple(self.answered(entry, entry, m) for m in MANNERS) for entry in self.entries}

    def answered(self, entry: Entry, truth: Entry, manner: Manner) -> Judgement:
        """The verdicts on an entry for what the oracle answers to another: one whose truth is narrower.

        Not scored where the entry breaks whoever looks at it.
        """
        try:
            return self.judged(entry, self._transcript(truth, manner))
        except Exception as error:  # noqa: BLE001 - what somebody wrote into a suite can break anything
            reason = f"it cannot be put to anybody: {type(error).__name__}: {error}"
            return Judgement.both(NotScored("broken", reason))

    def judged(self, entry: Entry, transcript: Transcript) -> Judgement:
        """The verdicts, also on an entry that is set aside."""
        return judge(
            replace(entry, set_aside=None), transcript, Resources(self.fresh, self.execute, self.perform)
        )

    def fresh(self, entry: Entry) -> Environments:
        """Environments of an entry in their initial state."""
        return environments.opened(entry, self.suite.world)

    def _transcript(self, entry: Entry, manner: Manner) -> Transcript:
        memories = self._memories[manner]
        for before in entry.earlier:
            if before.key not in memories:
                self._held(before, manner, memories)
        return self._held(entry, manner, memories)

    def _held(self, entry: Entry, manner: Manner, memories: Memories) -> Transcript:
        oracle = Parties(OracleModel(manner.prompting), {Party.OWN_WEB: self.web} if self.web else {})
        talk = converse(entry, Setting(manner, self.suite, Driven(Profile.OFFICIAL), memories))
        return drive(talk, lambda request: run_through(oracle.complete(entry, request)))

    @cached_property
    def _memories(self) -> Mapping[Manner, Memories]:
        """What earlier conversations left, by the manner in which they were held."""
        return {manner: {} for manner in MANNERS}
