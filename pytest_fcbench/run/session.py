"""One benchmark run: settings, suites, the model, the Records. Knows nothing of pytest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from importlib.metadata import version
from typing import Protocol, TypeAlias

from pytest_fcbench import suites
from pytest_fcbench.codecs.decoders.registry import DEFAULT_SYNTAX
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.conversations import turns
from pytest_fcbench.conversations.entry import Memories, asking, begun
from pytest_fcbench.dispatch import plan
from pytest_fcbench.dispatch.answer_store import AnswerStore, Replies, StoredModel
from pytest_fcbench.dispatch.budget import Ledger
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.dispatch.garbage_collection import CalmCollector
from pytest_fcbench.dispatch.limits import LimitedModel, Limits
from pytest_fcbench.dispatch.progress import Progress
from pytest_fcbench.dispatch.worker_link import Link
from pytest_fcbench.domain import price as prices
from pytest_fcbench.domain.entry import SELECTIONS, Entry, ExpectedResponse, Group, Rule
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.prompting import Manner, Mode
from pytest_fcbench.domain.transcript import Asking, AskModel, Completion, Driven, Fault, Party, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.functions.live import Live
from pytest_fcbench.execution.rest.performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.matchers.registry import Resources
from pytest_fcbench.models import registry, sentence_vectors
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.baselines.replay import ReplayModel
from pytest_fcbench.models.protocol import Model, run_through
from pytest_fcbench.models.routing import Parties
from pytest_fcbench.models.sentence_vectors import SentenceModel
from pytest_fcbench.models.web import no_search
from pytest_fcbench.run.auxiliary_models import Others
from pytest_fcbench.run.selection import Selection
from pytest_fcbench.scorecard import record as records
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.render.document import section
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites.suite import Suite

Ask: TypeAlias = Callable[[Entry], Transcript]
"""The fixture ``ask``: puts an entry to the model."""

Judge: TypeAlias = Callable[[Entry, Transcript], Judgement]
"""The fixture ``judge``: judges a transcript in both profiles."""

Score: TypeAlias = Callable[[Judgement], Passed | Failed]
"""The fixture ``score``: records a judgement and returns the selected profile's verdict."""


class Transcripts(Protocol):
    """Where finished conversations come from: this process's dispatcher, or a link to the controller's."""

    def expect(self, entries: Iterable[Entry]) -> None:
        """Say which will be asked for, in which order."""

    def transcript(self, entry: Entry) -> Transcript:
        """Raises ``NotScoredError``."""


