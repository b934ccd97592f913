"""Requests for the log-probabilities of a prompt, and the replies to them.

- ``completions``: OpenAI's ``POST /completions`` with ``echo``, which returns the prompt with ``logprobs``;
  nothing is generated;
- ``vllm``: the same path with vLLM's ``prompt_logprobs``; vLLM must generate a token, which is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pytest_fcbench.domain.errors import CallError


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
    choice = _get_at(_get_at(reply, "choices"), 0)
    usage = _get_at(reply, "usage")
    tokens, count = _get_at(usage, "prompt_tokens"), _get_at(usage, "completion_tokens")
    if endpoint is LogprobInterface.VLLM:
        place = "choices[0].prompt_logprobs"
        logprobs = []
        # Each element has the prompt's own token, ``{id: {"logprob": x}}``.
        for item in _require_list(_get_at(choice, "prompt_logprobs"), endpoint, place):
            if item is not None and (not isinstance(item, Mapping) or len(item) != 1):
                raise CallError("garbled", "an element of prompt_logprobs does not name exactly one token")
            logprobs.append(None if item is None else _get_at(next(iter(item.values())), "logprob"))
        count = 0
    else:
        place = "choices[0].logprobs.token_logprobs"
        logprobs = list(
            _require_list(_get_at(_get_at(choice, "logprobs"), "token_logprobs"), endpoint, place)
        )
    if isinstance(tokens, int):
        # vLLM counts a token as generated that it does not echo.
        if len(logprobs) not in (tokens, tokens + (count if isinstance(count, int) else 0)):
            raise CallError("garbled", f"{place} has {len(logprobs)} values for a prompt of {tokens} tokens")
        logprobs = logprobs[:tokens]
    return tuple(None if value is None else _read_number(value, place) for value in logprobs)


def _get_at(value: object, key: str | int) -> object:
    """Return the member or element at a key, None where there is none."""
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int):
        return value[key] if key < len(value) else None
    return None


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
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        # JSON has whole numbers that no float can hold.
        except OverflowError:
            pass
    raise CallError("garbled", f"{place} holds {str(value)[:40]!r}, which is not a log-probability")
