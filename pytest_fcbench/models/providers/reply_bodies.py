"""Bodies of replies within limits: in bytes on the wire and decompressed, and as JSON values.

A server that is broken or hostile can send without end, and a few kilobytes that are compressed, or that are
brackets of JSON, can take gigabytes of memory.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from pytest_fcbench.domain.errors import CallError

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
_BYTES_OF_A_SIGN = 16
"""The bytes of the longest body for each sign that it may have: half a million in 8 MiB."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The most bytes of a body, on the wire and decompressed, and the most signs of JSON in it."""

    longest: int
    most_signs: int


def is_event_stream(content_type: str) -> bool:
    """Tell whether a reply of this content type is a stream of events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


def choose_limits(content_type: str, longest: int, bytes_of_a_sign: int = _BYTES_OF_A_SIGN) -> BodyLimits:
    """Return the limits of a body of this content type, where one of JSON may have ``longest`` bytes."""
    # Each event of a stream is read by itself.
    if is_event_stream(content_type):
        return BodyLimits(longest * _OF_A_STREAM, longest * _OF_A_STREAM)
    return BodyLimits(longest, longest // bytes_of_a_sign)


async def read_body(parts: AsyncIterable[bytes], encoding: str, limits: BodyLimits) -> bytes:
    """Return a whole body, decompressed. Raises ``CallError``."""
    with SpooledTemporaryFile(_IN_MEMORY) as read:
        async for part in decompress_parts(parts, encoding, limits):
            read.write(part)
        read.seek(0)
        return read.read()


async def decompress_parts(
    parts: AsyncIterable[bytes], encoding: str, limits: BodyLimits
) -> AsyncIterator[bytes]:
    """Yield the parts of a body, decompressed, each of a limited size.

    Raises ``CallError`` before more than the limits allow has come, compressed or not.
    """
    match encoding.strip().lower():
        case "" | "identity":
            decompress = None
        case "gzip" | "x-gzip" | "deflate":
            decompress = _Decompressor()
        case other:
            raise CallError("garbled", f"the reply is compressed as {other:.50}, which was not asked for")
    # Compressed bytes count too: blocks without content can go on for ever.
    compressed = length = signs = 0
    async for part in parts:
        compressed += len(part)
        for piece in decompress.decompress(part) if decompress else (part,):
            length += len(piece)
            signs += sum(map(piece.count, _SIGNS))
            if signs > limits.most_signs:
                told = f"more than {limits.most_signs:,} lists, objects and members"
                raise CallError("too_large", f"the reply has {told}; {_WAY_OUT}")
            if max(length, compressed) > limits.longest:
                raise _make_too_long_error(limits.longest)
            yield piece
        if compressed > limits.longest:
            raise _make_too_long_error(limits.longest)
    if decompress and not decompress.is_complete:
        raise CallError("garbled", "the compressed reply ends too early", transient=True)


# What is too large would come again, so nothing is asked again.
_WAY_OUT = "--fcbench-max-body=N reads larger ones"


def _make_too_long_error(longest: int) -> CallError:
    return CallError("too_large", f"the reply has more than {longest / MIB:g} MiB; {_WAY_OUT}")


class _Decompressor:
    """Decompresses gzip and both forms of deflate that servers send, piece by piece."""

    def __init__(self) -> None:
        self._inflate: zlib._Decompress | None = None

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
                raise CallError(
                    "garbled", f"the reply cannot be decompressed: {error}", transient=True
                ) from None
            data = self._inflate.unconsumed_tail
            if piece:
                yield piece


def parse_json(body: bytes, what: str = "the reply") -> object:
    """Read a JSON value, which errors call ``what``.

    Raises ``CallError`` for text that is none.
    """
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        raise CallError("garbled", f"{what} is not JSON: {body[:200]!r}", transient=True) from None
    return value
