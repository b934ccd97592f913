"""Structured calls of SQL: compared as they are written, and by what they do to a database.

Official rule (BFCL v1, category ``sql``): the call is compared with the possible answer as any other
(``matchers/ast``), so ``age>30`` is not ``30 < age``, and ``INSERT`` is not ``INSERT INTO``.

Corrected: the call and the accepted ones are written as statements (``statements``) and carried out, each in
a database of its own (``database``) with the entry's tables, or with tables that follow from the truth
(``derivation``). Right is what returns the same rows, in the same order where the truth orders them, and
leaves the same tables behind. Where no accepted call can be carried out, the comparison as written decides.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.answers import Transcript
from pytest_fcbench.codecs.reading import Calls
from pytest_fcbench.codecs.syntaxes import Offer, read_corrected
from pytest_fcbench.entries import Entry, ExpectedCalls
from pytest_fcbench.matchers import ast
from pytest_fcbench.verdicts import Judgement, NotScored


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Both verdicts on the last answer. ``entry`` must expect one call of SQL."""
    as_written = ast.judge(entry, transcript)
    if transcript.last.fault or isinstance(as_written.corrected, NotScored):
        return as_written
    offer = Offer(entry.functions, transcript.names)
    reading = read_corrected(transcript.last, transcript.syntax, entry.category.language, offer)
    match reading, entry.expectation:
        case Calls(calls=(call,)), ExpectedCalls(calls=(wanted,)) if call.name == wanted.name:
            from pytest_fcbench.matchers.sql import corrected  # with a parser that nothing else needs

            if not call.positional:
                verdict = corrected.match(entry, wanted, call, as_written.corrected)
                return replace(as_written, corrected=verdict)
    return as_written
