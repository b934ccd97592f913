"""Entries that expect no call although a function could serve them.

To be sure takes understanding the question, so these findings are hints, unless another entry of the suite
shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcbench.domain.entry import ExpectedCalls, NoCall
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.tools.audit.duplicates import find_pairs, read_question
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import HINT, LIKELY, Flaw, check, format_value
from pytest_fcbench.tools.audit.function_docs import serialize_doc

_LEXICAL = LexicalModel(Prompting.make_default(Mode.FC, Names.DOTTED))
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@check(
    "idle", "no call is expected, but one seems right", "decide whether the function can answer the question"
)
def find_idle_functions(facts: Facts) -> Iterator[tuple[str, Flaw]]:
    """Find questions for which a function that is offered looks right although no call is expected.

    Likely where another entry asks nearly the same and expects a call of a function that is offered here
    too; a hint where every word of a function's name stands in the question and the ``lexical`` model fills
    all that the function requires.
    """
    # After a conversation has begun, the same question may have been answered by then.
    idle = [
        entry
        for entry in facts.entries
        if isinstance(entry.expectation, NoCall) and entry.functions and not entry.rule.continues
    ]
    called = {e.id: e.expectation for e in facts.entries if isinstance(e.expectation, ExpectedCalls)}
    others = [read_question(entry) for entry in facts.entries if entry.id in called]
    served: dict[str, str] = {}
    for pair in find_pairs([*map(read_question, idle)], others, facts.threshold):
        entry, other = pair.question.source, pair.other.source
        names = {call.name for call in called[other.id].calls}
        needed = {serialize_doc(doc) for doc in other.functions if doc.name in names}
        # Docs are compared, not names: another function of the same name may do something else.
        if needed and needed <= set(map(serialize_doc, entry.functions)):
            told = f"{other.id} (ROUGE-L {pair.rouge_l:.2f}) calls {format_value(sorted(names))}"
            served[entry.id] = f"{told}, which is offered here too: {pair.question.excerpt}"
    for entry in idle:
        if entry.id in served:
            yield entry.id, Flaw(LIKELY, served[entry.id])
            continue
        question = read_question(entry)
        for call in run_through(_LEXICAL.complete(entry, AskModel(()))).tool_calls or ():
            name = call if isinstance(call, str) else call.name
            # Nearly every question has short parts such as ``by`` and ``to``.
            words = [word.lower() for word in _NAME_PART.findall(name) if len(word) > 2]
            is_said = all(
                any(said == word or (len(word) > 3 and said.startswith(word)) for said in question.words)
                for word in words
            )
            if words and is_said:
                told = (
                    f"every word of {name} occurs in the question, and its required parameters can be filled"
                )
                yield entry.id, Flaw(HINT, f"{told}: {question.excerpt}")
                break
