"""Carry out calls in environments.

A text that is no call of a known function gives an error text and changes nothing; the official executor
(``execute_multi_turn_func_call``) hands each text to ``eval``, so its errors are Python's own.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FunctionType, MethodType

from pytest_fcbench.codecs.call_evaluation import NoCallError, carry_out_call, compute_expression
from pytest_fcbench.domain.entry import Entry, Scene
from pytest_fcbench.environments.api.file_system import FileSystem
from pytest_fcbench.environments.api.math import Math
from pytest_fcbench.environments.api.messages import Messages
from pytest_fcbench.environments.api.posting import Posting
from pytest_fcbench.environments.api.tickets import Tickets
from pytest_fcbench.environments.api.trading import Trading
from pytest_fcbench.environments.api.travel import Travel
from pytest_fcbench.environments.api.vehicle import Vehicle
from pytest_fcbench.environments.environment import Environment, adapt_class, list_functions
from pytest_fcbench.environments.memory_texts import MemoryKv, MemoryRecSum
from pytest_fcbench.environments.memory_vector import MemoryVector
from pytest_fcbench.environments.web_search import WebSearch
from pytest_fcbench.environments.world import MissingAnswer, World, write_sentence

_BEFORE_BRACKET = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")

_EXECUTOR = "execute_multi_turn_func_call"
"""The official function whose sentences these are, by number."""
_NOT_ALLOWED, _FAILURE = range(2)

_REFUSED = frozenset(("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"))
"""Names that the official executor refuses to hand to ``eval``."""


class Environments:
    """The environments of one conversation. No function name occurs in two of them."""

    def __init__(
        self, by_domain: Mapping[str, Environment], world: World | None = None, *, long_context: bool = False
    ) -> None:
        self.by_domain = by_domain
        self._accompanying = world.filler.accompanying if world and long_context else {}
        self._sentences = world.sentences.get("executor", {}) if world else {}
        self._functions: dict[str, Callable[..., object]] = {
            name: name_class(getattr(environment, name), world.class_names.get(domain) if world else None)
            for domain, environment in by_domain.items()
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

        Raises ``MissingAnswer``, and ``SystemError``, which is a fault of the interpreter and of no call.
        """
        return tuple(map(self._perform_call, calls))

    def _perform_call(self, call: str) -> str:
        try:
            if not self._sentences:
                result = carry_out_call(call, self._functions)
                more = self._accompanying.get(call.partition("(")[0].strip())
                if more and isinstance(result, dict) and "error" not in result:
                    result = {**result, **more}
                return render_result(result)
            # Official: white space between a name and a bracket goes, also in the text of an argument.
            call = _BEFORE_BRACKET.sub(r"\1", call)
            # Official: of a dotted name the second part counts, so ``os.remove`` is refused too.
            name = call.partition("(")[0]
            name = name.split(".")[1] if "." in name else name
            if name in _REFUSED:
                return self._write_error(self._write_sentence(_NOT_ALLOWED, func_call_copy=name))
            return render_result(compute_expression(call, self._functions))
        except (MissingAnswer, SystemError):
            raise
        except Exception as error:  # noqa: BLE001 - a model's arguments can make anything go wrong
            if not self._sentences:
                return f"Error: {str(error) or type(error).__name__}"
            # What ``eval`` would have said. A text that is no Python was refused by the parser, in its words.
            cause = error.__cause__
            message = error.in_python if isinstance(error, NoCallError) else ""
            if not message and isinstance(cause, SyntaxError):
                message = f"{cause.msg} (<string>, line {cause.lineno})"
            return self._write_error(message or str(cause or error))

    def _write_error(self, problem: str) -> str:
        return self._write_sentence(_FAILURE, value=problem)

    def _write_sentence(self, number: int, **values: str) -> str:
        return write_sentence(self._sentences, "", _EXECUTOR, number, values)


def name_class(method: Callable[..., object], name: str | None) -> Callable[..., object]:
    """Return a method with another class in its errors about arguments, or as it is for None."""
    if name is None or not isinstance(method, MethodType):
        return method
    function = method.__func__
    assert isinstance(function, FunctionType)
    function_copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    function_copy.__kwdefaults__ = function.__kwdefaults__
    function_copy.__qualname__ = f"{name}.{function.__name__}"
    return MethodType(function_copy, method.__self__)


def render_result(result: object) -> str:
    """Write a result as officially shown: a text as it is, a dict as JSON, all else by ``str``."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        with suppress(TypeError, ValueError):
            return json.dumps(result)
    return str(result)


DOMAINS: Mapping[str, type[Environment]] = {
    "file_system": FileSystem,
    "math": Math,
    "memory_kv": MemoryKv,
    "memory_rec_sum": MemoryRecSum,
    "memory_vector": MemoryVector,
    "messages": Messages,
    "posting": Posting,
    "tickets": Tickets,
    "trading": Trading,
    "travel": Travel,
    "vehicle": Vehicle,
    "web_search": WebSearch,
}
"""Every domain by name."""


def open_environments(entry: Entry, world: World) -> Environments:
    """Open the environments of an entry in their initial state; none where its calls are only read."""
    scene = entry.scene or Scene((), {})
    domains = {**DOMAINS, **{name: adapt_class(owner) for name, owner in scene.classes.items()}}
    return Environments(
        {
            name: domains[name](scene.config.get(name, {}), world, long_context=entry.category.long_context)
            for name in scene.domains
        },
        world,
        long_context=entry.category.long_context,
    )
