"""Carrying out calls in environments.

What is no call of a known function is an error text and changes nothing; the official executor, which hands
each text to ``eval``, would print, or worse.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence

from pytest_fcbench.codecs.call_evaluation import carried_out
from pytest_fcbench.environments.environment import Environment, functions_of
from pytest_fcbench.environments.world import Unanswered


class Environments:
    """The environments of one conversation. No function name occurs in two of them."""

    def __init__(self, by_domain: Mapping[str, Environment]) -> None:
        self.by_domain = by_domain
        self._functions: dict[str, Callable[..., object]] = {
            name: getattr(environment, name)
            for environment in by_domain.values()
            for name in functions_of(type(environment))
        }

    @property
    def functions(self) -> Sequence[str]:
        """Names of all functions."""
        return list(self._functions)

    def snapshot(self) -> Mapping[str, Mapping[str, object]]:
        """Everything that calls can change, by domain, as it is now and stays."""
        return {name: copy.deepcopy(environment.shown()) for name, environment in self.by_domain.items()}

    def perform(self, calls: Sequence[str]) -> tuple[str, ...]:
        """Carry out calls in order; what each returned, or why it could not be, as text.

        Raises ``Unanswered``, and ``SystemError``, which is a fault of the interpreter and of no call.
        """
        return tuple(map(self._perform, calls))

    def _perform(self, text: str) -> str:
        try:
            return rendered(carried_out(text, self._functions))
        except (Unanswered, SystemError):
            raise
        except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
            return f"Error: {str(error) or type(error).__name__}"


def rendered(result: object) -> str:
    """What a function returned, as officially shown: a text as it is, a dict as JSON, else ``str``."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            pass
    return str(result)
