"""Who is asked beside the model: a judge, an embedding, the API behind functions, the web."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import SELECTIONS, Rule
from pytest_fcbench.domain.transcript import Party
from pytest_fcbench.models import registry
from pytest_fcbench.models.baselines.replay import ReplayModel
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.web import OwnWeb, RecordedWeb, RecordingModel, WebModel
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.suites.formats import web_pages
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.web.recording import Recording

Keep: TypeAlias = Callable[[Model, Settings, registry.Identity], Model]
"""A model within the limits of its settings, with its answers kept under an identity."""


class Others:
    """Those beside the model in a run. They are made when they are first needed; a scorecard that is replayed
    answers for all of them."""

    def __init__(
        self, settings: Settings, model: Model, suites: Callable[[], Mapping[str, Suite]], keep: Keep
    ) -> None:
        self._settings = settings
        self._replayed = isinstance(model, ReplayModel)
        self._model = model
        self._suites = suites
        self._keep = keep

    @cached_property
    def named(self) -> frozenset[Party]:
        """Who may be asked: along golden paths all who are named, about replies in words the judge."""
        if self._replayed:
            return frozenset()
        named, rules = registry.named(self._settings), {each.rule for each in self._settings.categories}
        if Rule.PATH in rules:
            return named
        return named & {Party.JUDGE} if Rule.CHAT in rules else frozenset()

    @property
    def about_the_web(self) -> bool:
        """Whether there are entries whose calls ask the web."""
        return any(category.name in SELECTIONS["web_search"] for category in self._settings.categories)

    @property
    def wait(self) -> bool:
        """Whether any of them has to be waited for."""
        open_web = self.about_the_web and self._settings.search in ("duckduckgo", "serpapi")
        return bool(self.named) or (open_web and not self._replayed)

    @cached_property
    def models(self) -> Mapping[Party, Model]:
        """Who answers as whom. Raises ``UsageError``."""
        if self._replayed:
            return dict.fromkeys((party for party in Party if party is not Party.MODEL), self._model)
        found = registry.others(self._settings, self.named)
        kept = {
            party: self._keep(model, self._limits_of(party), identity)
            for party, (model, identity) in found.items()
        }
        return {**kept, **self._webs} if self.about_the_web else kept

    def _limits_of(self, party: Party) -> Settings:
        """The judge has its own limits; the rates of the model are nobody else's."""
        if party is Party.JUDGE and self._settings.judge:
            return self._settings.judge
        return replace(self._settings, rpm=None, tpm=None)

    @cached_property
    def _webs(self) -> Mapping[Party, Model]:
        """Who answers what entries ask of the web: the own one of suites, and the open one."""
        named = registry.web(self._settings)
        identity = {"model": f"web: {self._settings.search}"}
        webs = {
            Party.WEB: named if named.immediate else self._keep(named, self._limits_of(Party.WEB), identity),
            Party.OWN_WEB: named if isinstance(named, RecordedWeb) else self.own_web,
        }
        if self._recording is None:
            return webs
        return {party: RecordingModel(model, self._recording) for party, model in webs.items()}

    @cached_property
    def _served(self) -> OwnWeb:
        return OwnWeb(lambda: web_pages.of([suite.web for suite in self._suites().values()]))

    @cached_property
    def own_web(self) -> WebModel:
        """Answers what entries ask of the web that their suite brings."""
        return WebModel(self._served.sources, immediate=self._model.immediate and not self.wait)

    @cached_property
    def _recording(self) -> Recording | None:
        return Recording(self._settings.search_record) if self._settings.search_record else None

    def search_of(self, records: Iterable[Record]) -> str | None:
        """Who answered searches in these Records; None where nothing was searched for."""
        webs = {
            self._suites()[record.suite].web is not None
            for record in records
            if record.category in SELECTIONS["web_search"]
        }
        kind, _, path = self._settings.search.partition(":")
        if not webs or kind == "recorded":
            return f"recorded:{Path(path).name}" if webs else None
        return "core" if webs == {True} else "nobody" if webs == {False} and kind == "core" else kind

    def close(self) -> None:
        """Let go of what was begun."""
        for begun in ("_served", "_recording"):
            if held := self.__dict__.get(begun):
                held.close()
