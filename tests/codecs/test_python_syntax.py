"""Python text is parsed with the same outcome whatever other threads, the collector and warnings do."""

from __future__ import annotations

import ast
import gc
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import count
from typing import Literal, TypeVar

import pytest

from pytest_fcbench.codecs.call_evaluation import Functions, NoCallError
from pytest_fcbench.codecs.call_evaluation import carry_out_call as carry_out
from pytest_fcbench.codecs.decoders import python as python_calls
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.python_syntax import (
    DEEPEST,
    explain_refusal,
    parse_expression,
    parse_module,
    read_literal,
)
from tests.cases import each_case
from tests.disturbance import disturb_parsing, repeat_in_threads

T = TypeVar("T")

CALL = "book_flight(card='id_1', days=[1, 2, {3, 4}], fare={'usd': (1, -2.5)}, by=f(x=not True, y=None))"
TREE = ast.dump(ast.parse(CALL, mode="eval").body)
WARNS = ("f(x='\\d')", "f(x='''\\ ''')", "f(x=0x1or 2)")
"""Texts that Python warns about."""


def replace_parse(monkeypatch: pytest.MonkeyPatch, *failures: BaseException) -> count[int]:
    """Let ``ast.parse`` fail in these ways before it parses. Returns the counter of its calls."""
    real, left, calls = ast.parse, list(failures), count()

    def fail_then_parse(text: str, filename: str, mode: str, feature_version: tuple[int, int]) -> ast.AST:
        next(calls)
        if left:
            raise left.pop(0)
        return real(text, filename, mode, feature_version=feature_version)

    monkeypatch.setattr(ast, "parse", fail_then_parse)
    return calls


def test_texts_are_parsed() -> None:
    assert ast.dump(parse_expression(CALL)) == TREE
    assert [type(node) for node in parse_module("x = 1\ny = 2").body] == [ast.Assign, ast.Assign]
    assert read_literal(" \t{'a': [1, (2.5, None)]}") == {"a": [1, (2.5, None)]}


