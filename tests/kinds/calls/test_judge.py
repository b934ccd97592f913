"""Both AST verdicts on a transcript, from the text of an answer on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.registry import SYNTAXES
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed
from pytest_fcbench.kinds.calls.verdict import judge
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text
from tests.factories import make_doc, make_entry, make_transcript, tool_calls
from tests.kinds.outcomes import name_outcomes

SIMPLE = "simple_function_checker"
PARALLEL = "parallel_function_checker_no_order"
FAILED = "ast_decoder:decoder_failed"
WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"


def make_value_entry(
    schema: Mapping[str, object], accepted: object, category: str = "simple_python", name: str = "f"
) -> Entry:
    """Make an entry that expects one call of ``f`` with one of these as ``x``."""
    return make_entry(category, functions=[make_doc(name, {"x": schema})], expect=[{name: {"x": accepted}}])


INTEGER, FLOAT, BOOLEAN = {"type": "integer"}, {"type": "float"}, {"type": "boolean"}
STRING, LIST, DICT = {"type": "string"}, {"type": "array", "items": {"type": "integer"}}, {"type": "dict"}

PROMPTED = {
    # id: (schema, accepted, answer, official code, corrected code)
    "right": (INTEGER, [5], "[f(x=5)]", None, None),
    "wrong": (INTEGER, [5], "[f(x=6)]", "value_error:others", "value_error:number"),
    "plus": (INTEGER, [5], "[f(x=+5)]", "value_error:others", None),
    "plus reads minus": (INTEGER, [-5], "[f(x=+5)]", None, "value_error:number"),
    "not": (BOOLEAN, [False], "[f(x=not True)]", "type_error:simple", "type_error:simple"),
    "positional": (INTEGER, [5], "[f(5)]", f"{SIMPLE}:missing_optional", None),
    "positional where it may be left out": (INTEGER, ["", 5], "[f(6)]", None, "value_error:number"),
    "surplus positional": (INTEGER, [5], "[f(6, x=5)]", None, f"{SIMPLE}:unexpected_param"),
    "python fence": (INTEGER, [5], "```python\n[f(x=5)]\n```", FAILED, None),
    "bare fence": (INTEGER, [5], "```\n[f(x=5)]\n```", None, None),
    "tab": (INTEGER, [5], "\t[f(x=5)]", FAILED, None),
    "carriage return": (INTEGER, [5], "[f(x=5)]\r\n", FAILED, None),
    "f-string": (STRING, ["a"], "[f(x=f'a')]", FAILED, None),
    "attribute": (STRING, ["Color.RED"], "[f(x=Color.RED)]", FAILED, None),
    "JSON true": (BOOLEAN, [True], "[f(x=true)]", "type_error:simple", None),
    "JSON true as text": (STRING, ["true"], "[f(x=true)]", None, "type_error:simple"),
    "JSON null": (STRING, [None], "[f(x=null)]", "value_error:others", None),
    "set": (LIST, [[1, 2]], "[f(x={1, 2})]", FAILED, None),
    "tuple": (LIST, [[1, 2]], "[f(x=(1, 2))]", "type_error:simple", None),
    "whole float": (INTEGER, [5], "[f(x=5.0)]", "type_error:simple", None),
    "True for 1": (INTEGER, [1], "[f(x=True)]", "type_error:simple", "type_error:simple"),
    "integers for floats in a list": (
        {"type": "array", "items": {"type": "float"}},
        [[1.0, 2.0]],
        "[f(x=[1, 2])]",
        "type_error:nested",
        None,
    ),
    "empty text for an optional": (STRING, ["a", ""], "[f(x='')]", None, "value_error:string"),
    "empty list for an optional": (LIST, [[1], ""], "[f(x=[])]", None, "value_error:list"),
    "letter of a text in a dict": (DICT, [{"a": "xyz"}], "[f(x={'a': 'y'})]", None, "value_error:dict"),
    "text in a dict": (DICT, [{"a": "xyz"}], "[f(x={'a': 'xyz'})]", "value_error:dict_value", None),
    "True for 1 in a dict": (DICT, [{"a": [1]}], "[f(x={'a': True})]", None, "value_error:dict"),
    "arithmetic": (INTEGER, [6], "[f(x=2*3)]", None, None),
    "arithmetic out of bounds": (INTEGER, [6], "[f(x=9**9**9)]", FAILED, "type_error:simple"),
    "call as a value": (STRING, ["now()"], "[f(x=now())]", None, None),
    "prose": (INTEGER, [5], "I cannot help with that.", FAILED, "no_call"),
    "prose that reads as a call": (INTEGER, [5], "Sorry (really)", f"{SIMPLE}:wrong_func_name", "no_call"),
    "words around the call": (INTEGER, [5], "Sure: [f(x=5)]", FAILED, "unreadable"),
    "cut": (INTEGER, [5], "[f(x=[5", FAILED, "unreadable"),
    "nothing": (INTEGER, [5], "", f"{SIMPLE}:wrong_count", "no_call"),
    "empty list": (INTEGER, [5], "[]", f"{SIMPLE}:wrong_count", "wrong_count"),
    "two calls": (INTEGER, [5], "[f(x=5), f(x=5)]", f"{SIMPLE}:wrong_count", "wrong_count"),
    "other function": (INTEGER, [5], "[g(x=5)]", f"{SIMPLE}:wrong_func_name", f"{SIMPLE}:wrong_func_name"),
}


@each_case(("schema", "accepted", "answer", "official", "corrected"), PROMPTED.values(), ids=PROMPTED)
def test_a_prompted_answer_has_both_verdicts(
    schema: Mapping[str, object], accepted: object, answer: str, official: str | None, corrected: str | None
) -> None:
    judgement = judge(make_value_entry(schema, accepted), make_transcript(answer))
    assert name_outcomes(judgement) == (official, corrected)


BY_TOOLS = {
    # id: (completion, official code, corrected code); an integer 5 is expected, or nothing
    "right": (tool_calls(("f", '{"x": 5}')), None, None),
    "arguments as an object": (tool_calls(("f", {"x": 5})), None, None),
    "whole float": (tool_calls(("f", '{"x": 5.0}')), "type_error:simple", None),
    "empty arguments": (tool_calls(("f", "")), FAILED, None),
    "no arguments": (tool_calls(("f", "{}")), None, None),
    "null": (tool_calls(("f", "null")), WRONG_FORMAT, None),
    "broken": (tool_calls(("f", '{"x": 5')), FAILED, "unreadable"),
    "list": (tool_calls(("f", "[5]")), WRONG_FORMAT, "unreadable"),
    "no call": (Completion(tool_calls=()), f"{SIMPLE}:wrong_count", "no_call"),
    "prose": (Completion(text="I cannot."), FAILED, "no_call"),
    "nothing": (Completion(), FAILED, "no_call"),
    "call as text": (Completion(text='<tool_call>{"name": "f"'), FAILED, "unreadable"),
    "text beside the call": (
        Completion(tool_calls=("Well:", ToolCall("f", '{"x": 5}'))),
        FAILED,
        None,
    ),
}


@each_case(("completion", "official", "corrected"), BY_TOOLS.values(), ids=BY_TOOLS)
def test_an_answer_by_tools(completion: Completion, official: str | None, corrected: str | None) -> None:
    transcript = make_transcript(completion, mode=Mode.FC)
    assert name_outcomes(judge(make_value_entry(INTEGER, [5, ""]), transcript)) == (official, corrected)


@each_case(
    ("names", "called", "official", "corrected"),
    [
        pytest.param(Names.UNDERSCORED, "a_b_f", None, None, id="underscored as shown"),
        pytest.param(Names.DOTTED, "a.b.f", None, None, id="dotted as shown"),
        pytest.param(Names.UNDERSCORED, "a.b.f", f"{SIMPLE}:wrong_func_name", None, id="own name"),
        pytest.param(
            Names.DOTTED,
            "a_b_f",
            f"{SIMPLE}:wrong_func_name",
            f"{SIMPLE}:wrong_func_name",
            id="underscored though dots were shown",
        ),
        pytest.param(
            Names.UNDERSCORED,
            "f",
            f"{SIMPLE}:wrong_func_name",
            f"{SIMPLE}:wrong_func_name",
            id="last part only",
        ),
    ],
)
@each_case("mode", [Mode.FC, Mode.PROMPT])
def test_a_call_counts_under_the_name_that_was_shown(
    mode: Mode, names: Names, called: str, official: str | None, corrected: str | None
) -> None:
    completion = tool_calls((called, '{"x": 5}')) if mode is Mode.FC else Completion(text=f"[{called}(x=5)]")
    transcript = make_transcript(completion, mode=mode, names=names)
    assert name_outcomes(judge(make_value_entry(INTEGER, [5], name="a.b.f"), transcript)) == (
        official,
        corrected,
    )


# Parallel calls


def make_overlapping_entry() -> Entry:
    """Make an entry whose first call accepts 1 and 2, its second only 1."""
    return make_entry(
        "parallel",
        functions=[make_doc("f", {"x": INTEGER})],
        expect=[{"f": {"x": [1, 2]}}, {"f": {"x": [1]}}],
    )


@each_case(
    ("answer", "official", "corrected"),
    [
        pytest.param("[f(x=2), f(x=1)]", None, None, id="greedy succeeds"),
        pytest.param("[f(x=1), f(x=2)]", f"{PARALLEL}:cannot_find_match", None, id="greedy fails"),
        pytest.param("[f(x=2), f(x=2)]", f"{PARALLEL}:cannot_find_match", "cannot_find_match", id="no match"),
        pytest.param("[f(x=1)]", f"{PARALLEL}:wrong_count", "wrong_count", id="one missing"),
    ],
)
def test_parallel_calls_that_overlap_have_both_verdicts(
    answer: str, official: str | None, corrected: str | None
) -> None:
    assert name_outcomes(judge(make_overlapping_entry(), make_transcript(answer))) == (official, corrected)


# Java and JavaScript


LANGUAGES = {
    # id: (category, schema, accepted, answer, official code, corrected code)
    "java": ("simple_java", {"type": "String"}, ["a"], '[Geo.find(x="a")]', None, None),
    "java, wrong": (
        "simple_java",
        {"type": "String"},
        ["a"],
        '[Geo.find(x="b")]',
        "value_error:string",
        "value_error:string",
    ),
    "java, class body": (
        "simple_java",
        {"type": "HashMap"},
        [{"a": [1]}],
        '[Geo.find(x=new HashMap<String, Integer>() {{ put("a", 1); }})]',
        "value_error:dict_key",
        None,
    ),
    "java, not ASCII": (
        "simple_java",
        {"type": "String"},
        ["Malmö"],
        '[Geo.find(x="Malmö")]',
        "value_error:string",
        None,
    ),
    "java, literal without suffix": (
        "simple_java",
        {"type": "long"},
        [5],
        "[Geo.find(x=5)]",
        "type_error:simple",
        None,
    ),
    "java, two calls": (
        "simple_java",
        {"type": "long"},
        [5],
        "[Geo.find(x=5L), Geo.find(x=5L)]",
        FAILED,
        "wrong_count",
    ),
    "java, prose": ("simple_java", {"type": "long"}, [5], "I cannot help with that.", FAILED, "no_call"),
    "java, nothing": ("simple_java", {"type": "long"}, [5], "", WRONG_FORMAT, "no_call"),
    "javascript": ("simple_javascript", {"type": "String"}, ["a"], "[Geo.find(x='a')]", None, None),
    "javascript, await": (
        "simple_javascript",
        {"type": "String"},
        ["a"],
        "await Geo.find(x='a')",
        WRONG_FORMAT,
        None,
    ),
    "javascript, comma in a text": (
        "simple_javascript",
        {"type": "array", "items": {"type": "String"}},
        [["a,b"]],
        "Geo.find(x=['a,b'])",
        "value_error:list/tuple",
        None,
    ),
    "javascript, nested object": (
        "simple_javascript",
        {"type": "dict"},
        [{"a": [{"b": 1}]}],
        "Geo.find(x={a: {b: 1}})",
        "value_error:dict_value",
        None,
    ),
    "javascript, positional": (
        "simple_javascript",
        {"type": "integer"},
        [5],
        "Geo.find(5)",
        f"{SIMPLE}:missing_optional",
        None,
    ),
}


@each_case(
    ("category", "schema", "accepted", "answer", "official", "corrected"), LANGUAGES.values(), ids=LANGUAGES
)
def test_a_call_in_another_language_has_both_verdicts(
    category: str,
    schema: Mapping[str, object],
    accepted: object,
    answer: str,
    official: str | None,
    corrected: str | None,
) -> None:
    entry = make_value_entry(schema, accepted, category, "Geo.find")
    assert name_outcomes(judge(entry, make_transcript(answer))) == (official, corrected)


@pytest.mark.parametrize(("category", "code"), [("simple_java", "java"), ("simple_javascript", "js")])
def test_a_number_for_source_text_is_wrong_in_both_profiles(category: str, code: str) -> None:
    transcript = make_transcript(tool_calls(("f", '{"x": 5}')))
    judgement = judge(make_value_entry(INTEGER, [5], category), transcript)
    assert name_outcomes(judgement) == (f"type_error:{code}", f"type_error:{code}")


@pytest.mark.parametrize(
    ("syntax", "answer"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"x": 5}}\n</tool_call>'),
        ("xlam", '[{"name": "f", "arguments": {"x": 5}}]'),
        ("glm", 'f\n{"x": 5}'),
    ],
)
def test_the_answer_is_read_in_the_syntax_of_the_transcript(syntax: str, answer: str) -> None:
    transcript = make_transcript(answer, mode=Mode.FC, syntax=syntax)
    assert name_outcomes(judge(make_value_entry(INTEGER, [5]), transcript)) == (None, None)
    assert name_outcomes(judge(make_value_entry(INTEGER, [6]), transcript)) == (
        "value_error:others",
        "value_error:number",
    )


# What is not scored, and what is no answer


def test_a_set_aside_entry_is_not_scored_in_the_corrected_profile() -> None:
    entry = make_entry(set_aside="the expected value contradicts its type")
    judgement = judge(entry, make_transcript("[weather.forecast(city='Bergen')]"))
    assert judgement.official == Passed()
    assert judgement.corrected == NotScored("set_aside", "the expected value contradicts its type")


@pytest.mark.parametrize("fault", [Fault.OVERFLOW, Fault.UNREADABLE_CALL])
def test_a_fault_of_its_own_is_the_models_failure_and_officially_a_text(fault: Fault) -> None:
    told = Completion(text="Error during inference: it says why", fault=fault)
    judgement = judge(make_entry(), make_transcript(told))
    assert name_outcomes(judgement) == ("ast_decoder:decoder_failed", fault)


def test_a_set_aside_entry_is_not_scored_even_when_it_overflowed() -> None:
    """Else the corrected profile counts the entry for some models and leaves it out for others."""
    entry = make_entry(set_aside="bad data")
    judgement = judge(entry, make_transcript(Completion(fault=Fault.OVERFLOW)))
    assert name_outcomes(judgement) == ("ast_decoder:decoder_failed", "not scored: set_aside")


def test_an_inference_error_is_judged_as_text_officially_and_not_scored_else() -> None:
    completion = Completion(text="Error during inference: 503", fault=Fault.INFERENCE_ERROR)
    judgement = judge(make_entry(), make_transcript(completion))
    assert name_outcomes(judgement) == (FAILED, "not scored: inference_error")
    assert isinstance(judgement.corrected, NotScored)
    assert judgement.corrected.reason == "the result is an error: Error during inference: 503"


@pytest.mark.parametrize("category", ["irrelevance", "live_irrelevance", "live_relevance"])
def test_an_entry_without_expected_calls_is_a_mistake_of_the_caller(category: str) -> None:
    with pytest.raises(TypeError, match=f"core:{category}_0 has no expected calls"):
        judge(make_entry(category), make_transcript("[]"))


# Whatever a model answers


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_gets_a_verdict_at_once(text: str) -> None:
    entry = make_value_entry({"type": "array", "items": {"type": "integer"}}, [[1]])
    completions = (Completion(text=text), tool_calls(("f", text)), tool_calls(("f", {"x": text})))

    def judge_all() -> None:
        for completion in completions:
            judge(entry, make_transcript(completion))

    must_end(judge_all)


TYPES = ("string", "integer", "float", "boolean", "array", "tuple", "dict", "any")
ACCEPTED = ("a", 1, 1.5, True, None, [1], ["a"], [{"a": [1]}], {"a": [1]}, "")


@given(
    text=wild_text,
    kind=st.sampled_from(TYPES),
    accepted=st.lists(st.sampled_from(ACCEPTED), min_size=1, max_size=3),
    category=st.sampled_from(["simple_python", "multiple", "parallel", "simple_java", "simple_javascript"]),
    syntax=st.sampled_from(sorted(SYNTAXES)),
)
@settings(deadline=None, max_examples=2 * settings().max_examples)
def test_any_answer_gets_a_verdict(
    text: str, kind: str, accepted: list[object], category: str, syntax: str
) -> None:
    entry = make_value_entry({"type": kind, "items": {"type": "integer"}}, accepted, category)
    for completion in (
        Completion(text=text),
        Completion(text=f"f(x={text})"),
        tool_calls(("f", {"x": text})),
    ):
        judgement = judge(entry, make_transcript(completion, syntax=syntax))
        assert isinstance(judgement.official, Passed | Failed)
        assert isinstance(judgement.corrected, Passed | Failed)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=3),
    max_leaves=6,
)


@given(
    value=json_values,
    kind=st.sampled_from(TYPES),
    element=st.sampled_from(TYPES),
    accepted=st.lists(json_values, min_size=1, max_size=3),
)
@settings(deadline=None, max_examples=3 * settings().max_examples)
def test_any_value_gets_a_verdict_against_any_expectation(
    value: object, kind: str, element: str, accepted: list[object]
) -> None:
    entry = make_value_entry({"type": kind, "items": {"type": element}}, accepted)
    judgement = judge(entry, make_transcript(tool_calls(("f", {"x": value}))))
    assert isinstance(judgement.official, Passed | Failed)
    assert isinstance(judgement.corrected, Passed | Failed)


@pytest.mark.parametrize("value", ["9**5000", f"0x{'f' * 5_000}"], ids=["power", "hexadecimal"])
def test_a_huge_integer_gets_a_verdict(value: str) -> None:
    judgement = judge(make_value_entry(INTEGER, [5]), make_transcript(f"[f(x={value})]"))
    assert isinstance(judgement.official, Failed)
    assert isinstance(judgement.corrected, Failed)


def test_repetition_inside_repetition_gets_a_verdict_at_once() -> None:
    transcript = make_transcript("[f(x=[[0]*1600]*1600)]")
    must_end(lambda: judge(make_value_entry(INTEGER, [5]), transcript))
