"""What is shown of an entry: its right answer in parts, a failed answer beside what was expected, flaws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Profile


@dataclass(frozen=True, slots=True)
class ShownParameter:
    """A parameter of an expected call."""

    name: str
    accepted: object
    """The accepted values as their suite writes them: a list, or a single value."""

    @property
    def values(self) -> tuple[object, ...]:
        """The accepted values that may be given."""
        return tuple(option for option in self._options if option != "")

    @property
    def may_be_left_out(self) -> bool:
        """True where an empty text is among the values, as BFCL's ground truth writes it."""
        return any(isinstance(option, str) and not option for option in self._options)

    @property
    def _options(self) -> Sequence[object]:
        return self.accepted if isinstance(self.accepted, (list, tuple)) else [self.accepted]


@dataclass(frozen=True, slots=True)
class ShownCall:
    """An expected call with the accepted values of its parameters."""

    name: str
    parameters: tuple[ShownParameter, ...]


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A call whose result is compared."""

    call: str
    rule: str = ""
    """The rule of the comparison; empty where a web API replies and the shape is compared."""


@dataclass(frozen=True, slots=True)
class ShownTruth:
    """A right answer in parts that all screens can draw; a kind fills those that it has."""

    turns: tuple[tuple[str, ...], ...] = ()
    """Calls as text, by turn; in an empty turn nothing can be called yet."""
    calls: tuple[ShownCall, ...] = ()
    results: tuple[ShownResult, ...] = ()
    steps: tuple[tuple[str, ...], ...] = ()
    """Calls as text that lead to the end, step by step."""
    texts: tuple[str, ...] = ()
    """Texts of which the answer must say one."""
    rule: str = ""
    """The right answer in words (``no call``), where no other part says it."""


@dataclass(frozen=True, slots=True)
class ArgumentPair:
    """An argument of a call beside the expected one, both as short text."""

    name: str
    found: str | None
    """None where the call lacks it."""
    expected: str | None
    """The accepted values; None where it should not be given."""
    wrong: bool


@dataclass(frozen=True, slots=True)
class CallPair:
    """A call of the answer beside the expected call that it was compared with."""

    found: str | None
    """The name of the function; None where no call is left for the expected one."""
    expected: str | None
    """The name of the expected function; None for a call too many."""
    wrong: bool
    """True where the names differ, where one of them is missing, or where no such function is offered."""
    arguments: tuple[ArgumentPair, ...] = ()


@dataclass(frozen=True, slots=True)
class StateDifference:
    """A place of the environments that is not as after the expected calls, with both values as short text."""

    at: str
    expected: str | None
    """None where nothing should be there."""
    found: str | None
    """None where nothing is there."""

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.at} is {self.found}, which should not be there"
        if self.found is None:
            return f"{self.at} is missing, expected {self.expected}"
        return f"{self.at} is {self.found}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A failed entry in parts; either ``calls``, or ``found`` and ``expected``, hold what is compared."""

    question: tuple[tuple[str, str], ...]
    """Role and text of each message of the turn."""
    turn: str = ""
    """The turn of a conversation that failed (``turn 2 of 3, 1 turn right``); empty where there is one."""
    calls: tuple[CallPair, ...] = ()
    found: tuple[str, ...] = ()
    """The calls or the text of the answer, one for each step."""
    expected: tuple[str, ...] = ()
    differences: tuple[StateDifference, ...] = ()


class Severity(StrEnum):
    """The certainty of a finding."""

    CERTAIN = "certain"
    """The fault was tried out, or follows from the entry alone."""
    LIKELY = "likely"
    """Mostly a mistake; a person should look."""
    HINT = "hint"
    """Often no mistake."""


CERTAIN, LIKELY, HINT = Severity


class Flaw(NamedTuple):
    """A flaw of one entry."""

    severity: Severity
    evidence: str
    advice: str | None = None
    """Replaces the advice of the check."""


@dataclass(frozen=True, slots=True)
class FailedEntry:
    """An entry with its transcript, and the verdict of a profile on it."""

    entry: Entry
    transcript: Transcript
    verdict: Failed
    profile: Profile


