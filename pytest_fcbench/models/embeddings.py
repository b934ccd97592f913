"""Similarity of texts, measured by an embedding model behind litellm."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.redaction import list_request_secrets
from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.providers.httpx_limits import bound_replies
from pytest_fcbench.models.providers.litellm import (
    build_call,
    describe_failure,
    import_litellm,
    require_key,
)
from pytest_fcbench.models.providers.reply_bodies import LONGEST_BODY

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model whose answer is a JSON matrix: cosines of the texts ``made`` (rows) and ``expected`` (columns).

    The texts are the messages of the request, in order; their role says to which side they belong.
    Officially it is bge-large-en-v1.5, whose vectors are normalised, so that a dot product is a cosine.
    """

    id: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 600.0
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Parameters that go into every request (``encoding_format`` ...)."""
    immediate: bool = False
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint once. Raises ``CallError`` where no vectors come."""
        texts = [escape_surrogates(str(message["content"])) for message in request.messages]
        call = build_call(self.id, self.timeout_s, self.api_base, self.api_key)
        arguments: dict[str, object] = {**self.parameters, **call, "input": texts}
        start_time = time.perf_counter()
        try:
            require_key(self.id, self.api_base, self.api_key, self.parameters)
            litellm = import_litellm()
            with bound_replies(litellm.httpx, LONGEST_BODY):
                reply: object = await litellm.aembedding(**arguments)
        except Exception as error:  # noqa: BLE001 - any provider's failure is one answer missing, not a crash
            raise describe_failure(
                self.id, error, list_request_secrets(self.api_key, self.api_base, self.parameters)
            ) from None
        sides: dict[object, list[list[float]]] = {"made": [], "expected": []}
        for vector, message in zip(self._read_vectors(reply, len(texts)), request.messages, strict=True):
            sides[message["role"]].append(vector)
        cosines = [
            [
                # ``fsum`` gives the same digits on every Python. Adding 0.0 makes 0.0 of -0.0, which JSON
                # would write differently.
                round(math.fsum(a * b for a, b in zip(made_vector, other, strict=True)), _DIGITS) + 0.0
                for other in sides["expected"]
            ]
            for made_vector in sides["made"]
        ]
        return Completion(
            text=json.dumps(cosines),
            input_tokens=getattr(getattr(reply, "usage", None), "prompt_tokens", None),
            output_tokens=0,
            latency_s=time.perf_counter() - start_time,
        )

    def _read_vectors(self, reply: object, count: int) -> list[list[float]]:
        """Return the vectors in order, each of length 1. Raises ``CallError`` unless all are usable."""
        rows = getattr(reply, "data", None) or ()
        by_place = {_read_member(row, "index"): _read_member(row, "embedding") for row in rows}
        vectors = []
        for place in range(count):
            vector = by_place.get(place)
            if not isinstance(vector, list) or not vector:
                continue
            if all(
                isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) for x in vector
            ):
                # So that no square is too large or too small for a float.
                largest = max(map(abs, vector)) or 1.0
                scaled_vector = [x / largest for x in vector]
                length = math.hypot(*scaled_vector) or 1.0
                vectors.append([x / length for x in scaled_vector])
        if len(vectors) < count or len(set(map(len, vectors))) > 1:
            reason = (
                f"{self.id}: the endpoint returned {len(by_place)} vectors for {count} texts, or some "
                f"that are not valid"
            )
            raise CallError("garbled", reason, transient=True)
        return vectors


def _read_member(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
