"""Duplicate entries: within a suite, and in another one.

The similarity of two questions is ROUGE-L (Lin 2004) over their words: the F1 of the longest common
subsequence. Only pairs that could reach the threshold are compared, by the prefix filter of set-similarity
joins, which loses no pair: a common subsequence is no longer than the set of shared words, so two similar
texts share at least one of the rarest words of either.

Entries with the same cluster are alike on purpose where they expect different things. Multi-turn and
agentic entries are compared within their category only, because those categories are variants of each other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_fcbench.domain.entry import Entry, Group
from pytest_fcbench.domain.explanation import CERTAIN, HINT, LIKELY, Flaw
from pytest_fcbench.domain.text import split_words
from pytest_fcbench.kinds.golden_path.assignment import count_common
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.tools.audit.findings import SuiteFacts, check, format_value, join_user_messages
from pytest_fcbench.tools.audit.function_docs import serialize_doc

_ROUNDING = 1e-9


S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SplitQuestion(Generic[S]):
    """The messages of a user, split into words."""

    source: S
    """The entry that has it, or another source."""
    text: str
    words: tuple[str, ...]
    tokens: frozenset[tuple[str, int]]
    """The words, each with its number of earlier occurrences: a set with as many elements as words."""

    @property
    def excerpt(self) -> str:
        """The beginning of the text, for a sentence."""
        return format_value(self.text, 100)


@dataclass(frozen=True, slots=True)
class QuestionPair(Generic[S, T]):
    """Two questions and their similarity; ``other`` is the one that comes first."""

    question: SplitQuestion[S]
    other: SplitQuestion[T]
    rouge_l: float


def read_question(entry: Entry) -> SplitQuestion[Entry]:
    """Split the question of an entry into words."""
    return split_question(entry, join_user_messages(entry))


def split_question(source: S, text: str) -> SplitQuestion[S]:
    """Split a question into words."""
    words = split_words(text)
    times: Counter[str] = Counter()
    tokens = set()
    for word in words:
        times[word] += 1
        tokens.add((word, times[word]))
    return SplitQuestion(source, text, tuple(words), frozenset(tokens))


def compute_rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """Compute the F1 of the longest common subsequence, from 0 to 1; it is 1 for two texts without words."""
    if not one and not other:
        return 1.0
    return 2 * count_common(one, other) / (len(one) + len(other))


def find_pairs(
    questions: Iterable[SplitQuestion[S]], others: Sequence[SplitQuestion[T]], least: float
) -> Iterator[QuestionPair[S, T]]:
    """Pair every question with those of ``others`` that are alike; within one list each pair once.

    ``questions`` may be a stream of any length. Raises whatever it raises.
    """
    # Any order of the tokens loses no pair, as long as it is the same for both; rare ones first is fast.
    frequency = Counter(token for other in others for token in other.tokens)
    index: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number, other in enumerate(others):
        for token in _select_rarest_tokens(other, frequency, least):
            index[token].append(number)
    for number, question in enumerate(questions):
        # Within one list no question is paired with itself, and each pair comes once.
        end = number if questions is others else len(others)
        rarest = _select_rarest_tokens(question, frequency, least)
        # Sorted, because sets have no order, and each run must yield the pairs in the same one.
        for candidate in sorted({n for token in rarest for n in index.get(token, ()) if n < end}):
            other = others[candidate]
            length = len(question.words) + len(other.words)
            # A common subsequence is no longer than the number of common tokens.
            if 2 * len(question.tokens & other.tokens) < least * length - _ROUNDING:
                continue
            if (score := compute_rouge_l(question.words, other.words)) >= least:
                yield QuestionPair(question, other, score)


def _select_rarest_tokens(
    question: SplitQuestion[S], frequency: Counter[tuple[str, int]], least: float
) -> Sequence[tuple[str, int]]:
    """Select the rarest tokens, of which any text as alike as ``least`` must have one."""
    tokens = sorted(question.tokens, key=lambda token: (frequency[token], token))
    # 2 c / (a + b) >= t with c <= b makes c >= t a / (2 - t).
    shared_count = math.ceil(least * len(tokens) / (2 - least) - _ROUNDING)
    return tokens[: len(tokens) - max(shared_count, 1) + 1]


@check("duplicate")
def find_duplicates(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries that ask the same, or nearly the same, of the same functions."""
    groups: defaultdict[str, list[SplitQuestion[Entry]]] = defaultdict(list)
    for each in facts.entries:
        groups[_name_group(each)].append(read_question(each))
    reported_ids: set[str] = set()
    for pair in (pair for group in groups.values() for pair in find_pairs(group, group, facts.threshold)):
        entry, other = pair.question.source, pair.other.source
        is_same = pair.question.text == pair.other.text
        has_same_truth = _serialize_truth(entry) == _serialize_truth(other)
        # Steps of one conversation have the same question; what else shares a cluster has another truth.
        is_variant = entry.cluster is not None and entry.cluster == other.cluster
        if is_variant and (entry.category.continues or not has_same_truth):
            continue
        if _list_docs(entry) != _list_docs(other):
            continue
        one, two = _describe_truth(entry), _describe_truth(other)
        # One answer can be right for both: no call, or calls of the same functions.
        is_compatible = one == two or (_SOME_CALL in (one, two) and _NO_CALL not in (one, two))
        if is_same and has_same_truth:
            reported_ids.add(entry.id)
            evidence = f"is a duplicate of {other.id}: same question, functions and truth"
            yield entry.id, Flaw(CERTAIN, evidence)
        elif is_same and not is_compatible:
            likeness = f"asks the same as {other.id}, with the same functions"
            evidence = f"{likeness}, but expects something else: {one}; there {two}"
            yield entry.id, Flaw(CERTAIN, evidence, "decide which truth is right")
        elif entry.id not in reported_ids:
            reported_ids.add(entry.id)
            how = "same question" if is_same else f"ROUGE-L {pair.rouge_l:.2f}"
            likeness = f"is like {other.id} ({how}), with the same functions: {pair.question.excerpt}"
            yield entry.id, Flaw(HINT, likeness)