class AnswerClass(StrEnum):
    """The class of a failed single-turn answer, the first that applies."""

    CONTEXT_OVERFLOW = "context_overflow"
    """The request did not fit into the model's context."""
    INFERENCE_ERROR = "inference_error"
    """The result is the error of a call to the model (old result files have such results)."""
    UNFINISHED_ANSWER = "unfinished_answer"
    """The answer was cut at a limit or kept back by a filter."""
    UNWANTED_CALL = "unwanted_call"
    """A function was called where no function serves the request."""
    UNREADABLE_CALL = "unreadable_call"
    """The answer tries to call and cannot be read."""
    NO_CALL = "no_call"
    """The answer calls nothing where a call is expected."""
    UNKNOWN_FUNCTION = "unknown_function"
    """A call names no function that was offered."""
    MISSING_CALL = "missing_call"
    """Fewer calls were made than expected."""
    EXTRA_CALL = "extra_call"
    """More calls were made than expected."""
    WRONG_FUNCTION = "wrong_function"
    """Another function that was offered was called."""
    MISSING_ARGUMENT = "missing_argument"
    """An argument is missing that the function requires or the request states."""
    INVENTED_ARGUMENT = "invented_argument"
    """An argument was given that the function does not have, or that the right call leaves out."""
    WRONG_TYPE = "wrong_type"
    """An argument has another type than declared."""
    WRONG_ARGUMENT = "wrong_argument"
    """An argument has a value that is not accepted."""
    WRONG_RESULT = "wrong_result"
    """The right functions were called, but what they did or returned is not right, or is an error."""
    UNEXPLAINED = "unexplained"
    """The calls fit: the verdict has another reason, which its code names."""


class FailureClass(StrEnum):
    """The class of a failed conversation, the first that applies."""

    CONTEXT_OVERFLOW = "context_overflow"
    """A request did not fit into the model's context."""
    INFERENCE_ERROR = "inference_error"
    """The result is the error of a call to the model (old result files have such results)."""
    OTHER_TURNS = "other_turns"
    """The recorded result has another number of turns than the entry: it is of another version of it."""
    STEP_LIMIT = "step_limit"
    """The conversation was stopped at the limit of steps: the model kept calling functions in one turn."""
    ACTED_WITHOUT_FUNCTION = "acted_without_function"
    """The function that is needed came one turn later; the model acted with others instead of saying so."""
    ACTED_TOO_SOON = "acted_too_soon"
    """Nothing could be called yet, since a value was missing; the model acted instead of asking."""
    UNREADABLE_CALL = "unreadable_call"
    """A call of the truth is missing, and the turn ended with a call that cannot be read, or that the server
    refused."""
    WRONG_TURN = "wrong_turn"
    """A call of the truth was made in an earlier turn, or in a later one without an attempt in its own."""
    NO_CALL = "no_call"
    """No call was made in a turn that needs one."""
    REPEATED_ERROR = "repeated_error"
    """A call that had failed was made again as it was and failed in the same way, and a call of the truth is
    missing."""
    WRONG_ARGUMENT = "wrong_argument"
    """The function of the truth was called with another argument."""
    NEW_FUNCTION_UNUSED = "new_function_unused"
    """A function that came with this turn is needed and was not called."""
    UNKNOWN_FUNCTION = "unknown_function"
    """A call of the truth is missing, and one names no function that was offered, or is no call at all, and
    was not made good by a later call of the turn."""
    UNRESOLVED_ERROR = "unresolved_error"
    """A call of the truth was made and failed, and was not made again with success; or one is missing, and
    the model ended the turn after a call of its own that failed."""
    WRONG_FUNCTION = "wrong_function"
    """A call of the truth is missing, and another function was called to the same end: to change something
    where the truth changes something, to look where it only looks."""
    MISSING_CALL = "missing_call"
    """A call of the truth is missing; nothing stands in its place."""
    EXTRA_CALL = "extra_call"
    """All calls of the truth were made, and one more that changed something."""
    WRONG_ORDER = "wrong_order"
    """All calls of the truth were made, in another order."""
    UNEXPLAINED = "unexplained"
    """The calls are those of the truth in every turn: results differ for another reason."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The class of a failure and its place: turn (from 1), calls, parameter. A single answer has no turn."""

    failure: StrEnum
    turn: int | None = None
    expected: str | None = None
    """The call of the ground truth."""
    found: str | None = None
    """The call of the model."""
    parameter: str | None = None
    """The parameter whose value differs."""

    def __str__(self) -> str:
        where = f" in {self.parameter}" if self.parameter else ""
        calls = [("expected", self.expected), ("found", self.found)]
        texts = "; ".join(f"{word} {make_printable(call):.160}" for word, call in calls if call is not None)
        turn = "" if self.turn is None else f"turn {self.turn}"
        return f"{turn}{where}{': ' if turn and texts else ''}{texts}"
