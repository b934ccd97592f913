"""From a call as a model writes it to what a web API answers.

Where answers are recorded, a server on loopback plays every host; in a live run the APIs themselves are
asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from pytest_fcbench.domain.entry import ExpectedResponse
from pytest_fcbench.execution.outcomes import Raised, Response
from pytest_fcbench.execution.rest.apis import APIS, Asked, asked, identity
from pytest_fcbench.execution.rest.recorded import player
from pytest_fcbench.execution.rest.request import NoRequestError, Request, read
from pytest_fcbench.execution.rest.sender import Keep, Sender
from pytest_fcbench.execution.rest.services import SERVICES
from pytest_fcbench.web.addresses import Refused, checked
from pytest_fcbench.web.loopback_server import LoopbackServer

_ALL = {**APIS, **{host: service.api for host, service in SERVICES.items()}}


class Performer:
    """Sends requests to the hosts of ``apis`` and ``services`` only (an ``outcomes.Perform``).

    ``expected`` are the truths whose recorded answers are played; ``instead`` is that of ``Sender``.
    """

    def __init__(
        self,
        expected: Iterable[ExpectedResponse] = (),
        *,
        live: bool = False,
        keep: Keep | None = None,
        instead: Mapping[str, int] | None = None,
    ) -> None:
        self._live = live
        self._keep = keep
        self._instead = instead
        self._recorded = recordings(expected)

    def __call__(self, call: str) -> Response:
        """What became of a call."""
        try:
            request, wanted, scheme = wanted_by(call)
        except (NoRequestError, Refused) as error:
            return Raised(str(error))
        return self._sender.send(wanted, scheme, follow=request.follow)

    @cached_property
    def _player(self) -> LoopbackServer:
        return player(self._recorded)

    @cached_property
    def _sender(self) -> Sender:
        played = dict.fromkeys(SERVICES if self._live else _ALL, self._player.port)
        return Sender(_ALL, played=played, instead=self._instead, keep=self._keep)

    def close(self) -> None:
        """Stop the server, where it was begun."""
        if begun := self.__dict__.pop("_player", None):
            begun.close()
        self.__dict__.pop("_sender", None)


def wanted_by(call: str) -> tuple[Request, Asked, str]:
    """The request of a call, as an API sees it, and its scheme. Raises ``NoRequestError`` and ``Refused``."""
    request = read(call)
    target = checked(request.url)
    return request, asked(target.host, target.rest, request.params, request.headers), target.scheme


def recordings(expected: Iterable[ExpectedResponse]) -> Mapping[str, str]:
    """The recorded answers of truths, by ``apis.identity``; of several to one request the first."""
    found: dict[str, str] = {}
    for truth in expected:
        if truth.recorded is not None:
            _, wanted, _ = wanted_by(truth.call)
            found.setdefault(identity(wanted, _ALL[wanted.host]), truth.recorded)
    return found
