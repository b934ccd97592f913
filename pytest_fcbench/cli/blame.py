"""``fcbench blame``: ask the entries that failed again in other ways, and say who lost each point."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.cli.options import (
    build_project_settings,
    collect_run_options,
    find_openers,
    require_at_least,
)
from pytest_fcbench.cli.output import find_width, print_json, print_lines
from pytest_fcbench.cli.sessions import find_suites, load_entries_of
from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES, find_syntax_of_model
from pytest_fcbench.codecs.decoders.registry import find_native_syntax, find_writer
from pytest_fcbench.config.loading import Settings, add_environment
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.native_calls import READ_FROM_TEXT
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
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.explaining import restore_transcript
from pytest_fcbench.run.session import STREAMED
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_scorecard
from pytest_fcbench.tools.diagnosis.blame import (
    NO_REPLY,
    LossEvidence,
    TriedAnswer,
    attribute_loss,
    read_trial,
)
from pytest_fcbench.tools.diagnosis.blame_text import BlamedLoss, build_document, render_losses

TRIALS = 2
"""How often each way is asked, beside the answer of the run."""
_FORCED_REQUESTS = 4
"""Requests that put the right calls of a step through a server, about."""


def run_blame(arguments: argparse.Namespace) -> int:
    require_at_least(1, arguments, "limit")
    card = load_scorecard(arguments.scorecard)
    settings, syntax = _load_settings(arguments, card)
    losses = list_losses(card.records, card.facts.profile)
    if not losses:
        raise UsageError(
            f"{card.path}: no entry failed in the {card.facts.profile} profile; give one with failures"
        )
    if not card.nodeids:
        raise UsageError(f"{card.path}: a baseline has no answers; give the scorecard from which it was made")
    find_suites(card, losses, find_openers(arguments))
    asked = draw_losses(losses, arguments.limit, arguments.seed or 0)
    if not arguments.json:
        print_lines(_announce_requests(card, len(losses), asked, settings), flush=True)
    blamed = blame_losses(settings, asked, card.facts.profile, syntax)
    if arguments.json:
        print_json(build_document(card.facts.model, card.facts.profile, len(losses), blamed))
    else:
        print_lines(render_losses(blamed, len(losses), settings.failures, find_width()))
    return 0


def list_losses(records: Sequence[Record], profile: Profile) -> list[Record]:
    """List the Records of lost points: entries that failed, or that the endpoint did not answer."""
    verdicts = [(each, each.verdict(profile)) for each in records if each.group != Group.SERVER]
    return [
        each
        for each, verdict in verdicts
        if isinstance(verdict, Failed) or (isinstance(verdict, NotScored) and verdict.cause in NO_REPLY)
    ]


def _load_settings(arguments: argparse.Namespace, card: Scorecard) -> tuple[Settings, str | None]:
    """Load the settings under which the model of a scorecard is asked again, and its native syntax if named.

    Raises ``UsageError``.
    """
    options = dict(add_environment(collect_run_options(arguments)))
    options["model"] = options.get("model") or card.facts.model
    options["suite"] = sorted(card.facts.suites)
    if options.get("stream") is None and STREAMED in card.facts.notes:
        options["stream"] = "on"
    settings = build_project_settings(options, arguments.config)
    if RunContext(settings).model.immediate:
        raise UsageError(
            f"{settings.label} answers without a server that could lose its points; "
            "use 'fcbench run diagnose' to see what is wrong with its answers"
        )
    # A syntax that is named beside a run whose calls a server read tells how its model writes them.
    writer = find_writer(settings.syntax or "")
    own = next((note.rpartition(" ")[2] for note in card.facts.notes if READ_FROM_TEXT in note), None)
    return replace(settings, syntax=own), writer.name if writer else None


def draw_losses(losses: Sequence[Record], limit: int | None, seed: int) -> Sequence[Record]:
    """Draw at most so many lost points at random, the same for the same seed."""
    if limit is None or limit >= len(losses):
        return losses
    places = random.Random(seed).sample(range(len(losses)), limit)  # noqa: S311 - to be repeated
    return [losses[place] for place in sorted(places)]


def _announce_requests(
    card: Scorecard, lost: int, asked: Sequence[Record], settings: Settings
) -> Iterator[str]:
    """Say how many requests will be sent, before any is."""
    drawn = "" if len(asked) == lost else f"; {len(asked):,} of them are asked again"
    yield f"{card.path}: {card.facts.model} ({card.facts.mode}) lost {lost:,} points{drawn}"
    if settings.offline:
        yield "offline: stored answers are judged, and nothing is asked"
        return
    steps = sum(max(1, len(record.steps)) for record in asked)
    is_prompted = card.facts.mode == Mode.PROMPT
    count = steps * 2 * TRIALS if is_prompted else steps * 3 * TRIALS + 2 * len(PROMPT_CHECKS)
    kept = "what is stored already is not asked again" if settings.store else "--store=none keeps no answer"
    yield f"about {count:,} answers of {settings.label} are asked for; {kept}"
    if not is_prompted:
        yield (
            f"the right calls are put through the server, {steps * _FORCED_REQUESTS:,} requests or more, "
            "most of them short"
        )


def blame_losses(
    settings: Settings, records: Sequence[Record], profile: Profile, syntax: str | None = None
) -> list[BlamedLoss]:
    """Ask entries again in every way, and say who lost each point.

    ``syntax`` is the native one of the model where it is known. Raises ``UsageError``.
    """
    first = records[0]
    manner = Prompting(Mode(first.mode), Names(first.names), first.syntax)
    streams, is_prompted = settings.parameters.get("stream") is True, manner.mode is Mode.PROMPT
    categories = tuple(CATEGORIES[name] for name in dict.fromkeys(record.category for record in records))
    own = replace(
        settings, categories=categories, mode=manner.mode, names=manner.names, smoke=False, trials=1
    )
    own = replace(own, syntax=settings.syntax or first.syntax, entries=(), shard=None)
    entries = find_entries(RunContext(own), records)
    again = _ask_trials(own, entries, profile, start=2)
    # Only the first way finds out whether the endpoint is there.
    later = replace(own, no_preflight=True, wait_s=None)
    turned = _ask_trials(ask_streamed(later, streams=not streams), entries, profile)
    # Calls that are read from raw text meet no parser of the server.
    has_parser = not (is_prompted or find_native_syntax(own.syntax))
    known = next(
        (writer.name for each in (own.syntax, syntax) if each and (writer := find_writer(each))), None
    )
    truths = put_truths_through(replace(later, syntax=known), entries.values()) if has_parser else {}
    syntax = known or guess_native_syntax(settings.model, truths.values())
    # An entry may need more calls than such a syntax has a form for.
    syntax = syntax if syntax and NATIVE_SYNTAXES[syntax].most is None else None
    prompted = {} if is_prompted else _ask_trials(ask_by_prompting(later, syntax), entries, profile)
    checks = {} if is_prompted else check_prompt(later)
    blamed = []
    for record in records:
        entry, truth = entries[record.entry], truths.get(record.entry)
        completions = restore_transcript(entry, record).completions if record.turns else ()
        evidence = LossEvidence(
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
        blamed.append(BlamedLoss(record.item_id, record.category, attribute_loss(evidence)))
    return blamed


def guess_native_syntax(model: str, truths: Iterable[KeptTruth]) -> str | None:
    """Guess the native syntax of a model: that of its server's template, that of its name, or None.

    A parser may be another model's, so what it reads comes last.
    """
    written = {each.is_guessed: each.syntax for each in truths if each.syntax}
    named = find_syntax_of_model(model)
    return written.get(False) or (named.name if named else written.get(True))


def find_entries(context: RunContext, records: Sequence[Record]) -> Mapping[str, Entry]:
    """Return the entries of Records by key. Raises ``UsageError`` where a suite has one no more."""
    known = load_entries_of(context, records)
    for record in records:
        if record.entry not in known:
            version = context.suites[record.suite].version
            raise UsageError(
                f"{record.suite} {version} has no entry {record.entry}; use the suite version of the run"
            )
    return {record.entry: known[record.entry] for record in records}


def _ask_trials(
    settings: Settings, entries: Mapping[str, Entry], profile: Profile, start: int = 1
) -> Mapping[str, tuple[TriedAnswer, ...]]:
    """Ask entries as often as each way is asked, and read what became of them, by key."""
    trials: dict[str, tuple[TriedAnswer, ...]] = dict.fromkeys(entries, ())
    for number in range(start, start + TRIALS):
        # A seed would give the same sample again.
        way = replace(settings, seed=settings.seed + number - 1) if settings.seed is not None else settings
        numbered = [replace(entry, trial=number) for entry in entries.values()]
        held = hold_conversations(way, numbered)
        for entry in numbered:
            each = held[entry.item_id]
            verdict = each.judgement.select_profile(profile)
            completions = each.transcript.completions if each.transcript else ()
            manner = each.transcript.prompting if each.transcript else Prompting.make_default(Mode.FC)
            trials[entry.key] += (read_trial(entry, completions, manner, verdict),)
        settings = replace(settings, no_preflight=True, wait_s=None)
    return trials
