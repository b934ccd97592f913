"""Checks of a team's own: a function that an entry names, and functions that it forbids to call.

They hold beside the rule of the entry's category, in both profiles; the category ``own_check`` has no other
rule. A check takes ``answer`` and, if it names it, ``entry``. It accepts an answer by returning nothing, True
or 1, and refuses one by an ``AssertionError``, ``pytest.fail``, False or a number below 1, or where it lacks
what the check takes out of it (``LACKING``). Where it skips the answer, the entry is not scored; anything
else is a fault of the check, and the entry is not scored either.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.codecs.decoders.syntax import Calls, Unreadable
from pytest_fcbench.domain.entry import Entry, Expectation, PastCall
from pytest_fcbench.domain.errors import LACKING, NotScoredError
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Call, Transcript, drop_reasoning
from pytest_fcbench.domain.verdict import OWN_ASSERTION, Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.kinds.calls.verdict import fail_without_calls
from pytest_fcbench.kinds.kind import Kind, Resources, find_early_verdict, read_last_answer

FORBIDDEN = "forbidden_call"
BROKEN_CHECK = "broken_check"
"""Cause where a check fails in another way than by refusing an answer."""
SKIPPED_CHECK = "skipped_check"
"""Cause where a check skips an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to an entry."""

    text: str
    """Its words without reasoning; of a conversation the last ones."""
    calls: tuple[Call, ...]
    """Its calls in order, each with ``name`` and ``arguments``; those that cannot be read are left out."""

    def __str__(self) -> str:
        return "; ".join(map(_write_call, self.calls)) or repr(self.text)


def _write_call(call: Call) -> str:
    return str(PastCall(call.name, call.arguments))


def read_answer(entry: Entry, transcript: Transcript) -> Answer:
    """Read the words and the calls of a conversation."""
    offer = OfferedFunctions(entry.all_functions, transcript.prompting.names)
    syntax, language = transcript.prompting.syntax, entry.category.language
    readings = (read_corrected(each, syntax, language, offer) for each in transcript.completions)
    calls = (call for reading in readings if isinstance(reading, Calls) for call in reading.calls)
    return Answer(drop_reasoning(transcript.last.text or "").strip(), tuple(calls))


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge that an answer is there; ``add_own_checks`` judges the rest."""
    if verdict := find_early_verdict(entry, transcript):
        return Judgement.same_in_both(verdict)
    reading = read_last_answer(entry, transcript)
    if isinstance(reading, Unreadable):
        return Judgement.same_in_both(fail_without_calls(reading))
    return Judgement.same_in_both(Passed())


def add_own_checks(entry: Entry, transcript: Transcript, judgement: Judgement) -> Judgement:
    """Return a judgement whose verdicts pass only where the checks of the entry hold too."""
    answer, verdicts = read_answer(entry, transcript), (judgement.official, judgement.corrected)
    # A forbidden call weighs more than what else is wrong; a check need not look at what is wrong anyway.
    replaced_types: tuple[type[Passed | Failed], ...] = (Passed,)
    own_verdict: Verdict = Passed()
    if forbidden_call := next((call for call in answer.calls if call.name in entry.forbidden), None):
        replaced_types = Passed, Failed
        call_text = shorten_text(_write_call(forbidden_call), 200)
        reason = f"the entry forbids to call {forbidden_call.name}: {call_text}"
        own_verdict = Failed(FORBIDDEN, reason, {"function": forbidden_call.name})
    elif entry.check and any(isinstance(verdict, Passed) for verdict in verdicts):
        own_verdict = run_check(entry.check, entry, answer)
    official, corrected = (own_verdict if isinstance(each, replaced_types) else each for each in verdicts)
    return replace(judgement, official=official, corrected=corrected)


def run_check(check: Callable[..., object], entry: Entry, answer: Answer) -> Verdict:
    """Return the verdict of a check on an answer."""
    name = f"{check.__module__}:{getattr(check, '__qualname__', type(check).__name__)}"
    # What a check changes must not reach the entries that share these docs.
    memo = {id(each): each for each in (entry.category, entry.check)}
    arguments = {"entry": entry, "answer": answer}
    try:
        parameter_names = [each for each in inspect.signature(check).parameters if each in arguments]
        result = check(**{each: deepcopy(arguments[each], memo) for each in parameter_names})
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a check is a program of the user, which may end in any way
        return _judge_exception(name, error, answer)
    # Weights that add up to 1 do so only nearly as floats.
    if result is None or (isinstance(result, int | float) and abs(result - 1) < 1e-9):
        return Passed()
    if isinstance(result, int | float) and 0 <= result < 1:
        opinion = "refused the answer" if result is False else f"gave {result:g} of 1 to the answer"
        return Failed(OWN_ASSERTION, f"{name} {opinion}: {_shorten(answer)}")
    result_text = shorten_text(_write_safely(result, repr), 80)
    reason = f"{name} returned {result_text}; return nothing, True, False or a number from 0 to 1"
    return NotScored(BROKEN_CHECK, reason)


def _judge_exception(name: str, error: BaseException, answer: Answer) -> Verdict:
    """Return the verdict of a check that ended with an exception; raise again what ends the run."""
    # pytest's exceptions go by their names, because rejudging needs no pytest.
    class_names, message = {each.__name__ for each in type(error).__mro__}, _write_safely(error, str)
    is_of_pytest = "OutcomeException" in class_names
    if type(error).__module__ == "_pytest.outcomes" and "Exit" in class_names:
        raise error
    if is_of_pytest and message.endswith("from pytest-timeout."):
        raise error
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    all_frames = list(zip(modules, traceback.extract_tb(error.__traceback__), strict=True))
    frames = [frame for module, frame in all_frames if module.partition(".")[0] != "_pytest"]
    if isinstance(error, LACKING):
        # The line of a library says nothing of what it was given.
        frames = [frame for module, frame in all_frames if module == name.partition(":")[0]] or frames
    last = frames[-1]
    file = re.split(r"[/\\]", last.filename)[-1]
    line = f"{(last.line or name).strip()} ({file}:{last.lineno})"
    if isinstance(error, AssertionError) or (is_of_pytest and "Failed" in class_names):
        return Failed(OWN_ASSERTION, f"{name}: {message or f'{line}; the answer: {_shorten(answer)}'}")
    if isinstance(error, LACKING):
        reason = f"{name}: {line}: {type(error).__name__}: {message}; the answer: {_shorten(answer)}"
        return Failed(OWN_ASSERTION, reason)
    if isinstance(error, NotScoredError):
        return NotScored(error.cause, f"{name}: {error.reason}")
    if class_names & {"Skipped", "SkipTest"}:
        return NotScored(SKIPPED_CHECK, f"{name}: {message or line}")
    return NotScored(BROKEN_CHECK, f"{name} raised {type(error).__name__}: {message}: {line}; mend the check")


def _write_safely(value: object, write: Callable[[object], str]) -> str:
    """Write a value of the user's, whose class may have no working way to do it."""
    try:
        return write(value)
    except Exception:  # noqa: BLE001 - as above
        return f"<{type(value).__name__}>"


def _shorten(answer: Answer) -> str:
    return shorten_text(str(answer), 200)


@dataclass(frozen=True, slots=True)
class AnyAnswer(Expectation):
    """Words or calls: only a check of the team's own judges them."""

    is_known: ClassVar[bool] = False


class OwnCheckKind(Kind):
    """A function of the team's own says whether the answer is right."""

    file_format = "question_entries:OwnCheckFile"

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge that an answer is there; the check judges the rest."""
        return judge(entry, transcript)


OWN_CHECK = OwnCheckKind()
