"""An HTTP client for GET that reaches public hosts only and is limited in size and time.

The name of a host is resolved once for each request, every address is checked, and the connection is made to
a checked address: the name service is never asked twice, so a host cannot move into a private network between
two answers. Each redirect is a request of its own under the same rules. Proxies, ``.netrc`` and certificates
named in the environment are ignored. Loopback is connected to only where a server of this run listens
(``local``).

All URLs that a model or an entry names are fetched through this client. Endpoints that the user names are
asked by litellm or ``models.providers.http``, and datasets on the hub by ``suites.packs.hub``, which writes
large files piece by piece.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlencode, urljoin

from pytest_fcbench.web.addresses import (
    LONGEST_URL,
    Address,
    Refused,
    Target,
    all_public,
    is_sendable,
    parse_url,
)

if TYPE_CHECKING:
    import requests
    from requests.adapters import HTTPAdapter

__all__ = ["Bounds", "Client", "Refused", "Unreachable", "WebReply"]

# requests and urllib3 are imported where a request is made: most runs ask no web, and it takes a tenth of a
# second.


class Unreachable(Exception):  # noqa: N818 - reads as the state it names
    """No whole reply came: unknown host, no connection, timeout, cut off, too large, wrong type."""

    def __init__(self, message: str, text: str | None = None) -> None:
        super().__init__(message)
        self.text = text or message
        """The words of requests, where it found the failure."""


@dataclass(frozen=True, slots=True)
class WebReply:
    """A reply of any status."""

    url: str
    """The URL that replied, after redirects."""
    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes
    """Decompressed."""
    reason: str = ""
    """The words beside the status."""

    @property
    def type(self) -> str:
        """The content type without its parameters, in lower case; empty where none is stated."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a request."""

    hosts: frozenset[str] | None = None
    """Names of the hosts that may be asked; None: any public host."""
    timeout_s: float = 20.0
    """The total time: name resolution, connections, redirects, retries and the whole body."""
    max_bytes: int = 4 * 2**20
    """The size of the body, compressed and decompressed."""
    redirects: int = 3
    """The number of redirects that are followed; with 0 the redirect itself is the reply."""
    retries: int = 2
    """The number of retries after a status of 429 or from 500 on, or a failed connection."""
    types: frozenset[str] | None = None
    """Content types that are accepted of a successful reply; None: any."""


Resolve: TypeAlias = Callable[[str], Sequence[Address]]
"""All addresses of a name. Raises OSError."""
Connect: TypeAlias = Callable[[str, int, float], socket.socket]
"""A connection to an address and port within some seconds. Raises OSError."""
Params: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]


def resolve_host(host: str) -> Sequence[Address]:
    """Resolve a name to all its addresses, in the order to try them. Raises OSError."""
    try:
        address_infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(str(error)) from None
    return [ip_address(str(address[0])) for *_, address in address_infos]


def open_connection(address: str, port: int, timeout_s: float) -> socket.socket:
    """Connect to an address and port. Raises OSError."""
    return socket.create_connection((address, port), timeout_s)


LOOPBACK = "127.0.0.1"


