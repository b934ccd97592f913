"""HTTP requests to endpoints that the user names, with JSON in both directions.

They do not go through ``web.client``, which fetches what a model names: these endpoints may be in a private
network or behind a proxy of the environment, and the dispatcher asks many at once from its event loop.
aiohttp does all three.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.models.providers.failures import diagnose_failure, parse_retry_after, write_in_one_line
from pytest_fcbench.models.providers.reply_bodies import (
    ACCEPTED_ENCODINGS,
    LONGEST_BODY,
    MOST_REDIRECTS,
    check_redirect,
    parse_json,
    read_body,
)

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

_CONNECT_S = 30.0
"""The longest wait for a connection: a host that drops packets would otherwise take the whole timeout."""

# Less than the 5 s after which uvicorn, and so most servers of models, close an idle connection: a request
# that meets the closing fails, and a POST may not be repeated by the client on its own.
_KEEP_ALIVE_S = 4.0
_MOST_LOOKS = 100
"""Tries to go through an environment that another thread changes."""

# OpenSSL reads these itself; they come first, as in httpx and so in what most clients of models are built on.
_OPENSSL_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
# Environment variables that name certificate authorities for requests, and so for what people have set up.
_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class HttpReply:
    """Status, headers (names in any case) and decompressed body of a reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after_s(self) -> float | None:
        """The seconds that the endpoint asks to wait, if it does."""
        value = self.headers.get("Retry-After")
        return None if value is None else parse_retry_after(value, self.headers.get("Date"))


@dataclass(frozen=True, slots=True)
class ConnectionPool:
    """Open connections, kept for the next request. Each event loop has its own until it ends."""

    longest_body: int = LONGEST_BODY
    """Bytes of a reply that are read, after decompression; four times as many of a stream of events."""
    _sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = field(
        default_factory=dict, repr=False
    )
    _keepers: dict[asyncio.AbstractEventLoop, AsyncGenerator[None]] = field(default_factory=dict, repr=False)
    _proxies: dict[str, str | None] = field(default_factory=dict, repr=False)
    """Proxies by origin."""

    async def send_request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_s: float | None = None,
    ) -> HttpReply:
        """Send one request and return the reply, whatever its status.

        A redirect is followed within the same origin only, so that no key reaches another server. Raises
        ``CallError`` where no reply comes; its reason may hold what was sent.
        """
        import aiohttp

        try:
            for _ in range(MOST_REDIRECTS + 1):
                async with await self._open_request(method, url, headers, body, timeout_s, query) as response:
                    location = response.headers.get("Location")
                    if location is None or not 300 <= response.status < 400:
                        parts = response.content.iter_chunked(2**16)
                        content = await read_body(parts, response.headers, self.longest_body)
                        return HttpReply(response.status, response.headers, content)
                    target = urljoin(url, location)
                    check_redirect(response.status, url, target)
                    # The query is in the new address if the server wants it there.
                    url, query = target, None
        except aiohttp.ConnectionTimeoutError:
            raise CallError("connection", f"no connection within {_CONNECT_S:g} s", transient=True) from None
        except TimeoutError:
            raise CallError("timeout", f"no reply within {timeout_s} s", transient=True) from None
        except aiohttp.ClientSSLError as error:
            # A certificate does not become valid by trying again.
            raise CallError("connection", _explain_failure(error)) from None
        except aiohttp.ClientConnectorError as error:
            # aiohttp names its default TLS settings, also where the address is plain HTTP.
            words = str(error).replace(" ssl:default", "")
            raise CallError("connection", words, transient=True) from None
        except aiohttp.InvalidURL:
            raise CallError("connection", f"{url} is not an http or https address") from None
        except (aiohttp.ClientError, OSError) as error:
            raise CallError("endpoint", _explain_failure(error), transient=True) from None
        raise CallError("redirect", f"the endpoint redirects more than {MOST_REDIRECTS} times")

    async def drop_reply(self, url: str, headers: Mapping[str, str], body: str, timeout_s: float) -> int:
        """Post a request, go away after the first bytes of the reply, and return its status.

        Raises ``CallError`` where no reply comes.
        """
        import aiohttp

        try:
            async with await self._open_request("POST", url, headers, body, timeout_s) as response:
                await response.content.readany()
                response.close()
                return response.status
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise CallError("connection", _explain_failure(error), transient=True) from None

    async def _open_request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | str | None,
        timeout_s: float | None,
        query: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Return the context in which a request is sent. Raises ``CallError``."""
        session = await self.open_session()
        certificates, proxy = self._choose_route(url)
        return session.request(
            method,
            _keep_encoding(url),
            params=query,
            data=body,
            headers=headers,
            timeout=_limit_wait(timeout_s),
            allow_redirects=False,
            ssl=certificates,
            proxy=proxy,
        )

    def _choose_route(self, url: str) -> tuple[ssl.SSLContext | bool, str | None]:
        """Choose the certificate authorities and the proxy for an address. Raises ``CallError``."""
        variables = (name for name in (*_OPENSSL_VARIABLES, *_CA_VARIABLES) if os.environ.get(name))
        first = next(variables, None)
        certificate_path = os.environ[first] if first in _CA_VARIABLES else None
        certificates = _load_certificates(certificate_path) if url.startswith("https:") else True
        origin = "://".join(urlsplit(url)[:2])
        if origin not in self._proxies:
            self._proxies[origin] = find_proxy(url)
        return certificates, self._proxies[origin]

    async def open_session(self) -> aiohttp.ClientSession:
        """Return the session of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._sessions:
            # A loop that ends in order closes its asynchronous generators first (``shutdown_asyncgens``): so
            # the session is closed on the loop that it belongs to, whoever owns that loop.
            self._keepers[loop] = self._keep_session(loop)
            await anext(self._keepers[loop])
        return self._sessions[loop]

    async def _keep_session(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[None]:
        """Open the session of a loop; close it when the generator is closed."""
        import aiohttp

        # How many requests are out at once is decided by the dispatcher.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S)
        default_headers = {"User-Agent": "pytest-fcbench", "Accept-Encoding": ACCEPTED_ENCODINGS}
        # Not ``trust_env``: aiohttp would look for a proxy and read ~/.netrc again for each request, in other
        # threads, at twice the cost of the request; and a password of that file is no key of a model.
        # aiohttp would decompress up to 32 MiB at once.
        async with aiohttp.ClientSession(
            connector=connector, headers=default_headers, auto_decompress=False
        ) as session:
            self._sessions[loop] = session
            try:
                yield
            finally:
                del self._sessions[loop], self._keepers[loop]


@cache  # aiohttp checks each member of a new one, which takes a fifth of the time of sending a request
def _limit_wait(timeout_s: float | None) -> aiohttp.ClientTimeout:
    """Limit the wait for a connection, and for the whole reply."""
    import aiohttp

    return aiohttp.ClientTimeout(total=timeout_s, sock_connect=_CONNECT_S)


def _keep_encoding(url: str) -> str | URL:
    """Return an address in which what is encoded stays so."""
    # A colon in a model's name is one in its address.
    from yarl import URL

    return URL(url, encoded=True) if "%" in url else url


def find_proxy(url: str) -> str | None:
    """Return the proxy that the environment (or the system) names for an address, or None.

    Raises ``CallError`` for a proxy of an unknown kind.
    """
    parts = urlsplit(url)
    proxies, is_bypassed = _look_up_proxies(parts.netloc.rpartition("@")[2])
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or not parts.hostname or is_bypassed:
        return None
    # ``localhost:3128`` is what curl takes too.
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        reason = (
            f"the proxy for {parts.scheme} must be an http or https URL, not {urlsplit(proxy).scheme}; "
            f"correct {parts.scheme}_proxy or all_proxy"
        )
        raise CallError("connection", reason)
    return proxy


def _look_up_proxies(host: str) -> tuple[Mapping[str, str], bool]:
    """Return the proxies by scheme, and whether a host is asked without one."""
    # pytest sets and removes PYTEST_CURRENT_TEST while this thread goes through the environment.
    for _ in range(_MOST_LOOKS):
        with suppress(KeyError):
            return getproxies(), proxy_bypass(host)
    return getproxies(), proxy_bypass(host)


def check_address(option: str, address: str, key_option: str) -> None:
    """Check the address of an endpoint that an option gives; ``key_option`` names the variable of a key.

    Raises ``UsageError``.
    """
    try:
        parts = urlsplit(address)
        is_wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        is_wrong = True
    if is_wrong:
        rule = "must be an http or https URL, e.g. http://localhost:8000/v1"
        raise UsageError(f"{option}={redact_secrets(address)}: {rule}")
    if parts.username or parts.password:
        raise UsageError(
            f"{option}: contains a user name or a password, which reports would repeat; put the key into a "
            f"variable and name it with {key_option}"
        )


@cache
def _load_certificates(path: str | None) -> ssl.SSLContext:
    """Return the certificate authorities of a file or a folder, else those of the system and of certifi.

    Raises ``CallError``.
    """
    # Some installations of Python know no authority at all.
    import certifi

    try:
        if path is not None:
            is_folder = Path(path).is_dir()
            return ssl.create_default_context(
                cafile=None if is_folder else path, capath=path if is_folder else None
            )
        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())
    except OSError as error:
        reason = f"the certificate authorities cannot be read: {path}: {error}"
        raise CallError("connection", reason) from None
    return context


