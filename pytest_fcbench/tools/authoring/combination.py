"""New entries from entries with one call (BFCL, appendix B): more functions, more calls, or none that fits.

All draws come from the given ``Random``, so a seed makes the same entries again. New entries have no id yet;
``number_entries`` assigns them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Expectation, Group, Message
from pytest_fcbench.domain.function_doc import FunctionDoc, conforms_to_schema
from pytest_fcbench.domain.tables import WordSet, read_table
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, list_expected_calls, list_options
from pytest_fcbench.kinds.relevance import NoCall

_JOININGS = (("", " "), ("", "\n"), ("1. ", "\n2. "), ("- ", "\n- "))
"""Texts before and between joined questions, usable in every language. The first way is for plain sentences
only."""

_DRAWN_FROM = 3
"""Distractors are drawn from this many times as many similar functions."""

_FAR, _SAME = 0.07, 0.19
"""Functions with less similarity than the first are about different things; with as much as the second, one
may do what the other does."""

_LONGEST_LISTED = 140
"""The longest question that can stand in a list, in characters."""

_PLAIN = re.compile(r"(?:[^,;:!?().،؛؟，；：。！？、\n]|(?<=\w)[.,:](?=\w))+[.?!؟。？！]?")
"""One sentence without asides, which can be repeated with other values."""


def is_answered_by_calls(entry: Entry) -> bool:
    """Tell whether an entry can be built from: one question of the user, calls as the answer."""
    calls = list_expected_calls(entry)
    return (
        len(calls) > 0
        and len(entry.turns) == 1
        and [message.role for message in entry.turns[0]] == ["user"]
        and all(entry.find_function(call.name) is not None for call in calls)
        and not entry.tables
        and entry.variation is None
    )


def is_answered_by_one_call(entry: Entry) -> bool:
    """Tell whether an entry can be built from and a single call is the answer."""
    return is_answered_by_calls(entry) and len(list_expected_calls(entry)) == 1


def build_multiple(entry: Entry, pool: Sequence[FunctionDoc], draw: Random, count: int) -> Entry | None:
    """Add ``count`` functions to an entry that are similar to its own but no solution.

    None where the pool has too few.
    """
    doc = get_called_doc(entry)
    other = [each for each in pool if compute_similarity(doc, each) < _SAME]
    near = _draw_distractors(entry, other, draw, count)
    if near is None:
        return None
    offered_docs = [doc, *near]
    draw.shuffle(offered_docs)
    return _build_entry([entry], "multiple", offered_docs, ExpectedCalls((_get_call(entry),)))


def build_irrelevance(entry: Entry, pool: Sequence[FunctionDoc], draw: Random, count: int) -> Entry | None:
    """Replace the functions by others that are similar neither to the entry's own nor to its question.

    None where the pool has too few.
    """
    doc = get_called_doc(entry)
    words = {word for word in _split_words(_get_question(entry)) if len(word) > 4}
    far = [
        each for each in pool if compute_similarity(doc, each) < _FAR and not words & _list_doc_words(each)
    ]
    others = _draw_distractors(entry, far, draw, count)
    return None if others is None else _build_entry([entry], "irrelevance", others, NoCall())


def build_parallel(entries: Sequence[Entry], draw: Random) -> Entry | None:
    """Join several questions about the same function.

    None where two of them are almost equal, or one is no plain sentence, which nobody would repeat.
    """
    docs, calls = list(map(get_called_doc, entries)), list(map(_get_call, entries))
    # Whole numbers do not distinguish calls: they are settings, of which the last would hold, or numbers of
    # results, of which the largest includes the others.
    values = [
        {
            name: options
            for name, options in call.accepted.items()
            if not any(type(value) is int for value in list_options(options))
        }
        for call in calls
    ]
    if any(doc != docs[0] for doc in docs) or any(one in values[:at] for at, one in enumerate(values)):
        return None
    if not all(_PLAIN.fullmatch(_get_question(entry)) for entry in entries):
        return None
    return _build_entry(entries, "parallel", docs[:1], ExpectedCalls(tuple(calls)), draw)


def build_parallel_multiple(entries: Sequence[Entry], draw: Random) -> Entry | None:
    """Join questions in one language about different functions.

    None where the languages differ or are unknown, where a function could answer the question of another,
    and where a question does not fit into a list: long, of several lines, or asked in a chat.
    """
    docs, calls = list(map(get_called_doc, entries)), tuple(map(_get_call, entries))
    questions = list(map(_get_question, entries))
    languages = set(map(guess_language, questions))
    if _are_alike(docs) or len(languages) > 1 or UNKNOWN in languages:
        return None
    # Questions of live categories were asked in a chat.
    if any(entry.category.group is Group.LIVE for entry in entries):
        return None
    if any(len(question) > _LONGEST_LISTED or "\n" in question for question in questions):
        return None
    pairs = zip(docs, calls, strict=True)
    if any(can_answer(doc, call) for doc, own in pairs for call in calls if call is not own):
        return None
    draw.shuffle(docs)
    return _build_entry(entries, "parallel_multiple", docs, ExpectedCalls(calls), draw)


def number_entries(entries: Sequence[Entry], suite: str, free: dict[str, int]) -> list[Entry]:
    """Give the entries ids, ``category_n``, and count up the first free number of each category.

    They lose the features of their parents, which need not be theirs.
    """
    numbered_entries = []
    for entry in entries:
        number = free.get(entry.category.name, 0)
        free[entry.category.name] = number + 1
        numbered_entries.append(
            replace(entry, suite=suite, id=f"{entry.category.name}_{number}", features=None)
        )
    return numbered_entries


def can_answer(doc: FunctionDoc, call: ExpectedCall) -> bool:
    """Tell whether a function takes the arguments of a right call, under the same names and with fitting
    types.

    Then it might do what is asked, whatever its name is.
    """
    needed_names = {name for name, options in call.accepted.items() if "" not in list_options(options)}
    if not set(doc.required) <= set(call.accepted) or not needed_names <= set(doc.properties):
        return False
    return all(
        any(conforms_to_schema(option, doc.properties[name]) for option in list_options(call.accepted[name]))
        for name in needed_names
    )


def compute_similarity(one: FunctionDoc, other: FunctionDoc) -> float:
    """Compute the Jaccard similarity of the words of two docs, from 0 to 1."""
    words, others = _list_doc_words(one), _list_doc_words(other)
    return len(words & others) / (len(words | others) or 1)


def _list_doc_words(doc: FunctionDoc) -> set[str]:
    return _split_words(" ".join((doc.name, doc.description, *doc.properties)))


def _split_words(text: str) -> set[str]:
    """Split a text, also in camel case, into beginnings of words in lower case."""
    spaced_text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    # Six letters of a word, so that ``calculate`` and ``calculation`` are one.
    return {word.lower()[:6] for word in re.findall(r"[^\W\d_]{3,}", spaced_text)}


def _draw_distractors(
    entry: Entry, pool: Sequence[FunctionDoc], draw: Random, count: int
) -> list[FunctionDoc] | None:
    own, call = get_called_doc(entry), _get_call(entry)
    distractors: dict[str, FunctionDoc] = {}
    for doc in sorted(pool, key=lambda doc: (-compute_similarity(own, doc), doc.name)):
        # A distractor that takes the right arguments would be a right answer under another name.
        if not (
            can_answer(doc, call) or _share_a_name([own, doc]) or _are_alike([*distractors.values(), doc])
        ):
            distractors[doc.name] = doc
        if len(distractors) == count * _DRAWN_FROM:
            break
    return draw.sample(list(distractors.values()), count) if len(distractors) >= count else None


def _share_a_name(docs: Sequence[FunctionDoc]) -> bool:
    """Tell whether two docs have the same name, also where dots become underscores."""
    return len({doc.name.replace(".", "_") for doc in docs}) < len(docs)


def _are_alike(docs: Sequence[FunctionDoc]) -> bool:
    """Tell whether two docs have the same name, or might do the same."""
    return _share_a_name(docs) or any(
        compute_similarity(doc, other) >= _SAME for at, doc in enumerate(docs) for other in docs[:at]
    )


def _build_entry(
    parents: Sequence[Entry],
    category: str,
    functions: Sequence[FunctionDoc],
    expectation: Expectation,
    draw: Random | None = None,
) -> Entry:
    """Build an entry without an id; ``draw`` chooses how the questions of several parents are joined."""
    # A parent that was never numbered has no key of its own, only its parents have.
    keys = tuple(dict.fromkeys(key for each in parents for key in ([each.key] if each.id else each.parents)))
    questions = list(map(_get_question, parents))
    question = questions[0]
    if draw:
        is_plain = all(_PLAIN.fullmatch(text) and not text[-1].isalnum() for text in questions)
        before, between = draw.choice(_JOININGS if is_plain else _JOININGS[1:])
        question = before + questions[0]
        for number, text in enumerate(questions[1:], 2):
            # Only a numbered list has a number in what stands between.
            question += re.sub(r"\d+", str(number), between) + text
    return Entry(
        suite=parents[0].suite,
        id="",
        category=CATEGORIES[category],
        turns=((Message("user", question),),),
        functions=tuple(functions),
        expectation=expectation,
        # With one parent it is a variant, so the two depend on each other; with several it is a new question.
        cluster=parents[0].cluster or parents[0].id if len(keys) == 1 else None,
        parents=keys,
    )


def get_called_doc(entry: Entry) -> FunctionDoc:
    """Return the function of the entry's only call."""
    doc = entry.find_function(_get_call(entry).name)
    assert doc is not None
    return doc


def _get_call(entry: Entry) -> ExpectedCall:
    return list_expected_calls(entry)[0]


def _get_question(entry: Entry) -> str:
    return entry.turns[0][-1].content.strip()


UNKNOWN = "other"


@cache
def _read_common_words() -> Mapping[str, WordSet]:
    return read_table(dict[str, WordSet], __file__, "common_words.toml")


_SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}


def guess_language(text: str) -> str:
    """Guess the language of a text by its script, in Latin script by common words.

    A script of several languages is returned by its name, ``UNKNOWN`` where no common word occurs.
    """
    scripts = Counter(unicodedata.name(sign, "OTHER").split()[0] for sign in text if sign.isalpha())
    if not scripts:
        return UNKNOWN
    if scripts["HIRAGANA"] + scripts["KATAKANA"] > 2:
        return "Japanese"
    # Texts in every language have names in Latin script, and a sign of other scripts can be a whole word.
    script = max(scripts, key=lambda name: scripts[name] if name == "LATIN" else 3 * scripts[name])
    if script != "LATIN":
        return _SCRIPTS.get(script, script.capitalize())
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    votes = {name: sum(words[word] for word in common) for name, common in _read_common_words().items()}
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else UNKNOWN
