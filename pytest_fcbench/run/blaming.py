"""Say who lost the points of a run: its failed entries are asked again in other ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES, find_syntax_of_model
from pytest_fcbench.codecs.decoders.registry import find_native_syntax, find_writer
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.dispatch.answer_store import OldReads
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile, Verdict
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.run.asking_again import (
    PROMPT_CHECKS,
    RESULTS,
    TOOLS,
    KeptTruth,
    ask_by_prompting,
    ask_streamed,
    check_prompt,
    hold_conversations,
    put_truths_through,
)
from pytest_fcbench.run.explaining import restore_transcript
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.tools.diagnosis.blame import (
    NO_REPLY,
    LossEvidence,
    TriedAnswer,
    attribute_losses,
    read_trial,
)
from pytest_fcbench.tools.diagnosis.blame_text import BlamedLoss, render_losses

TRIALS = 2
"""How often each way is asked, beside the answer of the run."""
_FORCED_REQUESTS = 4
"""Requests that put the right calls of a step through a server, about."""


def list_losses(records: Sequence[Record], profile: Profile) -> list[Record]:
    """List the Records of lost points: entries that failed, or that the endpoint did not answer.

    What an assertion of a test decided is left out: other answers would be judged by the rules.
    """

    def is_lost(verdict: Verdict) -> bool:
        is_unanswered = isinstance(verdict, NotScored) and verdict.cause in NO_REPLY
        return is_unanswered or isinstance(verdict, Failed)

    model_records = (each for each in records if each.group != Group.SERVER and not each.is_judged_by_test)
    return [each for each in model_records if is_lost(each.verdict(profile))]


def announce_requests(settings: Settings, asked: Sequence[Record]) -> Iterator[str]:
    """Say how many requests will be sent about Records, before any is."""
    if settings.offline:
        yield "offline: stored answers are judged, and nothing is asked"
        return
    # All trials of an entry are asked about once.
    steps = sum(max(1, len(record.steps)) for record in {each.entry: each for each in asked}.values())
    is_prompted = asked[0].mode == Mode.PROMPT
    count = steps * 2 * TRIALS if is_prompted else steps * 3 * TRIALS + 2 * len(PROMPT_CHECKS)
    kept = "what is stored already is not asked again" if settings.store else "--store=none keeps no answer"
    yield f"about {count:,} answers of {settings.label} are asked for; {kept}"
    if not is_prompted:
        requests = f"{steps * _FORCED_REQUESTS:,} requests or more, most of them short"
        yield f"the right calls are put through the server, {requests}"


def blame_losses(
    settings: Settings,
    records: Sequence[Record],
    entries: Mapping[str, Entry],
    profile: Profile,
    syntax: str | None = None,
    reads: OldReads | None = None,
) -> list[BlamedLoss]:
    """Ask entries again in every way, and say who lost each point.

    ``entries`` are those of the Records by key, and ``syntax`` is the native one of the model where it is
    known. ``reads`` receives the stored answers. Raises ``UsageError``.
    """
    first = records[0]
    manner = Prompting(Mode(first.mode), Names(first.names), first.syntax)
    streams, is_prompted = settings.parameters.get("stream") is True, manner.mode is Mode.PROMPT
    categories = tuple(CATEGORIES[name] for name in dict.fromkeys(record.category for record in records))
    own = replace(settings, categories=categories, mode=manner.mode, names=manner.names, smoke=False)
    own = replace(own, syntax=settings.syntax or first.syntax, entries=(), shard=None, trials=1)
    again = _ask_trials(own, entries, profile, reads, start=2)
    # Only the first way finds out whether the endpoint is there.
    later = replace(own, no_preflight=True, wait_s=None)
    turned = _ask_trials(ask_streamed(later, streams=not streams), entries, profile, reads)
    # Calls that are read from raw text meet no parser of the server.
    has_parser = not (is_prompted or find_native_syntax(own.syntax))
    writers = [writer.name for each in (own.syntax, syntax) if each and (writer := find_writer(each))]
    known = writers[0] if writers else None
    truths = put_truths_through(replace(later, syntax=known), entries.values(), reads) if has_parser else {}
    syntax = known or guess_native_syntax(settings.model, truths.values())
    # An entry may need more calls than such a syntax has a form for.
    syntax = syntax if syntax and NATIVE_SYNTAXES[syntax].most is None else None
    prompted = {} if is_prompted else _ask_trials(ask_by_prompting(later, syntax), entries, profile, reads)
    checks = {} if is_prompted else check_prompt(later, reads)
    evidence = []
    for record in records:
        entry, truth = entries[record.entry], truths.get(record.entry)
        completions = restore_transcript(entry, record).completions if record.turns else ()
        loss = LossEvidence(
            read_trial(entry, completions, manner, record.verdict(profile)),
            again[record.entry],
            turned[record.entry],
            prompted.get(record.entry, ()),
            streams=streams,
            is_prompted=is_prompted,
            needs_calls=any(calls for steps in find_kind(entry).list_right_calls(entry) for calls in steps),
            has_results=len(completions) > 1,
            whole_truth=truth.whole if truth else None,
            streamed_truth=truth.streamed if truth else None,
            tools_reach=checks.get(TOOLS),
            results_reach=checks.get(RESULTS),
            prompted_syntax=syntax or "",
        )
        evidence.append(loss)
    pairs = zip(records, attribute_losses(evidence), strict=True)
    return [BlamedLoss(record.item_id, record.category, each) for record, each in pairs]


def guess_native_syntax(model: str, truths: Iterable[KeptTruth]) -> str | None:
    """Guess the native syntax of a model: that of its server's template, that of its name, or None.

    A parser may be another model's, so what it reads comes last.
    """
    syntaxes = {each.is_guessed: each.syntax for each in truths if each.syntax}
    by_name = find_syntax_of_model(model)
    return syntaxes.get(False) or (by_name.name if by_name else syntaxes.get(True))


def _ask_trials(
    settings: Settings, entries: Mapping[str, Entry], profile: Profile, reads: OldReads | None, start: int = 1
) -> Mapping[str, tuple[TriedAnswer, ...]]:
    """Ask entries as often as each way is asked, and read what became of them, by key."""
    trials: dict[str, tuple[TriedAnswer, ...]] = dict.fromkeys(entries, ())
    for number in range(start, start + TRIALS):
        # A seed would give the same sample again.
        way = replace(settings, seed=settings.seed + number - 1) if settings.seed is not None else settings
        numbered = [replace(entry, trial=number) for entry in entries.values()]
        held = hold_conversations(way, numbered, reads)
        for entry in numbered:
            each = held[entry.item_id]
            verdict = each.judgement.select_profile(profile)
            completions = each.transcript.completions if each.transcript else ()
            manner = each.transcript.prompting if each.transcript else Prompting.make_default(Mode.FC)
            trials[entry.key] += (read_trial(entry, completions, manner, verdict),)
        settings = replace(settings, no_preflight=True, wait_s=None)
    return trials


def blame_run(session: Session, width: int) -> Iterator[str]:
    """Say who lost the points of a run that has ended, as lines; nothing where none is lost.

    Raises ``UsageError``.
    """
    settings, profile = session.context.settings, session.context.settings.profile
    lost = list_losses(session.evidence.records, profile)
    # Those of the evidence have no answers.
    losses = list_losses([session.records.read_record(record.item_id) for record in lost], profile)
    if not losses:
        return
    yield ""
    yield from announce_requests(settings, losses)
    find = session.context.selection.find
    entries = {record.entry: entry for record in losses if (entry := find(record.item_id))}
    native = find_native_syntax(settings.syntax)
    settings = replace(settings, syntax=native.name if native else None)
    reads = OldReads()
    blamed = blame_losses(settings, losses, entries, profile, reads=reads)
    yield from render_losses(blamed, len(losses), 1, width, "fcbench blame --failures=N")
    yield from reads.describe("--fcbench-refresh")
