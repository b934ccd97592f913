"""Entries that expect no call although a function could serve them.

To be sure takes understanding the question, so these findings are likely mistakes at the most.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.flaw import LIKELY, Flaw
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.golden_path.assignment import count_common
from pytest_fcbench.tools.audit.duplicates import SplitQuestion, find_pairs, read_question
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.findings import check, format_value
from pytest_fcbench.tools.audit.fitting_functions import RARE, Rarity, find_fit, is_content, split_words
from pytest_fcbench.tools.audit.function_docs import serialize_doc


@check(
    "idle", "no call is expected, but one seems right", "decide whether the function can answer the question"
)
def find_idle_functions(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find questions for which a function that is offered looks right although no call is expected."""
    for entry, evidence in find_fitting_functions(facts.entries, facts.threshold).items():
        yield entry, Flaw(LIKELY, evidence)


def find_fitting_functions(entries: Sequence[Entry], threshold: float = 0.8) -> Mapping[str, str]:
    """Return the evidence that an offered function fits, by the id of an entry that expects no call.

    The evidence is one of three: another entry of the suite asks nearly the same (by ROUGE-L), or the same in
    more words, and expects a call of a function that is offered here too; or the function fits by its words.
    """
    # After a conversation has begun, the same question may have been answered by then.
    idle = [
        read_question(entry)
        for entry in entries
        if entry.expectation.forbids_calls and entry.functions and not entry.category.continues
    ]
    calling_questions = [read_question(entry) for entry in entries if list_expected_calls(entry)]
    evidence_by_entry: dict[str, str] = {}
    for pair in find_pairs(idle, calling_questions, threshold):
        if names := _list_shared_calls(pair.question.source, pair.other.source):
            evidence = f"{pair.other.source.id} (ROUGE-L {pair.rouge_l:.2f}) calls {format_value(names)}"
            evidence_by_entry[pair.question.source.id] = (
                f"{evidence}, which is offered here too: {pair.question.excerpt}"
            )
    longer: defaultdict[str, list[SplitQuestion[Entry]]] = defaultdict(list)
    for other in calling_questions:
        for doc in _list_called_docs(other.source):
            longer[serialize_doc(doc)].append(other)
    rarity = Rarity([entry for entry in entries if entry.category.single_turn])
    for question in idle:
        entry = question.source
        if entry.id in evidence_by_entry:
            continue
        for other in (each for doc in entry.functions for each in longer[serialize_doc(doc)]):
            names = _list_shared_calls(entry, other.source)
            if names and _is_part(question.text, other.text, rarity):
                evidence = f"{other.source.id} has all words of the question and calls {format_value(names)}"
                evidence_by_entry[entry.id] = f"{evidence}, which is offered here too: {question.excerpt}"
                break
        else:
            for doc in entry.functions:
                if not (fit := find_fit(question.text, doc, rarity)):
                    continue
                evidence = f"the words {format_value([*fit.words])} are those of {doc.name}"
                if fit.values:
                    evidence += f", and its parameters can be given {format_value([*fit.values])}"
                evidence_by_entry[entry.id] = f"{evidence}: {question.excerpt}"
                break
    return evidence_by_entry


def _list_called_docs(entry: Entry) -> Sequence[FunctionDoc]:
    """List the docs of the functions that an entry expects to be called."""
    names = {call.name for call in list_expected_calls(entry)}
    return [doc for doc in entry.functions if doc.name in names]


def _list_shared_calls(entry: Entry, other: Entry) -> Sequence[str]:
    """List the functions that another entry calls, if all of them are offered in this entry."""
    docs = _list_called_docs(other)
    # Docs are compared, not names: another function of the same name may do something else.
    is_offered = {*map(serialize_doc, docs)} <= {*map(serialize_doc, entry.functions)}
    return sorted(doc.name for doc in docs) if is_offered else []


_QUOTED = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)")


def _is_part(question: str, other: str, rarity: Rarity) -> bool:
    """Tell whether a question of some rare words is in another one, in order and outside its quotes."""
    words = [*filter(is_content, split_words(question))]
    if len(words) < 2 or all(rarity.rate_word(word) < RARE for word in words):
        return False
    # A question in quotes is a text to work on.
    return count_common(words, split_words(_QUOTED.sub(" ", other))) == len(words)
