"""A report written to a file: scorecards read test by test, and what their suites know of their entries."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.domain.entry import Entry, Shard
from pytest_fcbench.domain.errors import PackError, SuiteError
from pytest_fcbench.domain.explanation import Explanation
from pytest_fcbench.domain.pressure import split_level
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, drive_conversation
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.forced.entries import FORCED, force_truth
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse, find_kind
from pytest_fcbench.present.html.island import Done, Found, SuiteInfo
from pytest_fcbench.present.html.page import generate_report
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.explaining import explain_record
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard import scorecard_files
from pytest_fcbench.scorecard.record import Record, read_answer
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites.pressure import restore_pressure

ContextOpener: TypeAlias = Callable[[str], RunContext]


@dataclass(frozen=True, slots=True)
class Written:
    """A report that was written."""

    entries: int
    size: int
    """Size of the file in bytes."""
    notes: Sequence[str]
    """Notes on what the report lacks, with reasons."""


def write_report(
    to: Path, paths: Sequence[Path], open_context: ContextOpener, against: Path | None, profile: str | None
) -> Written:
    """Write the report about scorecards; a single one is compared with ``against``.

    ``open_context`` opens a suite, and raises ``SuiteError`` if there is none of that name.

    Raises ``UsageError`` for a scorecard that cannot be read.
    """
    size = 0

    def count_bytes(pieces: Iterator[str]) -> Iterator[str]:
        nonlocal size
        for piece in pieces:
            size += len(piece.encode())
            yield piece

    with ExitStack() as stack:
        cards = [scorecard_files.open_scorecard(path, stack) for path in paths]
        page_profile = Profile(profile or cards[0].facts.profile)
        knowledge = _SuiteKnowledge(cards, open_context, page_profile)
        before = None if against is None else scorecard_files.load_outlines(against)
        write_file(to, count_bytes(generate_report(cards, knowledge, page_profile, before)))
    return Written(len({record.entry for card in cards for record in card.records}), size, knowledge.notes)


class _SuiteKnowledge:
    """The entries of scorecards in their suites, and the results of their calls.

    The entries of one category of one suite are held at a time, which is the order of the Records.
    """

    def __init__(self, cards: Sequence[Scorecard], open_context: ContextOpener, profile: Profile) -> None:
        # Both profiles, that of the page first.
        self._profiles = sorted(Profile, key=lambda each: each is not profile)
        self.notes: list[str] = []
        self._contexts: dict[str, RunContext] = {}
        self._part: tuple[str, str] | None = None
        """The suite and the category of ``_entries``."""
        self._entries: Mapping[str, Entry] = {}
        for name in dict.fromkeys(record.suite for card in cards for record in card.records):
            try:
                context = open_context(name)
                suite = context.suites[name]
            except (SuiteError, PackError) as error:
                self._add_missing(name, error)
                continue
            self._contexts[name] = context
            for card in cards:
                run = card.facts.suites.get(name)
                if run and run["pack_hash"] != suite.pack_sha256:
                    self.notes.append(
                        f"{card.path.name}: its run had {name} {run['version']} with content sha256 "
                        f"{str(run['pack_hash'])[:12]}; what its entries ask and expect is shown from "
                        f"{suite.version}, {str(suite.pack_sha256)[:12]}, and may differ"
                    )

    def _add_missing(self, suite: str, reason: object) -> None:
        self.notes.append(f"the questions of {suite} are not shown: {reason}")

    def describe_entry(self, key: str, records: Found) -> SuiteInfo:
        """Return what is known about an entry and its whole Records."""
        record = records[0][1]
        if self._part != (record.suite, record.category):
            self._part = record.suite, record.category
            self._entries = self._load_part(*self._part)
        entry = self._entries.get(split_level(key)[0])
        if entry is None:
            return SuiteInfo()
        entry = restore_pressure(entry, key)
        executions: dict[tuple[int, str], Done] = {}
        explanations: dict[tuple[int, str], tuple[Profile, Explanation]] = {}
        for place, record in records:
            if execution := _repeat_calls(entry, record, self._contexts[record.suite]):
                executions[place, record.item_id] = execution
            for profile in self._profiles:
                if explanation := explain_record(entry, record, profile):
                    explanations[place, record.item_id] = profile, explanation
                    break
        truths = {key: find_kind(entry).describe_truth(entry)}
        return SuiteInfo({key: entry}, executions, explanations=explanations, truths=truths)

    def _load_part(self, name: str, category: str) -> Mapping[str, Entry]:
        """Load the entries of a category by key; none where that is not possible."""
        self._entries = {}
        if name not in self._contexts:
            return {}
        suite = self._contexts[name].suites[name]
        # Entries whose truth was put through the server are those of every other category.
        is_forced = category == FORCED.name
        matching_categories = (
            each
            for each in suite.categories
            if (is_forced and not each.varies_others) or each.name == category
        )
        try:
            # A shard is not kept by its suite, as all that is loaded otherwise.
            parts = (
                suite.load_shard(each, _WHOLE) if suite.load_shard else suite.load(each)
                for each in matching_categories
            )
            entries = {entry.key: entry for part in parts for entry in part}
        except (SuiteError, PackError) as error:
            self._add_missing(name, error)
            del self._contexts[name]
            return {}
        forced = (force_truth(entry, "auto") for entry in entries.values()) if is_forced else ()
        return {entry.key: entry for entry in forced if entry} or entries


_WHOLE = Shard(1, 1)


class _AnotherWay(Exception):  # noqa: N818 - it ends a conversation, and is no error
    """A replayed conversation asks something that its Record does not answer."""


def _repeat_calls(entry: Entry, record: Record, context: RunContext) -> Done | None:
    """Execute the calls of a recorded conversation again and return them with their results.

    None if it has no calls to execute, if the conversation takes another course today, or if it depends on an
    earlier conversation, which a scorecard does not hold.
    """
    if entry.scene is None or entry.after or not record.turns or record.syntax not in SYNTAXES:
        return None
    manner = ModelPresentation(record.model, Prompting(Mode(record.mode), Names(record.names), record.syntax))
    talk = converse(entry, ConversationContext(manner, context.suites[entry.suite], context.driven))
    asides = {aside.digest: aside.completion for aside in record.asides}
    completions = deque(read_answer(step) for turn in record.turns for step in turn)

    def answer(request: AskModel) -> Completion:
        if request.party is Party.MODEL and completions:
            return completions.popleft()
        if request.party is Party.MODEL or request.digest not in asides:
            raise _AnotherWay
        return asides[request.digest]

    try:
        transcript = drive_conversation(talk, answer)
    except _AnotherWay:
        return None
    # With other steps than recorded, results would stand beside the wrong calls.
    if list(map(len, transcript.turns)) != list(map(len, record.turns)):
        return None
    return [[list(zip(step.calls, step.results, strict=True)) for step in turn] for turn in transcript.turns]
