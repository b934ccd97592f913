"""One entry point for every syntax: the official and the corrected reading of a completion."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders import registry
from pytest_fcbench.codecs.decoders import registry as execution_text
from pytest_fcbench.codecs.decoders.families import FAMILY_SYNTAXES
from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.codecs.decoders.registry import (
    SYNTAXES,
    OfferedFunctions,
    find_writer,
    guess_syntax,
    list_calls_to_make,
    list_run_syntaxes,
    read_corrected,
    read_official,
)
from pytest_fcbench.codecs.decoders.syntax import (
    WRONG_FORMAT,
    Calls,
    CallWriter,
    Prose,
    Reading,
    Undecodable,
    Unreadable,
    read_every_language,
    write_joined,
    write_nested,
    write_spaced,
)
from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, FORMATS, Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Call, Completion, Ending, ToolCall
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text
from tests.factories import make_doc, make_entry, tool_calls
from tests.installing import install_distribution

DECODER_FAILED = "ast_decoder:decoder_failed"


def make_offer(*docs: FunctionDoc, names: Names = Names.DOTTED) -> OfferedFunctions:
    """Make an offer of these docs, or of the factory's one."""
    return OfferedFunctions(docs or (make_doc(),), names)


def decode_official(
    completion: Completion | str, syntax: str = "python", language: Language = Language.PYTHON
) -> Calls | Unreadable:
    return read_official(_make_completion(completion), syntax, language)


def decode_corrected(
    completion: Completion | str,
    syntax: str = "python",
    language: Language = Language.PYTHON,
    names: Names = Names.DOTTED,
) -> Reading:
    return read_corrected(_make_completion(completion), syntax, language, make_offer(names=names))


def _make_completion(completion: Completion | str) -> Completion:
    return Completion(text=completion) if isinstance(completion, str) else completion


def test_the_default_syntax_of_a_mode_belongs_to_it() -> None:
    assert DEFAULT_SYNTAX.keys() == set(Mode)
    assert SYNTAXES[DEFAULT_SYNTAX[Mode.FC]] is None
    prompting = SYNTAXES[DEFAULT_SYNTAX[Mode.PROMPT]]
    assert prompting is not None
    assert prompting.mode is Mode.PROMPT


@each_case("name", [name for name, syntax in SYNTAXES.items() if syntax])
def test_every_text_syntax_reads_every_language_in_both_profiles(name: str) -> None:
    syntax = SYNTAXES[name]
    assert syntax is not None
    assert syntax.official.keys() == syntax.corrected.keys() == set(Language)


LOOKS_LIKE = {
    **dict.fromkeys(("hermes", "hermes_oneline", "ernie45"), "qwen"),
    **dict.fromkeys(("llama3_json", "llama3_json_tag"), "llama_3_1"),
    **dict.fromkeys(("pythonic", "mistral"), "python"),
    "cohere": None,
    "granite": "falcon",
    "granite_pipe": "phi",
    "mimo": "qwen3_coder",
    "glm47": "glm45",
    "glm4": "glm",
}
"""Native syntaxes whose calls look like those of another syntax, which mostly reads them as well."""


def write_native(name: str) -> str:
    return NATIVE_SYNTAXES[name].write_calls([Call("get.it", {"a": 1, "b": "x y"})])


UNWRITTEN = {"cohere", "gemini", "nova", "gorilla", "think_agent", "python_behind_reasoning"}
"""Syntaxes that are an interface's own list, or that no model writes alone."""


@each_case("name", [*FAMILY_SYNTAXES, "python"])
def test_official_readers_read_what_the_native_syntax_of_a_family_writes(name: str) -> None:
    writer, syntax = find_writer(name), SYNTAXES[name]
    assert (writer is None or name == "cohere") == (name in UNWRITTEN)
    if not writer or not syntax or name in UNWRITTEN:
        return
    calls = (Call("get.it", {"a": [1, "x y"], "b": {"c": 2.5}}), Call("f", {"d": "æ"}))[: writer.most]
    text = writer.write_calls(calls)
    # A server takes the token away, and the official reader sees the list behind it.
    text = text.removeprefix("[TOOL_CALLS] ") if name == "mistral" else text
    assert syntax.official[Language.PYTHON](text) == calls


def test_official_readers_of_two_families_lose_some_of_what_is_written() -> None:
    for name, value in (("hermes", "it's"), ("llama_3_1", True)):
        writer, syntax = find_writer(name), SYNTAXES[name]
        assert writer
        assert syntax
        text = writer.write_calls([Call("f", {"a": value})])
        calls: tuple[Call, ...] = ()
        with suppress(Undecodable):
            calls = syntax.official[Language.PYTHON](text)
        assert calls != (Call("f", {"a": value}),)


@each_case("name", NATIVE_SYNTAXES)
def test_a_broken_call_of_any_model_is_no_abstention(name: str) -> None:
    syntax = NATIVE_SYNTAXES[name]
    assert isinstance(decode_corrected("I cannot help.", "tool_calls"), Prose)
    if syntax.marks:
        broken_text = f"Sure. {syntax.marks[0]} and so on"
        assert isinstance(decode_corrected(broken_text, "tool_calls"), Unreadable)


HERMES = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