def _explain_failure(error: aiohttp.ClientError | OSError) -> str:
    """Describe a broken connection, with the way out where only one of both sides speaks TLS."""
    import aiohttp

    explanation = str(error)
    if isinstance(error, aiohttp.ClientSSLError):
        if re.search("WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|record layer failure", explanation):
            return f"{explanation}; the server seems to speak plain HTTP: begin the address with http://"
        return f"{explanation}; name your certificate authority with SSL_CERT_FILE"
    explanation = f"{type(error).__name__}: {explanation}"
    # The first bytes of a TLS alert, which a TLS server answers to plain HTTP; as aiohttp quotes them.
    if re.search(r"\\+x15\\+x03", explanation):
        return f"{explanation}; the server seems to want TLS: begin the address with https://"
    return explanation


async def read_json_reply(
    request: Awaitable[HttpReply], about: str, secret: str | None, hints: Mapping[str, str] | None = None
) -> object:
    """Await the reply to a request that is sent, and return its JSON value.

    Raises ``CallError``: its reason begins with ``about``, ends with the hint for its cause, and does not
    contain the secret.
    """
    try:
        reply = await request
        if reply.status != 200:
            words = reply.body[:1000].decode("utf-8", "replace")
            failure = diagnose_failure(reply.status, words)
            # A redirect that was not followed leads to the same place each time.
            failure = replace(failure, transient=failure.transient and reply.status >= 400)
            raise failure.make_error(f"HTTP {reply.status}: {words}", reply.retry_after_s)
        return parse_json(reply.body, content_type=reply.headers.get("Content-Type", ""))
    except CallError as error:
        # An endpoint may repeat the key that it was sent.
        words = write_in_one_line(error.reason, [secret] if secret else [])
        hint = f"; {hints[error.cause]}" if hints and error.cause in hints else ""
        raise error.with_reason(f"{about}: {words}{hint}") from None
