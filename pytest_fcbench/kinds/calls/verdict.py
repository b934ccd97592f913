"""Judge calls against a possible answer without running them (BFCL's AST evaluation).

One call is expected in the simple and multiple categories, several in any order in the parallel ones.
``official`` gives the verdict of BFCL's ``ast_checker``, ``corrected`` repairs its quirks; the module
docstrings list every rule and every difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pytest_fcbench.codecs.decoders.outcome import Reading
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement, NotScored
from pytest_fcbench.judging.known_bad import find_unscored_cause, judge_fault
from pytest_fcbench.judging.opinions import Equivalence
from pytest_fcbench.judging.questions import JudgeQuestion
from pytest_fcbench.kinds.calls import corrected, free_texts, official
from pytest_fcbench.kinds.calls.truth import ExpectedCalls


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge the calls of the last answer as written. ``entry`` must expect calls."""
    if not isinstance(entry.expectation, ExpectedCalls):
        raise TypeError(f"{entry.key} has no expected calls")
    unscored_cause = find_unscored_cause(entry, transcript)
    syntax, names, language = transcript.prompting.syntax, transcript.prompting.names, entry.category.language
    official_verdict = official.match_calls(entry, read_official(transcript.last, syntax, language), names)
    if unscored_cause:
        return Judgement(official_verdict, unscored_cause)
    if failure := judge_fault(transcript.last):
        return Judgement(official_verdict, failure)
    recall = partial(free_texts.recall_opinion, entry, transcript)
    try:
        corrected_verdict = corrected.match_calls(entry, _read_answer(entry, transcript), recall)
    except NotScoredError as error:
        return Judgement(official_verdict, NotScored(error.cause, error.reason))
    return Judgement(official_verdict, corrected_verdict)


def find_open_questions(entry: Entry, transcript: Transcript) -> Sequence[JudgeQuestion[Equivalence]]:
    """Return the questions to a judge that the corrected verdict depends on."""
    if find_unscored_cause(entry, transcript) or judge_fault(transcript.last):
        return []
    return free_texts.find_open_questions(entry, _read_answer(entry, transcript))


def _read_answer(entry: Entry, transcript: Transcript) -> Reading:
    prompting = transcript.prompting
    offer = OfferedFunctions(entry.functions, prompting.names)
    return read_corrected(transcript.last, prompting.syntax, entry.category.language, offer)
