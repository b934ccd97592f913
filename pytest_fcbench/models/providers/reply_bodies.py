"""Bodies of replies within limits: in bytes on the wire and decompressed, and as JSON values.

A server that is broken or hostile can send without end, and a few kilobytes that are compressed, or that are
brackets of JSON, can take gigabytes of memory. httpx, litellm's client library, has no such limit, and sends
a request with its headers again wherever a reply says. litellm makes a client for each of its providers, so
the limits are put where all of them send.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from operator import methodcaller
from tempfile import SpooledTemporaryFile
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.text import read_reply_text

MIB = 2**20
LONGEST_BODY = 8 * MIB
"""Bytes of a body, where nobody asks for more."""
ACCEPTED_ENCODINGS = "gzip, deflate"
"""The compressions that a request may ask for. Python's readers of others cannot stop after some bytes."""

# An event of a stream has hundreds of bytes for the few letters that it adds.
_OF_A_STREAM = 4
"""How many times as long a stream of events may be."""

_PART = 2**16
_IN_MEMORY = 2**18
"""Bytes of a body from which on it is kept on disk while it comes: many may come at the same time."""

_SIGNS = (b"[", b"{", b",")
"""The signs of JSON's lists, objects and members."""
# A list or an object takes 64 bytes or more for two signs.
BYTES_OF_A_SIGN = 16
"""The bytes of the longest body for each sign that it may have: half a million in 8 MiB."""


def count_signs(text: bytes) -> int:
    """Count the signs of JSON's lists, objects and members."""
    return sum(map(text.count, _SIGNS))


def is_event_stream(content_type: str) -> bool:
    """Tell whether a reply of this content type is a stream of events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


async def read_body(parts: AsyncIterable[bytes], headers: Mapping[str, str], longest: int) -> bytes:
    """Return a whole body, decompressed; one of JSON may have ``longest`` bytes. Raises ``CallError``."""
    with SpooledTemporaryFile(_IN_MEMORY) as read:
        async for part in decompress_parts(parts, headers, longest):
            read.write(part)
        read.seek(0)
        return read.read()


async def decompress_parts(
    parts: AsyncIterable[bytes],
    headers: Mapping[str, str],
    longest: int,
    bytes_of_a_sign: int = BYTES_OF_A_SIGN,
) -> AsyncIterator[bytes]:
    """Yield the parts of a body, decompressed, each of a limited size.

    Raises ``CallError`` before more than the limits allow has come, compressed or not.
    """
    most_signs = longest // bytes_of_a_sign
    if is_event_stream(headers.get("Content-Type", "")):
        # The signs of a stream are counted event by event.
        longest = most_signs = longest * _OF_A_STREAM
    match headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            decompress = None
        case "gzip" | "x-gzip" | "deflate":
            decompress = _Decompressor()
        case other:
            raise CallError("garbled", f"the reply is compressed as {other:.50}, which was not asked for")
    # Compressed bytes count too: blocks without content can go on for ever.
    compressed_length = length = signs = 0
    async for part in parts:
        compressed_length += len(part)
        for piece in decompress.decompress(part) if decompress else (part,):
            length += len(piece)
            signs += count_signs(piece)
            if signs > most_signs:
                excess = f"more than {most_signs:,} lists, objects and members"
                raise CallError("too_large", f"the reply has {excess}; {_WAY_OUT}")
            if max(length, compressed_length) > longest:
                raise _make_too_long_error(longest)
            yield piece
        if compressed_length > longest:
            raise _make_too_long_error(longest)
    if decompress and not decompress.is_complete:
        raise CallError("garbled", "the compressed reply ends too early", transient=True)


# What is too large would come again, so nothing is asked again.
_WAY_OUT = "--fcbench-max-body=N reads larger ones"


def _make_too_long_error(longest: int) -> CallError:
    return CallError("too_large", f"the reply has more than {longest / MIB:g} MiB; {_WAY_OUT}")


@dataclass
class _Decompressor:
    """Decompresses gzip and both forms of deflate that servers send, piece by piece."""

    _inflate: zlib._Decompress | None = None

    @property
    def is_complete(self) -> bool:
        """True where nothing is missing at the end."""
        return self._inflate is None or self._inflate.eof

    def decompress(self, data: bytes) -> Iterator[bytes]:
        """Yield what these bytes hold in pieces of a limited size. Raises ``CallError``."""
        if self._inflate is None and data:
            # RFC 9110, 8.4.1.2: deflate is a zlib stream, but some servers send it bare. 32 means gzip too.
            is_bare = data[0] & 0x0F != 8 and data[0] != 0x1F
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS if is_bare else zlib.MAX_WBITS | 32)
        piece = b""
        while self._inflate and not self._inflate.eof and (data or len(piece) == _PART):
            try:
                piece = self._inflate.decompress(data, _PART)
            except zlib.error as error:
                reason = f"the reply cannot be decompressed: {error}"
                raise CallError("garbled", reason, transient=True) from None
            data = self._inflate.unconsumed_tail
            if piece:
                yield piece


_REPLY = "the reply"
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,1000}?-->\s*)?<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of a web page."""


_MOST_OTHERS = 16 * MIB
"""Bytes of memory for the members of a streamed message that are no answer."""
_MOST_PARTS = 300_000
"""Choices and pieces of calls in the events of a stream, of which an event has about one each."""


