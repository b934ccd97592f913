"""The embeddings interface: vectors of texts, without a model."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pytest_fcbench.environments.vectors import embed_by_hash
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.embeddings import build_embeddings, read_embedding_request
from tests.served import served, stats
from tests.server.asking import Sent
from tests.server.clients import open_client, post_json

TEXTS = ["The weather in Bergen", "Das Wetter in Bergen", ""]
EMBEDDINGS = "/v1/embeddings"


def _build_embeddings(members: Mapping[str, object], *, broken: bool = False) -> Any:
    return build_embeddings("oracle", read_embedding_request(json.dumps(members)), broken=broken)


def test_each_text_has_its_vector_in_order() -> None:
    assert _build_embeddings({"input": TEXTS}) == {
        "object": "list",
        "model": "oracle",
        "data": [
            {"object": "embedding", "index": index, "embedding": list(vector)}
            for index, vector in enumerate(embed_by_hash(TEXTS))
        ],
        "usage": {"prompt_tokens": 5 + 5 + 1, "total_tokens": 11},
    }


@pytest.mark.parametrize("members", [{}, {"encoding_format": None}, {"dimensions": 1024}, {"user": "me"}])
def test_a_single_text_needs_no_list(members: Sent) -> None:
    listed = {"input": TEXTS[:1], "encoding_format": "float"}
    assert _build_embeddings({"input": TEXTS[0], **members}) == _build_embeddings(listed)


def test_base64_holds_32_bit_floats() -> None:
    (row,) = _build_embeddings({"input": TEXTS[0], "encoding_format": "base64"})["data"]
    found = struct.unpack("<1024f", base64.b64decode(row["embedding"]))
    assert found == pytest.approx(embed_by_hash(TEXTS)[0], abs=1e-7)


@pytest.mark.parametrize(("texts", "left"), [(TEXTS, 1), (TEXTS[:2], 1), (TEXTS[:1], 0)])
def test_in_a_broken_list_vectors_are_missing(texts: list[str], left: int) -> None:
    whole = _build_embeddings({"input": texts})
    assert _build_embeddings({"input": texts}, broken=True)["data"] == whole["data"][:left]


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({}, "the body must be an object with 'input', a text or a list of texts"),
        ({"input": []}, "the body must be an object with 'input', a text or a list of texts"),
        (
            {"input": [[15, 7]]},
            "'input' must be a text or a list of texts; this server takes no token ids",
        ),
        (
            {"input": "a", "dimensions": 256},
            "the vectors of this server have 1024 dimensions; leave 'dimensions' out",
        ),
        (
            {"input": "a", "encoding_format": "int8"},
            "'encoding_format' must be float or base64, not 'int8'",
        ),
    ],
)
def test_other_vectors_are_refused(members: Sent, says: str) -> None:
    with pytest.raises(RefusedRequestError) as caught:
        _build_embeddings(members)
    assert (caught.value.status, caught.value.code, str(caught.value)) == (400, "invalid_request", says)


# Over HTTP


@pytest.fixture(scope="module")
def oracle() -> Iterator[str]:
    with served("--model", "oracle") as api_base:
        yield api_base


@pytest.mark.parametrize("encoding", ["float", "base64", None])
def test_the_openai_package_gets_the_vectors(oracle: str, encoding: str | None) -> None:
    asked: Any = {"model": "x", "input": TEXTS} | ({"encoding_format": encoding} if encoding else {})
    with open_client(oracle) as client:
        reply = client.embeddings.create(**asked)
    rows: list[Any] = [row.embedding for row in reply.data]
    if encoding == "base64":
        rows = [struct.unpack("<1024f", base64.b64decode(row)) for row in rows]
    for row, vector in zip(rows, embed_by_hash(TEXTS), strict=True):
        assert row == pytest.approx(vector, abs=1e-7)
    assert reply.usage.prompt_tokens == 11


def test_vectors_are_counted_as_answers_and_get_faults() -> None:
    with served("--model", "oracle", "--fault", "429:0.5", "--seed", "7") as api_base:
        statuses = [post_json(api_base, EMBEDDINGS, {"input": "a"}).status for _ in range(12)]
        found = stats(api_base)
    assert set(statuses) == {200, 429}
    assert found["answered"] == {"embeddings": statuses.count(200)}
    assert found["faults"] == {"429": statuses.count(429)}
