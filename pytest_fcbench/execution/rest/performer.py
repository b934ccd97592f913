"""Performance of REST calls: from the text of a call to the answer of a web API.

Where answers are recorded, a server on loopback takes the place of every host; in a live run the APIs
themselves are asked, and the server replaces only the services of ``core``. It is asked by real HTTP, by each
host's name. A request without a recorded answer gets a reply that says so (``NOT_RECORDED``), and one without
the key that an API wants is refused (401), as by the API.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

from pytest_fcbench.execution.outcomes import Raised, Response
from pytest_fcbench.execution.rest.apis import APIS, ApiRequest, has_key, identify_request, make_api_request
from pytest_fcbench.execution.rest.request import NoRequestError, Request, read_request
from pytest_fcbench.execution.rest.sender import NOT_RECORDED, Keep, Sender
from pytest_fcbench.execution.rest.services import SERVICES
from pytest_fcbench.web.addresses import Refused, parse_url
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
