"""Functions that fit a question, judged by words alone.

A function fits a question of one sentence if all of this holds:

- the question names what the function is about: the noun that its name ends in (``time`` of
  ``get_local_time``), or a value of an enum;
- what stands before that is neither rare (``vice`` president) nor another action (create, where the
  function opens), and a question word asks for a function that looks something up;
- the question has a value for each parameter that must be given: a number for a number, a rare or
  capitalised word after an article, a preposition, "is" or a word of the description for a text;
- no such word is left over.

Words are rare by the share of the suite's questions that have them. A synonym (``pizza`` for
``cuisine``) is not seen.

Entries that expect no call although a function could serve them.

To be sure takes understanding the question, so these findings are likely mistakes at the most.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import LIKELY, Flaw
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.golden_path.assignment import count_common
from pytest_fcbench.tools.audit.duplicates import SplitQuestion, find_pairs, read_question
from pytest_fcbench.tools.audit.findings import SuiteFacts, check, format_value, join_user_messages
from pytest_fcbench.tools.audit.function_docs import serialize_doc

_WORD = re.compile(r"[^\W\d_]+|\d[\d.,]*")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SENTENCE_END = re.compile(r"[.!?](?=\s)")

_PREPOSITIONS = ("about", "at", "between", "by", "for", "from", "in", "near", "of", "on", "per", "to", "with")
_INTRODUCING = frozenset((*_PREPOSITIONS, "a", "an", "the", "is", "are"))
_ARTICLES = frozenset(("a", "an", "the"))
_QUESTION_WORDS = frozenset(
    (
        *("how", "what", "when", "where", "which", "who", "are"),
        *("did", "do", "does", "has", "have", "is", "was"),
    )
)
# A day alone is no value that a function must be given.
_LIGHT_WORD = re.compile(
    "about|an|and|are|as|at|be|between|by|can|did|do|does|for|from|get|has|have|how|in|is|its?|many|me|"
    "much|my|near|now|of|on|or|our|per|please|set|some|that|the|there|this|to|today|tomorrow|tonight|us|"
    "was|we|were|what|when|where|which|who|will|with|yesterday|your?"
)
"""Words that say nothing about the subject of a question."""
_LOOKING = (
    *("analyze", "calculate", "check", "compute", "determine", "fetch", "find", "get", "identify", "list"),
    *("locate", "look", "obtain", "provide", "query", "retrieve", "return", "search", "show", "view"),
)
"""Verbs of functions that find something out and change nothing."""
_GENERIC = ("api", "data", "detail", "function", "info", "information", "service", "stat", "tool")
"""Nouns at the end of a name that every function could have."""

RARE = 0.7
"""The least rarity of a word that tells questions apart: a dozen of BFCL's 4,600 have it at the most."""
_COMMON = 0.3

_NUMBERS = frozenset(("integer", "float", "double", "number", "long"))
_TEXTS = frozenset(("string", "array", "any", "tuple", "list"))


class Rarity:
    """How rare words are in the questions of entries, from 0 to 1, and which actions their functions take."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._number = len(entries)
        self._counts = Counter(
            word for entry in entries for word in {*split_words(join_user_messages(entry))}
        )
        names = [_split_name(doc) for entry in entries for doc in entry.functions]
        self.actions = frozenset(words[0] for words in names if len(words) > 1).difference(_LOOKING)
        """The first words of functions' names: verbs, for the most part."""

    def rate_word(self, word: str) -> float:
        """Rate a word: 0 if every question has it, 1 if at most one has it."""
        return 1 - math.log(max(self._counts[word], 1)) / math.log(max(self._number, 2))


@dataclass(frozen=True, slots=True)
class Fit:
    """Why a function fits a question."""

    words: tuple[str, ...]
    """Words of the question that the name or the description of the function has."""
    values: tuple[str, ...]
    """Parts of the question that its parameters can be given."""


def split_words(text: str) -> list[str]:
    """Split a text into lower-case words and numbers, also at underscores and inside camelCase."""
    return [word.lower() for word in _WORD.findall(_CAMEL_CASE.sub(" ", text))]


def is_content(word: str) -> bool:
    """Tell whether a word says something about the subject of a question."""
    return len(word) > 1 and not word[0].isdigit() and not _LIGHT_WORD.fullmatch(word)


