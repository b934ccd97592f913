"""Classes of failed conversations, found from calls and results without a judge.

The verdict says what was different after a turn (``verdict``); the class says which call caused it.
The model's calls are compared with those of the ground truth, turn by turn. Two calls are the same where
function and arguments are, positional ones under their names and those equal to a default left out, or where
the same function changed nothing and returned the same. A call that failed is never the same as one of the
truth that did not. Each call is the same as one other at the most; what is left over is *missing* on the side
of the truth and *extra* on the side of the model.

The turns are looked at in this order: the turns just before the verdict's in which nothing could be called
(the official verdict comes only after the next one), the verdict's own, then all earlier ones, which can
have changed what is not compared (the current folder, for example). A verdict that no call was made is first
looked for in an answer of its own turn that cannot be read. The first turn to which a class applies decides,
and within it the first class in the order of ``FailureClass``; only numbers of another type (3 for 3.0) are
looked at last. Where the states differ, calls that change nothing explain it only if no others do. So every
failure has exactly one class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Undecodable, Unreadable
from pytest_fcbench.domain.explanation import Divergence, FailedEntry, FailureClass
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call, Fault
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.kinds.kind import MOST_STEPS
from pytest_fcbench.kinds.state.verdict import Fresh, is_error, list_expected_turns, list_offered_docs

_FAULTS = {Fault.OVERFLOW: FailureClass.CONTEXT_OVERFLOW, Fault.UNREADABLE_CALL: FailureClass.UNREADABLE_CALL}
"""The classes of answers that are none; others are those of an error in a result file."""


def classify_conversation(failure: FailedEntry, carry_out: CarryOut) -> Divergence:
    """Find the class of a conversation, and where it went wrong. The entry must have a trajectory."""
    transcript, verdict = failure.transcript, failure.verdict
    fault, length = transcript.last.fault, len(transcript.turns)
    if fault is Fault.OTHER_TURNS:
        was_stopped = len(transcript.turns[-1]) >= MOST_STEPS
        return Divergence(FailureClass.STEP_LIMIT if was_stopped else FailureClass.OTHER_TURNS, length)
    if fault is not None:
        return Divergence(_FAULTS.get(fault, FailureClass.INFERENCE_ERROR), length)
    blamed_turn = verdict.details.get("turn")
    # A turn that was stopped at the limit of steps is the last: a turn is missing, or its last step calls.
    is_short = length < len(list_expected_turns(failure.entry))
    if is_short or (blamed_turn == length and transcript.turns[-1][-1].calls):
        calls = Counter(call for step in transcript.turns[-1] for call in step.calls)
        most_frequent = max(calls, key=calls.__getitem__, default=None)
        return Divergence(FailureClass.STEP_LIMIT, length, found=most_frequent)
    turns = _compare_turns(failure, carry_out(failure))
    order = list(range(1, len(turns) + 1))
    if isinstance(blamed_turn, int) and blamed_turn in order:
        start = blamed_turn
        # Officially a turn without expected calls is not checked, so its calls show in a later verdict.
        while start > 1 and not turns[start - 2].truth:
            start -= 1
        order = order[start - 1 : blamed_turn] + order[: start - 1]
        # That nothing was called is then no consequence of what came before.
        if verdict.code == _NOTHING_CALLED and turns[blamed_turn - 1].is_unreadable:
            order = [blamed_turn, *order]
    for number in order:
        is_blamed = number == blamed_turn
        differs = is_blamed and verdict.code in _STATE_DIFFERS
        if divergence := turns[number - 1].find_divergence(turns, is_blamed=is_blamed, in_state=differs):
            return divergence
    return Divergence(FailureClass.UNEXPLAINED)


_NOTHING_CALLED = "multi_turn:empty_turn_model_response"
_STATE_DIFFERS = ("multi_turn:instance_state_mismatch", "multi_turn:hidden_state_mismatch")


@dataclass(frozen=True, slots=True)
class CallMade:
    """An executed call."""

    text: str
    call: Call
    result: str
    is_change: bool
    """True where the call changed an environment."""

    @property
    def has_failed(self) -> bool:
        """True where the result is an error."""
        return is_error(self.result)

    def is_equal(self, other: CallMade) -> bool:
        """Tell whether function and arguments are the same (3 equals 3.0)."""
        return self.call == other.call

    def is_made_by(self, other: CallMade) -> bool:
        """Tell whether a call is equal and did not fail, unless this one of the truth fails as well."""
        return self.is_equal(other) and (self.has_failed or not other.has_failed)

    def is_made_good_by(self, later: CallMade) -> bool:
        """Tell whether a later call is what this one, which names no function, should have been."""
        name = re.match(r"\w+", self.text)
        same_arguments = bool(later.call.arguments) and later.call.arguments == self.call.arguments
        is_meant = same_arguments or (name is not None and name.group() == later.call.name)
        return is_meant and not later.has_failed

    def has_same_effect(self, other: CallMade) -> bool:
        """Tell whether the same function changed nothing and returned the same, whatever its arguments."""
        only_looks = not (self.is_change or other.is_change or self.has_failed or other.has_failed)
        return self.call.name == other.call.name and only_looks and self.result == other.result

    def count_same_arguments(self, other: CallMade) -> int:
        """Count the arguments that both calls give the same value."""
        arguments, others = self.call.arguments, other.call.arguments
        return sum(name in others and others[name] == value for name, value in arguments.items())


Sides: TypeAlias = Sequence[tuple[tuple[CallMade, ...], tuple[CallMade, ...]]]
"""The executed calls of the model and of the truth, by turn."""
CarryOut: TypeAlias = Callable[[FailedEntry], Sides]


@dataclass(frozen=True, slots=True)
class _ComparedTurn:
    """A turn of a conversation beside that of the ground truth."""

    number: int
    truth: tuple[CallMade, ...]
    made: tuple[CallMade, ...]
    pairs: Mapping[int, int]
    """Places of calls of the ground truth, with the place of the same call of the model."""
    offered: tuple[FunctionDoc, ...]
    new: tuple[FunctionDoc, ...]
    """Functions that are new in this turn."""
    is_followed_by_functions: bool
    """True where functions are added in the next turn."""
    is_unreadable: bool
    """True where the last answer is a call that cannot be read."""

    @property
    def missing(self) -> list[CallMade]:
        return [call for place, call in enumerate(self.truth) if place not in self.pairs]

    @property
    def extra(self) -> list[CallMade]:
        paired_places = set(self.pairs.values())
        return [call for place, call in enumerate(self.made) if place not in paired_places]

    def find_divergence(
        self, turns: Sequence[_ComparedTurn], *, is_blamed: bool, in_state: bool
    ) -> Divergence | None:
        """Find what went wrong in this turn; ``in_state`` says that its verdict is about the state.

        Where no call is expected, calls that changed nothing count only in the turn of the verdict.
        """
        others = [turn for turn in turns if turn is not self]
        missing = self.missing
        if in_state:
            # A look that is missing explains no state, unless nothing else does.
            changes = [call for call in missing if call.is_change or self._list_attempts(call)]
            offered_names = {doc.name for doc in self.offered}
            if changes or any(call.is_change and call.call.name in offered_names for call in self.extra):
                missing = changes
        if missing:
            # There is always one, because the last class applies to every missing call.
            return next(self._explain_missing_calls(missing, turns))
        if self.truth:
            for call in self.extra:
                if call.is_change:
                    is_elsewhere = any(call.is_equal(other) for turn in others for other in turn.missing)
                    failure = FailureClass.WRONG_TURN if is_elsewhere else FailureClass.EXTRA_CALL
                    return self._diverge(failure, None, call)
            expected_calls = [self.truth[place] for place in sorted(self.pairs)]
            places = [self.pairs[place] for place in sorted(self.pairs)]
            for expected_call, at, in_order in zip(expected_calls, places, sorted(places), strict=True):
                if at != in_order:
                    return self._diverge(FailureClass.WRONG_ORDER, expected_call, self.made[at])
            for expected_call, at in zip(expected_calls, places, strict=True):
                # By repr, because 3 equals 3.0, but its result is another text, which official code compares.
                if repr(expected_call.call) != repr(self.made[at].call):
                    return self._blame_argument(expected_call, self.made[at])
            return None
        changes = [call for call in self.made if call.is_change]
        if not changes and not is_blamed:
            return None
        needs_function = self.is_followed_by_functions
        failure = FailureClass.ACTED_WITHOUT_FUNCTION if needs_function else FailureClass.ACTED_TOO_SOON
        return self._diverge(failure, None, next(iter(changes or self.made), None))

    def _list_attempts(self, expected_call: CallMade) -> list[CallMade]:
        """List the extra calls of a function that are not equal to another call of the truth."""
        others = [call for call in self.truth if not call.is_equal(expected_call)]
        same_name = (call for call in self.extra if call.call.name == expected_call.call.name)
        return [call for call in same_name if not any(map(call.is_equal, others))]

    def _explain_missing_calls(
        self, missing: Sequence[CallMade], turns: Sequence[_ComparedTurn]
    ) -> Iterator[Divergence]:
        """Yield the classes that apply to calls that are missing, in the order of ``FailureClass``."""
        first = missing[0]
        earlier = [extra_call for turn in turns[: self.number - 1] for extra_call in turn.extra]
        later = [extra_call for turn in turns[self.number :] for extra_call in turn.extra]
        if self.is_unreadable:
            yield self._diverge(FailureClass.UNREADABLE_CALL, first)
        for call in missing:
            elsewhere = earlier if self._list_attempts(call) else [*earlier, *later]
            if any(map(call.is_made_by, elsewhere)):
                yield self._diverge(FailureClass.WRONG_TURN, call)
        if not self.made:
            yield self._diverge(FailureClass.NO_CALL, first)
        yield from self._blame_own_calls(missing)
        yield self._diverge(FailureClass.MISSING_CALL, first)

    def _blame_own_calls(self, missing: Sequence[CallMade]) -> Iterator[Divergence]:
        """Yield the classes in which a call of this turn stands where one is missing, in their order."""
        extra, first = self.extra, missing[0]
        new_names, offered_names = ({doc.name for doc in docs} for docs in (self.new, self.offered))
        truth_names = {call.call.name for call in self.truth}
        for place, call in enumerate(extra):
            repetitions = (other for other in extra[place + 1 :] if other.result == call.result)
            if call.has_failed and any(map(call.is_equal, repetitions)):
                yield self._diverge(FailureClass.REPEATED_ERROR, first, call)
        attempts = [(call, other) for call in missing for other in extra if call.is_equal(other)]
        for call in missing:
            others = self._list_attempts(call)
            # By repr, because a function can fail for 3.0 that takes 3.
            if others and repr(call.call) not in (repr(other.call) for other in others):
                yield self._blame_argument(call, max(others, key=call.count_same_arguments))
        for call in missing:
            if call.call.name in new_names and not self._list_attempts(call):
                yield self._diverge(FailureClass.NEW_FUNCTION_UNUSED, call)
        for call in extra:
            later_calls = self.made[self.made.index(call) + 1 :]
            if call.call.name not in offered_names and not any(map(call.is_made_good_by, later_calls)):
                yield self._diverge(FailureClass.UNKNOWN_FUNCTION, first, call)
        yield from (self._diverge(FailureClass.UNRESOLVED_ERROR, call, other) for call, other in attempts)
        if extra and extra[-1] is self.made[-1] and extra[-1].has_failed:
            yield self._diverge(FailureClass.UNRESOLVED_ERROR, first, extra[-1])
        for call in extra:
            has_same_end = call.is_change == first.is_change and not call.has_failed
            if has_same_end and call.call.name not in truth_names:
                yield self._diverge(FailureClass.WRONG_FUNCTION, first, call)

    def _blame_argument(self, expected_call: CallMade, made_call: CallMade) -> Divergence:
        expected_arguments, made_arguments = expected_call.call.arguments, made_call.call.arguments
        # By repr, so that 3 for 3.0 is found.
        differing = (
            name
            for name in {**expected_arguments, **made_arguments}
            if repr(expected_arguments.get(name)) != repr(made_arguments.get(name))
        )
        return self._diverge(FailureClass.WRONG_ARGUMENT, expected_call, made_call, next(differing, None))

    def _diverge(
        self,
        failure: FailureClass,
        expected_call: CallMade | None,
        made_call: CallMade | None = None,
        parameter: str | None = None,
    ) -> Divergence:
        expected_text, made_text = (call.text if call else None for call in (expected_call, made_call))
        return Divergence(failure, self.number, expected_text, made_text, parameter)


def _compare_turns(failure: FailedEntry, sides: Sides) -> list[_ComparedTurn]:
    entry, transcript = failure.entry, failure.transcript
    turns = []
    for at, (steps, (made_calls, expected_calls)) in enumerate(zip(transcript.turns, sides, strict=False)):
        offer = OfferedFunctions(list_offered_docs(entry, at), transcript.prompting.names)
        last = steps[-1]
        reading = read_corrected(last.completion, transcript.prompting.syntax, entry.category.language, offer)
        # Calls that only the corrected reading sees were not carried out either.
        is_unreadable = not last.calls and isinstance(reading, (Unreadable, Calls)) and reading != Calls(())
        calls = expected_calls, made_calls, _pair_calls(expected_calls, made_calls)
        number, late = at + 1, entry.late_functions
        turn = _ComparedTurn(number, *calls, offer.functions, late.get(at, ()), number in late, is_unreadable)
        turns.append(turn)
    return turns


def carry_out_calls(fresh: Fresh, failure: FailedEntry) -> Sides:
    """Carry out the calls of the model, and those of the truth, each in environments of their own."""
    truth = list_expected_turns(failure.entry)
    # Calls are read with all functions of the conversation, even those that are not yet offered.
    offer = OfferedFunctions(list_offered_docs(failure.entry, len(truth)), failure.transcript.prompting.names)
    # Every call is executed, because later ones depend on it.
    model, right = fresh(failure.entry), fresh(failure.entry)
    return [
        (
            _carry_out_texts(chain.from_iterable(step.calls for step in steps), model, offer),
            _carry_out_texts(expected_calls, right, offer),
        )
        for steps, expected_calls in zip(failure.transcript.turns, truth, strict=False)
    ]


def _carry_out_texts(
    texts: Iterable[str], environments: Environments, offer: OfferedFunctions
) -> tuple[CallMade, ...]:
    made_calls = []
    before = environments.copy_state()
    for text in texts:
        (result,) = environments.perform_calls([text])
        after = environments.copy_state()
        try:
            is_change = before != after
        except RecursionError:  # a model can put a ticket into itself
            is_change = True
        made_calls.append(CallMade(text, _read_call(text, offer), result, is_change))
        before = after
    return tuple(made_calls)


def _read_call(text: str, offer: OfferedFunctions) -> Call:
    """Read a call under the names of the docs, without arguments that are defaults.

    A text that is no call becomes the name of one without arguments.
    """
    try:
        (call,) = python.parse_corrected(text)
    except (Undecodable, ValueError):
        return Call(text, {})
    return drop_defaults(offer.normalise_call(call), offer)


def drop_defaults(call: Call, offer: OfferedFunctions) -> Call:
    """Return a call without arguments that are defaults, under their names."""
    doc = offer.by_name.get(call.name)
    defaults = {name: schema.get("default") for name, schema in doc.properties.items()} if doc else {}
    arguments = {
        name: value
        for name, value in sorted(call.arguments.items())
        if value is not None and (name not in defaults or value != defaults[name])
    }
    return Call(call.name, arguments, call.positional)


def _pair_calls(truth: Sequence[CallMade], made_calls: Sequence[CallMade]) -> dict[int, int]:
    """Pair the same calls: as many as possible in the same order, then those left in any."""
    pairs: dict[int, int] = {}
    # Equal calls first, so that a call with the same effect does not take the place of an equal one.
    for is_same in (CallMade.is_made_by, CallMade.has_same_effect):
        open_places = [place for place in range(len(truth)) if place not in pairs]
        free_places = [place for place in range(len(made_calls)) if place not in pairs.values()]
        table = [[is_same(truth[one], made_calls[other]) for other in free_places] for one in open_places]
        pairs |= {open_places[one]: free_places[other] for one, other in _find_longest_subsequence(table)}
        for row, one in enumerate(open_places):
            for column, other in enumerate(free_places):
                if one not in pairs and other not in pairs.values() and table[row][column]:
                    pairs[one] = other
    return pairs


def _find_longest_subsequence(table: Sequence[Sequence[bool]]) -> Iterator[tuple[int, int]]:
    """Find the longest common subsequence of two sequences, from the table of what is the same."""
    rows, columns = len(table), len(table[0]) if table else 0
    lengths = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            lengths[row][column] = (
                lengths[row + 1][column + 1] + 1
                if table[row][column]
                else max(lengths[row + 1][column], lengths[row][column + 1])
            )
    row = column = 0
    while row < rows and column < columns:
        if table[row][column]:
            yield row, column
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1
