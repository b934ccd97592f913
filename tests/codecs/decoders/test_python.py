"""Python text read as calls, in both readings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings

from pytest_fcbench.codecs import python_syntax
from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.python import PYTHON, evaluate_text, read_unwrapped
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.python_syntax import parse_expression
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text

NO = "undecodable"
"""Stands in tables for a text that is refused."""

READERS = {"official": python.parse_official, "corrected": python.parse_corrected}


def read_outcome(reader: Callable[[str], tuple[Call, ...]], text: str) -> object:
    """Return the calls as ``(name, arguments, *positional)``, or ``NO``."""
    try:
        return [(call.name, dict(call.arguments), *call.positional) for call in reader(text)]
    except Undecodable:
        return NO


def read_value(reader: Callable[[str], tuple[Call, ...]], source: str) -> object:
    """Read ``source`` as the value of an argument; return ``NO`` where it cannot be read."""
    try:
        return reader(f"f(x={source})")[0].arguments["x"]
    except Undecodable:
        return NO


def pair_with_repr(value: object) -> tuple[str, object]:
    """Return a value that compares unequal to its look-alikes, ``True`` to 1 and ``(1,)`` to ``[1]``."""
    return repr(value), value


CALLS_READ_ALIKE = {
    "empty list": ("[]", []),
    "empty text": ("", []),
    "white space": (" \n ", []),
    "one call": ("[f(x=1)]", [("f", {"x": 1})]),
    "two calls": ("[f(x=1), g(y='a')]", [("f", {"x": 1}), ("g", {"y": "a"})]),
    "no brackets": ("f(x=1)", [("f", {"x": 1})]),
    "two without brackets": ("f(x=1), g(y=2)", [("f", {"x": 1}), ("g", {"y": 2})]),
    "value in brackets": ("f(x=[1])", [("f", {"x": [1]})]),
    "trailing comma": ("[f(x=1),]", [("f", {"x": 1})]),
    "over several lines": ("[\n  f(x=1),\n  f(x=2),\n]", [("f", {"x": 1}), ("f", {"x": 2})]),
    "no arguments": ("[f()]", [("f", {})]),
    "dotted name": ("[a.b.c(x=1)]", [("a.b.c", {"x": 1})]),
    "name of a call": ("[a()(x=1)]", [("", {"x": 1})]),
    "method of a call": ("[a().b(x=1)]", [("b", {"x": 1})]),
    "bare fence": ("```\n[f(x=1)]\n```", [("f", {"x": 1})]),
    "single backticks": ("`f(x=1)`", [("f", {"x": 1})]),
    "repeated keyword": ("[f(x=1, x=2)]", [("f", {"x": 2})]),
    "unpacked dict": ("[f(**d)]", [("f", {"**": "d"})]),
    "a name": ("hello", NO),
    "a literal": ("None", NO),
    "a dict": ("{'f': 1}", NO),
    "a quoted list": ('"[f()]"', NO),
    "a list of lists": ("[[f()]]", NO),
    "a list of tuples": ("(f(x=1), g(y=2))", NO),
    "words after the list": ("[f(x=1)] is the call.", NO),
    "words before the list": ("The call: [f(x=1)]", NO),
    "semicolon": ("f(x=1);", NO),
    "assignment": ("y = f(x=1)", NO),
    "two lines of calls": ("f(x=1)\ng(y=2)", NO),
    "a name and a call": ("[f, g(y=2)]", NO),
}


@each_case(("text", "expected"), CALLS_READ_ALIKE.values(), ids=CALLS_READ_ALIKE)
@each_case("reader", READERS.values(), ids=READERS)
def test_both_readings_find_these_calls(
    reader: Callable[[str], tuple[Call, ...]], text: str, expected: object
) -> None:
    assert read_outcome(reader, text) == expected


CALLS_READ_DIFFERENTLY = {
    "positional": ("[f(1, x=2)]", [("f", {"x": 2})], [("f", {"x": 2}, 1)]),
    "all positional": ("[f('a', [2])]", [("f", {})], [("f", {}, "a", [2])]),
    "prose": ("Hello (world)", [("Hello", {})], [("Hello", {}, "world")]),
    "python fence": ("```python\n[f(x=1)]\n```", NO, [("f", {"x": 1})]),
    "fence on one line": ("```python [f(x=1)]```", NO, [("f", {"x": 1})]),
    "windows fence": ("```py\r\n[f(x=1)]\r\n```", NO, [("f", {"x": 1})]),
    "leading tab": ("\t[f(x=1)]", NO, [("f", {"x": 1})]),
    "trailing tab": ("[f(x=1)]\t", NO, [("f", {"x": 1})]),
    "trailing carriage return": ("[f(x=1)]\r\n", NO, [("f", {"x": 1})]),
    "fence after a tab": ("\t```\n[f(x=1)]\n```", NO, [("f", {"x": 1})]),
}


@each_case(("text", "official", "corrected"), CALLS_READ_DIFFERENTLY.values(), ids=CALLS_READ_DIFFERENTLY)
def test_the_corrected_reading_repairs(text: str, official: object, corrected: object) -> None:
    assert read_outcome(python.parse_official, text) == official
    assert read_outcome(python.parse_corrected, text) == corrected


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        pytest.param("[f(x=1)", [("f", {"x": 1})], id="closing bracket missing"),
        pytest.param("f(x=1)]", [("f", {"x": 1})], id="opening bracket missing"),
        pytest.param(
            "[f(x=[1]), g(y=2)", [("f", {"x": [1]}), ("g", {"y": 2})], id="two calls, closing bracket missing"
        ),
    ],
)
def test_both_readings_add_a_missing_bracket(text: str, calls: object) -> None:
    """The corrected reading is the lenient one, so it should read all that the official one reads."""
    assert read_outcome(python.parse_official, text) == calls
    assert read_outcome(python.parse_corrected, text) == calls


VALUES = {
    # id: (source, official, corrected)
    "integer": ("5", 5, 5),
    "float": ("2.5e3", 2500.0, 2500.0),
    "hexadecimal": ("0x1F", 31, 31),
    "text": ("'it\\'s'", "it's", "it's"),
    "adjacent texts": ("'a' 'b'", "ab", "ab"),
    "True": ("True", True, True),
    "None": ("None", None, None),
    "Ellipsis": ("...", "...", "..."),
    "bytes": ("b'a'", b"a", b"a"),
    "minus": ("-5", -5, -5),
    "minus float": ("-2.5", -2.5, -2.5),
    "plus": ("+5", -5, 5),
    "not": ("not True", -1, "not True"),
    "not zero": ("not 0", 0, "not 0"),
    "invert": ("~5", -5, "~5"),
    "minus zero": ("-0.0", -0.0, -0.0),
    "complex number": ("1+2j", 1 + 2j, 1 + 2j),
    "complex number with a sign": ("-2j", -2j, -2j),
    "a long number with a sign": (f"-{10**4_000}", -(10**4_000), -(10**4_000)),
    "minus True": ("-True", -1, -1),
    "double minus": ("--5", NO, 5),
    "minus name": ("-y", NO, "-y"),
    "minus text": ("-'s'", NO, "-'s'"),
    "name": ("red", "red", "red"),
    "JSON true": ("true", "true", True),
    "JSON false": ("false", "false", False),
    "JSON null": ("null", "null", None),
    "list": ("[1, [true], 'a']", [1, ["true"], "a"], [1, [True], "a"]),
    "tuple": ("(1, -2)", (1, -2), (1, -2)),
    "one-element tuple": ("(1,)", (1,), (1,)),
    "empty tuple": ("()", (), ()),
    "tuple of names": ("(true, red)", ("true", "red"), (True, "red")),
    "dict": ("{'a': {'b': +1}}", {"a": {"b": -1}}, {"a": {"b": 1}}),
    "dict with name keys": ("{a: 1}", {"a": 1}, {"a": 1}),
    "product": ("2*3", 6, 6),
    "difference": ("1 - -2", 3, 3),
    "quotient": ("1/4", 0.25, 0.25),
    "floor and remainder": ("7//2 + 7%2", 4, 4),
    "power": ("2**-1", 0.5, 0.5),
    "signs inside arithmetic": ("1 + +5", 6, 6),
    "repeated text": ("'ab'*2", "abab", "abab"),
    "text repeated by a sum": ("'.' * (4 - 1)", "...", "..."),
    "joined texts": ("'a' + 'b' * 2", "abb", "abb"),
    "joined lists": ("[1] + [2]*2", [1, 2, 2], [1, 2, 2]),
    "rounding": ("round(2.5) + 1", 3, 3),
    "number to text": ("'no. ' + str(round(1.5 * 3))", "no. 4", "no. 4"),
    "text repeated less than never": ("'a' * -5", "", ""),
    "arithmetic with a name": ("1 + y", NO, "1 + y"),
    "arithmetic with a call": ("1 + now()", NO, "1 + now()"),
    "arithmetic with dots": ("'a' + ...", NO, "'a' + ..."),
    "division by zero": ("1/0", NO, "1 / 0"),
    "power too large": ("9**9**9", NO, "9 ** 9 ** 9"),
    "shift too large": ("1 << 10**9", NO, "1 << 10 ** 9"),
    "text too long": ("'x'*10**10", NO, "'x' * 10 ** 10"),
    "list too long": ("[0]*10**10", NO, "[0] * 10 ** 10"),
    "pure function alone": ("round(2.6)", "round(2.6)", 3),
    "call without keywords": ("now()", "now()", "now()"),
    "call with an f-string": ('now(f"{a}")', NO, NO),
    "call with the same quotes in an f-string": ("""now(f'{a['b']}')""", NO, NO),
    "call with positional": ("date( 1,2 )", "date(1, 2)", "date(1, 2)"),
    "call with keywords": ("date(day=+1)", {"date": {"day": -1}}, {"date": {"day": 1}}),
    "call with both": ("date(1, day=2)", {"date": {"day": 2}}, "date(1, day=2)"),
    "subscript": ("a [0]", "a[0]", "a[0]"),
    "attribute": ("Color.RED", NO, "Color.RED"),
    "plain f-string": ("f'abc'", NO, "abc"),
    "empty f-string": ("f''", NO, ""),
    "f-string": ("f'{a}'", NO, NO),
    "set": ("{1, 2}", NO, [1, 2]),
    "lambda": ("lambda: 1", NO, "lambda: 1"),
    "comparison": ("a < b", NO, "a < b"),
    "boolean operation": ("a or b", NO, "a or b"),
    "condition": ("1 if a else 2", NO, "1 if a else 2"),
    "comprehension": ("[i for i in y]", NO, "[i for i in y]"),
    "starred": ("[*a]", NO, ["*a"]),
    "dict with unpacking": ("{**a}", NO, "{**a}"),
    "dunder attribute": ("().__class__", NO, "().__class__"),
    "unhashable key": ("{[1]: 2}", NO, NO),
}


@each_case(("source", "official", "corrected"), VALUES.values(), ids=VALUES)
def test_a_value_is_read_officially_and_corrected(source: str, official: object, corrected: object) -> None:
    assert pair_with_repr(read_value(python.parse_official, source)) == pair_with_repr(official)
    assert pair_with_repr(read_value(python.parse_corrected, source)) == pair_with_repr(corrected)


NEVER_SEEN = (
    *("'%s-%03d' % ('a', 2)", "'%(a)s' % {'a': 1}", "'%(b)s' % {'a': 1}", "b'%d' % 1", "'%*d' % (9, 1)"),
    *("'%(a)999999999d' % {'a': 1}", "b'%(a).999999999f' % {b'a': 1}", "'%999d' * 20 % ((1,) * 20)"),
    *("str('%(a)999999999d') % {'a': 1}", "str(1) * 99999", "('a' + 'b') * 9", "9 * 'a'", "b'a' * 9"),
    *("(1,) * 9", "(1,) + (2,)", "b'a' + b'b'", "'a' + [1]", "'a' * 1.5", "'a' * 'b'", "[1] - [1]"),
    *("str(b'a', 'nope') + ''", "str(b'a', 'rot13') + ''", "str(b'a', 'zlib') + ''", "str(b'a', 'punycode')"),
    *("str([1]) + 'a'", "str('a') + 'a'", "str() + 'a'", "sum([1, 2]) / 2", "len('a') + 1", "max(1, 5) + 1"),
    *("pow(2, 3) + 1", "int('3') + 1", "abs(-2) + 1", "bool(1) + 1", "round(2.567, 1) + 1", "round('a') + 1"),
    *("1 << 4", "8 >> 1", "1 | 3", "3 & 1", "3 ^ 1", "{'a': 1} | {'b': 2}", "1 + (not 0)", "1 + ~1", "2 @ 2"),
)
"""What no model was seen to write and Python would compute, or refuse with any of its errors."""


@each_case("source", NEVER_SEEN)
def test_what_no_model_writes_is_not_evaluated(source: str) -> None:
    assert read_value(python.parse_official, f"0 + ({source})") == NO
    assert read_value(python.parse_corrected, f"0 + ({source})") != NO
    with pytest.raises(Undecodable, match="would have to be evaluated"):
        python.fold_constants(parse_expression(f"0 + ({source})"))


@each_case(
    ("text", "words"),
    [
        ("str(9e999) + str(round(9e999))", "cannot convert float infinity to integer"),
        ("round(9e999 - 9e999)", "cannot convert float NaN to integer"),
        ("10.0 ** 400", "[Rr]esult"),
        ("2j // 1", "unsupported operand"),
        ("round(2j)", "type complex"),
        ("0 ** -1", "to a negative power"),
    ],
)
def test_arithmetic_that_fails_is_a_refusal(text: str, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^arithmetic failed: .*{words}"):
        python.fold_constants(parse_expression(text))


def test_an_unreadable_value_spoils_the_whole_official_answer_but_not_the_corrected_one() -> None:
    text = "[f(x=1), g(y=Color.RED)]"
    assert read_outcome(python.parse_official, text) == NO
    assert read_outcome(python.parse_corrected, text) == [("f", {"x": 1}), ("g", {"y": "Color.RED"})]


@each_case(
    ("text", "words"),
    [
        pytest.param("f(x=", "not Python calls: closing parenthesis ']' does not match", id="syntax"),
        pytest.param("[f(x=1), 5]", "expected a call, found Constant", id="no call"),
        pytest.param("[f()] + [g()]", "expected a list of calls, found BinOp", id="no list"),
        pytest.param("f(x=Color.RED)", "Attribute is not a value", id="value"),
        pytest.param("f(x={**a})", "** inside a dict is not a value", id="unpacking"),
        pytest.param("f(x={[1]: 2})", "not a key: ", id="key"),
        pytest.param("f(x=9**9**9)", "the result of the arithmetic is too large", id="size"),
        pytest.param(f"f(x={2**14_000})", "an integer is too large", id="integer"),
        pytest.param("f(x=1/0)", "arithmetic failed: division by zero", id="arithmetic"),
        pytest.param("f(x=1+open('a'))", "Call in arithmetic would have to be evaluated", id="evaluation"),
    ],
)
def test_a_refusal_says_what_is_in_the_way(text: str, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(words)}"):
        python.parse_official(text)


def test_a_literal_too_large_spoils_the_corrected_reading_too() -> None:
    """Other expressions that cannot be read stay source text."""
    with pytest.raises(Undecodable, match=r"^an integer is too large$"):
        python.parse_corrected(f"f(x={2**14_000})")


def test_the_corrected_reading_refuses_what_is_no_list() -> None:
    with pytest.raises(Undecodable, match=r"^expected a list of calls, found BinOp$"):
        python.parse_corrected("[f()] + [g()]")


def test_a_text_that_begins_with_a_list_may_be_a_call_in_the_corrected_reading() -> None:
    text = "[1, 2].index(x=1)"
    assert read_outcome(python.parse_official, text) == NO
    assert read_outcome(python.parse_corrected, text) == [("index", {"x": 1})]


@pytest.mark.parametrize("text", ["X(x=1)", " '[X(x=1)]' ", "'X(x=1)'"])
def test_between_tags_a_single_call_and_single_quotes_are_read(text: str) -> None:
    assert read_outcome(python.parse_official_between_tags, text) == [("X", {"x": 1})]


def test_between_tags_a_name_is_refused() -> None:
    with pytest.raises(Undecodable, match=r"^expected a list of calls, found Name$"):
        python.parse_official_between_tags("hello")


@pytest.mark.parametrize("text", ["f(x=1)\ng(y=2)", "f(x=1); g(y=2)", "a = f(x=1)\nreturn g(y=2)"])
def test_statements_are_calls_or_have_one_as_their_value(text: str) -> None:
    assert read_outcome(python.parse_official_statements, text) == [("f", {"x": 1}), ("g", {"y": 2})]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("f(", "not Python calls: '(' was never closed", id="syntax"),
        pytest.param("f()\nimport os", "expected a call, found NoneType", id="no value"),
        pytest.param("f()\nx", "expected a call, found Name", id="no call"),
    ],
)
def test_statements_of_another_kind_are_refused(text: str, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(words)}"):
        python.parse_official_statements(text)


@each_case(
    ("name", "error", "words"),
    [
        ("parse_expression", MemoryError(), "not Python calls: MemoryError"),
        ("_read_constant", RecursionError(), "the text cannot be read: RecursionError: "),
        ("_read_constant", ValueError("too many"), "the text cannot be read: ValueError: too many"),
        ("_read_constant", KeyError("a"), "the text cannot be read: KeyError: 'a'"),
    ],
)
def test_what_a_parser_cannot_take_is_a_refusal(
    name: str, error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(given: object) -> object:
        raise error

    monkeypatch.setattr(python_syntax if name == "parse_expression" else python, name, fail)
    with pytest.raises(Undecodable, match=f"^{words}$"):
        python.parse_official("[f(x=1)]")


@each_case(
    ("source", "larger"),
    [
        ("2 ** 1_024", "2 ** 1_025"),
        ("2 ** 1_023 * 2 ** 1_023", "2 ** 1_023 * 2 ** 1_024"),
        ("-(2 ** 1_023) - 2 ** 1_023", "-(2 ** 1_023) - 2 ** 1_024"),
        ("10 ** 308", "10 ** 617"),
    ],
)
def test_computed_integers_have_at_most_twice_the_bits_of_the_largest_float(source: str, larger: str) -> None:
    """By the bits of the operands, which are known before: a power of two has half of those."""
    assert read_value(python.parse_official, source) == eval(source)
    assert read_value(python.parse_official, larger) == NO


def test_an_integer_may_be_written_with_as_many_bits() -> None:
    assert read_value(python.parse_official, str(2**14_000 - 1)) == 2**14_000 - 1


@pytest.mark.parametrize(("source", "most"), [("'a'", 5_000), ("[1]", 2_500), ("['abc', []]", 1_000)])
def test_sequences_may_be_repeated_to_five_thousand_parts(source: str, most: int) -> None:
    assert read_value(python.parse_official, f"{source} * {most}") == eval(source) * most
    assert read_value(python.parse_official, f"{source} * {most + 1}") == NO


@each_case(
    ("value", "size"),
    [(5, 1), (2**640, 11), ("abc", 3), (b"ab", 2), ({1}, 2), ({"ab": [1, "xyz"]}, 8), ([(), {}], 3)],
)
def test_a_size_counts_characters_and_elements_at_every_depth(value: object, size: int) -> None:
    assert python.measure_size(value) == size


@each_case("reader", READERS.values(), ids=READERS)
@each_case(
    "attack",
    [
        "__import__('os').system('touch {path}')",
        "__import__('os').system('touch {path}') + 0",
        "-__import__('os').system('touch {path}')",
        "open('{path}', 'w').close()",
        "open(file='{path}', mode='w')",
        "[open('{path}', 'w') for _ in '1']",
        "(lambda: open('{path}', 'w'))()",
        "f\"{{open('{path}', 'w')}}\"",
        "{{**open('{path}', 'w')}}",
        'exec(\'open("{path}", "w")\')',
        "[0][open('{path}', 'w').close()]",
        "'{{}}'.format(open('{path}', 'w'))",
        "'%s' % open('{path}', 'w')",
    ],
)
def test_a_value_is_never_evaluated(
    reader: Callable[[str], tuple[Call, ...]], attack: str, tmp_path: Path
) -> None:
    target = tmp_path / "touched"
    read_value(reader, attack.format(path=target))
    assert not target.exists()


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_call_in_a_value_stays_source_text(reader: Callable[[str], tuple[Call, ...]]) -> None:
    assert read_value(reader, "__import__('os').system('true')") == "__import__('os').system('true')"


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_the_name_and_the_default_of_a_call_are_never_evaluated(
    reader: Callable[[str], tuple[Call, ...]], tmp_path: Path
) -> None:
    target = tmp_path / "touched"
    read_outcome(reader, f"[open('{target}', 'w').f(x=1), open('{target}', 'w')]")
    assert not target.exists()


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_an_odd_escape_in_a_text_gives_no_warning(reader: Callable[[str], tuple[Call, ...]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_value(reader, r"'\d+'") == r"\d+"


@each_case("text", HOSTILE.values(), ids=HOSTILE)
@each_case("reader", READERS.values(), ids=READERS)
def test_a_hostile_text_is_read_or_refused_at_once(
    reader: Callable[[str], tuple[Call, ...]], text: str
) -> None:
    must_end(lambda: read_outcome(reader, text))


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@given(text=wild_text)
@settings(deadline=None)
def test_any_text_is_read_or_refused(reader: Callable[[str], tuple[Call, ...]], text: str) -> None:
    calls = read_outcome(reader, text)
    assert calls == NO or isinstance(calls, list)


HUGE = f"0x{'f' * 5_000}"
"""An integer of more digits than Python writes in decimals."""


@each_case("reader", READERS.values(), ids=READERS)
@each_case("source", [f"g({HUGE})", f"a[{HUGE}]"], ids=["call", "subscript"])
def test_source_text_with_a_huge_integer_is_read_or_refused(
    reader: Callable[[str], tuple[Call, ...]], source: str
) -> None:
    read_value(reader, source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("[[0]*2000]*2000", id="list of lists"),
        pytest.param("['x'*2000]*2000", id="list of texts"),
        pytest.param("[[[[0]*200]*200]*200, 1]", id="three levels"),
    ],
)
def test_repetition_inside_repetition_is_refused(source: str) -> None:
    """Ten kilobytes of references to one list are ten billion elements to whoever walks or writes them."""
    assert read_value(python.parse_official, source) == NO


@each_case("read", READERS.values())
@each_case("value", ["'ab' * 9", "[0] * 9", "['ab', 1] * (4 + 5)"])
def test_more_than_twenty_repeated_texts_and_lists_are_refused(
    read: Callable[[str], tuple[Call, ...]], value: str
) -> None:
    """Each can be a short text that takes kilobytes."""
    (call,) = read(f"[f(a=[{', '.join([value] * 20)}])]")
    assert isinstance(held := call.arguments["a"], list)
    assert len(held) == 20
    with pytest.raises(Undecodable, match="more than 20 texts or lists are repeated"):
        read(f"[f(a=[{', '.join([value] * 20)}]), g(b={value})]")


def test_products_of_numbers_are_no_repetitions() -> None:
    (call,) = python.parse_official(f"[f(a=[{', '.join(['2 * 3'] * 50)}])]")
    assert call.arguments["a"] == [6] * 50


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (python.parse_official, "[f(a=[{}])]"),
        (python.parse_corrected, "[f(a=[{}])]"),
        (python.parse_official_statements, "f(a=[{}],)"),
    ],
)
def test_a_text_with_more_signs_than_a_tree_may_have_is_refused(
    read: Callable[[str], tuple[Call, ...]], text: str
) -> None:
    # Four signs stand around the commas.
    assert read(text.format("0," * 49_996)) == (Call("f", {"a": [0] * 49_996}),)
    with pytest.raises(
        Undecodable, match=r"^not Python calls: 50,00\d signs of nesting, lists and arithmetic are too many$"
    ):
        read(text.format("0," * 49_997))


@each_case(
    "text",
    [
        "{'a': [1, (2, {3}, {4: 5})], 'b': None}",
        " \t[1]",
        "()",
        "{'a': 1, 'c': 0} | {'b': 2, 'c': 3} | {}",
        "[1] + [2] * 2",
        "'a' 'b'",
        "-0.5",
        "[{'amount': 10 * round(310.23 * 1000) / 1000}]",
        "round(2.6)",
        "'round(' + str(6000.0) + ')'",
    ],
)
def test_a_literal_has_the_value_that_eval_finds(text: str) -> None:
    found, expected = evaluate_text(text), eval(text)
    assert (found, type(found)) == (expected, type(expected))


@each_case(
    ("text", "reason"),
    [
        ("", "not a Python literal: invalid syntax"),
        ("[1", "not a Python literal: '[' was never closed"),
        ("\f 1", "not a Python literal: unexpected indent"),
        ("'\0'", "not a Python literal: source code string cannot contain null bytes"),
        ("f()", "Call in arithmetic would have to be evaluated"),
        ("0 or 5", "BoolOp in arithmetic would have to be evaluated"),
        ("not 0", "UnaryOp in arithmetic would have to be evaluated"),
        ("{[1]}", "not a key: "),
        ("f'{1}'", "JoinedStr in arithmetic would have to be evaluated"),
        ("f'{'a'}'", ""),
        ("[1] | [2]", "BinOp in arithmetic would have to be evaluated"),
        ("true", "Name in arithmetic would have to be evaluated"),
        ("{'a': {**b}}", "Dict in arithmetic would have to be evaluated"),
        ("{[1]: 2}", "not a key: "),
        ("1 + 'a'", "arithmetic of int and str would have to be evaluated"),
        ("'a' * 10**9", "the result of the arithmetic is too large"),
        (f"[{'[0] * 9, ' * 21}]", "more than 20 texts or lists are repeated"),
    ],
)
def test_what_is_no_literal_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        evaluate_text(text)


def test_a_literal_too_deep_for_the_parser_names_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_silently(text: str) -> object:
        raise MemoryError

    monkeypatch.setattr(python_syntax, "parse_expression", fail_silently)
    with pytest.raises(Undecodable, match=r"^not a Python literal: MemoryError$"):
        evaluate_text("[1]")


def _unwrap_behind_arrow(text: str) -> str | None:
    """Return what stands behind an arrow, None where there is none."""
    _, arrow, rest = text.partition("->")
    return rest if arrow else None


IN_EACH_LANGUAGE: Mapping[Language, tuple[str, Mapping[str, object], Mapping[str, object]]] = {
    # language: (text, official, corrected); each shows the language and the profile
    Language.PYTHON: ("[f(x=+1)]", {"x": -1}, {"x": 1}),
    Language.JAVA: ('f(x="a");', {"x": "a"}, {"x": '"a"'}),
    Language.JAVASCRIPT: ("f(x='a')", {"x": "a"}, {"x": "'a'"}),
}


@pytest.mark.parametrize("language", Language)
def test_what_is_unwrapped_is_read_in_its_language(language: Language) -> None:
    text, official, corrected = IN_EACH_LANGUAGE[language]
    syntax, wrapped = read_unwrapped(_unwrap_behind_arrow), f"[f(x=0)]->{text}"
    assert syntax.official[language](wrapped) == (Call("f", official),)
    assert syntax.corrected[language](wrapped) == (Call("f", corrected),)


@pytest.mark.parametrize("language", Language)
def test_where_nothing_can_be_unwrapped_there_are_officially_no_calls(language: Language) -> None:
    text, _, corrected = IN_EACH_LANGUAGE[language]
    syntax = read_unwrapped(_unwrap_behind_arrow)
    assert syntax.official[language](text) == ()
    assert syntax.corrected[language](text) == (Call("f", corrected),)


def test_an_unwrapped_syntax_is_of_prompting_mode_and_never_guessed() -> None:
    """Unlike plain Python, whose look is known."""
    syntax = read_unwrapped(_unwrap_behind_arrow)
    assert (syntax.mode, syntax.is_read_in) == (Mode.PROMPT, None)
    assert PYTHON.is_read_in


def test_an_unwrapped_syntax_may_have_a_mode_and_a_look_of_its_own() -> None:
    made = read_unwrapped(_unwrap_behind_arrow, Mode.FC, lambda text: text.startswith("->"))
    assert made.mode is Mode.FC
    assert made.is_read_in
    assert [made.is_read_in(text) for text in ("->f()", "[f()]")] == [True, False]
