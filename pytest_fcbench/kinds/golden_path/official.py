"""The walk of the official code, bug for bug (``runner/base_runner.py``, ``compare_method.py``, the runners).

What is odd and kept:

- The conversation ends at the first answer of which no call is right, unless one has a wrong form.
- After an answer with a right call exactly one more step of the path can be matched, whether or not the
  current one is finished.
- Calls are paired with expected ones before their form is looked at, so a malformed call can take one away.
- A lookup is right at any time and as often as it is made, and counts each time. One with several arguments
  is only known if the record has them in alphabetical order.
- A step counts as lookups if *any* of its calls is a special lookup, or if all are plain ones.
- A mistake in the last answer with calls fails the entry, also where everything else was right; so it is
  with two of the six runners.
- Of lookups that were left out, every second is not forgiven: the list is changed while it is walked.
- There is no limit of steps; ours is ``MOST_STEPS``.

The official worker crashes in some situations and writes no result, which the score counts as no success:
code ``crash``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_fcbench.codecs.decoders.syntax import Unreadable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Call, Inquiry, PathSettings, RecordedCall
from pytest_fcbench.domain.verdict import CallVerdict, Failed, NotScored, Passed, PathScore, Profile
from pytest_fcbench.kinds.golden_path import walk
from pytest_fcbench.kinds.golden_path.assignment import pair_calls
from pytest_fcbench.kinds.golden_path.call_comparison import Comparer
from pytest_fcbench.kinds.golden_path.script import find_format_error
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.golden_path.walk import Dialogue, Reader, ShownTexts, Walk, WalkOutcome

MOST_STEPS = 100
"""Answers after which we end a conversation that officially could go on for ever."""


@dataclass
class _OfficialState:
    path: GoldenPath
    opened: int = 0
    """Index of the step that was opened last; it can pass the end."""
    pool: list[RecordedCall] = field(default_factory=list)
    """Expected calls that are not matched yet, of all opened steps."""
    lookups: dict[str, RecordedCall] = field(default_factory=dict)
    """Plain lookups of the path, which may be made at any time, by their key."""
    made_lookups: set[str] = field(default_factory=set)
    right_count: int = 0
    step: int = 0
    """Number of answers with calls so far."""
    verdicts: list[CallVerdict] = field(default_factory=list)

    @classmethod
    def at_start(cls, path: GoldenPath) -> _OfficialState:
        state = cls(path, pool=list(path.steps[0]))
        for call in path.calls:
            if path.is_plain_lookup(call):
                state.lookups.setdefault(_make_key(call), call)
        # The check is not repeated for the step that it opens (official).
        if state.has_only_lookups():
            state.open_next()
        return state

    def has_only_lookups(self) -> bool:
        # Any call of the hotel rule is enough, not all (official).
        has_special = any(map(self.path.is_special_lookup, self.pool))
        return has_special or all(map(self.path.is_plain_lookup, self.pool))

    def open_next(self) -> None:
        self.opened += 1
        if self.opened < len(self.path.steps):
            self.pool += self.path.steps[self.opened]

    def drop_made_lookups(self) -> None:
        """Drop lookups that were made, before each turn. Each of several equal calls drops the first one."""
        places = [
            next(place for place, other in enumerate(self.pool) if walk.is_same_call(call, other))
            for call in self.pool
            if _make_key(call) in self.made_lookups
        ]
        for place in sorted(places, reverse=True):
            del self.pool[place]

    def advance(self, matching_calls: Sequence[RecordedCall | Call]) -> None:
        for call in matching_calls:
            self._remove(call)
        # One step further, even where the present one is unfinished (official).
        if matching_calls:
            self.open_next()
        for key in self.lookups:
            if key in self.made_lookups:
                self._remove(self.lookups[key])
        if self.has_only_lookups():
            self.open_next()

    def _remove(self, call: RecordedCall | Call) -> None:
        for index, expected_call in enumerate(self.pool):
            if walk.is_same_call(expected_call, call):
                del self.pool[index]
                return

    def forgive(self) -> None:
        """Drop lookups that were not made. The official code changes the list while it walks over it."""
        names = {lookup.name for lookup in self.path.lookups if lookup.forgiven and not lookup.where}
        index = 0
        while index < len(self.pool):
            call = self.pool[index]
            if self.path.is_special_lookup(call) or call.name in names:
                self._remove(call)
            index += 1

    def make_score(self) -> PathScore:
        calls, steps = len(self.path.calls), len(self.path.steps)
        right_steps = walk.count_finished_steps(self.path, self.pool, walk.is_same_call)
        return PathScore(calls, self.right_count, steps, right_steps, self.step, tuple(self.verdicts))


def _make_key(call: Call | RecordedCall) -> str:
    # In the order of the arguments: those of a call are sorted first, those of the path are not (official).
    return json.dumps({"name": call.name, "arguments": call.arguments})


def walk_path(entry: Entry, syntax: str, path_settings: PathSettings) -> Walk:
    """Walk along an entry's golden path by the official rules."""
    comparer = Comparer(entry, path_settings, Profile.OFFICIAL)
    script, runner = comparer.script, comparer.script.runner
    reader = Reader(entry.functions, syntax, runner)
    state, dialogue = _OfficialState.at_start(comparer.path), walk.open_dialogue(entry)
    shown_texts: ShownTexts = ()
    mistakes: list[CallVerdict] = []
    while state.step < MOST_STEPS:
        completion = yield shown_texts
        answer = reader.read_official(completion)
        if completion.fault:
            return WalkOutcome(Failed(runner.no_reply, f"no answer came: {completion.text}"), None)
        # An empty list of calls is falsy, and not None (official: both are asked for).
        has_calls = bool(answer.calls) or (runner.reads_empty_list and completion.tool_calls == ())
        if not has_calls:
            lacks_text = not answer.response if runner.needs_words else answer.response is None
            if lacks_text and runner.no_text:
                return WalkOutcome(Failed(runner.no_text, "the answer has neither calls nor text"), None)
            failure = _fail_mistakes(mistakes) if runner.counts_last_mistakes else None
            verdict, response = failure or _judge_end(entry, state), answer.response or ""
            golden, score = walk.build_golden_dialogue(entry), state.make_score()
            score = yield from comparer.rate_response(response, golden, score)
            return WalkOutcome(verdict, score)
        if not state.pool:
            reason = "every expected call was made, but the model goes on"
            return WalkOutcome(Failed("func_hallucination", reason), state.make_score())
        # One call that cannot be read ends the conversation, or the worker (official).
        unreadable_calls = [call for call in answer.calls if isinstance(call, Unreadable)]
        if unreadable_calls:
            # What kills the worker comes to light only when all calls have been read.
            worst = next((call for call in unreadable_calls if call.code != "crash"), unreadable_calls[0])
            is_crash = worst.code == "crash"
            return WalkOutcome(Failed(worst.code, worst.reason), None if is_crash else state.make_score())
        original_calls = [call for call in answer.calls if isinstance(call, Call)]
        calls = [Call(call.name, dict(sorted(call.arguments.items()))) for call in original_calls]
        state.step += 1
        walk.note_words(dialogue, completion, runner)
        try:
            turn = yield from _answer_turn(state, calls, comparer, dialogue)
        except walk.Crash as crash:
            return WalkOutcome(Failed("crash", str(crash)), None)
        except NotScoredError as error:
            return WalkOutcome(NotScored(error.cause, error.reason), None)
        state.verdicts += turn.verdicts
        mistakes = [each for each in turn.verdicts if not each.right and each.code != "format_error"]
        if not turn.replies:
            return WalkOutcome(_fail_mistakes(mistakes) or _judge_end(entry, state), state.make_score())
        state.right_count += len(turn.matching_calls)
        replies = [turn.replies.get(index, script.wrong_call) for index in range(len(calls))]
        # Calls are compared with their arguments in order, and shown to the judge as they were made.
        dialogue += walk.build_turns(original_calls if script.wording else calls, replies)
        state.advance(turn.matching_calls)
        shown_texts = tuple(replies)
    return WalkOutcome(Failed("step_limit", f"{MOST_STEPS} answers made calls"), state.make_score())