def find_fit(question: str, doc: FunctionDoc, rarity: Rarity) -> Fit | None:
    """Find out by words whether a function fits a question."""
    if _SENTENCE_END.search(question.strip()):
        return None
    matches = list(_WORD.finditer(question))
    words = [match.group().lower() for match in matches]
    options = [word for schema in doc.properties.values() for word in _list_options(schema.get("enum"))]
    description_words = [*filter(is_content, split_words(f"{doc.name} {doc.description}"))]
    labels = split_words(" ".join(doc.properties))
    is_covered = [is_content(word) and _has_alike(word, description_words) for word in words]

    def ends_phrase(at: int) -> bool:
        # "movie tickets" asks for tickets.
        follows = at + 1 < len(words) and question[matches[at].end() : matches[at + 1].start()] == " "
        if not follows or is_covered[at + 1] or matches[at + 1].group()[0].isupper():
            return True
        return not is_content(words[at + 1]) or words[at + 1] in ("being", "using")

    def can_be_value(at: int) -> bool:
        is_part = is_content(words[at]) or words[at] in _ARTICLES
        return is_part and not is_covered[at] and words[at] not in (*labels, *options)

    name = _split_name(doc)
    # The noun of a name is the last word before a preposition that not every function could have.
    noun_phrase = [*name[:1], *takewhile(lambda word: word not in _PREPOSITIONS, name[1:])]
    nouns = [word for word in noun_phrase if not _has_alike(word, _GENERIC + _LOOKING)]
    subjects = [*nouns[-1:], *options]
    if not any(_has_alike(word, subjects) and ends_phrase(at) for at, word in enumerate(words)):
        return None
    start = next(
        (at for at, word in enumerate(words) if is_covered[at] and rarity.rate_word(word) > _COMMON), None
    )
    if start is None or not _may_lead(words[:start], doc, rarity):
        return None
    values = []
    at = start
    while at < len(words):
        first = at
        while at < len(words) and can_be_value(at):
            at += 1
        run = matches[first:at]
        capitals = [match for match in run if match.group()[0].isupper()]
        if capitals or any(is_content(word) and rarity.rate_word(word) >= RARE for word in words[first:at]):
            before = words[first - 1]
            if not (capitals or is_covered[first - 1] or before in _INTRODUCING):
                return None
            values.append(question[run[0].start() : run[-1].end()])
        at += at == first
    if not _can_fill(doc, words, len(values)):
        return None
    covered_words = (word for word, is_in_doc in zip(words, is_covered, strict=True) if is_in_doc)
    return Fit(tuple(dict.fromkeys(covered_words)), tuple(values))


def _split_name(doc: FunctionDoc) -> list[str]:
    return split_words(doc.name.rpartition(".")[2])


def _list_options(enum: object) -> list[str]:
    return [word for option in enum for word in split_words(str(option))] if isinstance(enum, list) else []


def _may_lead(words: Sequence[str], doc: FunctionDoc, rarity: Rarity) -> bool:
    """Tell whether words can stand in a question before the first that a function's doc has."""
    content = [*filter(is_content, words)]
    if any(rarity.rate_word(word) > RARE for word in content):
        return False
    if _QUESTION_WORDS.intersection(words):
        says = [*split_words(doc.description)[:3], *_split_name(doc)]
        return any(_has_alike(word, _LOOKING) for word in says)
    return not rarity.actions.intersection(content)


def _can_fill(doc: FunctionDoc, words: Sequence[str], texts: int) -> bool:
    """Tell whether a question's words and texts fill what a function requires, and no text is left over."""
    needed_numbers = needed_texts = places = 0
    for name, schema in doc.properties.items():
        kind, options = str(schema.get("type")).lower(), _list_options(schema.get("enum"))
        has_default = "default" in schema or "default" in str(schema.get("description")).lower()
        is_needed = name in doc.required and not has_default
        if options:
            if is_needed and not any(_has_alike(option, words) for option in options):
                return False
        elif kind in _NUMBERS:
            needed_numbers += is_needed
        elif kind in _TEXTS:
            needed_texts += is_needed
            places += 1
        elif is_needed and kind != "boolean":
            return False
    numbers = sum(word[0].isdigit() for word in words)
    return needed_numbers <= numbers and needed_texts <= texts <= places


def _has_alike(word: str, others: Iterable[str]) -> bool:
    """Tell whether one of the words is the same but for its ending (``champion``, ``championship``)."""
    for other in others:
        short, long = sorted((word, other), key=len)
        if short == long or (len(short) < 4 and long in (f"{short}s", f"{short}es")):
            return True
        stem = short.rstrip("ey") if len(short) > 4 else short
        if len(short) > 3 and long.startswith(stem) and (len(stem) > 4 or len(long) - len(stem) < 3):
            return True
    return False


@check("idle")
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
            question_text = f"which is offered here too: {pair.question.excerpt}"
            evidence_by_entry[pair.question.source.id] = f"{evidence}, {question_text}"
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