class Client:
    """A client that asks within ``bounds``. Threads may share it.

    ``local`` has hosts that servers of this run replace, with their ports on 127.0.0.1: these are asked over
    plain HTTP whatever the scheme of the URL, with the host's name in the header.
    """

    def __init__(
        self,
        bounds: Bounds,
        local: Mapping[str, int] | None = None,
        *,
        resolve: Resolve = resolve_host,
        connect: Connect = open_connection,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bounds = bounds
        self._local = dict(local or {})
        self._resolve = resolve
        self._connect = connect
        self._pause = pause

    def get(
        self, url: str, params: Params | None = None, headers: Mapping[str, str] | None = None
    ) -> WebReply:
        """Get a URL and return the reply, whatever its status. Raises ``Refused`` and ``Unreachable``."""
        deadline = time.monotonic() + self._bounds.timeout_s
        target, sent_headers = _check_request(url, params or (), headers or {}), headers or {}
        for retries_left in range(self._bounds.retries, -1, -1):
            wait_s = _WAIT_S * 2 ** (self._bounds.retries - retries_left)
            try:
                reply = self._follow(target, sent_headers, deadline)
                if retries_left == 0 or not (reply.status == 429 or reply.status >= 500):
                    return reply
                retry_after = reply.headers.get("Retry-After", "").strip()
                if re.fullmatch(r"[0-9]{1,6}", retry_after):
                    wait_s = min(float(retry_after), _LONGEST_WAIT_S)
                if time.monotonic() + wait_s >= deadline:
                    return reply
            except _Transient:
                if retries_left == 0 or time.monotonic() + wait_s >= deadline:
                    raise
            self._pause(wait_s)
        raise AssertionError("the last try returns or raises")

    def _follow(self, target: Target, headers: Mapping[str, str], deadline: float) -> WebReply:
        for redirects_left in range(self._bounds.redirects, -1, -1):
            reply = self._request(target, headers, deadline)
            place = reply.headers.get("Location")
            if reply.status not in _REDIRECTS or place is None or self._bounds.redirects == 0:
                return reply
            if redirects_left == 0:
                break
            # Servers write other scripts as UTF-8, http.client reads them as Latin-1.
            with suppress(UnicodeError):
                place = place.encode("latin-1").decode("utf-8")
            try:
                following_url = urljoin(target.url, place)
            except ValueError as error:
                raise Refused(f"no URL: {error}") from None
            following = parse_url(following_url)
            if following.origin != target.origin:
                headers = {name: text for name, text in headers.items() if name.lower() in _NO_SECRETS}
            target = following
        raise Unreachable(f"more than {self._bounds.redirects} redirects")

    def _request(self, target: Target, headers: Mapping[str, str], deadline: float) -> WebReply:
        import requests

        bounds = self._bounds
        if bounds.hosts is not None and target.host not in bounds.hosts:
            raise Refused(f"{target.host} is not among the hosts that may be asked")
        port = self._local.get(target.host)
        sent_target = target if port is None else replace(target, scheme="http", port=80)
        dial = _Dial(
            lambda: [LOOPBACK] if port is not None else self._find_addresses(target.host, deadline),
            target.port if port is None else port,
            self._connect,
            deadline,
        )
        request = requests.Request("GET", sent_target.url, headers={**_OWN_HEADERS, **headers}).prepare()
        if parse_url(request.url or "").origin != sent_target.origin:
            raise Refused("the URL can be read in two ways")
        # Not through a session, which reads proxies from the environment, and all of a redirect.
        with (
            _end_in_time(dial, bounds.timeout_s),
            closing(_make_adapter(dial)) as adapter,
            adapter.send(request, stream=True, timeout=dial.left_s) as response,
        ):
            reply = WebReply(target.url, response.status_code, response.headers, b"", response.reason or "")
            if response.ok and bounds.types is not None and reply.type not in bounds.types:
                raise Unreachable(f"the reply is of the type {reply.type[:80] or 'none'!r}")
            return replace(reply, body=_read_body(response, bounds.max_bytes))

    def _find_addresses(self, host: str, deadline: float) -> Sequence[str]:
        """Return the addresses of a host as text, all public. Raises ``Refused`` and ``socket.gaierror``."""
        with suppress(ValueError):
            # An address in numbers was checked when the URL was parsed.
            return [str(ip_address(host))]
        answers: list[Sequence[Address]] = []
        reason = socket.gaierror(socket.EAI_AGAIN, os.strerror(errno.ETIMEDOUT))

        def resolve() -> None:
            nonlocal reason
            try:
                answers.append(self._resolve(host))
            except socket.gaierror as error:
                reason = error
            except (OSError, ValueError) as error:
                reason = socket.gaierror(socket.EAI_NONAME, str(error))

        # The system's resolver knows no time limit, so it runs in a thread that is not waited for longer.
        thread = threading.Thread(target=resolve, daemon=True)
        thread.start()
        thread.join(max(0.0, deadline - time.monotonic()))
        if not answers or not answers[0]:
            raise _UnknownHostError(host, reason)
        return [str(address) for address in all_public(host, answers[0])]


class _Transient(Unreachable):
    """A failure that may not come again."""


class _UnknownHostError(socket.gaierror):
    """A name that has no address; its text is ours."""

    def __init__(self, host: str, reason: socket.gaierror) -> None:
        super().__init__(f"the name {host} has no address")
        self.reason = reason


_REDIRECTS = (301, 302, 303, 307, 308)
_WAIT_S = 0.5
"""Seconds before the first retry, doubled for each that follows."""
_LONGEST_WAIT_S = 10.0


# Requests


_OWN_HEADERS = {"User-Agent": "pytest-fcbench", "Accept": "*/*", "Accept-Encoding": "gzip, deflate"}
_NO_SECRETS = frozenset(("accept", "accept-language", "user-agent"))
"""Headers that are also sent to another host after a redirect."""
_KEPT_BACK = re.compile(
    r"(?i)host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|forwarded"
    r"|accept-encoding|proxy-.*|x-forwarded-.*|x-http-method.*|x-method-override"
)
"""Headers that decide how and where a request travels, or change its method."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")


def _check_request(url: str, params: Params, headers: Mapping[str, str]) -> Target:
    """Return the target of a request, with the parameters in its query. Raises ``Refused``."""
    target = parse_url(url)
    pairs = list(params.items() if isinstance(params, Mapping) else params)
    if not all(map(is_sendable, (text for pair in pairs for text in pair))):
        raise Refused("a parameter holds no control character and no half of a character")
    if pairs:
        rest = f"{target.rest}{'&' if '?' in target.rest else '?'}{urlencode(pairs)}"
        if len(rest) > LONGEST_URL:
            raise Refused(f"a URL has at most {LONGEST_URL:,} characters")
        target = replace(target, rest=rest)
    for name, text in headers.items():
        if not _TOKEN.fullmatch(name):
            raise Refused(f"no name of a header: {name[:80]!r}")
        if _KEPT_BACK.fullmatch(name):
            raise Refused(f"the header {name[:80]} is not for the one who asks to set")
        if not is_sendable(text) or text != text.strip() or max(text, default="") > "\xff":
            raise Refused(f"the header {name} holds what no header can hold")
    if sum(map(len, (*headers, *headers.values()))) > LONGEST_URL:
        raise Refused(f"headers have at most {LONGEST_URL:,} characters")
    return target


# Connections


class _Dial:
    """A connector to the first of some addresses that accepts, which can end its connections."""

    def __init__(
        self, find_addresses: Callable[[], Sequence[str]], port: int, connect: Connect, deadline: float
    ) -> None:
        self._find_addresses = find_addresses
        self._port = port
        self._connect = connect
        self._deadline = deadline
        self._ends: list[socket.socket] = []
        self.over = False
        self.failure: OSError | None = None
        """Why there is no connection."""

    @property
    def left_s(self) -> float:
        """The remaining seconds, never 0."""
        # With a timeout of 0 a socket does not wait at all.
        return max(0.001, self._deadline - time.monotonic())

    def __call__(self) -> socket.socket:
        """Connect to the first address that accepts. Raises ``Refused`` and OSError."""
        self.failure = OSError("no address")
        try:
            addresses = self._find_addresses()
        except _UnknownHostError as error:
            self.failure = error
            raise
        for address in addresses:
            try:
                connection = self._connect(address, self._port, self.left_s)
            except OSError as error:
                self.failure = error
                continue
            self.failure = None
            # TLS takes the descriptor over, so the end is kept under one of its own.
            self._ends.append(socket.socket(fileno=os.dup(connection.fileno())))
            return connection
        raise self.failure

    def end(self) -> None:
        """Shut the connections down, so that every reader finds its connection closed."""
        self.over = True
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the descriptors."""
        while self._ends:
            self._ends.pop().close()


@contextmanager
def _end_in_time(dial: _Dial, timeout_s: float) -> Iterator[None]:
    """End connections when the time is up; turn errors inside the block into ``Unreachable``."""
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    # A server that sends a byte now and then meets every timeout of a socket, so a timer ends it.
    watch = threading.Timer(dial.left_s, dial.end)
    watch.daemon = True
    watch.start()
    failure, text = None, ""
    try:
        yield
    except (requests.RequestException, HTTPError, OSError, zlib.error, ValueError) as error:
        cause, text = dial.failure or error, str(error)
        failure = f"{type(cause).__name__}: {cause}"[:300]
        # requests leaves a timeout while the body is read to urllib3.
        dial.over |= isinstance(error, (requests.Timeout, ReadTimeoutError))
    finally:
        watch.cancel()
        dial.close()
    if isinstance(dial.failure, _UnknownHostError):
        raise _Transient(str(dial.failure), text)
    # Also without an error: a body of unstated length ends where the connection ends.
    if dial.over:
        raise _Transient(f"no whole reply within {timeout_s:g} s")
    if failure:
        raise _Transient(failure, text)


def _make_adapter(dial: _Dial) -> HTTPAdapter:
    """Return an adapter of requests whose connections are made by ``dial``, with urllib3's own errors."""
    from requests.adapters import HTTPAdapter
    from urllib3 import connection, connectionpool
    from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

    def connect(made: connection.HTTPConnection) -> socket.socket:
        try:
            return dial()
        except _UnknownHostError as error:
            raise NameResolutionError(made.host, made, error.reason) from error
        except TimeoutError as error:
            message = f"Connection to {made.host} timed out. (connect timeout={made.timeout})"
            raise ConnectTimeoutError(made, message) from error
        except OSError as error:
            raise NewConnectionError(made, f"Failed to establish a new connection: {error}") from error

    # Named as those of urllib3, as errors contain the names.
    class HTTPConnection(connection.HTTPConnection):
        _new_conn = connect

    class HTTPSConnection(connection.HTTPSConnection):
        _new_conn = connect

    class HTTPConnectionPool(connectionpool.HTTPConnectionPool):
        ConnectionCls = HTTPConnection

    class HTTPSConnectionPool(connectionpool.HTTPSConnectionPool):
        ConnectionCls = HTTPSConnection

    adapter = HTTPAdapter()
    adapter.poolmanager.pool_classes_by_scheme = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}
    return adapter


