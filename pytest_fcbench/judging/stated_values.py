"""Find the values in a final answer: whether the right one is among them, and which rivals it has.

A value is an amount, a date or a time, in any of its writings: ``9am`` is ``09:00``. A final answer names a
rival where it offers another value of the same kind in place of the right one:

- joined to it (``31 or 32``, ``31/32``), or offered by a word of doubt or another verdict (``31, maybe 32``,
  ``the answer is 31 ... the answer is 32``);
- in a bare list or a range, where nothing but values and words between them is said (``31, 32``);
- as another name that is joined to the right one (``Oslo or Bergen``).

Other numbers say nothing about the answer: dates, sources, steps of a calculation, other measures of the same
(``5 km (3.1 miles)``), and what is denied (``31, not 32``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cache
from itertools import pairwise

from pytest_fcbench.domain.tables import WordSet, read_table
from pytest_fcbench.judging.quantities import Quantity, read_calendar_name, read_quantities
from pytest_fcbench.judging.words import NUMBERS, split_words


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value in a text: where it stands, what it may mean, and the bare number at its beginning."""

    start: int
    end: int
    meanings: frozenset[Quantity]
    number: Fraction | None

    @property
    def is_bare(self) -> bool:
        """Tell whether it is a number without a unit, a sign or anything else."""
        return any(meaning.kind == "number" for meaning in self.meanings)

    @property
    def is_fraction(self) -> bool:
        """Tell whether it is written as a fraction with a slash."""
        return any(meaning.kind == "fraction" for meaning in self.meanings)

    def lies_in(self, other: StatedValue) -> bool:
        """Tell whether the text of another value holds that of this one."""
        return other.start <= self.start and self.end <= other.end

    def has_kind_of(self, other: StatedValue) -> bool:
        """Tell whether both are of one kind, such as two dates."""
        kinds = {meaning.kind for meaning in self.meanings}
        return any(meaning.kind in kinds for meaning in other.meanings)

    def means(self, other: StatedValue) -> bool:
        """Tell whether both are one value, where a unit may be left out and a conversion be rounded."""
        if self.meanings & other.meanings:
            return True
        if self.is_bare is not other.is_bare:
            return self.number is not None and self.number == other.number
        measures = (
            (one.amount, two.amount)
            for one in self.meanings
            for two in other.meanings
            if one.kind == two.kind and one.kind not in _EXACT
        )
        return any(
            isinstance(one, Fraction)
            and isinstance(two, Fraction)
            and abs(one - two) <= _ROUNDING * max(abs(one), abs(two))
            for one, two in measures
        )


_EXACT = ("number", "fraction", "date", "time", "month", "moment", "percent")
_ROUNDING = Fraction(2, 100)
_MOST_VALUES = 400
"""Values of an answer that are looked at."""
_MOST_WORDS = 7

_VALUE_WORDS = frozenset((*NUMBERS, *("noon", "midnight", "half", "minus", "a", "an", "usd", "eur", "gbp")))
"""Words that a value may begin with, beside the names of days and months."""
_NO_VALUES = frozenset(("one", "a", "an"))
"""Words that are no value alone: nobody counts in "no one knows"."""
_BEGINNING = re.compile(r"[$€£¥₹+\-−.]?\d|[$€£¥₹]")
_OPENING, _CLOSING = "([{'“‘*_~<\"", ")]}'”’*_,;:!?.~>\""


def read_value(text: str) -> StatedValue | None:
    """Read a text that is nothing but one value."""
    meanings = read_quantities(text)
    return StatedValue(0, len(text), meanings, _read_leading_number(text)) if meanings else None


def _read_leading_number(text: str) -> Fraction | None:
    number_match = re.match(r"[$€£¥₹]? ?([-−]?\d[\d,]*(?:\.\d+)?)", text)
    number_text = (number_match[1] if number_match else next(iter(text.split()), "")).strip(",")
    for meaning in read_quantities(number_text):
        if isinstance(meaning.amount, Fraction) and meaning.kind == "number":
            return meaning.amount
    return None


def find_values(text: str) -> list[StatedValue]:
    """Find the values in a text from left to right, each as long as it can be read."""
    stated_values: list[StatedValue] = []
    # A number before a line of a list is none of the answer.
    starts = {match.start(1) for match in re.finditer(r"^[\s>*_#-]*(\d{1,2}[.)])\s", text, re.MULTILINE)}
    words = [match.span() for match in re.finditer(r"\S+", text) if match.start() not in starts]
    at = 0
    while at < len(words) and len(stated_values) < _MOST_VALUES:
        values, word_count = _read_at(text, words[at : at + _MOST_WORDS])
        stated_values += values
        at += word_count
    return stated_values


