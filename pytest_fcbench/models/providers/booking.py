"""The API that ComplexFuncBench was recorded from: booking-com15 at RapidAPI, asked over HTTPS.

Each function is a GET; lists and objects among the arguments are sent as JSON, as officially (``legs``).
The paths are those of the official ``tool_info.json``; none has a part that an argument fills. Unlike
officially no redirect is followed, and values other than text are sent as JSON (``true``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.redaction import list_long_secrets, mask_secrets
from pytest_fcbench.domain.text import escape_surrogates, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.providers import http

API = "https://booking-com15.p.rapidapi.com"
KEY_ENV = "RAPID_API_KEY"

_LONGEST_QUERY = 16_000
"""Characters of all arguments together; servers refuse longer addresses, and a model can write megabytes."""

_LISTED = Path(__file__).with_name("booking_paths.txt").read_text(encoding="utf-8").splitlines()
PATHS: Mapping[str, str] = dict(line.split() for line in _LISTED)
"""The path of each function under ``/api/v1/``."""


@dataclass(frozen=True, slots=True)
class BookingModel(Model):
    """A model that answers a call with the API's reply as JSON.

    That is its ``data`` where the status is true, else the whole reply without its ``timestamp``.

    The request's only message is the call, ``{"name": ..., "arguments": {...}}`` as JSON.
    """

    key: str = field(repr=False)
    base: str = API
    timeout_s: float = 60.0
    connections: http.ConnectionPool = field(default_factory=http.ConnectionPool, repr=False)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the API once. Raises ``CallError`` where it has no reply to the call."""
        (message,) = request.messages
        call = read_json_text(str(message["content"]))
        name, query = call["name"], {}
        for parameter, value in call["arguments"].items():
            # A query has no null, so a parameter without a value is left out.
            if value is not None:
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                query[escape_surrogates(parameter)] = escape_surrogates(text)
        if name not in PATHS:
            raise CallError("not_found", f"the API has no function {name[:100]}")
        if sum(map(len, (*query, *query.values()))) > _LONGEST_QUERY:
            raise CallError("bad_request", f"{name}: more than {_LONGEST_QUERY:,} characters of arguments")
        start_time = time.perf_counter()
        url = f"{self.base.rstrip('/')}/api/v1/{PATHS[name]}"
        headers = {"X-RapidAPI-Key": self.key, "X-RapidAPI-Host": urlsplit(self.base).netloc}
        pending_reply = self.connections.send_request(
            "GET", url, headers=headers, query=query, timeout_s=self.timeout_s
        )
        reply = await http.read_json_reply(pending_reply, name, self.key)
        if isinstance(reply, dict):
            all_well = reply.get("status") is True and "data" in reply
            reply = reply["data"] if all_well else {k: v for k, v in reply.items() if k != "timestamp"}
        text = mask_secrets(json.dumps(reply, ensure_ascii=False), list_long_secrets(self.key))
        return Completion(text=text, latency_s=time.perf_counter() - start_time)


def from_environment(base: str = API) -> BookingModel:
    """Return the API with the key of ``RAPID_API_KEY``. Raises ``UsageError`` without one."""
    key = os.environ.get(KEY_ENV, "").strip()
    if not key:
        raise UsageError(
            f"live replies come from booking-com15 at RapidAPI; set the environment variable "
            f"{KEY_ENV} to your API key"
        )
    return BookingModel(key, base)
