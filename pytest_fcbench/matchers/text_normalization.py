"""The comparison of texts that all matchers share."""

from __future__ import annotations

_DROPPED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def standardize(text: str) -> str:
    """Return a text as BFCL compares it: lower case, without ``space , . / - _ * ^``, quotes doubled.

    So that "April 1, 2024" equals "April 1 2024" (``ast_checker.standardize_string``).
    """
    return text.lower().translate(_DROPPED)