@each_case(
    ("texts", "syntax"),
    [
        ([], None),
        (["No."], None),
        (["  [f(x=1)]", "[g()]", "No."], "python"),
        ([HERMES], "qwen"),
        (['[{"name": "f", "arguments": {}}]'], "xlam"),
        (['f\n{"x": 1}'], "glm"),
        (["[f(x=1)]", HERMES], "qwen"),
        (["[f(x=1)]", "[f()]", HERMES], "python"),
        *(([write_native(name)], name) for name in NATIVE_SYNTAXES if name not in LOOKS_LIKE),
        *(([write_native(name)], guess) for name, guess in LOOKS_LIKE.items()),
        (["<|tool_calls_section_begin|>"], None),
    ],
)
def test_the_syntax_of_most_texts_is_guessed_and_of_as_many_the_models_own(
    texts: Sequence[str], syntax: str | None
) -> None:
    assert guess_syntax(texts) == syntax


def list_builtin_errors() -> Iterator[Exception]:
    """Yield one of each kind of error that Python has."""
    made = {
        UnicodeDecodeError: UnicodeDecodeError("utf-8", b"", 0, 1, "x"),
        UnicodeEncodeError: UnicodeEncodeError("utf-8", "", 0, 1, "x"),
        UnicodeTranslateError: UnicodeTranslateError("", 0, 1, "x"),
        ExceptionGroup: ExceptionGroup("x", [KeyError("x")]),
    }
    for kind in vars(builtins).values():
        if isinstance(kind, type) and issubclass(kind, Exception):
            yield made.get(kind) or kind("x")


BUILTIN_ERRORS = list(list_builtin_errors())


