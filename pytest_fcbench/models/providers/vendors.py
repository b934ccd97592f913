"""Where official families are asked: the address of each and the environment variables of its key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.models.providers.key_variables import find_variable, read_key_variables


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
        return next((value for name in self.bases if (value := os.environ.get(name))), self.base)


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
    if version and not last.startswith("v"):
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