@dataclass
class _TurnOutcomes:
    """The outcomes of the calls of one answer."""

    replies: dict[int, str] = field(default_factory=dict)
    """To right calls, and to those of a wrong form, by index."""
    matching_calls: list[RecordedCall | Call] = field(default_factory=list)
    verdicts: list[CallVerdict] = field(default_factory=list)


def _answer_turn(
    state: _OfficialState, calls: Sequence[Call], comparer: Comparer, dialogue: Dialogue
) -> Inquiry[_TurnOutcomes]:
    """Pair the calls of an answer with expected ones and compare them.

    Raises ``NotScoredError``, ``Crash``.
    """
    state.drop_made_lookups()
    # Officially a NotImplementedError that nothing catches.
    if not state.pool:
        raise walk.Crash("nothing is expected any more once lookups that were made are dropped")
    turn = _TurnOutcomes()
    pairs = yield from _pair_calls(state, calls, comparer.driven.similarity)
    for index, expected_call, stage in pairs:
        call = calls[index]
        if reason := find_format_error(call, comparer.docs, Profile.OFFICIAL):
            turn.replies[index] = comparer.script.write_refusal(call, comparer.docs, reason)
            verdict = walk.make_verdict(state.step, call, expected_call, "format", "format_error", reason)
        elif stage:
            verdict = walk.make_verdict(state.step, call, expected_call, stage, None, "")
        else:
            verdict = yield from comparer.compare(state.step, call, expected_call, dialogue)
        if verdict.right:
            turn.replies[index] = expected_call.reply
            turn.matching_calls.append(expected_call)
        turn.verdicts.append(verdict)
    # Calls beyond the expected ones get the generic reply, and officially no error.
    paired_indices = {index for index, _, _ in pairs}
    reason = "no expected call was left for it"
    turn.verdicts += [
        walk.make_verdict(state.step, call, None, "unpaired", "unpaired", reason)
        for index, call in enumerate(calls)
        if index not in paired_indices
    ]
    return turn


