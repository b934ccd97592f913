"""Make foreign texts safe to show, send and store: printable, encodable, of limited length."""

from __future__ import annotations

import json
import re

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
