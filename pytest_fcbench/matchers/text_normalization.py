"""The comparison of texts that all matchers share."""

from __future__ import annotations

_DROPPED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def standardized(text: str) -> str:
    """A text as BFCL compares it: without ``space , . / - _ * ^``, lower case, single quotes doubled.

    So that "April 1, 2024" equals "April 1 2024" (``ast_checker.standardize_string``).
    """
    return text.lower().translate(_DROPPED)