def _read_at(text: str, words: Sequence[tuple[int, int]]) -> tuple[list[StatedValue], int]:
    """Read the values at the first word: one of several words, or those in the word; and the words used."""
    start, first_end = words[0]
    while start < first_end and text[start] in _OPENING:
        start += 1
    first = text[start:first_end].rstrip(_CLOSING).casefold()
    word = first.split("-")[0]
    if not (_BEGINNING.match(first) or word in _VALUE_WORDS or read_calendar_name(word)):
        return [], 1
    for word_count in range(len(words), 0, -1):
        end = words[word_count - 1][1]
        # With and without the signs behind, of which one may belong to it: 5%, 9 a.m.
        for stop in (end, start + len(text[start:end].rstrip(_CLOSING))):
            value_text = text[start:stop]
            if value_text.casefold() not in _NO_VALUES and (meanings := read_quantities(value_text)):
                # Of a day with a time either alone may be asked for.
                parts = (datetime.fromisoformat(str(m.amount)) for m in meanings if m.kind == "moment")
                for part in parts:
                    meanings |= {Quantity("date", part.date()), Quantity("time", part.timetz())}
                value = StatedValue(start, stop, meanings, _read_leading_number(value_text))
                # A fraction may also be two values with a slash between them: 31/32.
                return [value, *(_split_value(text, start, stop) if value.is_fraction else [])], word_count
    return _split_value(text, start, start + len(first)), 1


def _split_value(text: str, start: int, end: int) -> list[StatedValue]:
    """Read values with a sign and no gap between them (31/32, 10AM–12PM); none unless all are."""
    parts = [*re.finditer(r"[^/–—-]+", text[start:end])][:4]
    values = [
        StatedValue(start + part.start(), start + part.end(), meanings, _read_leading_number(part[0]))
        for part in parts
        if (meanings := read_quantities(part[0]))
    ]
    return values if len(values) == len(parts) == 2 else []


def has_right_value(text: str, right: Sequence[str]) -> bool:
    """Tell whether one of the right answers is among the values of a text, and not denied."""
    right_values = [value for answer in right if (value := read_value(answer))]
    stated_values = find_values(text) if right_values else []
    meanings = {meaning for value in right_values for meaning in value.meanings}
    return any(value.meanings & meanings and not _is_denied(text, value) for value in stated_values)


_DENIED = re.compile(
    r"\b(?:not|cannot|never|nor|neither|no longer|rather than|instead of|[a-z]+n['’]t)\s+"
    r"(?:(?:at|be|by|from|in|on|the|an?)\s+){0,2}\W?$",
    re.IGNORECASE,
)


def _is_denied(text: str, value: StatedValue) -> bool:
    return bool(_DENIED.search(text[max(0, value.start - 30) : value.start]))


# Rivals

_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|likely|alternatively|otherwise|either"
    r"|(?:could|might|may)(?: also| well)? be"
    r"|answer (?:is|would be|could be|may be|might be)|answer:)"
    r"[\s,:*]*(?:(?:even|about|around|approximately|also|it is|it's|rather|the|a|an)\s+){0,4}[\W_]{0,9}$",
    re.IGNORECASE,
)
"""Words right before a value that offer it as the answer."""

_OR = re.compile(
    r"[^.!?;\n]*\b(?:or|alternatively|otherwise)\b(?!\s+(?:more|less|fewer|so|over|under|above)\b)"
    r"[^.!?;\n]*",
    re.IGNORECASE,
)
_MOST_BETWEEN = 6
_MOST_BETWEEN_UNITS = 2
"""Words between two values that are still joined by "or": those of one kind, and those that share a unit."""


@dataclass(frozen=True, slots=True)
class _AnswerWordTable:
    """The contents of ``stated_values.toml``, which explains them."""

    fillers: WordSet
    no_alias: WordSet


@cache
def _read_words() -> _AnswerWordTable:
    return read_table(_AnswerWordTable, __file__, "stated_values.toml")


def find_rival(text: str, right: Sequence[str], is_right: Callable[[str], bool]) -> str | None:
    """Return what a text offers as another answer beside the right one, as it is written, or None.

    ``is_right`` tells whether a part of the text has one of the right answers.
    """
    for either in _EITHER.finditer(text[:_LONGEST]):
        sides = [side.strip() for side in either.groups()]
        wrong_sides = [side for side in sides if not is_right(side)]
        # Of two names of one thing both are right, and of two other things none is.
        if len(wrong_sides) == 1 and not any(re.search(r"\bor\b", each, re.IGNORECASE) for each in right):
            return wrong_sides[0]
    right_values = [value for answer in right if (value := read_value(answer))]
    # An answer of several values, such as a range, is compared by its words.
    if len(right_values) == len(right):
        return _find_rival_value(text, right_values)
    return _find_rival_name(text, right) if not right_values else None


