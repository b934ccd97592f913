"""Values for tests, with defaults for whatever a test does not care about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.answers import Completion, Mode, Names, Step, ToolCall, Transcript
from pytest_fcbench.codecs.syntaxes import DEFAULT_SYNTAX
from pytest_fcbench.entries import (
    CATEGORIES,
    AnyCall,
    Entry,
    Expectation,
    ExpectedCall,
    ExpectedCalls,
    FunctionDoc,
    Message,
    NoCall,
    Rule,
)


def make_doc(
    name: str = "weather.forecast",
    properties: Mapping[str, Mapping[str, object]] | None = None,
    required: Sequence[str] = (),
) -> FunctionDoc:
    """A function doc; without properties it takes a city and a number of days."""
    if properties is None:
        properties = {
            "city": {"type": "string", "description": "City."},
            "days": {"type": "integer", "description": "Days ahead.", "default": 1},
        }
        required = required or ("city",)
    parameters = {"type": "dict", "properties": dict(properties), "required": list(required)}
    return FunctionDoc(name, f"About {name}.", parameters)


def make_entry(
    category: str = "simple_python",
    *,
    functions: Sequence[FunctionDoc] | None = None,
    expect: Sequence[Mapping[str, Mapping[str, object]]] | None = None,
    query: str = "What will the weather in Bergen be?",
    set_aside: str | None = None,
    suite: str = "core",
    entry_id: str | None = None,
) -> Entry:
    """An entry of a category; ``expect`` is written as in a suite's file."""
    functions = [make_doc()] if functions is None else functions
    if expect is None:
        expect = [{functions[0].name: {"city": ["Bergen"], "days": [1, ""]}}] if functions else []
    return Entry(
        suite=suite,
        id=entry_id or f"{category}_0",
        category=CATEGORIES[category],
        turns=((Message("user", query),),),
        functions=tuple(functions),
        expectation=_expectation(category, expect),
        set_aside=set_aside,
    )


def _expectation(category: str, expect: Sequence[Mapping[str, Mapping[str, object]]]) -> Expectation:
    rule = CATEGORIES[category].rule
    if rule is Rule.IRRELEVANCE:
        return NoCall()
    if rule is Rule.RELEVANCE:
        return AnyCall()
    return ExpectedCalls(
        tuple(ExpectedCall(name, accepted) for call in expect for name, accepted in call.items())
    )


def tool_calls(*calls: tuple[str, object]) -> Completion:
    """A completion that makes these tool calls; arguments are JSON text or an object."""
    return Completion(tool_calls=tuple(ToolCall(name, arguments) for name, arguments in calls))


def make_transcript(
    completion: Completion | str,
    *,
    mode: Mode | None = None,
    names: Names | None = None,
    syntax: str | None = None,
    entry: str = "core:simple_python_0",
) -> Transcript:
    """A one-answer transcript: text is read as prompting, a completion with tool calls as function calling."""
    if isinstance(completion, str):
        completion = Completion(text=completion)
    if mode is None:
        mode = Mode.PROMPT if completion.tool_calls is None else Mode.FC
    if names is None:
        names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    return Transcript(entry, "test", mode, names, syntax or DEFAULT_SYNTAX[mode], ((Step(completion),),))
