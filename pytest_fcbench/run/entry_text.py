"""An entry, its conversation and its verdicts as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.protocol_notes import describe_note
from pytest_fcbench.domain.text import cut_counting, write_value
from pytest_fcbench.domain.transcript import Step, ToolCall, Transcript, separate_reasoning
from pytest_fcbench.domain.verdict import Failed, Judgement, JudgeRating, NotScored, Passed, Profile, Verdict
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.judging.questions import MOST
from pytest_fcbench.judging.text_normalization import find_differences
from pytest_fcbench.kinds.answers.entries import DOMAIN
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.present.explanations import render_comparison, render_rule
from pytest_fcbench.present.score_tables import describe_difference
from pytest_fcbench.run.explaining import explain_record
from pytest_fcbench.scorecard.record import Record


class _Value(NamedTuple):
    """A value, shown under its name and cut if it is long."""

    name: str
    text: str
    room: int = 1
    """The multiple of the usual length that it may have."""


_Line: TypeAlias = str | _Value


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
    cannot_run = not environments.by_domain or DOMAIN in environments.by_domain
    replies_recorded = cannot_run or on_server or entry.after is not None
    for number, messages in enumerate(entry.turns):
        yield from ("", f"turn {number + 1}")
        if late := entry.late_functions.get(number):
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


def render_paths(judgement: Judgement, longest: int | None) -> Iterator[str]:
    """Render the verdict on each call along a golden path, once if both profiles agree."""
    path_scores = {profile: path for profile in Profile if (path := judgement.select_path_score(profile))}
    same = len(path_scores) == len(Profile) and judgement.official_path == judgement.corrected_path
    for profile, path in list(path_scores.items())[: 1 if same else None]:
        profiles = "both profiles" if same else f"{profile} profile"
        yield ""
        steps = f"{path.right_steps} of {path.steps} steps finished, {path.taken} taken"
        yield f"calls ({profiles}): {path.right} of {path.calls} right, {steps}"
        for name, rating in (("completeness", path.completeness), ("correctness", path.correctness)):
            if rating is not None:
                yield f"{name} of the answer: {rating} of 2"
        for verdict in path.verdicts:
            outcome = "right" if verdict.right else verdict.code or "wrong"
            lines = [_Value(f"  step {verdict.step}", _spell_call(verdict.made))]
            lines.append(_Value("    verdict", f"{outcome} ({verdict.stage})"))
            if verdict.expected is not None and verdict.expected != verdict.made:
                lines.append(_Value("    expected", _spell_call(verdict.expected)))
            for each in verdict.differences:
                # The text names the expected and the found value, so it gets the room of two.
                lines.append(_Value("    differs", describe_difference(each, _to_text), room=2))
            if verdict.reason:
                lines.append(_Value("    reason", verdict.reason))
            yield from _lay_out(lines, longest)


def render_outcome(
    entry: Entry, record: Record, judgement: Judgement, longest: int | None, width: int
) -> Iterator[str]:
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
