"""Attribute a lost point to who lost it: the model, its server, or chance.

An entry that failed is asked again in other ways. Each rule needs answers that agree: where the answers of
one way differ, chance decides, and where ways contradict each other or could not be asked, nobody is blamed.
The model is blamed only where its answers can be read and are wrong in every way, also where no parser of a
server stands in between, and where the server is known to keep the right calls.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Unreadable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.protocol_notes import FAILURES
from pytest_fcbench.domain.text import cut_counting, put_on_one_line
from pytest_fcbench.domain.transcript import Completion, Fault
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Verdict

_SHOWN = 160
"""Characters of an answer that a line of evidence shows."""
_AROUND = 100
"""Characters that the syntaxes of models have around a call at most, beyond those of Python."""
NO_REPLY = frozenset(
    {
        *("bad_request", "connection", "endpoint", "entry_timeout", "garbled", "inference_error"),
        *("rate_limit", "request_too_large", "timeout", "web_page"),
    }
)
"""Causes of missing verdicts that are the endpoint's."""


class Culprit(StrEnum):
    """Who lost a point."""

    MODEL = "model"
    TEMPLATE = "template"
    PARSER = "parser"
    STREAM = "stream"
    ENDPOINT = "endpoint"
    CHANCE = "chance"
    UNCLEAR = "unclear"


MEANINGS: Mapping[Culprit, str] = {
    Culprit.MODEL: "its answers can be read and are wrong in every way of asking",
    Culprit.TEMPLATE: "tools or results of calls do not reach the prompt",
    Culprit.PARSER: "the server loses or changes right calls",
    Culprit.STREAM: "the server loses in a stream what it keeps in a whole reply",
    Culprit.ENDPOINT: "the endpoint gave no answer",
    Culprit.CHANCE: "the same request is answered rightly at other times",
    Culprit.UNCLEAR: "other ways could not be asked, or contradict each other",
}
"""What each culprit means, in the words that readers are shown."""


_OF_CALLS = frozenset({Culprit.PARSER, Culprit.STREAM})
_UNDECIDED = frozenset({Culprit.STREAM, Culprit.CHANCE, Culprit.UNCLEAR})
"""Culprits behind which, of a loss seen alone, a parser that loses calls at times may hide."""


class TrialState(StrEnum):
    """What became of an entry that was asked once."""

    PASSED = "passed"
    WRONG = "wrong"
    """A readable answer is wrong."""
    DAMAGED = "unreadable"
    """The answer tries to call and cannot be read."""
    NO_ANSWER = "no answer"
    """The endpoint failed, or broke off."""
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class TriedAnswer:
    """An answer to an entry."""

    state: TrialState
    shown: str = ""
    """What came, or why nothing came."""
    calls: tuple[str, ...] = ()
    """Its calls, written alike in every mode."""
    is_parsed: bool = False
    """True where a parser of the server read calls of it."""
    output_tokens: int | None = None
    """The tokens that the server counted beside reasoning; None where it did not."""

    @property
    def is_wrong(self) -> bool:
        """True where an answer came and is not right."""
        return self.state in (TrialState.WRONG, TrialState.DAMAGED)


Trials: TypeAlias = tuple[TriedAnswer, ...]
"""The answers to an entry that was asked in one way."""
Findings: TypeAlias = Iterator[tuple[Culprit, str]]
"""Pairs of who lost a point and why, one for each rule that holds."""


@dataclass(frozen=True, slots=True)
class LossEvidence:
    """What is known of an entry that failed; each way has a trial for each time that it was asked."""

    first: TriedAnswer
    """The answer of the run."""
    again: Trials = ()
    """Asked in the same way."""
    turned: Trials = ()
    """Asked whole where the run streamed, streamed where it did not."""
    prompted: Trials = ()
    """Asked with the functions in the prompt, so that no parser of the server reads the answer."""
    streams: bool = False
    """True where the run streamed."""
    is_prompted: bool = False
    """True where the run itself had the functions in the prompt."""
    needs_calls: bool = True
    """True where a right answer calls."""
    has_results: bool = False
    """True where results of calls were sent back."""
    whole_truth: Verdict | None = None
    """Whether the server keeps the right calls in a whole reply; None where it was not asked."""
    streamed_truth: Verdict | None = None
    tools_reach: Verdict | None = None
    """Whether tools reach the prompt."""
    results_reach: Verdict | None = None
    prompted_syntax: str = ""
    """The native syntax in which calls were asked for by prompting; empty for Python."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who lost a point, why, and the answers that show it."""

    culprit: Culprit
    reason: str
    evidence: tuple[str, ...] = ()


