"""Performance of REST calls: from the text of a call to the answer of a web API.

Where answers are recorded, a server on loopback takes the place of every host; in a live run the APIs
themselves are asked, and the server replaces only the services of ``core``. It is asked by real HTTP, by each
host's name. A request without a recorded answer gets a reply that says so (``NOT_RECORDED``), and one without
the key that an API wants is refused (401), as by the API.

A key from the environment replaces any text in the place where an API wants its key. It goes to that host
only, and is removed from its answer.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Protocol
from urllib.parse import quote

from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.execution.outcomes import Raised, Responded, Response, Unanswered, Unreached
from pytest_fcbench.execution.rest_apis import (
    APIS,
    ApiRequest,
    NoRequestError,
    Request,
    WebApi,
    has_key,
    identify_request,
    make_api_request,
    read_request,
    replace_key,
)
from pytest_fcbench.execution.rest_services import SERVICES
from pytest_fcbench.web.addresses import Refused, parse_url
from pytest_fcbench.web.client import Bounds, Client, Unreachable, WebReply
from pytest_fcbench.web.loopback_server import LoopbackReply, LoopbackServer

_ALL = {**APIS, **{host: service.api for host, service in SERVICES.items()}}


class Performer:
    """A sender of requests to the hosts of ``apis`` and ``services`` only (an ``outcomes.Perform``).

    ``expected`` are calls, each with the recorded answer that is served; ``instead`` is passed to ``Sender``.
    """

    def __init__(
        self,
        expected: Iterable[tuple[str, str]] = (),
        *,
        live: bool = False,
        keep: Keep | None = None,
        instead: Mapping[str, int] | None = None,
    ) -> None:
        self._live = live
        self._keep = keep
        self._instead = instead
        self._recorded = collect_recordings(expected)
        self._player: LoopbackServer | None = None

    def __call__(self, call: str) -> Response:
        """Send the request of a call and return the response."""
        try:
            request, api_request, scheme = read_api_request(call)
        except (NoRequestError, Refused) as error:
            return Raised(str(error))
        return self._sender.send(api_request, scheme, follow=request.follow)

    @cached_property
    def _sender(self) -> Sender:
        self._player = LoopbackServer(self._answer)
        # Services of core exist nowhere else, so this server stands in for them in a live run too.
        ports = dict.fromkeys(SERVICES if self._live else _ALL, self._player.port)
        return Sender(_ALL, played=ports, instead=self._instead, keep=self._keep)

    def _answer(self, host: str, target: str, headers: Mapping[str, str]) -> LoopbackReply:
        """Answer a request to a service or to an API whose answer is recorded."""
        request = make_api_request(host, target, headers=headers)
        if service := SERVICES.get(host):
            # The real APIs refuse such a call, and a model's call is judged by the reply that it gets.
            if not has_key(request, service.api):
                return _make_reply(401, '{"error": "the key is missing"}')
            status, reply = service.answer(request.path, dict(request.params))
            return _make_reply(status, json.dumps(reply, ensure_ascii=False))
        body = None
        if api := APIS.get(host):
            if not has_key(request, api):
                return _make_reply(401, '{"message": "the API key is missing"}')
            body = self._recorded.get(identify_request(request, api))
        return _make_reply(404, "{}", {NOT_RECORDED: "1"}) if body is None else _make_reply(200, body)

    def close(self) -> None:
        """Stop the server, if it was started."""
        if self._player:
            self._player.close()
        self._player = None
        self.__dict__.pop("_sender", None)


def read_api_request(call: str) -> tuple[Request, ApiRequest, str]:
    """Return the request of a call, its form for the API, and its scheme.

    Raises ``NoRequestError`` and ``Refused``.
    """
    request = read_request(call)
    target = parse_url(request.url)
    return request, make_api_request(target.host, target.rest, request.params, request.headers), target.scheme


def collect_recordings(recordings: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Collect the recorded answers to calls by request; of several to one request the first."""
    answers: dict[str, str] = {}
    for call, answer in recordings:
        _, request, _ = read_api_request(call)
        answers.setdefault(identify_request(request, _ALL[request.host]), answer)
    return answers


def _make_reply(status: int, body: str, headers: Mapping[str, str] = MappingProxyType({})) -> LoopbackReply:
    return LoopbackReply(
        status, "application/json; charset=utf-8", body.encode("utf-8", "backslashreplace"), headers
    )


