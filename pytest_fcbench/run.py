"""One benchmark run: settings, suites, the model, the Records. Knows nothing of pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import TypeAlias

from pytest_fcbench import conversation, suites
from pytest_fcbench.answers import Transcript
from pytest_fcbench.config import Settings
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.dispatch.store import AnswerStore, StoredModel
from pytest_fcbench.entries import CATEGORIES, Category, Entry
from pytest_fcbench.errors import UsageError, unknown
from pytest_fcbench.models import registry
from pytest_fcbench.models.model import Model
from pytest_fcbench.scorecard import gate, records
from pytest_fcbench.scorecard.document import RunFacts, section
from pytest_fcbench.scorecard.records import Record
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.verdicts import Failed, Judgement, NotScored, Passed

Ask: TypeAlias = Callable[[Entry], Transcript]
"""The fixture ``ask``: puts an entry to the model."""

Score: TypeAlias = Callable[[Judgement], Passed | Failed]
"""The fixture ``score``: records a judgement and returns the selected profile's verdict."""


class Run:
    """Its suites, its model and its dispatcher are made when they are first needed, never before."""

    def __init__(self, settings: Settings, processes: int = 1) -> None:
        self.settings = settings
        self._concurrency = max(1, settings.concurrency // processes)
        """This process's share of the cap."""
        self.records: dict[str, Record] = {}
        """By entry key; a rerun replaces the earlier Record."""
        self._entries: dict[tuple[str, str], tuple[Entry, ...]] = {}

    @cached_property
    def suites(self) -> Mapping[str, Suite]:
        """The selected suites. Raises ``PackMissing``."""
        return {name: suites.open_suite(name, self.settings.cache) for name in self.settings.suites}

    @cached_property
    def chosen(self) -> registry.Chosen:
        """The model and the manner of the run. Raises ``UsageError``."""
        return registry.choose(self.settings)

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """What runs the conversations."""
        return Dispatcher(self._model, self._conversation, self._concurrency)

    @cached_property
    def _model(self) -> Model:
        """The model; one that has to be asked, with its answers kept. Raises ``UsageError``."""
        settings, model = self.settings, self.chosen.model
        if model.immediate or settings.store is None:
            return model
        identity = {"model": settings.model, "api_base": settings.api_base, "parameters": settings.parameters}
        store = AnswerStore(settings.store)
        return StoredModel(model, store, identity, offline=settings.offline, refresh=settings.refresh)

    def _conversation(self, entry: Entry) -> conversation.Conversation:
        return conversation.single_turn(entry, self.chosen.manner, self.suites[entry.suite].wording)

    def prepare(self) -> None:
        """Find out now what could stop the run: a wrong model, a missing pack, a broken entry."""
        _ = self._model
        for category in self.settings.categories:
            self.entries(category.name)

    def entries(self, name: str) -> Sequence[Entry]:
        """Entries of a category in all selected suites; none if the category is not selected.

        Raises ``UsageError`` for a name that is no category.
        """
        if name not in CATEGORIES:
            raise UsageError(unknown("category", name, CATEGORIES))
        if CATEGORIES[name] not in self.settings.categories:
            return ()
        return [entry for suite in self.suites.values() for entry in self._load(suite, CATEGORIES[name])]

    def find(self, key: str) -> Entry | None:
        """The entry of that key among those that were loaded."""
        return next(
            (entry for loaded in self._entries.values() for entry in loaded if entry.key == key), None
        )

    def _load(self, suite: Suite, category: Category) -> tuple[Entry, ...]:
        key = suite.name, category.name
        if key not in self._entries:
            self._entries[key] = suite.load(category) if category in suite.categories else ()
        return self._entries[key]

    def size_of(self, category: str) -> int:
        """Number of entries of a category in the selected suites."""
        return sum(len(self._load(suite, CATEGORIES[category])) for suite in self.suites.values())

    def record(self, entry: Entry, judgement: Judgement, transcript: Transcript | None) -> Record:
        """The Record of an entry in this run."""
        return records.record(entry, self.chosen.manner, judgement, transcript)

    def not_scored(
        self, entry: Entry, cause: str, reason: str, transcript: Transcript | None = None
    ) -> Record:
        """The Record of an entry that has no verdict in either profile."""
        return self.record(entry, Judgement.both(NotScored(cause, reason)), transcript)

    @property
    def ordered(self) -> list[Record]:
        """All Records, by category and entry, whatever order they came in."""
        order = {name: index for index, name in enumerate(CATEGORIES)}
        return sorted(
            self.records.values(), key=lambda r: (order.get(r.category, 99), r.suite, _natural(r.entry))
        )

    @property
    def facts(self) -> RunFacts:
        """What is printed with every score."""
        manner = self.chosen.manner
        return RunFacts(
            fcbench=version("pytest-fcbench"),
            model=manner.model,
            mode=manner.mode,
            names=manner.names,
            syntax=manner.syntax,
            profile=self.settings.profile,
            suites={
                name: {"version": suite.version, "pack_hash": suite.pack_sha256}
                for name, suite in self.suites.items()
            },
            notes=self._model.notes,
        )

    def outcomes(self, *, interrupted: bool) -> tuple[gate.Outcome, ...]:
        """What became of the gate's rules."""
        span = gate.Span.of(self.ordered, self.settings.profile, self.size_of)
        return gate.check(self.settings.gate, span, interrupted=interrupted)

    def section(self, outcomes: Sequence[gate.Outcome]) -> dict[str, object]:
        """The ``fcbench`` section of the JSON report."""
        return section(self.facts, self.ordered, self.size_of, outcomes)

    def close(self) -> None:
        """Stop what the run started."""
        if "dispatcher" in self.__dict__:
            self.dispatcher.close()
        if isinstance(model := self.__dict__.get("_model"), StoredModel):
            model.store.close()


def _natural(key: str) -> list[tuple[int, str]]:
    """A sort key that puts ``parallel_10`` after ``parallel_9``."""
    parts = key.replace("-", "_").replace(":", "_").split("_")
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
