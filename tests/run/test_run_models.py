"""The models of a run are opened together, with this process's share of the limits, and closed together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_judge_settings, build_settings
from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.pipeline import RateLimit
from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.run_models import RunModels, find_hint
from tests.cases import each_case


def make_context(tmp_path: Path, **options: object) -> RunContext:
    given = {"model": "openai/x", "store": str(tmp_path / "answers.sqlite"), **options}
    return RunContext(build_settings(given, None, tmp_path))


@pytest.fixture
def closed_stores(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Collect the paths of the stores that are closed."""
    paths: list[Path] = []
    close = AnswerStore.close

    def note_and_close(store: AnswerStore) -> None:
        paths.append(store.path)
        close(store)

    monkeypatch.setattr(AnswerStore, "close", note_and_close)
    return paths


def test_a_share_of_the_limits(tmp_path: Path) -> None:
    models = RunModels(make_context(tmp_path, rpm=100.0, tpm=1000.0, concurrency=8), 0.25)
    assert models.pipeline is not None
    (limits,) = (step.limits for step in models.pipeline.steps if isinstance(step, RateLimit))
    assert (limits.rpm, limits.tpm, limits.concurrency, models.concurrency) == (25.0, 250.0, 2, 2)
    models.close()


def test_closing_closes_the_store(tmp_path: Path, closed_stores: list[Path]) -> None:
    models = RunModels(make_context(tmp_path))
    assert closed_stores == []
    models.close()
    assert closed_stores == [tmp_path / "answers.sqlite"]


def test_what_was_opened_before_an_error_is_closed(tmp_path: Path, closed_stores: list[Path]) -> None:
    """Here the store is open when the recording of the web cannot be."""
    wrong = make_context(tmp_path, category=["web_search"], search="duckduckgo", search_record=str(tmp_path))
    with pytest.raises(UsageError, match="--fcbench-search-record"):
        RunModels(wrong)
    assert closed_stores == [tmp_path / "answers.sqlite"]


def test_a_model_without_a_network_opens_no_store(tmp_path: Path) -> None:
    models = RunModels(make_context(tmp_path, model="oracle"))
    assert models.pipeline is None
    models.close()
    assert not (tmp_path / "answers.sqlite").exists()


def test_a_cause_has_its_hint() -> None:
    settings = build_settings({}, None)
    found = find_hint(NotScoredError("connection", "x"), settings)
    assert found == "check --fcbench-api-base, and whether the server is running"
    assert find_hint(NotScoredError("web_page", "x"), settings).endswith("such addresses end in /v1")
    assert find_hint(NotScoredError("max_tokens", "x"), settings).endswith("--fcbench-max-tokens")
    assert find_hint(NotScoredError("other", "x"), settings) == "try again later"


LOOPBACK = "http://127.0.0.1:1/v1"
ENDING = "put a valid key there, or name the variable that holds one with --fcbench-api-key-env"


@each_case(
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
