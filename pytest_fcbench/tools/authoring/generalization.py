"""Variants of an entry: the values in its question, swapped for others of the same kind.

This follows ComplexFuncBench (appendix A.4), which makes ten entries of one by hand and model. Here rules do
it, and only where they cannot err: every number of the question must stand in the ground truth unchanged (so
that nothing was computed from it), and a swapped value stands once in the question and once in the ground
truth. Optional values stay, because they are what leaving them out means.

Many entries made from a few by ``combination`` and ``generalization``, reproducible by a seed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, partial
from keyword import iskeyword
from pathlib import Path
from random import Random
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.kinds.calls.truth import (
    ExpectedCalls,
    list_expected_calls,
    list_options,
    offers_one_function,
)
from pytest_fcbench.kinds.execution.verdict import asks_web_api
from pytest_fcbench.kinds.sql.kind import asks_statement
from pytest_fcbench.tools.authoring import combination
from pytest_fcbench.tools.authoring.combination import (
    get_called_doc,
    is_answered_by_calls,
    is_answered_by_one_call,
)

_NUMBER = re.compile(r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![A-Za-z_\d:/-]|[.,]\d)")
_CODE = re.compile(r"([A-Za-z]*-?)(\d{4,})([A-Za-z]*)")
"""The number of an order, a card or a parcel, whose digits have no meaning."""
_PRONOUN = re.compile(r"\b(?:s?he|his|hers?|him)\b", re.IGNORECASE)
"""Pronouns, which another name could contradict."""
_LARGE = 10**9
"""The least number that is an instant or a code rather than a quantity."""
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_FORMATS = (
    "{0:%Y}-{0:%m}-{0:%d}",
    "{0.day} {0:%B} {0:%Y}",
    "{0:%B} {0.day}, {0:%Y}",
    "{0.day} {0:%b} {0:%Y}",
)
"""The formats of a day in questions."""
_WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b", re.IGNORECASE)

_Drawn: TypeAlias = tuple[str, tuple[object, ...]]
"""A drawn text with its accepted forms."""


@dataclass(frozen=True, slots=True)
class _Swap:
    """A value in the question, with a way to draw another one."""

    text: str
    """The text of the value in the question."""
    values: tuple[object, ...]
    """All accepted forms of the value; ``""`` among them stays."""
    draw_other: Callable[[Random], _Drawn]


def build_variants(entry: Entry, draw: Random, count: int = 10) -> list[Entry]:
    """Build at most ``count`` variants that differ from each other and the entry; fewer where little can
    vary.

    They share a cluster, and have no id yet (``combination.number_entries``).
    """
    if not is_answered_by_calls(entry):
        return []
    swaps = list(_find_swaps(entry))
    variants_by_question: dict[str, Entry] = {entry.turns[0][0].content: entry}
    for _ in range(4 * count if swaps else 0):
        variant = _swap_values(entry, swaps, draw)
        variants_by_question.setdefault(variant.turns[0][0].content, variant)
        if len(variants_by_question) > count:
            break
    return list(variants_by_question.values())[1:]


def _find_swaps(entry: Entry) -> Iterator[_Swap]:
    question = entry.turns[0][0].content
    schemas = {doc.name: doc.properties for doc in entry.functions}
    parameters = [
        (schemas[call.name].get(name, {}), _list_forms(options), "" in list_options(options))
        for call in list_expected_calls(entry)
        for name, options in call.accepted.items()
    ]
    values = [value for _, forms, _ in parameters for value in forms]
    needed_values = [value for _, forms, is_optional in parameters if not is_optional for value in forms]
    # All numbers of the question must be accepted values, and all needed numbers be among them. It may name
    # at most one day, and not its weekday.
    texts = [value for value in values if isinstance(value, str) and value]
    days = [day for text in texts if (day := _read_day(text))]
    rest = question
    for text in [form.format(day) for day in days for form in _DATE_FORMATS]:
        rest = rest.replace(text, " ")
    # The longest first, because a shorter one can be a part of it.
    for text in sorted(texts, key=len, reverse=True):
        rest = re.sub(_match_alone(text), " ", rest)
    question_numbers = {_read_number(text) for text in _NUMBER.findall(rest)}
    if re.search(r"\d", _NUMBER.sub(" ", rest)) or len(days) > 1 or (days and _WEEKDAY.search(question)):
        return
    if not _select_numbers(needed_values) <= question_numbers <= _select_numbers(values):
        return
    for schema, forms, is_optional in parameters:
        # With a value twice in the ground truth, its place in the question would be ambiguous.
        if not forms or is_optional or values.count(forms[0]) != 1:
            continue
        if schema.get("enum") or "default" in schema:
            continue
        swap = _find_swap(forms, question, has_date=bool(days))
        if swap and len(re.findall(_match_alone(swap.text), question)) == 1:
            yield swap


def _find_swap(forms: tuple[object, ...], question: str, *, has_date: bool) -> _Swap | None:
    """Find a swap for the value with these forms; ``has_date`` tells that some value is a date."""
    first = forms[0]
    if isinstance(first, bool) or not isinstance(first, (int, float, str)):
        return None
    if isinstance(first, (int, float)):
        text = next((text for text in _NUMBER.findall(question) if _read_number(text) == first), None)
        if text is None or len(forms) != 1 or not 0 < first < _LARGE or has_date or _is_year(first):
            return None
        # A number behind capitals belongs to a name, such as FM 93.1.
        is_name = re.search(rf"\b[A-Z]{{2,}} {re.escape(text)}", question)
        return None if is_name else _Swap(text, forms, partial(_draw_number, text, first))
    if (day := _read_day(first)) and forms == (first,):
        form = next((form for form in _DATE_FORMATS if form.format(day) in question), None)
        return _Swap(form.format(day), forms, partial(_draw_date, form, day)) if form else None
    if (code := _CODE.fullmatch(first)) and forms == (first,):
        is_year = first.isdigit() and _is_year(int(first))
        return None if is_year else _Swap(first, forms, partial(_draw_code, code))
    for table in ("cities", "names", "currencies", "zones"):
        if table == "names" and _PRONOUN.search(question):
            continue
        rows = _read_rows(table)
        own = next((row for row in rows if set(forms) <= set(row)), None)
        here = next((form for form in own or () if form in question), None)
        # A city with its country behind it would be moved to another country.
        if here and not re.search(rf"{re.escape(here)}(?:'s)?(?:,| in| \()\s*[A-Z]", question):
            rest = [(row[0], row) for row in rows if not any(form in question for form in row)]
            return _Swap(here, forms, partial(Random.choice, seq=rest))
    return None


@cache
def _read_rows(table: str) -> tuple[tuple[str, ...], ...]:
    """Read a table of interchangeable values: one in each line, with all its forms."""
    path = Path(__file__).with_name("exchanged") / f"{table}.txt"
    return tuple(tuple(row.split()) for row in path.read_text(encoding="utf-8").splitlines())


def _swap_values(entry: Entry, swaps: Sequence[_Swap], draw: Random) -> Entry:
    texts: dict[str, str] = {}
    values: dict[tuple[object, ...], tuple[object, ...]] = {}
    for swap in swaps:
        text, forms = swap.draw_other(draw)
        # Two values that were different have to stay different.
        if text not in texts.values():
            texts[swap.text], values[swap.values] = text, forms
    question = re.sub(_match_alone(*texts), lambda found: texts[found[0]], entry.turns[0][0].content)
    calls = []
    for call in list_expected_calls(entry):
        accepted_values = dict(call.accepted)
        for name, options in call.accepted.items():
            forms = _list_forms(options)
            # Only these can be looked up, because lists and dicts have no hash.
            is_plain = all(isinstance(form, (str, int, float)) for form in forms)
            if is_plain and "" not in list_options(options) and forms in values:
                accepted_values[name] = list(values[forms])
        calls.append(replace(call, accepted=accepted_values))
    return replace(
        entry,
        id="",
        turns=((Message("user", question),),),
        expectation=ExpectedCalls(tuple(calls)),
        cluster=entry.cluster or entry.id,
        parents=(entry.key,) if entry.id else entry.parents,
    )


def _select_numbers(values: Sequence[object]) -> set[float]:
    return {value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)}


def _match_alone(*texts: str) -> str:
    """Build a pattern of texts that stand by themselves; letters of other scripts may follow (``30으로``)."""
    any_of = "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))
    return rf"(?<![\w.,])(?:{any_of})(?![A-Za-z_\d]|[.,]\d)"


def _read_number(text: str) -> float:
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)


def _read_day(text: str) -> date | None:
    """Read a date; None for another text, such as an article number in the form of one."""
    with suppress(ValueError):
        return date.fromisoformat(text) if _ISO_DATE.fullmatch(text) else None
    return None


def _is_year(value: float) -> bool:
    return isinstance(value, int) and 1900 <= value <= 2100


def _draw_number(text: str, value: float, draw: Random) -> _Drawn:
    """Draw another number near the value, as long and as round; 1 only where it was 1.

    Near is from 70 to 130 percent, so that a room stays warm and a loan large; for one digit with its zeros
    from half to twice as much, because there are so few.
    """
    decimals = len(text.partition(".")[2])
    whole = round(value * 10**decimals)
    step = 10 ** (len(str(whole)) - len(str(whole).rstrip("0")))
    digits = len(str(whole // step))
    least, most = (70, 130) if digits > 1 else (50, 200)
    low = max(whole * least // 100 // step, 10 ** (digits - 1), 2 if step == 1 < whole else 1)
    high = min(whole * most // 100 // step, 10**digits - 1)
    other = draw.randint(low, high) * step
    # With a zero at its end it would have one decimal less.
    if decimals and step == 1 and other % 10 == 0:
        other += 1
    number_text = f"{other / 10**decimals:{',' if ',' in text else ''}.{decimals}f}"
    return number_text, (type(value)(_read_number(number_text)),)


def _draw_code(code: re.Match[str], draw: Random) -> _Drawn:
    """Draw another code with as many digits; a leading zero stays."""
    first = "0" if code[2][0] == "0" else draw.choice("123456789")
    code_text = f"{code[1]}{first}{''.join(draw.choices('0123456789', k=len(code[2]) - 1))}{code[3]}"
    return code_text, (code_text,)


def _draw_date(form: str, day: date, draw: Random) -> _Drawn:
    other = day + timedelta(days=draw.randint(1, 27))
    return form.format(other), (other.isoformat(),)


def _list_forms(options: object) -> tuple[object, ...]:
    """List accepted values without ``""``, the mark of an optional parameter."""
    return tuple(option for option in list_options(options) if option != "")


_TRIES = 20
"""Tries for each wanted entry; a draw that fails or repeats an entry is tried again with other parents."""

_FROM_THE_SAME = 3
"""The most entries of a kind from the same parents."""


@dataclass(frozen=True, slots=True)
class Material:
    """The material of new entries; each method draws one entry, or None where the draw fails."""

    parents: tuple[Entry, ...]
    """Entries with one call, in Python."""
    pool: tuple[FunctionDoc, ...]
    """The functions that distractors are drawn from."""
    variants: Mapping[str, tuple[Entry, ...]]
    """Variants of an entry with calls in any language, by its key, where it has any."""
    alike: Mapping[str, tuple[Entry, ...]]
    """By parent: itself and the other parents with the same function, each with its variants."""

    def draw_variant(self, draw: Random) -> Entry | None:
        """Draw a variant of any entry with calls."""
        return draw.choice(self.variants[draw.choice(list(self.variants))]) if self.variants else None

    def draw_multiple(self, draw: Random) -> Entry | None:
        """Draw an entry with one function, and add others.

        Made from an entry with several functions, it would hardly differ from a variant of that entry.
        """
        entry = self._draw_entry(draw)
        if not offers_one_function(entry):
            return None
        return combination.build_multiple(entry, self.pool, draw, draw.randint(1, 3))

    def draw_parallel(self, draw: Random) -> Entry | None:
        """Draw several questions about one function."""
        alike = self.alike[draw.choice(self.parents).key]
        count = draw.randint(2, 4)
        return combination.build_parallel(draw.sample(alike, count), draw) if len(alike) >= count else None

    def draw_parallel_multiple(self, draw: Random) -> Entry | None:
        """Draw several questions about different functions."""
        count = draw.randint(2, 3)
        if len(self.parents) < count:
            return None
        entries = [draw.choice(self.alike[parent.key]) for parent in draw.sample(self.parents, count)]
        return combination.build_parallel_multiple(entries, draw)

    def draw_irrelevance(self, draw: Random) -> Entry | None:
        """Draw a question with functions that cannot answer it."""
        return combination.build_irrelevance(self._draw_entry(draw), self.pool, draw, draw.randint(1, 3))

    def _draw_entry(self, draw: Random) -> Entry:
        return draw.choice(self.alike[draw.choice(self.parents).key])


KINDS: Mapping[str, Callable[[Material, Random], Entry | None]] = {
    "variants": Material.draw_variant,
    "multiple": Material.draw_multiple,
    "parallel": Material.draw_parallel,
    "parallel_multiple": Material.draw_parallel_multiple,
    "irrelevance": Material.draw_irrelevance,
}
"""The kinds of entries that can be made."""


def collect_material(entries: Sequence[Entry], draw: Random) -> Material:
    """Collect the entries that were not themselves made by code. Raises ValueError where none can be used."""
    # Entries made by code are not material again (docs/project/decisions-suites.md).
    original_entries = [entry for entry in entries if not entry.parents]
    python = [entry for entry in original_entries if entry.category.language is Language.PYTHON]
    parents = tuple(filter(is_answered_by_one_call, python))
    if not parents:
        raise ValueError(
            "no entry has a single question that one call of a Python function answers; use another suite"
        )
    pool = {
        doc.name: doc
        for entry in python
        # Functions that ask a database, an API or the web could answer many questions.
        if not (asks_statement(entry) or asks_web_api(entry))
        for doc in entry.functions
        # So could those with a free query. A function with a keyword in its name cannot be called in Python.
        if "query" not in doc.properties and not any(map(iskeyword, doc.name.split(".")))
    }
    variants = {entry.key: tuple(build_variants(entry, draw)) for entry in original_entries}
    alike = {
        entry.key: tuple(
            each
            for other in parents
            if get_called_doc(other) == get_called_doc(entry)
            for each in (other, *variants[other.key])
        )
        for entry in parents
    }
    return Material(
        parents,
        tuple(pool.values()),
        {key: entry_variants for key, entry_variants in variants.items() if entry_variants},
        alike,
    )


def augment_entries(
    entries: Sequence[Entry], kinds: Sequence[str], count: int, seed: int, suite: str
) -> Iterator[tuple[str, list[Entry]]]:
    """Make at most ``count`` new entries of each kind, numbered; fewer where the material does not suffice.

    The same arguments give the same entries. Raises ValueError where nothing can be used.
    """
    draw = Random(f"{seed}:material")  # noqa: S311 - chance that can be repeated
    material = collect_material(entries, draw)
    free: dict[str, int] = {}
    for entry in entries:
        if (number := entry.id.rpartition("_")[2]).isdecimal():
            free[entry.category.name] = max(free.get(entry.category.name, 0), int(number) + 1)
    for kind in kinds:
        # Each kind has a generator of its own, so that its entries do not depend on the other kinds.
        draw = Random(f"{seed}:{kind}")  # noqa: S311 - chance that can be repeated
        entries_by_key: dict[object, Entry] = {}
        siblings: Counter[tuple[str, ...]] = Counter()
        # From few parents not many different entries can come, however many are wanted.
        for _ in range(_TRIES * min(count, 10 * len(material.parents))):
            if len(entries_by_key) == count:
                break
            new_entry = KINDS[kind](material, draw)
            if new_entry is None or siblings[new_entry.parents] == _FROM_THE_SAME:
                continue
            # Entries that ask for the same calls in another order count as equal.
            question_key: object = new_entry.turns
            if calls := list_expected_calls(new_entry):
                question_key = frozenset((call.name, repr(sorted(call.accepted.items()))) for call in calls)
            key = question_key, frozenset(doc.name for doc in new_entry.functions)
            if key not in entries_by_key:
                entries_by_key[key] = new_entry
                siblings[new_entry.parents] += 1
        yield kind, combination.number_entries(list(entries_by_key.values()), suite, free)
