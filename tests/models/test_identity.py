"""Whatever changes a request or its server gives its answers another key; nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.kinds.kind import put_turns
from pytest_fcbench.models.provider import choose_manner
from pytest_fcbench.models.registry import (
    describe_identity,
    open_auxiliary_models,
)
from pytest_fcbench.suites.registry import open_suite
from tests.dispatch.stores import make_key
from tests.factories import make_doc, make_multi_turn

FORECAST = make_doc("weather.forecast", {"city": {"type": "string"}})
ENTRY = make_multi_turn(("Rain?", []), ("Snow?", []), functions=[FORECAST])
WORDING = open_suite("core", Path("no cache is needed")).wording
ASKED: Mapping[str, object] = {"model": "openai/m"}
OFFICE = {"OPENAI_BASE_URL": "http://office.example/v1"}

CHANGES: Mapping[str, tuple[Mapping[str, object], Mapping[str, str]]] = {
    # what is changed: (options beside or instead of ASKED, variables of the environment)
    "model": ({"model": "openai/other"}, {}),
    "way": ({"model": "litellm:openai/m"}, {}),
    "address": ({"api_base": "http://a.example/v1"}, {}),
    "OPENAI_BASE_URL": ({}, OFFICE),
    "OPENAI_API_BASE": ({}, {"OPENAI_API_BASE": "http://b.example/v1"}),
    "OPENAI_BASE_URL through litellm": ({"model": "litellm:openai/m"}, OFFICE),
    "bare id at OPENAI_BASE_URL": ({"model": "gpt-4o"}, OFFICE),
    "HOSTED_VLLM_API_BASE": (
        {"model": "hosted_vllm/m"},
        {"HOSTED_VLLM_API_BASE": "http://c.example/v1"},
    ),
    "AZURE_API_BASE": ({"model": "azure/m"}, {"AZURE_API_BASE": "http://d.example"}),
    "AZURE_API_VERSION": ({"model": "azure/m"}, {"AZURE_API_VERSION": "2025-01-01"}),
    "ANTHROPIC_BASE_URL": ({"model": "anthropic/m"}, {"ANTHROPIC_BASE_URL": "http://e.example"}),
    "AWS_REGION_NAME": ({"model": "bedrock/m"}, {"AWS_REGION_NAME": "eu-north-1"}),
    "VERTEXAI_LOCATION": ({"model": "vertex_ai/m"}, {"VERTEXAI_LOCATION": "europe-north1"}),
    "OLLAMA_API_BASE": ({"model": "ollama_chat/m"}, {"OLLAMA_API_BASE": "http://f.example"}),
    "FIREWORKS_API_BASE": ({"model": "fireworks_ai/m"}, {"FIREWORKS_API_BASE": "http://g.example"}),
    "WATSONX_URL": ({"model": "watsonx/m"}, {"WATSONX_URL": "http://h.example"}),
    "bare id of another provider": (
        {"model": "claude-sonnet-4-5"},
        {"ANTHROPIC_API_BASE": "http://i.example"},
    ),
    "mode": ({"mode": "prompt"}, {}),
    "names": ({"names": "dotted"}, {}),
    "temperature": ({"temperature": 1.0}, {}),
    "max_tokens": ({"max_tokens": 100}, {}),
    "seed": ({"seed": 7}, {}),
    "top_p": ({"param": ["top_p=0.5"]}, {}),
    "tool_choice": ({"param": ['tool_choice="required"']}, {}),
    "stop": ({"param": ['stop=["END"]']}, {}),
    "reasoning_effort": ({"param": ['reasoning_effort="low"']}, {}),
    "extra_body": ({"param": ['extra_body={"top_k": 3}']}, {}),
    "a header": ({"param": ['extra_headers={"X-Route": "fast"}']}, {}),
    "streams": ({"stream": "on"}, {}),
    "reasoning": ({"reasoning": "strip"}, {}),
}

SAME: Mapping[str, tuple[Mapping[str, object], Mapping[str, str]]] = {
    "speed": ({"concurrency": 3, "rpm": 10.0, "retries": 9, "timeout": 5.0}, {}),
    "profile": ({"profile": "corrected"}, {}),
    "key": ({"api_key_env": "MY_KEY"}, {"MY_KEY": "sk-1", "OPENAI_API_KEY": "sk-2"}),
    "secret header": ({"param": ['extra_headers={"X-Api-Key": "sk-1"}']}, {}),
    "address of another provider": ({}, {"ANTHROPIC_BASE_URL": "http://e.example"}),
    "empty variable": ({}, {"OPENAI_BASE_URL": ""}),
    "reasoning by name": ({"reasoning": "keep"}, {}),
    "no streams by name": ({"stream": "off"}, {}),
}


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Leave out what the machine of the test names."""
    for _, variables in (*CHANGES.values(), *SAME.values()):
        for name in variables:
            monkeypatch.delenv(name, raising=False)
    return monkeypatch


