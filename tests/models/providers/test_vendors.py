"""What is told about the key of a model names its variable and never the key."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api, WireRequest
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers.family_model import FamilyModel
from pytest_fcbench.models.providers.vendors import (
    RequestSigner,
    build_url,
    describe_key,
    find_region,
    find_variable,
    needs_signature,
    read_key_variables,
)
from tests.factories import make_entry
from tests.loopback import Reply, serve_answers

VARIABLES = ("A_KEY_OF_TESTS", "ANOTHER_KEY_OF_TESTS")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_the_first_variable_that_holds_something_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[0], " ")
    assert find_variable(VARIABLES) is None
    monkeypatch.setenv(VARIABLES[1], "secret")
    assert find_variable(VARIABLES) == VARIABLES[1]
    assert describe_key("m", VARIABLES) == "the key came from ANOTHER_KEY_OF_TESTS"


def test_all_variables_are_named_where_none_holds_a_key() -> None:
    told = "no API key is set in A_KEY_OF_TESTS or ANOTHER_KEY_OF_TESTS"
    assert describe_key("m", VARIABLES) == told


def test_a_key_for_openai_is_told_where_it_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert describe_key("hosted_vllm/x", VARIABLES[:1]) == (
        "no API key is set in A_KEY_OF_TESTS (OPENAI_API_KEY is set, but not read for hosted_vllm/x)"
    )
    assert describe_key("gpt-4o", read_key_variables()["openai"]) == "the key came from OPENAI_API_KEY"


SECRET = "a-secret-of-these-tests"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com"


@pytest.fixture(autouse=True)
def name_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_PROFILE", "AWS_SSO_PROFILE_NAME", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


def compute_signature(path: str, host: str, headers: dict[str, str], body: str, region: str) -> str:
    """Compute the signature by the published steps of AWS Signature Version 4."""
    date = headers["x-amz-date"]
    named = {"content-type": headers["content-type"], "host": host, "x-amz-date": date}
    told = "".join(f"{name}:{value}\n" for name, value in named.items())
    digest = hashlib.sha256(body.encode()).hexdigest()
    # Amazon encodes a path that is already encoded once more.
    canonical = "\n".join(("POST", path.replace("%", "%25"), "", told, ";".join(named), digest))
    scope = f"{date[:8]}/{region}/bedrock/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signed = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashed}"
    return hmac.new(key, signed.encode(), "sha256").hexdigest()


def read_signature(headers: dict[str, str]) -> str:
    found = re.search(r"Signature=([0-9a-f]{64})$", headers["authorization"])
    assert found
    return found[1]


def test_a_request_arrives_as_it_was_signed() -> None:
    reply = Reply({"output": {"message": {"content": [{"text": "ok"}]}}, "usage": {}})
    body = {"messages": [{"role": "user", "content": [{"text": "hé"}]}]}
    with serve_answers(lambda _: reply) as endpoint:
        base = endpoint.api_base.removesuffix("/v1")
        model = FamilyModel("m", {}, base, name="us.amazon.nova-pro-v1:0", signer=RequestSigner(BEDROCK))
        request = AskModel((), wire=WireRequest(Api.CONVERSE, body))
        assert asyncio.run(model.complete(make_entry(), request)).text == "ok"
    (path,), (headers,) = endpoint.paths, endpoint.headers
    assert path == "/model/us.amazon.nova-pro-v1%3A0/converse"
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    written = '{"messages": [{"role": "user", "content": [{"text": "h\\u00e9"}]}]}'
    host = base.removeprefix("http://")
    assert read_signature(headers) == compute_signature(path, host, headers, written, "us-east-1")
    assert read_signature(headers) != compute_signature(path, host, headers, "{}", "us-east-1")


def test_a_session_token_goes_with_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "for-a-while")
    headers = RequestSigner(BEDROCK).sign_headers(f"{BEDROCK}/model/m/converse", {}, "{}")
    assert headers["X-Amz-Security-Token"] == "for-a-while"


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "no API key is set in AWS_BEARER_TOKEN_BEDROCK, and no AWS credentials were found"),
        ({"AWS_SSO_PROFILE_NAME": "mine"}, r"cannot be used: .*\(mine\).*; check AWS_PROFILE"),
    ],
)
def test_without_credentials_the_variables_are_named(
    variables: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CallError, match=says) as caught:
        RequestSigner(BEDROCK).sign_headers(BEDROCK, {}, "{}")
    assert caught.value.cause == "authentication"


@pytest.mark.parametrize(
    ("address", "region"),
    [
        (BEDROCK, "us-east-1"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com/", "eu-west-1"),
        ("https://bedrock-runtime-fips.us-west-2.amazonaws.com/", "us-west-2"),
        ("https://vpce-0ab-1cd.bedrock-runtime.eu-west-1.vpce.amazonaws.com", "eu-west-1"),
        ("http://127.0.0.1:8000", None),
        ("https://amazonaws.com.example.org", None),
    ],
)
def test_requests_to_amazon_alone_are_signed(address: str, region: str | None) -> None:
    assert needs_signature(address) is (region is not None)
    assert region in (find_region(address), None)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("http://127.0.0.1:1/v1/?a=b", "http://127.0.0.1:1/v1/messages?a=b"),
        ("https://vertex.example.org", "https://vertex.example.org/v1/messages"),
        ("http://v100-box:8000", "http://v100-box:8000/v1/messages"),
    ],
)
def test_the_version_of_an_api_is_added_where_the_address_lacks_it(base: str, url: str) -> None:
    assert build_url(base, Api.MESSAGES, "m") == url


@pytest.mark.parametrize(("key", "signs"), [(None, True), ("a-key", False)])
def test_a_key_goes_before_a_signature(key: str | None, signs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if key:
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", key)
    model = registry.choose_model(build_settings({"model": "nova-pro-v1.0"}, None)).model
    assert isinstance(model, FamilyModel)
    assert (model.api_base, model.signer is not None, model.missing_key) == (BEDROCK, signs, "")