def read_trial(
    entry: Entry, completions: Sequence[Completion], prompting: Prompting, verdict: Verdict
) -> TriedAnswer:
    """Read the answers of a conversation, and tell with its verdict what became of it."""
    if isinstance(verdict, NotScored):
        state = TrialState.NO_ANSWER if verdict.cause in NO_REPLY else TrialState.NOT_ASKED
        return TriedAnswer(state, f"{verdict.cause}: {verdict.reason}")
    offer = OfferedFunctions(entry.functions, prompting.names)
    calls: list[str] = []
    texts: list[str] = []
    state = TrialState.PASSED if isinstance(verdict, Passed) else TrialState.WRONG
    for completion in completions:
        reading = read_corrected(completion, prompting.syntax, entry.category.language, offer)
        if isinstance(reading, Calls):
            written = [_write_call(call.name, call.arguments) for call in reading.calls]
            calls += written
            texts += written
        elif completion.text:
            texts.append(repr(completion.text))
        if state is TrialState.PASSED:
            continue
        if completion.fault is Fault.INFERENCE_ERROR or FAILURES & set(completion.protocol):
            state = TrialState.NO_ANSWER
        elif isinstance(reading, Unreadable) or completion.fault is Fault.UNREADABLE_CALL:
            state = TrialState.DAMAGED
            for part in completion.tool_calls or ():
                texts.append(part if isinstance(part, str) else f"{part.name}({part.arguments})")
    came = "; ".join(texts) or "nothing"
    reason = f" ({verdict.reason})" if isinstance(verdict, Failed) else ""
    # Where calls were read from the text, the message of the server is not kept.
    is_parsed = any(completion.tool_calls and completion.message for completion in completions)
    shown = put_on_one_line(f"{cut_counting(came, _SHOWN)}{reason}")
    return TriedAnswer(state, shown, tuple(calls), is_parsed, count_written_tokens(completions))


def count_written_tokens(completions: Sequence[Completion]) -> int | None:
    """Count the tokens of answers beside their reasoning; None where they are not known."""
    written = 0
    for completion in completions:
        if completion.output_tokens is None or (completion.reasoning and not completion.reasoning_tokens):
            return None
        written += completion.output_tokens - (completion.reasoning_tokens or 0)
    return written


def _write_call(name: str, arguments: object) -> str:
    # Modes differ in how they show dots.
    written = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
    return f"{name.replace('.', '_')}({written})"


def attribute_losses(losses: Sequence[LossEvidence]) -> list[Attribution]:
    """Attribute the lost points of a run; what is undecided alone is decided by the others.

    Where requests pass at other times, the server loses calls at times if it breaks their right calls, at
    least half as often as the answers to such requests are wrong.
    """
    attributions = list(map(attribute_loss, losses))
    changing = [e for e in losses if e.needs_calls and not e.is_prompted and _has_passed(e.again)]
    again = [each.is_wrong for e in changing for each in _drop_unanswered(e.again)]
    broken = sum(any(culprit in _OF_CALLS for culprit, _ in _judge_server(e)) for e in changing)
    if not broken or 2 * broken * len(again) < sum(again) * len(changing):
        return attributions
    is_whole = any(isinstance(e.whole_truth, Failed) for e in changing)
    culprit = Culprit.PARSER if is_whole else Culprit.STREAM
    reason = f"the server breaks right calls at times, those of {broken} of {len(changing)} such entries"
    return [
        replace(each, culprit=culprit, reason=reason)
        if each.culprit in _UNDECIDED - {culprit}
        and e.needs_calls
        and any(map(_has_passed, (e.again, e.turned, e.prompted)))
        else each
        for e, each in zip(losses, attributions, strict=True)
    ]


def attribute_loss(evidence: LossEvidence) -> Attribution:
    """Attribute a lost point by the first rule that holds."""
    culprit, reason = next(_list_findings(evidence))
    return Attribution(culprit, reason, tuple(_list_evidence(evidence)))