class Run:
    """Its suites, its model and its dispatcher are made when they are first needed, never before.

    ``share`` is this process's part of the limits, 1 where it holds all conversations; ``link`` leads an
    xdist worker to the process that holds its own. ``about`` makes the conversation about an entry where it
    is not the benchmark's: a judge is asked about entries, in no environment.
    """

    def __init__(
        self,
        settings: Settings,
        share: float = 1.0,
        link: Link | None = None,
        about: Callable[[Entry], Asking] | None = None,
    ) -> None:
        self.settings = settings
        self.share = share
        self._link = link
        self._about = about or self.converse
        self._own_talk = about is not None
        self._memories: Memories = {}
        self._collector = CalmCollector()
        self.expected = 0
        """How many conversations with a model that is asked are to come."""
        self._started_at = 0.0
        self.records: dict[str, Record] = {}
        """By item id; a rerun replaces the earlier Record."""

    @cached_property
    def suites(self) -> Mapping[str, Suite]:
        """The selected suites. Raises ``PackMissing`` and ``UsageError``."""
        opened = {
            name: suites.open_suite(name, self.settings.cache, self.settings.own)
            for name in self.settings.suites
        }
        if not self._vectors:
            return opened
        return {
            name: replace(suite, world=replace(suite.world, embed=self._vectors.embed))
            for name, suite in opened.items()
        }

    @cached_property
    def selection(self) -> Selection:
        """The entries that are asked. Raises ``PackMissing`` and ``UsageError``."""
        return Selection(self.settings, self.suites)

    @cached_property
    def _vectors(self) -> SentenceModel | None:
        """What makes vectors of texts, where that is a model. Raises ``UsageError``."""
        searches = any(category.name == "memory_vector" for category in self.settings.categories)
        return sentence_vectors.load(self.settings.embedding) if searches else None

    @cached_property
    def chosen(self) -> registry.Chosen:
        """The model and the manner of the run. Raises ``UsageError``."""
        return registry.choose(self.settings)

    @cached_property
    def driven(self) -> Driven:
        """How conversations along golden paths are held, and who rates replies in words; those of a scorecard
        as they were held then."""
        model, settings = self.chosen.model, self.settings
        judge = settings.judge.label if settings.judge else "builtin"
        if isinstance(model, ReplayModel):
            if model.driven:
                return model.driven
            judge = model.rated_by or "builtin"
        return Driven(settings.profile, judge, settings.similarity, settings.live)

    @cached_property
    def others(self) -> Others:
        """Who is asked beside the model; nobody in conversations that are not the benchmark's. Raises
        ``UsageError``."""
        settings = replace(self.settings, categories=()) if self._own_talk else self.settings
        return Others(settings, self.chosen.model, lambda: self.suites, self._keep)

    @property
    def asks(self) -> bool:
        """Whether there is anything to wait for: not with a model that needs no network, asked alone."""
        return not self.chosen.model.immediate or self.others.wait

    @cached_property
    def baseline(self) -> Scorecard | None:
        """What the gate compares with. Raises ``UsageError``."""
        return scorecard_files.load(self.settings.baseline) if self.settings.baseline else None

    @property
    def transcripts(self) -> Transcripts:
        """Who is asked for a finished conversation."""
        return self._link if self._link and self.asks else self.dispatcher

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """What runs the conversations of this process."""
        concurrency = self._concurrency(self.settings)
        # Answers that are there do not depend on what was said before, nor do questions about entries.
        follows = self._about == self.converse and not isinstance(self.chosen.model, ReplayModel)
        timeout_s = self.settings.entry_timeout_s
        return Dispatcher(self.asked, self._about, concurrency, timeout_s, follows=follows)

    @cached_property
    def asked(self) -> Model:
        """Everybody who is asked in conversations. Raises ``UsageError``."""
        model, others = self.stored or self.chosen.model, self.others.models
        return Parties(model, others) if others else model

    def _limits(self, settings: Settings) -> Limits:
        """Those of a model, for this process."""
        return Limits(
            rpm=settings.rpm and settings.rpm * self.share,
            tpm=settings.tpm and settings.tpm * self.share,
            retries=settings.retries,
            timeout_s=settings.timeout_s,
            concurrency=self._concurrency(settings),
        )

    def _concurrency(self, settings: Settings) -> int:
        return max(1, int(settings.concurrency * self.share))

    @cached_property
    def price(self) -> Price | None:
        """What calls cost: by fcbench.yaml, else by litellm's table for a model that is asked through it."""
        settings = self.settings
        known = None if self.chosen.model.immediate else prices.known(settings.model)
        return settings.price or known

    def _usd(self, completion: Completion) -> float | None:
        if self.price is None:
            return None
        used = completion.input_tokens, completion.output_tokens, completion.latency_s
        return self.price.of(*used, self.settings.concurrency)

    def _keep(
        self, model: Model, settings: Settings, identity: registry.Identity
    ) -> LimitedModel | StoredModel:
        return self._stored(LimitedModel(model, self._limits(settings)), identity)

    def _stored(self, model: LimitedModel, identity: registry.Identity) -> LimitedModel | StoredModel:
        """The model with its answers kept, where they are."""
        if self._store is None:
            return model
        offline, refresh = self.settings.offline, self.settings.refresh
        return StoredModel(model, self._store, identity, offline=offline, refresh=refresh)

    @cached_property
    def _store(self) -> AnswerStore | None:
        """Where answers are kept. Raises ``UsageError``."""
        return AnswerStore(self.settings.store) if self.settings.store else None

    @cached_property
    def limited(self) -> LimitedModel | None:
        """The model within the run's limits; None for one that needs no network. Raises ``UsageError``."""
        settings = self.settings
        if self.chosen.model.immediate:
            return None
        if settings.max_usd is not None and self.price is None:
            raise UsageError(
                f"--fcbench-max-usd={settings.max_usd:g}: no price is known for {settings.label}; "
                "give it one under 'prices' in fcbench.yaml"
            )
        most = settings.max_usd and settings.max_usd * self.share
        ledger = Ledger(self.price, settings.concurrency, most, _output_limit(settings.parameters))
        preflight = settings.preflight and not settings.offline
        return LimitedModel(self.chosen.model, self._limits(settings), ledger, preflight=preflight)

    @cached_property
    def stored(self) -> StoredModel | LimitedModel | None:
        """The model with its answers kept; None for one that needs no network. Raises ``UsageError``."""
        if self.limited is None:
            return None
        return self._stored(self.limited, registry.identity(self.settings))

    def converse(self, entry: Entry) -> Asking:
        """The conversation about an entry, in environments of its own."""
        return self._talk(entry, self.chosen.manner, self._memories)

    def _talk(self, entry: Entry, manner: Manner, memories: Memories) -> Asking:
        suite = self.suites[entry.suite]
        about_the_web = entry.category.name in SELECTIONS["web_search"] and suite.web is None
        if about_the_web and self.settings.search == "core" and not self.chosen.model.immediate:
            raise no_search()  # before the model is asked for nothing
        return asking(entry, manner, suite, self.driven, memories)

    def environments(self, entry: Entry) -> Environments:
        """What the calls of an entry act on, as its conversation begins."""
        return begun(entry, self.suites[entry.suite], self._memories)

    @cached_property
    def execute(self) -> Pool:
        """Carries calls out in processes of their own, which start when they are needed."""
        return Pool(live=Live(self._replies) if self.settings.live else None)

    @cached_property
    def perform(self) -> Performer:
        """Sends the requests of REST entries; where answers are recorded, to a server on loopback."""
        return Performer(self._responses(), live=self.settings.live, keep=self._replies)

    @property
    def resources(self) -> Resources:
        """What matchers need beside an entry and its transcript; made when one of them uses it."""
        return Resources(
            self.environments,
            lambda calls, recorded: self.execute(calls, recorded),
            lambda call: self.perform(call),
        )

    def _responses(self) -> Iterator[ExpectedResponse]:
        """The truths of all REST entries of the suites."""
        for suite in self.suites.values():
            for category in suite.categories:
                for entry in suite.load(category) if category.rule is Rule.REST else ():
                    if isinstance(entry.expectation, ExpectedResponse):
                        yield entry.expectation

    @cached_property
    def _replies(self) -> Replies | None:
        """Where the answers of web APIs are kept in a live run. Raises ``UsageError``."""
        settings = self.settings
        if not settings.live or settings.store is None:
            return None
        return Replies(AnswerStore(settings.store), settings.offline, settings.refresh)

    def plan(self, entries: Sequence[Entry]) -> Iterator[str]:
        """What asking these would take, as lines of text."""
        if self.chosen.model.immediate:
            yield f"{len(entries)} entries; {self.settings.label} needs no network: no call, no cost"
        else:
            memories: Memories = {}
            yield from plan.lines(plan.plan(entries, lambda entry: self._to_ask(entry, memories)), self.price)
            if self.others.about_the_web:
                yield "not counted: what the web answers, which stands in later requests"
        if self.others.named:
            yield f"not counted: what is asked of the {' and the '.join(sorted(self.others.named))}"

    def _to_ask(self, entry: Entry, memories: Memories) -> Sequence[AskModel]:
        """The calls that an entry needs, with those of earlier conversations that are in no memory yet: how a
        conversation goes on, the oracle's answers say.

        The oracle does not write a model's own syntax, so there a conversation is planned in the usual one.
        """
        manner = self.chosen.manner
        plain = replace(manner, syntax=DEFAULT_SYNTAX[manner.mode])
        oracle = OracleModel(manner.mode, manner.names)
        needed: list[AskModel] = []

        def answer(entry: Entry, request: AskModel) -> Completion:
            if request.party is not Party.MODEL:
                return Completion(text="not asked", fault=Fault.INFERENCE_ERROR)
            if isinstance(self.stored, StoredModel) and (kept := self.stored.kept(entry, request)):
                return kept
            needed.append(request)
            return run_through(oracle.complete(entry, request))

        with suppress(CallError):
            for each in (*(before for before in entry.earlier if before.key not in memories), entry):
                for _ in turns.requests(self._talk(each, plain, memories), partial(answer, each)):
                    pass
        return needed

    def progress(self) -> Progress:
        """How far the run is."""
        answered, not_scored = self.dispatcher.finished()
        priced = self.limited is not None and self.price is not None
        return Progress(
            total=self.expected,
            answered=answered,
            not_scored=not_scored,
            in_flight=self.dispatcher.in_flight,
            reused=self.stored.reused if isinstance(self.stored, StoredModel) else 0,
            calls=self.limited.calls if self.limited else 0,
            elapsed_s=time.monotonic() - self._started_at,
            usd=self.limited.ledger.spent if self.limited and priced else None,
        )

    def start(self, entries: Sequence[Entry]) -> None:
        """Begin to ask for these, in this order. Raises ``UsageError`` where the first call fails."""
        self.dispatcher.expect(entries)
        if self.limited is None:
            return
        self.expected = len(entries)
        if not self.limited.decided.is_set():
            self.dispatcher.run_ahead_until(self.limited.decided)
        if refusal := self.limited.refusal:
            raise UsageError(
                f"the first call failed, so no other was made: {refusal.cause}: {refusal.reason}\n"
                f"{HINTS.get(refusal.cause, 'try again later')}; --fcbench-no-preflight goes on all the "
                "same, and each entry is then not scored"
            )
        self._collector.calm()
        self._started_at = time.monotonic()

    def prepare(self) -> None:
        """Find out now what could stop the run: a wrong model, a missing pack, a broken entry."""
        if self._link is None:
            _ = self.asked, self.baseline
        _ = self.chosen
        for category in self.settings.categories:
            if category.rule is Rule.VARIATION and self.chosen.manner.mode is not Mode.PROMPT:
                raise UsageError(
                    f"{category.name} is about system prompts, so the model has to be asked by prompting: "
                    "add --fcbench-mode=prompt, or run it apart from what is asked by function calling"
                )
            self.selection.entries(category.name)

    def record(
        self,
        entry: Entry,
        judgement: Judgement,
        transcript: Transcript | None,
        marks: tuple[str, ...] = (),
    ) -> Record:
        """The Record of an entry in this run; ``marks`` are the user's own."""
        made = records.record(entry, self.chosen.manner, judgement, transcript, self._usd)
        return replace(made, marks=marks)

    def not_scored(
        self,
        entry: Entry,
        cause: str,
        reason: str,
        transcript: Transcript | None = None,
        marks: tuple[str, ...] = (),
    ) -> Record:
        """The Record of an entry that has no verdict in either profile."""
        return self.record(entry, Judgement.both(NotScored(cause, reason)), transcript, marks)

    @property
    def ordered(self) -> list[Record]:
        """All Records, by category and entry, whatever order they came in."""
        return records.in_order(self.records.values())

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
            notes=(*self.asked.notes, *self._asked_the_web(), *self._told_of_vectors()),
            price=self.price,
            concurrency=None if self.limited is None else self.settings.concurrency,
            driven=self.driven if any(r.group == Group.COMPLEX for r in self.records.values()) else None,
            rated_by=self.driven.judge if any(r.verdicts.rating for r in self.records.values()) else None,
            search=self.others.search_of(self.records.values()),
            shard=str(self.settings.shard) if self.settings.shard else None,
        )

    def _asked_the_web(self) -> Iterator[str]:
        if self.settings.live and any(r.group == Group.EXECUTABLE for r in self.records.values()):
            yield "web APIs were asked live, so scores depend on what they answered that day"

    def _told_of_vectors(self) -> Iterator[str]:
        if any(record.category == "memory_vector" for record in self.records.values()):
            by = self._vectors or "words and parts of words that they share, without a model"
            yield f"memory_vector finds texts by {by}"

    def outcomes(self, *, interrupted: bool) -> tuple[gate.Outcome, ...]:
        """What became of the gate's rules."""
        unfinished = "the run was interrupted" if interrupted else None
        return gate.check(self.settings.gate, self.evidence, unfinished=unfinished)

    @property
    def evidence(self) -> gate.Evidence:
        """What the gate looks at."""
        return gate.Evidence(
            self.ordered, self.settings.profile, self.selection.size_of, self.facts.suites, self.baseline
        )

    def section(self, outcomes: Sequence[gate.Outcome]) -> dict[str, object]:
        """The ``fcbench`` section of the JSON report."""
        return section(self.facts, self.ordered, self.selection.size_of, outcomes)

    def stop(self) -> None:
        """Make no new call and cancel those in flight; what is stored stays."""
        if "dispatcher" in self.__dict__:
            self.dispatcher.close()
        self._collector.restore()

    def close(self) -> None:
        """Let go of everything."""
        self.stop()
        if self._link:
            self._link.close()
        if store := self.__dict__.get("_store"):
            store.close()
        if pool := self.__dict__.get("execute"):
            pool.close()
        if performer := self.__dict__.get("perform"):
            performer.close()
        if replies := self.__dict__.get("_replies"):
            replies.close()
        if others := self.__dict__.get("others"):
            others.close()


HINTS = {
    "authentication": "name the variable that holds the right key with --fcbench-api-key-env",
    "bad_request": "check the model's name, and whether it takes tools (--fcbench-mode=prompt sends none)",
    "connection": "check --fcbench-api-base, and whether the server is up",
    "function_error": "correct the function",
    "function_result": "return text, a message or a list of tool calls",
    "not_found": "check the model's name and --fcbench-api-base",
    "quota": "the account has no money left",
    "budget": "raise --fcbench-max-usd",
}
"""The way out, by the cause of a first call that failed."""


def _output_limit(parameters: Mapping[str, object]) -> int | None:
    """The limit of tokens in an answer, under any of the names it goes by."""
    given = (parameters.get(name) for name in ("max_tokens", "max_completion_tokens"))
    return next((value for value in given if isinstance(value, int)), None)