# Replies


def _read_body(response: requests.Response, max_bytes: int) -> bytes:
    """Read the body as plain bytes; stop one byte after the limit, before and after decompression."""
    read = bytearray()
    for part in response.raw.stream(2**16, decode_content=False):
        read += part
        if len(read) > max_bytes:
            raise Unreachable(_TOO_LARGE.format(max_bytes))
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding in ("", "identity"):
        return bytes(read)
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise Unreachable(f"the body is encoded as {coding[:80]!r}")
    # 47 is 32 + 15: gzip or zlib, whichever the header of the data says. Some servers send deflate without
    # one: then the first byte has neither the 8 of zlib's header nor the 15 of gzip's.
    is_bare = coding == "deflate" and read[:1] and read[0] & 0x0F not in (8, 15)
    unpacking = zlib.decompressobj(wbits=-15 if is_bare else 47)
    # A small body may unpack to gigabytes, so unpacking ends one byte after the most that is taken.
    body = unpacking.decompress(bytes(read), max_bytes + 1)
    if len(body) > max_bytes:
        raise Unreachable(_TOO_LARGE.format(max_bytes))
    if read and not unpacking.eof:
        raise Unreachable("the body ends too early")
    return body


_TOO_LARGE = "the body has more than {:,} bytes"
