"""Entries that say the same: within a suite, and in another one.

How alike two questions are is told by ROUGE-L (Lin 2004) over their words: the F1 of the longest common
subsequence. Only pairs that could reach the threshold are compared: a subsequence is no longer than what two
texts share, so of the rarest words of one, as many as it may lack and one more, some word stands in the
other too (the prefix filter of set-similarity joins; nothing is lost by it).

Entries with the same cluster are paraphrases on purpose. Multi-turn and agentic entries are compared within
their category, because their categories are made of each other.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry, ExpectedCalls, ExpectedResults, GoldenPath, NoCall, Rule
from pytest_fcbench.matchers.golden_path.assignment import count_common
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, shown
from pytest_fcbench.tools.audit.function_docs import written
from pytest_fcbench.tools.audit.registry import Problem, check

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """What the user says in an entry, as words."""

    entry: Entry
    text: str
    words: tuple[str, ...]
    tokens: frozenset[tuple[str, int]]
    """The words, each with how often it stood before: a set that is as large as the text is long."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries and how alike their questions are; ``other`` is the one that comes first."""

    entry: Entry
    other: Entry
    alike: float


def question(entry: Entry) -> Question:
    """The question of an entry."""
    said = [message.content for turn in entry.turns for message in turn if message.role == "user"]
    text = "\n".join(said)
    words = tuple(_words(text))
    return Question(entry, text, words, frozenset(_numbered(words)))


def _words(text: str) -> Iterator[str]:
    """Words in lower case; scripts without spaces are taken sign by sign."""
    for word in _WORD.findall(text.lower()):
        if ord(max(word)) >= 0x2E80:
            yield from word
        else:
            yield word


