"""Try the laws of growing inputs with a plain generator: ``python -m tests.fuzzing.plain --inputs 1000000``.

It draws from grammars of arithmetic, of schemas and of streams. It shrinks nothing, and costs a tenth of what
hypothesis does; a number draws the same input again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.fuzzing.test_growth import (
    test_a_schema_becomes_a_doc_of_bounded_size_or_is_refused as check_schema,
)
from tests.fuzzing.test_growth import (
    test_a_stream_becomes_a_reply_no_larger_than_itself_or_fails as check_stream,
)
from tests.fuzzing.test_reading import ARITHMETIC_FORMS
from tests.fuzzing.test_reading import (
    test_arithmetic_has_a_value_of_bounded_size_or_is_unreadable as check_arithmetic,
)

_NUMBERS = ("0", "1", "-1", "2.5", "10**9", "2**64", "1e308", "True", "None", "0x10", "1_000", "1j", "9" * 50)
_TEXTS = (
    "'a'",
    "'a' * 3",
    "''",
    "b'a'",
    "'x' 'y'",
    "f'{1}'",
    "'%s'",
    "'%(a)999999999d'",
    "r'\\'",
    "'\\ud800'",
)
_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<<",
    ">>",
    "|",
    "&",
    "^",
    "@",
    " and ",
    " or ",
    " == ",
    " in ",
)
_CALLS = ("round({})", "str({})", "int({})", "str({}, 'rot13')", "len({})", "f({})", "dict(a={})", "abs({})")
_AROUND = (
    "[{}]",
    "({},)",
    "{{'a': {}}}",
    "{{{}: 1}}",
    "{{{}}}",
    "-{}",
    "~{}",
    "not {}",
    "({})",
    "[*{}]",
    "{}[0]",
)


def draw_arithmetic(random: Random, depth: int = 4) -> str:
    """Draw an expression of Python."""
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return random.choice(_NUMBERS if random.random() < 0.6 else _TEXTS)
    if kind < 0.65:
        left, right = (draw_arithmetic(random, depth - 1) for _ in range(2))
        return f"{left}{random.choice(_OPERATORS)}{right}"
    if kind < 0.8:
        return random.choice(_CALLS).format(draw_arithmetic(random, depth - 1))
    if kind < 0.95:
        return random.choice(_AROUND).format(draw_arithmetic(random, depth - 1))
    member = draw_arithmetic(random, max(depth - 2, 0))
    return f"[{', '.join([member] * random.choice([2, 30, 300]))}]"


def draw_value(random: Random, depth: int = 3) -> Any:
    """Draw a JSON value."""
    kind = random.random()
    if depth == 0 or kind < 0.5:
        return random.choice([None, True, 0, -1, 1.5, 10**30, "", "a", "\ud800", "x" * 300, float("inf")])
    if kind < 0.75:
        return [draw_value(random, depth - 1) for _ in range(random.randrange(4))]
    if kind < 0.97:
        return {random.choice("abcd"): draw_value(random, depth - 1) for _ in range(random.randrange(4))}
    return _nest(random.choice([90, 99, 101, 199, 201, 300]), random.choice("[{"))


def _nest(depth: int, kind: str) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind == "[" else {"a": value}
    return value


def draw_schema(random: Random, depth: int = 4) -> Any:
    """Draw a JSON Schema whose definitions refer to each other."""
    kind = random.random()
    if depth == 0 or kind < 0.35:
        return random.choice(
            [
                {"$ref": f"#/$defs/D{random.randrange(6)}"},
                {
                    "type": random.choice(
                        ["string", "integer", "array", "object", "null", ["string", "null"], 1]
                    )
                },
                True,
                {},
                {"$ref": "#"},
                {"$ref": "x.json"},
                {"pattern": "(a+)+$"},
                {"enum": [draw_value(random, 1)]},
                {"const": draw_value(random, 2)},
            ]
        )
    inner = [draw_schema(random, depth - 1) for _ in range(random.randrange(1, 4))]
    if kind < 0.6:
        return {random.choice(["allOf", "anyOf", "oneOf", "prefixItems"]): inner}
    if kind < 0.8:
        return {"type": "object", "properties": dict(zip("abc", inner, strict=False)), "required": ["a"]}
    keywords = ("items", "not", "if", "additionalProperties", "contains", "unevaluatedItems")
    return {random.choice(keywords): inner[0]}


def draw_root(random: Random) -> dict[str, Any]:
    """Draw the schema of a function."""
    root: dict[str, Any] = {
        "type": "object",
        "properties": {name: draw_schema(random, 3) for name in "abc"[: random.randrange(4)]},
        "$defs": {f"D{number}": draw_schema(random, 3) for number in range(random.randrange(1, 7))},
    }
    if random.random() < 0.5:
        root["properties"]["a"] = _nest_schema(random)
    return root


def _nest_schema(random: Random) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(random.choice([3, 49, 51, 100, 250])):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


_IDS = (None, "", "a", "b", "c", 1)
_ARGUMENTS = (
    "",
    "{",
    '{"a"',
    ": 1}",
    '{"a": 1}',
    "{}",
    "null",
    '"',
    "\\",
    "\ud83d",
    "x" * 200,
    "[" * 300,
    None,
)


def draw_stream(random: Random) -> bytes:
    """Draw a stream of events."""
    lines = []
    for number in range(random.randrange(12)):
        piece = {
            "index": random.choice([0, 0, 0, 1, 2, None, "0", -1, number]),
            "id": random.choice([*_IDS, f"id{number}"]),
            "function": {
                "name": random.choice([None, "", "f", "f", "g"]),
                "arguments": random.choice(_ARGUMENTS),
            },
        }
        delta: Any = {"tool_calls": [piece] * random.choice([1, 1, 1, 2])}
        if random.random() < 0.3:
            member = random.choice(["content", "reasoning", "role", "extra", "function_call", "refusal"])
            delta[member] = draw_value(random)
        choice: Any = {"index": 0, "delta": delta if random.random() < 0.9 else draw_value(random)}
        if random.random() < 0.2:
            choice[random.choice(["finish_reason", "message", "text", "usage", "index"])] = draw_value(random)
        chunk: Any = {"choices": [choice] * random.choice([1, 1, 1, 2])}
        if random.random() < 0.1:
            chunk[random.choice(["usage", "error", "x_groq", "choices"])] = draw_value(random)
        lines.append(f"data: {json.dumps(chunk)}")
    if random.random() < 0.8:
        lines.append('data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}')
    lines.append(random.choice(["data: [DONE]", "data: [DONE]", "", "event: error", "data: ping"]))
    return random.choice(["\n\n", "\n\n", "\n", "\r\n\r\n"]).join(lines).encode("utf-8", "surrogatepass")


GRAMMARS: Mapping[str, tuple[Any, Callable[[Random], Mapping[str, object]]]] = {
    "arithmetic": (
        check_arithmetic,
        lambda random: {
            "value": draw_arithmetic(random),
            "syntax": random.choice([*ARITHMETIC_FORMS]),
        },
    ),
    "schemas": (
        check_schema,
        lambda random: {"schema": draw_root(random), "arguments": {"a": draw_value(random)}},
    ),
    "streams": (check_stream, lambda random: {"body": draw_stream(random)}),
}
"""The target of each grammar, and what draws its inputs."""


def try_input(grammar: str, seed: int, number: int) -> None:
    """Try the input of a number. Raises whatever breaks the law of its target."""
    target, draw = GRAMMARS[grammar]
    target.hypothesis.inner_test(**draw(Random(f"{seed}-{grammar}-{number}")))


def try_grammar(grammar: str, seed: int, inputs: int, seconds: float) -> int:
    """Try so many inputs, or for so long, and print each kind of finding once; return their number."""
    begun, slowest, kinds, number = time.monotonic(), 0.0, set(), 0
    while number < inputs and time.monotonic() - begun < seconds:
        number += 1
        started = time.process_time()
        try:
            try_input(grammar, seed, number)
        except Exception as error:  # noqa: BLE001 - a law can be broken by any error
            place = traceback.extract_tb(error.__traceback__)[-1]
            if (kind := (type(error), place.filename, place.lineno)) not in kinds:
                kinds.add(kind)
                print(f"{grammar} {number}:", *traceback.format_exception(error)[-3:], flush=True)
        slowest = max(slowest, time.process_time() - started)
    print(
        f"{grammar}: {number:,} inputs, {len(kinds)} findings, the slowest input {slowest:.1f} s", flush=True
    )
    return len(kinds)


def main() -> int:
    """Return 1 where a law was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing.plain", description=__doc__)
    parser.add_argument("grammars", nargs="*", default=list(GRAMMARS), metavar="GRAMMAR")
    parser.add_argument("--inputs", type=int, default=10_000, help="of each grammar (default: 10000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each grammar")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return int(sum(try_grammar(each, given.seed, given.inputs, given.seconds) for each in given.grammars) > 0)


if __name__ == "__main__":
    sys.exit(main())
