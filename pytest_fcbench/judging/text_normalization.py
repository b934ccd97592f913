"""The comparison of texts, and of JSON values, that the verdicts of all kinds share."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Mapping

from pytest_fcbench.domain.explanation import StateDifference
from pytest_fcbench.domain.text import shorten_text

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
    # With the ellipsis of a text that was cut.
    return word.strip(f"{string.punctuation}…") or word


def _find_look(word: str) -> str:
    return _strip_signs(unicodedata.normalize("NFKC", unify_forms(word)).translate(_TWINS))


def _escape_others(text: str, other: str) -> str:
    """Escape the characters beyond ASCII that another text does not have."""
    return "".join(c if c.isascii() or c in other else f"\\u{ord(c):04x}" for c in text)


def are_equal(one: object, other: object) -> bool:
    """Tell whether two JSON values are equal, however deep: true is not 1, and NaN equals itself."""
    # A list of pairs instead of recursion, because a model's JSON may be nested deeply.
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            if a.keys() != b.keys():
                return False
            pairs += [(value, b[key]) for key, value in a.items()]
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif isinstance(a, bool) is not isinstance(b, bool) or not (a == b or (a != a and b != b)):
            return False
    return True


_LONGEST = 60
"""Characters of a value that are shown."""


def find_differences(expected_value: object, actual_value: object, at: str = "") -> Iterator[StateDifference]:
    """Yield every place where two values differ, as deep as possible."""
    if expected_value == actual_value:
        return
    are_lists = isinstance(expected_value, list) and isinstance(actual_value, list)
    one, other = (
        dict(enumerate(each)) if are_lists and isinstance(each, list) else each
        for each in (expected_value, actual_value)
    )
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            place = f"{at}[{key}]" if are_lists else f"{at}.{key}" if at else str(key)
            if key in one and key in other:
                yield from find_differences(one[key], other[key], place)
            else:
                texts = (_write_value(each[key]) if key in each else None for each in (one, other))
                yield StateDifference(place, *(text and shorten_text(text, _LONGEST) for text in texts))
    else:
        value_texts = _cut_around_difference(_write_value(expected_value), _write_value(actual_value))
        yield StateDifference(at, *mark_lookalikes(*value_texts))


def _write_value(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _cut_around_difference(expected_text: str, actual_text: str) -> tuple[str, str]:
    """Cut two different texts so that their first difference shows."""
    if max(len(expected_text), len(actual_text)) <= _LONGEST:
        return expected_text, actual_text
    same = next((i for i, (a, b) in enumerate(zip(expected_text, actual_text, strict=False)) if a != b), None)
    start = max(0, (min(len(expected_text), len(actual_text)) if same is None else same) - _LONGEST // 3)

    def cut(text: str) -> str:
        end = start + _LONGEST
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"

    return cut(expected_text), cut(actual_text)
