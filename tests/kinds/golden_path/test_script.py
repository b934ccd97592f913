"""Who holds a conversation along a path, and whose words the model reads."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.config.options import OPTIONS
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.script import (
    OWN,
    RUNNERS,
    Script,
    find_format_error,
    find_official_misfit,
    find_runner_of,
    find_script,
    list_path_settings,
    name_runner,
)
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, JudgePrompt, PathWording
from pytest_fcbench.kinds.golden_path.walk import get_golden_path
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_golden_path
from tests.kinds.golden_path.test_questions import WORDING

DOCS = {"book": make_doc("book", {"town": {"type": "string"}}, ["town"])}
OFFICIAL = GoldenPath((), by_runner=True, wording=WORDING)
DRIVEN = PathSettings(Profile.OFFICIAL, runner="gpt", wording="a version")


def test_only_official_paths_are_held_by_official_runners() -> None:
    assert find_runner_of(OFFICIAL, DRIVEN) is RUNNERS["gpt"]
    assert find_runner_of(replace(OFFICIAL, by_runner=False), DRIVEN) is OWN
    assert find_runner_of(OFFICIAL, replace(DRIVEN, runner=None)) is OWN


def test_official_texts_are_those_of_the_pack() -> None:
    assert find_script(OFFICIAL, DRIVEN) == Script(RUNNERS["gpt"], WORDING)
    assert find_script(OFFICIAL, replace(DRIVEN, wording=None)) == Script(RUNNERS["gpt"], None)
    assert find_script(replace(OFFICIAL, by_runner=False), DRIVEN) == Script(OWN, None)


@pytest.mark.parametrize("wording", [None, replace(WORDING, version="another version")])
def test_without_the_texts_of_the_conversation_nothing_is_scored(wording: object) -> None:
    path = replace(OFFICIAL, wording=wording)  # type: ignore[arg-type]
    with pytest.raises(
        NotScoredError, match=r"texts of the official code \(a version\), which the pack lacks"
    ):
        find_script(path, DRIVEN)


def test_a_refusal_is_in_the_words_of_its_source() -> None:
    official = replace(
        WORDING, wrong_call='{"no": 1}', refusals={"unknown_function": "there is no {function}"}
    )
    unknown = Call("fly", {})
    assert json.loads(Script(RUNNERS["gpt"], official).write_refusal(unknown, DOCS, "ours")) == {
        "error": "there is no fly"
    }
    # The official check sees less than ours, and says nothing then.
    fine = Call("book", {"town": "Bergen"})
    assert json.loads(Script(RUNNERS["gpt"], official).write_refusal(fine, DOCS, "ours")) == {"error": "ours"}
    assert json.loads(Script(OWN, None).write_refusal(unknown, DOCS, "ours")) == {"error": "ours"}


def test_a_runner_that_explains_nothing_says_that_the_call_is_wrong() -> None:
    official = replace(WORDING, wrong_call='{"no": 1}')
    assert Script(RUNNERS["claude"], official).write_refusal(Call("fly", {}), DOCS, "ours") == '{"no": 1}'
    own = json.loads(Script(RUNNERS["claude"], None).write_refusal(Call("fly", {}), DOCS, "ours"))
    assert own["api_status"] is True


@each_case(
    ("model", "runner"),
    [
        ("gpt-4o", "gpt"),
        ("openai/gpt-4o-mini", "gpt"),
        ("anthropic/claude-3-5-sonnet-20241022", "claude"),
        ("mistral/mistral-large-2407", "mistral"),
        ("Qwen/Qwen2.5-72B-Instruct", "qwen"),
        ("ollama/qwen2.5", "qwen"),
        ("THUDM/glm-4-9b-chat", "glm"),
        ("chatglm3", "glm"),
        ("meta-llama/Llama-3.1-70B-Instruct", "llama"),
        ("deepseek/deepseek-r1-distill-llama-70b", "llama"),
        # ``ollama`` is no Llama, and a name that is no family's goes to the first runner.
        ("ollama/phi4", "gpt"),
        ("my-ft", "gpt"),
        # The last part that names a family decides.
        ("qwen/my-llama", "llama"),
    ],
)
def test_the_runner_follows_from_the_name(model: str, runner: str) -> None:
    assert name_runner(model) == runner


def test_every_runner_can_be_chosen() -> None:
    (option,) = (option for option in OPTIONS if option.key == "runner")
    assert option.choices == tuple(RUNNERS)


def test_all_runners_send_the_official_parameters() -> None:
    assert {name: (runner.parameters or {})["max_tokens"] for name, runner in RUNNERS.items()} == {
        **dict.fromkeys(RUNNERS, 2048),
        "llama": 4096,
    }
    assert {(runner.parameters or {})["temperature"] for runner in RUNNERS.values()} == {0.0}


def test_the_settings_of_an_entry_are_those_under_which_it_can_be_put() -> None:
    path = make_golden_path([("book", {"id": 7}, "done")])
    by_runner = replace(path, expectation=replace(get_golden_path(path), by_runner=True))
    official, corrected = PathSettings(Profile.OFFICIAL), PathSettings(Profile.CORRECTED)
    runners = [replace(official, runner=name) for name in RUNNERS]
    assert list(list_path_settings(make_entry())) == [official]
    assert list(list_path_settings(path)) == [official, corrected]
    assert list(list_path_settings(by_runner)) == [*runners, corrected]
    prompt = JudgePrompt("", "", ())
    wording = PathWording("c37b284", "", {}, prompt, prompt, prompt)
    worded = replace(get_golden_path(by_runner), wording=wording)
    versions = {driven.wording for driven in list_path_settings(replace(by_runner, expectation=worded))}
    assert versions == {"c37b284", None}


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
TYPED_DOCS = {"book": DOC}
BOTH = pytest.mark.parametrize("profile", Profile)


@BOTH
@each_case(
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
    assert named in str(find_format_error(call, TYPED_DOCS, profile))


@BOTH
@each_case(
    "more", [{}, {"a_number": 2}, {"a_number": 2.5}, {"a_boolean": False}, {"a_array": []}, {"any": None}]
)
def test_a_right_form_is_not(more: dict[str, object], profile: Profile) -> None:
    assert find_format_error(Call("book", {"id": "1", **more}), TYPED_DOCS, profile) is None


@each_case("more", [{"a_number": True}, {"a_integer": 2.5}, {"a_object": []}, {"a_integer": True}])
def test_what_is_officially_not_looked_at(more: dict[str, object]) -> None:
    call = Call("book", {"id": "1", **more})
    assert find_format_error(call, TYPED_DOCS, Profile.OFFICIAL) is None
    assert find_format_error(call, TYPED_DOCS, Profile.CORRECTED)


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
    known = find_format_error(Call("book", arguments), TYPED_DOCS, profile)
    json.dumps(known, ensure_ascii=False).encode()
    unknown = find_format_error(Call(name, arguments), TYPED_DOCS, profile)
    assert (unknown is None) == (name == "book" and known is None)
    json.dumps(unknown, ensure_ascii=False).encode()


@each_case(
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
    assert find_official_misfit(call, TYPED_DOCS) == misfit
