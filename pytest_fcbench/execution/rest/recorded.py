"""A server on loopback in the place of web APIs: it plays what they answered, and the services of ``core``.

It is asked by real HTTP, by each host's name. A request for which nobody recorded an answer gets one by which
that is known (``NOT_RECORDED``); one without the key that an API wants is turned away (401), as by the API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_fcbench.execution.rest.apis import APIS, Asked, asked, has_key, identity
from pytest_fcbench.execution.rest.sender import NOT_RECORDED
from pytest_fcbench.execution.rest.services import SERVICES
from pytest_fcbench.web.loopback_server import LoopbackServer, Reply

_JSON = "application/json; charset=utf-8"


def played(request: Asked, recorded: Mapping[str, str]) -> Reply:
    """The answer to a request; ``recorded`` has those of web APIs by ``apis.identity``."""
    if service := SERVICES.get(request.host):
        if not has_key(request, service.api):
            return _reply(401, '{"error": "the key is missing"}')
        status, reply = service.answer(request.path, dict(request.params))
        return _reply(status, json.dumps(reply, ensure_ascii=False))
    api = APIS.get(request.host)
    if api is None:
        return _not_recorded()
    if not has_key(request, api):
        return _reply(401, '{"message": "the API key is missing"}')
    body = recorded.get(identity(request, api))
    return _not_recorded() if body is None else _reply(200, body)


def _reply(status: int, body: str) -> Reply:
    return Reply(status, _JSON, body.encode("utf-8", "backslashreplace"))


def _not_recorded() -> Reply:
    return Reply(404, _JSON, b"{}", {NOT_RECORDED: "1"})


def player(recorded: Mapping[str, str]) -> LoopbackServer:
    """The server."""
    return LoopbackServer(
        lambda host, target, headers: played(asked(host, target, headers=headers), recorded)
    )