def put_fault(monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    """Let every reader of a syntax raise an error."""

    def fail(*_: object) -> NoReturn:
        raise error

    readers, known = dict.fromkeys(Language, fail), SYNTAXES[name]
    faulty = known and replace(
        known,
        official=readers,
        corrected=readers,
        parts=known.parts and fail,
        execution_reader=known.execution_reader and fail,
        execution_parts_reader=known.execution_parts_reader and fail,
    )
    monkeypatch.setattr(registry, "SYNTAXES", {name: faulty})
    monkeypatch.setattr(execution_text, "SYNTAXES", {name: faulty})
    monkeypatch.setattr(registry, "as_call", fail)


IN_TEXT, IN_CALLS = Completion(text="<tool_call"), Completion(text="", tool_calls=(ToolCall("f", {}),))


@each_case(
    ("name", "completion"),
    [
        *((name, IN_TEXT) for name in SYNTAXES if name != "tool_calls"),
        *((name, IN_CALLS) for name in SYNTAXES),
    ],
)
def test_no_error_but_ours_passes_the_door_of_a_decoder(
    name: str, completion: Completion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names it, so that a mistake of a decoder is seen."""
    assert len(BUILTIN_ERRORS) > 50
    for error in BUILTIN_ERRORS:
        put_fault(monkeypatch, name, error)
        with pytest.raises(Undecodable, match="cannot be read: ") as refused:
            execution_text.read_call_texts(completion, name)
        readings = decode_official(completion, name), decode_corrected(completion, name)
        reasons = [str(refused.value), *(each.reason for each in readings if isinstance(each, Unreadable))]
        assert len(reasons) == 3
        # Of a StopIteration a generator makes a RuntimeError.
        named = "" if isinstance(error, StopIteration) else f"{type(error).__name__}: "
        assert all(f"cannot be read: {named}" in reason for reason in reasons)


@each_case("error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_what_ends_a_program_passes_the_door(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_fault(monkeypatch, "python", error())
    for decode in (decode_official, decode_corrected, execution_text.read_call_texts):
        with pytest.raises(error) as caught:
            decode(IN_TEXT, "python")
        assert type(caught.value) is error


# The official reading


def test_official_tool_calls_are_read_under_their_shown_names() -> None:
    completion = tool_calls(("weather_forecast", '{"city": "Bergen"}'), ("b", {"x": 1}))
    assert decode_official(completion, "tool_calls") == Calls(
        (Call("weather_forecast", {"city": "Bergen"}), Call("b", {"x": 1}))
    )


@each_case(
    "completion",
    [
        pytest.param(Completion(tool_calls=()), id="empty list"),
        pytest.param(Completion(tool_calls=(), text="No."), id="empty list beside text"),
        pytest.param(Completion(text=""), id="empty text"),
        pytest.param(Completion(text="", in_parts=True), id="empty list of parts"),
    ],
)
def test_official_no_tool_calls_are_no_calls(completion: Completion) -> None:
    assert decode_official(completion, "tool_calls") == Calls(())


@each_case(
    ("completion", "code", "words"),
    [
        pytest.param(Completion(text="No."), DECODER_FAILED, "text, not tool calls", id="text"),
        pytest.param(Completion(), DECODER_FAILED, "the answer is empty", id="nothing"),
        pytest.param(
            Completion(ending=Ending.CUT), DECODER_FAILED, "cut at the limit of its tokens", id="cut"
        ),
        pytest.param(
            Completion(refusal="I\ncannot", ending=Ending.REFUSED),
            DECODER_FAILED,
            "the model refused: I cannot",
            id="refusal",
        ),
        pytest.param(
            Completion(text="ab", in_parts=True), DECODER_FAILED, "text, not tool calls: 'ab'", id="parts"
        ),
        pytest.param(
            replace(tool_calls(("f", {"x": 1})), protocol=("arguments_not_text",)),
            DECODER_FAILED,
            "as a JSON value instead of text",
            id="a server sent an object",
        ),
        pytest.param(tool_calls(("f", "")), DECODER_FAILED, "not JSON", id="empty arguments"),
        pytest.param(tool_calls(("f", "{x: 1}")), DECODER_FAILED, "not JSON", id="broken arguments"),
        pytest.param(tool_calls(("f", "[1]")), WRONG_FORMAT, "'f' are list", id="arguments in a list"),
        pytest.param(tool_calls(("f", "null")), WRONG_FORMAT, "'f' are NoneType", id="null arguments"),
        pytest.param(tool_calls(("f", None)), WRONG_FORMAT, "'f' are NoneType", id="missing arguments"),
        pytest.param(tool_calls(("f", '"{}"')), WRONG_FORMAT, "'f' are str", id="arguments encoded twice"),
        pytest.param(
            tool_calls(("f", "[1]"), ("g", "{")),
            DECODER_FAILED,
            "not JSON",
            id="all are decoded before judged",
        ),
        pytest.param(
            Completion(tool_calls=(ToolCall("f", "{}"), "and")),
            DECODER_FAILED,
            "there is text among the tool calls",
            id="text part",
        ),
    ],
)
def test_official_unreadable_tool_calls(completion: Completion, code: str, words: str) -> None:
    reading = decode_official(completion, "tool_calls")
    assert isinstance(reading, Unreadable)
    assert reading.code == code
    assert words in reading.reason


@each_case(
    ("syntax", "language", "text", "call"),
    [
        pytest.param("python", Language.PYTHON, "[f(x=+1)]", Call("f", {"x": -1}), id="python"),
        pytest.param("python", Language.JAVA, 'f(x="a");', Call("f", {"x": "a"}), id="java"),
        pytest.param("python", Language.JAVASCRIPT, "f(x='a')", Call("f", {"x": "a"}), id="javascript"),
        pytest.param(
            "hermes",
            Language.PYTHON,
            '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>',
            Call("f", {"x": 1}),
            id="hermes",
        ),
        pytest.param(
            "hermes",
            Language.JAVA,
            '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>',
            Call("f", {"x": "1"}),
            id="hermes java",
        ),
        pytest.param(
            "xlam",
            Language.JAVASCRIPT,
            '[{"name": "f", "arguments": {"x": 1}}]',
            Call("f", {"x": 1}),
            id="xlam javascript",
        ),
        pytest.param("glm", Language.PYTHON, 'f\n{"x": 1}', Call("f", {"x": 1}), id="glm"),
    ],
)
def test_official_text_is_read_by_syntax_and_language(
    syntax: str, language: Language, text: str, call: Call
) -> None:
    assert decode_official(text, syntax, language) == Calls((call,))


@each_case("syntax", [name for name, syntax in SYNTAXES.items() if syntax])
def test_official_no_text_is_unreadable(syntax: str) -> None:
    assert decode_official(Completion(), syntax) == Unreadable("the answer is empty")


def test_official_parts_are_no_text() -> None:
    reading = decode_official(Completion(text="[f(x=1)]", in_parts=True), "python")
    assert reading == Unreadable("the content is a list of parts, not a text")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("I cannot help with that.", DECODER_FAILED, id="prose"),
        pytest.param("", WRONG_FORMAT, id="nothing"),
    ],
)
def test_officially_broken_java_is_unreadable_with_a_code(text: str, code: str) -> None:
    reading = decode_official(text, "python", Language.JAVA)
    assert isinstance(reading, Unreadable)
    assert reading.code == code


# The corrected reading: calls


@pytest.mark.parametrize("names", Names)
def test_corrected_tool_calls_get_the_functions_own_names(names: Names) -> None:
    completion = tool_calls((names.show_name("weather.forecast"), '{"city": "Bergen"}'))
    reading = decode_corrected(completion, "tool_calls", names=names)
    assert reading == Calls((Call("weather.forecast", {"city": "Bergen"}),))


@pytest.mark.parametrize("arguments", ["", " \n", "null"])
def test_corrected_empty_arguments_are_no_arguments(arguments: str) -> None:
    assert decode_corrected(tool_calls(("f", arguments)), "tool_calls") == Calls((Call("f", {}),))


def test_corrected_tool_calls_count_even_where_text_was_asked_for() -> None:
    assert decode_corrected(tool_calls(("f", "{}")), "python") == Calls((Call("f", {}),))


def test_corrected_text_beside_tool_calls_does_not_matter() -> None:
    completion = Completion(text="Let me see.", tool_calls=("Well:", ToolCall("f", "{}")))
    assert decode_corrected(completion, "tool_calls") == Calls((Call("f", {}),))


def test_corrected_text_parts_are_the_text() -> None:
    assert decode_corrected(Completion(tool_calls=("No", "way.")), "tool_calls") == Prose("No\nway.")


@pytest.mark.parametrize(
    "part",
    [
        '{"tool_name": "weather.forecast", "parameters": {"city": "Bergen"}}',
        '{"name": "weather.forecast", "arguments": "{\\"city\\": \\"Bergen\\"}"}',
    ],
)
def test_corrected_a_vendors_objects_among_the_parts_are_calls(part: str) -> None:
    reading = decode_corrected(Completion(tool_calls=("Well:", part)), "tool_calls")
    assert reading == Calls((Call("weather.forecast", {"city": "Bergen"}),))


@pytest.mark.parametrize("part", ['{"name": "Ada", "arguments": {}}', '{"tool_name": 3}', "tool_name: f"])
def test_corrected_other_parts_are_words(part: str) -> None:
    assert decode_corrected(Completion(tool_calls=(part,)), "tool_calls") == Prose(part)


def test_corrected_positional_arguments_get_the_names_of_the_doc() -> None:
    reading = decode_corrected("[weather.forecast('Bergen', 3)]")
    assert reading == Calls((Call("weather.forecast", {"city": "Bergen", "days": 3}),))


def test_corrected_several_java_calls_are_read() -> None:
    reading = decode_corrected('[A.f(x="a"), B.g(y=1)]', language=Language.JAVA)
    assert reading == Calls((Call("A.f", {"x": '"a"'}), Call("B.g", {"y": "1"})))


@pytest.mark.parametrize(
    "text",
    [pytest.param("[]", id="empty list"), pytest.param("```python\n[]\n```", id="empty list in a fence")],
)
def test_corrected_an_empty_list_is_no_calls(text: str) -> None:
    assert decode_corrected(text) == Calls(())


# The corrected reading: prose or a call gone wrong


PROSE = {
    "nothing": ("", "python"),
    "white space": (" \n\t", "python"),
    "sentence": ("I cannot help with that.", "python"),
    "sentence for tool calls": ("I cannot help with that.", "tool_calls"),
    "sentence for hermes": ("I cannot help with that.", "hermes"),
    "sentence for xlam": ("I cannot help with that.", "xlam"),
    "sentence for glm": ("I cannot\nhelp with that.", "glm"),
    "word and brackets": ("Hello (world)", "python"),
    "word with bracket and fence": ("```\nHello (world)\n```", "python"),
    "name of a function": ("The function weather.forecast needs a city.", "python"),
    "name and brackets": ("weather.forecast (with a city) would fit.", "python"),
    "call in words for tool calls": ("I would use weather.forecast(city='?').", "tool_calls"),
    "part of another name": ("Use my.weather.forecast(city=1 or my_weather.forecast(city=1", "python"),
    "longer name": ("Use weather.forecasts(city=1 now", "python"),
    "other function": ("I could use climate(city= but", "python"),
    "JSON about something else": ('{"name": "Ada"} is my name.', "python"),
}


@each_case(("text", "syntax"), PROSE.values(), ids=PROSE)
def test_corrected_a_text_without_calls_is_prose(text: str, syntax: str) -> None:
    assert decode_corrected(text, syntax) == Prose(text.strip())


GONE_WRONG = {
    "cut": ("[weather.forecast(city='Ber", "python"),
    "prose before": ("Sure: [weather.forecast(city='Bergen')]", "python"),
    "spaces": ("Sure: weather.forecast ( city = 'Bergen')", "python"),
    "over two lines": ("Sure: weather.forecast(\n    city='Bergen')", "python"),
    "underscored": ("Sure: weather_forecast(city='Bergen')", "python"),
    "tag for tool calls": ("<tool_call>weather", "tool_calls"),
    "other tag for tool calls": ("<function=weather>", "tool_calls"),
    "JSON for tool calls": ('{"name": "weather_forecast", "arguments": {', "tool_calls"),
    "JSON with single quotes": ("{'function': 'weather.forecast'", "tool_calls"),
    "JSON as text": ('{"name": "weather.forecast", "arguments": {"city": "Bergen"}}', "python"),
    "inside of another call": ("print(weather.forecast(city='Bergen'))", "python"),
    "inside of words": ("Sure: <tool_call>weather</tool_call>", "hermes"),
    "hermes": ("<tool_call>\n{'name'\n</tool_call>", "hermes"),
    "xlam": ('Sure: [{"name": "weather.forecast"}]', "xlam"),
}


@each_case(("text", "syntax"), GONE_WRONG.values(), ids=GONE_WRONG)
def test_corrected_a_call_gone_wrong_is_unreadable(text: str, syntax: str) -> None:
    assert isinstance(decode_corrected(text, syntax, names=Names.UNDERSCORED), Unreadable)


@pytest.mark.parametrize(
    "completion",
    [
        pytest.param(tool_calls(("f", "{")), id="broken arguments"),
        pytest.param(tool_calls(("f", "[1]")), id="arguments in a list"),
        pytest.param(tool_calls(("f", "{}"), ("g", "{")), id="one of two"),
    ],
)
def test_corrected_broken_tool_calls_are_unreadable_whatever_their_name(completion: Completion) -> None:
    assert isinstance(decode_corrected(completion, "tool_calls"), Unreadable)


@each_case("syntax", ["tool_calls", "python"])
@each_case("text", [None, "I would call it."])
def test_corrected_a_call_that_the_server_could_not_read_is_no_abstention(
    syntax: str, text: str | None
) -> None:
    malformed = Completion(text=text, ending=Ending.MALFORMED)
    reading = decode_corrected(malformed, syntax)
    assert reading == Unreadable("the server could not read the call that the model wrote")
    assert not isinstance(decode_corrected(replace(malformed, ending=None), syntax), Unreadable)


def test_corrected_an_object_in_place_of_text_is_read() -> None:
    """A server should send text, but the model wrote the call."""
    called = replace(tool_calls(("weather.forecast", {"city": "Bergen"})), protocol=("arguments_not_text",))
    assert decode_corrected(called, "tool_calls") == Calls((Call("weather.forecast", {"city": "Bergen"}),))
    assert decode_corrected(tool_calls(("f", None)), "tool_calls") == Calls((Call("f", {}),))


def test_corrected_words_that_read_as_a_call_of_an_offered_function_are_a_call() -> None:
    assert decode_corrected("weather.forecast()") == Calls((Call("weather.forecast", {}),))


def test_corrected_a_bare_call_of_an_unknown_function_counts_once_it_has_arguments() -> None:
    assert decode_corrected("climate()") == Prose("climate()")
    assert decode_corrected("[climate()]") == Calls((Call("climate", {}),))
    assert decode_corrected("climate(x=1)") == Calls((Call("climate", {"x": 1}),))


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        (HERMES.replace('"f"', '"climate"'), "hermes"),
        ('{"function": "climate", "parameters": {}}', "json"),
        ('[{"name": "climate", "arguments": {}}]', "xlam"),
    ],
)
def test_corrected_in_its_brackets_a_call_of_an_unknown_function_counts(text: str, syntax: str) -> None:
    assert decode_corrected(text, syntax) == Calls((Call("climate", {}),))


@pytest.mark.parametrize(
    ("completion", "syntax", "reason"),
    [
        (Completion(text="<tool_call>weather"), "tool_calls", "the reply is text, not tool calls"),
        (tool_calls(("f", "[1]")), "tool_calls", "the arguments of 'f' are list, not an object"),
    ],
)
def test_corrected_a_call_gone_wrong_says_why(completion: Completion, syntax: str, reason: str) -> None:
    assert decode_corrected(completion, syntax) == Unreadable(reason)


def test_corrected_without_functions_nothing_is_attempted() -> None:
    reading = read_corrected(
        Completion(text="f(x="), "python", Language.PYTHON, OfferedFunctions((), Names.DOTTED)
    )
    assert reading == Prose("f(x=")


# What is offered


def test_an_offer_knows_functions_by_shown_and_by_own_name() -> None:
    doc = make_doc("a.b")
    assert make_offer(doc, names=Names.UNDERSCORED).by_name == {"a.b": doc, "a_b": doc}
    assert make_offer(doc, names=Names.DOTTED).by_name == {"a.b": doc}


def test_the_first_doc_of_a_name_wins() -> None:
    first, second = make_doc("a.b"), make_doc("a.b", {})
    assert make_offer(first, second).by_name["a.b"] is first
    clash = make_doc("a_b", {})
    assert make_offer(first, clash, names=Names.UNDERSCORED).by_name["a_b"] is first


OWN = {
    # id: (call, call under the function's own name)
    "shown name": (Call("a_b", {"x": 1}), Call("a.b", {"x": 1})),
    "own name": (Call("a.b", {"x": 1}), Call("a.b", {"x": 1})),
    "unknown name": (Call("c", {"x": 1}, (2,)), Call("c", {"x": 1}, (2,))),
    "positional": (Call("a_b", {}, (1, 2)), Call("a.b", {"x": 1, "y": 2})),
    "positional and named": (Call("a_b", {"y": 2}, (1,)), Call("a.b", {"x": 1, "y": 2})),
    "too many positional": (Call("a_b", {}, (1, 2, 3)), Call("a.b", {"x": 1, "y": 2}, (3,))),
    "all named, one positional": (Call("a_b", {"x": 1, "y": 2}, (3,)), Call("a.b", {"x": 1, "y": 2}, (3,))),
    "unknown parameter": (Call("a_b", {"z": 3}, (1,)), Call("a.b", {"x": 1, "z": 3})),
}


@each_case(("call", "own"), OWN.values(), ids=OWN)
def test_a_call_gets_its_own_name_and_names_for_its_arguments(call: Call, own: Call) -> None:
    doc = make_doc("a.b", {"x": {"type": "integer"}, "y": {"type": "integer"}})
    assert make_offer(doc, names=Names.UNDERSCORED).normalise_call(call) == own


def test_a_parameter_given_twice_keeps_the_surplus() -> None:
    """``f(5, x=1)`` gives x twice: in Python an error, here it must not become ``f(x=1, y=5)``."""
    doc = make_doc("f", {"x": {"type": "integer"}, "y": {"type": "integer"}})
    assert make_offer(doc).normalise_call(Call("f", {"x": 1}, (5,))) == Call("f", {"x": 1}, (5,))


def test_names_with_special_characters_are_taken_literally() -> None:
    assert make_offer(make_doc("a+b")).looks_like_call("a+b(x=1", calls_are_text=True)
    assert not make_offer(make_doc("a.b")).looks_like_call("aXb(x=1", calls_are_text=True)


def test_the_longest_name_is_recognised() -> None:
    assert make_offer(make_doc("get"), make_doc("get_all")).looks_like_call(
        "get_all(x=1", calls_are_text=True
    )


# Whatever a model answers


@pytest.mark.nightly
@pytest.mark.slow
@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_is_read_at_once(text: str) -> None:
    shown = (Completion(text=text), tool_calls(("f", text)), Completion(tool_calls=(text,)))

    def read_all() -> None:
        for completion in shown:
            for syntax in filter(SYNTAXES.__contains__, list_run_syntaxes()):
                decode_official(completion, syntax)
                decode_corrected(completion, syntax)

    must_end(read_all)


@each_case("language", [Language.JAVA, Language.JAVASCRIPT])
@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_in_another_language_is_read_at_once(text: str, language: Language) -> None:
    def read_both() -> None:
        decode_official(text, "python", language)
        decode_corrected(text, "python", language)

    must_end(read_both)


@given(
    text=st.none() | wild_text,
    calls=st.none() | st.lists(wild_text | st.builds(ToolCall, wild_text, wild_text | st.none()), max_size=3),
    syntax=st.sampled_from(sorted(SYNTAXES)),
    language=st.sampled_from(Language),
    names=st.sampled_from(Names),
)
@settings(deadline=None, max_examples=3 * settings().max_examples)
def test_any_completion_is_read(
    text: str | None, calls: list[ToolCall | str] | None, syntax: str, language: Language, names: Names
) -> None:
    completion = Completion(text=text, tool_calls=None if calls is None else tuple(calls))
    assert isinstance(decode_official(completion, syntax, language), Calls | Unreadable)
    assert isinstance(decode_corrected(completion, syntax, language, names), Calls | Prose | Unreadable)


@pytest.mark.parametrize("read", [decode_official, decode_corrected])
def test_source_text_with_a_huge_integer_is_read(read: object) -> None:
    assert callable(read)
    read(f"f(x=g(0x{'f' * 5_000}))")


# Prompt formats

JSON = '[{"function": "get_weather", "parameters": {"city": "Bergen"}}]'
XML = '<functions><function name="get_weather">{}</function></functions>'
VERBOSE = XML.format('<params><param name="city" value="Bergen" type="string"/></params>')
CONCISE = XML.format('<param name="city" type="string">Bergen</param>')
WEATHER = Calls((Call("get_weather", {"city": "Bergen"}),))
WRITTEN = {
    "python": "[get_weather(city='Bergen')]",
    "json": JSON,
    "verbose_xml": VERBOSE,
    "concise_xml": CONCISE,
}


def in_its_form(text: str, syntax: str) -> tuple[Reading, Reading]:
    weather = make_offer(make_doc("get_weather", {"city": {"type": "string"}}))
    completion = Completion(text=text)
    return decode_official(text, syntax), read_corrected(completion, syntax, Language.PYTHON, weather)


@each_case(("returned", "text"), WRITTEN.items())
def test_calls_of_a_return_format_with_and_without_a_tag(returned: str, text: str) -> None:
    assert in_its_form(text, returned) == (WEATHER, WEATHER)
    tagged = f"I will.\n<TOOLCALL>\n{text} </TOOLCALL>\nDone."
    assert in_its_form(tagged, f"{returned}_tagged") == (WEATHER, WEATHER)


@each_case(("returned", "text"), WRITTEN.items())
def test_a_tag_that_was_asked_for_has_to_be_there(returned: str, text: str) -> None:
    """It is a call, but not in the form that was asked for: no abstention."""
    strict, lenient = in_its_form(text, f"{returned}_tagged")
    assert isinstance(strict, Unreadable)
    assert isinstance(lenient, Unreadable)


@each_case(("returned", "text"), WRITTEN.items())
def test_of_several_tags_officially_the_first_counts(returned: str, text: str) -> None:
    tagged = f"<TOOLCALL>{text}</TOOLCALL>"
    strict, lenient = in_its_form(tagged * 2, f"{returned}_tagged")
    assert strict == WEATHER
    assert lenient == Calls(WEATHER.calls * 2)
    assert in_its_form(tagged.removesuffix("</TOOLCALL>"), f"{returned}_tagged")[1] == WEATHER


@each_case("syntax", [f"{name}{tag}" for name in WRITTEN for tag in ("", "_tagged")])
def test_prose_is_an_abstention_in_every_format(syntax: str) -> None:
    text = "None of these functions can book a flight (sorry)."
    assert in_its_form(text, syntax)[1] == Prose(text)


@each_case(("asked", "given"), [(a, g) for a in WRITTEN for g in WRITTEN if a[-4:] != g[-4:]])
def test_calls_in_another_return_format_are_no_abstention(asked: str, given: str) -> None:
    _, lenient = in_its_form(WRITTEN[given], asked)
    assert isinstance(lenient, Unreadable)


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("json", '[{"function": "fly", "parameters": {}}]'),
        ("concise_xml", '<functions><function name="fly"></function></functions>'),
        ("python_tagged", "<TOOLCALL>[fly()]</TOOLCALL>"),
    ],
)
def test_a_call_of_an_unknown_function_is_a_call(syntax: str, text: str) -> None:
    called = Calls((Call("fly", {}),))
    assert in_its_form(text, syntax) == (called, called)


def test_a_run_is_not_answered_in_a_prompt_format() -> None:
    assert set(SYNTAXES) - set(list_run_syntaxes()) == {each.syntax for each in FORMATS} - {"python"}
    assert {chosen.syntax for chosen in FORMATS} <= SYNTAXES.keys()


def read_capitals(text: str) -> tuple[Call, ...]:
    """Read calls from words in capitals, without arguments, as another distribution's syntax."""
    return tuple(Call(word.lower(), {}) for word in text.split() if word.isupper())


SHOUTED = read_every_language(Mode.FC, read_capitals, read_capitals)


def test_another_distribution_adds_a_syntax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    install_distribution(tmp_path, "shouting", {"fcbench.decoders": {"shouted": f"{__name__}:SHOUTED"}})
    assert "shouted" in list_run_syntaxes()
    assert decode_official(Completion(text="NOW CLIMB"), "shouted") == Calls(
        (Call("now", {}), Call("climb", {}))
    )
    assert build_settings({"syntax": "shouted"}, None).syntax == "shouted"


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
        ("`[f(plain='a`b', from='x')]`", {"plain": "a`b", "from": "x"}),
        ("```\n[f(plain=1, from='x')]\n```", {"plain": 1, "from": "x"}),
        ('f(plain="""it\'s \'class=\'""", from=\'#\')', {"plain": "it's 'class='", "from": "#"}),
    ],
)
def test_calls_are_read_as_models_write_them(text: str, arguments: object) -> None:
    assert [call.arguments for call in _read(text)] == [arguments]


