"""Variants of an entry: the values that its question names, swapped for others of the same kind.

After ComplexFuncBench (appendix A.4), which makes ten entries of one by hand and model. Here it is done by
rule, and only where the rule cannot err: every number of the question must stand in the truth as it is (so
that nothing was worked out from it), and whatever is swapped stands once in the question and once in the
truth. What may be left out stays: it is there because it is what leaving it out means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, partial
from pathlib import Path
from random import Random

from pytest_fcbench.domain.entry import Entry, ExpectedCall, ExpectedCalls, Message
from pytest_fcbench.tools.authoring.combination import with_calls

VARIANTS = 10


_NUMBER = re.compile(r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![A-Za-z_\d:/-]|[.,]\d)")
_CODE = re.compile(r"([A-Za-z]*-?)(\d{4,})([A-Za-z]*)")
"""The number of an order, a card, a parcel: its digits say nothing."""
_PRONOUN = re.compile(r"\b(?:s?he|his|hers?|him)\b", re.IGNORECASE)
"""Another name would need another one."""
_LARGE = 10**9
"""From here on a number is no quantity but an instant or a code."""
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATES = (
    "{0:%Y}-{0:%m}-{0:%d}",
    "{0.day} {0:%B} {0:%Y}",
    "{0:%B} {0.day}, {0:%Y}",
    "{0.day} {0:%b} {0:%Y}",
)
"""How a question writes a day."""
_RELATED = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Swap:
    """Something that stands in the question, and what could stand there instead."""

    text: str
    """As it stands there."""
    values: tuple[object, ...]
    """All accepted forms of it; ``""`` among them stays."""
    others: Callable[[Random], tuple[str, tuple[object, ...]]]
    """Draws another text with its accepted forms."""


def variants(entry: Entry, draw: Random, count: int = VARIANTS) -> list[Entry]:
    """At most ``count`` variants, no two alike and none like the entry; fewer where little can be swapped.

    They share a cluster with each other, and have no id yet (``combining.numbered``).
    """
    if not with_calls(entry):
        return []
    swaps = list(_swaps(entry))
    made: dict[str, Entry] = {entry.turns[0][0].content: entry}
    for _ in range(4 * count if swaps else 0):
        variant = _swapped(entry, swaps, draw)
        made.setdefault(variant.turns[0][0].content, variant)
        if len(made) > count:
            break
    return list(made.values())[1:]


def _swaps(entry: Entry) -> Iterator[_Swap]:
    assert isinstance(entry.expectation, ExpectedCalls)
    calls, question = entry.expectation.calls, entry.turns[0][0].content
    docs = {doc.name: doc.properties for doc in entry.functions}
    given = [
        (docs[call.name].get(name, {}), options) for call in calls for name, options in call.accepted.items()
    ]
    told = [value for _, options in given for value in _forms(options)]
    needed = [value for _, options in given if not _may_be_left_out(options) for value in _forms(options)]
    if not _every_number_is_told(question, told, needed):
        return
    dated = any(isinstance(value, str) and _ISO.fullmatch(value) for value in told)
    for schema, options in given:
        forms = _forms(options)
        if not forms or _may_be_left_out(options) or told.count(forms[0]) != 1:
            continue
        if schema.get("enum") or "default" in schema:
            continue
        swap = _swap(forms, question, alone=not dated)
        if swap and len(re.findall(_standing(swap.text), question)) == 1:
            yield swap


def _swap(forms: tuple[object, ...], question: str, *, alone: bool) -> _Swap | None:
    """What the value with these forms can be swapped for; ``alone``: there is no date beside it."""
    first = forms[0]
    if isinstance(first, bool) or not isinstance(first, (int, float, str)):
        return None
    if isinstance(first, (int, float)):
        text = next((text for text in _NUMBER.findall(question) if _value(text) == first), None)
        if text is None or len(forms) != 1 or not 0 < first < _LARGE or not alone or _is_year(first):
            return None
        if re.search(rf"\b[A-Z]{{2,}} {re.escape(text)}", question):  # a name, such as FM 93.1
            return None
        return _Swap(text, forms, partial(_other_number, text, first))
    if _ISO.fullmatch(first) and forms == (first,):
        day = date.fromisoformat(first)
        form = next((form for form in _DATES if form.format(day) in question), None)
        return _Swap(form.format(day), forms, partial(_other_date, form, day)) if form else None
    if (code := _CODE.fullmatch(first)) and forms == (first,):
        is_year = first.isdigit() and _is_year(int(first))
        return None if is_year else _Swap(first, forms, partial(_other_code, code))
    someone = _PRONOUN.search(question)
    for table in map(_read_rows, ("cities", *(() if someone else ("names",)), "currencies", "zones")):
        own = next((row for row in table if set(forms) <= set(row)), None)
        here = next((form for form in own or () if form in question), None)
        if here and not re.search(rf"{re.escape(here)}(?:'s)?(?:,| in| \()\s*[A-Z]", question):
            rest = [row for row in table if not any(form in question for form in row)]
            return _Swap(here, forms, partial(_other_row, rest))
    return None


@cache
def _read_rows(table: str) -> tuple[tuple[str, ...], ...]:
    """Read a table of values that stand for each other: a line for each, with all forms of it."""
    path = Path(__file__).with_name("exchanged") / f"{table}.txt"
    return tuple(tuple(row.split()) for row in path.read_text(encoding="utf-8").splitlines())


def _swapped(entry: Entry, swaps: Sequence[_Swap], draw: Random) -> Entry:
    assert isinstance(entry.expectation, ExpectedCalls)
    question = entry.turns[0][0].content
    texts: dict[str, str] = {}
    values: dict[object, tuple[object, ...]] = {}
    for swap in swaps:
        text, forms = swap.others(draw)
        if text not in texts.values():
            texts[swap.text], values[swap.values] = text, forms
    question = re.sub(_standing(*texts), lambda found: texts[found[0]], question)
    calls = [
        ExpectedCall(call.name, {name: _instead(options, values) for name, options in call.accepted.items()})
        for call in entry.expectation.calls
    ]
    return replace(
        entry,
        id="",
        turns=((Message("user", question),),),
        expectation=ExpectedCalls(tuple(calls)),
        cluster=entry.cluster or entry.id,
        parents=(entry.key,) if entry.id else entry.parents,
    )


def _every_number_is_told(question: str, told: Sequence[object], needed: Sequence[object]) -> bool:
    """Whether each number of the question is a value of the truth, and each that is needed stands there.

    At most one day, and none with its weekday.
    """
    days = [date.fromisoformat(value) for value in told if isinstance(value, str) and _ISO.fullmatch(value)]
    rest = question
    for text in [form.format(day) for day in days for form in _DATES]:
        rest = rest.replace(text, " ")
    for text in sorted((value for value in told if isinstance(value, str) and value), key=len, reverse=True):
        rest = re.sub(_standing(text), " ", rest)
    found = {_value(text) for text in _NUMBER.findall(rest)}
    left = re.search(r"\d", _NUMBER.sub(" ", rest))
    if left or len(days) > 1 or (days and _RELATED.search(question)):
        return False
    return _numbers(needed) <= found <= _numbers(told)


def _numbers(values: Sequence[object]) -> set[float]:
    return {value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)}


def _standing(*texts: str) -> str:
    """A pattern of texts that stand by themselves; letters of other scripts may follow (``30으로``)."""
    any_of = "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))
    return rf"(?<![\w.,])(?:{any_of})(?![A-Za-z_\d]|[.,]\d)"


def _value(text: str) -> float:
    """The number that a text writes."""
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)


def _is_year(value: float) -> bool:
    return isinstance(value, int) and 1900 <= value <= 2100


def _other_number(text: str, value: float, draw: Random) -> tuple[str, tuple[object, ...]]:
    """Another number near it, with as many digits and decimals and as round; 1 only where it was 1.

    Near is from 70 to 130 percent, so that a room stays warm and a loan dear; for one digit with its zeros
    from a half to twice as much, because there are so few.
    """
    decimals = len(text.partition(".")[2])
    whole = round(value * 10**decimals)
    step = 10 ** (len(str(whole)) - len(str(whole).rstrip("0")))
    digits = len(str(whole // step))
    least, most = (70, 130) if digits > 1 else (50, 200)
    low = max(whole * least // 100 // step, 10 ** (digits - 1), 2 if step == 1 < whole else 1)
    high = min(whole * most // 100 // step, 10**digits - 1)
    other = draw.randint(low, high) * step
    if decimals and step == 1 and other % 10 == 0:
        other += 1
    made = f"{other / 10**decimals:{',' if ',' in text else ''}.{decimals}f}"
    return made, (type(value)(_value(made)),)


def _other_code(code: re.Match[str], draw: Random) -> tuple[str, tuple[object, ...]]:
    """Another one with as many digits; a zero stays in front."""
    first = "0" if code[2][0] == "0" else draw.choice("123456789")
    made = f"{code[1]}{first}{''.join(draw.choices('0123456789', k=len(code[2]) - 1))}{code[3]}"
    return made, (made,)


def _other_date(form: str, day: date, draw: Random) -> tuple[str, tuple[object, ...]]:
    other = day + timedelta(days=draw.randint(1, 27))
    return form.format(other), (other.isoformat(),)


def _other_row(rows: Sequence[tuple[str, ...]], draw: Random) -> tuple[str, tuple[object, ...]]:
    row = draw.choice(rows)
    return row[0], row


def _instead(options: object, values: Mapping[object, tuple[object, ...]]) -> object:
    forms = _forms(options)
    known = not _may_be_left_out(options) and all(isinstance(form, (str, int, float)) for form in forms)
    return list(values[forms]) if known and forms in values else options


def _may_be_left_out(options: object) -> bool:
    return "" in _listed(options)


def _forms(options: object) -> tuple[object, ...]:
    """Accepted values without the mark that one may be left out."""
    return tuple(option for option in _listed(options) if option != "")


def _listed(options: object) -> list[object]:
    return options if isinstance(options, list) else [options]
