"""One request over HTTP: what is sent, and what is told of a failure."""

from __future__ import annotations

import asyncio

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.http import ConnectionPool, request_json
from tests.loopback import Reply, serve_answers

SECRET = "a-secret-of-many-letters-0123456789"


def test_a_post_and_a_get() -> None:
    with serve_answers(lambda body: Reply({"got": body})) as endpoint:

        async def send_both() -> list[object]:
            pool, url = ConnectionPool(), f"{endpoint.api_base}/x"
            headers = {"Authorization": SECRET, "Content-Type": "application/json"}
            post = await request_json(
                pool, "POST", url, about="m", secret=SECRET, headers=headers, body='{"a": 1}'
            )
            get = await request_json(pool, "GET", url, about="m", secret=None, headers={}, query={"a": "1 2"})
            return [post, get]

        assert asyncio.run(send_both()) == [{"got": {"a": 1}}, {"got": {"a": "1 2"}}]
    assert endpoint.keys == [SECRET, ""]
    assert endpoint.paths == ["/v1/x", "/v1/x?a=1+2"]


def test_what_is_told_of_a_failure() -> None:
    said = Reply({"error": f"no \n {SECRET}"}, 401)
    hints = {"authentication": "give the right key", "endpoint": "wait"}
    with serve_answers(lambda _: said) as endpoint, pytest.raises(CallError) as caught:
        asyncio.run(
            request_json(
                ConnectionPool(), "GET", endpoint.api_base, about="m", secret=SECRET, headers={}, hints=hints
            )
        )
    assert caught.value.cause == "authentication"
    assert caught.value.reason == 'm: HTTP 401: {"error": "no \\n ***"}; give the right key'
