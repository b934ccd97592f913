"""A failed call is told with its way out."""

from __future__ import annotations

import os

import pytest

from pytest_fcbench.config.loading import build_judge_settings, build_settings
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.run.failure_hints import find_hint


def test_a_cause_has_its_hint() -> None:
    settings = build_settings({}, None)
    found = find_hint(NotScoredError("connection", "x"), settings)
    assert found == "check --fcbench-api-base, and whether the server is running"
    assert find_hint(NotScoredError("web_page", "x"), settings).endswith("such addresses end in /v1")
    assert find_hint(NotScoredError("max_tokens", "x"), settings).endswith("--fcbench-max-tokens")
    assert find_hint(NotScoredError("other", "x"), settings) == "try again later"


LOOPBACK = "http://127.0.0.1:1/v1"
ENDING = "put a valid key there, or name the variable that holds one with --fcbench-api-key-env"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"model": "hosted_vllm/x", "api_base": LOOPBACK},
            "no API key is set in HOSTED_VLLM_API_KEY (OPENAI_",
        ),
        ({"model": "openai/x", "api_base": LOOPBACK}, f"the key came from OPENAI_API_KEY; {ENDING}"),
        ({"model": "x", "api_base": LOOPBACK, "api_key_env": "MINE"}, f"the key came from MINE; {ENDING}"),
        (
            {"model": "x", "param": ["api_key=y"], "api_base": LOOPBACK},
            "the key came from the parameter api_key",
        ),
        (
            {"model": "groq/x"},
            "no API key is set in GROQ_API_KEY (OPENAI_API_KEY is set, but not read for groq/x)",
        ),
        ({"model": "gpt-4o"}, "the key came from OPENAI_API_KEY"),
        ({"model": "litellm:gpt-4o"}, "the key came from OPENAI_API_KEY"),
        ({"model": "claude-haiku-4-5-20251001"}, "no API key is set in ANTHROPIC_API_KEY (OPENAI_"),
        ({"model": "grok-4-0709"}, "the key came from GROK_API_KEY"),
        ({"model": "azure/x"}, "name the variable that holds a valid API key with --fcbench-api-key-env"),
        (
            {"model": "nova-lite-v1.0"},
            "name the variable that holds a valid API key with --fcbench-api-key-env",
        ),
        ({"model": "oracle"}, "name the variable that holds a valid API key with --fcbench-api-key-env"),
    ],
    ids=lambda value: value["model"] if isinstance(value, dict) else "",
)
def test_a_refused_key_is_told_with_its_variable(
    options: dict[str, object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_AUTH_TOKEN", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    for name in ("OPENAI_API_KEY", "GROK_API_KEY", "MINE"):
        monkeypatch.setenv(name, "a-secret-for-tests")
    found = find_hint(NotScoredError("authentication", "HTTP 401: no"), build_settings(options, None))
    assert found.startswith(told)
    assert "a-secret-for-tests" not in found


def test_what_the_error_says_of_the_key_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = build_settings({"model": "gpt-4o"}, None)
    told = "no API key is set in OPENAI_API_KEY"
    assert find_hint(NotScoredError("authentication", f"gpt-4o: {told}"), settings) == ENDING
    assert find_hint(NotScoredError("authentication", "HTTP 401"), settings) == f"{told}; {ENDING}"


def test_a_hint_about_the_key_of_a_judge_names_its_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WISE_KEY", "a-secret-for-tests")
    judge = build_judge_settings({"judge": "openai/wise", "judge_api_key_env": "WISE_KEY"}, None)
    assert judge
    found = find_hint(NotScoredError("authentication", "x"), judge)
    assert found.startswith("the key came from WISE_KEY; ")
    assert found.endswith(" with --fcbench-judge-api-key-env")


def test_a_server_without_a_tool_parser_is_told_its_switch() -> None:
    settings = build_settings({}, None)
    refusal = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    assert "--fcbench-mode=prompt" in find_hint(NotScoredError("bad_request", refusal), settings)
    assert "vLLM: --enable-auto" in find_hint(NotScoredError("bad_request", refusal), settings)
    assert "check the model's name" in find_hint(NotScoredError("bad_request", "unknown field"), settings)


def test_a_hint_for_a_judge_names_the_options_of_the_judge() -> None:
    judge = build_judge_settings({"judge": "openai/wise"}, None)
    assert judge
    found = find_hint(NotScoredError("not_found", "x"), judge)
    assert found == "check the model's name and --fcbench-judge-api-base"
    # A judge is sent no tools.
    assert find_hint(NotScoredError("bad_request", "x"), judge) == "check the model's name"
    assert "tools" in find_hint(NotScoredError("bad_request", "x"), build_settings({}, None))
