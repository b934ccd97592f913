"""``fcbench run show``: list the entries of a run that did not pass, or show one of them.
Text views of the tables of SQL entries, and of an answer's effect beside the expected one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pytest_fcbench.cli.options import (
    PLACE_OPTIONS,
    REQUEST_OPTIONS,
    SCORECARD,
    declare_run_options,
    describe_unknown_suite,
    find_latest_scorecard,
    find_openers,
    find_runs_folder,
    find_scorecard,
    load_settings,
)
from pytest_fcbench.cli.output import find_width, print_json, print_long_lines
from pytest_fcbench.cli.replay import load_entries
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, UsageError, describe_unknown_name
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.protocol_notes import describe_note
from pytest_fcbench.domain.text import cut_counting, write_value
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Step,
    ToolCall,
    Transcript,
    completion_to_json,
    drive_conversation,
    separate_reasoning,
)
from pytest_fcbench.domain.verdict import (
    Failed,
    Judgement,
    JudgeRating,
    NotScored,
    Passed,
    Profile,
    Verdict,
)
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.judging.ratings import MOST
from pytest_fcbench.kinds.answers.web_entries import DOMAIN
from pytest_fcbench.kinds.kind import Memories
from pytest_fcbench.kinds.sql.kind import asks_statement
from pytest_fcbench.kinds.state.state_difference import find_differences
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.protocol import describe_request
from pytest_fcbench.present.explanations import render_comparison, render_rule
from pytest_fcbench.present.score_tables import describe_difference
from pytest_fcbench.present.terminal import write_unpassed_entries
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.explaining import explain_record, list_exchanges
from pytest_fcbench.run.history import find_run_with
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.record import EarlierConversation, Record, read_answer
from pytest_fcbench.scorecard.scorecard_files import load_scorecard

#


_MOST_ENTRIES = 20
_LONGEST = 240
"""The longest value that is shown without --full, in characters."""


class _Value(NamedTuple):
    """A value, shown under its name and cut if it is long."""

    name: str
    text: str
    room: int = 1
    """The multiple of the usual length that it may have."""


_Line: TypeAlias = str | _Value


def declare_show(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "entries",
        nargs="*",
        metavar="ENTRY",
        help="entry as suite:id, a node id, or the beginning of either; append -t2 for the second trial; "
        "without one, the entries that did not pass are listed",
    )
    add(
        "--scorecard",
        type=find_scorecard,
        metavar="FILE",
        help=f"show the conversation in this {SCORECARD}; default: the newest run that has the entry",
    )
    add("--expected", action="store_true", help="show what is expected, and no conversation")
    add(
        "--wire",
        action="store_true",
        help="print each request as it is sent to the model of the options, and its stored answer",
    )
    add("--full", action="store_true", help="show long values in full")
    declare_run_options(parser, ("model", *PLACE_OPTIONS, *REQUEST_OPTIONS))


def run_show(arguments: argparse.Namespace) -> int:
    options = [option for option in ("scorecard", "model", "expected") if getattr(arguments, option)]
    if arguments.wire:
        options = [option for option in options if option != "model"] + ["wire"]
    if len(options) > 1:
        raise UsageError(f"--{options[0]} and --{options[1]} exclude each other; give one of them")
    if not arguments.entries:
        if options and options != ["scorecard"]:
            raise UsageError(f"--{options[0]} needs an entry; name one as suite:id")
        path = arguments.scorecard or find_latest_scorecard()
        card = load_scorecard(path)
        print_long_lines([f"{path}: {card.facts.model} ({card.facts.mode}), {len(card.records):,} tests"])
        lines = list(write_unpassed_entries(card.records, card.facts.profile, find_width()))
        print_long_lines(lines or ["every entry passed"])
    for place, name in enumerate(
        name for text in arguments.entries for name in _resolve_name(arguments, text)
    ):
        if place:
            print("\n" + "-" * 20)
        if arguments.wire:
            _show_exchanges(arguments, name)
        else:
            _show_entry(arguments, name)
    return 0


def _resolve_name(arguments: argparse.Namespace, text: str) -> list[str]:
    """Return the ids that an argument means: itself, or all that begin with it."""
    # A node id ends with the id in brackets.
    name = text.rpartition("[")[2].rstrip("]")
    openers = find_openers(arguments)
    suite, colon, _ = name.partition(":")
    if not colon:
        names = [f"{each}:{name}" for each in load_settings(arguments).suites]
    elif suite in openers:
        names = [name]
    else:
        problem = describe_unknown_suite(suite, openers)
        raise UsageError(f"{text!r}: {problem} Name an entry as suite:id.")
    entries: dict[str, Entry] = {}
    for each in names:
        settings = load_settings(arguments, each.partition(":")[0], "oracle")
        entries |= load_entries(RunContext(settings).suites.values())
        if _find_entry(entries, each):
            return [each]
    keys = [key for key in entries if key.startswith(tuple(names))]
    if not keys:
        # Variations repeat the ids of other entries.
        known_ids = [key for key, entry in entries.items() if not entry.variation]
        raise UsageError(describe_unknown_name("entry", names[0], known_ids))
    if len(keys) > _MOST_ENTRIES:
        raise UsageError(
            f"{text!r}: {len(keys):,} entries begin so, and at most {_MOST_ENTRIES} are shown; add to the id"
        )
    return keys


def _find_entry(entries: Mapping[str, Entry], name: str) -> Entry | None:
    # An id may itself end like a trial, so it is looked up before the trial is cut off.
    if name in entries:
        return entries[name]
    key, _, trial = name.rpartition("-t")
    if key in entries and trial.isdecimal():
        return replace(entries[key], trial=int(trial))
    earlier = (before for entry in entries.values() for before in entry.earlier)
    return next((before for before in earlier if before.key == name), None)


def _show_exchanges(arguments: argparse.Namespace, name: str) -> None:
    """Print what is sent about an entry and what came back, as JSON lines under a heading for each step."""
    settings = load_settings(arguments, name.partition(":")[0])
    context = RunContext(settings)
    entry = _find_entry(load_entries(context.suites.values()), name)
    assert entry is not None
    for exchange in list_exchanges(settings, entry):
        request, answer = exchange.request, exchange.answer
        print(f"turn {request.turn + 1}, step {request.step + 1}: request")
        print_json(describe_request(context.model, entry, request))
        if answer is None:
            print(f"\n{settings.label} has no stored answer to this request; a run asks for it")
        else:
            print("\nanswer")
            print_json(answer.message or completion_to_json(answer))
            print()


def _show_entry(arguments: argparse.Namespace, name: str) -> None:
    scorecard: Path | None = arguments.scorecard
    suite = name.partition(":")[0]
    if not (scorecard or arguments.model or arguments.expected) and (folder := find_runs_folder()):
        scorecard = find_run_with(name, folder)
        if scorecard is None:
            # A conversation that others continue has no test of its own.
            entries = load_entries(RunContext(load_settings(arguments, suite, "oracle")).suites.values())
            later = (each for each in entries.values() if name in (before.key for before in each.earlier))
            scorecard = next((run for each in later if (run := find_run_with(each.key, folder))), None)
        if scorecard:
            print(f"run {scorecard.stem}")
    card = load_scorecard(scorecard) if scorecard else None
    if card and card.nodeids and not (any(record.turns for record in card.records) or card.facts.earlier):
        # Nothing was answered, so there is nothing to replay; a baseline never has answers.
        verdicts = (record.verdict(card.facts.profile) for record in card.records if record.item_id == name)
        print_long_lines(f"not scored: {verdict}" for verdict in verdicts)
        scorecard = card = None
    model = f"replay:{scorecard}" if scorecard else arguments.model
    # Offline, because only answers that are already there are shown.
    context = RunContext(replace(load_settings(arguments, suite, model or "oracle"), offline=True))
    longest = None if arguments.full else _LONGEST
    entry = _find_entry(load_entries(context.suites.values()), name)
    assert entry is not None
    memories: Memories = {}
    earlier = card.facts.earlier if card else ()
    transcripts = _replay_earlier(context, entry, earlier, memories)
    converse = partial(context.converse, memories=memories) if transcripts else None
    with closing(Session(context, converse=converse)) as session:
        try:
            if scorecard and not entry.expectation.is_judged:
                transcript = transcripts.get(entry.item_id)
            else:
                transcript = session.transcript(entry) if model else None
        except NotScoredError as error:
            # In a run that was found by itself the entry may have no answer, which is worth saying.
            if arguments.scorecard or arguments.model:
                raise UsageError(f"{entry.item_id}: {error.cause}: {error.reason}") from None
            print(f"not scored: {error.cause}: {error.reason}")
            transcript = None
        print_long_lines(render_entry(entry, transcript, session.environments(entry), longest, transcripts))
        if asks_statement(entry):
            # Imported late because it brings sqlglot, which other entries do not need.
            from pytest_fcbench.cli.run import sql_tables

            print_long_lines(sql_tables.render_tables(entry, transcript, full=arguments.full))
        # A conversation that others continue is held once and not judged.
        if transcript is None or not entry.expectation.is_judged:
            return
        record = (
            next((each for each in card.records if each.item_id == entry.item_id), None) if card else None
        )
        if record and record.is_judged_by_test:
            judgement = Judgement(record.verdicts.official, record.verdicts.corrected)
        else:
            judgement = session.judge(entry, transcript)
            record = session.record(entry, judgement, transcript)
        print_long_lines(_render_outcome(entry, record, judgement, longest))
        if asks_statement(entry) and isinstance(judgement.corrected, Failed):
            print_long_lines(sql_tables.render_results(entry, transcript, full=arguments.full))


def _replay_earlier(
    context: RunContext, entry: Entry, conversations: Iterable[EarlierConversation], memories: Memories
) -> Mapping[str, Transcript]:
    """Replay the conversations that an entry continues, and itself where others continue it.

    ``memories`` receives what they leave. One that was not held is left out.
    """
    turns = {each.entry: each.turns for each in conversations}
    transcripts: dict[str, Transcript] = {}

    def answer(before: Entry, request: AskModel) -> Completion:
        return read_answer(turns[before.item_id][request.turn][request.step])

    for before in (*entry.earlier, entry):
        # One that failed has fewer answers than it has turns.
        if before.item_id in turns:
            with suppress(IndexError, NotScoredError):
                conversation = context.converse(before, memories)
                transcripts[before.item_id] = drive_conversation(conversation, partial(answer, before))
    return transcripts


def _lay_out(lines: Iterable[_Line], longest: int | None) -> Iterator[str]:
    """Lay out each value behind its name, with its further lines indented as far."""
    for line in lines:
        if isinstance(line, str):
            yield line
            continue
        text = line.text if longest is None else cut_counting(line.text, line.room * longest)
        first, *rest = text.splitlines() or [""]
        yield f"{line.name:<14} {first}"
        yield from (f"{'':<14} {each}" for each in rest)


# The entry and its conversation


def render_entry(
    entry: Entry,
    transcript: Transcript | None,
    environments: Environments,
    longest: int | None,
    earlier: Mapping[str, Transcript] = MappingProxyType({}),
) -> Iterator[str]:
    """Render an entry with its ground truth, or with its answers; the calls act on the environments.

    Of earlier conversations those are rendered that the entry continues.
    """
    domains = f" · {', '.join(entry.scene.domains)}" if entry.scene and entry.scene.domains else ""
    lines: list[_Line] = [f"{entry.item_id} · {entry.category.name}{domains}"]
    if entry.set_aside:
        lines.append(f"set aside in the corrected profile: {entry.set_aside}")
    if entry.functions:
        lines.append(_Value("functions", _join_names(entry.functions)))
    if entry.after:
        lines.append(_Value("after", ", ".join(before.id for before in entry.earlier)))
        for before in entry.earlier:
            if before.item_id not in earlier:
                continue
            lines += ("", f"earlier conversation {before.id}")
            for messages, steps in zip(before.turns, earlier[before.item_id].turns, strict=False):
                lines += (_Value(f"  {message.role}", message.shown_text) for message in messages)
                for step in steps:
                    lines += _describe_step(step, None)
    else:
        for name, environment in environments.by_domain.items():
            for attribute, value in environment.get_full_state().items():
                lines.append(_Value("state", f"{name}.{attribute}: {_to_text(value)}"))
    return _lay_out((*lines, *_describe_turns(entry, transcript, environments)), longest)


def _describe_turns(
    entry: Entry, transcript: Transcript | None, environments: Environments
) -> Iterator[_Line]:
    truth = find_kind(entry).describe_truth(entry)
    on_server = bool(entry.scene and entry.scene.server)
    # Calls on golden paths, on servers, of web searches and of later conversations cannot be executed here.
    replies_recorded = (
        not environments.by_domain or on_server or DOMAIN in environments.by_domain or entry.after is not None
    )
    for number, messages in enumerate(entry.turns):
        yield from ("", f"turn {number + 1}")
        if late := entry.scene.withheld.get(number) if entry.scene else None:
            yield _Value("  new", _join_names(late))
        yield from (_Value(f"  {message.role}", message.shown_text) for message in messages)
        if transcript is None:
            expected_calls = truth.turns[number] if truth.turns else ()
            if on_server:
                yield from (_Value("  call", call) for call in expected_calls)
            else:
                yield from _carry_out(expected_calls, environments)
            if truth.turns and not expected_calls:
                yield "  (nothing can be called yet)"
            yield from _describe_truth(entry, truth)
        elif number < len(transcript.turns):
            for step in transcript.turns[number]:
                yield from _describe_step(step, None if replies_recorded else environments)
            if truth.turns:
                yield _Value("  truth", "; ".join(truth.turns[number]) or "no call")
        else:
            yield "  (the conversation was over)"


def _describe_step(step: Step, environments: Environments | None) -> Iterator[_Line]:
    """Describe a step; its calls act on the environments, or else have recorded replies."""
    completion, _ = separate_reasoning(step.completion)
    for name, text in (("reasoning", completion.reasoning), ("model", completion.text)):
        if text:
            yield _Value(f"  {name}", text)
    if completion.fault:
        yield _Value("  fault", completion.fault)
    for code in completion.protocol:
        yield _Value("  protocol", f"{code}: {describe_note(code)}")
    if step.calls and environments:
        yield from _carry_out(step.calls, environments)
    elif step.calls:
        for call, reply in zip_longest(step.calls, step.results):
            yield _Value("  call", str(call))
            if reply is not None:
                yield _Value("    returns", reply)
    else:
        for part in completion.tool_calls or ():
            text = f"{part.name} {_to_text(part.arguments)}" if isinstance(part, ToolCall) else part
            yield _Value("  tool call", text)


def _carry_out(calls: Sequence[str], environments: Environments) -> Iterator[_Line]:
    """Execute calls; describe what they return and what they change."""
    for call in calls:
        before = environments.copy_state()
        (result,) = environments.perform_calls([call])
        yield _Value("  call", call)
        yield _Value("    returns", result)
        for change in find_differences(before, environments.copy_state()):
            old = "" if change.expected is None else f"{change.expected} "
            new = "is gone" if change.found is None else f"→ {change.found}"
            yield _Value("    changes", f"{change.at}: {old}{new}")


def _describe_truth(entry: Entry, truth: ShownTruth) -> Iterator[_Line]:
    """Describe what is right, but for the calls of a turn."""
    for call in truth.calls:
        accepted = ", ".join(f"{each.name}: {_to_text(each.accepted)}" for each in call.parameters)
        yield _Value("  accepted", f"{call.name}  {accepted}")
    for result in truth.results:
        if result.rule:
            yield _Value("  result of", f"{result.call}  ({result.rule})")
        else:
            yield _Value("  answer to", result.call)
    for number, calls in enumerate(truth.steps, 1):
        yield from (_Value(f"  step {number}", call) for call in calls)
    if truth.texts:
        yield _Value("  accepted", " or ".join(truth.texts))
    if truth.rule:
        yield f"  accepted  {'any call' if entry.expectation.takes_any_call else truth.rule}"


# Verdicts


def render_paths(judgement: Judgement, longest: int | None) -> Iterator[str]:
    """Render the verdict on each call along a golden path, once if both profiles agree."""
    path_scores = {profile: path for profile in Profile if (path := judgement.select_path_score(profile))}
    same = len(path_scores) == len(Profile) and judgement.official_path == judgement.corrected_path
    for profile, path in list(path_scores.items())[: 1 if same else None]:
        profiles = "both profiles" if same else f"{profile} profile"
        yield ""
        yield (
            f"calls ({profiles}): {path.right} of {path.calls} right, "
            f"{path.right_steps} of {path.steps} steps finished, {path.taken} taken"
        )
        for name, rating in (("completeness", path.completeness), ("correctness", path.correctness)):
            if rating is not None:
                yield f"{name} of the answer: {rating} of 2"
        for verdict in path.verdicts:
            outcome = "right" if verdict.right else verdict.code or "wrong"
            lines = [
                _Value(f"  step {verdict.step}", _spell_call(verdict.made)),
                _Value("    verdict", f"{outcome} ({verdict.stage})"),
            ]
            if verdict.expected is not None and verdict.expected != verdict.made:
                lines.append(_Value("    expected", _spell_call(verdict.expected)))
            for each in verdict.differences:
                # The text names the expected and the found value, so it gets the room of two.
                lines.append(_Value("    differs", describe_difference(each, _to_text), room=2))
            if verdict.reason:
                lines.append(_Value("    reason", verdict.reason))
            yield from _lay_out(lines, longest)


def _render_outcome(entry: Entry, record: Record, judgement: Judgement, longest: int | None) -> Iterator[str]:
    """Render the verdicts, those on single calls, and the comparison of the first profile that failed."""
    yield ""
    for profile in Profile:
        yield f"{profile.value:<10}{_spell_verdict(judgement.select_profile(profile))}"
        if judgement.as_written:
            yield f"{'':<10}as written: {_spell_verdict(judgement.as_written.select_profile(profile))}"
    match judgement.rating:
        case JudgeRating(score=score, reason=reason):
            yield f"{'rating':<10}{score} of {MOST}: {reason}"
        case NotScored() as none:
            yield f"{'rating':<10}none: {none}"
    yield from render_paths(judgement, longest)
    width = find_width()
    for profile in Profile:
        verdict = record.verdict(profile)
        if isinstance(verdict, Failed) and (explanation := explain_record(entry, record, profile)):
            yield ""
            yield from (line.text for line in render_comparison(explanation, width))
            yield from (line.text for line in render_rule(verdict, width))
            return


def _spell_verdict(verdict: Verdict) -> str:
    return verdict.status if isinstance(verdict, Passed) else f"{verdict.status}  {verdict}"


def _spell_call(call: Mapping[str, object]) -> str:
    return f"{call.get('name')} {_to_text(call.get('arguments'))}"


def _join_names(docs: Iterable[FunctionDoc]) -> str:
    return ", ".join(doc.name for doc in docs)


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else write_value(value)