@dataclass
class StreamRoom:
    """What is left of the memory and the time for an answer that comes as a stream of events."""

    characters: int = LONGEST_BODY
    """Characters of the answer: as many as a reply that comes whole can have."""
    other_bytes: int = _MOST_OTHERS
    """Bytes of members that only later requests repeat."""
    parts: int = _MOST_PARTS

    def take_part(self) -> None:
        """Count a part of the answer. Raises ``CallError`` for one too many."""
        self.parts -= 1
        if self.parts < 0:
            raise CallError("too_large", f"the answer comes in more than {_MOST_PARTS:,} parts")

    def take_text(self, text: str) -> str:
        """Return a piece of the answer as far as there is room for it."""
        piece = text[: self.characters]
        self.characters -= len(piece)
        return piece

    def takes(self, value: object) -> bool:
        """Tell whether there is room for a JSON value, and take it."""
        waiting = [value] if self.other_bytes > 0 else []
        while waiting:
            part = waiting.pop()
            self.other_bytes -= sys.getsizeof(part)
            if isinstance(part, dict):
                waiting += [*part, *part.values()]
            elif isinstance(part, list):
                waiting += part
        return self.other_bytes > 0


def parse_json(body: bytes | str, what: str = _REPLY, content_type: str = "") -> object:
    """Read a JSON value, which errors call ``what``; what is nested too deeply in it is left out.

    Raises ``CallError`` for text that is none.
    """
    try:
        return read_reply_text(body)
    except ValueError:
        body = body.encode() if isinstance(body, str) else body
        beginning = f"{body[:200]!r}"
        if what == _REPLY and (_PAGE.match(body) or content_type.strip().lower().startswith("text/html")):
            reason = f"the reply is a web page, not that of an API, so the address may be wrong: {beginning}"
            raise CallError("web_page", reason, transient=True) from None
        raise CallError("garbled", f"{what} is not JSON: {beginning}", transient=True) from None


class ReportedError(CallError):
    """An error that a reply with status 200 reports; ``status`` and ``body`` are those of an honest reply."""

    def __init__(self, note: ProtocolNote, error: object) -> None:
        super().__init__(note, f"{note.meaning} It is {error!r:.200}", transient=True)
        code = str(error.get("code")) if isinstance(error, Mapping) else ""
        self.status = int(code) if re.fullmatch("[45][0-9][0-9]", code) else 500
        self.body = json.dumps({"error": error}).encode()


def find_usage(value: Mapping[str, object]) -> object:
    """Return the usage that the object of an event states, in any form; None for none."""
    if usage := value.get("usage"):
        return usage
    choices = value.get("choices")
    # Groq has a member of its own, Moonshot states it in the choice.
    for holder in (value.get("x_groq"), choices[0] if isinstance(choices, list) and choices else None):
        if isinstance(holder, dict) and (usage := holder.get("usage")):
            return usage
    return None


def find_error(value: Mapping[str, object]) -> object:
    """Return the error that the object of a reply or of an event reports, in any form; None for none."""
    groq, minimax, choices = value.get("x_groq"), value.get("base_resp"), value.get("choices")
    # OpenRouter's stands in the choice.
    holders = (value, groq, choices[0] if isinstance(choices, list) and choices else None)
    for holder in holders:
        if isinstance(holder, dict) and (error := holder.get("error") or holder.get("errors")):
            return error
    # Old vLLM sends a flat object.
    is_error = "error" in (value.get("object"), value.get("type"))
    is_error |= isinstance(minimax, dict) and minimax.get("status_code") not in (0, None)
    # Baidu; Bedrock, by the name of the member.
    is_error |= bool(value.get("error_code")) or any(map(_is_exception, value))
    if not choices and value.get("code") not in _GOOD_CODES:
        # FastAPI sends a detail.
        is_error |= isinstance(value.get("message"), str) or bool(value.get("detail"))
        is_error |= value.get("success") is False
    return value if is_error else None


_is_exception = methodcaller("endswith", "Exception")
_GOOD_CODES = (0, "0", 200, "200")


# ``Any`` stands for types of httpx, which litellm brings and whose types need not be installed.
MOST_REDIRECTS = 3
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
    async def send_within_limits(client: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
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


def _make_stream_class(httpx: ModuleType) -> Callable[[Any, int], object]:
    class BoundedStream(httpx.AsyncByteStream):  # type: ignore[name-defined, misc]
        """The decompressed body of a reply, of a limited length."""

        def __init__(self, response: Any, longest: int) -> None:
            self._stream, headers = response.stream, response.headers.copy()
            # Or httpx would decompress it once more.
            response.headers.pop("Content-Encoding", None)
            self._parts = decompress_parts(self._stream, headers, longest, _BYTES_OF_A_SIGN)

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._parts

        async def aclose(self) -> None:
            """Close the reply."""
            await self._stream.aclose()

    return BoundedStream


def check_redirect(status: int, url: str, target: str) -> None:
    """Raise ``CallError`` for a redirect to another origin, or one that loses what was sent."""
    # Only 307 and 308 keep the method and the body of a request.
    if status not in (307, 308) or urlsplit(target)[:2] != urlsplit(url)[:2]:
        raise CallError("redirect", f"the endpoint redirects to {target}; give that address if you trust it")


async def _follow_redirects(send: Callable[[Any], Awaitable[Any]], request: Any) -> Any:
    """Send a request, and again where a redirect within the origin leads."""
    for _ in range(MOST_REDIRECTS + 1):
        response = await send(request)
        if response.next_request is None:
            return response
        await response.aclose()
        check_redirect(response.status_code, str(request.url), str(response.next_request.url))
        request = response.next_request
    raise CallError("redirect", f"the endpoint redirects more than {MOST_REDIRECTS} times")
