"""Where official families are asked: the address of each, its key, and the signature that takes its place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from urllib.parse import urlsplit

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.tables import read_table


@dataclass(frozen=True, slots=True)
class Vendor:
    """An endpoint that official families are asked at."""

    provider: str | None = None
    """Litellm's name of it, whose variables of the key come first."""
    own_keys: Sequence[str] = ()
    base: str | None = None
    """The address where no option and no variable names one; None where there is no public one."""
    bases: Sequence[str] = ()
    """Environment variables of the address."""

    @property
    def keys(self) -> Sequence[str]:
        """The environment variables of the key; the first that is set counts."""
        return (*(read_key_variables()[self.provider] if self.provider else ()), *self.own_keys)

    def find_key(self) -> str | None:
        """Return the key that the environment holds."""
        variable = find_variable(self.keys)
        return os.environ[variable].strip() if variable else None

    def find_base(self) -> str | None:
        """Return the address that the environment names, or else the usual one."""
        return next((value for name in self.bases if (value := os.environ.get(name, "").strip())), self.base)


_OWN_SERVER = "A server of one's own"


@cache
def _read_vendors() -> Mapping[str, Vendor]:
    return read_table(dict[str, Vendor], __file__, "vendors.toml")


def find_vendor(handler: str) -> Vendor:
    """Return where the models of an official class are asked."""
    return _read_vendors().get(handler) or _read_vendors()[_OWN_SERVER]


_VERSIONS: Mapping[Api, str] = {Api.MESSAGES: "v1", Api.GENERATE_CONTENT: "v1beta", Api.COHERE: "v2"}
"""The first part of a path that the usual address of an API does not hold."""

_PATHS: Mapping[Api, str] = {
    Api.CHAT: "chat/completions",
    Api.COMPLETIONS: "completions",
    Api.RESPONSES: "responses",
    Api.MESSAGES: "messages",
    Api.GENERATE_CONTENT: "models/{name}:generateContent",
    Api.COHERE: "chat",
    Api.CONVERSE: "model/{name}/converse",
}


def build_url(base: str, api: Api, name: str) -> str:
    """Build the address of a request; ``name`` is the model's, encoded for an address."""
    last = base.partition("?")[0].rstrip("/").rpartition("/")[2]
    version = _VERSIONS.get(api)
    if version and not re.fullmatch(r"v\d\w*", last):
        base = add_to_path(base, version)
    return add_to_path(base, _PATHS[api].format(name=name))


def add_to_path(address: str, path: str) -> str:
    """Add the end of a path to an address, whose query stays behind it."""
    base, mark, query = address.partition("?")
    return f"{base.rstrip('/')}/{path}{mark}{query}"


def build_key_header(api: Api, key: str | None) -> Mapping[str, str]:
    """Build the headers by which an API knows who asks, and which version of it is meant."""
    if api is Api.MESSAGES:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
    if api is Api.GENERATE_CONTENT:
        return {"x-goog-api-key": key} if key else {}
    return {"Authorization": f"Bearer {key}"} if key else {}


@cache
def read_key_variables() -> Mapping[str, Sequence[str]]:
    """Return the variables of the keys of providers, by litellm's names of these."""
    return read_table(dict[str, Sequence[str]], __file__, "key_variables.toml")


def find_variable(names: Iterable[str]) -> str | None:
    """Return the first of these environment variables that holds something; None where none does."""
    return next((name for name in names if os.environ.get(name, "").strip()), None)


def describe_key(model: str, variables: Sequence[str]) -> str:
    """Say which of these variables a model's key came from, or that none of them holds one."""
    if variable := find_variable(variables):
        return f"the key came from {variable}"
    explanation = f"no API key is set in {' or '.join(variables)}"
    # The key that most people have set, and expect to be read for any server of OpenAI's interface.
    if other := find_variable(set(read_key_variables()["openai"]) - set(variables)):
        explanation += f" ({other} is set, but not read for {model})"
    return explanation


_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn")


def needs_signature(api_base: str) -> bool:
    """Tell whether an address is Amazon's, where a request without a key has to be signed."""
    return (urlsplit(api_base).hostname or "").endswith(_DOMAINS)


def find_region(api_base: str) -> str:
    """Return the region in an address such as ``bedrock-runtime.eu-west-1.amazonaws.com``."""
    # An endpoint within a network (VPC) has a name of its own before that.
    return (urlsplit(api_base).hostname or "").rpartition("bedrock-runtime")[2].split(".")[1]


@dataclass
class RequestSigner:
    """Signs the requests to one address (AWS Signature Version 4)."""

    api_base: str
    profile: str | None = field(default_factory=lambda: os.environ.get("AWS_SSO_PROFILE_NAME"))
    """The profile of the credentials, by the official variable; None for that of the environment."""

    @cached_property
    def _credentials(self) -> object:
        """The credentials of the environment, of a profile or of the machine, looked up once."""
        # Imported late because it takes a fifth of a second, which other providers do not need.
        from botocore.session import Session

        return Session(profile=self.profile).get_credentials()

    def sign_headers(self, url: str, headers: Mapping[str, str], body: str) -> Mapping[str, str]:
        """Return the headers with the signature of a POST request. Raises ``CallError``.

        It may wait for files and servers with credentials, so it does not belong on an event loop.
        """
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        try:
            if not (credentials := self._credentials):
                raise CallError(
                    "authentication",
                    "no API key is set in AWS_BEARER_TOKEN_BEDROCK, and no AWS credentials were found; set "
                    "the key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in AWS_PROFILE",
                )
            request = AWSRequest("POST", url, headers=dict(headers), data=body.encode())
            SigV4Auth(credentials, "bedrock", find_region(self.api_base)).add_auth(request)
        except BotoCoreError as error:
            reason = f"the AWS credentials cannot be used: {error}; check AWS_PROFILE and the login"
            raise CallError("authentication", reason) from None
        return {str(name): str(value) for name, value in request.headers.items()}