@each_case(
    ("text", "reason"),
    [
        ("", "invalid syntax"),
        ("f(", "'(' was never closed"),
        ("x = 1", "invalid syntax"),
        ("a; b", "invalid syntax"),
        ("f(x='\0')", "source code string cannot contain null bytes"),
        ("1abc", "invalid decimal literal"),
        ("f(x=" * 300, "too many nested parentheses"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, reason: str) -> None:
    with pytest.raises((SyntaxError, ValueError, MemoryError), match=re.escape(reason)):
        parse_expression(text)


@each_case("text", ["type X = f(x=1)", "def f[T](x=1): pass", "class A[T]: pass", "t'{x}'"])
def test_what_only_later_versions_of_python_accept_is_refused(text: str) -> None:
    with pytest.raises(
        SyntaxError, match=r"invalid syntax|expected|f-string|only supported in Python 3\.1[24]"
    ):
        parse_module(text)


@each_case("text", ["x[*y]", "x[*y, 1:2]", "def f(*x: *y): pass", "try: pass\nexcept* A: pass"])
def test_what_came_with_python_3_11_is_parsed(text: str) -> None:
    assert len(parse_module(text).body) == 1


@pytest.mark.parametrize("read", [parse_expression, read_literal])
def test_a_text_whose_tree_would_be_large_is_refused(read: Callable[[str], object]) -> None:
    read(f"[{'0,' * 49_999}]")
    with pytest.raises(ValueError, match=r"50,001 signs of nesting, lists and arithmetic are too many"):
        read(f"[{'0,' * 50_000}]")


def test_messages_name_no_file_but_the_unknown() -> None:
    """Models are shown them, and answers are stored by what models were shown."""
    with pytest.raises(SyntaxError, match=r"\(<unknown>, line 1\)$"):
        parse_expression("f(")


def test_a_parse_within_a_parse() -> None:
    """On 3.11 every one of these failed: the collector ran code that parses while the tree was built."""
    with disturb_parsing(by_parsing=True):
        found = [ast.dump(parse_expression(CALL)) for _ in range(200)]
    assert set(found) == {TREE}


def test_parsing_in_many_threads() -> None:
    with disturb_parsing(by_parsing=False):
        found = repeat_in_threads(lambda: ast.dump(parse_expression(CALL)))
    assert set(found) == {TREE}


MISMATCH = SystemError("AST constructor recursion depth mismatch (before=6, after=12)")


@each_case(
    "failure",
    [
        MISMATCH,
        RecursionError("maximum recursion depth exceeded during ast construction"),
        SyntaxError("invalid escape sequence '\\d'"),
        SyntaxError(
            '"\\d" is an invalid escape sequence. Did you mean "\\\\d"? A raw string is also an option.'
        ),
        SyntaxError("invalid hexadecimal literal"),
    ],
    ids=str,
)
def test_what_may_lie_with_other_threads_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    calls = replace_parse(monkeypatch, failure, failure)
    assert ast.dump(parse_expression(CALL)) == TREE
    assert next(calls) == 3


@pytest.mark.parametrize(
    "failure", [SystemError("bad internal call"), SyntaxError("invalid syntax")], ids=str
)
def test_what_lies_with_the_text_is_not(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    calls = replace_parse(monkeypatch, failure)
    with pytest.raises(type(failure), match=str(failure)):
        parse_expression(CALL)
    assert next(calls) == 1


def test_a_fault_of_the_interpreter_is_never_taken_for_one_of_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace_parse(monkeypatch, *[MISMATCH] * 100)
    with pytest.raises(SystemError, match="recursion depth mismatch"):
        parse_expression(CALL)


@each_case("enabled", [True, False])
@each_case("failures", [(), (MISMATCH,)], ids=["undisturbed", "disturbed"])
@each_case("interrupted", [True, False])
def test_collector_and_lock_are_left_as_they_were(
    monkeypatch: pytest.MonkeyPatch, failures: tuple[Exception, ...], interrupted: bool, enabled: bool
) -> None:
    """Also by Ctrl-C, which comes through."""
    replace_parse(monkeypatch, *failures, *([KeyboardInterrupt()] if interrupted else []))
    set_collector(enabled)
    try:
        with pytest.raises(KeyboardInterrupt) if interrupted else nullcontext():
            parse_expression(CALL)
        assert gc.isenabled() is enabled
    finally:
        set_collector(True)
    assert run_in_thread(lambda: ast.dump(parse_expression(CALL))) == TREE


def set_collector(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


def run_in_thread(do: Callable[[], object]) -> object:
    """Return what something returns in another thread, or None if it does not end."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(do()), daemon=True)
    thread.start()
    thread.join(10)
    return found[0] if found else None


# Warnings


@each_case("action", [pytest.param("error", id="as error"), pytest.param("always", id="shown")])
@each_case("text", WARNS)
def test_a_text_is_not_warned_about(text: str, action: Literal["error", "always"]) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        parse_expression(text)
    assert found == []


@pytest.mark.parametrize("text", WARNS)
def test_python_would_warn_about_it(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SyntaxError, match=r"invalid escape sequence|invalid hexadecimal literal"):
            ast.parse(text, mode="eval")


@pytest.mark.parametrize("text", WARNS)
def test_rules_that_another_thread_makes_in_between(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    real, times = warnings.filterwarnings, count()

    def filter_and_interrupt(action: str, module: str) -> None:
        real("ignore", module=module)
        if next(times) < 2:
            warnings.simplefilter("error")

    with warnings.catch_warnings():
        monkeypatch.setattr(warnings, "filterwarnings", filter_and_interrupt)
        parse_expression(text)
    assert next(times) == 3


def test_rules_of_others_are_left_alone() -> None:
    """However often texts are parsed, one rule is added, which holds for texts of no file."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        for text in WARNS * 3:
            parse_expression(text)
        added = [rule for rule in warnings.filters if rule not in before]
        assert len(warnings.filters) - len(before) == len(added) <= 1
        with pytest.raises(SyntaxError, match="invalid escape sequence"):
            compile("'\\d'", "a_file.py", "eval")


def test_parsing_in_threads_while_rules_come_and_go() -> None:
    """As where pytest begins and ends tests under ``-W error`` while other threads read answers."""
    ended = threading.Event()

    def change_rules() -> None:
        while not ended.is_set():
            with warnings.catch_warnings():
                warnings.simplefilter("error")

    changing = threading.Thread(target=change_rules)
    changing.start()
    try:
        with disturb_parsing(by_parsing=False):
            rounds = repeat_in_threads(lambda: [ast.unparse(parse_expression(text)) for text in WARNS])
    finally:
        ended.set()
        changing.join()
    assert {tuple(texts) for texts in rounds} == {(r"f(x='\\d')", r"f(x='\\ ')", "f(x=1 or 2)")}


# Depth

NESTS: Mapping[str, Callable[[int], str]] = {
    "lists": lambda depth: f"f(x={'[' * depth}{']' * depth})",
    "dicts": lambda depth: f"f(x={'{1: ' * depth}2{'}' * depth})",
    "calls": lambda depth: f"f(x={'f(x=' * depth}1{')' * depth})",
    "sums": lambda depth: f"f(x={'1+' * depth}1)",
    "sums of names": lambda depth: f"f(x={'a+' * depth}1)",
    "signs": lambda depth: f"f(x={'-' * depth}1)",
    "nots": lambda depth: f"f(x={'not ' * depth}1)",
    "attributes": lambda depth: f"f(x={'a.' * depth}a)",
    "calls of calls": lambda depth: f"f(x=a{'()' * depth})",
    "subscripts": lambda depth: f"f(x=a{'[1]' * depth})",
    "conditions": lambda depth: f"f(x={'1 if 1 else ' * depth}1)",
    "dicts that are no values": lambda depth: f"f(x=a + {'{1: ' * depth}2{'}' * depth})",
    "calls that are no values": lambda depth: f"f(x=a + {'f(x=' * depth}1{')' * depth})",
    "loops": lambda depth: f"f(x={'[x for x in ' * depth}y{']' * depth})",
    "comparisons": lambda depth: f"f(x={'(a or b and c == ' * (depth // 3)}1{')' * (depth // 3)})",
    "slices": lambda depth: f"f(x={'a[b:' * (depth // 2)}1{']' * (depth // 2)})",
    "lambdas": lambda depth: f"f(x={'lambda:' * depth}1)",
}


def read_every_way(text: str) -> Iterator[object]:
    """Yield what each reader of calls makes of a text."""
    known: Functions = {"f": lambda x: x}
    for read in (
        python_calls.parse_official,
        python_calls.parse_corrected,
        lambda text: carry_out(text, known),
    ):
        try:
            yield repr(read(text))
        except (Undecodable, NoCallError, RecursionError, MemoryError):
            yield None


def call_at_depth(depth: int, do: Callable[[], T]) -> T:
    return do() if depth == 0 else call_at_depth(depth - 1, do)


@each_case("nest", NESTS.values(), ids=list(NESTS))
@each_case("depth", [90, 100, 190, DEEPEST - 2, DEEPEST - 1, DEEPEST, 300, 900])
def test_what_is_too_deep_does_not_depend_on_the_caller(nest: Callable[[int], str], depth: int) -> None:
    """A conversation has more of the stack left than the test that judges it."""
    text = nest(depth)
    with ThreadPoolExecutor(1) as thread:
        beside = thread.submit(lambda: list(read_every_way(text))).result()
    assert call_at_depth(150, lambda: list(read_every_way(text))) == beside
    if depth > DEEPEST:
        assert beside == [None, None, None]


@each_case("nest", NESTS.values(), ids=list(NESTS))
def test_what_is_nested_less_is_parsed(nest: Callable[[int], str]) -> None:
    trees = [parse_expression(nest(190)), ast.parse(nest(190), mode="eval").body]
    # ``ast.dump`` needs several frames a level, more than the stack of a test beside xdist has left.
    with ThreadPoolExecutor(1) as thread:
        ours, pythons = thread.map(ast.dump, trees)
    assert ours == pythons


F_STRINGS = {
    "a field": "f'{x}'",
    "in a call": "g(f'{x}')",
    "in a list": "['a', f'a{x!r:>3}']",
    "the quotes of the string": """f'{'a'}'""",
    "its quotes in an index": """f"{d["a"]}" """,
    "its quotes in a format": """f'{x:{'a'}}'""",
    "a backslash": r"""f'{"a\n"}'""",
    "a comment": "f'''{x # why\n}'''",
    "a star": "f'{*x}' f'{*f(x, y)}'",
}
"""Texts with fields, many of which Python accepts from 3.12 on only."""


@each_case("written", F_STRINGS.values(), ids=list(F_STRINGS))
@each_case("call", ["f(x={})", "f({}, x=1)", "f(x=g({}))", "f(x=a[{}])"])
def test_fields_of_f_strings_are_refused_whatever_the_version_of_python(call: str, written: str) -> None:
    assert list(read_every_way(call.format(written))) == [None, None, None]
    with pytest.raises((ValueError, SyntaxError), match=r"\S"):
        read_literal(written)


@pytest.mark.parametrize("text", ["f'a'", "rf'{{a}}'", "'{x}'"])
def test_a_text_without_a_field_is_no_such_f_string(text: str) -> None:
    assert explain_refusal(text, parse_expression(text)) is None


def count_keys(many: int, write: Callable[[int], str]) -> str | None:
    text = f"[{{{', '.join(map(write, range(many - 1)))}}}, {{1: 2}}]"
    return explain_refusal(text, parse_expression(text))


@each_case(
    "write",
    [
        lambda number: f"{number * (2**61 - 1)}: 0",
        lambda number: f"({number}, 1): 0",
        lambda number: f"{number}",
        lambda number: "a: 0",
        lambda number: "**{}",
    ],
    ids=["numbers", "tuples", "set", "names", "unpacked"],
)
def test_more_than_a_thousand_keys_that_are_no_texts_are_refused(write: Callable[[int], str]) -> None:
    assert count_keys(1_000, write) is None
    assert count_keys(1_001, write) == "1,001 keys that are no texts are too many"


def test_keys_that_are_texts_may_be_many() -> None:
    """Their hashes are drawn for each process, so that nobody can choose them."""
    assert count_keys(5_000, lambda number: f"'{number}': 0") is None


def test_a_literal_with_chosen_hashes_is_refused() -> None:
    with pytest.raises(ValueError, match="2,000 keys that are no texts are too many"):
        read_literal(f"{{{', '.join(str(number * (2**61 - 1)) for number in range(2_000))}}}")