def _list_findings(e: LossEvidence) -> Findings:
    """Yield who lost a point by each rule that holds, the most certain first, and ``UNCLEAR`` in the end."""
    again, turned, prompted = (_drop_unanswered(way) for way in (e.again, e.turned, e.prompted))
    if e.first.state is TrialState.NO_ANSWER:
        yield Culprit.ENDPOINT, "the run got no answer from the endpoint"
    if _has_passed(again):
        # A parser that loses calls at times lets the same request pass at others.
        for culprit, reason in () if e.is_prompted else _judge_server(e):
            yield culprit, f"{reason}; the same request is answered rightly at other times"
        yield Culprit.CHANCE, "the same request is answered rightly at other times"
    if not again:
        yield Culprit.UNCLEAR, "it could not be asked again in the same way"
    if not e.is_prompted:
        yield from _judge_server(e)
    yield from _compare_streams(e, turned, prompted)
    called = (e.first, *again)
    if e.is_prompted:
        yield from _judge_model(e, called, again, turned)
    elif _has_passed(prompted):
        yield from _judge_parser(e, called, prompted)
    elif prompted:
        yield from _judge_model(e, called, prompted, turned)
    yield Culprit.UNCLEAR, "it could not be asked with the functions in the prompt"


def _judge_server(e: LossEvidence) -> Findings:
    """Judge by what the server does with tools, results and right calls, whatever the model says."""
    if e.needs_calls and isinstance(e.tools_reach, Failed):
        yield Culprit.TEMPLATE, f"tools do not reach the prompt: {e.tools_reach.reason}"
    if e.has_results and isinstance(e.results_reach, Failed):
        yield Culprit.TEMPLATE, f"results of calls do not reach the prompt: {e.results_reach.reason}"
    # In a run of streams, what only whole replies break has lost nothing.
    if isinstance(e.whole_truth, Failed) and not (e.streams and isinstance(e.streamed_truth, Passed)):
        yield Culprit.PARSER, f"the server breaks the right calls: {e.whole_truth.reason}"
    if e.streams and isinstance(e.streamed_truth, Failed):
        yield Culprit.STREAM, f"the server breaks the right calls in a stream: {e.streamed_truth.reason}"


def _compare_streams(e: LossEvidence, turned: Trials, prompted: Trials) -> Findings:
    """Judge an entry that is wrong each time by what whole replies and streams of it say."""
    if any(_has_passed(way) and _has_failed(way) for way in (turned, prompted)):
        yield Culprit.CHANCE, "answers to equal requests differ in another way of asking"
    if not _has_passed(turned):
        return
    # A server that keeps right calls in both ways makes no difference between them.
    if isinstance(e.whole_truth, Passed) and isinstance(e.streamed_truth, Passed):
        yield Culprit.CHANCE, "the server keeps right calls, and the same request is answered rightly"
    # Where prompting fails too, the right answers may be chance.
    is_firm = len(turned) > 1 and not _has_failed(prompted)
    if is_firm and e.streams:
        yield Culprit.STREAM, "whole replies are right, each time, where streams are wrong, each time"
    # In a prompting run no parser reads the answer.
    if is_firm and not e.is_prompted:
        yield Culprit.PARSER, "streams are right, each time, where whole replies are wrong, each time"
    yield Culprit.UNCLEAR, "whole replies and streams differ, and no other way confirms it"


def _drop_unanswered(trials: Trials) -> Trials:
    return tuple(each for each in trials if each.state is TrialState.PASSED or each.is_wrong)


def _has_passed(trials: Trials) -> bool:
    return any(each.state is TrialState.PASSED for each in trials)


def _has_failed(trials: Trials) -> bool:
    return any(each.is_wrong for each in trials)


def _judge_parser(e: LossEvidence, called: Trials, prompted: Trials) -> Findings:
    """Judge an entry that is wrong each time by function calling, and right each time by prompting."""
    is_kept = isinstance(e.streamed_truth if e.streams else e.whole_truth, Passed)
    # An answer that cannot be read shows the loss itself; one that can be may be the model's own.
    if len(prompted) > 1 and all(each.state is TrialState.DAMAGED for each in called) and not is_kept:
        yield Culprit.PARSER, "the model writes the right calls, and the server returns none that can be read"
    if len(prompted) > 1 and not is_kept and all(_is_part(each, prompted[0]) for each in called):
        # Of the answer of the run no tokens are known.
        if all(has_more_tokens(each, prompted[0], e.prompted_syntax) for each in called[1:]):
            yield Culprit.PARSER, "a part of the calls comes back, and the output tokens are those of more"
        yield (
            Culprit.UNCLEAR,
            "a part of the calls comes back: the server lost the rest, or the model ended early",
        )
    rest = "the server keeps the right calls" if is_kept else "whether the server keeps calls is not known"
    if isinstance(e.whole_truth if e.streams else e.streamed_truth, Failed):
        rest += f", though not {'whole' if e.streams else 'streamed'}"
    yield Culprit.UNCLEAR, f"right by prompting, wrong by function calling, and {rest}"


