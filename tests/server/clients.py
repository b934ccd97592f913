"""Clients of a running server: plain HTTP, and the ``openai`` package."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import openai

from pytest_fcbench.server.app import ENTRY_HEADER

CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def message(self) -> Any:
        return self.body["choices"][0]["message"]

    @property
    def events(self) -> Sequence[Any]:
        """The data of a stream's events; what is not JSON stays text."""
        texts = self.content.decode().split("\n\n")
        assert texts.pop() == ""
        lines = [text.split("\n")[-1].removeprefix("data: ") for text in texts]
        return [json.loads(line) if line.startswith("{") else line for line in lines]


def open_connection(api_base: str) -> closing[http.client.HTTPConnection]:
    """Open a connection that the block closes."""
    return closing(http.client.HTTPConnection(urlsplit(api_base).netloc, timeout=120))


def send_request(
    api_base: str, method: str, path: str, content: bytes = b"", entry: str | None = None
) -> Answer:
    """Send one request, which names its entry where one is given."""
    with open_connection(api_base) as connection:
        connection.request(method, path, content, {} if entry is None else {ENTRY_HEADER: entry})
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())


def post_json(api_base: str, path: str, body: Mapping[str, object], entry: str | None = None) -> Answer:
    """Post a body as JSON."""
    return send_request(api_base, "POST", path, json.dumps(body).encode(), entry)


def post_chat(api_base: str, body: Mapping[str, object], entry: str | None = None) -> Answer:
    """Post a chat request."""
    return post_json(api_base, CHAT, body, entry)


def open_client(api_base: str) -> openai.OpenAI:
    """Open a client of the ``openai`` package that repeats nothing."""
    return openai.OpenAI(base_url=api_base, api_key="unused", max_retries=0, timeout=120)
