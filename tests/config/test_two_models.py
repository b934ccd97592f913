"""The settings of ``--fcbench-against``: what is not given is as for the model under test."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.errors import UsageError

FILE = """\
model: a
baseline: before.json
gate: not-worse(95%)
models:
  a: {model: x/one, api_base: "http://a/v1", api_key_env: KEY_OF_A, temperature: 0.5, mode: prompt}
  b: {model: x/two, api_base: "http://b/v1", stream: on}
  c: {model: y/three, api_key_env: KEY_OF_B}
"""
KEY = "a key that is secret"


def load(tmp_path: Path, against: str, **options: object) -> Settings:
    """Load the settings of a run of two models; return those of the second."""
    file = tmp_path / "fcbench.yaml"
    file.write_text(FILE)
    settings = build_settings({"against": against, **options}, file)
    assert settings.against
    # A baseline of the file is for runs of one model.
    assert settings.baseline is None
    assert (settings.against.gate, settings.against.against) == ((), None)
    return settings.against


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_A", KEY)
    monkeypatch.setenv("KEY_OF_B", "another key")


def test_the_same_model_has_the_same_settings(tmp_path: Path) -> None:
    second = load(tmp_path, "same", seed=7)
    assert (second.label, second.model, second.api_base, second.api_key) == (
        "a again",
        "x/one",
        "http://a/v1",
        KEY,
    )
    assert (second.temperature, second.mode, second.seed) == (0.5, "prompt", 7)


def test_settings_follow_after_commas(tmp_path: Path) -> None:
    second = load(
        tmp_path, 'same,stream=on,max-tokens=5,param=stop=["x","y"],param=top_k=3', param=["top_p=1"]
    )
    assert (second.stream, second.max_tokens) == (True, 5)
    assert second.param == {"top_p": 1, "stop": ["x", "y"], "top_k": 3}
    # Values of parameters may be secrets.
    assert second.label == "a,stream=on,max_tokens=5,param=stop,param=top_k"


def test_an_id_that_is_no_profile_is_asked_like_the_first_model(tmp_path: Path) -> None:
    second = load(tmp_path, "x/three")
    assert (second.label, second.model, second.api_base, second.api_key) == (
        "x/three",
        "x/three",
        "http://a/v1",
        KEY,
    )


def test_a_profile_has_its_own_address_and_key(tmp_path: Path) -> None:
    options = {"api_base": "http://line/v1", "api_key_env": "KEY_OF_A", "temperature": "0.1"}
    second = load(tmp_path, "b", **options, param=["api_key=sk-1", 'extra_headers={"x": "y"}', "top_p=1"])
    assert (second.model, second.api_base, second.api_key) == ("x/two", "http://b/v1", None)
    assert second.param == {"top_p": 1}
    # What the command line says of requests is said of both.
    assert (second.stream, second.temperature, second.mode) == (True, 0.1, None)


def test_the_key_of_a_profile_goes_before_that_of_the_command_line(tmp_path: Path) -> None:
    second = load(tmp_path, "c", api_key_env="KEY_OF_A")
    assert (second.model, second.api_key) == ("y/three", "another key")


def test_a_key_goes_to_no_other_address(tmp_path: Path) -> None:
    secrets = ["api_key=sk-1", 'extra_headers={"x": "y"}', "top_p=1"]
    second = load(tmp_path, "same,api_base=http://c/v1", param=secrets)
    assert (second.api_base, second.api_key, second.param) == ("http://c/v1", None, {"top_p": 1})
    assert second.label == "a,api_base=http://c/v1"
    second = load(tmp_path, "x/y,api_base=http://c/v1,api_key_env=KEY_OF_B", param=secrets)
    assert (second.api_key, second.label) == ("another key", "x/y")


def test_an_address_can_be_left_out(tmp_path: Path) -> None:
    second = load(tmp_path, "gpt-4o,api_base=")
    assert (second.api_base, second.api_key) == (None, None)


@pytest.mark.parametrize(
    ("against", "options", "message"),
    [
        (
            "b,foo=1",
            {},
            "--fcbench-against=b,foo=1: unknown setting 'foo'. Valid: api_base, api_key_env, temperature, *",
        ),
        (
            ",stream=on",
            {},
            "--fcbench-against=,stream=on: must begin with a model, for example same,stream=on",
        ),
        (
            "same,stream",
            {},
            "--fcbench-against=same,stream: 'stream' is not a setting; write NAME=VALUE, for example *",
        ),
        (",,", {}, "--fcbench-against=,,: must begin with a model, for example same,stream=on"),
        ("same,Stream=on", {}, "*'Stream=on' is not a setting; write NAME=VALUE, for example same,stream=on"),
        (
            "b,stream=maybe",
            {},
            "--fcbench-against=b: --fcbench-stream=maybe: unknown stream 'maybe'. Valid: *",
        ),
        (
            "b,api_key_env=NOT_SET",
            {},
            "--fcbench-against=b: api_key_env: the environment variable 'NOT_SET' is *",
        ),
        (
            "b",
            {"baseline": "x.json"},
            "--fcbench-baseline and --fcbench-against both name what the run is compared with; leave one out",
        ),
        (
            "b",
            {"forced": "auto"},
            "--fcbench-against compares models, and --fcbench-forced asks none; leave one of the two out",
        ),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, against: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(tmp_path, against, **options)
    beginning, star, _ = message.partition("*")
    assert str(caught.value).startswith(beginning)
    assert star or str(caught.value) == message
