"""OpenAI's embeddings interface over vectors that need no model."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.environments.vectors import embed_by_hash
from pytest_fcbench.server.body import RefusedRequestError, parse_json
from pytest_fcbench.server.lookup import estimate_tokens

_FORMATS = ("float", "base64")


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A request for vectors: the texts, and whether the vectors are written in base64."""

    texts: Sequence[str]
    in_base64: bool


def read_embedding_request(text: str | bytes) -> EmbeddingRequest:
    """Read a request. Raises ``RefusedRequestError`` for one that asks for other vectors."""
    value = parse_json(text)
    raw_input = value.get("input") if isinstance(value, Mapping) else None
    texts = [raw_input] if isinstance(raw_input, str) else raw_input
    if not isinstance(value, Mapping) or not isinstance(texts, list) or not texts:
        raise _make_refusal("the body must be an object with 'input', a text or a list of texts")
    if not all(isinstance(each, str) for each in texts):
        raise _make_refusal("'input' must be a text or a list of texts; this server takes no token ids")
    size = len(embed_by_hash(texts[:1])[0])
    if value.get("dimensions") not in (None, size):
        raise _make_refusal(f"the vectors of this server have {size} dimensions; leave 'dimensions' out")
    encoding = value.get("encoding_format") or _FORMATS[0]
    if encoding not in _FORMATS:
        raise _make_refusal(f"'encoding_format' must be {' or '.join(_FORMATS)}, not {encoding!r}")
    return EmbeddingRequest(texts, encoding == "base64")


def _make_refusal(message: str) -> RefusedRequestError:
    return RefusedRequestError(400, "invalid_request", message)


def build_embeddings(model: str, request: EmbeddingRequest, *, broken: bool) -> Mapping[str, object]:
    """Build the list of vectors; in a ``broken`` one the second half of them is missing."""
    vectors = embed_by_hash(request.texts)
    tokens = sum(map(estimate_tokens, request.texts))
    return {
        "object": "list",
        "model": model,
        "data": [
            {
                "object": "embedding",
                "index": index,
                # In base64 OpenAI sends 32-bit floats, the lowest byte first.
                "embedding": base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
                if request.in_base64
                else list(vector),
            }
            for index, vector in enumerate(vectors[: len(vectors) // 2] if broken else vectors)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
