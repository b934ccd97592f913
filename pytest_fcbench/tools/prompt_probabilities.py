"""Ask an endpoint for the log-probabilities of texts.

The requests go through a ``Model`` whose answer is a list of numbers. So limits, retries, the first call
before all others and the store of answers are those of a run.

Two interfaces have them:

- ``completions``: OpenAI's ``POST /completions`` with ``echo``, which returns the prompt with ``logprobs``;
  nothing is generated;
- ``vllm``: the same path with vLLM's ``prompt_logprobs``; vLLM must generate a token, which is dropped.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.redaction import list_request_secrets, mask_secrets
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.models.protocol import Model
from pytest_fcbench.models.providers import http
from pytest_fcbench.models.providers.vendors import add_to_path

_PREFIXES = ("hosted_vllm/", "text-completion-openai/", "openai/")

_HINTS = {
    "authentication": "name the variable that holds the key with --api-key-env",
    "not_found": "check --model and --api-base (which usually ends in /v1)",
    "connection": "check --api-base, and whether the server is running",
}


@dataclass(frozen=True, slots=True)
class PromptModel:
    """A model that is asked for the log-probabilities of a prompt; the answer's text is a JSON list."""

    id: str
    """The id as in a run; the request leaves out litellm's prefixes of OpenAI-like providers."""
    endpoint: LogprobInterface
    api_base: str
    api_key: str | None = field(default=None, repr=False)
    immediate: bool = False
    notes: tuple[str, ...] = ()
    connections: http.ConnectionPool = field(default_factory=http.ConnectionPool, repr=False)

    def __post_init__(self) -> None:
        http.check_address("--api-base", self.api_base, "--api-key-env")

    @property
    def name(self) -> str:
        """The name of the model at the endpoint."""
        prefix = next((prefix for prefix in _PREFIXES if self.id.startswith(prefix)), "")
        return self.id.removeprefix(prefix)

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Ask for the log-probabilities of a text once. Raises ``CallError`` if the reply has none.

        Values that are not finite are marked as a fault, so that they are not stored.
        """
        (message,) = request.messages
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        start_time = time.perf_counter()
        try:
            pending_reply = self.connections.send_request(
                "POST",
                add_to_path(self.api_base, "completions"),
                headers={**headers, "Content-Type": "application/json"},
                # As ASCII, because lone surrogates have no UTF-8. The caller sets the limit of time.
                body=json.dumps(build_body(self.endpoint, self.name, str(message["content"]))),
            )
            reply = await http.read_json_reply(pending_reply, self.name, self.api_key, _HINTS)
        except CallError as error:
            # The query of the address may hold a key, which an endpoint may repeat.
            secrets = list_request_secrets(self.api_key, self.api_base, {})
            raise error.with_reason(mask_secrets(error.reason, secrets)) from None
        logprobs = read_logprobs(reply, self.endpoint)
        is_finite = all(value is None or math.isfinite(value) for value in logprobs)
        return Completion(
            text=json.dumps(logprobs),
            input_tokens=len(logprobs),
            output_tokens=0,
            latency_s=time.perf_counter() - start_time,
            fault=None if is_finite else Fault.INFERENCE_ERROR,
        )


async def ask_for_logprobs(
    model: Model, texts: Sequence[tuple[str, Entry]], concurrency: int, progress: list[bool]
) -> Mapping[str, tuple[float | None, ...] | NotScoredError]:
    """Ask for the log-probabilities of texts, ``concurrency`` at once; an error stands for those without.

    ``progress`` gets True for each answer and False for each error, for the display of progress.
    """
    places = asyncio.Semaphore(concurrency)

    async def ask_one(text: str, entry: Entry) -> tuple[float | None, ...] | NotScoredError:
        async with places:
            try:
                completion = await model.complete(entry, AskModel(({"role": "user", "content": text},)))
            except NotScoredError as error:
                progress.append(False)
                return error
        progress.append(True)
        return tuple(read_json_text(completion.text or "[]"))

    answers = await asyncio.gather(*(ask_one(text, entry) for text, entry in texts))
    return {text: answer for (text, _), answer in zip(texts, answers, strict=True)}


class LogprobInterface(StrEnum):
    """An interface that returns log-probabilities of a prompt."""

    COMPLETIONS = "completions"
    VLLM = "vllm"


def build_body(endpoint: LogprobInterface, model: str, text: str) -> Mapping[str, object]:
    """Build the body of a request.

    A temperature of 1 leaves the probabilities as they are wherever it is applied.
    """
    members = {"model": model, "prompt": text, "temperature": 1}
    if endpoint is LogprobInterface.VLLM:
        return {**members, "max_tokens": 1, "prompt_logprobs": 0}
    return {**members, "max_tokens": 0, "echo": True, "logprobs": 1}


def read_logprobs(reply: object, endpoint: LogprobInterface) -> tuple[float | None, ...]:
    """Read the log-probability of each token of the prompt, None where it has none.

    Raises ``CallError`` for a reply without them, or with more or fewer than the prompt has tokens.
    """
    tokens, count = (_get_at(reply, "usage", name) for name in ("prompt_tokens", "completion_tokens"))
    if endpoint is LogprobInterface.VLLM:
        place = "choices[0].prompt_logprobs"
        logprobs = _require_list(_get_at(reply, "choices", 0, "prompt_logprobs"), endpoint, place)
        # Each element has the prompt's own token, ``{id: {"logprob": x}}``.
        if any(item is not None and (not isinstance(item, Mapping) or len(item) != 1) for item in logprobs):
            raise CallError("garbled", "an element of prompt_logprobs does not name exactly one token")
        logprobs = [_get_at(next(iter(as_mapping(item).values()), None), "logprob") for item in logprobs]
        count = 0
    else:
        place = "choices[0].logprobs.token_logprobs"
        logprobs = _require_list(_get_at(reply, "choices", 0, "logprobs", "token_logprobs"), endpoint, place)
    if isinstance(tokens, int):
        # vLLM counts a token as generated that it does not echo.
        if len(logprobs) not in (tokens, tokens + (count if isinstance(count, int) else 0)):
            raise CallError("garbled", f"{place} has {len(logprobs)} values for a prompt of {tokens} tokens")
        logprobs = logprobs[:tokens]
    return tuple(None if value is None else _read_number(value, place) for value in logprobs)


def _get_at(value: object, *keys: str | int) -> object:
    """Return what members and elements at these keys lead to, None where one is missing."""
    for key in keys:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and key < len(value) else None
        else:
            value = as_mapping(value).get(key)
    return value


def _require_list(value: object, endpoint: LogprobInterface, place: str) -> list[object]:
    # The first token has no probability, so a text of one token has none at all.
    if isinstance(value, list) and (len(value) == 1 or any(item is not None for item in value)):
        return value
    (other,) = set(LogprobInterface) - {endpoint}
    raise CallError(
        "no_logprobs",
        f"the reply has no {place}: the endpoint or the model does not return "
        f"log-probabilities of prompts this way; try --endpoint={other} (chat models of "
        f"hosted services support neither)",
    )


def _read_number(value: object, place: str) -> float:
    # JSON has whole numbers that no float can hold.
    with suppress(OverflowError):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    raise CallError("garbled", f"{place} holds {str(value)[:40]!r}, which is not a log-probability")
