"""Calls written as text: what is carried out, what is only an error, and that nothing is ever evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.api.file_system import FileSystem
from pytest_fcbench.environments.api.math import Math
from pytest_fcbench.environments.api.posting import Posting
from pytest_fcbench.environments.environment import Environment, list_functions
from pytest_fcbench.environments.execution import Environments, render_result
from pytest_fcbench.environments.world import World
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text


class Shelf(Environment):
    """Jars by their labels."""

    def __init__(self, config: Mapping[str, object] | None = None) -> None:
        super().__init__(config or {}, World())
        self.jars: dict[object, object] = {}

    def put(self, label: object, content: object = "jam", lid: bool = True) -> object:
        """Put something into a jar and tell what stands there now."""
        self.jars[label] = content
        return {"label": label, "content": content, "lid": lid}

    def labels(self) -> object:
        """All labels."""
        return list(self.jars)

    def take(self, label: object) -> object:
        """Whatever is in a jar, as it is; KeyError for one that is not there."""
        return self.jars.pop(label)

    def drop(self, words: str = "") -> object:
        """Raise an exception, always."""
        raise ValueError(words)

    def crash(self) -> object:
        """Raise a fault of the interpreter, always."""
        raise SystemError("bad internal call")


def perform_on_shelf(*calls: str) -> tuple[dict[object, object], str]:
    """Return the jars after some calls, and what the last of them returned."""
    shelf = Shelf()
    *_, last = Environments({"shelf": shelf}).perform_calls(calls)
    return shelf.jars, last


def put_content(text: str) -> object:
    """Return what ``put`` gets for an argument that is written like this."""
    jars, result = perform_on_shelf(f"put(label='a', content={text})")
    assert not result.startswith("Error"), result
    return jars["a"]


def test_functions_of_all_environments_are_known() -> None:
    both = Environments({"shelf": Shelf(), "math": Math({}, World())})
    assert both.functions == [*list_functions(Shelf), *list_functions(Math)]
    assert both.perform_calls(["put(label=1)", "add(a=1, b=2)"])[1] == '{"result": 3}'
    assert Environments({}).perform_calls(["put(label=1)"]) == ("Error: there is no function put",)


ARGUMENTS = {
    "keywords": "put(label='a', content='b', lid=False)",
    "keywords in another order": "put(lid=False, content='b', label='a')",
    "positional": "put('a', 'b', False)",
    "both": "put('a', lid=False, content='b')",
    "a dict": "put(**{'label': 'a', 'content': 'b', 'lid': False})",
    "a dict beside others": "put('a', **{'content': 'b'}, lid=False)",
    "white space": " \t put ( 'a' ,\n 'b', # over lines\n False, ) ",
    "a name in brackets": "(put)('a', 'b', False)",
}


@each_case("text", ARGUMENTS.values(), ids=ARGUMENTS)
def test_ways_to_give_arguments(text: str) -> None:
    assert perform_on_shelf(text) == ({"a": "b"}, '{"label": "a", "content": "b", "lid": false}')


VALUES: Mapping[str, object] = {
    "'two\\nlines'": "two\nlines",
    "'one ' 'text'": "one text",
    "-3": -3,
    "2.5": 2.5,
    "None": None,
    "True": True,
    "b'x'": b"x",
    "[1, [2], ()]": [1, [2], ()],
    "(1, 2)": (1, 2),
    "{1, 1}": {1},
    "{'a': {'b': [None]}, 3: 4}": {"a": {"b": [None]}, 3: 4},
    "f'plain'": "plain",
    "f''": "",
    "2 * 3 + 1": 7,
    "+5": 5,
    "7 // 2 - 2 ** -1": 2.5,
    "'a' + 'b' * 2": "abb",
    "[0] * 2": [0, 0],
}


@each_case(("text", "value"), VALUES.items(), ids=VALUES)
def test_an_argument_has_the_value_that_is_written(text: str, value: object) -> None:
    found = put_content(text)
    assert (type(found), found) == (type(value), value)


NESTED: Mapping[str, object] = {
    "put(1)": {"label": 1, "content": "jam", "lid": True},
    "put(1, 2)['content']": 2,
    "put(1, [5, {'k': 'v'}])['content'][1]['k']": "v",
    "put(1, [5, 6])['content'][-1]": 6,
    "put(1, [5, 6])['content'][labels()[0]]": 6,
    "[put(1)['lid'], labels()]": [True, [1]],
    "{'k': put(1)['label']}": {"k": 1},
    "{put(1)['label'], 2}": {1, 2},
    "(put(content=put(1)['lid'], label=2)['content'],)": (True,),
    "labels()": [],
}


@each_case(("text", "value"), NESTED.items(), ids=NESTED)
def test_nested_calls_and_subscripts_of_what_they_return(text: str, value: object) -> None:
    assert put_content(text) == value


def test_calls_are_carried_out_in_order() -> None:
    shelf = Shelf()
    results = Environments({"shelf": shelf}).perform_calls(
        ["put(1)", "labels()", "put(2, put(3)['label'])", "take(1)", "labels()"]
    )
    assert results[1::3] == ("[1]", "[3, 2]")
    assert (results[3], shelf.jars) == ("jam", {2: 3, 3: "jam"})


def test_an_error_does_not_undo_what_went_before_nor_stop_what_follows() -> None:
    shelf = Shelf()
    results = Environments({"shelf": shelf}).perform_calls(
        ["put(1)", "take(9)", "put(take(1), drop('no'))", "put(3)"]
    )
    assert [result.startswith("Error: ") for result in results] == [False, True, True, False]
    assert shelf.jars == {3: "jam"}


class Odd:
    """Something that JSON cannot hold."""

    def __str__(self) -> str:
        return "odd"

    __repr__ = __str__


def make_loop() -> dict[str, object]:
    """Make a dict that lies in itself."""
    ring: dict[str, object] = {}
    ring["ring"] = ring
    return ring


RESULTS: Mapping[str, tuple[object, str]] = {
    "text": ("pear", "pear"),
    "text with quotes": ('"pear"', '"pear"'),
    "empty text": ("", ""),
    "text is not escaped": ("Birne für 3 €", "Birne für 3 €"),
    "dict": ({"a": [1, None, True, 0.5]}, '{"a": [1, null, true, 0.5]}'),
    "dict in ASCII": ({"ä": "€"}, '{"\\u00e4": "\\u20ac"}'),
    "dict with number keys": ({1: 2}, '{"1": 2}'),
    "dict with what JSON has no word for": ({"a": Decimal("1.50")}, "{'a': Decimal('1.50')}"),
    "dict with keys that JSON cannot hold": ({(1, 2): 3}, "{(1, 2): 3}"),
    "dict with a set": ({"a": {1}}, "{'a': {1}}"),
    "dict that lies in itself": (make_loop(), "{'ring': {...}}"),
    "list": ([1, None, "a"], "[1, None, 'a']"),
    "list is not JSON": ([True, {"a": "ä"}], "[True, {'a': 'ä'}]"),
    "nothing": (None, "None"),
    "number": (3.0, "3.0"),
    "truth value": (True, "True"),
    "decimal": (Decimal("0.10"), "0.10"),
    "anything": (Odd(), "odd"),
}


@each_case(("result", "text"), RESULTS.values(), ids=RESULTS)
def test_a_result_is_rendered_as_text(result: object, text: str) -> None:
    assert render_result(result) == text


@pytest.mark.parametrize("stored", [10**5_000, [10**5_000], {"n": 10**5_000}], ids=["number", "list", "dict"])
def test_a_number_that_python_does_not_write_is_an_error(stored: object) -> None:
    shelf = Shelf()
    shelf.jars["a"] = stored
    (result,) = Environments({"shelf": shelf}).perform_calls(["take('a')"])
    assert result.startswith("Error: ")
    assert "integer string conversion" in result


def test_the_largest_numbers_of_arithmetic_are_written() -> None:
    assert perform_on_shelf("put(1, 10**4000)")[1].startswith("Error")
    assert (
        perform_on_shelf(f"put(1, {'9' * 4_000})")[1]
        == f'{{"label": 1, "content": {"9" * 4_000}, "lid": true}}'
    )


EXCEPTIONS = {
    "with words": ("drop('the jar')", "Error: the jar"),
    "without words": ("drop()", "Error: ValueError"),
    "unknown key": ("take('x')", "Error: 'x'"),
    "missing argument": ("put()", "label"),
    "surplus argument": ("labels(1)", "positional"),
    "unknown argument": ("put(1, colour='red')", "colour"),
    "twice, by place and by name": ("put(1, label=2)", "label"),
    "key that is not hashable": ("put([])", "unhashable"),
    "index of what has none": ("put(1, labels(9)[0])", "Error"),
    "index out of range": ("put(1, labels()[0])", "index"),
    "key that is not there": ("put(1, put(2)['weight'])", "weight"),
    "index of the wrong type": ("put(1, labels()['a'])", "indices"),
}


@each_case(("text", "words"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_exceptions_become_text(text: str, words: str) -> None:
    result = perform_on_shelf(text)[1]
    assert result.startswith("Error: ")
    assert words in result


NO_CALL = {
    "nothing": "",
    "white space": " \n",
    "number": "5",
    "text": "'put(1)'",
    "name": "put",
    "unknown name": "ls",
    "arithmetic": "1/0",
    "list of a call": "[put(1)]",
    "tuple of calls": "put(1), put(2)",
    "two statements": "put(1); put(2)",
    "two lines": "put(1)\nput(2)",
    "assignment": "x = put(1)",
    "subscript of a call": "put(1)['label']",
    "attribute of a call": "put(1).keys",
    "sum of calls": "put(1) + put(2)",
    "condition": "put(1) if 1 else 2",
    "await": "await put(1)",
    "walrus": "(x := put(1))",
    "lambda": "lambda: put(1)",
    "called lambda": "(lambda: put(1))()",
    "call of a call": "put(1)()",
    "method of a call": "put(1).clear()",
    "method of a name": "x.put(1)",
    "comprehension": "[put(x) for x in [1]]",
    "built-in": "print('x')",
    "dunder": "__import__('os').getpid()",
    "eval": "eval('put(1)')",
    "private method": "_perform('put(1)')",
    "method of every environment": "state()",
    "prose": "I would put it there.",
    "unclosed": "put(1",
    "JSON": '{"name": "put", "arguments": {"label": 1}}',
    "null character": "put(1)\0",
    "lone surrogate": "put('\ud800')",
    "many brackets": "[" * 100_000,
    "many calls in each other": "put(" * 100_000,
    "tower": "9**9**9",
    "long text": "'a' * 10**9",
}
NO_VALUE = {
    "name": "jam",
    "attribute": "jam.colour",
    "attribute of a function": "put.__globals__",
    "f-string with a field": "f'{1}'",
    "f-string with a call": "f'a{labels()}'",
    "lambda": "lambda: 1",
    "comprehension": "[x for x in 'ab']",
    "generator": "(x for x in 'ab')",
    "condition": "1 if 1 else 2",
    "comparison": "1 < 2",
    "or": "0 or 1",
    "walrus": "(x := 1)",
    "slice": "labels()[0:1]",
    "subscript of a literal": "[1, 2][0]",
    "method of a literal": "'a'.upper()",
    "method of a result": "labels().copy()",
    "unknown function": "open('x')",
    "sum of a call": "labels() + [1]",
    "star in a list": "[*[1]]",
    "dict in a dict": "{**{'a': 1}}",
    "key that is not hashable": "{[]: 1}",
    "member that is not hashable": "{[]}",
    "tower": "9**9**9",
    "shift": "1 << 10**12",
    "long text": "'a' * 10**9",
    "long list": "[[0] * 9999] * 9999",
    "format": "'%99999999d' % 1",
    "division by zero": "1 / 0",
    "wrong types": "1 + 'a'",
    "long number": "0x" + "f" * 5_000,
    "long sum": "1" + "+1" * 5_000,
    "many signs": "-" * 5_000 + "1",
}
NO_CALL |= {f"argument: {name}": f"put(1, {text})" for name, text in NO_VALUE.items()}
NO_CALL |= {
    "star": "put(*[1])",
    "keyword twice": "put(label=1, label=2)",
    "keyword and dict": "put(label=1, **{'label': 2})",
    "two dicts with the same name": "put(**{'label': 1}, **{'label': 2})",
    "stars before what is no dict": "put(**[('label', 1)])",
}


@each_case("text", NO_CALL.values(), ids=NO_CALL)
def test_what_is_no_call_is_an_error_and_changes_nothing(text: str) -> None:
    jars: dict[object, object] = {}
    results: list[str] = []

    def perform_text() -> None:
        found, result = perform_on_shelf(text)
        jars.update(found)
        results.append(result)

    must_end(perform_text)
    assert (jars, results[0][:6]) == ({}, "Error:")
    assert len(results[0]) < 600


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_ends(text: str) -> None:
    must_end(lambda: perform_on_shelf(text, f"put({text})"))


CANARIES = {
    "call": "open({path!r}, 'w')",
    "method": "__import__('pathlib').Path({path!r}).touch()",
    "argument": "put(open({path!r}, 'w'))",
    "keyword": "put(label=open({path!r}, 'w'))",
    "dict": "put(**{{'label': open({path!r}, 'w')}})",
    "subscript": "put(labels()[open({path!r}, 'w')])",
    "f-string": "put(f\"{{open({path!r}, 'w')}}\")",
    "lambda": "(lambda: open({path!r}, 'w'))()",
    "default of a lambda": "put(lambda x=open({path!r}, 'w'): x)",
    "comprehension": "put([open(x, 'w') for x in [{path!r}]])",
    "operator": "put(1 + open({path!r}, 'w'))",
    "walrus": "put((x := open({path!r}, 'w')))",
    "eval in a text": "eval(\"open({path!r}, 'w')\")",
    "through a class": "().__class__.__base__.__subclasses__()",
}


@each_case("text", CANARIES.values(), ids=CANARIES)
def test_nothing_is_evaluated(text: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    jars, result = perform_on_shelf(text.format(path=str(canary)))
    assert (jars, result[:6], canary.exists()) == ({}, "Error:", False)


def test_the_canary_would_sing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    eval(CANARIES["call"].format(path=str(canary))).close()
    assert canary.exists()


@given(wild_text | st.lists(st.sampled_from([*NO_CALL.values(), *CANARIES.values()])).map("".join))
def test_any_text_is_answered(text: str) -> None:
    jars, result = perform_on_shelf(text)
    if result.startswith(("Error: not a function call", "Error: there is no function")):
        assert jars == {}


CALLS = st.recursive(
    st.sampled_from(
        ["labels()", "put(1)", "put(label='a', content=[1])", "take(1)", "1", "'a'", "put", "jam"]
    ),
    lambda inner: (
        st.builds("{}({}, {})".format, st.sampled_from(["put", "take", "nope"]), inner, inner)
        | st.builds("{}[{}]".format, inner, inner)
        | st.builds("put(**{})".format, inner)
    ),
    max_leaves=6,
)


@given(st.lists(CALLS, max_size=5))
def test_calls_of_calls_are_answered_each_time_the_same(calls: list[str]) -> None:
    first, second = Shelf(), Shelf()
    results = Environments({"shelf": first}).perform_calls(calls)
    assert len(results) == len(calls)
    assert Environments({"shelf": second}).perform_calls(calls) == results
    assert second.jars == first.jars


# Calls can double what other calls return, officially without end


def swell_result(environments: Environments, call: str) -> str:
    """Return what the last of many such calls returns."""
    return environments.perform_calls([call] * 21)[-1]


TOO_LARGE = "Error: an argument has more than 1,000,000 characters"


def test_a_text_does_not_grow_without_end() -> None:
    root = {"home": {"type": "directory", "contents": {"a": {"type": "file", "content": "ab"}}}}
    files = FileSystem({"root": root}, World())
    text = "cat('a')['file_content']"
    both = Environments({"files": files, "math": Math({}, World())})
    assert swell_result(both, f"echo(add({text}, {text})['result'], 'a')") == TOO_LARGE
    assert 500_000 < len(str(files.cat("a")["file_content"])) <= 1_000_000


def test_a_list_does_not_grow_without_end() -> None:
    tweet = {"id": 0, "username": "ada", "content": "", "tags": [], "mentions": ["ben"]}
    state = {
        "username": "ada",
        "password": "",
        "authenticated": True,
        "tweet_counter": 1,
        "tweets": {"0": tweet},
    }
    more: dict[str, object] = {"comments": {}, "retweets": {}, "following_list": []}
    posting = Posting({}, World(defaults={"posting": {**state, **more}}))
    assert (
        swell_result(Environments({"posting": posting}), "mention(0, get_tweet(0)['mentions'])") == TOO_LARGE
    )
    assert len(posting.tweets[0]["mentions"]) <= 2_000_000


@each_case("call", ["put('{}')", "put(1, '{}')", "put(label='{}')", "put(1, take('{}'))"])
def test_an_argument_may_have_a_million_characters(call: str) -> None:
    assert perform_on_shelf(call.format("x" * 1_000_001)) == ({}, TOO_LARGE)
    assert perform_on_shelf(call.format("x" * 1_000_000))[1] != TOO_LARGE


def test_what_is_in_an_argument_counts_together() -> None:
    half = "x" * 500_000
    for argument in (f"['{half}', '{half}']", f"{{'{half}': '{half}'}}", f"put({{'{half}y', '{half}'}})"):
        assert perform_on_shelf(f"put(1, {argument})") == ({}, TOO_LARGE)
    assert perform_on_shelf(f"put('{half}', '{half}')")[0] == {half: half}


def test_a_fault_of_the_interpreter_is_no_result_of_a_call() -> None:
    with pytest.raises(SystemError, match=r"^bad internal call$"):
        perform_on_shelf("crash()")
