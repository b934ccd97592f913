"""The walk as the paper describes it, with the defects of the official code repaired.

- A wrong call gets the fixed reply and the conversation goes on, until the model answers without calls or
  made calls in ``MOST_STEPS`` answers.
- The form of a call is checked first, and only a well-formed one is compared with expected calls. An
  unreadable call gets a reply that says so.
- Calls of one answer can reach over several steps: a step is opened as soon as a call before it is right,
  and as long as only lookups are left.
- A lookup counts once. A right call that is made again gets its reply again and counts once.
- A step counts as lookups only if all of its calls are; all lookups are forgiven, unless the path has
  nothing else.
- A mistake that was corrected later does not fail the entry.
- A text is the same in each form of Unicode (``text_normalization``).
- A request that outgrew the model's context is the model's failure and counts among the calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from pytest_fcbench.codecs.decoders.syntax import Unreadable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Call, Fault, Inquiry, PathSettings, RecordedCall
from pytest_fcbench.domain.verdict import CallVerdict, Failed, NotScored, Passed, PathScore, Profile
from pytest_fcbench.judging.text_normalization import unify_texts
from pytest_fcbench.kinds.golden_path import walk
from pytest_fcbench.kinds.golden_path.assignment import pair_calls
from pytest_fcbench.kinds.golden_path.call_comparison import Comparer
from pytest_fcbench.kinds.golden_path.script import find_format_error, write_refusal
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.golden_path.walk import Dialogue, Reader, ShownTexts, Walk, WalkOutcome
from pytest_fcbench.kinds.kind import judge_fault

MOST_STEPS = 30
"""Answers with calls after which a conversation is ended; the longest paths have fewer than ten steps."""


@dataclass
class _CorrectedState:
    path: GoldenPath
    opened: int = 0
    """Number of steps whose calls are expected."""
    pool: list[RecordedCall] = field(default_factory=list)
    """Expected calls that were not made yet, of all opened steps."""
    made_calls: list[RecordedCall] = field(default_factory=list)
    """Calls of the path that were made, lookups ahead of their step among them."""
    variants: list[tuple[RecordedCall, RecordedCall]] = field(default_factory=list)
    """The made calls that were right without being equal, each with the call of the path that it was."""
    step: int = 0
    """Number of answers with calls so far."""
    verdicts: list[CallVerdict] = field(default_factory=list)

    @classmethod
    def at_start(cls, path: GoldenPath) -> _CorrectedState:
        state = cls(path)
        state.open_next()
        state.open_past_lookups()
        return state

    @property
    def is_complete(self) -> bool:
        """True where no further call is expected."""
        return self.opened == len(self.path.steps) and not self.pool

    def open_next(self) -> None:
        """Expect the calls of one more step, without lookups that were made ahead of it."""
        if self.opened < len(self.path.steps):
            self.pool += [call for call in self.path.steps[self.opened] if not self._is_made(call)]
            self.opened += 1

    def _is_made(self, call: RecordedCall) -> bool:
        # By identity, because a path can hold equal calls, and each counts.
        return any(call is other for other in self.made_calls)

    def open_past_lookups(self) -> None:
        """Expect the steps after lookups too, because lookups may be left out."""
        while self.opened < len(self.path.steps) and all(map(self.path.is_lookup, self.pool)):
            self.open_next()

    def match(self, expected_call: RecordedCall) -> None:
        """Note that an expected call was made."""
        self.pool = [call for call in self.pool if call is not expected_call]
        self.made_calls.append(expected_call)

    def find_expected_call(self, call: Call) -> RecordedCall | None:
        """Find the expected call that this one makes, also in a form that was right before."""
        originals = [original for variant, original in self.variants if _is_same_call(call, variant)]
        forms: list[Call | RecordedCall] = [call, *originals]
        return next((each for form in forms for each in self.pool if _is_same_call(form, each)), None)

    def find_repeated_call(self, call: Call) -> RecordedCall | None:
        """Find the call of the path that this one repeats."""
        known_calls = (*self.made_calls, *(variant for variant, _ in self.variants))
        return next((each for each in known_calls if _is_same_call(call, each)), None)

    def find_early_lookup(self, call: Call) -> RecordedCall | None:
        """Find the plain lookup of a later step that this call makes."""
        lookups = (each for each in self.path.calls if self.path.is_plain_lookup(each))
        return next((e for e in lookups if _is_same_call(call, e) and not self._is_made(e)), None)

    def make_score(self) -> PathScore:
        path, made_count, verdicts = self.path, len(self.made_calls), tuple(self.verdicts)
        steps = walk.count_finished_steps(path, self.list_missing_calls(), is_)
        return PathScore(len(path.calls), made_count, len(path.steps), steps, self.step, verdicts)

    def list_missing_calls(self) -> list[RecordedCall]:
        """List calls that were not made and cannot be forgiven. On a path of lookups alone none can."""
        remaining_calls = self.pool + [call for step in self.path.steps[self.opened :] for call in step]
        if all(map(self.path.is_lookup, self.path.calls)):
            return remaining_calls
        return [call for call in remaining_calls if not self.path.is_lookup(call)]


def walk_path(entry: Entry, syntax: str, path_settings: PathSettings) -> Walk:
    """Walk along an entry's golden path by the corrected rules."""
    comparer = Comparer(entry, path_settings, Profile.CORRECTED)
    reader = Reader(entry.functions, syntax, comparer.script.runner)
    state, dialogue = _CorrectedState.at_start(comparer.path), walk.open_dialogue(entry)
    shown_texts: ShownTexts = ()
    while state.step < MOST_STEPS:
        completion = yield shown_texts
        if failure := judge_fault(completion):
            return WalkOutcome(failure, state.make_score())
        if completion.fault:
            error = NotScored(Fault.INFERENCE_ERROR, f"the result is an error: {completion.text}")
            return WalkOutcome(error, state.make_score())
        answer = reader.read_corrected(completion)
        if not answer.calls and not answer.unread:
            score = yield from comparer.rate_response(answer.response or "", dialogue, state.make_score())
            return WalkOutcome(_judge_end(entry, state), score)
        state.step += 1
        walk.note_words(dialogue, completion, comparer.script.runner)
        if answer.unread:
            shown_texts = (f"The calls of this message cannot be read: {answer.unread}.",)
            state.verdicts.append(_fail_form(state.step, None, answer.unread))
            continue
        try:
            replies = yield from _answer_turn(state, answer.calls, comparer, dialogue)
        except NotScoredError as error:
            return WalkOutcome(NotScored(error.cause, error.reason), None)
        # Once all is done a repeated call is fine, and a new one ends the conversation.
        last = state.verdicts[-1]
        if state.is_complete and last.step == state.step and last.code == "func_hallucination":
            reason = f"every expected call was made, but the model calls {last.made['name']}"
            return WalkOutcome(Failed(last.code, reason), state.make_score())
        pairs = zip(answer.calls, replies, strict=True)
        exchanges = [(call, reply) for call, reply in pairs if isinstance(call, Call)]
        dialogue += walk.build_turns([call for call, _ in exchanges], [reply for _, reply in exchanges])
        shown_texts = tuple(replies)
    return WalkOutcome(Failed("step_limit", f"{MOST_STEPS} answers made calls"), state.make_score())


