"""Names that Python has no form for are read where functions have them, and nowhere else."""

from __future__ import annotations

import pytest

from pytest_fcbench.codecs.decoders.outcome import Calls, Prose, Unreadable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Call, Completion
from tests.cases import each_case
from tests.factories import make_entry

_PARAMETERS = ["from", "class", "None", "a-b", "c d", "x.y", "$filter", "\ufb01le", "plain", "new", "delete"]
_DOCS = tuple(
    FunctionDoc(name, "", {"type": "dict", "properties": {each: {"type": "any"} for each in _PARAMETERS}})
    for name in ("read-file", "orders.return", "f")
)
OFFER = OfferedFunctions(_DOCS, Names.DOTTED)


def _read(
    text: str, offer: OfferedFunctions = OFFER, language: Language = Language.PYTHON
) -> tuple[Call, ...]:
    reading = read_corrected(Completion(text), "python", language, offer)
    return reading.calls if isinstance(reading, Calls) else ()


@each_case("name", ["read-file", "orders.return", "f"])
@each_case("parameter", _PARAMETERS)
def test_calls_are_read_as_the_oracle_writes_them(name: str, parameter: str) -> None:
    calls = [Call(name, {parameter: "read-file(from='x')", "plain": [1]})] * 2
    entry = make_entry("parallel", functions=_DOCS, expect=[])
    written = render_completion(calls, entry, Prompting.make_default(Mode.PROMPT))
    assert written.text
    assert _read(written.text) == tuple(calls)


@each_case(
    ("text", "arguments"),
    [
        ("f(**{'from': 'x', 'a-b': 1})", {"from": "x", "a-b": 1}),
        ("f(plain=1, from = 'x')", {"plain": 1, "from": "x"}),
        ("```python\n[f(class='it\\'s from=')]\n```", {"class": "it's from="}),
        ("f(plain=read-file(from='x', class='y'))", {"plain": {"read-file": {"from": "x", "class": "y"}}}),
        ("f(plain='name0n', from='name_0n')", {"plain": "name0n", "from": "name_0n"}),
        (r"f(plain='na\x6de5n', from='x')", {"plain": "name5n", "from": "x"}),
        ("[f(plain=1,  # it's\n from='x')]  # don't", {"plain": 1, "from": "x"}),
        ('f(plain="""it\'s \'class=\'""", from=\'#\')', {"plain": "it's 'class='", "from": "#"}),
    ],
)
def test_calls_are_read_as_models_write_them(text: str, arguments: object) -> None:
    assert [call.arguments for call in _read(text)] == [arguments]


@each_case("language", [Language.JAVA, Language.JAVASCRIPT])
@each_case("name", ["read-file", "orders.return", "f"])
@each_case("parameter", _PARAMETERS)
def test_other_languages_have_odd_names_too(language: Language, name: str, parameter: str) -> None:
    text = f"""[{name}(plain="it's //", /* don't */ {parameter}="{name}(from=1)") // it's\n]"""
    arguments = {"plain": '"it\'s //"', parameter: f'"{name}(from=1)"'}
    assert _read(text, language=language) == (Call(name, arguments),)


@pytest.mark.parametrize("text", ["[read-file(from='x')]", "[f(from='x')]", "[write-file(plain=1)]"])
def test_the_official_reader_and_other_functions_know_no_such_names(text: str) -> None:
    assert isinstance(read_official(Completion(text), "python", Language.PYTHON), Unreadable)
    other = OfferedFunctions((FunctionDoc("g", "", {"properties": {"plain": {}}}),), Names.DOTTED)
    assert _read(text, other) == ()


def test_prose_about_a_function_is_no_call() -> None:
    reading = read_corrected(
        Completion("I would use read-file, from=the start"), "python", Language.PYTHON, OFFER
    )
    assert isinstance(reading, Prose)
