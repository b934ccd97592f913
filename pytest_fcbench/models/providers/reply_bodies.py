"""Bodies of replies within limits: in bytes on the wire and decompressed, and as JSON values.

A server that is broken or hostile can send without end, and a few kilobytes that are compressed, or that are
brackets of JSON, can take gigabytes of memory.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator
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

# A list or an object of JSON takes 64 bytes or more for two signs.
_MOST_SIGNS = 500_000
"""Lists, objects and members of a JSON value."""


def is_event_stream(content_type: str) -> bool:
    """Tell whether a reply of this content type is a stream of events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


async def read_body(parts: AsyncIterable[bytes], encoding: str, longest: int) -> bytes:
    """Return a whole body, decompressed, of at most ``longest`` bytes. Raises ``CallError``."""
    with SpooledTemporaryFile(_IN_MEMORY) as read:
        async for part in decompress_parts(parts, encoding, longest):
            read.write(part)
        read.seek(0)
        return read.read()


async def decompress_parts(parts: AsyncIterable[bytes], encoding: str, longest: int) -> AsyncIterator[bytes]:
    """Yield the parts of a body, decompressed, each of a limited size.

    Raises ``CallError`` before more than ``longest`` bytes have come, compressed or not.
    """
    match encoding.strip().lower():
        case "" | "identity":
            decompress = None
        case "gzip" | "x-gzip" | "deflate":
            decompress = _Decompressor()
        case other:
            raise CallError("garbled", f"the reply is compressed as {other:.50}, which was not asked for")
    # Compressed bytes count too: blocks without content can go on for ever.
    compressed = length = 0
    async for part in parts:
        compressed += len(part)
        for piece in decompress.decompress(part) if decompress else (part,):
            length += len(piece)
            if max(length, compressed) > longest:
                raise make_too_long_error(longest)
            yield piece
        if compressed > longest:
            raise make_too_long_error(longest)
    if decompress and not decompress.is_complete:
        raise CallError("garbled", "the compressed reply ends too early", transient=True)


def make_too_long_error(longest: int) -> CallError:
    """Return the error of a body that is too long. It would come again, so nothing is asked again."""
    return CallError(
        "too_large", f"the reply has more than {longest / MIB:g} MiB; --fcbench-max-body=N reads longer ones"
    )


def find_longest(content_type: str, longest: int) -> int:
    """Return the most bytes of a body of this content type, of which others may have ``longest``."""
    return longest * _OF_A_STREAM if is_event_stream(content_type) else longest


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

    Raises ``CallError`` for text that is none, and for one of so many parts that it would take much memory.
    """
    if (signs := sum(map(body.count, (b"[", b"{", b",")))) > _MOST_SIGNS:
        raise CallError("too_large", f"{what} has {signs:,} lists, objects and members, which is too many")
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        raise CallError("garbled", f"{what} is not JSON: {body[:200]!r}", transient=True) from None
    return value
