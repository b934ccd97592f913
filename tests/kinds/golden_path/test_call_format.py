"""The form of a call: what each profile refuses, and that the words name what is wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.call_format import find_format_error, find_official_misfit

_KINDS = ("string", "number", "integer", "boolean", "array", "object")
DOC = FunctionDoc(
    "book",
    "",
    {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            **{f"a_{kind}": {"type": kind} for kind in _KINDS},
            "any": {},
        },
        "required": ["id"],
    },
)
DOCS = {"book": DOC}
BOTH = pytest.mark.parametrize("profile", Profile)


@BOTH
@pytest.mark.parametrize(
    ("call", "named"),
    [
        (Call("cook", {}), "cook"),
        (Call("book", {}), "id"),
        (Call("book", {"id": "1", "town": "x"}), "town"),
        (Call("book", {"id": 1}), "id"),
        (Call("book", {"id": None}), "null"),
        (Call("book", {"id": "1", "a_number": "2"}), "a_number"),
        (Call("book", {"id": "1", "a_boolean": 1}), "a_boolean"),
        (Call("book", {"id": "1", "a_array": {}}), "a_array"),
    ],
)
def test_a_wrong_form_is_named(call: Call, named: str, profile: Profile) -> None:
    assert named in str(find_format_error(call, DOCS, profile))


@BOTH
@pytest.mark.parametrize(
    "more", [{}, {"a_number": 2}, {"a_number": 2.5}, {"a_boolean": False}, {"a_array": []}, {"any": None}]
)
def test_a_right_form_is_not(more: dict[str, object], profile: Profile) -> None:
    assert find_format_error(Call("book", {"id": "1", **more}), DOCS, profile) is None


@pytest.mark.parametrize(
    "more", [{"a_number": True}, {"a_integer": 2.5}, {"a_object": []}, {"a_integer": True}]
)
def test_what_is_officially_not_looked_at(more: dict[str, object]) -> None:
    call = Call("book", {"id": "1", **more})
    assert find_format_error(call, DOCS, Profile.OFFICIAL) is None
    assert find_format_error(call, DOCS, Profile.CORRECTED)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@BOTH
@given(name=st.text(), arguments=st.dictionaries(st.sampled_from([*DOC.properties, "x"]), _JSON))
def test_any_call_gets_an_answer_that_can_be_sent(
    profile: Profile, name: str, arguments: dict[str, object]
) -> None:
    known = find_format_error(Call("book", arguments), DOCS, profile)
    json.dumps(known, ensure_ascii=False).encode()
    unknown = find_format_error(Call(name, arguments), DOCS, profile)
    assert (unknown is None) == (name == "book" and known is None)
    json.dumps(unknown, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("call", "misfit"),
    [
        (Call("cook", {}), ("unknown_function", {"function": "cook"})),
        (
            Call("book", {"z": 1, "any": 2}),
            ("missing", {"function": "book", "required": ["id"], "given": ["any", "z"], "names": "{'id'}"}),
        ),
        (Call("book", {"id": "1", "z": 1, "y": 2}), ("surplus", {"function": "book", "names": "{'y', 'z'}"})),
        (
            Call("book", {"id": "1", "a_array": {}, "a_number": "2"}),
            ("array", {"function": "book", "parameter": "a_array", "type": dict}),
        ),
        (Call("book", {"id": 1}), ("string", {"function": "book", "parameter": "id", "type": int})),
        (Call("book", {"id": "1", "a_number": True, "a_integer": "2", "any": None}), None),
    ],
    ids=["function", "missing", "surplus", "first by name", "type", "unknown types and true pass"],
)
def test_the_first_official_misfit_is_found_with_the_values_of_its_sentence(
    call: Call, misfit: tuple[str, dict[str, object]] | None
) -> None:
    assert find_official_misfit(call, DOCS) == misfit
