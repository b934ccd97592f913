"""Cosines of texts from an embedding endpoint on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import AskModel, Completion, Party
from pytest_fcbench.models.embeddings import EmbeddingModel
from tests.factories import make_entry
from tests.loopback import Body, Endpoint, Reply, make_error_reply, serve_answers

KEY = "sk-a-key-of-forty-characters-0123456789"


def make_vectors_reply(*rows: object, **usage: int) -> Reply:
    """Make a reply with these vectors."""
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Reply({"object": "list", "model": "x", "data": data, "usage": usage or {"prompt_tokens": 9}})


def measure_similarity(
    reply: Reply, made: Sequence[str] = ("a",), expected: Sequence[str] = ("b",), **parameters: object
) -> tuple[Completion, Endpoint]:
    messages = [{"role": "made", "content": text} for text in made]
    messages += [{"role": "expected", "content": text} for text in expected]
    request = AskModel(tuple(messages), party=Party.SIMILARITY)
    with serve_answers(lambda _: reply) as endpoint:
        model = EmbeddingModel("openai/bge", endpoint.api_base, KEY, 5, parameters)
        assert KEY not in repr(model)
        return asyncio.run(model.complete(make_entry(), request)), endpoint


def test_a_matrix_of_cosines() -> None:
    reply = make_vectors_reply([3.0, 4.0], [0.0, 2.0], [1.0, 0.0], [0, 5], [-1.0, 0.0], prompt_tokens=12)
    completion, endpoint = measure_similarity(reply, ["m1", "m2"], ["e1", "e2", "e3"])
    assert json.loads(completion.text or "") == [[0.6, 0.8, -0.6], [0.0, 1.0, 0.0]]
    assert (completion.input_tokens, completion.output_tokens) == (12, 0)
    assert completion.latency_s is not None
    assert completion.fault is None
    (asked,) = endpoint.requests
    assert asked | {"model": "bge", "input": ["m1", "m2", "e1", "e2", "e3"]} == asked
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_vectors_may_come_in_any_order() -> None:
    rows = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 1.0]}]
    completion, _ = measure_similarity(Reply({"object": "list", "data": rows, "model": "x", "usage": {}}))
    assert json.loads(completion.text or "") == [[0.707107]]


def test_lengths_do_not_matter() -> None:
    completion, _ = measure_similarity(make_vectors_reply([1e-200, 0.0], [1e300, 1e300]))
    assert json.loads(completion.text or "") == [[0.707107]]
    completion, _ = measure_similarity(make_vectors_reply([0.0, 0.0], [1.0, 0.0]))
    assert json.loads(completion.text or "") == [[0.0]]
    assert "-0.0" not in json.dumps(
        json.loads(measure_similarity(make_vectors_reply([-0.0, 1.0], [1.0, 0.0]))[0].text or "")
    )


def test_parameters_and_half_characters_are_sent() -> None:
    _, endpoint = measure_similarity(
        make_vectors_reply([1.0], [1.0]), ["\ud800"], ["b"], encoding_format="float"
    )
    assert endpoint.requests == [
        {"model": "bge", "input": ["\\ud800", "b"], "encoding_format": "float"},
    ]


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@pytest.mark.parametrize(
    "rows",
    [
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[1.0], []],
        [[1.0], ["x"]],
        [[1.0], None],
        [[1.0], [float("nan")]],
        [],
    ],
)
def test_what_is_no_vector(rows: Sequence[object]) -> None:
    with pytest.raises(CallError) as caught:
        measure_similarity(make_vectors_reply(*rows))
    assert caught.value.cause in ("garbled", "endpoint")
    assert caught.value.transient


@pytest.mark.parametrize(
    ("reply", "cause", "transient"),
    [
        (make_error_reply(401, f"Incorrect API key: {KEY}"), "authentication", False),
        (make_error_reply(400, "too long"), "bad_request", False),
        (make_error_reply(429, "slow down"), "rate_limit", True),
        (make_error_reply(500, "broken"), "endpoint", True),
        (Reply("{not json"), "endpoint", True),
    ],
    ids=["401", "400", "429", "500", "garbled"],
)
def test_failures_are_those_of_any_model(reply: Reply, cause: str, transient: bool) -> None:
    with pytest.raises(CallError) as caught:
        measure_similarity(reply)
    assert (caught.value.cause, caught.value.transient) == (cause, transient)
    assert caught.value.reason.startswith("openai/bge: ")
    assert KEY not in caught.value.reason


def test_an_address_where_nothing_listens_is_a_connection_error() -> None:
    with serve_answers(lambda _: Reply({})) as endpoint:
        model = EmbeddingModel("openai/bge", endpoint.api_base, KEY, 5)
    request = AskModel(({"role": "made", "content": "a"}, {"role": "expected", "content": "b"}))
    with pytest.raises(CallError) as caught:
        asyncio.run(model.complete(make_entry(), request))
    assert caught.value.cause == "connection"


def test_an_endpoint_that_sees_more_than_texts_sees_no_more() -> None:
    """Neither entry nor party are told."""
    asked: list[Body] = []

    def note_body(body: Body) -> Reply:
        asked.append(body)
        return make_vectors_reply([1.0], [1.0])

    with serve_answers(note_body) as endpoint:
        model = EmbeddingModel("openai/bge", endpoint.api_base, KEY)
        request = AskModel(({"role": "made", "content": "a"}, {"role": "expected", "content": "b"}))
        asyncio.run(model.complete(make_entry(), request))
    assert set(asked[0]) - {"encoding_format"} == {"model", "input"}
