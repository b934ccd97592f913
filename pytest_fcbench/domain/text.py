"""Make foreign texts safe to show, send and store: printable, encodable, of limited length and depth.

This is the one place where text becomes JSON values. How deep ``json`` itself reads depends on the version of
Python, and on 3.11 on how much of the stack its caller has used. What is too deep for the next reader would
fail there, far from its cause.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LONGEST = 600
"""Characters of a printable text; names of a model's own making can have any length."""


def make_printable(text: str) -> str:
    """Make a text fit for any terminal and file: no control characters, no lone surrogates, limited length.

    A printable text stays as it is, so that a stored reason reads the same when it is loaded again.
    """
    # Before the characters are looked at, because a model can write megabytes; one more than the limit, so
    # that ``cut_text`` sees that there were more.
    text = text[: _LONGEST + 1]
    if not text.isprintable():
        text = "".join(
            c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
        )
    return cut_text(text, _LONGEST)


# Control characters without tab and the ends of lines, and what turns the direction of a text.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)


def escape_controls(text: str) -> str:
    """Escape the characters with which a text could command a terminal; the length stays unlimited."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def put_on_one_line(text: str) -> str:
    """Make a text printable, with a blank in the place of each new line."""
    return " ".join(make_printable(text).split("\n"))


def escape_surrogates(text: str) -> str:
    r"""Write lone surrogates, which JSON escapes can bring in and UTF-8 cannot hold, as ``\udXXX``."""
    return text.encode("utf-8", "backslashreplace").decode()


_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def join_surrogate_pairs(text: str) -> str:
    """Join the two halves of characters that JSON escapes in two texts brought in; lone halves stay."""
    return _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def write_value(value: object) -> str:
    """Write a value as JSON, or as Python does where JSON cannot."""
    try:
        return json.dumps(value, ensure_ascii=False)
    # Values of models can be what Python's literals can and JSON cannot: sets, bytes, deep nesting.
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def cut_text(text: str, longest: int) -> str:
    """Cut a text after a number of characters and append an ellipsis where some were cut."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def shorten_text(text: str, longest: int) -> str:
    """Cut a text to a number of characters; an ellipsis is the last of them where some were cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shorten_middle(text: str, longest: int) -> str:
    """Cut the middle out of a text of more characters than ``longest``; an ellipsis stands in its place.

    The end of an error says more than its middle: a cause, or what to do.
    """
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


def cut_counting(text: str, longest: int) -> str:
    """Cut a text after a number of characters and append how many were cut."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def name_few(names: Sequence[str], most: int = 5) -> str:
    """Name the first of some names, and say how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


DEEPEST = 300
"""Levels of JSON that are read; functions that call themselves can walk them.

More than of any answer: Records hold answers and their values a few levels further inside.
"""
DEEPEST_OF_REPLY = 100
"""Levels of an endpoint's reply that are kept."""
TOO_DEEP = f"nested more than {DEEPEST} deep"

_WORD = re.compile(r"[^\W_]+")
_FIRST_CJK = 0x2E80
"""The first code point of the scripts that are written without spaces."""


def split_words(text: str) -> list[str]:
    """Split a text into words in lower case; scripts without spaces are split into characters."""
    words: list[str] = []
    for word in _WORD.findall(text.lower()):
        # ``+=`` with a text adds its characters one by one, as wanted for scripts without spaces.
        words += word if ord(max(word)) >= _FIRST_CJK else [word]
    return words


_DECODER = json.JSONDecoder()
_CONTAINERS = frozenset({dict, list})


def read_json_text(text: str | bytes, **options: Any) -> Any:
    """Read JSON text. Raises ``ValueError``, also for what is nested too deeply.

    ``options`` are those of ``json.loads``.
    """
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    # Each level takes two brackets.
    if len(text) > 2 * DEEPEST and _find_deep_parts(value, DEEPEST):
        raise ValueError(TOO_DEEP)
    return value


def read_strict_json(text: str) -> Any:
    """Read JSON text without the words that only Python takes, such as NaN. Raises ``ValueError``."""

    def refuse_constant(word: str) -> object:
        raise ValueError(f"{word} is not JSON")

    return read_json_text(text, parse_constant=refuse_constant)


def as_mapping(value: object) -> Mapping[str, object]:
    """Return a value that is an object, or an empty object."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[object]:
    """Return a value that is a list, or an empty list."""
    return value if isinstance(value, list) else []


def copy_into_lists(value: object) -> object:
    """Copy a value with dicts and lists in the place of all mappings and tuples."""
    if isinstance(value, Mapping):
        return {key: copy_into_lists(member) for key, member in value.items()}
    return [copy_into_lists(member) for member in value] if isinstance(value, (list, tuple)) else value


def iterate_texts(value: object) -> Iterator[str]:
    """Yield the texts in a value, at any depth; keys of objects are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from iterate_texts(member)


def list_objects(value: object) -> list[Mapping[str, object]]:
    """List the objects in a value that is a list; an element of another kind counts as an empty object."""
    return [as_mapping(each) for each in as_list(value)]


def read_json_at(text: str, start: int = 0, *, strict: bool = True) -> tuple[Any, int]:
    """Read the JSON value at a place of a text; return it and the place behind it. Raises ``ValueError``."""
    try:
        value, end = json.JSONDecoder(strict=strict).raw_decode(text, start)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if end - start > 2 * DEEPEST and _find_deep_parts(value, DEEPEST):
        raise ValueError(TOO_DEEP)
    return value, end


def read_reply_text(text: str | bytes) -> object:
    """Read the JSON of a reply, in which lists and objects that are nested too deeply are emptied.

    Raises ``ValueError`` for text that is no JSON, and for what Python itself cannot read.
    """
    value: object
    try:
        if isinstance(text, str):
            # A stream has many short texts, of which ``json.loads`` takes as long again as the value does.
            text = text.strip(" \t\r\n")
            value, end = _DECODER.raw_decode(text)
            if end < len(text):
                raise ValueError("more follows the value")
        else:
            value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    # Brackets of text are counted faster than a value is walked.
    may_be_deep = isinstance(text, bytes) or text.count("[") + text.count("{") > DEEPEST_OF_REPLY
    if may_be_deep and len(text) > 2 * DEEPEST_OF_REPLY:
        for part in _find_deep_parts(value, DEEPEST_OF_REPLY):
            part.clear()
    return value


def _find_deep_parts(value: object, deepest: int) -> list[Any]:
    """Find the lists and objects of a JSON value that have more levels around them."""
    level: list[Any] = [[value]]
    for _ in range(deepest + 1):
        members = (part.values() if type(part) is dict else part for part in level)
        level = [each for part in members for each in part if type(each) in _CONTAINERS]
        if not level:
            break
    return level