_EITHER = re.compile(r"\beither\s([^.!?;\n]{1,80}?)\sor\s([^.!?;\n]{1,80})", re.IGNORECASE)


def _find_rival_value(text: str, right_values: Sequence[StatedValue]) -> str | None:
    # A fraction and the values at both sides of its slash are read; which counts is said by what is right.
    stated_values = find_values(text)
    fractions = [value for value in stated_values if value.is_fraction]
    if any(each.is_fraction for each in right_values):
        values = [
            each for each in stated_values if each in fractions or not any(map(each.lies_in, fractions))
        ]
    else:
        values = [each for each in stated_values if each not in fractions]
    offers = [value for value in values if not _is_denied(text, value)]
    right_offers = [value for value in offers if any(value.means(each) for each in right_values)]
    others = [other for other in offers if other not in right_offers]
    if not right_offers or not others:
        return None
    rest = text
    for value in reversed(values):
        rest = f"{rest[: value.start]} {rest[value.end :]}"
    words = re.findall(r"[^\W_]+|[=+×<>]", rest.casefold().replace("'", ""))
    is_bare_list = _read_words().fillers.issuperset(words)
    joined_pairs = [
        pair for pair in pairwise(offers) if _are_joined(text, *pair) and not {*right_offers}.isdisjoint(pair)
    ]
    for other in others:
        same_kind = [value for value in right_offers if value.has_kind_of(other)]
        is_doubted = same_kind and _DOUBT.search(text[max(0, other.start - 60) : other.start])
        is_listed = is_bare_list and any(_is_year(other) is _is_year(value) for value in same_kind)
        if is_doubted or is_listed or any(other in pair for pair in joined_pairs):
            return text[other.start : other.end]
    return None


def _are_joined(text: str, first: StatedValue, second: StatedValue) -> bool:
    """Tell whether "or" or a slash stands between two neighbours of one kind."""
    between = text[first.end : second.start]
    is_near = len(between.split()) <= _MOST_BETWEEN
    if not first.has_kind_of(second):
        # The unit behind the second may be that of both: 31 or 32 years.
        lends_unit = first.is_bare and first.number is not None and second.number is not None
        is_near = len(between.split()) <= _MOST_BETWEEN_UNITS
        if not lends_unit:
            return False
    return between.strip() == "/" or (is_near and _OR.fullmatch(between) is not None)


def _is_year(value: StatedValue) -> bool:
    number = value.number
    return value.is_bare and number is not None and number.denominator == 1 and 1000 <= number <= 2100


def _find_rival_name(text: str, right: Sequence[str]) -> str | None:
    """Find the name that "or" joins to a right answer that is no value."""
    excerpt = text[:_LONGEST]
    for answer in right:
        if not answer.strip(" .") or re.search(r"\bor\b|/", answer, re.IGNORECASE):
            continue
        pattern = r"[\s\-–]+".join(re.escape(word) for word in re.split(r"[\s\-–]+", answer.strip(" .")))
        for mention in re.finditer(rf"(?<!\w){pattern}(?!\w)", excerpt, re.IGNORECASE):
            before, behind = excerpt[: mention.start()], excerpt[mention.end() :]
            other = _OTHER_BEHIND.match(behind) or _OTHER_BEFORE.search(before)
            # Beside a name only a name is a rival: "Anna or text her" names one person.
            is_name = mention.start() > 0 and mention[0][0].isupper()
            words = split_words(other[1]) if other else ()
            if not other or not words or words[0] in _read_words().no_alias:
                continue
            if is_name and not other[1][0].isupper():
                continue
            # No rival is another accepted answer, a shorter or a longer name, or an abbreviation.
            if not any(
                set(right_words) <= set(words)
                or set(words) <= set(right_words)
                or words[0] == "".join(word[0] for word in right_words)
                for right_words in map(split_words, right)
            ):
                return other[1].strip()
    return None


_LONGEST = 2_000
_OTHER_BEHIND = re.compile(
    r"[\x22'”’*)]{0,3},?\s+(?:or|and/or)\s+(?:(?:maybe|possibly|perhaps|even|it's|the|an?)\s+)*[\x22'“‘*(]{0,3}"
    r"([^\W_][\w'’.&-]*(?:[ ](?!and\b|or\b|but\b|is\b|was\b)[\w'’.&-]+){0,3})",
    re.IGNORECASE,
)
_OTHER_BEFORE = re.compile(
    r"(?<![\w'’.&-])([^\W_][\w'’.&-]*)[\x22'”’*)]{0,3},?\s+(?:or|and/or)\s+"
    r"(?:(?:maybe|possibly|perhaps|even|it's|the|an?)\s+)*[\x22'“‘*(]{0,3}$",
    re.IGNORECASE,
)