def _numbered(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    times: Counter[str] = Counter()
    for word in words:
        times[word] += 1
        yield word, times[word]


def rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """The F1 of the longest common subsequence, 0 to 1. Two texts without a word are alike."""
    if not one and not other:
        return 1.0
    return 2 * count_common(one, other) / (len(one) + len(other))


def alike(questions: Sequence[Question], others: Sequence[Question], least: float) -> Iterator[Pair]:
    """Every question with those of ``others`` that are alike; of one and the same list each pair once."""
    same = questions is others
    frequent = Counter(token for found in (questions, others)[same:] for q in found for token in q.tokens)
    index: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    if not same:
        for number, other in enumerate(others):
            _file(index, number, other, frequent, least)
    for number, asked in enumerate(questions):
        near = {n for token in _prefix(asked, frequent, least) for n in index.get(token, ())}
        for n in sorted(near):
            length = len(asked.words) + len(others[n].words)
            if 2 * len(asked.tokens & others[n].tokens) < least * length - 1e-9:
                continue  # no subsequence can be as long as it would have to be
            score = rouge_l(asked.words, others[n].words)
            if score >= least:
                yield Pair(asked.entry, others[n].entry, score)
        if same:
            _file(index, number, asked, frequent, least)


def _file(
    index: defaultdict[tuple[str, int], list[int]],
    number: int,
    asked: Question,
    frequent: Counter[tuple[str, int]],
    least: float,
) -> None:
    for token in _prefix(asked, frequent, least):
        index[token].append(number)


def _prefix(asked: Question, frequent: Counter[tuple[str, int]], least: float) -> Sequence[tuple[str, int]]:
    """The rarest tokens, of which any text as alike as this must have one."""
    tokens = sorted(asked.tokens, key=lambda token: (frequent[token], token))
    # 2 c / (a + b) >= t with c <= b makes c >= t a / (2 - t).
    shared = math.ceil(least * len(tokens) / (2 - least) - 1e-9)
    return tokens[: len(tokens) - max(shared, 1) + 1]


@check("duplicate", "two entries ask the same")
def duplicates(facts: Facts) -> Iterator[Problem]:
    """Entries that ask the same, or nearly the same, of the same functions."""
    advice = "keep one of the two"
    told: set[str] = set()
    for pair in _within(facts):
        entry, other = pair.entry, pair.other
        functions = _functions(entry) == _functions(other)
        same = question(entry).text == question(other).text
        if same and functions and _truth(entry) == _truth(other):
            told.add(entry.id)
            evidence = f"is {other.id} once more: same question, functions and truth"
            yield Problem(entry.id, CERTAIN, evidence, advice)
        elif same and functions and not _compatible(entry, other):
            truths = f"{_expects(entry)}; there {_expects(other)}"
            evidence = (
                f"asks what {other.id} asks, of the same functions, and expects something else: {truths}"
            )
            yield Problem(entry.id, CERTAIN, evidence, "decide for one truth")
        elif functions and entry.id not in told:
            told.add(entry.id)
            how = "same question" if same else f"ROUGE-L {pair.alike:.2f}"
            asked = shown(question(entry).text, 100)
            evidence = f"is like {other.id} ({how}), with the same functions: {asked}"
            yield Problem(entry.id, HINT, evidence, advice)


def _compatible(entry: Entry, other: Entry) -> bool:
    """Whether one answer could be right for both: no call, or calls of the same functions."""
    one, two = _expects(entry), _expects(other)
    return one == two or (_ANY in (one, two) and _NONE not in (one, two))


_NONE, _ANY = "no call", "some call"


def _expects(entry: Entry) -> str:
    match entry.expectation:
        case NoCall():
            return _NONE
        case ExpectedCalls(calls=calls) | GoldenPath(calls=calls):
            return shown(sorted(call.name for call in calls))
        case ExpectedResults(calls=texts):
            return shown(sorted(text.partition("(")[0] for text in texts))
    return _ANY


SAME_MEANING = 0.8
"""How alike vectors of two questions are that may mean the same, as a cosine. By all-MiniLM-L6-v2 the same
question in other words has 0.84 and more, about another thing 0.64 and less (tried on a few)."""


@check("paraphrase", "two entries ask the same in other words", needs="embedding")
def paraphrases(facts: Facts) -> Iterator[Problem]:
    """Entries that ask the same in other words, of the same functions, or as another suite does."""
    if facts.embed is None:
        return
    import numpy as np

    asked = [*map(question, facts.entries)]
    others = [*asked, *map(question, facts.against)]
    vectors = np.array(facts.embed([each.text for each in others]), dtype=np.float32)
    for number, one in enumerate(asked):
        likeness = vectors @ vectors[number]
        likeness[number : len(asked)] = 0.0  # itself, and what is told of those behind it
        for at in np.flatnonzero(likeness >= SAME_MEANING):
            other = others[at]
            if _in_other_words(one, other, facts.threshold, elsewhere=bool(at >= len(asked))):
                name = other.entry.id if at < len(asked) else other.entry.key
                evidence = f"means what {name} means (cosine {likeness[at]:.2f}): {shown(other.text, 100)}"
                yield Problem(one.entry.id, HINT, evidence, "keep one of the two")
                break


@check("overlap", "another suite asks the same", needs="against")
def overlaps(facts: Facts) -> Iterator[Problem]:
    """Questions that another suite asks too."""
    if not facts.against:
        return
    told: set[str] = set()
    found = alike([*map(question, facts.entries)], [*map(question, facts.against)], facts.threshold)
    for pair in sorted(found, key=lambda pair: -pair.alike):
        if pair.entry.id in told:
            continue
        told.add(pair.entry.id)
        severity = LIKELY if pair.alike == 1 else HINT
        asked = shown(question(pair.entry).text, 100)
        evidence = f"is like {pair.other.key} (ROUGE-L {pair.alike:.2f}): {asked}"
        yield Problem(pair.entry.id, severity, evidence, "ask it otherwise, or count it once")


def _in_other_words(one: Question, other: Question, least: float, *, elsewhere: bool) -> bool:
    """Whether two questions that mean the same should not both be there, and are not told for their words."""
    together = one.entry.cluster is not None and one.entry.cluster == other.entry.cluster
    apart = _kin(one.entry) != _kin(other.entry) or _functions(one.entry) != _functions(other.entry)
    if not elsewhere and (together or apart):
        return False
    return rouge_l(one.words, other.words) < least


def _within(facts: Facts) -> Iterator[Pair]:
    """Pairs of a suite's own entries."""
    groups: defaultdict[str, list[Question]] = defaultdict(list)
    for entry in facts.entries:
        groups[_kin(entry)].append(question(entry))
    for group in groups.values():
        for pair in alike(group, group, facts.threshold):
            if pair.entry.cluster is None or pair.entry.cluster != pair.other.cluster:
                yield pair


def _kin(entry: Entry) -> str:
    """Entries are compared with those of their kin: multi-turn categories are made of each other, and what is
    about memories or the web is put in several."""
    return entry.category.name if entry.category.rule in (Rule.STATE, Rule.ANSWER) else ""


def _functions(entry: Entry) -> Sequence[str]:
    return sorted(map(written, entry.functions))


def _truth(entry: Entry) -> str:
    return repr((entry.expectation, entry.scene))
