"""How alike texts are, measured by an embedding model behind litellm."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.providers.litellm import failure, imported

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Answers with a JSON matrix: cosines of the texts ``made`` (rows) and ``expected`` (columns).

    The texts are the messages of the request, in order; their role says to which side they belong.
    Officially it is bge-large-en-v1.5, whose vectors are normalised, so that a dot product is a cosine.
    """

    id: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 600.0
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Go into every request (``encoding_format`` ...)."""
    immediate: bool = False
    notes: tuple[str, ...] = ()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask the endpoint once. Raises ``CallError`` where no vectors come."""
        texts = [escape_surrogates(str(message["content"])) for message in request.messages]
        started = time.perf_counter()
        reply = await self._reply(texts)
        vectors = self._vectors(reply, len(texts))
        made, expected = (
            [
                vector
                for vector, message in zip(vectors, request.messages, strict=True)
                if message["role"] == role
            ]
            for role in ("made", "expected")
        )
        return Completion(
            text=json.dumps([[_dot(one, other) for other in expected] for one in made]),
            input_tokens=getattr(getattr(reply, "usage", None), "prompt_tokens", None),
            output_tokens=0,
            latency_s=time.perf_counter() - started,
        )

    async def _reply(self, texts: Sequence[str]) -> object:
        asked: dict[str, object] = {
            **self.parameters,
            "model": self.id,
            "input": texts,
            "timeout": self.timeout_s,
            "max_retries": 0,  # trying again is the dispatcher's
        }
        if self.api_base:
            asked["api_base"] = self.api_base
        if self.api_key:
            asked["api_key"] = self.api_key
        try:
            reply: object = await imported().aembedding(**asked)
        except Exception as error:  # noqa: BLE001 - any provider's failure is one answer missing, not a crash
            raise failure(self.id, error, self.api_key) from None
        return reply

    def _vectors(self, reply: object, count: int) -> list[list[float]]:
        """The vectors by place, of length 1. Raises ``CallError`` where they cannot be multiplied."""
        rows = getattr(reply, "data", None)
        by_place = {_member(row, "index"): _member(row, "embedding") for row in rows or ()}
        vectors = [_normalised(by_place.get(place)) for place in range(count)]
        if None in vectors or len({len(vector) for vector in vectors if vector is not None}) > 1:
            reason = (
                f"{self.id}: the endpoint answered {len(by_place)} vectors for {count} texts, not all usable"
            )
            raise CallError("garbled", reason, transient=True)
        return [vector for vector in vectors if vector is not None]


def _member(row: object, name: str) -> object:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


def _normalised(vector: object) -> list[float] | None:
    """The vector with length 1, or all zeros; None for what is none."""
    if not isinstance(vector, list) or not vector:
        return None
    if not all(isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x) for x in vector):
        return None
    largest = max(map(abs, vector)) or 1.0
    scaled = [x / largest for x in vector]  # so that no square is too large or too small
    length = math.hypot(*scaled) or 1.0
    return [x / length for x in scaled]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return round(product, _DIGITS) + 0.0  # no -0.0
