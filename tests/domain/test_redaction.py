"""Secrets do not survive in a text; ordinary words do."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections import UserDict
from collections.abc import Iterator
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from pytest_fcbench.domain.redaction import (
    list_long_secrets,
    list_request_secrets,
    list_secrets,
    mask_secrets,
    mask_secrets_within,
    redact_address,
    redact_secrets,
)
from tests.cases import each_case

SECRET = "v9-Qz.77_hidden"


@each_case(
    "name",
    [
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "MY_SECRET",
        "DB_PASSWORD",
        "AWS_SESSION_TOKEN",
        "SERVICE_CREDENTIALS",
        "API_KEYS",
        "my_endpoint_key",
        "IMAX_API_TOKENS",
    ],
)
def test_the_value_of_a_secret_variable_never_survives(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, SECRET)
    text = f"refused {SECRET}, that is x{SECRET}y\n{SECRET}"
    assert redact_secrets(text) == "refused ***, that is x***y\n***"


@each_case("name", ["CITY", "KEYBOARD", "TOKENIZERS_PARALLELISM", "SECRETARY", "MAX_TOKENS"])
def test_the_value_of_another_variable_stays(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "Constantinople")
    assert redact_secrets("from Constantinople") == "from Constantinople"


@pytest.mark.parametrize("value", ["", "x", "12345"])
def test_a_value_too_short_for_a_secret_stays(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """Else every such text would be starred."""
    monkeypatch.setenv("OPENAI_API_KEY", value)
    assert redact_secrets(f"12345 boxes {value}") == f"12345 boxes {value}"


@each_case(
    ("text", "left"),
    [
        pytest.param("Authorization: Bearer abc.def-123/456==", "Authorization: Bearer ***", id="bearer"),
        pytest.param("authorization: bearer  abcdefgh1", "authorization: bearer  ***", id="lower case"),
        pytest.param("key sk-proj-AbC123_xyz-9 is wrong", "key *** is wrong", id="sk-"),
        pytest.param("(sk-12345678)", "(***)", id="sk- in brackets"),
        pytest.param('{"api_key": "abcd1234efgh"}', '{"api_key": "***"}', id="JSON"),
        pytest.param("api-key=abcd1234efgh&x=1", "api-key=***&x=1", id="query"),
        pytest.param("API key: abcd1234efgh", "API key: ***", id="words"),
        pytest.param("Bearer abcdefgh1, Bearer abcdefgh2", "Bearer ***, Bearer ***", id="two"),
    ],
)
def test_what_looks_like_a_key_never_survives(text: str, left: str) -> None:
    assert redact_secrets(text) == left


@each_case(
    "text",
    [
        "",
        "the maximum context length is 8192 tokens",
        "a risk-assessment of the task-oriented desk-sharing",
        "429 Too Many Requests: retry after 20 s",
        "weather_forecast(city='Bergen', days=3)",
        "bearer of news",
        "no api key",
        "sk-8",
    ],
)
def test_ordinary_words_survive(text: str) -> None:
    assert redact_secrets(text) == text


def test_a_variable_that_another_thread_removes_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changing(UserDict[str, str]):
        """An environment whose first variable is gone when its value is asked for."""

        def __iter__(self) -> Iterator[str]:
            yield "GONE_API_KEY"
            yield from super().__iter__()

    changing = Changing(KEPT_API_KEY="sk-kept-1234567890")
    with pytest.raises(KeyError, match="GONE_API_KEY"):
        dict(changing.items())
    # Undone before a failure is reported, because that masks secrets too.
    with monkeypatch.context() as patched:
        patched.setattr("pytest_fcbench.domain.redaction.os", SimpleNamespace(environ=changing))
        found = list_secrets()
    assert "sk-kept-1234567890" in found


def test_redacting_twice_changes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    once = redact_secrets(f"Bearer {SECRET} api_key={SECRET} sk-12345678")
    assert redact_secrets(once) == once
    assert SECRET not in once


def test_of_a_secret_that_starts_with_another_nothing_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A_KEY", "A_KEYS", "B_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("A_KEY", "orange")
    monkeypatch.setenv("B_KEY", "orange-4711")
    assert redact_secrets("denied: orange-4711") == "denied: ***"


@pytest.mark.parametrize("text", ["Incorrect API key provided", "the bearer certificates"])
def test_words_behind_the_word_key_survive(text: str) -> None:
    assert redact_secrets(text) == text


def test_a_monkey_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONKEY", "bananas")
    assert redact_secrets("three bananas") == "three bananas"


def test_only_long_secrets_are_taken_out_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short one could be a word that the answer needs."""
    monkeypatch.setenv("A_TOKEN", "python")
    monkeypatch.setenv("B_KEY", "k" * 16)
    found = list_long_secrets("p" * 20, "short")
    assert {"k" * 16, "p" * 20} <= set(found)
    assert not {"python", "short"} & set(found)
    assert found.index("p" * 20) < found.index("k" * 16)


def test_secrets_are_masked_in_every_text_of_a_value_and_nothing_else() -> None:
    value = {"a": [f"1 {SECRET}", None, 3, True], SECRET: {"b": f"{SECRET}{SECRET}"}, "c": 1.5}
    assert mask_secrets_within(value, [SECRET]) == {
        "a": ["1 ***", None, 3, True],
        "***": {"b": "******"},
        "c": 1.5,
    }


