"""Measures of how much a text surprises a model.

The text of an entry is what its user says: the messages with the role ``user``, turn by turn, a line break
between them; with function docs, these stand before it as JSON, one a line. It is put to the model as it
is, without a chat template.

Two measures are taken from the log-probabilities (natural logarithms) of its tokens:

- *perplexity*: e to the mean negative log-likelihood of a token. Only models with the same tokenizer can be
  compared by it;
- *nats per character*: the negative log-likelihood of the whole text by the number of its characters
  (Unicode code points). How a text is cut into tokens does not matter to it, so it compares across
  tokenizers. Divided by ln 2 it is bits per character.

Nothing precedes the first token, so it has no probability: it does not count in the mean, and its characters
count as predicted. A tokenizer that puts a token of its own in front gives the first token of the text a
probability, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError

_LEAST = -700.0
"""About the least log-probability of a number that a float can hold. Lower ones stand for *impossible*: vLLM
writes -9999 for minus infinity."""

_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class TextMeasure:
    """The measures of one text."""

    entry: str
    """``suite:id`` of the entry, the first one where several have the same text."""
    category: str
    characters: int
    tokens: int
    """Tokens with a probability."""
    nats: float
    """Negative log-likelihood of the text."""

    @property
    def perplexity(self) -> float:
        """e to the mean negative log-likelihood of a token."""
        return math.exp(self.nats / self.tokens)

    @property
    def nats_per_character(self) -> float:
        """Negative log-likelihood by the number of characters."""
        return self.nats / self.characters


def build_text(entry: Entry, *, functions: bool = False) -> str:
    """Build the measured text of an entry; empty where the user says nothing."""
    user_texts = [message.content for turn in entry.turns for message in turn if message.role == "user"]
    docs = [
        json.dumps(
            {"name": doc.name, "description": doc.description, "parameters": doc.shown_schema},
            ensure_ascii=False,
        )
        for doc in entry.functions
    ]
    return "\n".join([*docs, *user_texts] if functions and any(user_texts) else user_texts)


def collect_distinct_texts(entries: Iterable[Entry], *, functions: bool = False) -> dict[str, Entry]:
    """Map each text to the first entry that has it, because a repeated text adds no information."""
    entries_by_text: dict[str, Entry] = {}
    for entry in entries:
        if (text := build_text(entry, functions=functions)).strip():
            entries_by_text.setdefault(text, entry)
    return entries_by_text


def measure_text(entry: Entry, text: str, logprobs: Sequence[float | None]) -> TextMeasure:
    """Measure a text by the log-probabilities of its tokens, the first of which may have none.

    Raises ``NotScoredError`` where they are no log-probabilities or too few.
    """
    # Some endpoints write 0 for the first token instead of null.
    known_logprobs = logprobs[1:] if logprobs and not logprobs[0] else logprobs
    if not known_logprobs:
        raise NotScoredError("too_short", "no token has a probability")
    values: list[float] = []
    for place, value in enumerate(known_logprobs, 1 + len(logprobs) - len(known_logprobs)):
        if value is None:
            raise NotScoredError("no_logprobs", f"token {place} of {len(logprobs)} has no probability")
        if not _LEAST <= value <= _ROUNDING:
            raise NotScoredError(
                "no_number", f"the log-probability of token {place} of {len(logprobs)} is {value:g}"
            )
        values.append(value)
    return TextMeasure(entry.key, entry.category.name, len(text), len(values), max(0.0, -math.fsum(values)))
