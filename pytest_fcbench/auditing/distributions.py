"""How a suite is spread (BFCL paper, Patil et al. 2025, Figure 10): sizes, types, languages, by category."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pytest_fcbench.auditing.docs import offered
from pytest_fcbench.auditing.duplicates import question
from pytest_fcbench.entries import Entry, ExpectedCalls, ExpectedResults, GoldenPath, Trajectory

MEASURES = ("functions", "parameters", "calls", "turns")
"""Functions of an entry, parameters of a function, calls of an answer, turns of a conversation."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How often each value occurs in a category."""

    entries: int = 0
    functions: Counter[int] = field(default_factory=Counter)
    parameters: Counter[int] = field(default_factory=Counter)
    calls: Counter[int] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    """Declared types of parameters, in the words of the docs."""
    languages: Counter[str] = field(default_factory=Counter)
    """Of questions, as far as script and common words tell."""

    def of(self, measure: str) -> Counter[int]:
        """The counts of one of ``MEASURES``."""
        counts: Counter[int] = getattr(self, measure)
        return counts


def spreads(entries: Sequence[Entry]) -> Mapping[str, Spread]:
    """By category, in the order of the entries. Functions that several entries offer count each time."""
    grouped: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        grouped[entry.category.name].append(entry)
    return {name: _spread(found) for name, found in grouped.items()}


def _spread(entries: Sequence[Entry]) -> Spread:
    docs = [doc for entry in entries for doc in offered(entry)]
    schemas = [schema for doc in docs for schema in doc.properties.values()]
    return Spread(
        entries=len(entries),
        functions=Counter(len(offered(entry)) for entry in entries),
        parameters=Counter(len(doc.properties) for doc in docs),
        calls=Counter(map(calls, entries)),
        turns=Counter(len(entry.turns) for entry in entries),
        types=Counter(str(schema.get("type")) for schema in schemas if isinstance(schema, dict)),
        languages=Counter(language(question(entry).text) for entry in entries),
    )


def calls(entry: Entry) -> int:
    """Calls that a right answer makes, in all turns and steps; 1 where any call will do."""
    match entry.expectation:
        case ExpectedCalls(calls=found) | ExpectedResults(calls=found) | GoldenPath(calls=found):
            return len(found)
        case Trajectory(turns=turns):
            return sum(map(len, turns))
    return int(entry.category.rule == "relevance")


def summary(counts: Counter[int]) -> str:
    """Mean, and least to most."""
    if not counts:
        return "-"
    low, high = min(counts), max(counts)
    mean = f"{fmean(counts.elements()):.1f}"
    return f"{low}" if low == high else f"{mean} ({low}-{high})"


_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "English": "the and is are what for with of to in my please can you how i me on find",
        "German": "der die das und ist nicht ich mir bitte für mit ein eine wie zum von wann",
        "French": "le la les des est et pour une un je quel quelle moi dans avec du au",
        "Spanish": "el la los las es y para una un por favor cuál qué quiero del con en mi",
        "Portuguese": "o os as é e para uma um por favor qual quero do da com em meu não",
        "Italian": "il lo gli è e per una un quale vorrei del della con nel mi che di",
        "Dutch": "de het een en is voor ik van met wat mijn naar op graag niet",
        "Polish": "jest na do i w z dla proszę się nie jak mi jaki o",
        "Turkish": "ve bir için bu ne mi ile lütfen bana kaç var nasıl",
        "Indonesian": "yang dan untuk saya di dengan apa ini tolong ke dari berapa",
        "Vietnamese": "là và cho tôi của có một trong ở được bao nhiêu",
        "Swedish": "och är en ett för jag på med till vad det som inte",
    }.items()
}
_SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}


def language(text: str) -> str:
    """The language of a question, guessed: by its script, in Latin script by words that are common in one.

    A script that several languages have stands for itself, ``"other"`` for what words do not tell.
    """
    scripts = Counter(_script(sign) for sign in text if sign.isalpha())
    if not scripts:
        return "other"
    if scripts["HIRAGANA"] + scripts["KATAKANA"] > 2:
        return "Japanese"
    # Names in Latin script stand in texts of every language, and a sign of others can be a whole word.
    script = max(scripts, key=lambda name: scripts[name] if name == "LATIN" else 3 * scripts[name])
    if script != "LATIN":
        return _SCRIPTS.get(script, script.capitalize())
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    votes = {name: sum(words[word] for word in common) for name, common in _WORDS.items()}
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else "other"


def _script(sign: str) -> str:
    return unicodedata.name(sign, "OTHER").split()[0]
