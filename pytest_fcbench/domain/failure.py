"""Failed answers and conversations, and the classes of their failures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Failed, Profile


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
