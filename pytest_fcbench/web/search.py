"""Who searches the web: a library, a paid interface, and the engine of our own small web."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_fcbench.domain import extras
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.redaction import redacted
from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.web.client import Bounds, Client, Refused, Reply, Unreachable
from pytest_fcbench.web.small_web import ENGINE


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    title: str
    href: str
    body: str | None
    """A snippet of the page; None where the engine gives none."""


class Search(Protocol):
    """A search engine. Threads may share it."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """At most so many results, the best first. Raises ``CallError``."""


@dataclass(frozen=True, slots=True)
class SmallWebSearch:
    """The engine of our own small web, which knows no regions."""

    client: Client

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Asks the server of this run."""
        found = _listed(
            _json(_asked(self.client, f"http://{ENGINE}/", {"q": keywords, "n": str(max_results)}))
        )
        return [_hit(result, "url") for result in found]


class DuckDuckGo:
    """DuckDuckGo through the library ``ddgs``, without a key. Raises ``UsageError`` without the library."""

    def __init__(self) -> None:
        extras.need("search", "--fcbench-search=duckduckgo")

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Asks once. A search that finds nothing is an empty list, which the library calls an error."""
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            words = _sendable(keywords)
            found = DDGS(timeout=_PATIENCE_S).text(
                words, region=region, max_results=max_results, backend="duckduckgo"
            )
        except RatelimitException as error:
            raise CallError("rate_limit", _said("ddgs", error), transient=True) from None
        except TimeoutException as error:
            raise CallError("timeout", _said("ddgs", error), transient=True) from None
        except DDGSException as error:
            if str(error) == "No results found.":
                return []
            raise CallError("endpoint", _said("ddgs", error), transient=True) from None
        except Exception as error:  # noqa: BLE001 - whatever it trips over is one answer missing, not a crash
            raise CallError("endpoint", _said("ddgs", error)) from None
        return [_hit(result, "href") for result in found][:max_results]


SERPAPI = "https://serpapi.com/search.json"
KEY_ENV = "SERPAPI_API_KEY"


@dataclass(frozen=True, slots=True)
class SerpApi:
    """DuckDuckGo through SerpAPI, as officially, with the key of ``SERPAPI_API_KEY``."""

    client: Client = field(
        default_factory=lambda: Client(Bounds(frozenset(("serpapi.com",)), redirects=0, retries=0))
    )
    """Tries once: trying again is the dispatcher's."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Hit]:
        """Asks once. What says that nothing was found is an empty list."""
        key = os.environ.get(KEY_ENV, "").strip()
        query = {"engine": "duckduckgo", "q": keywords, "kl": region, "api_key": key}
        reply = _json(_asked(self.client, SERPAPI, query, key))
        if not isinstance(reply, Mapping):
            raise CallError("garbled", "serpapi.com: the reply is no object", transient=True)
        if "organic_results" not in reply and "error" in reply and "any results" not in str(reply["error"]):
            raise CallError("endpoint", f"serpapi.com: {redacted(str(reply['error']), key)[:300]}")
        return [_hit(result, "link") for result in _listed(reply.get("organic_results"))][:max_results]


def serpapi() -> SerpApi:
    """SerpAPI. Raises ``UsageError`` without a key."""
    if not os.environ.get(KEY_ENV, "").strip():
        raise UsageError(
            f"--fcbench-search=serpapi: put your key for serpapi.com into the environment variable {KEY_ENV}"
        )
    return SerpApi()


_PATIENCE_S = 20
_CAUSES = {401: "authentication", 403: "authentication", 429: "rate_limit"}


def _asked(client: Client, url: str, query: Mapping[str, str], secret: str = "") -> Reply:
    """A good reply. Raises ``CallError``, whose reason does not hold the secret."""
    try:
        reply = client.get(url, {name: _sendable(text) for name, text in query.items()})
    except Refused as error:
        raise CallError("bad_request", _said(url, error, secret)) from None
    except Unreachable as error:
        raise CallError("connection", _said(url, error, secret), transient=True) from None
    if reply.status != 200:
        cause = _CAUSES.get(reply.status, "endpoint")
        wait = reply.headers.get("Retry-After", "")
        raise CallError(
            cause,
            _said(url, f"HTTP {reply.status}: {reply.body[:300].decode('utf-8', 'replace')}", secret),
            transient=reply.status == 429 or reply.status >= 500,
            retry_after_s=float(wait) if wait.isdecimal() and len(wait) < 7 else None,
        )
    return reply


def _said(who: str, error: object, secret: str = "") -> str:
    return f"{who}: {redacted(' '.join(str(error).split()), secret)}"[:400]


def _json(reply: Reply) -> object:
    try:
        value: object = json.loads(reply.body)
    except (ValueError, RecursionError):
        raise CallError("garbled", "the reply of the search engine is no JSON", transient=True) from None
    return value


def _listed(value: object) -> Sequence[Mapping[str, object]]:
    return [result for result in value if isinstance(result, Mapping)] if isinstance(value, list) else []


_LONGEST = 2_000
"""Characters of a title, an address or a snippet."""


def _hit(result: Mapping[str, object], href: str) -> Hit:
    """What the engines call a snippet by two names; officially a result without one was an error."""
    body = result.get("snippet", result.get("body"))
    title, place = (str(result.get(name) or "")[:_LONGEST] for name in ("title", href))
    return Hit(title, place, None if body is None else str(body)[:_LONGEST])


def _sendable(text: str) -> str:
    """Without what no address can hold: control characters are spaces, lone surrogates are written out."""
    plain = "".join(c if c.isprintable() or "\ud800" <= c <= "\udfff" else " " for c in text)
    return escape_surrogates(plain)
