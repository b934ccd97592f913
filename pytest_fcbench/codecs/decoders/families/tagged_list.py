"""Read lists of calls behind a tag, as the official handlers of Granite 3 and Phi do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.python_literal import evaluate_text
from pytest_fcbench.domain.transcript import Call


def decode_lists(texts: Iterable[str]) -> list[object]:
    """Decode lists of calls, whose brackets may be missing; a text that is no JSON stays a text.

    Raises ``Undecodable`` for a text in a list that is no Python literal.
    """
    values: list[object] = []
    for text in texts:
        # Official: a bracket at one end keeps the other from being added.
        if not text.startswith("[") and not text.endswith("]"):
            text = f"[{text}]"
        try:
            value = from_json(text)
        except Undecodable:
            value = text
        if isinstance(value, list):
            values += [evaluate_text(item) if isinstance(item, str) else item for item in value]
        else:
            values.append(value)
    return values


def read_plain_calls(values: Sequence[object]) -> tuple[Call, ...]:
    """Read objects that have a name and arguments and nothing else.

    Raises ``Undecodable`` where there is none or one is different, and ``WrongFormat``.
    """
    if not values or any(
        not isinstance(value, dict) or value.keys() != {"name", "arguments"} for value in values
    ):
        raise Undecodable("the model did not return a list of calls")
    return read_named_calls(list(values))
