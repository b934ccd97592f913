"""A run of two models: the second is asked the same entries at the same time, in the same process.

The model under test is asked for the tests, as ever. When the Record of a test arrives, the second model's
answer to its entry is judged too, and kept beside it. Their conversations advance together: which of the two
is asked first about the n-th entry is drawn by a hash, and neither begins the next one before the other has
begun this one. So load and drift of a server hit both alike.

After each tenth of the entries the difference so far is looked at; once it is decided nothing more is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.dispatch.worker_link import Link
from pytest_fcbench.domain.entry import Entry, name_cluster
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError, UsageError
from pytest_fcbench.domain.redaction import mask_secrets
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import OWN_ASSERTION, Judgement, NotScored, Passed
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers.openai_compatible import find_endpoint, name_server
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.history import name_second_file
from pytest_fcbench.run.plan import describe_plan
from pytest_fcbench.run.selection import draw_keys
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE
from pytest_fcbench.scorecard.aggregate.scores import ALL, aggregate_scores, name_main_score
from pytest_fcbench.scorecard.compare.looks import LOOKS, LookFinding
from pytest_fcbench.scorecard.compare.paired import Paired, pair_runs
from pytest_fcbench.scorecard.compare.two_models import (
    compare_sides,
    describe_differing_answers,
    find_smallest_loss,
    look_at_sides,
    measure_noise,
)
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.gate.rules import NotWorse
from pytest_fcbench.scorecard.record import Record, sort_records
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.scorecard.two_models import LookDecision, NoiseFloor, SideBySide

DECIDED = "decided"
"""Cause of entries that are not asked because the run has its answer already."""


def may_stop_early(settings: Settings) -> bool:
    """Tell whether a run ends when its two models are told apart: where no rule needs all entries."""
    needs_all = settings.against_whole or settings.shard
    only_compares = all(isinstance(rule, NotWorse) and not rule.named for rule in settings.gate)
    return bool(settings.against and not needs_all and only_compares)


def order_by_lot(entries: Iterable[Entry]) -> Mapping[str, bytes]:
    """Return a key for sorting by item id, so that every beginning of the order is a fair sample.

    Entries of a cluster stay together, and so do those that continue one conversation, with all trials.
    """
    groups: dict[str, str] = {}

    def find_group(name: str) -> str:
        while (above := groups.setdefault(name, name)) != name:
            name = above
        return name

    names: dict[str, str] = {}
    for entry in entries:
        names[entry.item_id] = name = f"{entry.suite}:{name_cluster(entry.suite, entry.id, entry.cluster)}"
        for before in entry.earlier[:1]:
            # The first name stands for a group, whatever the order of the entries.
            first, last = sorted((find_group(name), find_group(before.key)))
            groups[last] = first
    return {item_id: sha256(find_group(name).encode()).digest() for item_id, name in names.items()}


@dataclass(frozen=True)
class _SecondContext(RunContext):
    """The fixed parts of a run about the entries of another one."""

    first: RunContext
    suites = cached_property(lambda self: self.first.suites)
    selection = cached_property(lambda self: self.first.selection)
    sentence_model = cached_property(lambda self: self.first.sentence_model)
    trained = cached_property(lambda self: self.first.trained)


def keep_step(one: Dispatcher, other: Dispatcher) -> None:
    """Let two dispatchers begin their n-th conversation before either begins the next, one first by lot."""

    def is_first(place: int) -> bool:
        return bool(sha256(str(place).encode()).digest()[0] & 1)

    one.keep_step(lambda: one.begun < other.begun + is_first(one.begun), [other])
    other.keep_step(lambda: other.begun < one.begun + (not is_first(other.begun)), [one])


class _Companion:
    """The entries of a run put to a second model, or again to the first."""

    def __init__(self, first: Session, settings: Settings, trials_before: int = 0) -> None:
        self.context = _SecondContext(settings, first.context)
        self.session = Session(self.context, beside=first)
        self.label = settings.label
        self._first = first.context
        self._trials_before = trials_before
        self._expected: Mapping[str, Entry] = {}

    @cached_property
    def is_same(self) -> bool:
        """True where it is the first model in the same manner, whose answers are stored as further trials."""
        first, second = self._first, self.context
        manners = [replace(each.manner, model="") for each in (first, second)]
        identities = [registry.describe_identity(each.settings) for each in (first, second)]
        streams = [each.settings.compares_streams for each in (first, second)]
        return all(one == other for one, other in (manners, identities, streams))

    def number_trial(self, entry: Entry) -> Entry:
        """Return the entry with the trial under which its answer is stored."""
        # What answers at once is asked for no trial that it may not know, such as that of a replay.
        if self._first.model.immediate or not self.is_same:
            return entry
        trials = self._first.settings.trials + self._trials_before
        return replace(entry, trial=(entry.trial or 1) + trials)

    @contextmanager
    def name_in_errors(self) -> Iterator[None]:
        """Say in errors that they are about this model."""
        try:
            yield
        except UsageError as error:
            raise UsageError(f"--fcbench-against={self.label}: {error}") from None

    def start(self, entries: Sequence[Entry]) -> None:
        """Start the conversations about these entries. Raises ``UsageError`` if the first call fails."""
        self._expected = {entry.item_id: self.number_trial(entry) for entry in entries}
        with self.name_in_errors():
            self.session.start(list(self._expected.values()))

    def keep_record(self, entry: Entry, marks: tuple[str, ...], *, is_own: bool) -> None:
        """Judge the answer to an entry, once it is there, and keep its Record under the entry's own trial."""
        session = self.session
        if entry.item_id in session.records:
            return
        transcript: Transcript | None = None
        numbered_entry = self._expected.get(entry.item_id) or self.number_trial(entry)
        try:
            transcript = session.transcript(numbered_entry)
            if is_own:
                reason = "the test has assertions of its own, which judge the model under test alone"
                raise NotScoredError(OWN_ASSERTION, reason)
            record = session.record(entry, session.judge(entry, transcript), transcript, marks)
        except RunStoppedError:
            return
        except NotScoredError as error:
            record = session.not_scored(entry, NotScored(error.cause, error.reason), transcript, marks)
        except Exception as error:  # noqa: BLE001 - as for the model under test, other entries go on
            reason = mask_secrets(f"{type(error).__name__}: {error}", self.context.secrets)
            record = session.not_scored(entry, NotScored("internal_error", reason), transcript, marks)
        session.records.add_record(record)
        session.drop_conversation(numbered_entry.item_id)