@each_case("language", [Language.JAVA, Language.JAVASCRIPT])
@each_case("name", ["read-file", "orders.return", "f"])
@each_case("parameter", _PARAMETERS)
def test_other_languages_have_odd_names_too(language: Language, name: str, parameter: str) -> None:
    text = f"""`[{name}(plain="it's //", /* don't */ {parameter}="{name}(from=1)") // it's\n]`"""
    arguments = {"plain": '"it\'s //"', parameter: f'"{name}(from=1)"'}
    assert _read(text, language=language) == (Call(name, arguments),)


def test_a_template_of_javascript_is_a_text() -> None:
    call = Call("read-file", {"plain": "`it's class=`", "class": "1"})
    assert _read("read-file(plain=`it's class=`, class=1)", language=Language.JAVASCRIPT) == (call,)


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


TEXT_SYNTAXES = ("python", "hermes", "xlam", "glm")

# Texts


@each_case(
    ("arguments", "of_tool_call", "of_text"),
    [
        pytest.param({}, "f()", "f()", id="none"),
        pytest.param({"a": 1, "b": "it's"}, """f(a=1,b="it's")""", """f(a=1, b="it's")""", id="two"),
        pytest.param({"a": None, "b": True}, "f(a=None,b=True)", "f(a=None, b=True)", id="constants"),
        pytest.param({"a": [1, (2.5,)]}, "f(a=[1, (2.5,)])", "f(a=[1, (2.5,)])", id="lists"),
        pytest.param({"a": "g()"}, "f(a='g()')", "f(a='g()')", id="call in a text"),
        pytest.param({"a": {"b": 1}}, "f(a={'b': 1})", "f(a={'b': 1})", id="dict"),
        pytest.param(
            {"a": {"g": {"b": 1, "c": "d"}}},
            "f(a={'g': {'b': 1, 'c': 'd'}})",
            "f(a=g(b=1, c='d'))",
            id="dict of a dict",
        ),
        pytest.param({"a": {"g": {}}}, "f(a={'g': {}})", "f(a=g())", id="dict of an empty dict"),
        pytest.param(
            {"a": {"g": {"b": {"h": {"c": 1}}}}},
            "f(a={'g': {'b': {'h': {'c': 1}}}})",
            "f(a=g(b=h(c=1)))",
            id="twice",
        ),
        pytest.param(
            {"a": {"g": {"b": 1}, "h": {"c": 2}}},
            "f(a={'g': {'b': 1}, 'h': {'c': 2}})",
            "f(a=g(b=1))",
            id="all but the first dict are lost",
        ),
        pytest.param(
            {"a": {"g": {"b": 1}, "c": 2}},
            "f(a={'g': {'b': 1}, 'c': 2})",
            "f(a={'g': {'b': 1}, 'c': 2})",
            id="not all are dicts",
        ),
        pytest.param(
            {"a": {"b": 1, "g": {"h": {"c": 2}}}},
            "f(a={'b': 1, 'g': {'h': {'c': 2}}})",
            "f(a={'b': 1, 'g': h(c=2)})",
            id="dict of a dict in a dict",
        ),
        pytest.param(
            {"a": [{"g": {"b": 1}}]}, "f(a=[{'g': {'b': 1}}])", "f(a=[{'g': {'b': 1}}])", id="in a list"
        ),
    ],
)
def test_a_call_as_text(arguments: Mapping[str, object], of_tool_call: str, of_text: str) -> None:
    assert write_joined([Call("f", arguments)]) == (of_tool_call,)
    assert write_nested([Call("f", arguments)]) == (of_text,)


