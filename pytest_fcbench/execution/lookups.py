"""BFCL's functions that ask a web API, and the sources of their answers.

A call only names the request; the answer comes from a ``LookupSource``. ``RecordedLookups`` has recorded
answers, ``live.Live`` asks the APIs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.domain.text import copy_into_lists
from pytest_fcbench.domain.transcript import RecordedCall

ROWS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""What each function asks and reads, as ``lookups.toml`` explains."""

LOOKUPS: Mapping[str, Signature] = {
    name: Signature(
        [
            Parameter(
                parameter,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=row.get("defaults", {}).get(parameter, Parameter.empty),
            )
            for parameter in row["parameters"]
        ]
    )
    for name, row in ROWS.items()
}
"""The signature of each function by name."""

Arguments: TypeAlias = Mapping[str, object]


class UnansweredError(Exception):
    """The API's answer to a call is not known; holds the function's name and perhaps a reason."""


class FailedLookupError(Exception):
    """The API answered without a value, for which the official functions raise an error."""


class LookupSource(Protocol):
    """A source of answers in place of web APIs."""

    def answer(self, name: str, arguments: Arguments) -> object:
        """Return the result of a function. Raises ``UnansweredError`` and ``FailedLookupError``."""


class RecordedLookups:
    """Recorded answers for equal arguments (a tuple equals a list), else those of ``others``."""

    def __init__(self, calls: Sequence[RecordedCall], others: LookupSource | None = None) -> None:
        self._calls = calls
        self._others = others

    def answer(self, name: str, arguments: Arguments) -> object:
        """Return the reply that was recorded for this call."""
        plain_arguments = copy_into_lists(arguments)
        for call in self._calls:
            if call.name == name and copy_into_lists(call.arguments) == plain_arguments:
                return call.reply_value
        if self._others:
            return self._others.answer(name, arguments)
        raise UnansweredError(name)


def make_functions(ask: Callable[[str, Arguments], object]) -> Mapping[str, Callable[..., object]]:
    """Return functions that pass their name and arguments to ``ask``.

    They raise TypeError for arguments that do not fit their signature.
    """

    def make_function(name: str, signature: Signature) -> Callable[..., object]:
        def call(*positional: object, **named: object) -> object:
            bound_arguments = signature.bind(*positional, **named)
            bound_arguments.apply_defaults()
            return ask(name, bound_arguments.arguments)

        return call

    return {name: make_function(name, signature) for name, signature in LOOKUPS.items()}


def record_reply(call: str, reply: object) -> RecordedCall:
    """Read a call from its text, and return it with the API's reply."""
    recorded_call = carry_out_call(
        call, make_functions(lambda name, arguments: RecordedCall.with_reply(name, arguments, reply))
    )
    assert isinstance(recorded_call, RecordedCall)
    return recorded_call


def find_unanswered(calls: Sequence[str], recorded_calls: Sequence[RecordedCall]) -> str | None:
    """Return the first call without a recorded answer, or None."""
    functions = make_functions(RecordedLookups(recorded_calls).answer)
    for call in calls:
        # Other calls are computed in the sandbox; only lookups need a recorded answer.
        if call.partition("(")[0].strip() in functions:
            try:
                carry_out_call(call, functions)
            except UnansweredError:
                return call
    return None
