"""One benchmark run in one process: its conversations, verdicts and Records."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import version

from pytest_fcbench.codecs.call_schemas import count_calls
from pytest_fcbench.config.options import Settings
from pytest_fcbench.dispatch.answer_store import AnswerStore, Replies
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.dispatch.progress import Progress
from pytest_fcbench.dispatch.worker_link import Link
from pytest_fcbench.domain.entry import SELECTIONS, Entry, Group
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.explanation import Explanation
from pytest_fcbench.domain.garbage_collection import pause_collector
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Conversation,
    Party,
    Transcript,
    drive_conversation_async,
)
from pytest_fcbench.domain.verdict import Judgement, NotScored, Passed
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.execution.live import Live
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.kinds import table as judgement
from pytest_fcbench.kinds.answers import conversations as memory
from pytest_fcbench.kinds.execution.verdict import list_recorded_replies
from pytest_fcbench.kinds.kind import Memories, Resources
from pytest_fcbench.kinds.own_check import add_own_checks
from pytest_fcbench.present.document import write_section
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.plan import (
    describe_forced_truth,
    describe_free_texts,
    describe_plan,
    describe_vectors,
    list_early_notes,
)
from pytest_fcbench.run.progress_file import GroupTally
from pytest_fcbench.run.record_spool import RecordSpool
from pytest_fcbench.run.run_models import WITHOUT_PREFLIGHT, RunModels, find_hint
from pytest_fcbench.scorecard import record as records
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    describe_endings,
    describe_protocol_notes,
    describe_unusable_answers,
)
from pytest_fcbench.scorecard.aggregate.call_counts import describe_serving
from pytest_fcbench.scorecard.aggregate.scores import leave_out_trained, mark_trained
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RuleOutcome, RunFacts

STREAMED = "answers were asked for as streams (--fcbench-stream=on)"
"""The note of a run that streamed."""
_FIRST = 200
"""Records among which the progress looks for answers that nothing can be done with."""


class Session:
    """Runs conversations, judges them and collects Records; opens each resource on first use.

    ``link`` connects an xdist worker to the process that runs its conversations. ``converse`` replaces the
    benchmark's own conversation about an entry, for example by a question to a judge. A session ``beside``
    another one shares its event loop, budget and store, and is closed before it.
    """

    def __init__(
        self,
        context: RunContext,
        link: Link | None = None,
        converse: Callable[[Entry], Conversation] | None = None,
        beside: Session | None = None,
    ) -> None:
        self.context = context
        self._beside = beside
        self.records = RecordSpool()
        self.narrowed_by: str | None = None
        """The option that selected a part of the entries."""
        self.commit: str | None = None
        """The git commit of the project."""
        self.ungated: str | None = None
        """The reason why the rules of the project are not applied."""
        self._sizes: Mapping[str, int] = {}
        """The number of entries to ask in each group."""
        self._tally = GroupTally(context.settings.profile)
        self._link = link
        self._converse = converse
        self._memories: Memories = {}
        self._models: RunModels | None = None
        self._started_at = 0.0
        self._opened = ExitStack()
        self._opened.enter_context(closing(self.records))
        if link:
            self._opened.enter_context(closing(link))
        self._asking = self._opened.enter_context(ExitStack())
        """Resources for asking, closed when asking ends; Records may still be made afterwards."""

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets of the run, longest first, which no report may contain. Raises ``UsageError``."""
        return self.context.secrets

    # Conversations

    def prepare(self, share: float = 1.0) -> None:
        """Detect early what would stop the run: a wrong model, a missing pack, a broken entry.

        ``share`` is this process's part of the limits.
        """
        if self._link is None:
            self.open_models(share)
            # A missing or broken baseline stops the run here, before any call is paid for.
            _ = self.context.baseline, self.context.rivals, self.context.trained
        # Entries live as long as the run; looking for garbage among them takes a fifth of the time.
        with pause_collector():
            self.context.check()

    def open_models(self, share: float = 1.0) -> RunModels:
        """Return the models, which are opened by the first call. Raises ``UsageError``."""
        if self._models is None:
            beside = self._beside.open_models(share) if self._beside else None
            self._models = self._opened.enter_context(closing(RunModels(self.context, share, beside)))
        return self._models

    def require_key(self) -> None:
        """Raise ``UsageError`` where the first call would fail for want of a key, before entries are read."""
        if self._link is None:
            self.open_models().require_key()

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """The dispatcher that runs the conversations of this process."""
        models, settings = self.open_models(), self.context.settings
        converse = self._converse or partial(self.context.converse, memories=self._memories)
        # Recorded answers and questions about entries do not depend on earlier conversations.
        follows = self._converse is None and not self.context.chosen.recorded
        dispatcher = Dispatcher(
            models.routed_model,
            converse,
            models.concurrency,
            settings.entry_timeout_s,
            follows=follows,
            beside=self._beside.dispatcher if self._beside else None,
        )
        return self._asking.enter_context(closing(dispatcher))

    @property
    def _transcripts(self) -> Dispatcher | Link:
        return self._link if self._link and self.context.waits else self.dispatcher

    def expect(self, entries: Iterable[Entry]) -> None:
        """Announce which transcripts will be needed, in order."""
        self._transcripts.expect(entries)

    def expect_next(self, entry: Entry | None) -> None:
        """Announce which transcript the next test will need; None if that is not known."""
        if self._link is not None:
            self._link.expect_next(entry)

    def transcript(self, entry: Entry, within_s: float | None = None) -> Transcript:
        """Return the finished conversation about an entry.

        Raises ``NotScoredError``, and ``TimeoutError`` where it does not end within that time.
        """
        return self._transcripts.transcript(entry, within_s)

    def request(self, entry: Entry) -> Future[Transcript]:
        """Return the future of a conversation that this process runs. Raises ``RunStoppedError``."""
        return self.dispatcher.request(entry)

    def drop_conversation(self, item_id: str) -> None:
        """Drop the conversation of a test that has ended."""
        # The property would make a dispatcher.
        if isinstance(dispatcher := self.__dict__.get("dispatcher"), Dispatcher):
            dispatcher.drop_outcome(item_id)

    def start(self, entries: Sequence[Entry]) -> None:
        """Start the conversations about these entries. Raises ``UsageError`` if the first call fails."""
        self._started_at = time.monotonic()
        self._sizes = Counter(entry.category.group.value for entry in entries)
        self.dispatcher.expect(entries)
        if checks := self._sizes[Group.SERVER.value]:
            self.open_models().require_endpoint(checks)
        if not self.context.waits:
            return
        checks_only = set(self._sizes) == {Group.SERVER.value}
        pipeline = self.open_models().pipelines.get(Party.ENDPOINT if checks_only else Party.MODEL)
        first_call = pipeline and pipeline.first_call
        if pipeline and first_call and not first_call.decided.is_set():
            self.dispatcher.run_ahead_until(first_call.decided)
            if not pipeline.calls and (step := pipeline.stored_answers) and (unusable := step.unusable):
                fault = f"no call was made, because no answer could be stored: {unusable.reason}"
                raise UsageError(f"{fault}; name another file with --fcbench-store, or none")
        if first_call and (refusal := first_call.refusal):
            hint = find_hint(refusal, self.context.settings)
            if refusal.cause == "connection":
                hint += "; --fcbench-wait=SECONDS waits for a server that is starting"
            fault = f"the first call failed, so no other call was made: {refusal.cause}: {refusal.reason}"
            fault += f"\n{hint}; entries that were not asked: {len(entries):,}"
            raise UsageError(f"{fault}; use --fcbench-no-preflight {WITHOUT_PREFLIGHT}")
        if self.context.settings.wait_s:
            # The time until the endpoint had started says nothing of its speed.
            self._started_at = time.monotonic()

    def plan(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Yield lines that estimate the calls, tokens and dollars, and the loss that the gate would show."""
        yield from describe_plan(self.context, self.open_models(), entries)
        keys = {entry.key for entry in entries}
        yield from gate.describe_powers(self.context.settings.gate, self.evidence, keys)
        yield from self.list_early_notes(entries)

    def list_early_notes(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Yield lines about what of these entries will not be scored, or not as officially."""
        return (f"note: {note}" for note in list_early_notes(self.context, entries))

    @property
    def has_started(self) -> bool:
        """True once entries are asked, or one has been judged."""
        return bool(self._sizes or self.records)

    def progress(self) -> Progress:
        """Return the progress of the run."""
        # A copy, because another thread adds to them.
        all_records = list(self.records.values())
        self._tally.count_new(all_records)
        # Where everybody answers at once, an entry is answered when it is judged.
        waits = self.context.waits
        answered_count, not_scored = self.dispatcher.finished() if waits else (len(all_records), 0)
        models = self.open_models()
        return Progress(
            total=sum(self._sizes.values()),
            answered=answered_count,
            not_scored=not_scored,
            in_flight=self.dispatcher.in_flight if waits else 0,
            passed=self._tally.passed,
            judged=self._tally.judged,
            groups=tuple(self._tally.describe_groups(self._sizes)),
            reused=models.reuses,
            calls=models.pipeline.calls if models.pipeline else 0,
            elapsed_s=time.monotonic() - self._started_at,
            usd=models.spent_usd,
            # A few tell it as well as all, and this is asked twice a second.
            trouble=models.trouble or describe_unusable_answers(all_records[:_FIRST]),
            calls_of_others=models.calls_of_others,
        )

    def halt(self) -> None:
        """Make no new call and cancel those in flight, at once; for handlers of signals."""
        # The property would make a dispatcher.
        if isinstance(dispatcher := self.__dict__.get("dispatcher"), Dispatcher):
            dispatcher.halt()

    def stop(self) -> None:
        """Make no new call and cancel those in flight; stored answers stay."""
        self._asking.close()

    def close(self) -> None:
        """Close everything that was opened."""
        self._opened.close()

    # Judging

    def add_record(self, record: Record, text: str | None = None, *, is_own: bool = False) -> str | None:
        """Add the Record of a test, whose JSON may be given; ``is_own`` where the test alone judged it.

        Return the reason where it comes too late to count.
        """
        self.records.add_record(record, text)
        return None

    def environments(self, entry: Entry) -> Environments:
        """Return the environments of an entry in the state in which its conversation begins."""
        return memory.open_environments(entry, self.context.suites[entry.suite], self._memories)

    @cached_property
    def execute(self) -> Pool:
        """The pool of sandboxed processes that execute calls, started on demand."""
        settings = self.context.settings
        live = Live(self._replies) if settings.live else None
        return self._opened.enter_context(closing(Pool(live=live, unconfined=settings.unconfined)))

    @cached_property
    def perform(self) -> Performer:
        """The sender of REST requests; recorded answers come from a server on loopback."""
        truths = (
            truth
            for suite in self.context.suites.values()
            for category in suite.categories
            if category.name == "rest"
            for entry in suite.load(category)
            for truth in list_recorded_replies(entry)
        )
        performer = Performer(truths, live=self.context.settings.live, keep=self._replies)
        return self._opened.enter_context(closing(performer))

    @cached_property
    def _replies(self) -> Replies | None:
        """The stored answers of web APIs in a live run. Raises ``UsageError``."""
        settings = self.context.settings
        if not settings.live or settings.store is None:
            return None
        store = self._opened.enter_context(closing(AnswerStore(settings.store)))
        return Replies(store, settings.offline, settings.refresh)

    @cached_property
    def resources(self) -> Resources:
        """The resources that kinds of entries need to judge."""
        # Functions, so that the pool or the server starts with the first entry that uses it.
        return Resources(
            self.environments,
            lambda calls, recorded, own: self.execute(calls, recorded, own),
            lambda call: self.perform(call),
        )

    def judge(self, entry: Entry, transcript: Transcript) -> Judgement:
        """Return both verdicts on a conversation."""
        return judgement.judge(entry, transcript, self.resources)

    def check(self, entry: Entry, transcript: Transcript) -> Judgement:
        """Judge a conversation by nothing but what its entry checks and forbids."""
        return add_own_checks(entry, transcript, Judgement.same_in_both(Passed()))

    def record(
        self, entry: Entry, judgement: Judgement, transcript: Transcript | None, marks: tuple[str, ...] = ()
    ) -> Record:
        """Return the Record of an entry; ``marks`` are the user's own."""
        context = self.context
        calls = None
        # What stands in place of an answer of a check of the server is no call of the model.
        if transcript and entry.category.group is not Group.SERVER:
            calls = count_calls(entry, transcript, context.suites[entry.suite].wording)
        manner, usd = context.manner, context.usd
        new_record = records.build_record(entry, manner, judgement, transcript, usd, marks, calls)
        return mark_trained([new_record], context.trained)[0] if context.trained else new_record

    def not_scored(
        self, entry: Entry, why: NotScored, transcript: Transcript | None = None, marks: tuple[str, ...] = ()
    ) -> Record:
        """Return the Record of an entry that has no verdict in either profile."""
        return self.record(entry, Judgement.same_in_both(why), transcript, marks)

    # Results

    def describe_kept_answers(self) -> str:
        """Say after a run that was cut short what the next one need not ask again."""
        if (kept_count := self.open_models().kept) is None:
            return "no answer was stored (--fcbench-store=none); another run asks all entries again"
        answers = "1 answer is" if kept_count == 1 else f"{kept_count:,} answers are"
        return f"{answers} kept in {self.context.settings.store}; run again to continue from there"

    def explain_failure(self, record: Record) -> Explanation | None:
        """Explain a failed Record of this run; None where its entry is not known."""
        # Imported late: it brings the modules that judge calls, and most runs explain nothing.
        from pytest_fcbench.run.explaining import explain_record

        # In the process that controls workers nothing may have been loaded yet.
        self.context.selection.entries(record.category)
        entry = self.context.selection.find(record.item_id)
        return explain_record(entry, record, self.context.settings.profile) if entry else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for a reader of the scores: those of the models, on live web APIs and on vectors."""
        notes, all_records = list(self.open_models().routed_model.notes), self.records.values()
        if self.context.settings.live and any(r.group == Group.EXECUTABLE for r in all_records):
            notes.append("web APIs were called live, so scores depend on their replies of that day")
        searching = {r.suite for r in all_records if r.category == "memory_vector"}
        notes += describe_vectors(self.context, searching)
        entry_keys = {r.entry for r in all_records}
        judged_entries = (entry for entry in self.context.list_free_texts() if entry.key in entry_keys)
        notes += describe_free_texts(self.context, judged_entries) + describe_forced_truth(self.context)
        if shots := self.context.shots:
            number = max(map(len, shots.list_keys(all_records).values()), default=0)
            examples = f"each prompt shows {number} answered entries of its category"
            notes.append(f"completion mode: {examples}; these, and entries like them, are not scored")
        if path := self.context.settings.trained:
            count = len(all_records) - len(leave_out_trained(all_records))
            notes.append(f"{count:,} of {len(all_records):,} entries are in the training data ({path.name})")
        if self.context.waits and self.context.settings.parameters.get("stream"):
            notes.append(STREAMED)
        notes += describe_serving(all_records)
        notes += describe_endings(all_records)
        notes += describe_protocol_notes(all_records)
        if unusable_note := describe_unusable_answers(all_records):
            notes.append(unusable_note)
        if self.context.settings.noise or self.context.settings.compares_streams:
            notes += self.open_models().old_reads.describe("--fcbench-refresh")
        return tuple(notes)

    @property
    def facts(self) -> RunFacts:
        """The facts that are printed with every score."""
        context, manner, all_records = self.context, self.context.manner, self.records.values()
        settings, models = context.settings, self.open_models()
        # Without complex conversations, whose judge is a part of `driven`.
        others = [record for record in all_records if record.group != Group.COMPLEX]
        asides = (aside for record in others for aside in record.asides)
        is_rated = any(record.rating for record in all_records) or any(a.party is Party.JUDGE for a in asides)
        return RunFacts(
            fcbench=version("pytest-fcbench"),
            model=manner.model,
            mode=manner.prompting.mode,
            names=manner.prompting.names,
            syntax=manner.prompting.syntax,
            profile=settings.profile,
            suites=context.suite_versions,
            notes=self.notes,
            price=context.price,
            concurrency=None if models.pipeline is None else settings.concurrency,
            driven=context.driven if any(r.group == Group.COMPLEX for r in all_records) else None,
            rated_by=context.driven.judge if is_rated else None,
            search=_name_search(context, all_records),
            shard=str(settings.shard) if settings.shard else None,
            earlier=self.earlier,
            labels=settings.labels,
            commit=self.commit,
            narrowed_by=self.narrowed_by,
            ungated=self.ungated,
            asked_as=str(manner.member) if manner.member else None,
            shots=context.shots.list_keys(all_records) if context.shots else {},
        )

    @property
    def earlier(self) -> tuple[records.EarlierConversation, ...]:
        """The conversations that entries continue, as far as this process held them."""
        # Models that answer at once are asked in each worker of xdist, and their answers cost nothing.
        is_asking = self.has_started and self.context.waits
        earlier = self.dispatcher.find_earlier() if is_asking else {}
        usd = self.context.usd
        return tuple(records.build_earlier_conversation(name, earlier[name], usd) for name in sorted(earlier))

    @cached_property
    def evidence(self) -> gate.Evidence:
        """The Records, sizes, versions and baseline that the gate's rules look at, when all tests ended."""
        context, sorted_records = self.context, records.sort_records(self.records.values())
        return gate.Evidence(
            sorted_records,
            context.settings.profile,
            context.selection.size_of,
            context.suite_versions,
            context.baseline,
            str(context.manner.member) if context.manner.member else None,
            self.earlier,
        )

    def outcomes(self, *, interrupted: bool) -> tuple[RuleOutcome, ...]:
        """Check the gate's rules and return their outcomes."""
        unfinished_reason = "the run was interrupted" if interrupted else None
        return gate.check_rules(self.context.settings.gate, self.evidence, unfinished=unfinished_reason)

    def section(self, outcomes: Sequence[RuleOutcome]) -> dict[str, object]:
        """Return the ``fcbench`` section of the JSON report."""
        return write_section(self.facts, self.evidence, outcomes)


def _name_search(context: RunContext, all_records: Iterable[Record]) -> str | None:
    """Return the source that answered the web searches of these Records; None where nothing was searched."""
    own_webs = {
        context.suites[record.suite].web is not None
        for record in all_records
        if record.category in SELECTIONS["web_search"]
    }
    if not own_webs:
        return None
    if context.web_recording:
        return f"recorded:{context.web_recording.name}"
    kind = context.settings.search
    return "core" if own_webs == {True} else "nobody" if own_webs == {False} and kind == "core" else kind


# A conversation repeated with stored answers


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to the model under test and its stored answer; ``answer`` is None where none is stored."""

    request: AskModel
    answer: Completion | None = None


def list_exchanges(settings: Settings, entry: Entry) -> Sequence[Exchange]:
    """List what is exchanged about an entry, as far as its answers are stored; nothing is asked anew.

    The last one has no answer where the conversation goes on and no answer is stored, so that there always is
    the first request. Raises ``FcbenchError``.
    """
    context = RunContext(replace(settings, offline=True))
    exchanges: list[Exchange] = []

    async def hold_conversations() -> None:
        memories: Memories = {}
        for each in (*(() if context.chosen.recorded else entry.earlier), entry):
            await drive_conversation_async(context.converse(each, memories), partial(answer_request, each))

    async def answer_request(asked: Entry, request: AskModel) -> Completion:
        is_listed = asked is entry and request.party is Party.MODEL
        if is_listed:
            exchanges.append(Exchange(request))
        answer = await models.routed_model.complete(asked, request)
        if is_listed:
            exchanges[-1] = Exchange(request, answer)
        return answer

    context.check()
    with closing(RunModels(context)) as models, suppress(NotScoredError):
        asyncio.run(hold_conversations())
    return exchanges