def list_keys(changed: Mapping[str, object]) -> tuple[str, ...]:
    """Return the keys of both answers of a conversation in which the model reasons before it answers."""
    settings = build_settings({**ASKED, **changed}, None)
    identity, talk = describe_identity(settings), put_turns(ENTRY, choose_manner(settings), WORDING)
    first = next(talk)
    message = {"role": "assistant", "content": "No.", "reasoning_content": "It rains."}
    second = talk.send(Completion(text="No.", reasoning="It rains.", message=message))
    assert isinstance(first, AskModel)
    assert isinstance(second, AskModel)
    return make_key(identity, ENTRY, first), make_key(identity, ENTRY, second)


def set_all(clean: pytest.MonkeyPatch, variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        clean.setenv(name, value)


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_a_request_or_its_server_changes_the_key(name: str, clean: pytest.MonkeyPatch) -> None:
    changed, variables = CHANGES[name]
    model = {"model": changed.get("model", "openai/m")}
    before = list_keys(model if variables else {})
    set_all(clean, variables)
    after = list_keys(changed)
    # What is sent back shows in later requests only.
    assert (after[0] == before[0]) is (name == "reasoning")
    assert after[1] != before[1]


def test_no_two_changes_share_a_key(clean: pytest.MonkeyPatch) -> None:
    keys = [list_keys({})[1]]
    for changed, variables in CHANGES.values():
        with clean.context() as here:
            set_all(here, variables)
            keys.append(list_keys(changed)[1])
    assert len(set(keys)) == len(keys) > 20


@pytest.mark.parametrize("name", SAME)
def test_what_changes_no_request_keeps_the_key(name: str, clean: pytest.MonkeyPatch) -> None:
    changed, variables = SAME[name]
    before = list_keys({})
    set_all(clean, variables)
    assert list_keys(changed) == before


def test_the_option_and_the_parameter_of_streams_are_one(clean: pytest.MonkeyPatch) -> None:
    assert list_keys({"stream": "on"}) == list_keys({"param": ["stream=true"]})


def test_whole_answers_of_a_family_that_streams_have_a_key_of_their_own(clean: pytest.MonkeyPatch) -> None:
    streaming = {"model": "qwen3-32b-FC", "as": "qwen3-32b-FC"}
    assert list_keys(streaming | {"stream": "off"}) != list_keys(streaming)


def test_an_address_of_the_settings_comes_before_those_of_the_environment(clean: pytest.MonkeyPatch) -> None:
    before = list_keys({"api_base": "http://a.example/v1"})
    set_all(clean, OFFICE)
    assert list_keys({"api_base": "http://a.example/v1"}) == before


def test_an_address_is_one_with_and_without_its_last_slash(clean: pytest.MonkeyPatch) -> None:
    plain = list_keys({"api_base": "http://a.example/v1"})
    assert list_keys({"api_base": "http://a.example/v1/"}) == plain
    set_all(clean, {"OPENAI_BASE_URL": "http://a.example/v1/"})
    assert list_keys({}) == plain


def test_the_embedding_model_is_told_apart_by_its_server(clean: pytest.MonkeyPatch) -> None:
    settings = build_settings({**ASKED, "similarity": "openai/e"}, None)
    identities = []
    for variables in ({}, OFFICE):
        set_all(clean, variables)
        ((_, identity),) = open_auxiliary_models(settings).values()
        identities.append(identity)
    assert identities == [
        {"model": "openai/e", "api_base": None},
        {"model": "openai/e", "api_base": None, "environment": OFFICE},
    ]


# Stores that exist stay of use: where the environment names nothing, keys are as they always were.
def test_keys_of_earlier_versions_hold(clean: pytest.MonkeyPatch) -> None:
    identity = describe_identity(build_settings(ASKED, None))
    assert identity == {"model": "openai/m", "api_base": None, "parameters": {"temperature": 0.001}}
