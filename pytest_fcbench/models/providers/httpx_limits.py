"""Limits on the replies that litellm's client library reads, and on the redirects that it follows.

httpx has neither: it reads any body whole, and sends a request with its headers again wherever a reply says.
litellm makes a client for each of its providers, so the limits are where all of them send.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.reply_bodies import ACCEPTED_ENCODINGS, choose_limits, decompress_parts

if TYPE_CHECKING:
    from types import ModuleType

# Of the httpx that litellm brings: it is no dependency of ours, whose types a checker could know.
_AsyncClient: TypeAlias = Any
_Request: TypeAlias = Any
_Response: TypeAlias = Any

_MOST_REDIRECTS = 3
# litellm makes objects of its own of each member, at ten microseconds and a hundred bytes and more.
_BYTES_OF_A_SIGN = 256
"""The bytes of the longest body for each sign of JSON that it may have: 32,768 in 8 MiB."""

_longest_body: ContextVar[int | None] = ContextVar("longest_body", default=None)
"""Bytes of a reply that may be read; None where the request is not ours."""


@contextmanager
def bound_replies(httpx: ModuleType, longest: int) -> Iterator[None]:
    """Bound the replies to requests that are sent within the block to this many bytes.

    A reply that is too long, and a redirect to another origin, raise ``CallError`` where they are met; what
    stands between wraps it in errors of its own.
    """
    _guard_client(httpx)
    token = _longest_body.set(longest)
    try:
        yield
    finally:
        _longest_body.reset(token)


def _guard_client(httpx: ModuleType) -> None:
    """Put the limits into ``AsyncClient.send``, once."""
    send = httpx.AsyncClient.send
    if hasattr(send, "__wrapped__"):
        return
    bounded_stream = _make_stream_class(httpx)

    @wraps(send)
    async def send_within_limits(
        client: _AsyncClient, request: _Request, *, stream: bool = False, **options: Any
    ) -> _Response:
        if (longest := _longest_body.get()) is None:
            return await send(client, request, stream=stream, **options)
        request.headers["Accept-Encoding"] = ACCEPTED_ENCODINGS
        options |= {"stream": True, "follow_redirects": False}
        response = await _follow_redirects(partial(send, client, **options), request)
        response.stream = bounded_stream(response, longest)
        try:
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response

    httpx.AsyncClient.send = send_within_limits


def _make_stream_class(httpx: ModuleType) -> Callable[[_Response, int], object]:
    class BoundedStream(httpx.AsyncByteStream):  # type: ignore[name-defined, misc]
        """The decompressed body of a reply, of a limited length."""

        def __init__(self, response: _Response, longest: int) -> None:
            self._parts = response.stream
            self._encoding = response.headers.pop("Content-Encoding", "")
            kind = response.headers.get("Content-Type", "")
            self._limits = choose_limits(kind, longest, _BYTES_OF_A_SIGN)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for part in decompress_parts(self._parts, self._encoding, self._limits):
                yield part

        async def aclose(self) -> None:
            """Close the reply."""
            await self._parts.aclose()

    return BoundedStream


async def _follow_redirects(send: Callable[[_Request], Awaitable[_Response]], request: _Request) -> _Response:
    """Send a request, and again where a redirect within the origin leads."""
    for _ in range(_MOST_REDIRECTS + 1):
        response = await send(request)
        if response.next_request is None:
            return response
        await response.aclose()
        target, source = response.next_request.url, request.url
        same_origin = (target.scheme, target.host, target.port) == (source.scheme, source.host, source.port)
        # Only 307 and 308 keep the method and the body of a request.
        if response.status_code not in (307, 308) or not same_origin:
            raise CallError(
                "redirect", f"the endpoint redirects to {target}; give that address if you trust it"
            )
        request = response.next_request
    raise CallError("redirect", f"the endpoint redirects more than {_MOST_REDIRECTS} times")