def _answer_turn(
    state: _CorrectedState, calls: Sequence[Call | Unreadable], comparer: Comparer, dialogue: Dialogue
) -> Inquiry[list[str]]:
    """Reply to the calls of an answer. Raises ``NotScoredError``."""
    replies: dict[int, str] = {}
    rest: list[tuple[int, Call]] = []
    for index, call in enumerate(calls):
        if isinstance(call, Unreadable):
            replies[index] = write_refusal(call.reason)
            state.verdicts.append(_fail_form(state.step, None, call.reason))
        elif reason := find_format_error(call, comparer.docs, Profile.CORRECTED):
            replies[index] = comparer.script.write_refusal(call, comparer.docs, reason)
            state.verdicts.append(_fail_form(state.step, call, reason))
        else:
            rest.append((index, call))
    # Equal calls are taken first, whatever their order; only the rest is paired by similarity.
    was_complete, made_before = state.is_complete, len(state.made_calls)
    rest = _match_exactly(state, rest, replies)
    pairs = yield from pair_calls(
        [call for _, call in rest],
        [Call(expected_call.name, expected_call.arguments) for expected_call in state.pool],
        comparer.driven.similarity,
    )
    expected_for = {call_place: state.pool[pool_place] for call_place, pool_place in pairs}
    for place, (index, call) in enumerate(rest):
        # An answer can have the same call twice, and the first may just have been right.
        if not _match_exactly(state, [(index, call)], replies):
            continue
        replies[index] = comparer.script.wrong_call
        if (expected_call := expected_for.get(place)) is None:
            code = "func_hallucination" if was_complete else "unpaired"
            reason = "no call was expected then"
            state.verdicts.append(walk.make_verdict(state.step, call, None, "unpaired", code, reason))
            continue
        verdict = yield from comparer.compare(state.step, call, expected_call, dialogue)
        state.verdicts.append(verdict)
        if verdict.right:
            state.match(expected_call)
            state.variants.append((replace(expected_call, arguments=call.arguments), expected_call))
            replies[index] = expected_call.reply
    # A turn with a right call opens the next step; lookups never hold a step back.
    if len(state.made_calls) > made_before:
        state.open_next()
    state.open_past_lookups()
    return [replies[index] for index in range(len(calls))]