NOT_RECORDED = "X-Fcbench-Not-Recorded"
"""The header of a reply, by a server of this run, to a request without a recorded answer."""


class Keep(Protocol):
    """A store of answers of web APIs, as texts under keys."""

    @property
    def offline(self) -> bool:
        """True where only stored answers may be used."""

    def get(self, key: str) -> str | None:
        """Return the text under a key, or None."""

    def put(self, key: str, host: str, text: str) -> None:
        """Keep a text."""


class Sender:
    """A sender of requests to the hosts of ``apis`` and to no others.

    Servers of this run, by their ports, take the place of hosts: those of ``played`` need no key, those of
    ``instead`` are asked exactly like the real ones.
    """

    def __init__(
        self,
        apis: Mapping[str, WebApi],
        *,
        played: Mapping[str, int] | None = None,
        instead: Mapping[str, int] | None = None,
        keep: Keep | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._apis = apis
        self._played = played or {}
        self._keep = keep
        self._pause = pause
        self._asked_at: dict[str, float] = {}
        local = {**self._played, **(instead or {})}
        bounds = Bounds(hosts=frozenset(apis))
        self._clients = {
            follow: Client(bounds if follow else replace(bounds, redirects=0), local, pause=pause)
            for follow in (True, False)
        }

    def send(self, wanted: ApiRequest, scheme: str = "https", *, follow: bool = True) -> Response:
        """Send a request, or return its stored answer."""
        api = self._apis.get(wanted.host)
        if api is None:
            return Raised(f"{wanted.host} is not among the hosts that may be asked")
        # Servers of this run need no key, and their answers need not be kept.
        if wanted.host in self._played:
            return self._request(wanted, api, scheme, follow, "")
        # Without a key, or without following redirects, the same request gets another answer.
        key = json.dumps([identify_request(wanted, api), has_key(wanted, api), scheme, follow])
        if self._keep and (stored_answer := self._keep.get(key)):
            status, body = read_json_text(stored_answer)
            return Responded(identify_request(wanted, api), wanted.host, status, body)
        if self._keep and self._keep.offline:
            return Unanswered(wanted.host, "its answer is not kept, and nothing is asked")
        secret = ""
        if api.key and has_key(wanted, api):
            secret = os.environ.get(api.key.env, "").strip()
            if not secret:
                reason = f"no key for it is in the environment variable {api.key.env}"
                return Unanswered(wanted.host, reason)
            # A model may have written http. A key goes in the clear only to an API officially asked so.
            scheme = scheme if api.plain else "https"
        left_s = self._asked_at.get(wanted.host, 0.0) + api.pause_s - time.monotonic()
        if wanted.host in self._asked_at and left_s > 0:
            self._pause(left_s)
        self._asked_at[wanted.host] = time.monotonic()
        response = self._request(replace_key(wanted, api, secret), api, scheme, follow, secret)
        # Errors are not kept: another day the API may answer.
        if self._keep and isinstance(response, Responded) and response.status < 400:
            self._keep.put(key, wanted.host, json.dumps([response.status, response.body]))
        return response

    def _request(self, wanted: ApiRequest, api: WebApi, scheme: str, follow: bool, secret: str) -> Response:
        url = f"{scheme}://{wanted.host}{wanted.path}"
        try:
            reply: WebReply = self._clients[follow].get(url, wanted.params, wanted.headers)
        except Refused as error:
            return Raised(_hide(str(error), secret))
        except Unreachable as error:
            return Unreached(_hide(str(error), secret))
        if NOT_RECORDED in reply.headers:
            return Unanswered(wanted.host)
        body = _hide(reply.body.decode("utf-8", "replace"), secret)
        return Responded(identify_request(wanted, api), wanted.host, reply.status, body)


def _hide(text: str, secret: str) -> str:
    """Replace a key in a text, also in its form in a URL."""
    # An API may repeat the URL of the request, and answers are shown and stored.
    for form in (secret, quote(secret, safe="")) if secret else ():
        text = text.replace(form, "***")
    return text


def is_server_fault(status: int) -> bool:
    """Tell whether a status means that the same request may be answered another time."""
    return status == 429 or status >= 500
