"""One request over HTTP: what is sent, and what is told of a failure."""

from __future__ import annotations

import asyncio

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.http import ConnectionPool, read_json_reply
from tests.loopback import Reply, serve_answers

SECRET = "a-secret-of-many-letters-0123456789"


def test_a_post_and_a_get() -> None:
    with serve_answers(lambda body: Reply({"got": body})) as endpoint:

        async def send_both() -> list[object]:
            pool, url = ConnectionPool(), f"{endpoint.api_base}/x"
            headers = {"Authorization": SECRET, "Content-Type": "application/json"}
            post = pool.send_request("POST", url, headers=headers, body='{"a": 1}')
            get = pool.send_request("GET", url, headers={}, query={"a": "1 2"})
            return [await read_json_reply(post, "m", SECRET), await read_json_reply(get, "m", None)]

        assert asyncio.run(send_both()) == [{"got": {"a": 1}}, {"got": {"a": "1 2"}}]
    assert endpoint.keys == [SECRET, ""]
    assert endpoint.paths == ["/v1/x", "/v1/x?a=1+2"]


def test_what_is_told_of_a_failure() -> None:
    said = Reply({"error": f"no \n {SECRET}"}, 401)
    hints = {"authentication": "give the right key", "endpoint": "wait"}
    with serve_answers(lambda _: said) as endpoint:
        request = ConnectionPool().send_request("GET", endpoint.api_base, headers={})
        with pytest.raises(CallError) as caught:
            asyncio.run(read_json_reply(request, "m", SECRET, hints))
    assert caught.value.cause == "authentication"
    assert caught.value.reason == 'm: HTTP 401: {"error": "no \\n ***"}; give the right key'