def list_own_secrets(key: str | None = None, address: str | None = None, **parameters: object) -> list[str]:
    return list_request_secrets(key, address, parameters)


@each_case(
    "secrets",
    [
        pytest.param(list_own_secrets("mixed123"), id="key"),
        pytest.param(list_own_secrets(None, None, api_key="mixed123"), id="key among the parameters"),
        pytest.param(list_own_secrets(None, "http://127.0.0.1/v1?sig=mixed123&v=1"), id="query"),
        pytest.param(list_own_secrets(extra_headers={"X-Own": "mixed123"}), id="header"),
        pytest.param(list_own_secrets(extra_headers={"X-Own": "Basic mixed123"}), id="part of a header"),
        pytest.param(list_own_secrets(extra_body={"a": [{"b": "mixed123"}]}), id="body"),
    ],
)
def test_what_a_request_carries_is_a_secret(secrets: list[str]) -> None:
    assert "mixed123" in secrets


@each_case("harmless", ["lm-studio", "short1", "2026-11-24", "12345678", "anything"])
def test_what_an_honest_answer_may_contain_is_no_secret(harmless: str) -> None:
    secrets = list_own_secrets(harmless, f"http://127.0.0.1/v1?v={harmless}", extra_body={"a": harmless})
    assert harmless not in secrets


def test_the_type_of_a_body_is_no_secret() -> None:
    """An answer that asks a function for JSON would be another one."""
    headers = {"Content-Type": "application/json; charset=utf-8", "accept": "application/json"}
    assert mask_secrets("application/json", list_own_secrets(extra_headers=headers)) == "application/json"


def test_a_secret_is_masked_in_each_form_in_which_it_may_come_back() -> None:
    """JSON within JSON, HTML, addresses, base64 within a longer text, hexadecimal digits, broken lines."""
    secret = 'qu"ote/77é'
    data = secret.encode()
    told = [
        *(secret, json.dumps(json.dumps(secret)), html.escape(secret), quote(secret, safe="")),
        *(b64encode(b"-" * before + data + b"-").decode() for before in range(3)),
        *(data.hex(), data.hex().upper(), f"{secret[:4]}\n  {secret[4:]}", f"{secret[:4]}\\n{secret[4:]}"),
    ]
    masked = mask_secrets(" ".join(told), list_own_secrets(secret))
    assert masked.count("***") == len(told)
    assert sum(sign not in "* " for sign in masked) <= 30


def test_a_short_or_common_secret_leaves_texts_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"A_KEY": "a", "B_KEY": "test", "C_TOKEN": "12345", "D_KEY": "other"}.items():
        monkeypatch.setenv(name, value)
    text = "a test of another 12345 tests\nin oth\ner lines, 74657374"
    assert (
        redact_secrets(text)
        == mask_secrets(text, list_own_secrets("test", extra_body={"a": "lines"}))
        == text
    )


TOKEN = "cmVhZGVyOnAlIHcxMjM0NQ"
"""``reader:p% w12345`` in base64."""


@each_case("name", ["http_proxy", "HTTPS_PROXY", "all_proxy"])
@each_case("form", ["reader:p%25%20w12345", "reader:p% w12345", "p% w12345", f"Basic {TOKEN}=="])
def test_the_credentials_of_a_proxy_are_masked_in_each_form_in_which_they_are_sent(
    monkeypatch: pytest.MonkeyPatch, name: str, form: str
) -> None:
    assert redact_secrets(form) == form
    monkeypatch.setenv(name, "http://reader:p%25%20w12345@127.0.0.1:3128")
    hidden = {redact_secrets(form), mask_secrets(form, list_own_secrets())}
    assert not any(part in text for text in hidden for part in ("w12345", TOKEN))


def test_the_credentials_of_a_header_are_secrets_once_they_are_decoded() -> None:
    header = {"Authorization": f"Basic {TOKEN}=="}
    assert {f"{TOKEN}==", "reader:p% w12345", "p% w12345"} <= set(list_own_secrets(extra_headers=header))


@each_case(
    ("text", "left"),
    [
        ("at http://reader:pw@127.0.0.1/v1", "at http://***@127.0.0.1/v1"),
        ("http://127.0.0.1/v1?key=ab&v=2", "http://127.0.0.1/v1?key=***&v=2"),
        ("http://127.0.0.1/v1?api-version=2&sig=ab", "http://127.0.0.1/v1?api-version=2&sig=***"),
        ("http://127.0.0.1/v1?q=a@b", "http://127.0.0.1/v1?q=a@b"),
    ],
)
def test_credentials_in_an_address_never_survive(text: str, left: str) -> None:
    assert redact_secrets(text) == left
    assert redact_secrets(left) == left


def test_in_the_address_of_an_endpoint_any_long_value_may_be_a_key() -> None:
    assert redact_address("http://127.0.0.1/v1?code=ab12cd34ef&v=2") == "http://127.0.0.1/v1?code=***&v=2"
    assert redact_secrets("http://127.0.0.1/v1?code=ab12cd34ef") == "http://127.0.0.1/v1?code=ab12cd34ef"
