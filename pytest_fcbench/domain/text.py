"""Make texts of others safe to show, to send and to store: printable, encodable, bounded."""

from __future__ import annotations

_LONGEST = 600
"""Characters of a printable text; names of a model's own making can have any length."""


def make_printable(text: str) -> str:
    """Make a text fit for any terminal and file: no control characters, no lone surrogates, not endless.

    What is printable stays as it is, so that a reason that was kept is the same when it is read.
    """
    text = text[: _LONGEST + 1]
    if not text.isprintable():
        text = "".join(
            c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
        )
    return cut_text(text, _LONGEST)


def escape_surrogates(text: str) -> str:
    r"""Write lone surrogates, which JSON escapes can bring in and UTF-8 cannot hold, as ``\udXXX``."""
    return text.encode("utf-8", "backslashreplace").decode()


def cut_text(text: str, longest: int) -> str:
    """Keep so many characters of a text; an ellipsis after them tells that there were more."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def shorten_text(text: str, longest: int) -> str:
    """Fit a text into so many characters; the last of them tells that there were more."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def cut_counting(text: str, longest: int) -> str:
    """Keep so many characters of a text, and tell how many more there were."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"
