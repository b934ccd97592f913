"""Checks of a team's own: a function that an entry names, and functions that it forbids to call.

They hold beside the rule of the entry's category, in both profiles; the category ``own_check`` has no other
rule. A check takes ``answer`` and, if it names it, ``entry``. It accepts an answer by returning nothing, True
or 1, and refuses one by an ``AssertionError``, False or a number below 1. Anything else is a fault of the
check, and the entry is not scored.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_fcbench.codecs.decoders.outcome import Calls, Unreadable
from pytest_fcbench.codecs.decoders.registry import Offer, read_corrected
from pytest_fcbench.domain.entry import Entry, PastCall
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.reasoning import drop_reasoning
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Call, Transcript
from pytest_fcbench.domain.verdict import OWN_ASSERTION, Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.matchers.known_bad import find_unscored_cause, judge_fault

FORBIDDEN = "forbidden_call"
UNREADABLE = "unreadable"
BROKEN_CHECK = "broken_check"
"""Cause where a check fails in another way than by refusing an answer."""


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
    late = entry.scene.withheld.values() if entry.scene else ()
    docs = entry.functions + tuple(doc for each in late for doc in each)
    offer, syntax = Offer(docs, transcript.prompting.names), transcript.prompting.syntax
    readings = (
        read_corrected(each, syntax, entry.category.language, offer) for each in transcript.completions
    )
    calls = (call for reading in readings if isinstance(reading, Calls) for call in reading.calls)
    return Answer(drop_reasoning(transcript.last.text or "").strip(), tuple(calls))


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge that an answer is there; ``add_own_checks`` judges the rest."""
    if verdict := find_unscored_cause(entry, transcript) or judge_fault(transcript.last):
        return Judgement.same_in_both(verdict)
    offer = Offer(entry.functions, transcript.prompting.names)
    reading = read_corrected(transcript.last, transcript.prompting.syntax, entry.category.language, offer)
    if isinstance(reading, Unreadable):
        reason = f"the answer tries to call but cannot be read: {reading.reason}"
        return Judgement.same_in_both(Failed(UNREADABLE, reason))
    return Judgement.same_in_both(Passed())


def add_own_checks(entry: Entry, transcript: Transcript, judgement: Judgement) -> Judgement:
    """Return a judgement whose verdicts pass only where the checks of the entry hold too."""
    if not (entry.check or entry.forbidden):
        return judgement
    answer, verdicts = read_answer(entry, transcript), (judgement.official, judgement.corrected)
    # A forbidden call weighs more than what else is wrong; a check need not look at what is wrong anyway.
    replaced: tuple[type[Passed | Failed], ...] = (Passed,)
    own: Verdict = Passed()
    if called := next((call for call in answer.calls if call.name in entry.forbidden), None):
        replaced = Passed, Failed
        reason = f"the entry forbids to call {called.name}: {shorten_text(_write_call(called), 200)}"
        own = Failed(FORBIDDEN, reason, {"function": called.name})
    elif entry.check and any(isinstance(verdict, Passed) for verdict in verdicts):
        own = run_check(entry.check, entry, answer)
    official, corrected = (own if isinstance(verdict, replaced) else verdict for verdict in verdicts)
    return replace(judgement, official=official, corrected=corrected)


def run_check(check: Callable[..., object], entry: Entry, answer: Answer) -> Verdict:
    """Return the verdict of a check on an answer."""
    name = f"{check.__module__}:{getattr(check, '__qualname__', type(check).__name__)}"
    given = {"entry": entry, "answer": answer}
    try:
        result = check(**{each: given[each] for each in inspect.signature(check).parameters if each in given})
    except AssertionError as error:
        # Without a message the line of the assertion says what was wrong.
        line = (traceback.extract_tb(error.__traceback__)[-1].line or name).strip()
        return Failed(OWN_ASSERTION, f"{name}: {str(error) or f'{line}; the answer: {_shorten(answer)}'}")
    except NotScoredError as error:
        return NotScored(error.cause, f"{name}: {error.reason}")
    except Exception as error:  # noqa: BLE001 - a check is a program of the user, which may fail in any way
        place = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__}: {error} (line {place.lineno}: {place.line})"
        return NotScored(BROKEN_CHECK, f"{name} raised {raised}; mend the check")
    if result is None or result is True:
        return Passed()
    if isinstance(result, bool | int | float) and 0 <= result <= 1:
        told = "refused the answer" if result is False else f"gave {result:g} of 1 to the answer"
        return Passed() if result == 1 else Failed(OWN_ASSERTION, f"{name} {told}: {_shorten(answer)}")
    returned = shorten_text(repr(result), 80)
    reason = f"{name} returned {returned}; return nothing, True, False or a number from 0 to 1"
    return NotScored(BROKEN_CHECK, reason)


def _shorten(answer: Answer) -> str:
    return shorten_text(str(answer), 200)
