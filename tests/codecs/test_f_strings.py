"""F-strings that only newer versions of Python accept are refused on all of them."""

from __future__ import annotations

import ast
import re
import sys

import pytest

from pytest_fcbench.codecs.f_strings import check_f_strings
from pytest_fcbench.codecs.python_syntax import parse_expression

LATER = {
    "the quotes of the string": """f'{'a'}'""",
    "its long quotes": """f'''{'''a'''}'''""",
    "its quotes in an f-string": """f'{f'{x}'}'""",
    "its quotes in an index": """f"{d["a"]}" """,
    "its quotes in a format": """f'{x:{'a'}}'""",
    "its quotes in a second string": """'a' f'{x}' f'{'b'}'""",
    "its quotes in a field of another": """f'{f"{d["a"]}"}'""",
    "a backslash": r"""f'{"a\n"}'""",
    "a backslash between lines": "f'''{x\\\n}'''",
    "a comment": "f'''{x # why\n}'''",
    "a line that ends": "f'{x\n}'",
    "a comment in a raw one": "rf'''{x # why\n}'''",
    "a space behind the conversion": "f'{x!r }'",
    "a star": "f'{*x}' f'{*f(x, y)}'",
    "a field in a format in a format": "f'{x:{y:{z}}}'",
    "in an argument of a call": """g(f'{'a'}')""",
}
"""Expressions that Python accepts from 3.12 on, by what is new in them."""


REASON = r"^(f-string|unterminated string literal|cannot use starred)"


@pytest.mark.parametrize("text", LATER.values(), ids=LATER)
def test_what_only_later_versions_accept_is_refused(text: str) -> None:
    with pytest.raises(SyntaxError, match=r"\S"):
        parse_expression(text)
    with pytest.raises(SyntaxError, match=REASON):
        check_f_strings(text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="what later versions of Python accept")
@pytest.mark.parametrize("text", LATER.values(), ids=LATER)
def test_later_versions_accept_it(text: str) -> None:
    ast.parse(text, mode="eval")


EVER = {
    "no fields": "f'a'",
    "fields": "f'{x}{y!r}{z:>3}{z!s:>{w}.2f}'",
    "other quotes": """f'{"a"}' f"{d['a']}" F"{f'{x}'}" """,
    "quotes of a long string": """f'''{"a"}{'b'}{x}'{y}''{z}'''""",
    "double braces": "f'{{{x}}}' f'{{}}' f'{{'",
    "brackets": "f'{ {1: 2}[1:2] }{(lambda: 1)()}{[*x]}{*x, y}'",
    "signs that look like a conversion": "f'{x != y}{x!r}{(x!=y)!s:a!b}'",
    "signs in strings": """f'{"#!:}"}'""",
    "signs in the format": "f'{x:#x}{x:%Y-%m}{x:\\n}'",
    "escapes": r"f'\n\'{x}\N{DIGIT ONE}' rf'\N{x}\'{y}'",
    "what it is made of": "f'{x=}{x = !r:>3}'",
    "several lines": "f'''{x:\n}{\ny\n}'''",
    "no f-string": """g(d['f'], "f'{'", rb'{') + u'{' """,
    "in a comment": "['!', '#', '}'] # f'{'",
}
"""Expressions that every version accepts."""


@pytest.mark.parametrize("text", EVER.values(), ids=EVER)
def test_what_all_versions_accept_is_parsed(text: str) -> None:
    assert ast.dump(parse_expression(text)) == ast.dump(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("""f'{'a'}'""", "f-string: expecting '}'"),
        ("f'{x!r }'", "f-string: expecting '}'"),
        ("f'{x\n}'", "unterminated string literal"),
        ("f'''{x # y\n}'''", "f-string expression part cannot include a backslash or '#'"),
        ("f'{x:{y:{z}}}'", "f-string: expressions nested too deeply"),
        ("f'{*x}'", "cannot use starred expression here"),
    ],
)
def test_the_reason_is_named(text: str, reason: str) -> None:
    with pytest.raises(SyntaxError, match=f"^{re.escape(reason)}$"):
        check_f_strings(text)


@pytest.mark.parametrize("text", ["f'{'" + r"\'" * 200_000, "f'" + r"\N{" * 200_000, "f'{" + '"' * 200_001])
def test_a_long_text_takes_no_long_time(text: str) -> None:
    with pytest.raises(SyntaxError, match=REASON):
        check_f_strings(text)
