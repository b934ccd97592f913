"""Java text read as calls, and Java literals read as values, in both readings."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders import java
from pytest_fcbench.codecs.decoders.syntax import LONGEST_LITERAL, Undecodable, WrongFormat
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, source_text, wild_text

KINDS = (
    *("byte", "short", "integer", "long", "float", "double", "boolean", "char", "String", "any"),
    *("Array", "ArrayList", "HashMap", "Set", "unknown"),
)


def make_call(**arguments: str) -> tuple[Call, ...]:
    """Make the one call of ``Geo.find`` with these arguments."""
    return (Call("Geo.find", arguments),)


OFFICIAL_CALLS = {
    "brackets": ("[Geo.find(x=1)]", make_call(x="1")),
    "no brackets": ("Geo.find(x=1)", make_call(x="1")),
    "bare fence": ("```\nGeo.find(x=1)\n```", make_call(x="1")),
    "semicolon": ("Geo.find(x=1);", make_call(x="1")),
    "text loses its quotes": ('Geo.find(x="a b", y=2)', make_call(x="a b", y="2")),
    "escapes stay": (r'Geo.find(x="a\"b")', make_call(x=r"a\"b")),
    "constants": ("Geo.find(x=true, y=null, z=5L)", make_call(x="true", y="null", z="5L")),
    "white space goes": ("Geo.find(x=1 + 2, y=(int) 5)", make_call(x="1+2", y="(int)5")),
    "lambda": ("Geo.find(x=(a, b) -> a)", make_call(x="(a,b)->a")),
    "array": ("Geo.find(x=new int[]{1, 2})", make_call(x="new int[]{1,2}")),
    "list": (
        "Geo.find(x=new ArrayList<Integer>(Arrays.asList(1, 2)))",
        make_call(x="new ArrayList<Integer>(Arrays.asList(1, 2))"),
    ),
    "object": ('Geo.find(x=new Foo("a", 1))', make_call(x='new Foo("a", 1)')),
    "class body is dropped": (
        'Geo.find(x=new HashMap<String, Integer>() {{ put("a", 1); }})',
        make_call(x="new HashMap<String,Integer>()"),
    ),
    "text block keeps a class body": (
        'Geo.find(x="""new HashMap<>() {{ put("a", 1); }}""")',
        make_call(x='""new HashMap<>() {{ put("a", 1); }}""'),
    ),
    "call": ("Geo.find(x=b.c())", make_call(x="b.c()")),
    "call with named argument": ("Geo.find(x=g(y=1))", make_call(x="g(y=1)")),
    "class literal": ("Geo.find(x=String.class)", make_call(x="String.class")),
    "class literal without a name": ("Geo.find(String.class)", (Call("Geo.find", {"**": "String.class"}),)),
    "identifier without a name": ("Geo.find(flag);", (Call("Geo.find", {"**": "flag"}),)),
    "literals without a name are dropped": ('Geo.find("text", 5)', make_call()),
    "unqualified with semicolon": ("f(x=1);", (Call("f", {"x": "1"}),)),
    "method of a call": ("Geo.find().g(x=1)", (Call("Geo.find().g", {"x": "1"}),)),
    "declaration": ("int y = Geo.find(x=1);", make_call(x="1")),
    "only the first of two statements": ("Geo.find(x=1); B.g(y=2);", make_call(x="1")),
    "offsets count bytes": (
        'Geo.find(x="é", y="long text")',
        (Call("Geo.find", {"x": 'é"', "=": 'ong text"'}),),
    ),
}


@each_case(("text", "expected"), OFFICIAL_CALLS.values(), ids=OFFICIAL_CALLS)
def test_the_official_reading_finds_these_calls(text: str, expected: tuple[Call, ...]) -> None:
    assert java.parse_official(text) == expected


@each_case(
    ("text", "refusal", "reason"),
    [
        pytest.param("", WrongFormat, "no method invocation in the text", id="empty"),
        pytest.param("[]", WrongFormat, "no method invocation in the text", id="empty list"),
        pytest.param("int x = 5;", WrongFormat, "no method invocation in the text", id="no invocation"),
        pytest.param("[Geo.find(x=1), B.g(y=2)]", Undecodable, "not valid java source", id="two calls"),
        pytest.param("[f(x=1)]", Undecodable, "not valid java source", id="unqualified without semicolon"),
        pytest.param("Geo.find(x=1, x=2)", Undecodable, "argument 'x' is given twice", id="argument twice"),
        pytest.param(
            "Geo.find(one, two)", Undecodable, "argument '**' is given twice", id="two without a name"
        ),
        pytest.param(
            "Geo.find(x=new int[5])",
            Undecodable,
            "array_creation_expression without value",
            id="array without elements",
        ),
        pytest.param("```java\nGeo.find(x=1)\n```", Undecodable, "not valid java source", id="java fence"),
        pytest.param("Geo.find(x=", Undecodable, "not valid java source", id="cut"),
        pytest.param(
            'Geo.find(x="\ud800")', Undecodable, "a surrogate without its other half", id="surrogate"
        ),
        pytest.param("I cannot help with that.", Undecodable, "not valid java source", id="prose"),
    ],
)
def test_the_official_reading_refuses_the_text(text: str, refusal: type[Exception], reason: str) -> None:
    with pytest.raises(refusal, match=re.escape(reason)):
        java.parse_official(text)


CORRECTED_CALLS = {
    "empty": ("", ()),
    "empty list": ("[]", ()),
    "brackets": ("[Geo.find(x=1)]", make_call(x="1")),
    "semicolon": ("Geo.find(x=1);", make_call(x="1")),
    "semicolon in brackets": ("[f(x=1);]", (Call("f", {"x": "1"}),)),
    "java fence": ("```java\nGeo.find(x=1)\n```", make_call(x="1")),
    "two calls": ("[Geo.find(x=1), B.g(y=2)]", (*make_call(x="1"), Call("B.g", {"y": "2"}))),
    "unqualified": ("[f(x=1)]", (Call("f", {"x": "1"}),)),
    "package": ("a.b.C.f(x=1)", (Call("a.b.C.f", {"x": "1"}),)),
    "source text is kept": ('Geo.find(x="a b", y=1 + 2)', make_call(x='"a b"', y="1 + 2")),
    "class body": (
        'Geo.find(x=new HashMap<>() {{ put("a", 1); }})',
        make_call(x='new HashMap<>() {{ put("a", 1); }}'),
    ),
    "not ASCII": ('Geo.find(x="é", y="ü")', make_call(x='"é"', y='"ü"')),
    "positional": ('Geo.find("text", 5, y=true)', (Call("Geo.find", {"y": "true"}, ('"text"', "5")),)),
    "identifiers": ("Geo.find(one, two)", (Call("Geo.find", {}, ("one", "two")),)),
    "one bracket": ("[Geo.find(x=1)", make_call(x="1")),
    "semicolon behind brackets": ("[Geo.find(x=1)];", make_call(x="1")),
    "comment at the end": ("Geo.find(x=1) // done", make_call(x="1")),
    "repeated argument": ("Geo.find(x=1, x=2)", make_call(x="2")),
    "comment": ("Geo.find(x=1) /* done */", make_call(x="1")),
}


@each_case(("text", "expected"), CORRECTED_CALLS.values(), ids=CORRECTED_CALLS)
def test_the_corrected_reading_finds_these_calls(text: str, expected: tuple[Call, ...]) -> None:
    assert java.parse_corrected(text) == expected


@each_case(
    ("text", "reason"),
    [
        pytest.param("hello", "expected a method invocation, found identifier", id="a name"),
        pytest.param("I cannot help with that.", "not valid java source", id="prose"),
        pytest.param("Geo.find(x=", "not valid java source", id="cut"),
        pytest.param("Geo.find(x=1", "not valid java source", id="cut before its end"),
        pytest.param(
            "[Geo.find(x=1), 5]",
            "expected a method invocation, found decimal integer literal",
            id="a literal among the calls",
        ),
        pytest.param(
            "new Foo(x=1)",
            "expected a method invocation, found object creation expression",
            id="a constructor",
        ),
    ],
)
def test_the_corrected_reading_refuses_the_text(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=re.escape(reason)):
        java.parse_corrected(text)


def test_both_readings_find_the_call_in_a_declaration() -> None:
    text = "int y = Geo.find(x=1);"
    assert java.parse_official(text) == (Call("Geo.find", {"x": "1"}),)
    assert java.parse_corrected(text) == (Call("Geo.find", {"x": "1"}),)


def test_text_that_closes_the_braces_it_is_put_into_is_refused() -> None:
    with pytest.raises(Undecodable, match="not valid java source"):
        java.parse_corrected("Geo.find(x=1) }; int y() { return 1; } int[] z = {")


OFFICIAL_VALUES = {
    # id: (source, type, element type, value)
    "integer": ("5", "integer", None, 5),
    "negative": ("-5", "short", None, -5),
    "byte out of range": ("1000", "byte", None, 1000),
    "integer with fraction": ("5.0", "integer", None, "5.0"),
    "integer with suffix": ("5L", "integer", None, "5L"),
    "integer with plus": ("+5", "integer", None, "+5"),
    "integer with line end": ("5\n", "integer", None, 5),
    "long": ("5L", "long", None, 5),
    "long, small suffix": ("-5l", "long", None, -5),
    "long without suffix": ("5", "long", None, "5"),
    "float": ("2.5f", "float", None, 2.5),
    "float, whole": ("2F", "float", None, 2.0),
    "float, exponent": ("2e3f", "float", None, 2000.0),
    "float without suffix": ("2.5", "float", None, "2.5"),
    "double": ("2.5", "double", None, 2.5),
    "double, whole": ("2", "double", None, 2.0),
    "double with suffix": ("2.5d", "double", None, "2.5d"),
    "boolean": ("false", "boolean", None, False),
    "boolean, Python's": ("True", "boolean", None, "True"),
    "char": ("'c'", "char", None, "'c'"),
    "String": ("a b", "String", None, "a b"),
    "any": ("5", "any", None, "5"),
    "type without a rule": ("{1}", "Set", None, "{1}"),
    "array": ("new int[]{1, 2}", "Array", "integer", [1, 2]),
    "array of longs": ("new long[] {5L}", "Array", "long", [5]),
    "array of texts": ('new String[]{"a", "b"}', "Array", "String", ['"a"', '"b"']),
    "array of texts with comma": ('new String[]{"a,b"}', "Array", "String", ['"a', 'b"']),
    "array of untyped": ('new Object[]{5, "a", true}', "Array", None, [5, "a", True]),
    "empty array": ("new int[]{}", "Array", "integer", []),
    "array without new": ("{1, 2}", "Array", "integer", "{1, 2}"),
    "array of arrays": ("new int[][]{{1}}", "Array", "Array", "new int[][]{{1}}"),
    "list": ("new ArrayList<Integer>(Arrays.asList(1, x))", "ArrayList", "integer", [1, "x"]),
    "list of texts": ('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
    "list of bare texts": ("new ArrayList<>(Arrays.asList(abc))", "ArrayList", "String", ["b"]),
    "list with block": ("new ArrayList<Integer>() {{ add(1); add(2); }}", "ArrayList", "integer", [1, 2]),
    "empty list": ("new ArrayList<>()", "ArrayList", "integer", []),
    "list of lists": ("new ArrayList<List<String>>()", "ArrayList", "any", "new ArrayList<List<String>>()"),
    "list by factory": ("List.of(1)", "ArrayList", "integer", "List.of(1)"),
    "map": (
        'new HashMap<String, Object>() {{ put("a", 1); put("b", "x"); put("c", true); put("d", y); }}',
        "HashMap",
        None,
        {"a": 1, "b": "x", "c": True, "d": "y"},
    ),
    "map of numbers": (
        'new HashMap<>() {{ put("a", 5L); put("b", 1.5f); put("c", 2.5); }}',
        "HashMap",
        None,
        {"a": 5, "b": 1.5, "c": 2.5},
    ),
    "map with single braces": ('new HashMap<>() { put("a", 1); }', "HashMap", None, {"a": 1}),
    "map with bare key": ("new HashMap<>() {{ put(k, 1); }}", "HashMap", None, {}),
    "map with a call": ('new HashMap<>() {{ put("a", f(1)); }}', "HashMap", None, {"a": "f(1"}),
    "empty map": ("new HashMap<String, Object>()", "HashMap", None, {}),
    "map by factory": ('Map.of("a", 1)', "HashMap", None, 'Map.of("a", 1)'),
}


@each_case(("source", "kind", "element", "expected"), OFFICIAL_VALUES.values(), ids=OFFICIAL_VALUES)
def test_the_official_reading_gives_this_value(
    source: str, kind: str, element: str | None, expected: object
) -> None:
    value = java.parse_official_literal(source, kind, element)
    assert (repr(value), value) == (repr(expected), expected)


def test_an_integer_of_too_many_digits_stays_text() -> None:
    assert java.parse_official_literal("9" * 4_400, "integer") == "9" * 4_400


def test_a_long_of_too_many_digits_stays_text() -> None:
    assert java.parse_official_literal("9" * 4_400 + "L", "long") == "9" * 4_400 + "L"


def test_text_longer_than_any_literal_stays_text() -> None:
    literal = "new int[]{1}"
    longest = literal.rjust(LONGEST_LITERAL)
    assert java.parse_official_literal(longest, "Array", "integer") == [1]
    assert java.parse_official_literal(" " + longest, "Array", "integer") == " " + longest


VALUES = {
    "integer": ("5", 5),
    "negative": ("-5", -5),
    "plus": ("+5", 5),
    "long": ("5L", 5),
    "hexadecimal": ("0x1F", 31),
    "octal": ("017", 15),
    "binary": ("0b101", 5),
    "underscores": ("1_000", 1000),
    "double": ("2.5", 2.5),
    "float": ("2.5f", 2.5),
    "double with suffix": ("2.5d", 2.5),
    "exponent": ("1e3", 1000.0),
    "boolean": ("true", True),
    "null": ("null", None),
    "character": ("'c'", "c"),
    "escaped character": (r"'\n'", "\n"),
    "text": (r'"a\"b, {c}"', 'a"b, {c}'),
    "unicode escape": (r'"\u00e9"', "é"),
    "two escapes of one character": (r'"\ud83d\ude00"', "😀"),
    "not ASCII": ('"é"', "é"),
    "text block": ('"""\nab"""', "ab"),
    "parentheses": ("(5)", 5),
    "cast": ("(long) 5", 5),
    "array": ("new int[]{1, 2}", [1, 2]),
    "array initialiser": ("{1, 2}", [1, 2]),
    "array of arrays": ("new int[][]{{1}, {2}}", [[1], [2]]),
    "array of texts": ('new String[]{"a,b", "c"}', ["a,b", "c"]),
    "list": ('new ArrayList<String>(Arrays.asList("a,b", "c"))', ["a,b", "c"]),
    "list of lists": ("Arrays.asList(List.of(1), List.of(2))", [[1], [2]]),
    "empty list": ("new ArrayList<>()", []),
    "list with block": ("new ArrayList<>() {{ add(1); add(2); }}", [1, 2]),
    "qualified set": ("new java.util.HashSet<>(java.util.List.of(1))", [1]),
    "list with a capacity": ("new ArrayList<>(8)", []),
    "map": ('new HashMap<String, Integer>() {{ put("a", 1); put("b", -2); }}', {"a": 1, "b": -2}),
    "map of lists": ('new HashMap<>() {{ put("a", List.of("x")); }}', {"a": ["x"]}),
    "empty map": ("new HashMap<>()", {}),
    "copied map": ('new TreeMap<>(Map.of("a", 1))', {"a": 1}),
    "map by factory": ('Map.of("a", 1, "b", List.of())', {"a": 1, "b": []}),
    "empty by factory": ("Collections.emptyList()", []),
}


@each_case(("source", "expected"), VALUES.values(), ids=VALUES)
def test_the_corrected_reading_gives_this_value(source: str, expected: object) -> None:
    value = java.parse_literal(source)
    assert (repr(value), value) == (repr(expected), expected)


@each_case(
    "source",
    [
        *("", "hello world", "foo", "Color.RED", "f(1)", "String.class", "new Foo(1)", "new int[5]"),
        *("new ArrayList<>(items)", "new HashMap<>(other.copy())"),
        *("1 + 2", "x -> x", "1; int y = 2", "1 }", 'Map.of("a")', "08", "'", '"open', "9" * 5_000),
    ],
)
def test_any_other_expression_stays_text(source: str) -> None:
    assert java.parse_literal(source) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            'new HashMap<>() {{ put("a", new HashMap<>() {{ put("b", 1); }}); }}',
            {"a": {"b": 1}},
            id="map in a map",
        ),
        pytest.param(
            "new ArrayList<>() {{ add(new ArrayList<>() {{ add(1); }}); }}", [[1]], id="list in a list"
        ),
    ],
)
def test_blocks_can_be_nested(source: str, expected: object) -> None:
    assert java.parse_literal(source) == expected


def test_nested_blocks_end_soon() -> None:
    source = 'new HashMap<>() {{ put("a", ' * 40 + "1" + "); }}" * 40
    must_end(lambda: java.parse_literal(source))


def test_a_comment_is_no_element() -> None:
    assert java.parse_literal("new int[]{1, /* one */ 2}") == [1, 2]


def read_or_refused(text: str) -> bool:
    """Whether both readers of calls answer or refuse; anything else is raised."""
    for reader in (java.parse_official, java.parse_corrected):
        with suppress(Undecodable, WrongFormat):
            reader(text)
    return True


DEEP = ("nested parentheses", "long sum", "many signs")


@each_case("name", [name for name in HOSTILE if name not in DEEP])
def test_a_hostile_text_is_read_or_refused_at_once(name: str) -> None:
    must_end(lambda: read_or_refused(HOSTILE[name]))


@pytest.mark.parametrize("name", DEEP)
def test_a_deep_value_is_read_or_refused(name: str) -> None:
    """``read_official`` catches it; the reader itself promises ``Undecodable`` or ``WrongFormat``."""
    read_or_refused(f"A.{HOSTILE[name]};")


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_literal_is_read_at_once(text: str) -> None:
    def read_as_every_kind() -> None:
        java.parse_literal(text)
        for kind in KINDS:
            java.parse_official_literal(text, kind, "integer")

    must_end(read_as_every_kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("new HashMap<>(){" + " " * 110, "HashMap", id="spaces in an open map"),
        pytest.param("new HashMap<>(){" + 'put("",' * 400 + "}", "HashMap", id="open puts"),
        pytest.param("new ArrayList<>(){{" + " " * 1_200, "ArrayList", id="spaces in an open list"),
    ],
)
def test_official_value_ends_soon(text: str, kind: str) -> None:
    must_end(lambda: java.parse_official_literal(text, kind, "integer"))


@given(text=wild_text)
@settings(deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    assert read_or_refused(text)


@given(text=source_text)
@settings(deadline=None)
def test_any_text_has_a_value(text: str) -> None:
    java.parse_literal(text)
    for kind in KINDS:
        java.parse_official_literal(text, kind, "String")


@given(text=st.text(alphabet="abc()[]{}<>=,;\"' \n", max_size=40))
@settings(deadline=None)
def test_a_value_is_the_text_itself_or_made_of_literals(text: str) -> None:
    value = java.parse_literal(text)
    assert value == text or isinstance(value, (str, list, dict))


@each_case(
    "text",
    [
        "Map.of(Map.of(1, 2), 1)",
        "Map.of(List.of(1), 1)",
        "new HashMap<>() {{ put(List.of(1), 1); }}",
        f"{'Map.of(' * 100}1{', 1)' * 100}",
    ],
    ids=["map", "list", "put", "nested"],
)
def test_a_map_with_a_collection_as_its_key_stays_text(text: str) -> None:
    """A key is text, and in a text of a text of a text every quote is doubled each time."""
    assert java.parse_literal(text) == text


def test_keys_of_a_map_become_text() -> None:
    assert java.parse_literal("Map.of(1, Map.of(true, 2))") == {"1": {"True": 2}}