def test_keys_of_a_dict_in_a_text_become_texts() -> None:
    """Of a dict of dicts they are names, and in a list they stay as they are."""
    arguments = {"a": {1: 2, None: 3}, "b": {1: {2: 3}}, "c": [{1: 2}]}
    assert write_nested([Call("f", arguments)]) == ("f(a={'1': 2, 'None': 3}, b=1(2=3), c=[{1: 2}])",)
    assert write_joined([Call("f", {"a": {1: 2}})]) == ("f(a={1: 2})",)


@pytest.mark.parametrize("write", [write_joined, write_spaced, write_nested])
def test_calls_keep_their_order_and_names(write: CallWriter) -> None:
    calls = [Call("b.c", {}), Call("a", {"x": 1}), Call("b.c", {})]
    assert write(calls) == ("b.c()", "a(x=1)", "b.c()")
    assert write([]) == ()


def test_arguments_stand_behind_commas_with_or_without_a_space() -> None:
    calls = [Call("f", {"x": 1, "y": 2})]
    assert (write_joined(calls), write_spaced(calls)) == (("f(x=1,y=2)",), ("f(x=1, y=2)",))


def test_arguments_without_a_name_are_lost() -> None:
    assert write_nested([Call("f", {"a": 1}, (2, 3))]) == ("f(a=1)",)


