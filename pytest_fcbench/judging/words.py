"""Split texts into words as they are compared, without case, accents, punctuation, spaces and articles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from pytest_fcbench.domain.tables import WordSet, read_table

Words: TypeAlias = tuple[str, ...]

LONGEST = 2_000
"""The limit of a text's length in characters; longer ones are compared as they are. Sorting combining marks
takes time that grows with the square of their number."""

_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
"""Only after Latin letters: in other scripts such marks make another letter."""
_LETTERS = str.maketrans(
    {"ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i", "’": "'", "‘": "'"}
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
)
"""Letters that do not decompose into a base letter and a mark, quotes, and invisible characters."""

_ARTICLE = re.compile(r"\A\s*(?:an?|An?)\s+(?=[a-z])")
"""At the start and before a small letter: it is a name in "A Coruña"."""
_INITIALS = re.compile(r"(?<!\w)[^\W\d_](?:\.[^\W\d_])+(?!\w)\.?|(?<!\w)[A-Z]\.(?: ?[A-Z]\.)+(?!\w)")
_WORD = re.compile(
    r"(?<!\w)[-−]\d+(?:[.,:/-]\d+)*"  # below zero, unlike a hyphen
    r"|\d+(?:st|nd|rd|th)(?!\w)"
    r"|\d+(?:[.,:/-]\d+)*"
    r"|[^\W\d_]+(?:'[^\W\d_]+)*"
    r"|[^\s_]"
)
_SILENT = frozenset(".,;:!?¡¿'\"“”«»„()[]{}-–—/`…·•")
"""Signs that do not change the meaning of a text; all others do (C, C++ and C# are three things)."""

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS = {word: number for number, word in enumerate(_ONES)} | {
    word: 20 + 10 * number for number, word in enumerate(_TENS)
}
"""Numbers by their words."""


def fold_text(text: str) -> str:
    """Remove accents, compatibility forms and invisible marks from a text; keep its case."""
    # Nothing below changes a character of ASCII, and most names of airports have no other.
    if text.isascii():
        return text
    # Superscripts and fractions are no other writing of a digit.
    whole = "".join(c if unicodedata.category(c) == "No" else unicodedata.normalize("NFKC", c) for c in text)
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", whole))
    return unicodedata.normalize("NFC", plain).translate(_LETTERS)


_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"(?<=[a-z])n't\b"), " not"),
    (re.compile(r"(?<=[a-z])'re\b"), " are"),
    (re.compile(r"(?<=[a-z])'ve\b"), " have"),
    (re.compile(r"(?<=[a-z])'ll\b"), " will"),
    (re.compile(r"\bcheck(in|out)\b"), r"check \1"),
)
"""Two words that are written as one, and how each is written out."""


@dataclass(frozen=True, slots=True)
class _British:
    stems: str
    ending: str
    american: str
    behind: str = ""


@dataclass(frozen=True, slots=True)
class _WordTable:
    """The contents of ``words.toml``, which explains them."""

    behind_names: WordSet
    spellings: Mapping[str, str]
    british: Sequence[_British]
    compounds: Mapping[str, str]


@cache
def _read_words() -> _WordTable:
    return read_table(_WordTable, __file__, "words.toml")


@cache
def _read_spellings() -> Mapping[str, str]:
    """Return the one spelling of each word that has several, also of a number."""
    return {**_read_words().spellings, **{word: str(number) for word, number in NUMBERS.items()}}


@cache
def _read_british_endings() -> Sequence[tuple[re.Pattern[str], str]]:
    return [
        (re.compile(rf"\b({row.stems.replace(' ', '|')}){row.ending}{row.behind}"), rf"\1{row.american}")
        for row in _read_words().british
    ]


def _spell_word(word: str) -> str:
    """Return the spelling by which a word is compared."""
    if spelling := _read_spellings().get(word):
        return spelling
    for pattern, american in _read_british_endings():
        word = pattern.sub(american, word)
    return word


def split_words(text: str) -> Words:
    """Split a text into words as they are compared."""
    text = _ARTICLE.sub("", fold_text(text))
    text = _INITIALS.sub(lambda match: match[0].replace(".", "").replace(" ", ""), text).casefold()
    for contraction, full_form in _CONTRACTIONS:
        text = contraction.sub(full_form, text)
    signs_and_words = [word.replace("'", "") or word for word in _WORD.findall(text)]
    compounds = _read_words().compounds
    word_list: list[str] = []
    for word in map(_spell_word, (word for word in signs_and_words if word not in _SILENT)):
        # Some words are one with and without a hyphen.
        if word_list and (compound := compounds.get(f"{word_list[-1]} {word}")):
            word_list[-1] = compound
        else:
            word_list.append(word)
    words = tuple(word_list)
    return tuple(word for word in words if word != "the") or words or tuple(signs_and_words)


def spell_umlauts(text: str) -> tuple[str, ...]:
    """Return a text, and how it is written without umlauts: München is Muenchen as well as Munchen."""
    if text.isascii() or len(text) > LONGEST:
        return (text,)
    whole = unicodedata.normalize("NFC", text)
    spelling = whole.translate(_UMLAUTS)
    return (text,) if spelling == whole else (text, spelling)


_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
    | {"Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe", "Å": "Aa"}
)


def turn_name(text: str) -> Words:
    """Return the words of a person's name with the first name in front (Smith, Jane)."""
    last, _, first = text.partition(",")
    is_title = _read_words().behind_names.issuperset(split_words(first))
    return split_words(f"{first} {last}" if first.strip() and "," not in first and not is_title else text)


_MARKS = frozenset("@\\=:?#%+{}<>|$*~^")


def is_code(text: str) -> bool:
    """Tell whether a text looks like an identifier, an address or a formula: every character counts."""
    if len(text.split()) != 1:
        return False
    if _INITIALS.fullmatch(text.strip()):
        return False
    letters, digits = any(map(str.isalpha, text)), any(map(str.isdigit, text))
    return (letters and digits) or not _MARKS.isdisjoint(text) or bool(re.search(r"\w\.\w", text))
