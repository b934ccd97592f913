"""An endpoint whose probabilities are known: each word of a prompt is a token."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tests.loopback import Answer, Body, Reply

Chance: TypeAlias = Callable[[str], float]
"""The probability of a word."""


def halve_by_length(word: str) -> float:
    """Return half for each character."""
    return 0.5 ** len(word)


def answer_with_echo(chance: Chance = halve_by_length, *, generated: int = 0, usage: bool = True) -> Answer:
    """Make OpenAI's answer to ``echo``; some servers generate something all the same."""

    def answer(asked: Body) -> Reply:
        words = str(asked["prompt"]).split()
        tokens = [*words, *["more"] * generated]
        logprobs = [None, *(math.log(chance(word)) for word in tokens[1:])]
        return make_completion(
            {"logprobs": {"tokens": tokens, "token_logprobs": logprobs[: len(tokens)]}},
            len(words) if usage else None,
            generated,
        )

    return answer


def answer_as_vllm(chance: Chance = halve_by_length) -> Answer:
    """Make vLLM's answer to ``prompt_logprobs``: a token of its own in front, and one generated."""

    def answer(asked: Body) -> Reply:
        words = str(asked["prompt"]).split()
        places = [
            {str(number): {"logprob": math.log(chance(word)), "rank": 1, "decoded_token": word}}
            for number, word in enumerate(words)
        ]
        return make_completion({"prompt_logprobs": [None, *places], "logprobs": None}, len(words) + 1, 1)

    return answer


def make_completion(choice: Body, tokens: int | None = None, generated: int = 0) -> Reply:
    """Make a text completion with one choice."""
    body: Body = {"object": "text_completion", "choices": [{"index": 0, "text": "", **choice}]}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens, "completion_tokens": generated}
    return Reply(body)


def make_echo_reply(logprobs: Sequence[object], tokens: int | None = None) -> Reply:
    """Make OpenAI's answer with these log-probabilities."""
    return make_completion({"logprobs": {"token_logprobs": list(logprobs)}}, tokens)