@each_case("arguments", [{"a": {}}, {"b": 1, "a": {}}, {"a": {"g": {"b": {}}}}, {"a": {"b": 1, "c": {}}}])
def test_an_empty_dict_makes_a_text_undecodable_but_no_tool_call(arguments: Mapping[str, object]) -> None:
    with pytest.raises(Undecodable, match="an empty dict reads as a call without a name"):
        write_nested([Call("g", {}), Call("f", arguments)])
    (text,) = write_joined([Call("f", arguments)])
    assert "{}" in text


@pytest.mark.parametrize("write", [write_joined, write_nested])
def test_arguments_must_be_a_dict(write: CallWriter) -> None:
    with pytest.raises(Undecodable, match="the arguments of f are list"):
        write([Call("f", [1])])  # type: ignore[arg-type]


# What an answer wants carried out


@each_case(
    ("completion", "calls"),
    [
        pytest.param(
            tool_calls(("f", '{"a": 1, "b": null}'), ("g", "{}")), ("f(a=1,b=None)", "g()"), id="JSON"
        ),
        pytest.param(tool_calls(("f", {"a": {"g": {}}})), ("f(a={'g': {}})",), id="objects"),
        pytest.param(Completion(text="So.", tool_calls=(ToolCall("f", "{}"),)), ("f()",), id="beside a text"),
        pytest.param(tool_calls(("f", '{"a": ')), (), id="cut"),
        pytest.param(tool_calls(("f", "{}"), ("g", "{")), (), id="the second is cut"),
        pytest.param(tool_calls(("f", "")), (), id="no JSON"),
        pytest.param(tool_calls(("f", "[1]")), (), id="a list"),
        pytest.param(tool_calls(("f", "null")), (), id="null"),
        pytest.param(tool_calls(("f", "[" * 100_000)), (), id="nested"),
        pytest.param(Completion(tool_calls=("f()", ToolCall("f", "{}"))), (), id="a text among them"),
        pytest.param(Completion(tool_calls=()), (), id="none"),
        pytest.param(Completion(text="[f(a=1)]"), (), id="text"),
        pytest.param(Completion(text=""), (), id="empty text"),
        pytest.param(Completion(), (), id="nothing"),
    ],
)
def test_tool_calls_are_written_as_texts_to_carry_out(completion: Completion, calls: tuple[str, ...]) -> None:
    assert list_calls_to_make(completion, "tool_calls") == calls


