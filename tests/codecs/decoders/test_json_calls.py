"""Calls written as JSON, read as officially and leniently."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.json_calls import (
    parse_corrected,
    parse_official,
    parse_official_between_tags,
)
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat
from pytest_fcbench.codecs.decoders.syntax import TextReader
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text

ONE = '[{"function": "f", "parameters": {"x": 1}}]'
F = Call("f", {"x": 1})
NESTED = '[{"function": "f", "parameters": {"x": [{"y": 1}]}}]'

# Official


@each_case(
    ("text", "calls"),
    [
        pytest.param(ONE, (F,), id="a list"),
        pytest.param(f"```json\n{ONE}\n```", (F,), id="fenced"),
        pytest.param(f"Here: {ONE} Done.", (F,), id="words around"),
        pytest.param(f"See [1]. {ONE}", (F,), id="a bracket in the words before"),
        pytest.param(ONE[1:-1], (F,), id="brackets are added"),
        pytest.param(f"{ONE} [x]", (F,), id="the first that looks like a list"),
        pytest.param("", (), id="nothing"),
        pytest.param("I cannot do that.", (), id="prose is no call"),
        pytest.param(ONE.replace('"x"', "x"), (), id="what is no JSON is no call"),
        pytest.param("[1, null, []]", (), id="elements that are no objects"),
        pytest.param(NESTED, (), id="a list of objects inside"),
        pytest.param('[{"function": 7, "parameters": {}}]', (Call("7", {}),), id="a number for a name"),
    ],
)
def test_the_official_reading_finds_these_calls(text: str, calls: tuple[Call, ...]) -> None:
    assert parse_official(text) == calls


@each_case(
    ("text", "reason"),
    [
        ('[{"function": "f"}]', "a call needs 'function' and 'parameters'"),
        ('[{"parameters": {}}]', "a call needs 'function' and 'parameters'"),
        ('[{"name": "f", "arguments": {}}]', "a call needs 'function' and 'parameters'"),
        ('[{"function": ["f"], "parameters": {}}]', "a function's name is text"),
        (f"{ONE[:-1]}, {{}}]", "a call needs 'function' and 'parameters'"),
    ],
)
def test_officially_an_object_without_a_key_spoils_all(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        parse_official(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Sure: {'[' * 100_000}{']' * 100_000} there.", id="too deep, in words"),
        pytest.param(ONE.replace("1", "1" * 5_000), id="a number that Python does not read"),
    ],
)
def test_officially_what_json_cannot_hold_spoils_all(text: str) -> None:
    with pytest.raises(Undecodable, match=r"^not JSON: (Exceeds the limit|nested more than 200 deep)"):
        parse_official_between_tags(text)


def test_officially_what_is_as_deep_as_can_be_read_is_a_call() -> None:
    (call,) = parse_official(ONE.replace("1", f"{'[' * 197}{']' * 197}"))
    assert str(call.arguments).count("[") == 197
    with pytest.raises(Undecodable, match=r"^not JSON: nested more than 200 deep$"):
        parse_official(ONE.replace("1", f"{'[' * 198}{']' * 198}"))


def test_officially_parameters_are_an_object() -> None:
    with pytest.raises(WrongFormat, match="the parameters of 'f' are list, not an object"):
        parse_official('[{"function": "f", "parameters": [1]}]')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("5", "expected a JSON list of calls, found int"),
        ("null", "expected a JSON list of calls, found NoneType"),
        ("true", "expected a JSON list of calls, found bool"),
    ],
)
def test_between_tags_there_may_be_no_list_at_all(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        parse_official_between_tags(text)
    assert parse_official_between_tags('"text"') == parse_official_between_tags('{"function": "f"}') == ()


_pieces = st.lists(
    st.sampled_from(["[", "]", "{", "}", ",", ", {", "},{", " ", "\n", "x", "[{", "}]", "[ {", "} \n]"]),
    max_size=12,
)


@settings(max_examples=5 * settings().max_examples)
@given(_pieces.map("".join))
def test_the_list_that_is_decoded_is_that_of_the_official_pattern(text: str) -> None:
    decoded: list[str] = []

    def decode(text: str) -> list[object]:
        decoded.append(text)
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("json.loads", decode)
        assert parse_official_between_tags(text) == ()
    within = re.search(r"\[.*\]", text, re.DOTALL)
    whole = within[0] if within else text
    found = re.search(r"\[\s*{.*?}\s*(?:,\s*{.*?}\s*)*\]", whole, re.DOTALL)
    assert decoded == [found[0] if found else whole]


def test_a_list_without_its_end_takes_no_time() -> None:
    """The official pattern would take 2 ** 100,000 steps."""
    must_end(lambda: parse_official("[" + '{"function": "f"}, ' * 100_000 + "x"))


# Corrected


@each_case(
    ("text", "calls"),
    [
        pytest.param(ONE, (F,), id="a list"),
        pytest.param(f"Sure [1]:\n```json\n{ONE}\n```\nDone [x].", (F,), id="words and a fence around"),
        pytest.param(ONE[1:-1], (F,), id="one object"),
        pytest.param(f"{ONE[1:-1]}\n{ONE[1:-1]}", (F, F), id="objects one after the other"),
        pytest.param(f"{ONE} and {ONE}", (F, F), id="two lists"),
        pytest.param('[{"function": "f"}]', (Call("f", {}),), id="no parameters"),
        pytest.param("[]", (), id="an empty list"),
        pytest.param(
            NESTED,
            (Call("f", {"x": [{"y": 1}]}),),
            id="a list of objects inside",
        ),
    ],
)
def test_the_corrected_reading_finds_these_calls(text: str, calls: tuple[Call, ...]) -> None:
    assert parse_corrected(text) == calls


@each_case(
    ("text", "reason"),
    [
        ("", "there is no JSON list of calls"),
        ("I cannot.", "there is no JSON list of calls"),
        ("[1, 2]", "there is no JSON list of calls"),
        ('{"error": "none fits"}', 'expected objects with "function" and "parameters"'),
        (f"{ONE[:-1]}, 5]", 'expected objects with "function" and "parameters"'),
        ('[{"function": 5}]', 'expected objects with "function" and "parameters"'),
        pytest.param(ONE[:-1], "not JSON: Expecting ',' delimiter", id="cut off"),
        pytest.param(
            f'{ONE[:-1]}, {{"function": "g", "para',
            "not JSON: Unterminated string starting at",
            id="cut off in the second call",
        ),
        pytest.param(
            ONE.replace('"x"', "x"),
            "not JSON: Expecting property name enclosed in double quotes",
            id="no JSON",
        ),
    ],
)
def test_corrected_it_cannot_be_read(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        parse_corrected(text)


def test_corrected_parameters_are_an_object() -> None:
    with pytest.raises(WrongFormat, match="the arguments of 'f' are list, not an object"):
        parse_corrected('[{"function": "f", "parameters": [1]}]')


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_end(text: str) -> None:
    for read in (parse_official, parse_corrected):
        must_end(lambda read=read: _read_outcome(read, text))  # type: ignore[misc]


@given(wild_text)
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (parse_official, parse_corrected):
        _read_outcome(read, text)


def _read_outcome(read: TextReader, text: str) -> object:
    try:
        return read(text)
    except (Undecodable, WrongFormat) as refused:
        return refused
