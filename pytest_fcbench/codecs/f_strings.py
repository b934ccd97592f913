"""F-strings, read alike by all versions of Python.

From 3.12 on, what stands between the braces of an f-string is Python like any other. Before, an f-string was
a string first: it ended at its own quotes, and its fields had to do without them, without backslashes and
comments. The official package runs on the older versions, so what only the newer ones accept is refused.
"""

from __future__ import annotations

import re

_STRING = re.compile(
    r"""\#[^\n]*
    | (?:(?<!\w)(?P<prefix>f|rf|fr))?
      (?: (?P<triple>'{3}|"{3})(?P<long>(?:\\.|(?!(?P=triple)).)*+)
        | (?P<quote>['"])(?P<short>(?:\\.|(?!(?P=quote))[^\\\n])*+) )
      (?P<end>(?P=triple)|(?P=quote))?""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""A comment or a string, as all versions before 3.12 find them in the text of a program."""
_SIGN = re.compile(r"\\N\{[^}]*\}|\\[^{}]|\{\{|\}\}|[{}]", re.DOTALL)
"""The signs in the text of an f-string that matter here."""
_PIECE = re.compile(r"'''.*?'''|\"\"\".*?\"\"\"|'[^']*'|\"[^\"]*\"|!=|[\[({})\]:!#,]", re.DOTALL)
"""The strings and signs in a field that matter here."""
_CONVERSION = re.compile(r"[sra](?=[:}])")
_DEEPEST_FIELD = 2
"""A field, and one in its format."""


def check_f_strings(text: str) -> None:
    """Raise ``SyntaxError`` for an f-string that Python 3.11 refuses, in a text that a later one accepts."""
    for found in _STRING.finditer(text):
        body = found["long"] if found["short"] is None else found["short"]
        if body is not None and not found["end"]:
            raise SyntaxError("unterminated string literal")
        if found["prefix"]:
            _check_text(body, 0, 0, is_raw=len(found["prefix"]) > 1)


def _check_text(body: str, at: int, level: int, *, is_raw: bool) -> int:
    """Check the text of an f-string, or of a format up to the brace that ends it. Return the place behind."""
    while found := _SIGN.search(body, at):
        sign, at = found[0], found.end()
        # A backslash means nothing in a raw string, a double brace nothing in a format.
        if (is_raw and sign[0] == "\\") or (level and sign in ("{{", "}}")):
            sign, at = sign[0], found.start() + 1
        if sign == "{":
            at = _check_field(body, at, level + 1, is_raw=is_raw)
        elif sign == "}":
            return at
    return at


def _check_field(body: str, start: int, level: int, *, is_raw: bool) -> int:
    """Check a field from behind its opening brace on. Return the place behind it."""
    if level > _DEEPEST_FIELD:
        raise SyntaxError("f-string: expressions nested too deeply")
    depth, is_tuple = 0, False
    for piece in _PIECE.finditer(body, start):
        sign, at = piece[0], piece.end()
        if sign == "#" or (not depth and sign in "!:}"):
            break
        depth += (sign in "[({") - (sign in "])}")
        is_tuple |= sign == "," and not depth
    else:
        raise SyntaxError("f-string: expecting '}'")
    expression = body[start : at - 1]
    if sign == "#" or "\\" in expression:
        raise SyntaxError("f-string expression part cannot include a backslash or '#'")
    if expression.lstrip().startswith("*") and not is_tuple:
        raise SyntaxError("cannot use starred expression here")
    check_f_strings(expression)
    if sign == "!":
        if not (conversion := _CONVERSION.match(body, at)):
            raise SyntaxError("f-string: expecting '}'")
        at = conversion.end() + 1
        sign = body[at - 1]
    return _check_text(body, at, level, is_raw=is_raw) if sign == ":" else at