def _is_part(trial: TriedAnswer, whole: TriedAnswer) -> bool:
    """Tell whether an answer has some of the calls of another one, and no other calls."""
    calls, all_calls = Counter(trial.calls), Counter(whole.calls)
    return trial.state is TrialState.WRONG and bool(calls) and calls < all_calls


def has_more_tokens(part: TriedAnswer, whole: TriedAnswer, syntax: str) -> bool:
    """Tell whether some of the calls of another answer took more tokens than they need."""
    if not part.output_tokens or not whole.output_tokens:
        return False
    came, all_calls = (sum(map(len, each.calls)) for each in (part, whole))
    # Python has less around a call than the syntaxes of models have.
    share = (came + all_calls) / 2 / all_calls if syntax else (came + _AROUND * len(part.calls)) / all_calls
    return part.output_tokens > share * whole.output_tokens


def _judge_model(e: LossEvidence, called: Trials, prompted: Trials, turned: Trials) -> Findings:
    """Judge an entry that is wrong each time, by function calling and by prompting."""
    if any(each.state is TrialState.DAMAGED for each in (*called, *prompted, *turned)):
        yield Culprit.UNCLEAR, "wrong in every way, but some answers cannot be read"
    if len(prompted) < 2 or not turned:
        yield Culprit.UNCLEAR, "wrong as far as it could be asked"
    if any(each.is_parsed for each in prompted):
        yield Culprit.UNCLEAR, "wrong in every way, and the server read the calls of each"
    if e.is_prompted:
        yield Culprit.MODEL, "a readable wrong answer each time, which no parser of the server has read"
    if isinstance(e.streamed_truth if e.streams else e.whole_truth, Passed):
        yield Culprit.MODEL, "a readable wrong answer in every way, and the server keeps the right calls"
    # What a parser made of something else would not come from our reader too.
    if {each.calls for each in called} & {each.calls for each in prompted if each.calls}:
        yield Culprit.MODEL, "the same wrong calls by function calling and by prompting"
    yield Culprit.UNCLEAR, "wrong in every way, and whether the server keeps the right calls is not known"


def _list_evidence(e: LossEvidence) -> Iterator[str]:
    manner = "in the prompt" if e.is_prompted else "function calling"
    how, other = ("streamed", "whole") if e.streams else ("whole", "streamed")
    yield f"{manner}, {how}, in the run: {_describe_trial(e.first)}"
    syntax = f", calls asked for in the syntax {e.prompted_syntax}" if e.prompted_syntax else ""
    ways = {
        f"{manner}, {how}, again": e.again,
        f"{manner}, {other}": e.turned,
        f"in the prompt{syntax}": e.prompted,
    }
    for name, trials in ways.items():
        counts = Counter(map(_describe_trial, trials))
        for text, count in counts.items():
            yield f"{name}{f', {count} times' if count > 1 else ''}: {text}"
    whole, streamed = e.whole_truth, e.streamed_truth
    truths = {"": whole} if whole == streamed else {", whole": whole, ", streamed": streamed}
    checks = {f"right calls put through{way}": verdict for way, verdict in truths.items()}
    checks |= {"tools in the prompt": e.tools_reach, "results in the prompt": e.results_reach}
    for name, verdict in checks.items():
        if verdict:
            words = "kept" if isinstance(verdict, Passed) else "broken" if isinstance(verdict, Failed) else ""
            reason = f": {cut_counting(verdict.reason, _SHOWN)}" if verdict.reason else ""
            yield f"{name}: {words or 'undecided'}{reason}"


def _describe_trial(trial: TriedAnswer) -> str:
    return f"{trial.state}: {trial.shown}" if trial.shown else trial.state
