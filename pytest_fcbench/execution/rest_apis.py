"""The web APIs that REST entries ask, and the equality of two requests to one of them.

Hosts and the places of their keys are those of BFCL's ``rest`` entries. Requests are equal whatever the order
of parameters and the notation of numbers, whether a parameter is left out or given as its documented default,
and whether a list is written with commas or as several parameters. Keys, other headers and the scheme do not
count.

A call is read as a request here, ``requests.get(url=..., params=...)`` as a model writes it. Nothing is sent,
and nothing is evaluated. Arguments have the meaning that they have to that function, but those that would
read a file of this machine (``cert``, a path as ``verify``), lead elsewhere (``proxies``), run code
(``hooks``) or send a body are refused. Certificates are always verified, and the time limit of a call is
ours.
"""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum, auto
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, unquote

from pytest_fcbench.codecs.call_evaluation import carry_out_call

Params: TypeAlias = tuple[tuple[str, str], ...]


class KeyPlace(StrEnum):
    """The place of a key in a request."""

    HEADER = auto()
    PARAM = auto()
    PATH = auto()


@dataclass(frozen=True, slots=True)
class Key:
    """The key by which an API identifies its users."""

    env: str
    """The environment variable of the key."""
    place: KeyPlace
    name: str
    """The name of the header or parameter; for a path a pattern with the parts around the key as groups."""


@dataclass(frozen=True, slots=True)
class WebApi:
    """The facts about a web API."""

    key: Key | None = None
    sets: Sequence[str] = ()
    """Parameters with several values in any order."""
    rows: Sequence[str] = ()
    """Parameters with several values whose order matters."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    plain: bool = False
    """True where it is asked over plain HTTP, as officially, even with a key."""
    pause_s: float = 0.0
    """Seconds to wait between two requests."""


def _read_apis() -> Iterator[tuple[str, WebApi]]:
    text = Path(__file__).with_name("rest_apis.toml").read_text(encoding="utf-8")
    for host, facts in tomllib.loads(text).items():
        if key := facts.get("key"):
            facts["key"] = Key(key["env"], KeyPlace(key["place"]), key["name"])
        yield host, WebApi(**facts)


APIS: Mapping[str, WebApi] = dict(_read_apis())
"""The APIs by host."""

NO_API = WebApi()


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A GET as an API sees it."""

    host: str
    path: str
    """The path as it is sent, with its percent signs."""
    params: Params = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""


def make_api_request(
    host: str, rest: str, params: Params = (), headers: Mapping[str, str] | None = None
) -> ApiRequest:
    """Return the request to a path and query, with further parameters behind those of the query."""
    path, _, query = rest.partition("?")
    lowercase_headers = {name.lower(): text for name, text in (headers or {}).items()}
    return ApiRequest(host, path, (*parse_qsl(query, keep_blank_values=True), *params), lowercase_headers)


def has_key(request: ApiRequest, api: WebApi) -> bool:
    """Tell whether a key, right or wrong, is given where the API wants one; True where it wants none."""
    match api.key:
        case None:
            return True
        case Key(place=KeyPlace.HEADER, name=name):
            return bool(request.headers.get(name))
        case Key(place=KeyPlace.PARAM, name=name):
            return any(param == name and value for param, value in request.params)
        case Key(name=pattern):
            return re.fullmatch(pattern, request.path) is not None


def replace_key(request: ApiRequest, api: WebApi, key: str) -> ApiRequest:
    """Return the request with this key in place of the one given; without one it stays as it is."""
    if api.key is None or not has_key(request, api):
        return request
    name = api.key.name
    match api.key.place:
        case KeyPlace.HEADER:
            return replace(request, headers={**request.headers, name: key})
        case KeyPlace.PARAM:
            params = ((param, key if param == name else value) for param, value in request.params)
            return replace(request, params=tuple(params))
        case KeyPlace.PATH:
            # A key is data: a slash in it must not become a part of the path.
            safe = quote(key, safe="")
            path = re.sub(name, lambda found: f"{found[1]}{safe}{found[2]}", request.path)
            return replace(request, path=path)


def identify_request(request: ApiRequest, api: WebApi) -> str:
    """Return a text that equal requests have in common. It contains no key."""
    # The answer does not depend on the owner of the key, and a recording must not contain one.
    if api.key and api.key.place is KeyPlace.PARAM:
        keyless_params = tuple(pair for pair in request.params if pair[0] != api.key.name)
        request = replace(request, params=keyless_params)
    else:
        request = replace_key(request, api, "key")
    values: dict[str, list[str]] = {}
    for name, value in request.params:
        several = name in api.sets or name in api.rows
        values.setdefault(name, []).extend(map(_normalise_value, value.split(",") if several else [value]))
    params = [
        (name, sorted(texts) if name in api.sets else texts)
        for name, texts in values.items()
        if name not in api.defaults or texts != [_normalise_value(api.defaults[name])]
    ]
    path = unquote(request.path).rstrip("/") or "/"
    return json.dumps([request.host, path, sorted(params)], ensure_ascii=True)


