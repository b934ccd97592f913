"""``fcbench show``: one entry, or one conversation about it, to read."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from pytest_fcbench.cli.run_options import ASKED, PLACE, declare, settings_of, suite_of_entry
from pytest_fcbench.domain.entry import (
    Answers,
    AnyCall,
    Entry,
    ExpectedCalls,
    ExpectedResponse,
    ExpectedResults,
    GoldenPath,
    NoCall,
    Trajectory,
)
from pytest_fcbench.domain.errors import NotScoredError, UsageError, unknown
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import cut_counting, printable
from pytest_fcbench.domain.transcript import Step, ToolCall, Transcript
from pytest_fcbench.domain.verdict import (
    CallVerdict,
    Failed,
    Judgement,
    NotScored,
    Passed,
    Profile,
    Rated,
    Verdict,
)
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.matchers.judging.ratings import MOST
from pytest_fcbench.matchers.state_difference import between
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.render.call_tables import differing
from pytest_fcbench.suites.formats.web_questions import DOMAIN

_LONGEST = 240
"""Characters of a value that are shown unless all are asked for."""


HELP = "one entry, or one stored conversation about it, to read"


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("entry", metavar="ENTRY", help="suite:id as in a node id; -t2 behind it for a trial")
    parser.add_argument("--scorecard", metavar="FILE", help="show the conversation that a scorecard holds")
    parser.add_argument("--full", action="store_true", help="show long values in full")
    declare(parser, ("model", *PLACE, *ASKED))


def run_command(chosen: argparse.Namespace) -> int:
    if chosen.scorecard and chosen.model:
        raise UsageError("--scorecard and --model: give one of them")
    model = f"replay:{chosen.scorecard}" if chosen.scorecard else chosen.model
    settings = replace(settings_of(chosen, suite_of_entry(chosen), model or "oracle"), offline=True)
    session = Session(RunContext(settings))
    entry = _found(session.context, chosen.entry)
    longest = None if chosen.full else _LONGEST
    transcript = _transcript(session, entry) if model else None
    about = lines(entry, transcript, session.environments(entry), longest)
    for line in (*about, *_tables(entry, transcript, chosen.full)):
        print(printable_line(line))
    if transcript:
        judgement = session.judge(entry, transcript)
        told = *_verdicts(judgement), *path_lines(judgement, longest)
        for line in (*told, *_results(entry, transcript, judgement, chosen.full)):
            print(printable_line(line))
    session.close()
    return 0


def _tables(entry: Entry, transcript: Transcript | None, full: bool) -> Iterable[str]:
    """What a statement of SQL acts on."""
    if not entry.category.rule.writes_sql:
        return ()
    from pytest_fcbench.cli import sql_results as databases

    return databases.tables(entry, transcript, full=full)


def _results(entry: Entry, transcript: Transcript, judgement: Judgement, full: bool) -> Iterable[str]:
    """What a wrong statement of SQL did."""
    if not entry.category.rule.writes_sql or not isinstance(judgement.corrected, Failed):
        return ()
    from pytest_fcbench.cli import sql_results as databases

    return databases.results(entry, transcript, full=full)


def printable_line(text: str) -> str:
    """A line as any terminal can show it, whatever its length."""
    return "".join(printable(text[at : at + 500]) for at in range(0, len(text), 500))


def _found(context: RunContext, name: str) -> Entry:
    entries = {
        entry.key: entry
        for suite in context.suites.values()
        for category in suite.categories
        for entry in suite.load(category)
    }
    if name in entries:
        return entries[name]
    key, _, trial = name.rpartition("-t")
    if key not in entries or not trial.isdecimal():
        raise UsageError(unknown("entry", name, entries))
    return replace(entries[key], trial=int(trial))


def _transcript(session: Session, entry: Entry) -> Transcript:
    try:
        return session.transcript(entry)
    except NotScoredError as error:
        raise UsageError(f"{entry.item_id}: {error.cause}: {error.reason}") from None


def lines(
    entry: Entry, transcript: Transcript | None, environments: Environments, longest: int | None
) -> Iterator[str]:
    """An entry with what is right, or with what was answered; the calls act on these environments."""
    yield from _begun(entry, environments, longest)
    truth = entry.expectation.turns if isinstance(entry.expectation, Trajectory) else ()
    for number, said in enumerate(entry.turns):
        yield ""
        yield f"turn {number + 1}"
        if late := entry.scene.withheld.get(number) if entry.scene else None:
            yield from _row("  new", _names(late), longest)
        for message in said:
            yield from _row(f"  {message.role}", message.content, longest)
        if transcript is None:
            expected = truth[number] if truth else ()
            yield from _acted(expected, environments, longest) if truth else _expected(entry, longest)
            if truth and not expected:
                yield "  (nothing can be called yet)"
        elif number < len(transcript.turns):
            recorded = isinstance(entry.expectation, GoldenPath) or DOMAIN in environments.by_domain
            replied = recorded or entry.after is not None
            for step in transcript.turns[number]:
                yield from _step(step, None if replied else environments, longest)
            if truth:
                yield from _row("  truth", "; ".join(truth[number]) or "no call", longest)
        else:
            yield "  (the conversation was over)"


def _begun(entry: Entry, environments: Environments, longest: int | None) -> Iterator[str]:
    """What there is before anything is said."""
    domains = f" · {', '.join(entry.scene.domains)}" if entry.scene else ""
    yield f"{entry.item_id} · {entry.category.name}{domains}"
    if entry.set_aside:
        yield f"set aside in the corrected profile: {entry.set_aside}"
    yield from _row("functions", _names(entry.functions), longest)
    if entry.after:
        yield from _row("after", ", ".join(before.id for before in entry.earlier), longest)
        return
    for name, environment in environments.by_domain.items():
        for attribute, value in environment.shown().items():
            yield from _row("state", f"{name}.{attribute}: {_text(value)}", longest)


def _step(step: Step, environments: Environments | None, longest: int | None) -> Iterator[str]:
    """A step whose calls act on environments, or got the replies that it holds."""
    completion = step.completion
    if completion.reasoning:
        yield from _row("  reasoning", completion.reasoning, longest)
    if completion.text:
        yield from _row("  model", completion.text, longest)
    if completion.fault:
        yield from _row("  fault", completion.fault, longest)
    if step.calls and environments:
        yield from _acted(step.calls, environments, longest)
    elif step.calls:
        for call, reply in zip_longest(step.calls, step.results):
            yield from _row("  call", str(call), longest)
            if reply is not None:
                yield from _row("    returns", reply, longest)
    else:
        for part in completion.tool_calls or ():
            text = f"{part.name} {_text(part.arguments)}" if isinstance(part, ToolCall) else part
            yield from _row("  tool call", text, longest)


def _acted(calls: Sequence[str], environments: Environments, longest: int | None) -> Iterator[str]:
    """Calls, what they return and what they change."""
    for call in calls:
        before = environments.snapshot()
        (result,) = environments.perform([call])
        yield from _row("  call", call, longest)
        yield from _row("    returns", result, longest)
        for change in between(before, environments.snapshot()):
            old = "" if change.expected is None else f"{change.expected} "
            new = "is gone" if change.found is None else f"→ {change.found}"
            yield from _row("    changes", f"{change.at}: {old}{new}", longest)


def _expected(entry: Entry, longest: int | None) -> Iterator[str]:
    match entry.expectation:
        case ExpectedCalls(calls=calls):
            for call in calls:
                accepted = ", ".join(f"{name}: {_text(values)}" for name, values in call.accepted.items())
                yield from _row("  accepted", f"{call.name}  {accepted}", longest)
        case ExpectedResults(calls=texts, kinds=kinds):
            for text, kind in zip(texts, kinds, strict=True):
                yield from _row("  result of", f"{text}  ({kind})", longest)
        case ExpectedResponse(call=text):
            yield from _row("  answer to", text, longest)
        case Answers(texts=right, trail=trail):
            yield from _steps([["; ".join(made)] for made in trail], longest)
            yield from _row("  accepted", " or ".join(right), longest)
        case NoCall():
            yield "  accepted  no call"
        case AnyCall():
            yield "  accepted  any call"
        case GoldenPath(steps=steps):
            calls_by_step = [
                [f"{call.name} {_text(dict(call.arguments))}" for call in step] for step in steps
            ]
            yield from _steps(calls_by_step, longest)


def _steps(steps: Sequence[Sequence[str]], longest: int | None) -> Iterator[str]:
    for number, texts in enumerate(steps, 1):
        for text in texts:
            yield from _row(f"  step {number}", text, longest)


def path_lines(judgement: Judgement, longest: int | None) -> Iterator[str]:
    """What became of each call along a golden path, and why; once where both profiles say the same."""
    found = {profile: path for profile in Profile if (path := judgement.path_under(profile))}
    same = len(found) == len(Profile) and judgement.official_path == judgement.corrected_path
    for profile, path in list(found.items())[: 1 if same else None]:
        yield ""
        profiles = "both profiles" if same else f"{profile} profile"
        yield (
            f"calls ({profiles}): {path.right} of {path.calls} right, "
            f"{path.right_steps} of {path.steps} steps finished, {path.taken} taken"
        )
        for name, rating in (("completeness", path.completeness), ("correctness", path.correctness)):
            if rating is not None:
                yield f"{name} of the answer: {rating} of 2"
        for verdict in path.verdicts:
            yield from _judged(verdict, longest)


def _judged(verdict: CallVerdict, longest: int | None) -> Iterator[str]:
    yield from _row(f"  step {verdict.step}", _called(verdict.made), longest)
    yield from _row(
        "    verdict", f"{'right' if verdict.right else verdict.code or 'wrong'} ({verdict.stage})", longest
    )
    if verdict.expected is not None and verdict.expected != verdict.made:
        yield from _row("    expected", _called(verdict.expected), longest)
    for difference in verdict.differences:
        yield from _row("    differs", differing(difference, _text), None if longest is None else 2 * longest)
    if verdict.reason:
        yield from _row("    reason", verdict.reason, longest)


def _called(call: Mapping[str, object]) -> str:
    return f"{call.get('name')} {_text(call.get('arguments'))}"


def _verdicts(judgement: Judgement) -> Iterator[str]:
    yield ""
    for profile in Profile:
        yield f"{profile.value:<10}{_verdict(judgement.under(profile))}"
        if judgement.as_written:
            yield f"{'':<10}as written: {_verdict(judgement.as_written.under(profile))}"
    match judgement.rating:
        case Rated(score=score, reason=reason):
            yield f"{'rating':<10}{score} of {MOST}: {reason}"
        case NotScored() as none:
            yield f"{'rating':<10}none: {none}"


def _verdict(verdict: Verdict) -> str:
    return verdict.status if isinstance(verdict, Passed) else f"{verdict.status}  {verdict}"


def _names(docs: Iterable[FunctionDoc]) -> str:
    return ", ".join(doc.name for doc in docs)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)


def _row(name: str, text: str, longest: int | None) -> Iterator[str]:
    """A value under its name; further lines of it are indented as far."""
    if longest is not None:
        text = cut_counting(text, longest)
    first, *rest = text.splitlines() or [""]
    yield f"{name:<14} {first}"
    for line in rest:
        yield f"{'':<14} {line}"
