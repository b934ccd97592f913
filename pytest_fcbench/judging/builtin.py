"""Compare the arguments of two calls by rules alone: the judge ``builtin``.

It judges without a model, always the same way. A rule says "same" only where nobody would doubt it, so it
accepts fewer variants than a model does, and a false "same" is rarer than a false "different".

- A parameter that is left out, null or blank is the same as the default that its schema or its description
  states, or as one that says nothing either, unless it is required.
- Identifiers (by the parameter's name: ``id``, ``token``, ``slug`` ...) and texts that look like one (letters
  and digits without a space, addresses) are the same only to the letter. Only a code of an airport or a city
  may have its kind behind it, ``JFK.AIRPORT``, or not.
- Numbers, money, measures, dates, times and bounds are what ``asked_quantities`` reads. A value that writes
  one and a value that does not are different.
- Telephone numbers are compared by ``phones``, where the parameter asks for one or both begin with a plus.
- Currencies and units alone are the same by any of their names; days and months where a date is asked for;
  languages and their codes where a language is asked for (that of a country is another one); "Smith, Jane" is
  "Jane Smith" where the parameter is a name.
- Texts are compared by their ``words``, names of places by the rules of ``places`` where name or description
  of the parameter speak of places, or nothing says what a value is and both are well-known places.
- Items of a list keep their order. Only ages and filters have none, also as one text with commas
  (``children_age`` 5,7 are the children 7,5).
- Objects are the same where all members are; the order of keys means nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from fractions import Fraction
from itertools import product

from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.domain.text import as_mapping, cut_text, make_printable
from pytest_fcbench.judging.gazetteer import read_currency, read_language
from pytest_fcbench.judging.places import is_known_place, is_same_place, write_out_code
from pytest_fcbench.judging.quantities import Quantity, read_calendar_name, read_quantities, read_unit
from pytest_fcbench.judging.questions import Equivalence
from pytest_fcbench.judging.text_normalization import are_equal
from pytest_fcbench.judging.words import LONGEST, is_code, spell_umlauts, split_words, turn_name

_DEEPEST = 50
"""Levels of a value that rules are applied to; deeper values are the same only where they are equal."""
_LONGEST_SHOWN = 80


def compare_arguments(
    doc: FunctionDoc, made_arguments: Mapping[str, object], expected_arguments: Mapping[str, object]
) -> Equivalence:
    """Compare the arguments of a call with those of the expected call of the same function."""
    reasons = []
    for name in _find_differences(doc.parameters, made_arguments, expected_arguments, 0):
        shown_value = _show(made_arguments, name)
        if name not in made_arguments:
            reasons.append(f"{name} is missing")
        elif name not in expected_arguments:
            reasons.append(f"{name} is {shown_value}, which is not asked for")
        else:
            reasons.append(f"{name} is {shown_value}, not {_show(expected_arguments, name)}")
    if reasons:
        return Equivalence(False, make_printable("; ".join(reasons)))
    explanations = (
        f"{name}: {_show(made_arguments, name)} means {_show(expected_arguments, name)}"
        for name in {**expected_arguments, **made_arguments}
        if not are_equal(made_arguments.get(name), expected_arguments.get(name))
    )
    return Equivalence(True, make_printable("; ".join(explanations) or "all arguments are equal"))


def declared_type(doc: FunctionDoc, name: str) -> str | None:
    """Return the type that a function doc declares for a parameter, or None."""
    kind = as_mapping(doc.properties.get(name)).get("type")
    return kind if isinstance(kind, str) else None


def _show(arguments: Mapping[str, object], name: str) -> str:
    """Show a value in few words."""
    if name not in arguments:
        return "what leaving it out means"
    try:
        text = json.dumps(arguments[name], ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        # It is no JSON, has a number of endless digits, or is too deep.
        return "a value that cannot be shown"
    return cut_text(text, _LONGEST_SHOWN)


# Objects


def _find_differences(
    parameters: Schema,
    made_arguments: Mapping[str, object],
    expected_arguments: Mapping[str, object],
    depth: int,
) -> Iterator[str]:
    """Find the members that do not mean the same."""
    properties, required_names = as_mapping(parameters.get("properties")), parameters.get("required")
    for name in {**expected_arguments, **made_arguments}:
        schema = as_mapping(properties.get(name))
        is_required = isinstance(required_names, (list, tuple)) and name in required_names
        made_value, expected_value = (
            _get_or_default(values.get(name), schema, is_required)
            for values in (made_arguments, expected_arguments)
        )
        if made_value is None or expected_value is None:
            is_same = made_value is expected_value
        else:
            is_same = _mean_same(name, schema, made_value, expected_value, depth)
        if not is_same:
            yield name


def _get_or_default(value: object, schema: Schema, is_required: bool) -> object:
    """Return a value, or the default that a schema or its description states; None where nothing is said."""
    is_blank = value is None or (isinstance(value, str) and not value.strip())
    if is_required or not is_blank:
        return value
    if schema.get("default") is not None:
        return schema["default"]
    description = schema.get("description")
    # Markdown puts stars around words, and also around the default.
    text = description[:5_000].replace("*", "") if isinstance(description, str) else ""
    defaults = {match[str(match.lastgroup)] for match in _DEFAULT.finditer(text)}
    # Of several stated defaults none is taken: each may depend on a condition.
    default = defaults.pop() if len(defaults) == 1 else ""
    return default if default.casefold() not in ("", "none", "null", "empty") else None


_DEFAULT = re.compile(
    r"""(?:\bdefaults?(?:\ value)?\s?(?:is\ set\ to|is|set\ to|to|:|=)|\(default)\s*
    (?: `(?P<code>[^`]+)` | "(?P<text>[^"]+)" | '(?P<quoted>[^']+)'
      | (?P<number>-?\d+(?:[.,]\d+)*) | (?P<word>[a-z][\w-]*) )
    (?=\s*(?:\.(?:\s|$)|[;)\]\n]|$))""",
    re.VERBOSE | re.IGNORECASE,
)
"""A default in a description, at the end of a sentence or of a text in brackets: words after it may limit it
to a condition."""


# Values


def _mean_same(name: str, schema: Schema, one: object, other: object, depth: int) -> bool:
    """Tell whether two values of a parameter mean the same."""
    if depth == _DEEPEST:
        return are_equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return not any(_find_differences(schema, one, other, depth + 1))
    words = _split_name(name)
    if not _NO_ORDER.isdisjoint(words) and (items := _split_items(words, one)) is not None:
        return items == _split_items(words, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        inner = as_mapping(schema.get("items"))
        return len(one) == len(other) and all(
            _mean_same(name, inner, a, b, depth + 1) for a, b in zip(one, other, strict=True)
        )
    # Before numbers, because a boolean is an int.
    if isinstance(one, bool) or isinstance(other, bool):
        return _read_truth(one) is _read_truth(other) is not None
    # Order matters from here on: an id is compared as it is before a number in it is read.
    if not _EXACT.isdisjoint(words[-1:]):
        return are_equal(_spell(one), _spell(other)) or _is_same_location(one, other)
    # Imported where it is needed: phonenumbers takes 30 ms to import, and few runs compare telephone numbers.
    from pytest_fcbench.judging.phones import is_same_phone

    is_phone = not _PHONES.isdisjoint(words)
    if (same_phone := is_same_phone(_spell(one), _spell(other), is_asked_for=is_phone)) is not None:
        return same_phone
    quantities, others = read_asked_quantities(words, one), read_asked_quantities(words, other)
    if quantities or others:
        return not quantities.isdisjoint(others) or one == other
    if not isinstance(one, str) or not isinstance(other, str):
        return are_equal(one, other)
    spellings = (map(write_out_code, spell_umlauts(text)) for text in (one, other))
    return any(_mean_same_text(name, schema, *pair) for pair in product(*spellings))


def _is_same_location(one: object, other: object) -> bool:
    """Tell whether two identifiers are codes of one location, one at least with its kind (JFK.AIRPORT)."""
    codes = [text.upper() for text in (one, other) if isinstance(text, str)]
    names = [*map(write_out_code, codes)]
    are_codes = all(len(code) == 3 or code != name for code, name in zip(codes, names, strict=True))
    return are_codes and codes != names and len(names) == 2 and is_same_place(names[0], names[1])


def _mean_same_text(name: str, schema: Schema, one: str, other: str) -> bool:
    """Tell whether two texts, neither of which writes an amount, mean the same."""
    if max(len(one), len(other)) > LONGEST or is_code(one) or is_code(other):
        return one.split() == other.split()
    if split_words(one) == split_words(other):
        return True
    description = schema.get("description")
    text = description[:1_000].casefold() if isinstance(description, str) else ""
    about = frozenset((*_split_name(name), *re.findall("[a-z]+", text)))
    readers: list[Callable[[str], object]] = [read_currency, read_unit]
    readers += [read_calendar_name] if not text or not _DAYS.isdisjoint(about) else []
    readers += [read_language] if not _LANGUAGES.isdisjoint(about) else []
    readers += [turn_name] if not _PEOPLE.isdisjoint(_split_name(name)[-1:]) else []
    if any((meaning := read(one)) is not None and meaning == read(other) for read in readers):
        return True
    if not _PLACES.isdisjoint(about):
        return is_same_place(one, other, about)
    # Where nothing says what a value is, what is well known is a place still.
    return not text and (is_known_place(one) or is_known_place(other)) and is_same_place(one, other)


_NO_ORDER = frozenset(split_words("age ages children filter filters tags categories amenities"))
"""Words in the name of a parameter whose value is a group of things."""


def _split_items(words: Sequence[str], value: object) -> Counter[object] | None:
    """Count the items of a list or of a text with commas; None where they are no single values."""
    if isinstance(value, str):
        items: list[object] = [*value.split(",")] if len(value) <= LONGEST else [value]
    else:
        items = [*value] if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, (list, tuple, Mapping)) for item in items):
        return None
    counts: Counter[object] = Counter()
    for item in items:
        if quantities := read_asked_quantities(words, item):
            # "8 years" is the age 8.
            counts[frozenset(each for each in quantities if each.kind == "number") or quantities] += 1
        elif not isinstance(item, str):
            counts[repr(item)] += 1
        elif len(item) > LONGEST or is_code(item):
            counts[item.strip()] += 1
        else:
            counts[split_words(item)] += 1
    return counts


_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def _read_truth(value: object) -> bool | None:
    if isinstance(value, str):
        return _TRUTH.get(value.strip().casefold())
    return value if isinstance(value, bool) else None


_EXACT = frozenset(
    split_words(
        "id ids uuid key keys token tokens slug hash email username login password path file filename url "
        "uri regex pattern expression command sql version"
    )
)
"""Last words in the names of parameters whose values are not language."""

_PHONES = frozenset(split_words("phone phones telephone mobile tel fax cell whatsapp"))
_DAYS = frozenset(split_words("day days date dates weekday weekdays month months"))
_LANGUAGES = frozenset(("language", "languages", "languagecode", "lang", "locale"))
_PEOPLE = frozenset(split_words("name author artist person contact guest passenger attendee owner customer"))

_PLACES = frozenset(
    split_words(
        "address airport airports cities city countries country destination district districts landmark "
        "location locations nation nationality origin place places province region state states town venue"
    )
)


def _split_name(name: str) -> list[str]:
    """Split a name such as ``fromId`` or ``hotel_id`` into its words."""
    return [part.casefold() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", str(name)[-100:])]


def _spell(value: object) -> object:
    """Return an identifier as text, whatever type it was sent as."""
    # An id can come as a number of either kind: 123.0 is the id 123.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) and abs(value) < 10**30 else value


_LONGEST = 60
"""Characters of the longest text that is read."""


def read_asked_quantities(words: Sequence[str], value: object) -> frozenset[Quantity]:
    """Return every quantity that a value may write for a parameter with these words in its name."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return read_quantities(value)
    text = " ".join(value.split())
    if (degrees := _read_position(words, text.casefold().replace("−", "-"))) is not None:
        return frozenset({degrees})
    own_words = {re.escape(word.removesuffix("s")) for word in words if len(word) > 2}
    own_words |= {pattern for word, pattern in _ALSO.items() if word in words}
    pattern = rf"(?<=[\w+])[ -]?(?:{'|'.join(sorted(own_words, key=len, reverse=True)) or '(?!)'})s?(?!\w)"
    bare_text = re.sub(pattern, "", text, flags=re.IGNORECASE)
    quantities = {*_read_amounts(text), *_read_amounts(bare_text)}
    for meaning in [meaning for meaning in quantities if meaning.kind == "moment"]:
        moment = datetime.fromisoformat(str(meaning.amount))
        # A midnight of another zone than UTC is none of the day that is written.
        if moment.time() == time() and not _OFFSET.search(text):
            quantities.add(Quantity("date", moment.date()))
    return frozenset(quantities)


_OFFSET = re.compile(r"[+-](?!00:?00)\d\d:?\d\d$")


def _read_amounts(text: str) -> Iterator[Quantity]:
    """Read a quantity or a bound of one."""
    bounds = ((kind, match) for kind, pattern in _BOUNDS.items() if (match := pattern.fullmatch(text)))
    kind, match = next(bounds, ("", None))
    amount = " ".join(part.strip() for part in match.groups() if part) if match else text
    # The sign and the code of a currency may stand at both sides: $5 USD.
    money = _SIGN_AND_CODE.fullmatch(amount)
    readings = [money[1] + money[2], money[2] + money[3]] if money else [amount]
    meanings = [
        frozenset(
            meaning._replace(kind=meaning.kind.replace("money dollars", "money USD"))
            for meaning in read_quantities(reading)
            if not kind or isinstance(meaning.amount, Fraction)
        )
        for reading in readings
    ]
    for meaning in frozenset.intersection(*meanings):
        yield meaning._replace(kind=f"{kind}{meaning.kind}")


_SIGN_AND_CODE = re.compile(r"([$€£¥₹] ?)(\d[\d,.]*)( ?[A-Za-z]{3})", re.ASCII)
_BOUNDS = {
    f"{kind} ": re.compile(
        rf"(?:{before})(?![a-z]) ?(\S.*)|([^ ]+?(?: [^ ]+?)?) ?(?:{behind})( ?[a-z].*)?", re.IGNORECASE
    )
    for kind, before, behind in (
        (
            "at least",
            r"at least|no less than|not less than|from|min\.?|minimum(?: of)?|>=|≥",
            r"\+|plus|(?:and|or|&) (?:up|upwards?|more|above|over|higher|better|greater)",
        ),
        (
            "at most",
            r"at most|no more than|not more than|up to|max\.?|maximum(?: of)?|<=|≤",
            r"(?:and|or|&) (?:less|fewer|below|under|lower|down)",
        ),
        ("more than", "more than|greater than|above|over|>", "(?!)"),
        ("less than", "less than|fewer than|below|under|<", "(?!)"),
    )
}
"""Signs and words before a number, or behind it, that make it a bound; ``(?!)`` is found nowhere."""


_STARS = r"stars? hotel|star|\*|★"
_ALSO = {
    **dict.fromkeys(("star", "stars", "class", "rating"), _STARS),
    **dict.fromkeys(("age", "ages"), "year"),
    "time": "h|hr|hour",
}
"""Words that may stand behind a number too, by a word in the parameter's name."""


def _read_position(words: Sequence[str], text: str) -> Quantity | None:
    """Read a latitude, a longitude, or both with a comma or a space between them."""
    for directions, names in _AXES.items():
        if not names.isdisjoint(words):
            degrees = _read_degrees(text, directions)
            return None if degrees is None else Quantity("number", degrees)
    parts = re.split(r" ?[,;] ?| (?=[-+\d])", text.strip("()[] "))
    if _POSITIONS.isdisjoint(words) or len(parts) != 2:
        return None
    position = tuple(map(_read_degrees, parts, _AXES))
    return None if None in position else Quantity("position", position)


_AXES = {"ns": frozenset(("lat", "latitude")), "ew": frozenset(("lon", "lng", "long", "longitude"))}
_POSITIONS = frozenset(("coordinate", "coordinates", "position", "location", "geo", "latlng", "latlon"))
_DEGREES = re.compile(
    r"(?P<before>[nsew]|north|south|east|west)? ?(?P<number>[-+]?\d{1,3}(?:\.\d+)?) ?(?:°|deg|degrees)? ?"
    r"(?P<behind>[nsew]|north|south|east|west)?",
    re.ASCII,
)


def _read_degrees(text: str, directions: str) -> Fraction | None:
    """Read degrees along an axis between two directions; south and west are below zero."""
    match = _DEGREES.fullmatch(text)
    if not match:
        return None
    number, direction = Fraction(match["number"]), match["before"] or match["behind"]
    if not direction:
        return number
    # With a sign and a direction nobody knows which counts, and of two directions one is too many.
    is_certain = match["number"][0].isdigit() and not (match["before"] and match["behind"])
    if not is_certain or direction[0] not in directions:
        return None
    return -number if direction[0] in "sw" else number