class ComparingSession(Session):
    """A run of two models, or one that asks some entries a second time."""

    def __init__(self, context: RunContext, link: Link | None = None, *, is_biased: bool = False) -> None:
        super().__init__(context, link)
        settings = context.settings
        self._bias = "--lf asks only what failed before" if is_biased and settings.against else None
        """The reason why the entries are no fair sample, so that nothing is decided; else None."""
        self.second: _Companion | None = None
        self.decided: LookFinding | None = None
        """The finding after which nothing more is asked."""
        self._again: _Companion | None = None
        self._again_keys: frozenset[str] = frozenset()
        self._total = self._looks = 0
        self._metric = ALL
        """The score that stands for the run if all its entries are asked, about which each look is."""
        self._may_stop = may_stop_early(settings) and not self._bias
        if link is not None:
            # The process that controls workers asks for all of them.
            return
        if settings.against:
            self.second = _Companion(self, settings.against)
        if settings.noise:
            same = replace(settings, no_preflight=True, wait_s=None, label=f"{settings.label} again")
            self._again = _Companion(self, same, settings.trials * (settings.against is not None))

    @property
    def _companions(self) -> list[_Companion]:
        return [each for each in (self.second, self._again) if each]

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets of both models, longest first."""
        known = {secret for each in self._companions for secret in each.context.secrets}
        return sorted(known.union(super().secrets), key=len, reverse=True)

    # Conversations

    def prepare(self, share: float = 1.0) -> None:
        """Detect early what would stop the run, for either model."""
        super().prepare(share)
        for each in self._companions:
            with each.name_in_errors():
                each.session.prepare(share)

    def require_key(self) -> None:
        """Raise ``UsageError`` where the first call to either model would fail for want of a key."""
        super().require_key()
        if self.second:
            with self.second.name_in_errors():
                self.second.session.require_key()

    def start(self, entries: Sequence[Entry]) -> None:
        """Start the conversations about these entries; the second model first, which may refuse them.

        Raises ``UsageError`` if a first call fails.
        """
        self._total = len(entries)
        one_of_each = {entry.category: entry for entry in entries}.values()
        self._metric = name_main_score(self._pass_untried(one_of_each))
        if self.second:
            if self.context.waits and self.second.context.waits:
                keep_step(self.dispatcher, self.second.session.dispatcher)
            self.second.start(entries)
        super().start(entries)
        if self._again:
            self._again_keys = frozenset(self._draw_again(entries))
            self._again.start([entry for entry in entries if entry.key in self._again_keys])

    def list_early_notes(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Yield lines about what may not be as meant, before anything is asked."""
        yield from super().list_early_notes(entries)
        if self._bias:
            yield f"note: {self._bias}, so nothing is decided about the two models; compare them without --lf"
        first, second = self.context.settings, self.second and self.second.context.settings
        # A misspelt name of a profile is a name of a model, which some servers do not look at.
        if second and first.model != second.model and find_endpoint(first) and find_endpoint(second):
            address = name_server(second).address
            if address == name_server(first).address:
                way_out = f"--fcbench-against={second.label},api_base=URL names another address"
                yield f"note: {second.label} is asked at {address}, as {first.label} is; {way_out}"

    def _pass_untried(self, entries: Iterable[Entry]) -> list[Record]:
        """Return Records of entries that were not asked, as if all had passed."""
        return [self.record(entry, Judgement.same_in_both(Passed()), None) for entry in entries]

    def _draw_again(self, entries: Sequence[Entry]) -> Set[str]:
        """Draw the keys of the entries that are asked again; the first ones, where the order is by lot."""
        settings, count = self.context.settings, self.context.settings.noise
        limit, sample = (count, None) if self._may_stop else (None, count)
        return draw_keys(entries, replace(settings, limit=limit, sample=sample))

    def request(self, entry: Entry) -> Future[Transcript]:
        """Return the future of a conversation for a worker, also where the model answers at once."""
        self._refuse_when_decided()
        if self.context.waits:
            return super().request(entry)
        outcome: Future[Transcript] = Future()
        try:
            outcome.set_result(super().transcript(entry))
        except NotScoredError as error:
            outcome.set_exception(error)
        return outcome

    def transcript(self, entry: Entry, within_s: float | None = None) -> Transcript:
        """Return the finished conversation about an entry. Raises ``NotScoredError`` once it is decided."""
        self._refuse_when_decided()
        if self._link:
            # Also where the model answers at once, because only that process knows what is decided.
            return self._link.transcript(entry, within_s)
        return super().transcript(entry, within_s)

    def _refuse_when_decided(self) -> None:
        if self.decided:
            raise NotScoredError(DECIDED, self._describe_end("not asked"))

    def _describe_end(self, what: str) -> str:
        assert self.decided
        return f"{what}: {self.decided.decision} after {self.decided.share:.0%} of the entries"

    def halt(self) -> None:
        """Make no new call and cancel those in flight, at once; for handlers of signals."""
        super().halt()
        for each in self._companions:
            each.session.halt()

    def stop(self) -> None:
        """Make no new call and cancel those in flight; stored answers stay."""
        for each in self._companions:
            each.session.stop()
        super().stop()

    def close(self) -> None:
        """Close everything that was opened."""
        for each in self._companions:
            each.session.close()
        super().close()

    # Records

    def add_record(self, record: Record, text: str | None = None, *, is_own: bool = False) -> str | None:
        """Add the Record of a test, and that of the second model, which is waited for; look at both.

        Return the reason where it comes after the decision.
        """
        if self.decided:
            # Its conversation was in flight, and the second model's may not have begun.
            return self._describe_end("not counted")
        super().add_record(record, text)
        if (entry := self.context.selection.find(record.item_id)) is None:
            return None
        if self.second:
            self.second.keep_record(entry, record.marks, is_own=is_own)
        if self._again and entry.key in self._again_keys:
            self._again.keep_record(entry, record.marks, is_own=is_own)
        if self._may_stop and self.second:
            count = len(self.second.session.records)
            if LOOKS * count // max(1, self._total) > self._looks and count < self._total:
                self._looks = LOOKS * count // self._total
                self.look_at_difference()
        return None

    def look_at_difference(self) -> None:
        """Look at the difference so far; stop asking where it is decided."""
        if self._name_score_so_far() != self._metric:
            # A part of the score is not there yet, and each look is about the same one.
            return
        _, finding = self._compare_so_far()
        if finding.decision.stops:
            self.decided = finding
            for session in (self, *(each.session for each in self._companions)):
                session.dispatcher.start_no_more()

    def _name_score_so_far(self) -> str:
        """Name the score that stands for what the second model was asked so far, as the gate chooses it."""
        assert self.second
        records, profile = self.second.session.records.values(), self.context.settings.profile
        return aggregate_scores(records, profile, self.context.selection.size_of).main

    def _compare_so_far(self) -> tuple[Paired, LookFinding]:
        assert self.second
        settings, records = self.context.settings, self.second.session.records
        confidences = [rule.confidence for rule in settings.gate if isinstance(rule, NotWorse)]
        paired, finding = look_at_sides(
            list(records.values()),
            list(self.records.values()),
            settings.profile,
            self.context.selection.size_of,
            metric=self._name_score_so_far(),
            asked=len(records),
            total=self._total,
            confidence=max(confidences, default=CONFIDENCE),
            looks=self._may_stop,
        )
        if self._bias:
            sentence = f"open: {self._bias}; {finding.sentence.partition('; ')[2]}"
            finding = replace(finding, decision=LookDecision.OPEN, sentence=sentence)
        return paired, finding

    # Results, when all tests have ended

    @cached_property
    def side_by_side(self) -> SideBySide | None:
        """The two models compared."""
        if self.second is None or not (records := self.second.session.records):
            return None
        return compare_sides(
            self.second.label,
            self.second_path.name,
            list(records.values()),
            list(self.records.values()),
            self._compare_so_far(),
            asked=len(records),
            total=self._total,
            looked=self._may_stop,
            calls_saved=self.calls_saved,
        )

    @property
    def calls_saved(self) -> int:
        """The number of calls that an early end saved, as far as the calls per test until then tell."""
        if not (self.decided and self.second):
            return 0
        count = len(self.second.session.records)
        called = [each for each in (self, self.second.session) if each.context.waits]
        steps = sum(len(record.steps) for each in called for record in each.records.values())
        return round(steps / count * (self._total - count))

    @property
    def second_path(self) -> Path:
        """The file of the second model's scorecard, beside that of the run."""
        return name_second_file(Path(self.context.settings.scorecard or "scorecard.json"))

    @cached_property
    def noise(self) -> NoiseFloor | None:
        """The differences by chance between answers to the same request; None where none was asked twice."""
        settings, profile = self.context.settings, self.context.settings.profile
        alike = [self.second.session.records] if self.second and self.second.is_same else []
        again = [self._again.session.records] if self._again else []
        # Either all entries were asked more than once, or those that were drawn.
        asked_twice = [self.records] if alike or settings.trials > 1 else again
        keys = {record.entry for pool in asked_twice for record in pool.values()}
        pools = (self.records, *alike, *again)
        records = (pool.read_record(name) for pool in pools for name in pool if pool[name].entry in keys)
        flips = measure_noise(records, profile)
        if not flips:
            return None
        second = self.second.session.records.values() if self.second else self.records.values()
        paired, size_of = pair_runs(second, self.records.values(), profile), self.context.selection.size_of
        every = flips[ALL]
        loss = find_smallest_loss(paired, self._metric, every.share, size_of) if every.entries else None
        return NoiseFloor(flips, loss, describe_differing_answers(every, settings.temperature))

    @property
    def facts(self) -> RunFacts:
        """The facts that are printed with every score, with the comparison."""
        return replace(super().facts, against=self.side_by_side, noise=self.noise)

    @property
    def second_card(self) -> Scorecard | None:
        """The scorecard of the second model; None where nothing was asked."""
        if self.second is None or not self.second.session.records:
            return None
        session = self.second.session
        session.commit, session.narrowed_by = self.commit, self.narrowed_by
        records = tuple(sort_records(session.records.values()))
        sizes = {record.category: self.context.selection.size_of(record.category) for record in records}
        return Scorecard(self.second_path, session.facts, records, sizes)

    @cached_property
    def evidence(self) -> gate.Evidence:
        """The evidence for the gate's rules, to which the second model is the baseline."""
        evidence = super().evidence
        if not (card := self.second_card) or not (compared := self.side_by_side):
            return evidence
        # In another form than the second model is what may be asked about.
        asked_as, share = card.facts.asked_as, compared.share
        return replace(evidence, baseline=card, asked_as=asked_as, share=share, bias=self._bias)

    def plan(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Yield lines that estimate calls, tokens and dollars of each model, and the loss that would show."""
        yield f"{self.context.settings.label}:"
        yield from describe_plan(self.context, self.open_models(), entries)
        for each in self._companions:
            keys = self._draw_again(entries)
            numbered_entries = [
                each.number_trial(entry) for entry in entries if entry.key in keys or each is self.second
            ]
            yield from ("", f"{each.label}:")
            yield from describe_plan(each.context, each.session.open_models(), numbered_entries)
        if self.second:
            card = Scorecard(self.second_path, super().facts, tuple(self._pass_untried(entries)), {})
            usual = NotWorse("not-worse(95%)", "overall", CONFIDENCE, named=False)
            rules = self.context.settings.gate or (usual,)
            evidence = replace(self.evidence, baseline=card)
            yield ""
            for line in gate.describe_powers(rules, evidence, {entry.key for entry in entries}):
                yield line.replace(" in common with the baseline", "")
        yield from self.list_early_notes(entries)
