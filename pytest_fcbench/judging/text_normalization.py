"""The comparison of texts that the verdicts of all kinds share."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Mapping

_DROPPED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def standardize(text: str) -> str:
    """Return a text as BFCL compares it: lower case, without ``space , . / - _ * ^``, quotes doubled.

    So that "April 1, 2024" equals "April 1 2024" (``ast_checker.standardize_string``).
    """
    return text.lower().translate(_DROPPED)


_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys(_SPACES, " "),
        **dict.fromkeys(_HYPHENS, "-"),
        **dict.fromkeys("‘’‚‛ʼ", "'"),
        **dict.fromkeys("“”„‟", '"'),
        # Soft hyphen, zero-width space, word joiner, byte order mark: nobody sees them.
        **dict.fromkeys("\u00ad\u200b\u2060\ufeff"),
    }
)


def unify_forms(text: str) -> str:
    """Write a text in composed characters (NFC) with ASCII's spaces, quotes and hyphens."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_PLAIN)


def unify_texts(value: object) -> object:
    """Write all texts in a JSON value, names of members too, as ``unify_forms`` does.

    Parts that are nested too deep stay as they are.
    """
    try:
        match value:
            case str():
                return unify_forms(value)
            case list() | tuple():
                return type(value)(map(unify_texts, value))
            case Mapping():
                return {unify_texts(key): unify_texts(member) for key, member in value.items()}
    except RecursionError:
        pass
    return value


# Letters of Cyrillic and Greek that look like Latin ones.
_TWINS = str.maketrans("АВЕКМНОРСТХаеорсухіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTXaeopcyxijsABEZHIKMNOPTYXo")


def mark_lookalikes(actual_text: str, expected_text: str) -> tuple[str, str]:
    r"""Write as ``\uXXXX`` the characters in which words differ that look alike in both texts."""
    if actual_text.isascii() and expected_text.isascii():
        return actual_text, expected_text
    words = {_find_look(word): word for word in map(_strip_signs, expected_text.split())}
    actual_words = map(_strip_signs, actual_text.split())
    if all(word == words.get(_find_look(word), word) for word in actual_words):
        return actual_text, expected_text
    return _escape_others(actual_text, expected_text), _escape_others(expected_text, actual_text)


def _strip_signs(word: str) -> str:
    return word.strip(string.punctuation) or word


def _find_look(word: str) -> str:
    return _strip_signs(unicodedata.normalize("NFKC", unify_forms(word)).translate(_TWINS))


def _escape_others(text: str, other: str) -> str:
    """Escape the characters beyond ASCII that another text does not have."""
    return "".join(c if c.isascii() or c in other else f"\\u{ord(c):04x}" for c in text)
