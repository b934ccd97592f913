"""Search engines: a library, a paid interface, and the engine of our own small web."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_fcbench.domain import extras
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.web.client import Bounds, Client, Refused, Unreachable, WebReply
from pytest_fcbench.web.small_web import ENGINE


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of a search."""

    title: str
    href: str
    body: str | None
    """A snippet of the page; None where the engine gives none."""


class Search(Protocol):
    """A search engine. Threads may share it."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Return at most ``max_results`` results, the best first. Raises ``CallError``."""


@dataclass(frozen=True, slots=True)
class SmallWebSearch:
    """The engine of our own small web, which knows no regions."""

    client: Client

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Ask the server of this run."""
        query = {"q": keywords, "n": str(max_results)}
        results = _parse_json(_get_reply(self.client, f"http://{ENGINE}/", query))
        return _make_hits(results, "url")


class DuckDuckGo:
    """DuckDuckGo through the library ``ddgs``, without a key. Raises ``UsageError`` without the library."""

    def __init__(self) -> None:
        extras.require_extra("search", "--fcbench-search=duckduckgo")

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Ask once. A search that finds nothing, which the library calls an error, is an empty list."""
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            results = DDGS(timeout=20).text(
                _make_sendable(keywords), region=region, max_results=max_results, backend="duckduckgo"
            )
        except RatelimitException as error:
            raise CallError("rate_limit", _describe("ddgs", error), transient=True) from None
        except TimeoutException as error:
            raise CallError("timeout", _describe("ddgs", error), transient=True) from None
        except DDGSException as error:
            if str(error) == "No results found.":
                return []
            raise CallError("endpoint", _describe("ddgs", error), transient=True) from None
        except Exception as error:  # noqa: BLE001 - whatever it trips over is one answer missing, not a crash
            raise CallError("endpoint", _describe("ddgs", error)) from None
        return _make_hits(results, "href")[:max_results]


SERPAPI = "https://serpapi.com/search.json"
KEY_ENV = "SERPAPI_API_KEY"


@dataclass(frozen=True, slots=True)
class SerpApi:
    """DuckDuckGo through SerpAPI, as officially, with the key of ``SERPAPI_API_KEY``."""

    client: Client = field(
        default_factory=lambda: Client(Bounds(frozenset(("serpapi.com",)), redirects=0, retries=0))
    )
    """A client without retries: only the dispatcher repeats calls."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Ask once. A reply that says that nothing was found is an empty list."""
        key = os.environ.get(KEY_ENV, "").strip()
        query = {"engine": "duckduckgo", "q": keywords, "kl": region, "api_key": key}
        reply = _parse_json(_get_reply(self.client, SERPAPI, query, key))
        if not isinstance(reply, Mapping):
            raise CallError("garbled", "serpapi.com: the reply is no object", transient=True)
        if "organic_results" not in reply and "error" in reply and "any results" not in str(reply["error"]):
            raise CallError("endpoint", f"serpapi.com: {redact_secrets(str(reply['error']), key)[:300]}")
        return _make_hits(reply.get("organic_results"), "link")[:max_results]


def open_serpapi() -> SerpApi:
    """Return SerpAPI. Raises ``UsageError`` without a key."""
    if not os.environ.get(KEY_ENV, "").strip():
        raise UsageError(
            f"--fcbench-search=serpapi: set the environment variable {KEY_ENV} to your API key of serpapi.com"
        )
    return SerpApi()


_CAUSES = {401: "authentication", 403: "authentication", 429: "rate_limit"}


def _get_reply(client: Client, url: str, query: Mapping[str, str], secret: str = "") -> WebReply:
    """Return a reply with status 200. Raises ``CallError``, whose reason does not contain the secret."""
    try:
        reply = client.get(url, {name: _make_sendable(text) for name, text in query.items()})
    except Refused as error:
        raise CallError("bad_request", _describe(url, error, secret)) from None
    except Unreachable as error:
        raise CallError("connection", _describe(url, error, secret), transient=True) from None
    if reply.status != 200:
        cause = _CAUSES.get(reply.status, "endpoint")
        wait = reply.headers.get("Retry-After", "")
        raise CallError(
            cause,
            _describe(url, f"HTTP {reply.status}: {reply.body[:300].decode('utf-8', 'replace')}", secret),
            transient=reply.status == 429 or reply.status >= 500,
            retry_after_s=float(wait) if wait.isdecimal() and len(wait) < 7 else None,
        )
    return reply


def _describe(who: str, error: object, secret: str = "") -> str:
    return f"{who}: {redact_secrets(' '.join(str(error).split()), secret)}"[:400]


def _parse_json(reply: WebReply) -> object:
    try:
        value: object = read_json_text(reply.body)
    except (ValueError, RecursionError):
        raise CallError("garbled", "the reply of the search engine is no JSON", transient=True) from None
    return value


_LONGEST = 2_000
"""Characters of a title, an address or a snippet."""


def _make_hits(results: object, href: str) -> list[Hit]:
    """Make a hit of each result in a JSON value; ``href`` is the name of its address."""
    hits = []
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping):
            # The engines have two names for a snippet; officially a result without one was an error.
            body = result.get("snippet", result.get("body"))
            title, place = (str(result.get(name) or "")[:_LONGEST] for name in ("title", href))
            hits.append(Hit(title, place, None if body is None else str(body)[:_LONGEST]))
    return hits


def _make_sendable(text: str) -> str:
    """Replace control characters by spaces and lone surrogates by their escapes, for use in a URL."""
    plain = "".join(c if c.isprintable() or "\ud800" <= c <= "\udfff" else " " for c in text)
    return escape_surrogates(plain)