def _match_exactly(
    state: _CorrectedState, calls: Sequence[tuple[int, Call]], replies: dict[int, str]
) -> list[tuple[int, Call]]:
    """Match calls that are equal to expected ones, over all steps that they reach; return the others."""
    rest, has_match = list(calls), True
    while has_match:
        has_match = False
        for index, call in list(rest):
            if expected_call := state.find_expected_call(call):
                stage = "exact"
                state.match(expected_call)
            elif expected_call := state.find_early_lookup(call):
                stage = "lookup"
                state.made_calls.append(expected_call)
            elif expected_call := state.find_repeated_call(call):
                stage = "repeat"
            else:
                continue
            replies[index] = expected_call.reply
            state.verdicts.append(walk.make_verdict(state.step, call, expected_call, stage, None, ""))
            rest.remove((index, call))
            has_match = True
        # A model may make the calls of several steps in one answer.
        if has_match and rest and state.opened < len(state.path.steps):
            next_step = state.path.steps[state.opened]
            if any(_is_same_call(call, other) for _, call in rest for other in next_step):
                state.open_next()
    return rest


def _is_same_call(one: Call | RecordedCall, other: RecordedCall) -> bool:
    """Tell whether two calls are equal, in whatever form of Unicode their texts are."""
    return one.name == other.name and unify_texts(one.arguments) == unify_texts(other.arguments)


def _fail_form(step: int, call: Call | None, reason: str) -> CallVerdict:
    return walk.make_verdict(step, call, None, "format", "format_error", reason)


def _judge_end(entry: Entry, state: _CorrectedState) -> Passed | Failed:
    """Judge at the final response: fail with the missing calls, and the mistake that explains them."""
    missing_calls = state.list_missing_calls()
    if not missing_calls:
        return Passed()
    left_calls = [walk.call_to_json(call) for call in missing_calls]
    for verdict in state.verdicts:
        if not verdict.right and verdict.expected in left_calls:
            return Failed(str(verdict.code), f"step {verdict.step}: {verdict.reason}", {"left": left_calls})
    return walk.fail_left(entry, missing_calls, state.verdicts, Profile.CORRECTED)