_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?")


def _normalise_value(value: str) -> str:
    """Convert a number to one notation, and strip any other text."""
    text = value.strip()
    return f"{Decimal(text).normalize() + 0}" if _NUMBER.fullmatch(text) else text


FUNCTION = "requests.get"
"""The one function of REST entries."""
LONGEST_CALL = 1_000_000
"""The limit of a call's length in characters."""


@dataclass(frozen=True, slots=True)
class Request:
    """A GET to be sent, not yet checked against the rules of ``web``."""

    url: str
    params: Params = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    follow: bool = True
    """True where redirects are followed."""


class NoRequestError(Exception):
    """The text is not a call that can be sent; the message says why."""


def read_request(call: str) -> Request:
    """Read the request of a call. Raises ``NoRequestError``.

    ``requests_get`` is the same function, because some interfaces refuse the dot; officially it is replaced
    everywhere in the call.
    """
    try:
        if len(call) > LONGEST_CALL:
            raise ValueError(f"the call has more than {LONGEST_CALL:,} characters")
        # Replaced everywhere in the text, as officially, also inside a URL.
        request = carry_out_call(call.replace("requests_get", FUNCTION), {FUNCTION: _make_request})
    except Exception as error:  # noqa: BLE001 - a model's text can make anything go wrong
        raise NoRequestError(f"{type(error).__name__}: {error}"[:500]) from None
    assert isinstance(request, Request)
    return request


def _make_request(
    url: object,
    params: object = None,
    *,
    headers: object = None,
    cookies: object = None,
    auth: object = None,
    timeout: object = None,
    allow_redirects: object = True,
    proxies: object = None,
    verify: object = True,
    stream: object = False,
    **others: object,
) -> Request:
    """Return the request that ``requests.get`` would send. Raises TypeError and ValueError."""
    if not isinstance(url, str):
        raise TypeError(f"the url is {type(url).__name__}, not text")
    for name, value in others.items():
        if name not in ("cert", "data", "files", "hooks", "json"):
            raise TypeError(f"there is no argument {name!r}")
        if value:
            raise ValueError(f"{name} is not taken here")
    # verify=False is taken and ignored: certificates are always checked.
    if not isinstance(verify, bool) and verify is not None:
        raise ValueError("verify must not name a file of this machine")
    # Proxies without a value do nothing in requests either.
    if proxies and (not isinstance(proxies, Mapping) or any(proxies.values())):
        raise ValueError("proxies are not taken here")
    # A pair is the limit of the connection and that of the reply.
    for part in timeout if isinstance(timeout, tuple) and len(timeout) == 2 else (timeout,):
        if part is not None and (isinstance(part, bool) or not isinstance(part, (int, float)) or part <= 0):
            raise ValueError(f"a timeout is a number of seconds above 0, not {timeout!r:.80}")
    sent_headers = dict(_read_texts("headers", headers))
    if crumbs := "; ".join(f"{name}={value}" for name, value in _read_texts("cookies", cookies)):
        sent_headers.setdefault("Cookie", crumbs)
    if auth:
        if not (isinstance(auth, tuple) and len(auth) == 2 and all(isinstance(part, str) for part in auth)):
            raise TypeError(f"auth is a tuple of user name and password, not {auth!r:.80}")
        sent_headers["Authorization"] = f"Basic {b64encode(':'.join(auth).encode('latin-1')).decode()}"
    return Request(url, tuple(_read_params(params)), sent_headers, bool(allow_redirects))


def _read_texts(what: str, value: object) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} are {type(value).__name__}, not a dict")
    for name, text in value.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(f"{what} are texts, not {name!r:.80}: {text!r:.80}")
        yield name, text


def _read_params(params: object) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a query: several values of a name one by one, None left out."""
    if not params:
        return
    if not isinstance(params, (Mapping, list, tuple)):
        raise TypeError(f"params are {type(params).__name__}, not a dict")
    for pair in params.items() if isinstance(params, Mapping) else params:
        match pair:
            case [name, value]:
                for one in value if isinstance(value, (list, tuple, set, dict)) else (value,):
                    if one is not None:
                        yield str(name), str(one)
            case _:
                raise ValueError("params are a dict or a list of pairs")
