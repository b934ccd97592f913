"""Entries that expect no call: whether a function could serve them after all.

Nobody can tell that without understanding the question, so these are hints, unless another entry of the suite
says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcbench.domain.entry import Entry, ExpectedCalls, NoCall
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.tools.audit.duplicates import alike, question
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import HINT, LIKELY, shown
from pytest_fcbench.tools.audit.function_docs import written
from pytest_fcbench.tools.audit.registry import Problem, check

_LEXICAL = LexicalModel(Prompting.usual(Mode.FC, Names.DOTTED))
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@check("idle", "no call is expected, but one looks right")
def idle(facts: Facts) -> Iterator[Problem]:
    """Questions for which a function that is offered looks right.

    Likely where another entry asks nearly the same and expects a call of a function that is offered here
    too; a hint where every word of a function's name stands in the question and the ``lexical`` model fills
    all that the function requires.
    """
    waiting = [e for e in facts.entries if isinstance(e.expectation, NoCall) and e.functions]
    served = dict(_served_elsewhere(facts, waiting))
    advice = "decide whether the function serves the question"
    for entry in waiting:
        if why := served.get(entry.id):
            yield Problem(entry.id, LIKELY, why, advice)
        elif why := _matched_by_words(entry):
            yield Problem(entry.id, HINT, why, advice)


def _served_elsewhere(facts: Facts, waiting: list[Entry]) -> Iterator[tuple[str, str]]:
    called = {e.id: e.expectation for e in facts.entries if isinstance(e.expectation, ExpectedCalls)}
    others = [question(entry) for entry in facts.entries if entry.id in called]
    for pair in alike([*map(question, waiting)], others, facts.threshold):
        names = {call.name for call in called[pair.other.id].calls}
        needed = {written(doc) for doc in pair.other.functions if doc.name in names}
        if needed and needed <= set(map(written, pair.entry.functions)):
            asked = shown(question(pair.entry).text, 100)
            evidence = f"{pair.other.id} (ROUGE-L {pair.alike:.2f}) calls {shown(sorted(names))}"
            yield pair.entry.id, f"{evidence}, which is offered here too: {asked}"


def _matched_by_words(entry: Entry) -> str | None:
    completion = run_through(_LEXICAL.complete(entry, AskModel(())))
    asked = question(entry)
    for part in completion.tool_calls or ():
        name = part if isinstance(part, str) else part.name
        words = [word.lower() for word in _PART.findall(name) if len(word) > 2]
        if words and all(_said(word, asked.words) for word in words):
            return (
                f"every word of {name} stands in the question, and what it requires can be filled: "
                + shown(asked.text, 100)
            )
    return None


def _said(word: str, words: tuple[str, ...]) -> bool:
    return any(word == other or (len(word) > 3 and other.startswith(word)) for other in words)
