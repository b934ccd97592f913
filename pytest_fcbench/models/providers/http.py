"""HTTP requests whose reply is JSON, for endpoints that litellm does not know.

They do not go through ``web.client``, which fetches what a model names: these endpoints are named by the
user, so they may be in a private network or behind a proxy of the environment, and the dispatcher asks many
at once from its event loop. aiohttp, which litellm depends on, does all three.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.redaction import redact_secrets
from pytest_fcbench.models.providers.failures import diagnose_status, parse_retry_after

_MOST_BYTES = 64 * 2**20
"""The longest reply that is read."""


async def request_json(
    method: str,
    url: str,
    *,
    about: str,
    secret: str | None,
    headers: Mapping[str, str],
    query: Mapping[str, str] | None = None,
    body: str | None = None,
    timeout_s: float | None = None,
    hints: Mapping[str, str] | None = None,
) -> object:
    """Send one request and return its JSON reply; no redirect is followed.

    Raises ``CallError``: its reason begins with ``about``, ends with the hint for its cause, and does not
    contain the secret.
    """
    import aiohttp

    def fail(cause: str, reason: str, *, transient: bool, wait_s: float | None = None) -> CallError:
        # An endpoint may repeat the key that it was sent.
        words = redact_secrets(" ".join(reason.split()), secret or "")[:300]
        hint = f"; {hints[cause]}" if hints and cause in hints else ""
        return CallError(cause, f"{about}: {words}{hint}", transient=transient, retry_after_s=wait_s)

    patience = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=patience, trust_env=True) as session,
            session.request(
                method, url, params=query, data=body, headers=headers, allow_redirects=False
            ) as response,
        ):
            read = bytearray()
            async for part in response.content.iter_chunked(2**16):
                read += part
                if len(read) > _MOST_BYTES:
                    raise fail(
                        "garbled", f"the reply is longer than {_MOST_BYTES >> 20} MiB", transient=False
                    )
            status, answered = response.status, response.headers
    # In this order: each of the first two is also an OSError.
    except aiohttp.ClientConnectorError as error:
        raise fail("connection", str(error), transient=True) from None
    except TimeoutError:
        raise fail("timeout", f"no reply within {timeout_s} s", transient=True) from None
    except (aiohttp.ClientError, OSError) as error:
        raise fail("endpoint", f"{type(error).__name__}: {error}", transient=True) from None
    if status != 200:
        cause, transient = diagnose_status(status)
        wait_s = (
            parse_retry_after(answered["Retry-After"], answered.get("Date"))
            if "Retry-After" in answered
            else None
        )
        reason = f"HTTP {status}: {read[:1000].decode('utf-8', 'replace')}"
        # A redirect, which is not followed, would only come again.
        raise fail(cause, reason, transient=transient and status >= 400, wait_s=wait_s)
    try:
        reply: object = json.loads(read)
    except (ValueError, RecursionError):
        raise fail("garbled", "the reply is not JSON", transient=True) from None
    return reply