@each_case(
    ("text", "calls"),
    [
        pytest.param("[f(a=1,b='x'), g()]", ("f(a=1, b='x')", "g()"), id="calls"),
        pytest.param("f(a=g(b=h(c=1)))", ("f(a=g(b=h(c=1)))",), id="nested"),
        pytest.param("[f(a={'g': {'b': 1}})]", ("f(a=g(b=1))",), id="a dict of a dict"),
        pytest.param("[f(a={'b': 1})]", ("f(a={'b': 1})",), id="a dict"),
        pytest.param("[f(a={})]", (), id="an empty dict"),
        pytest.param("[g(), f(a={})]", (), id="an empty dict in the second"),
        pytest.param("[]", (), id="empty list"),
        pytest.param("[f(a=1]", (), id="cut"),
        pytest.param("I have done it.", (), id="prose"),
        pytest.param("", (), id="empty"),
        pytest.param(f"[f(a={'{1: ' * 3000}2{'}' * 3000})]", (), id="deep"),
    ],
)
def test_the_calls_in_a_text_stay_as_they_are_written(text: str, calls: tuple[str, ...]) -> None:
    assert list_calls_to_make(Completion(text=text), "python") == calls
    assert list_calls_to_make(Completion(text=text, tool_calls=(ToolCall("h", "{}"),)), "python") == calls


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": {"g": {"b": 1}}, "c": 2}}\n</tool_call>'),
        ("xlam", '[{"name": "f", "arguments": {"a": {"g": {"b": 1}}, "c": 2}}]'),
    ],
)
def test_calls_in_a_syntax_of_its_own_are_written_as_texts(syntax: str, text: str) -> None:
    assert list_calls_to_make(Completion(text=text), syntax) == ("f(a=g(b=1), c=2)",)
    assert list_calls_to_make(Completion(text=text[:-1]), syntax) != ("f(a=g(b=1), c=2)",)


def test_without_a_text_nothing_is_carried_out() -> None:
    assert list_calls_to_make(Completion(tool_calls=(ToolCall("f", "{}"),)), "python") == ()
