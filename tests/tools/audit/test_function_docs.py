"""Function docs that nobody can use as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit import function_docs
from pytest_fcbench.tools.audit.findings import Check
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_multi_turn
from tests.tools.audit.made import list_findings, make_facts


def find_flaws(
    doc: FunctionDoc, check: Check = function_docs.find_unsound_docs, category: str = "live_relevance"
) -> list[tuple[str, str]]:
    """Return severity and evidence of what is wrong with a doc."""
    facts = make_facts(make_entry(category, functions=[doc]))
    return [(severity, evidence) for _, severity, evidence in list_findings(check, facts)]


def test_a_sound_doc_has_no_finding() -> None:
    doc = make_doc(
        "map.route",
        {
            "to": {"type": "string", "description": "Where to.", "enum": ["home", "work"], "default": "home"},
            "stops": {"type": "array", "items": {"type": "string"}, "default": []},
            "speed": {"type": "float", "description": "In km/h. Default is 10.", "default": 10},
        },
    )
    for check in (
        function_docs.find_unsound_docs,
        function_docs.find_contradictory_defaults,
        function_docs.find_indistinct_functions,
        function_docs.find_leaked_values,
    ):
        assert find_flaws(doc, check) == []


@each_case(
    ("doc", "severity", "evidence"),
    [
        (make_doc("no spaces", {}), "likely", "no spaces: most APIs reject the name 'no spaces'"),
        (
            FunctionDoc("f", "About f.", {"type": "array"}),
            "certain",
            "f: parameters are of type 'array', not dict",
        ),
        (make_doc("f", {}, required=["x"]), "certain", "f: requires 'x', which is not a parameter"),
        (
            make_doc("f", {"x": {"type": "string"}}, required=["x", "x"]),
            "likely",
            "f: a parameter is listed twice in required: ['x', 'x']",
        ),
        (
            make_doc("f", {"x": {"type": "text"}}),
            "likely",
            "f.x has the type 'text', which python entries do not support",
        ),
        (
            make_doc("f", {"x": {"type": "string", "enum": []}}),
            "certain",
            "f.x has the enum [], which has no values",
        ),
        (
            make_doc("f", {"x": {"type": "integer", "enum": [1, "2"]}}),
            "likely",
            "f.x is of type integer, but its enum has ['2']",
        ),
        (
            make_doc("f", {"x": {"type": "array"}}),
            "hint",
            "f.x is of type array but does not declare the type of its elements",
        ),
        (
            make_doc(
                "f", {"x": {"type": "array", "items": {"type": "dict", "properties": {"y": {"type": 3}}}}}
            ),
            "likely",
            "f.x[].y has the type 3, which python entries do not support",
        ),
        (
            FunctionDoc("f", "About f.", {"type": "dict", "properties": {"x": "string"}}),
            "certain",
            "f.x is 'string', which is not a schema",
        ),
    ],
)
def test_docs_that_are_no_sound_schema(doc: FunctionDoc, severity: str, evidence: str) -> None:
    assert find_flaws(doc) == [(severity, evidence)]


def test_a_doc_is_told_once() -> None:
    doc = make_doc("f", {"x": {"type": "text"}})
    entries = [make_entry("live_relevance", functions=[doc], entry_id=f"e{n}") for n in range(3)]
    assert list_findings(function_docs.find_unsound_docs, make_facts(*entries)) == [
        (
            "e0",
            "likely",
            "f.x has the type 'text', which python entries do not support (offered in 3 entries)",
        )
    ]


@each_case(
    ("schema", "evidence"),
    [
        ({"type": "boolean", "default": "false"}, "f.x: the default 'false' is not of type boolean"),
        (
            {"type": "string", "enum": ["a", "b"], "default": "all"},
            "f.x: the default 'all' is not in the enum ['a', 'b']",
        ),
        (
            {"type": "integer", "description": "How many. Defaults to 5.", "default": 3},
            "f.x: the default is 3, its description says '5'",
        ),
        (
            {"type": "string", "description": "Where; the default is 'home'", "default": "work"},
            "f.x: the default is 'work', its description says 'home'",
        ),
    ],
)
def test_defaults_that_contradict_their_doc(schema: dict[str, object], evidence: str) -> None:
    assert find_flaws(make_doc("f", {"x": schema}), function_docs.find_contradictory_defaults) == [
        ("likely", evidence)
    ]


@each_case(
    "schema",
    [
        {"type": "float", "description": "Default is 10%.", "default": 0.1},
        {"type": "integer", "description": "Default is 10 minutes.", "default": 600},
        {"type": "boolean", "description": "Default is true.", "default": True},
        {"type": "array", "items": {"type": "string"}, "description": "Default is None.", "default": []},
        {"type": "string", "description": "By default is nothing said.", "default": "a"},
        {"type": "float", "description": "Default to 5.0.", "default": 5},
    ],
)
def test_defaults_that_say_the_same_in_other_words(schema: dict[str, object]) -> None:
    assert find_flaws(make_doc("f", {"x": schema}), function_docs.find_contradictory_defaults) == []


def test_a_required_parameter_with_a_default_is_a_hint() -> None:
    doc = make_doc("f", {"x": {"type": "integer", "default": 3}}, required=["x"])
    assert find_flaws(doc, function_docs.find_contradictory_defaults) == [
        ("hint", "f.x is required, but has the default 3")
    ]


def test_names_that_become_one() -> None:
    entry = make_entry(
        "live_relevance", functions=[make_doc("a.b"), replace(make_doc("a_b"), description="Else.")]
    )
    assert list_findings(function_docs.find_indistinct_functions, make_facts(entry)) == [
        ("live_relevance_0", "certain", "['a.b', 'a_b'] are all shown as 'a_b'")
    ]


def test_functions_that_differ_only_in_name() -> None:
    one = make_doc("a")
    entries = [
        make_entry("live_relevance", functions=[one, replace(one, name="b")], entry_id=f"e{n}")
        for n in (1, 2)
    ]
    assert list_findings(function_docs.find_indistinct_functions, make_facts(*entries)) == [
        ("e1", "likely", "['a', 'b'] differ only in their names (offered in 2 entries)")
    ]
    assert (
        list_findings(
            function_docs.find_indistinct_functions, make_facts(make_entry(functions=[one, make_doc("b")]))
        )
        == []
    )


def test_functions_that_come_late_are_looked_at() -> None:
    late = make_doc("b", {"x": {"type": "text"}})
    entry = make_multi_turn(("Go", []), ("", []), withheld={1: [late]})
    assert [
        evidence for *_, evidence in list_findings(function_docs.find_unsound_docs, make_facts(entry))
    ] == ["b.x has the type 'text', which python entries do not support"]


@each_case(
    ("schema", "value", "evidence"),
    [
        (
            {"type": "string", "description": "Such as 'San Marino'."},
            "San Marino",
            "f.x: 'San Marino' occurs in the description, but not in the question",
        ),
        ({"type": "string", "enum": ["only"]}, "only", "f.x: the enum ['only'] leaves no choice"),
        ({"type": "string", "default": "home"}, "home", "f.x: the only value is the default, 'home'"),
        ({"type": "string", "description": "Such as 'Bergen'."}, "Bergen", None),
        ({"type": "string", "enum": ["one", "two"], "description": "one or two"}, "two", None),
    ],
)
def test_answers_that_stand_in_the_doc(schema: dict[str, object], value: str, evidence: str | None) -> None:
    doc = make_doc("f", {"x": schema}, required=["x"])
    entry = make_entry(functions=[doc], expect=[{"f": {"x": [value]}}], query="How far is it to Bergen?")
    assert [text for *_, text in list_findings(function_docs.find_leaked_values, make_facts(entry))] == (
        [evidence] if evidence else []
    )


@each_case(
    ("text", "value", "same"),
    [
        ("5", 5.0, True),
        ("true", True, True),
        ("None", [], True),
        ("a, b", "A B", True),
        ("5", 6, False),
        ("5", "x", False),
    ],
)
def test_a_default_in_words_may_be_the_same_value(text: str, value: object, same: bool) -> None:
    assert function_docs.has_same_text(text, value) is same


# Remarks


@each_case(
    ("text", "word"),
    [
        ("Posts. Different from the official class: lists are copied.", "Different from the official"),
        ("Posts, as ours does.", "ours"),
        ("See pytest_fcbench.environments.", "pytest_fcbench"),
        ("TODO: say more.", "TODO"),
        ("Officially it fails.", "Officially"),
    ],
)
def test_a_remark_for_developers_is_found(text: str, word: str) -> None:
    doc = FunctionDoc("post", text, {"type": "dict", "properties": {}})
    ((severity, evidence),) = find_flaws(doc, function_docs.find_remarks)
    assert severity == "likely"
    assert evidence.startswith(f"post says '{word}': ")


def test_a_remark_in_a_nested_parameter_is_found_with_its_path() -> None:
    inner = {"type": "string", "description": "As in the official package."}
    lines = {"type": "array", "items": {"type": "dict", "properties": {"note": inner}}}
    (found,) = find_flaws(make_doc("post", {"lines": lines}), function_docs.find_remarks)
    assert found[1].startswith("post.lines[].note says 'official package': ")


@pytest.mark.parametrize(
    "text", ["The official language of a country.", "What the hours are.", "Is it different?"]
)
def test_words_that_users_need_are_no_remark(text: str) -> None:
    assert find_flaws(FunctionDoc("f", text, {}), function_docs.find_remarks) == []


def test_no_function_of_core_has_a_remark() -> None:
    opened = core.open_suite(Path())
    entries = [e for c in opened.categories if not c.varies_others for e in opened.load(c)]
    assert list_findings(function_docs.find_remarks, make_facts(*entries)) == []
