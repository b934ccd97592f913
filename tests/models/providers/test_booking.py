"""The live API, played by a server on loopback; no test asks the real one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.transcript import AskModel, Completion, Party
from pytest_fcbench.models.providers.booking import API, KEY_ENV, PATHS, BookingModel, from_environment
from tests.cases import each_case
from tests.factories import make_entry
from tests.loopback import Answer, Endpoint, Reply, serve_answers

KEY = "0123456789abcdefmsh0123456789abcdef"


def make_reply(data: object, status: object = True) -> Reply:
    return Reply({"status": status, "message": "Success", "timestamp": 1730000000, "data": data})


def call_api(
    answer: Answer | Reply, name: str = "Search_Hotels", /, **arguments: object
) -> tuple[Any, Completion, Endpoint]:
    """Return what the API gives for a call."""
    content = json.dumps({"name": name, "arguments": arguments})
    request = AskModel(({"role": "call", "content": content},), party=Party.PROVIDER)
    with serve_answers(answer if not isinstance(answer, Reply) else lambda _: answer) as endpoint:
        base = endpoint.api_base.removesuffix("/v1")
        model = BookingModel(KEY, base, 5)
        assert KEY not in repr(model)
        completion = asyncio.run(model.complete(make_entry(), request))
    return json.loads(completion.text or ""), completion, endpoint


def test_a_call_is_a_get() -> None:
    legs = [{"fromId": "BGO.AIRPORT", "date": "2024-11-27"}]
    _, _, endpoint = call_api(
        make_reply([1, "å"]),
        "Search_Flights_Multi_Stops",
        legs=legs,
        adults=2,
        sort="BEST",
        direct=True,
        x=None,
    )
    (asked,) = endpoint.requests
    assert json.loads(str(asked.pop("legs"))) == legs
    assert asked == {"adults": "2", "sort": "BEST", "direct": "true"}
    assert urlsplit(endpoint.paths[0]).path == "/api/v1/flights/searchFlightsMultiStops"


def test_a_call_sends_the_key_and_the_host_as_headers() -> None:
    _, _, endpoint = call_api(make_reply(1))
    (headers,) = endpoint.headers
    assert headers["x-rapidapi-key"] == KEY
    assert headers["x-rapidapi-host"] == endpoint.api_base.split("/")[2]


def test_a_reply_is_a_completion_with_its_latency() -> None:
    payload, completion, _ = call_api(make_reply([1, "å"]))
    assert payload == [1, "å"]
    assert completion.latency_s is not None
    assert 0 < completion.latency_s < 60
    assert completion.fault is None


@each_case(
    ("answer", "payload"),
    [
        (make_reply({}), {}),
        (make_reply(None), None),
        (make_reply(None, status=False), {"status": False, "message": "Success", "data": None}),
        (make_reply({"a": 1}, status="true"), {"status": "true", "message": "Success", "data": {"a": 1}}),
        (Reply({"status": True, "timestamp": 5, "x": 1}), {"status": True, "x": 1}),
        (Reply("[1]"), [1]),
    ],
)
def test_what_a_reply_says(answer: Reply, payload: object) -> None:
    assert call_api(answer)[0] == payload


def test_what_a_model_writes_cannot_leave_the_query() -> None:
    hostile = "../../x?y=1&z=2#\r\nHost: example.org\x00\ud800"
    _, _, endpoint = call_api(make_reply(1), query=hostile, **{"a&b": "c d"})
    assert endpoint.requests == [{"query": hostile.replace("\ud800", "\\ud800"), "a&b": "c d"}]
    assert urlsplit(endpoint.paths[0]).path == "/api/v1/hotels/searchHotels"


@each_case(
    ("answer", "cause", "transient"),
    [
        (Reply({"message": f"bad key {KEY}"}, 403), "authentication", False),
        (Reply({"message": "quota"}, 429), "rate_limit", True),
        (Reply({"message": "no"}, 404), "not_found", False),
        (Reply({}, 500), "endpoint", True),
        (Reply({}, 302, {"Location": "https://example.org/"}), "redirect", False),
        (Reply("{not"), "garbled", True),
        (Reply("[" * 100_000), "garbled", True),
    ],
    ids=["403", "429", "404", "500", "302", "garbled", "deep"],
)
def test_a_failure_has_its_cause_and_may_be_transient(answer: Reply, cause: str, transient: bool) -> None:
    with pytest.raises(CallError) as caught:
        call_api(answer)
    assert (caught.value.cause, caught.value.transient) == (cause, transient)
    assert caught.value.reason.startswith("Search_Hotels: ")
    assert KEY not in caught.value.reason


def test_how_long_to_wait_is_read_from_the_header() -> None:
    with pytest.raises(CallError) as caught:
        call_api(Reply({}, 429, {"Retry-After": "7"}))
    assert caught.value.retry_after_s == 7


def test_a_reply_that_does_not_come() -> None:
    over = threading.Event()

    def answer_too_late(_: Mapping[str, object]) -> Reply:
        over.wait(60)
        return make_reply(1)

    with serve_answers(answer_too_late) as endpoint, pytest.raises(CallError) as caught:
        asyncio.run(_ask_model(BookingModel(KEY, endpoint.api_base, 0.05)))
    over.set()
    assert (caught.value.cause, caught.value.transient) == ("timeout", True)


def test_an_address_where_nothing_listens_is_a_connection_error() -> None:
    with serve_answers(lambda _: make_reply(1)) as endpoint:
        model = BookingModel(KEY, endpoint.api_base)
    with pytest.raises(CallError) as caught:
        asyncio.run(_ask_model(model))
    assert caught.value.cause == "connection"


async def _ask_model(model: BookingModel) -> Completion:
    content = json.dumps({"name": "Search_Hotels", "arguments": {}})
    return await model.complete(make_entry(), AskModel(({"role": "call", "content": content},)))


def test_what_is_never_asked() -> None:
    asked: list[object] = []

    def note_body(body: object) -> Reply:
        asked.append(body)
        return make_reply(1)

    for name, query, cause in (
        ("Search_Moon", "", "not_found"),
        ("../x", "", "not_found"),
        ("Search_Hotels", "x" * 100_000, "bad_request"),
    ):
        with pytest.raises(CallError) as caught:
            call_api(note_body, name, query=query)
        assert (caught.value.cause, caught.value.transient) == (cause, False)
    assert asked == []


def test_a_reply_that_repeats_the_key_does_not_bring_it_into_a_file() -> None:
    payload, completion, _ = call_api(make_reply({"echo": f"key {KEY}!"}))
    assert payload == {"echo": "key ***!"}
    assert KEY not in repr(completion)


def test_an_endless_reply_is_not_read() -> None:
    with pytest.raises(CallError, match=r"the reply has more than 8 MiB"):
        call_api(make_reply("x" * (8 * 2**20 + 1)))


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)
    assert from_environment() == BookingModel(KEY, API)
    for value in ("", "  "):
        monkeypatch.setenv(KEY_ENV, value)
        with pytest.raises(UsageError, match="the environment variable RAPID_API_KEY"):
            from_environment()
    monkeypatch.delenv(KEY_ENV)
    with pytest.raises(UsageError, match="RapidAPI"):
        from_environment()


def test_every_function_has_a_path_of_its_own() -> None:
    assert len(PATHS) == len(set(PATHS.values())) == 46
    assert API.startswith("https://")
