"""Carry out calls in environments.

A text that is no call of a known function gives an error text and changes nothing; the official executor
hands each text to ``eval``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from pytest_fcbench.codecs.call_evaluation import carry_out_call
from pytest_fcbench.environments.environment import Environment, list_functions
from pytest_fcbench.environments.world import Unanswered


class Environments:
    """The environments of one conversation. No function name occurs in two of them."""

    def __init__(self, by_domain: Mapping[str, Environment]) -> None:
        self.by_domain = by_domain
        self._functions: dict[str, Callable[..., object]] = {
            name: getattr(environment, name)
            for environment in by_domain.values()
            for name in list_functions(type(environment))
        }

    @property
    def functions(self) -> Sequence[str]:
        """The names of all functions."""
        return list(self._functions)

    def copy_state(self) -> Mapping[str, Mapping[str, object]]:
        """Copy everything that calls can change, by domain."""
        return {
            name: copy.deepcopy(environment.get_full_state()) for name, environment in self.by_domain.items()
        }

    def perform_calls(self, calls: Sequence[str]) -> tuple[str, ...]:
        """Carry out calls in order; return the result of each, or the reason why there is none, as text.

        Raises ``Unanswered``, and ``SystemError``, which is a fault of the interpreter and of no call.
        """
        results = []
        for call in calls:
            try:
                results.append(render_result(carry_out_call(call, self._functions)))
            except (Unanswered, SystemError):
                raise
            except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
                results.append(f"Error: {str(error) or type(error).__name__}")
        return tuple(results)


def render_result(result: object) -> str:
    """Write a result as officially shown: a text as it is, a dict as JSON, all else by ``str``."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        with suppress(TypeError, ValueError):
            return json.dumps(result)
    return str(result)