def _pair_calls(
    state: _OfficialState, calls: Sequence[Call], similarity: str
) -> Inquiry[list[tuple[int, RecordedCall, str | None]]]:
    """Return each call's index, the expected call it is compared with, and the stage that decided.

    Official: ``mapping_call``. A lookup is only thought of where an expected call before it is not equal.
    """
    pairs: list[tuple[int, RecordedCall, str | None]] = []
    free_calls, rest = list(state.pool), []
    for index, call in enumerate(calls):
        key = _make_key(call)
        if free_calls and walk.is_same_call(call, free_calls[0]):
            pairs.append((index, free_calls.pop(0), "exact"))
        # A lookup is paired with itself at the first call that is not equal (official).
        elif free_calls and key in state.lookups:
            state.made_lookups.add(key)
            pairs.append((index, state.lookups[key], "lookup"))
        elif equal_call := next((each for each in free_calls if walk.is_same_call(call, each)), None):
            free_calls.remove(equal_call)
            pairs.append((index, equal_call, "exact"))
        else:
            rest.append(index)
    index_pairs = yield from pair_calls(
        [calls[index] for index in rest], [Call(call.name, call.arguments) for call in free_calls], similarity
    )
    return pairs + [(rest[place], free_calls[free_place], None) for place, free_place in index_pairs]


def _fail_mistakes(mistakes: Sequence[CallVerdict]) -> Failed | None:
    """Fail an entry whose last answer with calls had mistakes; the first one gives the code."""
    coded_mistakes = [mistake for mistake in mistakes if mistake.expected is not None]
    if not coded_mistakes:
        return None
    first = coded_mistakes[0]
    errors = [{"step": m.step, "code": m.code, "reason": m.reason} for m in coded_mistakes]
    return Failed(str(first.code), f"step {first.step}: {first.reason}", {"errors": errors})


def _judge_end(entry: Entry, state: _OfficialState) -> Passed | Failed:
    """Judge at the final response."""
    state.forgive()
    if state.opened >= len(state.path.steps) and not state.pool:
        return Passed()
    return walk.fail_left(entry, state.pool, state.verdicts, Profile.OFFICIAL)
