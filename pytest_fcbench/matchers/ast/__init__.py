"""Matching calls against a possible answer without running them (BFCL's AST evaluation).

One call is expected in the simple and multiple categories, several in any order in the parallel ones.
``official`` gives the verdict of BFCL's ``ast_checker``, ``corrected`` repairs its quirks; the module
docstrings list every rule and every difference.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.registry import Offer, read_corrected, read_official
from pytest_fcbench.domain.entry import Entry, ExpectedCalls
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.verdict import Judgement
from pytest_fcbench.matchers.ast import corrected, official
from pytest_fcbench.matchers.known_bad import find_unscored_cause, judge_fault


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge the calls of the last answer as written. ``entry`` must expect calls."""
    if not isinstance(entry.expectation, ExpectedCalls):
        raise TypeError(f"{entry.key} has no expected calls")
    unscored = find_unscored_cause(entry, transcript)
    syntax, names, language = transcript.prompting.syntax, transcript.prompting.names, entry.category.language
    strict = read_official(transcript.last, syntax, language)
    verdict = official.match_calls(entry, entry.expectation, strict, names)
    if unscored:
        return Judgement(verdict, unscored)
    if failed := judge_fault(transcript.last):
        return Judgement(verdict, failed)
    lenient = read_corrected(transcript.last, syntax, language, Offer(entry.functions, names))
    return Judgement(verdict, corrected.match_calls(entry, entry.expectation, lenient))
