"""Texts a model may send that must neither crash nor hang a reader."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping

from hypothesis import strategies as st

HOSTILE: Mapping[str, str] = {
    "megabyte of brackets": "[" * 1_000_000,
    "unclosed calls": "f(x=" * 5_000,
    "unclosed braces": "{" * 20_000,
    "unclosed JSON": '{"a":' * 20_000,
    "unclosed tags": "<tool_call>\n" * 20_000,
    "nested parentheses": f"f(x={'(' * 5_000}1{')' * 5_000})",
    "nested lists": f"f(x={'[' * 190}{']' * 190})",
    "nested JSON": f'[{{"name": "f", "arguments": {{"x": {"[" * 5_000}{"]" * 5_000}}}}}]',
    "long sum": f"f(x={'1+' * 20_000}1)",
    "many signs": f"f(x={'-' * 20_000}1)",
    "many nots": f"f(x={'not ' * 20_000}1)",
    "many lambdas": f"f(x={'lambda:' * 20_000}1)",
    "many conditions": f"f(x={'1 if 1 else ' * 20_000}1)",
    "long dotted name": f"{'a.' * 20_000}f(x=1)",
    "calls of calls": f"f{'()' * 20_000}",
    "nested f-string": f"f(x=f'{'{' * 20_000}')",
    "long number": f"f(x={'9' * 5_000})",
    "huge power": "f(x=9**9**9)",
    "huge shift": "f(x=1<<10**12)",
    "huge text": "f(x='x'*10**10)",
    "huge list": "f(x=[0]*10**10)",
    "huge format": "f(x='%9999999999d' % 1)",
    "division by zero": "f(x=1/0)",
    "float overflow": "f(x=10**400/3, y=10.0**400)",
    "infinite float": "f(x=1e999, y=-1e999)",
    "unhashable key": "f(x={[1]: 2, {}: 3})",
    "control characters": "".join(map(chr, range(32))) + "\x7f\x85",
    "null in a call": "f(x='\0')",
    "lone surrogate": "\ud800",
    "lone surrogate in a call": "f(x='\ud800', \udfff=1)",
    "carriage returns": "\r" * 1_000 + "f(x=1)" + "\r" * 1_000,
    "backslashes": "f(x='" + "\\" * 999 + "')",
    "byte order mark": "\ufefff(x=1)",
    "bidirectional marks": "\u202ef(x='\u2066')\u202c",
}
"""Hostile texts by what they are."""

_TOKENS = (
    *("f", "g.h", "a", "b", "é", "😀", "\ud800", "\0", "1", "-1", "2.5f", "5L", "5n", "0x", "true", "null"),
    *("(", ")", "[", "]", "{", "}", "{{", "}}", "=", ",", ":", ";", ".", "?.", "+", "-", "*", "**", "%", "@"),
    *("'", '"', '"""', "`", "```", "\\", "\\u", "${", "//", "/*c*/", "\n", " ", "\t", "\r"),
    *(
        "new ",
        "HashMap<>",
        "ArrayList<Integer>",
        "Arrays.asList(",
        "put(",
        "add(",
        "int[]",
        "(int)",
        "class ",
    ),
    *(
        "await ",
        "const x = ",
        "=>",
        "function",
        "lambda ",
        "not ",
        "for x in ",
        "if ",
        "return ",
        "f'",
        "...",
    ),
    *("<tool_call>\n", "\n</tool_call>", '{"name":', '"arguments":'),
)

any_text = st.text(st.characters(), max_size=60)
"""Any characters at all, control characters and lone surrogates among them."""

source_text = st.lists(st.sampled_from(_TOKENS), max_size=25).map("".join)
"""Pieces of source code in any order."""

wild_text = st.one_of(any_text, source_text, source_text.map(lambda text: f"f(a={text})"))
"""Anything a model could answer, from noise to nearly a call."""


def must_end(work: Callable[[], object], within_s: int = 600) -> None:
    """Do some work; fail instead of hanging. It takes seconds; a busy machine may need many times as long."""

    def give_up(*_: object) -> None:
        raise AssertionError(f"does not end within {within_s} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(within_s)
    try:
        work()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