def _name_group(entry: Entry) -> str:
    """Name the group within which an entry is compared.

    Multi-turn categories are variants of each other, and agentic entries occur in several categories.
    """
    return entry.category.name if entry.category.group in (Group.MULTI_TURN, Group.AGENTIC) else ""


def _list_docs(entry: Entry) -> Sequence[str]:
    return sorted(map(serialize_doc, entry.functions))


def _serialize_truth(entry: Entry) -> str:
    # As text, because 1 equals 1.0 and True, which are different truths.
    return repr((entry.expectation, entry.scene))


_NO_CALL, _SOME_CALL = "no call", "some call"


def _describe_truth(entry: Entry) -> str:
    if entry.expectation.forbids_calls:
        return _NO_CALL
    # The calls that act on a scene depend on its state too.
    right_calls = () if entry.scene else find_kind(entry).list_right_calls(entry)
    names = sorted(call.name for steps in right_calls for calls in steps for call in calls)
    return format_value(names) if names else _SOME_CALL


ALIKE = 0.7
"""The least ROUGE-L of two questions that are one task."""


def count_distinct_tasks(entries: Sequence[Entry]) -> int:
    """Count the tasks of entries: questions that are alike, or made from one another, are one task."""
    task = {entry.key: entry.key for entry in entries}

    def find_task(key: str) -> str:
        while task[key] != key:
            key = task[key]
        return key

    questions = [*map(read_question, entries)]
    for pair in find_pairs(questions, questions, ALIKE):
        task[find_task(pair.question.source.key)] = find_task(pair.other.source.key)
    for entry in entries:
        for parent in task.keys() & entry.parents:
            task[find_task(entry.key)] = find_task(parent)
    return len({find_task(key) for key in task})


SAME_MEANING = 0.8
"""The least cosine of two questions that may mean the same. By all-MiniLM-L6-v2 the same question in other
words has 0.84 and more, about another thing 0.64 and less (tried on a few)."""


@check("paraphrase")
def find_paraphrases(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries that ask the same in other words, of the same functions, or as another suite does."""
    if facts.embed is None:
        return
    import numpy as np

    questions = [*map(read_question, facts.entries)]
    others = [*questions, *map(read_question, facts.against)]
    vectors = np.array(facts.embed([other.text for other in others]), dtype=np.float32)
    for number, question in enumerate(questions):
        cosines = vectors @ vectors[number]
        cosines[number : len(questions)] = 0.0  # itself, and later ones, which find this one
        for at in np.flatnonzero(cosines >= SAME_MEANING):
            other, is_own = others[at], bool(at < len(questions))
            if is_own:
                one, two = question.source, other.source
                # Paraphrases on purpose share a cluster; other groups and functions may repeat a question.
                is_intended = one.cluster is not None and one.cluster == two.cluster
                is_comparable = _name_group(one) == _name_group(two) and _list_docs(one) == _list_docs(two)
                if is_intended or not is_comparable:
                    continue
            # Questions with the same words are found by ``duplicate`` and ``overlap``.
            if compute_rouge_l(question.words, other.words) < facts.threshold:
                name = other.source.id if is_own else other.source.key
                evidence = f"has the same meaning as {name} (cosine {cosines[at]:.2f}): {other.excerpt}"
                yield question.source.id, Flaw(HINT, evidence)
                break


@check("overlap")
def find_overlaps(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find questions that another suite asks too, each with the most similar one."""
    pairs = find_pairs(
        [*map(read_question, facts.entries)], [*map(read_question, facts.against)], facts.threshold
    )
    reported_ids: set[str] = set()
    for pair in sorted(pairs, key=lambda pair: -pair.rouge_l):
        entry, other = pair.question.source, pair.other.source
        if entry.id not in reported_ids:
            reported_ids.add(entry.id)
            severity = LIKELY if pair.rouge_l == 1 else HINT
            evidence = f"is like {other.key} (ROUGE-L {pair.rouge_l:.2f}): {pair.question.excerpt}"
            yield entry.id, Flaw(severity, evidence)
